/*
 * row_functions.c: what queries over rows call.
 *
 * dperm_bounded excludes large values: one that is too large to be useful must
 * not exhaust memory, as the error would reveal that it exists.
 *
 * dperm_row makes the columns of a row one value that any server can read. Some
 * servers call aggregates without the types of their arguments, as Citus does
 * on its workers. dperm_row is an ordinary function, so the types of its
 * arguments are known everywhere. core/encode/tagged.h describes the format.
 *
 * dperm_sample decides by the contents of a row whether it is in a sample.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "column/column.h"

PG_FUNCTION_INFO_V1(dperm_bounded);
PG_FUNCTION_INFO_V1(dperm_row);
PG_FUNCTION_INFO_V1(dperm_sample);

/* How many bytes of a value decide whether its row is in a sample. */
#define SAMPLE_PREFIX 256

/* The types of the arguments of a call, looked up once. */
static DpermStored *
argument_types(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	DpermStored *types = flinfo->fn_extra;

	if (types == NULL)
	{
		if (get_fn_expr_variadic(flinfo))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("the columns of a row cannot be an array with VARIADIC")));
		types = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(*types) * PG_NARGS());
		for (int i = 0; i < PG_NARGS(); i++)
			dperm_reader_look(&types[i], get_fn_expr_argtype(flinfo, i), flinfo->fn_mcxt);
		flinfo->fn_extra = types;
	}
	return types;
}

/* dperm_bounded(value anyelement): the value, or NULL if it is too large. */
Datum
dperm_bounded(PG_FUNCTION_ARGS)
{
	if (dperm_reader_exceeds(argument_types(fcinfo), PG_GETARG_DATUM(0)))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Append a value; one that cannot be read becomes null. */
static void
append_tagged(StringInfo row, DpermStored *type, Datum value, bool isnull)
{
	DpermTagged tagged = {.tag = dperm_reader_kind_tag(type->kind),
						  .encoding = GetDatabaseEncoding(), .count = -1};
	const double *elements = NULL;
	bool		vector = tagged.tag == DPERM_TAG_FLOAT8 || tagged.tag == DPERM_TAG_FLOAT4;
	unsigned char *at;

	if (isnull)
		tagged.present = false;
	else if (tagged.tag == DPERM_TAG_TEXT)
	{
		tagged.bytes = (const unsigned char *) dperm_reader_text(type, value, &tagged.count);
		tagged.present = tagged.bytes != NULL;
	}
	else if (vector)
	{
		elements = dperm_reader_elements(type, value, &tagged.count, NULL);
		tagged.present = elements && tagged.count > 0;
	}
	else
	{
		tagged.number = dperm_reader_number(type->kind, value);
		tagged.present = true;
	}
	enlargeStringInfo(row,
					  DPERM_TAGGED_HEAD + Max(tagged.count, 0) * (vector ? sizeof(double) : 1));
	at = (unsigned char *) row->data + row->len;
	row->len = dperm_tagged_put(at, &tagged, elements) - (unsigned char *) row->data;
}

/*
 * The columns of a call, as its first argument says that they are
 * (dperm_reader_row_form), looked up once. A column that is read by its output is
 * written as that.
 */
static DpermStored *
row_types(FunctionCallInfo fcinfo)
{
	DpermStored *types = fcinfo->flinfo->fn_extra;
	bytea	   *form;
	StringInfoData in;

	if (types)
		return types;
	types = argument_types(fcinfo);
	fcinfo->flinfo->fn_extra = NULL;
	form = PG_ARGISNULL(0) ? NULL : PG_GETARG_BYTEA_PP(0);
	initStringInfo(&in);
	if (form)
		appendBinaryStringInfo(&in, VARDATA_ANY(form), VARSIZE_ANY_EXHDR(form));
	for (int i = 1; i < PG_NARGS(); i++)
	{
		DpermReaderKind kind = (DpermReaderKind) (in.cursor < in.len ? pq_getmsgbyte(&in) : 0);
		Oid			expected = kind == DPERM_READ_OUTPUT ? pq_getmsgint(&in, 4) : InvalidOid;

		if (kind == DPERM_READ_OUTPUT &&
			(!OidIsValid(expected) || expected == getBaseType(types[i].type)))
			types[i].kind = kind;
		if (kind != types[i].kind || kind == DPERM_READ_NONE)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("the columns of a pass do not match its request"),
					 errhint("The columns of a foreign table must have the types that they have "
							 "on its server.")));
	}
	fcinfo->flinfo->fn_extra = types;
	return types;
}

/*
 * dperm_row(form bytea, VARIADIC columns "any"): a row as bytes. The concatenation
 * of two rows is a row, too. It is declared as immutable for the same reason as
 * dperm_label.
 */
Datum
dperm_row(PG_FUNCTION_ARGS)
{
	DpermStored *types = row_types(fcinfo);
	StringInfoData row;

	initStringInfo(&row);
	row.len = VARHDRSZ;
	for (int i = 1; i < PG_NARGS(); i++)
		append_tagged(&row, &types[i], PG_GETARG_DATUM(i), PG_ARGISNULL(i));
	SET_VARSIZE(row.data, row.len);
	PG_RETURN_BYTEA_P(row.data);
}

/* Append the first bytes of a value, as stored in memory. */
static void
append_image(StringInfo image, Datum value, const DpermStored *type)
{
	if (type->by_value)
	{
		Datum		stored = 0;

		/* only this many bytes of the datum are the value */
		store_att_byval(&stored, value, type->len);
		appendBinaryStringInfo(image, (char *) &stored, type->len);
	}
	else if (dperm_reader_exceeds(type, value))
		appendStringInfoChar(image, 'l');
	else if (type->len == -1)
	{
		struct varlena *prefix = PG_DETOAST_DATUM_SLICE(value, 0, SAMPLE_PREFIX);

		appendBinaryStringInfo(image, VARDATA_ANY(prefix), VARSIZE_ANY_EXHDR(prefix));
	}
	else
		appendBinaryStringInfo(image, DatumGetPointer(value),
							   type->len < 0 ? strlen(DatumGetCString(value)) : type->len);
}

/*
 * dperm_sample(key, every, VARIADIC columns): is a row in a sample of about
 * 1/every of all rows? It looks only at bytes, so that it is immutable for any
 * type of column: only immutable functions are sent to foreign servers.
 */
Datum
dperm_sample(PG_FUNCTION_ARGS)
{
	const DpermStored *types = argument_types(fcinfo);
	StringInfoData image;
	uint64		hash;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_GETARG_INT32(1) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dperm_sample requires a key, and one in at least one row")));
	initStringInfo(&image);
	for (int i = 2; i < PG_NARGS(); i++)
	{
		appendStringInfoChar(&image, PG_ARGISNULL(i) ? 'n' : 'v');
		if (!PG_ARGISNULL(i))
			append_image(&image, PG_GETARG_DATUM(i), &types[i]);
	}
	hash = hash_bytes_extended((unsigned char *) image.data, image.len,
							   (uint64) PG_GETARG_INT64(0));
	PG_RETURN_BOOL(hash % PG_GETARG_INT32(1) == 0);
}
