/*
 * proof.c: what two samples prove about epsilon, or about delta.
 *
 *	proof EPSILON DELTA LEAST LEVEL OURS THEIRS
 *
 * OURS and THEIRS are files of one number per line: what was released in
 * independent runs on two neighbouring tables. An interval that distinguishes
 * them is chosen on the first half of each; Clopper and Pearson's bounds on its
 * probabilities P and P', from the second halves, bound epsilon from below, or
 * if DELTA is not 0 the delta P - e^EPSILON P', wrongly with probability LEVEL
 * at most. The result is 1 if that is above the claim, and 2 if it is below
 * LEAST times the claim, if that is not 0: an audit that finds so little would
 * not find a fault.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/binomial.h"
#include "unit/goodness.h"

#define RUNS_MAX 4000000
#define CUTS 120				/* where intervals may begin and end */

/* One table's numbers, the first half sorted. */
typedef struct Sample
{
	double	   *values;
	int			half;
} Sample;

/* An event: what is above low and not above high. */
typedef struct Event
{
	bool		swapped;		/* more likely on the second table */
	double		low;
	double		high;
} Event;

/* End with a message. */
static void
fail(const char *what, const char *which)
{
	fprintf(stderr, "proof: %s: %s\n", what, which);
	exit(3);
}

/* Read a file of numbers. */
static Sample
read_sample(const char *path)
{
	FILE	   *file = fopen(path, "r");
	Sample		sample = {malloc(sizeof(double) * RUNS_MAX), 0};
	int			count = 0;

	if (!file || !sample.values)
		fail("cannot be read", path);
	while (count < RUNS_MAX && fscanf(file, "%lf", &sample.values[count]) == 1)
	{
		if (isnan(sample.values[count]))
			fail("not a number", path);
		count++;
	}
	if (!feof(file) || count < 1000)
		fail("not a file of 1000 numbers or more", path);
	fclose(file);
	sample.half = count / 2;
	qsort(sample.values, (size_t) sample.half, sizeof(double), compare_doubles);

	/* a query that trains once and repeats the result would prove anything */
	for (int i = 0; i + sample.half / 100 < sample.half; i++)
		if (sample.values[i] == sample.values[i + sample.half / 100])
			fail("the same number over and over", path);
	return sample;
}

/* How many of sorted values are at most x. */
static int
rank_of(const double *sorted, int count, double x)
{
	int			low = 0,
				high = count;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (sorted[middle] <= x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many of the second half are in an event. */
static int
count_event(const Sample *sample, const Event *event)
{
	int			count = 0;

	for (int i = sample->half; i < 2 * sample->half; i++)
		count += sample->values[i] > event->low && sample->values[i] <= event->high;
	return count;
}

/* What is claimed: epsilon alone, or delta at an epsilon. */
typedef struct Claim
{
	double		epsilon;
	double		delta;
} Claim;

/*
 * A quick estimate of what counts would prove: bounds of a normal law that err
 * on the safe side.
 */
static double
promise(const Claim *claim, double ours, double theirs, double n, double deviate)
{
	double		low = ours - deviate * sqrt(ours * (1 - ours / n));
	double		high = theirs + deviate * sqrt(theirs) + deviate * deviate;

	if (claim->delta > 0)
		return (low - exp(claim->epsilon) * fmin(high, n)) / n;
	return low > 0 ? log(low / high) : -INFINITY;
}

/* The most promising event on the first halves. */
static Event
learn(const Claim *claim, const Sample *samples, double level)
{
	double		cuts[CUTS + 1];
	int			ranks[2][CUTS + 1];
	double		deviate = sqrt(-2 * log(level));
	double		most = -INFINITY;
	Event		best = {false, -INFINITY, INFINITY};

	/* quantiles of the one sample and of the other, the open ends among them */
	for (int i = 1; i < CUTS; i++)
	{
		const Sample *from = &samples[i % 2];

		cuts[i] = from->values[(size_t) from->half * (size_t) i / CUTS];
	}
	cuts[0] = -INFINITY;
	cuts[CUTS] = INFINITY;
	qsort(cuts, CUTS + 1, sizeof(double), compare_doubles);
	for (int side = 0; side < 2; side++)
		for (int i = 0; i <= CUTS; i++)
			ranks[side][i] = rank_of(samples[side].values, samples[side].half, cuts[i]);
	for (int i = 0; i < CUTS; i++)
		for (int j = i + 1; j <= CUTS; j++)
			for (int swapped = 0; swapped < 2; swapped++)
			{
				double		found = promise(claim, ranks[swapped][j] - ranks[swapped][i],
											ranks[!swapped][j] - ranks[!swapped][i],
											samples[0].half, deviate);

				if (found > most)
				{
					most = found;
					best = (Event) {swapped, cuts[i], cuts[j]};
				}
			}
	return best;
}

int
main(int argc, char **argv)
{
	Claim		claim;
	double		claimed,
				least,
				level,
				proven;
	Sample		samples[2];
	Event		event;
	int			counts[2];

	if (argc != 7)
		fail("arguments", "EPSILON DELTA LEAST LEVEL OURS THEIRS");
	claim = (Claim) {atof(argv[1]), atof(argv[2])};
	least = atof(argv[3]);
	level = atof(argv[4]);
	if (!(claim.epsilon > 0 && claim.delta >= 0 && claim.delta < 1 && least >= 0 && least < 1 && level > 0 && level < 1))
		fail("arguments", "out of range");
	for (int side = 0; side < 2; side++)
		samples[side] = read_sample(argv[5 + side]);
	if (samples[0].half != samples[1].half)
		fail("not as many numbers", argv[6]);
	event = learn(&claim, samples, level);
	for (int side = 0; side < 2; side++)
		counts[side] = count_event(&samples[side], &event);
	if (claim.delta > 0)
	{
		claimed = claim.delta;
		proven = binomial_delta(counts[event.swapped], counts[!event.swapped], samples[0].half, claim.epsilon, level);
	}
	else
	{
		claimed = claim.epsilon;
		proven = binomial_epsilon(counts[event.swapped], counts[!event.swapped], samples[0].half, level);
	}
	printf("%.3f %.3f of %s %g proven: (%.4g, %.4g] %d and %d times of %d\n", proven / claimed, proven,
		   claim.delta > 0 ? "delta" : "epsilon", claimed, event.low, event.high, counts[0], counts[1], samples[0].half);
	return proven > claimed ? 1 : least > 0 && proven < least * claimed ? 2 : 0;
}
