/*
 * loss.c: the three margin losses.
 */
#include "core/loss/loss.h"

#include <math.h>

#include "core/base/names.h"
#include "core/base/vector.h"

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

/*
 * The same for two margins at a time, and without branches: margins are as good as random, and a wrong guess costs more
 * than all the arithmetic. Sums go to DpermSums.
 */
typedef struct DpermSums
{
	DpermPair	value;
	DpermPair	product;		/* its logarithm belongs to the value */
} DpermSums;

static inline DpermPair
at_least(DpermPair x, double least)
{
	return dperm_choose(x > least, x, dperm_both(least));
}

static inline DpermPair
at_most(DpermPair x, double most)
{
	return dperm_choose(x < most, x, dperm_both(most));
}

/*
 * The logistic loss. The logarithms are taken of products: of the factors 1 + e, which are between 1 and 2, a block has
 * few enough not to overflow.
 */
static inline DpermPair
logistic_pair(DpermPair z, DpermSums *sums, DpermPair *curve)
{
	DpermInts	negative = z < 0;
	DpermPair	away = (DpermPair) ((DpermInts) z | INT64_MIN);	/* -|z| */
	DpermPair	e = dperm_exp(at_least(away, -708));	/* as good as zero from there on */
	DpermPair	sum = 1 + e;

	sums->product *= sum;
	sums->value -= dperm_choose(negative, z, dperm_both(0));
	if (curve)
		*curve = at_most(e / (sum * sum), 0.25);
	return dperm_choose(negative, dperm_both(-1), -e) / sum;
}

/* The Huber loss: the parabola up to its ends, and beyond the one what the line adds. */
static inline DpermPair
huber_pair(DpermPair z, double h, DpermSums *sums, DpermPair *curve)
{
	double		first = 1 - h;
	double		last = 1 + h;
	DpermPair	share = at_most(at_least((last - z) / (2 * h), 0), 1);

	sums->value += h * share * share + at_least(first - z, 0);
	if (curve)
		*curve = dperm_choose((z < first) | (z > last), dperm_both(0), dperm_both(1 / (2 * h)));
	return -share;
}

/* l_s: the quartic up to its ends, and beyond the one what the line adds. */
static inline DpermPair
smooth_hinge_pair(DpermPair z, double h, DpermSums *sums, DpermPair *curve)
{
	DpermPair	q = at_most(at_least((1 - z) / h, -1), 1);
	DpermPair	slope = (q * q - 3) * q * 0.25 - 0.5;

	sums->value += h * at_least(((q * q * (-1.0 / 16) + 3.0 / 8) * q + 0.5) * q + 3.0 / 16, 0) +
		at_least((1 - h) - z, 0);
	if (curve)
		*curve = 0.75 * at_least(1 - q * q, 0) / h;
	return at_most(at_least(slope, -1), 0);
}

/* Slopes of two margins; curve may be NULL. */
static inline DpermPair
loss_pair(DpermLoss loss, DpermPair z, DpermSums *sums, DpermPair *curve)
{
	if (loss.kind == DPERM_LOSS_LOGISTIC)
		return logistic_pair(z, sums, curve);
	if (loss.kind == DPERM_LOSS_HUBER)
		return huber_pair(z, loss.h, sums, curve);
	return smooth_hinge_pair(z, loss.h, sums, curve);
}

/* A block, of a loss and with or without curves that the compiler knows. */
static inline double
loss_block(DpermLoss loss, int count, double *margins, double *curves)
{
	DpermSums	sums = {dperm_both(0), dperm_both(1)};
	DpermPair	curve = dperm_both(0);
	int			i = 0;

	for (; i + 2 <= count; i += 2)
	{
		dperm_put_pair(loss_pair(loss, dperm_pair_at(margins + i), &sums, curves ? &curve : NULL),
					   margins + i);
		if (curves)
			dperm_put_pair(curve, curves + i);
	}
	if (i < count)
	{
		/* a margin of infinity beside the last one adds nothing */
		DpermPair	last = {margins[i], INFINITY};

		margins[i] = loss_pair(loss, last, &sums, curves ? &curve : NULL)[0];
		if (curves)
			curves[i] = curve[0];
	}
	return sums.value[0] + sums.value[1] + log(sums.product[0]) + log(sums.product[1]);
}

/* Losses, slopes and curvatures of a block. */
double
dperm_loss_block(DpermLoss loss, int count, double *margins, double *curves)
{
	DpermLoss	known = {.h = loss.h};

	switch (loss.kind)
	{
		case DPERM_LOSS_LOGISTIC:
			known.kind = DPERM_LOSS_LOGISTIC;
			return curves ? loss_block(known, count, margins, curves) : loss_block(known, count, margins, NULL);
		case DPERM_LOSS_HUBER:
			known.kind = DPERM_LOSS_HUBER;
			return curves ? loss_block(known, count, margins, curves) : loss_block(known, count, margins, NULL);
		case DPERM_LOSS_SMOOTH_HINGE:
			known.kind = DPERM_LOSS_SMOOTH_HINGE;
			return curves ? loss_block(known, count, margins, curves) : loss_block(known, count, margins, NULL);
	}
	return 0;
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
