/*
 * test_shape.c: every encoded row lies in the shapes of its encoder, and a
 * vector that the library says is in a shape is in it, in exact arithmetic.
 */
#include "unit/sample_encoder.h"

#include "core/base/core.h"
#include "core/encode/encoder.h"
#include "core/encode/layout.h"
#include "unit/exact_shape.h"

#define SHAPES_MAX (SAMPLE_DIM_MAX + 2)

static SampleEncoder sampled;
static SampleRow row;
static double *frequencies;
static double room[SAMPLE_DIM_MAX];
static double large[DPERM_DIM_MAX + 1];
static double larger[DPERM_DIM_MAX + 1];

/* A sampled encoder with its kernel. */
static const DpermEncoder *
any_encoder(TestRandom *state)
{
	const DpermEncoder *enc = sample_encoder(state, &sampled);

	frequencies = dperm_fourier_make(&enc->kernel, dperm_encoder_linear_dim(enc));
	return enc;
}

/* Shapes cover all coordinates, one after another. */
static void
check_cover(const DpermShape *shapes, int count, int dim)
{
	int			at = 0;

	for (int i = 0; i < count; i++)
	{
		CHECK(shapes[i].first == at && shapes[i].count > 0 && shapes[i].radius > 0);
		CHECK(shapes[i].count > 1 || shapes[i].kind == DPERM_SHAPE_BOX);
		at += shapes[i].count;
	}
	CHECK(at == dim);
}

/* A row is in all shapes, and the library says so. */
static void
check_inside(const DpermShape *shapes, int count, const double *x)
{
	for (int i = 0; i < count; i++)
	{
		CHECK(exact_row_in_shape(&shapes[i], x));
		CHECK(dperm_shape_contains(&shapes[i], x));
	}
}

TEST(rows_lie_in_their_shapes)
{
	TestRandom	state = 1;

	for (int round = 0; round < 30000; round++)
	{
		const DpermEncoder *enc = any_encoder(&state);
		DpermShape	shapes[SHAPES_MAX];
		int			count = dperm_shape_list(enc, false, shapes);
		double		x[SAMPLE_DIM_MAX];

		CHECK(count <= dperm_encoder_dim(enc));
		check_cover(shapes, count, dperm_encoder_dim(enc));
		dperm_encoder_encode(enc, frequencies, sample_row(&state, enc, &row), test_below(&state, 2) ? 1 : -1, x, room);
		check_inside(shapes, count, x);
	}
}

/* The kind of shape of each block, and its radius: the share of the ball. */
TEST(blocks_have_the_shapes_of_the_table)
{
	DpermBlock	blocks[] = {{.kind = DPERM_BLOCK_NUMBER, .count = 1, .high = 1}, {.kind = DPERM_BLOCK_CATEGORY, .count = 3},
	{.kind = DPERM_BLOCK_FLAG, .count = 1}, {.kind = DPERM_BLOCK_VECTOR, .count = 4, .norm = 7},
	{.kind = DPERM_BLOCK_TIME, .count = 1, .high = 1}, {.kind = DPERM_BLOCK_CATEGORY, .count = 1},
	{.kind = DPERM_BLOCK_VECTOR, .count = 1, .norm = 2}, {.kind = DPERM_BLOCK_BOX, .count = 4, .high = 3}};
	static const DpermShapeKind kinds[] = {DPERM_SHAPE_BOX, DPERM_SHAPE_CROSS, DPERM_SHAPE_BOX, DPERM_SHAPE_BALL,
	DPERM_SHAPE_BOX, DPERM_SHAPE_BOX, DPERM_SHAPE_BOX, DPERM_SHAPE_BOX, DPERM_SHAPE_BOX};
	static const int order[] = {2, 3, 6, 7, 0, 4, 8, 1, 5};
	DpermEncoder enc = {.block_count = 8, .blocks = blocks, .intercept = true};
	DpermShape	shapes[9];

	for (int last = 0; last < 2; last++)
	{
		CHECK(dperm_shape_list(&enc, last, shapes) == 9);
		check_cover(shapes, 9, 17);
		for (int i = 0; i < 9; i++)
		{
			int			block = last ? order[i] : i;

			CHECK(shapes[i].kind == kinds[block]);
			CHECK(shapes[i].count == (block == 8 ? 1 : blocks[block].count));
			CHECK_NEAR(shapes[i].radius, block == 7 ? sqrt(1.0 / 36) : sqrt(1.0 / 9), 1e-15);
		}
	}
	enc.kernel = (DpermKernel) {.kind = DPERM_KERNEL_GAUSSIAN, .gamma = 1, .features = 10};
	CHECK(dperm_shape_list(&enc, false, shapes) == 2);
	check_cover(shapes, 2, 11);
	CHECK(shapes[0].kind == DPERM_SHAPE_DISCS && shapes[1].kind == DPERM_SHAPE_BOX);
	CHECK_NEAR(shapes[0].radius, sqrt(0.5) * sqrt(1.0 / 5), 1e-15);
	CHECK_NEAR(shapes[1].radius, sqrt(0.5), 1e-15);
}

