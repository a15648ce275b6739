/*
 * budget.h: budgets, who may spend from them, and charges (budget.c); and rows of
 * the extension's tables without SQL (own_rows.c). Trusted.
 */
#ifndef DPERM_BUDGET_H
#define DPERM_BUDGET_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/snapshot.h"

#include "core/mechanism/charge.h"
#include "core/privacy/claim.h"

/* What limits spending, and what has been spent: of a budget, or of a grant. */
typedef struct DpermAccount
{
	bool		limited;		/* true for a budget */
	DpermFilter filter;
	DpermFilterSums spent;		/* with divergences of the filter's order */
} DpermAccount;

/* A budget, as its row has it. */
typedef struct DpermBudget
{
	char	   *name;
	/* a uuid, as text: another budget may get the name when this one is dropped */
	char	   *id;
	Oid			owner;			/* InvalidOid: a role that does not exist in this cluster */
	DpermAccount account;
	DpermNeighbours neighbours;
	bool		has_unit;		/* is its unit set, because it has or had a protected relation? */
	DpermUnit	unit;
	int64		entry;			/* number of its last line in the ledger */
} DpermBudget;

extern DpermBudget *dperm_budget_get(const char *name);
extern DpermBudget *dperm_budget_find(const char *id, Snapshot snapshot);

/* Identifies a line of the ledger, and the grant that paid for it. */
typedef struct DpermLedgerEntry
{
	const char *budget_id;
	const char *budget;
	int64		entry;
	const char *grant_id;		/* NULL: none, an owner */
} DpermLedgerEntry;

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

/* What a charge would take; amounts are numeric as text. */
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

extern bool dperm_budget_permits(const DpermBudget *budget, Oid relation, Oid role);
extern void dperm_budget_raise_denied(const DpermBudget *budget) __attribute__((noreturn));
extern void dperm_budget_check_role(Oid role);
extern DpermLedgerEntry dperm_budget_charge(const DpermCharge *charge);
extern DpermQuote dperm_budget_preview(const DpermCharge *charge);

/* Some rows of a table, in the current memory context. */
typedef struct DpermOwnRows
{
	Oid			table;
	TupleDesc	desc;
	int			count;
	HeapTuple  *rows;
} DpermOwnRows;

/* A column to write or to find; to write, 0 is NULL. */
typedef struct DpermOwnField
{
	const char *column;
	Datum		value;
} DpermOwnField;

extern Oid	dperm_own_rows_table(const char *name);
extern Snapshot dperm_own_rows_newest(void);
extern DpermOwnRows dperm_own_rows_find(const char *table, const char *column, Datum value,
										Snapshot snapshot);
extern int64 dperm_own_rows_units(const char *registration);
extern int	dperm_own_rows_count(const char *table, const char *column, Datum value,
								 const char *null);
extern bool dperm_own_rows_lock(DpermOwnRows *rows, int row);
extern void dperm_own_rows_insert(const char *table, const DpermOwnField *fields, int count);
extern void dperm_own_rows_update(const char *table, const char *id,
								  const DpermOwnField *fields, int count);

/* What a row has, and what it can be given. */
extern Datum dperm_own_rows_value(const DpermOwnRows *rows, int row, const char *column);
extern char *dperm_own_rows_text(const DpermOwnRows *rows, int row, const char *column);
extern DpermAmount dperm_own_rows_amount(const DpermOwnRows *rows, int row, const char *column);
extern bool dperm_own_rows_is_fresh(const DpermOwnRows *rows, int row);
extern Datum dperm_own_rows_uuid(const char *text);
extern Datum dperm_own_rows_numeric(DpermAmount amount);
extern Datum dperm_own_rows_role(Oid role);
extern Oid	dperm_own_rows_role_of(Datum value);

#endif							/* DPERM_BUDGET_H */
