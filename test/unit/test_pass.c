/*
 * test_pass.c: the flat form of a pass, exact and against hostile words.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/base/limits.h"
#include "core/solve/pass.h"
#include "unit/sample_pass.h"

static uint64_t words[SAMPLE_PASS_WORDS];

/*
 * Read a copy that ends where the words end, for the sanitizer; NULL if it is
 * valid.
 */
static const char *
read_words(const uint64_t *in, size_t count, DpermPass *out)
{
	uint64_t   *copy = malloc(sizeof(uint64_t) * (count > 0 ? count : 1));
	const char *why = "";
	bool		ok;

	memcpy(copy, in, sizeof(uint64_t) * count);
	memset(out, 0x5a, sizeof(*out));	/* no field may be left as it was */
	ok = dperm_pass_read(copy, count, out, &why);
	if (ok != (why == NULL))
		abort();
	free(copy);
	return why;
}

/* Are all fields equal? */
static bool
same_pass(const DpermPass *a, const DpermPass *b)
{
	return dperm_pass_matches(a, b) && a->rows == b->rows && a->persons == b->persons && a->value[0] == b->value[0] &&
		a->value[1] == b->value[1];
}

TEST(round_trips)
{
	TestRandom	state = 1;

	for (int round = 0; round < 20000; round++)
	{
		DpermPass	pass;
		DpermPass	again;
		size_t		count = sample_pass(&state, &pass, words);

		CHECK(read_words(words, count, &again) == NULL);
		CHECK(same_pass(&pass, &again));
		CHECK(dperm_pass_words(&again) == count);
	}
}

/*
 * Which parts there are, depending on the order and on whether there are rows.
 */
TEST(has_parts_by_order)
{
	for (int order = DPERM_PASS_GRADIENT; order <= DPERM_PASS_LAST; order++)
		for (int rows = 0; rows < 2; rows++)
		{
			DpermPass	pass = {.order = (DpermPassOrder) order, .rows = 7 * rows, .dim = 5,
				.readers = 3, .encoder = 17
			};
			size_t		at = DPERM_PASS_HEADER;

			CHECK(DPERM_PASS_HEADER == 14);
			CHECK(dperm_pass_weights_at(&pass) == at);
			at += order == DPERM_PASS_CAREFUL || order == DPERM_PASS_PRODUCT ? 10 : 5;
			CHECK(dperm_pass_gradient_at(&pass) == at);
			at += !rows ? 0 : order == DPERM_PASS_COUNT ? 4 : 10;
			CHECK(dperm_pass_hess_at(&pass) == at);
			at += (order == DPERM_PASS_HESSIAN || order == DPERM_PASS_ROUGH) && rows ? 15 : 0;
			CHECK(dperm_pass_readers_at(&pass) == at);
			CHECK(dperm_pass_encoder_at(&pass) == at + 3);
			CHECK(dperm_pass_words(&pass) == at + 6);
			CHECK(dperm_pass_count_cells(&pass) == (order == DPERM_PASS_COUNT ? 4 : 0));
			if (order == DPERM_PASS_COUNT)
			{
				pass.bins = 9;
				CHECK(dperm_pass_count_cells(&pass) == 18);
				CHECK(dperm_pass_words(&pass) == at + 6 + (rows ? 14 : 0));
				pass.bins = 0;
				pass.label = DPERM_LABEL_NUMBER;
				CHECK(dperm_pass_count_cells(&pass) == 5);
				CHECK(dperm_pass_words(&pass) == at + 6 + (rows ? 1 : 0));
			}
		}
}

/*
 * The same with several classes: sums for each, and counts for each pair.
 */
