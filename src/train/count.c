/*
 * count.c: count the rows of a source in one scan: by a model's decisions, or
 * by the values of each column; and rows in a store that a model gets wrong.
 * Trusted: a row must not count more than once.
 *
 * In a scan, how much a row of a person counts is known only when all rows have been seen.
 * Until then a note of each row, and its person, are in a store.
 */
#include "postgres.h"

#include <math.h>

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/memutils.h"

#include "base/base.h"
#include "core/model/model.h"
#include "core/privacy/claim.h"
#include "core/privacy/counts.h"
#include "core/solve/sums.h"
#include "query/source.h"
#include "train/count.h"
#include "train/rows.h"
#include "train/training.h"

/* A receiver of rows. What is counted, and how, is in a larger struct. */
typedef struct Tally
{
	DestReceiver pub;			/* must be first */
	const DpermSource *source;
	DpermReader *readers;
	DpermValue *values;			/* the features of a row */

	/* note a row with these values, and perhaps a label; false: it counts nowhere */
	bool		(*note) (struct Tally *tally, double label, double *note);
	/* count a row by its note, one of so many of its person, or 1 */
	void		(*count) (struct Tally *tally, const double *note, int64 rows);
	int			words;			/* of a note */

	double	   *row;			/* the person of a row, and its note */
	MemoryContext row_context;	/* reset after each row */
	DpermEntropy entropy;
	DpermPersons *persons;		/* for persons, with the next field; else NULL */
	DpermRows	notes;
	int64		rows;
} Tally;

/* Read all values of a row, even if it has no label, and note it. */
static bool
note_row(Tally *tally, TupleTableSlot *slot)
{
	const DpermSource *source = tally->source;
	int			at = 0;
	double		label = 0;

	if (source->label_column)
	{
		label = dperm_label_read(&source->label, slot->tts_values[0], slot->tts_isnull[0]);
		at++;
	}
	for (int i = 0; i < source->block_count; i++, at++)
		dperm_reader_read(&tally->readers[i], slot->tts_values[at], slot->tts_isnull[at],
						  &tally->values[i]);
	return tally->note(tally, label, tally->row + 1);
}

/* A row has arrived. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Tally	   *tally = (Tally *) self;
	MemoryContext caller = MemoryContextSwitchTo(tally->row_context);
	bool		counts;

	slot_getallattrs(slot);
	tally->rows++;
	counts = note_row(tally, slot);
	if (tally->persons)
	{
		int			last = slot->tts_nvalid - 1;
		int64		person =
			dperm_persons_enter(tally->persons, slot->tts_values[last], slot->tts_isnull[last]);

		if (!counts)
			person = DPERM_NOBODY;
		if (person != DPERM_NOBODY)
			dperm_persons_person(tally->persons, person)->labelled++;
		tally->row[0] = (double) person;
		memcpy(dperm_rows_next(&tally->notes), tally->row, sizeof(double) * (tally->words + 1));
	}
	else if (counts)
		tally->count(tally, tally->row + 1, 1);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(tally->row_context);
	return true;
}

/* Rows are about to arrive: perhaps a label, the features, and perhaps the unit. */
static void
start_tally(DestReceiver *self, int operation, TupleDesc desc)
{
	Tally	   *tally = (Tally *) self;
	const DpermSource *source = tally->source;

	if (tally->persons)
		dperm_reader_check_type("unit", TupleDescAttr(desc, desc->natts - 1)->atttypid,
								source->unit_type);
	if (source->label_column)
		dperm_reader_check_type("label", TupleDescAttr(desc, 0)->atttypid, source->label.type);
	dperm_reader_bind_columns(tally->readers, source->block_count, desc,
							  source->label_column ? 1 : 0);
}

static void
end_tally(DestReceiver *self)
{
}

/* Prepare to receive rows. */
static void
init_tally(Tally *tally, const DpermSource *source)
{
	tally->pub.receiveSlot = receive_row;
	tally->pub.rStartup = start_tally;
	tally->pub.rShutdown = end_tally;
	tally->pub.rDestroy = end_tally;
	tally->pub.mydest = DestTuplestore; /* anything that SPI does not create itself */
	tally->source = source;
	tally->readers = dperm_reader_make_all(&source->spec.encoder, source->spec.readers);
	tally->values = palloc0(sizeof(DpermValue) * source->block_count);
	tally->row = palloc0(sizeof(double) * (tally->words + 1));
	tally->row_context =
		AllocSetContextCreate(CurrentMemoryContext, "dperm row", ALLOCSET_DEFAULT_SIZES);
	if (source->unit)
	{
		tally->persons =
			dperm_persons_make(source->unit_type, source->unit_collation, 0, &tally->entropy);
		dperm_host_check_status(tally->entropy.status);
		dperm_rows_init(&tally->notes, dperm_rows_make(0, true, source->registration != NULL),
						tally->words + 1, 1);
	}
}

