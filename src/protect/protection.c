/*
 * protection.c: the rules for a relation that is protected, or shares rows with
 * one that is.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "budget/debit.h"
#include "column/domain_narrow.h"
#include "core/privacy/claim.h"
#include "protect/protection.h"
#include "relation/location.h"
#include "relation/row_sources.h"

/* The registration of a relation; NULL if it is not protected. */
DpermRegistration *
dperm_protection_find(Oid relation)
{
	DpermRegistration *registration = dperm_registry_find(relation);

	/* rather this error than one about columns, which are unknown as well */
	if (registration && registration->budget && registration->waiting)
		(void) dperm_debit_permitted(registration->budget, relation, GetUserId());
	if (registration == NULL || registration->budget)
		return registration;

	/* a ROLLBACK would undo it, and the training would be charged to nobody */
	if (TransactionIdIsCurrentTransactionId(registration->version))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the protection of relation \"%s\" has been ended by this "
						"transaction", get_rel_name(relation)),
				 errhint("Commit first.")));
	return NULL;
}

/*
 * Raise an error if a relation, by what it reads, shares rows with a protected
 * one that is a shard of it, or that it is a shard of.
 */
static void
check_shards(Oid relation, List *reached)
{
	List	   *others = dperm_location_shards(reached);

	if (others != NIL)
		others = dperm_registry_among(others);
	if (others != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" shares rows with protected relation "
						"\"%s\"", get_rel_name(relation), get_rel_name(linitial_oid(others))),
				 errdetail("One of them is a shard in Citus."),
				 errhint("Use the distributed table; if the shard is protected, its owner should "
						 "call dp_unprotect for the shard and dp_protect for the distributed "
						 "table, with the same budget and unit.")));
}

/* Raise an error for a relation that shares rows with a protected one. */
void
dperm_protection_check_reach(Oid relation)
{
	List	   *reached;
	ListCell   *cell;

	if (!dperm_registry_any())
		return;
	reached = dperm_row_sources_relations(relation);
	check_shards(relation, reached);
	foreach(cell, dperm_registry_among(reached))
		if (lfirst_oid(cell) != relation)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("relation \"%s\" reads protected relation \"%s\" and is not protected "
							"itself",
							get_rel_name(relation), get_rel_name(lfirst_oid(cell))),
					 errhint("Train on \"%s\", or have the owner of \"%s\" protect it with "
							 "dp_protect.",
							 get_rel_name(lfirst_oid(cell)), get_rel_name(relation))));
}

/*
 * Raise an error for a query that reads protected rows: an aggregate is called
 * when they have already been read.
 */
void
dperm_protection_check_query(List *relations)
{
	List	   *reached = NIL;
	ListCell   *cell;

	if (!dperm_registry_any())
		return;
	foreach(cell, relations)
		reached = list_concat_unique_oid(reached, dperm_row_sources_relations(lfirst_oid(cell)));
	if (reached != NIL)
		check_shards(linitial_oid(relations), reached);
	foreach(cell, dperm_registry_among(reached))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be charged to the budget of "
						"protected relation \"%s\"",
						get_rel_name(lfirst_oid(cell))),
				 errhint("Use dp_logreg_train, dp_svm_train or dp_linreg_train.")));
}

/*
 * Raise an error if a relation reads, or is a part of, a relation that is
 * charged to another budget. A view that reads this one does not matter here:
 * anybody can create one, and it is refused when used.
 */
void
dperm_protection_check_shared(const DpermRegistration *ours, List *reached)
{
	Oid			relation = ours->relation;
	const char *budget = ours->budget;
	ListCell   *cell;

	check_shards(relation, reached);
	foreach(cell, dperm_registry_among(reached))
	{
		Oid			other = lfirst_oid(cell);
		DpermRegistration *registration;

		if (other == relation)
			continue;
		registration = dperm_registry_find(other);
		if (registration && registration->budget && !dperm_registry_same_budget(registration, ours))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("relation \"%s\" shares rows with \"%s\", which is charged to another "
							"budget",
							get_rel_name(relation), get_rel_name(other)),
					 errdetail("The budgets are \"%s\" and \"%s\".", budget, registration->budget),
					 errhint("Protect both with the same budget.")));
	}
}

