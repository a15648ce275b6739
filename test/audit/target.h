/*
 * target.h: two small neighbouring tables, and what leads to an output on each
 * of them.
 *
 * Values go through the library's encoder, its calibration gives Lambda and the
 * scale of the noise, and its solver the minimisers. The noise that leads to an
 * output f, and the Jacobian determinant there, have a closed form.
 */
#ifndef DPERM_TEST_TARGET_H
#define DPERM_TEST_TARGET_H

#include "audit/simplex.h"
#include "audit/spaces.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/claim.h"
#include "loss_at.h"
#include "unit/entropy.h"
#include "unit/oracle.h"
#include "unit/problem.h"

#define UNITS_MAX 3
#define OWN_MAX 3				/* rows of the person who differs */
#define ROWS_MAX (UNITS_MAX - 1 + OWN_MAX)
#define POINT_MAX ((ROWS_MAX + OWN_MAX) * INPUTS_MAX + DIM_MAX)
_Static_assert(POINT_MAX <= SIMPLEX_MAX, "too many numbers to climb over");
#define DISAGREEMENT_MAX 1e-7

/* What is attacked: the mechanism's constants, and the true loss. */
typedef struct Target
{
	const Space *space;
	DpermLoss	loss;
	bool		output;
	DpermNeighbours neighbours;
	bool		reverse;		/* remove: the row is empty in the first table, not in the second */
	int			dim;			/* weights, coordinate by coordinate */
	int			blocks;			/* outputs of a row */
	int			units;			/* n */
	int			own;			/* rows of the unit that differs, which come first: 1 unless that is a person */
	int			rows;			/* in all */
	double		weight;			/* of each of these; the others have weight 1 */
	double		lambda;
	double		scale;
	const DpermNoise *noise;	/* NULL: the ball */
	double		allowed;		/* epsilon minus the share of the release stage */
	double		delta;
} Target;

typedef double Row[DIM_MAX + 1];	/* its label, if that is not in the sign, is the last */
#define LABEL DIM_MAX
#define CLASSES_MAX 3

/* The distance of the solver's result from the right one. */
static double disagreement;

static const DpermLoss losses[] = {{DPERM_LOSS_LOGISTIC, 0}, {DPERM_LOSS_HUBER, 0.5},
{DPERM_LOSS_HUBER, 0.05}, {DPERM_LOSS_SMOOTH_HINGE, 0.5}};

/* Numbers, and several classes. */
static const DpermLoss other_losses[] = {{DPERM_LOSS_LOG_COSH, 0.25}, {DPERM_LOSS_SOFTMAX, 0, 3}, {DPERM_LOSS_LOG_COSH, 0.05}};
#define OTHERS 3

/*
 * Log of the determinant of a positive matrix, lower triangle; it is
 * overwritten.
 */
static inline double
log_determinant(int dim, double a[][DIM_MAX])
{
	double		sum = 0;

	for (int j = 0; j < dim; j++)
	{
		sum += log(a[j][j]);
		for (int i = j + 1; i < dim; i++)
			for (int k = j + 1; k <= i; k++)
				a[i][k] -= a[i][j] * a[k][j] / a[j][j];
	}
	return sum;
}

static inline double
norm_of(int dim, const double *x)
{
	double		sum = 0;

	for (int j = 0; j < dim; j++)
		sum += x[j] * x[j];
	return sqrt(sum);
}

/* The weight of a row. */
static inline double
weight_of(const Target *t, int row)
{
	return row < t->own ? t->weight : 1;
}

/* From the outputs of a row to its slopes and curvatures. */
static inline void
derivatives(DpermLoss loss, double label, double *z, double curves[][CLASSES_MAX])
{
	double		sum = 0;
	double		most = -INFINITY;

	if (loss.classes == 0)
	{
		LossAt at = loss_at(loss, z[0], label);

		z[0] = at.slope;
		curves[0][0] = at.curve;
		return;
	}
	for (int k = 0; k < loss.classes; k++)
		most = fmax(most, z[k]);
	for (int k = 0; k < loss.classes; k++)
		sum += exp(z[k] - most);
	for (int k = 0; k < loss.classes; k++)
		z[k] = exp(z[k] - most) / sum;
	for (int k = 0; k < loss.classes; k++)
		for (int l = 0; l < loss.classes; l++)
			curves[k][l] = k == l ? z[k] * (1 - z[k]) : -z[k] * z[l];
	z[(int) label - 1] -= 1;
}

