/*
 * moments_step.c: the transition functions of the pass aggregates.
 *
 * They differ in how they get the columns of a row: as arguments, as one array,
 * as a record, or as bytes made by dperm_row. A label that is declared boolean
 * needs no reading; any other is read here, as the request says.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"

#include "core/base/limits.h"
#include "query/moments_state.h"

PG_FUNCTION_INFO_V1(dperm_moments_step);
PG_FUNCTION_INFO_V1(dperm_moments_step_float8);
PG_FUNCTION_INFO_V1(dperm_moments_step_float4);
PG_FUNCTION_INFO_V1(dperm_moments_step_record);
PG_FUNCTION_INFO_V1(dperm_moments_step_any);
PG_FUNCTION_INFO_V1(dperm_moments_step_any_record);
PG_FUNCTION_INFO_V1(dperm_moments_step_row);
PG_FUNCTION_INFO_V1(dperm_moments_step_person);
PG_FUNCTION_INFO_V1(dperm_moments_step_number_row);
PG_FUNCTION_INFO_V1(dperm_moments_step_number_person);

/* The state of a transition: the one so far, or a new one from the request. */
static DpermMomentsState *
get_state(FunctionCallInfo fcinfo)
{
	DpermMomentsState *state;

	/* the most common case */
	if (!PG_ARGISNULL(0) && VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(PG_GETARG_DATUM(0))))
		return (DpermMomentsState *) DatumGetEOHP(PG_GETARG_DATUM(0));
	if (!PG_ARGISNULL(0))
		return dperm_moments_state_get(PG_GETARG_DATUM(0), dperm_moments_state_context(fcinfo));
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a pass needs a request")));
	state = dperm_moments_state_expand(dperm_moments_flat_get(PG_GETARG_DATUM(1)),
									   dperm_moments_state_context(fcinfo));
	if (state->pass.rows != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a request has no rows of its own")));
	return state;
}

/*
 * The same, checking that the request and the function agree on weights:
 * otherwise, a row would get an arbitrary weight.
 */
static DpermMomentsState *
step_state(FunctionCallInfo fcinfo, bool weighted)
{
	DpermMomentsState *state = get_state(fcinfo);

	if (state->pass.weighted != weighted)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 weighted ? errmsg("the request is not about persons") : errmsg("the request is "
				 	"about persons"),
				 errhint("Use dperm_moments_person_agg for requests about persons, and for no "
						 "others.")));
	return state;
}

/* How a column of a call is stored. */
typedef struct Column
{
	DpermReaderKind kind;
	Oid			type;
} Column;

/* What is known about a call. */
typedef struct Call
{
	Oid			label;			/* the type of labels; InvalidOid if it is declared, and boolean */
	Column		columns[FLEXIBLE_ARRAY_MEMBER];
} Call;

/* The columns of a call do not match its request. */
static void
raise_mismatch(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the columns of a pass do not match its request"),
			 errhint("The columns of a foreign table must have the types that they have on its "
					 "server.")));
}

/* The type of an argument of a call. */
static Oid
argument_type(FunctionCallInfo fcinfo, int i)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, i);

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the types of the columns of a pass"),
				 errhint("Where functions are called without the types of their arguments, use "
						 "dperm_moments_row_agg(request, label, dperm_row(columns)).")));
	return type;
}

/*
 * The label argument, with its type unless that is declared, and boolean. No
 * value raises an error.
 */
static double
step_label(DpermMomentsState *state, FunctionCallInfo fcinfo, Oid type)
{
	if (OidIsValid(type) && state->label_call != type &&
		!dperm_moments_state_bind_label(state, type))
		raise_mismatch();
	if (OidIsValid(type))
		return dperm_label_read(&state->label, PG_GETARG_DATUM(2), PG_ARGISNULL(2));
	if (state->labels.kind != DPERM_LABEL_TWO)
		raise_mismatch();
	return PG_ARGISNULL(2) ? 0 : PG_GETARG_BOOL(2) ? 1 : -1;
}

