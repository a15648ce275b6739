/*
 * candidates.h: the candidates of a tuning, out of its arguments.
 */
#ifndef DPERM_CANDIDATES_H
#define DPERM_CANDIDATES_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "base/options.h"

typedef struct DpermCandidates
{
	DpermOptions *each;
	int			count;
	Jsonb	   *given;			/* the argument; NULL: they differ in lambda or scale alone */
} DpermCandidates;

/*
 * The candidates of the arguments candidates and lambdas, or else the grid by
 * default: each is base, which holds the other options, with changes. Raises
 * for mistakes, and for candidates that no model could list.
 */
extern void dperm_candidates_read(DpermCandidates *candidates, FunctionCallInfo fcinfo,
								  const DpermOptions *base);

/*
 * The chosen candidate and all of them, as members of a JSON object: what was
 * given, or what they differ in.
 */
extern char *dperm_candidates_json(const DpermCandidates *candidates, int chosen);

#endif							/* DPERM_CANDIDATES_H */