TEST(has_parts_of_several_classes)
{
	for (int order = DPERM_PASS_GRADIENT; order <= DPERM_PASS_LAST; order++)
		for (int rows = 0; rows < 2; rows++)
		{
			bool		counts = order == DPERM_PASS_COUNT;
			DpermPass	pass = {.order = (DpermPassOrder) order, .rows = 7 * rows, .dim = 12, .label = DPERM_LABEL_SEVERAL,
				.loss = {.kind = counts ? DPERM_LOSS_LOGISTIC : DPERM_LOSS_SOFTMAX, .classes = 4}, .readers = 3, .encoder = 17,
				.domain = 1 + 12
			};
			size_t		at = DPERM_PASS_HEADER;
			DpermPass	out;

			at += order == DPERM_PASS_CAREFUL || order == DPERM_PASS_PRODUCT ? 24 : 12;
			CHECK(dperm_pass_gradient_at(&pass) == at);
			at += !rows ? 0 : counts ? 16 : 24;
			CHECK(dperm_pass_hess_at(&pass) == at);
			/* a matrix of three coordinates, and one of four classes */
			at += (order == DPERM_PASS_HESSIAN || order == DPERM_PASS_ROUGH) && rows ? 6 + 10 : 0;
			CHECK(dperm_pass_readers_at(&pass) == at);
			CHECK(dperm_pass_domain_at(&pass) == at + 6);
			CHECK(dperm_pass_words(&pass) == at + 8);
			CHECK(dperm_pass_count_cells(&pass) == (counts ? 16 : 0));
			pass.bins = counts ? 9 : 0;
			CHECK(dperm_pass_count_cells(&pass) == 2 * pass.bins);
			pass.bins = 0;
			memset(words, 0, sizeof(words));
			memcpy(words + at + 6, "a\0b\0cc\0dddd", 12);
			dperm_pass_write(&pass, words);
			CHECK(words[2] == (counts ? 0x400 : 0x404));
			CHECK(read_words(words, at + 8, &out) == NULL);
			CHECK(same_pass(&pass, &out) && out.loss.classes == 4);
			CHECK(dperm_pass_ordered_words(words, at + 8) == dperm_pass_encoder_at(&pass));
		}
}

/* Their list is as long as stated, and each value is in it once. */
TEST(has_several_classes)
{
	TestRandom	state = 7;
	int			seen = 0;

	for (int round = 0; round < 400; round++)
	{
		DpermPass	pass;
		DpermPass	out;
		size_t		count = sample_pass(&state, &pass, words);
		char	   *domain = (char *) (words + dperm_pass_domain_at(&pass));
		uint64_t	loss = words[2];
		uint64_t	label = words[11];

		if (pass.label != DPERM_LABEL_SEVERAL)
		{
			words[2] |= UINT64_C(3) << 8;
			CHECK_TEXT(read_words(words, count, &out), "the number of classes is out of range");
			words[2] = loss;
			words[1] = DPERM_PASS_PRODUCT;
			CHECK(read_words(words, count, &out) != NULL);
			continue;
		}
		seen++;
		/* every number of classes that the word has room for, and some more */
		for (uint64_t classes = 0; classes < 6000; classes++)
		{
			words[2] = (loss & 0xff) | classes << 8;
			CHECK((read_words(words, count, &out) == NULL) == (classes == (uint64_t) pass.loss.classes));
		}
		for (int bit = 8; bit < 64; bit++)
		{
			words[2] = loss ^ UINT64_C(1) << bit;
			CHECK(read_words(words, count, &out) != NULL);
		}
		words[2] = (loss & 0xff) | 2 << 8;
		CHECK_TEXT(read_words(words, count, &out), "the number of classes is out of range");
		words[2] = (loss & 0xff) | (pass.order == DPERM_PASS_COUNT && pass.bins == 0 ? DPERM_PASS_CLASSES_MAX + 1 : DPERM_DIM_MAX + 1) << 8;
		CHECK_TEXT(read_words(words, count, &out), "the number of classes is out of range");
		words[2] = loss;
		words[4]++;
		CHECK_TEXT(read_words(words, count, &out), "the dimension is not a multiple of the number of classes");
		words[4]--;
		words[11] = label & ~UINT64_C(0xff0fffff);
		CHECK_TEXT(read_words(words, count, &out), "several classes have no list of their values");
		words[11] = label + 1;
		CHECK(read_words(words, count, &out) != NULL);
		words[11] = label - 1;
		CHECK(read_words(words, count, &out) != NULL);
		words[11] = (label & ~UINT64_C(0xf00000)) | DPERM_LABEL_TWO << 20;
		CHECK(read_words(words, count, &out) != NULL);
		words[11] = label;
		CHECK(read_words(words, count, &out) == NULL);
		domain[pass.domain - 2] = 'x';
		CHECK_TEXT(read_words(words, count, &out), "the last class has no end");
		domain[pass.domain - 2] = '\0';
		domain[1] = 'x';
		CHECK_TEXT(read_words(words, count, &out), "there are fewer classes");
		domain[0] = domain[1] = '\0';
		CHECK_TEXT(read_words(words, count, &out), "a class is there twice");
	}
	CHECK(seen > 50);
}

