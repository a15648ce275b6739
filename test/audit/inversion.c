/*
 * inversion.c: recover the noise from released weights, and compare it with its
 * law.
 *
 * Thousands of fits on small tables. From what is released and the rows, b
 * follows:
 *
 *	objective	b = -n Lambda f - sum_i loss'(f.a_i) a_i
 *	output		b = f - argmin J
 *
 * Its norm has to be Gamma(d, scale) and its direction uniform, with the scale
 * computed here from the formulas of the guarantee document, and the noise of
 * one call must reveal nothing about that of the next. The same comparison with
 * a scale that is off by a factor of 1.3, either way, has to fail: otherwise it
 * proves nothing.
 *
 * Noise in the shapes of columns is recovered in the same way and compared with
 * its own law (unit/shaped.h): shapes, groups and shares are recomputed, the
 * groups by trying all. Draws with wrong shares, radii, shapes or dimensions
 * have to be rejected.
 *
 * Gaussian noise has to be independent normal numbers, with the deviation of
 * each block and a scale that is computed from the definition of (epsilon,
 * delta) by quadrature (sigma.h). A scale that is off by 3 percent, one
 * deviation for all blocks and wrong shares have to be rejected.
 *
 * Persons have one to five rows each, whose weights add up to 1; the slack and
 * sigma of their noise are recomputed, too. So are those of labels that are
 * numbers, and of several classes.
 *
 * The last line of the output has the smallest p-value, and whether it is a
 * fault.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include <stdlib.h>

#include "audit/columns.h"
#include "audit/recover.h"
#include "core/mechanism/calibrate.h"
#include "unit/entropy.h"
#include "unit/goodness.h"
#include "unit/normal.h"
#include "unit/problem.h"
#include "unit/shaped.h"

#define P_PASS 1e-6				/* of some 4100 comparisons; the streams are fixed */
#define P_REJECT 1e-8
#define OFF 1.3

static double smallest_p = 1;
static char smallest_p_of[200] = "nothing";
static int	failures;			/* ways to train that ended with an error */

static double recovered[FITS * DIM_MAX];
static double norms[FITS];
static double coordinates[FITS];
static double scratch[FITS];

/* One comparison. */
static void
check_p(const Case *c, const char *what, double p)
{
	CHECK(p > P_PASS);
	p = isnan(p) ? 0 : p;
	if (p >= smallest_p)
		return;
	smallest_p = p;
	snprintf(smallest_p_of, sizeof(smallest_p_of), "%s; %s %s, %s, %s, %s, %s, d %d, epsilon %g, delta %g", what,
			 dperm_mechanism_name(c->method), dperm_calibrate_analysis_name(c->analysis),
			 dperm_claim_neighbours_name(c->neighbours), dperm_claim_unit_name(c->unit), dperm_loss_name(c->loss.kind),
			 c->columns ? c->columns->name : "ball", c->dim, c->epsilon, c->delta);
}

/* The same for a standard normal. */
static void
check_z(const Case *c, const char *what, double z)
{
	check_p(c, what, erfc(fabs(z) / sqrt(2)));
}

/* KS p-value of the norms against Gamma(dim, scale). */
static double
norms_p(int dim, double scale)
{
	for (int i = 0; i < FITS; i++)
		scratch[i] = 1 - gamma_upper(dim, norms[i] / scale);
	return uniform_p(scratch, FITS);
}

/*
 * Direction: one coordinate's law, the mean vector, and no relation with the
 * norm.
 */
static void
check_direction(const Case *c, const double *mean, const double *first)
{
	int			dim = c->dim;
	double		square = 0;
	double		with_first = 0;
	double		with_square = 0;
	double		spread = 0;
	double		average = 0;

	for (int j = 0; j < dim; j++)
		square += mean[j] * mean[j] / FITS / FITS;
	check_p(c, "mean direction", chi_square_p(FITS * dim * square, dim));
	for (int i = 0; i < FITS; i++)
		average += norms[i] / FITS;
	for (int i = 0; i < FITS; i++)
	{
		double		off = norms[i] - average;

		spread += off * off;
		with_first += off * first[i] * sqrt(dim);
		with_square += off * (first[i] * first[i] * dim - 1);
	}
	check_z(c, "norm and direction", with_first / sqrt(spread));
	if (dim == 1)
		return;

	/*
	 * a squared coordinate times dim has mean 1 and variance 2(d - 1)/(d + 2)
	 */
	check_z(c, "norm and direction", with_square / sqrt(spread * 2 * (dim - 1) / (dim + 2)));
	for (int i = 0; i < FITS; i++)
		scratch[i] = direction_cdf(dim, first[i]);
	check_p(c, "direction", uniform_p(scratch, FITS));
}