/* Count the rows in the store. */
static void
count_notes(Tally *tally)
{
	DpermRows  *rows = &tally->notes;

	dperm_rows_end(rows);
	for (int64 i = 0; i < rows->chunk_count; i++)
	{
		const double *row = dperm_rows_chunk(rows, i);

		for (int64 j = 0; j < rows->chunks[i].rows; j++, row += rows->words)
			if (row[0] != DPERM_NOBODY)
				tally->count(tally, row + 1,
							 dperm_persons_person(tally->persons, (int64) row[0])->labelled);
	}
	dperm_rows_close(rows->store);
}

/* Read the rows of a source, and count them. Returns the number of units. */
static int64
count_rows(Tally *tally, const DpermSource *source)
{
	int64		units;

	init_tally(tally, source);
	dperm_queries_read(source, &tally->pub);
	units = tally->rows;
	if (tally->persons)
	{
		units = dperm_persons_count(tally->persons);
		count_notes(tally);
		dperm_persons_free(tally->persons);
	}
	MemoryContextDelete(tally->row_context);
	return units;
}

/* What a row of a tally counts for, one of so many of its person, or 1. */
static int64
parts_of(const Tally *tally, int64 rows)
{
	return tally->persons ? dperm_unit_count(1, rows) : 1;
}

/* ------------------------------------------------------------ decisions */

typedef struct Decisions
{
	Tally		tally;			/* must be first */
	const DpermModel *model;
	double	   *frequencies;
	double	   *room;
	int			bins;
	int64	   *counts;
} Decisions;

/* The model's decision about a row. */
static double
decide(const Decisions *decisions)
{
	const DpermModel *model = decisions->model;

	return dperm_score_judge(&model->encoder, decisions->frequencies, model->loss.classes,
							 model->weights, decisions->tally.values, decisions->bins,
							 decisions->room);
}

/* The note of a row is its cell. */
static bool
note_cell(Tally *tally, double label, double *note)
{
	Decisions  *decisions = (Decisions *) tally;
	double		decision = decide(decisions);

	if (!dperm_label_has(&tally->source->label, label))
		return false;
	note[0] = dperm_counts_cell(decisions->model->loss.classes, decision, label, decisions->bins);
	return true;
}

static void
count_cell(Tally *tally, const double *note, int64 rows)
{
	((Decisions *) tally)->counts[(int) note[0]] += parts_of(tally, rows);
}

/* Of a label that is a number: the model's decision, and the label. */
static bool
note_error(Tally *tally, double label, double *note)
{
	note[0] = decide((Decisions *) tally);
	note[1] = label;
	return dperm_label_has(&tally->source->label, label);
}

static void
count_error(Tally *tally, const double *note, int64 rows)
{
	dperm_counts_add_errors(note[0], note[1], rows, ((Decisions *) tally)->counts);
}

int64
dperm_count_decisions(const DpermSource *source, const DpermModel *model, int bins, int64 *counts)
{
	const DpermEncoder *encoder = &model->encoder;
	bool		errors = source->label.kind == DPERM_LABEL_NUMBER;
	Decisions	decisions = {
		.tally = {.note = errors ? note_error : note_cell,
				  .count = errors ? count_error : count_cell,
				  .words = errors ? 2 : 1},
		.model = model,
		.frequencies = dperm_fourier_make(&encoder->kernel, dperm_encoder_linear_dim(encoder)),
		.room = palloc(sizeof(double) * (dperm_encoder_dim(encoder) +
										 dperm_encoder_linear_dim(encoder) +
										 model->loss.classes)),
		.bins = bins,
		.counts = counts
	};

	return count_rows(&decisions.tally, source);
}

/* --------------------------------------------------------------- values */

typedef struct Values
{
	Tally		tally;			/* must be first */
	DpermCells *columns;
	bool		skip_empty;
} Values;

/* Is each value of a number a whole one, and are these few enough for a cell each? */
static bool
are_whole(const DpermBlock *block, DpermReaderKind kind)
{
	return (kind == DPERM_READ_INT2 || kind == DPERM_READ_INT4 || kind == DPERM_READ_INT8 ||
			kind == DPERM_READ_DATE) &&
		floor(block->high) - ceil(block->low) < DPERM_SUMMARY_CELLS &&
		floor(block->high) >= ceil(block->low);
}

DpermCells *
dperm_count_cells(const DpermSource *source)
{
	DpermCells *columns = palloc0(sizeof(DpermCells) * source->block_count);
	DpermReader *readers = dperm_reader_make_all(&source->spec.encoder, source->spec.readers);

	for (int i = 0; i < source->block_count; i++)
	{
		const DpermBlock *block = columns[i].block = &source->blocks[i];

		columns[i].reader = readers[i].kind;
		if (block->kind == DPERM_BLOCK_FLAG || block->kind == DPERM_BLOCK_CATEGORY)
		{
			columns[i].kind = DPERM_SUMMARY_VALUES;
			columns[i].count = block->kind == DPERM_BLOCK_FLAG ? 2 : block->count;
		}
		else if (dperm_block_is_number(block))
		{
			columns[i].kind = DPERM_SUMMARY_NUMBER;
			columns[i].whole = are_whole(block, readers[i].kind);
			columns[i].count = columns[i].whole ?
				(int) (floor(block->high) - ceil(block->low)) + 1 : DPERM_SUMMARY_CELLS;
		}
		columns[i].counts = palloc0(sizeof(int64) * (columns[i].count + 1));
	}
	return columns;
}

