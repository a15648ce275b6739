/*
 * moments_flat.c: the flat form of dperm_moments.
 *
 * It is the words of core/solve/pass.h behind a varlena header: what travels
 * between workers, shards and memory contexts. moments_state.c has the form
 * that rows are added to.
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"

#include "column/reader.h"
#include "core/base/classes.h"
#include "query/moments_flat.h"

/* A flat value that we have not written. */
void
dperm_moments_flat_corrupted(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("invalid dperm_moments value")));
}

/* Check a flat value and read its header. */
void
dperm_moments_flat_read(const DpermFlat *flat, DpermPass *pass)
{
	const char *why;

	if (VARSIZE(flat) < DPERM_FLAT_SIZE(0) ||
		!dperm_pass_read(flat->words, DPERM_FLAT_WORDS(flat), pass, &why))
		dperm_moments_flat_corrupted();
}

/* Any datum as a flat value; copied only if it is not flat already. */
DpermFlat *
dperm_moments_flat_get(Datum value)
{
	return (DpermFlat *) PG_DETOAST_DATUM(value);
}

/* A flat value with room for count words. */
DpermFlat *
dperm_moments_flat_make(size_t count)
{
	DpermFlat *flat = palloc0(DPERM_FLAT_SIZE(count));

	SET_VARSIZE(flat, DPERM_FLAT_SIZE(count));
	return flat;
}

/* Write the bytes of the encoder and of the domain of labels. */
void
dperm_moments_flat_put_bytes(DpermFlat *flat, const DpermPass *pass, const void *form,
							 const DpermLabels *labels)
{
	char	   *to = (char *) (flat->words + dperm_pass_encoder_at(pass));
	unsigned char *domain = (unsigned char *) (flat->words + dperm_pass_domain_at(pass));

	memset(to, 0, (char *) (flat->words + dperm_pass_words(pass)) - to);
	memcpy(to, form, pass->encoder);
	if (pass->label == DPERM_LABEL_NUMBER)
		dperm_pass_put_bounds(labels->low, labels->high, domain);
	else if (pass->domain > 0)
		memcpy(domain, pass->label == DPERM_LABEL_SEVERAL ? labels->classes : labels->positive,
			   pass->domain - 1);
}

/* The domain of labels. */
DpermLabels
dperm_moments_flat_labels(const DpermFlat *flat, const DpermPass *pass)
{
	const char *domain = (const char *) (flat->words + dperm_pass_domain_at(pass));
	DpermLabels labels = {.kind = pass->label};

	switch (pass->label)
	{
		case DPERM_LABEL_NUMBER:
			dperm_pass_get_bounds(flat->words, pass, &labels.low, &labels.high);
			break;
		case DPERM_LABEL_SEVERAL:
			labels.classes = memcpy(palloc(pass->domain), domain, pass->domain - 1);
			labels.class_count = pass->loss.classes;
			break;
		case DPERM_LABEL_TWO:
			if (pass->domain > 0)
				labels.positive = pnstrdup(domain, pass->domain - 1);
			break;
	}
	return labels;
}

/* What is wrong with the description of labels, or NULL. */
static const char *
label_fault(const DpermFlat *flat, const DpermPass *pass)
{
	const char *positive = (const char *) (flat->words + dperm_pass_domain_at(pass));

	if (pass->label_type >= FirstGenbkiObjectId)
		return "the type of labels is unknown";
	if (pass->domain_encoding > _PG_LAST_ENCODING_ ||
		(pass->label == DPERM_LABEL_TWO && pass->domain > 1 &&
		 memchr(positive, '\0', pass->domain - 1) != NULL))
		return "the positive value is no text";
	if (pass->label != DPERM_LABEL_NUMBER && pass->domain > 1 &&
		!dperm_reader_text_fits(positive, pass->domain - 1, pass->domain_encoding))
		return "labels are not in their encoding";
	return NULL;
}

/* What is wrong with the encoder and the readers of a flat value, or NULL. */
const char *
dperm_moments_flat_open_encoder(const DpermFlat *flat, const DpermPass *pass, DpermEncoder *encoder)
{
	const uint64 *readers = flat->words + dperm_pass_readers_at(pass);
	const char *form = (const char *) (flat->words + dperm_pass_encoder_at(pass));
	const char *fault;

	fault = dperm_encoder_form_read((DpermText) {memcpy(palloc(pass->encoder), form, pass->encoder),
												 (int) pass->encoder}, encoder);
	if (fault)
		return fault;
	if (dperm_encoder_dim(encoder) * dperm_loss_blocks(pass->loss) != pass->dim)
		return "the dimension of the encoder does not match";
	if (pass->readers != encoder->block_count)
		return "the readers do not match the encoder";
	for (int i = 0; i < encoder->block_count; i++)
		if (!dperm_reader_word_fits(readers[i], &encoder->blocks[i]))
			return "a reader is unknown";
	return label_fault(flat, pass);
}

