/*
 * test_noise.c: noise in shapes: the best groups found by trying all, the tail,
 * and what is refused. test_noise_law.c tests the law of the draw,
 * test_draw_rounding.c its rounding.
 */
#include "unit/test.h"

#include <float.h>

#include "core/base/core.h"
#include "core/mechanism/noise.h"
#include "core/privacy/draw.h"
#include "unit/entropy.h"
#include "unit/normal.h"
#include "unit/shaped.h"

#define SHAPES_MAX 1700

static DpermShape shapes[SHAPES_MAX];
static double b[DPERM_DIM_MAX];

/* A plan. */
static const DpermNoise *
plan(int count)
{
	return dperm_noise_plan(DPERM_LAW_NORM, shapes, count);
}

/* Append a shape. */
static void
add(int *count, DpermShapeKind kind, int coordinates, double radius)
{
	int			first = *count == 0 ? 0 : shapes[*count - 1].first + shapes[*count - 1].count;

	shapes[(*count)++] = (DpermShape) {.kind = kind, .first = first, .count = coordinates, .radius = radius};
}

/* The number of coordinates of all shapes. */
static int
coordinates_of(int count)
{
	return shapes[count - 1].first + shapes[count - 1].count;
}

/* Some shapes of any kinds, of equal or very different sizes. */
static int
any_shapes(TestRandom *state)
{
	int			wanted = 1 + test_below(state, 8);
	int			how = test_below(state, 4);
	int			count = 0;

	while (count < wanted)
	{
		DpermShapeKind kind = (DpermShapeKind) test_below(state, DPERM_SHAPE_KINDS);
		int			size = how == 0 ? 1 + test_below(state, 3) : how == 1 ? 1 + test_below(state, 40) :
			(int) pow(10, 2.7 * test_uniform(state));

		if (count > 0 && test_below(state, 4) == 0)
			add(&count, shapes[count - 1].kind, shapes[count - 1].count, shapes[count - 1].radius);
		else
			add(&count, kind, kind == DPERM_SHAPE_DISCS ? 2 * size : size,
				how < 2 ? 1 / sqrt(wanted) : how == 2 ? pow(10, 2 * test_uniform(state) - 3) : 0.1 + test_uniform(state));
	}
	return count;
}

/*
 * Every coordinate once, shares that add up to 1, the right dimensions and
 * spread.
 */
static void
check_plan(const DpermNoise *noise, int count)
{
	double		shares = 0;
	double		spread = 0;
	bool		seen[DPERM_DIM_MAX + 1] = {false};

	CHECK(dperm_noise_fault(noise, coordinates_of(count)) == NULL);
	CHECK(noise->shape_count == count && dperm_noise_spread(DPERM_LAW_NORM, noise, coordinates_of(count)) == noise->spread);
	for (int i = 0; i < noise->group_count; i++)
	{
		const DpermNoiseGroup *g = &noise->groups[i];
		double		square = 0;
		int			dim = 0;

		for (int j = g->first; j < g->first + g->count; j++)
		{
			const DpermShape *s = &noise->shapes[j];
			bool		known = false;

			for (int k = 0; k < count; k++)
				known = known || (s->kind == shapes[k].kind && s->first == shapes[k].first &&
								  s->count == shapes[k].count && s->radius == shapes[k].radius);
			CHECK(known && !seen[s->first]);
			seen[s->first] = true;
			dim += s->count;
			square += shaped_mean_square(s);
		}
		CHECK(g->dim == dim);
		shares += g->share;
		spread += (dim + 1.0) * (dim + 2.0) * square / (g->share * g->share);
	}
	CHECK_NEAR(shares, 1, 1e-12);
	CHECK_NEAR(noise->spread, spread, 1e-12 * spread);
}

/* Slightly different shares have more noise. */
static void
check_shares(DpermNoiseLaw law, const DpermNoise *noise)
{
	for (int i = 1; i < noise->group_count; i++)
		for (int sign = -1; sign <= 1; sign += 2)
		{
			DpermNoiseGroup groups[8];
			DpermNoise	other = *noise;
			double		moved = 1e-3 * fmin(noise->groups[0].share, noise->groups[i].share);

			memcpy(groups, noise->groups, sizeof(DpermNoiseGroup) * (size_t) noise->group_count);
			other.groups = groups;
			groups[0].share += sign * moved;
			groups[i].share -= sign * moved;
			dperm_noise_measure(law, &other);
			CHECK(other.spread > noise->spread);
		}
}

