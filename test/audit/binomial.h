/*
 * binomial.h: Clopper and Pearson's bounds on a probability, from how often
 * something happened.
 */
#ifndef DPERM_TEST_BINOMIAL_H
#define DPERM_TEST_BINOMIAL_H

#include <math.h>

/* P(Binomial(n, p) >= k), for k >= n p: from there on the terms fall. */
static inline double
binomial_tail(int n, int k, double p)
{
	double		term = exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
						   (n - k) * log1p(-p));
	double		sum = 0;

	for (int i = k; i <= n && (sum == 0 || term > sum * 1e-16); i++)
	{
		sum += term;
		term *= (double) (n - i) / (i + 1) * p / (1 - p);
	}
	return sum;
}

/*
 * The largest probability under which k of n or more would happen with less
 * than level: the true one is smaller than this with probability level at most.
 */
static inline double
binomial_lower(int k, int n, double level)
{
	double		low = 0,
				high = (double) k / n;

	if (k == 0)
		return 0;
	if (k == n)
		return pow(level, 1.0 / n);
	for (int i = 0; i < 60; i++)
	{
		double		middle = (low + high) / 2;

		if (binomial_tail(n, k, middle) > level)
			high = middle;
		else
			low = middle;
	}
	return low;
}

/* The same from above. */
static inline double
binomial_upper(int k, int n, double level)
{
	return 1 - binomial_lower(n - k, n, level);
}

/*
 * What an event proves about epsilon that happened in ours of n runs on one
 * table and in theirs of n on a neighbour: more than it is with probability
 * level at most.
 */
static inline double
binomial_epsilon(int ours, int theirs, int n, double level)
{
	return log(binomial_lower(ours, n, level / 2) / binomial_upper(theirs, n, level / 2));
}

/*
 * The same about delta at an epsilon: P - e^epsilon P' is less than this with
 * probability level at most.
 */
static inline double
binomial_delta(int ours, int theirs, int n, double epsilon, double level)
{
	return binomial_lower(ours, n, level / 2) - exp(epsilon) * binomial_upper(theirs, n, level / 2);
}

#endif							/* DPERM_TEST_BINOMIAL_H */
