/*
 * domains.c: the public domain of each column, from the caller and from the
 * catalog; and whether one is within another.
 */
#include "postgres.h"

#include <math.h>

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
#include "base/message.h"
#include "column/datum_values.h"
#include "column/domain_checks.h"
#include "column/domain_json.h"
#include "column/domain_types.h"
#include "column/domains.h"
#include "column/encode.h"
#include "core/base/limits.h"
#include "core/encode/encoder.h"

/*
 * Read the text of a value as a column's type does, with its modifier; false if
 * that fails. An error of the input function of a type that can be a feature
 * leaves nothing behind.
 */
static bool
parse_value(const DpermColumn *column, const DpermText *text, Datum *value)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool read = true;
	Oid			input,
				ioparam;

	getTypeInputInfo(column->base, &input, &ioparam);
	PG_TRY();
	{
		*value = OidInputFunctionCall(input, pnstrdup(text->bytes, text->len), ioparam,
									  column->typmod);
	}
	PG_CATCH();
	{
		(void) dperm_message_data_error(context);
		read = false;
	}
	PG_END_TRY();
	return read;
}

/*
 * Does the type of a column, with its modifier, write a value like this? "01" is
 * no integer that PostgreSQL writes, nor is "true" a boolean.
 */
static bool
is_written(const DpermColumn *column, const DpermText *text)
{
	Datum		value;
	DpermText	written;

	if (!parse_value(column, text, &value))
		return false;
	written = dperm_domain_types_text(column->base, value);
	return dperm_block_same_text(&written, text);
}

/* Does the catalog declare a domain? */
static void
set_known(DpermColumn *column, bool known)
{
	column->from = known ? DPERM_DOMAIN_DECLARED : DPERM_DOMAIN_UNKNOWN;
}

/* Set the labels of an enum, or those that constraints list. */
static void
set_labels(DpermColumn *column, const DpermSaid *said)
{
	int			all;
	DpermText  *labels = dperm_domain_types_labels(column->base, &all);
	int			count = 0;

	if (all > DPERM_DIM_MAX)
	{
		column->lack = psprintf("the enum has more than %d labels", DPERM_DIM_MAX);
		return;
	}
	for (int i = 0; i < all; i++)
		if (!said->listed || dperm_domain_checks_lists(said, &labels[i]))
			labels[count++] = labels[i];
	column->block.count = count;
	column->block.categories = labels;
	set_known(column, count > 0);
	if (count > 0)
		column->origin = said->origin ? said->origin : "enum labels";
}

/* Set the bounds of a number or a time: a domain, if both are known. */
static void
set_range(DpermColumn *column, const DpermSaid *said)
{
	double		low = said->values.low,
				high = said->values.high;

	set_known(column, dperm_block_are_bounds(low, high));
	column->block.low = low;
	column->block.high = high;
	column->block.count = 1;
	column->values = said->texts;
	for (int i = 0; i < said->count; i++)
	{
		double		number = atof(said->texts[i].bytes);
		Datum		value;

		if (number >= low && number <= high && parse_value(column, &said->texts[i], &value))
			said->texts[column->value_count++] = said->texts[i];
	}
	if (!dperm_column_known(column) && said->origin)
		column->lack = psprintf("%s: %s", said->origin,
								low == -INFINITY ? "no lower bound" :
								high == INFINITY ? "no upper bound" :
								low == high ? "a single value" :
								low > high ? "the bounds contradict each other" :
								"the bounds are not between -1e300 and 1e300");
}

