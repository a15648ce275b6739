/*
 * loss.c: the three margin losses.
 */
#include "loss.h"

#include <math.h>

#include "names.h"
#include "vector.h"

/* log(1 + exp(-z)), with exp only of what cannot overflow. */
static DpermLossAt
logistic_at(double z)
{
	double		e = exp(-fabs(z));	/* in (0, 1] */
	double		log_part = log1p(e);
	DpermLossAt at;

	if (z >= 0)
	{
		at.value = log_part;
		at.slope = -e / (1 + e);
	}
	else
	{
		at.value = log_part - z;
		at.slope = -1 / (1 + e);
	}
	at.curve = fmin(0.25, e / ((1 + e) * (1 + e)));
	return at;
}

/* The paper's Huber loss: a parabola of width 2h between 0 and 1 - z. */
static DpermLossAt
huber_at(double z, double h)
{
	DpermLossAt at = {0, 0, 0};

	if (z > 1 + h)
		return at;
	if (z < 1 - h)
	{
		at.value = 1 - z;
		at.slope = -1;
		return at;
	}
	at.value = (1 + h - z) * (1 + h - z) / (4 * h);
	at.slope = fmax(-1, fmin(0, -(1 + h - z) / (2 * h)));
	at.curve = 1 / (2 * h);
	return at;
}

/* The paper's l_s: a quartic between 0 and 1 - z, twice differentiable. */
static DpermLossAt
smooth_hinge_at(double z, double h)
{
	DpermLossAt at = {0, 0, 0};
	double		q;

	if (z > 1 + h)
		return at;
	if (z < 1 - h)
	{
		at.value = 1 - z;
		at.slope = -1;
		return at;
	}
	q = (1 - z) / h;			/* in [-1, 1] */
	at.value = h * fmax(0, ((-q * q / 16 + 3.0 / 8) * q + 0.5) * q + 3.0 / 16);
	at.slope = fmax(-1, fmin(0, (q * q - 3) * q / 4 - 0.5));
	at.curve = 0.75 * fmax(0, 1 - q * q) / h;
	return at;
}

/* The loss and its first two derivatives at margin z. */
DpermLossAt
dperm_loss_at(DpermLoss loss, double z)
{
	switch (loss.kind)
	{
		case DPERM_LOSS_HUBER:
			return huber_at(z, loss.h);
		case DPERM_LOSS_SMOOTH_HINGE:
			return smooth_hinge_at(z, loss.h);
		case DPERM_LOSS_LOGISTIC:
			break;
	}
	return logistic_at(z);
}

/* Two margins of the logistic loss: their slopes, what the block's loss is made of, and exp(-|z|). */
static inline DpermPair
logistic_pair(DpermPair z, DpermPair *product, DpermPair *linear, DpermPair *e)
{
	const DpermPair least = dperm_both(-708);	/* exp() is as good as zero from here on */
	DpermInts	negative = z < 0;
	DpermPair	away = (DpermPair) ((DpermInts) z | INT64_MIN);	/* -|z| */

	*e = dperm_exp(dperm_choose(away < least, least, away));
	*product *= 1 + *e;
	*linear -= dperm_choose(negative, z, dperm_both(0));
	return dperm_choose(negative, dperm_both(-1), -*e) / (1 + *e);
}

/* Their curvatures. */
static inline DpermPair
logistic_curves(DpermPair e)
{
	DpermPair	curve = e / ((1 + e) * (1 + e));

	return dperm_choose(curve > 0.25, dperm_both(0.25), curve);
}

/*
 * The logistic loss of a block. The logarithms are taken of products: of the factors 1 + e, which
 * are between 1 and 2, a block has few enough not to overflow.
 */
static double
logistic_block(int count, double *margins, double *curves)
{
	DpermPair	product = dperm_both(1);
	DpermPair	linear = dperm_both(0);
	DpermPair	e;
	int			i = 0;

	for (; i + 2 <= count; i += 2)
	{
		dperm_put_pair(logistic_pair(dperm_pair_at(margins + i), &product, &linear, &e), margins + i);
		if (curves)
			dperm_put_pair(logistic_curves(e), curves + i);
	}
	if (i < count)
	{
		/* a margin of infinity beside the last one adds nothing */
		DpermPair	last = {margins[i], INFINITY};

		margins[i] = logistic_pair(last, &product, &linear, &e)[0];
		if (curves)
			curves[i] = logistic_curves(e)[0];
	}
	return linear[0] + linear[1] + log(product[0]) + log(product[1]);
}

/* Losses, slopes and curvatures of a block. */
double
dperm_loss_block(DpermLoss loss, int count, double *margins, double *curves)
{
	double		value = 0;

	if (loss.kind == DPERM_LOSS_LOGISTIC)
		return logistic_block(count, margins, curves);
	for (int i = 0; i < count; i++)
	{
		DpermLossAt at = loss.kind == DPERM_LOSS_HUBER ? huber_at(margins[i], loss.h) :
			smooth_hinge_at(margins[i], loss.h);

		value += at.value;
		margins[i] = at.slope;
		if (curves)
			curves[i] = at.curve;
	}
	return value;
}

/* The bound c on the curvature (docs/guarantee.md, "Losses"). */
double
dperm_loss_curvature(DpermLoss loss)
{
	switch (loss.kind)
	{
		case DPERM_LOSS_HUBER:
			return 1 / (2 * loss.h);
		case DPERM_LOSS_SMOOTH_HINGE:
			return 3 / (4 * loss.h);
		case DPERM_LOSS_LOGISTIC:
			break;
	}
	return 0.25;
}

static const char *const loss_names[] = {"logistic", "huber", "smooth_hinge"};

/* The SQL name of a loss. */
const char *
dperm_loss_name(DpermLossKind kind)
{
	return loss_names[kind];
}

/* The loss of a SQL name, false if there is none. */
bool
dperm_loss_parse(const char *name, DpermLossKind *kind)
{
	int			found = dperm_find_name(loss_names, 3, name);

	if (found >= 0)
		*kind = (DpermLossKind) found;
	return found >= 0;
}
