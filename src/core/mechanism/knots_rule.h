/*
 * knots_rule.h: how many knots numbers have unless the caller specifies them.
 *
 * More knots follow the data more closely, and have more noise. What decides is
 * how far the number of units n exceeds the noise of straight lines,
 *
 *   s = n / sqrt(E|b|^2),    k = round(0.95 s^(1/3)), at most 16,
 *
 * where b is noise that has all of epsilon. Below 4 knots a straight line is as
 * good. All of this is public.
 */
#ifndef DPERM_KNOTS_RULE_H
#define DPERM_KNOTS_RULE_H

#include <stdint.h>

#include "core/encode/encoder.h"
#include "core/mechanism/setup.h"

/* The least number of knots that the rule chooses, apart from 1, and the largest. */
#define DPERM_KNOTS_LEAST 4
#define DPERM_KNOTS_MOST 16

/*
 * sqrt(E|b|^2) by epsilon, delta, neighbours, and the shape of the noise of
 * straight lines, which does not depend on the other parameters of a setup. 0
 * if epsilon is infinite.
 */
extern double dperm_knots_rule_noise(const DpermSetup *straight);

/*
 * The knots of the open numbers of an encoder (bend.h): 1, for straight lines,
 * or 4 to 16. As many coordinates as there can be are never exceeded.
 */
extern int	dperm_knots_rule(const DpermEncoder *straight, double noise, int64_t rows);

#endif							/* DPERM_KNOTS_RULE_H */
