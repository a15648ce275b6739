/*
 * load.c: load the rows of a source into memory, in one pass.
 *
 * The executor hands each row to a receiver of ours, which encodes it right
 * away. How much is kept depends only on the number of rows and on the
 * encoders. If a source is read once, rows that do not fit go to a spool, and
 * persons and portions are determined here: see "Reading once" in
 * src/README.md.
 */
#include "postgres.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/memutils.h"

#include "base/host.h"
#include "core/base/limits.h"
#include "core/privacy/draw.h"
#include "query/persons.h"
#include "query/queries.h"
#include "train/fill.h"
#include "train/load.h"
#include "train/load_parts.h"
#include "train/load_step.h"

/*
 * The number of sample rows that are fetched to start from if the others stay
 * on other servers; and the least number for each portion.
 */
#define SAMPLE_ROWS 20000
#define SAMPLE_ROWS_PORTION 5000

/* A receiver of rows. */
typedef struct Loader
{
	DestReceiver pub;			/* must be first */
	const DpermSource *source;
	DpermRows  *sets;
	int			count;
	DpermFill	fill;			/* encodes and keeps their rows */
	int64	   *portions;		/* units of each, or NULL */
	int64		rows;			/* that have arrived, of a source that is read once */
	/*
	 * number of rows that stay elsewhere, of which a sample is fetched; else 0
	 */
	int64		elsewhere;
	int64		units;			/* if so: their units */
	bool		once;			/* are all rows read only once? */
	MemoryContext row_context;	/* reset after each row */

	/* of a source that is read once */
	DpermEntropy entropy;		/* for portions */
	DpermPersons *persons;		/* if persons are the units; else NULL */
} Loader;

/* Add a row to every set of its portion. */
static void
take_into(Loader *loader, int portion, TupleTableSlot *slot, double label, int64 owner)
{
	dperm_fill_take(&loader->fill, portion, slot->tts_values + 1, slot->tts_isnull + 1, label,
					owner);
}

/* The label of a row. */
static double
label_of_row(const Loader *loader, const TupleTableSlot *slot)
{
	MemoryContext caller = MemoryContextSwitchTo(loader->row_context);
	double		label =
		dperm_label_read(&loader->source->label, slot->tts_values[0], slot->tts_isnull[0]);

	MemoryContextSwitchTo(caller);
	return label;
}

/* The label of a row that has none. */
static double
no_label(const Loader *loader)
{
	return dperm_label_kind_none(loader->source->label.kind);
}

/* A row has arrived. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Loader	   *loader = (Loader *) self;
	int			portion = -1;

	slot_getallattrs(slot);
	if (loader->portions)
	{
		portion =
			dperm_queries_checked_portion(loader->source, slot->tts_values[slot->tts_nvalid - 1],
										  slot->tts_isnull[slot->tts_nvalid - 1]);
		if (loader->elsewhere == 0)
			loader->portions[portion]++;
	}
	take_into(loader, portion, slot, label_of_row(loader, slot), 0);
	return true;
}

/* Draw a portion at random. */
static int
draw_portion(Loader *loader)
{
	return loader->source->portions > 0 ?
			   (int) dperm_draw_below(&loader->entropy, loader->source->portions) :
			   -1;
}

/* The portion of a person. */
static int
portion_of(const Loader *loader, const DpermPerson *person)
{
	return loader->source->portions > 0 ? person->portion : -1;
}

/* The person whose unit is the last value of a row. */
static int64
find_person(Loader *loader, TupleTableSlot *slot)
{
	int			last = slot->tts_nvalid - 1;
	MemoryContext caller = MemoryContextSwitchTo(loader->row_context);
	int64		person =
		dperm_persons_enter(loader->persons, slot->tts_values[last], slot->tts_isnull[last]);

	MemoryContextSwitchTo(caller);
	return person;
}

/*
 * A row of a source that is read once has arrived. A row of nobody is kept
 * without its label, so that the amount kept depends only on the number of
 * rows.
 */
static bool
receive_once(TupleTableSlot *slot, DestReceiver *self)
{
	Loader	   *loader = (Loader *) self;

	slot_getallattrs(slot);
	if (++loader->rows > DPERM_ROWS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("source has too many rows")));	/* required by the bounds on rounding */
	if (loader->persons)
	{
		int64		number = find_person(loader, slot);
		DpermPerson *person =
			number == DPERM_NOBODY ? NULL : dperm_persons_person(loader->persons, number);
		double		label = label_of_row(loader, slot);

		bool		labelled;

		if (!person)
			label = no_label(loader);
		labelled = dperm_label_has(&loader->source->label, label);
		if (labelled)
			person->labelled++;
		take_into(loader, person ? portion_of(loader, person) : draw_portion(loader), slot, label,
				  labelled ? number : DPERM_NOBODY);
	}
	else
		take_into(loader, draw_portion(loader), slot, label_of_row(loader, slot), DPERM_NOBODY);
	if (!loader->row_context->isReset)
		MemoryContextReset(loader->row_context);
	return true;
}

