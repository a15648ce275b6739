/*
 * test_compact.c: rows in their compact form: their error, that no other memory
 * is written or read, and passes over them against passes over the vectors they
 * stand for.
 */
#define TEST_OWN_MAIN
#include "unit/coded.h"

#include <float.h>

#include "core/encode/compact.h"
#include "core/solve/matrix.h"
#include "unit/problem.h"
#include "unit/vectors.h"

#define ROWS_MAX 700
#define DIM_MAX SAMPLE_DIM_MAX

static CodedRows coded;
static double vectors[ROWS_MAX * DIM_MAX];
static double weights[DIM_MAX];
static double *plain_room;

/*
 * Numbers within half a unit, codes as they were; the padding is zero, and a
 * row ends where it says.
 */
TEST(keeps_rows_within_half_a_unit)
{
	TestRandom	state = 111;

	for (int round = 0; round < 3000; round++)
	{
		DpermLayout layout = any_layout(&state, &coded, round);
		int			words = dperm_compact_words(&layout);
		double	   *wide = calloc((size_t) layout.words, sizeof(double));
		double	   *back = calloc((size_t) layout.words, sizeof(double));
		float	   *single = calloc(dperm_compact_single(&layout), sizeof(float));
		double		entries[SAMPLE_DIM_MAX];
		double	   *compact = malloc(sizeof(double) * words);
		double	   *again = malloc(sizeof(double) * words);

		any_row(&state, &coded, &layout, wide);
		if (round % 7 == 0 && layout.dense > 0)
			wide[test_below(&state, layout.dense)] = round % 2 ? 1 : -1;
		memset(compact, 0x5a, sizeof(double) * words);
		memset(again, 0xa5, sizeof(double) * words);
		dperm_compact_put(&layout, wide, compact);
		dperm_compact_put(&layout, wide, again);
		CHECK(memcmp(compact, again, sizeof(double) * words) == 0);
		CHECK(words * 4 >= layout.dense + layout.codes + 2 * layout.curves);
		CHECK(words <= layout.words);
		dperm_compact_get(&layout, compact, (size_t) words, 1, back);
		dperm_compact_get_single(&layout, compact, (size_t) words, 1, single);
		for (int j = 0; j < layout.dense; j++)
		{
			CHECK(fabs(back[j] - wide[j]) <= 0.5 / 32767 + 2 * FLT_EPSILON);
			CHECK(fabs(back[j]) <= 1 && back[j] == single[j]);
		}
		dperm_compact_get_entries(&layout, compact, (size_t) words, 1, entries);
		for (int j = 0; j < layout.curves; j++)
		{
			CHECK(fabs(back[layout.dense + j] - wide[layout.dense + j]) <=
				  0.5 / 32767 + 2 * FLT_EPSILON);
			CHECK(back[layout.dense + j] == entries[j]);
		}
		CHECK(memcmp(dperm_row_codes(&layout, wide), dperm_row_codes(&layout, back),
					 sizeof(double) * (layout.words - layout.dense - layout.curves)) == 0);
		free(wide);
		free(back);
		free(single);
		free(compact);
		free(again);
	}
}

/* Labels that are numbers, within half a unit, and those that are none. */
TEST(keeps_labels_that_are_numbers)
{
	TestRandom	state = 112;

	for (int round = 0; round < 3000; round++)
	{
		DpermLayout layout = any_layout(&state, &coded, round);
		double	   *wide = calloc((size_t) layout.words, sizeof(double));
		double	   *back = calloc((size_t) layout.words, sizeof(double));
		double	   *compact = malloc(sizeof(double) * dperm_compact_words(&layout));
		double	   *label;

		layout.label = DPERM_LABEL_NUMBER;
		any_row(&state, &coded, &layout, wide);
		if (layout.labelled)
		{
			label = wide + dperm_layout_label(&layout);
			*label = round % 5 == 0 ? 2 : round % 5 == 1 ? 1 : round % 5 == 2 ? -1 : 2 * test_uniform(&state) - 1;
			dperm_compact_put(&layout, wide, compact);
			dperm_compact_get(&layout, compact, (size_t) dperm_compact_words(&layout), 1, back);
			CHECK(fabs(back[dperm_layout_label(&layout)] - *label) <= 0.5 / 32767 + 1e-15);
			CHECK(dperm_label_kind_has(DPERM_LABEL_NUMBER, back[dperm_layout_label(&layout)]) == (*label <= 1));
			CHECK(dperm_compact_label(&layout, compact) == back[dperm_layout_label(&layout)]);
		}
		free(wide);
		free(back);
		free(compact);
	}
}

