/*
 * moments_type.c: dp_moments, the state of the pass aggregates.
 *
 * A dp_moments value is either flat (the words of core/pass.h behind a varlena header: what
 * travels between workers, shards and memory contexts) or an expanded object that is updated
 * in place, row by row. The rules for the aggregate's functions, which hold on a Citus
 * cluster too:
 *
 * - transition and combine take a flat, a read-only or a read-write expanded state; only the
 *   last kind is modified, any other is copied into the aggregate's context first;
 * - everything a pass needs is in the request, hence in the state: no fn_extra, no setting;
 * - nothing a row holds raises an error.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/base64.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "core/keep.h"
#include "core/moments.h"
#include "moments_type.h"
#include "rows.h"

PG_FUNCTION_INFO_V1(dp_moments_in);
PG_FUNCTION_INFO_V1(dp_moments_out);
PG_FUNCTION_INFO_V1(dp_moments_recv);
PG_FUNCTION_INFO_V1(dp_moments_send);
PG_FUNCTION_INFO_V1(dp_moments_step_float8);
PG_FUNCTION_INFO_V1(dp_moments_step_float4);
PG_FUNCTION_INFO_V1(dp_moments_combine);

/* The flat form: aligned like a double, so that the words can be read in place. */
typedef struct FlatMoments
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int32		padding;
	uint64		words[FLEXIBLE_ARRAY_MEMBER];
} FlatMoments;

#define FLAT_SIZE(count) (offsetof(FlatMoments, words) + sizeof(uint64) * (count))
#define FLAT_WORDS(flat) ((VARSIZE(flat) - offsetof(FlatMoments, words)) / sizeof(uint64))

/* The expanded form. */
typedef struct PassState
{
	ExpandedObjectHeader hdr;
	DpermPass	pass;			/* the request; sums are brought here by settle() */
	int			dim;
	DpermMoments moments;		/* unless the pass only counts */
	DpermKeep	keep;
	int64		keep_room;		/* rows that keep.rows has room for */
	double	   *raw;			/* a vector converted to doubles */
} PassState;

/* Bring the header up to date with the sums. */
static void
settle(PassState *state)
{
	if (state->pass.order > DPERM_PASS_COUNT)
	{
		dperm_moments_flush(&state->moments);
		state->pass.rows = state->moments.rows;
		state->pass.value[0] = state->moments.value[0];
		state->pass.value[1] = state->moments.value[1];
	}
	state->pass.used = state->keep.used;
	state->pass.stride = state->keep.stride;
}

/* Size of the flat form of an expanded state. */
static Size
state_flat_size(ExpandedObjectHeader *header)
{
	PassState  *state = (PassState *) header;

	settle(state);
	return FLAT_SIZE(dperm_pass_words(&state->pass));
}

/* Write the flat form of an expanded state. */
static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	PassState  *state = (PassState *) header;
	FlatMoments *flat = result;
	const DpermPass *pass = &state->pass;
	size_t		vector = sizeof(double) * state->dim;

	settle(state);
	Assert(size == FLAT_SIZE(dperm_pass_words(pass)));
	SET_VARSIZE(flat, size);
	flat->padding = 0;
	dperm_pass_write(pass, flat->words);
	if (pass->order > DPERM_PASS_COUNT)
	{
		double	   *sums = (double *) flat->words + dperm_pass_gradient_at(pass);

		memcpy(flat->words + dperm_pass_weights_at(pass), state->moments.weights, vector);
		if (pass->rows > 0)
		{
			memcpy(sums, state->moments.gradient, vector);
			memcpy(sums + state->dim, state->moments.gradient_low, vector);
		}
	}
	if (pass->order == DPERM_PASS_HESSIAN && pass->rows > 0)
		dperm_moments_pack(&state->moments,
						   (double *) flat->words + dperm_pass_hess_at(pass));
	if (pass->used > 0)
		memcpy(flat->words + dperm_pass_sample_at(pass), state->keep.rows,
			   vector * pass->used);
}

static const ExpandedObjectMethods state_methods = {state_flat_size, state_flatten};

/* Check a flat value and read its header. */
static void
read_flat(const FlatMoments *flat, DpermPass *pass)
{
	const char *why;

	if (VARSIZE(flat) < FLAT_SIZE(0) ||
		!dperm_pass_read(flat->words, FLAT_WORDS(flat), pass, &why))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("invalid dp_moments value")));
}

/* A flat value out of any datum; a copy only where the datum is not flat already. */
static FlatMoments *
get_flat(Datum value)
{
	return (FlatMoments *) PG_DETOAST_DATUM(value);
}

