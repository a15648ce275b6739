/*
 * trusted.c: whose functions may run at all in a process that reads protected rows.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "trusted.h"

/* Whom this process trusts, beside PostgreSQL and superusers. */
static Oid	trusted_owner;
static Oid	trusted_extension;

/* The hooks of others. */
static needs_fmgr_hook_type next_needs_hook;
static fmgr_hook_type next_hook;

bool
dperm_trusted_function(Oid function, Oid owner, Oid extension)
{
	HeapTuple	tuple;
	Oid			its_owner;

	/* what initdb has made belongs to PostgreSQL; an administrator who gives it away gives away the server */
	if (function < FirstNormalObjectId)
		return true;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	its_owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return its_owner == owner || superuser_arg(its_owner) ||
		(OidIsValid(extension) && getExtensionOfObject(ProcedureRelationId, function) == extension);
}

/* Raise for a function of a stranger. */
static void
refuse_stranger(Oid function)
{
	if (!dperm_trusted_function(function, trusted_owner, trusted_extension))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("function %s does not belong to the owner of the protected relation", format_procedure(function))));
}

/* PostgreSQL looks up a function. */
static bool
look_up(Oid function)
{
	refuse_stranger(function);
	return next_needs_hook && next_needs_hook(function);
}

/* PostgreSQL calls a function that has settings of its own, or is SECURITY DEFINER; for these it does not ask before. */
static void
call(FmgrHookEventType event, FmgrInfo *function, Datum *private)
{
	if (event == FHET_START)
		refuse_stranger(function->fn_oid);
	if (next_hook)
		next_hook(event, function, private);
}

void
dperm_trusted_only(Oid owner)
{
	trusted_owner = owner;
	trusted_extension = get_extension_oid("dperm", true);
	next_needs_hook = needs_fmgr_hook;
	needs_fmgr_hook = look_up;
	next_hook = fmgr_hook;
	fmgr_hook = call;
}
