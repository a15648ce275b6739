/*
 * load.c: load the rows of a source into a store, in one scan. Trusted.
 *
 * The executor hands each row to a receiver of ours, which encodes it right
 * away. Persons are told apart here, and portions are drawn here, for rows or for
 * persons: see "Reading once" in src/README.md.
 */
#include "postgres.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/memutils.h"

#include "base/base.h"
#include "query/source.h"
#include "train/load.h"
#include "core/base/core.h"

/* The number of rows that are fetched to start from if the others stay elsewhere. */
#define SAMPLE_ROWS 20000

/* -------------------------------------------- rows as they arrive */

/* Initialise. */
void
dperm_intake_init(DpermIntake *intake, int count, int portions)
{
	memset(intake, 0, sizeof(*intake));
	intake->count = count;
	intake->sets = palloc0(sizeof(DpermIntakeSet) * count);
	intake->portions = portions;
	intake->row_context = AllocSetContextCreate(CurrentMemoryContext, "dperm row",
												ALLOCSET_DEFAULT_SIZES);
}

/* Describe a set. */
void
dperm_intake_describe(DpermIntake *intake, int set, int portion, const DpermEncoder *encoder,
					  const uint64 *words, DpermRows *rows)
{
	intake->sets[set] = (DpermIntakeSet) {
		.portion = portion,
		.encoder = encoder,
		.words = words,
		.readers = dperm_reader_make_all(encoder, words),
		.values = palloc0(sizeof(DpermValue) * encoder->block_count),
		.rows = rows
	};
}

/* Start all sets. */
void
dperm_intake_start(DpermIntake *intake, DpermStore *store, DpermLabelKind label, bool weighted)
{
	for (int i = 0; i < intake->count; i++)
		dperm_rows_init_encoded(intake->sets[i].rows, store, intake->sets[i].encoder, label,
								weighted, i > 0 ? intake->sets[i - 1].rows : NULL,
								intake->count);
}

/* Bind the readers. */
void
dperm_intake_bind(DpermIntake *intake, TupleDesc desc, int first)
{
	for (int i = 0; i < intake->count; i++)
	{
		const DpermIntakeSet *set = &intake->sets[i];

		if (desc->natts - first < set->encoder->block_count)
			elog(ERROR, "rows have %d columns, not %d", desc->natts - first,
				 set->encoder->block_count);
		dperm_reader_bind_columns(set->readers, set->encoder->block_count, desc, first);
	}
}

/* Draw a portion. */
int
dperm_intake_portion(DpermIntake *intake)
{
	return intake->portions > 0 ? (int) dperm_draw_below(&intake->entropy, intake->portions) :
		-1;
}

/*
 * Add a row to a set. Values are read in any case: what is fetched must not
 * depend on the label or the owner.
 */
static void
take_row(DpermIntake *intake, const DpermIntakeSet *set, const Datum *values, const bool *nulls,
		 double label, int64 owner)
{
	MemoryContext caller = MemoryContextSwitchTo(intake->row_context);

	for (int i = 0; i < set->encoder->block_count; i++)
		dperm_reader_read(&set->readers[i], values[i], nulls[i], &set->values[i]);
	if (!dperm_rows_add(set->rows, set->values, label, (double) owner))
		elog(ERROR, "there is no place for a row");
	MemoryContextSwitchTo(caller);
}

/* Add a row to every set of its portion. */
void
dperm_intake_take(DpermIntake *intake, int portion, const Datum *values, const bool *nulls,
				  double label, int64 owner)
{
	for (int i = 0; i < intake->count; i++)
		if (intake->sets[i].portion == portion)
			take_row(intake, &intake->sets[i], values, nulls, label, owner);
	if (!intake->row_context->isReset || intake->row_context->firstchild)
		MemoryContextReset(intake->row_context);
}

/* All random bits have been drawn. */
void
dperm_intake_end(DpermIntake *intake)
{
	dperm_host_check_status(intake->entropy.status);
	dperm_entropy_wipe(&intake->entropy);
}

/* --------------------------------------------------------------- load */

/* A receiver of rows. */
typedef struct Loader
{
	DestReceiver pub;			/* must be first */
	const DpermSource *source;
	DpermLoad  *sets;
	int			count;
	DpermIntake intake;			/* encodes and keeps their rows */
	int64	   *portions;		/* units of each, or NULL */
	int64		rows;			/* that have arrived */
	/*
	 * number of rows that stay elsewhere, of which a sample is fetched; else 0
	 */
	int64		elsewhere;
	int64		units;			/* if so: their units */
	DpermPersons *persons;		/* if persons are the units; else NULL */
} Loader;