/* May the caller spend? */
bool
dperm_protection_permitted(const DpermRegistration *registration, bool may_read)
{
	if (dperm_debit_permitted(registration->budget, registration->relation, GetUserId()))
		return true;
	if (may_read)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for budget \"%s\"", registration->budget),
				 errdetail("Relation \"%s\" is protected.", get_rel_name(registration->relation)),
				 errhint("The owner of the budget can grant you a share with dp_grant.")));
	return false;
}

/* Raise an error for options that a protected relation does not allow. */
void
dperm_protection_check_options(const DpermRegistration *registration, const DpermOptions *options)
{
	DpermNeighbours neighbours;

	if (isinf(options->epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("epsilon must be finite on protected relation "
						"\"%s\"", get_rel_name(registration->relation)),
				 errhint("Without noise nothing is protected.")));
	neighbours = dperm_budget_get(registration->budget, false)->neighbours;
	if (options->neighbours != neighbours)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("neighbours of budget \"%s\" are \"%s\", not \"%s\"", registration->budget,
						dperm_claim_neighbours_name(neighbours),
						dperm_claim_neighbours_name(options->neighbours)),
				 errhint("Specify neighbours => '%s'.", dperm_claim_neighbours_name(neighbours))));
}

/*
 * Is a column open to training, here and behind? The unit identifies persons and
 * is not a feature of them.
 */
bool
dperm_protection_lists(const DpermRegistration *registration, const DpermColumn *column)
{
	if (OidIsValid(column->closed_in))
		return false;
	return registration->all_columns ? column->number != registration->unit :
		list_member_int(registration->columns, column->number);
}

/* Raise an error for a column that is not open to training. */
void
dperm_protection_check_column(const DpermRegistration *registration, const DpermColumn *column)
{
	if (!dperm_protection_lists(registration, column))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("column \"%s\" of protected relation \"%s\" is not open to "
						"training", column->name,
						get_rel_name(registration->relation)),
				 OidIsValid(column->closed_in) ?
				 errdetail("The column is closed in protected relation \"%s\".",
						   get_rel_name(column->closed_in)) : 0,
				 errhint("dp_domains shows the open columns, which the owner of the relation "
						 "chooses with dp_protect.")));
	dperm_protection_check_fit(registration->relation, column);
}

/* Raise an error for a column whose registered domain does not fit its type. */
void
dperm_protection_check_fit(Oid relation, const DpermColumn *column)
{
	if (column->misfit)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the registered domain of column \"%s\" of protected relation \"%s\" no "
						"longer fits it", column->name, get_rel_name(relation)),
				 errdetail("The cause is the %s: %s.", column->origin, column->lack),
				 errhint("The owner of the relation has to specify domains in dp_protect.")));
}

/* The unit, by its name, or NULL. */
char *
dperm_protection_unit(const DpermRegistration *registration, const char *asked)
{
	char	   *unit;

	if (registration->persons && registration->unit == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the unit of protected relation \"%s\" has been "
						"dropped", get_rel_name(registration->relation)),
				 errhint("The owner of the relation has to protect it again with dp_protect and "
						 "another unit.")));
	unit = registration->persons ? get_attname(registration->relation, registration->unit, false) :
								   NULL;
	if (asked && (unit == NULL || strcmp(asked, unit) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the unit of protected relation \"%s\" "
						"is %s", get_rel_name(registration->relation),
						unit ? psprintf("column \"%s\"", unit) : "a row"),
				 errhint("Omit unit.")));
	return unit;
}

/* Raise an error unless a block is within the domain of its column. */
void
dperm_protection_check_block(const DpermRegistration *registration, const DpermColumn *column,
							 const DpermBlock *block)
{
	const char *fault;

	dperm_protection_check_fit(registration->relation, column);
	if (!column->known)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of protected relation \"%s\" has no domain", column->name,
						get_rel_name(registration->relation)),
				 errhint("The owner of the relation has to register one with dp_protect, or "
						 "declare it with a CHECK constraint.")));
	fault = dperm_domain_narrow_fault(&column->block, block);
	if (fault)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the %s of column \"%s\" is not within that of protected relation "
						"\"%s\"", fault, column->name,
						get_rel_name(registration->relation)),
				 errhint("Domains can be narrowed, not widened; dp_protected and dp_domains show "
						 "them.")));
}
