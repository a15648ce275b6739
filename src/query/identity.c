/*
 * identity.c: what identifies the rows of a source, so that they can be divided
 * into portions.
 *
 * No two rows may share an identity: then portions are independent of what rows
 * contain, as far as the hash is random (docs/guarantee.md, "Portions").
 * Physical locations are distinct by nature. Columns must be unique together
 * and not null by constraints, and distinct values must have distinct text
 * forms.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "column/domains.h"
#include "query/identity.h"
#include "query/persons.h"

/* Columns that identify rows together. */
typedef struct Key
{
	int			count;
	AttrNumber	numbers[INDEX_MAX_KEYS];
} Key;

/* Names, quoted where necessary. */
static char *
quoted_list(List *names)
{
	StringInfoData list;
	ListCell   *cell;

	initStringInfo(&list);
	foreach(cell, names)
		appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", quote_identifier(lfirst(cell)));
	return list.data;
}

/*
 * Does the active snapshot see a row of the catalog? The catalog is read in its
 * current state, but rows as of the snapshot: in between, another session may
 * have deleted duplicates and created a unique index. A row that has changed
 * for any other reason also counts as new: the call succeeds in a new
 * transaction.
 */
static bool
is_settled(HeapTuple tuple)
{
	Snapshot	snapshot = GetActiveSnapshot();
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

	/* a cursor's snapshot may be older than changes of its own transaction */
	if (TransactionIdIsCurrentTransactionId(xmin))
		return HeapTupleHeaderGetCmin(tuple->t_data) < snapshot->curcid;
	return !XidInMVCCSnapshot(xmin, snapshot);
}

/*
 * Does the snapshot see that the partitions of a table are attached? Attaching
 * one changes its row in pg_class.
 */
static bool
parts_are_settled(Oid table)
{
	bool		result = true;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(table, AccessShareLock, NULL))
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for relation %u", lfirst_oid(cell));
		result = result && (lfirst_oid(cell) == table || is_settled(tuple));
		ReleaseSysCache(tuple);
	}
	return result;
}

/* Is a column not null, by a constraint that holds for all rows? */
static bool
is_not_null(Relation relation, AttrNumber number)
{
#if PG_VERSION_NUM >= 180000
	/* it may have been marked not null long before it was validated */
	HeapTuple	tuple = findNotNullConstraintAttnum(RelationGetRelid(relation), number);

	return HeapTupleIsValid(tuple) && is_settled(tuple) &&
		TupleDescCompactAttr(RelationGetDescr(relation), number - 1)->attnullability ==
		ATTNULLABLE_VALID;
#else
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(relation)),
										Int16GetDatum(number));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute %d of relation %u", number,
			 RelationGetRelid(relation));
	result = ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull && is_settled(tuple);
	ReleaseSysCache(tuple);
	return result;
#endif
}

/* Is a column one of a key? */
static bool
is_part(const Key *key, AttrNumber number)
{
	for (int i = 0; i < key->count; i++)
		if (key->numbers[i] == number)
			return true;
	return false;
}

/*
 * The columns that an index makes unique together, in every row of the snapshot
 * and at all times; none if it does not.
 */
static Key
unique_columns(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;
	Key			key = {0};

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", index);
	form = (Form_pg_index) GETSTRUCT(tuple);
	if (form->indisunique && form->indisvalid && form->indimmediate &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL) && is_settled(tuple))
	{
		key.count = form->indnkeyatts;
		for (int i = 0; i < key.count; i++)
			key.numbers[i] = form->indkey.values[i];
	}
	ReleaseSysCache(tuple);

	/* an expression has no number */
	return is_part(&key, InvalidAttrNumber) ? (Key) {0} : key;
}

/* Does a primary key hold for the rows of the snapshot? */
bool
dperm_identity_key_holds(Oid constraint)
{
	Oid			index = get_constraint_index(constraint);

	return unique_columns(index).count > 0 && parts_are_settled(IndexGetRelation(index, false));
}

/* Are all columns of a key among those of another? */
static bool
is_within(const Key *key, const Key *other)
{
	for (int i = 0; i < key->count; i++)
		if (!is_part(other, key->numbers[i]))
			return false;
	return key->count > 0;
}

/*
 * Does a unique index of a table have only columns of a key? That of a
 * partitioned table spans its partitions.
 */
static bool
has_unique_index(Relation relation, const Key *key)
{
	List	   *indexes = RelationGetIndexList(relation);
	ListCell   *cell;
	bool		found = false;

	foreach(cell, indexes)
	{
		Key			unique = unique_columns(lfirst_oid(cell));

		found = found || is_within(&unique, key);
	}
	list_free(indexes);
	return found;
}

/* Are all columns of a key never null? */
static bool
all_not_null(Relation relation, const Key *key)
{
	for (int i = 0; i < key->count; i++)
		if (!is_not_null(relation, key->numbers[i]))
			return false;
	return true;
}

/*
 * The relation whose rows a query shows, each at most once, and in key the
 * columns behind output columns; NULL for a query that may show a row twice.
 */
