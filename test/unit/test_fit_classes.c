/*
 * test_fit_classes.c: trainings of several classes: noise that is drawn for
 * each class, minimisers against Newton's method on the whole Hessian, what is
 * released, and what is known about it.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/base/linsys.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/fit.h"
#include "core/privacy/composition.h"
#include "unit/classes.h"
#include "unit/entropy.h"
#include "unit/goodness.h"
#include "unit/oracle.h"

#define ROWS 60
#define DIM 4
#define CLASSES 4
#define WEIGHTS (DIM * CLASSES)

/* A table of vectors. */
typedef struct Set
{
	DpermLayout layout;
	int			classes;
	int			units;			/* persons, if rows have weights */
	double		rows[ROWS * (DIM + 2)];
} Set;

static void
make_set(TestRandom *state, bool persons, Set *set)
{
	set->layout = classes_vectors(1 + test_below(state, DIM));
	set->classes = 3 + test_below(state, CLASSES - 2);
	set->units = persons ? ROWS / 2 : ROWS;
	if (persons)
	{
		set->layout.weighted = true;
		set->layout.words++;
	}
	for (int i = 0; i < ROWS; i++)
	{
		double	   *row = set->rows + i * set->layout.words;

		random_row(state, set->layout.dim, row);
		row[dperm_layout_label(&set->layout)] = test_below(state, 9) == 0 ? 0 :
			row[0] > 0.3 && test_below(state, 3) ? 1 : 1 + test_below(state, set->classes);
		if (persons)
			row[set->layout.words - 1] = 0.5;
	}
}

static DpermMatrix
matrix_of(const Set *set, double **chunk, double *room)
{
	return (DpermMatrix) {.loss = classes_loss(set->classes), .dim = set->layout.dim * set->classes, .layout = &set->layout,
		.count = ROWS, .units = set->units, .of = ROWS, .chunk_rows = ROWS, .chunks = chunk, .room = room};
}

/* Sums at weights, by definition. */
static void
sums_at(const Set *set, const double *weights, ClassesSums *sums)
{
	Quad		wide[WEIGHTS];

	memset(sums, 0, sizeof(*sums));
	for (int j = 0; j < set->layout.dim * set->classes; j++)
		wide[j] = weights[j];
	for (int i = 0; i < ROWS; i++)
		classes_add(sums, &set->layout, set->classes, set->rows + i * set->layout.words, wide);
}

/* The norm of the exact gradient of the objective. */
static double
gradient_norm(const Set *set, double lambda, const double *tilt, const double *weights, double *gradient)
{
	static ClassesSums sums;
	double		norm = 0;

	sums_at(set, weights, &sums);
	for (int j = 0; j < set->layout.dim * set->classes; j++)
	{
		gradient[j] = (double) (sums.gradient[j] / set->units + (Quad) lambda * weights[j] + (tilt ? tilt[j] : 0));
		norm += gradient[j] * gradient[j];
	}
	return sqrt(norm);
}

/* An independent minimiser: Newton's method, each row's Hessian in full, steps that are halved. */
static void
minimise_fully(const Set *set, double lambda, const double *tilt, double *weights)
{
	int			d = set->layout.dim;
	int			classes = set->classes;
	int			dim = d * classes;
	double		gradient[WEIGHTS];
	double		trial[WEIGHTS];

	memset(weights, 0, sizeof(double) * (size_t) dim);
	for (int step = 0; step < 200; step++)
	{
		double		norm = gradient_norm(set, lambda, tilt, weights, gradient);
		double		hess[WEIGHTS * WEIGHTS] = {0};
		double		length = 1;

		if (norm < 1e-14)
			return;
		for (int i = 0; i < ROWS; i++)
		{
			const double *row = set->rows + i * set->layout.words;
			double		weight = set->layout.weighted ? row[set->layout.words - 1] : 1;
			double		p[CLASSES] = {0};
			double		sum = 0;

			if (row[dperm_layout_label(&set->layout)] == 0)
				continue;
			for (int j = 0; j < dim; j++)
				p[j % classes] += weights[j] * row[j / classes];
			for (int k = classes - 1; k >= 0; k--)
				sum += p[k] = exp(p[k] - 0);
			for (int a = 0; a < dim; a++)
				for (int b = a; b < dim; b++)
				{
					double		pa = p[a % classes] / sum,
								pb = p[b % classes] / sum;

					hess[a * dim + b] += weight / set->units * ((a % classes == b % classes ? pa : 0) - pa * pb) * row[a / classes] * row[b / classes];
				}
		}
		for (int j = 0; j < dim; j++)
		{
			hess[j * dim + j] += lambda;
			trial[j] = -gradient[j];
		}
		CHECK(dperm_linsys_factor(hess, dim));
		dperm_linsys_solve(hess, dim, trial);
		for (int j = 0; j < dim; j++)
			trial[j] += weights[j];
		while (length > 1e-3 && gradient_norm(set, lambda, tilt, trial, gradient) > norm)
		{
			length /= 2;
			for (int j = 0; j < dim; j++)
				trial[j] = (trial[j] + weights[j]) / 2;
		}
		memcpy(weights, trial, sizeof(double) * (size_t) dim);
	}
}

