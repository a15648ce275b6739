/*
 * oracle.h: runs solvers and fits to their end, with an oracle that answers
 * every request immediately.
 */
#ifndef DPERM_TEST_ORACLE_H
#define DPERM_TEST_ORACLE_H

#include <string.h>

#include "core/mechanism/fit.h"
#include "core/solve/sums.h"
#include "core/solve/solver.h"

/* The status of a search that has ended without certified weights. */
#define ORACLE_NOT_CERTIFIED ((DpermStatus) 100)

/* What answers the requests. */
typedef struct Oracle
{
	DpermStatus (*answer) (void *arg, const DpermAsk *ask);
	void	   *arg;
} Oracle;

static inline DpermStatus
oracle_matrix_answer(void *arg, const DpermAsk *ask)
{
	dperm_matrix_answer(arg, ask);
	return DPERM_OK;
}

/* Rows in memory as an oracle. */
static inline Oracle
oracle_of(DpermMatrix *matrix)
{
	return (Oracle) {oracle_matrix_answer, matrix};
}

/*
 * Solve a problem, until the weights are certified: whether they are, or the
 * first status of the oracle that is not DPERM_OK.
 */
static inline DpermStatus
oracle_solve(Oracle oracle, const DpermProblem *problem, double *weights, double *room)
{
	DpermSolver solver;
	DpermAsk	ask;

	dperm_solver_start(&solver, problem, weights, room);
	while (dperm_solver_next(&solver, &ask))
	{
		DpermStatus status = oracle.answer(oracle.arg, &ask);

		if (status != DPERM_OK)
			return status;
		if (dperm_certify(&problem->objective, &ask))
		{
			memcpy(weights, ask.weights, sizeof(double) * (size_t) problem->objective.dim);
			return DPERM_OK;
		}
	}
	return ORACLE_NOT_CERTIFIED;
}

/* Run a fit, the release included. */
static inline DpermStatus
oracle_fit(Oracle oracle, const DpermFit *fit, double *weights, double *room)
{
	DpermFitting fitting;
	DpermAsk	ask;

	dperm_fit_start(&fitting, fit, weights, room);
	while (dperm_fit_next(&fitting, &ask))
		fitting.status = oracle.answer(oracle.arg, &ask);
	return dperm_fit_end(&fitting);
}

#endif							/* DPERM_TEST_ORACLE_H */
