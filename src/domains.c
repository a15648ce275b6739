/*
 * domains.c: the public domain of each column, from the caller and from the catalog.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "rewrite/prs2lock.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "core/mechanism/calibrate.h"
#include "domain_checks.h"
#include "domain_json.h"
#include "domains.h"
#include "rows.h"
#include "result_set.h"
#include "vector_length.h"

PG_FUNCTION_INFO_V1(dp_domains);

/* The query of a view or of a materialized view, or NULL. */
Query *
dperm_domains_view_query(Relation view)
{
	if ((view->rd_rel->relkind != RELKIND_VIEW && view->rd_rel->relkind != RELKIND_MATVIEW) ||
		view->rd_rules == NULL)
		return NULL;
	for (int i = 0; i < view->rd_rules->numLocks; i++)
	{
		RewriteRule *rule = view->rd_rules->rules[i];

		if (rule->event == CMD_SELECT && list_length(rule->actions) == 1)
			return linitial(rule->actions);
	}
	return NULL;
}

/* The relation's column that an output column of a query shows as it is, or NULL. */
static Var *
shown_column(Query *query, AttrNumber number, Oid *relation)
{
	Node	   *node;

	if (query->setOperations || number < 1 || number > list_length(query->targetList))
		return NULL;
	node = (Node *) ((TargetEntry *) list_nth(query->targetList, number - 1))->expr;
	while (IsA(node, Var) && ((Var *) node)->varlevelsup == 0 && ((Var *) node)->varattno > 0)
	{
		Var		   *var = (Var *) node;
		RangeTblEntry *entry = list_nth(query->rtable, var->varno - 1);
		List	   *columns = NIL;

		if (entry->rtekind == RTE_RELATION)
		{
			*relation = entry->relid;
			return var;
		}
		if (entry->rtekind == RTE_JOIN)
			columns = entry->joinaliasvars;
#if PG_VERSION_NUM >= 180000
		else if (entry->rtekind == RTE_GROUP)
			columns = entry->groupexprs;
#endif
		if (var->varattno > list_length(columns) ||
			(node = list_nth(columns, var->varattno - 1)) == NULL)
			return NULL;
	}
	return NULL;
}

/* Follow a column through views to the table that has its constraints. */
static void
find_home(DpermColumn *column, Relation relation)
{
	Query	   *query = dperm_domains_view_query(relation);
	Relation	next;
	Oid			oid;
	Var		   *var;

	check_stack_depth();
	column->relation = RelationGetRelid(relation);
	if (query == NULL)
		return;
	if ((var = shown_column(query, column->home, &oid)) == NULL)
	{
		if (column->usable && column->block.kind == DPERM_BLOCK_VECTOR && !query->setOperations)
			column->made_length =
				dperm_vector_length((Node *) list_nth_node(TargetEntry, query->targetList,
														   column->home - 1)->expr, NULL);
		return;
	}
	column->home = var->varattno;
	next = relation_open(oid, AccessShareLock);
	find_home(column, next);
	relation_close(next, AccessShareLock);
}

/* The labels of an enum, in order; those that a list allows, if there is one. */
static void
read_labels(DpermColumn *column, const DpermSaid *said)
{
	Relation	catalog = table_open(EnumRelationId, AccessShareLock);
	Relation	index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	int			count = 0;
	DpermText  *texts = palloc(DPERM_DIM_MAX * sizeof(DpermText));

	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(column->base));
	scan = systable_beginscan_ordered(catalog, index, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext_ordered(scan, ForwardScanDirection)))
	{
		char	   *label = pstrdup(NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel));
		bool		allowed = !said->listed;

		for (int i = 0; i < said->count && !allowed; i++)
			allowed = strcmp(said->texts[i], label) == 0;
		if (!allowed)
			continue;
		if (count < DPERM_DIM_MAX)
		{
			texts[count].bytes = label;
			texts[count].len = strlen(label);
		}
		count++;
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	table_close(catalog, AccessShareLock);

	column->known = count >= 1 && count <= DPERM_DIM_MAX;
	if (count > DPERM_DIM_MAX)
		column->lack = psprintf("the enum has more than %d labels", DPERM_DIM_MAX);
	if (!column->known)
		return;
	column->block.count = count;
	column->block.categories = texts;
	column->origin = said->listed ? said->origin : "enum labels";
}

/* Bounds of a number or a time, if both are there. */
static void
set_range(DpermColumn *column, const DpermSaid *said)
{
	if (said->low < said->high && isfinite(said->low) && isfinite(said->high))
	{
		column->known = true;
		column->block.low = said->low;
		column->block.high = said->high;
		column->block.count = 1;
	}
	else if (said->origin)
		column->lack = psprintf("%s: %s", said->origin,
								said->low == -INFINITY ? "no lower bound" :
								said->high == INFINITY ? "no upper bound" :
								said->low == said->high ? "a single value" :
								"the bounds contradict each other");
}

