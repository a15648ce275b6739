/*
 * test_noise_law.c: draws of noise in shapes against their exact law, on fixed
 * streams.
 */
#include "unit/test.h"

#include "core/mechanism/noise.h"
#include "core/privacy/draw.h"
#include "unit/entropy.h"
#include "unit/normal.h"
#include "unit/shaped.h"

#define P_MIN 1e-4				/* streams are fixed, so the outcome does not depend on chance */

static double draws[20000 * 24];
static double b[24];

/* One comparison. */
static void
check_p(void *arg, const char *what, double p)
{
	char		text[200];

	snprintf(text, sizeof(text), "%s: %s has p = %g", (const char *) arg, what, p);
	if (!(p > P_MIN))
		test_complain(__FILE__, __LINE__, text);
}

/* Draw count times and compare with a law. */
static void
check_draws(const DpermNoise *noise, const char *name, int count, uint64_t seed)
{
	int			dim = 0;
	double		scale = 0.37;
	TestEntropy source;
	DpermEntropy e;

	for (int i = 0; i < noise->group_count; i++)
		dim += noise->groups[i].dim;
	CHECK((size_t) count * (size_t) dim <= sizeof(draws) / sizeof(draws[0]));
	test_entropy_init(&e, &source, seed);
	for (int i = 0; i < count; i++)
		dperm_noise_draw(&e, DPERM_LAW_NORM, noise, dim, scale, draws + (size_t) i * (size_t) dim);
	CHECK(e.status == DPERM_OK);
	shaped_check(&(ShapedSample) {
		.noise = noise, .dim = dim, .scale = scale, .count = count, .b = draws, .report = check_p, .arg = (void *) name
	});
}

/* Each shape alone: the law of every part of it. */
TEST(lone_shapes_have_their_law)
{
	static const int sizes[] = {1, 2, 3, 8, 23};
	static const char *names[] = {"a lone ball", "a lone box", "a lone cross", "lone discs"};

	for (int kind = 0; kind < DPERM_SHAPE_KINDS; kind++)
		for (int i = 0; i < 5; i++)
		{
			DpermShape	shape = {.kind = (DpermShapeKind) kind, .count = kind == DPERM_SHAPE_DISCS ? sizes[i] / 2 * 2 : sizes[i],
				.radius = 0.8
			};
			DpermNoiseGroup group = {.count = 1, .share = 0.6};
			DpermNoise	noise = {.shape_count = 1, .shapes = &shape, .group_count = 1, .groups = &group};

			if (shape.count == 0)
				continue;
			dperm_noise_measure(DPERM_LAW_NORM, &noise);
			check_draws(&noise, names[kind], 20000, 100 + 10 * (uint64_t) kind + (uint64_t) i);
		}
}

/*
 * Coordinates of a cross are independent Laplace; those of discs and intervals
 * have closed forms too.
 */
TEST(coordinates_have_their_laws)
{
	DpermShape	shape = {.kind = DPERM_SHAPE_CROSS, .count = 6, .radius = 0.5};
	DpermNoiseGroup group = {.count = 1, .share = 1};
	DpermNoise	noise = {.shape_count = 1, .shapes = &shape, .group_count = 1, .groups = &group};
	TestEntropy source;
	DpermEntropy e;
	int			count = 20000;
	double		products = 0;

	dperm_noise_measure(DPERM_LAW_NORM, &noise);
	test_entropy_init(&e, &source, 3);
	for (int i = 0; i < count; i++)
	{
		double		x;

		dperm_noise_draw(&e, DPERM_LAW_NORM, &noise, 6, 2, b);
		x = b[i % 6];
		draws[i] = x < 0 ? exp(x) / 2 : 1 - exp(-x) / 2;
		products += (fabs(b[0]) - 1) * (fabs(b[1]) - 1);
	}
	CHECK(uniform_p(draws, count) > P_MIN);
	CHECK(fabs(products) / sqrt(count) < 4);

	/*
	 * of D coordinates that share a radius, one interval: P(|x| <= u) = P(r <=
	 * u) + u E(1/r; r > u)
	 */
	shape.kind = DPERM_SHAPE_BOX;
	for (int i = 0; i < count; i++)
	{
		double		x;

		dperm_noise_draw(&e, DPERM_LAW_NORM, &noise, 6, 2, b);
		x = fabs(b[i % 6]);
		draws[i] = 1 - gamma_upper(7, x) + x / 6 * gamma_upper(6, x);
	}
	CHECK(uniform_p(draws, count) > P_MIN);

	/* one disc: the same with u^2 E(1/r^2; r > u) */
	shape.kind = DPERM_SHAPE_DISCS;
	for (int i = 0; i < count; i++)
	{
		double		x;

		dperm_noise_draw(&e, DPERM_LAW_NORM, &noise, 6, 2, b);
		x = hypot(b[i % 3], b[3 + i % 3]);
		draws[i] = 1 - gamma_upper(7, x) + x * x / 30 * gamma_upper(5, x);
	}
	CHECK(uniform_p(draws, count) > P_MIN);
}

