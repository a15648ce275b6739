/*
 * gaussian.c: how much Gaussian noise (epsilon, delta) asks for.
 */
#include "core/privacy/gaussian.h"

#include <math.h>
#include <stdbool.h>

#define SQRT_HALF 0.70710678118654752440
#define SQRT_TWO_PI 2.50662827463100050242
#define QUARTER_PI 0.78539816339744830962

/* What sums of a few thousand terms and the error function may be off by, relatively, and more. */
#define ROUNDING 1e-11

/* A sigma is found up to this, relatively, and then made large enough. */
#define PRECISION 1e-5

/* Below every sigma that is asked for; and how far the first step of the search goes. */
#define SIGMA_MIN 1e-3
#define FIRST_STEP 1.05

/*
 * Cells of angles that are looked at: few, which will do where delta is below epsilon, or more, where sigma would be up to a
 * hundredth larger with few. With still more it would be smaller by less than half a hundredth.
 */
#define CELLS_FEW 60
#define CELLS_MORE 300

/* A sigma is raised until the bound holds, by steps that double, and then lowered again to this, relatively. */
#define RAISE 1.0005

/* Raised by less, it is not worth more cells. */
#define RAISE_LITTLE 1.002
#define GUESS_ANGLES 4

/* Steps towards the best tangent, any of which gives a bound; and how far they may go. */
#define TANGENTS 16
#define TANGENT_MAX 600

/* Steps of an integral, for a bound and for a guess. */
#define STEPS_BOUND 2000
#define STEPS_GUESS 200

/* The probability that a standard normal is below x. */
static double
normal_below(double x)
{
	return 0.5 * erfc(-x * SQRT_HALF);
}

/* Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), rounded up. */
double
dperm_gaussian_delta(double mu, double epsilon)
{
	double		first = normal_below(mu / 2 - epsilon / mu);
	double		second = exp(epsilon) * normal_below(-mu / 2 - epsilon / mu);

	return fmin(fmax(first - second, 0) + first * ROUNDING, 1);
}

