/*
 * protect.h: how tables are protected and views of them offered, and what that allows
 * (protection.c, view.c); calls (call.c, worker.c), and what the process of one may do
 * (phase.c). Trusted.
 */
#ifndef DPERM_PROTECT_H
#define DPERM_PROTECT_H

#include "fmgr.h"
#include "port/atomics.h"
#include "storage/lock.h"
#include "storage/shm_mq.h"
#include "utils/elog.h"
#include "utils/resowner.h"

#include "base/options.h"
#include "budget/budget.h"
#include "column/column.h"

/* What a view shows of its table, as the one walker over its definition found it. */
typedef struct DpermView
{
	Oid			table;
	List	   *targets;		/* TargetEntry, one for each column of the view in order; Vars have
								 * varno 1 and are columns of the table */
	Node	   *condition;		/* the WHERE clause, or NULL; varno 1 */
} DpermView;

/*
 * How a table is protected, or a view of it offered. Budget and unit of a view
 * are those of its table.
 */
typedef struct DpermRegistration
{
	Oid			relation;
	char	   *id;
	Oid			owner;			/* who owned the relation when it was protected */
	char	   *view_of;		/* id of the registration of its table; NULL: it is a table */
	const DpermView *view;		/* what it shows, and of what table: dperm_protection_resolve(); */
	const struct DpermRegistration *table;	/* that of a table is itself */
	const DpermBudget *budget;	/* NULL: it is missing */
	bool		ended;			/* it is no longer protected */
	bool		fresh;			/* this transaction has written it, or that of its table */
	bool		bound;			/* false: it was restored for a relation of this name */
	bool		renamed;		/* it, or a column, has another name than when that was followed */
	bool		persons;		/* does it have a unit? */
	/* its column of the table; 0 if it has been dropped */
	AttrNumber	unit;
	bool		all_columns;
	List	   *columns;		/* numbers of the listed columns, unless all are */
	List	   *with_domain;	/* numbers of columns that have a registered domain, */
	List	   *domains;		/* and these, as Jsonb */

	/* what queries over it may read: dperm_protection_open() */
	List	   *reached;
	bool		has_parts;		/* does the table have partitions or children? */
	bool		on_cluster;		/* is it a table of Citus? */
} DpermRegistration;

extern DpermView *dperm_view_read(Oid view);
extern AttrNumber dperm_view_column(const DpermView *view, AttrNumber number);
extern void dperm_view_check_table(Oid table);
extern void dperm_view_check_type(const char *column, Oid type);

/* A relation that is to be read, or whose reading is to be priced. */
extern DpermRegistration *dperm_protection_find(Oid relation);
extern LOCKTAG dperm_protection_tag(Oid relation);
extern void dperm_protection_lock(Oid relation, LOCKMODE mode, bool process);
extern DpermRegistration *dperm_protection_open(Oid relation, List *reached);
extern void dperm_protection_check_usable(const DpermRegistration *registration);
extern bool dperm_protection_holds(const DpermRegistration *registration);
extern void dperm_protection_resolve(DpermRegistration *registration);
extern void dperm_protection_check_reach(Oid relation);
extern void dperm_protection_check_query(List *relations);
extern void dperm_protection_check_family(Oid table, List *reached);
extern void dperm_protection_raise_changed(Oid relation) __attribute__((noreturn));
extern void dperm_protection_raise_denied(Oid relation) __attribute__((noreturn));

/* What a call asks for. */
extern bool
dperm_protection_lists(const DpermRegistration *registration, const DpermColumn *column);
extern void
dperm_protection_check_column(const DpermRegistration *registration, const DpermColumn *column);
extern void dperm_protection_check_block(const DpermRegistration *registration,
										 const DpermColumn *column, const DpermBlock *block);
extern char *dperm_protection_unit(const DpermRegistration *registration, const char *asked);

extern DpermColumn *dperm_protection_columns(const DpermRegistration *registration,
											 Jsonb *domains, const char *label, int *count);

/*
 * A call of a function that reads rows. It is opened, and then it runs: in the
 * session, as the caller, or on a protected relation in a worker, which charges the
 * budget in between.
 */
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

	/* Read rows, compute, and return what is released. NULL: there is only the charge. */
	Datum		(*run) (DpermCall *call);
} DpermFunction;

extern Datum dperm_call(FunctionCallInfo fcinfo, const DpermFunction *function);
extern ResourceOwner dperm_call_look(void);
extern void dperm_call_look_away(ResourceOwner before, bool keep);

/* The functions that a worker knows, and one of them. */
extern void dperm_worker_knows(const DpermFunction *functions, int count);
extern const DpermFunction *dperm_worker_function(const char *name);

/*
 * The phases of a process that runs a call on a protected relation (phase.c has
 * the rules of each). The caller has no right to read the relation, the owner has.
 * In check, open() of the call finds all mistakes, and reads no row; dates and
 * times are written as the caller writes them then, and nowhere else. In plan the
 * query over the rows is planned. Charged is the commit of the charge. In read,
 * run() reads and computes, and in row an expression of a view is evaluated. keep
 * stores what was released with the ledger, as a superuser.
 */
typedef enum DpermPhase
{
	DPERM_PHASE_SESSION,		/* any other process */
	DPERM_PHASE_CHECK,
	DPERM_PHASE_PLAN,
	DPERM_PHASE_CHARGED,
	DPERM_PHASE_READ,
	DPERM_PHASE_ROW,
	DPERM_PHASE_KEEP
} DpermPhase;

#define DPERM_CHECK_SECONDS 15

/* How long a process waits for a lock, unless it keeps a release. */
#define DPERM_LOCK_TIMEOUT "3s"

/* How the caller writes dates and times. */
#define DPERM_SETTING_MAX 512
typedef struct DpermPhaseStyle
{
	char		date_style[DPERM_SETTING_MAX];
	char		time_zone[DPERM_SETTING_MAX];
} DpermPhaseStyle;

extern void dperm_phase_stop(SIGNAL_ARGS);
extern void dperm_phase_init(Oid caller, const DpermPhaseStyle *style);
extern void dperm_phase_set_relation(Oid locked);
extern void dperm_phase_enter(DpermPhase phase, bool begins);
extern void dperm_phase_expect(DpermPhase phase);
extern bool dperm_phase_took_too_long(void);
extern void dperm_phase_end_row(const ErrorData *error);
extern void dperm_phase_log(const ErrorData *error, const char *what);

/*
 * A session and the worker of its call. The session writes the call to shared
 * memory: values, and nothing that could be executed. The worker sends messages,
 * each of which begins with a byte for its kind; errors and notices, 'E' and 'N',
 * are those of PostgreSQL's protocol.
 */
#define DPERM_MESSAGE_VALUE 'V'		/* the result, which is not NULL: a varlena */
#define DPERM_MESSAGE_ROW 'R'		/* a row of the result: a minimal tuple */
#define DPERM_MESSAGE_END 'Z'		/* the end */

/* Changes with the struct below and with the format of the arguments. */
#define DPERM_CALL_VERSION 0x64700006

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
	Oid			relation;		/* to be read; InvalidOid: none */
	LOCKTAG		place;			/* session and worker hold DPERM_PLACE_LOCK on it */
	Oid			role;			/* the current user of the call */
	int			session;		/* PID of the session */
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

extern PGDLLEXPORT void dperm_worker_main(Datum handle);

#endif							/* DPERM_PROTECT_H */
