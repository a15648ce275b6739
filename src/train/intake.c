/*
 * intake.c: rows as they arrive, into sets of a store. Trusted.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/base.h"
#include "train/intake.h"

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
	dperm_entropy_init(&intake->entropy);
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
	if (!dperm_entropy_ok(&intake->entropy))
		dperm_host_check_status(DPERM_NO_ENTROPY);
	dperm_entropy_wipe(&intake->entropy);
}
