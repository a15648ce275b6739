/*
 * grants.c: who may spend from a budget, and from whose grant.
 */
#include "postgres.h"

#include "utils/acl.h"

#include "budget/grants.h"
#include "budget/own_rows.h"
#include "relation/relation.h"

/* Raise the error for a missing grant. */
void
dperm_grants_raise(const DpermBudget *budget)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for budget \"%s\"", budget->name),
			 errhint("Its owner can allow it with dp_grant; a grant takes effect when it is "
					 "committed.")));
}

/*
 * A grant: the sums of its rows, and the lowest of their limits. A restore may
 * have added a second row for the same role.
 */
typedef struct Grant
{
	bool		limited[2];		/* of epsilon, of delta */
	DpermAmount limit[2];
	DpermAmount spent[2];
} Grant;

/* Add a row to a grant. */
static void
add_grant_row(Grant *grant, const DpermOwnRows *rows, int row)
{
	static const char *const limits[] = {"epsilon", "delta"};
	static const char *const sums[] = {"spent_epsilon", "spent_delta"};

	for (int i = 0; i < 2; i++)
	{
		DpermAmount limit;

		grant->spent[i] =
			dperm_amount_add(grant->spent[i], dperm_own_rows_amount(rows, row, sums[i]));
		if (dperm_own_rows_value(rows, row, limits[i]) == 0)
			continue;			/* no limit */
		limit = dperm_own_rows_amount(rows, row, limits[i]);
		if (!grant->limited[i] || dperm_amount_compare(limit, grant->limit[i]) < 0)
			grant->limit[i] = limit;
		grant->limited[i] = true;
	}
}

/* The grants of a budget, by its id. */
static DpermOwnRows
find_grants(const DpermBudget *budget)
{
	return dperm_own_rows_find("dp_budget_grants", "budget_id", dperm_own_rows_uuid(budget->id));
}

/* The role whose grant a row is. */
static Oid
grantee_of(const DpermOwnRows *rows, int row)
{
	return DatumGetObjectId(dperm_own_rows_value(rows, row, "grantee"));
}

/* The roles that have a grant. */
List *
dperm_grants_roles(const DpermBudget *budget)
{
	DpermOwnRows rows = find_grants(budget);
	List	   *roles = NIL;

	for (int i = 0; i < rows.count; i++)
		if (OidIsValid(grantee_of(&rows, i)))
			roles = list_append_unique_oid(roles, grantee_of(&rows, i));
	list_sort(roles, list_oid_cmp);
	return roles;
}

/*
 * The roles whose grants a role can spend, in order: its own, then those of
 * roles that it is a member of.
 */
static List *
usable_grantees(const DpermOwnRows *rows, Oid role)
{
	List	   *grantees = NIL;
	bool		own = false;

	for (int i = 0; i < rows->count; i++)
	{
		Oid			grantee = grantee_of(rows, i);

		if (grantee == role)
			own = true;
		else if (OidIsValid(grantee) && has_privs_of_role(role, grantee))
			grantees = list_append_unique_oid(grantees, grantee);
	}
	list_sort(grantees, list_oid_cmp);
	return own ? lcons_oid(role, grantees) : grantees;
}

/* The role's own grant first, then those of roles that it is a member of. */
DpermPayerFault
dperm_grants_find(const DpermBudget *budget, Oid relation, Oid role, DpermAmount epsilon,
				  DpermAmount delta, bool lock, DpermPayer *payer)
{
	Oid			owner = OidIsValid(relation) ? dperm_relation_owner(relation) : InvalidOid;
	DpermPayerFault fault = DPERM_PAYER_NO_GRANT;
	DpermOwnRows rows;
	ListCell   *cell;

	*payer = (DpermPayer) {.grantee = InvalidOid};
	if (has_privs_of_role(role, budget->owner) ||
		(OidIsValid(owner) && has_privs_of_role(role, owner)))
		return DPERM_PAYER_FOUND;
	rows = find_grants(budget);
	for (int i = rows.count - 1; lock && i >= 0; i--)
		if (!dperm_own_rows_lock(&rows, i))
			rows.rows[i] = rows.rows[--rows.count];
	foreach(cell, usable_grantees(&rows, role))
	{
		Grant		grant = {{false}};
		DpermPayer	found = {.grantee = lfirst_oid(cell)};

		for (int i = 0; i < rows.count; i++)
			if (grantee_of(&rows, i) == found.grantee)
				add_grant_row(&grant, &rows, i);
		for (int i = 0; i < 2; i++)
		{
			found.limited[i] = grant.limited[i];
			found.left[i] = dperm_amount_less(grant.limit[i], grant.spent[i]);
		}
		if (dperm_grants_suffice(&found, DPERM_PAYER_EPSILON, epsilon) &&
			dperm_grants_suffice(&found, DPERM_PAYER_DELTA, delta))
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

/* Write what a grant has spent. If it has two rows, only the sum matters. */
void
dperm_grants_write_spent(const DpermBudget *budget, const DpermPayer *payer, DpermAmount epsilon,
						 DpermAmount delta)
{
	DpermOwnRows rows;

	if (!OidIsValid(payer->grantee))
		return;
	rows = find_grants(budget);
	for (int i = 0; i < rows.count; i++)
		if (grantee_of(&rows, i) == payer->grantee)
		{
			const DpermOwnField fields[] = {
				{"spent_epsilon", dperm_own_tables_numeric(dperm_amount_add(
									  dperm_own_rows_amount(&rows, i, "spent_epsilon"), epsilon))},
				{"spent_delta", dperm_own_tables_numeric(dperm_amount_add(
									dperm_own_rows_amount(&rows, i, "spent_delta"), delta))}};

			dperm_own_rows_update(&rows, i, fields, lengthof(fields));
			return;
		}
	elog(ERROR, "could not write to the grant of budget \"%s\"", budget->name);
}
