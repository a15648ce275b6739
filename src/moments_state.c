/*
 * moments_state.c: the state of the pass aggregates, updated in place.
 *
 * A dp_moments value is either flat (moments_flat.c) or an expanded object, as here. The rules for
 * the aggregate's functions, which hold on a Citus cluster too:
 *
 * - transition and combine take a flat, a read-only or a read-write expanded state; only the
 *   last kind is modified, any other is copied into the aggregate's context first;
 * - everything a pass needs is in the request, hence in the state; no setting is looked at;
 * - nothing in a request depends on a server: no OID, and texts that are not ASCII come with their encoding;
 * - nothing a row holds raises an error.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "core/encode/feed.h"
#include "core/solve/moments.h"
#include "dperm.h"
#include "moments_flat.h"
#include "reader.h"
#include "record.h"

PG_FUNCTION_INFO_V1(dp_moments_step);
PG_FUNCTION_INFO_V1(dp_moments_step_float8);
PG_FUNCTION_INFO_V1(dp_moments_step_float4);
PG_FUNCTION_INFO_V1(dp_moments_step_record);
PG_FUNCTION_INFO_V1(dp_moments_step_row);
PG_FUNCTION_INFO_V1(dp_moments_combine);

/* The expanded form. */
typedef struct PassState
{
	ExpandedObjectHeader hdr;
	DpermPass	pass;			/* the request; sums are brought here by settle_state() */
	int			dim;

	/* how rows are read and encoded */
	DpermEncoder encoder;
	const unsigned char *encoder_form;	/* its binary form, pass.encoder bytes */
	uint64	   *reader_words;
	DpermReader *readers;		/* one per block */
	DpermValue *values;
	DpermRecord record;			/* the type of rows that come as records */
	DpermFeed	feed;

	DpermMoments moments;
} PassState;

/* Bring rows that wait into the block under way. */
static void
map_rows(PassState *state)
{
	int			waiting = state->feed.waiting;

	if (waiting > 0)
		memcpy(dperm_moments_next_rows(&state->moments, waiting), dperm_feed_map(&state->feed),
			   sizeof(double) * state->dim * waiting);
}

/* Bring the header up to date with the sums. */
static void
settle_state(PassState *state)
{
	map_rows(state);
	dperm_moments_flush(&state->moments);
	state->pass.rows = state->moments.rows;
	state->pass.value[0] = state->moments.value[0];
	state->pass.value[1] = state->moments.value[1];
}

/* Size of the flat form of an expanded state. */
static Size
state_flat_size(ExpandedObjectHeader *header)
{
	PassState  *state = (PassState *) header;

	settle_state(state);
	return DPERM_FLAT_SIZE(dperm_pass_words(&state->pass));
}

/* Write the flat form of an expanded state. */
static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	PassState  *state = (PassState *) header;
	DpermFlat *flat = result;
	const DpermPass *pass = &state->pass;
	size_t		vector = sizeof(double) * state->dim;

	settle_state(state);
	Assert(size == DPERM_FLAT_SIZE(dperm_pass_words(pass)));
	SET_VARSIZE(flat, size);
	flat->padding = 0;
	dperm_pass_write(pass, flat->words);
	memcpy(flat->words + dperm_pass_weights_at(pass), state->moments.weights, vector);
	if (pass->order == DPERM_PASS_CAREFUL)
		memcpy(flat->words + dperm_pass_weights_at(pass) + state->dim, state->moments.weights_low, vector);
	if (pass->rows > 0)
	{
		double	   *sums = (double *) flat->words + dperm_pass_gradient_at(pass);

		memcpy(sums, state->moments.gradient, vector);
		memcpy(sums + state->dim, state->moments.gradient_low, vector);
	}
	if (dperm_pass_has_hess(pass) && pass->rows > 0)
		dperm_moments_pack(&state->moments,
						   (double *) flat->words + dperm_pass_hess_at(pass));
	memcpy(flat->words + dperm_pass_readers_at(pass), state->reader_words,
		   sizeof(uint64) * pass->readers);
	dperm_moments_flat_put_encoder(flat, pass, state->encoder_form);
}

