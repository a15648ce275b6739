/*
 * grants.c: who may spend from a budget, and from whose grant.
 */
#include "postgres.h"

#include "utils/acl.h"

#include "budget/grants.h"
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

/* The role whose grant a row is; InvalidOid: none any more, or it is revoked. */
static Oid
grantee_of(const DpermOwnRows *rows, int row)
{
	return dperm_own_rows_value(rows, row, "revoked") ?
		InvalidOid :
		DatumGetObjectId(dperm_own_rows_value(rows, row, "grantee"));
}

/*
 * A row as who pays. A grant without a limit counts as the budget does, so that
 * its sums are known if it gets one.
 */
static DpermPayer
payer_of(const DpermBudget *budget, const DpermOwnRows *rows, int row)
{
	Datum		order = dperm_own_rows_value(rows, row, "renyi_order");
	DpermPayer	payer = {
		.grantee = grantee_of(rows, row),
		.id = dperm_own_rows_text(rows, row, "id"),
		.account.limited = dperm_own_rows_value(rows, row, "epsilon") != 0,
		.account.filter = budget->account.filter,
		.account.spent = dperm_budget_sums(rows, row),
		.kept = DatumGetInt32(dperm_own_rows_value(rows, row, "kept"))
	};
	DpermFilter *filter = &payer.account.filter;

	/* those that have failed, or were deleted, are not kept */
	if (payer.kept >= DPERM_GRANTS_KEPT)
		payer.kept = dperm_own_rows_count("releases", "grant_id", dperm_own_rows_uuid(payer.id),
										  "failure");
	if (payer.account.limited)
		filter->epsilon = dperm_own_rows_amount(rows, row, "epsilon");
	if (dperm_own_rows_value(rows, row, "delta"))
		filter->delta = dperm_own_rows_amount(rows, row, "delta");
	if (dperm_amount_compare(payer.account.spent.epsilon, (DpermAmount) {0, 0}) > 0)
		filter->order = order ? DatumGetFloat8(order) : 0;
	else if (payer.account.limited)
		filter->order = dperm_filter_order(dperm_amount_double(filter->epsilon),
										   dperm_amount_double(filter->delta));
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
dperm_grants_find(const DpermBudget *budget, Oid relation, Oid role, const DpermSpend *spend,
				  DpermPayer *payer)
{
	Oid			owner = OidIsValid(relation) ? dperm_relation_owner(relation) : InvalidOid;
	DpermPayerFault fault = DPERM_PAYER_NO_GRANT;
	DpermOwnRows rows;
	ListCell   *cell;

	*payer = (DpermPayer) {.grantee = InvalidOid};
	if (has_privs_of_role(role, budget->owner) ||
		(OidIsValid(owner) && has_privs_of_role(role, owner)))
		return DPERM_PAYER_FOUND;
	rows = dperm_own_rows_find("grants", "budget_id", dperm_own_rows_uuid(budget->id), NULL);
	foreach(cell, usable_rows(&rows, role))
	{
		DpermPayer	found = payer_of(budget, &rows, lfirst_int(cell));

		if (spend)
			found.taken = dperm_charge_of(spend, found.account.filter.order);
		if ((found.kept < DPERM_GRANTS_KEPT || !OidIsValid(relation)) &&
			dperm_budget_allows(&found.account, &found.taken))
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

/* Write what a grant has spent. The first time, this fixes its order and delta. */
void
dperm_grants_write(const DpermPayer *payer, bool keeps)
{
	const DpermFilter *filter = &payer->account.filter;
	DpermFilterSums spent = dperm_filter_add(&payer->account.spent, &payer->taken);
	const DpermOwnField fields[] = {
		{"renyi_order", filter->order > 1 ? Float8GetDatum(filter->order) : (Datum) 0},
		{"delta", dperm_own_rows_numeric(filter->delta)},
		{"kept", Int32GetDatum(payer->kept + 1)}
	};

	if (payer->id)
		dperm_budget_write_sums("grants", payer->id, &spent, fields, keeps ? 3 : 2);
}