/* No other partition has less noise, and no other shares. */
TEST(plans_are_the_best)
{
	TestRandom	state = 1;
	int			balls = 0;
	int			mixed = 0;

	for (int round = 0; round < 1500; round++)
	{
		int			count = any_shapes(&state);
		double		dim = coordinates_of(count);
		const DpermNoise *noise = plan(count);
		double		best = pow(shaped_best(shapes, count).best_cost, 3);

		CHECK(dim <= DPERM_DIM_MAX);
		if (noise == NULL)
		{
			balls++;
			CHECK(best >= 0.999998 * dim * (dim + 1));
			continue;
		}
		check_plan(noise, count);
		CHECK(noise->spread <= best * (1 + 1e-12));
		CHECK(noise->spread < dim * (dim + 1));
		mixed += noise->group_count > 1;
		check_shares(DPERM_LAW_NORM, noise);
	}
	CHECK(balls > 50 && mixed > 300);
}

/*
 * Gaussian noise: shares add up to 1, the deviations are those of the formula,
 * and no other shares have less noise.
 */
TEST(gaussian_plans_are_the_best)
{
	TestRandom	state = 2;
	int			balls = 0;

	for (int round = 0; round < 400; round++)
	{
		int			count = any_shapes(&state);
		int			dim = coordinates_of(count);
		const DpermNoise *noise = dperm_noise_plan(DPERM_LAW_GAUSSIAN, shapes, count);
		double		sum = 0;
		double		shares = 0;
		double		squares = 0;
		double		tail;

		normal_deviations(shapes, count, b);
		for (int i = 0; i < dim; i++)
			sum += b[i] * b[i];
		if (noise == NULL)
		{
			balls++;
			CHECK(sum >= 0.999998 * dim);
			continue;
		}
		CHECK(dperm_noise_fault(noise, dim) == NULL && noise->group_count == count && noise->shape_count == count);
		CHECK(dperm_noise_spread(DPERM_LAW_GAUSSIAN, noise, dim) == noise->spread && noise->spread < dim);
		CHECK_NEAR(noise->spread, sum, 1e-12 * sum);
		for (int i = 0; i < count; i++)
		{
			double		radius = normal_radius(&noise->shapes[i]);

			CHECK(noise->groups[i].first == i && noise->groups[i].count == 1 && noise->groups[i].dim == noise->shapes[i].count);
			shares += noise->groups[i].share;
			squares += pow(radius / b[noise->shapes[i].first], 2);
		}
		CHECK_NEAR(shares, 1, 1e-12);

		/* divided by their deviations, rows have norm 1 at most */
		CHECK_NEAR(squares, 1, 1e-12);
		tail = dperm_noise_tail(DPERM_LAW_GAUSSIAN, noise, dim, 1, 1);
		CHECK_NEAR(dperm_noise_tail(DPERM_LAW_GAUSSIAN, noise, dim, 1, 7), 7 * tail, 1e-12 * 7 * tail);
		for (int i = 0; i < count; i++)
			CHECK(gamma_upper(dim / 2.0, pow(tail / b[shapes[i].first], 2) / 2) < 0x1p-65);
		check_shares(DPERM_LAW_GAUSSIAN, noise);
	}
	CHECK(balls > 10 && balls < 300);

	/* the ball itself */
	CHECK(dperm_noise_spread(DPERM_LAW_GAUSSIAN, NULL, 12) == 12);
	for (int k = 1; k <= DPERM_DIM_MAX; k = 4 * k)
	{
		CHECK(gamma_upper(k / 2.0, pow(dperm_noise_tail(DPERM_LAW_GAUSSIAN, NULL, k, 1, 1), 2) / 2) < 0x1p-65);
		CHECK(gamma_upper(k / 2.0, pow(dperm_noise_tail(DPERM_LAW_GAUSSIAN, NULL, k, 1, 1) / 2, 2) / 2) > 0x1p-65);
	}
}

/* A lone vector, a lone interval: the ball. Nothing to plan. */
TEST(leaves_the_ball_to_vectors)
{
	int			count = 0;

	CHECK(plan(0) == NULL);
	for (int k = 1; k <= DPERM_DIM_MAX; k = k * 3 + 1)
	{
		count = 0;
		add(&count, DPERM_SHAPE_BALL, k, 1);
		CHECK(plan(1) == NULL);
	}
	count = 0;
	add(&count, DPERM_SHAPE_BOX, 1, 1);
	CHECK(plan(1) == NULL);
	count = 0;
	add(&count, DPERM_SHAPE_DISCS, 2, 1);
	CHECK(plan(1) == NULL);
	count = 0;
	add(&count, DPERM_SHAPE_CROSS, 3, 1);
	CHECK(plan(1) != NULL);
	CHECK(dperm_noise_spread(DPERM_LAW_NORM, NULL, 12) == 156);
}

