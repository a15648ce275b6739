/*
 * pass.c: what a pass is asked, and what it answers, as bytes. Trusted.
 */
#include "core/solve/pass.h"

#include <math.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/core.h"
#include "core/base/host.h"
#include "core/solve/sums.h"

#define MAGIC UINT64_C(0x64707005)	/* "dpp", version 5 */

/* Bytes that are written, measured or read, field by field. */
typedef struct Form
{
	bool		reads;
	unsigned char *out;			/* NULL: only the size is wanted */
	size_t		size;
	DpermBytes	in;
} Form;

/* An unsigned integer of some bytes. */
static void
visit_int(Form *form, uint64_t *value, int bytes)
{
	if (form->reads)
		*value = dperm_bytes_get_int(&form->in, bytes);
	else if (form->out)
		form->out = dperm_bytes_put_int(form->out, *value, bytes);
	form->size += (size_t) bytes;
}

/* The same of at most 32 bits, as an int; what does not fit is wrong. */
static int
visit_small(Form *form, int value, int bytes)
{
	uint64_t	wide = (uint64_t) value;

	visit_int(form, &wide, bytes);
	if (wide > INT32_MAX)
		form->in.bad = true;
	return wide > INT32_MAX ? 0 : (int) wide;
}

/* A number, which is finite. */
static void
visit_number(Form *form, double *value)
{
	if (form->reads)
	{
		*value = dperm_bytes_get_double(&form->in);
		if (!isfinite(*value))
			form->in.bad = true;
	}
	else if (form->out)
		form->out = dperm_bytes_put_double(form->out, *value);
	form->size += 8;
}

/*
 * A list of numbers, or of words of which some bytes are there. One that is read gets
 * memory of its own; it is no longer than what is left.
 */
static const void *
visit_list(Form *form, const void *list, size_t count, int bytes, bool numbers)
{
	void	   *at = (void *) list;

	if (form->reads)
	{
		if (form->in.bad || count > form->in.left / (size_t) bytes)
		{
			form->in.bad = true;
			return NULL;
		}
		at = dperm_host_alloc(8 * (count > 0 ? count : 1));
	}
	else if (form->out == NULL)
	{
		form->size += (size_t) bytes * count;
		return list;
	}
	for (size_t i = 0; i < count && !form->in.bad; i++)
		if (numbers)
			visit_number(form, (double *) at + i);
		else
			visit_int(form, (uint64_t *) at + i, bytes);
	return at;
}

/* Bytes, which stay where they are if they are read. */
static void
visit_bytes(Form *form, const unsigned char **bytes, size_t size)
{
	if (form->reads)
		*bytes = dperm_bytes_get(&form->in, size);
	else if (form->out)
		form->out = dperm_bytes_put(form->out, *bytes, size);
	form->size += size;
}

/* What is wrong with the head of a request, or NULL. */
static const char *
head_fault(const DpermPass *pass)
{
	bool		counts = pass->order == DPERM_PASS_COUNT;
	bool		several = pass->label == DPERM_LABEL_SEVERAL;
	int			most = counts && pass->bins == 0 ? DPERM_COUNTS_CLASSES_MAX : DPERM_CLASSES_MAX;
	const DpermLossEntry *entry = dperm_loss_entry((int) pass->loss.kind);
	DpermLoss	loss = {pass->loss.kind, pass->loss.h, 0};

	if (pass->order < DPERM_PASS_GRADIENT || pass->order > DPERM_PASS_LAST || entry == NULL)
		return "unknown kind of pass";
	/* is h valid, whatever the number of classes? */
	if (entry->label == DPERM_LABEL_SEVERAL)
		loss.classes = DPERM_CLASSES_MIN;
	if (dperm_loss_fault(loss) != NULL)
		return "h is out of range";
	if (pass->dim < 1 || pass->dim > DPERM_DIM_MAX)
		return "the dimension is out of range";
	if (pass->label > DPERM_LABEL_SEVERAL || (!counts && pass->label != entry->label))
		return "the labels are not those of the loss";
	if (several ? pass->loss.classes < DPERM_CLASSES_MIN || pass->loss.classes > most :
		pass->loss.classes != 0)
		return "the number of classes is out of range";
	if (several && pass->dim % pass->loss.classes != 0)
		return "the dimension is not a multiple of the number of classes";
	if (pass->bins > (counts && pass->label != DPERM_LABEL_NUMBER ? DPERM_BINS_MAX : 0))
		return "the number of bins is out of range";
	if (counts && ((int) pass->loss.kind != 0 || pass->loss.h != 0 || pass->seed != 0))
		return "there is a loss or a digest in a pass that counts";
	return NULL;
}

