/*
 * test_pass.c: requests and answers of passes as bytes, exact and against
 * hostile bytes.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/core.h"
#include "core/solve/pass.h"
#include "host.h"
#include "unit/sample_pass.h"

static unsigned char bytes[SAMPLE_PASS_BYTES];
static SamplePass sample;

/* Where fields of a request are. */
enum
{
	AT_MAGIC = 0,
	AT_ORDER = 4,
	AT_LOSS = 5,
	AT_CLASSES = 6,
	AT_H = 8,
	AT_LABEL = 16,
	AT_BINS = 17,
	AT_WEIGHTED = 19,
	AT_SEED = 20,
	AT_DIM = 28,
	AT_READERS = 32,
	AT_ENCODER = 36,
	AT_WEIGHTS = 40
};

/*
 * Read a copy that ends where the bytes end, for the sanitizer; NULL if it is
 * valid. What was read before is released.
 */
static const char *
read_bytes(const unsigned char *in, size_t size, DpermPass *out, size_t *request)
{
	static unsigned char *copy;
	const char *why;

	free(copy);
	test_host_release();
	copy = malloc(size > 0 ? size : 1);
	memcpy(copy, in, size);
	memset(out, 0x5a, sizeof(*out));	/* no field may be left as it was */
	why = dperm_pass_read(copy, size, out, request);
	CHECK(test_host_allocated <= 4 * size + 64);
	return why;
}

/* The same, without the size of the request. */
static const char *
refusal(size_t size)
{
	DpermPass	out;
	size_t		request;

	return read_bytes(bytes, size, &out, &request);
}

/* Are so many numbers equal? */
static bool
same_numbers(const double *a, const double *b, size_t count)
{
	return memcmp(a, b, sizeof(double) * count) == 0;
}

/* Are all fields equal? */
static bool
same_pass(const DpermPass *a, const DpermPass *b)
{
	size_t		dim = (size_t) a->dim;

	return a->order == b->order && a->loss.kind == b->loss.kind && a->loss.h == b->loss.h &&
		a->loss.classes == b->loss.classes && a->label == b->label && a->bins == b->bins &&
		a->weighted == b->weighted && a->seed == b->seed && a->dim == b->dim &&
		same_numbers(a->weights, b->weights, dim) &&
		(a->order != DPERM_PASS_EXTENDED || same_numbers(a->weights_low, b->weights_low, dim)) &&
		a->reader_count == b->reader_count &&
		memcmp(a->readers, b->readers, sizeof(uint64_t) * (size_t) a->reader_count) == 0 &&
		a->encoder_size == b->encoder_size && memcmp(a->encoder, b->encoder, a->encoder_size) == 0 &&
		a->rows == b->rows && a->persons == b->persons && a->value[0] == b->value[0] &&
		a->value[1] == b->value[1] && a->digest == b->digest &&
		(a->rows == 0 || a->order == DPERM_PASS_COUNT || same_numbers(a->sums, b->sums, 2 * dim)) &&
		(a->rows == 0 || !dperm_pass_has_hess(a) ||
		 same_numbers(a->hess, b->hess, dperm_moments_packed(a->dim, a->loss))) &&
		(a->rows == 0 || a->order != DPERM_PASS_COUNT ||
		 memcmp(a->counts, b->counts, sizeof(int64_t) * (size_t) dperm_pass_count_cells(a)) == 0);
}

TEST(round_trips)
{
	TestRandom	state = 1;

	for (int round = 0; round < 20000; round++)
	{
		DpermPass	again;
		size_t		size = sample_pass(&state, &sample, bytes);
		size_t		request;

		CHECK(read_bytes(bytes, size, &again, &request) == NULL);
		CHECK(same_pass(&sample.pass, &again));
		CHECK(request == dperm_pass_write_request(&sample.pass, NULL));
		CHECK(size == request + dperm_pass_write_answer(&sample.pass, NULL));
		CHECK(dperm_pass_units(&again) == (again.weighted ? again.persons : again.rows));
	}
}

