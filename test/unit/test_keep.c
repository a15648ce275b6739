/*
 * test_keep.c: the sample of a stream is even, bounded, and whole while it fits.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/keep.h"

#define DIM 2

/* Offer rows first, first + 1, ... whose coordinates say which they are. */
static void
offer_rows(DpermKeep *keep, int64_t first, int64_t count)
{
	for (int64_t i = first; i < first + count; i++)
	{
		int64_t		place = dperm_keep_offer(keep);

		if (place < 0)
			continue;
		CHECK(place < keep->capacity);
		for (int j = 0; j < keep->dim; j++)
			keep->rows[place * keep->dim + j] = (double) i + 0.25 * j;
	}
}

/* An empty sample with room for exactly its capacity. */
static DpermKeep
empty(int64_t capacity)
{
	DpermKeep	keep;

	dperm_keep_init(&keep, DIM, capacity);
	keep.rows = malloc(sizeof(double) * DIM * (capacity > 0 ? capacity : 1));
	return keep;
}

/* Is the stride a power of two? */
static bool
good_stride(const DpermKeep *keep)
{
	return keep->stride >= 1 && (keep->stride & (keep->stride - 1)) == 0;
}

/* After any number of rows: every stride-th of them, and as many as that is. */
TEST(keeps_every_stride_th_row)
{
	for (int64_t capacity = 2; capacity <= 33; capacity++)
	{
		DpermKeep	keep = empty(capacity);

		for (int64_t n = 0; n < 400; n++)
		{
			int64_t		stride = 1;

			/* brute force: the smallest stride at which the rows fit */
			while ((n + stride - 1) / stride > capacity)
				stride *= 2;
			CHECK(keep.seen == n);
			CHECK(keep.stride == stride);
			CHECK(keep.used == (n + stride - 1) / stride);
			for (int64_t i = 0; i < keep.used; i++)
				for (int j = 0; j < DIM; j++)
					CHECK(keep.rows[i * DIM + j] == (double) (i * stride) + 0.25 * j);
			CHECK(dperm_keep_complete(&keep) == (n <= capacity));
			offer_rows(&keep, n, 1);
		}
		free(keep.rows);
	}
}

TEST(keeps_nothing_without_room)
{
	DpermKeep	keep = empty(0);

	for (int i = 0; i < 1000; i++)
		CHECK(dperm_keep_offer(&keep) == -1);
	CHECK(keep.used == 0 && keep.seen == 1000);
	CHECK(!dperm_keep_complete(&keep));
	free(keep.rows);
}

TEST(thins)
{
	for (int64_t n = 0; n <= 20; n++)
	{
		DpermKeep	keep = empty(20);

		offer_rows(&keep, 0, n);
		dperm_keep_thin(&keep);
		CHECK(keep.used == (n + 1) / 2 && keep.stride == 2 && keep.seen == n);
		for (int64_t i = 0; i < keep.used; i++)
			CHECK(keep.rows[i * DIM] == (double) (2 * i));
		free(keep.rows);
	}
}

/* Merged samples: bounded, in order, evenly spaced within each part, and none twice. */
TEST(merges_evenly)
{
	TestRandom	state = 3;

	for (int round = 0; round < 5000; round++)
	{
		int64_t		capacity = 2 + test_below(&state, 40);
		int			parts = 2 + test_below(&state, 5);
		DpermKeep	into = empty(capacity);
		int64_t		total = 0;

		for (int part = 0; part < parts; part++)
		{
			DpermKeep	other = empty(capacity);
			int64_t		count = test_below(&state, 2) ? test_below(&state, 10) :
				test_below(&state, 500);
			int64_t		before = into.used;

			offer_rows(&other, 1000 * part, count);
			if (part == 0 && test_below(&state, 2))
			{
				free(into.rows);
				into = other;
				total = count;
				continue;
			}
			dperm_keep_merge(&into, &other);
			total += count;
			CHECK(into.seen == total);
			CHECK(into.used <= capacity);
			CHECK(into.stride == other.stride && good_stride(&into));
			CHECK(before == 0 || into.used > 0);
			free(other.rows);
		}
		CHECK(dperm_keep_complete(&into) == (into.used == total));
		CHECK(total > capacity || into.stride == 1);
		CHECK(total > capacity || dperm_keep_complete(&into));

		/* order and spacing: within a part, equal steps of the stride */
		for (int64_t i = 1; i < into.used; i++)
		{
			double		was = into.rows[(i - 1) * DIM];
			double		is = into.rows[i * DIM];

			CHECK(is > was);
			if ((int64_t) is / 1000 == (int64_t) was / 1000)
				CHECK(is - was == (double) into.stride);
			CHECK(into.rows[i * DIM + 1] == is + 0.25);
		}

		/* about one row in stride of each part */
		if (total > 0)
			CHECK(into.used >= 1 && llabs(into.used * into.stride - total) <=
				  parts * into.stride);

		/* it goes on as a stream */
		offer_rows(&into, 1000 * parts, 700);
		CHECK(into.used <= capacity && into.seen == total + 700);
		free(into.rows);
	}
}

/* The sample is not much smaller than it could be. */
TEST(wastes_no_room)
{
	for (int64_t n = 1; n < 5000; n += 7)
	{
		DpermKeep	keep = empty(64);

		offer_rows(&keep, 0, n);
		CHECK(keep.used >= (n < 64 ? n : 32));
		free(keep.rows);
	}
}

int
main(void)
{
	RUN(keeps_every_stride_th_row);
	RUN(keeps_nothing_without_room);
	RUN(thins);
	RUN(merges_evenly);
	RUN(wastes_no_room);
	return test_report();
}
