/*
 * recover.h: training many times, and recovering the noise from what was
 * released.
 */
#ifndef DPERM_TEST_RECOVER_H
#define DPERM_TEST_RECOVER_H

#include "audit/columns.h"
#include "audit/sigma.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/privacy/claim.h"
#include "unit/entropy.h"
#include "unit/oracle.h"
#include "unit/problem.h"
#include "unit/slack.h"

#define FITS 2000
#define ROWS 15					/* or persons */
#define OWN_MAX 5				/* rows of a person */

/* One way to train. */
typedef struct Case
{
	DpermMethod method;
	DpermAnalysis analysis;
	DpermNeighbours neighbours;
	DpermUnit	unit;
	DpermLoss	loss;
	int			dim;
	double		epsilon;
	double		delta;			/* 0: pure epsilon, else Gaussian noise */
	double		lambda;
	double		slack;			/* the most that it may take, as a share */
	const Columns *columns;		/* NULL: vectors, and noise in the ball */
	const DpermNoise *noise;
} Case;

static double data[ROWS * OWN_MAX * DIM_MAX];
static double labels[ROWS * OWN_MAX];
static double laid_out[ROWS * OWN_MAX * (DIM_MAX + 2)];
static double row_weights[ROWS * OWN_MAX];
static double released[FITS][DIM_MAX];
static double fit_room[DIM_MAX * DIM_MAX + 400 * DIM_MAX];
static double moments_room[200000];

/* The tables of the guarantee document: the largest trace of a loss. */
static inline double
trace_of(DpermLoss loss)
{
	return loss.kind == DPERM_LOSS_LOGISTIC ? 0.25 : loss.kind == DPERM_LOSS_HUBER ? 1 / (2 * loss.h) :
		loss.kind == DPERM_LOSS_SMOOTH_HINGE ? 3 / (4 * loss.h) : loss.kind == DPERM_LOSS_LOG_COSH ? 1 / loss.h :
		1 - 1.0 / loss.classes;
}

/* How steeply the trace falls where the slope is largest, and what it is there. */
static inline double
trace_fall(DpermLoss loss)
{
	return loss.kind == DPERM_LOSS_LOGISTIC ? 1 : loss.kind == DPERM_LOSS_HUBER ? 0 :
		loss.kind == DPERM_LOSS_SMOOTH_HINGE ? INFINITY : loss.kind == DPERM_LOSS_LOG_COSH ? 2 / loss.h :
		2.0 / (loss.classes - 1);
}

static inline double
trace_end(DpermLoss loss)
{
	return loss.kind == DPERM_LOSS_SOFTMAX ? (loss.classes - 2.0) / (loss.classes - 1) : 0;
}

/* The rank of what a unit adds to the Hessian. */
static inline int
rank_of(const Case *c)
{
	return (c->loss.classes ? c->loss.classes - 1 : 1) * (c->unit == DPERM_UNIT_PERSON ? c->dim : 1);
}

/* How far a row moves the noise: in the sum of norms over classes, or in the norm. */
static inline double
reach_of(const Case *c)
{
	return c->loss.classes == 0 ? 1 : c->method == DPERM_METHOD_OBJECTIVE && c->delta == 0 ? 2 : sqrt(2);
}

/* The directions that a slope may have. */
static inline int
directions_of(DpermLoss loss)
{
	return loss.kind == DPERM_LOSS_SOFTMAX ? loss.classes - 1 : loss.kind == DPERM_LOSS_LOG_COSH ? 2 : 1;
}

/* Weights, and vectors that the noise of a training consists of: one for each class, if it is drawn so. */
static inline int
weights_of(const Case *c)
{
	return c->dim * dperm_loss_blocks(c->loss);
}

static inline int
draws_of(const Case *c)
{
	return c->method == DPERM_METHOD_OBJECTIVE ? dperm_loss_blocks(c->loss) : 1;
}

/*
 * The scale of noise for a share of epsilon, when rows that differ are reach
 * apart at most.
 */