/* What there is, depending on the order; and that a request is short. */
TEST(has_parts_by_order)
{
	for (int order = DPERM_PASS_GRADIENT; order <= DPERM_PASS_LAST; order++)
		for (int weighted = 0; weighted < 2; weighted++)
		{
			DpermPass	pass = {.order = (DpermPassOrder) order, .rows = 7, .dim = 12, .reader_count = 3, .encoder_size = 17,
			.weighted = weighted, .label = DPERM_LABEL_TWO, .loss = {.kind = DPERM_LOSS_LOGISTIC}};
			size_t		answer = 8 + 8 * (size_t) weighted;

			CHECK(dperm_pass_write_request(&pass, NULL) ==
				  (size_t) AT_WEIGHTS + 8 * 12 * (order == DPERM_PASS_EXTENDED ? 2 : 1) + 4 * 3 + 17);
			answer += order == DPERM_PASS_COUNT ? 8 * 4 : 16 + 8 * 24;
			answer += order == DPERM_PASS_HESSIAN || order == DPERM_PASS_ROUGH ? 8 * 78 : 0;
			CHECK(dperm_pass_write_answer(&pass, NULL) == answer);
			pass.seed = 5;
			CHECK(order == DPERM_PASS_COUNT || dperm_pass_write_answer(&pass, NULL) == answer + 8);
			pass.rows = 0;
			CHECK(dperm_pass_write_answer(&pass, NULL) == 0);
			if (order != DPERM_PASS_COUNT)
				continue;
			CHECK(dperm_pass_count_cells(&pass) == 4);
			pass.bins = 9;
			CHECK(dperm_pass_count_cells(&pass) == 18);
			pass.bins = 0;
			pass.label = DPERM_LABEL_NUMBER;
			CHECK(dperm_pass_count_cells(&pass) == 5);
			pass.label = DPERM_LABEL_SEVERAL;
			pass.loss.classes = 4;
			CHECK(dperm_pass_count_cells(&pass) == 16);
		}
}

/* Find a sample for which a condition holds, and its size. */
#define FIND_SAMPLE(state, size, condition) \
	do { \
		size = sample_pass(&state, &sample, bytes); \
	} while (!(condition))

/* Numbers of classes, labels and cells are those of the order and the loss. */
TEST(tells_labels_and_counts)
{
	TestRandom	state = 7;

	for (int round = 0; round < 2000; round++)
	{
		size_t		size = sample_pass(&state, &sample, bytes);
		DpermPass  *pass = &sample.pass;
		bool		counts = pass->order == DPERM_PASS_COUNT;
		bool		several = pass->label == DPERM_LABEL_SEVERAL;

		for (int classes = 0; classes < 300; classes++)
		{
			dperm_bytes_put_int(bytes + AT_CLASSES, (uint64_t) classes, 2);
			CHECK(classes == pass->loss.classes || refusal(size) != NULL ||
				  (several && classes >= DPERM_CLASSES_MIN && pass->dim % classes == 0));
		}
		dperm_bytes_put_int(bytes + AT_CLASSES, (uint64_t) pass->loss.classes, 2);
		for (int label = 0; label < 256; label++)
		{
			bytes[AT_LABEL] = (unsigned char) label;
			CHECK(label == (int) pass->label || (counts && !several && label < DPERM_LABEL_SEVERAL) || refusal(size) != NULL);
		}
		bytes[AT_LABEL] = (unsigned char) pass->label;
		dperm_bytes_put_int(bytes + AT_BINS, DPERM_BINS_MAX + 1, 2);
		CHECK_TEXT(refusal(size), "the number of bins is out of range");
		dperm_bytes_put_int(bytes + AT_BINS, 1, 2);
		if (!counts)
			CHECK_TEXT(refusal(size), "the number of bins is out of range");
		dperm_bytes_put_int(bytes + AT_BINS, (uint64_t) pass->bins, 2);
		bytes[AT_WEIGHTED] = 2;
		CHECK(refusal(size) != NULL);
		bytes[AT_WEIGHTED] = (unsigned char) pass->weighted;
		if (counts)
		{
			bytes[AT_SEED] = 1;
			CHECK_TEXT(refusal(size), "there is a loss or a digest in a pass that counts");
			bytes[AT_SEED] = 0;
		}
		CHECK(refusal(size) == NULL);
	}
	for (int classes = 98; classes < 131; classes++)
	{
		static double weights[131];
		DpermPass	pass = {.order = DPERM_PASS_GRADIENT, .dim = classes, .weights = weights};
		size_t		size = dperm_pass_write_request(&pass, bytes);

		bytes[AT_LABEL] = DPERM_LABEL_SEVERAL;
		dperm_bytes_put_int(bytes + AT_CLASSES, (uint64_t) classes, 2);
		bytes[AT_LOSS] = DPERM_LOSS_SOFTMAX;
		CHECK((refusal(size) == NULL) == (classes <= DPERM_CLASSES_MAX));
		bytes[AT_LOSS] = 0;
		bytes[AT_ORDER] = DPERM_PASS_COUNT;
		CHECK((refusal(size) == NULL) == (classes <= DPERM_COUNTS_CLASSES_MAX));
		dperm_bytes_put_int(bytes + AT_BINS, 3, 2);
		CHECK((refusal(size) == NULL) == (classes <= DPERM_CLASSES_MAX));
	}
}