/*
 * Consecutive calls: the cosines of their noise, whose variance is 1/dim, and
 * the norms.
 */
static void
check_calls(const Case *c, double cosines)
{
	double		average = 0;
	double		spread = 0;
	double		product = 0;

	check_z(c, "directions of two calls", cosines * sqrt((double) c->dim / (FITS - 1)));
	for (int i = 0; i < FITS; i++)
		average += norms[i] / FITS;
	for (int i = 0; i < FITS; i++)
	{
		spread += (norms[i] - average) * (norms[i] - average);
		if (i > 0)
			product += (norms[i] - average) * (norms[i - 1] - average);
	}
	check_z(c, "norms of two calls", product / spread * sqrt(FITS));
}

/* Rows for a way to train: of persons, with labels. */
static void
fill_rows(const Case *c, TestRandom *state, uint64_t seed, Rows *rows)
{
	if (c->unit == DPERM_UNIT_PERSON)
		take_persons(rows);
	if (c->columns)
		make_columns_rows(c->columns, state, ROWS, data);
	else
		make_rows(state, seed % 2 ? SHAPE_NOISY : SHAPE_SEPARABLE, rows);
	if (dperm_loss_entry((int) c->loss.kind)->label != DPERM_LABEL_TWO)
		take_labels(state, rows);
}

/* One way to train: the test, and a check that the test detects faults. */
static void
check_case(const Case *c, uint64_t seed)
{
	TestRandom	state = seed * 77 + 1;
	Rows		rows = {.loss = c->loss, .dim = c->dim, .count = ROWS, .data = data};
	double		mean[DIM_MAX] = {0};
	double		last[DIM_MAX] = {0};	/* direction in the call before */
	double		cosines = 0;
	double		best[DIM_MAX];
	Case		drawn = *c;		/* with the dimension of a draw */
	double		lambda;
	double		scale;

	fill_rows(c, &state, seed, &rows);
	expected_law(c, &lambda, &scale);
	if (!train(c, &rows, seed))
	{
		failures++;
		return;
	}
	if (c->method == DPERM_METHOD_OUTPUT)
		minimise(&rows, lambda, best);
	drawn.dim = weights_of(c) / draws_of(c);
	for (int i = 0; i < FITS; i++)
	{
		double		b[DIM_MAX];
		double		sum = 0;

		invert(c, &rows, lambda, best, i, b);
		for (int j = 0; j < drawn.dim; j++)
			sum += b[j] * b[j];
		norms[i] = sqrt(sum);
		for (int j = 0; j < drawn.dim; j++)
		{
			mean[j] += b[j] / norms[i];
			cosines += b[j] / norms[i] * last[j];
			last[j] = b[j] / norms[i];
		}
		coordinates[i] = last[(int) (seed % (uint64_t) drawn.dim)];
	}
	check_p(c, "norm", norms_p(drawn.dim, scale));
	CHECK(norms_p(drawn.dim, scale * OFF) < P_REJECT);
	CHECK(norms_p(drawn.dim, scale / OFF) < P_REJECT);
	check_direction(&drawn, mean, coordinates);
	check_calls(&drawn, cosines);
}

static const double epsilons[] = {0.1, 1, 8};
static const DpermLoss losses[] = {{DPERM_LOSS_LOGISTIC, 0}, {DPERM_LOSS_HUBER, 0.5}, {DPERM_LOSS_SMOOTH_HINGE, 0.25}};

TEST(noise_follows_its_law)
{
	static const int dims[] = {1, 2, 5, 12};
	uint64_t	seed = 1;

	for (int way = 0; way < 5; way++)
		for (int d = 0; d < 4; d++)
			for (int e = 0; e < 3; e++)
				for (int l = 0; l < 3; l++)
				{
					Case		c = {
						.method = way == 2 || way == 4 ? DPERM_METHOD_OUTPUT : DPERM_METHOD_OBJECTIVE,
						.analysis = way == 1 ? DPERM_ANALYSIS_PAPER : DPERM_ANALYSIS_SHARP,
						.neighbours = way > 2 ? DPERM_NEIGHBOURS_REMOVE : DPERM_NEIGHBOURS_REPLACE,
						.loss = losses[l], .dim = dims[d], .epsilon = epsilons[e],
						.lambda = seed % 2 ? 0.01 : 0.5, .slack = 0.1
					};

					/* of each relation the same, but for the scale */
					if (way < 3 || seed % 3 == 0)
						check_case(&c, seed + 1);
					seed++;
				}
	CHECK(failures == 0);
}

