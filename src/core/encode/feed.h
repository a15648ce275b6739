/*
 * feed.h: from the values of rows to encoded rows in memory.
 *
 * Without a kernel a row is written at once. With one, rows wait until there
 * are enough of them for one matrix product, which is many times faster than a
 * product for each.
 */
#ifndef DPERM_FEED_H
#define DPERM_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/vector.h"
#include "core/encode/encoder.h"
#include "core/encode/layout.h"

/* Rows that wait at most. */
#define DPERM_FEED_ROWS 32

typedef struct DpermFeed
{
	const DpermEncoder *encoder;
	DpermLayout layout;
	/* the only block, if that is a vector and there is no kernel; else NULL */
	const DpermBlock *vector;
	const double *frequencies;	/* of the kernel, or NULL */
	int			linear;			/* coordinates before the kernel */
	double		target;			/* the norm of the kernel's features */
	int			waiting;
	double		targets[DPERM_FEED_ROWS];
	double	   *blocks;			/* DPERM_FEED_ROWS x linear: those that wait, then zeros */
	double	   *mapped;			/* DPERM_FEED_ROWS x layout.words */
} DpermFeed;

/* How many doubles of room a feed needs. */
extern size_t dperm_feed_room(const DpermEncoder *encoder);

/*
 * Make ready; places is room for dperm_encoder_dim() integers. All of it stays
 * in use.
 */
extern void dperm_feed_init(DpermFeed *feed, const DpermEncoder *encoder,
							const double *frequencies, int *places, double *room);

/* Do rows have to wait? */
static inline bool
dperm_feed_waits(const DpermFeed *feed)
{
	return feed->frequencies != NULL;
}

/*
 * Write a row that need not wait; sign is -1 or +1, or 0 for a row without a
 * label.
 */
static inline void
dperm_feed_write(const DpermFeed *feed, const DpermValue *values, int sign, double *row)
{
	/* a vector alone, the most common of all, takes the shortest way */
	if (feed->vector && sign != 0 && values->present)
	{
		double		target = sign * feed->layout.unit;
		double		factor = dperm_encoder_vector_factor(feed->vector, values->vector, target);

		if (factor != 0)
		{
			dperm_scale((size_t) feed->vector->count, factor, values->vector, row);
			if (feed->encoder->intercept)
				row[feed->vector->count] = target;
			return;
		}
	}
	dperm_layout_encode(&feed->layout, feed->encoder, values, sign, row);
}

/* Let a row wait; true when no more can, and dperm_feed_map() is due. */
extern bool dperm_feed_wait(DpermFeed *feed, const DpermValue *values, int sign);

/*
 * The rows that wait, feed.waiting of them, row after row; they last until the
 * next row waits. None wait then. The product is always of the same shape, so
 * that a row is rounded in the same way in whatever company.
 */
extern const double *dperm_feed_map(DpermFeed *feed);

#endif							/* DPERM_FEED_H */
