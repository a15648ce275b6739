/*
 * test_moments.c: one pass against a plain loop in long double, in any
 * grouping, and the rounding bound that the certificate depends on.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include <float.h>
#include <stdlib.h>

#include "core/base/core.h"
#include "core/solve/sums.h"
#include "unit/problem.h"
#include "unit/vectors.h"

#define DIM_MAX 300
#define ROWS_MAX 1000
#define EQUAL_ROWS 4096

static double *data;
static double *room;
static double *other_room;
static double weights[DIM_MAX];

/* The result of a plain loop. */
typedef struct Naive
{
	long double value;
	long double gradient[DIM_MAX];
	long double hess[20 * 20];
	long double sizes[20 * 20];	/* the terms of hess without their signs */
} Naive;

static Naive naive;

static void
naive_pass(const Rows *rows, bool hessian)
{
	int			dim = rows->dim;

	memset(&naive, 0, sizeof(naive));
	for (int64_t i = 0; i < rows->count; i++)
	{
		const double *row = rows->data + i * dim;
		long double margin = 0;
		WideLoss	at;

		for (int j = 0; j < dim; j++)
			margin += (long double) row[j] * weights[j];
		at = wide_loss(rows->loss, margin);
		naive.value += at.value;
		for (int j = 0; j < dim; j++)
		{
			naive.gradient[j] += at.slope * row[j];
			for (int k = 0; hessian && k < dim; k++)
			{
				naive.hess[j * dim + k] += at.curve * row[j] * row[k];
				naive.sizes[j * dim + k] += at.curve * fabs(row[j] * row[k]);
			}
		}
	}
}

/* A problem with weights of a given norm. */
static Rows
make_problem(TestRandom *state, int dim, int64_t count, double norm)
{
	Rows		rows = {.loss = {.kind = (DpermLossKind) test_below(state, 3)}, .dim = dim,
	.count = count, .data = data};

	if (rows.loss.kind != DPERM_LOSS_LOGISTIC)
		rows.loss.h = pow(10, -2 * test_uniform(state));
	make_rows(state, (Shape) test_below(state, SHAPES), &rows);
	random_row(state, dim, weights);
	for (int j = 0; j < dim; j++)
		weights[j] *= norm;
	return rows;
}

/* Sums of a finished pass against the plain loop. */
static void
check_sums(const DpermMoments *m, const Rows *rows)
{
	int			dim = m->dim;
	double		near = 1e-12 * rows->count * (rows->loss.h > 0 ? 1 / rows->loss.h : 1);

	CHECK(m->rows == rows->count);
	CHECK_NEAR(m->value[0] + m->value[1], (double) naive.value, near * 10);
	for (int j = 0; j < dim; j++)
	{
		CHECK_NEAR(m->gradient[j] + m->gradient_low[j], (double) naive.gradient[j], near);
		for (int i = j; m->hessian && i < dim; i++)
			CHECK_NEAR(dperm_moments_second(m, i, j), (double) naive.hess[i * dim + j],
					   near * (rows->loss.h > 0 ? 10 / rows->loss.h : 1));
	}
}

