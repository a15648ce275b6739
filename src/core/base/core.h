/*
 * core.h: what every room of the core may use: outcomes that depend on arguments,
 * the valid ranges of the learners' parameters, and names of an enum's values.
 */
#ifndef DPERM_CORE_H
#define DPERM_CORE_H

#include <stdint.h>
#include <string.h>

typedef enum DpermStatus
{
	DPERM_OK = 0,
	DPERM_BAD_FORMAT,			/* a text or binary form cannot be decoded */
	DPERM_NO_ENTROPY,			/* the random source failed */
	DPERM_NOT_CERTIFIED			/* a solver did not reach its goal; never the result of a fit */
} DpermStatus;

#define DPERM_EPSILON_MIN 1e-6
#define DPERM_EPSILON_MAX 500	/* if finite; the proof does not hold beyond */
#define DPERM_DELTA_MIN 1e-15	/* unless 0; well above the tail of the noise */
#define DPERM_LAMBDA_MIN 1e-10	/* of the effective Lambda */
#define DPERM_LAMBDA_MAX 1e9	/* of the requested one */
#define DPERM_SLACK_MIN 1e-3	/* share of epsilon; less needs an enormous lambda */
#define DPERM_SLACK_MAX 0.9
#define DPERM_DIM_MAX 5000
/*
 * Of the norm of a prior's weights: fifty thousand times what weights usually
 * have, and not so much that rounding would have to be hidden by more noise.
 */
#define DPERM_PRIOR_NORM_MAX 1e6
#define DPERM_BINS_MAX 1000	/* of a histogram of decisions */
#define DPERM_ROWS_MAX (INT64_C(1) << 33)	/* see core/solve/sums.h: compensated sums */

/* The position of a name, or -1. */
static inline int
dperm_find_name(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

#endif							/* DPERM_CORE_H */