/*
 * The positive value comes last, and may be empty, which is not the same as
 * missing.
 */
TEST(has_a_positive_value)
{
	for (int len = -1; len < 20; len++)
	{
		DpermPass	pass = {.order = DPERM_PASS_GRADIENT, .dim = 5, .readers = 3, .encoder = 17, .domain = len + 1,
			.domain_encoding = len < 0 ? 0 : 255, .label_type = UINT32_MAX
		};
		DpermPass	out;
		size_t		count = DPERM_PASS_HEADER + 5 + 3 + 3;

		CHECK(dperm_pass_encoder_at(&pass) == count - 3);
		CHECK(dperm_pass_domain_at(&pass) == count);
		count += len < 0 ? 0 : (size_t) (len + 7) / 8;
		CHECK(dperm_pass_words(&pass) == count);
		memset(words, 0, sizeof(words));
		dperm_pass_write(&pass, words);
		CHECK(read_words(words, count, &out) == NULL);
		CHECK(same_pass(&pass, &out));
		CHECK(dperm_pass_ordered_words(words, count) == dperm_pass_encoder_at(&pass));
		words[11] |= UINT64_C(0x80000);
		CHECK_TEXT(read_words(words, count, &out), "the domain of labels is out of range");
		words[11] = UINT64_C(0x01000000);
		CHECK_TEXT(read_words(words, count, &out), "the domain of labels is out of range");
	}
}

/*
 * A digest depends on rows and a seed; passes with different seeds are
 * different passes.
 */
TEST(has_a_digest_with_a_seed)
{
	DpermPass	pass = {.order = DPERM_PASS_GRADIENT, .dim = 1, .rows = 3, .seed = 7, .digest = UINT64_MAX};
	DpermPass	other = pass;
	DpermPass	out;
	size_t		count = dperm_pass_words(&pass);

	memset(words, 0, sizeof(words));
	dperm_pass_write(&pass, words);
	CHECK(read_words(words, count, &out) == NULL);
	CHECK(out.seed == 7 && out.digest == UINT64_MAX);
	words[12] = 0;
	CHECK_TEXT(read_words(words, count, &out), "there is a digest without a seed");
	words[12] = 7;
	words[7] = 0;
	CHECK_TEXT(read_words(words, DPERM_PASS_HEADER + 1, &out), "there is a digest without a seed");
	CHECK(dperm_pass_matches(&pass, &other));
	other.digest = 1;
	CHECK(dperm_pass_matches(&pass, &other));
	other.seed = 8;
	CHECK(!dperm_pass_matches(&pass, &other));
}