/*
 * Rows are about to arrive: label, features, and perhaps more. Labels and units
 * are read without conversion, so their types have to be the expected ones.
 */
static void
start_rows(DestReceiver *self, int operation, TupleDesc desc)
{
	Loader	   *loader = (Loader *) self;

	dperm_label_check(&loader->source->label, TupleDescAttr(desc, 0)->atttypid);
	for (int i = 0; i < loader->count; i++)
		dperm_reader_bind_columns(loader->fill.sets[i].readers,
								  loader->sets[i].source->block_count, desc, 1);
	if (loader->persons)
		dperm_persons_check(loader->persons, TupleDescAttr(desc, desc->natts - 1)->atttypid);
}

static void
end_rows(DestReceiver *self)
{
}

/* Prepare to receive rows, depending on how the source is read. */
static void
init_receiver(Loader *loader, const DpermSource *source)
{
	memset(loader, 0, sizeof(*loader));
	loader->once = source->once;
	loader->pub.receiveSlot = source->once ? receive_once : receive_row;
	loader->pub.rStartup = start_rows;
	loader->pub.rShutdown = end_rows;
	loader->pub.rDestroy = end_rows;
	loader->pub.mydest = DestTuplestore;	/* anything that SPI does not create itself */
	loader->source = source;
	loader->row_context = AllocSetContextCreate(CurrentMemoryContext, "dperm row",
												ALLOCSET_DEFAULT_SIZES);
	dperm_entropy_init(&loader->entropy);
	if (source->unit)
		loader->persons = dperm_persons_make(source->unit_type, source->unit_collation,
											 source->portions, &loader->entropy);
}

/* Initialise a loader; rows have weights if persons are the units. */
static void
init_loader(Loader *loader, DpermRows *sets, int count, int64 *portions)
{
	init_receiver(loader, sets[0].source);
	loader->sets = sets;
	loader->count = count;
	loader->portions = portions;
	dperm_fill_init(&loader->fill, count, (Size) dperm_cache_memory * 1024, NULL,
					loader->row_context);
	loader->fill.spill = loader->once;
	for (int i = 0; i < count; i++)
	{
		const DpermPassSpec *spec = &sets[i].source->spec;

		sets[i].encoder = spec->encoder;
		dperm_fill_describe(&loader->fill, i, sets[i].portion, &sets[i].encoder, spec->readers,
							&sets[i].cache);
	}
	dperm_fill_start(&loader->fill, loader->source->label.kind, 1, loader->persons != NULL);
}

/* All random bits have been drawn: check that the source did not fail. */
static void
end_draws(Loader *loader)
{
	if (!dperm_entropy_ok(&loader->entropy))
		dperm_host_check_status(DPERM_NO_ENTROPY);
	dperm_entropy_wipe(&loader->entropy);
}

/* The number of units of each portion, or of all. */
static void
count_units(Loader *loader)
{
	DpermPersons *persons = loader->persons;

	for (int i = 0; i < loader->count; i++)
	{
		DpermRows  *set = &loader->sets[i];

		set->count = persons ? dperm_persons_count(persons) :
			loader->elsewhere == 0 ? set->cache.keep.seen :
			loader->portions ? loader->portions[set->portion] : loader->units;
	}
	if (loader->portions == NULL || !loader->once)
		return;
	if (persons)
		for (int64 i = 0; i < dperm_persons_count(persons); i++)
			loader->portions[dperm_persons_person(persons, i)->portion]++;
	for (int i = 0; i < loader->count; i++)
	{
		/* every portion has a set, and all sets of it saw the same rows */
		if (persons)
			loader->sets[i].count = loader->portions[loader->sets[i].portion];
		else
			loader->portions[loader->sets[i].portion] = loader->sets[i].count;
	}
}

/* The size of this many rows in memory. */
static Size
size_of_rows(const Loader *loader, int64 rows)
{
	int			words = 0;

	for (int i = 0; i < loader->count; i++)
		words = Max(words, loader->sets[i].cache.keep.words);
	return (Size) rows * words * sizeof(double);
}

/*
 * Let rows stay on other servers. A sample does not contain all rows of a
 * person, so it has no weights: it is only used as a start.
 */
static void
let_stay(Loader *loader, int64 rows, int64 units)
{
	loader->elsewhere = rows;
	loader->units = units;
	if (!loader->once)
		return;
	loader->once = false;
	loader->fill.spill = false;
	loader->pub.receiveSlot = receive_row;
	end_draws(loader);
	dperm_persons_free(loader->persons);
	loader->persons = NULL;
	dperm_fill_start(&loader->fill, loader->source->label.kind, 1, false);
}

