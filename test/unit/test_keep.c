/*
 * test_keep.c: the rows of a stream: all of them while they fit, then an even
 * sample, whatever their number, the chunks and the moment at which rows are
 * dropped.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/encode/keep.h"

#define WORDS 2
#define CHUNKS 4096

/* A stream, and what should be kept of it by plain counting. */
typedef struct Stream
{
	DpermKeep	keep;
	int64_t		capacity;		/* as asked for */
	int64_t		sample;
	int64_t		stride;
	bool		shrunk;
	int			chunk_count;
	double	   *chunks[CHUNKS];
} Stream;

static Stream stream;

static void
start(int64_t capacity, int64_t sample, int64_t chunk_rows)
{
	dperm_keep_init(&stream.keep, WORDS, capacity, sample, chunk_rows);
	CHECK(stream.keep.chunks == NULL);
	stream.keep.chunks = stream.chunks;
	stream.capacity = capacity;
	stream.sample = sample;
	stream.stride = 1;
	stream.shrunk = false;
	stream.chunk_count = 0;
}

/* Free all chunks but some. */
static void
free_chunks(int left)
{
	while (stream.chunk_count > left)
		free(stream.chunks[--stream.chunk_count]);
}

/* How many rows a stride leaves. */
static int64_t
rows_left(int64_t rows, int64_t stride)
{
	return (rows + stride - 1) / stride;
}

/*
 * What is dropped when a sample is made: half of the rows each time, until
 * there is space for one more.
 */
static void
expect_shrink(void)
{
	stream.shrunk = true;
	while (rows_left(stream.keep.seen, stream.stride) >= stream.sample)
		stream.stride *= 2;
}

/*
 * Offer a row that holds its own number; chunks are added when they are needed.
 */
static void
offer(void)
{
	int64_t		index = stream.keep.seen;
	int64_t		most = stream.shrunk ? stream.sample : stream.capacity;
	int64_t		place;

	CHECK(dperm_keep_wants(&stream.keep) == (index % stream.stride == 0));
	if (most > 0 && index % stream.stride == 0 && rows_left(index, stream.stride) >= most)
		expect_shrink();
	place = dperm_keep_offer(&stream.keep);
	CHECK(stream.keep.seen == index + 1);
	CHECK((place >= 0) == (stream.capacity > 0 && index % stream.stride == 0));
	if (place < 0)
		return;
	CHECK(place == index / stream.stride);
	CHECK(place < (stream.shrunk ? stream.sample : stream.capacity));
	while (place / stream.keep.chunk_rows >= stream.chunk_count)
		stream.chunks[stream.chunk_count++] =
			malloc(sizeof(double) * WORDS * stream.keep.chunk_rows);
	for (int j = 0; j < WORDS; j++)
		dperm_keep_row(&stream.keep, place)[j] = (double) index + 0.25 * j;
}

/* Make a sample now, and give back the chunks that are empty. */
static void
shrink(void)
{
	int64_t		rows = stream.keep.chunk_rows;

	expect_shrink();
	dperm_keep_shrink(&stream.keep);
	free_chunks((int) ((stream.keep.used + rows - 1) / rows));
}

/* Every stride-th row is kept, in order and complete. */
static void
check_rows(void)
{
	const DpermKeep *keep = &stream.keep;

	CHECK(keep->stride == stream.stride);
	CHECK(keep->used == rows_left(keep->seen, stream.stride));
	CHECK((keep->used == keep->seen) == (stream.stride == 1 || keep->seen <= 1));
	for (int64_t i = 0; i < keep->used; i++)
		for (int j = 0; j < WORDS; j++)
			CHECK(dperm_keep_row(keep, i)[j] == (double) (i * stream.stride) + 0.25 * j);
}

/* After any number of rows, for every capacity, sample and size of chunks. */
TEST(keeps_every_stride_th_row)
{
	for (int64_t capacity = 2; capacity <= 40; capacity++)
		for (int64_t sample = 2; sample <= capacity; sample = sample * 2 + 1)
			for (int64_t chunk_rows = DPERM_STRIPES; chunk_rows <= 32; chunk_rows *= 2)
			{
				start(capacity, sample, chunk_rows);
				for (int n = 0; n < 300; n++)
				{
					check_rows();
					CHECK((n <= capacity) == !stream.shrunk);
					offer();
				}
				free_chunks(0);
			}
}

/* A sample can be made at any time, more than once. */
TEST(shrinks_when_told)
{
	TestRandom	state = 3;

	for (int round = 0; round < 2000; round++)
	{
		int64_t		capacity = 2 + test_below(&state, 300);
		int			times = test_below(&state, 3);

		start(test_below(&state, 2) ? INT64_MAX : capacity, 2 + test_below(&state, (int) capacity - 1),
			  DPERM_STRIPES << test_below(&state, 4));
		for (int i = 0; i <= times; i++)
		{
			for (int n = test_below(&state, 400); n > 0; n--)
				offer();
			check_rows();
			if (i < times)
				shrink();
			check_rows();
		}
		free_chunks(0);
	}
}

TEST(keeps_nothing_without_room)
{
	start(0, 0, DPERM_STRIPES);
	for (int i = 0; i < 1000; i++)
		CHECK(dperm_keep_offer(&stream.keep) == -1);
	CHECK(stream.keep.used == 0 && stream.keep.seen == 1000);
}

/* The sample is not much smaller than it could be. */
TEST(wastes_no_room)
{
	for (int64_t n = 1; n < 3000; n += 7)
	{
		start(1000, 64, 16);
		for (int64_t i = 0; i < n; i++)
			offer();
		CHECK(stream.keep.used >= (n <= 1000 ? n : 31));
		free_chunks(0);
	}
}

/*
 * Every place in a chunk is a different row, and a stripe is every eighth of
 * them in one piece.
 */
TEST(deals_a_chunk_out_in_stripes)
{
	for (int64_t chunk_rows = DPERM_STRIPES; chunk_rows <= 512; chunk_rows *= 2)
	{
		double	   *memory = malloc(sizeof(double) * WORDS * 2 * chunk_rows);
		double	   *chunks[2] = {memory + WORDS * chunk_rows, memory};
		DpermKeep	keep;

		dperm_keep_init(&keep, WORDS, 2 * chunk_rows, 2, chunk_rows);
		keep.chunks = chunks;
		for (int64_t i = 0; i < 2 * chunk_rows; i++)
		{
			int64_t		within = i % chunk_rows;
			const double *piece = chunks[i / chunk_rows] +
				WORDS * (within % DPERM_STRIPES) * (chunk_rows / DPERM_STRIPES);

			CHECK(dperm_keep_row(&keep, i) == piece + WORDS * (within / DPERM_STRIPES));
		}
		free(memory);
	}
}
