/*
 * deltas.h: the delta of a pair of neighbouring tables: the integral of max(0,
 * p - e^epsilon p') over outputs (divergence.c).
 */
#ifndef DPERM_TEST_DELTAS_H
#define DPERM_TEST_DELTAS_H

#include <stdlib.h>

#include "audit/sigma.h"
#include "audit/target.h"
#include "unit/normal.h"

#define GRID 240				/* outputs to look at, one weight */
#define REACH 7.5				/* how many deviations of noise are looked at */
#define DIVERGENCE_DIM_MAX 3

/* The relative error that quadrature may have, with several weights. */
#define QUADRATURE 1e-2

/* How far integrals of densities are from 1. */
static double mass_off;

/* The deviation of a coordinate of the noise. */
static inline double
deviation_of(const Target *t, int coordinate)
{
	const DpermNoise *noise = t->noise;

	for (int i = 0; noise && i < noise->group_count; i++)
	{
		const DpermShape *s = &noise->shapes[noise->groups[i].first];

		if (coordinate >= s->first && coordinate < s->first + s->count)
			return t->scale * normal_radius(s) / sqrt(noise->groups[i].share);
	}
	return t->scale;
}

/*
 * Log of the density of an output, up to a constant that is the same for all
 * tables.
 */
static inline double
log_density(const Target *t, const Row *a, const double *deviations, const double *f)
{
	Row			b;
	double		sum = explain(t, a, f, b);

	for (int j = 0; j < t->dim; j++)
		sum -= b[j] / deviations[j] * (b[j] / deviations[j]) / 2;
	return sum;
}

/*
 * Where an output can be: noise within its reach, and slopes between -1 and 0,
 * or 1.
 */
static inline void
range_of(const Target *t, const Row *a, const double *deviations, int j, double *low, double *high)
{
	bool		two = dperm_loss_entry((int) t->loss.kind)->label == DPERM_LABEL_TWO;

	*low = -REACH * deviations[j];
	*high = REACH * deviations[j];
	for (int i = 0; i < t->rows; i++)
	{
		double		most = weight_of(t, i) * a[i][j / t->blocks];

		*low += two ? fmin(0, most) : -fabs(most);
		*high += two ? fmax(0, most) : fabs(most);
	}
	*low /= t->units * t->lambda;
	*high /= t->units * t->lambda;
}

/* One weight: the log of the ratio of densities less epsilon. */
static inline double
excess_at(const Target *t, const Row *ours, const Row *theirs, double f)
{
	return log_density(t, ours, &t->scale, &f) - log_density(t, theirs, &t->scale, &f) - t->allowed;
}

/*
 * The probability of outputs between two, of one weight: noise falls as they
 * grow.
 */
static inline double
interval(const Target *t, const Row *a, double from, double to)
{
	double		b[2];
	double		f[2] = {from, to};

	for (int i = 0; i < 2; i++)
	{
		explain(t, a, &f[i], &b[i]);
		b[i] /= t->scale * sqrt(2);
	}

	/* from the nearer tail, so that small probabilities keep their digits */
	return b[1] > 0 ? (erfc(b[1]) - erfc(b[0])) / 2 : (erfc(-b[0]) - erfc(-b[1])) / 2;
}

/* Where the excess changes its sign, between two outputs. */
static inline double
border(const Target *t, const Row *ours, const Row *theirs, double from, double to)
{
	bool		sign = excess_at(t, ours, theirs, from) > 0;

	for (int i = 0; i < 40; i++)
	{
		double		middle = (from + to) / 2;

		if ((excess_at(t, ours, theirs, middle) > 0) == sign)
			from = middle;
		else
			to = middle;
	}
	return from;
}

/* Delta of one weight. */
static inline double
line_delta(const Target *t, const Row *ours, const Row *theirs)
{
	double		low,
				high,
				begin = 0;
	double		sum = 0;
	bool		inside = false;

	range_of(t, ours, &t->scale, 0, &low, &high);
	for (int i = 0; i <= GRID; i++)
	{
		double		f = low + (high - low) * i / GRID;
		bool		above = excess_at(t, ours, theirs, f) > 0;
		double		before = low + (high - low) * (i - 1) / GRID;

		if (above && !inside)
			begin = i == 0 ? -INFINITY : border(t, ours, theirs, before, f);
		if (inside && (!above || i == GRID))
		{
			double		end = above ? f : border(t, ours, theirs, before, f);
			double		from = isinf(begin) ? low : begin;

			sum += interval(t, ours, from, end) - exp(t->allowed) * interval(t, theirs, from, end);
		}
		inside = above;
	}
	return sum;
}

/*
 * Bends of the loss along a line in the last coordinate, in order; returns how
 * many pieces there are between them.
 */
