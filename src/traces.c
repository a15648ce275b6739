/*
 * traces.c: what work over protected rows leaves in a session, and in the server's table of locks.
 *
 * A lock that the transaction has already takes no room that is shared, and shows in pg_locks once. So all locks are taken before the first row, and are kept. And
 * the caches of the catalog are emptied after the last one, as the server does when it has missed what other sessions changed: that can happen whenever any
 * lock is taken, so every running query is ready for it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_auth_members.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_database.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_index.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_range.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_statistic_ext_data.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_ts_config.h"
#include "catalog/pg_ts_config_map.h"
#include "catalog/pg_ts_dict.h"
#include "catalog/pg_ts_parser.h"
#include "catalog/pg_ts_template.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "regex/regex.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "reach.h"
#include "traces.h"

/* The catalogs that are looked at for a value, or because of one. */
static const Oid catalogs[] = {
	/* how values of a type are read, written, checked, cast and compared; names of objects, for types such as regclass */
	TypeRelationId, EnumRelationId, RangeRelationId, ConstraintRelationId, CastRelationId, CollationRelationId, ConversionRelationId,
	OperatorRelationId, OperatorClassRelationId, OperatorFamilyRelationId, AccessMethodRelationId, AccessMethodOperatorRelationId,
	AccessMethodProcedureRelationId, NamespaceRelationId, AuthIdRelationId, AuthMemRelationId, DatabaseRelationId,

	/* functions that are called for some rows only, and the plans of their bodies */
	ProcedureRelationId, LanguageRelationId, AggregateRelationId,

	/* text search */
	TSConfigRelationId, TSConfigMapRelationId, TSDictionaryRelationId, TSParserRelationId, TSTemplateRelationId,

	/* what the planner knows about columns; a value in it may be out of line */
	StatisticRelationId, StatisticExtRelationId, StatisticExtDataRelationId,

	/* where temporary files are */
	TableSpaceRelationId,

	/* what is known about a relation, be it one of the above */
	RelationRelationId, AttributeRelationId, AttrDefaultRelationId, IndexRelationId
};

/* The indexes of a table, without a look at the table itself. */
static List *
indexes_of(Oid table)
{
	Relation	indexes = table_open(IndexRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *result = NIL;

	ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
	scan = systable_beginscan(indexes, IndexIndrelidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = lappend_oid(result, ((Form_pg_index) GETSTRUCT(tuple))->indexrelid);
	systable_endscan(scan);
	table_close(indexes, AccessShareLock);
	return result;
}

/* The TOAST table of a table, or InvalidOid. */
static Oid
toast_of(Oid table)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_class) GETSTRUCT(tuple))->reltoastrelid;
		ReleaseSysCache(tuple);
	}
	return result;
}

/* Indexes, opened once: PostgreSQL keeps for the session what an operator class of one is made of. */
static List *
opened(List *indexes)
{
	ListCell   *cell;

	foreach(cell, indexes)
		index_close(index_open(lfirst_oid(cell), AccessShareLock), NoLock);
	return indexes;
}

/* The relations of the catalogs above, indexes and TOAST tables among them: always the same ones, so they are looked up once in a session. */
static List *
catalog_relations(void)
{
	static List *known = NIL;
	MemoryContext before;
	List	   *found = NIL;

	if (known)
		return known;
	for (int i = 0; i < lengthof(catalogs); i++)
	{
		Oid			toast = toast_of(catalogs[i]);

		found = list_concat(lappend_oid(found, catalogs[i]), opened(indexes_of(catalogs[i])));
		if (OidIsValid(toast))
			found = list_concat(lappend_oid(found, toast), opened(indexes_of(toast)));
	}
	before = MemoryContextSwitchTo(TopMemoryContext);
	known = list_copy(found);
	MemoryContextSwitchTo(before);
	return known;
}

/* Lock relations until the transaction ends. */
static void
hold(const List *relations)
{
	ListCell   *cell;

	foreach(cell, relations)
		LockRelationOid(lfirst_oid(cell), AccessShareLock);
}

/* Keep a table locked, and its TOAST table. */
void
dperm_traces_hold_table(Oid table)
{
	Oid			toast;

	LockRelationOid(table, AccessShareLock);
	toast = toast_of(table);
	if (OidIsValid(toast))
	{
		LockRelationOid(toast, AccessShareLock);
		hold(indexes_of(toast));
	}
}

