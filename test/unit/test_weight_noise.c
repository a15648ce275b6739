/*
 * test_weight_noise.c: the noise of a weight against draws, repeated trainings,
 * and all possible curvatures.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/mechanism/calibrate.h"
#include "core/model/model.h"
#include "core/privacy/draw.h"
#include "unit/entropy.h"
#include "unit/oracle.h"
#include "unit/problem.h"

#define DIM 9					/* of the encoder below */
#define COUNT 120
#define REPEATS 4000

static const DpermText categories[4] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
static const DpermBlock blocks[4] = {
	{.kind = DPERM_BLOCK_NUMBER, .count = 1, .low = 0, .high = 1},
	{.kind = DPERM_BLOCK_CATEGORY, .count = 4, .categories = categories},
	{.kind = DPERM_BLOCK_FLAG, .count = 1},
	{.kind = DPERM_BLOCK_VECTOR, .count = 2, .norm = 1}
};
static const DpermEncoder encoder = {.block_count = 4, .blocks = blocks, .intercept = true};
static double data[COUNT * DIM];
static double moments_room[200000];
static double fit_room[100000];
static TestEntropy source;
static DpermEntropy entropy;

/* The noise in the shapes of the encoder. */
static const DpermNoise *
shaped(DpermNoiseLaw law)
{
	DpermShape	shapes[5];
	int			count = dperm_shape_list(&encoder, false, shapes);
	const DpermNoise *noise = dperm_noise_plan(law, shapes, count);

	CHECK(dperm_encoder_dim(&encoder) == DIM && noise != NULL);
	return noise;
}

/* Sums of repeated draws. */
typedef struct Sample
{
	int			count;
	double		sum[DIM];
	double		square[DIM];
	double		cross;			/* of the first and the last */
} Sample;

static void
take(Sample *sample, const double *draw)
{
	sample->count++;
	for (int i = 0; i < DIM; i++)
	{
		sample->sum[i] += draw[i];
		sample->square[i] += draw[i] * draw[i];
	}
	sample->cross += draw[0] * draw[DIM - 1];
}

static double
deviation(const Sample *sample, int i)
{
	double		mean = sample->sum[i] / sample->count;

	return sqrt(sample->square[i] / sample->count - mean * mean);
}

/*
 * Every law and shape: deviations of draws, no correlation, and the spread as
 * their sum of squares.
 */
TEST(draws_have_these_deviations)
{
	for (int law = 0; law < DPERM_LAW_COUNT; law++)
		for (int ball = 0; ball < 2; ball++)
		{
			const DpermNoise *noise = ball ? NULL : shaped((DpermNoiseLaw) law);
			Sample		sample = {.count = 0};
			double		expected[DIM];
			double		sum = 0;
			double		b[DIM];

			test_entropy_init(&entropy, &source, 7);
			dperm_noise_deviations((DpermNoiseLaw) law, noise, DIM, expected);
			for (int i = 0; i < 40000; i++)
			{
				dperm_noise_draw(&entropy, (DpermNoiseLaw) law, noise, DIM, 0.5, b);
				take(&sample, b);
			}
			for (int i = 0; i < DIM; i++)
			{
				sum += expected[i] * expected[i];
				CHECK_NEAR(deviation(&sample, i), 0.5 * expected[i], 0.01 * expected[i]);
			}
			CHECK_NEAR(sum, dperm_noise_spread((DpermNoiseLaw) law, noise, DIM), 1e-12 * sum);
			CHECK(fabs(sample.cross / sample.count) < 0.02 * expected[0] * expected[DIM - 1]);
		}
}