/* Make room for the row at a place of the sample. */
static void
grow_sample(PassState *state, int64 place)
{
	int64		rows = Max(state->keep_room, 64);
	size_t		size;

	if (place < state->keep_room)
		return;
	while (rows <= place)
		rows *= 2;
	rows = Min(rows, state->keep.capacity);
	size = sizeof(double) * state->dim * rows;
	if (state->keep.rows)
		state->keep.rows = repalloc_huge(state->keep.rows, size);
	else
		state->keep.rows = MemoryContextAllocHuge(state->hdr.eoh_context, size);
	state->keep_room = rows;
}

/* An expanded state that continues a flat one, in a child of the given context. */
static PassState *
expand(const FlatMoments *flat, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "dp_moments",
												  ALLOCSET_START_SMALL_SIZES);
	PassState  *state = MemoryContextAllocZero(context, sizeof(*state));
	DpermPass  *pass = &state->pass;
	const double *numbers = (const double *) flat->words;

	EOH_init_header(&state->hdr, &state_methods, context);
	read_flat(flat, pass);
	state->dim = dperm_encoder_dim(&pass->encoder);
	state->raw = MemoryContextAlloc(context, sizeof(double) * pass->encoder.dimension);
	dperm_keep_init(&state->keep, state->dim, pass->capacity);
	state->keep.used = pass->used;
	state->keep.seen = pass->rows;
	state->keep.stride = pass->stride;
	if (pass->used > 0)
	{
		grow_sample(state, pass->used - 1);
		memcpy(state->keep.rows, numbers + dperm_pass_sample_at(pass),
			   sizeof(double) * state->dim * pass->used);
	}
	if (pass->order > DPERM_PASS_COUNT)
	{
		bool		hessian = pass->order == DPERM_PASS_HESSIAN;
		const double *sums = numbers + dperm_pass_gradient_at(pass);
		double	   *room;

		room = MemoryContextAllocHuge(context, sizeof(double) *
									  dperm_moments_room(state->dim, hessian));
		dperm_moments_init(&state->moments, pass->loss, state->dim, hessian,
						   numbers + dperm_pass_weights_at(pass), room);
		if (pass->rows > 0)
			dperm_moments_merge(&state->moments, pass->rows, pass->value, sums,
								sums + state->dim,
								hessian ? numbers + dperm_pass_hess_at(pass) : NULL);
	}
	return state;
}

/* The state as an expanded object that may be modified. */
static PassState *
get_state(Datum value, MemoryContext parent)
{
	if (VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(value)))
		return (PassState *) DatumGetEOHP(value);
	return expand(get_flat(value), parent);
}

/* Where an aggregate's state lives; outside of an aggregate, where the caller is. */
static MemoryContext
state_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (AggCheckCallContext(fcinfo, &context))
		return context;
	return CurrentMemoryContext;
}

/* Add one row: a zero row without a label, a zero block without a vector. */
static void
add_row(PassState *state, int sign, const double *raw)
{
	int64		place = dperm_keep_offer(&state->keep);
	double	   *kept = NULL;
	double	   *row;

	if (place >= 0)
	{
		grow_sample(state, place);
		kept = state->keep.rows + place * state->dim;
	}
	if (state->pass.order > DPERM_PASS_COUNT)
		row = dperm_moments_next(&state->moments);
	else
	{
		state->pass.rows++;
		row = kept;
	}
	if (row == NULL)
		return;
	if (sign == 0)
		memset(row, 0, sizeof(double) * state->dim);
	else
		dperm_encode_vector(&state->pass.encoder, raw, sign, row);
	if (kept && kept != row)
		memcpy(kept, row, sizeof(double) * state->dim);
}

