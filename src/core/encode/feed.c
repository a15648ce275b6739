/*
 * feed.c: encode the values of rows into memory.
 */
#include "core/encode/feed.h"

#include <string.h>

#include "core/encode/fourier.h"

/* How many doubles of room a feed needs; a row has a label, and perhaps a weight. */
size_t
dperm_feed_room(const DpermEncoder *encoder)
{
	return encoder->kernel.kind == DPERM_KERNEL_LINEAR ? 0 :
		DPERM_FEED_ROWS * (size_t) (dperm_encoder_linear_dim(encoder) +
									dperm_encoder_dim(encoder) + 2);
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
	feed->blocks = room;
	feed->mapped = room + DPERM_FEED_ROWS * (size_t) feed->linear;
}

/* Add a row to those that wait. */
bool
dperm_feed_wait(DpermFeed *feed, const DpermValue *values, double label)
{
	dperm_encoder_encode_inputs(feed->encoder, values,
								feed->blocks + (size_t) feed->waiting * feed->linear);
	feed->labels[feed->waiting++] = label;
	return feed->waiting == DPERM_FEED_ROWS;
}

/* Encode the rows that wait. */
double *
dperm_feed_map(DpermFeed *feed)
{
	const DpermLayout *layout = &feed->layout;
	size_t		left = (size_t) (DPERM_FEED_ROWS - feed->waiting);

	memset(feed->blocks + (size_t) feed->waiting * feed->linear, 0,
		   sizeof(double) * left * feed->linear);
	dperm_fourier_map_rows(&feed->encoder->kernel, feed->frequencies, feed->linear,
						   DPERM_FEED_ROWS, feed->blocks, layout->unit,
						   layout->words - layout->dense, feed->mapped);
	for (int i = 0; i < feed->waiting; i++)
		feed->mapped[(size_t) i * layout->words + dperm_layout_label(layout)] = feed->labels[i];
	feed->waiting = 0;
	return feed->mapped;
}