/* Count rows on other servers. If there are many, they stay there. */
static void
count_elsewhere(Loader *loader)
{
	int64		rows,
				units;

	if (loader->source->location == DPERM_LOCATION_HERE)
		return;
	units = dperm_queries_count(loader->source, loader->portions, &rows);
	if (size_of_rows(loader, rows) > (Size) dperm_pull_memory * 1024)
		let_stay(loader, rows, units);
	else if (loader->portions)
		memset(loader->portions, 0, sizeof(int64) * loader->source->portions);
}

/*
 * Read a sample of rows on other servers. They are kept compact, because a
 * sample need not be exact.
 */
static void
read_sample(Loader *loader)
{
	int64		sample = Max(SAMPLE_ROWS, SAMPLE_ROWS_PORTION * loader->source->portions);

	if (!loader->fill.compact)
		dperm_fill_compact(&loader->fill);
	dperm_queries_sample(loader->source, loader->elsewhere / sample + 1, 2 * sample, &loader->pub);
}

/* A load by several processes. */
typedef struct Together
{
	Loader	   *loader;
	MemoryContext context;
	DpermSharedRows *shared;
	bytea	   *key;
} Together;

/* Workers are planned: make room for the rows. */
static bool
prepare_together(void *arg, int workers)
{
	Together   *together = arg;
	MemoryContext caller;

	if (workers == 0)
		return false;
	caller = MemoryContextSwitchTo(together->context);
	together->shared = dperm_load_step_begin(&together->loader->fill, together->loader->source,
											 workers, (DpermSharedKey *) VARDATA(together->key));
	MemoryContextSwitchTo(caller);
	return together->shared != NULL;
}

/*
 * Load rows by several processes, if PostgreSQL plans to; false if they have to
 * be read by this one. A source that is read once, or protected, is read by one.
 */
static bool
read_together(Loader *loader)
{
	const DpermSource *source = loader->source;
	Size		size = VARHDRSZ + sizeof(DpermSharedKey);
	Together	together = {loader, CurrentMemoryContext, NULL, palloc0(size)};
	bytea	   *parts;

	SET_VARSIZE(together.key, size);
	if (loader->once || source->registration || source->location != DPERM_LOCATION_HERE ||
		!dperm_queries_load(source, together.key, prepare_together, &together, &parts))
		return false;
	dperm_load_step_end(together.shared);
	if (dperm_shared_rows_stage(together.shared) == DPERM_SHARED_FAILED)
	{
		dperm_shared_rows_close(together.shared);
		ereport(DEBUG1, (errmsg_internal("there is not enough shared memory for the rows")));
		return false;
	}
	dperm_load_parts_take(together.shared, parts ? VARDATA(parts) : NULL,
						  parts ? VARSIZE(parts) - VARHDRSZ : 0, loader->portions,
						  loader->portions ? source->portions : 0, &loader->fill);
	loader->sets[0].shared = together.shared;
	return true;
}

/* Read rows. */
void
dperm_load(DpermRows *sets, int count, int64 *portions)
{
	const DpermSource *source = sets[0].source;
	double	   *weights;
	bool		together;
	Loader		loader;

	if (portions)
		memset(portions, 0, sizeof(int64) * source->portions);
	init_loader(&loader, sets, count, portions);
	count_elsewhere(&loader);
	together = read_together(&loader);
	if (loader.fill.limit == 0 && !together)
		dperm_fill_compact(&loader.fill);
	if (loader.elsewhere > 0)
		read_sample(&loader);
	else if (!together)
		dperm_queries_read(source, &loader.pub);
	if (loader.once)
		end_draws(&loader);
	for (int i = 0; i < count; i++)
	{
		dperm_cache_end(&sets[i].cache);
		sets[i].complete = !loader.fill.compact;
		sets[i].elsewhere = loader.elsewhere > 0;
	}
	count_units(&loader);
	if (loader.persons)
	{
		weights = dperm_persons_weights(loader.persons);
		dperm_persons_free(loader.persons);
		for (int i = 0; i < count; i++)
			dperm_cache_weigh(&sets[i].cache, weights);
	}
	MemoryContextDelete(loader.row_context);
}

/* Bend open numbers; those that stay straight lines are as they should be. */
void
dperm_load_bend(DpermRows *sets, int count)
{
	for (int i = 0; i < count; i++)
	{
		const DpermEncoder *encoder = &sets[i].source->spec.encoder;

		if (dperm_encoder_dim(encoder) != dperm_encoder_dim(&sets[i].encoder))
			dperm_cache_bend(&sets[i].cache, encoder);
	}
}

/* Close files and release shared memory. */
void
dperm_load_close(DpermRows *sets, int count)
{
	for (int i = 0; i < count; i++)
	{
		dperm_spool_close(sets[i].cache.spool);
		sets[i].cache.spool = NULL;
		if (sets[i].shared)
			dperm_shared_rows_close(sets[i].shared);
		sets[i].shared = NULL;
	}
}
