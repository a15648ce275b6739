/*
 * pass.c: the flat form of a pass.
 */
#include "pass.h"

#include <math.h>
#include <string.h>

#include "calibrate.h"
#include "moments.h"

#define MAGIC UINT64_C(0x6470706173730001)	/* "dppass", version 1 */

/* Words of the header, in order. */
enum
{
	AT_MAGIC,
	AT_ORDER,
	AT_LOSS,
	AT_H,
	AT_DIMENSION,
	AT_NORM,
	AT_INTERCEPT,
	AT_CAPACITY,
	AT_ROWS,
	AT_VALUE,
	AT_VALUE_LOW,
	AT_STRIDE,
	AT_USED,
	AT_DIM,
	AT_RESERVED,
	HEADER_END
};

_Static_assert(HEADER_END == DPERM_PASS_HEADER, "header words");

static uint64_t
from_double(double x)
{
	uint64_t	word;

	memcpy(&word, &x, sizeof(word));
	return word;
}

static double
to_double(uint64_t word)
{
	double		x;

	memcpy(&x, &word, sizeof(x));
	return x;
}

size_t
dperm_pass_weights_at(const DpermPass *pass)
{
	(void) pass;
	return DPERM_PASS_HEADER;
}

size_t
dperm_pass_gradient_at(const DpermPass *pass)
{
	size_t		dim = (size_t) dperm_encoder_dim(&pass->encoder);

	return DPERM_PASS_HEADER + (pass->order >= DPERM_PASS_GRADIENT ? dim : 0);
}

size_t
dperm_pass_hess_at(const DpermPass *pass)
{
	size_t		dim = (size_t) dperm_encoder_dim(&pass->encoder);

	return dperm_pass_gradient_at(pass) +
		(pass->order >= DPERM_PASS_GRADIENT && pass->rows > 0 ? 2 * dim : 0);
}

size_t
dperm_pass_sample_at(const DpermPass *pass)
{
	int			dim = dperm_encoder_dim(&pass->encoder);

	return dperm_pass_hess_at(pass) +
		(pass->order >= DPERM_PASS_HESSIAN && pass->rows > 0 ? dperm_packed_size(dim) : 0);
}

/* Words of the whole form. */
size_t
dperm_pass_words(const DpermPass *pass)
{
	return dperm_pass_sample_at(pass) +
		(size_t) pass->used * dperm_encoder_dim(&pass->encoder);
}

/* Write the header. */
void
dperm_pass_write(const DpermPass *pass, uint64_t *words)
{
	words[AT_MAGIC] = MAGIC;
	words[AT_ORDER] = (uint64_t) pass->order;
	words[AT_LOSS] = (uint64_t) pass->loss.kind;
	words[AT_H] = from_double(pass->loss.h);
	words[AT_DIMENSION] = (uint64_t) pass->encoder.dimension;
	words[AT_NORM] = from_double(pass->encoder.norm);
	words[AT_INTERCEPT] = pass->encoder.intercept;
	words[AT_CAPACITY] = (uint64_t) pass->capacity;
	words[AT_ROWS] = (uint64_t) pass->rows;
	words[AT_VALUE] = from_double(pass->value[0]);
	words[AT_VALUE_LOW] = from_double(pass->value[1]);
	words[AT_STRIDE] = (uint64_t) pass->stride;
	words[AT_USED] = (uint64_t) pass->used;
	words[AT_DIM] = (uint64_t) dperm_encoder_dim(&pass->encoder);
	words[AT_RESERVED] = 0;
}

/* What is wrong with the header, or NULL. */
static const char *
header_fault(const uint64_t *words)
{
	if (words[AT_MAGIC] != MAGIC || words[AT_RESERVED] != 0)
		return "not a dp_moments value of this version";
	if (words[AT_ORDER] > DPERM_PASS_HESSIAN || words[AT_LOSS] > DPERM_LOSS_SMOOTH_HINGE ||
		words[AT_INTERCEPT] > 1)
		return "unknown kind of pass";
	if (words[AT_LOSS] == DPERM_LOSS_LOGISTIC ? to_double(words[AT_H]) != 0
		: !(to_double(words[AT_H]) >= DPERM_H_MIN && to_double(words[AT_H]) <= DPERM_H_MAX))
		return "h is out of range";
	if (words[AT_DIMENSION] < 1 || words[AT_DIMENSION] > DPERM_DIM_MAX ||
		words[AT_DIM] != words[AT_DIMENSION] + words[AT_INTERCEPT] ||
		words[AT_DIM] > DPERM_DIM_MAX)
		return "the dimension is out of range";
	if (!(to_double(words[AT_NORM]) >= DPERM_NORM_MIN &&
		  to_double(words[AT_NORM]) <= DPERM_NORM_MAX))
		return "the norm is out of range";
	if (words[AT_ROWS] > DPERM_ROWS_MAX || words[AT_CAPACITY] > DPERM_ROWS_MAX ||
		words[AT_CAPACITY] == 1 || words[AT_USED] > words[AT_CAPACITY] ||
		words[AT_USED] > words[AT_ROWS])
		return "a row count is out of range";
	if (words[AT_STRIDE] < 1 || words[AT_STRIDE] > 2 * DPERM_ROWS_MAX ||
		(words[AT_STRIDE] & (words[AT_STRIDE] - 1)) != 0)
		return "the stride is not a power of two";
	if (!isfinite(to_double(words[AT_VALUE])) || !isfinite(to_double(words[AT_VALUE_LOW])))
		return "a sum is not finite";
	return NULL;
}

/* Read and check a form. */
bool
dperm_pass_read(const uint64_t *words, size_t count, DpermPass *pass, const char **why)
{
	*why = count < DPERM_PASS_HEADER ? "too short" : header_fault(words);
	if (*why)
		return false;
	pass->order = (DpermPassOrder) words[AT_ORDER];
	pass->loss.kind = (DpermLossKind) words[AT_LOSS];
	pass->loss.h = to_double(words[AT_H]);
	pass->encoder.dimension = (int) words[AT_DIMENSION];
	pass->encoder.norm = to_double(words[AT_NORM]);
	pass->encoder.intercept = words[AT_INTERCEPT] == 1;
	pass->capacity = (int64_t) words[AT_CAPACITY];
	pass->rows = (int64_t) words[AT_ROWS];
	pass->value[0] = to_double(words[AT_VALUE]);
	pass->value[1] = to_double(words[AT_VALUE_LOW]);
	pass->stride = (int64_t) words[AT_STRIDE];
	pass->used = (int64_t) words[AT_USED];

	/* used is below 2^40 and dim below 2^13: no overflow */
	if (count != dperm_pass_words(pass))
	{
		*why = "wrong length";
		return false;
	}
	for (size_t i = DPERM_PASS_HEADER; i < count; i++)
		if (!isfinite(to_double(words[i])))
		{
			*why = "a number is not finite";
			return false;
		}
	return true;
}

/* Do two forms answer the same request? */
bool
dperm_pass_matches(const DpermPass *a, const DpermPass *b)
{
	return a->order == b->order && a->loss.kind == b->loss.kind &&
		a->loss.h == b->loss.h && a->encoder.dimension == b->encoder.dimension &&
		a->encoder.norm == b->encoder.norm &&
		a->encoder.intercept == b->encoder.intercept && a->capacity == b->capacity;
}
