/*
 * encoder.c: blocks, clipping and scaling, with bounds that include rounding; and the
 * description of an encoder's forms. Trusted.
 *
 * The invariant is |out| <= 1 in exact arithmetic. A computed norm is off by at
 * most (dimension/2 + 4) units in the last place, a scaled coordinate by three,
 * so a vector is only taken unscaled when its norm is below the bound by
 * MARGIN, and is scaled to that otherwise.
 */
#include "core/encode/encoder.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/core.h"
#include "core/base/host.h"
#include "core/base/vector.h"

#define MARGIN(dimension) (1 + ((dimension) + 16) * DBL_EPSILON)

/* The sums of squares in which nothing overflows, and what makes any vector have one. */
#define SQUARE_MAX 1e300
#define SMALLER 0x1p-540

/* Coordinates of the blocks. */
int
dperm_encoder_linear_dim(const DpermEncoder *enc)
{
	int			dim = 0;

	for (int i = 0; i < enc->block_count; i++)
		dim += enc->blocks[i].count;
	return dim;
}

/* Trained dimension. */
int
dperm_encoder_dim(const DpermEncoder *enc)
{
	int			dim = enc->kernel.kind == DPERM_KERNEL_LINEAR ?
		dperm_encoder_linear_dim(enc) : enc->kernel.features;

	return dim + (enc->intercept ? 1 : 0);
}

/* Are numbers left to the rule of knots? */
bool
dperm_encoder_is_open(const DpermEncoder *enc)
{
	for (int i = 0; i < enc->block_count; i++)
		if (enc->blocks[i].open)
			return true;
	return false;
}

/* The encoder with so many knots for open numbers. */
DpermEncoder
dperm_encoder_with_knots(const DpermEncoder *enc, int knots)
{
	DpermEncoder out = *enc;
	DpermBlock *blocks = dperm_host_alloc(sizeof(DpermBlock) * (size_t) enc->block_count);

	memcpy(blocks, enc->blocks, sizeof(DpermBlock) * (size_t) enc->block_count);
	for (int i = 0; i < enc->block_count; i++)
		if (blocks[i].open)
			blocks[i].count = knots;
	out.blocks = blocks;
	return out;
}

/* The block of a trained coordinate. */
const DpermBlock *
dperm_encoder_block(const DpermEncoder *enc, int *coordinate)
{
	const DpermBlock *block = enc->blocks;

	if (enc->kernel.kind != DPERM_KERNEL_LINEAR || *coordinate >= dperm_encoder_linear_dim(enc))
		return NULL;
	while (*coordinate >= block->count)
		*coordinate -= block++->count;
	return block;
}

/* What is wrong with the bounds and knots of a number, or NULL. */
static const char *
knots_fault(const DpermBlock *block)
{
	const double *knots = block->knots;
	int			last = block->count - 1;

	if (!dperm_block_are_bounds(block->low, block->high))
		return "the bounds of a number are out of order";
	if (block->log && block->kind != DPERM_BLOCK_NUMBER)
		return "only a number has a scale";
	if (!(dperm_block_scaled(block, block->low) < dperm_block_scaled(block, block->high)))
		return "the bounds of a number are the same on its scale";
	if (knots == NULL)
		return NULL;
	if (block->log)
		return "listed knots have no scale";
	if (last < 1 || knots[0] != block->low || knots[last] != block->high)
		return "the knots of a number do not begin and end at its bounds";
	for (int i = 0; i < last; i++)
		if (!dperm_block_are_bounds(knots[i], knots[i + 1]))
			return "the knots of a number are out of order";
	return NULL;
}

/* One of the values at even distances on the scale of a number. */
double
dperm_encoder_even(const DpermBlock *block, int step, int steps)
{
	double		low = dperm_block_scaled(block, block->low);
	double		high = dperm_block_scaled(block, block->high);

	if (step == 0 || step == steps)
		return step == 0 ? block->low : block->high;
	low += (high - low) * step / steps;
	return block->log ? copysign(expm1(fabs(low)), low) : low;
}

/* The value of a knot. */
double
dperm_encoder_knot(const DpermBlock *block, int i)
{
	return block->knots ? block->knots[i] : dperm_encoder_even(block, i, block->count - 1);
}