/* All at once, row by row, and in pieces merged in another order. */
TEST(agrees_with_a_plain_loop)
{
	TestRandom	state = 41;
	static double packed[20 * 21 / 2];

	for (int round = 0; round < 300; round++)
	{
		int			dim = 1 + test_below(&state, 20);
		int64_t		count = 1 + test_below(&state, round % 3 ? 50 : 700);
		Rows		rows = make_problem(&state, dim, count, round % 2 ? 3 : 0.5);
		bool		hessian = round % 4 != 0;
		DpermMoments m;
		DpermMoments part;
		int64_t		done = 0;

		/*
		 * exactly the memory it asks for, so that the sanitizer catches every
		 * access beyond it
		 */
		free(room);
		room = malloc(sizeof(double) * dperm_moments_room(dim, 1, hessian));
		naive_pass(&rows, hessian);
		vectors_init(&m, rows.loss, dim, hessian, weights, room);
		vectors_add(&m, rows.data, count);
		dperm_moments_flush(&m);
		check_sums(&m, &rows);

		vectors_init(&m, rows.loss, dim, hessian, weights, room);
		for (int64_t i = 0; i < count; i++)
			dperm_moments_add(&m, rows.data + i * dim, 1, 1);
		CHECK(m.rows == count);
		dperm_moments_flush(&m);
		dperm_moments_flush(&m);
		check_sums(&m, &rows);

		/* pieces of random size, some of them empty, some fed row by row */
		vectors_init(&m, rows.loss, dim, hessian, weights, room);
		while (done < count)
		{
			int64_t		some = test_below(&state, (int) (count - done) + 1);

			vectors_init(&part, rows.loss, dim, hessian, weights, other_room);
			if (test_below(&state, 2))
				vectors_add(&part, rows.data + done * dim, some);
			else
				for (int64_t i = done; i < done + some; i++)
					dperm_moments_add(&part, rows.data + i * dim, 1, 1);
			dperm_moments_flush(&part);
			if (hessian)
				dperm_moments_pack(&part, packed);
			dperm_moments_merge(&m, part.rows, part.value, part.gradient, part.gradient_low,
								hessian ? packed : NULL);
			done += some;
		}
		check_sums(&m, &rows);
	}
	free(room);
	room = malloc(sizeof(double) * dperm_moments_room(DIM_MAX, 1, true));
}

/*
 * A rough pass against the plain loop, within the rounding of single precision
 * in any order of summation.
 */
static void
check_rough(const Rows *rows)
{
	int			dim = rows->dim;
	int64_t		most = rows->count < DPERM_ROUGH_ROWS ? rows->count : DPERM_ROUGH_ROWS;
	double		unit = (double) (most + 8) * FLT_EPSILON / 2 * (1 + 1e-4);
	DpermLayout layout = dperm_layout_dense(dim);
	DpermMoments m;

	naive_pass(rows, true);
	dperm_moments_start(&m, DPERM_PASS_ROUGH, rows->loss, &layout, weights, NULL, room);
	vectors_add(&m, rows->data, rows->count);
	dperm_moments_flush(&m);

	/* the rest is as exact as ever */
	CHECK_NEAR(m.value[0] + m.value[1], (double) naive.value, 1e-10 * rows->count);
	for (int j = 0; j < dim; j++)
	{
		CHECK_NEAR(m.gradient[j] + m.gradient_low[j], (double) naive.gradient[j],
				   1e-12 * rows->count * dperm_loss_bounds(rows->loss).curvature + 1e-12);
		/* numbers too small for single precision, and the sums in double */
		for (int i = j; i < dim; i++)
			CHECK_NEAR(dperm_moments_second(&m, i, j), (double) naive.hess[j * dim + i],
					   unit * (double) naive.sizes[j * dim + i] +
					   1e-12 * rows->count * dperm_loss_bounds(rows->loss).curvature);
	}
}

TEST(makes_rough_hessians_that_are_near)
{
	TestRandom	state = 24;

	for (int round = 0; round < 60; round++)
	{
		int			dim = 1 + test_below(&state, 20);
		Rows		rows = make_problem(&state, dim, 1 + test_below(&state, ROWS_MAX), 1);

		check_rough(&rows);
	}

	/*
	 * equal rows: a plain sum repeats the same rounding error again and again
	 */
	for (int round = 0; round < 60; round++)
	{
		Rows		rows = {.loss = {.kind = DPERM_LOSS_LOGISTIC}, .dim = 1, .count = EQUAL_ROWS, .data = data};

		weights[0] = test_uniform(&state);
		data[0] = 0.5 + 0.5 * test_uniform(&state);
		for (int i = 1; i < EQUAL_ROWS; i++)
			data[i] = data[0];
		check_rough(&rows);
	}
}

TEST(packs_the_lower_triangle)
{
	double		rows[2] = {0.5, 0.25};
	double		packed[3];
	double		zero[2] = {0, 0};
	DpermMoments m;

	CHECK(dperm_moments_packed(1, (DpermLoss) {0}) == 1 && dperm_moments_packed(2, (DpermLoss) {0}) == 3 && dperm_moments_packed(5000, (DpermLoss) {0}) == 12502500);
	vectors_init(&m, (DpermLoss) {DPERM_LOSS_LOGISTIC, 0}, 2, true, zero, room);
	vectors_add(&m, rows, 1);
	dperm_moments_flush(&m);
	dperm_moments_pack(&m, packed);
	CHECK_NEAR(packed[0], 0.0625, 1e-16);
	CHECK_NEAR(packed[1], 0.03125, 1e-16);
	CHECK_NEAR(packed[2], 0.015625, 1e-16);
	CHECK_NEAR(m.gradient[0], -0.25, 1e-16);
	CHECK_NEAR(m.value[0], log(2), 1e-16);
}