/* A training without noise finds the minimiser; with noise, that of the tilted objective; and what is released is close to it. */
TEST(releases_the_minimum)
{
	TestRandom	state = 61;

	for (int round = 0; round < 120; round++)
	{
		Set			set;
		bool		persons = round % 3 == 0;
		bool		plain = round % 4 == 0;
		static double room[200000],
					fit_room[40000];
		double		weights[WEIGHTS],
					expected[WEIGHTS],
					gradient[WEIGHTS],
					tilt[WEIGHTS];
		double	   *chunk;
		DpermMatrix matrix;
		DpermEntropy entropy;
		TestEntropy source;
		DpermFit	fit;
		DpermFitting fitting;
		int			dim;
		double		away = 0;

		make_set(&state, persons, &set);
		chunk = set.rows;
		matrix = matrix_of(&set, &chunk, room);
		dim = matrix.dim;
		CHECK(dperm_moments_room(dim, set.classes, true) <= 200000 && dperm_fit_room(dim, set.classes) <= 40000);
		test_entropy_init(&entropy, &source, (uint64_t) round + 5);
		fit = (DpermFit) {.setup = {.loss = matrix.loss, .method = (DpermMethod) (round % 2), .epsilon = plain ? INFINITY : 5,
			.unit = persons ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW, .delta = round % 5 == 0 && !plain ? 1e-6 : 0,
			.lambda = pow(10, -3 * test_uniform(&state)), .rows = set.units, .dim = dim}, .entropy = &entropy};
		CHECK(dperm_calibrate(&fit.setup, &fit.calibration) == NULL);
		dperm_fit_start(&fitting, &fit, weights, fit_room);
		dperm_fit_minimise(&fitting, oracle_matrix_answer, &matrix);
		CHECK(fitting.certified);
		for (int j = 0; j < dim; j++)
			tilt[j] = fitting.objective.tilt ? fitting.objective.tilt[j] : 0;
		CHECK(gradient_norm(&set, fit.calibration.lambda, tilt, weights, gradient) <= fit.calibration.gradient_bound * (1 + 1e-6));
		minimise_fully(&set, fit.calibration.lambda, tilt, expected);
		for (int j = 0; j < dim; j++)
			away += pow(weights[j] - expected[j], 2);
		CHECK(sqrt(away) <= (fit.calibration.gradient_bound + 1e-13) / fit.calibration.lambda * (1 + 1e-6));
		if (round % 2)
			for (int j = 0; j < dim && !plain; j++)
				expected[j] += fitting.noise[j];
		CHECK(dperm_fit_end(&fitting) == DPERM_OK);
		for (int j = 0; j < dim && !plain; j++)
		{
			double		steps = weights[j] / fit.calibration.grid;

			CHECK(steps == rint(steps));
			CHECK(fabs(weights[j] - expected[j]) <= fit.calibration.residual + fit.calibration.grid * (1 + 40.0 * (double) fit.calibration.release_scale));
		}
		for (size_t i = 0; i < dperm_fit_room(dim, set.classes); i++)
			CHECK(fit_room[i] == 0);
	}
}