/* A list of categories, if it is not empty. */
static void
set_categories(DpermColumn *column, const DpermSaid *said)
{
	DpermText  *texts;

	if (get_typtype(column->base) == TYPTYPE_ENUM)
		read_labels(column, said);
	else if (said->listed && said->count > 0)
	{
		texts = palloc(said->count * sizeof(DpermText));
		for (int i = 0; i < said->count; i++)
		{
			texts[i].bytes = said->texts[i];
			texts[i].len = strlen(said->texts[i]);
			if (texts[i].len > DPERM_VALUE_MAX - VARHDRSZ)
			{
				column->lack = psprintf("%s: a value of more than %d bytes", said->origin,
										DPERM_VALUE_MAX - VARHDRSZ);
				return;
			}
		}
		column->known = true;
		column->block.count = said->count;
		column->block.categories = texts;
	}
	if (!column->known && said->listed)
		column->lack = psprintf("%s: no value is left", said->origin);
}

/* The dimension of a vector, from the type or from constraints on its length. */
static void
set_dimension(DpermColumn *column, const DpermSaid *said)
{
	double		dimension = said->low == said->high ? said->low : 0;

	if (column->typmod > 0 && dperm_domains_is_pgvector(column->base))
	{
		dimension = column->typmod;
		column->origin = "type modifier";
	}
	if (dimension == 0 && column->made_length > 0)
	{
		dimension = column->made_length;
		column->origin = "definition of the view";
	}
	if (dimension >= 1 && dimension <= DPERM_DIM_MAX)
	{
		column->known = true;
		column->block.count = (int) dimension;
		column->block.norm = 1;
		return;
	}
	if (column->origin == NULL)
		column->origin = said->origin;
	if (column->origin)
		column->lack = psprintf("%s: no dimension from 1 to %d", column->origin, DPERM_DIM_MAX);
	column->origin = NULL;
}

/* The domain that the catalog knows. */
static void
read_catalog(List **cache, Oid relation, DpermColumn *column)
{
	DpermSaid	said;

	if (column->block.kind == DPERM_BLOCK_FLAG)
	{
		column->known = true;
		column->block.count = 1;
		column->origin = "boolean";
		return;
	}
	said = dperm_checks_read(cache, relation, column);
	if (column->block.kind == DPERM_BLOCK_CATEGORY)
		set_categories(column, &said);
	else if (column->block.kind == DPERM_BLOCK_VECTOR)
		set_dimension(column, &said);
	else
		set_range(column, &said);
	if (column->known && column->origin == NULL)
		column->origin = said.origin;
}

/* The domains that the caller gave. */
static void
read_given(Relation relation, DpermColumn *columns, int count, Jsonb *domains)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	key,
				value;

	if (!JB_ROOT_IS_OBJECT(domains))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("domains must be a JSON object"),
				 errhint("For example: domains => '{\"age\": [0, 120], \"diagnosis\": [\"A\", \"B\"]}'.")));
	it = JsonbIteratorInit(&domains->root);
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
	{
		char	   *name;
		int			i = 0;

		if (token != WJB_KEY)
			continue;
		name = pnstrdup(key.val.string.val, key.val.string.len);
		(void) JsonbIteratorNext(&it, &value, true);
		while (i < count && strcmp(columns[i].name, name) != 0)
			i++;
		if (i == count)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
							RelationGetRelationName(relation)),
					 errhint("The keys of domains are names as they are stored: upper and lower case matter, and no quotes are needed.")));
		dperm_domain_parse(&columns[i], &value);
	}
}

/* Can a relation of this kind be trained on? */
bool
dperm_domains_has_rows(char relkind)
{
	return relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE ||
		relkind == RELKIND_VIEW || relkind == RELKIND_MATVIEW ||
		relkind == RELKIND_FOREIGN_TABLE;
}

/* Open a relation that has rows, or say why it has none. */
static Relation
open_relation(Oid oid)
{
	Relation	relation = try_relation_open(oid, AccessShareLock);

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", oid)));
	if (!dperm_domains_has_rows(relation->rd_rel->relkind))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" has no rows to train on", RelationGetRelationName(relation)),
				 errhint("Use a table, a view, a materialized view or a foreign table.")));
	return relation;
}

/* All live columns of a relation, in order. */
DpermColumn *
dperm_domains_read(Oid oid, Jsonb *domains, int *count)
{
	Relation	relation = open_relation(oid);
	TupleDesc	tuple = RelationGetDescr(relation);
	DpermColumn *columns = palloc0((tuple->natts + 1) * sizeof(DpermColumn));
	List	   *cache = NIL;

	*count = 0;
	for (int i = 0; i < tuple->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(tuple, i);
		DpermColumn *column = &columns[*count];

		if (attribute->attisdropped)
			continue;
		(*count)++;
		column->number = column->home = attribute->attnum;
		column->name = pstrdup(NameStr(attribute->attname));
		column->type = attribute->atttypid;
		column->typmod = attribute->atttypmod;
		column->base = getBaseTypeAndTypmod(column->type, &column->typmod);
		column->usable = dperm_domains_kind(column->base, &column->block.kind);
		column->block.column.bytes = column->name;
		column->block.column.len = strlen(column->name);
		find_home(column, relation);
		if (column->usable)
			read_catalog(&cache, oid, column);
	}
	if (domains)
		read_given(relation, columns, *count, domains);
	relation_close(relation, AccessShareLock);
	return columns;
}

