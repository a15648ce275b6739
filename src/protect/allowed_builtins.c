/*
 * allowed_builtins.c: which of built-in functions may be called for the rows of
 * a protected relation.
 *
 * What is shown of a row depends on that row alone. PostgreSQL marks most
 * functions IMMUTABLE that are so. Those that it marks STABLE depend on
 * settings, which are the server's own, or on the catalog or the statistics; so
 * of these only the ones that are known may be called, and what a newer
 * PostgreSQL adds waits until it is known, too.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "protect/allowed_builtins.h"
#include "relation/row_sources.h"

/*
 * Do values of a type stand for an object of the catalog, or contain its name:
 * regclass, regconfig, regdictionary and the like, or aclitem?
 */
bool
dperm_allowed_builtins_names_object(Oid type)
{
	return type == ACLITEMOID ||
		   (type < FirstNormalObjectId && strncmp(format_type_be(type), "reg", 3) == 0);
}

/*
 * Is a type a date or time? Functions of these depend on TimeZone, DateStyle
 * and IntervalStyle, and on the time of the transaction.
 */
static bool
is_time(Oid type)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(type, &category, &preferred);
	return category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_TIMESPAN;
}

/* Does a function have an argument of such a type? */
static bool
takes(Form_pg_proc form, bool (*is_such) (Oid type))
{
	for (int i = 0; i < form->pronargs; i++)
		if (is_such(form->proargtypes.values[i]))
			return true;
	return false;
}

/*
 * Only PostgreSQL itself can pass such an argument: selectivity estimators,
 * aggregate transitions, binary input.
 */
static bool
is_internal(Oid type)
{
	return type == INTERNALOID;
}

/*
 * Is a STABLE function known to depend only on its arguments, on types, and on
 * settings that have fixed values?
 */
static bool
is_known(const char *name)
{
	static const char *const names[] = {
		/* values as text or bytes, and back */
		"date_in", "time_in", "timetz_in", "timestamp_in", "timestamptz_in", "interval_in",
		"cash_in", "cash_out", "xml_in", "xml_send", "array_in", "array_out", "array_send",
		"record_in", "record_out", "record_send", "range_in", "range_out", "range_send",
		"multirange_in", "multirange_out", "multirange_send", "enum_in", "enum_out", "enum_send",
		"domain_in", "textsend", "varcharsend", "bpcharsend", "namesend", "convert", "convert_from",
		"convert_to", "length", "to_char", "to_number", "to_date", "to_timestamp",
		"make_timestamptz", "money", "numeric", "concat", "concat_ws", "format", "textanycat",
		"anytextcat", "quote_literal", "quote_nullable", "array_to_string", "to_json", "to_jsonb",
		"row_to_json", "array_to_json", "xml", "xml_is_well_formed", "enum_first", "enum_last",
		"enum_range",
		/* the same for all rows of a call, and not up to the caller */
		"now", "transaction_timestamp", "statement_timestamp", "current_user", "current_database",
		"getdatabaseencoding", "version"};

	if (strncmp(name, "json_", 5) == 0 || strncmp(name, "jsonb_", 6) == 0)
		return strstr(name, "_to_tsvector") == NULL;
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Why must a built-in function not be called for rows? NULL if it may be. */
const char *
dperm_allowed_builtins_fault(Oid function)
{
	HeapTuple	tuple;
	Form_pg_proc form;
	const char *fault = NULL;

	if (dperm_row_sources_by_name(function))
		return "may read any table";
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (form->provolatile == PROVOLATILE_VOLATILE)
		fault = "is volatile";

	/*
	 * also if IMMUTABLE: a text search configuration can be somebody else's,
	 * and is looked up when the function is called
	 */
	else if (takes(form, dperm_allowed_builtins_names_object))
		fault = "depends on what the catalog has under a name";
	else if (function == F_TS_PARSE_OID_TEXT || function == F_TS_TOKEN_TYPE_OID)
		fault = "depends on what the catalog has under a name";
	else if (form->provolatile == PROVOLATILE_STABLE && !takes(form, is_internal) &&
			 !takes(form, is_time) && !is_known(NameStr(form->proname)))
		fault = "can depend on the catalog, the server or how a row is stored";
	ReleaseSysCache(tuple);
	return fault;
}