/*
 * Load the order of the labels of an enum. PostgreSQL does so when it compares one that has an odd OID, or one that it does not know yet, and never
 * forgets it.
 */
static void
load_order(Oid type)
{
	CatCList   *labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));

	for (int i = 1; i < labels->n_members; i++)
		(void) compare_values_of_enum(lookup_type_cache(type, 0), ((Form_pg_enum) GETSTRUCT(&labels->members[0]->tuple))->oid,
									  ((Form_pg_enum) GETSTRUCT(&labels->members[i]->tuple))->oid);
	ReleaseSysCacheList(labels);
}

/* How many compiled regular expressions PostgreSQL keeps in a session: the ones that were used last. */
#define KEPT_EXPRESSIONS 32

/*
 * Have PostgreSQL keep expressions of ours in place of all others: whether one has been compiled can be seen at the end of the stack, where there is no room to compile it. That must not fail, whatever of
 * the stack the caller has used; nor by a signal, since a request to cancel ends a compilation even where interrupts are held.
 */
static void
replace_expressions(void)
{
	pg_stack_base_t base = set_stack_base();
	bool		pending;
	sigset_t	signals;

	sigprocmask(SIG_SETMASK, &BlockSig, &signals);
	pending = InterruptPending;
	InterruptPending = false;
	PG_TRY();
	{
		for (int i = 0; i < KEPT_EXPRESSIONS; i++)
		{
			char		digits[12];
			text	   *expression;

			snprintf(digits, sizeof(digits), "%d", i);
			expression = cstring_to_text(digits);
			(void) RE_compile_and_cache(expression, REG_ADVANCED, C_COLLATION_OID);
			pfree(expression);
		}
	}
	PG_FINALLY();
	{
		InterruptPending = pending;
		sigprocmask(SIG_SETMASK, &signals, NULL);
		restore_stack_base(base);
	}
	PG_END_TRY();
}

/* Before work over rows. */
void
dperm_traces_prepare(void)
{
	replace_expressions();
	hold(catalog_relations());
}

/* The types that have been looked at. */
typedef struct Seen
{
	List	   *types;
	List	   *collations;
} Seen;

/* A collation, which PostgreSQL does not forget, either, once it has compared something by it, or changed its case. */
static void
load_collation(Oid collation, Seen *seen)
{
	if (!OidIsValid(collation) || list_member_oid(seen->collations, collation))
		return;
	seen->collations = lappend_oid(seen->collations, collation);
	(void) varstr_cmp("a", 1, "b", 1, collation);
	pfree(str_tolower("A", 1, collation));
}

/* The number of columns of a relation, 0 if it is gone. */
static int
columns_of(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	int			result = 0;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_class) GETSTRUCT(tuple))->relnatts;
		ReleaseSysCache(tuple);
	}
	return result;
}

static void hold_type(Oid type, Seen *seen);
static bool hold_node(Node *node, void *seen);

/* An expression that the catalog has as text. */
static void
hold_text(Datum expression, bool isnull, Seen *seen)
{
	if (!isnull)
		(void) hold_node(stringToNode(TextDatumGetCString(expression)), seen);
}

/* The constraints of a domain. They are expressions that no query shows. */
static void
hold_constraints(Oid domain, Seen *seen)
{
	Relation	catalog = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(domain));
	scan = systable_beginscan(catalog, ConstraintTypidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(catalog), &isnull);

		hold_text(value, isnull, seen);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* The type that a domain is made of, which can be another domain; else InvalidOid. */
static Oid
type_under(Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
		ReleaseSysCache(tuple);
	}
	return result;
}

/* The types and collations of the columns of a relation. */
static void
hold_columns(Oid relation, Seen *seen)
{
	LockRelationOid(relation, AccessShareLock);
	for (int i = columns_of(relation); i > 0; i--)
	{
		Oid			type,
					collation;
		int32		modifier;

		get_atttypetypmodcoll(relation, (AttrNumber) i, &type, &modifier, &collation);

		/* the collation of a dropped column may be gone */
		if (OidIsValid(type))
		{
			hold_type(type, seen);
			load_collation(collation, seen);
		}
	}
}

