/*
 * domains.c: which types can be features, and of which kind; the public domain of each
 * column, from the caller and from the catalog; and whether one is within another.
 * Plain.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/base.h"
#include "column/column.h"

/* The category of a type, as in pg_type.typcategory. */
static char
category_of(Oid type)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(type, &category, &preferred);
	return category;
}

/* Is this a type of integers? */
bool
dperm_column_is_integer(Oid base)
{
	return base == INT2OID || base == INT4OID || base == INT8OID;
}

/* Is a type stored as text, or name, so that its values compare as texts? */
bool
dperm_column_is_text(Oid base)
{
	return base == NAMEOID || (category_of(base) == TYPCATEGORY_STRING && get_typlen(base) == -1);
}

/*
 * Is this the type "vector" of the extension "vector"? Others of this name are
 * stored differently. Its values are varlena: int16 dimension, int16 unused,
 * float4 coordinates.
 */
bool
dperm_column_is_pgvector(Oid base)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
	Form_pg_type type;
	Oid			extension;
	bool		named;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", base);
	type = (Form_pg_type) GETSTRUCT(tuple);
	named = strcmp(NameStr(type->typname), "vector") == 0 &&
		type->typtype == TYPTYPE_BASE && type->typlen == -1;
	ReleaseSysCache(tuple);
	if (!named)
		return false;
	extension = getExtensionOfObject(TypeRelationId, base);
	return OidIsValid(extension) && extension == get_extension_oid("vector", true);
}

/*
 * Can the text of a type's values be a category? Not if it depends on session
 * settings: dates, regclass, money, interval, bytea, floats inside geometric
 * types. Texts are compared directly; the output of any other type must be short.
 */
static bool
has_plain_text(Oid base)
{
	char		category = category_of(base);

	if (get_typtype(base) != TYPTYPE_BASE)
		return get_typtype(base) == TYPTYPE_ENUM;
	if (base == DATEOID || base == TIMESTAMPOID || base == TIMESTAMPTZOID ||
		category == TYPCATEGORY_TIMESPAN || category == TYPCATEGORY_GEOMETRIC ||
		(category == TYPCATEGORY_NUMERIC && base != OIDOID))
		return false;
	return dperm_column_is_text(base) || get_typlen(base) > 0 ||
		category == TYPCATEGORY_NETWORK;
}

/*
 * Can prediction read categories from a type? Numbers too, if they were
 * specified as categories.
 */
bool
dperm_column_has_text(Oid base)
{
	return has_plain_text(base) || dperm_column_is_integer(base) || base == NUMERICOID;
}

/* The kind of block of a base type; false if it cannot be a feature. */
bool
dperm_column_kind(Oid base, DpermBlockKind *kind)
{
	DpermReaderKind stored = dperm_reader_kind_natural(base);

	*kind = dperm_reader_kind_block(stored);
	return stored != DPERM_READ_NONE;
}

/*
 * The value of a number or a time, as blocks have it; false for any other type.
 * *out may be NaN or infinite.
 */
bool
dperm_column_number(Oid type, Datum value, double *out)
{
	DpermReaderKind stored = dperm_reader_kind_natural(type);
	DpermBlockKind kind = dperm_reader_kind_block(stored);

	if (kind != DPERM_BLOCK_NUMBER && kind != DPERM_BLOCK_TIME)
		return false;
	*out = dperm_reader_number(stored, value);
	return true;
}

/* The text of a value, as categories are written. */
DpermText
dperm_column_text(Oid base, Datum value)
{
	DpermText	text = {.bytes = dperm_host_output(value, base)};

	text.len = dperm_category_length(base == BPCHAROID, text.bytes, strlen(text.bytes));
	return text;
}

/* Is a text among those of a list? */
bool
dperm_column_lists(const DpermText *texts, int count, const DpermText *text)
{
	for (int i = 0; i < count; i++)
		if (dperm_host_same_text(&texts[i], text))
			return true;
	return false;
}

/*
 * Read a text as a type does, with a modifier; false, and why, if that fails. An error of the
 * input function of a type that can be a feature leaves nothing behind.
 */
bool
dperm_column_input(Oid base, int32 typmod, const char *text, Datum *value, char **why)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			input,
				ioparam;

	*why = NULL;
	getTypeInputInfo(base, &input, &ioparam);
	PG_TRY();
	{
		*value = OidInputFunctionCall(input, pstrdup(text), ioparam, typmod);
	}
	PG_CATCH();
	{
		*why = dperm_message_data_error(context);
	}
	PG_END_TRY();
	return *why == NULL;
}

/*
 * A time as a type of times has it, whatever the DateStyle is; timestamptz in a zone, or in that of
 * the session if that is NULL.
 */
