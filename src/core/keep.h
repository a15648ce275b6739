/*
 * keep.h: an even sample of a stream of rows, of bounded size.
 *
 * Every stride-th row is kept; when the room is full, every second kept row goes
 * and the stride doubles. While the stride is 1 the sample is the whole stream.
 * The solver starts from the sample; what is released does not depend on it
 * beyond the certified residual, so it needs no randomness.
 */
#ifndef DPERM_KEEP_H
#define DPERM_KEEP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct DpermKeep
{
	int			dim;
	int64_t		capacity;		/* rows at the most: 0 keeps nothing, else >= 2 */
	int64_t		used;			/* rows held now */
	int64_t		seen;			/* rows offered */
	int64_t		stride;			/* a power of two */
	double	   *rows;			/* used x dim, row after row */
} DpermKeep;

extern void dperm_keep_init(DpermKeep *keep, int dim, int64_t capacity);

/*
 * The place for the next row, or -1 when it is not kept. The caller writes the
 * row to rows + place * dim; it makes sure first that rows has room for
 * place + 1 rows, so that memory can grow as rows come.
 */
extern int64_t dperm_keep_offer(DpermKeep *keep);

/* Halve the sample. */
extern void dperm_keep_thin(DpermKeep *keep);

/*
 * Take in the sample of another stream; into->rows has room for capacity rows.
 * The other one is thinned in place to the same stride.
 */
extern void dperm_keep_merge(DpermKeep *into, DpermKeep *other);

/* Is the sample the whole stream? */
static inline bool
dperm_keep_complete(const DpermKeep *keep)
{
	return keep->used == keep->seen;
}

#endif							/* DPERM_KEEP_H */
