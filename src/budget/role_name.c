/*
 * role_name.c: dperm_role_name: roles in our tables, which are dumped by name.
 *
 * It is like regrole: stored as an OID, so that it survives renaming, and dumped
 * as a name. But it accepts any name. A dump is restored table by table, and
 * each of our tables has rows of many roles: a name that does not exist must not
 * prevent the other rows from being restored. Such a name is kept as a name, and
 * refers to nobody. No OID is ever dumped: in another cluster it would be that
 * of another role. For the same reason a role that was dropped, or was missing,
 * is not dumped under its name alone, which may belong to another role by then:
 * no role can have a name that begins with "pg_" but those that PostgreSQL comes
 * with.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "budget/own_rows.h"

PG_FUNCTION_INFO_V1(dperm_role_name_in);
PG_FUNCTION_INFO_V1(dperm_role_name_out);
PG_FUNCTION_INFO_V1(dperm_role);
PG_FUNCTION_INFO_V1(dperm_role_of);

/* What precedes the name of a role that was dropped, or was missing. */
#define DROPPED "pg_dropped:"

typedef struct RoleName
{
	int32		vl_len_;
	Oid			role;			/* InvalidOid: there was none of this name */
	char		name[FLEXIBLE_ARRAY_MEMBER];	/* when it was written; zero-terminated */
} RoleName;

/* Make a value. */
static Datum
make_value(Oid role, const char *name)
{
	Size		size = offsetof(RoleName, name) + strlen(name) + 1;
	RoleName   *value = palloc0(size);

	SET_VARSIZE(value, size);
	value->role = role;
	strcpy(value->name, name);
	return PointerGetDatum(value);
}

/* Refer to a role, which somebody else may just have dropped. */
Datum
dperm_role_name_make(Oid role)
{
	const char *name = GetUserNameFromId(role, true);

	return make_value(role, name ? name : psprintf("%u", role));
}

/* The role, InvalidOid for a name that nobody had. */
Oid
dperm_role_name_role(Datum value)
{
	return ((RoleName *) PG_DETOAST_DATUM(value))->role;
}

/* Input: the name itself, without quotes. */
Datum
dperm_role_name_in(PG_FUNCTION_ARGS)
{
	char	   *name = PG_GETARG_CSTRING(0);

	if (strncmp(name, DROPPED, strlen(DROPPED)) == 0)
		PG_RETURN_DATUM(make_value(InvalidOid, name + strlen(DROPPED)));
	PG_RETURN_DATUM(
		make_value(strlen(name) < NAMEDATALEN ? get_role_oid(name, true) : InvalidOid, name));
}

/* Output: the name that the role has now. */
Datum
dperm_role_name_out(PG_FUNCTION_ARGS)
{
	RoleName   *value = (RoleName *) PG_DETOAST_DATUM(PG_GETARG_DATUM(0));
	char	   *name = OidIsValid(value->role) ? GetUserNameFromId(value->role, true) : NULL;

	PG_RETURN_CSTRING(name ? pstrdup(name) : psprintf(DROPPED "%s", value->name));
}

/* dperm_role(oid): a role as a value */
Datum
dperm_role(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(dperm_role_name_make(PG_GETARG_OID(0)));
}

/* dperm_role_of(dperm_role_name): the role */
Datum
dperm_role_of(PG_FUNCTION_ARGS)
{
	PG_RETURN_OID(dperm_role_name_role(PG_GETARG_DATUM(0)));
}
