/*
 * keep.c: an even sample of a stream of rows.
 */
#include "keep.h"

#include <string.h>

/* Start an empty sample. */
void
dperm_keep_init(DpermKeep *keep, int dim, int64_t capacity)
{
	keep->dim = dim;
	keep->capacity = capacity;
	keep->used = 0;
	keep->seen = 0;
	keep->stride = 1;
	keep->rows = NULL;
}

/* Drop every second row and double the stride. */
void
dperm_keep_thin(DpermKeep *keep)
{
	int64_t		left = (keep->used + 1) / 2;

	for (int64_t i = 1; i < left; i++)
		memcpy(keep->rows + i * keep->dim, keep->rows + 2 * i * keep->dim,
			   sizeof(double) * keep->dim);
	keep->used = left;
	keep->stride *= 2;
}

/* The place for the next row of the stream, -1 if it is not kept. */
int64_t
dperm_keep_offer(DpermKeep *keep)
{
	int64_t		index = keep->seen++;

	if (keep->capacity == 0 || index % keep->stride != 0)
		return -1;
	while (keep->used >= keep->capacity)
		dperm_keep_thin(keep);
	if (index % keep->stride != 0)
		return -1;
	return keep->used++;
}

/* Take in the sample of another stream. */
void
dperm_keep_merge(DpermKeep *into, DpermKeep *other)
{
	while (into->stride != other->stride ||
		   into->used + other->used > into->capacity)
	{
		/* the finer one first; at equal strides both in turn */
		dperm_keep_thin(into->stride <= other->stride ? into : other);
	}
	if (other->used > 0)
		memcpy(into->rows + into->used * into->dim, other->rows,
			   sizeof(double) * other->used * into->dim);
	into->used += other->used;
	into->seen += other->seen;
}
