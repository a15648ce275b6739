/*
 * domain_tables.c: domains that are lists of values in public tables.
 *
 * The values are read once, when the domain is declared. From then on it is a
 * list of values: in a registration, in a call, in a model.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/arguments.h"
#include "base/compat.h"
#include "column/domain_types.h"
#include "protect/domain_tables.h"
#include "protect/registry.h"
#include "protect/worker.h"
#include "relation/location.h"
#include "relation/relation.h"
#include "relation/row_sources.h"
#include "relation/table_values.h"

/* A JSON string. */
static JsonbValue
string_value(char *text)
{
	JsonbValue	value = {.type = jbvString};

	value.val.string.val = text;
	value.val.string.len = strlen(text);
	return value;
}

/* A member of a domain that names a table. */
static char *
name_in(JsonbContainer *domain, const char *key, const char *column)
{
	JsonbValue *value = getKeyJsonValueFromContainer(domain, key, strlen(key), NULL);

	if (value == NULL || value->type != jbvString || JsonContainerSize(domain) != 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the domain of column \"%s\" must name a table and a column", column),
				 errhint("For example: {\"table\": \"countries\", \"column\": \"code\"}.")));
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/*
 * Whatever goes wrong when the table is looked up, the hint is about the
 * domain.
 */
static void
table_hint(void *arg)
{
	errhint("The domain of column \"%s\" must name a table, written as in FROM.",
			(const char *) arg);
}

/* Raise an error for rows that are not public. */
static void
check_public(Oid table, Oid source, const char *column)
{
	List	   *private = dperm_row_sources_relations(source);
	List	   *reached = dperm_row_sources_relations(table);
	ListCell   *cell;

	reached = list_concat_unique_oid(reached, dperm_location_shards(reached));
	(void) dperm_row_sources_tables(list_make1_oid(table));
	if (dperm_registry_among(reached) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows of relation \"%s\" are protected", get_rel_name(table)),
				 errhint("The domain of column \"%s\" can only come from a public table.",
						 column)));
	foreach(cell, reached)
		if (list_member_oid(private, lfirst_oid(cell)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("relation \"%s\" shares rows with \"%s\"", get_rel_name(table),
							get_rel_name(source)),
					 errhint("The domain of column \"%s\" can only come from another table, whose "
							 "rows are public.",
							 column)));
}

/*
 * Raise an error unless a relation is a table or a materialized view whose rows
 * are here.
 */
static void
check_kind(Oid relation, const char *name)
{
	char		kind = get_rel_relkind(relation);

	if ((kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE &&
		 kind != RELKIND_MATVIEW) ||
		dperm_row_sources_has_policies(relation))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("relation \"%s\" is not a table or materialized view without "
						"row-level security", name)));
}

/* The table with this name, which must be public, and its children, locked. */
static List *
find_tables(const char *name, Oid source, char *column)
{
	ErrorContextCallback hint = {
		.previous = error_context_stack,
		.callback = table_hint,
		.arg = column
	};
	Oid			table;
	List	   *tables;
	List	   *parts;
	ListCell   *cell;

	error_context_stack = &hint;
	table = dperm_relation_look_up(name, AccessShareLock, false);
	tables = find_all_inheritors(table, AccessShareLock, NULL);
	foreach(cell, tables)
		check_kind(lfirst_oid(cell), name);
	if (dperm_location_find(table, &parts) != DPERM_LOCATION_HERE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the rows of relation \"%s\" are on other servers", name)));
	error_context_stack = hint.previous;
	check_public(table, source, column);
	return tables;
}

/* The base type of a column that the caller may read. */
static Oid
type_of_column(Oid table, const char *name)
{
	AttrNumber	number = get_attnum(table, name);
	Oid			type;

	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		(number <= 0 ||
		 pg_attribute_aclcheck(table, number, GetUserId(), ACL_SELECT) != ACLCHECK_OK))
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(table)),
					   get_rel_name(table));
	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						get_rel_name(table)),
				 errhint("Names in domains are case-sensitive and are not quoted.")));
	type = getBaseType(get_atttype(table, number));
	if (!dperm_domain_types_has_text(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("values of type %s cannot be categories", format_type_be(type)),
				 errhint("Use a column of text, of an enum or of integers.")));
	return type;
}

/* Add the values of a column of tables, as a domain. */
static void
push_values(JsonbInState *state, List *tables, const char *column)
{
	Oid			type = type_of_column(linitial_oid(tables), column);
	JsonbValue	key = string_value("categories");
	int			count;
	Datum	   *values = dperm_table_values(tables, column, type, &count);
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	pushJsonbValue(state, WJB_KEY, &key);
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
	{
		char	   *text = OidOutputFunctionCall(output, values[i]);
		int			length = dperm_category_length(type == BPCHAROID, text, strlen(text));
		JsonbValue	value = string_value(pnstrdup(text, length));

		pushJsonbValue(state, WJB_ELEM, &value);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* The domain that names a table, or NULL. */
static JsonbContainer *
table_in(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data) &&
		getKeyJsonValueFromContainer(value->val.binary.data, "table", strlen("table"), NULL) ?
		value->val.binary.data : NULL;
}

/* Does one of the domains, if there are any, name a table? */
static bool
names_table(Jsonb *domains)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	value;

	if (domains == NULL || !JB_ROOT_IS_OBJECT(domains))
		return false;
	it = JsonbIteratorInit(&domains->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
		if (token == WJB_VALUE && table_in(&value))
			return true;
	return false;
}

/* The domains, with values instead of tables. */
Jsonb *
dperm_domain_tables_read(Jsonb *domains, Oid source)
{
	JsonbInState state = {0};
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	value;
	char	   *column = NULL;

	if (!names_table(domains))
		return domains;
	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	it = JsonbIteratorInit(&domains->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		JsonbContainer *domain = token == WJB_VALUE ? table_in(&value) : NULL;

		if (domain)
		{
			List	   *tables = find_tables(name_in(domain, "table", column), source, column);

			push_values(&state, tables, name_in(domain, "column", column));
		}
		else if (token == WJB_KEY || token == WJB_VALUE)
			pushJsonbValue(&state, token, &value);
		if (token == WJB_KEY)
			column = pnstrdup(value.val.string.val, value.val.string.len);
	}
	pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	return JsonbValueToJsonb(state.result);
}

/* A call whose domains are values. */
FunctionCallInfo
dperm_domain_tables_call(FunctionCallInfo fcinfo)
{
	Jsonb	   *domains = dperm_arguments_jsonb(fcinfo, "domains");
	char	   *source = dperm_arguments_text(fcinfo, "source");

	if (dperm_worker_is_this() || source == NULL || !names_table(domains))
		return fcinfo;
	domains = dperm_domain_tables_read(domains, dperm_relation_look_up(source, NoLock, false));
	return dperm_arguments_replace(fcinfo, "domains", JsonbPGetDatum(domains));
}
