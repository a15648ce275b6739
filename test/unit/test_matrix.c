/*
 * test_matrix.c: rows in memory as an oracle: in chunks, all of them or every
 * step-th, against a plain pass over the rows that count.
 */
#define TEST_OWN_MAIN
#include "unit/coded.h"

#include "core/solve/sums.h"
#include "host.h"
#include "unit/problem.h"
#include "unit/vectors.h"

#define ROWS_MAX 3000
#define DIM_MAX SAMPLE_DIM_MAX
#define CHUNKS_MAX 512

static SampleEncoder sampled;
static SampleRow row;
static double vectors[ROWS_MAX * DIM_MAX];
static double chosen[ROWS_MAX * DIM_MAX];
static double weights[DIM_MAX];
static double *chunks[CHUNKS_MAX];
static double *plain_room;

/* The answer of an oracle. */
typedef struct Answer
{
	double		value;
	double		gradient[DIM_MAX];
	double		hess[DIM_MAX * DIM_MAX];
} Answer;

static Answer got;
static Answer expected;

/* Means over some vectors. */
static void
plain_means(DpermLoss loss, int dim, int64_t count)
{
	DpermMoments m;

	vectors_init(&m, loss, dim, true, weights, plain_room);
	vectors_add(&m, chosen, count);
	dperm_matrix_means(&m, (double) m.rows, &(DpermAsk) {.value = &expected.value, .gradient = expected.gradient,
						.hess = expected.hess});
}

/* Query a matrix, with and without a Hessian. */
static void
check_matrix(DpermMatrix *matrix)
{
	int			dim = matrix->dim;
	double		near = 1e-13 * (matrix->loss.h > 0 ? 1 / matrix->loss.h : 1);

	for (int hessian = 0; hessian < 2; hessian++)
	{
		memset(&got, 0x5a, sizeof(got));
		matrix_eval(matrix, weights, &got.value, got.gradient,
								hessian ? got.hess : NULL);
		CHECK_NEAR(got.value, expected.value, near * 10);
		for (int j = 0; j < dim; j++)
		{
			CHECK_NEAR(got.gradient[j], expected.gradient[j], near);
			for (int i = j; hessian && i < dim; i++)
				CHECK_NEAR(got.hess[j * dim + i], expected.hess[j * dim + i],
						   near * (matrix->loss.h > 0 ? 10 / matrix->loss.h : 1));
		}
	}
}

/* The rows at multiples of step in each chunk. */
static int64_t
choose(int dim, int64_t count, int64_t chunk_rows, int64_t step)
{
	int64_t		left = 0;

	for (int64_t i = 0; i < count; i++)
		if (i % chunk_rows % step == 0)
			memcpy(chosen + dim * left++, vectors + dim * i, sizeof(double) * dim);
	return left;
}

/* A loss of any kind. */
static DpermLoss
any_loss(TestRandom *state)
{
	DpermLoss	loss = {.kind = (DpermLossKind) test_below(state, 3)};

	if (loss.kind != DPERM_LOSS_LOGISTIC)
		loss.h = 0.1 + test_uniform(state) * 0.9;
	return loss;
}

/* Encoded rows, coded or not: all of them, every second, ... */
TEST(reads_encoded_rows)
{
	TestRandom	state = 91;

	for (int round = 0; round < 300; round++)
	{
		const DpermEncoder *enc = sample_coded_encoder(&state, &sampled);
		DpermLayout layout = dperm_layout_make(enc, false);
		int64_t		rows = 1 + test_below(&state, round % 5 ? 200 : ROWS_MAX);
		int64_t		chunk_rows = 8 << test_below(&state, 8);
		int			chunk_count = 0;
		DpermMatrix matrix = {.loss = any_loss(&state), .dim = layout.dim, .layout = &layout, .count = rows,
			.chunk_rows = chunk_rows, .chunks = chunks
		};

		for (int64_t i = 0; i < rows; i++)
		{
			double	   *place;

			if (i % chunk_rows == 0)
				chunks[chunk_count++] = malloc(sizeof(double) * layout.words * chunk_rows);
			place = chunks[i / chunk_rows] + i % chunk_rows * layout.words;
			sample_row(&state, enc, &row);
			dperm_layout_encode(&layout, enc, row.values, test_below(&state, 3) - 1, 1, place);
			decode_row(&layout, place, vectors + layout.dim * i);
		}
		random_row(&state, layout.dim, weights);
		matrix.room = malloc(sizeof(double) * dperm_moments_room(layout.dim, 1, true));
		plain_means(matrix.loss, layout.dim, choose(layout.dim, rows, chunk_rows, 1));
		check_matrix(&matrix);
		for (int64_t step = 1; step <= 2 * chunk_rows; step *= 2)
		{
			matrix.step = step;
			plain_means(matrix.loss, layout.dim, choose(layout.dim, rows, chunk_rows, step));
			check_matrix(&matrix);
		}
		free(matrix.room);
		while (chunk_count > 0)
			free(chunks[--chunk_count]);
	}
}

/* Vectors in plain chunks of any size, with any step. */
TEST(reads_plain_chunks)
{
	TestRandom	state = 92;

	for (int round = 0; round < 300; round++)
	{
		Rows		rows = {.loss = any_loss(&state), .dim = 1 + test_below(&state, 12),
		.count = 1 + test_below(&state, 500), .data = vectors};
		int64_t		chunk_rows = rows.count / CHUNKS_MAX + 1 + test_below(&state, 600);
		int64_t		step = 1 + test_below(&state, 20);
		DpermMatrix matrix = {.loss = rows.loss, .dim = rows.dim, .count = rows.count,
			.chunk_rows = chunk_rows, .chunks = chunks
		};

		make_rows(&state, (Shape) (round % SHAPES), &rows);
		for (int64_t i = 0; i * chunk_rows < rows.count; i++)
			chunks[i] = vectors + i * chunk_rows * rows.dim;
		random_row(&state, rows.dim, weights);
		matrix.room = malloc(sizeof(double) * dperm_moments_room(rows.dim, 1, true));
		plain_means(rows.loss, rows.dim, choose(rows.dim, rows.count, chunk_rows, 1));
		check_matrix(&matrix);
		matrix.step = step;
		plain_means(rows.loss, rows.dim, choose(rows.dim, rows.count, chunk_rows, step));
		check_matrix(&matrix);
		free(matrix.room);
	}
}

/* A pass over many rows can be interrupted in between. */
TEST(polls)
{
	static double zeros[ROWS_MAX * DIM_MAX];
	double	   *chunk = zeros;
	int			polls = 0;
	DpermMatrix matrix = {.dim = DIM_MAX, .count = ROWS_MAX, .chunk_rows = ROWS_MAX,
		.chunks = &chunk
	};

	matrix.room = malloc(sizeof(double) * dperm_moments_room(DIM_MAX, 1, true));
	test_host_poll = test_host_count_poll;
	test_host_poll_arg = &polls;
	matrix_eval(&matrix, weights, &got.value, got.gradient, NULL);
	test_host_poll = NULL;
	CHECK(polls >= ROWS_MAX / DPERM_BATCH_ROWS);
	free(matrix.room);
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
