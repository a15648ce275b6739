/*
 * spaces.h: the ways from values to rows that the density is maximised over.
 */
#ifndef DPERM_TEST_SPACES_H
#define DPERM_TEST_SPACES_H

#include "core/encode/encoder.h"
#include "core/loss/loss.h"
#include "core/mechanism/noise.h"
#include "unit/test.h"

#define DIM_MAX 9				/* weights */
#define INPUTS_MAX 4			/* numbers behind a row: its values, and its label */
#define BLOCKS_MAX 2

/* How the values of a row become a vector. */
typedef struct Space
{
	const char *name;
	DpermEncoder encoder;
	double	   *frequencies;
	int			inputs;
	int			dim;
	const DpermNoise *noise;	/* in its shapes; NULL where the ball is as good */
	const DpermNoise *gaussian; /* the same with a delta */
} Space;

#define NUMBER {.kind = DPERM_BLOCK_NUMBER, .low = -2, .high = 6, .count = 1}
#define CURVE(n) {.kind = DPERM_BLOCK_NUMBER, .low = -2, .high = 6, .count = n}
#define CATEGORY(n) {.kind = DPERM_BLOCK_CATEGORY, .count = n}
#define VECTOR(n) {.kind = DPERM_BLOCK_VECTOR, .count = n, .norm = 3}
#define BOX(n) {.kind = DPERM_BLOCK_BOX, .low = -2, .high = 6, .count = n}
#define CURVES(n, knots) {.kind = DPERM_BLOCK_BOX, .low = -2, .high = 6, .count = n * knots, .each = knots}
#define BLOCKS(n, ...) .block_count = n, .blocks = (const DpermBlock[]) {__VA_ARGS__}
#define KERNEL(which, n) .kernel = {.kind = which, .gamma = 0.7, .features = n, .seed = 1}

static Space spaces[] = {
	{.name = "short vector", .encoder = {BLOCKS(1, VECTOR(1))}},
	{.name = "vector", .encoder = {BLOCKS(1, VECTOR(2))}},
	{.name = "vector, intercept", .encoder = {BLOCKS(1, VECTOR(1)), .intercept = true}},
	{.name = "number, intercept", .encoder = {BLOCKS(1, NUMBER), .intercept = true}},
	{.name = "two numbers", .encoder = {BLOCKS(2, NUMBER, NUMBER)}},
	{.name = "category", .encoder = {BLOCKS(1, CATEGORY(2))}},
	{.name = "category, number, intercept", .encoder = {BLOCKS(2, CATEGORY(2), NUMBER), .intercept = true}},
	{.name = "category of 8, number", .encoder = {BLOCKS(2, CATEGORY(8), NUMBER)}},
	{.name = "curve", .encoder = {BLOCKS(1, CURVE(2))}},
	{.name = "curve of 4 knots, number", .encoder = {BLOCKS(2, CURVE(4), NUMBER)}},
	{.name = "vector of 2 curves", .encoder = {BLOCKS(1, CURVES(2, 3))}},
	{.name = "vector of 2, intercept", .encoder = {BLOCKS(1, VECTOR(2)), .intercept = true}},
	{.name = "vector with bounds, number", .encoder = {BLOCKS(2, BOX(2), NUMBER)}},
	{.name = "gaussian kernel of 4 features", .encoder = {BLOCKS(1, NUMBER), KERNEL(DPERM_KERNEL_GAUSSIAN, 4)}},
	{.name = "gaussian kernel", .encoder = {BLOCKS(1, VECTOR(2)), KERNEL(DPERM_KERNEL_GAUSSIAN, 2)}},
	{.name = "laplacian kernel", .encoder = {BLOCKS(2, NUMBER, CATEGORY(1)), KERNEL(DPERM_KERNEL_LAPLACIAN, 2)}},
	{.name = "matern kernel, intercept", .encoder = {BLOCKS(1, NUMBER), .intercept = true, KERNEL(DPERM_KERNEL_MATERN, 2)}}
};

#define SPACES ((int) (sizeof(spaces) / sizeof(spaces[0])))

/* Dimensions, frequencies and noise. */
static inline void
prepare_spaces(void)
{
	for (int i = 0; i < SPACES; i++)
	{
		Space	   *s = &spaces[i];
		DpermShape	shapes[BLOCKS_MAX + 1];
		int			count;

		CHECK(dperm_encoder_fault(&s->encoder) == NULL);
		s->dim = dperm_encoder_dim(&s->encoder);
		s->inputs = 1;
		for (int j = 0; j < s->encoder.block_count; j++)
			s->inputs += s->encoder.blocks[j].kind == DPERM_BLOCK_VECTOR || s->encoder.blocks[j].kind == DPERM_BLOCK_BOX ?
				dperm_block_elements(&s->encoder.blocks[j]) : 1;
		CHECK(s->dim <= DIM_MAX && s->inputs <= INPUTS_MAX);
		s->frequencies = dperm_fourier_make(&s->encoder.kernel, dperm_encoder_linear_dim(&s->encoder));
		count = dperm_shape_list(&s->encoder, false, shapes);
		s->noise = dperm_noise_plan(DPERM_LAW_NORM, shapes, count);
		s->gaussian = dperm_noise_plan(DPERM_LAW_GAUSSIAN, shapes, count);
	}
}

/*
 * The library's row of some numbers: from -1 to 1 a value is within its domain,
 * beyond it is not (a category from 1.5 on). The last one is the label: its
 * sign, which is in the row; or a number or a class, which is returned.
 */
static inline double
encode(const Space *s, DpermLoss loss, const double *inputs, double *row)
{
	DpermLabelKind kind = dperm_loss_entry((int) loss.kind)->label;
	DpermValue	values[BLOCKS_MAX];
	double		vector[DIM_MAX];
	double		room[DIM_MAX];

	for (int i = 0; i < s->encoder.block_count; i++)
	{
		const DpermBlock *block = &s->encoder.blocks[i];

		values[i] = (DpermValue) {.present = true, .vector = vector};
		if (block->kind == DPERM_BLOCK_NUMBER)
			values[i].number = (block->low + block->high) / 2 +
				(block->high - block->low) / 2 * *inputs++;
		else if (block->kind == DPERM_BLOCK_CATEGORY)
		{
			double		place = fmax(0, fmin(1, (1 + *inputs) / 2)) * block->count;

			values[i].category = fabs(*inputs++) > 1.5 ? -1 :
				place < block->count ? (int) place : block->count - 1;
		}
		else
			for (int j = 0; j < dperm_block_elements(block); j++)
				vector[j] = block->kind == DPERM_BLOCK_VECTOR ? block->norm * *inputs++ :
					(block->low + block->high) / 2 + (block->high - block->low) / 2 * *inputs++;
	}
	dperm_encoder_encode(&s->encoder, s->frequencies, values, kind == DPERM_LABEL_TWO && *inputs < 0 ? -1 : 1, row, room);
	return kind == DPERM_LABEL_TWO ? 1 : kind == DPERM_LABEL_NUMBER ? fmax(-1, fmin(1, *inputs)) :
		1 + fmax(0, fmin(loss.classes - 1, floor((*inputs + 1) / 2 * loss.classes)));
}

#endif							/* DPERM_TEST_SPACES_H */