/* A comparison with noise in shapes. */
static void
check_shaped_p(void *arg, const char *what, double p)
{
	check_p(arg, what, p);
}

/*
 * One way to train with noise in shapes, against the law that belongs to the
 * columns.
 */
static void
check_shaped_case(Case *c, uint64_t seed)
{
	TestRandom	state = seed * 77 + 1;
	Rows		rows = {.loss = c->loss, .dim = c->dim, .count = ROWS, .data = data};
	Law			law;
	double		lambda;
	double		scale;

	fill_rows(c, &state, seed, &rows);
	expected_law(c, &lambda, &scale);
	make_law(c->columns, &law);
	c->noise = make_plan(DPERM_LAW_NORM, c->columns);
	if (c->noise == NULL || !train(c, &rows, seed))
	{
		failures++;
		return;
	}
	for (int i = 0; i < FITS; i++)
		invert(c, &rows, lambda, NULL, i, recovered + i * c->dim);
	shaped_check(&(ShapedSample) {
		.noise = &law.noise, .dim = c->dim, .scale = scale, .count = FITS, .b = recovered, .report = check_shaped_p, .arg = c
	});
}

TEST(shaped_noise_follows_its_law)
{
	uint64_t	seed = 1000;

	for (int k = 0; k < COLUMNS; k++)
		for (int e = 0; e < 3; e++)
			for (int l = 0; l < 3; l++)
			{
				Case		c = {
					.loss = losses[l], .dim = columns[k].dim, .epsilon = epsilons[e], .columns = &columns[k],
					.lambda = seed % 2 ? 0.01 : 0.5, .slack = seed % 3 ? 0.1 : 0.5,
					.neighbours = l == 2 ? DPERM_NEIGHBOURS_REMOVE : DPERM_NEIGHBOURS_REPLACE
				};

				check_shaped_case(&c, ++seed);
			}
	CHECK(failures == 0);
}

/*
 * The squares of all noise of a method and relation, divided by their
 * deviations, and how many there are.
 */
static double squares[2][2];
static double square_count[2][2];

/*
 * All noise of a method and relation together distinguishes a scale that is off
 * by this from the right one.
 */
#define SLIGHTLY 1.03

/* One way to train with Gaussian noise, in the ball or in shapes. */
static void
check_gaussian_case(Case *c, uint64_t seed)
{
	TestRandom	state = seed * 77 + 1;
	Rows		rows = {.loss = c->loss, .dim = c->dim, .count = ROWS, .data = data};
	DpermShape	shapes[COLUMNS_SHAPES];
	double		deviations[DIM_MAX];
	double		best[DIM_MAX];
	double		lambda;
	double		scale;

	int			dim = weights_of(c) / draws_of(c);

	for (int j = 0; j < dim; j++)
		deviations[j] = 1;
	fill_rows(c, &state, seed, &rows);
	if (c->columns)
	{
		c->noise = make_plan(DPERM_LAW_GAUSSIAN, c->columns);
		CHECK(c->noise != NULL);

		/* output perturbation does not use shapes */
		if (c->method == DPERM_METHOD_OBJECTIVE)
			normal_deviations(shapes, make_shapes(c->columns, shapes), deviations);
	}
	expected_law(c, &lambda, &scale);
	if (!train(c, &rows, seed))
	{
		failures++;
		return;
	}
	if (c->method == DPERM_METHOD_OUTPUT)
		minimise(&rows, lambda, best);
	for (int i = 0; i < FITS; i++)
	{
		double	   *b = recovered + i * dim;

		invert(c, &rows, lambda, best, i, b);
		for (int j = 0; j < dim; j++)
			squares[c->method][c->neighbours] += pow(b[j] / (scale * deviations[j]), 2);
	}
	square_count[c->method][c->neighbours] += FITS * dim;
	normal_check(&(NormalSample) {
		.dim = dim, .count = FITS, .deviations = deviations, .scale = scale, .b = recovered, .report = check_shaped_p, .arg = c
	});
}

/*
 * The p-value of all squares of a method and relation, if the scale were that
 * much larger.
 */