/*
 * One more than the number of rows, in one cell or in all, and numbers that would
 * wrap around.
 */
TEST(counts_no_more_than_rows)
{
	TestRandom	state = 6;

	for (int round = 0; round < 300; round++)
	{
		size_t		size;
		size_t		at;
		DpermPass  *pass = &sample.pass;
		bool		sums;
		uint64_t	most;

		FIND_SAMPLE(state, size, pass->order == DPERM_PASS_COUNT && pass->rows > 0);
		sums = pass->label == DPERM_LABEL_NUMBER;
		most = (uint64_t) pass->rows * (pass->weighted || sums ? DPERM_PERSON_PARTS : 1);
		at = dperm_pass_write_request(pass, NULL) + 8 + (pass->weighted ? 8 : 0);
		for (int i = 0; i < dperm_pass_count_cells(pass); i++, at += 8)
		{
			const uint64_t wrong[] = {0, UINT64_MAX, UINT64_C(1) << 63};
			uint64_t	others = 0;

			for (int j = 0; !sums && j < dperm_pass_count_cells(pass); j++)
				others += j == i ? 0 : (uint64_t) sample.counts[j];
			dperm_bytes_put_int(bytes + at, most - others, 8);
			CHECK(refusal(size) == NULL);
			for (int k = 0; k < 3; k++)
			{
				dperm_bytes_put_int(bytes + at, k == 0 ? most - others + 1 : wrong[k], 8);
				CHECK_TEXT(refusal(size), "more rows are counted than there are");
			}
			dperm_bytes_put_int(bytes + at, (uint64_t) sample.counts[i], 8);
		}
	}
}

/* Numbers of rows and of persons. */
TEST(has_rows_and_persons)
{
	TestRandom	state = 8;

	for (int round = 0; round < 300; round++)
	{
		static const uint64_t wrong[] = {0, DPERM_ROWS_MAX + 1, UINT64_C(1) << 63, UINT64_MAX};
		DpermPass  *pass = &sample.pass;
		size_t		size;
		size_t		at;

		FIND_SAMPLE(state, size, pass->rows > 0 && pass->order != DPERM_PASS_COUNT);
		at = dperm_pass_write_request(pass, NULL);
		for (int i = 0; i < 4; i++)
		{
			dperm_bytes_put_int(bytes + at, wrong[i], 8);
			CHECK_TEXT(refusal(size), "the number of rows is out of range");
		}
		dperm_bytes_put_int(bytes + at, DPERM_ROWS_MAX, 8);
		CHECK(refusal(size) == NULL);
		dperm_bytes_put_int(bytes + at, (uint64_t) pass->rows, 8);
		if (!pass->weighted)
			continue;
		dperm_bytes_put_int(bytes + at + 8, (uint64_t) pass->rows + 1, 8);
		CHECK_TEXT(refusal(size), "the number of rows is out of range");
		dperm_bytes_put_int(bytes + at + 8, (uint64_t) pass->rows, 8);
		CHECK(refusal(size) == NULL);
	}
}

TEST(refuses_every_other_length)
{
	TestRandom	state = 2;

	for (int round = 0; round < 60; round++)
	{
		size_t		size = sample_pass(&state, &sample, bytes);
		size_t		request = dperm_pass_write_request(&sample.pass, NULL);

		for (size_t some = 0; some < size; some++)
			CHECK((refusal(some) == NULL) == (some == request));
		bytes[size] = 0;
		CHECK(refusal(size + 1) != NULL);
	}
}