/* The kind of labels is that of the loss, and numbers have bounds. */
TEST(has_labels_of_the_loss)
{
	DpermPass	pass = {.order = DPERM_PASS_GRADIENT, .dim = 1, .loss = {DPERM_LOSS_LOG_COSH, 0.25},
		.label = DPERM_LABEL_NUMBER, .domain = 17
	};
	static const double wrong[][2] = {{3, 3}, {3, -3}, {0, INFINITY}, {-INFINITY, 0}, {NAN, 0}, {0, NAN}};
	DpermPass	out;
	size_t		count = dperm_pass_words(&pass);
	unsigned char *bytes = (unsigned char *) (words + DPERM_PASS_HEADER + 1);
	double		low;
	double		high;

	memset(words, 0, sizeof(words));
	dperm_pass_write(&pass, words);
	dperm_pass_put_bounds(-3, 8, bytes);
	CHECK(count == DPERM_PASS_HEADER + 3 && read_words(words, count, &out) == NULL);
	dperm_pass_get_bounds(words, &out, &low, &high);
	CHECK(out.label == DPERM_LABEL_NUMBER && low == -3 && high == 8);
	for (int i = 0; i < 6; i++)
	{
		dperm_pass_put_bounds(wrong[i][0], wrong[i][1], bytes);
		CHECK_TEXT(read_words(words, count, &out), "the bounds of the labels are out of range");
	}
	pass.label = DPERM_LABEL_TWO;
	dperm_pass_write(&pass, words);
	CHECK_TEXT(read_words(words, count, &out), "the labels are not those of the loss");
	for (int label = DPERM_LABEL_SEVERAL; label < 16; label++)
	{
		pass.label = (DpermLabelKind) label;
		dperm_pass_write(&pass, words);
		CHECK_TEXT(read_words(words, count, &out), "the labels are not those of the loss");
	}
	pass.label = DPERM_LABEL_NUMBER;
	for (int domain = 0; domain < 30; domain++)
	{
		pass.domain = domain;
		dperm_pass_write(&pass, words);
		if (domain != 17)
			CHECK_TEXT(read_words(words, dperm_pass_words(&pass), &out), "labels that are numbers have bounds, and no classes");
	}
	pass = (DpermPass) {.order = DPERM_PASS_COUNT, .dim = 1, .bins = 2, .label = DPERM_LABEL_NUMBER, .domain = 17};
	dperm_pass_write(&pass, words);
	CHECK_TEXT(read_words(words, count, &out), "labels that are numbers have bounds, and no classes");
}

/* A pass that counts has counts and no loss, and no other pass has bins. */
TEST(tells_counts_from_sums)
{
	TestRandom	state = 6;
	int			seen[2] = {0, 0};

	for (int round = 0; round < 2000; round++)
	{
		DpermPass	pass;
		DpermPass	out;
		size_t		count = sample_pass(&state, &pass, words);
		bool		counts = pass.order == DPERM_PASS_COUNT;
		uint64_t	units = words[10];
		bool		sums = pass.label == DPERM_LABEL_NUMBER;
		uint64_t	most = (uint64_t) pass.rows * (pass.weighted || sums ? DPERM_PASS_PARTS : 1);

		seen[counts]++;
		if (!counts)
		{
			words[10] |= 1;
			CHECK_TEXT(read_words(words, count, &out), "there are bins in a pass that does not count");
			continue;
		}
		for (size_t at = 2; at < 10; at++)
			if (at <= 3 || at >= 8)
			{
				uint64_t	was = words[at];

				words[at] = at == 2 ? was | 1 : UINT64_C(0x3fe0000000000000);
				CHECK(read_words(words, count, &out) != NULL);
				words[at] = was;
			}
		CHECK(read_words(words, count, &out) == NULL);
		words[12] = 5;
		CHECK_TEXT(read_words(words, count, &out), "there is a digest in a pass that counts");
		words[12] = 0;
		words[10] = (units & ~UINT64_C(0xffff)) | (DPERM_BINS_MAX + 1);
		CHECK_TEXT(read_words(words, count, &out), "the number of bins is out of range");
		words[10] = units;

		/*
		 * one more than the number of rows, in one cell or in all, and numbers
		 * that would wrap around
		 */
		for (int i = 0; pass.rows > 0 && i < dperm_pass_count_cells(&pass); i++)
		{
			uint64_t   *cell = &words[dperm_pass_gradient_at(&pass) + (size_t) i];
			uint64_t	was = *cell;
			uint64_t	others = 0;

			for (int j = 0; !sums && j < dperm_pass_count_cells(&pass); j++)
				others += j == i ? 0 : words[dperm_pass_gradient_at(&pass) + (size_t) j];
			*cell = most - others;
			CHECK(read_words(words, count, &out) == NULL);
			*cell += 1;
			CHECK_TEXT(read_words(words, count, &out), "more rows are counted than there are");
			*cell = UINT64_MAX;
			CHECK_TEXT(read_words(words, count, &out), "more rows are counted than there are");
			*cell = UINT64_C(1) << 63;
			CHECK_TEXT(read_words(words, count, &out), "more rows are counted than there are");
			*cell = was;
		}
	}
	CHECK(seen[0] > 100 && seen[1] > 100);
}

