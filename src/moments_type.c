/*
 * moments_type.c: dp_moments as a value: the flat form, text and binary.
 *
 * Flat are the words of core/pass.h behind a varlena header: what travels between workers, shards and
 * memory contexts. moments_state.c has the form that rows are added to.
 */
#include "postgres.h"

#include "common/base64.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"

#include "columns.h"
#include "moments_type.h"

PG_FUNCTION_INFO_V1(dp_moments_in);
PG_FUNCTION_INFO_V1(dp_moments_out);
PG_FUNCTION_INFO_V1(dp_moments_recv);
PG_FUNCTION_INFO_V1(dp_moments_send);

/* A flat value that did not come from us. */
void
dperm_flat_corrupted(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("invalid dp_moments value")));
}

/* Check a flat value and read its header. */
void
dperm_flat_read(const DpermFlat *flat, DpermPass *pass)
{
	const char *why;

	if (VARSIZE(flat) < DPERM_FLAT_SIZE(0) ||
		!dperm_pass_read(flat->words, DPERM_FLAT_WORDS(flat), pass, &why))
		dperm_flat_corrupted();
}

/* A flat value out of any datum; a copy only where the datum is not flat already. */
DpermFlat *
dperm_flat_get(Datum value)
{
	return (DpermFlat *) PG_DETOAST_DATUM(value);
}

/* A flat value with room for count words. */
DpermFlat *
dperm_flat_make(size_t count)
{
	DpermFlat *flat = palloc0(DPERM_FLAT_SIZE(count));

	SET_VARSIZE(flat, DPERM_FLAT_SIZE(count));
	return flat;
}

/* Write the encoder's bytes, and zeros up to the end of the word. */
void
dperm_flat_put_encoder(DpermFlat *flat, const DpermPass *pass, const unsigned char *form)
{
	char	   *to = (char *) (flat->words + dperm_pass_encoder_at(pass));

	memset(to, 0, (char *) (flat->words + dperm_pass_words(pass)) - to);
	memcpy(to, form, pass->encoder);
}

/* What is wrong with the encoder and the readers of a flat value, or NULL. */
const char *
dperm_flat_open_encoder(const DpermFlat *flat, const DpermPass *pass, DpermEncoder *encoder)
{
	const uint64 *readers = flat->words + dperm_pass_readers_at(pass);
	const char *fault;
	DpermArena	arena;
	int64		at = 0;

	arena.left = 16 * (size_t) pass->encoder + 256;
	arena.at = palloc(arena.left);
	fault = dperm_encoder_from_binary((const unsigned char *)
									  (flat->words + dperm_pass_encoder_at(pass)),
									  pass->encoder, &arena, encoder);
	if (fault)
		return fault;
	if (dperm_encoder_dim(encoder) != pass->dim)
		return "the encoder is of another dimension";
	for (int i = 0; i < encoder->block_count; i++)
	{
		if (at >= pass->readers ||
			!dperm_reader_fits(readers[at], encoder->blocks[i].kind))
			return "a reader is unknown";
		at += 1 + (readers[at] == DPERM_READ_ENUM ? encoder->blocks[i].count : 0);
	}
	return at == pass->readers ? NULL : "the readers do not match the encoder";
}

/* Words in network order to a checked flat value, NULL and *why if they are none. */
static DpermFlat *
from_network(const char *bytes, size_t size, const char **why)
{
	size_t		count = size / sizeof(uint64);
	DpermFlat *flat;
	DpermEncoder encoder;
	DpermPass	pass;

	*why = "wrong length";
	if (size % sizeof(uint64) != 0 || count < DPERM_PASS_HEADER)
		return NULL;
	flat = dperm_flat_make(count);
	memcpy(flat->words, bytes, size);
	for (size_t i = 0; i < DPERM_PASS_HEADER; i++)
		flat->words[i] = pg_ntoh64(flat->words[i]);
	for (size_t i = DPERM_PASS_HEADER; i < dperm_pass_ordered_words(flat->words, count); i++)
		flat->words[i] = pg_ntoh64(flat->words[i]);
	if (!dperm_pass_read(flat->words, count, &pass, why))
		return NULL;
	*why = dperm_flat_open_encoder(flat, &pass, &encoder);
	return *why ? NULL : flat;
}

