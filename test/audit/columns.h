/*
 * columns.h: tables of columns for the inversion, and the law of the noise that
 * belongs to them, from the tables of the guarantee document and by trying all
 * groups.
 */
#ifndef DPERM_TEST_COLUMNS_H
#define DPERM_TEST_COLUMNS_H

#include "core/encode/encoder.h"
#include "unit/problem.h"
#include "unit/shaped.h"

#define DIM_MAX 21
#define COLUMNS_SHAPES 6

/* Columns of a table. */
typedef struct Columns
{
	const char *name;
	DpermEncoder encoder;
	int			dim;
	double	   *frequencies;
} Columns;

/* Noise with its memory. */
typedef struct Law
{
	DpermNoise	noise;
	DpermShape	shapes[COLUMNS_SHAPES];
	DpermNoiseGroup groups[COLUMNS_SHAPES];
} Law;

#define NUMBER {.kind = DPERM_BLOCK_NUMBER, .low = -2, .high = 6, .count = 1}
#define CURVE(n) {.kind = DPERM_BLOCK_NUMBER, .low = -2, .high = 6, .count = n}
#define CATEGORY(n) {.kind = DPERM_BLOCK_CATEGORY, .count = n}
#define VECTOR(n) {.kind = DPERM_BLOCK_VECTOR, .count = n, .norm = 3}
#define BOX(n) {.kind = DPERM_BLOCK_BOX, .low = -2, .high = 6, .count = n}
#define BLOCKS(n, ...) .block_count = n, .blocks = (const DpermBlock[]) {__VA_ARGS__}

static Columns columns[] = {
	{.name = "category, number", .encoder = {BLOCKS(2, CATEGORY(3), NUMBER), .intercept = true}},
	{.name = "categories, number", .encoder = {BLOCKS(3, CATEGORY(9), NUMBER, CATEGORY(2)), .intercept = true}},
	{.name = "vector", .encoder = {BLOCKS(1, VECTOR(3)), .intercept = true}},
	{.name = "vector with bounds, category", .encoder = {BLOCKS(2, BOX(4), CATEGORY(12))}},
	{.name = "kernel", .encoder = {BLOCKS(1, VECTOR(3)), .intercept = true,
	.kernel = {.kind = DPERM_KERNEL_GAUSSIAN, .gamma = 0.7, .features = 6, .seed = 1}}},
	{.name = "curve, number", .encoder = {BLOCKS(2, CURVE(5), NUMBER), .intercept = true}},
	{.name = "large category, number", .encoder = {BLOCKS(2, CATEGORY(20), NUMBER)}}
};

#define COLUMNS ((int) (sizeof(columns) / sizeof(columns[0])))

/* Dimensions and frequencies. */
static inline void
prepare_columns(void)
{
	for (int i = 0; i < COLUMNS; i++)
	{
		const DpermEncoder *enc = &columns[i].encoder;

		columns[i].dim = dperm_encoder_dim(enc);
		columns[i].frequencies = dperm_fourier_make(&enc->kernel, dperm_encoder_linear_dim(enc));
	}
}

/* Rows of random values, label in the sign. */
static inline void
make_columns_rows(const Columns *c, TestRandom *state, int count, double *data)
{
	for (int i = 0; i < count; i++)
	{
		DpermValue	values[COLUMNS_SHAPES];
		double		vector[DIM_MAX];
		double		room[DIM_MAX];

		random_row(state, DIM_MAX, vector);
		for (int j = 0; j < c->encoder.block_count; j++)
			values[j] = (DpermValue) {.present = true, .number = 8 * test_uniform(state) - 2, .vector = vector,
				.category = test_below(state, c->encoder.blocks[j].count)};
		dperm_encoder_encode(&c->encoder, c->frequencies, values, test_below(state, 2) ? 1 : -1, data + i * c->dim, room);
	}
}

/* The noise that the library plans. */
static inline const DpermNoise *
make_plan(DpermNoiseLaw law, const Columns *c)
{
	DpermShape	shapes[COLUMNS_SHAPES];

	return dperm_noise_plan(law, shapes, dperm_shape_list(&c->encoder, false, shapes));
}

/*
 * The shapes that the guarantee promises: by kind of column, radius
 * 1/sqrt(blocks and intercept); returns how many.
 */
static inline int
make_shapes(const Columns *c, DpermShape *shapes)
{
	const DpermEncoder *enc = &c->encoder;
	bool		kernel = enc->kernel.kind != DPERM_KERNEL_LINEAR;
	int			count = kernel ? 1 : enc->block_count;
	double		radius = 1 / sqrt(count + enc->intercept);
	int			at = 0;

	for (int i = 0; i < count; i++)
	{
		shapes[i] = (DpermShape) {.kind = DPERM_SHAPE_BOX, .first = at, .count = enc->blocks[i].count, .radius = radius};
		if (kernel)
			shapes[i] = (DpermShape) {.kind = DPERM_SHAPE_DISCS, .count = enc->kernel.features,
				.radius = radius / sqrt(enc->kernel.features / 2)};
		else if (enc->blocks[i].kind == DPERM_BLOCK_CATEGORY || dperm_block_knots(&enc->blocks[i]) > 1)
			shapes[i].kind = DPERM_SHAPE_CROSS;
		else if (enc->blocks[i].kind == DPERM_BLOCK_VECTOR)
			shapes[i].kind = DPERM_SHAPE_BALL;
		else
			shapes[i].radius = radius / sqrt(shapes[i].count);
		at += shapes[i].count;
	}
	if (enc->intercept)
		shapes[count++] = (DpermShape) {.kind = DPERM_SHAPE_BOX, .first = at, .count = 1, .radius = radius};
	return count;
}

/* The law of pure epsilon: the best groups of these shapes. */
static inline void
make_law(const Columns *c, Law *law)
{
	DpermShape	shapes[COLUMNS_SHAPES];
	int			count = make_shapes(c, shapes);
	ShapedPartition best = shaped_best(shapes, count);

	law->noise = shaped_noise(&best, law->shapes, law->groups);
}

/* A copy, to be changed. */
static inline void
copy_law(const Law *law, Law *out)
{
	*out = *law;
	out->noise.shapes = out->shapes;
	out->noise.groups = out->groups;
}

#endif							/* DPERM_TEST_COLUMNS_H */
