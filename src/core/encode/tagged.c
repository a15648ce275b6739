/*
 * tagged.c: the values of a row as bytes that mean the same on every server.
 */
#include "core/encode/tagged.h"

#include <limits.h>
#include <string.h>

/* Doubles and floats are written bit by bit, including the sign of zero. */
static float
to_float(uint32_t bits)
{
	float		number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static uint32_t
float_bits(float number)
{
	uint32_t	bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/* A null of a type. */
unsigned char *
dperm_tagged_put_null(unsigned char *at, DpermTag tag, int encoding)
{
	at = dperm_bytes_put_int(at, (uint64_t) tag | DPERM_TAG_NULL, 1);
	return tag == DPERM_TAG_TEXT ? dperm_bytes_put_int(at, (uint64_t) encoding, 1) : at;
}

/* A number, a time, or a flag, which is positive if it is set. */
unsigned char *
dperm_tagged_put_number(unsigned char *at, DpermTag tag, double number)
{
	at = dperm_bytes_put_int(at, (uint64_t) tag, 1);
	return tag == DPERM_TAG_FLAG ? dperm_bytes_put_int(at, number > 0, 1) :
								   dperm_bytes_put_int(at, dperm_bytes_bits(number), 8);
}

/* A text. */
unsigned char *
dperm_tagged_put_text(unsigned char *at, int encoding, const char *text, int len)
{
	at = dperm_bytes_put_int(at, DPERM_TAG_TEXT, 1);
	at = dperm_bytes_put_int(at, (uint64_t) encoding, 1);
	at = dperm_bytes_put_int(at, (uint64_t) len, 4);
	return dperm_bytes_put(at, text, (size_t) len);
}

/* A vector, of doubles or floats. */
unsigned char *
dperm_tagged_put_vector(unsigned char *at, DpermTag tag, const double *elements, int count)
{
	at = dperm_bytes_put_int(at, (uint64_t) tag, 1);
	at = dperm_bytes_put_int(at, (uint64_t) count, 4);
	for (int i = 0; i < count; i++)
		at = tag == DPERM_TAG_FLOAT8 ? dperm_bytes_put_int(at, dperm_bytes_bits(elements[i]), 8) :
									   dperm_bytes_put_int(at, float_bits((float) elements[i]), 4);
	return at;
}

/* The bytes of a text, or of elements of this size. */
static void
get_many(DpermBytes *row, DpermTagged *value, size_t size)
{
	uint64_t	count = dperm_bytes_get_int(row, 4);

	if (count > INT_MAX / 8)
		row->bad = true;
	else
	{
		value->count = (int) count;
		value->bytes = dperm_bytes_get(row, count * size);
	}
}

/* Read the next value. */
bool
dperm_tagged_get(DpermBytes *row, DpermTagged *value)
{
	uint64_t	tag = dperm_bytes_get_int(row, 1);
	uint64_t	flag;

	memset(value, 0, sizeof(*value));
	value->present = (tag & DPERM_TAG_NULL) == 0;
	tag &= ~(uint64_t) DPERM_TAG_NULL;
	if (row->bad || tag < DPERM_TAG_NUMBER || tag > DPERM_TAG_FLOAT4)
		return false;
	value->tag = (DpermTag) tag;
	if (tag == DPERM_TAG_TEXT)
		value->encoding = (int) dperm_bytes_get_int(row, 1);
	if (!value->present)
		return !row->bad;
	switch (value->tag)
	{
		case DPERM_TAG_NUMBER:
		case DPERM_TAG_TIME:
			value->number = dperm_bytes_double(dperm_bytes_get_int(row, 8));
			break;
		case DPERM_TAG_FLAG:
			flag = dperm_bytes_get_int(row, 1);
			value->number = flag ? 1 : -1;
			if (flag > 1)
				row->bad = true;
			break;
		case DPERM_TAG_TEXT:
			get_many(row, value, 1);
			break;
		case DPERM_TAG_FLOAT8:
			get_many(row, value, 8);
			break;
		case DPERM_TAG_FLOAT4:
			get_many(row, value, 4);
			break;
	}
	return !row->bad;
}

/* The elements of a vector. */
void
dperm_tagged_elements(const DpermTagged *value, double *out)
{
	size_t		size = value->tag == DPERM_TAG_FLOAT8 ? 8 : 4;
	DpermBytes	elements = {value->bytes, (size_t) value->count * size, false};

	for (int i = 0; i < value->count; i++)
		out[i] = size == 8 ? dperm_bytes_double(dperm_bytes_get_int(&elements, 8)) :
			(double) to_float((uint32_t) dperm_bytes_get_int(&elements, 4));
}

/* Can a column of this type provide values for a kind of block? */
bool
dperm_tagged_fits(DpermTag tag, DpermBlockKind kind)
{
	static const DpermTag of_kind[] = {DPERM_TAG_NUMBER, DPERM_TAG_TIME, DPERM_TAG_FLAG,
		DPERM_TAG_TEXT, DPERM_TAG_FLOAT8, DPERM_TAG_FLOAT8};

	return (tag == DPERM_TAG_FLOAT4 ? DPERM_TAG_FLOAT8 : tag) == of_kind[kind];
}
