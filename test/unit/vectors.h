/*
 * vectors.h: passes over plain vectors in memory, one after the other.
 */
#ifndef DPERM_TEST_VECTORS_H
#define DPERM_TEST_VECTORS_H

#include "core/solve/sums.h"

/* Start a pass over vectors. */
static inline void
vectors_init(DpermMoments *m, DpermLoss loss, int dim, bool hessian, const double *weights, double *room)
{
	DpermLayout layout = dperm_layout_dense(dim);

	dperm_moments_start(m, hessian ? DPERM_PASS_HESSIAN : DPERM_PASS_GRADIENT, loss, &layout, weights, NULL, room);
}

/* Add rows, vectors or others, to a pass. */
static inline void
vectors_add(DpermMoments *m, const double *rows, int64_t count)
{
	dperm_moments_add(m, rows, count, 1);
}

#endif							/* DPERM_TEST_VECTORS_H */
