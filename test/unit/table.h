/*
 * table.h: small tables that are hard for the solver, as text files, and how to
 * train on them.
 *
 * The first line has n, d, the loss, h, lambda and the method; then a row y x
 * per line, as hexadecimal doubles.
 */
#ifndef DPERM_TEST_TABLE_H
#define DPERM_TEST_TABLE_H

#include <stdio.h>
#include <string.h>

#include "core/base/linsys.h"
#include "core/encode/compact.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/mechanism/mechanism.h"
#include "core/model/prior.h"
#include "unit/entropy.h"
#include "unit/problem.h"

#define TABLE_ROWS 40
#define TABLE_DIM 8

typedef struct Table
{
	Rows		rows;			/* its data belongs to us */
	double		lambda;
	DpermMethod method;
	const double *prior;		/* or NULL */
	double		data[TABLE_ROWS * TABLE_DIM];
} Table;

static inline bool
table_read(FILE *file, Table *table)
{
	char		loss[20];
	char		method[20];
	int			n;
	int			d;

	if (fscanf(file, "n=%d d=%d loss=%19s h=%lf lam=%lf method=%19s", &n, &d, loss, &table->rows.loss.h,
			   &table->lambda, method) != 6 || n < 1 || n > TABLE_ROWS || d < 1 || d > TABLE_DIM ||
		!dperm_loss_parse(loss, &table->rows.loss.kind) || !dperm_mechanism_parse(method, &table->method))
		return false;
	table->rows.count = n;
	table->rows.dim = d;
	table->rows.data = table->data;
	for (int i = 0; i < n * d; i++)
		if (fscanf(file, "%la", &table->data[i]) != 1)
			return false;
	return true;
}

static inline void
table_write(FILE *file, const Table *table)
{
	fprintf(file, "n=%d d=%d loss=%s h=%.17g lam=%.17g method=%s\n", (int) table->rows.count, table->rows.dim,
			dperm_loss_name(table->rows.loss.kind), table->rows.loss.h, table->lambda,
			dperm_mechanism_name(table->method));
	for (int i = 0; i < table->rows.count; i++)
		for (int j = 0; j < table->rows.dim; j++)
			fprintf(file, "%a%c", table->data[i * table->rows.dim + j], j + 1 < table->rows.dim ? ' ' : '\n');
}

/* Where the rows are while a model is trained. */
typedef enum TableMode
{
	TABLE_IN_MEMORY,
	TABLE_COMPACT,				/* all of them compact, and read again */
	TABLE_STREAMED,				/* read again each time */
	TABLE_MODES
} TableMode;

/* The result of a training. */
typedef struct TableRun
{
	DpermStatus status;
	bool		calibrated;
	bool		certified;
	int64_t		asked;			/* of all rows */
	int64_t		careful;		/* of those, in twice the precision */
	long double gradient;		/* at the weights, exactly */
	double		allowed;		/* what it may be, with the rounding of the weights to doubles */
} TableRun;

/* Train with epsilon, up to the release. */
static inline TableRun
table_run(const Table *table, double epsilon, TableMode mode, uint64_t seed)
{
	int			dim = table->rows.dim;
	static double moments_room[100000];
	static double fit_room[10000];
	static double compact[TABLE_ROWS * TABLE_DIM];
	double		weights[TABLE_DIM];
	long double exact[TABLE_DIM];
	double	   *chunk;
	double	   *compact_chunk = compact;
	DpermLayout layout = dperm_layout_dense(dim);
	DpermMatrix matrix = rows_matrix(&table->rows, &chunk, moments_room);
	DpermMatrix sample = matrix;
	DpermEntropy entropy;
	TestEntropy source;
	DpermFit	fit = {
		.setup = {.loss = table->rows.loss, .method = table->method, .epsilon = epsilon, .lambda = table->lambda,
		.rows = table->rows.count, .dim = dim, .prior = table->prior != NULL,
		.prior_norm = table->prior ? dperm_prior_norm(table->prior, dim) : 0},
		.prior = table->prior,
		.hess_cost = mode == TABLE_IN_MEMORY ? 0 : dim / 72.0,
		.entropy = &entropy
	};
	DpermFitting fitting;
	DpermAsk	ask;
	const char *why;
	TableRun	run = {0};

	run.calibrated = dperm_calibrate(&fit.setup, &fit.calibration, &why) == DPERM_OK;
	if (!run.calibrated)
		return run;
	test_entropy_init(&entropy, &source, seed);
	matrix.rough = dperm_fit_rough(&fit);
	if (mode == TABLE_COMPACT)
	{
		for (int64_t i = 0; i < matrix.count; i++)
			dperm_compact_put(&layout, table->data + i * dim, compact + i * dperm_compact_words(&layout));
		sample.compact = true;
		sample.chunks = &compact_chunk;
	}
	fit.sample = mode == TABLE_STREAMED ? NULL : &sample;
	dperm_fit_start(&fitting, &fit, weights, fit_room);
	while (dperm_fit_next(&fitting, &ask))
	{
		dperm_matrix_answer(&matrix, &ask);
		run.asked++;
		run.careful += ask.weights_low != NULL;
	}
	run.certified = fitting.minimise.certified;
	run.gradient = wide_gradient(&table->rows, fit.calibration.lambda, fitting.minimise.task.tilt, weights, exact);
	run.allowed = fit.calibration.gradient_bound +
		(dperm_loss_bounds(table->rows.loss).curvature + fit.calibration.lambda) * 0x1p-53 * sqrt(dperm_dot(dim, weights, weights));
	run.status = dperm_fit_end(&fitting);
	return run;
}

#endif							/* DPERM_TEST_TABLE_H */
