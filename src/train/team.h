/*
 * team.h: parallel workers that sum up rows together with this process. Trusted.
 *
 * For rows that several processes have loaded. Each member has a share of the
 * chunks and answers the questions of the solver for them: src/README.md, "All
 * cores".
 */
#ifndef DPERM_TEAM_H
#define DPERM_TEAM_H

#include "storage/dsm.h"
#include "storage/shm_toc.h"

#include "core/solve/sums.h"
#include "train/load.h"

typedef struct DpermTeam DpermTeam;

/*
 * Let a team help with the rows of some sets, for trainings with at most so
 * many blocks of weights (loss.h); NULL if it would not pay. Until it ends, the
 * transaction may be in parallel mode: nothing may be written, and no query may
 * run that calls code of others.
 */
extern DpermTeam *dperm_team_begin(DpermLoad **sets, int count, int blocks);

/*
 * Sum up all rows of a set for a question, into a pass that has been started for
 * a matrix; by a team that helps with the set or, if it is NULL, alone.
 */
extern void dperm_team_sum(DpermTeam *team, DpermRows *rows, const DpermMatrix *x,
						   const DpermAsk *ask, DpermMoments *m);

/* End a team, which may be NULL. Is the memory of its rows given back, too? */
extern void dperm_team_end(DpermTeam *team, bool discard);

/* The main function of a member. */
extern PGDLLEXPORT void dperm_team_main(dsm_segment *segment, shm_toc *toc);

#endif							/* DPERM_TEAM_H */
