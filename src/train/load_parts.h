/*
 * load_parts.h: the rows of one load that several processes have encoded.
 *
 * A part is what one process has: how many rows, and where in shared memory
 * their chunks are.
 */
#ifndef DPERM_LOAD_PARTS_H
#define DPERM_LOAD_PARTS_H

#include "lib/stringinfo.h"

#include "train/fill.h"

/* The head of the description of a part. */
typedef struct DpermLoadPart
{
	uint32		number;			/* of the process */
	uint32		version;		/* a process may describe its part again */
} DpermLoadPart;

/*
 * Append the description of a part: the rows of each portion, and the caches of
 * a fill. Rows that wait in them are stored first.
 */
extern void dperm_load_parts_write(StringInfo to, const DpermLoadPart *part, const int64 *portions,
								   int portion_count, DpermFill *fill);

/*
 * When all processes have ended: take their rows over into a fill of the same
 * sets, whose caches are initialised and empty, given the descriptions of all
 * parts. The number of rows of each portion is added to portions.
 */
extern void dperm_load_parts_take(DpermSharedRows *shared, const char *parts, Size size,
								  int64 *portions, int portion_count, DpermFill *fill);

#endif							/* DPERM_LOAD_PARTS_H */
