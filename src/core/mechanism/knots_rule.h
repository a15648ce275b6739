/*
 * knots_rule.h: how many knots numbers have unless the caller specifies them.
 *
 * More knots follow the data more closely, and have more noise. What decides is
 * how far the number of units n exceeds the noise b of an encoder with k knots,
 * which has all of epsilon: the rule chooses the largest k up to 16 with
 *
 *   k <= round(0.85 s^(1/3)),    s = n / sqrt(E|b|^2).
 *
 * Below 4 knots a straight line is as good. All of this is public.
 */
#ifndef DPERM_KNOTS_RULE_H
#define DPERM_KNOTS_RULE_H

#include <stdint.h>

#include "core/mechanism/setup.h"

/* The least number of knots that the rule chooses, apart from 1, and the largest. */
#define DPERM_KNOTS_LEAST 4
#define DPERM_KNOTS_MOST 16

/*
 * sqrt(E|b|^2) for the numbers of knots that the rule can choose; infinite for
 * those that it must not choose.
 */
typedef struct DpermKnotsNoise
{
	double		of[DPERM_KNOTS_MOST + 1];
} DpermKnotsNoise;

/*
 * sqrt(E|b|^2) by epsilon, delta, neighbours, loss and the shape of the noise,
 * for one class if there are several; it does not depend on the other parameters
 * of a setup. 0 if epsilon is infinite.
 */
extern double dperm_knots_rule_noise(const DpermSetup *setup);

/* The number of knots: 1, for straight lines, or 4 to 16. */
extern int	dperm_knots_rule(const DpermKnotsNoise *noise, int64_t rows);

#endif							/* DPERM_KNOTS_RULE_H */