/*
 * The label argument of double precision, which is declared: a number, or that
 * of a class.
 */
static double
number_label(DpermMomentsState *state, FunctionCallInfo fcinfo)
{
	if (state->labels.kind != DPERM_LABEL_SEVERAL)
		return step_label(state, fcinfo, FLOAT8OID);
	return PG_ARGISNULL(2) ? 0 :
							 dperm_label_numbered(PG_GETARG_FLOAT8(2), state->labels.class_count);
}

/*
 * A reader must get what it was made for: anybody can write a request, and a
 * datum of the wrong type could be read as a pointer. An enum is read by the
 * OIDs that its labels have here, and other types by their output functions.
 */
static void
match_columns(DpermMomentsState *state, int count, const Column *columns)
{
	if (count != state->encoder.block_count)
		raise_mismatch();
	state->record.type = InvalidOid;	/* its columns may be read otherwise from now on */
	for (int i = 0; i < count; i++)
		if (!dperm_reader_accept(state->readers, i, columns[i].type, columns[i].kind))
			raise_mismatch();
}

/*
 * What is known about this call, looked up once. Its columns may be arguments
 * or not.
 */
static const Call *
look_up_call(FunctionCallInfo fcinfo, bool any_label, bool arguments)
{
	int			count = arguments ? PG_NARGS() - 3 : 0;
	Call	   *call = fcinfo->flinfo->fn_extra;

	if (call == NULL)
	{
		call = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt,
								  offsetof(Call, columns) + sizeof(Column) * count);
		call->label = any_label ? argument_type(fcinfo, 2) : InvalidOid;
		for (int i = 0; i < count; i++)
		{
			call->columns[i].type = argument_type(fcinfo, 3 + i);
			call->columns[i].kind = dperm_reader_kind_natural(call->columns[i].type);
		}
		fcinfo->flinfo->fn_extra = call;
	}
	return call;
}