static RangeTblEntry *
shown_once(Query *query, Key *key)
{
	int			index;

	if (query->setOperations || query->groupClause || query->groupingSets || query->hasAggs ||
		query->hasTargetSRFs || list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return NULL;
	index = linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
	for (int i = 0; i < key->count; i++)
	{
		Node	   *node =
			(Node *) list_nth_node(TargetEntry, query->targetList, key->numbers[i] - 1)->expr;

		if (!IsA(node, Var) || ((Var *) node)->varno != index || ((Var *) node)->varlevelsup != 0 ||
			((Var *) node)->varattno <= 0)
			return NULL;
		key->numbers[i] = ((Var *) node)->varattno;
	}
	return list_nth_node(RangeTblEntry, query->rtable, index - 1);
}

/*
 * Do constraints ensure that no two rows have the same values in some columns,
 * and none has NULL?
 */
static bool
is_key(Oid oid, Key key, bool with_children)
{
	Relation	relation = relation_open(oid, AccessShareLock);
	char		kind = relation->rd_rel->relkind;
	bool		result = false;

	check_stack_depth();
	if (kind == RELKIND_VIEW)
	{
		Query	   *query = dperm_domains_view_query(relation);
		RangeTblEntry *table = query ? shown_once(query, &key) : NULL;

		result = table && table->rtekind == RTE_RELATION && is_key(table->relid, key, table->inh);
	}
	else if (kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_RELATION)
	{
		/* an index does not cover the tables that inherit from its table */
		result = all_not_null(relation, &key) && has_unique_index(relation, &key) &&
			(kind == RELKIND_PARTITIONED_TABLE ? parts_are_settled(oid) :
			 !with_children || find_inheritance_children(oid, AccessShareLock) == NIL);
	}
	relation_close(relation, AccessShareLock);
	return result;
}

/*
 * What dperm_portion gets of a column: a text, or bytes that do not depend on
 * the byte order of the server. A text that fits into an index is short enough
 * to be read as a whole.
 */
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
			return psprintf("pg_catalog.int8send(t.%s::pg_catalog.int8)", column);
		case UUIDOID:
			return psprintf("pg_catalog.uuid_send(t.%s::pg_catalog.uuid)", column);
		case BYTEAOID:
			return psprintf("pg_catalog.encode(t.%s, 'hex')", column);
		default:
			return psprintf("dperm.dperm_text(t.%s)", column);
	}
}

/* The same as text, to be combined with others. */
static char *
column_text(const DpermSource *source, AttrNumber number, const char *name)
{
	switch (getBaseType(get_atttype(source->relation, number)))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case UUIDOID:
			return psprintf("t.%s::pg_catalog.text", quote_identifier(name));
		default:
			return column_identity(source, number, name);
	}
}

/*
 * What dperm_portion gets of several columns: their texts, each but the last
 * prefixed with its length, so that different lists of values give different
 * texts.
 */
static char *
columns_identity(const DpermSource *source, List *names)
{
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	foreach(cell, names)
	{
		char	   *text = column_text(source, get_attnum(source->relation, lfirst(cell)),
									   lfirst(cell));

		if (lnext(names, cell))
			appendStringInfo(&sql, "pg_catalog.octet_length(%s)::pg_catalog.text "
								   "OPERATOR(pg_catalog.||) ':' OPERATOR(pg_catalog.||) %s "
								   "OPERATOR(pg_catalog.||) ", text, text);
		else
			appendStringInfoString(&sql, text);
	}
	return sql.data;
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

/*
 * Do the rows of a source have physical locations: are all its leaves tables on
 * this server?
 */
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

/* Is a column the label or a feature? */
static bool
is_private(const DpermSource *source, const char *name)
{
	for (int i = 0; i < source->block_count; i++)
		if (strcmp(name, source->blocks[i].column.bytes) == 0)
			return true;
	return strcmp(name, source->label_column) == 0;
}

/* Raise an error unless columns identify rows. */
static void
check_key(const DpermSource *source, const Key *key, List *names)
{
	for (int i = 0; i < key->count; i++)
	{
		Oid			type = get_atttype(source->relation, key->numbers[i]);

		if (!dperm_persons_told_by_text(getBaseType(type)))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("identity cannot be of type %s", format_type_be(type)),
					 errhint("Use a key of an integer type, uuid or text.")));
	}
	if (is_key(source->relation, *key, true))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 key->count == 1 ?
			 errmsg("column \"%s\" does not identify rows: no constraint makes it unique and "
					"not null", (char *) linitial(names)) :
			 errmsg("columns %s do not identify rows: no constraint makes them unique together and "
					"not null", quoted_list(names)),
			 errhint("identity consists of all columns of a primary key, or of a unique one "
					 "that is not null, which must not be newer than this transaction. Rows "
					 "that are stored in a table or a materialized view of this server need "
					 "none: omit identity.")));
}

/*
 * The number of a column that is to identify rows; it must not be a private
 * one.
 */
static AttrNumber
identifying_column(const DpermSource *source, const char *name)
{
	AttrNumber	number = get_attnum(source->relation, name);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						get_rel_name(source->relation)),
				 errhint("identity names a column that identifies rows, such as a key.")));
	if (is_private(source, name))
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
	return number;
}

/* Columns that identify rows. */
static char *
identity_columns(const DpermSource *source, List *names)
{
	Key			key = {0};
	ListCell   *cell;

	if (list_length(names) > INDEX_MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("identity cannot be more than %d columns", INDEX_MAX_KEYS)));
	foreach(cell, names)
		key.numbers[key.count++] = identifying_column(source, lfirst(cell));
	check_key(source, &key, names);
	return key.count == 1 ? column_identity(source, key.numbers[0], linitial(names)) :
							columns_identity(source, names);
}

/* What identifies a row of the relation: columns, or its physical location. */
char *
dperm_identity_sql(const DpermSource *source, List *identity)
{
	if (identity)
		return identity_columns(source, identity);
	if (!has_places(source))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the rows of \"%s\" have no identity",
						get_rel_name(source->relation)),
				 errhint("Specify all columns of a key, as in identity => 'id' or identity => "
						 "'{tenant,id}', or store the rows in a table or a materialized view of "
						 "this server.")));
	if (pg_class_aclcheck(source->relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for relation %s", get_rel_name(source->relation)),
				 errhint("Tuning requires SELECT on the whole table, or a column that identifies "
						 "rows, as in identity => 'id'.")));
	return "t.tableoid, t.ctid";
}
