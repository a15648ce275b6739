/*
 * debit.h: spending from a budget, before the first row is read.
 */
#ifndef DPERM_DEBIT_H
#define DPERM_DEBIT_H

#include "utils/array.h"
#include "utils/jsonb.h"

#include "budget/budget.h"
#include "core/mechanism/charge.h"

/* What a call was asked for; what is NULL is NULL in the ledger. */
typedef struct DpermAsked
{
	const char *label;
	ArrayType  *features;		/* of text */
	const char *learner;
	Jsonb	   *parameters;
	const char *purpose;		/* what the caller says about it */
} DpermAsked;

typedef struct DpermCharge
{
	const DpermBudget *budget;	/* as it was read */
	/* InvalidOid: a release outside dperm: dp_budget_charge() */
	Oid			relation;
	Oid			role;			/* who spends */
	const char *function;		/* name of the SQL function, for the ledger */
	DpermAsked	asked;			/* for the ledger, */
	const char *details;		/* and so is this; or NULL */
	DpermSpend	spend;
} DpermCharge;

/*
 * Spend, or raise an error, in this transaction: that of a worker (worker.h),
 * which commits it before any row is read. The budget is locked until then. The
 * conditions are: neighbours and unit are the budget's; the role may spend
 * (below); the filter allows it. That the budget is that of the relation is
 * known: its registration is locked (registry.h).
 */
extern DpermLedgerEntry dperm_debit(const DpermCharge *charge);

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
	double		delta_limit;	/* of the budget, or of the grant if that is less */
} DpermQuote;

extern DpermQuote dperm_debit_preview(const DpermCharge *charge);

/*
 * May this role spend from a budget at all? It may if it is the budget's owner,
 * the owner of the relation (InvalidOid: none), a member of these, or if it or
 * a role it is a member of has a grant. As of the latest state: this is for the
 * permission error that comes before any other; the charge checks again.
 */
extern bool dperm_debit_permitted(const DpermBudget *budget, Oid relation, Oid role);

#endif							/* DPERM_DEBIT_H */
