/*
 * call.h: a call of a function that reads rows.
 *
 * It is opened, and then it runs. On a relation that is not protected both
 * happen in the session, as the caller. On a protected one both happen in
 * another process, which charges the budget in between (worker.c), and the
 * session gets what is released.
 */
#ifndef DPERM_CALL_H
#define DPERM_CALL_H

#include "fmgr.h"

#include "budget/budget.h"
#include "protect/protection.h"

struct DpermFunction;

/* A call. */
typedef struct DpermCall
{
	const struct DpermFunction *function;
	FunctionCallInfo fcinfo;
	const DpermRegistration *registration;	/* of its relation; NULL: it is not protected */
	void	   *opened;			/* what open() has made for run() */
	DpermCharge charge;			/* that open() asks for, with a registration */
	DpermLedgerEntry paid;		/* for run(), then */
	int64		units;			/* what run() says its release is about; 0: nothing */
} DpermCall;

/* A function. */
typedef struct DpermFunction
{
	const char *name;
	int			variant;		/* which one of those that share open() and run() */

	/*
	 * Raise an error for every mistake, and read no row. What is made for run() is
	 * plain data, which does not end with a transaction.
	 */
	void		(*open) (DpermCall *call);

	/* Read rows, compute, and return what is released. NULL: there is nothing to do. */
	Datum		(*run) (DpermCall *call);
} DpermFunction;

extern Datum dperm_call(FunctionCallInfo fcinfo, const DpermFunction *function);
extern Datum
dperm_call_hand_over(FunctionCallInfo fcinfo, const DpermFunction *function, Oid relation);

/* The functions that a worker knows, and one of them. */
extern void dperm_worker_knows(const DpermFunction *functions, int count);
extern const DpermFunction *dperm_worker_function(const char *name);

#endif							/* DPERM_CALL_H */