/*
 * In the order of coded rows, the shapes are where the layout puts their
 * coordinates.
 */
TEST(follows_the_layout)
{
	TestRandom	state = 2;

	for (int round = 0; round < 10000; round++)
	{
		const DpermEncoder *enc = any_encoder(&state);
		DpermLayout layout = dperm_layout_make(enc, false);
		DpermShape	shapes[2][SHAPES_MAX];
		int			counts[2];
		int			of[2][SAMPLE_DIM_MAX];	/* the shape of a coordinate */
		double		x[SAMPLE_DIM_MAX];
		double		moved[SAMPLE_DIM_MAX];

		for (int last = 0; last < 2; last++)
		{
			counts[last] = dperm_shape_list(enc, last, shapes[last]);
			check_cover(shapes[last], counts[last], layout.dim);
			for (int i = 0; i < counts[last]; i++)
				for (int j = 0; j < shapes[last][i].count; j++)
					of[last][shapes[last][i].first + j] = i;
		}
		CHECK(counts[0] == counts[1]);
		dperm_encoder_encode(enc, frequencies, sample_row(&state, enc, &row), 1, x, room);
		for (int i = 0; i < layout.dim; i++)
		{
			int			place = layout.place ? layout.place[i] : i;
			const DpermShape *here = &shapes[1][of[1][i]];
			const DpermShape *there = &shapes[0][of[0][place]];

			CHECK(here->kind == there->kind && here->count == there->count && here->radius == there->radius);
			CHECK(i - here->first == place - there->first);
			moved[i] = x[place];
		}
		check_inside(shapes[1], counts[1], moved);
	}
}

/*
 * Vectors that fill the shapes of an encoder: accepted by their check, at the
 * border.
 */
static void
fill_shapes(TestRandom *state, const DpermShape *shapes, int count, double *x)
{
	for (int i = 0; i < count; i++)
	{
		const DpermShape *s = &shapes[i];
		double		step = s->radius;

		for (int j = 0; j < s->count; j++)
			x[s->first + j] = 0;
		for (int tries = 0; tries < 400 && step > 1e-18 * s->radius; tries++)
		{
			int			at = s->first + test_below(state, s->count);
			double		before = x[at];

			x[at] += (before < 0 || (before == 0 && test_below(state, 2))) ? -step : step;
			if (!dperm_shape_contains(s, x))
			{
				x[at] = before;
				step *= tries % 3 ? 1 : 0.5;
			}
		}
	}
}

/*
 * Vectors that one encoder wrote, or that its shapes accept, encoded by
 * another.
 */