double
dperm_count_edge(const DpermCells *cells, int place)
{
	const DpermBlock *block = cells->block;

	return cells->whole ? ceil(block->low) + place : dperm_encoder_even(block, place, cells->count);
}

/* The cell of a value; the last one if it has none, or none in its domain. */
static int
cell_of(const DpermCells *cells, const DpermValue *value)
{
	const DpermBlock *block = cells->block;

	if (!value->present)
		return cells->count;
	if (block->kind == DPERM_BLOCK_CATEGORY)
		return value->category < 0 ? cells->count : value->category;
	if (block->kind == DPERM_BLOCK_FLAG)
		return value->number > 0;
	if (isnan(value->number))
		return cells->count;
	if (cells->whole)
		return (int) (fmax(ceil(block->low), fmin(floor(block->high), value->number)) -
					  ceil(block->low));
	return (int) fmin(dperm_block_way(block, value->number) * cells->count, cells->count - 1);
}

/* The note of a row is its cell in each column that is counted. */
static bool
note_cells(Tally *tally, double label, double *note)
{
	const Values *values = (Values *) tally;
	bool		any = false;

	for (int i = 0; i < tally->words; i++)
	{
		const DpermCells *cells = &values->columns[i];

		if (cells->kind == DPERM_SUMMARY_NOTHING)
			continue;
		note[i] = cell_of(cells, &tally->values[i]);
		any |= note[i] < cells->count;
	}
	return any || !values->skip_empty;
}

static void
count_cells(Tally *tally, const double *note, int64 rows)
{
	DpermCells *columns = ((Values *) tally)->columns;
	int64		parts = parts_of(tally, rows);

	for (int i = 0; i < tally->words; i++)
		if (columns[i].kind != DPERM_SUMMARY_NOTHING)
			columns[i].counts[(int) note[i]] += parts;
}

int64
dperm_count_values(const DpermSource *source, DpermCells *cells, bool skip_empty)
{
	Values		values = {
		.tally = {.note = note_cells, .count = count_cells, .words = source->block_count},
		.columns = cells,
		.skip_empty = skip_empty
	};

	return count_rows(&values.tally, source);
}

/* --------------------------------------------------------------- errors */

/*
 * What a row in a store counts for that the model gets wrong: its weight in parts,
 * rounded down. The number of parts is a power of two, so the product is exact.
 */
static int64
stored_parts_of(const DpermLayout *layout, const double *row)
{
	return layout->weighted ? (int64) (dperm_layout_weight(layout, row) * DPERM_PERSON_PARTS) : 1;
}

/* The absolute error of a row whose label is a number, in parts. */
static int64
error_of(const DpermLayout *layout, double output, const double *row)
{
	double		label = row[dperm_layout_label(layout)];
	int64		sums[DPERM_SUMS] = {0};

	if (!dperm_label_kind_has(DPERM_LABEL_NUMBER, label))
		return 0;
	dperm_counts_add_errors(output, label, 1, sums);
	return (int64) (dperm_layout_weight(layout, row) * sums[DPERM_SUM_ABSOLUTE]);
}

/* What a row adds to the errors of a model, whose sums are these. */
static int64
errors_of(DpermMoments *m, const double *row)
{
	const DpermLayout *layout = &m->layout;
	const double *outputs = dperm_moments_outputs(m, row);
	double		label = row[dperm_layout_label(layout)];
	bool		wrong;

	if (layout->label == DPERM_LABEL_NUMBER)
		return error_of(layout, outputs[0], row);
	wrong = layout->label == DPERM_LABEL_SEVERAL ?
		dperm_label_kind_has(DPERM_LABEL_SEVERAL, label) &&
		dperm_score_class(m->classes, outputs) != label :
		label * outputs[0] < 0;
	return wrong ? stored_parts_of(layout, row) : 0;
}

int64
dperm_count_errors(DpermLoad *load, const DpermModel *model)
{
	DpermRows  *rows = &load->rows;
	const DpermLayout *layout = &rows->feed.layout;
	int			classes = dperm_loss_blocks(model->loss);
	int			dim = layout->dim * classes;
	double	   *room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
											  dperm_moments_room(dim, classes, false));
	double	   *weights = dperm_train_arrange(model, layout);
	DpermMoments sums;
	int64		errors = 0;

	dperm_moments_start(&sums, DPERM_PASS_GRADIENT, model->loss, layout, weights, NULL, room);
	for (int64 i = 0; i < rows->chunk_count; i++)
	{
		const double *row = dperm_rows_chunk(rows, i);

		for (int64 j = 0; j < rows->chunks[i].rows; j++, row += rows->words)
		{
			if (j % 4096 == 0)
				CHECK_FOR_INTERRUPTS();
			errors += errors_of(&sums, row);
		}
	}
	pfree(weights);
	pfree(room);
	return errors;
}
