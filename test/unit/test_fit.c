/*
 * test_fit.c: the mechanism as a whole: what it releases, and what it refuses
 * to.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "host.h"
#include "unit/entropy.h"
#include "unit/oracle.h"
#include "unit/problem.h"

#define DIM 5
#define COUNT 300

static double data[COUNT * DIM];
static double sample_data[COUNT * DIM];
static double *fit_room;
static double *moments_room;
static double *sample_room;
static double *chunk;
static double *sample_chunk;
static DpermMatrix matrix;
static DpermMatrix sample_matrix;
static TestEntropy source;
static DpermEntropy entropy;

/* Calibrate a fit for its setup. */
static void
calibrate(DpermFit *fit)
{

	CHECK(dperm_calibrate(&fit->setup, &fit->calibration) == NULL);
}

/* Nothing is left of the old content. */
static void
check_wiped(const double *memory, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK(memory[i] == 0);
}

/* A fit over rows in memory; every tenth of them is the sample. */
static DpermFit
make_fit(DpermLossKind kind, DpermMethod method, double epsilon, double lambda)
{
	TestRandom	state = 51;
	DpermLoss	loss = {kind, kind == DPERM_LOSS_LOGISTIC ? 0 : 0.5};
	Rows		rows = {.loss = loss, .dim = DIM, .count = COUNT, .data = data};
	Rows		some = {.loss = loss, .dim = DIM, .count = COUNT / 10, .data = sample_data};
	DpermFit	fit = {
		.setup = {.loss = loss, .method = method, .epsilon = epsilon, .lambda = lambda,
			.rows = COUNT, .dim = DIM},
		.entropy = &entropy
	};

	make_rows(&state, SHAPE_NOISY, &rows);
	for (int i = 0; i < COUNT / 10; i++)
		memcpy(sample_data + i * DIM, data + 10 * i * DIM, sizeof(double) * DIM);
	matrix = rows_matrix(&rows, &chunk, moments_room);
	sample_matrix = rows_matrix(&some, &sample_chunk, sample_room);
	test_entropy_init(&entropy, &source, 52);
	calibrate(&fit);
	return fit;
}

/* Run a fit over the rows. */
static DpermStatus
run_fit(const DpermFit *fit, double *weights, double *room)
{
	return oracle_fit(oracle_of(&matrix), fit, weights, room);
}

/* The rows for plain arithmetic. */
static Rows
all_rows(const DpermFit *fit)
{
	return (Rows) {.loss = fit->setup.loss, .dim = DIM, .count = COUNT, .data = data};
}

TEST(is_deterministic_without_noise)
{
	for (int kind = 0; kind < 3; kind++)
		for (double lambda = 1e-6; lambda < 10; lambda *= 100)
		{
			DpermFit	fit = make_fit((DpermLossKind) kind, DPERM_METHOD_OBJECTIVE, INFINITY, lambda);
			Rows		rows = all_rows(&fit);
			double		first[DIM];
			double		second[DIM];
			long double gradient[DIM];

			fit.entropy = NULL;
			CHECK(run_fit(&fit, first, fit_room) == DPERM_OK);
			CHECK(run_fit(&fit, second, fit_room) == DPERM_OK);
			CHECK(memcmp(first, second, sizeof(first)) == 0);
			CHECK(wide_gradient(&rows, lambda, NULL, first, gradient) <=
				  2 * fit.calibration.gradient_bound);
		}
}

/*
 * The start does not matter to the result: with a sample, or a useless one, or
 * none.
 */
TEST(does_not_depend_on_the_sample)
{
	for (int kind = 0; kind < 3; kind++)
		for (double lambda = 1e-4; lambda < 10; lambda *= 10)
		{
			DpermFit	fit = make_fit((DpermLossKind) kind, DPERM_METHOD_OBJECTIVE, INFINITY, lambda);
			double		without[DIM];
			double		with[DIM];
			double		with_zeros[DIM];

			CHECK(run_fit(&fit, without, fit_room) == DPERM_OK);
			fit.sample = &sample_matrix;
			CHECK(run_fit(&fit, with, fit_room) == DPERM_OK);
			memset(sample_data, 0, sizeof(sample_data));
			CHECK(run_fit(&fit, with_zeros, fit_room) == DPERM_OK);
			for (int j = 0; j < DIM; j++)
			{
				CHECK_NEAR(with[j], without[j], 1e-8);
				CHECK_NEAR(with_zeros[j], without[j], 1e-8);
			}
		}
}

