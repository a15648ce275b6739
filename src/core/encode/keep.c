/*
 * keep.c: the rows of a stream in memory.
 */
#include "core/encode/keep.h"

#include <string.h>

/* Start empty. */
void
dperm_keep_init(DpermKeep *keep, int words, int64_t capacity, int64_t sample, int64_t chunk_rows)
{
	keep->words = words;
	keep->capacity = capacity;
	keep->sample = sample;
	keep->used = 0;
	keep->seen = 0;
	keep->stride = 1;
	keep->chunk_rows = chunk_rows;
	keep->chunks = NULL;
}

/* Drop every second row and double the stride. */
static void
thin(DpermKeep *keep)
{
	int64_t		left = (keep->used + 1) / 2;

	for (int64_t i = 1; i < left; i++)
		memcpy(dperm_keep_row(keep, i), dperm_keep_row(keep, 2 * i),
			   sizeof(double) * keep->words);
	keep->used = left;
	keep->stride *= 2;
}

/* Keep only a sample from now on, with room for one more row. */
void
dperm_keep_shrink(DpermKeep *keep)
{
	keep->capacity = keep->sample;
	while (keep->used >= keep->capacity)
		thin(keep);
}
