/*
 * debit.h: spending from a budget, for good, before the first row is read.
 *
 * How a function that reads a protected relation calls it, once for each call from SQL, after all of its checks and right before
 * its first query over rows:
 *
 *		DpermCharge charge = {
 *			.budget = registration->budget,		   (name of the budget, as dp_protected_relations has it)
 *			.relation = source->relation,
 *			.version = registration->version,	   (xmin of the row of dp_protected_relations that was read)
 *			.role = GetUserId(),				   (of the caller: before run_as takes effect)
 *			.function = "dp_logreg_train",
 *			.spend = {.neighbours = ..., .unit = ..., .epsilon = ..., .delta = ..., .objective = true, .slack = options->slack}
 *		};
 *
 *		dperm_debit(&charge);
 *
 * It returns when the charge is in the ledger, committed and flushed by a transaction of another process, or raises an error that
 * tells why not. It needs no SPI connection, and may be called with one. What it reads in the caller's own transaction is read as
 * the owner of our tables, whatever the current user is.
 *
 * The worker checks against what is committed: the budget that the name means to the session is there, by its id; one row of dp_protected_relations is about this relation,
 * it has the id of this budget and the owner of the relation, and its xmin is version, so that a registration made or changed
 * by the caller's own transaction, or since its snapshot, is refused; neighbours and unit are the budget's; the role may spend
 * (below); the filter allows it.
 */
#ifndef DPERM_DEBIT_H
#define DPERM_DEBIT_H

#include "core/mechanism/charge.h"

typedef struct DpermCharge
{
	const char *budget;
	Oid			relation;		/* InvalidOid: a release that dperm did not make, dp_budget_charge() */
	TransactionId version;		/* xmin of its registration, as the caller sees it */
	Oid			role;			/* who spends */
	const char *function;		/* name of the SQL function, for the ledger */
	const char *purpose;		/* what the caller says about it, for the ledger; or NULL */
	DpermSpend	spend;
} DpermCharge;

/* Spend, or raise. */
extern void dperm_debit(const DpermCharge *charge);

/* What a charge would take, as the caller's snapshot has it; amounts are numeric as text. */
typedef struct DpermQuote
{
	char		epsilon[DPERM_AMOUNT_TEXT]; /* what would be charged */
	char		delta[DPERM_AMOUNT_TEXT];
	char		left[DPERM_AMOUNT_TEXT];	/* the largest epsilon of a pure release that the role could make now */
	char		left_after[DPERM_AMOUNT_TEXT];	/* and after this charge; "0" if it would be refused */
	bool		allowed;		/* would it be accepted now? */
	const char *refusal;		/* else: a sentence that tells why not */
} DpermQuote;

extern DpermQuote dperm_debit_preview(const DpermCharge *charge);

/*
 * May this role spend from a budget at all? The budget's owner, the owner of the relation (InvalidOid: none), members of these, and
 * who has a grant or is a member of a role that has. As the caller's snapshot has it: for the permission error that comes before any
 * other, since the worker checks again. If the budget is not the one that the relation was registered with, or the relation has got
 * another owner since, nobody may: the first one raises an error, the second one returns false.
 */
extern bool dperm_debit_permitted(const char *budget, Oid relation, Oid role);
extern bool dperm_debit_may_spend(const char *budget, Oid relation, Oid role);

#endif							/* DPERM_DEBIT_H */