/*
 * A pass over persons states how many of them it has seen, and differs from any
 * other pass.
 */
TEST(tells_persons_from_rows)
{
	for (int order = DPERM_PASS_GRADIENT; order <= DPERM_PASS_COUNT; order++)
		for (int rows = 0; rows < 4; rows++)
			for (int persons = 0; persons <= rows; persons++)
			{
				DpermPass	pass = {.order = (DpermPassOrder) order, .dim = 2, .rows = rows, .weighted = true, .persons = persons,
					.bins = order == DPERM_PASS_COUNT ? 3 : 0
				};
				DpermPass	plain = pass;
				DpermPass	out;
				size_t		count = dperm_pass_words(&pass);

				memset(words, 0, sizeof(words));
				dperm_pass_write(&pass, words);
				CHECK(words[10] == (((uint64_t) persons + 1) << 16 | (uint64_t) pass.bins));
				CHECK(read_words(words, count, &out) == NULL);
				CHECK(same_pass(&pass, &out) && out.weighted && out.persons == persons);
				CHECK(dperm_pass_units(&out) == persons);
				words[10] = ((uint64_t) rows + 2) << 16 | (uint64_t) pass.bins;
				CHECK_TEXT(read_words(words, count, &out), "there are more persons than rows");
				words[10] = UINT64_MAX << 16 | (uint64_t) pass.bins;
				CHECK_TEXT(read_words(words, count, &out), "there are more persons than rows");

				/* the same without weights */
				plain.weighted = false;
				plain.persons = 0;
				dperm_pass_write(&plain, words);
				CHECK(words[10] == (uint64_t) pass.bins);
				CHECK(read_words(words, count, &out) == NULL && !out.weighted && dperm_pass_units(&out) == rows);
				CHECK(!dperm_pass_matches(&pass, &plain) && dperm_pass_matches(&plain, &out));
			}
}

TEST(refuses_every_other_length)
{
	TestRandom	state = 2;

	for (int round = 0; round < 60; round++)
	{
		DpermPass	pass;
		DpermPass	out;
		size_t		count = sample_pass(&state, &pass, words);

		for (size_t some = 0; some < count; some++)
			CHECK(read_words(words, some, &out) != NULL);
		words[count] = 0;
		CHECK_TEXT(read_words(words, count + 1, &out), "wrong length");
	}
}

/* What an accepted form guarantees. */
static void
check_promises(const DpermPass *pass, size_t count)
{
	CHECK(pass->dim >= 1 && pass->dim <= DPERM_DIM_MAX);
	CHECK(dperm_pass_words(pass) == count);
	CHECK(pass->order >= DPERM_PASS_GRADIENT && pass->order <= DPERM_PASS_LAST);
	CHECK(pass->bins >= 0 && pass->bins <= (pass->order == DPERM_PASS_COUNT ? DPERM_BINS_MAX : 0));
	CHECK(pass->loss.kind <= DPERM_LOSS_SOFTMAX);
	CHECK(pass->label == DPERM_LABEL_TWO || pass->label == DPERM_LABEL_NUMBER || pass->label == DPERM_LABEL_SEVERAL);
	CHECK(pass->label == DPERM_LABEL_SEVERAL ? pass->loss.classes >= 3 && pass->dim % pass->loss.classes == 0 && pass->domain > 3 :
		  pass->loss.classes == 0 && pass->order != DPERM_PASS_PRODUCT);
	CHECK(dperm_pass_count_cells(pass) <= 10000);
	CHECK(pass->order == DPERM_PASS_COUNT || pass->label == dperm_loss_entry((int) pass->loss.kind)->label);
	CHECK(pass->label != DPERM_LABEL_NUMBER || (pass->bins == 0 && pass->domain == 17));
	CHECK(pass->readers >= 0 && pass->encoder >= 0 && pass->domain >= 0 && pass->domain <= 1 << 17);
	CHECK(pass->rows >= 0 && pass->rows <= DPERM_ROWS_MAX);
	CHECK(pass->persons >= 0 && pass->persons <= (pass->weighted ? pass->rows : 0));
	CHECK(isfinite(pass->value[0]) && isfinite(pass->value[1]));
	CHECK(dperm_loss_entry((int) pass->loss.kind)->h_min == 0 ? pass->loss.h == 0 :
		  pass->loss.h >= DPERM_H_MIN && pass->loss.h <= DPERM_H_MAX);
}