static double
squares_p(int method, int neighbours, double off)
{
	double		count = square_count[method][neighbours];

	return normal_p((squares[method][neighbours] / (off * off) - count) / sqrt(2 * count));
}

TEST(gaussian_noise_follows_its_law)
{
	static const int dims[] = {1, 2, 5, 12};
	static const double deltas[] = {1e-6, 1e-3, 0.05};
	uint64_t	seed = 2000;

	for (int method = 0; method < 2; method++)
		for (int neighbours = 0; neighbours < 2; neighbours++)
			for (int k = 0; k < 4 + COLUMNS; k++)
				for (int l = 0; l < 3; l++)
				{
					int			turn = (int) (++seed % 9);
					Case		c = {
						.method = (DpermMethod) method, .neighbours = (DpermNeighbours) neighbours, .loss = losses[l],
						.epsilon = epsilons[turn % 3], .delta = deltas[turn / 3], .dim = k < 4 ? dims[k] : columns[k - 4].dim,
						.columns = k < 4 ? NULL : &columns[k - 4], .lambda = seed % 2 ? 0.01 : 0.5, .slack = seed % 5 < 3 ? 0.1 : 0.5
					};

					/* noise of output perturbation has no shape */
					if (method == DPERM_METHOD_OBJECTIVE || k < 4)
						check_gaussian_case(&c, seed);
				}
	CHECK(failures == 0);
	for (int i = 0; i < 4; i++)
	{
		Case		c = {.method = (DpermMethod) (i / 2), .neighbours = (DpermNeighbours) (i % 2), .delta = NAN};

		check_p(&c, "deviation of all noise", squares_p(i / 2, i % 2, 1));
		CHECK(squares_p(i / 2, i % 2, SLIGHTLY) < P_REJECT);
		CHECK(squares_p(i / 2, i % 2, 1 / SLIGHTLY) < P_REJECT);
	}
}

/*
 * Persons: the noise is recovered with the weights of their rows; its scale has
 * their slack, and their sigma.
 */
TEST(noise_of_persons_follows_its_law)
{
	static const int dims[] = {1, 3, 12};
	uint64_t	seed = 4000;

	memset(squares, 0, sizeof(squares));
	memset(square_count, 0, sizeof(square_count));
	for (int way = 0; way < 8; way++)
		for (int d = 0; d < 3; d++)
			for (int e = 0; e < 2; e++)
			{
				Case		c = {
					.method = (DpermMethod) (way / 2 % 2), .neighbours = (DpermNeighbours) (way % 2), .unit = DPERM_UNIT_PERSON,
					.loss = losses[(way + d + e) % 3], .dim = dims[d], .epsilon = epsilons[1 + e], .delta = way < 4 ? 0 : e ? 1e-3 : 1e-6,
					.lambda = seed % 2 ? 0.01 : 0.5, .slack = seed % 3 ? 0.5 : 0.1
				};

				seed++;
				if (way < 4)
					check_case(&c, seed);
				else
					check_gaussian_case(&c, seed);
			}
	CHECK(failures == 0);
	for (int i = 0; i < 4; i++)
	{
		Case		c = {.method = (DpermMethod) (i / 2), .neighbours = (DpermNeighbours) (i % 2), .unit = DPERM_UNIT_PERSON, .delta = NAN};

		check_p(&c, "deviation of all noise of persons", squares_p(i / 2, i % 2, 1));
		CHECK(squares_p(i / 2, i % 2, SLIGHTLY) < P_REJECT);
		CHECK(squares_p(i / 2, i % 2, 1 / SLIGHTLY) < P_REJECT);
	}
}

/*
 * Numbers, and several classes: each class has noise of its own, which reveals
 * nothing about that of the next.
 */