/* Set the list of categories, if it is not empty. */
static void
set_categories(DpermColumn *column, const DpermSaid *said)
{
	int			count = 0;

	if (get_typtype(column->base) == TYPTYPE_ENUM)
		set_labels(column, said);
	else if (said->listed)
	{
		for (int i = 0; i < said->count; i++)
		{
			if (said->texts[i].len > DPERM_VALUE_MAX - VARHDRSZ)
			{
				column->lack = psprintf("%s: a value of more than %d bytes", said->origin,
										DPERM_VALUE_MAX - VARHDRSZ);
				return;
			}
			if (is_written(column, &said->texts[i]))
				said->texts[count++] = said->texts[i];
		}
		set_known(column, count > 0);
		column->block.count = count;
		column->block.categories = said->texts;
	}
	if (!dperm_column_known(column) && said->listed)
		column->lack = psprintf("%s: no value is left", said->origin);
}

/*
 * Set the dimension of a vector, from the type, from constraints or from a view,
 * and the range of its elements, if both bounds are known.
 */
static void
set_vector(DpermColumn *column, const DpermSaid *said, int made_dimension)
{
	double		dimension = said->dimension.low == said->dimension.high ? said->dimension.low : 0;
	char	   *origin = said->origin;

	if (column->typmod > 0 && dperm_domain_types_is_pgvector(column->base))
	{
		dimension = column->typmod;
		origin = "type modifier";
	}
	else if (dimension == 0 && made_dimension > 0)
	{
		dimension = made_dimension;
		origin = "definition of the view";
	}
	set_known(column, dimension >= 1 && dimension <= DPERM_DIM_MAX);
	if (!dperm_column_known(column))
	{
		if (origin != said->origin || said->dimension.low > -INFINITY ||
			said->dimension.high < INFINITY)
			column->lack = psprintf("%s: the dimension is not between 1 and %d", origin,
									DPERM_DIM_MAX);
		return;
	}
	column->origin = origin;
	column->block.count = (int) dimension;
	column->block.norm = 1;
	if (!dperm_block_are_bounds(said->values.low, said->values.high))
		return;
	column->block.kind = DPERM_BLOCK_BOX;
	column->block.norm = 0;
	column->block.low = said->values.low;
	column->block.high = said->values.high;
	if (origin != said->origin)
		column->origin = psprintf("%s, %s", origin, said->origin);
}

/*
 * Read the domain from the catalog. relation and *cache are as in
 * domain_checks.h; made_dimension is that of vectors that a view computes.
 */
static void
read_declared(List **cache, Oid relation, DpermColumn *column, int made_dimension)
{
	DpermSaid	said;

	if (column->block.kind == DPERM_BLOCK_FLAG)
	{
		set_known(column, true);
		column->block.count = 1;
		column->origin = "boolean";
		return;
	}
	said = dperm_domain_checks_read(cache, relation, column);
	if (column->block.kind == DPERM_BLOCK_CATEGORY)
		set_categories(column, &said);
	else if (column->block.kind == DPERM_BLOCK_VECTOR)
		set_vector(column, &said, made_dimension);
	else
		set_range(column, &said);
	if (dperm_column_known(column) && column->origin == NULL)
		column->origin = said.origin;
}

/* The domain that a type declares. */
void
dperm_domains_of_type(DpermColumn *column)
{
	List	   *cache = NIL;

	read_declared(&cache, InvalidOid, column, 0);
}

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

/*
 * Follow a column through views to the table that has its constraints; the
 * dimension of vectors that a view computes, otherwise 0.
 */
static int
find_home(DpermColumn *column, Relation relation)
{
	Query	   *query = dperm_domains_view_query(relation);
	Relation	next;
	Oid			oid;
	Var		   *var;
	int			dimension;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();		/* views that show views may be many */
	column->relation = RelationGetRelid(relation);
	if (query == NULL)
		return 0;
	if ((var = shown_column(query, column->home, &oid)) == NULL)
		return query->setOperations || column->block.kind != DPERM_BLOCK_VECTOR ? 0 :
			dperm_encode_dimension((Node *) list_nth_node(TargetEntry, query->targetList,
														  column->home - 1)->expr, NULL);
	column->home = var->varattno;
	next = relation_open(oid, AccessShareLock);
	dimension = find_home(column, next);
	relation_close(next, AccessShareLock);
	return dimension;
}

