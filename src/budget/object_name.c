/*
 * object_name.c: dperm_role_name, dperm_relation_name and dperm_column_name:
 * roles, relations and columns in our tables, which are dumped by name.
 *
 * They are like regrole and regclass: stored as an OID, and the number of a
 * column, so that they survive renaming, and dumped as a name. But they accept
 * any name. A dump is restored table by table, and each of our tables has rows
 * of many owners: a name that does not exist, or not yet, must not prevent the
 * other rows from being restored. Such a name is kept as a name, and refers to
 * nothing. No OID or number is ever dumped: in another database it would be
 * that of another object.
 *
 * A relation is dumped with its owner: "schema"."relation" "owner", and a
 * column as "schema"."relation"."column" "owner". Where they are restored,
 * another role may own or create a relation of this name, and rename or drop
 * it; that is a different relation.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "budget/object_name.h"
#include "relation/relation.h"

PG_FUNCTION_INFO_V1(dperm_role_name_in);
PG_FUNCTION_INFO_V1(dperm_role_name_out);
PG_FUNCTION_INFO_V1(dperm_relation_name_in);
PG_FUNCTION_INFO_V1(dperm_relation_name_out);
PG_FUNCTION_INFO_V1(dperm_column_name_in);
PG_FUNCTION_INFO_V1(dperm_column_name_out);
PG_FUNCTION_INFO_V1(dperm_name_oid);
PG_FUNCTION_INFO_V1(dperm_relation_pending);
PG_FUNCTION_INFO_V1(dperm_column_number);
PG_FUNCTION_INFO_V1(dperm_column_pending);

/* A role or a relation. */
typedef struct DpermReference
{
	int32		vl_len_;
	Oid			object;			/* InvalidOid: there was none of this name */
	char		name[FLEXIBLE_ARRAY_MEMBER];	/* the name then, else empty; zero-terminated */
} DpermReference;

/* A column. It has the same header as the others. */
typedef struct DpermColumnReference
{
	int32		vl_len_;
	Oid			relation;		/* InvalidOid: there was none of this name */
	int32		number;			/* 0: none, or the relation has no such column */
	/* the full name if there was no relation, else empty; zero-terminated */
	char		name[FLEXIBLE_ARRAY_MEMBER];
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
dperm_object_name_make(Oid object)
{
	return make_reference(object, "");
}

/* Refer to a column. */
Datum
dperm_object_name_column(Oid relation, AttrNumber number)
{
	return make_column(relation, number, "");
}

/* The type of a column. */
Oid
dperm_object_name_type(const char *table, const char *column)
{
	Oid			relation = dperm_own_tables_find(table);

	return get_atttype(relation, get_attnum(relation, column));
}

#define GET_REFERENCE(n) ((DpermReference *) PG_DETOAST_DATUM(PG_GETARG_DATUM(n)))
#define GET_COLUMN(n) ((DpermColumnReference *) PG_DETOAST_DATUM(PG_GETARG_DATUM(n)))

/* Input of dperm_role_name: the name itself, without quotes. */
Datum
dperm_role_name_in(PG_FUNCTION_ARGS)
{
	char	   *name = PG_GETARG_CSTRING(0);
	Oid			role = strlen(name) < NAMEDATALEN ? get_role_oid(name, true) : InvalidOid;

	PG_RETURN_DATUM(make_reference(role, OidIsValid(role) ? "" : name));
}

/* A dropped role has no name, and in a dump refers to nothing. */
Datum
dperm_role_name_out(PG_FUNCTION_ARGS)
{
	DpermReference *reference = GET_REFERENCE(0);
	char	   *name = OidIsValid(reference->object) ? GetUserNameFromId(reference->object, true) :
												 reference->name;

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

/*
 * Quoted names, separated by dots, and the owner after a space; column and
 * owner may be NULL.
 */
static char *
quote_names(const char *schema, const char *name, const char *column, const char *owner)
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
	if (owner)
	{
		appendStringInfoChar(&text, ' ');
		append_quoted(&text, owner);
	}
	return text.data;
}

/* The name of a relation. */
char *
dperm_object_name_relation(Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = name ? get_namespace_name(get_rel_namespace(relation)) : NULL;

	return schema ? quote_names(schema, name, NULL, NULL) : pstrdup("");
}

/*
 * The form in a dump of a relation, or of a column of it: empty if the relation
 * has been dropped. A dropped role has an empty name, which no role can have.
 */
static char *
dumped_name(Oid relation, const char *column)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = name ? get_namespace_name(get_rel_namespace(relation)) : NULL;
	char	   *owner = schema ? GetUserNameFromId(dperm_relation_owner(relation), true) : NULL;

	return schema ? quote_names(schema, name, column, owner ? owner : "") : pstrdup("");
}

/*
 * Read a quoted name; returns what follows it, or NULL if there is no such
 * name. A long name is truncated as PostgreSQL truncates that of the relation
 * itself: in the encoding of this database it may be longer than in the one it
 * comes from.
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

/* The names in a dump. */
typedef struct DumpedName
{
	char		schema[NAMEDATALEN];
	char		name[NAMEDATALEN];
	char		column[NAMEDATALEN];
	char		owner[NAMEDATALEN];
	int			length;			/* of the relation's name within the text */
} DumpedName;

/*
 * Read the names of a relation or of a column; false if the text has another
 * form.
 */
static bool
read_names(const char *text, bool is_column, DumpedName *names)
{
	const char *rest = read_quoted(text, names->schema);

	rest = rest && *rest == '.' ? read_quoted(rest + 1, names->name) : NULL;
	names->length = rest ? rest - text : 0;
	if (is_column)
		rest = rest && *rest == '.' ? read_quoted(rest + 1, names->column) : NULL;
	rest = rest && *rest == ' ' ? read_quoted(rest + 1, names->owner) : NULL;
	return rest && *rest == '\0';
}