TEST(noise_of_other_labels_follows_its_law)
{
	static const DpermLoss others[] = {{DPERM_LOSS_LOG_COSH, 0.25}, {DPERM_LOSS_SOFTMAX, 0, 3}, {DPERM_LOSS_LOG_COSH, 1}, {DPERM_LOSS_SOFTMAX, 0, 5}};
	static const int dims[] = {1, 4, 2};
	uint64_t	seed = 6000;

	memset(squares, 0, sizeof(squares));
	memset(square_count, 0, sizeof(square_count));
	for (int way = 0; way < 16; way++)
		for (int l = 0; l < 4; l++)
		{
			const Columns *shaped = others[l].classes == 5 ? NULL : &columns[2 * (l / 2)];
			Case		c = {
				.method = (DpermMethod) (way / 2 % 2), .neighbours = (DpermNeighbours) (way % 2), .unit = (DpermUnit) (way / 4 % 2),
				.loss = others[l], .dim = dims[(way + l) % 3], .epsilon = epsilons[(way + l) % 3], .delta = way < 8 ? 0 : way % 3 ? 1e-3 : 1e-6,
				.lambda = ++seed % 2 ? 0.01 : 0.5, .slack = seed % 3 ? 0.5 : 0.1
			};

			if (way >= 8)
				check_gaussian_case(&c, seed);
			else
				check_case(&c, seed);
			if (c.method == DPERM_METHOD_OUTPUT || c.unit == DPERM_UNIT_PERSON || shaped == NULL)
				continue;
			c.columns = shaped;
			c.dim = shaped->dim;
			if (way >= 8)
				check_gaussian_case(&c, seed);
			else
				check_shaped_case(&c, seed);
		}
	CHECK(failures == 0);
	for (int i = 0; i < 4; i++)
	{
		Case		c = {.method = (DpermMethod) (i / 2), .neighbours = (DpermNeighbours) (i % 2), .delta = NAN};

		check_p(&c, "deviation of all noise of other labels", squares_p(i / 2, i % 2, 1));
		CHECK(squares_p(i / 2, i % 2, SLIGHTLY) < P_REJECT);
		CHECK(squares_p(i / 2, i % 2, 1 / SLIGHTLY) < P_REJECT);
	}
}

/* The smallest p-value of all comparisons. */
static void
keep_smallest(void *arg, const char *what, double p)
{
	(void) what;
	*(double *) arg = fmin(*(double *) arg, isnan(p) ? 0 : p);
}

/* How well draws of some noise fit a law. */
static double
draws_p(const DpermNoise *noise, double scale, const Law *law, int dim, uint64_t seed)
{
	double		smallest = 1;
	TestEntropy source;
	DpermEntropy entropy;

	test_entropy_init(&entropy, &source, seed);
	for (int i = 0; i < FITS; i++)
		dperm_noise_draw(&entropy, DPERM_LAW_NORM, noise, dim, scale, recovered + i * dim);
	shaped_check(&(ShapedSample) {
		.noise = &law->noise, .dim = dim, .scale = 1, .count = FITS, .b = recovered, .report = keep_smallest, .arg = &smallest
	});
	return smallest;
}

/* Draws that are wrong in one way each are rejected. */
TEST(finds_wrong_draws)
{
	for (int k = 0; k < COLUMNS; k++)
	{
		int			dim = columns[k].dim;
		Law			law;
		Law			wrong;
		double		shares = 0;

		make_law(&columns[k], &law);
		CHECK(draws_p(&law.noise, 1, &law, dim, 1) > P_PASS);

		/* without the factor 2, and a little off */
		CHECK(draws_p(&law.noise, 0.5, &law, dim, 2) < P_REJECT);
		CHECK(draws_p(&law.noise, OFF, &law, dim, 3) < P_REJECT);
		CHECK(draws_p(&law.noise, 1 / OFF, &law, dim, 4) < P_REJECT);

		/* a radius of Gamma(D) where Gamma(D + 1) belongs */
		copy_law(&law, &wrong);
		for (int i = 0; i < law.noise.group_count; i++)
			wrong.groups[i].dim--;
		CHECK(draws_p(&wrong.noise, 1, &law, dim, 5) < P_REJECT);

		/* balls in place of crosses, and crosses in place of balls */
		copy_law(&law, &wrong);
		for (int i = 0; i < law.noise.shape_count; i++)
			wrong.shapes[i].kind = law.shapes[i].kind == DPERM_SHAPE_CROSS ? DPERM_SHAPE_BALL :
				law.shapes[i].kind == DPERM_SHAPE_BALL ? DPERM_SHAPE_CROSS : law.shapes[i].kind;
		if (columns[k].encoder.kernel.kind == DPERM_KERNEL_LINEAR)
			CHECK(draws_p(&wrong.noise, 1, &law, dim, 6) < P_REJECT);

		/* one shape of half its radius */
		copy_law(&law, &wrong);
		wrong.shapes[0].radius /= 2;
		CHECK(draws_p(&wrong.noise, 1, &law, dim, 7) < P_REJECT);
		if (law.noise.group_count == 1)
			continue;

		/*
		 * equal shares; shares by square roots, where that makes a difference;
		 * all of epsilon for each group
		 */
		copy_law(&law, &wrong);
		for (int i = 0; i < law.noise.group_count; i++)
			wrong.groups[i].share = 1.0 / law.noise.group_count;
		CHECK(draws_p(&wrong.noise, 1, &law, dim, 8) < P_REJECT);
		for (int i = 0; i < law.noise.group_count; i++)
			shares += pow(law.groups[i].share, 1.5);
		for (int i = 0; i < law.noise.group_count; i++)
			wrong.groups[i].share = pow(law.groups[i].share, 1.5) / shares;
		if (fabs(log(law.groups[0].share / law.groups[1].share)) > 0.4)
			CHECK(draws_p(&wrong.noise, 1, &law, dim, 9) < P_REJECT);
		for (int i = 0; i < law.noise.group_count; i++)
			wrong.groups[i].share = 1;
		CHECK(draws_p(&wrong.noise, 1, &law, dim, 10) < P_REJECT);
	}
}