/* The columns of Adult: a tenth of the noise of the ball. */
TEST(plans_for_adult)
{
	static const int categories[] = {7, 16, 7, 14, 6, 5, 41};
	const DpermNoise *noise;
	int			count = 0;

	for (int i = 0; i < 7; i++)
		add(&count, DPERM_SHAPE_CROSS, categories[i], 1 / sqrt(15));
	for (int i = 0; i < 8; i++)
		add(&count, DPERM_SHAPE_BOX, 1, 1 / sqrt(15));
	noise = plan(count);
	CHECK(noise != NULL);
	check_plan(noise, count);
	CHECK(4 * dperm_noise_spread(DPERM_LAW_NORM, NULL, 104) == 43680);
	CHECK(4 * noise->spread > 4157 && 4 * noise->spread < 4375);
	CHECK(noise->group_count == 4);
}

/*
 * A bound on the probability of the tail: |b|^2 is at most the sum over groups
 * of N_g^2 times a square, and N_g is Gamma(D).
 */
static double
tail_p(const DpermNoise *noise, double tail)
{
	double		low = 0;
	double		high = 1e6;

	/*
	 * the t for which radii that groups exceed with probability e^-t give the
	 * tail
	 */
	for (int step = 0; step < 60; step++)
	{
		double		t = (low + high) / 2;
		double		sum = 0;

		for (int i = 0; i < noise->group_count; i++)
		{
			const DpermNoiseGroup *g = &noise->groups[i];
			double		norm = (g->dim + sqrt(2 * g->dim * t) + t) / g->share;
			double		square = 0;

			for (int j = g->first; j < g->first + g->count; j++)
				square += pow(dperm_shape_norm(&noise->shapes[j]), 2);
			sum += norm * norm * square;
		}
		if (sqrt(sum) < tail)
			low = t;
		else
			high = t;
	}
	return noise->group_count * exp(-low);
}

/*
 * The tail bound holds, is not wasteful, and grows with the scale; so do draws
 * at the extremes.
 */
static void
check_tail(const DpermNoise *noise, int dim, uint64_t seed)
{
	double		tail = dperm_noise_tail(DPERM_LAW_NORM, noise, dim, 1, 1);
	TestEntropy source;
	DpermEntropy e;

	CHECK(isfinite(tail) && tail_p(noise, tail) < 0x1p-65 && tail_p(noise, tail) > 0x1p-75);
	CHECK_NEAR(dperm_noise_tail(DPERM_LAW_NORM, noise, dim, 1, 7), 7 * tail, 1e-12 * tail);
	CHECK(tail > 2 * sqrt(noise->spread) * sqrt(0.2));
	test_entropy_init(&e, &source, seed);
	for (int i = 0; i < 3; i++)
	{
		double		sum = 0;

		memset(b, 0xff, sizeof(b));
		dperm_noise_draw(&e, DPERM_LAW_NORM, noise, dim, 1, b);
		for (int j = 0; j < dim; j++)
		{
			CHECK(isfinite(b[j]) && b[j] != 0);
			sum += b[j] * b[j];
		}
		CHECK(dim == DPERM_DIM_MAX || isnan(b[dim]));
		CHECK(sqrt(sum) < tail);
	}
}

TEST(bounds_the_tail)
{
	TestRandom	state = 5;

	for (int round = 0; round < 1000; round++)
	{
		int			count = any_shapes(&state);
		const DpermNoise *noise = plan(count);

		if (noise)
			check_tail(noise, coordinates_of(count), 300 + (uint64_t) round);
	}

	/*
	 * a lone cross or interval has the norm of a sum of exponentials, or less
	 */
	for (int k = 1; k <= DPERM_DIM_MAX; k = k * 4)
	{
		DpermShape	shape = {.kind = k == 1 ? DPERM_SHAPE_BOX : DPERM_SHAPE_CROSS, .count = k, .radius = 1};
		DpermNoiseGroup group = {.count = 1, .share = 1};
		DpermNoise	noise = {.shape_count = 1, .shapes = &shape, .group_count = 1, .groups = &group};

		dperm_noise_measure(DPERM_LAW_NORM, &noise);
		CHECK(gamma_upper(k, dperm_noise_tail(DPERM_LAW_NORM, &noise, k, 1, 1)) < 0x1p-65);
		CHECK(gamma_upper(k, dperm_noise_tail(DPERM_LAW_NORM, &noise, k, 1, 1) / 2) > 0x1p-65);
	}
}

/*
 * The largest models: one category, all discs, the maximum number of columns of
 * a table.
 */
