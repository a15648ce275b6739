/*
 * squares.c: what the numbers of rows, and the intercept, add to a Hessian.
 */
#include "core/solve/squares.h"

#include <math.h>

#include "core/base/blas.h"
#include "core/base/vector.h"

/* How many doubles of room they need. */
size_t
dperm_squares_room(int dim, int rows)
{
	size_t		d = (size_t) dim;

	return (size_t) rows * d + d * d / 2 + 1;
}

DpermSquares
dperm_squares_make(int dim, int rows, double *room)
{
	return (DpermSquares) {
		.scaled = room,
		.rough_scaled = (float *) room,
		.rough_hess = (float *) (room + (size_t) rows * (size_t) dim)
	};
}

/* Add rows in doubles. */
static void
add_dense_curves(DpermSquares *s, const DpermLayout *layout, const double *rows, int count,
				 size_t stride, const double *curvatures, double *hess)
{
	const double unit = 1;
	int			wide = layout->first_code;
	double	   *to = s->scaled;
	int			curved;

	for (int i = 0; i < count; i++)
	{
		double		root = sqrt(curvatures[i]);

		/* rows on a flat piece of the loss, or without a label, have no second derivative */
		if (root == 0)
			continue;
		dperm_scale((size_t) layout->dense, root, rows + i * stride, to);
		if (dperm_layout_has_constant(layout))
			to[layout->dense] = root * layout->unit;
		to += wide;
	}
	curved = (int) ((to - s->scaled) / wide);
	if (wide <= DPERM_BLAS_SMALL)
		dperm_add_squares((size_t) curved, (size_t) wide, s->scaled, hess, (size_t) layout->dim);
	else if (curved > 0)
		dperm_blas()->dsyrk("L", "N", &wide, &curved, &unit, s->scaled, &wide, &unit, hess,
							&layout->dim);
}

/* Add what has not been added to the Hessian yet. */
void
dperm_squares_fold(DpermSquares *s, const DpermLayout *layout, double *hess)
{
	size_t		d = (size_t) layout->dim;
	size_t		wide = (size_t) layout->first_code;

	for (size_t j = 0; j < wide && s->rough_rows > 0; j++)
		for (size_t i = j; i < wide; i++)
			hess[j * d + i] += s->rough_hess[j * wide + i];
	s->rough_rows = 0;
}

/* Add rows in single precision. */
static void
add_rough_curves(DpermSquares *s, const DpermLayout *layout, const double *rows, int count,
				 size_t stride, const double *curvatures, double *hess)
{
	const float unit = 1;
	float		keep;
	int			wide = layout->first_code;
	float	   *to = s->rough_scaled;
	int			curved;

	for (int i = 0; i < count; i++)
	{
		const double *row = rows + i * stride;
		float		root = sqrtf((float) curvatures[i]);

		if (root == 0)
			continue;
		for (size_t j = 0; j < (size_t) layout->dense; j++)
			to[j] = root * (float) row[j];
		if (dperm_layout_has_constant(layout))
			to[layout->dense] = root * (float) layout->unit;
		to += wide;
	}
	curved = (int) ((to - s->rough_scaled) / wide);
	if (curved == 0)
		return;
	if (s->rough_rows + curved > DPERM_ROUGH_ROWS)
		dperm_squares_fold(s, layout, hess);
	keep = s->rough_rows > 0 ? 1 : 0;
	dperm_blas()->ssyrk("L", "N", &wide, &curved, &unit, s->rough_scaled, &wide, &keep,
						s->rough_hess, &wide);
	s->rough_rows += curved;
}

/* Add rows. */
void
dperm_squares_add(DpermSquares *s, const DpermLayout *layout, const double *rows, int count,
				  size_t stride, const double *curvatures, double *hess)
{
	if (s->rough)
		add_rough_curves(s, layout, rows, count, stride, curvatures, hess);
	else
		add_dense_curves(s, layout, rows, count, stride, curvatures, hess);
}
