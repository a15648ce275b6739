/*
 * tagged.c: the values of a row as bytes that mean the same on every server. Trusted.
 */
#include "core/encode/tagged.h"

#include <limits.h>
#include <string.h>

/* The bytes of a value of each tag, of a byte of a text, or of an element. */
static const int sizes[] = {0, 8, 8, 1, 1, 8, 4};

/* The tag of a value. */
static int
tag_of(const DpermTagged *value)
{
	return (int) value->kind + (value->single ? 2 : 1);
}

/* Write a value. */
unsigned char *
dperm_tagged_put(unsigned char *at, const DpermTagged *value, const double *elements)
{
	bool		text = value->kind == DPERM_BLOCK_CATEGORY;

	at = dperm_bytes_put_int(at, (uint64_t) tag_of(value) | (value->present ? 0 : DPERM_TAG_NULL),
							 1);
	if (text)
		at = dperm_bytes_put_int(at, (uint64_t) value->encoding, 1);
	if (!value->present)
		return at;
	if (value->kind < DPERM_BLOCK_CATEGORY)
		return value->kind == DPERM_BLOCK_FLAG ? dperm_bytes_put_int(at, value->number > 0, 1) :
			dperm_bytes_put_int(at, dperm_bytes_bits(value->number), 8);
	at = dperm_bytes_put_int(at, (uint64_t) value->count, 4);
	if (text)
		return dperm_bytes_put(at, value->bytes, (size_t) value->count);
	for (int i = 0; i < value->count; i++)
	{
		float		single = (float) elements[i];
		uint32_t	bits;

		memcpy(&bits, &single, sizeof(bits));
		at = value->single ? dperm_bytes_put_int(at, bits, 4) :
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
	bool		single = tag == 6;
	bool		many = tag >= 4;
	uint64_t	count;

	if (row->bad || tag < 1 || tag > 6)
		return false;
	*value = (DpermTagged) {
		.kind = (DpermBlockKind) (tag - 1 - single), .single = single, .present = head == tag
	};
	if (value->kind == DPERM_BLOCK_CATEGORY)
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
	else if (value->kind == DPERM_BLOCK_FLAG)
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
	int			size = sizes[tag_of(value)];

	for (int i = 0; i < value->count; i++)
	{
		const unsigned char *at = value->bytes + (size_t) i * (size_t) size;
		uint32_t	bits = (uint32_t) dperm_bytes_load(at, 4);
		float		single;

		memcpy(&single, &bits, sizeof(single));
		out[i] = size == 4 ? (double) single : dperm_bytes_double(dperm_bytes_load(at, 8));
	}
}
