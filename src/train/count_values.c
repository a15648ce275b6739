/*
 * count_values.c: count the rows of a source by the values of each column, in one
 * scan.
 *
 * How much a row of a person counts is known only when all rows have been seen.
 * Until then person and cells are kept in a store.
 */
#include "postgres.h"

#include <math.h>

#include "executor/tuptable.h"
#include "tcop/dest.h"
#include "utils/memutils.h"

#include "base/base.h"
#include "query/persons.h"
#include "query/source.h"
#include "train/count_values.h"
#include "train/rows.h"
#include "core/privacy/claim.h"
#include "core/privacy/summary.h"

/* A receiver of rows. */
typedef struct Tally
{
	DestReceiver pub;			/* must be first */
	DpermCells *columns;
	int			count;
	bool		skip_empty;
	DpermReader *readers;
	double	   *row;			/* the person of a row, and its cells */
	MemoryContext row_context;	/* reset after each row */
	DpermEntropy entropy;
	DpermPersons *persons;		/* for persons, with the next field; else NULL */
	DpermRows	notes;
	int64		rows;
} Tally;

/* Is each value of a number a whole one, and are these few enough for a cell each? */
static bool
are_whole(const DpermBlock *block, DpermReaderKind kind)
{
	return (kind == DPERM_READ_INT2 || kind == DPERM_READ_INT4 || kind == DPERM_READ_INT8 ||
			kind == DPERM_READ_DATE) &&
		floor(block->high) - ceil(block->low) < DPERM_SUMMARY_CELLS &&
		floor(block->high) >= ceil(block->low);
}

/* The cells of each column, all of them empty. */
DpermCells *
dperm_count_values_cells(const DpermSource *source)
{
	DpermCells *columns = palloc0(sizeof(DpermCells) * source->block_count);
	DpermReader *readers = dperm_reader_make_all(&source->spec.encoder, source->spec.readers);

	for (int i = 0; i < source->block_count; i++)
	{
		const DpermBlock *block = columns[i].block = &source->blocks[i];

		columns[i].kind = readers[i].kind;
		if (block->kind == DPERM_BLOCK_FLAG)
			columns[i].count = 2;
		else if (block->kind == DPERM_BLOCK_CATEGORY)
			columns[i].count = block->count;
		else if (dperm_block_is_number(block))
		{
			columns[i].whole = are_whole(block, readers[i].kind);
			columns[i].count = columns[i].whole ?
				(int) (floor(block->high) - ceil(block->low)) + 1 : DPERM_SUMMARY_CELLS;
		}
	}
	return columns;
}

/* Where a cell of a number begins; the last one ends where the next one would. */
double
dperm_count_values_edge(const DpermCells *cells, int place)
{
	const DpermBlock *block = cells->block;
	double		low = dperm_block_scaled(block, block->low);
	double		high = dperm_block_scaled(block, block->high);

	if (cells->whole)
		return ceil(block->low) + place;
	return place == cells->count ? block->high : place == 0 ? block->low :
		dperm_block_unscaled(block, low + (high - low) * ((double) place / cells->count));
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
	return (int) fmin((dperm_block_line(block, value->number) + 1) / 2 * cells->count,
					  cells->count - 1);
}

/* Count a row, one of so many of its person, or 1. */
static void
count_row(Tally *tally, const double *row, int64 rows)
{
	int64		parts = tally->persons ? dperm_unit_count(1, rows) : 1;

	for (int i = 0; i < tally->count; i++)
		if (tally->columns[i].count > 0)
			tally->columns[i].counts[(int) row[i + 1]] += parts;
}

/* Read the cells of a row; false if it has a value in no column. */
static bool
read_cells(Tally *tally, TupleTableSlot *slot)
{
	bool		any = false;

	for (int i = 0; i < tally->count; i++)
	{
		DpermValue	value;

		dperm_reader_read(&tally->readers[i], slot->tts_values[i], slot->tts_isnull[i], &value);
		if (tally->columns[i].count == 0)
			continue;
		tally->row[i + 1] = cell_of(&tally->columns[i], &value);
		any |= tally->row[i + 1] < tally->columns[i].count;
	}
	return any;
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
	counts = read_cells(tally, slot) || !tally->skip_empty;
	if (tally->persons)
	{
		int			last = slot->tts_nvalid - 1;
		int64		person =
			dperm_persons_enter(tally->persons, slot->tts_values[last], slot->tts_isnull[last]);

		tally->row[0] = counts ? (double) person : DPERM_NOBODY;
		if (tally->row[0] >= 0)
			dperm_persons_person(tally->persons, person)->labelled++;
		memcpy(dperm_rows_next(&tally->notes), tally->row, sizeof(double) * (tally->count + 1));
	}
	else if (counts)
		count_row(tally, tally->row, 1);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(tally->row_context);
	return true;
}

/* Rows are about to arrive: columns, and perhaps the unit. */
static void
start_tally(DestReceiver *self, int operation, TupleDesc desc)
{
	Tally	   *tally = (Tally *) self;

	if (tally->persons)
		dperm_persons_check(tally->persons, TupleDescAttr(desc, desc->natts - 1)->atttypid);
	dperm_reader_bind_columns(tally->readers, tally->count, desc, 0);
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
	tally->readers = dperm_reader_make_all(&source->spec.encoder, source->spec.readers);
	tally->row = palloc0(sizeof(double) * (tally->count + 1));
	tally->row_context =
		AllocSetContextCreate(CurrentMemoryContext, "dperm row", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < tally->count; i++)
		tally->columns[i].counts = palloc0(sizeof(int64) * (tally->columns[i].count + 1));
	if (source->unit)
	{
		dperm_entropy_init(&tally->entropy);
		tally->persons =
			dperm_persons_make(source->unit_type, source->unit_collation, 0, &tally->entropy);
		if (!dperm_entropy_ok(&tally->entropy))
			dperm_host_check_status(DPERM_NO_ENTROPY);
		dperm_rows_init(&tally->notes, dperm_rows_make(0, true, source->registration != NULL),
						tally->count + 1, 1);
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
			if (row[0] >= 0)
				count_row(tally, row,
						  dperm_persons_person(tally->persons, (int64) row[0])->labelled);
	}
	dperm_rows_close(rows->store);
}

/*
 * Count rows by cells, in the current memory context; with skip_empty those without any value
 * nowhere. Returns the number of units.
 */
int64
dperm_count_values(const DpermSource *source, DpermCells *cells, bool skip_empty)
{
	Tally		tally = {
		.columns = cells, .count = source->block_count, .skip_empty = skip_empty};
	int64		units;

	init_tally(&tally, source);
	dperm_queries_read(source, &tally.pub);
	units = tally.rows;
	if (tally.persons)
	{
		units = dperm_persons_count(tally.persons);
		count_notes(&tally);
		dperm_persons_free(tally.persons);
	}
	MemoryContextDelete(tally.row_context);
	return units;
}
