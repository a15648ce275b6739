/*
 * debit_worker.h: what a session and the background worker that spends for it tell each other, in shared memory.
 */
#ifndef DPERM_DEBIT_WORKER_H
#define DPERM_DEBIT_WORKER_H

#include "port/atomics.h"
#include "storage/proc.h"

#include "core/privacy/claim.h"
#include "core/privacy/filter.h"

/* Room for what a caller says about a release, and for each part of an error. */
#define DPERM_DEBIT_TEXT 1024

/* Room for a uuid as text. */
#define DPERM_DEBIT_ID 37

typedef struct DpermDebitRequest
{
	/* asked by the session */
	Oid			database;
	PGPROC	   *session;		/* to be woken */
	Oid			relation;		/* InvalidOid: none */
	TransactionId version;
	Oid			role;
	char		budget_id[DPERM_DEBIT_ID];	/* of the budget that is charged, whatever others are called */
	char		budget[DPERM_DEBIT_TEXT];	/* its name, for messages alone: one that was restored from another encoding can be longer than others */
	char		function[NAMEDATALEN];
	char		purpose[DPERM_DEBIT_TEXT];	/* empty: none */
	DpermNeighbours neighbours; /* these two only matter with a relation */
	DpermUnit	unit;
	double		order;			/* that the charge was computed for */
	DpermFilterSums charge;
	DpermAmount delta;			/* as it is claimed, without the tail */

	/* answered by the worker */
	pg_atomic_uint32 answered;	/* 1 when everything else is written */
	int			sqlstate;		/* 0: committed */
	char		message[DPERM_DEBIT_TEXT];
	char		detail[DPERM_DEBIT_TEXT];
	char		hint[DPERM_DEBIT_TEXT];
} DpermDebitRequest;

/* What the background worker runs; its argument is the handle of the shared memory. */
extern PGDLLEXPORT void dperm_debit_worker_main(Datum handle);

#endif							/* DPERM_DEBIT_WORKER_H */
