/*
 * domains.c: the public domain of each column, from the caller and from the
 * catalog.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "rewrite/prs2lock.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/known_tree.h"
#include "column/domain_catalog.h"
#include "column/domain_json.h"
#include "column/domain_types.h"
#include "column/domains.h"

/*
 * The query of a view or of a materialized view, or NULL. An error is raised for
 * one that contains what is not known.
 */
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
		{
			dperm_known_tree_check(linitial(rule->actions), RelationRelationId,
								   RelationGetRelid(view));
			return linitial(rule->actions);
		}
	}
	return NULL;
}

/*
 * The column of a relation that an output column of a query returns unchanged,
 * or NULL.
 */
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
find_home(DpermColumn *column, Relation relation, DpermDimensionOf dimension_of)
{
	Query	   *query = dperm_domains_view_query(relation);
	Relation	next;
	Oid			oid;
	Var		   *var;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();		/* views that show views may be many */
	column->relation = RelationGetRelid(relation);
	if (query == NULL)
		return;
	if ((var = shown_column(query, column->home, &oid)) == NULL)
	{
		if (column->usable && column->block.kind == DPERM_BLOCK_VECTOR && !query->setOperations)
			column->made_dimension =
				dimension_of((Node *) list_nth_node(TargetEntry, query->targetList,
													column->home - 1)->expr, NULL);
		return;
	}
	column->home = var->varattno;
	next = relation_open(oid, AccessShareLock);
	find_home(column, next, dimension_of);
	relation_close(next, AccessShareLock);
}

/* Read the domains that the caller specified. */
void
dperm_domains_give(Oid relation, DpermColumn *columns, int count, Jsonb *domains)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	key,
				value;

	if (!JB_ROOT_IS_OBJECT(domains))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("domains must be a JSON object"),
				 errhint("For example: domains => '{\"age\": [0, 120], \"diagnosis\": [\"A\", "
						 "\"B\"]}'.")));
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
							get_rel_name(relation)),
					 errhint("Names in domains are case-sensitive and are not quoted.")));
		dperm_domain_json_parse(&columns[i], &value);
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

/* Open a relation that has rows; raise an error for any other. */
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
				 errmsg("cannot train on \"%s\"", RelationGetRelationName(relation)),
				 errhint("Use a table, a view, a materialized view or a foreign table.")));
	return relation;
}

/* All live columns of a relation, in order. */
DpermColumn *
dperm_domains_read(Oid oid, Jsonb *domains, DpermDimensionOf dimension_of, int *count)
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
		column->usable = dperm_domain_types_kind(column->base, &column->block.kind);
		column->block.column.bytes = column->name;
		column->block.column.len = strlen(column->name);
		find_home(column, relation, dimension_of);
		if (column->usable)
			dperm_domain_catalog_read(&cache, oid, column);
	}
	if (domains)
		dperm_domains_give(oid, columns, *count, domains);
	relation_close(relation, AccessShareLock);
	return columns;
}

/*
 * An example of a CHECK constraint or type that declares a domain, for hints.
 */
static char *
example_declaration(const DpermColumn *column)
{
	char	   *table = DatumGetCString(DirectFunctionCall1(regclassout,
															ObjectIdGetDatum(column->relation)));
	const char *name = quote_identifier(get_attname(column->relation, column->home, false));

	if (column->block.kind == DPERM_BLOCK_NUMBER)
		return psprintf("ALTER TABLE %s ADD CHECK (%s BETWEEN 0 AND 120)", table, name);
	if (column->block.kind == DPERM_BLOCK_TIME)
		return psprintf("ALTER TABLE %s ADD CHECK (%s BETWEEN %s)", table, name,
						column->base == TIMEOID ? "'08:00' AND '18:00'" :
						"'2015-01-01' AND '2025-12-31'");
	if (column->block.kind == DPERM_BLOCK_CATEGORY)
		return psprintf("ALTER TABLE %s ADD CHECK (%s IN ('A', 'B'))", table, name);
	if (dperm_domain_types_is_pgvector(column->base))
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
			 column->lack ? errdetail("The catalog does not define a complete "
									  "domain: %s.", column->lack) : 0,
			 kind == RELKIND_VIEW || kind == RELKIND_MATVIEW ?
			 errhint("Specify it, as in domains => %s, or declare it with a CHECK constraint on "
					 "the table behind the view.",
					 dperm_domain_json_example(column)) :
			 errhint("Specify it, as in domains => %s, or declare it, as in %s.",
					 dperm_domain_json_example(column), example_declaration(column))));
}
