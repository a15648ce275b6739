/*
 * test_several.c: sums over rows of several classes, in every form of rows,
 * against the definitions in 113 bits, or more.
 */
#include "unit/test.h"

#include "core/solve/sums.h"
#include "unit/classes.h"
#include "unit/fixed.h"

#define ROWS 150
#define UNIT (DBL_EPSILON / 2)

/* Rows of a layout, and weights for them. */
static struct
{
	CodedRows	coded;
	DpermLayout layout;
	int			classes;
	int			dim;			/* weights */
	int			count;
	double		data[ROWS * (CLASSES_DIM + 3)];
	double		weights[CLASSES_DIM * CLASSES_MOST];
	double		low[CLASSES_DIM * CLASSES_MOST];
	double		direction[CLASSES_DIM * CLASSES_MOST];	/* of differences */
	double		norm;			/* of the weights */
} t;

static ClassesSums sums;

static double *
row_at(int i)
{
	return t.data + (size_t) i * (size_t) t.layout.words;
}

/* Any table: vectors wide enough for BLAS, narrow ones, codes and curves; with weights of rows or not. */
static void
make_table(TestRandom *state, int round)
{
	double		scale = pow(10, 3 * test_uniform(state) - 1);

	t.classes = (int[]) {3, 4, 7, CLASSES_MOST}[test_below(state, 4)];
	t.count = 1 + test_below(state, round % 4 ? 30 : ROWS);
	if (round % 3 == 0)
		t.layout = classes_vectors(1 + test_below(state, CLASSES_DIM));
	else
	{
		t.coded.encoder = sample_coded_encoder(state, &t.coded.sampled);
		t.layout = dperm_layout_make(t.coded.encoder, false);
	}
	if (test_below(state, 2))
	{
		t.layout.weighted = true;
		t.layout.words++;
	}
	t.dim = t.layout.dim * t.classes;
	for (int i = 0; i < t.count; i++)
	{
		double		label = test_below(state, t.classes + 1);

		if (round % 3 == 0)
		{
			random_row(state, t.layout.dim, row_at(i));
			row_at(i)[dperm_layout_label(&t.layout)] = label;
		}
		else
		{
			sample_row(state, t.coded.encoder, &t.coded.row);
			dperm_layout_encode(&t.layout, t.coded.encoder, t.coded.row.values, label, 1, row_at(i));
		}
		if (t.layout.weighted)
			row_at(i)[t.layout.words - 1] = test_uniform(state);
	}
	t.norm = 0;
	for (int j = 0; j < t.dim; j++)
	{
		t.weights[j] = scale * (2 * test_uniform(state) - 1);
		t.low[j] = t.weights[j] * 0x1p-54 * test_uniform(state);
		t.direction[j] = 2 * test_uniform(state) - 1;
		t.norm += t.weights[j] * t.weights[j];
	}
	t.norm = sqrt(t.norm);
}

/* The sums by definition. */
static void
sum_exactly(const double *low)
{
	static Quad wide[CLASSES_DIM * CLASSES_MOST];

	memset(&sums, 0, sizeof(sums));
	for (int j = 0; j < t.dim; j++)
		wide[j] = (Quad) t.weights[j] + (low ? (Quad) low[j] : 0);
	for (int i = 0; i < t.count; i++)
		classes_add(&sums, &t.layout, t.classes, row_at(i), wide);
}

/* Room with nothing behind it. */
static double *
room_for(bool hessian)
{
	return malloc(sizeof(double) * dperm_moments_room(t.dim, t.classes, hessian));
}

static DpermLoss
loss_of_table(void)
{
	return classes_loss(t.classes);
}

/* The distance of a sum from what it should be. */
static double
off_by(const double *high, const double *low, const Quad *exact)
{
	double		sum = 0;

	for (int j = 0; j < t.dim; j++)
		sum += pow(quad_size((Quad) high[j] + low[j] - exact[j]), 2);
	return sqrt(sum);
}