/* The position of a number among listed knots, by bisection. */
static double
position_in_list(const DpermBlock *block, double x)
{
	const double *knots = block->knots;
	int			last = dperm_block_knots(block) - 1;
	int			place = 0;
	int			after = last;

	while (after - place > 1)
	{
		int			middle = (place + after) / 2;

		if (knots[middle] <= x)
			place = middle;
		else
			after = middle;
	}
	return fmin((place + dperm_block_share(x, knots[place], knots[after])) / last, 1);
}

/* The position of one of the numbers of a block. */
double
dperm_encoder_position(const DpermBlock *block, const DpermValue *value, int i)
{
	double		x;

	if (!value->present)
		return -1;
	x = dperm_block_is_number(block) ? value->number : value->vector[i];
	if (isnan(x))
		return -1;
	if (block->knots)
		return position_in_list(block, x);
	return block->bounds ? dperm_block_share(x, block->bounds[2 * i], block->bounds[2 * i + 1]) :
		dperm_block_way(block, x);
}

/* What is wrong with one block, or NULL. */
static const char *
block_fault(const DpermBlock *block)
{
	const char *fault = NULL;

	if (block->count < 1 || block->count > DPERM_DIM_MAX)
		return "dimension is out of range";
	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			return knots_fault(block);
		case DPERM_BLOCK_FLAG:
			return block->count == 1 ? NULL : "a boolean has one coordinate";
		case DPERM_BLOCK_CATEGORY:
			return NULL;
		case DPERM_BLOCK_VECTOR:
			return block->norm >= DPERM_NORM_MIN && block->norm <= DPERM_NORM_MAX ? NULL :
				"norm is out of range";
		case DPERM_BLOCK_BOX:
			if (block->each != 0 && (block->each < 2 || block->count % block->each != 0))
				return "the number of knots is out of range";
			for (int i = 0; fault == NULL && i < dperm_block_elements(block); i++)
			{
				DpermBlock	element = dperm_block_element(block, i);

				fault = knots_fault(&element);
			}
			return fault;
	}
	return "a feature has an unknown type";
}

/* What is wrong with an encoder, or NULL. */
const char *
dperm_encoder_fault(const DpermEncoder *enc)
{
	const DpermKernel *kernel = &enc->kernel;
	bool		curves = false;
	int64_t		linear = 0;

	if (enc->block_count < 1 || enc->block_count > DPERM_DIM_MAX)
		return "the number of features is out of range";
	for (int i = 0; i < enc->block_count; i++)
	{
		const char *fault = block_fault(&enc->blocks[i]);

		if (fault)
			return fault;
		linear += enc->blocks[i].count;
		curves = curves || dperm_block_knots(&enc->blocks[i]) > 1;
	}
	if (linear > DPERM_DIM_MAX)
		return "the dimension is out of range";
	if (kernel->kind == DPERM_KERNEL_LINEAR)
	{
		if (kernel->gamma != 0 || kernel->features != 0 || kernel->seed != 0)
			return "kernel parameters require a kernel";
	}
	else if ((unsigned) kernel->kind > DPERM_KERNEL_MATERN)
		return "the kernel is unknown";
	else if (curves)
		return "a kernel takes numbers as they are, without knots";
	else if (!(kernel->gamma >= DPERM_GAMMA_MIN && kernel->gamma <= DPERM_GAMMA_MAX))
		return "gamma is out of range";
	else if (kernel->features < 2 || kernel->features > DPERM_DIM_MAX ||
			 kernel->features % 2 != 0)
		return "the number of kernel features is out of range";
	if (dperm_encoder_dim(enc) > DPERM_DIM_MAX)
		return "the dimension is out of range";
	return NULL;
}

/* What a vector is multiplied by; 0 if its squares overflow, or it is none. */
double
dperm_encoder_vector_factor(const DpermBlock *block, const double *raw, double target)
{
	double		sum = dperm_sum_of_squares((size_t) block->count, raw);

	if (!(sum <= SQUARE_MAX))
		return 0;
	/* most vectors are within the bound, which is tested without a square root */
	if (sum * (MARGIN(block->count) * MARGIN(block->count) * (1 + 8 * DBL_EPSILON)) <=
		block->norm * block->norm)
		return target / block->norm;
	return target / fmax(sqrt(sum) * MARGIN(block->count), block->norm);
}