char *
dperm_column_time(Oid type, double usecs, const int *zone)
{
	char	   *text = palloc(MAXDATELEN + 1);
	Datum		value;

	if (type == DATEOID)
		value = DateADTGetDatum((DateADT) rint(usecs / (double) USECS_PER_DAY));
	else if (type == TIMEOID)
		value = TimeADTGetDatum((TimeADT) usecs);
	else
		/* a bound at the end of all times may have been rounded beyond it */
		value = TimestampGetDatum(usecs >= (double) END_TIMESTAMP ? END_TIMESTAMP - 1 :
								  (Timestamp) usecs);
	return JsonEncodeDateTime(text, value, type, zone);
}

/*
 * A value of a number or a time as text, to the second. A model does not say of which
 * type a time was: a range within the first day of 2000 is that of times of day.
 */
char *
dperm_column_shown(const DpermBlock *block, double value)
{
	double		usecs = rint(value * SECS_PER_DAY) * (double) USECS_PER_SEC;

	if (block->kind != DPERM_BLOCK_TIME || !(usecs >= (double) MIN_TIMESTAMP) ||
		!(usecs < (double) END_TIMESTAMP))
		return double_to_shortest_decimal(value);
	return dperm_column_time(block->low >= 0 && block->high <= 1 ? TIMEOID :
							 fmod(usecs, (double) USECS_PER_DAY) == 0 ? DATEOID :
							 TIMESTAMPOID, usecs, NULL);
}

/* The labels of an enum, in order, as zero-terminated texts. */
static DpermText *
enum_labels(Oid type, int *count)
{
	Relation	catalog = table_open(EnumRelationId, AccessShareLock);
	Relation	index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
	DpermText  *texts = palloc(sizeof(DpermText));
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	*count = 0;
	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(type));
	scan = systable_beginscan_ordered(catalog, index, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext_ordered(scan, ForwardScanDirection)))
	{
		char	   *label = pstrdup(NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel));

		texts = repalloc(texts, (*count + 1) * sizeof(DpermText));
		texts[(*count)++] = (DpermText) {label, (int) strlen(label)};
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	table_close(catalog, AccessShareLock);
	return texts;
}

/* Does the catalog declare a domain? */
static void
set_known(DpermColumn *column, bool known)
{
	column->from = known ? DPERM_DOMAIN_DECLARED : DPERM_DOMAIN_UNKNOWN;
}

