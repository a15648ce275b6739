/*
 * knots.h: a number as a point of a curve.
 *
 * A number between two neighbouring knots is written as two entries, one for
 * each of them, by linear interpolation: hat functions. The weights of a block
 * of knots are the points of a curve, so that a linear model of such blocks is
 * an additive model of the columns. Both entries have the sign of the target,
 * and they add up to it exactly, as the entries of a category do
 * (docs/guarantee.md, "Encoding"). A vector over knots is one such number after
 * the other. A number with a scale is interpolated on it, and its knots are at
 * even distances there.
 */
#ifndef DPERM_KNOTS_H
#define DPERM_KNOTS_H

#include <stdbool.h>

#include "core/encode/block.h"

/* What is wrong with the bounds and knots of a number, or NULL. */
extern const char *dperm_knots_fault(const DpermBlock *block);

/* The position of a knot, from 0; the last one is at count - 1. */
extern double dperm_knots_position(const DpermBlock *block, int i);

/*
 * Are the knots of a block at even distances? Listed knots of a vector are for
 * elements of the same bounds.
 */
extern bool dperm_knots_are_even(const DpermBlock *block);

/* Let listed knots that are at even distances be no list. */
extern void dperm_knots_settle(DpermBlock *block);

/* The entry of the second knot: what the first one leaves of the target, exactly. */
static inline double
dperm_knots_rest(double target, double entry)
{
	return target - entry;
}

/*
 * The place of a number among the knots: it is between knot i, which is
 * returned, and knot i + 1. *entry is the entry of knot i, that of knot i + 1
 * is dperm_knots_rest(target, *entry). -1 if there is no number; *entry is 0
 * then.
 */
extern int	dperm_knots_place(const DpermBlock *block, const DpermValue *value, double target,
							  double *entry);

/*
 * The same for part i of a block of curves, which is a number or a vector; of a
 * vector that is not present, there is no number.
 */
extern int	dperm_knots_place_part(const DpermBlock *block, const DpermValue *value, int i,
								   double target, double *entry);

/*
 * The same for count even knots and a number that is already encoded as a
 * straight line: a multiple of target, between -1 and 1.
 */
extern int	dperm_knots_bend(int count, double line, double target, double *entry);

#endif							/* DPERM_KNOTS_H */