/* What accepted bytes guarantee. */
static void
check_promises(const DpermPass *pass)
{
	CHECK(pass->dim >= 1 && pass->dim <= DPERM_DIM_MAX);
	CHECK(pass->order >= DPERM_PASS_GRADIENT && pass->order <= DPERM_PASS_LAST);
	CHECK(pass->bins >= 0 && pass->bins <= (pass->order == DPERM_PASS_COUNT ? DPERM_BINS_MAX : 0));
	CHECK(pass->loss.kind <= DPERM_LOSS_SOFTMAX);
	CHECK(pass->label == DPERM_LABEL_SEVERAL ? pass->loss.classes >= 3 && pass->dim % pass->loss.classes == 0 :
		  pass->loss.classes == 0);
	CHECK(dperm_pass_count_cells(pass) <= 10000);
	CHECK(pass->order == DPERM_PASS_COUNT || pass->label == dperm_loss_entry((int) pass->loss.kind)->label);
	CHECK(pass->rows >= 0 && pass->rows <= DPERM_ROWS_MAX);
	CHECK(pass->persons >= 0 && pass->persons <= (pass->weighted ? pass->rows : 0));
	CHECK(isfinite(pass->value[0]) && isfinite(pass->value[1]));
	for (int i = 0; i < pass->dim; i++)
		CHECK(isfinite(pass->weights[i]) && (pass->rows == 0 || pass->sums == NULL || isfinite(pass->sums[2 * i])));
}

/* Fields in turn, replaced by values that are hard for decoders. */
TEST(survives_extreme_values)
{
	static const uint64_t extremes[] = {0, 1, 2, 3, 4, 255, 4999, 5000, 5001, UINT64_C(1) << 31,
		UINT64_C(1) << 32, UINT64_C(1) << 40, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX,
		UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000), UINT64_C(0x7ff8000000000000),
	UINT64_C(0x3ff0000000000000), UINT64_C(0x7fefffffffffffff), UINT64_C(0x0000000000000001)};
	static const int widths[] = {1, 2, 4, 8};
	TestRandom	state = 3;
	int			refused = 0;

	for (int round = 0; round < 100; round++)
	{
		size_t		size = sample_pass(&state, &sample, bytes);

		for (size_t at = 0; at + 8 <= size; at++)
			for (size_t k = 0; k < sizeof(extremes) / sizeof(extremes[0]); k++)
			{
				int			width = widths[(at + k) % 4];
				unsigned char was[8];
				DpermPass	out;
				size_t		request;

				memcpy(was, bytes + at, 8);
				dperm_bytes_put_int(bytes + at, extremes[k], width);
				if (read_bytes(bytes, size, &out, &request) == NULL)
					check_promises(&out);
				else
					refused++;
				memcpy(bytes + at, was, 8);
			}
	}
	CHECK(refused > 10000);
}

/* Every number has to be finite, wherever it is. */
TEST(refuses_numbers_that_are_none)
{
	static const double bad[] = {NAN, INFINITY, -INFINITY};
	TestRandom	state = 4;

	for (int round = 0; round < 200; round++)
	{
		DpermPass  *pass = &sample.pass;
		size_t		size;
		size_t		at;

		FIND_SAMPLE(state, size, pass->rows > 0 && pass->order != DPERM_PASS_COUNT);
		for (int i = 0; i < pass->dim; i++)
		{
			unsigned char was[8];

			memcpy(was, bytes + AT_WEIGHTS + 8 * i, 8);
			dperm_bytes_put_double(bytes + AT_WEIGHTS + 8 * i, bad[i % 3]);
			CHECK(refusal(size) != NULL);
			memcpy(bytes + AT_WEIGHTS + 8 * i, was, 8);
		}
		at = dperm_pass_write_request(pass, NULL) + 8 + (pass->weighted ? 8 : 0);
		for (int i = 0; at < size; at += 8, i++)
		{
			unsigned char was[8];

			if (i == 2 && pass->seed != 0)
				continue;		/* the digest */
			memcpy(was, bytes + at, 8);
			dperm_bytes_put_double(bytes + at, bad[i % 3]);
			CHECK_TEXT(refusal(size), "too short, or a sum is not finite");
			memcpy(bytes + at, was, 8);
		}
		CHECK(refusal(size) == NULL);
	}
}
