/*
 * conjugate.h: a Newton step by conjugate gradients, with a metric as the
 * preconditioner.
 *
 * For several classes: the Hessian is too large, but a pass can multiply it by
 * a vector. Each product is a question (ask.h).
 */
#ifndef DPERM_CONJUGATE_H
#define DPERM_CONJUGATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/solve/ask.h"
#include "core/solve/metric.h"

typedef struct DpermConjugate
{
	DpermMetric metric;			/* factored */
	double		lambda;
	const double *weights;		/* where the Hessian is */
	double		goal;			/* stop where the residual is at most this */
	int			left;			/* products that may still be asked for */
	double		fit;			/* residual times its preconditioned form */
	double		value;			/* not used */
	/* dim each */
	double	   *step;			/* so far: at the end, the result */
	double	   *residual;
	double	   *direction;
	double	   *product;
} DpermConjugate;

/* How many doubles of room it needs. */
extern size_t dperm_conjugate_room(int dim);

/*
 * Begin at step 0; and ask the first question. The residual, of what the step
 * should do to the gradient, has to become at most goal, after so many products
 * at most.
 */
extern void dperm_conjugate_start(DpermConjugate *c, const DpermMetric *metric, double lambda,
								  const double *weights, const double *gradient, double goal,
								  int most, double *room, DpermAsk *ask);

/*
 * Process the answer to the last question, and ask the next one; false at the
 * end. The step is a direction of descent, however soon it ends.
 */
extern bool dperm_conjugate_next(DpermConjugate *c, DpermAsk *ask);

#endif							/* DPERM_CONJUGATE_H */