static const ExpandedObjectMethods state_methods = {state_flat_size, state_flatten};

/* Take over how rows are read and encoded, from a flat value. */
static void
take_encoder(PassState *state, const DpermFlat *flat)
{
	const DpermPass *pass = &state->pass;
	unsigned char *form;

	if (dperm_moments_flat_open_encoder(flat, pass, &state->encoder) != NULL)
		dperm_moments_flat_corrupted();
	form = palloc(pass->encoder);
	memcpy(form, flat->words + dperm_pass_encoder_at(pass), pass->encoder);
	state->encoder_form = form;
	state->reader_words = palloc(sizeof(uint64) * pass->readers);
	memcpy(state->reader_words, flat->words + dperm_pass_readers_at(pass),
		   sizeof(uint64) * pass->readers);
	state->readers = dperm_reader_make_all(&state->encoder, state->reader_words);
	state->values = palloc0(sizeof(DpermValue) * state->encoder.block_count);
	dperm_feed_make(&state->feed, &state->encoder, NULL);
}

/* An expanded state that continues a flat one, in a child of the given context. */
static PassState *
expand(const DpermFlat *flat, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "dp_moments",
												  ALLOCSET_START_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	PassState  *state = palloc0(sizeof(*state));
	DpermPass  *pass = &state->pass;
	const double *numbers = (const double *) flat->words;
	const double *sums;
	double	   *room;
	bool		hessian;

	EOH_init_header(&state->hdr, &state_methods, context);
	dperm_moments_flat_read(flat, pass);
	state->dim = pass->dim;
	hessian = dperm_pass_has_hess(pass);
	sums = numbers + dperm_pass_gradient_at(pass);
	take_encoder(state, flat);
	room = MemoryContextAllocHuge(context, sizeof(double) *
								  dperm_moments_room(state->dim, hessian));
	dperm_moments_init_rows(&state->moments, pass->loss, &state->feed.layout, hessian,
							numbers + dperm_pass_weights_at(pass), room);
	if (pass->order == DPERM_PASS_ROUGH)
		dperm_moments_be_rough(&state->moments);
	if (pass->order == DPERM_PASS_CAREFUL)
		dperm_moments_be_careful(&state->moments, numbers + dperm_pass_weights_at(pass) + state->dim);
	if (pass->rows > 0)
		dperm_moments_merge(&state->moments, pass->rows, pass->value, sums, sums + state->dim,
							hessian ? numbers + dperm_pass_hess_at(pass) : NULL);
	MemoryContextSwitchTo(caller);
	return state;
}

/* The state as an expanded object that may be modified. */
static PassState *
get_state(Datum value, MemoryContext parent)
{
	if (VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(value)))
		return (PassState *) DatumGetEOHP(value);
	return expand(dperm_moments_flat_get(value), parent);
}

/* Where an aggregate's state lives; outside an aggregate, where the caller is. */
static MemoryContext
state_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (AggCheckCallContext(fcinfo, &context))
		return context;
	return CurrentMemoryContext;
}

/* Add the row whose values have been read: a zero row without a label. */
static void
add_row(PassState *state, int sign)
{
	if (!dperm_feed_waits(&state->feed))
		dperm_feed_write(&state->feed, state->values, sign,
						 dperm_moments_next(&state->moments));
	else if (dperm_feed_wait(&state->feed, state->values, sign))
		map_rows(state);
}

/* The state of a transition: the one so far, or a new one from the request. */
static PassState *
step_state(FunctionCallInfo fcinfo)
{
	MemoryContext context = state_context(fcinfo);
	PassState  *state;

	if (!PG_ARGISNULL(0))
		return get_state(PG_GETARG_DATUM(0), context);
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a pass needs a request")));
	state = expand(dperm_moments_flat_get(PG_GETARG_DATUM(1)), context);
	if (state->pass.rows != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a request has no rows of its own")));
	return state;
}

/* The sign of the label argument, 0 for none. */
static int
step_sign(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(2))
		return 0;
	return PG_GETARG_BOOL(2) ? 1 : -1;
}

