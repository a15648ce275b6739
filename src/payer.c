/*
 * payer.c: who may spend from a budget, and on whose grant.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "payer.h"

/* No grant. */
void
dperm_payer_raise(const DpermBudget *budget)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for budget \"%s\"", budget->name),
			 errhint("Its owner can allow it with dp_grant. A grant that is not committed yet does not count.")));
}

/* Is a limit kept to? A column that is NULL is none. */
static bool
has_room(uint64 row, int column, DpermAmount spent)
{
	return dperm_budget_value(row, column) == NULL || dperm_amount_compare(spent, dperm_budget_amount(row, column)) <= 0;
}

/* The role's own grant first, then those of roles that it is a member of. */
DpermPayerFault
dperm_payer_find(DpermBudgetScope *scope, const DpermBudget *budget, Oid relation, Oid role, DpermAmount epsilon, DpermAmount delta,
				 bool lock, DpermPayer *payer)
{
	Oid			types[] = {TEXTOID, OIDOID};
	Datum		values[] = {CStringGetTextDatum(budget->id), ObjectIdGetDatum(role)};
	Oid			owner = OidIsValid(relation) ? dperm_budget_relation_owner(relation) : InvalidOid;
	DpermPayerFault fault = DPERM_PAYER_NO_GRANT;
	uint64		count;

	*payer = (DpermPayer) {.grantee = InvalidOid};
	if (has_privs_of_role(role, budget->owner) || (OidIsValid(owner) && has_privs_of_role(role, owner)))
		return DPERM_PAYER_FOUND;
	count = dperm_budget_query(scope, lock ?
							   "SELECT grantee::oid, epsilon, delta, spent_epsilon, spent_delta FROM %s.dp_budget_grants WHERE budget_id = $1::uuid AND grantee <> 0"
							   " ORDER BY grantee <> $2, grantee FOR UPDATE" :
							   "SELECT grantee::oid, epsilon, delta, spent_epsilon, spent_delta FROM %s.dp_budget_grants WHERE budget_id = $1::uuid AND grantee <> 0"
							   " ORDER BY grantee <> $2, grantee", lengthof(types), types, values, NULL);
	for (uint64 i = 0; i < count; i++)
	{
		DpermPayer	found = {.grantee = dperm_budget_oid(i, 1), .limited = dperm_budget_value(i, 2) != NULL};

		if (!has_privs_of_role(role, found.grantee))
			continue;
		found.spent[0] = dperm_amount_add(dperm_budget_amount(i, 4), epsilon);
		found.spent[1] = dperm_amount_add(dperm_budget_amount(i, 5), delta);
		if (found.limited)
			found.left = dperm_amount_less(dperm_budget_amount(i, 2), dperm_budget_amount(i, 4));
		if (has_room(i, 2, found.spent[0]) && has_room(i, 3, found.spent[1]))
		{
			*payer = found;
			return DPERM_PAYER_FOUND;
		}
		if (fault == DPERM_PAYER_NO_GRANT)
			*payer = found;
		fault = DPERM_PAYER_NO_ROOM;
	}
	return fault;
}
