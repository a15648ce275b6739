/*
 * statistics.c: writes to the log of the server what statistics the planner has
 * of each table that it plans a scan of. For tests; see test/t/028_audit.pl.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

/* Does the planner have statistics of a column? */
static bool
has_statistics(PlannerInfo *root, RangeTblEntry *entry, AttrNumber column)
{
	VariableStatData data = {0};

	if (!(get_relation_stats_hook && get_relation_stats_hook(root, entry, column, &data)))
		return SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(entry->relid),
									 Int16GetDatum(column), BoolGetDatum(entry->inh));
	return data.statsTuple != NULL;
}

/* The planner has made all paths of a relation. */
static void
scanned(PlannerInfo *root, RelOptInfo *rel, Index index, RangeTblEntry *entry)
{
	int			columns = 0;

	if (entry->rtekind != RTE_RELATION || entry->relkind != RELKIND_RELATION)
		return;
	for (int i = 1; i <= rel->max_attr; i++)
		columns += has_statistics(root, entry, i);

	/* the level of messages does not matter here */
	fprintf(stderr, "statistics of %s: %d columns, %d extended\n", get_rel_name(entry->relid),
			columns, list_length(rel->statlist));
}

/* Install the hook. */
void
_PG_init(void)
{
	set_rel_pathlist_hook = scanned;
}