/*
 * Hold the relation behind a type, if there is one, and those behind the types that it is made of. Load how its values are compared and hashed, how a range is made, and the order of an
 * enum: PostgreSQL looks for these when it comes to a value, and never forgets them.
 */
static void
hold_type(Oid type, Seen *seen)
{
	check_stack_depth();
	if (!OidIsValid(type) || list_member_oid(seen->types, type))
		return;
	seen->types = lappend_oid(seen->types, type);
	hold_type(type_under(type), seen);
	hold_type(get_element_type(type), seen);
	hold_type(get_range_subtype(type), seen);
	hold_type(get_multirange_range(type), seen);
	load_collation(get_typcollation(type), seen);
	load_collation(get_range_collation(type), seen);
	if (OidIsValid(get_typ_typrelid(type)))
		hold_columns(get_typ_typrelid(type), seen);
	(void) lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO | TYPECACHE_CMP_PROC_FINFO | TYPECACHE_HASH_PROC_FINFO | TYPECACHE_HASH_EXTENDED_PROC_FINFO |
							 TYPECACHE_RANGE_INFO | TYPECACHE_MULTIRANGE_INFO | TYPECACHE_DOMAIN_BASE_INFO);
	if (get_typtype(type) == TYPTYPE_ENUM)
		load_order(type);
	if (get_typtype(type) == TYPTYPE_DOMAIN)
		hold_constraints(type, seen);
}

/* Load the collations that an expression compares by. */
static void
load_collations(Node *node, Seen *seen)
{
	ListCell   *cell;

	load_collation(exprInputCollation(node), seen);
	if (OidIsValid(dperm_reach_type(node)))
		load_collation(exprCollation(node), seen);
	if (IsA(node, CollateExpr))
		load_collation(((CollateExpr *) node)->collOid, seen);
	if (IsA(node, RowCompareExpr))
		foreach(cell, ((RowCompareExpr *) node)->inputcollids)
			load_collation(lfirst_oid(cell), seen);
}

/* Generated columns that are computed when they are read: the planner puts their expressions in. */
static void
hold_virtual(Oid table, Seen *seen)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	Relation	relation = table_open(table, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(relation);

	for (int i = 0; desc->constr && i < desc->constr->num_defval; i++)
		if (TupleDescAttr(desc, desc->constr->defval[i].adnum - 1)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
			(void) hold_node(stringToNode(desc->constr->defval[i].adbin), seen);
	table_close(relation, NoLock);
#endif
}

/* The same for all that is in an expression or query. */
static bool
hold_node(Node *node, void *seen)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		if (((RangeTblEntry *) node)->rtekind == RTE_RELATION)
			hold_virtual(((RangeTblEntry *) node)->relid, seen);
		return false;
	}
	hold_type(dperm_reach_type(node), seen);
	load_collations(node, seen);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, hold_node, seen, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, hold_node, seen);
}

/*
 * A function that a query may call. Of one in C, load the library: it stays loaded, and can define settings. Of one in SQL, look at the body that PostgreSQL has parsed; of each, at the
 * defaults of arguments, which the planner adds.
 */
static void
hold_function(Oid function, Seen *seen)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		isnull;
	Datum		value;

	if (!HeapTupleIsValid(tuple))
		return;
	value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosqlbody, &isnull);
	hold_text(value, isnull, seen);
	value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargdefaults, &isnull);
	hold_text(value, isnull, seen);
	value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId && !isnull)
	{
		Datum		symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		(void) load_external_function(TextDatumGetCString(value), TextDatumGetCString(symbol), false, NULL);
	}
	ReleaseSysCache(tuple);
}

/* Before a query is planned. */
void
dperm_traces_prepare_query(Query *query, const List *functions)
{
	Seen		seen = {NIL, NIL};
	ListCell   *cell;

	(void) hold_node((Node *) query, &seen);
	foreach(cell, functions)
		hold_function(lfirst_oid(cell), &seen);
}

/* Forget what was looked up. */
void
dperm_traces_forget(void)
{
	replace_expressions();
	InvalidateSystemCaches();
}

/* Forget values that were looked up, and read nothing. */
void
dperm_traces_forget_labels(void)
{
	ResetCatalogCaches();
}