/* The request. */
static const char *
visit_request(Form *form, DpermPass *pass)
{
	uint64_t	magic = MAGIC;
	const char *fault;
	int			weighted;

	visit_int(form, &magic, 4);
	if (magic != MAGIC)
		return "not a pass of this version";
	pass->order = (DpermPassOrder) visit_small(form, (int) pass->order, 1);
	pass->loss.kind = (DpermLossKind) visit_small(form, (int) pass->loss.kind, 1);
	pass->loss.classes = visit_small(form, pass->loss.classes, 2);
	visit_number(form, &pass->loss.h);
	pass->label = (DpermLabelKind) visit_small(form, (int) pass->label, 1);
	pass->bins = visit_small(form, pass->bins, 2);
	weighted = visit_small(form, pass->weighted, 1);
	pass->weighted = weighted == 1;
	visit_int(form, &pass->seed, 8);
	pass->dim = visit_small(form, pass->dim, 4);
	pass->reader_count = visit_small(form, pass->reader_count, 4);
	pass->encoder_size = (size_t) visit_small(form, (int) pass->encoder_size, 4);
	fault = form->in.bad || weighted > 1 ? "too short, or no flag" : head_fault(pass);
	if (fault)
		return fault;
	pass->weights = visit_list(form, pass->weights, (size_t) pass->dim, 8, true);
	if (pass->order == DPERM_PASS_EXTENDED)
		pass->weights_low = visit_list(form, pass->weights_low, (size_t) pass->dim, 8, true);
	pass->readers = visit_list(form, pass->readers, (size_t) pass->reader_count, 4, false);
	visit_bytes(form, &pass->encoder, pass->encoder_size);
	return form->in.bad ? "too short, or a number is not finite" : NULL;
}

/*
 * Do the counts add up to at most the number of rows, or of parts of rows? Is
 * each of the sums at most that?
 */
static bool
counts_fit(const DpermPass *pass)
{
	bool		sums = pass->label == DPERM_LABEL_NUMBER;
	uint64_t	left = (uint64_t) pass->rows * (pass->weighted || sums ? DPERM_PERSON_PARTS : 1);

	for (int i = 0; i < dperm_pass_count_cells(pass); i++)
	{
		if ((uint64_t) pass->counts[i] > left)
			return false;
		left -= sums ? 0 : (uint64_t) pass->counts[i];
	}
	return true;
}

/* The answer, of at least one row. */
static const char *
visit_answer(Form *form, DpermPass *pass)
{
	uint64_t	rows = (uint64_t) pass->rows;
	uint64_t	persons = (uint64_t) pass->persons;

	visit_int(form, &rows, 8);
	if (pass->weighted)
		visit_int(form, &persons, 8);
	if (rows < 1 || rows > DPERM_ROWS_MAX || persons > rows)
		return "the number of rows is out of range";
	pass->rows = (int64_t) rows;
	pass->persons = (int64_t) persons;
	if (pass->order == DPERM_PASS_COUNT)
	{
		pass->counts = visit_list(form, pass->counts, (size_t) dperm_pass_count_cells(pass), 8,
								  false);
		return form->in.bad ? "too short" :
			form->reads && !counts_fit(pass) ? "more rows are counted than there are" : NULL;
	}
	visit_number(form, &pass->value[0]);
	visit_number(form, &pass->value[1]);
	if (pass->seed != 0)
		visit_int(form, &pass->digest, 8);
	pass->sums = visit_list(form, pass->sums, 2 * (size_t) pass->dim, 8, true);
	if (dperm_pass_has_hess(pass))
		pass->hess = visit_list(form, pass->hess, dperm_moments_packed(pass->dim, pass->loss), 8,
								true);
	return form->in.bad ? "too short, or a sum is not finite" : NULL;
}

/* Write a request, or measure it. */
size_t
dperm_pass_write_request(const DpermPass *pass, unsigned char *out)
{
	Form		form = {.out = out};
	DpermPass	copy = *pass;

	(void) visit_request(&form, &copy);
	return form.size;
}

/* Write an answer, or measure it. */
size_t
dperm_pass_write_answer(const DpermPass *pass, unsigned char *out)
{
	Form		form = {.out = out};
	DpermPass	copy = *pass;

	if (pass->rows > 0)
		(void) visit_answer(&form, &copy);
	return form.size;
}

/* Read a request, and the answer that follows it. */
const char *
dperm_pass_read(const unsigned char *bytes, size_t size, DpermPass *pass, size_t *request)
{
	Form		form = {.reads = true, .in = {bytes, size, false}};
	const char *fault;

	memset(pass, 0, sizeof(*pass));
	fault = visit_request(&form, pass);
	*request = form.size;
	if (fault == NULL && form.in.left > 0)
		fault = visit_answer(&form, pass);
	if (fault == NULL && form.in.left > 0)
		fault = "wrong length";
	return fault;
}