/* A CHECK, or a type, that would declare a domain for a column; for hints. */
static char *
example_declaration(const DpermColumn *column)
{
	char	   *table = DatumGetCString(DirectFunctionCall1(regclassout,
															ObjectIdGetDatum(column->relation)));
	const char *name = quote_identifier(get_attname(column->relation, column->home, false));

	if (column->block.kind == DPERM_BLOCK_NUMBER)
		return psprintf("ALTER TABLE %s ADD CHECK (%s BETWEEN 0 AND 120)", table, name);
	if (column->block.kind == DPERM_BLOCK_TIME)
		return psprintf("ALTER TABLE %s ADD CHECK (%s BETWEEN '2015-01-01' AND '2025-12-31')",
						table, name);
	if (column->block.kind == DPERM_BLOCK_CATEGORY)
		return psprintf("ALTER TABLE %s ADD CHECK (%s IN ('A', 'B'))", table, name);
	if (dperm_domains_is_pgvector(column->base))
		return psprintf("ALTER TABLE %s ALTER %s TYPE %s(128)", table, name,
						format_type_be(column->base));
	return psprintf("ALTER TABLE %s ADD CHECK (cardinality(%s) = 128)", table, name);
}

/* Raise the error for a column without a domain. */
void
dperm_domains_missing(const DpermColumn *column)
{
	char		kind = get_rel_relkind(column->relation);

	if (!column->usable)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of type %s cannot be a feature", column->name,
						format_type_be(column->type)),
				 errhint("Convert it in a view, for example to text or to a number.")));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" of type %s has no domain", column->name,
					format_type_be(column->type)),
			 column->lack ? errdetail("The catalog is not enough: %s.", column->lack) : 0,
			 kind == RELKIND_VIEW || kind == RELKIND_MATVIEW ?
			 errhint("Give it, as in domains => %s, or declare it as a CHECK of the table behind the view.",
					 dperm_domain_example(column)) :
			 errhint("Give it, as in domains => %s, or declare it, as in %s.",
					 dperm_domain_example(column), example_declaration(column))));
}

/* Raise the error for a lone vector of unknown length. */
void
dperm_domains_unsized(const DpermColumn *column)
{
	char		kind = get_rel_relkind(column->relation);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the length of the vectors in column \"%s\" is not declared", column->name),
			 column->lack ? errdetail("The catalog is not enough: %s.", column->lack) : 0,
			 kind == RELKIND_VIEW || kind == RELKIND_MATVIEW ?
			 errhint("Give it, as in dimension => 128, or declare it as a CHECK of the table behind the view.") :
			 errhint("Give it, as in dimension => 128, or declare it, as in %s.",
					 example_declaration(column))));
}

/* The length that the constraints of an array type declare, 0 if they do not. */
int
dperm_domains_type_length(Oid type)
{
	DpermColumn column = {
		.type = type,
		.base = getBaseType(type),
		.block = {.kind = DPERM_BLOCK_VECTOR}
	};
	List	   *cache = NIL;
	DpermSaid	said = dperm_checks_read(&cache, InvalidOid, &column);

	return said.low == said.high && said.low >= 1 && said.low <= DPERM_DIM_MAX ? (int) said.low : 0;
}

/* dp_domains(relation regclass): what the catalog says about each column that can be a feature. */
Datum
dp_domains(PG_FUNCTION_ARGS)
{
	TupleDesc	tuple;
	Tuplestorestate *store = dperm_begin_result(fcinfo, &tuple);
	int			count;
	DpermColumn *columns = dperm_domains_read(PG_GETARG_OID(0), NULL, &count);

	for (int i = 0; i < count; i++)
	{
		DpermColumn *column = &columns[i];
		char	   *origin = column->known ? column->origin : column->lack;
		Datum		values[4];
		bool		nulls[4] = {false, false, !column->known, origin == NULL};

		if (!column->usable)
			continue;
		values[0] = DirectFunctionCall1(namein, CStringGetDatum(column->name));
		values[1] = ObjectIdGetDatum(column->type);
		values[2] = values[3] = (Datum) 0;
		if (column->known)
		{
			StringInfoData json;

			initStringInfo(&json);
			dperm_domain_print(&json, column);
			values[2] = DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
		}
		if (origin)
			values[3] = CStringGetTextDatum(origin);
		tuplestore_putvalues(store, tuple, values, nulls);
	}
	return (Datum) 0;
}