/* The label of a row. */
static double
label_of_row(const Loader *loader, const TupleTableSlot *slot)
{
	MemoryContext caller = MemoryContextSwitchTo(loader->intake.row_context);
	double		label =
		dperm_label_read(&loader->source->label, slot->tts_values[0], slot->tts_isnull[0]);

	MemoryContextSwitchTo(caller);
	return label;
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
	MemoryContext caller = MemoryContextSwitchTo(loader->intake.row_context);
	int64		person =
		dperm_persons_enter(loader->persons, slot->tts_values[last], slot->tts_isnull[last]);

	MemoryContextSwitchTo(caller);
	return person;
}

/* The bounds on rounding require that there are not too many rows. */
static void
check_count(int64 rows)
{
	if (rows > DPERM_ROWS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("source has too many rows")));
}

/*
 * A row has arrived. A row of nobody is kept without its label, so that the
 * amount kept depends only on the number of rows.
 */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Loader	   *loader = (Loader *) self;
	int64		number = DPERM_NOBODY;
	DpermPerson *person = NULL;
	double		label;

	slot_getallattrs(slot);
	check_count(++loader->rows);
	if (loader->persons)
	{
		number = find_person(loader, slot);
		if (number != DPERM_NOBODY)
			person = dperm_persons_person(loader->persons, number);
	}
	label = label_of_row(loader, slot);
	if (loader->persons && !person)
		label = dperm_label_kind_none(loader->source->label.kind);
	if (person && dperm_label_has(&loader->source->label, label))
		person->labelled++;
	else
		number = DPERM_NOBODY;
	dperm_intake_take(&loader->intake,
					  person ? portion_of(loader, person) : dperm_intake_portion(&loader->intake),
					  slot->tts_values + 1, slot->tts_isnull + 1, label, number);
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
	const DpermSource *source = loader->source;

	dperm_reader_check_type("label", TupleDescAttr(desc, 0)->atttypid, source->label.type);
	dperm_intake_bind(&loader->intake, desc, 1);
	if (loader->persons)
		dperm_reader_check_type("unit", TupleDescAttr(desc, desc->natts - 1)->atttypid,
								source->unit_type);
}

static void
end_rows(DestReceiver *self)
{
}

/* Initialise a loader. */
static void
init_loader(Loader *loader, DpermLoad *sets, int count, int64 *portions)
{
	const DpermSource *source = sets[0].source;

	memset(loader, 0, sizeof(*loader));
	loader->pub.receiveSlot = receive_row;
	loader->pub.rStartup = start_rows;
	loader->pub.rShutdown = end_rows;
	loader->pub.rDestroy = end_rows;
	loader->pub.mydest = DestTuplestore;	/* anything that SPI does not create itself */
	loader->source = source;
	loader->sets = sets;
	loader->count = count;
	loader->portions = portions;
	dperm_intake_init(&loader->intake, count, source->portions);
	if (source->unit)
		loader->persons = dperm_persons_make(source->unit_type, source->unit_collation,
											 source->portions, &loader->intake.entropy);
	for (int i = 0; i < count; i++)
	{
		const DpermPassSpec *spec = &sets[i].source->spec;

		dperm_intake_describe(&loader->intake, i, sets[i].portion, &spec->encoder,
							  spec->readers, &sets[i].rows);
	}
}

/*
 * The number of units of each portion, or of all. Every portion has a set, and all
 * sets of it have the same rows.
 */
static void
count_units(Loader *loader)
{
	DpermPersons *persons = loader->persons;

	if (persons && loader->portions)
		for (int64 i = 0; i < dperm_persons_count(persons); i++)
			loader->portions[dperm_persons_person(persons, i)->portion]++;
	for (int i = 0; i < loader->count; i++)
	{
		DpermLoad  *set = &loader->sets[i];

		if (!persons && loader->portions)
			loader->portions[set->portion] = set->rows.count;
		set->count = loader->portions ? loader->portions[set->portion] :
			persons ? dperm_persons_count(persons) :
			loader->elsewhere > 0 ? loader->units : set->rows.count;
	}
}

/*
 * Raise an error unless each of the rows that have arrived is in the sets of its
 * portion, once.
 */
static void
check_rows(const Loader *loader, int64 rows)
{
	for (int i = 0; i < loader->count; i++)
	{
		const DpermLoad *set = &loader->sets[i];
		int			first = 0;

		while (loader->sets[first].portion != set->portion)
			first++;
		if (loader->sets[first].rows.count != set->rows.count)
			elog(ERROR, "sets of a portion have different rows");
		rows -= first == i ? set->rows.count : 0;
	}
	if (rows != 0)
		elog(ERROR, "rows were lost or loaded twice");
}

