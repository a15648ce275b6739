/*
 * phase.h: what a process that runs a call on a protected relation is doing, and
 * what it may do (phase.c has the rules of each phase).
 *
 * The caller has no right to read the relation, the owner has. In check, open()
 * of the call finds all mistakes, and reads no row; dates and times are written as
 * the caller writes them then, and nowhere else. In plan the query over the rows
 * is planned. Charged is the commit of the charge. In read, run() reads and
 * computes, and in row an expression of a view is evaluated. keep stores what was
 * released with the ledger, as a superuser.
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

extern void dperm_phase_catch_signals(void);
extern void dperm_phase_init(Oid caller, const DpermPhaseStyle *style);
extern void dperm_phase_set_owner(Oid owner);
extern void dperm_phase_enter(DpermPhase phase, bool begins);
extern DpermPhase dperm_phase(void);
extern void dperm_phase_expect(DpermPhase phase);
extern bool dperm_phase_took_too_long(void);
extern void dperm_phase_end_row(const ErrorData *error);
extern const ErrorData *dperm_phase_row_error(void);

#endif							/* DPERM_PHASE_H */
