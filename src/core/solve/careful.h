/*
 * careful.h: a gradient over rows in twice the precision.
 *
 * Doubles are enough for most trainings. If the weights are so large that the
 * rounding of margins could hide more than the certificate allows, or if the
 * solver stops short of its goal, the gradient is computed in wide numbers, at
 * weights that are also wide (docs/guarantee.md, "Careful passes").
 */
#ifndef DPERM_CAREFUL_H
#define DPERM_CAREFUL_H

#include <stddef.h>
#include <stdint.h>

#include "core/encode/layout.h"
#include "core/loss/loss.h"

/*
 * The sum of the gradients of count rows, stride words apart. Weights and sums
 * are dim high parts and dim low parts.
 */
extern void dperm_careful_sum(const DpermLayout *layout, DpermLoss loss, const double *rows,
							  int count, size_t stride, const double *weights,
							  const double *weights_low, double *gradient, double *gradient_low);

/*
 * The same with several classes, in the order of several.h; room is for two
 * doubles for each class.
 */
extern void dperm_careful_sum_several(const DpermLayout *layout, DpermLoss loss,
									  const double *rows, int count, size_t stride,
									  const double *weights, const double *weights_low,
									  double *gradient, double *gradient_low, double *room);

/* Add one sum of gradients to another. */
extern void dperm_careful_merge(int dim, const double *more, const double *more_low,
								double *gradient, double *gradient_low);

/*
 * A bound on |computed - exact| for the gradient of a regularised and tilted
 * mean over rows, at dim weights of this norm (docs/guarantee.md, "Careful
 * passes").
 */
extern double dperm_careful_rounding(int dim, DpermLoss loss, int64_t rows, double lambda,
									 double norm, double tilt);

#endif							/* DPERM_CAREFUL_H */
