/*
 * test_coded.c: a pass over coded rows against a pass over the vectors that
 * they stand for, in any grouping, and within the rounding bound of the
 * certificate.
 */
#define TEST_OWN_MAIN
#include "unit/coded.h"

#include "core/solve/sums.h"
#include "unit/problem.h"
#include "unit/vectors.h"

#define ROWS_MAX 700

static SampleEncoder sampled;
static SampleRow row;
static double coded[ROWS_MAX * (SAMPLE_DIM_MAX + 1)];
static double vectors[ROWS_MAX * SAMPLE_DIM_MAX];
static double weights[SAMPLE_DIM_MAX];
static double *plain_room;

/* Coded rows, their vectors, and a point. */
typedef struct Problem
{
	DpermLayout layout;
	Rows		rows;
} Problem;

static Problem
make_problem(TestRandom *state, int64_t count, double norm)
{
	const DpermEncoder *enc = sample_coded_encoder(state, &sampled);
	Problem		problem = {.layout = dperm_layout_make(enc, false),
	.rows = {.loss = {.kind = (DpermLossKind) test_below(state, 3)}, .count = count,
	.data = vectors}};
	const DpermLayout *layout = &problem.layout;

	if (problem.rows.loss.kind != DPERM_LOSS_LOGISTIC)
		problem.rows.loss.h = pow(10, -2 * test_uniform(state));
	problem.rows.dim = layout->dim;
	for (int64_t i = 0; i < count; i++)
	{
		sample_row(state, enc, &row);
		dperm_layout_encode(layout, enc, row.values, test_below(state, 3) - 1, 1,
							coded + i * layout->words);
		decode_row(layout, coded + i * layout->words, vectors + i * layout->dim);
	}
	random_row(state, layout->dim, weights);
	for (int j = 0; j < layout->dim; j++)
		weights[j] *= norm;
	return problem;
}

/* The sums of a finished pass against those over the vectors. */
static void
check_sums(const DpermMoments *m, const DpermMoments *plain, const Rows *rows)
{
	int			dim = plain->dim;
	double		near = 1e-13 * (1 + rows->count) * (rows->loss.h > 0 ? 1 / rows->loss.h : 1);
	/* single precision; a term is no larger than the curvature */
	int64_t		most = rows->count < DPERM_ROUGH_ROWS ? rows->count : DPERM_ROUGH_ROWS;
	double		rough = m->order == DPERM_PASS_ROUGH ? (double) (most + 8) * 0x1p-24 * (1 + 1e-4) * rows->count *
		dperm_loss_bounds(rows->loss).curvature : 0;

	CHECK(m->dim == dim && m->rows == plain->rows);
	CHECK_NEAR(m->value[0] + m->value[1], plain->value[0] + plain->value[1], near * 10);
	for (int j = 0; j < dim; j++)
	{
		CHECK_NEAR(m->gradient[j] + m->gradient_low[j], plain->gradient[j] +
				   plain->gradient_low[j], near);
		for (int i = j; m->hessian && i < dim; i++)
			CHECK_NEAR(dperm_moments_second(m, i, j), dperm_moments_second(plain, i, j),
					   near * (rows->loss.h > 0 ? 10 / rows->loss.h : 1) + rough);
	}
}

/* A pass over vectors. */
static DpermMoments
plain_pass(const Rows *rows, bool hessian)
{
	DpermMoments plain;

	vectors_init(&plain, rows->loss, rows->dim, hessian, weights, plain_room);
	vectors_add(&plain, rows->data, rows->count);
	dperm_moments_flush(&plain);
	return plain;
}

/*
 * Memory of the size that is asked for, so that the sanitizer catches every
 * access beyond it.
 */
static double *
exact_room(int dim, bool hessian)
{
	return malloc(sizeof(double) * dperm_moments_room(dim, 1, hessian));
}

/* All at once, row by row, a few at a time, and with flushes in between. */
TEST(agrees_with_vectors)
{
	TestRandom	state = 71;

	for (int round = 0; round < 2000; round++)
	{
		Problem		problem = make_problem(&state, 1 + test_below(&state, round % 8 ? 40 : ROWS_MAX),
										   round % 2 ? 3 : 0.5);
		const Rows *rows = &problem.rows;
		size_t		words = (size_t) problem.layout.words;
		bool		hessian = round % 4 != 0;
		double	   *room = exact_room(rows->dim, hessian);
		DpermMoments plain = plain_pass(rows, hessian);
		DpermMoments m;
		int64_t		done = 0;

		dperm_moments_start(&m, hessian ? DPERM_PASS_HESSIAN : DPERM_PASS_GRADIENT, rows->loss, &problem.layout, weights, NULL, room);
		vectors_add(&m, coded, rows->count);
		dperm_moments_flush(&m);
		check_sums(&m, &plain, rows);

		dperm_moments_start(&m, !hessian ? DPERM_PASS_GRADIENT : round % 3 ? DPERM_PASS_HESSIAN : DPERM_PASS_ROUGH,
							rows->loss, &problem.layout, weights, NULL, room);
		while (done < rows->count)
		{
			int			some = 1;

			if (test_below(&state, 2))
				dperm_moments_add(&m, coded + done * words, 1, 1);
			else
			{
				some += test_below(&state, (int) (rows->count - done));
				vectors_add(&m, coded + done * words, some);
			}
			done += some;
			if (test_below(&state, 8) == 0)
				dperm_moments_flush(&m);
		}
		dperm_moments_flush(&m);
		check_sums(&m, &plain, rows);
		dperm_moments_flush(&m);
		check_sums(&m, &plain, rows);
		free(room);
	}
}

