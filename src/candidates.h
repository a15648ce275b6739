/*
 * candidates.h: the candidates of a tuning, out of its arguments.
 */
#ifndef DPERM_CANDIDATES_H
#define DPERM_CANDIDATES_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "options.h"

typedef struct DpermCandidate
{
	DpermOptions options;
	double		factor;			/* of the default lambda; 0: lambda is in the options */
} DpermCandidate;

typedef struct DpermCandidates
{
	DpermCandidate *each;
	int			count;
	Jsonb	   *given;			/* the argument; NULL: they differ in lambda alone */
} DpermCandidates;

/*
 * The candidates of the arguments candidates and lambdas, or else the grid by default: each is base, which holds the other
 * options, with changes. Raises for mistakes, and for candidates that no model could list.
 */
extern void dperm_candidates_read(DpermCandidates *candidates, FunctionCallInfo fcinfo,
								  const DpermOptions *base);

/* The candidates as JSON: what was given, or the lambdas, once factors are settled. */
extern char *dperm_candidates_json(const DpermCandidates *candidates);

#endif							/* DPERM_CANDIDATES_H */
