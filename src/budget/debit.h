/*
 * debit.h: spending from a budget, before the first row is read.
 */
#ifndef DPERM_DEBIT_H
#define DPERM_DEBIT_H

#include "budget/budget.h"
#include "core/mechanism/charge.h"

/* A registration as it was read. */
typedef struct DpermVersion
{
	Oid			relation;
	TransactionId version;		/* its xmin; InvalidTransactionId: the relation had none */
} DpermVersion;

typedef struct DpermCharge
{
	const char *budget;			/* its name */
	/* InvalidOid: a release outside dperm: dp_budget_charge() */
	Oid			relation;
	/* DpermVersion: its registration and those that its domains are from */
	List	   *versions;
	Oid			role;			/* who spends */
	const char *function;		/* name of the SQL function, for the ledger */
	DpermAsked	asked;			/* for the ledger, */
	const char *details;		/* and so is this; or NULL */
	DpermSpend	spend;
} DpermCharge;

/*
 * Spend, or raise an error, in this transaction: that of a worker (worker.h),
 * which commits it before any row is read. The budget is locked until then. The
 * conditions are: exactly one row of dp_protected_relations is about the
 * relation, and it has the id of this budget and the owner of the relation; all
 * registrations that were used are as they were read; neighbours and unit are
 * the budget's; the role may spend (below); the filter allows it.
 */
extern DpermLedgerEntry dperm_debit(const DpermCharge *charge);

/* Does a registered relation have the owner who registered it? */
extern bool dperm_debit_is_owners(Oid relation);

/* Are registrations as they were read? A list of DpermVersion. */
extern bool dperm_debit_unchanged(List *versions);

/*
 * What a charge would take, as of the caller's snapshot; amounts are numeric as
 * text.
 */
typedef struct DpermQuote
{
	char		epsilon[DPERM_AMOUNT_TEXT]; /* what would be charged */
	char		delta[DPERM_AMOUNT_TEXT];
	/* the largest epsilon of a pure release that the role could make now */
	char		left[DPERM_AMOUNT_TEXT];
	/* the same after this charge; "0" if it would be rejected */
	char		left_after[DPERM_AMOUNT_TEXT];
	bool		allowed;		/* would it be accepted now? */
	int64		calls;			/* how many like it would be, one after the other */
} DpermQuote;

extern DpermQuote dperm_debit_preview(const DpermCharge *charge);

/*
 * May this role spend from a budget at all? It may if it is the budget's owner,
 * the owner of the relation (InvalidOid: none), a member of these, or if it or
 * a role it is a member of has a grant. As of the caller's snapshot: this is
 * for the permission error that comes before any other; the charge checks
 * again. If the budget is not the one that the relation was registered with, or
 * the relation has got another owner since, no role may: then the first
 * function raises an error, the second returns false.
 */
extern bool dperm_debit_permitted(const char *budget, Oid relation, Oid role);
extern bool dperm_debit_may_spend(const char *budget, Oid relation, Oid role);

/*
 * Raise an error for a role that may not spend from a budget without a
 * relation, or if there is no such budget.
 */
extern void dperm_debit_check_grant(const char *budget, Oid role);

#endif							/* DPERM_DEBIT_H */
