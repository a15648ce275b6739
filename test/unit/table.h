/*
 * table.h: small tables that are hard for the solver, as text files, and how to
 * train on them.
 *
 * The first line has n, d, the loss, h, lambda and the method; then a row y x
 * per line, as hexadecimal doubles. If the labels are not of two classes, the
 * first line ends with the number of classes, or 0, and a row is x, then y.
 */
#ifndef DPERM_TEST_TABLE_H
#define DPERM_TEST_TABLE_H

#include <stdio.h>
#include <string.h>

#include "core/base/linsys.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/model/model.h"
#include "unit/entropy.h"
#include "unit/problem.h"

#define TABLE_ROWS 40
#define TABLE_DIM 8
#define TABLE_CLASSES 5
#define TABLE_WEIGHTS (TABLE_DIM * TABLE_CLASSES)

typedef struct Table
{
	Rows		rows;			/* its data belongs to us */
	double		lambda;
	DpermMethod method;
	const double *prior;		/* or NULL */
	double		data[TABLE_ROWS * TABLE_DIM];
	double		labels[TABLE_ROWS]; /* unless there are two classes */
} Table;

/* Are the labels apart from the rows? */
static inline bool
table_labelled(const Table *table)
{
	return dperm_loss_entry((int) table->rows.loss.kind)->label != DPERM_LABEL_TWO;
}

/* Look up a loss, offered or not. */
static inline bool
table_loss(const char *name, DpermLossKind *kind)
{
	for (int i = 0; i < DPERM_LOSS_COUNT; i++)
		if (strcmp(dperm_loss_name(i), name) == 0)
		{
			*kind = (DpermLossKind) i;
			return true;
		}
	return false;
}

/* Look up a mechanism. */
static inline bool
table_method(const char *name, DpermMethod *method)
{
	for (int i = 0; i < DPERM_METHOD_COUNT; i++)
		if (strcmp(dperm_mechanism_name(i), name) == 0)
		{
			*method = (DpermMethod) i;
			return true;
		}
	return false;
}

static inline bool
table_read(FILE *file, Table *table)
{
	char		loss[20];
	char		method[20];
	int			n;
	int			d;

	if (fscanf(file, "n=%d d=%d loss=%19s h=%lf lam=%lf method=%19s", &n, &d, loss, &table->rows.loss.h,
			   &table->lambda, method) != 6 || n < 1 || n > TABLE_ROWS || d < 1 || d > TABLE_DIM ||
		!table_loss(loss, &table->rows.loss.kind) || !table_method(method, &table->method))
		return false;
	table->rows.count = n;
	table->rows.dim = d;
	table->rows.data = table->data;
	table->rows.loss.classes = 0;
	if (table_labelled(table) && (fscanf(file, " classes=%d", &table->rows.loss.classes) != 1 ||
								  table->rows.loss.classes > TABLE_CLASSES))
		return false;
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < d; j++)
			if (fscanf(file, "%la", &table->data[i * d + j]) != 1)
				return false;
		if (table_labelled(table) && fscanf(file, "%la", &table->labels[i]) != 1)
			return false;
	}
	return true;
}

static inline void
table_write(FILE *file, const Table *table)
{
	int			d = table->rows.dim;

	fprintf(file, "n=%d d=%d loss=%s h=%.17g lam=%.17g method=%s", (int) table->rows.count, table->rows.dim,
			dperm_loss_name(table->rows.loss.kind), table->rows.loss.h, table->lambda,
			dperm_mechanism_name(table->method));
	if (table_labelled(table))
		fprintf(file, " classes=%d", table->rows.loss.classes);
	for (int i = 0; i < table->rows.count; i++)
	{
		for (int j = 0; j < d; j++)
			fprintf(file, "%c%a", j > 0 ? ' ' : '\n', table->data[i * d + j]);
		if (table_labelled(table))
			fprintf(file, " %a", table->labels[i]);
	}
	fprintf(file, "\n");
}