/* Partial passes of either form merge into the same result. */
TEST(merges)
{
	TestRandom	state = 72;
	static double packed[SAMPLE_DIM_MAX * (SAMPLE_DIM_MAX + 1) / 2];

	for (int round = 0; round < 500; round++)
	{
		Problem		problem = make_problem(&state, 2 + test_below(&state, 300), 1);
		const Rows *rows = &problem.rows;
		int64_t		first = test_below(&state, (int) rows->count);
		double	   *room = exact_room(rows->dim, true);
		double	   *part_room = exact_room(rows->dim, true);
		DpermMoments plain = plain_pass(rows, true);
		DpermPassOrder order = round % 3 ? DPERM_PASS_HESSIAN : DPERM_PASS_ROUGH;
		DpermMoments m;
		DpermMoments part;

		dperm_moments_start(&part, order, rows->loss, &problem.layout, weights, NULL, part_room);
		vectors_add(&part, coded, first);
		dperm_moments_flush(&part);
		dperm_moments_pack(&part, packed);
		dperm_moments_start(&m, order, rows->loss, &problem.layout, weights, NULL, room);
		if (test_below(&state, 2))
			dperm_moments_merge(&m, part.rows, part.value, part.gradient, part.gradient_low,
								packed);
		vectors_add(&m, coded + first * problem.layout.words, rows->count - first);
		if (m.rows < rows->count)
			dperm_moments_merge(&m, part.rows, part.value, part.gradient, part.gradient_low,
								packed);
		dperm_moments_flush(&m);
		check_sums(&m, &plain, rows);
		free(room);
		free(part_room);
	}
}

/* Every step-th row. */
TEST(adds_every_step_th_row)
{
	TestRandom	state = 73;

	for (int round = 0; round < 500; round++)
	{
		Problem		problem = make_problem(&state, 1 + test_below(&state, ROWS_MAX), 1);
		Rows		some = problem.rows;
		int64_t		step = 1 + test_below(&state, round % 3 ? 4 : 100);
		double	   *room = exact_room(some.dim, true);
		DpermMoments plain;
		DpermMoments m;

		some.count = (problem.rows.count + step - 1) / step;
		for (int64_t i = 0; i < some.count; i++)
			memmove(vectors + i * some.dim, vectors + i * step * some.dim,
					sizeof(double) * some.dim);
		plain = plain_pass(&some, true);
		dperm_moments_start(&m, DPERM_PASS_HESSIAN, some.loss, &problem.layout, weights, NULL, room);
		dperm_moments_add(&m, coded, problem.rows.count, step);
		dperm_moments_flush(&m);
		check_sums(&m, &plain, &some);
		free(room);
	}
}

/* The certificate holds for coded rows too. */
TEST(rounds_within_its_bound)
{
	TestRandom	state = 74;
	static long double exact[SAMPLE_DIM_MAX];

	for (int round = 0; round < 1500; round++)
	{
		double		size = pow(10, 10 * test_uniform(&state) - 2);
		Problem		problem = make_problem(&state, 1 + test_below(&state, round % 5 ? 60 : ROWS_MAX),
										   size);
		const Rows *rows = &problem.rows;
		double	   *room = exact_room(rows->dim, false);
		double		norm = 0;
		long double error = 0;
		DpermMoments m;

		/* margins that are the differences of large terms, near the bend */
		for (int j = 0; round % 2 && j < rows->dim; j++)
			weights[j] = (j % 2 ? -1 : 1) * size / sqrt(rows->dim) * (1 + (j == 0) / size);
		for (int j = 0; j < rows->dim; j++)
			norm += weights[j] * weights[j];
		wide_gradient(rows, 0, NULL, weights, exact);
		dperm_moments_start(&m, DPERM_PASS_GRADIENT, rows->loss, &problem.layout, weights, NULL, room);
		vectors_add(&m, coded, rows->count);
		dperm_moments_flush(&m);
		for (int j = 0; j < rows->dim; j++)
		{
			long double off = (m.gradient[j] + m.gradient_low[j]) / (double) m.rows - exact[j];

			error += off * off;
		}
		CHECK(sqrtl(error) <= dperm_moments_rounding(rows->dim, rows->loss, sqrt(norm)));
		free(room);
	}
}

int
main(void)
{
	int			result;

	plain_room = malloc(sizeof(double) * dperm_moments_room(SAMPLE_DIM_MAX, 1, true));
	result = test_main();
	free(plain_room);
	return result;
}
