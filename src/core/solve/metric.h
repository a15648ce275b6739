/*
 * metric.h: an approximate Hessian of the objective, and its inverse: what the
 * solver measures steps with. Nothing relies on it (certify.h). Fast.
 *
 * With one block of weights it is the Hessian itself, dim x dim. With K classes
 * and d coordinates that would be K d x K d, and a number that is added to all
 * classes of a coordinate changes no loss. So the constant part of a coordinate has
 * the curvature lambda, and what is left of class k has
 *
 *   K/(K-1) S_kk A/tr(S) + lambda,    S = mean of S_i,  A = mean of tr(S_i) x_i x_i',
 *
 * where S_i is the curvature of a row by pairs of classes. At weights 0 that is the
 * Hessian.
 *
 * What the last steps say about it corrects it (BFGS, Nocedal 1980).
 */
#ifndef DPERM_METRIC_H
#define DPERM_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/core.h"

/* Corrections that are remembered. */
#define DPERM_CORRECTIONS 60

/* A point and what is known of the objective there. */
typedef struct DpermPoint
{
	/* vectors of pairs (core.h), whose low parts are 0 where doubles are enough */
	double	   *weights;
	double	   *gradient;
	double		value;
	double		norm;			/* of the gradient */
} DpermPoint;

typedef struct DpermMetric
{
	int			dim;			/* weights */
	int			blocks;			/* classes, or 1 */
	double		lambda;			/* of the regulariser */
	/*
	 * What a pass answers (sums.h): the Hessian of the mean loss, d x d by
	 * columns, lower triangle; with several classes A, then the diagonal of S.
	 */
	double	   *hess;
	double	   *factors;		/* of the second class and those after it */
	double	   *column;			/* scratch: d */
	double	   *constant;		/* scratch: d, of constant parts */
	double		plain;			/* not 0: it is indefinite, and this takes its place */

	/* corrections, the oldest first */
	int			count;
	double	   *moves;			/* dim each */
	double	   *changes;		/* of the gradient, along the moves */
	double		products[DPERM_CORRECTIONS];	/* of the two */
} DpermMetric;

/* How many doubles of room it needs. */
extern size_t dperm_metric_room(int dim, int blocks);

extern DpermMetric dperm_metric_make(int dim, int blocks, double lambda, double *room);

/*
 * From the answer to a factor, without corrections. If rounding has made it
 * indefinite, it is the sum of its eigenvalues times the identity.
 */
extern void dperm_metric_factor(DpermMetric *metric);

/* Correct it by the move from a point to another, of an objective that is lambda-convex. */
extern void dperm_metric_correct(DpermMetric *metric, const DpermPoint *from,
								 const DpermPoint *to);

/* Multiply a vector by the inverse. */
extern void dperm_metric_solve(const DpermMetric *metric, double *x);

#endif							/* DPERM_METRIC_H */