/* Describe the labels of a request. */
static void
describe_labels(DpermPass *pass, const DpermPassSpec *spec)
{
	const DpermLabels *labels = &spec->labels;
	const char *domain = NULL;
	size_t		size = 0;

	pass->label_type = spec->label_type;
	pass->label = labels->kind;
	switch (labels->kind)
	{
		case DPERM_LABEL_NUMBER:
			pass->domain = DPERM_PASS_BOUNDS + 1;
			return;
		case DPERM_LABEL_SEVERAL:
			pass->loss.classes = labels->class_count;
			domain = labels->classes;
			size = dperm_classes_size(domain, labels->class_count);
			break;
		case DPERM_LABEL_TWO:
			domain = labels->positive;
			size = domain ? strlen(domain) : 0;
			break;
	}
	if (domain)
	{
		pass->domain = size + 1;
		pass->domain_encoding = dperm_reader_encoding(domain, size);
	}
}

/*
 * The flat value of a request, with the encoder and readers of the
 * specification.
 */
static DpermFlat *
write_request(DpermPass *pass, const DpermPassSpec *spec, const double *weights)
{
	DpermText	form = dperm_encoder_form_write(&spec->encoder);
	DpermFlat *flat;

	describe_labels(pass, spec);
	pass->dim = dperm_encoder_dim(&spec->encoder) * dperm_loss_blocks(pass->loss);
	pass->readers = spec->encoder.block_count;
	pass->encoder = form.len;
	pass->weighted = spec->weighted;
	flat = dperm_moments_flat_make(dperm_pass_words(pass));
	dperm_pass_write(pass, flat->words);
	memcpy(flat->words + dperm_pass_weights_at(pass), weights, sizeof(double) * pass->dim);
	memcpy(flat->words + dperm_pass_readers_at(pass), spec->readers,
		   sizeof(uint64) * pass->readers);
	dperm_moments_flat_put_bytes(flat, pass, form.bytes, &spec->labels);
	return flat;
}

/* A request for sums. */
Datum
dperm_moments_flat_request(const DpermPassSpec *spec, DpermPassOrder order, const double *weights,
					  const double *second)
{
	DpermPass	pass = {.order = order, .loss = spec->loss, .seed = spec->seed};
	DpermFlat *flat = write_request(&pass, spec, weights);

	if (dperm_pass_has_second(&pass))
		memcpy(flat->words + dperm_pass_weights_at(&pass) + pass.dim, second,
			   sizeof(double) * pass.dim);
	return PointerGetDatum(flat);
}

/* A request to count. */
Datum
dperm_moments_flat_count(const DpermPassSpec *spec, const double *weights, int bins)
{
	DpermPass	pass = {.order = DPERM_PASS_COUNT, .bins = bins};

	if (bins == 0 && spec->labels.class_count > DPERM_PASS_CLASSES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("mistakes of more than %d classes are not counted where the rows are",
						DPERM_PASS_CLASSES_MAX)));
	return PointerGetDatum(write_request(&pass, spec, weights));
}

/* Open a value that a pass returned. */
void
dperm_moments_flat_open(Datum value, DpermPass *pass, const uint64 **words)
{
	DpermFlat *flat = dperm_moments_flat_get(value);

	dperm_moments_flat_read(flat, pass);
	*words = flat->words;
}

/*
 * Raise an error unless a value answers a request. The rows may have been on
 * another server, whose owner can return anything.
 */
void
dperm_moments_flat_check_answer(Datum value, Datum request)
{
	DpermFlat *answer = dperm_moments_flat_get(value);
	DpermFlat *asked = dperm_moments_flat_get(request);
	DpermPass	found;
	DpermPass	wanted;

	dperm_moments_flat_read(answer, &found);
	dperm_moments_flat_read(asked, &wanted);
	if (!dperm_pass_matches(&found, &wanted) ||
		memcmp(answer->words + dperm_pass_weights_at(&found),
			   asked->words + dperm_pass_weights_at(&wanted),
			   sizeof(uint64) *
				   (dperm_pass_gradient_at(&wanted) - dperm_pass_weights_at(&wanted))) != 0 ||
		memcmp(answer->words + dperm_pass_readers_at(&found),
			   asked->words + dperm_pass_readers_at(&wanted),
			   sizeof(uint64) * (dperm_pass_words(&wanted) - dperm_pass_readers_at(&wanted))) != 0)
		dperm_moments_flat_wrong_answer();
}

/* A server has answered something else than what was requested. */
void
dperm_moments_flat_wrong_answer(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("a server that has the rows answered another request"),
			 errhint("All servers must have the same version of dperm.")));
}

/* The result of a pass that counts. */
int64
dperm_moments_flat_counts(Datum value, int64 *counts, int count)
{
	DpermPass	pass = {.rows = 0};
	const uint64 *words = NULL;

	memset(counts, 0, sizeof(int64) * count);
	if (value)
		dperm_moments_flat_open(value, &pass, &words);
	if (pass.rows == 0)
		return 0;
	if (dperm_pass_count_cells(&pass) != count)
		dperm_moments_flat_corrupted();
	memcpy(counts, words + dperm_pass_gradient_at(&pass), sizeof(int64) * count);
	return dperm_pass_units(&pass);
}
