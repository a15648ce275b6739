/*
 * shapes.c: looks for two rows that noise in shapes would not hide: s x - s' x'
 * outside twice the shapes, in exact arithmetic.
 *
 *	shapes [SECONDS]
 *
 * The proof relies on there being none, for slopes s and s' between -1 and 1.
 * Random rows are far inside. So this changes values, slopes and bounds bit by
 * bit, keeps what leads farther out, and looks at every bit once it is at the
 * border. Rows go through the library's encoder; or vectors that an encoder
 * might have made, because the library accepts them as such, go through a
 * second one.
 */
#define TEST_OWN_MAIN
#include "unit/sample_encoder.h"

#include <time.h>

#include "core/encode/encoder.h"
#include "core/encode/layout.h"
#include "unit/exact_shape.h"

#define SECONDS 4
#define PATIENCE 300			/* consecutive changes that did not help */
#define BORDER (1 - 1e-12)
#define DIM_MAX (SAMPLE_DIM_MAX + 1)
#define SHAPES_MAX (SAMPLE_DIM_MAX + 2)

/* What is changed. */
typedef struct Pair
{
	SampleRow	rows[2];
	double		vectors[2][DIM_MAX];	/* of the second encoder, in place of rows */
	double		signs[2];
	double		slopes[2];
	double		norm;			/* of the second encoder */
} Pair;

static TestRandom state = 11;
static SampleEncoder sampled;
static const DpermEncoder *inner;
static bool within;
static bool codes_last;
static double *frequencies;
static double farthest[DPERM_SHAPE_KINDS];
static long checked;

/*
 * The shapes, and the rows in their order; false if the library would not
 * accept a vector.
 */
static bool
encode_pair(const Pair *pair, DpermShape *shapes, int *count, double x[2][DIM_MAX])
{
	DpermLayout layout = dperm_layout_make(inner, false);
	double		room[SAMPLE_DIM_MAX];
	double		row[DIM_MAX];

	*count = dperm_shape_list(inner, codes_last, shapes);
	for (int i = 0; i < 2 && !within; i++)
	{
		DpermValue	values[SAMPLE_BLOCKS];

		for (int j = 0; j < inner->block_count; j++)
		{
			values[j] = pair->rows[i].values[j];
			values[j].vector = pair->rows[i].vectors[j];
		}
		dperm_encoder_encode(inner, frequencies, values, pair->signs[i], row, room);
		for (int j = 0; j < layout.dim; j++)
			x[i][j] = row[codes_last && layout.place ? layout.place[j] : j];
	}
	if (within)
	{
		DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = layout.dim, .norm = pair->norm};
		DpermEncoder outer = {.block_count = 1, .blocks = &block, .intercept = true};

		for (int i = 0; i < 2; i++)
		{
			for (int j = 0; j < *count; j++)
				if (!dperm_shape_contains(&shapes[j], pair->vectors[i]))
					return false;
			dperm_encoder_encode(&outer, NULL, &(DpermValue) {.present = true, .vector = pair->vectors[i]}, pair->signs[i],
								 x[i], room);
		}
		*count = dperm_shape_list_within(inner, &outer, shapes);
	}
	return true;
}

/* How far out a difference is in twice a shape: 1 at the border. */
static long double
distance(const DpermShape *s, const long double *d)
{
	long double most = 0;
	long double sum = 0;

	for (int i = s->first; i < s->first + s->count; i++)
	{
		sum += s->kind == DPERM_SHAPE_BALL ? d[i] * d[i] : fabsl(d[i]);
		if (s->kind == DPERM_SHAPE_BOX)
			most = fmaxl(most, fabsl(d[i]));
		if (s->kind == DPERM_SHAPE_DISCS && i < s->first + s->count / 2)
			most = fmaxl(most, sqrtl(d[i] * d[i] + d[i + s->count / 2] * d[i + s->count / 2]));
	}
	return (s->kind == DPERM_SHAPE_BALL ? sqrtl(sum) : s->kind == DPERM_SHAPE_CROSS ? sum : most) / 2 / s->radius;
}

/*
 * How far out a pair is in one of the shapes; near the border it is checked
 * without rounding.
 */
static long double
distance_of(const Pair *pair, int which)
{
	DpermShape	shapes[SHAPES_MAX + 1];
	double		x[2][DIM_MAX];
	double		terms[DIM_MAX * 4];
	long double d[DIM_MAX];
	long double far;
	int			count;
	const DpermShape *s;

	if (!encode_pair(pair, shapes, &count, x))
		return -1;
	s = &shapes[which % count];
	for (int i = s->first; i < s->first + s->count; i++)
	{
		d[i] = 0;
		for (int k = 0; k < 2; k++)
		{
			double		slope = k ? -pair->slopes[1] : pair->slopes[0];
			double		product = slope * x[k][i];

			terms[4 * i + 2 * k] = product;
			terms[4 * i + 2 * k + 1] = fma(slope, x[k][i], -product);
			d[i] += (long double) product + terms[4 * i + 2 * k + 1];
		}
	}
	far = distance(s, d);
	farthest[s->kind] = fmax(farthest[s->kind], (double) far);
	if (far > BORDER)
	{
		checked++;
		if (!exact_in_shape(s, 2, &(ExactVector) {terms, 4}))
		{
			char		text[200];

			snprintf(text, sizeof(text), "%s of %d coordinates%s%s: %.17Lg of its radius", dperm_shape_name(s->kind), s->count,
					 within ? ", of another encoder" : "", codes_last ? ", behind all numbers" : "", far);
			test_complain(__FILE__, __LINE__, text);
		}
	}
	return far;
}