/*
 * Noise that belongs to output f, and the log of the Jacobian determinant
 * there.
 */
static inline double
explain(const Target *t, const Row *a, const double *f, double *b)
{
	double		hess[DIM_MAX][DIM_MAX] = {{0}};

	for (int j = 0; j < t->dim; j++)
	{
		b[j] = -t->units * t->lambda * f[j];
		hess[j][j] = t->units * t->lambda;
	}
	for (int i = 0; i < t->rows; i++)
	{
		double		slopes[CLASSES_MAX] = {0};
		double		curves[CLASSES_MAX][CLASSES_MAX];

		for (int j = 0; j < t->dim; j++)
			slopes[j % t->blocks] += a[i][j / t->blocks] * f[j];
		derivatives(t->loss, a[i][LABEL], slopes, curves);
		for (int j = 0; j < t->dim; j++)
		{
			b[j] -= weight_of(t, i) * slopes[j % t->blocks] * a[i][j / t->blocks];
			for (int k = 0; k <= j; k++)
				hess[j][k] += weight_of(t, i) * curves[j % t->blocks][k % t->blocks] * a[i][j / t->blocks] * a[i][k / t->blocks];
		}
	}
	return log_determinant(t->dim, hess);
}

/* The library's minimiser of J plus b.f/n, b = NULL for none. */
static inline void
minimise(const Target *t, const Row *a, const double *b, double *f)
{
	int			wide = t->space->dim;
	Rows		rows = {.loss = t->loss, .dim = t->dim, .count = t->rows};
	double		flat[ROWS_MAX * (DIM_MAX + 2)];
	DpermLayout layout = dperm_layout_dense(wide);
	double		tilt[DIM_MAX];
	double	   *chunk;
	static double moments_room[200000];
	static double room[40000];
	DpermMatrix matrix;
	DpermProblem problem = {.objective = {.loss = t->loss, .dim = t->dim, .most_rows = t->rows, .lambda = t->lambda, .bound = 1e-12}};

	CHECK(dperm_solver_room(t->dim, t->blocks) <= 3000);
	layout.labelled = true;
	layout.words++;
	layout.weighted = true;
	layout.words++;
	for (int i = 0; i < t->rows; i++)
	{
		memcpy(flat + i * layout.words, a[i], sizeof(double) * wide);
		flat[i * layout.words + dperm_layout_label(&layout)] = a[i][LABEL];
		flat[(i + 1) * layout.words - 1] = weight_of(t, i);
	}
	rows.data = flat;
	matrix = rows_matrix(&rows, &chunk, moments_room);
	matrix.layout = &layout;
	matrix.of = t->rows;
	matrix.units = t->units;
	if (b)
	{
		for (int j = 0; j < t->dim; j++)
			tilt[j] = b[j] / t->units;
		problem.objective.tilt = tilt;
		problem.objective.bound *= 1 + norm_of(t->dim, tilt);
	}
	memset(f, 0, sizeof(double) * t->dim);
	if (!oracle_solve(oracle_of(&matrix), &problem, f, room))
		disagreement = INFINITY;
}

/*
 * The rows of two neighbours: some differ, or are empty in one of the tables.
 */
static inline void
tables_of(const Target *t, const double *point, Row *ours, Row *theirs)
{
	for (int i = 0; i < t->rows; i++)
		ours[i][LABEL] = encode(t->space, t->loss, point + i * t->space->inputs, ours[i]);
	memcpy(theirs, ours, sizeof(Row) * t->rows);
	for (int i = 0; i < t->own; i++)
		if (t->neighbours == DPERM_NEIGHBOURS_REPLACE)
			theirs[i][LABEL] = encode(t->space, t->loss, point + (t->rows + i) * t->space->inputs, theirs[i]);
		else
			memset(t->reverse ? ours[i] : theirs[i], 0, sizeof(double) * LABEL);
}

