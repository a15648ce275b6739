/*
 * identity.c: what identifies the rows of a source, so that they can be divided into portions.
 *
 * No two rows may share an identity: then portions are as independent of what rows hold as the hash is
 * random (docs/guarantee.md, "Portions"). Places in a table are different by nature; a column has to be
 * unique and not null by constraints, and its text form has to tell its values apart.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "domains.h"
#include "identity.h"
#include "roster.h"
#include "settled.h"

#define FOREIGN_HINT \
	"Foreign tables have no constraints that make a column unique: store the rows in a table, or choose on a public one, as in holdout => 'table'."

/* Is a column never null, by a constraint that all rows satisfy? */
static bool
is_not_null(Relation relation, AttrNumber number)
{
#if PG_VERSION_NUM >= 180000
	/* it may have been marked long before it was validated */
	HeapTuple	tuple = findNotNullConstraintAttnum(RelationGetRelid(relation), number);

	return HeapTupleIsValid(tuple) && dperm_settled_tuple(tuple) &&
		TupleDescCompactAttr(RelationGetDescr(relation), number - 1)->attnullability ==
		ATTNULLABLE_VALID;
#else
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(relation)),
										Int16GetDatum(number));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute %d of relation %u", number,
			 RelationGetRelid(relation));
	result = ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull && dperm_settled_tuple(tuple);
	ReleaseSysCache(tuple);
	return result;
#endif
}

/* Does an index make a column unique, in every row that the snapshot shows and at every moment? */
static bool
makes_unique(Oid index, AttrNumber number)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", index);
	form = (Form_pg_index) GETSTRUCT(tuple);
	result = form->indisunique && form->indisvalid && form->indimmediate &&
		form->indnkeyatts == 1 && form->indkey.values[0] == number &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL) && dperm_settled_tuple(tuple);
	ReleaseSysCache(tuple);
	return result;
}

/* Does a column of a table have a unique index of its own? A partitioned table's spans its partitions. */
static bool
has_unique_index(Relation relation, AttrNumber number)
{
	List	   *indexes = RelationGetIndexList(relation);
	ListCell   *cell;
	bool		found = false;

	foreach(cell, indexes)
		found = found || makes_unique(lfirst_oid(cell), number);
	list_free(indexes);
	return found;
}

/*
 * The relation that a query shows rows of, each at most once, and its column behind an output column; NULL for
 * a query that may show a row twice.
 */
static RangeTblEntry *
shown_once(Query *query, AttrNumber *number)
{
	Node	   *node;
	int			index;

	if (query->setOperations || query->groupClause || query->groupingSets || query->hasAggs ||
		query->hasTargetSRFs || list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return NULL;
	index = linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
	node = (Node *) list_nth_node(TargetEntry, query->targetList, *number - 1)->expr;
	if (!IsA(node, Var) || ((Var *) node)->varno != index || ((Var *) node)->varlevelsup != 0 ||
		((Var *) node)->varattno <= 0)
		return NULL;
	*number = ((Var *) node)->varattno;
	return list_nth_node(RangeTblEntry, query->rtable, index - 1);
}

/* Do constraints say that no two rows have the same value in a column, and none has NULL? */
static bool
is_key(Oid oid, AttrNumber number, bool with_children)
{
	Relation	relation = relation_open(oid, AccessShareLock);
	char		kind = relation->rd_rel->relkind;
	bool		result = false;

	check_stack_depth();
	if (kind == RELKIND_VIEW)
	{
		Query	   *query = dperm_domains_view_query(relation);
		RangeTblEntry *table = query ? shown_once(query, &number) : NULL;

		result = table && table->rtekind == RTE_RELATION && is_key(table->relid, number, table->inh);
	}
	else if (kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_RELATION)
	{
		/* an index of a table does not know of the tables that inherit from it */
		result = is_not_null(relation, number) && has_unique_index(relation, number) &&
			(kind == RELKIND_PARTITIONED_TABLE ? dperm_settled_partitions(oid) :
			 !with_children || find_inheritance_children(oid, AccessShareLock) == NIL);
	}
	relation_close(relation, AccessShareLock);
	return result;
}

/* What dp_portion takes of a column. A text that an index can hold is short enough to be read as a whole. */
static char *
column_identity(const DpermSource *source, AttrNumber number, const char *name)
{
	const char *column = quote_identifier(name);

	switch (getBaseType(get_atttype(source->relation, number)))
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return psprintf("t.%s::pg_catalog.text", column);
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return psprintf("t.%s::pg_catalog.int8", column);
		case UUIDOID:
			return psprintf("t.%s::pg_catalog.uuid", column);
		case BYTEAOID:
			return psprintf("pg_catalog.encode(t.%s, 'hex')", column);
		default:
			return psprintf("%s.dp_text(t.%s)", dperm_source_schema(source), column);
	}
}

