/*
 * reference.c: dp_role_name, dp_relation_name and dp_column_name: roles, relations and columns in our tables, which a dump has by name.
 *
 * They are like regrole and regclass: an OID here, and the number of a column, whatever the object is called by now, and its name in a dump. But they take any name.
 * A dump is restored table by table, and each of ours has rows of many owners: one name that is not there, or not yet, must not keep the others out. Such a name
 * stays a name, and stands for nobody. No number is ever dumped: elsewhere it would be that of another column.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "reference.h"

PG_FUNCTION_INFO_V1(dp_role_name_in);
PG_FUNCTION_INFO_V1(dp_role_name_out);
PG_FUNCTION_INFO_V1(dp_relation_name_in);
PG_FUNCTION_INFO_V1(dp_relation_name_out);
PG_FUNCTION_INFO_V1(dp_column_name_in);
PG_FUNCTION_INFO_V1(dp_column_name_out);
PG_FUNCTION_INFO_V1(dp_name_oid);
PG_FUNCTION_INFO_V1(dp_name_pending);
PG_FUNCTION_INFO_V1(dp_column_number);
PG_FUNCTION_INFO_V1(dp_column_pending);
PG_FUNCTION_INFO_V1(dp_column_in);
PG_FUNCTION_INFO_V1(dp_registry_bind);

/* A role or a relation. */
typedef struct DpermReference
{
	int32		vl_len_;
	Oid			object;			/* InvalidOid: there was none of this name */
	char		name[FLEXIBLE_ARRAY_MEMBER];	/* then the name, else empty; with its end */
} DpermReference;

/* A column. It begins as the others do. */
typedef struct DpermColumnReference
{
	int32		vl_len_;
	Oid			relation;		/* InvalidOid: there was none of this name */
	int32		number;			/* 0: no column, or one that its relation does not have */
	char		name[FLEXIBLE_ARRAY_MEMBER];	/* all of the name if there was no relation, else empty; with its end */
} DpermColumnReference;

/* Make a role or a relation. */
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

/* Make a column. */
static Datum
make_column(Oid relation, AttrNumber number, const char *name)
{
	Size		size = offsetof(DpermColumnReference, name) + strlen(name) + 1;
	DpermColumnReference *reference = palloc0(size);

	SET_VARSIZE(reference, size);
	reference->relation = relation;
	reference->number = number;
	strcpy(reference->name, name);
	return PointerGetDatum(reference);
}

/* Refer to an object. */
Datum
dperm_reference_make(Oid object)
{
	return make_reference(object, "");
}

/* Refer to a column. */
Datum
dperm_reference_column(Oid relation, AttrNumber number)
{
	return make_column(relation, number, "");
}

/* The type of a column. */
Oid
dperm_reference_type(const DpermBudgetScope *scope, const char *table, const char *column)
{
	Oid			relation = get_relname_relid(table, scope->schema_oid);

	return get_atttype(relation, get_attnum(relation, column));
}

#define GET_REFERENCE(n) ((DpermReference *) PG_DETOAST_DATUM(PG_GETARG_DATUM(n)))
#define GET_COLUMN(n) ((DpermColumnReference *) PG_DETOAST_DATUM(PG_GETARG_DATUM(n)))

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

/* Names in quotes, with dots between them; the last one may be NULL. */
static char *
quote_names(const char *schema, const char *name, const char *column)
{
	StringInfoData text;

	initStringInfo(&text);
	append_quoted(&text, schema);
	appendStringInfoChar(&text, '.');
	append_quoted(&text, name);
	if (column)
	{
		appendStringInfoChar(&text, '.');
		append_quoted(&text, column);
	}
	return text.data;
}

/* The name of a relation. */
char *
dperm_reference_relation(Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = name ? get_namespace_name(get_rel_namespace(relation)) : NULL;

	return schema ? quote_names(schema, name, NULL) : pstrdup("");
}

/*
 * Read a name in quotes; what follows it, or NULL if that is not what is there. A long one is cut as PostgreSQL cuts that of the relation itself: in the encoding of this database it may be longer than
 * where it comes from.
 */
static const char *
read_quoted(const char *text, char *name)
{
	char	   *whole;
	int			length = 0;

	if (*text++ != '"')
		return NULL;
	whole = palloc(strlen(text) + 1);
	for (; *text; text++)
	{
		if (*text == '"' && *++text != '"')
		{
			length = pg_mbcliplen(whole, length, NAMEDATALEN - 1);
			memcpy(name, whole, length);
			name[length] = '\0';
			pfree(whole);
			return text;
		}
		whole[length++] = *text;
	}
	pfree(whole);
	return NULL;
}

