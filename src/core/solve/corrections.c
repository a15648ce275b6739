/*
 * corrections.c: what the last steps of a solver say about its metric.
 */
#include "core/solve/corrections.h"

#include <string.h>

#include "core/base/linsys.h"

/* How many doubles of room they need. */
size_t
dperm_corrections_room(int dim)
{
	return 2 * DPERM_CORRECTIONS * (size_t) dim;
}

DpermCorrections
dperm_corrections_make(int dim, double *room)
{
	return (DpermCorrections) {
		.dim = dim, .moves = room, .changes = room + DPERM_CORRECTIONS * (size_t) dim
	};
}

/* Forget the oldest. */
static void
forget_oldest(DpermCorrections *c)
{
	size_t		size = sizeof(double) * (size_t) c->dim;

	c->count--;
	memmove(c->moves, c->moves + c->dim, size * (size_t) c->count);
	memmove(c->changes, c->changes + c->dim, size * (size_t) c->count);
	memmove(c->products, c->products + 1, sizeof(double) * (size_t) c->count);
}

/* Add a move. */
void
dperm_corrections_add(DpermCorrections *c, const DpermPoint *from, const DpermPoint *to,
					  double lambda)
{
	double	   *move;
	double	   *change;
	double		product;

	if (c->count == DPERM_CORRECTIONS)
		forget_oldest(c);
	move = c->moves + (size_t) c->count * c->dim;
	change = c->changes + (size_t) c->count * c->dim;
	for (int i = 0; i < c->dim; i++)
	{
		move[i] = to->weights[i] - from->weights[i];
		change[i] = to->gradient[i] - from->gradient[i];
	}

	/* anything else is rounding */
	product = dperm_dot(c->dim, move, change);
	if (product >= lambda / 2 * dperm_dot(c->dim, move, move) && product > 0)
		c->products[c->count++] = product;
}

/* Multiply by the inverse. */
void
dperm_corrections_solve(const DpermCorrections *c, const DpermMetric *metric, double *x)
{
	double		share[DPERM_CORRECTIONS];

	for (int k = c->count - 1; k >= 0; k--)
	{
		const double *change = c->changes + (size_t) k * c->dim;

		share[k] = dperm_dot(c->dim, c->moves + (size_t) k * c->dim, x) / c->products[k];
		for (int i = 0; i < c->dim; i++)
			x[i] -= share[k] * change[i];
	}
	dperm_metric_solve(metric, x);
	for (int k = 0; k < c->count; k++)
	{
		const double *move = c->moves + (size_t) k * c->dim;
		double		left =
			share[k] - dperm_dot(c->dim, c->changes + (size_t) k * c->dim, x) / c->products[k];

		for (int i = 0; i < c->dim; i++)
			x[i] += left * move[i];
	}
}