/* How well draws of a law fit deviations, or those of the ball. */
static double
gaussian_p(DpermNoiseLaw law, const DpermNoise *noise, double scale, const double *deviations, int dim, uint64_t seed)
{
	double		smallest = 1;
	int			count = FITS * DIM_MAX / dim;
	TestEntropy source;
	DpermEntropy entropy;

	test_entropy_init(&entropy, &source, seed);
	for (int i = 0; i < count; i++)
		dperm_noise_draw(&entropy, law, noise, dim, scale, recovered + i * dim);
	normal_check(&(NormalSample) {
		.dim = dim, .count = count, .deviations = deviations, .scale = 1, .b = recovered, .report = keep_smallest, .arg = &smallest
	});
	return smallest;
}

/* Gaussian draws that are wrong in one way each. */
TEST(finds_wrong_gaussian_draws)
{
	for (int k = 0; k < COLUMNS; k++)
	{
		int			dim = columns[k].dim;
		const DpermNoise *noise = make_plan(DPERM_LAW_GAUSSIAN, &columns[k]);
		DpermNoiseGroup wrong_groups[COLUMNS_SHAPES];
		DpermNoise	wrong;
		DpermShape	shapes[COLUMNS_SHAPES];
		double		deviations[DIM_MAX];

		/* a build with a fault may have nothing better than the ball */
		CHECK(noise != NULL);
		if (noise == NULL)
			continue;
		wrong = *noise;
		normal_deviations(shapes, make_shapes(&columns[k], shapes), deviations);
		CHECK(gaussian_p(DPERM_LAW_GAUSSIAN, noise, 1, deviations, dim, 11) > P_PASS);

		/* for half the sensitivity, and a little off */
		CHECK(gaussian_p(DPERM_LAW_GAUSSIAN, noise, 0.5, deviations, dim, 12) < P_REJECT);
		CHECK(gaussian_p(DPERM_LAW_GAUSSIAN, noise, SLIGHTLY, deviations, dim, 13) < P_REJECT);
		CHECK(gaussian_p(DPERM_LAW_GAUSSIAN, noise, 1 / SLIGHTLY, deviations, dim, 14) < P_REJECT);

		/*
		 * the same deviation for all, equal shares, all of the norm for each
		 * block, the other law
		 */
		CHECK(gaussian_p(DPERM_LAW_GAUSSIAN, NULL, 1, deviations, dim, 15) < P_REJECT);
		wrong.groups = wrong_groups;
		for (int all = 0; all < 2; all++)
		{
			memcpy(wrong_groups, noise->groups, sizeof(DpermNoiseGroup) * (size_t) noise->group_count);
			for (int i = 0; i < noise->group_count; i++)
				wrong_groups[i].share = all ? 1 : 1.0 / noise->group_count;
			CHECK(gaussian_p(DPERM_LAW_GAUSSIAN, &wrong, 1, deviations, dim, 16 + (uint64_t) all) < P_REJECT);
		}
		CHECK(gaussian_p(DPERM_LAW_NORM, noise, 1, deviations, dim, 18) < P_REJECT);
	}
}

int
main(void)
{
	int			result;

	prepare_columns();
	result = test_main();
	if (failures > 0)
		printf("note errors\n");
	printf("found %.1e %s (%s)\n", smallest_p,
		   smallest_p <= P_PASS || failures > 0 ? "fault" : "nothing", smallest_p_of);
	return result;
}