/* Read the domains that the caller specified. */
void
dperm_domains_give(Oid relation, DpermColumn *columns, int count, Jsonb *domains,
				   bool may_be_null)
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
		if (value.type != jbvNull || !may_be_null)
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
		int			made_dimension;

		if (attribute->attisdropped)
			continue;
		(*count)++;
		column->number = column->home = attribute->attnum;
		column->name = pstrdup(NameStr(attribute->attname));
		column->type = attribute->atttypid;
		column->typmod = attribute->atttypmod;
		column->base = getBaseTypeAndTypmod(column->type, &column->typmod);
		column->from = dperm_domain_types_kind(column->base, &column->block.kind) ?
			DPERM_DOMAIN_UNKNOWN : DPERM_DOMAIN_UNUSABLE;
		column->block.column.bytes = column->name;
		column->block.column.len = strlen(column->name);
		made_dimension = find_home(column, relation);
		if (dperm_column_usable(column))
			read_declared(&cache, oid, column, made_dimension);
	}
	if (domains)
		dperm_domains_give(oid, columns, *count, domains, false);
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

/* What else the domain of a number may be, for hints. */
static const char *
other_domains(const DpermColumn *column)
{
	if (column->block.kind != DPERM_BLOCK_NUMBER)
		return "";
	return dperm_domain_types_is_integer(column->base) ?
		" Counts are {\"range\": [0, 1000000], \"scale\": \"log\"}, codes are "
		"{\"categories\": [1, 2, 3]}." :
		" Money is {\"range\": [0, 1000000], \"scale\": \"log\"}.";
}

/* Raise the error for a column without a domain. */
void
dperm_domains_missing(const DpermColumn *column)
{
	char		kind = get_rel_relkind(column->relation);

	if (!dperm_column_usable(column))
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
					 "the table behind the view.%s",
					 dperm_domain_json_example(column), other_domains(column)) :
			 errhint("Specify it, as in domains => %s, or declare it, as in %s.%s",
					 dperm_domain_json_example(column), example_declaration(column),
					 other_domains(column))));
}

/*
 * Is a category in a list? The search starts at *at, which becomes its
 * position.
 */
static bool
has_category(const DpermBlock *block, const DpermText *category, int *at)
{
	for (int i = 0; i < block->count; i++)
	{
		if (dperm_block_same_text(&block->categories[*at], category))
			return true;
		*at = (*at + 1) % block->count;
	}
	return false;
}

/* Are the ranges of all elements subsets? */
static bool
box_within(const DpermBlock *outer, const DpermBlock *inner)
{
	for (int i = 0; i < dperm_block_elements(inner); i++)
		if (dperm_block_low(inner, i) < dperm_block_low(outer, i) ||
			dperm_block_high(inner, i) > dperm_block_high(outer, i))
			return false;
	return true;
}

/* What is not contained in the other domain, or NULL. */
const char *
dperm_domains_fault(const DpermBlock *outer, const DpermBlock *inner)
{
	int			at = 0;			/* usually both lists are in the same order */

	if (inner->kind != outer->kind)
		return "kind";
	switch (inner->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			return inner->low < outer->low || inner->high > outer->high ? "range" : NULL;
		case DPERM_BLOCK_FLAG:
			return NULL;
		case DPERM_BLOCK_CATEGORY:
			for (int i = 0; i < inner->count; i++)
				if (!has_category(outer, &inner->categories[i], &at))
					return "list of categories";
			return NULL;
		case DPERM_BLOCK_VECTOR:
			return inner->count != outer->count ? "dimension" :
				   inner->norm > outer->norm	? "norm" :
												  NULL;
		case DPERM_BLOCK_BOX:
			return dperm_block_elements(inner) != dperm_block_elements(outer) ? "dimension" :
				   box_within(outer, inner) ? NULL : "range";
	}
	return "kind";
}
