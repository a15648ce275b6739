/*
 * count_decisions.c: count the rows of a source that is read once, by a model's
 * decisions.
 *
 * How much a row of a person counts is known only when all rows have been seen.
 * Until then person and cell are kept in a store.
 */
#include "postgres.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/memutils.h"

#include "base/host.h"
#include "column/reader.h"
#include "core/model/score.h"
#include "core/privacy/counts.h"
#include "core/privacy/claim.h"
#include "query/persons.h"
#include "query/queries.h"
#include "train/count_decisions.h"
#include "train/rows.h"

/* A receiver of rows. */
typedef struct Tally
{
	DestReceiver pub;			/* must be first */
	const DpermLabel *label;
	const DpermModel *model;
	double	   *frequencies;
	DpermReader *readers;
	DpermValue *values;
	double	   *room;
	int			bins;
	int64	   *counts;
	int			count;
	MemoryContext row_context;	/* reset after each row */
	DpermEntropy entropy;
	DpermPersons *persons;		/* for persons, with the next field; else NULL */
	DpermRows	notes;
	int64		rows;
} Tally;

/* A row that is in no cell. */
#define NO_CELL (-1.0)

/*
 * A row, in one word of the store: its person, times the number of cells, and
 * its cell. Labels that are numbers take three words, and have one cell.
 */
typedef struct Note
{
	double		place;			/* NO_CELL: it does not count */
	double		decision;
	double		label;
} Note;

/* Are labels numbers? */
static bool
adds_errors(const Tally *tally)
{
	return tally->label->kind == DPERM_LABEL_NUMBER;
}

/* The words of a note in the store. */
static int
note_words(const Tally *tally)
{
	return adds_errors(tally) ? sizeof(Note) / sizeof(double) : 1;
}

/*
 * A row without its person. All values are read, even if the row has no label.
 */
static void
make_note(Tally *tally, TupleTableSlot *slot, Note *note)
{
	const DpermEncoder *encoder = &tally->model->encoder;
	double		label = dperm_label_read(tally->label, slot->tts_values[0], slot->tts_isnull[0]);

	for (int i = 0; i < encoder->block_count; i++)
		dperm_reader_read(&tally->readers[i], slot->tts_values[i + 1], slot->tts_isnull[i + 1],
						  &tally->values[i]);
	*note = (Note) {
		.decision = dperm_score_judge(encoder, tally->frequencies, tally->model->loss.classes,
									  tally->model->weights, tally->values, tally->bins,
									  tally->room),
		.label = label
	};
	if (!dperm_label_has(tally->label, label))
		note->place = NO_CELL;
	else if (!adds_errors(tally))
		note->place = dperm_counts_cell(tally->model->loss.classes, note->decision, label,
										tally->bins);
}

/* Count a row that is in a cell, one of so many labelled rows of its person, or 1. */
static void
count_note(Tally *tally, const Note *note, int64 labelled)
{
	if (adds_errors(tally))
		dperm_counts_add_errors(note->decision, note->label, labelled, tally->counts);
	else
		tally->counts[(int64) note->place % tally->count] +=
			tally->persons ? dperm_unit_count(1, labelled) : 1;
}

/* A row has arrived. */
static bool
receive_scored(TupleTableSlot *slot, DestReceiver *self)
{
	Tally	   *tally = (Tally *) self;
	MemoryContext caller = MemoryContextSwitchTo(tally->row_context);
	Note		note;

	slot_getallattrs(slot);
	tally->rows++;
	make_note(tally, slot, &note);
	if (tally->persons)
	{
		int			last = slot->tts_nvalid - 1;
		int64		person =
			dperm_persons_enter(tally->persons, slot->tts_values[last], slot->tts_isnull[last]);

		if (person == DPERM_NOBODY)
			note.place = NO_CELL;
		if (note.place >= 0)
		{
			dperm_persons_person(tally->persons, person)->labelled++;
			note.place += (double) (person * tally->count);
		}
		memcpy(dperm_rows_next(&tally->notes), &note, sizeof(double) * note_words(tally));
	}
	else if (note.place >= 0)
		count_note(tally, &note, 1);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(tally->row_context);
	return true;
}

/* Rows are about to arrive: label, features, and perhaps the unit. */
static void
start_tally(DestReceiver *self, int operation, TupleDesc desc)
{
	Tally	   *tally = (Tally *) self;

	if (tally->persons)
		dperm_persons_check(tally->persons, TupleDescAttr(desc, desc->natts - 1)->atttypid);
	dperm_label_check(tally->label, TupleDescAttr(desc, 0)->atttypid);
	dperm_reader_bind_columns(tally->readers, tally->model->encoder.block_count, desc, 1);
}

static void
end_tally(DestReceiver *self)
{
}

/* Prepare to receive rows. */
static void
init_tally(Tally *tally, const DpermSource *source, const DpermModel *model)
{
	const DpermEncoder *encoder = &model->encoder;

	tally->pub.receiveSlot = receive_scored;
	tally->pub.rStartup = start_tally;
	tally->pub.rShutdown = end_tally;
	tally->pub.rDestroy = end_tally;
	tally->pub.mydest = DestTuplestore;	/* anything that SPI does not create itself */
	tally->label = &source->label;
	tally->model = model;
	tally->frequencies = dperm_encoder_frequencies(encoder);
	tally->readers = dperm_reader_make_all(&source->spec.encoder, source->spec.readers);
	tally->values = palloc0(sizeof(DpermValue) * encoder->block_count);
	tally->room =
		palloc(sizeof(double) * (dperm_encoder_dim(encoder) + dperm_encoder_linear_dim(encoder) +
								 model->loss.classes));
	tally->row_context =
		AllocSetContextCreate(CurrentMemoryContext, "dperm row", ALLOCSET_DEFAULT_SIZES);
	memset(tally->counts, 0, sizeof(int64) * tally->count);
	if (source->unit)
	{
		dperm_entropy_init(&tally->entropy);
		tally->persons =
			dperm_persons_make(source->unit_type, source->unit_collation, 0, &tally->entropy);
		if (!dperm_entropy_ok(&tally->entropy))
			dperm_host_check_status(DPERM_NO_ENTROPY);
		dperm_rows_init(&tally->notes, dperm_rows_make(0, true, source->registration != NULL),
						note_words(tally), 1);
	}
}

/* Count the rows in the store. */
static void
count_notes(Tally *tally)
{
	DpermRows  *rows = &tally->notes;
	Note		note = {.place = NO_CELL};

	dperm_rows_end(rows);
	for (int64 i = 0; i < rows->chunk_count; i++)
	{
		const double *notes = dperm_rows_chunk(rows, i);

		for (int64 j = 0; j < rows->chunks[i].rows; j++, notes += rows->words)
		{
			memcpy(&note, notes, sizeof(double) * rows->words);
			if (note.place >= 0)
				count_note(tally, &note,
						   dperm_persons_person(tally->persons, (int64) note.place / tally->count)
							   ->labelled);
		}
	}
	dperm_rows_close(rows->store);
	dperm_persons_free(tally->persons);
}

/* Count rows by cells. */
void
dperm_count_decisions(const DpermSource *source, const DpermModel *model, int bins, int64 *counts,
					  int count, int64 *units)
{
	Tally		tally = {.bins = bins, .counts = counts, .count = count};

	init_tally(&tally, source, model);
	dperm_queries_read(source, &tally.pub);
	if (units)
		*units = tally.persons ? dperm_persons_count(tally.persons) : tally.rows;
	if (tally.persons)
		count_notes(&tally);
	MemoryContextDelete(tally.row_context);
}
