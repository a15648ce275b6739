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
	char	   *id;				/* of this grant, a uuid as text; NULL: none */
	bool		limited[2];		/* does the grant have a limit of epsilon, of delta? */
	DpermAmount left[2];		/* then what it has left before this charge */
	int			kept;			/* how many releases it has paid for that are kept, or more */
} DpermPayer;

/* So many at most: releases are in every dump, and a model can have megabytes. */
#define DPERM_GRANTS_KEPT 10000

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
	/* too little left of the grant, which is in the payer, or too many releases kept */
	DPERM_PAYER_NO_ROOM
} DpermPayerFault;

/*
 * Who pays for a charge of epsilon and delta: owners of the budget or of the
 * relation (InvalidOid: none) pay from the budget alone; others need a grant,
 * their own or that of a role they are a member of. Whoever writes a grant has
 * locked its budget.
 */
extern DpermPayerFault dperm_grants_find(const DpermBudget *budget, Oid relation, Oid role,
										 DpermAmount epsilon, DpermAmount delta,
										 DpermPayer *payer);

/*
 * Write what is charged to the payer's grant, if any, and whether its release is
 * kept. The budget must be locked.
 */
extern void dperm_grants_write_spent(const DpermBudget *budget, const DpermPayer *payer,
									 DpermAmount epsilon, DpermAmount delta, bool keeps);

/* Raise the error for DPERM_PAYER_NO_GRANT. */
extern void dperm_grants_raise(const DpermBudget *budget) __attribute__((noreturn));

#endif							/* DPERM_GRANTS_H */
