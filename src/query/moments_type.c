/*
 * moments_type.c: dperm_moments as a SQL type: its text and binary forms.
 */
#include "postgres.h"

#include "common/base64.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"

#include "column/reader.h"
#include "query/moments_flat.h"

PG_FUNCTION_INFO_V1(dperm_moments_in);
PG_FUNCTION_INFO_V1(dperm_moments_out);
PG_FUNCTION_INFO_V1(dperm_moments_recv);
PG_FUNCTION_INFO_V1(dperm_moments_send);

/*
 * Words in network order as a checked flat value; NULL and *why if they are
 * invalid.
 */
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
	flat = dperm_moments_flat_make(count);
	memcpy(flat->words, bytes, size);
	for (size_t i = 0; i < DPERM_PASS_HEADER; i++)
		flat->words[i] = pg_ntoh64(flat->words[i]);
	for (size_t i = DPERM_PASS_HEADER; i < dperm_pass_ordered_words(flat->words, count); i++)
		flat->words[i] = pg_ntoh64(flat->words[i]);
	if (!dperm_pass_read(flat->words, count, &pass, why))
		return NULL;
	*why = dperm_moments_flat_open_encoder(flat, &pass, &encoder);
	return *why ? NULL : flat;
}

/*
 * The words of a value in network order; the bytes of the encoder already are.
 */
static char *
to_network(Datum value, size_t *size)
{
	DpermFlat *flat = dperm_moments_flat_get(value);
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
dperm_moments_in(PG_FUNCTION_ARGS)
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
				 errmsg("invalid input syntax for type %s", "dperm_moments"),
				 errdetail("The value is not valid: %s.", why)));
	PG_RETURN_POINTER(flat);
}

Datum
dperm_moments_out(PG_FUNCTION_ARGS)
{
	size_t		size;
	char	   *bytes = to_network(PG_GETARG_DATUM(0), &size);
	int			room = pg_b64_enc_len(size);
	char	   *text = palloc(room + 1);
	int			len = pg_b64_encode((void *) bytes, size, text, room);

	if (len < 0)
		elog(ERROR, "could not encode a dperm_moments value");
	text[len] = '\0';
	PG_RETURN_CSTRING(text);
}

/* Binary form: the words in network order. */
Datum
dperm_moments_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			size = buf->len - buf->cursor;
	const char *why;
	DpermFlat *flat = from_network(pq_getmsgbytes(buf, size), size, &why);

	if (flat == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary form of type %s", "dperm_moments"),
				 errdetail("The value is not valid: %s.", why)));
	PG_RETURN_POINTER(flat);
}

Datum
dperm_moments_send(PG_FUNCTION_ARGS)
{
	StringInfoData buf;
	size_t		size;
	char	   *bytes = to_network(PG_GETARG_DATUM(0), &size);

	pq_begintypsend(&buf);
	pq_sendbytes(&buf, bytes, size);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}