/* Laplace noise, and discrete Laplace noise by its sum. */
TEST(has_closed_forms)
{
	DpermShape	shape = {.kind = DPERM_SHAPE_CROSS, .count = DIM, .radius = 0.3};
	DpermNoiseGroup group = {.count = 1, .share = 0.5};
	DpermNoise	noise = {.shape_count = 1, .shapes = &shape, .group_count = 1, .groups = &group};
	double		each[DIM];

	dperm_noise_measure(DPERM_LAW_NORM, &noise);
	dperm_noise_deviations(DPERM_LAW_NORM, &noise, DIM, each);
	CHECK_NEAR(each[DIM - 1], sqrt(2) * 0.3 / 0.5, 1e-15);
	for (int64_t scale = 1; scale < 3000; scale *= 7)
	{
		double		weight = 0;
		double		square = 0;

		for (double z = -50.0 * scale; z <= 50.0 * scale; z++)
		{
			weight += exp(-fabs(z) / scale);
			square += z * z * exp(-fabs(z) / scale);
		}
		CHECK_NEAR(dperm_release_deviation(0x1p-3, scale), 0x1p-3 * sqrt(square / weight), 1e-9 * scale);
	}
}

/* A setup, its constants, and what its model says about its noise. */
static bool
noise_of(DpermFit *fit, DpermMethod method, DpermNoiseLaw law, double lambda, double *noise)
{
	DpermModel	model = {.rows = 0};
	double		weights[DIM] = {0};

	*fit = (DpermFit) {
		.setup = {.loss = {.kind = DPERM_LOSS_LOGISTIC}, .method = method, .epsilon = 2,
			.delta = law == DPERM_LAW_GAUSSIAN ? 1e-6 : 0, .lambda = lambda, .rows = COUNT, .dim = DIM,
			.noise = method == DPERM_METHOD_OBJECTIVE ? shaped(law) : NULL},
		.entropy = &entropy
	};
	CHECK(dperm_calibrate(&fit->setup, &fit->calibration) == NULL);
	dperm_model_fill(&model, &fit->setup, &fit->calibration, &encoder, weights);
	return dperm_model_weight_noise(&model, noise);
}

/* The deviations of repeated trainings on rows of a shape. */
static Sample
train_often(const DpermFit *fit, Shape shape, int repeats)
{
	TestRandom	state = 9;
	Rows		rows = {.loss = fit->setup.loss, .dim = DIM, .count = COUNT, .data = data};
	double	   *chunk;
	DpermMatrix matrix;
	Sample		sample = {.count = 0};
	double		weights[DIM];

	make_rows(&state, shape, &rows);
	matrix = rows_matrix(&rows, &chunk, moments_room);
	test_entropy_init(&entropy, &source, 8);
	for (int i = 0; i < repeats; i++)
	{
		CHECK(oracle_fit(oracle_of(&matrix), fit, weights, fit_room) == DPERM_OK);
		take(&sample, weights);
	}
	return sample;
}

/* Output perturbation: exact, whatever the rows are. */
TEST(trainings_with_output_have_this_noise)
{
	for (int law = 0; law < DPERM_LAW_COUNT; law++)
	{
		double		noise[DIM];
		DpermFit	fit;
		Sample		sample;

		CHECK(noise_of(&fit, DPERM_METHOD_OUTPUT, (DpermNoiseLaw) law, 0.05, noise));
		sample = train_often(&fit, SHAPE_NOISY, REPEATS);
		for (int i = 0; i < DIM; i++)
			CHECK_NEAR(deviation(&sample, i), noise[i], 0.04 * noise[i]);
	}
}

/*
 * Objective perturbation: no more than the bound, where noise dominates and
 * where it does not. Without rows there is no curvature but lambda's, and the
 * weights with the largest noise attain the bound.
 */
