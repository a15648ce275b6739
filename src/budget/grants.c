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

/* The grants of a budget, by its id. */
static DpermOwnRows
find_grants(const DpermBudget *budget)
{
	return dperm_own_rows_find("grants", "budget_id", dperm_own_rows_uuid(budget->id), NULL);
}

/* The role whose grant a row is. */
static Oid
grantee_of(const DpermOwnRows *rows, int row)
{
	return DatumGetObjectId(dperm_own_rows_value(rows, row, "grantee"));
}

/* A row as who pays. */
static DpermPayer
payer_of(const DpermOwnRows *rows, int row)
{
	static const char *const limits[] = {"epsilon", "delta"};
	static const char *const sums[] = {"spent_epsilon", "spent_delta"};
	DpermPayer	payer = {
		.grantee = grantee_of(rows, row),
		.id = dperm_own_rows_text(rows, row, "id"),
		.kept = DatumGetInt32(dperm_own_rows_value(rows, row, "kept"))
	};

	/* those that have failed, or were deleted, are not kept */
	if (payer.kept >= DPERM_GRANTS_KEPT)
		payer.kept = dperm_own_rows_count("releases", "grant_id", dperm_own_rows_uuid(payer.id),
										  "failure");
	for (int i = 0; i < 2; i++)
	{
		payer.limited[i] = dperm_own_rows_value(rows, row, limits[i]) != 0;
		if (payer.limited[i])
			payer.left[i] = dperm_amount_less(dperm_own_rows_amount(rows, row, limits[i]),
											  dperm_own_rows_amount(rows, row, sums[i]));
	}
	return payer;
}

/*
 * The rows of the grants that a role can spend, in order: its own, then those of
 * roles that it is a member of.
 */
static List *
usable_rows(const DpermOwnRows *rows, Oid role)
{
	List	   *roles = NIL;
	List	   *usable = NIL;
	ListCell   *cell;

	for (int i = 0; i < rows->count; i++)
		if (OidIsValid(grantee_of(rows, i)) && grantee_of(rows, i) != role &&
			has_privs_of_role(role, grantee_of(rows, i)))
			roles = lappend_oid(roles, grantee_of(rows, i));
	list_sort(roles, list_oid_cmp);
	roles = lcons_oid(role, roles);
	foreach(cell, roles)
		for (int i = 0; i < rows->count; i++)
			if (grantee_of(rows, i) == lfirst_oid(cell))
				usable = lappend_int(usable, i);
	return usable;
}

/* The role's own grant first, then those of roles that it is a member of. */
DpermPayerFault
dperm_grants_find(const DpermBudget *budget, Oid relation, Oid role, DpermAmount epsilon,
				  DpermAmount delta, DpermPayer *payer)
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
	foreach(cell, usable_rows(&rows, role))
	{
		DpermPayer	found = payer_of(&rows, lfirst_int(cell));

		if ((found.kept < DPERM_GRANTS_KEPT || !OidIsValid(relation)) &&
			dperm_grants_suffice(&found, DPERM_PAYER_EPSILON, epsilon) &&
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

/* Write what a grant has spent. */
void
dperm_grants_write_spent(const DpermBudget *budget, const DpermPayer *payer, DpermAmount epsilon,
						 DpermAmount delta, bool keeps)
{
	DpermOwnRows rows;

	if (payer->id == NULL)
		return;
	rows = dperm_own_rows_find("grants", "id", dperm_own_rows_uuid(payer->id), NULL);
	if (rows.count != 1)
		elog(ERROR, "could not write to the grant of budget \"%s\"", budget->name);
	dperm_own_rows_update(&rows, 0, (DpermOwnField[]) {
		{"spent_epsilon", dperm_own_rows_numeric(dperm_amount_add(
							  dperm_own_rows_amount(&rows, 0, "spent_epsilon"), epsilon))},
		{"spent_delta", dperm_own_rows_numeric(dperm_amount_add(
							dperm_own_rows_amount(&rows, 0, "spent_delta"), delta))},
		{"kept", Int32GetDatum(payer->kept + 1)}
	}, keeps ? 3 : 2);
}
