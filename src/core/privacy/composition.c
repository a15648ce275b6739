/*
 * composition.c: how much Gaussian noise (epsilon, delta) requires; and what
 * several releases cost together: sums, Renyi divergences, and the smaller of the
 * two.
 * Trusted: budgets add up what this says.
 *
 * Section names are those of docs/guarantee.md.
 */
#include "core/privacy/composition.h"

#include <math.h>
#include <stdlib.h>

#define SQRT_HALF 0.70710678118654752440
#define SQRT_TWO_PI 2.50662827463100050242
#define TWO_PI 6.28318530717958647693

/* Above these, formulas that do not overflow are used instead of those without cancellation. */
#define LARGE 1
#define LARGE_MOMENT 30
#define EXPONENT_MAX 600

/* Less is taken as this: the divergence grows with the shift, and squares do not underflow. */
#define SHIFT_MIN 1e-100

/* Cells of the norm of noise in the ball get smaller by this factor. */
#define CELL 0.8

/* A series ends at terms below this share of its sum. */
#define NEGLIGIBLE 1e-18

/* A margin for the rounding of sums whose terms cancel, relative to the terms. */
#define CANCELLED 1e-12

/*
 * A relative margin for the rounding of the formulas here; anything not below
 * the ceiling counts as infinite.
 */
#define NUDGE (1 + 1e-10)
#define CEILING 1e9

/* Up to here loops are truncated at a probability that DPERM_TAIL covers. */
#define EPSILON_MAX 600

/*
 * If Renyi divergences need a delta that sums do not, they are used only if
 * epsilon becomes smaller than this times the sum.
 */
#define WORTH 0.99

/*
 * Digits of a result: as many as sums of doubles have, and fewer where
 * logarithms round differently on different platforms.
 */
#define DIGITS_SUM 15
#define DIGITS 6

/* More than the relative error of the terms of a formula. */
#define ROUNDING 1e-11

/* The relative precision of the search for sigma; the result is then rounded up. */
#define PRECISION 1e-5

/* Below every sigma that can be needed; and the first step of the search. */
#define SIGMA_MIN 1e-3
#define FIRST_STEP 1.05

/* Steps towards the best tangent, each of which gives a bound; and their limit. */
#define TANGENTS 16
#define TANGENT_MAX 600

/* ------------------------------------------------------- Gaussian noise */

/* The probability that a standard normal is below x. */
static double
normal_below(double x)
{
	return 0.5 * erfc(-x * SQRT_HALF);
}

/* Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), rounded up. */
double
dperm_privacy_delta(double mu, double epsilon)
{
	double		first = normal_below(mu / 2 - epsilon / mu);
	double		second = exp(epsilon) * normal_below(-mu / 2 - epsilon / mu);

	return fmin(fmax(first - second, 0) + first * ROUNDING, 1);
}

/*
 * The mean of (max(floor, Y) - from)_+ for a normal Y with variance mu^2 and
 * mean mu^2/2, rounded up; *above becomes the probability that this is
 * positive.
 */
static double
mean_excess(double mu, double floor, double from, double *above)
{
	double		z = (fmax(from, floor) - mu * mu / 2) / mu;
	double		density = exp(-z * z / 2) / SQRT_TWO_PI;
	double		beyond = normal_below(-z);
	double		excess = fmax(density - z * beyond, 0) + (density + fabs(z) * beyond) * ROUNDING;

	*above = from < floor ? 1 : beyond;
	return mu * excess + fmax(floor - from, 0);
}

/*
 * The function (1 - exp(epsilon - loss))_+ is not convex in the loss, so
 * averages cannot be split; but it is below the positive part of each of its
 * tangents: the one with slope e^-p is positive from epsilon - (e^p - 1 - p)
 * on. Every p gives a bound; the best has e^p - 1 = the mean excess over that
 * point, given that there is one. Tangents that begin below a positive floor
 * are left out: with x = e^p - 1, e^p - 1 - p is at most x^2/2, and at most x.
 */
