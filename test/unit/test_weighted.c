/*
 * test_weighted.c: rows with weights: passes over them against plain arithmetic
 * in long doubles, a row repeated m times with weight 1/m against one row, and
 * a training whose persons have many rows.
 */
#define TEST_OWN_MAIN
#include "unit/coded.h"

#include <stdlib.h>

#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/privacy/claim.h"
#include "core/solve/sums.h"
#include "unit/entropy.h"
#include "unit/oracle.h"
#include "unit/problem.h"

#define ROWS_MAX 1200
#define DIM_MAX SAMPLE_DIM_MAX

static CodedRows coded;
static double weights[DIM_MAX];
static double *room;

/* The result of a pass. */
typedef struct Answer
{
	double		value;
	double		gradient[DIM_MAX];
	double		low[DIM_MAX];
	double		hess[DIM_MAX * DIM_MAX];
} Answer;

static Answer got;
static Answer expected;

/* A row with some weight, or none. */
static double
any_weight(TestRandom *state)
{
	int			m = test_below(state, 20);

	return m == 0 ? 0 : dperm_unit_weight(m);
}

/* A loss of any kind. */
static DpermLoss
any_loss(TestRandom *state)
{
	DpermLoss	loss = {.kind = (DpermLossKind) test_below(state, 3)};

	if (loss.kind != DPERM_LOSS_LOGISTIC)
		loss.h = 0.1 + test_uniform(state) * 0.9;
	return loss;
}

/* The means over rows with weights, by definition. */
static void
define(const DpermLayout *layout, DpermLoss loss, const double *rows, int64_t count, int64_t step, double units)
{
	static double vector[DIM_MAX];
	static long double sums[1 + DIM_MAX + DIM_MAX * DIM_MAX];
	int			dim = layout->dim;

	memset(sums, 0, sizeof(sums));
	for (int64_t i = 0; i < count; i += step)
	{
		const double *row = rows + i * layout->words;
		long double weight = row[layout->words - 1];
		long double margin = 0;
		WideLoss	at;

		decode_row(layout, row, vector);
		for (int j = 0; j < dim; j++)
			margin += (long double) vector[j] * weights[j];
		at = wide_loss(loss, margin);
		sums[0] += weight * at.value;
		for (int j = 0; j < dim; j++)
		{
			sums[1 + j] += weight * at.slope * vector[j];
			for (int k = j; k < dim; k++)
				sums[1 + dim + j * dim + k] += weight * at.curve * vector[j] * vector[k];
		}
	}
	expected.value = (double) (sums[0] / units);
	for (int j = 0; j < dim; j++)
	{
		expected.gradient[j] = (double) (sums[1 + j] / units);
		for (int k = j; k < dim; k++)
			expected.hess[j * dim + k] = (double) (sums[1 + dim + j * dim + k] / units);
	}
}

/* Compare with what was expected. */
static void
check_answer(int dim, double near, double near_gradient, double near_hess)
{
	CHECK_NEAR(got.value, expected.value, near);
	for (int j = 0; j < dim; j++)
	{
		CHECK_NEAR(got.gradient[j], expected.gradient[j], near_gradient);
		for (int k = j; near_hess > 0 && k < dim; k++)
			CHECK_NEAR(got.hess[j * dim + k], expected.hess[j * dim + k], near_hess);
	}
}

/*
 * All kinds of passes over rows with weights, in one piece and by steps.
 */
TEST(passes_over_weighted_rows)
{
	TestRandom	state = 501;

	for (int round = 0; round < 400; round++)
	{
		DpermLayout layout = any_layout(&state, &coded, round);
		DpermLoss	loss = any_loss(&state);
		int64_t		count = 1 + test_below(&state, round % 6 ? 90 : ROWS_MAX);
		int64_t		step = 1 + test_below(&state, 4);
		double		units = 1 + test_below(&state, 1000);
		double		steep = loss.h > 0 ? 1 / loss.h : 1;
		double	   *rows;
		DpermMatrix matrix = {.loss = loss, .dim = layout.dim, .layout = &layout, .count = count, .chunk_rows = count,
			.chunks = &rows, .of = count, .units = units, .room = room};
		DpermAsk	ask = {.weights = weights, .value = &got.value, .gradient = got.gradient, .hess = got.hess};
		double		scale;

		layout.weighted = true;
		layout.words++;
		CHECK(layout.words <= layout.dim + 2);
		rows = malloc(sizeof(double) * layout.words * count);
		for (int64_t i = 0; i < count; i++)
		{
			double	   *row = rows + i * layout.words;

			any_row(&state, &coded, &layout, row);
			row[layout.words - 1] = any_weight(&state);
		}
		random_row(&state, layout.dim, weights);

		/*
		 * all of them: the divisor is the given one, and large sums over few
		 * units lose as much
		 */
		scale = fmax(1, (double) count / units);
		define(&layout, loss, rows, count, 1, units);
		dperm_matrix_answer(&matrix, &ask);
		check_answer(layout.dim, 1e-13 * scale, 1e-13 * scale * steep, 1e-12 * scale * steep * steep);
		ask.hess = NULL;
		dperm_matrix_answer(&matrix, &ask);
		check_answer(layout.dim, 1e-13 * scale, 1e-13 * scale * steep, 0);

		/* in extended precision: no value then */
		memset(got.low, 0, sizeof(got.low));
		{
			static double zeros[DIM_MAX];
			DpermAsk	careful = {.weights = weights, .weights_low = zeros, .value = &got.value, .gradient = got.gradient,
				.gradient_low = got.low};

			dperm_matrix_answer(&matrix, &careful);
			got.value = expected.value;
			check_answer(layout.dim, 0, 1e-15 * scale, 0);
		}

		/* some of them stand for all */
		if (step > 1)
		{
			int64_t		some = (count + step - 1) / step;

			matrix.step = step;
			define(&layout, loss, rows, count, step, units * some / count);
			dperm_matrix_answer(&matrix, &ask);
			check_answer(layout.dim, 1e-13 * scale, 1e-13 * scale * steep, 0);
			matrix.step = 0;
		}
		free(rows);
	}
}

