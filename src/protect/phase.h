/*
 * phase.h: what a process that runs a call on a protected relation is doing, and
 * what it may do.
 *
 *	phase	transaction	user	READ ONLY	messages	time limit
 *	check	first		caller	no			all			15 s, with plan
 *	plan	first		owner	yes			marked
 *	charged	first		caller	no			all			none
 *	read	second		owner	yes			marked		dperm.call_timeout, with row
 *	row		second		owner	yes			none
 *	keep	third		server	no			marked		none
 *
 * The caller has no right to read the relation, the owner has. In check, open()
 * of the call finds all mistakes, and reads no row; dates and times are written as
 * the caller writes them then, and nowhere else; charged is the commit of the
 * charge. In read, run() reads and computes, and in row an expression of a view
 * is evaluated. keep stores what was released with the ledger, as a superuser.
 *
 * An error is passed on whole if messages are, and else if it is marked as public
 * (message.h). Otherwise only its class is.
 */
#ifndef DPERM_PHASE_H
#define DPERM_PHASE_H

#include "utils/elog.h"

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

/* Have a cancel end the call. */
extern void dperm_phase_catch_signals(void);

/*
 * Set up a process that has just connected to its database. From now on it plans
 * without statistics, which are computed from rows.
 */
extern void dperm_phase_init(Oid caller, const DpermPhaseStyle *style);

/*
 * Whose relation is read: known once it is locked, and before anything is
 * planned.
 */
extern void dperm_phase_set_owner(Oid owner);

/*
 * Enter a phase: set user, session user, READ ONLY, messages and time limit as
 * above. begins says that the transaction has just begun. There are no other ways
 * from phase to phase than check - plan - check, check - charged - read, read -
 * row - read, and from all after the charge to keep: any other is an error.
 */
extern void dperm_phase_enter(DpermPhase phase, bool begins);

/* The phase; and an error unless it is this one. */
extern DpermPhase dperm_phase(void);
extern void dperm_phase_expect(DpermPhase phase);

/* Has a time limit passed? */
extern bool dperm_phase_took_too_long(void);

/*
 * Go back from row to read, with the error that the row has caused, or NULL.
 * Raises an error if the call was told to stop meanwhile. The second function
 * returns the first error of a row, for the log, or NULL.
 */
extern void dperm_phase_end_row(const ErrorData *error);
extern const ErrorData *dperm_phase_row_error(void);

#endif							/* DPERM_PHASE_H */
