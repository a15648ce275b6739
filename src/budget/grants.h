/*
 * grants.h: who may spend from a budget, and from whose grant.
 */
#ifndef DPERM_GRANTS_H
#define DPERM_GRANTS_H

#include "budget/budget.h"

typedef struct DpermPayer
{
	/* whose grant it is; InvalidOid for the owners of budget and relation */
	Oid			grantee;
	bool		limited[2];		/* does the grant have a limit of epsilon, of delta? */
	DpermAmount left[2];		/* then what it has left before this charge */
} DpermPayer;

/* Of these two. */
#define DPERM_PAYER_EPSILON 0
#define DPERM_PAYER_DELTA 1

/* Has the grant so much left? */
static inline bool
dperm_grants_suffice(const DpermPayer *payer, int which, DpermAmount amount)
{
	return !payer->limited[which] || dperm_amount_compare(amount, payer->left[which]) <= 0;
}

typedef enum DpermPayerFault
{
	DPERM_PAYER_FOUND,
	DPERM_PAYER_NO_GRANT,		/* no grant, and not an owner */
	DPERM_PAYER_NO_ROOM			/* too little left of the grant, which is in the payer */
} DpermPayerFault;

/*
 * Who pays for a charge of epsilon and delta: owners of the budget or of the
 * relation (InvalidOid: none) pay from the budget alone; others need a grant,
 * their own or that of a role they are a member of. Writing a grant requires a
 * lock on the budget.
 */
extern DpermPayerFault dperm_grants_find(const DpermBudget *budget, Oid relation, Oid role,
										 DpermAmount epsilon, DpermAmount delta, bool lock,
									   DpermPayer *payer);

/* The roles that have a grant of a budget, in order. */
extern List *dperm_grants_roles(const DpermBudget *budget);

/*
 * Write what is charged to the payer's grant, if any. The budget must be
 * locked.
 */
extern void dperm_grants_write_spent(const DpermBudget *budget, const DpermPayer *payer,
									 DpermAmount epsilon, DpermAmount delta);

/* Raise the error for DPERM_PAYER_NO_GRANT. */
extern void dperm_grants_raise(const DpermBudget *budget) __attribute__((noreturn));

#endif							/* DPERM_GRANTS_H */
