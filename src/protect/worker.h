/*
 * worker.h: a session and the worker of its call: what they tell each other, in
 * shared memory, and what the worker locks (locks.c).
 *
 * The session writes the call: values, and nothing that could be executed. The
 * worker sends messages, each of which begins with a byte for its kind; errors
 * and notices are those of PostgreSQL's protocol.
 */
#ifndef DPERM_WORKER_H
#define DPERM_WORKER_H

#include "port/atomics.h"
#include "storage/lock.h"
#include "storage/shm_mq.h"

#include "protect/call.h"
#include "protect/phase.h"

/* Kinds of messages to the session, besides 'E' and 'N' for errors and notices. */
#define DPERM_MESSAGE_VALUE 'V'		/* the result, which is not NULL: a varlena */
#define DPERM_MESSAGE_ROW 'R'		/* a row of the result: a minimal tuple */
#define DPERM_MESSAGE_END 'Z'		/* the end */

/* Changes with the struct below and with the format of the arguments. */
#define DPERM_CALL_VERSION 0x64700004

/*
 * Who decides what: until the worker is about to commit its charge, the session
 * can abandon the call, and nothing is charged. From then on it cannot.
 */
typedef enum DpermCallState
{
	DPERM_CALL_OPEN,
	DPERM_CALL_ABANDONED,		/* by the session */
	DPERM_CALL_COMMITTING,		/* the charge is being committed */
	DPERM_CALL_CHARGED
} DpermCallState;

/*
 * It does not conflict with itself, but with the ExclusiveLock of a session
 * that looks for a free place.
 */
#define DPERM_PLACE_LOCK RowShareLock

/* The beginning of the shared memory. The arguments follow, and then the queue. */
typedef struct DpermCallHeader
{
	uint32		version;		/* the library may be updated between session and worker */
	Oid			database;
	Oid			function;
	char		name[NAMEDATALEN];	/* of the function, in C */
	Oid			relation;		/* to be read; InvalidOid: none */
	/*
	 * one of the places of the session user, and one of the current user if
	 * that is another role
	 */
	int			places;
	LOCKTAG		place[2];		/* session and worker hold DPERM_PLACE_LOCK on them */
	Oid			role;			/* the current user of the call */
	int			session;		/* PID of the session */
	Oid			collation;
	int			cache_memory;	/* dperm.cache_memory of the session */
	DpermPhaseStyle style;		/* how the arguments are read */
	Size		arguments;		/* bytes of the arguments */

	/* a DpermCallState; the worker writes the entry of the ledger before it commits */
	pg_atomic_uint32 state;
	int64		entry;
	char		budget[NAMEDATALEN];
} DpermCallHeader;

extern shm_mq *dperm_call_queue(DpermCallHeader *header);
extern DpermCallState dperm_call_state(DpermCallHeader *header);
extern bool dperm_call_advance(DpermCallHeader *header, DpermCallState from, DpermCallState to);
extern FunctionCallInfo dperm_call_read(DpermCallHeader *header);

extern List *dperm_locks_hold(Oid relation);
extern void dperm_locks_let_go(void);

extern PGDLLEXPORT void dperm_worker_main(Datum handle);

#endif							/* DPERM_WORKER_H */