/* Transition: (state dp_moments, request dp_moments, label boolean, features) */
static Datum
step(FunctionCallInfo fcinfo, Oid element)
{
	MemoryContext context = state_context(fcinfo);
	PassState  *state;
	int			sign = 0;
	const double *raw = NULL;
	ArrayType  *array = NULL;

	if (!PG_ARGISNULL(0))
		state = get_state(PG_GETARG_DATUM(0), context);
	else if (!PG_ARGISNULL(1))
		state = expand(get_flat(PG_GETARG_DATUM(1)), context);
	else
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a pass needs a request")));

	if (!PG_ARGISNULL(2))
		sign = PG_GETARG_BOOL(2) ? 1 : -1;
	if (!PG_ARGISNULL(3))
	{
		int			dimension = state->pass.encoder.dimension;

		array = PG_GETARG_ARRAYTYPE_P(3);
		if (element == FLOAT8OID)
			raw = dperm_rows_peek_float8(array, dimension);
		else if (dperm_rows_read_array(array, element, dimension, state->raw))
			raw = state->raw;
	}
	add_row(state, sign, raw);
	if (array)
		PG_FREE_IF_COPY(array, 3);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

Datum
dp_moments_step_float8(PG_FUNCTION_ARGS)
{
	return step(fcinfo, FLOAT8OID);
}

Datum
dp_moments_step_float4(PG_FUNCTION_ARGS)
{
	return step(fcinfo, FLOAT4OID);
}

/* Combine two states of the same request. STRICT. */
Datum
dp_moments_combine(PG_FUNCTION_ARGS)
{
	PassState  *state = get_state(PG_GETARG_DATUM(0), state_context(fcinfo));
	FlatMoments *other = get_flat(PG_GETARG_DATUM(1));
	const double *numbers = (const double *) other->words;
	DpermPass	pass;
	DpermKeep	keep;

	read_flat(other, &pass);
	if (!dperm_pass_matches(&pass, &state->pass) ||
		(pass.order > DPERM_PASS_COUNT &&
		 memcmp(numbers + dperm_pass_weights_at(&pass), state->moments.weights,
				sizeof(double) * state->dim) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine the states of two different passes")));

	if (pass.order > DPERM_PASS_COUNT && pass.rows > 0)
	{
		const double *sums = numbers + dperm_pass_gradient_at(&pass);

		dperm_moments_flush(&state->moments);
		dperm_moments_merge(&state->moments, pass.rows, pass.value, sums, sums + state->dim,
							pass.order == DPERM_PASS_HESSIAN ?
							numbers + dperm_pass_hess_at(&pass) : NULL);
	}
	else if (pass.order == DPERM_PASS_COUNT)
		state->pass.rows += pass.rows;

	if (state->keep.capacity > 0)
	{
		/* merging thins the other sample in place: work on a copy of it */
		size_t		size = sizeof(double) * state->dim * pass.used;

		dperm_keep_init(&keep, state->dim, pass.capacity);
		keep.used = pass.used;
		keep.seen = pass.rows;
		keep.stride = pass.stride;
		keep.rows = MemoryContextAllocHuge(CurrentMemoryContext, Max(size, 1));
		memcpy(keep.rows, numbers + dperm_pass_sample_at(&pass), size);
		grow_sample(state, Min(state->keep.used + keep.used, state->keep.capacity) - 1);
		dperm_keep_merge(&state->keep, &keep);
		pfree(keep.rows);
	}
	else
		state->keep.seen += pass.rows;
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/* A flat value with room for count words. */
static FlatMoments *
make_flat(size_t count)
{
	FlatMoments *flat = palloc0(FLAT_SIZE(count));

	SET_VARSIZE(flat, FLAT_SIZE(count));
	return flat;
}

/* Words in network order to a checked flat value, NULL and *why if they are none. */
static FlatMoments *
from_network(const char *bytes, size_t size, const char **why)
{
	FlatMoments *flat;
	DpermPass	pass;

	*why = "wrong length";
	if (size % sizeof(uint64) != 0)
		return NULL;
	flat = make_flat(size / sizeof(uint64));
	memcpy(flat->words, bytes, size);
	for (size_t i = 0; i < size / sizeof(uint64); i++)
		flat->words[i] = pg_ntoh64(flat->words[i]);
	return dperm_pass_read(flat->words, size / sizeof(uint64), &pass, why) ? flat : NULL;
}

/* The words of a value in network order. */
static char *
to_network(Datum value, size_t *size)
{
	FlatMoments *flat = get_flat(value);
	size_t		count = FLAT_WORDS(flat);
	uint64	   *words = palloc(Max(sizeof(uint64) * count, 1));

	for (size_t i = 0; i < count; i++)
		words[i] = pg_hton64(flat->words[i]);
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
	FlatMoments *flat = size < 0 ? NULL : from_network(bytes, size, &why);

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
	FlatMoments *flat = from_network(pq_getmsgbytes(buf, size), size, &why);

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
dperm_moments_request(const DpermPass *request, const double *weights)
{
	DpermPass	pass = *request;
	FlatMoments *flat;

	pass.rows = 0;
	pass.used = 0;
	pass.stride = 1;
	pass.value[0] = pass.value[1] = 0;
	flat = make_flat(dperm_pass_words(&pass));
	dperm_pass_write(&pass, flat->words);
	if (pass.order > DPERM_PASS_COUNT)
		memcpy(flat->words + dperm_pass_weights_at(&pass), weights,
			   sizeof(double) * dperm_encoder_dim(&pass.encoder));
	return PointerGetDatum(flat);
}

/* Open a value that a pass returned. */
void
dperm_moments_open(Datum value, DpermPass *pass, const uint64 **words)
{
	FlatMoments *flat = get_flat(value);

	read_flat(flat, pass);
	*words = flat->words;
}
