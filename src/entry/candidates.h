/* candidates.h: the candidates of a tuning, from its arguments. */
#ifndef DPERM_CANDIDATES_H
#define DPERM_CANDIDATES_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "base/options.h"

typedef struct DpermCandidates
{
	DpermOptions *each;
	int			count;
	Jsonb	   *given;			/* the argument; NULL: they are the default grid */
} DpermCandidates;

/*
 * The candidates from the argument of that name, or else the default grid: each
 * is base, which has the other options, with changes. Raises an error for
 * mistakes, and for candidates that cannot be stored in a model.
 */
extern void dperm_candidates_read(DpermCandidates *candidates, FunctionCallInfo fcinfo,
								  const DpermOptions *base);

/*
 * The chosen candidate and all of them, as members of a JSON object: as
 * specified, or what they differ in.
 */
extern char *dperm_candidates_json(const DpermCandidates *candidates, int chosen);

#endif							/* DPERM_CANDIDATES_H */
