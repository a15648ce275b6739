/*
 * feed.c: encode the values of rows into memory.
 */
#include "core/encode/feed.h"

#include <string.h>

#include "core/encode/fourier.h"

/* How many doubles of room a feed needs. */
size_t
dperm_feed_room(const DpermEncoder *encoder)
{
	return encoder->kernel.kind == DPERM_KERNEL_LINEAR ? 0 :
		DPERM_FEED_ROWS * (size_t) (dperm_encoder_linear_dim(encoder) +
									dperm_encoder_dim(encoder));
}

/* Initialise a feed. */
void
dperm_feed_init(DpermFeed *feed, const DpermEncoder *encoder, const double *frequencies,
				int *places, double *room)
{
	memset(feed, 0, sizeof(*feed));
	feed->encoder = encoder;
	feed->layout = dperm_layout_make(encoder, places);
	if (encoder->kernel.kind == DPERM_KERNEL_LINEAR && encoder->block_count == 1 &&
		encoder->blocks[0].kind == DPERM_BLOCK_VECTOR)
		feed->vector = &encoder->blocks[0];
	feed->frequencies = frequencies;
	feed->linear = dperm_encoder_linear_dim(encoder);
	feed->target = dperm_encoder_kernel_target(encoder);
	feed->blocks = room;
	feed->mapped = room + DPERM_FEED_ROWS * (size_t) feed->linear;
}

/* Add a row to those that wait. */
bool
dperm_feed_wait(DpermFeed *feed, const DpermValue *values, int sign)
{
	double	   *blocks = feed->blocks + (size_t) feed->waiting * feed->linear;

	if (sign == 0)
		memset(blocks, 0, sizeof(double) * feed->linear);
	else
		dperm_encoder_encode_inputs(feed->encoder, values, blocks);
	feed->targets[feed->waiting++] = sign * feed->target;
	return feed->waiting == DPERM_FEED_ROWS;
}

/* Encode the rows that wait. */
const double *
dperm_feed_map(DpermFeed *feed)
{
	bool		intercept = feed->encoder->intercept;
	int			dim = feed->layout.dim;
	size_t		left = (size_t) (DPERM_FEED_ROWS - feed->waiting);

	memset(feed->blocks + (size_t) feed->waiting * feed->linear, 0,
		   sizeof(double) * left * feed->linear);
	dperm_fourier_map_rows(&feed->encoder->kernel, feed->frequencies, feed->linear,
						   DPERM_FEED_ROWS, feed->blocks, feed->targets, intercept ? 1 : 0,
						   feed->mapped);
	for (int i = 0; intercept && i < feed->waiting; i++)
		feed->mapped[(size_t) (i + 1) * dim - 1] = feed->targets[i];
	feed->waiting = 0;
	return feed->mapped;
}