/*
 * Can a relation of this kind be protected? Indexes, sequences and types share
 * the namespace.
 */
static bool
is_kind(Oid relation)
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

/* Find a relation by name, InvalidOid if there is none. */
static Oid
find_relation(const char *schema, const char *name)
{
	Oid			namespace = get_namespace_oid(schema, true);
	Oid			relation = OidIsValid(namespace) ? get_relname_relid(name, namespace) : InvalidOid;

	return OidIsValid(relation) && is_kind(relation) ? relation : InvalidOid;
}

/* The number of the column of this name, 0 if there is none. */
static AttrNumber
number_of(Oid relation, const char *name)
{
	return Max(get_attnum(relation, name), 0);
}

/*
 * Resolve the name of a relation or column: to a relation of this name and
 * owner if there is one, else keep the name.
 */
static Datum
bind_name(const char *text, bool is_column)
{
	DumpedName	names;
	bool		is_name = read_names(text, is_column, &names);
	Oid			relation = is_name ? find_relation(names.schema, names.name) : InvalidOid;
	Oid			owner = OidIsValid(relation) ? get_role_oid(names.owner, true) : InvalidOid;

	if (OidIsValid(owner) && dperm_relation_owner(relation) == owner)

		/*
		 * a relation without this column has lost it; a later one of this name
		 * is another column
		 */
		return is_column ? make_column(relation, number_of(relation, names.column), "") :
						   make_reference(relation, "");
	if (is_name)
		text = quote_names(names.schema, names.name, is_column ? names.column : NULL, names.owner);
	return is_column ? make_column(InvalidOid, 0, text) : make_reference(InvalidOid, text);
}

/* Input of dperm_relation_name: the form in a dump. */
Datum
dperm_relation_name_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(bind_name(PG_GETARG_CSTRING(0), false));
}

Datum
dperm_relation_name_out(PG_FUNCTION_ARGS)
{
	DpermReference *reference = GET_REFERENCE(0);

	PG_RETURN_CSTRING(OidIsValid(reference->object) ? dumped_name(reference->object, NULL) :
													  pstrdup(reference->name));
}

/* Input of dperm_column_name: the form in a dump. */
Datum
dperm_column_name_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(bind_name(PG_GETARG_CSTRING(0), true));
}

/* A dropped column has an empty name, which no column can have. */
Datum
dperm_column_name_out(PG_FUNCTION_ARGS)
{
	DpermColumnReference *reference = GET_COLUMN(0);
	HeapTuple	tuple;
	char	   *text;

	if (!OidIsValid(reference->relation))
		PG_RETURN_CSTRING(pstrdup(reference->name));
	tuple =
		reference->number > 0 ? SearchSysCacheAttNum(reference->relation, reference->number) : NULL;
	text = dumped_name(reference->relation,
					   tuple ? NameStr(((Form_pg_attribute) GETSTRUCT(tuple))->attname) : "");
	if (tuple)
		ReleaseSysCache(tuple);
	PG_RETURN_CSTRING(text);
}

/* Resolve a name whose relation exists by now; returns whether it does. */
bool
dperm_object_name_bind(Datum *reference, bool is_column)
{
	const DpermReference *pending = (DpermReference *) PG_DETOAST_DATUM(*reference);

	if (OidIsValid(pending->object))
		return false;
	*reference = bind_name(is_column ? ((const DpermColumnReference *) pending)->name :
						   pending->name, is_column);
	return OidIsValid(((DpermReference *) DatumGetPointer(*reference))->object);
}

/* The column of this name in another relation. */
Datum
dperm_object_name_settle(Datum reference, Oid relation)
{
	const DpermColumnReference *pending = (DpermColumnReference *) PG_DETOAST_DATUM(reference);
	DumpedName	names;

	return make_column(
		relation, read_names(pending->name, true, &names) ? number_of(relation, names.column) : 0,
		"");
}

/*
 * dperm_role_of(dperm_role_name), dperm_relation_of(dperm_relation_name),
 * dperm_column_relation(dperm_column_name): the OID, for regrole and regclass
 */
Datum
dperm_name_oid(PG_FUNCTION_ARGS)
{
	PG_RETURN_OID(GET_REFERENCE(0)->object);
}

/* The name of a relation that does not exist, without what follows it. */
static Datum
pending_name(const char *text, bool is_column)
{
	DumpedName	names;

	return PointerGetDatum(cstring_to_text_with_len(
		text, read_names(text, is_column, &names) ? names.length : (int) strlen(text)));
}

/*
 * dperm_relation_pending(dperm_relation_name): a name without a relation, or
 * NULL, also for no name at all
 */
Datum
dperm_relation_pending(PG_FUNCTION_ARGS)
{
	DpermReference *reference = GET_REFERENCE(0);

	if (OidIsValid(reference->object) || reference->name[0] == '\0')
		PG_RETURN_NULL();
	PG_RETURN_DATUM(pending_name(reference->name, false));
}

/* dperm_column_number(dperm_column_name): its number, 0 if it has none */
Datum
dperm_column_number(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT16(GET_COLUMN(0)->number);
}

/*
 * dperm_column_pending(dperm_column_name): the name of its relation if there is
 * none, or NULL
 */
Datum
dperm_column_pending(PG_FUNCTION_ARGS)
{
	DpermColumnReference *reference = GET_COLUMN(0);

	if (OidIsValid(reference->relation))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(pending_name(reference->name, true));
}