/* Groups of several shapes, with any shares. */
TEST(groups_have_their_law)
{
	static DpermShape mixed[] = {
		{DPERM_SHAPE_CROSS, 7, 5, 0.4}, {DPERM_SHAPE_BOX, 0, 1, 0.3}, {DPERM_SHAPE_BALL, 1, 3, 0.7},
		{DPERM_SHAPE_DISCS, 12, 6, 0.2}, {DPERM_SHAPE_BOX, 4, 3, 0.9}, {DPERM_SHAPE_CROSS, 18, 2, 1}
	};
	static DpermNoiseGroup one[] = {{.first = 0, .count = 6, .share = 1}};
	static DpermNoiseGroup three[] = {{.first = 0, .count = 3, .share = 0.5}, {.first = 3, .count = 1, .share = 0.2},
	{.first = 4, .count = 2, .share = 0.3}};
	static DpermNoiseGroup six[] = {{.first = 0, .count = 1, .share = 0.1}, {.first = 1, .count = 1, .share = 0.1},
	{.first = 2, .count = 1, .share = 0.3}, {.first = 3, .count = 1, .share = 0.1}, {.first = 4, .count = 1, .share = 0.2},
	{.first = 5, .count = 1, .share = 0.2}};
	DpermNoise	noises[] = {
		{.shape_count = 6, .shapes = mixed, .group_count = 1, .groups = one},
		{.shape_count = 6, .shapes = mixed, .group_count = 3, .groups = three},
		{.shape_count = 6, .shapes = mixed, .group_count = 6, .groups = six}
	};

	for (int i = 0; i < 3; i++)
	{
		dperm_noise_measure(DPERM_LAW_NORM, &noises[i]);
		CHECK(dperm_noise_fault(&noises[i], 20) == NULL);
		check_draws(&noises[i], i == 0 ? "one group" : i == 1 ? "three groups" : "six groups", 20000, 200 + (uint64_t) i);
	}
}

/*
 * Gaussian noise as planned: normal numbers, with a deviation for each shape.
 */
TEST(gaussian_noise_has_its_law)
{
	static const DpermShape mixed[] = {
		{DPERM_SHAPE_CROSS, 7, 5, 0.3}, {DPERM_SHAPE_BOX, 0, 1, 0.2}, {DPERM_SHAPE_BALL, 1, 3, 0.4},
		{DPERM_SHAPE_DISCS, 12, 6, 0.1}, {DPERM_SHAPE_BOX, 4, 3, 0.3}, {DPERM_SHAPE_CROSS, 18, 2, 0.6}
	};
	static const double ones[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const DpermNoise *noise = dperm_noise_plan(DPERM_LAW_GAUSSIAN, mixed, 6);
	double		deviations[20];

	CHECK(noise != NULL && noise->group_count == 6 && dperm_noise_fault(noise, 20) == NULL);
	normal_deviations(mixed, 6, deviations);
	for (int ball = 0; ball < 2; ball++)
	{
		NormalSample sample = {.dim = 20, .count = 10000, .deviations = ball ? ones : deviations, .scale = 0.37, .b = draws,
			.report = check_p, .arg = (void *) (ball ? "the Gaussian ball" : "Gaussian noise in shapes")
		};
		TestEntropy source;
		DpermEntropy e;

		test_entropy_init(&e, &source, 300 + (uint64_t) ball);
		for (int i = 0; i < sample.count; i++)
			dperm_noise_draw(&e, DPERM_LAW_GAUSSIAN, ball ? NULL : noise, 20, 0.37, draws + i * 20);
		CHECK(e.status == DPERM_OK);
		normal_check(&sample);
	}
}

/* Without a shape: the ball, bit for bit. */
TEST(nothing_is_the_ball)
{
	TestEntropy sources[2];
	DpermEntropy e[2];
	double		sphere[9];

	test_entropy_init(&e[0], &sources[0], 4);
	test_entropy_init(&e[1], &sources[1], 4);
	dperm_noise_draw(&e[0], DPERM_LAW_NORM, NULL, 9, 0.3, b);
	dperm_draw_gamma_sphere(&e[1], 9, 0.3, sphere);
	CHECK(memcmp(b, sphere, sizeof(sphere)) == 0);
	CHECK(dperm_noise_tail(DPERM_LAW_NORM, NULL, 9, 1, 0.3) == dperm_draw_gamma_sphere_tail(9, 0.3));
}

/*
 * A source that fails is reported, at every word of a draw; with one that is
 * stuck, draws still end.
 */
TEST(reports_a_failed_source)
{
	static DpermShape mixed[] = {{DPERM_SHAPE_CROSS, 0, 9, 0.4}, {DPERM_SHAPE_BOX, 9, 2, 0.3}, {DPERM_SHAPE_BALL, 11, 5, 0.7},
	{DPERM_SHAPE_DISCS, 16, 8, 0.2}};
	static DpermNoiseGroup groups[] = {{.first = 0, .count = 2, .share = 0.5}, {.first = 2, .count = 2, .share = 0.5}};
	DpermNoise	noise = {.shape_count = 4, .shapes = mixed, .group_count = 2, .groups = groups};
	TestEntropy source;
	DpermEntropy e;
	int64_t		fills;

	for (int law = 0; law < DPERM_LAW_COUNT; law++)
	{
		dperm_noise_measure((DpermNoiseLaw) law, &noise);
		test_entropy_init(&e, &source, 6);
		source.fail_at = INT64_MAX;
		dperm_noise_draw(&e, (DpermNoiseLaw) law, &noise, 24, 1, b);
		fills = source.fills;
		CHECK(fills >= 2 && e.status == DPERM_OK);
		for (int64_t at = 0; at < fills - 1; at++)
			for (int left = 0; left < 32; left++)
			{
				test_entropy_init(&e, &source, 6);
				source.fail_at = left > 0 && at == 0 ? 1 : at;
				for (int i = 0; i < left; i++)
					dperm_draw_word(&e);
				dperm_noise_draw(&e, (DpermNoiseLaw) law, &noise, 24, 1, b);
				CHECK(e.status != DPERM_OK);
				CHECK(source.fills == source.fail_at + 1);
			}
		test_entropy_from(&e, test_entropy_zeros, NULL);
		dperm_noise_draw(&e, (DpermNoiseLaw) law, &noise, 24, 1, b);
		for (int i = 0; i < 24; i++)
			CHECK(isfinite(b[i]));
	}
}
