/*
 * oracle.h: runs solvers and fits to their end, with an oracle that answers
 * their questions.
 */
#ifndef DPERM_TEST_ORACLE_H
#define DPERM_TEST_ORACLE_H

#include <string.h>

#include "core/mechanism/fit.h"
#include "core/solve/sums.h"
#include "core/solve/solver.h"

/* What answers questions. */
typedef struct Oracle
{
	void		(*answer) (void *arg, const DpermAsk *ask);
	void	   *arg;
} Oracle;

static inline void
oracle_matrix_answer(void *arg, const DpermAsk *ask)
{
	dperm_matrix_answer(arg, ask);
}

/* Rows in memory as an oracle. */
static inline Oracle
oracle_of(DpermMatrix *matrix)
{
	return (Oracle) {oracle_matrix_answer, matrix};
}

/* A problem that is being solved. */
typedef struct OracleSearch
{
	Oracle		oracle;
	const DpermProblem *problem;
	double	   *weights;
	bool		certified;
} OracleSearch;

static inline bool
oracle_certify(void *arg, const DpermAsk *ask)
{
	OracleSearch *search = arg;

	search->oracle.answer(search->oracle.arg, ask);
	search->certified = dperm_certify(&search->problem->objective, ask);
	if (search->certified)
		memcpy(search->weights, ask->weights, sizeof(double) * (size_t) search->problem->objective.dim);
	return search->certified;
}

/* Solve a problem until the weights are certified; are they? */
static inline bool
oracle_solve(Oracle oracle, const DpermProblem *problem, double *weights, double *room)
{
	OracleSearch search = {oracle, problem, weights, false};

	dperm_solver_run(problem, oracle_certify, &search, weights, room);
	return search.certified;
}

/* Run a fit, the release included. */
static inline DpermStatus
oracle_fit(Oracle oracle, const DpermFit *fit, double *weights, double *room)
{
	DpermFitting fitting;

	dperm_fit_start(&fitting, fit, weights, room);
	dperm_fit_minimise(&fitting, oracle.answer, oracle.arg);
	return dperm_fit_end(&fitting);
}

#endif							/* DPERM_TEST_ORACLE_H */