/* Rows in chunks give the same result as rows in one piece. */
TEST(takes_rows_in_chunks)
{
	DpermFit	fit = make_fit(DPERM_LOSS_LOGISTIC, DPERM_METHOD_OBJECTIVE, INFINITY, 0.01);
	double		whole[DIM];
	double		pieces[DIM];
	double	   *chunks[COUNT];

	CHECK(run_fit(&fit, whole, fit_room) == DPERM_OK);
	for (int rows = 1; rows <= COUNT; rows = rows * 2 + 1)
	{
		int			count = (COUNT + rows - 1) / rows;

		for (int i = 0; i < count; i++)
		{
			int			some = i == count - 1 ? COUNT - i * rows : rows;

			chunks[i] = malloc(sizeof(double) * DIM * some);
			memcpy(chunks[i], data + i * rows * DIM, sizeof(double) * DIM * some);
		}
		matrix.chunks = chunks;
		matrix.chunk_rows = rows;
		CHECK(run_fit(&fit, pieces, fit_room) == DPERM_OK);
		for (int j = 0; j < DIM; j++)
			CHECK_NEAR(pieces[j], whole[j], 2 * fit.calibration.gradient_bound / 0.01);
		for (int i = 0; i < count; i++)
			free(chunks[i]);
	}
}

/*
 * A released vector: on the grid, within reach of the noise, and determined by
 * all of the noise.
 */
TEST(releases_on_the_grid)
{
	for (int method = 0; method < 2; method++)
		for (int round = 0; round < 50; round++)
		{
			DpermFit	fit = make_fit((DpermLossKind) (round % 3), (DpermMethod) method, 0.5, 0.1);
			double		weights[DIM];
			double		again[DIM];

			test_entropy_init(&entropy, &source, 100 + (uint64_t) round);
			CHECK(run_fit(&fit, weights, fit_room) == DPERM_OK);
			for (int j = 0; j < DIM; j++)
			{
				CHECK(weights[j] / fit.calibration.grid == rint(weights[j] / fit.calibration.grid));
				CHECK(isfinite(weights[j]));
			}

			/*
			 * the same bits give the same release, different bits a different
			 * one
			 */
			test_entropy_init(&entropy, &source, 100 + (uint64_t) round);
			CHECK(run_fit(&fit, again, fit_room) == DPERM_OK);
			CHECK(memcmp(weights, again, sizeof(weights)) == 0);
			CHECK(run_fit(&fit, again, fit_room) == DPERM_OK);
			for (int j = 0; j < DIM; j++)
				CHECK(weights[j] != again[j]);

			/* the noise does not stay in memory */
			check_wiped(fit_room, dperm_fit_room(DIM, 1));
		}
}

/*
 * Noise in shapes: a category of three values, a number, an intercept, in two
 * groups.
 */
static const DpermNoise *
shaped_noise(DpermNoiseLaw law)
{
	static DpermShape shapes[] = {{DPERM_SHAPE_CROSS, 2, 3, 0.5}, {DPERM_SHAPE_BOX, 0, 1, 0.5}, {DPERM_SHAPE_BOX, 1, 1, 0.5}};
	static DpermNoiseGroup groups[] = {{.first = 0, .count = 1, .share = 0.7}, {.first = 1, .count = 2, .share = 0.3}};
	static DpermNoise noise = {.shape_count = 3, .shapes = shapes, .group_count = 2, .groups = groups};

	dperm_noise_measure(law, &noise);
	CHECK(dperm_noise_fault(&noise, DIM) == NULL);
	return &noise;
}

/*
 * What is released minimises the objective with its tilt, except for the
 * residual and the release. The tilt is the noise from the first bits, of the
 * calibrated scale, in the shape and with the law that was specified.
 */