/* The words of a value in network order; the encoder's bytes have one already. */
static char *
to_network(Datum value, size_t *size)
{
	DpermFlat *flat = dperm_flat_get(value);
	size_t		count = DPERM_FLAT_WORDS(flat);
	uint64	   *words = palloc(Max(sizeof(uint64) * count, 1));

	memcpy(words, flat->words, sizeof(uint64) * count);
	for (size_t i = 0; i < dperm_pass_ordered_words(flat->words, count); i++)
		words[i] = pg_hton64(words[i]);
	*size = sizeof(uint64) * count;
	return (char *) words;
}

/* Text form: base64 of the words in network order. */
Datum
dp_moments_in(PG_FUNCTION_ARGS)
{
	char	   *text = PG_GETARG_CSTRING(0);
	int			len = strlen(text);
	int			room = pg_b64_dec_len(len);
	char	   *bytes = palloc(room + 1);
	int			size = pg_b64_decode(text, len, (void *) bytes, room);
	const char *why = "not base64";
	DpermFlat *flat = size < 0 ? NULL : from_network(bytes, size, &why);

	if (flat == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "dp_moments"),
				 errdetail("The value is damaged: %s.", why)));
	PG_RETURN_POINTER(flat);
}

Datum
dp_moments_out(PG_FUNCTION_ARGS)
{
	size_t		size;
	char	   *bytes = to_network(PG_GETARG_DATUM(0), &size);
	int			room = pg_b64_enc_len(size);
	char	   *text = palloc(room + 1);
	int			len = pg_b64_encode((void *) bytes, size, text, room);

	if (len < 0)
		elog(ERROR, "could not encode a dp_moments value");
	text[len] = '\0';
	PG_RETURN_CSTRING(text);
}

/* Binary form: the words in network order. */
Datum
dp_moments_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			size = buf->len - buf->cursor;
	const char *why;
	DpermFlat *flat = from_network(pq_getmsgbytes(buf, size), size, &why);

	if (flat == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary form of type %s", "dp_moments"),
				 errdetail("The value is damaged: %s.", why)));
	PG_RETURN_POINTER(flat);
}

Datum
dp_moments_send(PG_FUNCTION_ARGS)
{
	StringInfoData buf;
	size_t		size;
	char	   *bytes = to_network(PG_GETARG_DATUM(0), &size);

	pq_begintypsend(&buf);
	pq_sendbytes(&buf, bytes, size);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* The flat value of a request. */
Datum
dperm_moments_request(const DpermPassSpec *spec, DpermPassOrder order, const double *weights,
					  const double *weights_low)
{
	size_t		size = dperm_encoder_binary_size(&spec->encoder);
	unsigned char *form = palloc(size);
	DpermPass	pass = {
		.order = order,
		.loss = spec->loss,
		.dim = dperm_encoder_dim(&spec->encoder),
		.readers = spec->reader_words,
		.encoder = size
	};
	DpermFlat *flat = dperm_flat_make(dperm_pass_words(&pass));

	dperm_encoder_to_binary(&spec->encoder, form);
	dperm_pass_write(&pass, flat->words);
	memcpy(flat->words + dperm_pass_weights_at(&pass), weights, sizeof(double) * pass.dim);
	if (order == DPERM_PASS_CAREFUL)
		memcpy(flat->words + dperm_pass_weights_at(&pass) + pass.dim, weights_low, sizeof(double) * pass.dim);
	memcpy(flat->words + dperm_pass_readers_at(&pass), spec->readers,
		   sizeof(uint64) * pass.readers);
	dperm_flat_put_encoder(flat, &pass, form);
	pfree(form);
	return PointerGetDatum(flat);
}

/* Open a value that a pass returned. */
void
dperm_moments_open(Datum value, DpermPass *pass, const uint64 **words)
{
	DpermFlat *flat = dperm_flat_get(value);

	dperm_flat_read(flat, pass);
	*words = flat->words;
}