TEST(plans_at_the_extremes)
{
	int			count = 0;

	add(&count, DPERM_SHAPE_CROSS, DPERM_DIM_MAX, 1);
	CHECK(plan(1) != NULL);
	check_tail(plan(1), DPERM_DIM_MAX, 1);
	count = 0;
	add(&count, DPERM_SHAPE_DISCS, DPERM_DIM_MAX, 1 / sqrt(DPERM_DIM_MAX / 2));
	CHECK(plan(1) != NULL);
	check_tail(plan(1), DPERM_DIM_MAX, 2);
	count = 0;
	for (int i = 0; i < 1600; i++)
		add(&count, i % 3 ? DPERM_SHAPE_CROSS : DPERM_SHAPE_BOX, i % 3 ? 1 + i % 5 : 1, 1 / sqrt(1600));
	CHECK(plan(count) != NULL);
	check_plan(plan(count), count);
	check_tail(plan(count), coordinates_of(count), 3);

	/*
	 * and all with different ratios, so that groups are searched among that
	 * many classes
	 */
	count = 0;
	for (int i = 0; i < 1600; i++)
		add(&count, DPERM_SHAPE_BOX, 1, (1 + i * 1e-4) / sqrt(1700));
	CHECK(plan(count) != NULL);
	check_plan(plan(count), count);
}

/* Every field out of range, one at a time. */
TEST(refuses_broken_noise)
{
	static const DpermShape good_shapes[] = {{DPERM_SHAPE_CROSS, 3, 3, 0.5}, {DPERM_SHAPE_BOX, 0, 1, 0.5}, {DPERM_SHAPE_DISCS, 1, 2, 0.5}};
	static const DpermNoiseGroup good_groups[] = {{.first = 0, .count = 1, .share = 0.6}, {.first = 1, .count = 2, .share = 0.4}};
	DpermShape	s[3];
	DpermNoiseGroup g[2];
	DpermNoise	noise;
	int			dim;

#define FAULT(change) \
	(memcpy(s, good_shapes, sizeof(s)), memcpy(g, good_groups, sizeof(g)), dim = 6, \
	 noise = (DpermNoise) {.shape_count = 3, .shapes = s, .group_count = 2, .groups = g}, dperm_noise_measure(DPERM_LAW_NORM, &noise), \
	 (void) (change), dperm_noise_fault(&noise, dim))
#define REFUSED(change) CHECK(FAULT(change) != NULL)
	CHECK(dperm_noise_fault(NULL, 6) == NULL);
	CHECK(FAULT(0) == NULL);
	CHECK(FAULT(g[0].share = 0.1) == NULL);
	REFUSED(dim = 5);
	REFUSED(dim = 7);
	REFUSED(dim = 2);
	REFUSED(noise.shape_count = 2);
	REFUSED(noise.shape_count = 0);
	REFUSED(noise.shape_count = -1);
	REFUSED(noise.group_count = 0);
	REFUSED(noise.group_count = 1);
	REFUSED(noise.group_count = -3);
	REFUSED(noise.group_count = 4);
	REFUSED(g[0].first = 1);
	REFUSED(g[1].first = 0);
	REFUSED(g[1].first = 2);
	REFUSED(g[0].count = 0);
	REFUSED(g[0].count = 2);
	REFUSED(g[0].count = 3);
	REFUSED(g[1].count = 1);
	REFUSED(g[1].count = 3);
	REFUSED(g[1].count = INT32_MAX);
	REFUSED(g[0].share = 0);
	REFUSED(g[0].share = -0.1);
	REFUSED(g[0].share = NAN);
	REFUSED(g[0].share = 0.61);
	REFUSED(g[0].share = 1);
	REFUSED(g[0].share = INFINITY);
	REFUSED(s[0].kind = (DpermShapeKind) DPERM_SHAPE_KINDS);
	REFUSED(s[0].kind = (DpermShapeKind) -1);
	REFUSED(s[0].kind = DPERM_SHAPE_DISCS);
	REFUSED(s[0].first = 2);
	REFUSED(s[0].first = 4);
	REFUSED(s[0].first = -1);
	REFUSED(s[1].first = 1);
	REFUSED(s[1].first = INT32_MAX);
	REFUSED(s[0].count = 2);
	REFUSED(s[0].count = 4);
	REFUSED(s[0].count = 0);
	REFUSED(s[0].count = -3);
	REFUSED(s[0].count = INT32_MAX);
	REFUSED(s[2].count = 1);
	REFUSED(s[0].radius = 0);
	REFUSED(s[1].radius = -0.5);
	REFUSED(s[2].radius = NAN);
	REFUSED(s[2].radius = INFINITY);
	REFUSED(noise.spread = 0);
	REFUSED(noise.spread = NAN);
	REFUSED(noise.spread = INFINITY);
}
