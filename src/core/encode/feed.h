/*
 * feed.h: encode the values of rows into memory.
 *
 * Without a kernel a row is written at once. With a kernel, rows wait until
 * there are enough for a matrix product, which is many times faster than a
 * product for each row.
 */
#ifndef DPERM_FEED_H
#define DPERM_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/vector.h"
#include "core/encode/encoder.h"
#include "core/encode/layout.h"

/* How many rows can wait. */
#define DPERM_FEED_ROWS 32

typedef struct DpermFeed
{
	const DpermEncoder *encoder;
	DpermLayout layout;
	/* the only block, if it is a vector and there is no kernel; else NULL */
	const DpermBlock *vector;
	const double *frequencies;	/* of the kernel, or NULL */
	int			linear;			/* coordinates before the kernel */
	int			waiting;
	double		labels[DPERM_FEED_ROWS];
	double	   *blocks;			/* DPERM_FEED_ROWS x linear: waiting rows, then zeros */
	double	   *mapped;			/* DPERM_FEED_ROWS x layout.words, weights included */
} DpermFeed;

/* How many doubles of room a feed needs. */
extern size_t dperm_feed_room(const DpermEncoder *encoder);

/*
 * Initialise; places is room for dperm_encoder_dim() integers. The feed keeps
 * pointers to all arguments.
 */
extern void dperm_feed_init(DpermFeed *feed, const DpermEncoder *encoder,
							const double *frequencies, int *places, double *room);

/* Do rows have to wait? */
static inline bool
dperm_feed_waits(const DpermFeed *feed)
{
	return feed->frequencies != NULL;
}

/* Write a row that does not have to wait, except for its weight. */
static inline void
dperm_feed_write(const DpermFeed *feed, const DpermValue *values, double label, double *row)
{
	/* fast path for the most common case, a single vector */
	if (feed->vector && values->present)
	{
		double		factor =
			dperm_encoder_vector_factor(feed->vector, values->vector, feed->layout.unit);

		if (factor != 0)
		{
			dperm_scale((size_t) feed->vector->count, factor, values->vector, row);
			row[dperm_layout_label(&feed->layout)] = label;
			return;
		}
	}
	dperm_layout_encode(&feed->layout, feed->encoder, values, label, row);
}

/*
 * Let a row wait; true when no more can wait, so that dperm_feed_map() must be
 * called.
 */
extern bool dperm_feed_wait(DpermFeed *feed, const DpermValue *values, double label);

/*
 * Encode the waiting rows, feed.waiting of them, row after row, except for
 * their weights, which the caller may write; none wait afterwards. The result
 * is valid until the next row waits. The product always has the same shape, so
 * that the rounding of a row does not depend on the others.
 */
extern double *dperm_feed_map(DpermFeed *feed);

#endif							/* DPERM_FEED_H */