static inline int
pieces_of(const Target *t, const Row *ours, const Row *theirs, const double *f, double low, double high, double *cuts)
{
	int			last = t->dim - 1;
	int			count = 0;
	double		h = t->loss.h;

	cuts[count++] = low;
	cuts[count++] = high;
	for (int i = 0; (t->loss.kind == DPERM_LOSS_HUBER || t->loss.kind == DPERM_LOSS_SMOOTH_HINGE) && i < 2 * t->rows; i++)
	{
		const double *a = i % 2 ? theirs[i / 2] : ours[i / 2];
		double		margin = 0;

		if (fabs(a[last]) < 1e-9)
			continue;
		for (int j = 0; j < last; j++)
			margin += a[j] * f[j];
		for (int sign = -1; sign <= 1; sign += 2)
		{
			double		at = (1 + sign * h - margin) / a[last];

			if (at > low && at < high)
				cuts[count++] = at;
		}
	}
	qsort(cuts, (size_t) count, sizeof(double), compare_doubles);
	return count - 1;
}

/* The integral over a line, and the mass of our density on it. */
static inline double
integrate_line(const Target *t, const Row *ours, const Row *theirs, const double *deviations, double step, double *f, double *mass)
{
	int			last = t->dim - 1;
	double		cuts[2 + 4 * ROWS_MAX];
	double		low,
				high;
	double		sum = 0;
	int			pieces;

	range_of(t, ours, deviations, last, &low, &high);
	pieces = pieces_of(t, ours, theirs, f, low, high, cuts);
	step *= deviations[last] / (t->units * t->lambda);
	for (int i = 0; i < pieces; i++)
	{
		int			count = 1 + (int) ((cuts[i + 1] - cuts[i]) / step);
		double		width = (cuts[i + 1] - cuts[i]) / count;

		for (int k = 0; k < count; k++)
		{
			double		p;

			f[last] = cuts[i] + (k + 0.5) * width;
			p = exp(log_density(t, ours, deviations, f));
			*mass += p * width;
			if (p > 0)
				sum += fmax(0, p - exp(t->allowed + log_density(t, theirs, deviations, f))) * width;
		}
	}
	return sum;
}

/*
 * Delta of two or three weights, and how far the density is from adding up to
 * 1. Steps are in deviations of the noise.
 */
static inline double
plane_delta(const Target *t, const Row *ours, const Row *theirs, double step, double line_step, double *off)
{
	Row			deviations;
	Row			f;
	double		low[2] = {0, 0},
				high[2] = {0, 0};
	int			counts[2] = {1, 1};
	double		sum = 0;
	double		mass = 0;
	double		area = 1;
	double		constant = 1;

	for (int j = 0; j < t->dim; j++)
	{
		deviations[j] = deviation_of(t, j);
		constant /= sqrt(8 * atan(1)) * deviations[j];
	}
	for (int j = 0; j < t->dim - 1; j++)
	{
		range_of(t, ours, deviations, j, &low[j], &high[j]);
		counts[j] = (int) ((high[j] - low[j]) * t->units * t->lambda / (step * deviations[j])) + 1;
		area *= (high[j] - low[j]) / counts[j];
	}
	for (int i = 0; i < counts[0]; i++)
		for (int k = 0; k < counts[1]; k++)
		{
			f[0] = low[0] + (high[0] - low[0]) * (i + 0.5) / counts[0];
			if (t->dim > 2)
				f[1] = low[1] + (high[1] - low[1]) * (k + 0.5) / counts[1];
			sum += integrate_line(t, ours, theirs, deviations, line_step, f, &mass);
		}
	*off = fabs(mass * area * constant - 1);
	return sum * area * constant;
}

/* Delta of output perturbation. */
static inline double
output_delta(const Target *t, const Row *ours, const Row *theirs)
{
	Row			f;
	Row			f_theirs;
	double		apart;

	minimise(t, ours, NULL, f);
	minimise(t, theirs, NULL, f_theirs);
	for (int j = 0; j < t->dim; j++)
		f[j] -= f_theirs[j];
	apart = norm_of(t->dim, f) / t->scale;
	return apart > 0 ? sigma_plain_delta(apart, t->allowed) : 0;
}

/* Delta at a point: what is behind the rows in common and the two rows. */
static inline double
delta_at(const void *arg, const double *point)
{
	const Target *t = arg;
	Row			ours[ROWS_MAX];
	Row			theirs[ROWS_MAX];
	double		off;

	tables_of(t, point, ours, theirs);
	return t->output ? output_delta(t, ours, theirs) : t->dim == 1 ? line_delta(t, ours, theirs) :
		t->dim == 2 ? plane_delta(t, ours, theirs, 0.4, 0.2, &off) : plane_delta(t, ours, theirs, 0.8, 0.4, &off);
}

/* The same, with finer steps where that makes a difference. */
static inline double
exact_delta(const Target *t, const double *point)
{
	Row			ours[ROWS_MAX];
	Row			theirs[ROWS_MAX];
	double		off;
	double		delta;

	if (t->output || t->dim == 1)
		return delta_at(t, point);
	tables_of(t, point, ours, theirs);
	delta = t->dim == 2 ? plane_delta(t, ours, theirs, 0.1, 0.02, &off) : plane_delta(t, ours, theirs, 0.4, 0.08, &off);
	mass_off = fmax(mass_off, off);
	return delta;
}

#endif							/* DPERM_TEST_DELTAS_H */
