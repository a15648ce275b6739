/*
 * inlined.c: functions in SQL that are left when a query has been planned.
 *
 * PostgreSQL puts the body of a simple function in place of its call. Of any other it plans the body when the first row gets there, sorts what it sorts in files, loads libraries and remembers
 * types; since version 18 it keeps all that for the session. Whether some row got there would be seen afterwards.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "nodes/nodes.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "domains.h"
#include "inlined.h"
#include "run_as.h"

/* Is a function in language SQL? */
bool
dperm_inlined_is_sql(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		result = false;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == SQLlanguageId;
		ReleaseSysCache(tuple);
	}
	return result;
}

/*
 * A function in SQL that a planned tree calls. All kinds of nodes are written with their fields by name; in names and constants spaces are escaped, and bytes are numbers, so none of them looks like a field
 * with a number. The functions behind aggregates, operator families and types are not in a plan: owners.c looks at those.
 */
static Oid
find_called(const void *planned)
{
	static const char *const fields[] = {" :funcid ", " :opfuncid ", " :hashfuncid ", " :negfuncid ", " :winfnoid ", " :aggfnoid "};
	char	   *text = nodeToString(planned);
	Oid			result = InvalidOid;

	for (int i = 0; i < lengthof(fields); i++)
		for (const char *at = strstr(text, fields[i]); at && !OidIsValid(result); at = strstr(at, fields[i]))
		{
			Oid			function;

			at += strlen(fields[i]);
			function = (Oid) strtoul(at, NULL, 10);
			if (OidIsValid(function) && dperm_inlined_is_sql(function))
				result = function;
		}
	pfree(text);
	return result;
}

/* The same for a plan. */
Oid
dperm_inlined_left(const PlannedStmt *planned)
{
	return find_called(planned);
}

/* The same for expressions that no plan shows. */
Oid
dperm_inlined_left_unseen(const List *expressions)
{
	Oid			result = InvalidOid;
	ListCell   *cell;

	foreach(cell, expressions)
		if (!OidIsValid(result))
			result = find_called(expression_planner(copyObject(lfirst(cell))));
	return result;
}

/* Raise, or warn, for a function that is left. */
void
dperm_inlined_refuse(int level, Oid function, Oid relation)
{
	ereport(level,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("function %s behind protected relation \"%s\" is not inlined", format_procedure(function), get_rel_name(relation)),
			 errhint("Write it as one SELECT of an expression, without a table, aggregate or subquery, and without STRICT, SET or SECURITY DEFINER; or keep its result in a column of the table.")));
}

/* Raise, or warn, for a function that PostgreSQL itself looks up and calls. */
void
dperm_inlined_refuse_support(int level, Oid function, Oid relation)
{
	ereport(level,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("function %s behind protected relation \"%s\" is not inlined", format_procedure(function), get_rel_name(relation)),
			 errhint("PostgreSQL calls it within an aggregate, to compare, hash or convert values, or to estimate how many rows there are, and such a function cannot be in SQL. Keep its result in a column of the table, or make its operator without RESTRICT and JOIN.")));
}

/* Warn of a function that would be refused in a view. */
void
dperm_inlined_warn(Oid view, Oid owner, const List *unseen)
{
	Relation	relation = table_open(view, AccessShareLock);
	Query	   *query = copyObject(dperm_domains_view_query(relation));
	Oid			function;
	DpermRunAs	before;

	dperm_run_as_begin(&before, owner);

	/* nothing is read: that a policy would leave out rows is an error of those who do */
	(void) set_config_option("row_security", "on", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	AcquireRewriteLocks(query, true, false);
	query = linitial_node(Query, QueryRewrite(query));
	function = dperm_inlined_left_unseen(unseen);
	if (!OidIsValid(function))
		function = dperm_inlined_left(pg_plan_query(query, "", 0, NULL));
	dperm_run_as_end(&before);
	table_close(relation, NoLock);
	if (OidIsValid(function))
		dperm_inlined_refuse(WARNING, function, view);
}
