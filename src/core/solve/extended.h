/*
 * extended.h: the gradient over rows in extended precision.
 *
 * Doubles are enough for most trainings. If the weights are so large that the
 * rounding of outputs could hide more than the certificate allows, or if the
 * solver stops short of its goal, the gradient is computed in extended precision,
 * at weights that are pairs of doubles (docs/guarantee.md, "Extended precision").
 *
 * The loops over rows are those of doubles. Numbers are split into parts of so few
 * bits that the sums of the products of two parts are exact, and these sums are
 * added up in extended precision.
 */
#ifndef DPERM_EXTENDED_H
#define DPERM_EXTENDED_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/encode/layout.h"
#include "core/loss/loss.h"
#include "core/solve/codes.h"

/* The parts of a number: each but the last has so many bits, the last is what is left. */
#define DPERM_EXTENDED_PARTS 4
#define DPERM_EXTENDED_BITS 20
#define DPERM_EXTENDED_LEVELS 5

typedef struct DpermExtendedPass
{
	DpermLayout layout;
	DpermLoss	loss;
	int			dim;			/* weights */
	int			blocks;			/* classes, or 1 */
	int			waiting;		/* pieces of rows whose gradients are in levels, not in sum */
	DpermExtended *sum;			/* dim: of the gradients */

	/* of weights; of numbers of a few rows; of their slopes */
	double	   *weights[DPERM_EXTENDED_PARTS];
	double	   *rows[DPERM_EXTENDED_PARTS];
	double	   *slopes[DPERM_EXTENDED_PARTS];

	/* sums of outputs, and of gradients, by the size of products; and one more sum */
	double	   *outputs[DPERM_EXTENDED_LEVELS];
	double	   *levels[DPERM_EXTENDED_LEVELS];
	double	   *scratch;
} DpermExtendedPass;

/* How many doubles of room a pass needs, for dim weights in blocks, whatever the layout. */
extern size_t dperm_extended_room(int dim, int blocks);

/* Start a pass at weights, dim high and dim low parts. room stays in use. */
extern void dperm_extended_start(DpermExtendedPass *pass, DpermLoss loss,
								 const DpermLayout *layout, const double *weights,
								 const double *weights_low, double *room);

/* Add count rows, stride words apart, whose coded part is codes. */
extern void dperm_extended_add(DpermExtendedPass *pass, const DpermCodes *codes,
							   const double *rows, int count, size_t stride);

/* Add the sum of the gradients to high and low parts, and begin again with 0. */
extern void dperm_extended_flush(DpermExtendedPass *pass, double *gradient,
								 double *gradient_low);

/* Add one sum of gradients to another. */
extern void dperm_extended_merge(int dim, const double *more, const double *more_low,
								 double *gradient, double *gradient_low);

/*
 * A bound on |computed - exact| for the gradient of a regularised and tilted
 * mean over rows, at dim weights of this norm (docs/guarantee.md, Lemma 11).
 */
extern double dperm_extended_rounding(int dim, DpermLoss loss, int64_t rows, double lambda,
									  double norm, double tilt);

#endif							/* DPERM_EXTENDED_H */