TEST(sums_up_gradients)
{
	TestRandom	state = 21;
	int			wide = 0;

	for (int round = 0; round < 240; round++)
	{
		double	   *room;
		DpermMoments m;

		make_table(&state, round);
		room = room_for(false);
		wide += t.layout.dense > 24;
		sum_exactly(NULL);
		dperm_moments_start(&m, DPERM_PASS_GRADIENT, loss_of_table(), &t.layout, t.weights, NULL, room);
		if (round % 2)
			dperm_moments_add(&m, t.data, t.count, 1);
		else
			for (int i = 0; i < t.count; i++)
				dperm_moments_add(&m, row_at(i), 1, 1);
		dperm_moments_flush(&m);
		CHECK(m.rows == t.count);
		CHECK(off_by(m.gradient, m.gradient_low, sums.gradient) <=
			  t.count * dperm_moments_rounding(t.dim, loss_of_table(), t.norm));
		CHECK_NEAR(m.value[0] + m.value[1], (double) sums.value, 1e-13 * (t.norm + 1) * t.count);
		free(room);
	}
	CHECK(wide > 20);
}

TEST(sums_up_in_extended_precision)
{
	TestRandom	state = 22;
	static Fixed exact[CLASSES_DIM * CLASSES_MOST];

	for (int round = 0; round < 60; round++)
	{
		double	   *room;
		DpermMoments m;

		make_table(&state, round);
		room = room_for(false);
		memset(exact, 0, sizeof(exact));
		for (int i = 0; i < t.count; i++)
		{
			double		x[CLASSES_DIM];
			double		label = row_at(i)[dperm_layout_label(&t.layout)];

			classes_vector(&t.layout, row_at(i), x);
			fixed_add_gradient(loss_of_table(), t.layout.dim, x, label,
							   t.layout.weighted ? row_at(i)[t.layout.words - 1] : 1, t.weights, t.low, exact);
		}
		dperm_moments_start(&m, DPERM_PASS_EXTENDED, loss_of_table(), &t.layout, t.weights, t.low, room);
		dperm_moments_add(&m, t.data, t.count, 1);
		dperm_moments_flush(&m);
		CHECK(fixed_off(t.dim, m.gradient, m.gradient_low, exact) <=
			  t.count / 16.0 * dperm_moments_extended_rounding(t.dim, loss_of_table(), t.count, 0, 0, t.norm, 0));
		free(room);
	}
}

/* Traces, and their terms by class, in doubles and in single precision; packed, merged, and as the answer to a question. */
TEST(sums_up_curvatures)
{
	TestRandom	state = 23;

	for (int round = 0; round < 240; round++)
	{
		double	   *room,
				   *other,
				   *packed;
		DpermMoments m,
					rest;
		int			half;
		int			d;
		double		slack;
		DpermPassOrder order;

		make_table(&state, round);
		d = t.layout.dim;
		half = test_below(&state, t.count + 1);
		room = room_for(true);
		other = room_for(true);
		packed = malloc(sizeof(double) * dperm_moments_packed(t.dim, loss_of_table()));
		sum_exactly(NULL);
		slack = t.count * (round % 2 ? 4e-5 : 1e-13 * (1 + t.norm));
		order = round % 2 ? DPERM_PASS_ROUGH : DPERM_PASS_HESSIAN;
		dperm_moments_start(&m, order, loss_of_table(), &t.layout, t.weights, NULL, room);
		dperm_moments_start(&rest, order, loss_of_table(), &t.layout, t.weights, NULL, other);
		dperm_moments_add(&m, t.data, half, 1);
		dperm_moments_add(&rest, row_at(half), t.count - half, 1);
		dperm_moments_flush(&m);
		dperm_moments_flush(&rest);
		dperm_moments_pack(&rest, packed);
		dperm_moments_merge(&m, rest.rows, rest.value, rest.gradient, rest.gradient_low, packed);
		CHECK(off_by(m.gradient, m.gradient_low, sums.gradient) <=
			  t.count * dperm_moments_rounding(t.dim, loss_of_table(), t.norm));
		for (int j = 0; j < d; j++)
			for (int i = j; i < d; i++)
				CHECK_NEAR(dperm_moments_second(&m, i, j), (double) sums.traces[j * d + i], slack);
		for (int k = 0; k < t.classes; k++)
			CHECK_NEAR(m.by_class[k], (double) sums.by_class[k], 1e-13 * (1 + t.norm) * t.count);
		free(room);
		free(other);
		free(packed);
	}
}

