/*
 * corrections.h: what the last steps of a solver say about its metric (BFGS,
 * Nocedal 1980).
 */
#ifndef DPERM_CORRECTIONS_H
#define DPERM_CORRECTIONS_H

#include <stddef.h>

#include "core/solve/metric.h"

/* Corrections that are remembered. */
#define DPERM_CORRECTIONS 10

/* A point and what is known of G there. */
typedef struct DpermPoint
{
	double	   *weights;
	double	   *gradient;
	double		value;
	double		norm;			/* of the gradient */
} DpermPoint;

typedef struct DpermCorrections
{
	int			dim;
	int			count;
	/* the oldest first */
	double	   *moves;			/* dim each */
	double	   *changes;		/* of the gradient, along the moves */
	double		products[DPERM_CORRECTIONS];	/* of the two */
} DpermCorrections;

/* How many doubles of room they need. */
extern size_t dperm_corrections_room(int dim);

/* None so far. */
extern DpermCorrections dperm_corrections_make(int dim, double *room);

/* Add the move from a point to another, of an objective that is lambda-convex. */
extern void dperm_corrections_add(DpermCorrections *c, const DpermPoint *from,
								  const DpermPoint *to, double lambda);

/* Multiply a vector by the inverse of the corrected metric. */
extern void dperm_corrections_solve(const DpermCorrections *c, const DpermMetric *metric,
									double *x);

#endif							/* DPERM_CORRECTIONS_H */