/* A row that occurs m times with weight 1/m counts as one row. */
TEST(repeated_rows_are_one)
{
	TestRandom	state = 502;

	for (int round = 0; round < 100; round++)
	{
		int			dim = 1 + test_below(&state, 9);
		int64_t		persons = 1 + test_below(&state, 40);
		Rows		one = {.loss = any_loss(&state), .dim = dim, .count = persons, .data = malloc(sizeof(double) * dim * persons)};
		DpermLayout layout = dperm_layout_dense(dim);
		double	   *many = malloc(sizeof(double) * (dim + 1) * persons * 30);
		double	   *chunk;
		int64_t		count = 0;
		DpermMatrix matrix = rows_matrix(&one, &chunk, room);

		layout.weighted = true;
		layout.words++;
		make_rows(&state, SHAPE_NOISY, &one);
		random_row(&state, dim, weights);
		matrix_eval(&matrix, weights, &expected.value, expected.gradient, expected.hess);
		for (int64_t p = 0; p < persons; p++)
		{
			int			m = 1 + test_below(&state, 29);

			for (int i = 0; i < m; i++, count++)
			{
				memcpy(many + count * (dim + 1), one.data + p * dim, sizeof(double) * dim);
				many[count * (dim + 1) + dim] = dperm_unit_weight(m);
			}
		}
		matrix = (DpermMatrix) {.loss = one.loss, .dim = dim, .layout = &layout, .count = count, .chunk_rows = count,
			.chunks = &many, .of = count, .units = persons, .room = room};
		matrix_eval(&matrix, weights, &got.value, got.gradient, got.hess);
		check_answer(dim, 1e-13, 1e-13 / (one.loss.h > 0 ? one.loss.h : 1), 1e-12 / (one.loss.h > 0 ? one.loss.h * one.loss.h : 1));
		free(one.data);
		free(many);
	}
}

/*
 * Train on rows with weights, started from all of them or from a sample; the
 * exact gradient is checked.
 */
TEST(trains_on_persons)
{
	TestRandom	state = 503;

	for (int round = 0; round < 60; round++)
	{
		int			dim = 1 + test_below(&state, 8);
		int64_t		persons = 20 + test_below(&state, 400);
		DpermLayout layout = dperm_layout_dense(dim);
		double	   *rows = malloc(sizeof(double) * (dim + 1) * persons * 12);
		int64_t		count = 0;
		double		trained[DIM_MAX];
		long double gradient[DIM_MAX] = {0};
		long double norm = 0;
		DpermMatrix all;
		DpermMatrix sample;
		DpermEntropy entropy;
		TestEntropy source;
		DpermFit	fit = {.setup = {.loss = any_loss(&state), .method = DPERM_METHOD_OBJECTIVE, .analysis = DPERM_ANALYSIS_SHARP,
			.unit = DPERM_UNIT_PERSON, .epsilon = INFINITY, .lambda = 0.01, .rows = persons, .dim = dim}, .sample = &sample, .entropy = &entropy};
		DpermFitting fitting;
		double	   *fit_room = malloc(sizeof(double) * dperm_fit_room(dim, 1));
		double	   *sample_room = malloc(sizeof(double) * dperm_moments_room(dim, 1, true));

		layout.weighted = true;
		layout.words++;
		for (int64_t p = 0; p < persons; p++)
		{
			int			m = 1 + test_below(&state, 11);

			for (int i = 0; i < m; i++, count++)
			{
				random_row(&state, dim, rows + count * (dim + 1));
				rows[count * (dim + 1) + dim] = dperm_unit_weight(m);
			}
		}
		all = (DpermMatrix) {.loss = fit.setup.loss, .dim = dim, .layout = &layout, .count = count, .chunk_rows = count,
			.chunks = &rows, .of = count, .units = persons, .room = room};
		sample = all;
		sample.room = sample_room;
		if (round % 2)
			sample.count = sample.chunk_rows = count / 2 + 1;
		test_entropy_init(&entropy, &source, 503);
		CHECK(dperm_calibrate(&fit.setup, &fit.calibration) == NULL);
		dperm_fit_start(&fitting, &fit, trained, fit_room);
		dperm_fit_minimise(&fitting, oracle_matrix_answer, &all);
		CHECK(dperm_fit_end(&fitting) == DPERM_OK);
		for (int64_t i = 0; i < count; i++)
		{
			const double *row = rows + i * (dim + 1);
			long double margin = 0;
			long double slope;

			for (int j = 0; j < dim; j++)
				margin += (long double) row[j] * trained[j];
			slope = row[dim] * wide_loss(fit.setup.loss, margin).slope;
			for (int j = 0; j < dim; j++)
				gradient[j] += slope * row[j];
		}
		for (int j = 0; j < dim; j++)
		{
			long double part = gradient[j] / persons + (long double) fit.calibration.lambda * trained[j];

			norm += part * part;
		}
		CHECK(sqrtl(norm) <= fit.calibration.gradient_bound && sqrtl(norm) <= 1e-9);
		free(rows);
		free(fit_room);
		free(sample_room);
	}
}

int
main(void)
{
	int			result;

	room = malloc(sizeof(double) * dperm_moments_room(DIM_MAX, 1, true));
	result = test_main();
	free(room);
	return result;
}