/*
 * A vector with a norm. If its squares overflow, it is made smaller first, and so is its
 * bound. NaN and infinity make it zero.
 */
static void
vector_block(const DpermBlock *block, const double *raw, double target, double *out)
{
	DpermBlock	smaller = *block;
	double		factor = dperm_encoder_vector_factor(block, raw, target);

	if (factor != 0)
	{
		dperm_scale((size_t) block->count, factor, raw, out);
		return;
	}
	smaller.norm *= SMALLER;
	for (int i = 0; i < block->count; i++)
		out[i] = raw[i] * SMALLER;
	factor = dperm_encoder_vector_factor(&smaller, out, target);
	for (int i = 0; i < block->count; i++)
		out[i] = factor == 0 ? 0 : out[i] * factor;
}

/*
 * A double not above 1/sqrt(shares), so that this many blocks of this norm fit
 * into the unit ball: its square, rounded up, is at most 1/shares.
 */
static double
share_of_ball(int shares)
{
	return shares == 1 ? 1 : sqrt(1.0 / shares) * (1 - 4 * DBL_EPSILON);
}

/* The bound on each coordinate; the share allows for the rounding of this product. */
double
dperm_encoder_most(const DpermBlock *block, double target)
{
	bool		box = block->kind == DPERM_BLOCK_BOX && block->each == 0;

	return box ? target * share_of_ball(block->count) : target;
}

/* A vector of straight numbers; NaN is 0. The same as below, in a loop that is fast. */
static void
box_block(const DpermBlock *block, const double *raw, double target, double *out)
{
	double		most = dperm_encoder_most(block, target);

	for (int i = 0; i < block->count; i++)
	{
		double		low = block->bounds ? block->bounds[2 * i] : block->low;
		double		high = block->bounds ? block->bounds[2 * i + 1] : block->high;

		out[i] = isnan(raw[i]) ? 0 : most * (2 * dperm_block_share(raw[i], low, high) - 1);
	}
}

/* A number on a straight line or between two of its knots, or a vector of the latter. */
static void
numbers_block(const DpermBlock *block, const DpermValue *value, double target, double *out)
{
	int			knots = dperm_block_knots(block);

	for (int i = 0, at = 0; at < block->count; i++, at += knots)
	{
		double		position = dperm_encoder_position(block, value, i);
		double		entry;
		int			place;

		if (knots == 1)
			out[at] = dperm_knots_line(position, target);
		if (knots == 1 || position < 0)
			continue;
		place = at + dperm_knots_point(position, knots - 1, target, &entry);
		out[place] = entry;
		out[place + 1] = target - entry;
	}
}

/* One block, of parts of norm at most |target|. */
void
dperm_encoder_encode_block(const DpermBlock *block, const DpermValue *value, double target,
						   double *out)
{
	if (!value->present || block->kind != DPERM_BLOCK_VECTOR)
		memset(out, 0, sizeof(double) * (size_t) block->count);
	if (!value->present)
		return;
	if (block->kind == DPERM_BLOCK_VECTOR)
		vector_block(block, value->vector, target, out);
	else if (block->kind == DPERM_BLOCK_FLAG)
		out[0] = value->number > 0 ? target : -target;
	else if (block->kind == DPERM_BLOCK_BOX && dperm_block_knots(block) == 1)
		box_block(block, value->vector, target, out);
	else if (block->kind != DPERM_BLOCK_CATEGORY)
		numbers_block(block, value, target, out);
	else if (value->category >= 0 && value->category < block->count)
		out[value->category] = target;
}

/* The norm of one part of a block, of the features of a kernel, or of the intercept. */
double
dperm_encoder_target(const DpermEncoder *enc)
{
	int			shares = enc->intercept ? 1 : 0;

	if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
		return share_of_ball(shares + 1);
	for (const DpermBlock *block = enc->blocks; block < enc->blocks + enc->block_count; block++)
		shares += dperm_block_knots(block) > 1 ? dperm_block_elements(block) : 1;
	return share_of_ball(shares);
}