/* Each word in turn, replaced by values that are hard for decoders. */
TEST(survives_extreme_words)
{
	static const uint64_t extremes[] = {0, 1, 2, 3, 4, 255, 4999, 5000, 5001, UINT64_C(1) << 31,
		UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 1,
		UINT64_C(1) << 52, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX,
		UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000), UINT64_C(0x7ff8000000000000),
		UINT64_C(0x3ff0000000000000), UINT64_C(0xbff0000000000000), UINT64_C(0x7fefffffffffffff),
	UINT64_C(0x0000000000000001), UINT64_C(0x8000000000000000)};
	TestRandom	state = 3;
	int			refused = 0;

	for (int round = 0; round < 200; round++)
	{
		DpermPass	pass;
		DpermPass	out;
		size_t		count = sample_pass(&state, &pass, words);

		for (size_t at = 0; at < count; at++)
			for (size_t k = 0; k < sizeof(extremes) / sizeof(extremes[0]); k++)
			{
				uint64_t	was = words[at];

				words[at] = extremes[k];
				if (read_words(words, count, &out) == NULL)
					check_promises(&out, count);
				else
					refused++;
				words[at] = was;
			}

		/* two words at once */
		for (int k = 0; k < 300; k++)
		{
			uint64_t	copy[DPERM_PASS_HEADER];

			memcpy(copy, words, sizeof(copy));
			for (int i = 0; i < 2; i++)
				words[test_below(&state, DPERM_PASS_HEADER)] = extremes[test_below(&state, 26)];
			if (read_words(words, count, &out) == NULL)
				check_promises(&out, count);
			memcpy(words, copy, sizeof(copy));
		}
	}
	CHECK(refused > 10000);
}

/* Every number has to be finite, wherever it is. */
TEST(refuses_numbers_that_are_none)
{
	static const double bad[] = {NAN, INFINITY, -INFINITY};
	TestRandom	state = 4;

	for (int round = 0; round < 100; round++)
	{
		DpermPass	pass;
		DpermPass	out;
		size_t		count = sample_pass(&state, &pass, words);

		CHECK(dperm_pass_words(&pass) == count);
		for (size_t at = DPERM_PASS_HEADER; at < (pass.order == DPERM_PASS_COUNT ? dperm_pass_gradient_at(&pass) : dperm_pass_readers_at(&pass)); at++)
		{
			uint64_t	was = words[at];

			memcpy(&words[at], &bad[at % 3], sizeof(double));
			CHECK_TEXT(read_words(words, count, &out), "a number is not finite");
			words[at] = was;
		}
	}
}

TEST(tells_requests_apart)
{
	TestRandom	state = 5;
	DpermPass	a;
	DpermPass	b;

	sample_pass(&state, &a, words);
	a.loss = (DpermLoss) {DPERM_LOSS_HUBER, 0.5, 0};
	a.order = DPERM_PASS_GRADIENT;
#define DIFFERS(change) \
	do { \
		b = a; \
		CHECK(dperm_pass_matches(&a, &b)); \
		change; \
		CHECK(!dperm_pass_matches(&a, &b)); \
	} while (0)
	DIFFERS(b.order = DPERM_PASS_HESSIAN);
	DIFFERS(b.loss.kind = DPERM_LOSS_SMOOTH_HINGE);
	DIFFERS(b.loss.h = 0.25);
	DIFFERS(b.loss.classes = 3);
	DIFFERS(b.bins++);
	DIFFERS(b.weighted = !b.weighted);
	DIFFERS(b.dim++);
	DIFFERS(b.readers++);
	DIFFERS(b.encoder++);
	DIFFERS(b.domain++);
	DIFFERS(b.domain_encoding++);
	DIFFERS(b.label_type++);
	DIFFERS(b.label = DPERM_LABEL_NUMBER);
	b = a;
	b.rows++;
	b.persons++;
	b.value[0]++;
	CHECK(dperm_pass_matches(&a, &b));
}