/* An empty pass is all zeros, and stays so when merged with another. */
TEST(takes_no_rows)
{
	DpermMoments m;
	double		zero[3] = {0};
	double		packed[6];

	vectors_init(&m, (DpermLoss) {DPERM_LOSS_LOGISTIC, 0}, 3, true, zero, room);
	dperm_moments_flush(&m);
	vectors_add(&m, data, 0);
	dperm_moments_pack(&m, packed);
	dperm_moments_merge(&m, 0, m.value, zero, zero, packed);
	CHECK(m.rows == 0 && m.value[0] == 0 && m.value[1] == 0);
	for (int i = 0; i < 3; i++)
		CHECK(m.gradient[i] == 0 && m.gradient_low[i] == 0);
	for (int i = 0; i < 6; i++)
		CHECK(packed[i] == 0);
}

/* The low part of a sum survives a merge, from either side. */
TEST(merges_low_parts)
{
	double		zero[1] = {0};
	double		hess[1] = {0};
	DpermMoments m;

	vectors_init(&m, (DpermLoss) {DPERM_LOSS_LOGISTIC, 0}, 1, true, zero, room);
	dperm_moments_merge(&m, 1, (double[]) {1e17, 0.25}, (double[]) {1e17}, (double[]) {0.5}, hess);
	dperm_moments_merge(&m, 1, (double[]) {3, 0.125}, (double[]) {5, 0}, (double[]) {0.125}, hess);
	dperm_moments_merge(&m, 1, (double[]) {-1e17, 1}, (double[]) {-1e17}, (double[]) {2}, hess);
	CHECK(m.value[0] + m.value[1] == 4.375);
	CHECK(m.gradient[0] + m.gradient_low[0] == 7.625);
	CHECK(m.rows == 3);
}

/* |computed - exact| of the mean gradient, as a vector. */
static long double
gradient_error(const DpermMoments *m)
{
	long double sum = 0;

	for (int j = 0; j < m->dim; j++)
	{
		long double off = (m->gradient[j] + m->gradient_low[j]) / (double) m->rows -
			naive.gradient[j] / m->rows;

		sum += off * off;
	}
	return sqrtl(sum);
}

TEST(rounds_within_its_bound)
{
	TestRandom	state = 43;

	for (int round = 0; round < 400; round++)
	{
		int			dim = 1 + test_below(&state, round % 10 ? 10 : DIM_MAX);
		double		norm = pow(10, 10 * test_uniform(&state) - 2);
		Rows		rows = make_problem(&state, dim, 1 + test_below(&state, ROWS_MAX), norm);
		DpermMoments m;

		/*
		 * rows whose margin is the difference of two large terms, near the bend
		 */
		if (round % 2 && dim > 1)
			for (int64_t i = 0; i < rows.count; i++)
			{
				double	   *row = rows.data + i * dim;

				for (int j = 0; j < dim; j++)
					row[j] = 0.7 / sqrt(dim) * (1 + 1e-3 * row[j]);
				for (int j = 0; j < dim; j++)
					weights[j] = (j % 2 ? -1 : 1) * norm / sqrt(dim) * (1 + (j == 0) / norm);
			}
		norm = 0;
		for (int j = 0; j < dim; j++)
			norm += weights[j] * weights[j];
		naive_pass(&rows, false);
		vectors_init(&m, rows.loss, dim, false, weights, room);
		vectors_add(&m, rows.data, rows.count);
		dperm_moments_flush(&m);
		CHECK(gradient_error(&m) <=
			  dperm_moments_rounding(dim, rows.loss, sqrt(norm)));
	}
}

/*
 * A million rows that cancel: the error of the mean does not grow with their
 * number.
 */