/* The noise of each class is a draw by itself, and its coordinates are where its weights are. */
TEST(draws_for_each_class)
{
	for (int round = 0; round < 8; round++)
	{
		DpermShape	shapes[] = {{.kind = DPERM_SHAPE_BOX, .first = 2, .count = 2, .radius = 0.5}, {.kind = DPERM_SHAPE_BALL, .first = 0, .count = 2, .radius = 0.7}};
		DpermNoiseGroup groups[] = {{.first = 0, .count = 1, .share = 0.4}, {.first = 1, .count = 1, .share = 0.6}};
		DpermNoise	noise = {.shape_count = 2, .shapes = shapes, .group_count = 2, .groups = groups};
		DpermFit	fit = {.setup = {.loss = classes_loss(3), .method = (DpermMethod) (round % 2), .epsilon = 2, .delta = round / 4 ? 1e-5 : 0,
			.lambda = 0.5, .rows = 50, .dim = 12}};
		bool		objective = round % 2 == 0;
		DpermNoiseLaw law = dperm_setup_law(&fit.setup);
		DpermEntropy entropy[2];
		TestEntropy source[2];
		DpermFitting fitting;
		double		weights[12],
					drawn[12],
					room[20000];

		dperm_noise_measure(law, &noise);
		fit.setup.noise = round / 2 % 2 && objective ? &noise : NULL;
		CHECK(dperm_calibrate(&fit.setup, &fit.calibration) == NULL);
		for (int i = 0; i < 2; i++)
			test_entropy_init(&entropy[i], &source[i], 77);
		fit.entropy = &entropy[0];
		dperm_fit_start(&fitting, &fit, weights, room);
		for (int k = 0; k < 3 && objective; k++)
			dperm_noise_draw(&entropy[1], law, fit.setup.noise, 4, fit.calibration.noise_scale, drawn + 4 * k);
		if (!objective)
			dperm_noise_draw(&entropy[1], law, NULL, 12, fit.calibration.noise_scale, drawn);
		for (int k = 0; k < 3; k++)
			for (int j = 0; j < 4; j++)
				CHECK(fitting.noise[j * 3 + k] == drawn[k * 4 + j]);
	}
}

/* The probability of a norm above the tail, by adding up over classes; and it is not wasteful. */
TEST(bounds_the_tail_over_classes)
{
	for (int classes = 3; classes < 3000; classes *= 7)
		for (int dim = 1; dim * classes < 5000; dim *= 5)
		{
			double		tail = dperm_noise_tail(DPERM_LAW_NORM, NULL, dim, classes, 2);
			double		normal = dperm_noise_tail(DPERM_LAW_GAUSSIAN, NULL, dim, classes, 2);

			double		z = 46 + log(classes);

			CHECK_NEAR(tail, 2 * sqrt(classes) * (dim + sqrt(2 * dim * z) + z), 1e-8 * tail);
			CHECK(classes * gamma_upper(dim, tail / 2 / sqrt(classes)) < 0x1p-65);
			CHECK(classes * gamma_upper(dim, tail / 2 / sqrt(classes) / 2) > 0x1p-65);
			CHECK(gamma_upper(dim * classes / 2.0, normal * normal / 8) < 0x1p-65);
		}
}

/* In shapes: the sum over groups, with the radius of each at most its own tail. */
TEST(bounds_the_tail_in_shapes)
{
	DpermShape	shapes[] = {{.kind = DPERM_SHAPE_BALL, .first = 0, .count = 3, .radius = 0.5}, {.kind = DPERM_SHAPE_BALL, .first = 3, .count = 2, .radius = 0.25}};
	DpermNoiseGroup groups[] = {{.first = 0, .count = 1, .share = 0.7}, {.first = 1, .count = 1, .share = 0.3}};
	DpermNoise	noise = {.shape_count = 2, .shapes = shapes, .group_count = 2, .groups = groups};

	dperm_noise_measure(DPERM_LAW_NORM, &noise);
	for (int classes = 1; classes < 1000; classes *= 9)
	{
		double		z = 46 + log(2.0 * classes);
		double		first = 0.5 / 0.7 * (4 + sqrt(8 * z) + z);
		double		second = 0.25 / 0.3 * (3 + sqrt(6 * z) + z);

		CHECK_NEAR(dperm_noise_tail(DPERM_LAW_NORM, &noise, 5, classes, 3), 3 * sqrt(classes * (first * first + second * second)), 1e-4);
	}
}