/* All blocks, of parts of norm at most |target|. */
static void
encode_blocks(const DpermEncoder *enc, const DpermValue *values, double target, double *out)
{
	for (int i = 0; i < enc->block_count; i++)
	{
		dperm_encoder_encode_block(&enc->blocks[i], &values[i], target, out);
		out += enc->blocks[i].count;
	}
}

/* The inputs of a kernel. */
void
dperm_encoder_encode_inputs(const DpermEncoder *enc, const DpermValue *values, double *out)
{
	encode_blocks(enc, values, share_of_ball(enc->block_count), out);
}

/* One row: blocks, kernel, intercept, all times sign. */
void
dperm_encoder_encode(const DpermEncoder *enc, const double *frequencies, const DpermValue *values,
			 double sign, double *out, double *room)
{
	double		target = sign * dperm_encoder_target(enc);

	if (enc->kernel.kind == DPERM_KERNEL_LINEAR)
		encode_blocks(enc, values, target, out);
	else
	{
		dperm_encoder_encode_inputs(enc, values, room);
		dperm_fourier_map_rows(&enc->kernel, frequencies, dperm_encoder_linear_dim(enc), 1, room,
							   target, 0, out);
	}
	if (enc->intercept)
		out[dperm_encoder_dim(enc) - 1] = target;
}

DPERM_WORDS(dperm_encoder_kernel_name, "linear", "gaussian", "laplacian", "cauchy", "matern");
DPERM_WORDS(dperm_encoder_kind_name, "number", "time", "boolean", "category", "vector", "vector");
DPERM_WORDS(dperm_encoder_scale_name, "linear", "log");

/*
 * What is wrong with the columns of an encoder that has no other fault, or NULL: none is
 * there twice, and only a single vector may have none. Of equal categories the first counts.
 */
static const char *
columns_fault(const DpermEncoder *enc)
{
	for (int i = 0; i < enc->block_count; i++)
	{
		const DpermBlock *block = &enc->blocks[i];

		if (block->column.len == 0 &&
			!(enc->block_count == 1 && block->kind == DPERM_BLOCK_VECTOR))
			return "a feature has no column";
		for (int j = 0; j < i; j++)
			if (dperm_host_same_text(&enc->blocks[j].column, &block->column))
				return "a column occurs twice";
	}
	return NULL;
}

/*
 * The knots of a number or of each element of a vector, how many of which are
 * returned: none, their number if they are at even distances, else a list.
 */
static int
visit_knots(DpermCodec *c, DpermBlock *block, int count)
{
	if (!dperm_codec_some(c, "knots", count > 1))
		return 1;
	if (dperm_codec_nesting(c, "knots", block->knots ? 1 : 0) == 0)
		return dperm_codec_count(c, "knots", count);
	count = dperm_codec_length(c, "knots", count);
	block->knots = dperm_codec_numbers(c, "knots", block->knots, 0, count);
	return count;
}

/* The values of a category. */
static void
visit_categories(DpermCodec *c, DpermBlock *block)
{
	DpermText  *read = NULL;

	block->count = dperm_codec_list(c, "values", block->count);
	if (dperm_codec_reads(c))
		block->categories = read = dperm_host_alloc(sizeof(DpermText) * (size_t) block->count);
	for (int i = 0; i < block->count; i++)
	{
		DpermText	text = block->categories[i];

		dperm_codec_text(c, NULL, &text);
		if (read)
			read[i] = text;
	}
	dperm_codec_end(c);
}

/* A vector whose elements are numbers: their bounds, once if all have the same, and knots. */
static void
visit_box(DpermCodec *c, DpermBlock *block, int elements, int knots)
{
	if (dperm_codec_nesting(c, "range", block->bounds ? 2 : 1) == 2)
		block->bounds = dperm_codec_numbers(c, "range", block->bounds, elements, 2);
	else
		dperm_codec_pair(c, "range", &block->low, &block->high);
	knots = visit_knots(c, block, knots);
	if (!dperm_codec_reads(c))
		return;
	block->kind = DPERM_BLOCK_BOX;
	block->count = elements * knots;
	block->each = knots > 1 || block->knots ? knots : 0;
}