TEST(releases_the_tilted_minimum)
{
	for (int way = 0; way < 4; way++)
		for (int round = 0; round < 12; round++)
		{
			DpermFit	fit = make_fit((DpermLossKind) (round % 3), DPERM_METHOD_OBJECTIVE, 0.5, 0.1);
			Rows		rows = all_rows(&fit);
			double		weights[DIM];
			double		tilt[DIM];
			long double gradient[DIM];
			double		reach;

			fit.setup.delta = way / 2 ? 1e-4 : 0;
			fit.setup.noise = way % 2 ? shaped_noise((DpermNoiseLaw) (way / 2)) : NULL;
			fit.setup.neighbours = (DpermNeighbours) (round / 3 % 2);
			calibrate(&fit);
			test_entropy_init(&entropy, &source, 300 + (uint64_t) round);
			CHECK(run_fit(&fit, weights, fit_room) == DPERM_OK);
			check_wiped(fit_room, dperm_fit_room(DIM, 1));
			reach = (1 + fit.calibration.lambda) *
				(fit.calibration.residual + 8 * sqrt(DIM) * fit.calibration.grid * (double) fit.calibration.release_scale);
			for (int other = 0; other < 4; other++)
			{
				DpermNoiseLaw law = (DpermNoiseLaw) (other / 2);

				/* no other noise explains it */
				test_entropy_init(&entropy, &source, 300 + (uint64_t) round);
				dperm_noise_draw(&entropy, law, other % 2 ? shaped_noise(law) : NULL, DIM, fit.calibration.noise_scale, tilt);
				for (int j = 0; j < DIM; j++)
					tilt[j] /= COUNT;
				CHECK((wide_gradient(&rows, fit.calibration.lambda, tilt, weights, gradient) <= reach) == (other == way));
			}
		}
}

/* The same for output perturbation, which has no shapes. */
TEST(releases_the_minimum_and_noise)
{
	for (int law = 0; law < DPERM_LAW_COUNT; law++)
		for (int round = 0; round < 6; round++)
		{
			DpermFit	fit = make_fit((DpermLossKind) (round % 3), DPERM_METHOD_OUTPUT, 0.5, 0.1);
			Rows		rows = all_rows(&fit);
			double		weights[DIM];
			double		noise[DIM];
			double		without[DIM];
			long double gradient[DIM];
			double		reach;

			fit.setup.delta = law ? 1e-4 : 0;
			fit.setup.neighbours = (DpermNeighbours) (round / 3 % 2);
			fit.setup.noise = shaped_noise((DpermNoiseLaw) law);
			CHECK_TEXT(dperm_calibrate(&fit.setup, &fit.calibration), "noise of this method and analysis has no shape");
			fit.setup.noise = NULL;
			calibrate(&fit);
			test_entropy_init(&entropy, &source, 400 + (uint64_t) round);
			CHECK(run_fit(&fit, weights, fit_room) == DPERM_OK);
			reach = (1 + fit.calibration.lambda) *
				(fit.calibration.residual + 8 * sqrt(DIM) * fit.calibration.grid * (double) fit.calibration.release_scale);
			for (int other = 0; other < DPERM_LAW_COUNT; other++)
			{
				test_entropy_init(&entropy, &source, 400 + (uint64_t) round);
				dperm_noise_draw(&entropy, (DpermNoiseLaw) other, NULL, DIM, fit.calibration.noise_scale, noise);
				for (int j = 0; j < DIM; j++)
					without[j] = weights[j] - noise[j];
				CHECK((wide_gradient(&rows, fit.calibration.lambda, NULL, without, gradient) <= reach) == (other == law));
			}
		}
}

TEST(fails_when_entropy_does)
{
	for (int way = 0; way < 5; way++)
	{
		int			method = way % 2;
		DpermFit	fit = make_fit(DPERM_LOSS_HUBER, (DpermMethod) method, 0.5, 0.1);
		double		weights[DIM];
		int64_t		fills;

		fit.setup.noise = way == 2 ? shaped_noise(DPERM_LAW_NORM) : NULL;
		fit.setup.delta = way > 2 ? 1e-5 : 0;
		calibrate(&fit);

		/* how many fills a successful run takes */
		source.fail_at = INT64_MAX;
		CHECK(run_fit(&fit, weights, fit_room) == DPERM_OK);
		fills = source.fills;
		CHECK(fills >= 1);
		for (int64_t at = 0; at < fills; at++)
		{
			test_entropy_init(&entropy, &source, 52);
			source.fail_at = at;
			CHECK(run_fit(&fit, weights, fit_room) == DPERM_NO_ENTROPY);
		}

		/* a source that had failed before stays failed */
		test_entropy_init(&entropy, &source, 52);
		entropy.status = DPERM_NO_ENTROPY;
		CHECK(run_fit(&fit, weights, fit_room) == DPERM_NO_ENTROPY);
	}
}