/* Add a row whose columns are the arguments from the fourth on. */
static Datum
step_pass(FunctionCallInfo fcinfo, Oid type, const Column *columns)
{
	DpermMomentsState *state = step_state(fcinfo, false);
	double		label = step_label(state, fcinfo, type);

	match_columns(state, PG_NARGS() - 3, columns);
	for (int i = 0; i < state->encoder.block_count; i++)
		dperm_reader_read(&state->readers[i], PG_GETARG_DATUM(3 + i), PG_ARGISNULL(3 + i),
						  &state->values[i]);
	dperm_moments_state_add(state, label);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/*
 * Transition: (state dperm_moments, request dperm_moments, label boolean,
 * VARIADIC columns)
 */
Datum
dperm_moments_step(PG_FUNCTION_ARGS)
{
	const Call *call = look_up_call(fcinfo, false, true);

	return step_pass(fcinfo, call->label, call->columns);
}

/* The same for a label of any type. */
Datum
dperm_moments_step_any(PG_FUNCTION_ARGS)
{
	const Call *call = look_up_call(fcinfo, true, true);

	return step_pass(fcinfo, call->label, call->columns);
}

/* The same for one column of a declared type, which needs no lookup. */
Datum
dperm_moments_step_float8(PG_FUNCTION_ARGS)
{
	static const Column column = {DPERM_READ_FLOAT8_ARRAY, FLOAT8ARRAYOID};

	return step_pass(fcinfo, InvalidOid, &column);
}

Datum
dperm_moments_step_float4(PG_FUNCTION_ARGS)
{
	static const Column column = {DPERM_READ_FLOAT4_ARRAY, FLOAT4ARRAYOID};

	return step_pass(fcinfo, InvalidOid, &column);
}

/* Prepare for records of a type. */
static void
take_record_type(DpermMomentsState *state, HeapTupleHeader record)
{
	MemoryContext caller = MemoryContextSwitchTo(state->hdr.eoh_context);
	DpermRecord taken;
	Column	   *columns;

	dperm_reader_take_record(&taken, record);
	columns = palloc(sizeof(*columns) * Max(taken.desc->natts, 1));
	for (int i = 0; i < taken.desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(taken.desc, i);

		columns[i].type = column->atttypid;
		columns[i].kind = column->attisdropped ? DPERM_READ_NONE :
			dperm_reader_kind_natural(column->atttypid);
	}
	match_columns(state, taken.desc->natts, columns);
	state->record = taken;
	MemoryContextSwitchTo(caller);
}

/*
 * The same with the columns as one record, if there are too many for arguments.
 */
static Datum
step_record(FunctionCallInfo fcinfo, Oid type)
{
	DpermMomentsState *state = step_state(fcinfo, false);
	double		label = step_label(state, fcinfo, type);
	HeapTupleHeader record;

	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a pass needs rows")));
	record = PG_GETARG_HEAPTUPLEHEADER(3);
	if (!dperm_reader_read_record(&state->record, record))
	{
		take_record_type(state, record);
		dperm_reader_read_record(&state->record, record);
	}
	for (int i = 0; i < state->encoder.block_count; i++)
		dperm_reader_read(&state->readers[i], state->record.datums[i], state->record.nulls[i],
						  &state->values[i]);
	dperm_moments_state_add(state, label);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

Datum
dperm_moments_step_record(PG_FUNCTION_ARGS)
{
	return step_record(fcinfo, InvalidOid);
}

Datum
dperm_moments_step_any_record(PG_FUNCTION_ARGS)
{
	return step_record(fcinfo, look_up_call(fcinfo, true, false)->label);
}

/*
 * Read the columns of a row made by dperm_row. Errors depend only on the types
 * of columns, which are the same in all rows.
 */
static void
read_columns(DpermMomentsState *state, FunctionCallInfo fcinfo)
{
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
					 errmsg("the value is not a row made by dperm_row")));
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
}

/*
 * The same with the columns as a row made by dperm_row: a declared type, for
 * servers that call aggregates without the types of their arguments.
 */
static Datum
step_row(FunctionCallInfo fcinfo, bool number)
{
	DpermMomentsState *state = step_state(fcinfo, false);
	double		label =
		number ? number_label(state, fcinfo) : step_label(state, fcinfo, InvalidOid);

	read_columns(state, fcinfo);
	dperm_moments_state_add(state, label);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

Datum
dperm_moments_step_row(PG_FUNCTION_ARGS)
{
	return step_row(fcinfo, false);
}

/* The same with a label of double precision. */
Datum
dperm_moments_step_number_row(PG_FUNCTION_ARGS)
{
	return step_row(fcinfo, true);
}

/*
 * The same for a row of a person: (..., columns bytea, rows bigint, first
 * boolean). rows is the number of labelled rows of the person, and one of all
 * their rows is the first.
 */
static Datum
step_person(FunctionCallInfo fcinfo, bool number)
{
	DpermMomentsState *state = step_state(fcinfo, true);
	double		label =
		number ? number_label(state, fcinfo) : step_label(state, fcinfo, InvalidOid);
	int64		labelled = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT64(4);

	if (PG_ARGISNULL(5) || labelled > DPERM_ROWS_MAX ||
		labelled < (dperm_label_kind_has(state->labels.kind, label) ? 1 : 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the number of rows of a person is out of range")));
	read_columns(state, fcinfo);
	dperm_moments_state_add_weighted(state, label, labelled, PG_GETARG_BOOL(5));
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

Datum
dperm_moments_step_person(PG_FUNCTION_ARGS)
{
	return step_person(fcinfo, false);
}

/* The same with a label of double precision. */
Datum
dperm_moments_step_number_person(PG_FUNCTION_ARGS)
{
	return step_person(fcinfo, true);
}