double
dperm_privacy_average_delta(double mu, double epsilon, double floor)
{
	double		room = fmax(epsilon - floor, 0);
	double		most = floor > 0 ? log1p(fmax(sqrt(2 * room), room)) : TANGENT_MAX;
	double		p = 0;
	double		least = 1;

	for (int i = 0; i < TANGENTS; i++)
	{
		double		above;
		double		excess = mean_excess(mu, floor, epsilon - (expm1(p) - p), &above);

		least = fmin(least, exp(-p) * excess * (1 + ROUNDING));
		if (!(above > 0))
			break;
		p = fmin(log1p(excess / above), most);
	}
	return least;
}

/* As a function of sigma: of two means, or of an average. */
static double
bound(bool average, double sigma, double epsilon, double floor)
{
	return average ? dperm_privacy_average_delta(1 / sigma, epsilon, floor) :
		dperm_privacy_delta(1 / sigma, epsilon);
}

/* The least sigma, up to PRECISION, at which the bound, which falls, is below delta. */
static double
find_sigma(bool average, double epsilon, double delta, double floor)
{
	double		low = SIGMA_MIN;
	double		high = SIGMA_MIN * FIRST_STEP;

	for (double step = FIRST_STEP; bound(average, high, epsilon, floor) > delta; step *= step)
	{
		low = high;
		high *= step;
		if (isinf(high))
			return high;
	}
	while (high > low * (1 + PRECISION))
	{
		double		middle = sqrt(low * high);

		if (bound(average, middle, epsilon, floor) > delta)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double
dperm_privacy_sigma(double epsilon, double delta)
{
	return find_sigma(false, epsilon, delta, 0);
}

/*
 * A single removed row has one direction; every other case is an average
 * (section "Gaussian noise").
 */
double
dperm_privacy_objective_sigma(DpermNeighbours neighbours, DpermUnit unit, double epsilon,
							   double delta, double floor)
{
	if (unit == DPERM_UNIT_ROW && neighbours == DPERM_NEIGHBOURS_REMOVE)
		return dperm_privacy_sigma(epsilon, delta);
	return dperm_claim_rows_apart(neighbours) * find_sigma(true, epsilon, delta, floor);
}

/* ---------------------------------------------------------- divergences */

/* Is its noise that of pure epsilon? */
static bool
is_pure(const DpermRelease *r)
{
	return r->curve == DPERM_CURVE_PURE || r->curve == DPERM_CURVE_BALL;
}

double
dperm_composition_order(int i)
{
	return 1 + pow(10, i / 32.0 - 2);
}

/*
 * Randomised response, the worst case of pure epsilon-differential privacy: the
 * logarithm of cosh((order-1/2) epsilon)/cosh(epsilon/2), over order - 1
 * ("Curves").
 */
static double
pure_curve(double epsilon, double order)
{
	double		above = order - 1;
	double		log_moment;

	if (order * epsilon > LARGE)
		log_moment =
			above * epsilon + log1p(exp(-(order + above) * epsilon)) - log1p(exp(-epsilon));
	else
		log_moment =
			log1p(2 * sinh(order * epsilon / 2) * sinh(above * epsilon / 2) / cosh(epsilon / 2));
	return log_moment / above;
}

/*
 * The mean of exp(x t) less 1, where t is a coordinate of a uniform point of
 * the sphere: the hypergeometric series 0F1(dim/2; x^2/4).
 */
static double
direction_excess(double x, int dim)
{
	double		term = 1;
	double		sum = 0;
	double		ratio;

	for (int k = 0;; k++)
	{
		ratio = x * x / 4 / ((k + 1.0) * (dim / 2.0 + k));
		term *= ratio;
		sum += term;

		/* from here on terms fall by half at least: the rest is below this one */
		if (ratio < 0.5 && term <= NEGLIGIBLE * sum)
			return (sum + term) * NUDGE;
	}
}

/*
 * A bound on the probability that Gamma(dim) is below z dim, z <= 1/2: the
 * terms of its series fall faster than geometrically, and Stirling's formula
 * is below the factorial.
 */
static double
norm_below(double z, int dim)
{
	return exp(dim * (log(z) + 1 - z)) / sqrt(TWO_PI * dim) / (1 - z);
}

/*
 * The mean of exp(above s) less 1, s = min(shift^2/(2 r), 2 shift). From dim/2
 * on the function is below its chord in 1/r, whose mean is 1/(dim - 1). Below,
 * it is split into cells, each of which has the value at its lower end.
 */
static double
norm_excess(double shift, int dim, double above)
{
	double		half = dim / 2.0;
	double		most = 2 * above * shift;
	double		power = above * shift * shift / 2;
	double		first = fmin(power / half, most);
	double		value = expm1(first);
	double		sum = power / (dim - 1) * (first > 0 ? value / first : 1);
	double		z = 0.5;

	sum += value * norm_below(z, dim);
	for (double at = first; at < most;)
	{
		double		next;
		double		below = norm_below(z, dim);

		z *= CELL;
		at = fmin(power / (z * dim), most);
		next = expm1(at);
		sum += (next - value) * below;
		value = next;
	}
	return sum * NUDGE;
}

/*
 * The loss is at most -shift t + min(shift^2/(2 r), 2 shift), where r, the norm
 * of the noise, has the law Gamma(dim), and t, the first coordinate of its
 * direction, is independent of r. So the moment of the loss is at most a moment
 * of t times a moment of r.
 */
double
dperm_composition_ball(double shift, int dim, double order)
{
	double		above = order - 1;

	if (dim < 2 || !(2 * above * shift < EXPONENT_MAX))
		return INFINITY;
	if (shift > 0)
		shift = fmax(shift, SHIFT_MIN);
	return (log1p(direction_excess(above * shift, dim)) + log1p(norm_excess(shift, dim, above))) /
		above * NUDGE;
}

/*
 * The divergence for a moment that exceeds 1 by excess, a sum of terms, some of
 * which are negative; size is the sum of their absolute values. Where the
 * moment is large, the bound without negative terms is as good.
 */
static double
divergence_of(double excess, double size, double order)
{
	return log1p(fmax(excess, 0) + CANCELLED * size) / (order - 1);
}

/*
 * The logarithm of the mean of e^((order-1) W+), W normal of mean mu^2/2 and
 * variance mu^2: of e^power Phi(high) + Phi(-low), where Phi(x) is (1 + erf)/2.
 */
static double
log_moment_above(double mu, double order)
{
	double		power = order * (order - 1) * mu * mu / 2;
	double		low = mu / 2 * SQRT_HALF;
	double		high = (order - 0.5) * mu * SQRT_HALF;

	if (power > LARGE)
		return power + log(0.5 * erfc(-high) + 0.5 * erfc(low) * exp(-power));
	return log1p(0.5 * erfc(-low) * expm1(power) + exp(power) * 0.5 * (erf(high) - erf(low)));
}

/*
 * The logarithm of m_1 ("Curves"): a bound on the mean of e^((order-1) M), M
 * the largest of 0 and of several W as above. It is e^((order-1) a), and what
 * each of them has above a.
 */
static double
log_moment_largest(double mu, int directions, double order)
{
	double		away = sqrt(2 * log(directions));	/* a/mu */
	double		base = (order - 1) * mu * away;
	double		power = order * (order - 1) * mu * mu / 2 - base;
	double		low = (mu / 2 - away) * SQRT_HALF;
	double		high = ((order - 0.5) * mu - away) * SQRT_HALF;
	double		first = 0.5 * erfc(-low) * expm1(power);
	double		second = 0.5 * exp(power);

	if (power > LARGE)
		return base + power +
			log(directions * 0.5 * erfc(-high) + (1 - directions * 0.5 * erfc(-low)) * exp(-power));
	return base + log1p(directions * (fmax(first + second * (erf(high) - erf(low)), 0) +
									  CANCELLED * (fabs(first) + second)));
}

/*
 * Gaussian objective perturbation, a row removed ("Curves"). The loss is at
 * most kappa + W+, with W normal of mean mu^2/2 and variance mu^2, and at least
 * -V - mu^2/8, with V = (-W)+; or kappa is on the other side. With h(loss) =
 * e^((order-1) loss) + (order-1) (e^-loss - 1), the moment is at most the mean
 * of e^((order-1) loss) at its upper bound; and that of h at its upper bound,
 * and at its lower one, less 1.
 */
static double
remove_curve(double mu, double kappa, double order)
{
	double		above = order - 1;
	double		power = order * above * mu * mu / 2;
	double		low = mu / 2 * SQRT_HALF;
	double		high = (order - 0.5) * mu * SQRT_HALF;
	double		plain = log_moment_above(mu, order);
	double		shrunk;
	double		most = 0;
	double		size = 0;

	if (above * kappa + plain > LARGE_MOMENT)
		return kappa + plain / above;

	/* of e^-((order-1) V) */
	shrunk = log1p(0.5 * (expm1(power) * erfc(high) + (erf(low) - erf(high))));
	for (int side = 0; side < 2; side++)
	{
		double		over = side == 0 ? kappa : 0;
		double		under = (side == 0 ? 0 : kappa) + mu * mu / 8;
		double		terms[] = {
			expm1(above * over + plain), above * expm1(-over) * erfc(low), -above * erf(low),
			expm1(shrunk - above * under), above * expm1(under) * (1 + erf(low)), above * erf(low)
		};
		double		sum = 0;
		double		sizes = 0;

		for (int i = 0; i < 6; i++)
		{
			sum += terms[i];
			sizes += fabs(terms[i]);
		}
		most = fmax(most, sum);
		size = fmax(size, sizes);
	}
	return fmin(kappa + plain / above, divergence_of(most, size, order));
}

/*
 * The bound by m_2 ("Curves"): |Z| is the largest of several, one for each line.
 * The mean of h at u is at most h at |Z| = z, and what each of them has above
 * that; from order 2 on.
 */
static double
lines_curve(double mu, double kappa, int lines, double order)
{
	double		above = order - 1;
	double		z = sqrt(2 * log(lines));
	double		beyond = lines * erfc(z * SQRT_HALF);	/* at most 1 */
	double		at_z = kappa + mu * mu / 2 + mu * z;
	double		base = above * at_z + log1p(-beyond);
	double		tails = above * kappa + order * above * mu * mu / 2 +
		log(lines * erfc((z - above * mu) * SQRT_HALF));
	double		log_moment = fmax(base, tails) + log1p(exp(-fabs(base - tails)));
	double		first;
	double		second;

	if (log_moment > LARGE_MOMENT)
		return log_moment / above;
	first = expm1(log_moment);
	second = above * ((1 - beyond) * expm1(-at_z) +
					  lines * exp(-kappa) * erfc((mu + z) * SQRT_HALF) - beyond);
	/* both are differences of numbers of about 1, and of about order - 1 */
	return divergence_of(first + second, first + 2 + 2 * above, order);
}

/*
 * Gaussian objective perturbation, everything else, mu = apart/sigma: the loss
 * is at most an average of kappa + W+, with W as above, or the largest W of the
 * directions; and its absolute value at most an average of u = kappa + mu^2/2 +
 * mu |Z|, if all directions are on one line. From order 2 on h is larger at u
 * than at -u; and divergences grow with the order.
 */
static double
average_curve(double mu, double kappa, int directions, int lines, double order)
{
	double		above = order - 1;
	double		log_moment = directions > 1 ? log_moment_largest(mu, directions, order) :
											  log_moment_above(mu, order);
	double		one_sided = kappa + log_moment / above;
	double		plain = kappa + order * mu * mu / 2 + log1p(erf(above * mu * SQRT_HALF)) / above;
	double		first;
	double		second;

	if (lines > 1)
		return fmin(one_sided, lines_curve(mu, kappa, lines, fmax(order, 2)));
	if (order < 2)
		return fmin(fmin(one_sided, plain), average_curve(mu, kappa, directions, lines, 2));
	if (above * plain > LARGE_MOMENT)
		return fmin(one_sided, plain);
	first = expm1(above * plain);
	second = above * (expm1(-kappa) * erfc(mu * SQRT_HALF) - erf(mu * SQRT_HALF));
	return fmin(one_sided, divergence_of(first + second, first - second, order));
}

void
dperm_composition_objective(DpermRelease *release, int directions, int lines, double sigma)
{
	bool		one_row = release->neighbours == DPERM_NEIGHBOURS_REMOVE &&
		release->unit == DPERM_UNIT_ROW && directions == 1;

	release->directions = directions;
	release->lines = lines;
	release->curve = one_row ? DPERM_CURVE_REMOVE : DPERM_CURVE_AVERAGE;
	release->mu = dperm_claim_rows_apart(release->neighbours) / sigma;
}

/* A bound on the Renyi divergence of the noise ("Curves"). */
static double
noise_curve(const DpermRelease *r, double order)
{
	if (r->curve == DPERM_CURVE_BALL)
		return dperm_composition_ball(r->mu, r->dim, order);
	if (r->curve == DPERM_CURVE_SHIFT)
		return order * r->mu * r->mu / 2;
	if (r->curve == DPERM_CURVE_REMOVE)
		return remove_curve(r->mu, r->kappa, order);
	return average_curve(r->mu, r->kappa, r->directions, r->lines, order);
}

/* The same of a release; what is pure is never worse than its epsilon says. */
double
dperm_composition_curve(const DpermRelease *r, double order)
{
	double		divergence = INFINITY;

	if (r->curve != DPERM_CURVE_PURE)
		divergence = noise_curve(r, order) + pure_curve(r->stage, order);
	if (is_pure(r))
		divergence = fmin(divergence, pure_curve(r->epsilon, order));
	divergence *= NUDGE;
	return divergence < CEILING ? divergence : CEILING;
}

/*
 * The epsilon of a Renyi divergence ("From Renyi to epsilon and delta"), with
 * room for the rounding of its terms.
 */
double
dperm_composition_convert(double divergence, double order, double delta)
{
	double		above = order - 1;
	double		gain = log1p(1 / above);
	double		price = (-log(delta) - log(order)) / above;
	double		room = 1e-12 * (divergence + fabs(gain) + (fabs(log(delta)) + log(order)) / above);

	return divergence < CEILING ? fmax(divergence - gain + price + room, 0) : INFINITY;
}

double
dperm_composition_digits(double x, int digits, bool up)
{
	int			power;
	double		unit;
	double		scaled;

	if (!(x > 1e-280 && isfinite(x)))
		return x;
	power = digits - 1 - (int) floor(log10(x));

	/*
	 * small powers of ten are exact doubles, and the quotient of two is the
	 * double nearest to its decimal
	 */
	unit = pow(10, abs(power));
	scaled = power > 0 ? x * unit : x / unit;
	scaled = up ? ceil(scaled) : rint(scaled);
	return power > 0 ? scaled / unit : scaled * unit;
}

/* The kind of a release: how much is known about it. */
static int
known(const DpermRelease *r)
{
	return r->curve == DPERM_CURVE_NONE ? DPERM_KNOWN_BOUND :
		   is_pure(r) ? DPERM_KNOWN_PURE :
										  DPERM_KNOWN_GAUSSIAN;
}

/* The number of releases of the kinds from from to to - 1. */
static int64_t
count_kinds(const DpermComposition *sums, int from, int to)
{
	int64_t		count = 0;

	for (int k = from; k < to; k++)
		count += sums->releases[k];
	return count;
}

int64_t
dperm_composition_releases(const DpermComposition *sums)
{
	return count_kinds(sums, 0, DPERM_KNOWN_COUNT);
}

/* Are the numbers in range? The curve is pure if and only if delta is 0. */
static bool
in_range(const DpermRelease *r)
{
	return r->epsilon > 0 && r->epsilon <= DPERM_COMPOSITION_EPSILON_MAX && r->delta >= 0 &&
		   r->delta < 1 && (r->delta == 0) == is_pure(r);
}

DpermCompositionFault
dperm_composition_add(DpermComposition *sums, const DpermRelease *r)
{
	int			k = known(r);

	if (isinf(r->epsilon))
		return DPERM_COMPOSITION_NOT_PRIVATE;
	if (!in_range(r))
		return DPERM_COMPOSITION_OUT_OF_RANGE;
	if (dperm_composition_releases(sums) == 0)
	{
		sums->neighbours = r->neighbours;
		sums->unit = r->unit;
	}
	if (sums->neighbours != r->neighbours)
		return DPERM_COMPOSITION_NEIGHBOURS;
	if (sums->unit != r->unit)
		return DPERM_COMPOSITION_UNITS;
	sums->releases[k]++;
	sums->epsilon[k] += r->epsilon;
	sums->delta[k] += r->delta;
	if (r->curve == DPERM_CURVE_NONE)
		return DPERM_COMPOSITION_FITS;
	for (int i = 0; i < DPERM_ORDER_COUNT; i++)
		sums->curves[k][i] += dperm_composition_curve(r, dperm_composition_order(i));
	return DPERM_COMPOSITION_FITS;
}

/* The sum over the kinds before to. */
static double
sum_kinds(const DpermExtended *each, int to)
{
	DpermExtended sum = 0;

	for (int k = 0; k < to; k++)
		sum += each[k];
	return dperm_composition_digits((double) sum, DIGITS_SUM, false);
}

/*
 * Everything by sums. A positive delta includes the tails of the noise, a delta
 * of 0 does not.
 */
static DpermComposed
by_sums(const DpermComposition *sums)
{
	DpermComposed out = {
		.epsilon = sum_kinds(sums->epsilon, DPERM_KNOWN_COUNT),
		.delta = sum_kinds(sums->delta, DPERM_KNOWN_COUNT),
		.summed = dperm_composition_releases(sums)
	};

	if (out.delta > 0)
		out.delta = dperm_composition_digits(
			out.delta + (double) sums->releases[DPERM_KNOWN_PURE] * DPERM_TAIL, DIGITS_SUM, false);
	return out;
}

/* The delta spent if the kinds before summed are added up: theirs, and all tails. */
static double
spent_delta(const DpermComposition *sums, int summed)
{
	return (sum_kinds(sums->delta, summed) +
			(double) dperm_composition_releases(sums) * DPERM_TAIL) * (1 + 1e-12);
}

/*
 * Sums for the kinds before summed, Renyi divergences for the others, at a
 * delta that includes all tails: the best of all orders. The orders were fixed
 * before anything was released, so the best one may be used.
 */
static DpermComposed
by_orders(const DpermComposition *sums, int summed, double delta)
{
	double		left = delta - spent_delta(sums, summed);
	double		added = sum_kinds(sums->epsilon, summed);
	DpermComposed out = {
		.epsilon = INFINITY, .delta = delta, .summed = count_kinds(sums, 0, summed)};

	if (!(left > 0))
		return out;
	for (int i = 0; i < DPERM_ORDER_COUNT; i++)
	{
		double		order = dperm_composition_order(i);
		double		divergence = 0;
		double		epsilon;

		for (int k = summed; k < DPERM_KNOWN_COUNT; k++)
			divergence += (double) sums->curves[k][i];
		epsilon = dperm_composition_digits(
			added + dperm_composition_convert(divergence, order, left), DIGITS, true);
		if (epsilon < out.epsilon && epsilon <= EPSILON_MAX)
		{
			out.epsilon = epsilon;
			out.order = order;
		}
	}
	return out;
}

bool
dperm_composition_total(const DpermComposition *sums, double delta, DpermComposed *out)
{
	bool		fits;

	*out = by_sums(sums);
	fits = delta == 0 || out->delta <= delta;
	if (!fits)
		out->epsilon = INFINITY;
	if (delta > 0)
		for (int summed = 1; summed < DPERM_KNOWN_COUNT; summed++)
		{
			DpermComposed some = by_orders(sums, summed, delta);

			if (count_kinds(sums, summed, DPERM_KNOWN_COUNT) > 0 &&
				some.epsilon < (out->order > 0 ? out->epsilon : WORTH * out->epsilon))
				*out = some;
		}
	if (fits || !isinf(out->epsilon))
		return true;

	/* too little delta, or too large an epsilon */
	out->delta = spent_delta(sums, 1);
	return out->delta < delta;
}
