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

/* The value of a knot, from 0; the last one is at count - 1. */
extern double dperm_knots_value(const DpermBlock *block, int i);

/*
 * Are the knots of a block at even distances? Listed knots of a vector are for
 * elements of the same bounds.
 */
extern bool dperm_knots_are_even(const DpermBlock *block);

/* Let listed knots that are at even distances be no list. */
extern void dperm_knots_settle(DpermBlock *block);

#define DPERM_KNOTS_NONE (-1.0)

/*
 * The position of a number, or of element i of a vector: the share of the way from
 * the first knot to the last one, where each step from knot to knot is as long; of a
 * straight line, from the lower bound to the upper one. DPERM_KNOTS_NONE, which is
 * negative, if there is no number.
 */
extern double dperm_knots_position(const DpermBlock *block, const DpermValue *value, int i);

/* The entry of the second knot: what the first one leaves of the target, exactly. */
static inline double
dperm_knots_rest(double target, double entry)
{
	return target - entry;
}

/*
 * From a position, which is there, to a point: it is between the knot that is returned
 * and the next one, and *entry is the entry of the first of them. steps is the number of
 * knots less 1.
 *
 * The difference of the target and the entry is exact, whatever was rounded before: if
 * the product is at least half the target, the entry is exact, and the difference is the
 * product; else the entry is at least half the target (Sterbenz' lemma, twice).
 */
static inline int
dperm_knots_point(double position, double steps, double target, double *entry)
{
	double		way = position * steps;
	double		most = steps - 0.5; /* before the last knot */
	int			place = (int) (way < most ? way : most);

	*entry = target - target * (way - place);
	return place;
}

/*
 * The same for a number, or element i of a vector: returns the first knot, or -1 if
 * there is no number; *entry is 0 then.
 */
extern int	dperm_knots_place(const DpermBlock *block, const DpermValue *value, int i,
							  double target, double *entry);

/* The entry of a straight line: a multiple of the target, between -1 and 1. */
static inline double
dperm_knots_line(double position, double target)
{
	return position < 0 ? 0 : target * (2 * position - 1);
}

#endif							/* DPERM_KNOTS_H */