/* How many numbers are behind them. */
static inline int
inputs_of(const Target *t)
{
	return (t->rows + t->own) * t->space->inputs;
}

static inline const double *
output_of(const Target *t, const double *point)
{
	return point + inputs_of(t);
}

/* Does the solver, given the noise that belongs to f, reproduce f? */
static inline void
check_solver(const Target *t, const double *point)
{
	const double *f = output_of(t, point);
	Row			ours[ROWS_MAX];
	Row			theirs[ROWS_MAX];
	Row			b;
	Row			back;
	double		off;

	tables_of(t, point, ours, theirs);
	explain(t, ours, f, b);
	minimise(t, ours, b, back);
	for (int j = 0; j < t->dim; j++)
		back[j] -= f[j];
	off = norm_of(t->dim, back) / (1 + norm_of(t->dim, f));
	disagreement = fmax(disagreement, isnan(off) ? INFINITY : off);
}

/*
 * A start: values at the ends of their domains, inside or beyond; f where
 * margins meet a bend of the loss. Every other one is of the kind that the
 * analysis is tight for: two rows that differ in their label, and f along them,
 * just beyond the bend. For a person f is beyond the bends of all rows, if they
 * are orthogonal. With several classes f is along the row for each, or against.
 */
static inline void
make_start(const Target *t, TestRandom *state, double *point)
{
	static const double corners[] = {1, -1, 0, 2, -3};
	int			inputs = t->space->inputs;
	double	   *f = point + inputs_of(t);
	double		h = t->loss.h > 0 ? t->loss.h : 1;
	double		bends[] = {1 - h, 0, 1 + h, 1, -1, 10, 1 / (t->units * t->lambda)};
	bool		at_corners = test_below(state, 3) > 0;
	bool		opposite = test_below(state, 2);
	double		bend = bends[opposite ? 0 : test_below(state, 7)] * (1 + 1e-9);
	Row			along;
	double		size;

	/* a row that is added shows on the other side */
	if (t->reverse && opposite)
		bend = -bend;
	for (int i = 0; i < inputs_of(t); i++)
		point[i] = at_corners ? corners[test_below(state, 5)] : 3 * test_uniform(state) - 1.5;
	if (opposite)
	{
		memcpy(point + t->rows * inputs, point, sizeof(double) * inputs * t->own);
		for (int i = 0; i < t->own; i++)
			point[(t->rows + i + 1) * inputs - 1] = point[(i + 1) * inputs - 1] < 0 ? 1 : -1;
	}
	random_row(state, t->dim, f);
	for (int i = 0; i < (opposite ? t->own : 1); i++)
	{
		encode(t->space, t->loss, point + (opposite ? i : test_below(state, t->rows + 1)) * inputs, along);
		size = norm_of(t->space->dim, along);
		for (int j = 0; j < t->dim; j++)
			f[j] = (i > 0 ? f[j] : 0) + bend * (size > 0 ? along[j / t->blocks] / (size * size) : f[j]) *
				(t->blocks > 1 ? 3 * (2 * test_uniform(state) - 1) : 1);
	}
}

/* Let the unit that differs have so many rows. */
static inline void
take_rows(Target *t, int own)
{
	t->own = own;
	t->rows = t->units - 1 + own;
	t->weight = dperm_unit_weight(own);
}

/* The constants that the library gives. */
static inline Target
calibrated(const DpermSetup *s, int space)
{
	DpermCalibration cal;
	Target		t = {.space = &spaces[space], .loss = s->loss,
	.output = s->method == DPERM_METHOD_OUTPUT, .neighbours = s->neighbours, .delta = s->delta, .dim = s->dim,
	.blocks = dperm_loss_blocks(s->loss), .noise = s->noise};

	CHECK(dperm_calibrate(s, &cal) == NULL);
	t.lambda = cal.lambda;
	t.scale = cal.noise_scale;
	t.allowed = s->epsilon - cal.claim.shares[DPERM_SHARE_RELEASE];
	t.units = (int) s->rows;
	take_rows(&t, 1);
	return t;
}

#endif							/* DPERM_TEST_TARGET_H */