TEST(rounds_within_its_bound_over_many_rows)
{
	static const DpermLoss losses[] = {{DPERM_LOSS_LOGISTIC, 0}, {DPERM_LOSS_HUBER, 0.01}};
	static double block[512 * 2];

	for (int l = 0; l < 2; l++)
		for (int kind = 0; kind < 3; kind++)
		{
			Rows		rows = {.loss = losses[l], .dim = 2, .count = 512, .data = block};
			double		bound = dperm_moments_rounding(2, losses[l], 1);
			DpermMoments m;

			weights[0] = 0.6;
			weights[1] = -0.7999999;
			for (int i = 0; i < 512; i++)
			{
				double		side = kind == 0 ? (i % 2 ? 1 : -1) : kind == 1 ? (i < 256 ? 1 : -1) : 1;

				block[2 * i] = side * (0.999 - 1e-7 * i) * 0.7;
				block[2 * i + 1] = -side * (0.7 + 1e-9 * i);
			}
			naive_pass(&rows, false);
			vectors_init(&m, rows.loss, 2, false, weights, room);
			for (int k = 0; k < 2000; k++)
				vectors_add(&m, block, 512);
			dperm_moments_flush(&m);
			CHECK(m.rows == 1024000);
			for (int j = 0; j < 2; j++)
				naive.gradient[j] *= 2000;
			CHECK(gradient_error(&m) <= bound);
			CHECK(gradient_error(&m) <= 3e-14L);

			/* plain sums of a million equal terms would be off by far more */
			CHECK_NEAR(m.value[0] + m.value[1], (double) (naive.value * 2000), 1e-7);
		}
}

/*
 * However rows arrive, there are few pieces: two, one after the other, have more rows
 * than the most of one. The bound allows 2^28 of them, of 2^33 rows.
 */
TEST(has_few_pieces)
{
	TestRandom	state = 47;

	for (int round = 0; round < 60; round++)
	{
		int			dim = 1 + test_below(&state, round % 3 ? 10 : DIM_MAX);
		Rows		rows = make_problem(&state, dim, 200, 1);
		int			most = round % 2 ? 3 : 200;
		int64_t		count = 0;
		int64_t		pieces = 0;
		DpermMoments m;

		vectors_init(&m, rows.loss, dim, false, weights, room);
		for (int i = 0; i < 400; i++)
		{
			int			some = 1 + test_below(&state, most);

			for (int64_t left = some; left > 0; left -= m.batch_rows)
			{
				int			before = m.piece_rows;

				vectors_add(&m, rows.data, left < m.batch_rows ? left : m.batch_rows);
				CHECK(m.piece_rows <= DPERM_PIECE_ROWS);
				pieces += m.piece_rows <= before;
			}
			count += some;
		}
		CHECK(m.rows == count);
		CHECK(pieces <= 2 * count / DPERM_PIECE_ROWS + 1);
	}
}

/*
 * The bound depends on what it should: it is not a constant that happens to be
 * large.
 */
TEST(states_a_bound_that_scales)
{
	const DpermLoss one = {DPERM_LOSS_HUBER, 0.5};
	const DpermLoss fifty = {DPERM_LOSS_HUBER, 0.01};
	const DpermLoss most = {DPERM_LOSS_SMOOTH_HINGE, 0.01};
	double		base = dperm_moments_rounding(10, one, 1);

	CHECK(base >= 48 * DBL_EPSILON && base <= 500 * DBL_EPSILON);
	CHECK(dperm_moments_rounding(10, one, 1e6) >= 0.5 * 10e6 * DBL_EPSILON / 4);
	CHECK(dperm_moments_rounding(10, fifty, 1) >= base + 49 * DBL_EPSILON * 5);
	CHECK(dperm_moments_rounding(5000, most, 1e10) >= 5000 * 75 * 1e10 * DBL_EPSILON / 8);
}

int
main(void)
{
	int			result;

	data = malloc(sizeof(double) * DIM_MAX * ROWS_MAX);
	room = malloc(sizeof(double) * dperm_moments_room(DIM_MAX, 1, true));
	other_room = malloc(sizeof(double) * dperm_moments_room(DIM_MAX, 1, true));
	result = test_main();
	free(data);
	free(room);
	free(other_room);
	return result;
}