static inline double
expected_scale(const Case *c, double epsilon, double reach, double floor)
{
	if (c->delta == 0)
		return (c->neighbours == DPERM_NEIGHBOURS_REPLACE ? 2 : 1) * reach / epsilon;
	return (c->neighbours == DPERM_NEIGHBOURS_REPLACE ? 2 : 1) * reach *
		sigma_for(epsilon, c->method == DPERM_METHOD_OBJECTIVE ? c->delta / directions_of(c->loss) : c->delta, c->method == DPERM_METHOD_OBJECTIVE &&
				  (c->unit == DPERM_UNIT_PERSON || c->neighbours == DPERM_NEIGHBOURS_REPLACE), floor);
}

/* The lambda at which the slack takes its share, with a delta at any slope. */
static inline double
least_lambda(const Case *c, int rank)
{
	double		high = trace_of(c->loss) / (rank * ROWS * (exp(c->slack * c->epsilon / rank) - 1));
	double		low = high / 1e6;

	for (int i = 0; c->delta == 0 && i < 60; i++)
	{
		double		middle = sqrt(low * high);

		if (slack_reference(c->loss, dperm_claim_rows_apart(c->neighbours), rank, ROWS * middle, c->epsilon) <= c->slack * c->epsilon)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Lambda and the scale of the noise, as in the guarantee document. */
static inline void
expected_law(const Case *c, double *lambda, double *scale)
{
	double		curvature = trace_of(c->loss);
	double		budget = c->epsilon;	/* the release takes next to nothing of so few rows */

	*lambda = c->lambda;
	if (c->method == DPERM_METHOD_OUTPUT)
		*scale = expected_scale(c, budget, reach_of(c) / (ROWS * c->lambda), 0);
	else if (c->analysis == DPERM_ANALYSIS_SHARP)
	{
		int			rank = rank_of(c);
		double		flat;
		double		left;

		*lambda = fmax(c->lambda, least_lambda(c, rank));
		left = budget - (double) slack_reference(c->loss, dperm_claim_rows_apart(c->neighbours), rank, ROWS * *lambda, budget);

		/* Gaussian noise: where the determinants fall to 0 with the slope, as steeply as they do, or as the noise allows */
		flat = ROWS * *lambda;
		*scale = expected_scale(c, left, reach_of(c), fmin(left, dperm_claim_rows_apart(c->neighbours) * trace_fall(c->loss) /
														   (flat + trace_end(c->loss) / rank)));
	}
	else
	{
		double		ratio = curvature / (ROWS * c->lambda);
		double		left = budget - log(1 + 2 * ratio + ratio * ratio);

		if (left <= 0)
		{
			*lambda += curvature / (ROWS * (exp(budget / 4) - 1)) - c->lambda;
			left = budget / 2;
		}
		*scale = expected_scale(c, left, 1, 0);
	}
}

/* Rows of persons: one to five of each, whose weights add up to 1. */
static inline void
take_persons(Rows *rows)
{
	rows->units = ROWS;
	rows->weights = row_weights;
	rows->count = 0;
	for (int i = 0; i < ROWS; i++)
	{
		int			own = 1 + i % OWN_MAX;

		for (int k = 0; k < own; k++)
			row_weights[rows->count++] = 1.0 / own;
	}
}

/* Labels of their own: numbers, or classes; now and then none, or one that is outside of its domain and counts as none. */
static inline void
take_labels(TestRandom *state, Rows *rows)
{
	int			classes = rows->loss.classes;

	rows->labels = labels;
	for (int64_t i = 0; i < rows->count; i++)
		labels[i] = classes > 0 ? test_below(state, classes + 2) : fmin(fmax(1.5 * test_uniform(state) * (i % 2 ? 1 : -1), -1), 1);
	if (classes == 0)
		labels[0] = dperm_label_kind_none(DPERM_LABEL_NUMBER);
	labels[1] = classes > 0 ? classes + 1 : 1000;
}

/* Give a matrix the labels and weights of rows. */
static inline void
lay_out(const Rows *rows, DpermMatrix *matrix, DpermLayout *layout, double **chunk)
{
	*layout = dperm_layout_dense(rows->dim);
	layout->labelled = rows->labels != NULL;
	layout->words += layout->labelled;
	if (rows->weights)
	{
		layout->weighted = true;
		layout->words++;
	}
	for (int64_t i = 0; i < rows->count; i++)
	{
		double	   *row = laid_out + i * layout->words;

		memcpy(row, rows->data + i * rows->dim, sizeof(double) * (size_t) rows->dim);
		if (rows->labels)
			row[dperm_layout_label(layout)] = rows->labels[i];
		if (rows->weights)
			row[layout->words - 1] = dperm_unit_weight((int64_t) rint(1 / rows->weights[i]));
	}
	*chunk = laid_out;
	matrix->dim = rows->dim * dperm_loss_blocks(rows->loss);
	matrix->layout = layout;
	matrix->units = rows->units;
	matrix->of = rows->count;
}

/* Train FITS times on the same rows; false at the first error. */
static inline bool
train(const Case *c, const Rows *rows, uint64_t seed)
{
	double	   *chunk;
	DpermMatrix matrix = rows_matrix(rows, &chunk, moments_room);
	DpermLayout layout;
	TestEntropy source;
	DpermEntropy entropy;
	DpermFit	fit = {
		.setup = {.loss = c->loss, .method = c->method, .analysis = c->analysis, .unit = c->unit,
			.neighbours = c->neighbours, .epsilon = c->epsilon, .delta = c->delta, .lambda = c->lambda, .rows = ROWS, .dim = weights_of(c),
			.noise = c->noise, .slack = c->slack},
		.entropy = &entropy
	};

	if (rows->weights || rows->labels)
		lay_out(rows, &matrix, &layout, &chunk);
	CHECK(dperm_fit_room(weights_of(c), dperm_loss_blocks(c->loss)) <= sizeof(fit_room) / sizeof(double));
	test_entropy_init(&entropy, &source, seed);
	CHECK(dperm_calibrate(&fit.setup, &fit.calibration) == NULL);
	for (int i = 0; i * draws_of(c) < FITS; i++)
		if (oracle_fit(oracle_of(&matrix), &fit, released[i], fit_room) != DPERM_OK)
			return false;
	return true;
}

/*
 * The minimiser without noise: damped Newton steps in one dimension after the
 * other.
 */
static inline void
minimise(const Rows *rows, double lambda, double *f)
{
	long double gradient[DIM_MAX];

	int			dim = rows->dim * dperm_loss_blocks(rows->loss);

	memset(f, 0, sizeof(double) * (size_t) dim);

	/* plain gradient steps of size 1/(c + lambda): slow and sure */
	for (int i = 0; i < 200000; i++)
	{
		double		c = dperm_loss_bounds(rows->loss).curvature;

		if (wide_gradient(rows, lambda, NULL, f, gradient) < 1e-10L * lambda)
			break;
		for (int j = 0; j < dim; j++)
			f[j] -= (double) (gradient[j] / (c + lambda));
	}
}

/*
 * Vector i of the noise that explains what was released: of a training, or of
 * one class after the other.
 */
static inline void
invert(const Case *c, const Rows *rows, double lambda, const double *best, int i, double *b)
{
	int			draws = draws_of(c);
	int			dim = weights_of(c);
	const double *f = released[i / draws];
	long double gradient[DIM_MAX];

	if (c->method == DPERM_METHOD_OUTPUT)
	{
		for (int j = 0; j < dim; j++)
			b[j] = f[j] - best[j];
		return;
	}
	wide_gradient(rows, lambda, NULL, f, gradient);
	for (int j = 0; j < c->dim; j++)
		b[j] = -(double) (gradient[j * draws + i % draws] * ROWS);
}

#endif							/* DPERM_TEST_RECOVER_H */
