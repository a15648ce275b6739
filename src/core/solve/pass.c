/*
 * pass.c: the flat form of a pass.
 */
#include "core/solve/pass.h"

#include <math.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/classes.h"
#include "core/base/limits.h"
#include "core/encode/block.h"
#include "core/solve/moments.h"

#define MAGIC UINT64_C(0x6470706173730003)	/* "dppass", version 3 */

/* Words of the header, in order. */
enum
{
	AT_MAGIC,
	AT_ORDER,
	AT_LOSS,
	AT_H,
	AT_DIM,
	AT_READERS,
	AT_ENCODER,
	AT_ROWS,
	AT_VALUE,
	AT_VALUE_LOW,
	AT_UNITS,
	AT_LABEL,
	AT_SEED,
	AT_DIGEST,
	HEADER_END
};

/* More than any encoder needs: names and categories of all columns. */
#define ENCODER_MAX (INT64_C(1) << 28)

/* The largest domain of labels in bytes; longer values are not compared. */
#define DOMAIN_MAX (INT64_C(1) << 17)

/* One word describes the loss: its kind, and the number of classes. */
#define LOSS_KIND(word) ((word) & 0xff)
#define LOSS_CLASSES(word) ((word) >> 8)

/*
 * One word describes the labels: the bytes of their domain plus one, their
 * kind, the encoding of the domain, the type.
 */
#define LABEL_DOMAIN(word) ((word) & 0xfffff)
#define LABEL_KIND(word) ((word) >> 20 & 0xf)
#define LABEL_ENCODING(word) ((word) >> 24 & 0xff)
#define LABEL_TYPE(word) ((word) >> 32)

/*
 * Another describes the units: bins, and the number of persons plus one, or 0
 * if rows are the units.
 */
#define UNITS_BINS(word) ((word) & 0xffff)
#define UNITS_PERSONS(word) ((word) >> 16)

_Static_assert(HEADER_END == DPERM_PASS_HEADER, "header words");

size_t
dperm_pass_weights_at(const DpermPass *pass)
{
	(void) pass;
	return DPERM_PASS_HEADER;
}

size_t
dperm_pass_gradient_at(const DpermPass *pass)
{
	return DPERM_PASS_HEADER + (dperm_pass_has_second(pass) ? 2 : 1) * (size_t) pass->dim;
}

size_t
dperm_pass_hess_at(const DpermPass *pass)
{
	size_t		found = pass->order == DPERM_PASS_COUNT ? (size_t) dperm_pass_count_cells(pass) :
													 2 * (size_t) pass->dim;

	return dperm_pass_gradient_at(pass) + (pass->rows > 0 ? found : 0);
}

size_t
dperm_pass_readers_at(const DpermPass *pass)
{
	bool		there = dperm_pass_has_hess(pass) && pass->rows > 0;

	return dperm_pass_hess_at(pass) + (there ? dperm_moments_packed(pass->dim, pass->loss) : 0);
}

size_t
dperm_pass_encoder_at(const DpermPass *pass)
{
	return dperm_pass_readers_at(pass) + (size_t) pass->readers;
}

/* The number of words for this many bytes. */
static size_t
words_of_bytes(uint64_t bytes)
{
	return (size_t) (bytes + 7) / 8;
}

/* The same for a domain, whose length is given plus one. */
static size_t
words_of_domain(uint64_t domain)
{
	return domain > 0 ? words_of_bytes(domain - 1) : 0;
}

size_t
dperm_pass_domain_at(const DpermPass *pass)
{
	return dperm_pass_encoder_at(pass) + words_of_bytes((uint64_t) pass->encoder);
}

/* Words of the whole form. */
size_t
dperm_pass_words(const DpermPass *pass)
{
	return dperm_pass_domain_at(pass) + words_of_domain((uint64_t) pass->domain);
}

/* Write the header. */
void
dperm_pass_write(const DpermPass *pass, uint64_t *words)
{
	words[AT_MAGIC] = MAGIC;
	words[AT_ORDER] = (uint64_t) pass->order;
	words[AT_LOSS] = (uint64_t) pass->loss.kind | (uint64_t) pass->loss.classes << 8;
	words[AT_H] = dperm_bytes_bits(pass->loss.h);
	words[AT_DIM] = (uint64_t) pass->dim;
	words[AT_READERS] = (uint64_t) pass->readers;
	words[AT_ENCODER] = (uint64_t) pass->encoder;
	words[AT_ROWS] = (uint64_t) pass->rows;
	words[AT_VALUE] = dperm_bytes_bits(pass->value[0]);
	words[AT_VALUE_LOW] = dperm_bytes_bits(pass->value[1]);
	words[AT_UNITS] = (uint64_t) pass->bins | (pass->weighted ? (uint64_t) pass->persons + 1 : 0)
												  << 16;
	words[AT_LABEL] = (uint64_t) pass->domain | (uint64_t) pass->label << 20 |
					  (uint64_t) pass->domain_encoding << 24 | (uint64_t) pass->label_type << 32;
	words[AT_SEED] = pass->seed;
	words[AT_DIGEST] = pass->digest;
}