/* Read the names of a relation; what follows them, or NULL if that is not what is there. */
static const char *
read_relation(const char *text, char *schema, char *name)
{
	text = read_quoted(text, schema);
	return text && *text == '.' ? read_quoted(text + 1, name) : NULL;
}

/* Read the names of a column; false if that is not what is there. In *length, how much of it is the name of the relation. */
static bool
read_column(const char *text, char *schema, char *name, char *column, int *length)
{
	const char *end = read_relation(text, schema, name);

	if (end == NULL || *end != '.')
		return false;
	*length = end - text;
	end = read_quoted(end + 1, column);
	return end && *end == '\0';
}

/* Can it be protected, by its kind? Indexes, sequences and types have names of the same kind. */
bool
dperm_reference_is_kind(Oid relation)
{
	switch (get_rel_relkind(relation))
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_VIEW:
		case RELKIND_MATVIEW:
		case RELKIND_FOREIGN_TABLE:
			return true;
		default:
			return false;
	}
}

/* The relation of a name, InvalidOid if there is none. */
static Oid
find_relation(const char *schema, const char *name)
{
	Oid			namespace = get_namespace_oid(schema, true);
	Oid			relation = OidIsValid(namespace) ? get_relname_relid(name, namespace) : InvalidOid;

	return OidIsValid(relation) && dperm_reference_is_kind(relation) ? relation : InvalidOid;
}

/* The column of a relation that has a name, 0 if there is none. */
static AttrNumber
number_of(Oid relation, const char *name)
{
	return Max(get_attnum(relation, name), 0);
}

/* dp_relation_name: a name alone; dp_registry_bind looks for the relation. */
Datum
dp_relation_name_in(PG_FUNCTION_ARGS)
{
	char	   *text = PG_GETARG_CSTRING(0);
	char		schema[NAMEDATALEN];
	char		name[NAMEDATALEN];
	const char *end = read_relation(text, schema, name);

	PG_RETURN_DATUM(make_reference(InvalidOid, end && *end == '\0' ? quote_names(schema, name, NULL) : text));
}

Datum
dp_relation_name_out(PG_FUNCTION_ARGS)
{
	DpermReference *reference = GET_REFERENCE(0);

	PG_RETURN_CSTRING(OidIsValid(reference->object) ? dperm_reference_relation(reference->object) : pstrdup(reference->name));
}

/* dp_column_name: that of the relation, a dot, and the column in quotes. */
Datum
dp_column_name_in(PG_FUNCTION_ARGS)
{
	char	   *text = PG_GETARG_CSTRING(0);
	char		schema[NAMEDATALEN];
	char		name[NAMEDATALEN];
	char		column[NAMEDATALEN];
	int			length;

	PG_RETURN_DATUM(make_column(InvalidOid, 0, read_column(text, schema, name, column, &length) ? quote_names(schema, name, column) : text));
}

/* A column that is gone has an empty name, which none can have. */
Datum
dp_column_name_out(PG_FUNCTION_ARGS)
{
	DpermColumnReference *reference = GET_COLUMN(0);
	HeapTuple	tuple;
	StringInfoData text;

	if (!OidIsValid(reference->relation))
		PG_RETURN_CSTRING(pstrdup(reference->name));
	initStringInfo(&text);
	appendStringInfoString(&text, dperm_reference_relation(reference->relation));
	if (text.len == 0)
		PG_RETURN_CSTRING(text.data);
	appendStringInfoChar(&text, '.');
	tuple = reference->number > 0 ? SearchSysCacheAttNum(reference->relation, reference->number) : NULL;
	append_quoted(&text, tuple ? NameStr(((Form_pg_attribute) GETSTRUCT(tuple))->attname) : "");
	if (tuple)
		ReleaseSysCache(tuple);
	PG_RETURN_CSTRING(text.data);
}

/* The same column, now that there is a relation of its name. */
Datum
dperm_reference_settle(Datum reference, Oid relation)
{
	const DpermColumnReference *pending = (DpermColumnReference *) PG_DETOAST_DATUM(reference);
	char		schema[NAMEDATALEN];
	char		name[NAMEDATALEN];
	char		column[NAMEDATALEN];
	int			length;

	return make_column(relation, read_column(pending->name, schema, name, column, &length) ? number_of(relation, column) : 0, "");
}

