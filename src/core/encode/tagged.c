/*
 * tagged.c: the values of a row as bytes that mean the same on every server.
 */
#include "core/encode/tagged.h"

#include <limits.h>
#include <string.h>

/* The bytes of a value of each type, of a byte of a text, or of an element. */
static const int sizes[] = {
	[DPERM_TAG_NUMBER] = 8, [DPERM_TAG_TIME] = 8, [DPERM_TAG_FLAG] = 1,
	[DPERM_TAG_TEXT] = 1, [DPERM_TAG_FLOAT8] = 8, [DPERM_TAG_FLOAT4] = 4
};

/* Write a value. */
unsigned char *
dperm_tagged_put(unsigned char *at, const DpermTagged *value, const double *elements)
{
	bool		text = value->tag == DPERM_TAG_TEXT;

	at = dperm_bytes_put_int(at, (uint64_t) value->tag | (value->present ? 0 : DPERM_TAG_NULL), 1);
	if (text)
		at = dperm_bytes_put_int(at, (uint64_t) value->encoding, 1);
	if (!value->present)
		return at;
	if (value->tag < DPERM_TAG_TEXT)
		return value->tag == DPERM_TAG_FLAG ? dperm_bytes_put_int(at, value->number > 0, 1) :
			dperm_bytes_put_int(at, dperm_bytes_bits(value->number), 8);
	at = dperm_bytes_put_int(at, (uint64_t) value->count, 4);
	if (text)
		return dperm_bytes_put(at, value->bytes, (size_t) value->count);
	for (int i = 0; i < value->count; i++)
	{
		float		single = (float) elements[i];
		uint32_t	bits;

		memcpy(&bits, &single, sizeof(bits));
		at = value->tag == DPERM_TAG_FLOAT4 ? dperm_bytes_put_int(at, bits, 4) :
			dperm_bytes_put_int(at, dperm_bytes_bits(elements[i]), 8);
	}
	return at;
}

/* Read the next value. */
bool
dperm_tagged_get(DpermBytes *row, DpermTagged *value)
{
	uint64_t	head = dperm_bytes_get_int(row, 1);
	uint64_t	tag = head & ~(uint64_t) DPERM_TAG_NULL;
	bool		many = tag >= DPERM_TAG_TEXT;
	uint64_t	count;

	if (row->bad || tag < DPERM_TAG_NUMBER || tag > DPERM_TAG_FLOAT4)
		return false;
	*value = (DpermTagged) {.tag = (DpermTag) tag, .present = head == tag};
	if (tag == DPERM_TAG_TEXT)
		value->encoding = (int) dperm_bytes_get_int(row, 1);
	if (!value->present)
		return !row->bad;
	count = many ? dperm_bytes_get_int(row, 4) : 1;
	row->bad = row->bad || count > INT_MAX / 8;
	value->bytes = dperm_bytes_get(row, count * (size_t) sizes[tag]);
	if (row->bad)
		return false;
	if (many)
		value->count = (int) count;
	else if (tag == DPERM_TAG_FLAG)
	{
		value->number = *value->bytes ? 1 : -1;
		row->bad = *value->bytes > 1;
	}
	else
		value->number = dperm_bytes_double(dperm_bytes_load(value->bytes, 8));
	return !row->bad;
}

/* The elements of a vector. */
void
dperm_tagged_elements(const DpermTagged *value, double *out)
{
	int			size = sizes[value->tag];

	for (int i = 0; i < value->count; i++)
	{
		const unsigned char *at = value->bytes + (size_t) i * (size_t) size;
		uint32_t	bits = (uint32_t) dperm_bytes_load(at, 4);
		float		single;

		memcpy(&single, &bits, sizeof(single));
		out[i] = size == 4 ? (double) single : dperm_bytes_double(dperm_bytes_load(at, 8));
	}
}

/* Can a column of this type provide values for a kind of block? */
bool
dperm_tagged_fits(DpermTag tag, DpermBlockKind kind)
{
	static const DpermTag of_kind[] = {DPERM_TAG_NUMBER, DPERM_TAG_TIME, DPERM_TAG_FLAG,
		DPERM_TAG_TEXT, DPERM_TAG_FLOAT8, DPERM_TAG_FLOAT8};

	return (tag == DPERM_TAG_FLOAT4 ? DPERM_TAG_FLOAT8 : tag) == of_kind[kind];
}