/* How a column of a call is stored. */
typedef struct Column
{
	DpermReaderKind kind;
	Oid			type;
} Column;

/* The columns of a call are not those of its request. */
static void
raise_mismatch(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the columns of a pass do not match its request"),
			 errhint("The columns of a foreign table must have the types that they have on its server.")));
}

/*
 * A reader must be given what it was made for: a request is a value that anybody can write, and the
 * wrong type of datum could be read as a pointer. An enum is read by the values that its labels have here.
 */
static void
match_columns(PassState *state, int count, const Column *columns)
{
	if (count != state->encoder.block_count)
		raise_mismatch();
	for (int i = 0; i < count; i++)
	{
		if (columns[i].kind != state->readers[i].kind)
			raise_mismatch();
		if (dperm_reader_is_unbound(&state->readers[i], columns[i].type))
			dperm_reader_bind(state->readers, i, columns[i].type);
	}
}

/* How the columns of this call are stored, looked up once. */
static const Column *
call_columns(FunctionCallInfo fcinfo, int count)
{
	Column	   *columns = fcinfo->flinfo->fn_extra;

	if (columns == NULL)
	{
		columns = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(*columns) * Max(count, 1));
		for (int i = 0; i < count; i++)
		{
			columns[i].type = get_fn_expr_argtype(fcinfo->flinfo, 3 + i);
			if (!OidIsValid(columns[i].type))
				ereport(ERROR,
						(errcode(ERRCODE_INDETERMINATE_DATATYPE),
						 errmsg("could not determine the types of the columns of a pass"),
						 errhint("Where functions are called without the types of their arguments, use dp_moments_row_agg(request, label, dp_row(columns)).")));
			columns[i].kind = dperm_reader_natural(columns[i].type);
		}
		fcinfo->flinfo->fn_extra = columns;
	}
	return columns;
}