/* The least sigma at which something that falls with it is below delta, up to PRECISION; it is not below from. */
static double
find_sigma(double (*bound) (double sigma, double epsilon), double epsilon, double delta, double from)
{
	double		low = from;
	double		high = from * FIRST_STEP;

	for (double step = FIRST_STEP; bound(high, epsilon) > delta; step *= step)
	{
		low = high;
		high *= step;
	}
	while (high > low * (1 + PRECISION))
	{
		double		middle = sqrt(low * high);

		if (bound(middle, epsilon) > delta)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* As a function of sigma. */
static double
plain_delta(double sigma, double epsilon)
{
	return dperm_gaussian_delta(1 / sigma, epsilon);
}

/* The standard deviation for means at distance 1. */
double
dperm_gaussian_sigma(double epsilon, double delta)
{
	return find_sigma(plain_delta, epsilon, delta, SIGMA_MIN);
}

/*
 * The mean of (max(0, Y) - from)_+ for a normal Y with variance mu^2 and mean mu^2/2, rounded up; *above becomes the
 * probability that this is positive.
 */
static double
mean_excess(double mu, double from, double *above)
{
	double		z = (fmax(from, 0) - mu * mu / 2) / mu;
	double		density = exp(-z * z / 2) / SQRT_TWO_PI;
	double		beyond = normal_below(-z);
	double		excess = fmax(density - z * beyond, 0) + (density + fabs(z) * beyond) * ROUNDING;

	*above = from < 0 ? 1 : beyond;
	return mu * excess + fmax(-from, 0);
}

/*
 * What is lost, (1 - exp(epsilon - loss))_+, is no convex function of the loss, so averages cannot be taken apart; but it is
 * below each of its tangents, and below the positive part of one: with slope e^-p, from epsilon - (e^p - 1 - p) on. Every p
 * will do; the best one has e^p - 1 = the mean of the excess over that point, where there is one.
 */
double
dperm_gaussian_average_delta(double mu, double epsilon)
{
	double		p = 0;
	double		least = 1;

	for (int i = 0; i < TANGENTS; i++)
	{
		double		above;
		double		excess = mean_excess(mu, epsilon - (expm1(p) - p), &above);

		least = fmin(least, exp(-p) * excess * (1 + ROUNDING));
		if (!(above > 0))
			break;
		p = fmin(log1p(excess / above), TANGENT_MAX);
	}
	return least;
}

/* As a function of sigma. */
static double
average_delta(double sigma, double epsilon)
{
	return dperm_gaussian_average_delta(1 / sigma, epsilon);
}

/* The standard deviation for an average, mu = 1/sigma. */
double
dperm_gaussian_average_sigma(double epsilon, double delta)
{
	return find_sigma(average_delta, epsilon, delta, SIGMA_MIN);
}

/*
 * The integral over m >= from of exp(-(m - from)/sigma)/sigma times the probability that M = max(a |Z1|, b |Z2|) exceeds m,
 * b <= a. The first factor is integrated exactly over each step; the second falls, and is taken where the step begins, which
 * makes the sum an upper bound, or in its middle for a guess.
 */
static double
integral(double from, double sigma, double a, double b, int steps, bool guess)
{
	/* beyond 60 e-folds of either factor nothing is left */
	double		rate = 1 / sigma + from / (a * a);
	double		step = fmin(60 / rate, 12 * a) / steps;
	double		decay = exp(-step / sigma);
	double		share = -expm1(-step / sigma);
	double		sum = 0;

	for (int i = 0; i < steps; i++)
	{
		double		m = from + (guess ? i + 0.5 : i) * step;
		double		above_a = erfc(m / a * SQRT_HALF);
		double		above_b = b > 0 ? erfc(m / b * SQRT_HALF) : 0;

		sum += share * (above_a + above_b - above_a * above_b);
		share *= decay;
	}
	return sum + exp(-steps * step / sigma) * 2 * erfc((from + steps * step) / a * SQRT_HALF);
}

/* The mean of (1 - exp(rest - M/sigma))_+, where rest is what is left of epsilon at M = 0. */
static double
excess(double sigma, double epsilon, double a, double b, int steps, bool guess)
{
	double		rest = epsilon - 2 / (sigma * sigma);

	if (rest >= 0)
		return integral(sigma * rest, sigma, a, b, steps, guess);
	return -expm1(rest) + exp(rest) * integral(0, sigma, a, b, steps, guess);
}

/* The largest over some angles between a row and its replacement, as a guess. */
static double
guess_delta(double sigma, double epsilon)
{
	double		largest = 0;

	for (int i = 0; i <= GUESS_ANGLES; i++)
	{
		double		angle = QUARTER_PI * i / GUESS_ANGLES;

		largest = fmax(largest, excess(sigma, epsilon, 2 * cos(angle), 2 * sin(angle), STEPS_GUESS, true));
	}
	return largest;
}

/*
 * An upper bound over all angles between low and high: where it is larger than goal, that over the halves, as long as there
 * are cells left. M grows with both of its factors, so the larger of each over the cell is a bound. If only to decide
 * whether goal is exceeded, the first cell that does is enough.
 */
static double
bound_between(double sigma, double epsilon, double low, double high, double goal, bool decide, int *cells)
{
	double		here = excess(sigma, epsilon, 2 * cos(low), 2 * sin(high), STEPS_BOUND, false) * (1 + ROUNDING);
	double		middle = (low + high) / 2;
	double		first;

	if (here <= goal || *cells <= 0)
		return here;
	*cells -= 2;
	first = bound_between(sigma, epsilon, low, middle, goal, decide, cells);
	if (decide && first > goal)
		return first;
	return fmax(first, bound_between(sigma, epsilon, middle, high, goal, decide, cells));
}

/* For all angles; those above a quarter of pi have the factors exchanged. */
static double
bound_all(double sigma, double epsilon, double goal, bool decide, int cells)
{
	return fmin(bound_between(sigma, epsilon, 0, QUARTER_PI * (1 + 1e-15), goal, decide, &cells), 1);
}

/* A bound that is not much above the truth. */
double
dperm_gaussian_replace_delta(double sigma, double epsilon)
{
	return bound_all(sigma, epsilon, fmin(1.03 * guess_delta(sigma, epsilon), 1), false, CELLS_FEW);
}

/* Lower a sigma at which the bound holds as far as that is seen with so many cells, but not below low. */
static double
lower_sigma(double low, double high, double epsilon, double delta, int cells)
{
	while (high > low * RAISE)
	{
		double		middle = sqrt(low * high);

		if (bound_all(middle, epsilon, delta, true, cells) > delta)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* A sigma at which the bound holds, from a guess at it. */
static double
settle_sigma(double guess, double epsilon, double delta)
{
	double		low = guess;
	double		high = guess * RAISE;

	for (double step = RAISE; bound_all(high, epsilon, delta, true, CELLS_FEW) > delta; step *= step)
	{
		low = high;
		high *= step;
	}
	high = lower_sigma(low, high, epsilon, delta, CELLS_FEW);
	return high < guess * RAISE_LITTLE ? high : lower_sigma(guess, high, epsilon, delta, CELLS_MORE);
}

/*
 * The plain one is for rows that are opposites, and a bound from below. All that takes some milliseconds, or a fifth of a
 * second where delta is far above epsilon; and who trains many groups asks the same for each of them: the last answer is kept.
 */
double
dperm_gaussian_replace_sigma(double epsilon, double delta)
{
	static double asked[2];
	static double answer;
	double		sigma;

	if (answer > 0 && epsilon == asked[0] && delta == asked[1])
		return answer;
	sigma = settle_sigma(find_sigma(guess_delta, epsilon, delta, 1.999 * dperm_gaussian_sigma(epsilon, delta)), epsilon, delta);
	asked[0] = epsilon;
	asked[1] = delta;
	answer = sigma;
	return sigma;
}

/* One row that is removed has one direction, all else is an average (section "Gaussian noise"). */
double
dperm_gaussian_objective_sigma(DpermNeighbours neighbours, DpermUnit unit, double epsilon, double delta)
{
	if (unit == DPERM_UNIT_PERSON)
		return dperm_claim_rows_apart(neighbours) * dperm_gaussian_average_sigma(epsilon, delta);
	if (neighbours == DPERM_NEIGHBOURS_REPLACE)
		return dperm_gaussian_replace_sigma(epsilon, delta);
	return dperm_gaussian_sigma(epsilon, delta);
}
