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

/* A grant: the sums of its rows, and the lowest of their limits. A restore may have added a row to that of the owner. */
typedef struct Grant
{
	Oid			grantee;
	bool		limited[2];		/* of epsilon, of delta */
	DpermAmount limit[2];
	DpermAmount spent[2];
} Grant;

/* Add a row to a grant. */
static void
add_grant_row(Grant *grant, uint64 row)
{
	grant->grantee = dperm_tables_oid(row, 1);
	for (int i = 0; i < 2; i++)
	{
		grant->spent[i] = dperm_amount_add(grant->spent[i], dperm_tables_amount(row, 4 + i));
		if (dperm_tables_value(row, 2 + i) == NULL)
			continue;			/* no limit */
		if (!grant->limited[i] || dperm_amount_compare(dperm_tables_amount(row, 2 + i), grant->limit[i]) < 0)
			grant->limit[i] = dperm_tables_amount(row, 2 + i);
		grant->limited[i] = true;
	}
}

/* Is a limit kept to? */
static bool
has_room(const Grant *grant, int which, DpermAmount more)
{
	return !grant->limited[which] || dperm_amount_compare(dperm_amount_add(grant->spent[which], more), grant->limit[which]) <= 0;
}

/* The role's own grant first, then those of roles that it is a member of. */
DpermPayerFault
dperm_payer_find(DpermTablesScope *scope, const DpermBudget *budget, Oid relation, Oid role, DpermAmount epsilon, DpermAmount delta,
				 bool lock, DpermPayer *payer)
{
	Oid			types[] = {TEXTOID, OIDOID};
	Datum		values[] = {CStringGetTextDatum(budget->id), ObjectIdGetDatum(role)};
	Oid			owner = OidIsValid(relation) ? dperm_tables_relation_owner(relation) : InvalidOid;
	DpermPayerFault fault = DPERM_PAYER_NO_GRANT;
	uint64		count;

	*payer = (DpermPayer) {.grantee = InvalidOid};
	if (has_privs_of_role(role, budget->owner) || (OidIsValid(owner) && has_privs_of_role(role, owner)))
		return DPERM_PAYER_FOUND;
	count = dperm_tables_query(scope, lock ?
							   "SELECT grantee::oid, epsilon, delta, spent_epsilon, spent_delta FROM %s.dp_budget_grants WHERE budget_id = $1::uuid AND grantee <> 0"
							   " ORDER BY grantee <> $2, grantee FOR UPDATE" :
							   "SELECT grantee::oid, epsilon, delta, spent_epsilon, spent_delta FROM %s.dp_budget_grants WHERE budget_id = $1::uuid AND grantee <> 0"
							   " ORDER BY grantee <> $2, grantee", lengthof(types), types, values, NULL);
	for (uint64 i = 0; i < count;)
	{
		Grant		grant = {.grantee = InvalidOid};
		DpermPayer	found;

		for (add_grant_row(&grant, i++); i < count && dperm_tables_oid(i, 1) == grant.grantee; i++)
			add_grant_row(&grant, i);
		if (!has_privs_of_role(role, grant.grantee))
			continue;
		found = (DpermPayer) {.grantee = grant.grantee, .limited = grant.limited[0]};
		if (found.limited)
			found.left = dperm_amount_less(grant.limit[0], grant.spent[0]);
		if (has_room(&grant, 0, epsilon) && has_room(&grant, 1, delta))
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