/* Set the bounds of a number or a time: a domain, if both are known. */
static void
set_range(DpermColumn *column, const DpermSaid *said)
{
	double		low = said->low,
				high = said->high;

	set_known(column, dperm_block_are_bounds(low, high));
	column->block.low = low;
	column->block.high = high;
	column->block.count = 1;
	column->values = said->texts;
	for (int i = 0; i < said->count; i++)
	{
		double		number = atof(said->texts[i].bytes);

		if (number >= low && number <= high)
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

/* Set the list of categories: labels of an enum, or what constraints list. */
static void
set_categories(DpermColumn *column, const DpermSaid *said)
{
	bool		is_enum = get_typtype(column->base) == TYPTYPE_ENUM;
	int			all = said->count;
	DpermText  *texts =
		is_enum ? enum_labels(column->base, &all) : said->texts;
	const char *origin = said->origin ? said->origin : "enum labels";
	int			count = 0;
	bool		too_long = false;

	for (int i = 0; i < all; i++)
	{
		too_long |= texts[i].len > DPERM_VALUE_MAX - VARHDRSZ;
		if (!is_enum || said->count < 0 ||
			dperm_column_lists(said->texts, said->count, &texts[i]))
			texts[count++] = texts[i];
	}
	set_known(column, count > 0 && count <= DPERM_DIM_MAX && !too_long);
	column->block.count = count;
	column->block.categories = texts;
	if (dperm_column_known(column))
		column->origin = pstrdup(origin);
	else if (all > 0 || said->count == 0)
		column->lack = too_long ?
			psprintf("%s: a value of more than %d bytes", origin, DPERM_VALUE_MAX - VARHDRSZ) :
			count == 0 ? psprintf("%s: no value is left", origin) :
			psprintf("%s: more than %d values", origin, DPERM_DIM_MAX);
}

/*
 * Set the dimension of a vector, from the type, from constraints or from a view,
 * and the range of its elements, if both bounds are known.
 */
static void
set_vector(DpermColumn *column, const DpermSaid *said, int made_dimension)
{
	int			dimension = said->dimension;
	char	   *origin = said->origin;

	if (column->typmod > 0 && dperm_column_is_pgvector(column->base))
	{
		dimension = column->typmod;
		origin = "type modifier";
	}
	else if (dimension <= 0 && made_dimension > 0)
	{
		dimension = made_dimension;
		origin = "definition of the view";
	}
	set_known(column, dimension >= 1 && dimension <= DPERM_DIM_MAX);
	if (!dperm_column_known(column))
	{
		if (origin != said->origin || dimension < 0)
			column->lack = psprintf("%s: the dimension is not between 1 and %d", origin,
									DPERM_DIM_MAX);
		return;
	}
	column->origin = origin;
	column->block.count = dimension;
	column->block.norm = 1;
	if (!dperm_block_are_bounds(said->low, said->high))
		return;
	column->block.kind = DPERM_BLOCK_BOX;
	column->block.norm = 0;
	column->block.low = said->low;
	column->block.high = said->high;
	if (origin != said->origin)
		column->origin = psprintf("%s, %s", origin, said->origin);
}

/*
 * Read the domain from the catalog. relation is what the caller specified, InvalidOid
 * for a column of none, of which only the type says something; made_dimension is that
 * of vectors that a view computes.
 */
void
dperm_domains_declared(Oid relation, DpermColumn *column, int made_dimension)
{
	DpermSaid	said;

	if (column->block.kind == DPERM_BLOCK_FLAG)
	{
		set_known(column, true);
		column->block.count = 1;
		column->origin = "boolean";
		return;
	}
	said = dperm_domain_checks_read(relation, column);
	if (column->block.kind == DPERM_BLOCK_CATEGORY)
		set_categories(column, &said);
	else if (column->block.kind == DPERM_BLOCK_VECTOR)
		set_vector(column, &said, made_dimension);
	else
		set_range(column, &said);
	if (dperm_column_known(column) && column->origin == NULL)
		column->origin = said.origin;
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
			dperm_scorer_declared_dimension((Node *) list_nth_node(TargetEntry, query->targetList,
														  column->home - 1)->expr, NULL);
	column->home = var->varattno;
	next = relation_open(oid, AccessShareLock);
	dimension = find_home(column, next);
	relation_close(next, AccessShareLock);
	return dimension;
}

/*
 * Give columns of a relation the caller's domains, in place of those that they
 * have. A column whose domain is null keeps its own, if that is allowed.
 */
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

/*
 * All live columns of a relation, in order. domains is the caller's object or NULL;
 * it takes precedence over the catalog. Raises an error for keys that are not columns
 * and for domains that are not valid for the column's type.
 */
DpermColumn *
dperm_domains_read(Oid oid, Jsonb *domains, int *count)
{
	Relation	relation = relation_open(oid, AccessShareLock);
	TupleDesc	tuple = RelationGetDescr(relation);
	DpermColumn *columns = palloc0((tuple->natts + 1) * sizeof(DpermColumn));

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
		column->from = dperm_column_kind(column->base, &column->block.kind) ?
			DPERM_DOMAIN_UNKNOWN : DPERM_DOMAIN_UNUSABLE;
		column->block.column.bytes = column->name;
		column->block.column.len = strlen(column->name);
		made_dimension = find_home(column, relation);
		if (column->from != DPERM_DOMAIN_UNUSABLE)
			dperm_domains_declared(oid, column, made_dimension);
	}
	if (domains)
		dperm_domains_give(oid, columns, *count, domains, false);
	relation_close(relation, AccessShareLock);
	return columns;
}

/* Raise the error for a column without a domain, or of a type that has none. */
void
dperm_domains_missing(const DpermColumn *column)
{
	if (column->from == DPERM_DOMAIN_UNUSABLE)
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
			 errhint("Specify it, as in domains => %s, or declare it with a CHECK constraint on "
					 "the table.%s",
					 dperm_domain_json_example(column),
					 column->block.kind != DPERM_BLOCK_NUMBER ? "" :
					 " Money and counts are {\"range\": [0, 1000000], \"scale\": \"log\"}, "
					 "integers that are codes {\"categories\": [1, 2, 3]}.")));
}

/*
 * What of the inner domain is not contained in the outer one, as the subject of
 * "... is not within"; NULL if all is. Ranges and categories have to be subsets,
 * dimensions equal, and norms not larger.
 */
const char *
dperm_domains_fault(const DpermBlock *outer, const DpermBlock *inner)
{
	bool		vector = inner->kind == DPERM_BLOCK_VECTOR || inner->kind == DPERM_BLOCK_BOX;
	int			elements = dperm_block_elements(inner);

	if (inner->kind != outer->kind)
		return "kind";
	if (vector && elements != dperm_block_elements(outer))
		return "dimension";
	if (inner->kind == DPERM_BLOCK_VECTOR)
		return inner->norm > outer->norm ? "norm" : NULL;
	if (inner->kind == DPERM_BLOCK_CATEGORY)
		for (int i = 0; i < inner->count; i++)
			if (!dperm_column_lists(outer->categories, outer->count, &inner->categories[i]))
				return "list of categories";
	if (inner->kind == DPERM_BLOCK_CATEGORY || inner->kind == DPERM_BLOCK_FLAG)
		return NULL;
	for (int i = 0; i < elements; i++)
	{
		DpermBlock	within = dperm_block_element(inner, i);
		DpermBlock	range = dperm_block_element(outer, i);

		if (within.low < range.low || within.high > range.high)
			return "range";
	}
	return NULL;
}