/* The relation or column of a name, if it is there and is the role's; else the name. */
static Datum
bind_reference(Datum reference, bool is_column, Oid role)
{
	const DpermReference *pending = (DpermReference *) PG_DETOAST_DATUM(reference);
	const char *text = is_column ? ((const DpermColumnReference *) pending)->name : pending->name;
	char		schema[NAMEDATALEN];
	char		name[NAMEDATALEN];
	const char *end;
	Oid			relation;

	/* what we write ourselves has it */
	if (OidIsValid(pending->object))
		return reference;
	end = read_relation(text, schema, name);
	relation = end && *end == (is_column ? '.' : '\0') ? find_relation(schema, name) : InvalidOid;
	if (!OidIsValid(relation) || !OidIsValid(role) || dperm_budget_relation_owner(relation) != role)
		return reference;

	/* a relation without this column has lost it, whatever is called so later */
	return is_column ? dperm_reference_settle(reference, relation) : dperm_reference_make(relation);
}

/*
 * dp_registry_bind(): before a row of a registration is inserted. One that is restored has names. It is about a relation if that belongs to the role that owned it then; otherwise
 * it waits for one that does (registry.c): whoever has the name first would take it along when they rename theirs, or drop it.
 */
Datum
dp_registry_bind(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TupleDesc	row;
	int			names[2];
	Datum		values[2];
	bool		isnull[2];
	bool		is_column;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(trigger->tg_event) || !TRIGGER_FIRED_FOR_ROW(trigger->tg_event) || !TRIGGER_FIRED_BY_INSERT(trigger->tg_event) ||
		getExtensionOfObject(RelationRelationId, RelationGetRelid(trigger->tg_relation)) != get_extension_oid("dperm", false))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("dp_registry_bind can only be called by a trigger of extension dperm")));
	row = RelationGetDescr(trigger->tg_relation);
	is_column = SPI_fnumber(row, "column_name") > 0;
	names[0] = SPI_fnumber(row, is_column ? "column_name" : "relation_name");
	names[1] = SPI_fnumber(row, "owner_name");
	for (int i = 0; i < lengthof(names); i++)
	{
		values[i] = names[i] > 0 ? SPI_getbinval(trigger->tg_trigtuple, row, names[i], &isnull[i]) : (Datum) 0;

		/* NOT NULL says so */
		if (names[i] <= 0 || isnull[i])
			return PointerGetDatum(trigger->tg_trigtuple);
	}
	values[0] = bind_reference(values[0], is_column, ((DpermReference *) PG_DETOAST_DATUM(values[1]))->object);
	return PointerGetDatum(heap_modify_tuple_by_cols(trigger->tg_trigtuple, row, 1, names, values, isnull));
}

/* Its number. */
AttrNumber
dperm_reference_number(Datum reference)
{
	return ((DpermColumnReference *) PG_DETOAST_DATUM(reference))->number;
}

/* Its number in a relation, which it is of, or has the name of; 0 if it is not there. */
AttrNumber
dperm_reference_number_in(Datum reference, Oid relation)
{
	const DpermColumnReference *column = (DpermColumnReference *) PG_DETOAST_DATUM(reference);
	char		schema[NAMEDATALEN];
	char		name[NAMEDATALEN];
	char		attribute[NAMEDATALEN];
	int			length;
	AttrNumber	number = 0;
	HeapTuple	tuple;

	if (OidIsValid(column->relation))
		number = column->relation == relation ? column->number : 0;
	else if (read_column(column->name, schema, name, attribute, &length) && find_relation(schema, name) == relation)
		number = number_of(relation, attribute);
	tuple = number > 0 ? SearchSysCacheAttNum(relation, number) : NULL;
	if (tuple == NULL)
		return 0;
	ReleaseSysCache(tuple);
	return number;
}

/* dp_column_in(dp_column_name, regclass): the same */
Datum
dp_column_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT16(dperm_reference_number_in(PG_GETARG_DATUM(0), PG_GETARG_OID(1)));
}

/* dp_role_of(dp_role_name), dp_relation_of(dp_relation_name), dp_column_relation(dp_column_name): the OID, as regrole and regclass */
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

/* dp_column_number(dp_column_name): its number, 0 if it has none */
Datum
dp_column_number(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT16(GET_COLUMN(0)->number);
}

/* dp_column_pending(dp_column_name): the name of its relation if there is none, or NULL */
Datum
dp_column_pending(PG_FUNCTION_ARGS)
{
	DpermColumnReference *reference = GET_COLUMN(0);
	char		schema[NAMEDATALEN];
	char		name[NAMEDATALEN];
	char		column[NAMEDATALEN];
	int			length;

	if (OidIsValid(reference->relation))
		PG_RETURN_NULL();
	if (!read_column(reference->name, schema, name, column, &length))
		length = strlen(reference->name);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(reference->name, length));
}
