/*
 * promise.h: what a guarantee says and does not say, in words.
 */
#ifndef DPERM_PROMISE_H
#define DPERM_PROMISE_H

#include "lib/stringinfo.h"

#include "core/privacy/claim.h"

/* What is said of a claim in several places. */
typedef struct DpermPromise
{
	DpermClaim	claim;
	const char *released;		/* "the model", "what was released"; begins no sentence */
	bool		is_protected;	/* was it paid for from a budget? */
	bool		is_budget;		/* is it about all releases of one? */
	bool		is_unit_open;	/* is it not known yet whether rows or persons are meant? */
	bool		is_tuned;		/* were parameters chosen by looking at private rows? */
	bool		has_kernel;
} DpermPromise;

/* In plain words, and what an attacker can find out at most. */
extern void dperm_promise_plain(StringInfo page, const DpermPromise *promise);

/* What has to be true for it to hold, and what it does not say. */
extern void dperm_promise_limits(StringInfo page, const DpermPromise *promise);

/* Which tables are neighbours; who has to be trusted with what. */
extern const char *dperm_promise_neighbours(const DpermClaim *claim);
extern const char *dperm_promise_actors(const DpermPromise *promise);

#endif							/* DPERM_PROMISE_H */