/* Check the kind of labels. */
static const char *
labels_fault(const uint64_t *words)
{
	uint64_t	kind = LABEL_KIND(words[AT_LABEL]);
	uint64_t	classes = LOSS_CLASSES(words[AT_LOSS]);
	bool		counts = words[AT_ORDER] == DPERM_PASS_COUNT;
	bool		pairs = counts && UNITS_BINS(words[AT_UNITS]) == 0;

	if (kind > DPERM_LABEL_SEVERAL ||
		(!counts && kind != dperm_loss_entry((int) LOSS_KIND(words[AT_LOSS]))->label))
		return "the labels are not those of the loss";
	if (kind == DPERM_LABEL_SEVERAL ?
		classes < DPERM_CLASSES_MIN ||
			classes > (pairs ? DPERM_PASS_CLASSES_MAX : DPERM_CLASSES_MAX) :
		classes != 0)
		return "the number of classes is out of range";
	if (kind == DPERM_LABEL_SEVERAL && words[AT_DIM] % classes != 0)
		return "the dimension is not a multiple of the number of classes";
	if (kind == DPERM_LABEL_SEVERAL && LABEL_DOMAIN(words[AT_LABEL]) == 0)
		return "several classes have no list of their values";
	if (kind != DPERM_LABEL_SEVERAL && words[AT_ORDER] == DPERM_PASS_PRODUCT)
		return "only the Hessian of several classes is multiplied";
	if (kind == DPERM_LABEL_NUMBER &&
		(UNITS_BINS(words[AT_UNITS]) != 0 || LABEL_ENCODING(words[AT_LABEL]) != 0 ||
		 LABEL_DOMAIN(words[AT_LABEL]) != DPERM_PASS_BOUNDS + 1))
		return "labels that are numbers have bounds, and no classes";
	return NULL;
}

/* Check the fields that are only for passes that count, or only for others. */
static const char *
count_fault(const uint64_t *words)
{
	if (words[AT_ORDER] != DPERM_PASS_COUNT)
		return UNITS_BINS(words[AT_UNITS]) != 0 ? "there are bins in a pass that does not "
												  "count" : NULL;
	if (UNITS_BINS(words[AT_UNITS]) > DPERM_BINS_MAX)
		return "the number of bins is out of range";
	if ((LOSS_KIND(words[AT_LOSS]) | words[AT_H] | words[AT_VALUE] | words[AT_VALUE_LOW]) != 0)
		return "there is a loss in a pass that counts";
	if (words[AT_SEED] != 0)
		return "there is a digest in a pass that counts";
	return NULL;
}

/* Is h valid for the loss, whatever the number of classes? */
static bool
h_fits(const uint64_t *words)
{
	DpermLoss	loss = {.kind = (DpermLossKind) LOSS_KIND(words[AT_LOSS]),
						.h = dperm_bytes_double(words[AT_H])};

	if (dperm_loss_entry((int) loss.kind)->label == DPERM_LABEL_SEVERAL)
		loss.classes = DPERM_CLASSES_MIN;
	return dperm_loss_fault(loss) == NULL;
}

/* What is wrong with the header, or NULL. */
static const char *
header_fault(const uint64_t *words)
{
	if (words[AT_MAGIC] != MAGIC)
		return "not a dperm_moments value of this version";
	if (words[AT_ORDER] < DPERM_PASS_GRADIENT || words[AT_ORDER] > DPERM_PASS_LAST ||
		LOSS_KIND(words[AT_LOSS]) >= DPERM_LOSS_COUNT)
		return "unknown kind of pass";
	if (!h_fits(words))
		return "h is out of range";
	if (words[AT_DIM] < 1 || words[AT_DIM] > DPERM_DIM_MAX)
		return "the dimension is out of range";
	if (words[AT_READERS] > 4 * DPERM_DIM_MAX || words[AT_ENCODER] > ENCODER_MAX)
		return "the encoder is out of range";
	if (words[AT_ROWS] > DPERM_ROWS_MAX)
		return "the row count is out of range";
	if (UNITS_PERSONS(words[AT_UNITS]) > words[AT_ROWS] + 1)
		return "there are more persons than rows";
	if (!isfinite(dperm_bytes_double(words[AT_VALUE])) ||
		!isfinite(dperm_bytes_double(words[AT_VALUE_LOW])))
		return "a sum is not finite";
	if (LABEL_DOMAIN(words[AT_LABEL]) > DOMAIN_MAX ||
		(LABEL_DOMAIN(words[AT_LABEL]) == 0 && LABEL_ENCODING(words[AT_LABEL]) != 0))
		return "the domain of labels is out of range";
	if (words[AT_DIGEST] != 0 && (words[AT_SEED] == 0 || words[AT_ROWS] == 0))
		return "there is a digest without a seed";
	return count_fault(words) ? count_fault(words) : labels_fault(words);
}

/* Are all numbers in a range of words finite? */
static bool
are_finite(const uint64_t *words, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (!isfinite(dperm_bytes_double(words[i])))
			return false;
	return true;
}

/*
 * Do the counts add up to at most the number of rows, or of parts of rows? Is
 * each of the sums at most that?
 */
