/*
 * reference.c: dp_role_name and dp_relation_name: roles and relations in our tables, which a dump has by name.
 *
 * They are like regrole and regclass: an OID here, whatever the object is called by now, and its name in a dump. But they take any name. A dump is
 * restored table by table, and each of ours has rows of many owners: one name that is not there, or not yet, must not keep the others out. Such a name
 * stays a name, and stands for nobody.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "reference.h"

PG_FUNCTION_INFO_V1(dp_role_name_in);
PG_FUNCTION_INFO_V1(dp_role_name_out);
PG_FUNCTION_INFO_V1(dp_relation_name_in);
PG_FUNCTION_INFO_V1(dp_relation_name_out);
PG_FUNCTION_INFO_V1(dp_name_oid);
PG_FUNCTION_INFO_V1(dp_name_pending);

/* Both types. */
typedef struct DpermReference
{
	int32		vl_len_;
	Oid			object;			/* InvalidOid: there was none of this name */
	char		name[FLEXIBLE_ARRAY_MEMBER];	/* then the name, else empty; with its end */
} DpermReference;

/* Make one. */
static Datum
make_reference(Oid object, const char *name)
{
	Size		size = offsetof(DpermReference, name) + strlen(name) + 1;
	DpermReference *reference = palloc0(size);

	SET_VARSIZE(reference, size);
	reference->object = object;
	strcpy(reference->name, name);
	return PointerGetDatum(reference);
}

/* Refer to an object. */
Datum
dperm_reference_make(Oid object)
{
	return make_reference(object, "");
}

/* The type of a column. */
Oid
dperm_reference_type(const DpermBudgetScope *scope, const char *table, const char *column)
{
	Oid			relation = get_relname_relid(table, scope->schema_oid);

	return get_atttype(relation, get_attnum(relation, column));
}

#define GET_REFERENCE(n) ((DpermReference *) PG_DETOAST_DATUM(PG_GETARG_DATUM(n)))

/* dp_role_name: the name as it is, without quotes */
Datum
dp_role_name_in(PG_FUNCTION_ARGS)
{
	char	   *name = PG_GETARG_CSTRING(0);
	Oid			role = strlen(name) < NAMEDATALEN ? get_role_oid(name, true) : InvalidOid;

	PG_RETURN_DATUM(make_reference(role, OidIsValid(role) ? "" : name));
}

/* A role that is gone has no name, and in a dump stands for nobody. */
Datum
dp_role_name_out(PG_FUNCTION_ARGS)
{
	DpermReference *reference = GET_REFERENCE(0);
	char	   *name = OidIsValid(reference->object) ? GetUserNameFromId(reference->object, true) : reference->name;

	PG_RETURN_CSTRING(pstrdup(name ? name : ""));
}

/* Append a name in quotes. */
static void
append_quoted(StringInfo text, const char *name)
{
	appendStringInfoChar(text, '"');
	for (; *name; name++)
	{
		if (*name == '"')
			appendStringInfoChar(text, '"');
		appendStringInfoChar(text, *name);
	}
	appendStringInfoChar(text, '"');
}

/* The name of a relation. */
char *
dperm_reference_relation(Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = name ? get_namespace_name(get_rel_namespace(relation)) : NULL;
	StringInfoData text;

	initStringInfo(&text);
	if (schema)
	{
		append_quoted(&text, schema);
		appendStringInfoChar(&text, '.');
		append_quoted(&text, name);
	}
	return text.data;
}

/* Read a name in quotes; what follows it, or NULL if that is not what is there. */
static const char *
read_quoted(const char *text, char *name)
{
	int			length = 0;

	if (*text++ != '"')
		return NULL;
	for (; *text; text++)
	{
		if (*text == '"' && *++text != '"')
		{
			name[length] = '\0';
			return text;
		}
		if (length == NAMEDATALEN - 1)
			return NULL;
		name[length++] = *text;
	}
	return NULL;
}

/* The relation of a name, InvalidOid if there is none. */
static Oid
find_relation(const char *text)
{
	char		schema[NAMEDATALEN];
	char		name[NAMEDATALEN];
	Oid			namespace;

	text = read_quoted(text, schema);
	if (text == NULL || *text++ != '.' || (text = read_quoted(text, name)) == NULL || *text != '\0')
		return InvalidOid;
	namespace = get_namespace_oid(schema, true);
	return OidIsValid(namespace) ? get_relname_relid(name, namespace) : InvalidOid;
}

/* dp_relation_name */
Datum
dp_relation_name_in(PG_FUNCTION_ARGS)
{
	char	   *name = PG_GETARG_CSTRING(0);
	Oid			relation = find_relation(name);

	PG_RETURN_DATUM(make_reference(relation, OidIsValid(relation) ? "" : name));
}

Datum
dp_relation_name_out(PG_FUNCTION_ARGS)
{
	DpermReference *reference = GET_REFERENCE(0);

	PG_RETURN_CSTRING(OidIsValid(reference->object) ? dperm_reference_relation(reference->object) : pstrdup(reference->name));
}

/* dp_role_of(dp_role_name), dp_relation_of(dp_relation_name): the OID, as regrole and regclass */
Datum
dp_name_oid(PG_FUNCTION_ARGS)
{
	PG_RETURN_OID(GET_REFERENCE(0)->object);
}

/* dp_relation_pending(dp_relation_name): a name without a relation, or NULL */
Datum
dp_name_pending(PG_FUNCTION_ARGS)
{
	DpermReference *reference = GET_REFERENCE(0);

	if (OidIsValid(reference->object))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(reference->name));
}