/* Answers to questions: means over all rows, or over some. */
TEST(answers_questions)
{
	TestRandom	state = 25;

	for (int round = 0; round < 120; round++)
	{
		double		value;
		double		gradient[CLASSES_DIM * CLASSES_MOST];
		double		hess[CLASSES_DIM * CLASSES_DIM + CLASSES_MOST];
		double	   *chunk = t.data;
		DpermMatrix matrix;
		DpermAsk	ask = {.weights = t.weights, .value = &value, .gradient = gradient};
		double		slack;
		int			d;

		make_table(&state, round);
		d = t.layout.dim;
		matrix = (DpermMatrix) {.loss = loss_of_table(), .dim = t.dim, .layout = &t.layout, .count = t.count,
		.chunk_rows = t.count, .chunks = &chunk, .room = room_for(true)};
		slack = 1e-13 * (1 + t.norm);
		sum_exactly(NULL);
		ask.hess = round % 4 < 2 ? hess : NULL;
		dperm_matrix_answer(&matrix, &ask);
		CHECK_NEAR(value, (double) sums.value / t.count, slack);
		for (int j = 0; j < t.dim; j++)
			CHECK_NEAR(gradient[j], (double) sums.gradient[j] / t.count, slack);
		for (int j = 0; j < d && ask.hess; j++)
			for (int i = j; i < d; i++)
				CHECK_NEAR(hess[j * d + i], (double) sums.traces[j * d + i] / t.count, slack);
		for (int k = 0; k < t.classes && ask.hess; k++)
			CHECK_NEAR(hess[d * d + k], (double) sums.by_class[k] / t.count, slack);
		dperm_matrix_wipe(&matrix);
		for (size_t i = 0; i < dperm_moments_room(t.dim, t.classes, true); i++)
			CHECK(matrix.room[i] == 0);
		free(matrix.room);
	}
}

/* The gradient is that of the value. */
TEST(agrees_with_differences)
{
	TestRandom	state = 26;

	for (int round = 0; round < 60; round++)
	{
		double		value;
		double		values[2];
		double		gradient[CLASSES_DIM * CLASSES_MOST];
		double		unused[CLASSES_DIM * CLASSES_MOST];
		double		moved[CLASSES_DIM * CLASSES_MOST];
		double	   *chunk = t.data;
		double		step = 1e-5;
		double		slope = 0;
		DpermMatrix matrix;
		DpermAsk	ask = {.weights = t.weights, .value = &value, .gradient = gradient};

		make_table(&state, round);
		matrix = (DpermMatrix) {.loss = loss_of_table(), .dim = t.dim, .layout = &t.layout, .count = t.count,
		.chunk_rows = t.count, .chunks = &chunk, .room = room_for(true)};
		dperm_matrix_answer(&matrix, &ask);
		for (int side = 0; side < 2; side++)
		{
			for (int j = 0; j < t.dim; j++)
				moved[j] = t.weights[j] + (side ? step : -step) * t.direction[j];
			ask = (DpermAsk) {.weights = moved, .value = &values[side], .gradient = unused};
			dperm_matrix_answer(&matrix, &ask);
		}
		for (int j = 0; j < t.dim; j++)
			slope += gradient[j] * t.direction[j];
		CHECK_NEAR(slope, (values[1] - values[0]) / (2 * step), 1e-7 * (1 + fabs(slope)));
		free(matrix.room);
	}
}

/* The bounds on rounding, by their terms: all coordinates of a block count, not all weights. */
TEST(bounds_rounding_by_blocks)
{
	DpermLoss	loss = classes_loss(10);
	double		u = DPERM_ROUNDING_UNIT;
	double		norm = sqrt(2);

	CHECK_NEAR(dperm_moments_rounding(500, loss, 8), u * (0.5 * ((50 + 16) * 8 + 2) + 36 + 100 * norm), 1e-12 * u);
	CHECK_NEAR(dperm_moments_extended_rounding(500, loss, 1 << 20, 0, 0.25, 8, 3),
			   0x1p-93 + 0x1p-100 * ((0.5 * 54 / 16 + 0.25) * 8 + 3 + norm * 502 + 10 / 16.0), 1e-40);
}
