/*
 * score.c: what a model says about one vector.
 */
#include "score.h"

#include <math.h>

/* The weighted sum of one encoded vector. */
double
dperm_score_decision(const DpermEncoder *enc, const double *weights,
					 const double *raw, double *room)
{
	int			dim = dperm_encoder_dim(enc);
	double		sum = 0.0;

	dperm_encode_vector(enc, raw, 1.0, room);
	for (int i = 0; i < dim; i++)
		sum += weights[i] * room[i];
	return sum;
}

/* The logistic function. */
double
dperm_score_probability(double decision)
{
	double		e;

	/* exp() of a number that is not positive stays in [0, 1]. */
	if (decision >= 0.0)
		return 1.0 / (1.0 + exp(-decision));
	e = exp(decision);
	return e / (1.0 + e);
}