/* The exact gradient, as wide_gradient(); returns its norm. */
static inline long double
table_gradient(const Table *table, double lambda, const double *tilt, const double *weights, long double *gradient)
{
	Rows		rows = table->rows;

	rows.labels = table_labelled(table) ? table->labels : NULL;
	return wide_gradient(&rows, lambda, tilt, weights, gradient);
}

/* Where the rows are while a model is trained. */
typedef enum TableMode
{
	TABLE_IN_MEMORY,
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
	int64_t		careful;		/* of those, in extended precision */
	long double gradient;		/* at the weights, exactly */
	double		allowed;		/* what it may be, with the rounding of the weights to doubles */
} TableRun;

/* Rows that count how often they are asked. */
typedef struct TableRows
{
	DpermMatrix *matrix;
	TableRun	run;
} TableRows;

static inline void
table_answer(void *arg, const DpermAsk *ask)
{
	TableRows  *rows = arg;

	dperm_matrix_answer(rows->matrix, ask);
	rows->run.asked++;
	rows->run.careful += ask->weights_low != NULL;
}

/* Train with epsilon, up to the release. */
static inline TableRun
table_run(const Table *table, double epsilon, TableMode mode, uint64_t seed)
{
	int			d = table->rows.dim;
	int			dim = d * dperm_loss_blocks(table->rows.loss);
	static double moments_room[200000];
	static double fit_room[100000];
	static double words[TABLE_ROWS * (TABLE_DIM + 1)];
	double		weights[TABLE_WEIGHTS];
	long double exact[TABLE_WEIGHTS];
	double	   *chunk;
	DpermLayout layout = dperm_layout_dense(d);
	DpermMatrix matrix = rows_matrix(&table->rows, &chunk, moments_room);
	DpermMatrix sample;
	DpermEntropy entropy;
	TestEntropy source;
	DpermFit	fit = {
		.setup = {.loss = table->rows.loss, .method = table->method, .epsilon = epsilon, .lambda = table->lambda,
		.rows = table->rows.count, .dim = dim,
		.prior_norm = table->prior ? dperm_model_norm(table->prior, dim) : 0},
		.prior = table->prior,
		.hess_cost = mode == TABLE_IN_MEMORY ? 0 : d / 72.0,
		.entropy = &entropy
	};
	DpermFitting fitting;
	TableRows	rows = {.matrix = &matrix};
	TableRun   *run = &rows.run;

	run->calibrated = dperm_calibrate(&fit.setup, &fit.calibration) == NULL;
	if (!run->calibrated)
		return *run;
	if (table_labelled(table))
	{
		layout.labelled = true;
		layout.words = d + 1;
		for (int64_t i = 0; i < matrix.count; i++)
		{
			memcpy(words + i * (d + 1), table->data + i * d, sizeof(double) * (size_t) d);
			words[i * (d + 1) + d] = table->labels[i];
		}
		chunk = words;
		matrix.layout = &layout;
		matrix.dim = dim;
	}
	sample = matrix;
	test_entropy_init(&entropy, &source, seed);
	matrix.rough = dperm_solver_rough(fit.calibration.lambda, fit.setup.loss);
	fit.sample = mode == TABLE_STREAMED ? NULL : &sample;
	dperm_fit_start(&fitting, &fit, weights, fit_room);
	dperm_fit_minimise(&fitting, table_answer, &rows);
	run->certified = fitting.certified;
	run->gradient = table_gradient(table, fit.calibration.lambda, fitting.objective.tilt, weights, exact);
	run->allowed = fit.calibration.gradient_bound +
		(dperm_loss_bounds(table->rows.loss).curvature + fit.calibration.lambda) * 0x1p-53 * sqrt(dperm_dot(dim, weights, weights));
	run->status = dperm_fit_end(&fitting);
	return *run;
}

#endif							/* DPERM_TEST_TABLE_H */
