/*
 * debit.h: spending from a budget, before the first row is read.
 */
#ifndef DPERM_DEBIT_H
#define DPERM_DEBIT_H

#include "budget/budget.h"
#include "core/mechanism/charge.h"

typedef struct DpermCharge
{
	const char *budget;			/* its name */
	/* InvalidOid: a release that dperm did not make, dp_budget_charge() */
	Oid			relation;
	TransactionId version;		/* xmin of its registration, when it was checked */
	Oid			role;			/* who spends */
	const char *function;		/* name of the SQL function, for the ledger */
	DpermAsked	asked;			/* for the ledger, */
	const char *details;		/* and so is this; or NULL */
	DpermSpend	spend;
} DpermCharge;

/*
 * Spend, or raise, in this transaction: that of a worker (worker.h), which
 * commits it before any row is read. The budget is locked until then. One row
 * of dp_protected_relations is about the relation, it has the id of this
 * budget, the owner of the relation, and the version that was checked;
 * neighbours and unit are the budget's; the role may spend (below); the filter
 * allows it.
 */
extern DpermLedgerEntry dperm_debit(const DpermCharge *charge);

/*
 * What a charge would take, as the caller's snapshot has it; amounts are
 * numeric as text.
 */
typedef struct DpermQuote
{
	char		epsilon[DPERM_AMOUNT_TEXT]; /* what would be charged */
	char		delta[DPERM_AMOUNT_TEXT];
	/* the largest epsilon of a pure release that the role could make now */
	char		left[DPERM_AMOUNT_TEXT];
	/* and after this charge; "0" if it would be refused */
	char		left_after[DPERM_AMOUNT_TEXT];
	bool		allowed;		/* would it be accepted now? */
} DpermQuote;

extern DpermQuote dperm_debit_preview(const DpermCharge *charge);

/*
 * May this role spend from a budget at all? The budget's owner, the owner of
 * the relation (InvalidOid: none), members of these, and who has a grant or is
 * a member of a role that has. As the caller's snapshot has it: for the
 * permission error that comes before any other, since the charge checks again.
 * If the budget is not the one that the relation was registered with, or the
 * relation has got another owner since, nobody may: the first one raises an
 * error, the second one returns false.
 */
extern bool dperm_debit_permitted(const char *budget, Oid relation, Oid role);
extern bool dperm_debit_may_spend(const char *budget, Oid relation, Oid role);

/*
 * Raise for a role that may not spend from a budget on its own, or if there is
 * no such budget.
 */
extern void dperm_debit_check_grant(const char *budget, Oid role);

#endif							/* DPERM_DEBIT_H */