/* A number changed: anywhere, by a share, by its last bit. */
static double
changed(double x)
{
	switch (test_below(&state, 6))
	{
		case 0:
			return -x;
		case 1:
			return x * (1 + pow(10, -16 * test_uniform(&state)) * (test_uniform(&state) - 0.5));
		case 2:
			return nextafter(x, INFINITY);
		case 3:
			return nextafter(x, -INFINITY);
		case 4:
			return x + pow(10, -16 * test_uniform(&state)) * (test_uniform(&state) - 0.5);
		default:
			return 2 * x;
	}
}

/* A pair that differs a little. */
static void
change(Pair *pair)
{
	int			which = test_below(&state, 2);
	int			b = test_below(&state, inner->block_count);
	const DpermBlock *block = &inner->blocks[b];
	DpermValue *value = &pair->rows[which].values[b];
	double	   *number;
	int			at;

	switch (test_below(&state, 5))
	{
		case 0:
			pair->slopes[which] = test_below(&state, 2) ? 1 - 2 * test_below(&state, 2) :
				fmax(-1, fmin(1, changed(pair->slopes[which])));
			break;
		case 1:
			pair->signs[which] = -pair->signs[which];
			break;
		case 2:
			if (test_below(&state, 4) == 0)
				pair->norm = fmin(DPERM_NORM_MAX, fmax(DPERM_NORM_MIN, fabs(changed(pair->norm))));
			break;
		default:
			if (within)
			{
				number = &pair->vectors[which][test_below(&state, dperm_encoder_dim(inner))];
				*number = changed(*number);
				break;
			}
			value->present = true;
			value->category = test_below(&state, block->count);
			value->number = block->kind == DPERM_BLOCK_FLAG ? 2 * test_below(&state, 2) - 1 :
				test_below(&state, 2) ? sample_number(&state, block) : changed(value->number);
			at = test_below(&state, dperm_block_elements(block));
			number = &pair->rows[which].vectors[b][at];
			*number = changed(*number == 0 ? block->norm : *number);
			if (block->kind == DPERM_BLOCK_BOX && test_below(&state, 2))
				*number = test_below(&state, 2) ? dperm_block_element(block, at).low : dperm_block_element(block, at).high;
	}
}

/* A start: a row, or a vector that fills its shapes in part. */
static void
make_pair(Pair *pair)
{
	DpermShape	shapes[SHAPES_MAX + 1];
	int			count = dperm_shape_list(inner, false, shapes);

	*pair = (Pair) {.signs = {1, 1}, .slopes = {1, -1}, .norm = test_below(&state, 2) ? 1 : sample_positive(&state)};
	for (int i = 0; i < 2; i++)
	{
		sample_row(&state, inner, &pair->rows[i]);
		for (int j = 0; j < count; j++)
			pair->vectors[i][shapes[j].first + test_below(&state, shapes[j].count)] = shapes[j].radius * test_uniform(&state);
	}
}

int
main(int argc, char **argv)
{
	double		seconds = argc > 1 ? atof(argv[1]) : SECONDS;
	clock_t		begin = clock();
	long		tried = 0;
	Pair		pair;
	Pair		other;

	test_name = "shapes";
	while (clock() - begin < seconds * CLOCKS_PER_SEC)
	{
		int			which = test_below(&state, SHAPES_MAX);
		long double far;

		inner = sample_encoder(&state, &sampled);
		frequencies = dperm_fourier_make(&inner->kernel, dperm_encoder_linear_dim(inner));
		within = test_below(&state, 3) == 0;
		codes_last = !within && test_below(&state, 2);
		make_pair(&pair);
		far = distance_of(&pair, which);
		for (int patience = PATIENCE; patience > 0; patience--, tried++)
		{
			long double farther;

			other = pair;
			change(&other);
			farther = distance_of(&other, which);
			if (farther > far)
				patience = PATIENCE;
			if (farther >= far)
			{
				pair = other;
				far = farther;
			}
		}
	}
	printf("%ld pairs of rows, %ld at the border; farthest:", tried, checked);
	for (int kind = 0; kind < DPERM_SHAPE_KINDS; kind++)
	{
		printf(" %s 1 - %.2g", dperm_shape_name((DpermShapeKind) kind), 1 - farthest[kind]);
		CHECK(farthest[kind] > BORDER);
	}
	printf("\n");
	if (test_complaints > 0)
		test_failed++;
	else
		test_passed++;
	return test_report();
}