TEST(vectors_of_an_encoder_lie_in_their_shapes)
{
	TestRandom	state = 3;

	for (int round = 0; round < 10000; round++)
	{
		const DpermEncoder *inner = any_encoder(&state);
		DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = dperm_encoder_dim(inner),
			.norm = round % 3 == 0 ? 1 : round % 3 == 1 ? sample_positive(&state) : 0.1 + 3 * test_uniform(&state)
		};
		DpermEncoder outer = {.block_count = 1, .blocks = &block, .intercept = test_below(&state, 2)};
		DpermShape	shapes[SHAPES_MAX];
		DpermShape	within[SHAPES_MAX + 1];
		int			count = dperm_shape_list(inner, false, shapes);
		int			count_within;
		double		vector[SAMPLE_DIM_MAX];
		double		x[SAMPLE_DIM_MAX + 1];
		DpermValue	value = {.present = true, .vector = vector};

		if (round % 50 == 7)
			block.norm = test_below(&state, 2) ? DPERM_NORM_MIN : DPERM_NORM_MAX;
		CHECK(dperm_encoder_fault(&outer) == NULL);
		count_within = dperm_shape_list_within(inner, &outer, within);
		CHECK(count_within == count + outer.intercept);
		check_cover(within, count_within, dperm_encoder_dim(&outer));
		if (round % 2)
			dperm_encoder_encode(inner, frequencies, sample_row(&state, inner, &row), 1, vector, room);
		else
			fill_shapes(&state, shapes, count, vector);
		check_inside(shapes, count, vector);
		dperm_encoder_encode(&outer, NULL, &value, test_below(&state, 2) ? 1 : -1, x, room);
		for (int i = 0; i < count_within; i++)
			CHECK(exact_row_in_shape(&within[i], x));
	}
}

/* Vectors of the largest norm, in any dimension, are in their ball. */
TEST(long_vectors_are_accepted)
{
	static const int dims[] = {2, 3, 7, 64, 1000, DPERM_DIM_MAX - 1, DPERM_DIM_MAX};
	TestRandom	state = 4;

	for (int d = 0; d < 7; d++)
		for (int round = 0; round < 40; round++)
		{
			DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = dims[d], .norm = round % 2 ? 1 : sample_positive(&state)};
			DpermEncoder enc = {.block_count = 1, .blocks = &block, .intercept = round % 4 < 2 && dims[d] < DPERM_DIM_MAX};
			DpermValue	value = {.present = true, .vector = large};
			DpermShape	shapes[2];
			double		sum = 0;

			for (int i = 0; i < dims[d]; i++)
			{
				large[i] = round % 5 == 0 ? 1 : round % 5 == 1 ? i == 1 : test_uniform(&state) - 0.5;
				sum += large[i] * large[i];
			}
			for (int i = 0; i < dims[d]; i++)
				large[i] *= block.norm / sqrt(sum) * (1 + (test_below(&state, 3) - 1) * round * DBL_EPSILON);
			dperm_encoder_encode(&enc, NULL, &value, -1, larger, NULL);
			check_inside(shapes, dperm_shape_list(&enc, false, shapes), larger);
		}
}

/* How far out a vector is in a shape: 1 at the border, except for rounding. */
static double
gauge(const DpermShape *s, const double *x)
{
	double		most = 0;
	double		sum = 0;

	for (int i = 0; i < s->count; i++)
	{
		double		size = fabs(x[s->first + i]) / s->radius;

		sum += s->kind == DPERM_SHAPE_BALL ? size * size : size;
		most = fmax(most, size);
	}
	for (int i = 0; s->kind == DPERM_SHAPE_DISCS && i < s->count / 2; i++)
		most = fmax(most, hypot(x[s->first + i], x[s->first + i + s->count / 2]) / s->radius);
	return s->kind == DPERM_SHAPE_BALL ? sqrt(sum) : s->kind == DPERM_SHAPE_CROSS ? sum : most;
}

/* A shape of some size that begins after a number. */
static DpermShape
any_shape(TestRandom *state, int most)
{
	DpermShape	s = {.kind = (DpermShapeKind) test_below(state, DPERM_SHAPE_KINDS), .first = 1};

	s.count = 1 + test_below(state, most - 1);
	s.count += s.kind == DPERM_SHAPE_DISCS ? s.count % 2 : 0;
	s.radius = test_below(state, 3) ? 0.01 + test_uniform(state) : sample_positive(state);
	return s;
}

/*
 * Vectors near the border: what is accepted is inside, and what is clearly
 * inside is accepted.
 */