/* Theorems 1' and 2', 9' and 10' by their formulas, for persons too. */
TEST(scales_by_the_theorems)
{
	for (int round = 0; round < 64; round++)
	{
		int			classes = 3 + round % 5;
		double		nu = round / 8 % 2 ? 1 : 2;
		DpermSetup	s = {.loss = classes_loss(classes), .method = (DpermMethod) (round % 2), .neighbours = round / 8 % 2 ? DPERM_NEIGHBOURS_REMOVE : DPERM_NEIGHBOURS_REPLACE,
			.unit = (DpermUnit) (round / 16 % 2), .epsilon = 1.5, .delta = round / 32 ? 1e-6 : 0, .lambda = 0.01, .rows = 5000, .dim = 7 * classes};
		double		rank = (classes - 1) * (s.unit == DPERM_UNIT_PERSON ? 7 : 1);
		DpermCalibration cal;
		double		noise;

		CHECK(dperm_calibrate(&s, &cal) == NULL);
		noise = cal.claim.shares[DPERM_SHARE_NOISE];
		if (s.method == DPERM_METHOD_OUTPUT)
			CHECK_NEAR(cal.noise_scale, sqrt(2) * nu / (5000 * 0.01) * (s.delta > 0 ? dperm_privacy_sigma(noise, s.delta - 0x1p-64) : 1 / noise),
					   1e-9 * cal.noise_scale);
		else if (s.delta == 0)
			CHECK_NEAR(cal.noise_scale, 2 * nu / noise, 1e-9 * cal.noise_scale);
		else
			CHECK_NEAR(cal.noise_scale, sqrt(2) * dperm_privacy_objective_sigma(s.neighbours, s.unit, noise, (s.delta - 0x1p-64) / (classes - 1), cal.floor),
					   1e-9 * cal.noise_scale);
		CHECK(dperm_slack_rank(s.loss, s.unit, s.dim) == rank);
		if (s.method == DPERM_METHOD_OBJECTIVE)
			CHECK(cal.claim.shares[DPERM_SHARE_SLACK] <= rank * log1p((1 - 1.0 / classes) / (rank * 5000 * cal.lambda)) * (1 + 1e-12) &&
				  cal.claim.shares[DPERM_SHARE_SLACK] >= rank * log1p((classes - 2.0) / (classes - 1) / (rank * 5000 * cal.lambda)) * (1 - 1e-12));
		/* the noise of a class, for the rule of knots */
		s.epsilon = 1;
		CHECK_NEAR(dperm_calibrate_knots_noise(&s) / nu, s.delta > 0 ? sqrt(2) * dperm_privacy_sigma(1, s.delta / (classes - 1)) * sqrt(7) : 2 * sqrt(56), 1e-6);
	}
}

/* What is refused. */
TEST(refuses_what_has_no_theorem)
{
	DpermSetup	s = {.loss = classes_loss(3), .epsilon = 1, .lambda = 0.1, .rows = 100, .dim = 12};
	DpermCalibration cal;

	CHECK(dperm_calibrate(&s, &cal) == NULL);
	s.dim = 13;
	CHECK_TEXT(dperm_calibrate(&s, &cal), "the number of weights is not a multiple of that of classes");
	s.dim = 12;
	s.analysis = DPERM_ANALYSIS_PAPER;
	CHECK_TEXT(dperm_calibrate(&s, &cal), "the analysis of the paper supports labels of two classes only");
	s.analysis = DPERM_ANALYSIS_SHARP;
	s.loss.classes = 2;
	CHECK_TEXT(dperm_calibrate(&s, &cal), "the number of classes must be between 3 and 128");
}

/* m_2 of the curves, by quadrature: h at z, and what each line has above that. */
static double
lines_by_quadrature(double mu, double kappa, int lines, double order)
{
	long double above = order - 1;
	long double z = sqrtl(2 * logl(lines));
	long double u = kappa + mu * mu / 2 + mu * z;
	long double base = expm1l(above * u) + above * expm1l(-u);
	long double sum = 0;
	int			pieces = 2 * (int) ceil(100 * (14 + order * mu - (double) z));
	long double step = (14 + order * mu - z) / pieces;

	/* Simpson's rule: at the low end the integrand is 0, at the high end nothing is left of it */
	for (int i = 1; i < pieces; i++)
	{
		long double t = z + i * step;
		long double at = kappa + mu * mu / 2 + mu * t;

		sum += (i % 2 ? 4 : 2) * step / 3 * 2 * expl(-t * t / 2) / sqrtl(2 * acosl(-1)) * (expm1l(above * at) + above * expm1l(-at) - base);
	}
	return (double) (log1pl(base + lines * sum) / above);
}

TEST(curves_grow_with_lines)
{
	int			by_lines = 0;

	for (double mu = 0.003; mu < 4; mu *= 2.1)
		for (int kappa = 0; kappa < 2; kappa++)
			for (int i = 40; i < DPERM_ORDER_COUNT; i += 15)
			{
				double		order = dperm_composition_order(i);
				double		before = 0;

				if (order * mu > 40)
					continue;
				for (int lines = 1; lines < 30; lines += 7)
				{
					DpermRelease release = {.epsilon = 1, .delta = 1e-6, .curve = DPERM_CURVE_AVERAGE, .mu = mu, .kappa = 0.01 * kappa, .directions = lines, .lines = lines};
					double		got = dperm_composition_curve(&release, order);
					double		brute = lines_by_quadrature(mu, release.kappa, lines, fmax(order, 2));

					CHECK(got >= before * (1 - 1e-9) && got <= brute * (1 + 1e-5) + 1e-10);
					by_lines += lines > 1 && fabs(got - brute) < 1e-5 * brute + 1e-10;
					before = got;
				}
			}
	CHECK(by_lines > 20);
}
