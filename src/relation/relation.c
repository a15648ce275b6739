/*
 * relation.c: names, owners and sizes of relations.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "relation/relation.h"

#define SOURCE_HINT \
	"Write the name as in FROM: 'table', 'schema.table', or '\"Mixed Case\"' with double quotes."

/* Add a hint to any error in looking up source. */
static void
source_hint(void *arg)
{
	errhint(SOURCE_HINT);
}

/* Parse a name as in FROM. */
static RangeVar *
parse_name(const char *name)
{
	List	   *parts;

	if (!SplitIdentifierString(pstrdup(name), '.', &parts) || parts == NIL ||
		list_length(parts) > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("\"%s\" is not the name of a relation", name)));
	for (int i = 0; i < list_length(parts); i++)
		list_nth_cell(parts, i)->ptr_value = makeString(list_nth(parts, i));
	return makeRangeVarFromNameList(parts);
}

/* Look up a relation by a name as in FROM. */
Oid
dperm_relation_look_up(const char *name, LOCKMODE lock, bool missing_ok)
{
	ErrorContextCallback hint = {
		.previous = error_context_stack,
		.callback = source_hint
	};
	Oid			relation;

	error_context_stack = &hint;
	relation = RangeVarGetRelidExtended(parse_name(name), lock, missing_ok ? RVR_MISSING_OK : 0,
										NULL, NULL);
	error_context_stack = hint.previous;
	return relation;
}

/* The name of a relation, quoted; raises an error if it has been dropped. */
char *
dperm_relation_name(Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = get_namespace_name(get_rel_namespace(relation));

	if (name == NULL || schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("a relation has been dropped while it was used")));
	return quote_qualified_identifier(schema, name);
}

/* The owner of a relation, InvalidOid if it has been dropped. */
Oid
dperm_relation_owner(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/* The rows of a plain table, by the catalog; 0 if it does not know. */
int64
dperm_relation_estimated_rows(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	int64		rows = 0;

	if (!HeapTupleIsValid(tuple))
		return rows;
	if (((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_RELATION &&
		!((Form_pg_class) GETSTRUCT(tuple))->relhassubclass)
		rows = (int64) Min(Max(((Form_pg_class) GETSTRUCT(tuple))->reltuples, 0), 1e18);
	ReleaseSysCache(tuple);
	return rows;
}