/* The size of this many rows in memory. */
static Size
size_of_rows(const Loader *loader, int64 rows)
{
	int			words = 0;

	for (int i = 0; i < loader->count; i++)
		words = Max(words, dperm_layout_make(&loader->sets[i].source->spec.encoder,
											 loader->persons != NULL).words);
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
	if (loader->persons)
		dperm_persons_free(loader->persons);
	loader->persons = NULL;
}

/* Count rows on other servers. If there are many, they stay there. */
static void
count_elsewhere(Loader *loader)
{
	int64		rows,
				units;

	if (loader->source->location == DPERM_LOCATION_HERE)
		return;
	units = dperm_queries_count(loader->source, &rows);
	if (size_of_rows(loader, rows) > (Size) dperm_pull_memory * 1024)
		let_stay(loader, rows, units);
}

/* Read a sample of rows on other servers. */
static void
read_sample(Loader *loader)
{
	dperm_queries_sample(loader->source, loader->elsewhere / SAMPLE_ROWS + 1, 2 * SAMPLE_ROWS,
						 &loader->pub);
}

/* The memory for rows. */
static Size
memory_limit(void)
{
	return (Size) dperm_cache_memory * 1024;
}

/* A load by several processes. */
typedef struct Together
{
	Loader	   *loader;
	MemoryContext context;
	DpermStore *store;
	bytea	   *key;
} Together;

/* Workers are planned: make a store for them. */
static bool
prepare_together(void *arg, int workers)
{
	Together   *together = arg;
	MemoryContext caller;

	if (workers == 0)
		return false;
	caller = MemoryContextSwitchTo(together->context);
	together->store = dperm_load_step_begin(&together->loader->intake, together->loader->source,
											memory_limit(), workers,
											(DpermRowsKey *) VARDATA(together->key));
	MemoryContextSwitchTo(caller);
	return together->store != NULL;
}

/*
 * Load rows by several processes, if PostgreSQL plans to; false if they have to
 * be read by this one, as those of a protected relation, or with persons.
 */
static bool
read_together(Loader *loader)
{
	const DpermSource *source = loader->source;
	Size		size = VARHDRSZ + sizeof(DpermRowsKey);
	Together	together = {loader, CurrentMemoryContext, NULL, palloc0(size)};
	bytea	   *parts;

	SET_VARSIZE(together.key, size);
	if (source->registration || source->unit || source->location != DPERM_LOCATION_HERE ||
		!dperm_queries_load(source, together.key, prepare_together, &together, &parts))
		return false;
	loader->rows =
		dperm_load_step_end(together.store, &loader->intake, source->label.kind, parts);
	return true;
}

/* Read rows in this process. */
static void
read_alone(Loader *loader)
{
	DpermStore *store = dperm_rows_make(memory_limit(), true, loader->source->registration != NULL);

	dperm_intake_start(&loader->intake, store, loader->source->label.kind,
					   loader->persons != NULL);
	if (loader->elsewhere > 0)
		read_sample(loader);
	else
		dperm_queries_read(loader->source, &loader->pub);
}

/* Read rows. */
void
dperm_load(DpermLoad *sets, int count, int64 *portions)
{
	const DpermSource *source = sets[0].source;
	Loader		loader;

	if (portions)
		memset(portions, 0, sizeof(int64) * source->portions);
	init_loader(&loader, sets, count, portions);
	count_elsewhere(&loader);
	if (!read_together(&loader))
		read_alone(&loader);
	dperm_intake_end(&loader.intake);
	for (int i = 0; i < count; i++)
	{
		dperm_rows_end(&sets[i].rows);
		sets[i].remote = loader.elsewhere > 0;
	}
	check_count(loader.rows);
	if (loader.elsewhere == 0)
		check_rows(&loader, loader.rows);
	count_units(&loader);
	if (loader.persons)
	{
		const double *weights = dperm_persons_weights(loader.persons);

		dperm_persons_free(loader.persons);
		for (int i = 0; i < count; i++)
			sets[i].rows.feed.layout.owners = weights;
	}
	MemoryContextDelete(loader.intake.row_context);
}

/* The knots are known: the layout says so, and rows stay as they are. */
void
dperm_load_settle(DpermLoad *sets, int count)
{
	for (int i = 0; i < count; i++)
	{
		DpermLayout *layout = &sets[i].rows.feed.layout;
		DpermLayout settled = dperm_layout_make(&sets[i].source->spec.encoder,
												layout->weighted);

		settled.label = layout->label;
		settled.owners = layout->owners;
		Assert(settled.words == layout->words);
		*layout = settled;
	}
}

/* Release the store. */
void
dperm_load_close(DpermLoad *sets, int count)
{
	dperm_rows_close(sets[0].rows.store);
	for (int i = 0; i < count; i++)
		sets[i].rows.store = NULL;
}