/* An oracle with a fault. */
typedef struct Broken
{
	int			calls;
	double		twist;			/* of the gradient, in a different direction each time */
	double		pull;			/* a slope that no loss has, in value and gradient alike */
} Broken;

static void
broken_answer(void *arg, const DpermAsk *ask)
{
	Broken	   *broken = arg;

	dperm_matrix_answer(&matrix, ask);
	broken->calls++;
	*ask->value -= broken->pull * ask->weights[0];
	ask->gradient[0] -= broken->pull;
	ask->gradient[broken->calls % DIM] += broken->calls % 2 ? broken->twist : -broken->twist;
}

/* Weights that are zero except for the noise of the release. */
static void
check_near_zero(const DpermFit *fit, const double *weights)
{
	for (int j = 0; j < DIM; j++)
		CHECK(fabs(weights[j]) <= 100 * fit->calibration.grid * (double) fit->calibration.release_scale);
}

TEST(releases_nothing_that_is_not_certified)
{
	DpermFit	fit = make_fit(DPERM_LOSS_LOGISTIC, DPERM_METHOD_OBJECTIVE, 1, 0.1);
	Broken		broken;
	double		weights[DIM];
	Oracle		oracle = {broken_answer, &broken};

	/*
	 * gradients that contradict each other are no certificate: what is released
	 * is noise around zero, after a while
	 */
	for (double twist = 1e-9; twist < 1e6; twist *= 1000)
	{
		test_entropy_init(&entropy, &source, 52);
		broken = (Broken) {.twist = twist};
		CHECK(oracle_fit(oracle, &fit, weights, fit_room) == DPERM_OK);
		CHECK(broken.calls > fit.calibration.descent_steps && broken.calls < fit.calibration.descent_steps + 5000);
		check_near_zero(&fit, weights);
	}

	/* nor is a minimum farther out than any minimum can be, nor NaN */
	for (int kind = 0; kind < 2; kind++)
	{
		test_entropy_init(&entropy, &source, 52);
		broken = (Broken) {.pull = kind == 0 ? 30 : NAN};
		CHECK(oracle_fit(oracle, &fit, weights, fit_room) == DPERM_OK);
		check_near_zero(&fit, weights);
	}
}

/* A sample of the wrong rows costs time, not correctness. */
TEST(survives_a_useless_sample)
{
	TestRandom	state = 55;

	for (int kind = 0; kind < 3; kind++)
	{
		DpermFit	fit = make_fit((DpermLossKind) kind, DPERM_METHOD_OBJECTIVE, INFINITY, 0.01);
		double		weights[DIM];
		double		expected[DIM];

		CHECK(run_fit(&fit, expected, fit_room) == DPERM_OK);
		for (int i = 0; i < COUNT / 10; i++)
			random_row(&state, DIM, sample_data + i * DIM);
		fit.sample = &sample_matrix;
		CHECK(run_fit(&fit, weights, fit_room) == DPERM_OK);
		for (int j = 0; j < DIM; j++)
			CHECK_NEAR(weights[j], expected[j], 1e-8);
	}
}

/* An oracle that counts its calls. */
static void
counting_answer(void *arg, const DpermAsk *ask)
{
	++*(int *) arg;
	dperm_matrix_answer(&matrix, ask);
}

/*
 * Without random bits the rows are not read, and nothing is left that could be
 * shown.
 */
TEST(asks_nothing_without_entropy)
{
	for (int method = 0; method < 2; method++)
	{
		DpermFit	fit = make_fit(DPERM_LOSS_LOGISTIC, (DpermMethod) method, 0.5, 0.1);
		double		weights[DIM] = {1, 2, 3, 4, 5};
		int			asked = 0;

		fit.sample = &sample_matrix;
		source.fail_at = 0;
		CHECK(oracle_fit((Oracle) {counting_answer, &asked}, &fit, weights, fit_room) == DPERM_NO_ENTROPY);
		CHECK(asked == 0);
		check_wiped(weights, DIM);
		check_wiped(fit_room, dperm_fit_room(DIM, 1));
	}
}

/*
 * Many rows, in chunks: starting with few of them, then more, saves passes over
 * all. So does a sample, and so do Hessians over all rows if they are cheap; and
 * the result is the same.
 */