TEST(trainings_with_objective_have_no_more)
{
	static const double lambdas[] = {0.02, 0.3};

	for (int law = 0; law < DPERM_LAW_COUNT; law++)
		for (int at = 0; at < 2; at++)
			for (int shape = 0; shape < SHAPES; shape++)
			{
				double		noise[DIM];
				double		each[DIM];
				double		reached = 0;
				DpermFit	fit;
				Sample		sample;

				CHECK(!noise_of(&fit, DPERM_METHOD_OBJECTIVE, (DpermNoiseLaw) law, lambdas[at], noise));
				sample = train_often(&fit, (Shape) shape, shape == SHAPE_ZERO ? REPEATS : REPEATS / 8);
				dperm_noise_deviations((DpermNoiseLaw) law, fit.setup.noise, DIM, each);
				for (int i = 0; i < DIM; i++)
				{
					double		own = each[i] * fit.calibration.noise_scale / (COUNT * fit.calibration.lambda);

					CHECK(deviation(&sample, i) <= (shape == SHAPE_ZERO ? 1.05 : 1.08) * noise[i]);
					CHECK(noise[i] >= (1 - 1e-12) * own);
					reached = fmax(reached, deviation(&sample, i) / noise[i]);
					if (shape == SHAPE_ZERO)
						CHECK_NEAR(deviation(&sample, i), own, 0.05 * own);
				}
				CHECK(shape != SHAPE_ZERO || reached > 0.96);
			}
}

/*
 * The bound is the most that any curvature allows: an inverse Hessian is at
 * most 1/lambda in every direction. Random ones stay below it, and a line in
 * the plane of the weight and the noisiest one reaches it.
 */
TEST(no_curvature_allows_more)
{
	TestRandom	state = 3;

	for (int round = 0; round < 2000; round++)
	{
		double		ratio = pow(10, -2 + 2.3 * test_uniform(&state));	/* of two deviations */
		double		a = ratio * ratio;
		DpermShape	shapes[2] = {{.kind = DPERM_SHAPE_BOX, .first = 0, .count = 1, .radius = ratio},
		{.kind = DPERM_SHAPE_BOX, .first = 1, .count = DIM - 1, .radius = 1 / sqrt(DIM - 1)}};
		DpermNoiseGroup groups[2] = {{.first = 0, .count = 1, .share = 1}, {.first = 1, .count = 1, .share = 1}};
		DpermNoise	noise = {.shape_count = 2, .shapes = shapes, .group_count = 2, .groups = groups};
		DpermSetup	setup = {.delta = 0.1, .rows = 10, .dim = DIM, .noise = &noise};
		DpermCalibration calibration = {.lambda = 0.1, .noise_scale = 1};
		double		each[DIM];
		double		most = 0;
		double		line[DIM];
		double		norm = 0;
		double		square;

		CHECK(!dperm_mechanism_entry(DPERM_METHOD_OBJECTIVE)->deviations(&setup, &calibration, each));
		for (double t = 0; t < 3.1416; t += 1e-3)
			most = fmax(most, cos(t) * cos(t) * (cos(t) * cos(t) * a + sin(t) * sin(t)));
		CHECK_NEAR(each[0], sqrt(most), 1e-5 * each[0]);
		for (int i = 0; i < DIM; i++)
		{
			line[i] = test_uniform(&state) - 0.5;
			norm += line[i] * line[i];
		}
		square = line[0] * line[0] * (line[0] * line[0] * a + norm - line[0] * line[0]) / (norm * norm);
		CHECK(square <= each[0] * each[0] * (1 + 1e-12));
	}
}

/* The noise of the release comes on top. */
TEST(includes_the_release)
{
	double		weights[DIM] = {0};
	DpermModel	model = {.method = DPERM_METHOD_OUTPUT, .claim = {.epsilon = 1}, .encoder = encoder, .rows = 5,
	.lambda_effective = 1, .noise_scale = 2, .grid = 4, .release_scale = 3, .weights = weights};
	double		noise[DIM];

	CHECK(dperm_model_weight_noise(&model, noise));
	CHECK_NEAR(noise[3] * noise[3], 4 * (DIM + 1) + pow(dperm_release_deviation(4, 3), 2), 1e-9);
}

/* A model without noise has none. */
TEST(is_zero_without_noise)
{
	double		noise[DIM];
	double		weights[DIM] = {0};
	DpermModel	model = {.claim = {.epsilon = INFINITY}, .encoder = encoder, .rows = 5, .lambda_effective = 1,
	.weights = weights};

	memset(noise, 1, sizeof(noise));
	CHECK(dperm_model_weight_noise(&model, noise));
	for (int i = 0; i < DIM; i++)
		CHECK(noise[i] == 0);
}
