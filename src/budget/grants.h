/*
 * grants.h: who may spend from a budget, and from whose grant.
 */
#ifndef DPERM_GRANTS_H
#define DPERM_GRANTS_H

#include "budget/budget.h"
#include "core/mechanism/charge.h"

typedef struct DpermPayer
{
	/* whose grant it is; InvalidOid for the owners of budget and relation */
	Oid			grantee;
	char	   *id;				/* of this grant, a uuid as text; NULL: none */
	/* order and delta are those that its first charge has fixed, or will fix */
	DpermAccount account;
	DpermFilterSums taken;		/* what the charge takes from it */
	int			kept;			/* how many releases it has paid for that are kept, or more */
} DpermPayer;

/* So many at most: releases are in every dump, and a model can have megabytes. */
#define DPERM_GRANTS_KEPT 10000

typedef enum DpermPayerFault
{
	DPERM_PAYER_FOUND,
	DPERM_PAYER_NO_GRANT,		/* no grant, and not an owner */
	/* the grant, which is in the payer, does not allow it, or keeps too many releases */
	DPERM_PAYER_NO_ROOM
} DpermPayerFault;

/*
 * Who pays for a charge (NULL: none): owners of the budget or of the relation
 * (InvalidOid: none) pay from the budget alone; others need a grant, their own
 * or that of a role they are a member of. Whoever writes a grant has locked its
 * budget.
 */
extern DpermPayerFault dperm_grants_find(const DpermBudget *budget, Oid relation, Oid role,
										 const DpermSpend *spend, DpermPayer *payer);

/*
 * Write what is charged to the payer's grant, if any, and whether its release is
 * kept. The budget must be locked.
 */
extern void dperm_grants_write(const DpermPayer *payer, bool keeps);

/* Raise the error for DPERM_PAYER_NO_GRANT. */
extern void dperm_grants_raise(const DpermBudget *budget) __attribute__((noreturn));

#endif							/* DPERM_GRANTS_H */