TEST(starts_from_few_rows)
{
	enum
	{
		MANY = 20000, ROWS = 1024
	};
	double	   *chunks[MANY / ROWS + 1];
	TestRandom	state = 56;
	int			saved = 0;

	for (int i = 0; i <= MANY / ROWS; i++)
		chunks[i] = malloc(sizeof(double) * DIM * ROWS);
	for (int kind = 0; kind < 3; kind++)
		for (double lambda = 1e-5; lambda < 1; lambda *= 1000)
		{
			DpermFit	fit = make_fit((DpermLossKind) kind, DPERM_METHOD_OBJECTIVE, INFINITY, lambda);
			DpermLayout layout = dperm_layout_dense(DIM);
			DpermMatrix all;
			DpermMatrix some;
			double		weights[4][DIM];
			int			calls[4] = {0};

			for (int i = 0; i < MANY; i++)
			{
				double	   *row = chunks[i / ROWS] + i % ROWS * DIM;

				random_row(&state, DIM, row);
				if (row[0] + 0.5 * test_uniform(&state) < 0.25)
					for (int j = 0; j < DIM; j++)
						row[j] = -row[j];
			}
			fit.setup.rows = MANY;
			calibrate(&fit);
			matrix = (DpermMatrix) {.loss = fit.setup.loss, .dim = DIM, .layout = &layout, .count = MANY,
				.chunk_rows = ROWS, .chunks = chunks, .room = moments_room};
			all = some = matrix;
			some.room = sample_room;
			some.count = 5 * ROWS;
			for (int way = 0; way < 4; way++)
			{
				fit.sample = way == 0 ? NULL : way == 1 ? &all : &some;
				fit.hess_cost = way == 3 ? 0.1 : 0;
				CHECK(oracle_fit((Oracle) {counting_answer, &calls[way]}, &fit, weights[way], fit_room) == DPERM_OK);
				for (int j = 0; j < DIM; j++)
					CHECK_NEAR(weights[way][j], weights[0][j],
							   2 * fit.calibration.gradient_bound / lambda);
			}
			CHECK(calls[1] < calls[0] && calls[2] < calls[0]);
			CHECK(kind == DPERM_LOSS_LOGISTIC ? calls[1] <= 6 && calls[2] <= 6 : calls[1] <= 30);
			CHECK(calls[3] <= calls[2] + 1);
			saved += calls[2] - calls[3];
		}
	CHECK(saved >= 2);
	for (int i = 0; i <= MANY / ROWS; i++)
		free(chunks[i]);
}

/* Over the whole range of public parameters: it always ends, and succeeds. */
TEST(fits_at_large)
{
	TestRandom	state = 53;
	static double small[60 * 8];
	static double weights[8];

	test_entropy_init(&entropy, &source, 54);
	for (int round = 0; round < 6000; round++)
	{
		DpermLoss	loss = {.kind = (DpermLossKind) test_below(&state, 3)};
		Rows		rows = {.dim = 1 + test_below(&state, 8), .count = 1 + test_below(&state, 60),
		.data = small};
		DpermMatrix at_large;
		double	   *piece;
		DpermFit	fit = {.entropy = &entropy};

		if (loss.kind != DPERM_LOSS_LOGISTIC)
			loss.h = pow(10, -2 * test_uniform(&state));
		rows.loss = loss;
		make_rows(&state, (Shape) test_below(&state, SHAPES), &rows);
		at_large = rows_matrix(&rows, &piece, moments_room);
		fit.setup = (DpermSetup) {.loss = loss, .method = (DpermMethod) test_below(&state, 2),
			.analysis = (DpermAnalysis) test_below(&state, 2),
			.epsilon = test_below(&state, 3) ? pow(10, -3 + 5.69 * test_uniform(&state)) : INFINITY,
			.lambda = pow(10, -10 + 11 * test_uniform(&state)), .rows = rows.count, .dim = rows.dim
		};
		calibrate(&fit);
		at_large.rough = dperm_solver_rough(fit.calibration.lambda, fit.setup.loss);
		CHECK(oracle_fit(oracle_of(&at_large), &fit, weights, fit_room) == DPERM_OK);
	}
}

int
main(void)
{
	int			result;

	fit_room = malloc(sizeof(double) * dperm_fit_room(8, 1));
	moments_room = malloc(sizeof(double) * dperm_moments_room(8, 1, true));
	sample_room = malloc(sizeof(double) * dperm_moments_room(DIM, 1, true));
	result = test_main();
	free(fit_room);
	free(moments_room);
	free(sample_room);
	return result;
}
