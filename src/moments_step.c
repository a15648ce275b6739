/*
 * moments_step.c: the transition functions of the pass aggregates.
 *
 * They differ in how the columns of a row come: as arguments, as one array, as a record, or as bytes that dp_row has made.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"

#include "moments_state.h"

PG_FUNCTION_INFO_V1(dp_moments_step);
PG_FUNCTION_INFO_V1(dp_moments_step_float8);
PG_FUNCTION_INFO_V1(dp_moments_step_float4);
PG_FUNCTION_INFO_V1(dp_moments_step_record);
PG_FUNCTION_INFO_V1(dp_moments_step_row);

/* The state of a transition: the one so far, or a new one from the request. */
static DpermMomentsState *
step_state(FunctionCallInfo fcinfo)
{
	MemoryContext context = dperm_moments_state_context(fcinfo);
	DpermMomentsState *state;

	if (!PG_ARGISNULL(0))
		return dperm_moments_state_get(PG_GETARG_DATUM(0), context);
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a pass needs a request")));
	state = dperm_moments_state_expand(dperm_moments_flat_get(PG_GETARG_DATUM(1)), context);
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
match_columns(DpermMomentsState *state, int count, const Column *columns)
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
	DpermMomentsState *state = step_state(fcinfo);
	int			sign = step_sign(fcinfo);

	match_columns(state, PG_NARGS() - 3, columns);
	for (int i = 0; i < state->encoder.block_count; i++)
		dperm_reader_read(&state->readers[i], PG_GETARG_DATUM(3 + i), PG_ARGISNULL(3 + i),
						  &state->values[i]);
	dperm_moments_state_add(state, sign);
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
take_record_type(DpermMomentsState *state, HeapTupleHeader record)
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
	DpermMomentsState *state = step_state(fcinfo);
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
	dperm_moments_state_add(state, sign);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/*
 * The same with the columns as a row that dp_row has made: a declared type, for servers that call aggregates without the types of their
 * arguments. All errors are about the types of columns, which every row has, so that what it holds makes no difference.
 */
Datum
dp_moments_step_row(PG_FUNCTION_ARGS)
{
	DpermMomentsState *state = step_state(fcinfo);
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
	dperm_moments_state_add(state, sign);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}