/*
 * Means over rows in their compact form, against those over the vectors they
 * stand for.
 */
TEST(passes_over_compact_rows)
{
	TestRandom	state = 112;

	for (int round = 0; round < 1000; round++)
	{
		DpermLayout layout = any_layout(&state, &coded, round);
		int64_t		count = 1 + test_below(&state, round % 8 ? 60 : ROWS_MAX);
		size_t		words = (size_t) dperm_compact_words(&layout);
		double	   *compact = malloc(sizeof(double) * words * count);
		double	   *wide = malloc(sizeof(double) * layout.words);
		DpermLoss	loss = {.kind = (DpermLossKind) (round % 3)};
		DpermMatrix matrix = {.dim = layout.dim, .layout = &layout, .count = count, .chunk_rows = count,
			.chunks = &compact, .compact = true};
		DpermMoments plain;
		size_t		dim = (size_t) layout.dim;
		double		value[2];
		double		near;
		double	   *expected = malloc(sizeof(double) * (dim + dim * dim));
		double	   *got = malloc(sizeof(double) * (dim + dim * dim));

		if (loss.kind != DPERM_LOSS_LOGISTIC)
			loss.h = 0.1 + 0.9 * test_uniform(&state);
		near = 1e-13 * (loss.h > 0 ? 10 / loss.h / loss.h : 1);
		for (int64_t i = 0; i < count; i++)
		{
			any_row(&state, &coded, &layout, wide);
			dperm_compact_put(&layout, wide, compact + i * words);
			dperm_compact_get(&layout, compact + i * words, words, 1, wide);
			decode_row(&layout, wide, vectors + i * layout.dim);
		}
		random_row(&state, layout.dim, weights);
		for (int j = 0; j < layout.dim; j++)
			weights[j] *= 3;
		vectors_init(&plain, loss, layout.dim, true, weights, plain_room);
		vectors_add(&plain, vectors, count);
		dperm_matrix_means(&plain, (double) plain.rows, &(DpermAsk) {.value = &value[0], .gradient = expected, .hess = expected + dim});

		matrix.loss = loss;
		for (int way = 0; way < 4; way++)
		{
			bool		hessian = way % 2;
			double		slack = near;

			/*
			 * memory of the size that is asked for, so that the sanitizer
			 * catches every access beyond it
			 */
			matrix.room = malloc(sizeof(double) * dperm_moments_room(layout.dim, 1, hessian));
			matrix.single = way >= 2;
			if (matrix.single && !hessian)
				slack += 1e-6 * (1 + dperm_loss_bounds(loss).curvature);
			matrix_eval(&matrix, weights, &value[1], got, hessian ? got + dim : NULL);
			CHECK_NEAR(value[1], value[0], 10 * slack);
			for (size_t j = 0; j < dim; j++)
			{
				CHECK_NEAR(got[j], expected[j], slack);
				for (size_t i = j; hessian && i < dim; i++)
					CHECK_NEAR(got[dim + j * dim + i], expected[dim + j * dim + i], near);
			}
			free(matrix.room);
		}
		free(compact);
		free(wide);
		free(expected);
		free(got);
	}
}

int
main(void)
{
	int			result;

	plain_room = malloc(sizeof(double) * dperm_moments_room(DIM_MAX, 1, true));
	result = test_main();
	free(plain_room);
	return result;
}