/* A column. What it has besides its name depends on its type. */
static void
visit_block(DpermCodec *c, DpermBlock *block)
{
	bool		box = block->kind == DPERM_BLOCK_BOX;
	int			knots = dperm_block_knots(block);
	int			elements = dperm_block_elements(block);

	if (dperm_codec_has(c, "column", block->column.len > 0))
		dperm_codec_text(c, "column", &block->column);
	block->kind = (DpermBlockKind) dperm_codec_name(c, "type",
													box ? DPERM_BLOCK_VECTOR : (int) block->kind,
													dperm_encoder_kind_name, DPERM_BLOCK_BOX);
	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			dperm_codec_number(c, "low", &block->low);
			dperm_codec_number(c, "high", &block->high);
			block->count = visit_knots(c, block, knots);
			if (block->kind == DPERM_BLOCK_NUMBER && dperm_codec_some(c, "scale", block->log))
				block->log = dperm_codec_name(c, "scale", 1, dperm_encoder_scale_name, 2) == 1;
			break;
		case DPERM_BLOCK_FLAG:
			block->count = 1;
			break;
		case DPERM_BLOCK_CATEGORY:
			visit_categories(c, block);
			break;
		default:
			elements = dperm_codec_count(c, "dimension", elements);
			if (dperm_codec_some(c, "range", box))
			{
				visit_box(c, block, elements, knots);
				break;
			}
			block->count = elements;
			dperm_codec_number(c, "norm", &block->norm);
	}
}

/* The columns of an encoder, as a list. */
void
dperm_encoder_form_features(DpermCodec *c, const char *key, DpermEncoder *enc)
{
	DpermBlock *read = NULL;

	enc->block_count = dperm_codec_list(c, key, enc->block_count);
	if (dperm_codec_reads(c))
		enc->blocks = read = dperm_host_alloc(sizeof(DpermBlock) * (size_t) enc->block_count);
	for (int i = 0; i < enc->block_count; i++)
	{
		DpermBlock	block = enc->blocks[i];

		dperm_codec_object(c, NULL);
		visit_block(c, &block);
		dperm_codec_end(c);
		if (read)
			read[i] = block;
	}
	dperm_codec_end(c);
}

/* The fields of an encoder. One that was read is valid as a whole. */
void
dperm_encoder_form_visit(DpermCodec *c, DpermEncoder *enc)
{
	DpermKernel *kernel = &enc->kernel;

	dperm_encoder_form_features(c, "features", enc);
	enc->intercept = dperm_codec_flag(c, "intercept", enc->intercept);
	if (dperm_codec_some(c, "kernel", kernel->kind != DPERM_KERNEL_LINEAR))
	{
		dperm_codec_object(c, "kernel");
		kernel->kind = (DpermKernelKind) dperm_codec_name(c, "name", (int) kernel->kind,
														  dperm_encoder_kernel_name,
														  DPERM_KERNEL_MATERN + 1);
		dperm_codec_number(c, "gamma", &kernel->gamma);
		kernel->features = dperm_codec_count(c, "features", kernel->features);
		dperm_codec_integer(c, "seed", &kernel->seed);
		dperm_codec_end(c);
	}
	if (dperm_codec_reads(c) && c->why == NULL)
		dperm_codec_fail(c, dperm_encoder_fault(enc));
	if (dperm_codec_reads(c) && c->why == NULL)
		dperm_codec_fail(c, columns_fault(enc));
}

/* An encoder as bytes. */
DpermText
dperm_encoder_form_write(const DpermEncoder *enc)
{
	DpermCodec	c = {.form = DPERM_CODEC_WRITE_BYTES};
	DpermEncoder copy = *enc;

	dperm_encoder_form_visit(&c, &copy);
	return dperm_codec_written(&c);
}

/*
 * Read exactly these bytes, trusting none of them; NULL, else what is wrong. Only
 * the bytes that an encoder is written as are read as this encoder.
 */
const char *
dperm_encoder_form_read(DpermText bytes, DpermEncoder *out)
{
	DpermCodec	c = dperm_codec_read(bytes.bytes, (size_t) bytes.len);
	DpermText	again;

	memset(out, 0, sizeof(*out));
	dperm_encoder_form_visit(&c, out);
	if (dperm_codec_end_of_bytes(&c))
		return c.why;
	again = dperm_encoder_form_write(out);
	return dperm_host_same_text(&again, &bytes) ? NULL :
		"the features are not in canonical form";
}