/* Is a relation a foreign table, or one of its leaves? */
static bool
is_table_elsewhere(Oid relation)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relation, AccessShareLock, NULL))
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return true;
	return false;
}

/* Do the rows of a source have places: are there tables at all of its leaves, on this server? */
static bool
has_places(const DpermSource *source)
{
	if (source->location != DPERM_LOCATION_HERE)
		return false;
	switch (get_rel_relkind(source->relation))
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
			return !is_table_elsewhere(source->relation);
		case RELKIND_MATVIEW:
			return true;
		default:
			return false;
	}
}

/* Raise unless a column tells rows apart. */
static void
check_key(const DpermSource *source, AttrNumber number, const char *name)
{
	Oid			relation = source->relation;
	Oid			type = get_atttype(relation, number);

	if (!dperm_roster_told_by_text(getBaseType(type)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("identity cannot be of type %s", format_type_be(type)),
				 errhint("Use a key of an integer type, uuid or text.")));
	if (is_key(relation, number, true))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" does not identify rows: no constraint makes it unique and not null",
					name),
			 is_table_elsewhere(relation) ? errhint(FOREIGN_HINT) :
			 has_places(source) ?
			 errhint("Omit identity, since the rows of \"%s\" are identified by their physical location; or declare the column as a key, as in PRIMARY KEY (%s). In a transaction that began before the constraint was created, start a new one.",
					 get_rel_name(relation), quote_identifier(name)) :
			 errhint("Use a view of a single table that includes its primary key, or store the rows in a materialized view and omit identity. In a transaction that began before the constraint was created, start a new one.")));
}

/* A column that identifies rows; what is private in a row does not. */
static char *
identity_column(const DpermSource *source, const char *identity, bool is_public)
{
	AttrNumber	number = get_attnum(source->relation, identity);
	bool		is_private = strcmp(identity, source->label_column) == 0;

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", identity,
						get_rel_name(source->relation)),
				 errhint("identity names a column that identifies rows, such as a key.")));
	for (int i = 0; i < source->block_count; i++)
		is_private = is_private || strcmp(identity, source->blocks[i].column.bytes) == 0;
	if (is_private)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("identity cannot be the label or a feature"),
				 errhint("identity must be a column that only identifies rows, such as a key.")));
	if (pg_class_aclcheck(source->relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck(source->relation, number, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for relation %s", get_rel_name(source->relation)),
				 errhint("Tuning requires SELECT on the column that identifies rows.")));
	if (!is_public)
		check_key(source, number, identity);
	return column_identity(source, number, identity);
}

/* What identifies a row of the relation: a column, or the place of the row. */
char *
dperm_identity_sql(const DpermSource *source, const char *identity, bool is_public)
{
	if (identity)
		return identity_column(source, identity, is_public);
	if (!has_places(source))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the rows of \"%s\" have no identity",
						get_rel_name(source->relation)),
				 is_table_elsewhere(source->relation) && !is_public ? errhint(FOREIGN_HINT) :
				 errhint("Specify a column that identifies rows, as in identity => 'id', or store the rows in a table.")));
	if (pg_class_aclcheck(source->relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for relation %s", get_rel_name(source->relation)),
				 errhint("Tuning requires SELECT on the whole table, or a column that identifies rows, as in identity => 'id'.")));
	return "t.tableoid, t.ctid";
}