TEST(accepts_no_vector_outside)
{
	TestRandom	state = 5;
	int			accepted = 0;

	for (int round = 0; round < 20000; round++)
	{
		DpermShape	s = any_shape(&state, round % 100 ? 12 : 500);
		int			steps = 3 * s.count + 60;
		double		goal = 1 + (test_below(&state, 2 * steps + 1) - steps) * DBL_EPSILON / 2;
		double		size;
		bool		contained;

		memset(large, 0, sizeof(double) * (size_t) (s.count + 1));
		large[0] = NAN;
		for (int i = 1; i <= s.count; i++)
			large[i] = round % 4 == 0 && i != 1 + round % s.count ? 0 : round % 4 == 1 ? 1 : test_uniform(&state) - 0.5;
		size = gauge(&s, large);
		for (int i = 1; i <= s.count; i++)
			large[i] *= goal / size;
		contained = dperm_shape_contains(&s, large);
		accepted += contained;
		CHECK(!contained || exact_row_in_shape(&s, large));
		CHECK(contained || goal > 1 - (s.count + 40) * DBL_EPSILON);
	}
	CHECK(accepted > 5000 && accepted < 15000);
}

/* The same, climbing: coordinates grow as long as the vector is accepted. */
TEST(climbs_over_no_border)
{
	TestRandom	state = 6;

	for (int round = 0; round < 1500; round++)
	{
		DpermShape	s = any_shape(&state, 12);

		large[0] = NAN;
		fill_shapes(&state, &s, 1, large);
		CHECK(dperm_shape_contains(&s, large) && exact_row_in_shape(&s, large));
		CHECK(gauge(&s, large) > 1 - 1e-3);
		for (int i = 0; i < 200; i++)
		{
			int			at = 1 + test_below(&state, s.count);
			double		before = large[at];

			large[at] = nextafter(before, before < 0 ? -INFINITY : INFINITY);
			if (!dperm_shape_contains(&s, large))
				large[at] = before;
		}
		CHECK(exact_row_in_shape(&s, large));
	}
}

TEST(contains_no_odd_numbers)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 1.0000001};

	for (int kind = 0; kind < DPERM_SHAPE_KINDS; kind++)
	{
		DpermShape	s = {.kind = (DpermShapeKind) kind, .first = 2, .count = 6, .radius = 1};
		double		x[9] = {NAN, NAN, 0, 0, 0, 0, 0, 0, NAN};

		CHECK(dperm_shape_contains(&s, x));
		for (int i = 0; i < 6; i++)
			for (int k = 0; k < 6; k++)
			{
				x[2 + i] = odd[k];
				CHECK(!dperm_shape_contains(&s, x));
				x[2 + i] = 0;
			}
	}
}

/*
 * The mean square by a sum over a grid, in up to four dimensions; the largest
 * norm.
 */
TEST(measures_shapes)
{
	static const int counts[DPERM_SHAPE_KINDS][3] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {2, 2, 4}};
	static const int steps[] = {4000, 400, 80, 40};

	for (int kind = 0; kind < DPERM_SHAPE_KINDS; kind++)
		for (int c = 0; c < 3; c++)
		{
			DpermShape	s = {.kind = (DpermShapeKind) kind, .count = counts[kind][c], .radius = 0.7};
			int			each = steps[s.count - 1];
			long		cells = lround(pow(each, s.count));
			double		x[4];
			double		sum = 0;
			double		most = 0;
			long		inside = 0;

			for (long cell = 0; cell < cells; cell++)
			{
				double		square = 0;

				for (long i = 0, left = cell; i < s.count; i++, left /= each)
				{
					x[i] = s.radius * (2 * ((double) (left % each) + 0.5) / each - 1);
					square += x[i] * x[i];
				}
				if (gauge(&s, x) > 1)
					continue;
				inside++;
				sum += square;
				most = fmax(most, square);
			}
			CHECK_NEAR(sum / (double) inside, dperm_shape_mean_square(&s), 0.01 * s.radius * s.radius);
			CHECK_NEAR(sqrt(most), dperm_shape_norm(&s), 0.05 * s.radius);
		}
}

TEST(knows_the_names_of_shapes)
{
	CHECK_TEXT(dperm_shape_name(DPERM_SHAPE_BALL), "ball");
	CHECK_TEXT(dperm_shape_name(DPERM_SHAPE_BOX), "box");
	CHECK_TEXT(dperm_shape_name(DPERM_SHAPE_CROSS), "cross");
	CHECK_TEXT(dperm_shape_name(DPERM_SHAPE_DISCS), "discs");
}