/* Add a row whose columns are the arguments from the fourth on. */
static Datum
step_pass(FunctionCallInfo fcinfo, const Column *columns)
{
	PassState  *state = step_state(fcinfo);
	int			sign = step_sign(fcinfo);

	match_columns(state, PG_NARGS() - 3, columns);
	for (int i = 0; i < state->encoder.block_count; i++)
		dperm_reader_read(&state->readers[i], PG_GETARG_DATUM(3 + i), PG_ARGISNULL(3 + i),
						  &state->values[i]);
	add_row(state, sign);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/* Transition: (state dp_moments, request dp_moments, label boolean, VARIADIC columns) */
Datum
dp_moments_step(PG_FUNCTION_ARGS)
{
	return step_pass(fcinfo, call_columns(fcinfo, PG_NARGS() - 3));
}

/* The same for one column of a declared type, which needs to find out nothing. */
Datum
dp_moments_step_float8(PG_FUNCTION_ARGS)
{
	static const Column column = {DPERM_READ_FLOAT8_ARRAY, FLOAT8ARRAYOID};

	return step_pass(fcinfo, &column);
}

Datum
dp_moments_step_float4(PG_FUNCTION_ARGS)
{
	static const Column column = {DPERM_READ_FLOAT4_ARRAY, FLOAT4ARRAYOID};

	return step_pass(fcinfo, &column);
}

/* Prepare for records of a type. */
static void
take_record_type(PassState *state, HeapTupleHeader record)
{
	MemoryContext caller = MemoryContextSwitchTo(state->hdr.eoh_context);
	DpermRecord taken;
	Column	   *columns;

	dperm_record_take(&taken, record);
	columns = palloc(sizeof(*columns) * Max(taken.desc->natts, 1));
	for (int i = 0; i < taken.desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(taken.desc, i);

		columns[i].type = column->atttypid;
		columns[i].kind = column->attisdropped ? DPERM_READ_NONE :
			dperm_reader_natural(column->atttypid);
	}
	match_columns(state, taken.desc->natts, columns);
	state->record = taken;
	MemoryContextSwitchTo(caller);
}

/* The same with the columns as one record: for more of them than a function has arguments. */
Datum
dp_moments_step_record(PG_FUNCTION_ARGS)
{
	PassState  *state = step_state(fcinfo);
	int			sign = step_sign(fcinfo);
	HeapTupleHeader record;

	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a pass needs rows")));
	record = PG_GETARG_HEAPTUPLEHEADER(3);
	if (!dperm_record_fits(&state->record, record))
		take_record_type(state, record);
	dperm_record_read(&state->record, record);
	for (int i = 0; i < state->encoder.block_count; i++)
		dperm_reader_read(&state->readers[i], state->record.datums[i], state->record.nulls[i],
						  &state->values[i]);
	add_row(state, sign);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/*
 * The same with the columns as a row that dp_row has made: a declared type, for servers that call aggregates without the types of their
 * arguments. All errors are about the types of columns, which every row has, so that what it holds makes no difference.
 */
Datum
dp_moments_step_row(PG_FUNCTION_ARGS)
{
	PassState  *state = step_state(fcinfo);
	int			sign = step_sign(fcinfo);
	bytea	   *bytes;
	DpermBytes	row = {0};

	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a pass needs rows")));
	bytes = PG_GETARG_BYTEA_PP(3);
	row.at = (const unsigned char *) VARDATA_ANY(bytes);
	row.left = VARSIZE_ANY_EXHDR(bytes);
	for (int i = 0; i < state->encoder.block_count; i++)
	{
		DpermTagged tagged;

		if (row.left == 0)
			raise_mismatch();
		if (!dperm_tagged_get(&row, &tagged))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					 errmsg("the value is not a row that dp_row has made")));
		if (!dperm_tagged_fits(tagged.tag, state->encoder.blocks[i].kind))
			raise_mismatch();
		if (tagged.tag == DPERM_TAG_TEXT && tagged.encoding != GetDatabaseEncoding())
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("the row is from a database of another encoding"),
					 errhint("Use databases of the same encoding.")));
		dperm_reader_read_tagged(&state->readers[i], &tagged, &state->values[i]);
	}
	if (row.left > 0)
		raise_mismatch();
	add_row(state, sign);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/* Combine two states of the same request. STRICT. */
Datum
dp_moments_combine(PG_FUNCTION_ARGS)
{
	PassState  *state = get_state(PG_GETARG_DATUM(0), state_context(fcinfo));
	DpermFlat *other = dperm_moments_flat_get(PG_GETARG_DATUM(1));
	const double *numbers = (const double *) other->words;
	DpermPass	pass;

	dperm_moments_flat_read(other, &pass);
	if (!dperm_pass_matches(&pass, &state->pass) ||
		memcmp(other->words + dperm_pass_readers_at(&pass), state->reader_words,
			   sizeof(uint64) * pass.readers) != 0 ||
		memcmp(other->words + dperm_pass_encoder_at(&pass), state->encoder_form,
			   pass.encoder) != 0 ||
		memcmp(numbers + dperm_pass_weights_at(&pass), state->moments.weights,
			   sizeof(double) * state->dim) != 0 ||
		(pass.order == DPERM_PASS_CAREFUL &&
		 memcmp(numbers + dperm_pass_weights_at(&pass) + state->dim, state->moments.weights_low,
				sizeof(double) * state->dim) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine the states of two different passes")));

	if (pass.rows > 0)
	{
		const double *sums = numbers + dperm_pass_gradient_at(&pass);

		settle_state(state);
		dperm_moments_merge(&state->moments, pass.rows, pass.value, sums, sums + state->dim,
							dperm_pass_has_hess(&pass) ?
							numbers + dperm_pass_hess_at(&pass) : NULL);
	}
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}