static bool
counts_fit(const uint64_t *words, const DpermPass *pass)
{
	bool		sums = pass->label == DPERM_LABEL_NUMBER;
	uint64_t	left = (uint64_t) pass->rows * (pass->weighted || sums ? DPERM_PASS_PARTS : 1);

	for (size_t i = dperm_pass_gradient_at(pass); i < dperm_pass_hess_at(pass); i++)
	{
		if (words[i] > left)
			return false;
		left -= sums ? 0 : words[i];
	}
	return true;
}

/* The bounds of labels as bytes. */
void
dperm_pass_put_bounds(double low, double high, unsigned char *bytes)
{
	(void) dperm_bytes_put_double(dperm_bytes_put_double(bytes, low), high);
}

/* The bounds in a form. */
void
dperm_pass_get_bounds(const uint64_t *words, const DpermPass *pass, double *low, double *high)
{
	DpermBytes	bytes = {(const unsigned char *) (words + dperm_pass_domain_at(pass)),
						 DPERM_PASS_BOUNDS, false};

	*low = dperm_bytes_get_double(&bytes);
	*high = dperm_bytes_get_double(&bytes);
}

/* Are they bounds? */
static bool
bounds_fit(const uint64_t *words, const DpermPass *pass)
{
	double		low,
				high;

	dperm_pass_get_bounds(words, pass, &low, &high);
	return dperm_block_are_bounds(low, high);
}

/* Read and check a form. */
bool
dperm_pass_read(const uint64_t *words, size_t count, DpermPass *pass, const char **why)
{
	*why = count < DPERM_PASS_HEADER ? "too short" : header_fault(words);
	if (*why)
		return false;
	pass->order = (DpermPassOrder) words[AT_ORDER];
	pass->loss.kind = (DpermLossKind) LOSS_KIND(words[AT_LOSS]);
	pass->loss.classes = (int) LOSS_CLASSES(words[AT_LOSS]);
	pass->loss.h = dperm_bytes_double(words[AT_H]);
	pass->dim = (int) words[AT_DIM];
	pass->readers = (int64_t) words[AT_READERS];
	pass->encoder = (int64_t) words[AT_ENCODER];
	pass->rows = (int64_t) words[AT_ROWS];
	pass->value[0] = dperm_bytes_double(words[AT_VALUE]);
	pass->value[1] = dperm_bytes_double(words[AT_VALUE_LOW]);
	pass->bins = (int) UNITS_BINS(words[AT_UNITS]);
	pass->weighted = UNITS_PERSONS(words[AT_UNITS]) > 0;
	pass->persons = pass->weighted ? (int64_t) UNITS_PERSONS(words[AT_UNITS]) - 1 : 0;
	pass->domain = (int64_t) LABEL_DOMAIN(words[AT_LABEL]);
	pass->domain_encoding = (int) LABEL_ENCODING(words[AT_LABEL]);
	pass->label_type = (uint32_t) LABEL_TYPE(words[AT_LABEL]);
	pass->label = (DpermLabelKind) LABEL_KIND(words[AT_LABEL]);
	pass->seed = words[AT_SEED];
	pass->digest = words[AT_DIGEST];
	if (count != dperm_pass_words(pass))
		*why = "wrong length";
	else if (!are_finite(words, DPERM_PASS_HEADER,
						 pass->order == DPERM_PASS_COUNT ? dperm_pass_gradient_at(pass) :
														   dperm_pass_readers_at(pass)))
		*why = "a number is not finite";
	else if (pass->order == DPERM_PASS_COUNT && !counts_fit(words, pass))
		*why = "more rows are counted than there are";
	else if (pass->label == DPERM_LABEL_NUMBER && !bounds_fit(words, pass))
		*why = "the bounds of the labels are out of range";
	else if (pass->label == DPERM_LABEL_SEVERAL)
		*why = dperm_classes_fault((const char *) (words + dperm_pass_domain_at(pass)),
								   (size_t) pass->domain - 1, pass->loss.classes);
	return *why == NULL;
}

/* The number of leading words that are words, not bytes. */
size_t
dperm_pass_ordered_words(const uint64_t *words, size_t count)
{
	uint64_t	bytes = count > AT_ENCODER ? words[AT_ENCODER] : 0;
	size_t		domain = count > AT_LABEL ?
		words_of_domain(LABEL_DOMAIN(words[AT_LABEL])) : 0;

	return bytes <= ENCODER_MAX && words_of_bytes(bytes) + domain <= count ?
			   count - words_of_bytes(bytes) - domain :
			   count;
}

/* Do two forms answer the same request? */
bool
dperm_pass_matches(const DpermPass *a, const DpermPass *b)
{
	return a->order == b->order && a->loss.kind == b->loss.kind && a->loss.h == b->loss.h &&
		   a->loss.classes == b->loss.classes && a->bins == b->bins &&
		   a->weighted == b->weighted && a->dim == b->dim && a->readers == b->readers &&
		   a->encoder == b->encoder && a->domain == b->domain &&
		   a->domain_encoding == b->domain_encoding && a->label_type == b->label_type &&
		   a->label == b->label && a->seed == b->seed;
}
