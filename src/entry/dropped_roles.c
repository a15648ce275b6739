/* dropped_roles.c: budgets of dropped roles. */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "budget/budget.h"
#include "budget/object_name.h"
#include "entry/dropped_roles.h"

PG_FUNCTION_INFO_V1(dperm_owners_sync);

/*
 * Give budgets to the owner of our tables, which is the current user within a
 * scope.
 */
static void
give_away(DpermTablesScope *scope, const char *which, int count, Oid *types, Datum *values,
		  Oid role)
{
	uint64		found = dperm_own_tables_query(scope, which, count, types, values, NULL);
	DpermBudgetLine *lines = palloc0(sizeof(DpermBudgetLine) * Max(found, 1));

	for (uint64 i = 0; i < found; i++)
		lines[i] = (DpermBudgetLine) {
			.budget = dperm_own_tables_value(i, 1),
			.id = dperm_own_tables_value(i, 2),
			.act = "alter",
			.role = role,
			.details =
				psprintf("owner %s", quote_identifier(GetUserNameFromId(GetUserId(), false)))};
	for (uint64 i = 0; i < found; i++)
	{
		Oid			update_types[] = {TEXTOID,
							  dperm_object_name_type("dp_budget_accounts", "owner_name")};
		Datum		update_values[] = {CStringGetTextDatum(lines[i].id),
								 dperm_object_name_make(GetUserId())};

		if (dperm_own_tables_query(scope, "UPDATE dperm.dp_budget_accounts SET owner_name = $2 "
								   "WHERE id = $1::uuid", lengthof(update_types),
								   update_types, update_values, NULL) != 1)
			elog(ERROR, "could not give away budget \"%s\"", lines[i].budget);
		dperm_budget_append(&lines[i]);
	}
}

/*
 * Not pg_authid, which only superusers can read: the owner of our tables was a
 * superuser when the extension was created, but need not be one any more.
 */
#define ORPHANS_SQL "SELECT budget, id FROM dperm.dp_budget_accounts AS a WHERE NOT EXISTS " \
	"(SELECT FROM pg_roles AS r WHERE r.oid = a.owner)"

/*
 * Are there budgets of dropped roles, and may the caller give them away? Others
 * could keep such a budget locked in an open transaction.
 */
bool
dperm_dropped_roles_has_orphans(DpermTablesScope *scope)
{
	return has_privs_of_role(scope->user, GetUserId()) &&
		   dperm_own_tables_query(scope, ORPHANS_SQL " LIMIT 1", 0, NULL, NULL, NULL) > 0;
}

/* Give them away. There is no event for DROP ROLE. */
void
dperm_dropped_roles_orphans(DpermTablesScope *scope)
{
	give_away(scope, ORPHANS_SQL " ORDER BY budget FOR UPDATE OF a SKIP "
								 "LOCKED", 0, NULL, NULL, GetUserId());
}

/*
 * dperm_owners_sync(): before DROP OWNED. Budgets are not dropped, because what
 * was spent stays spent. They are given to the owner of the extension, before
 * the OID of a dropped role can end up in a dump, where it may belong to
 * another role.
 */
Datum
dperm_owners_sync(PG_FUNCTION_ARGS)
{
	Node	   *command;
	ListCell   *cell;
	DpermTablesScope scope;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("dperm_owners_sync can only be called by an event trigger")));
	command = ((EventTriggerData *) fcinfo->context)->parsetree;
	if (!IsA(command, DropOwnedStmt))
		PG_RETURN_NULL();
	foreach(cell, ((DropOwnedStmt *) command)->roles)
	{
		Oid			role = get_rolespec_oid(lfirst(cell), true);
		Oid			types[] = {OIDOID};
		Datum		values[] = {ObjectIdGetDatum(role)};

		/* the command itself raises an error if it is not permitted */
		if (!OidIsValid(role) || !has_privs_of_role(GetUserId(), role))
			continue;
		dperm_own_tables_enter(&scope);
		if (role != GetUserId())
			give_away(&scope, "SELECT budget, id FROM dperm.dp_budget_accounts WHERE owner = $1 "
							  "ORDER BY budget FOR UPDATE", lengthof(types), types, values,
					  scope.user);
		dperm_own_tables_leave(&scope);
	}
	PG_RETURN_NULL();
}
