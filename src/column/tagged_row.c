/*
 * tagged_row.c: dperm_row, the columns of a row as one value that any server
 * can read.
 *
 * Some servers call aggregates without the types of their arguments, as Citus
 * does on its workers. dperm_row is an ordinary function, so the types of its
 * arguments are known everywhere. core/encode/tagged.h describes the format.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "column/datum_values.h"
#include "column/domains.h"
#include "column/reader.h"
#include "core/encode/tagged.h"

PG_FUNCTION_INFO_V1(dperm_row);
PG_FUNCTION_INFO_V1(dperm_row_plain);

/* How a column is written, looked up once. */
typedef struct TaggedColumn
{
	DpermTag	tag;
	DpermReaderKind kind;
	bool		varlena;
	bool		is_array;
	Oid			element;		/* of an array that is read by element */
	FmgrInfo	output;			/* for text from an output function */
} TaggedColumn;

/*
 * Determine how to write a column; anything but numbers and vectors is written
 * as text.
 */
static void
init_column(TaggedColumn *column, Oid type, MemoryContext context)
{
	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the types of the columns of a row")));
	column->kind = dperm_reader_kind_natural(type);
	column->element = dperm_datum_values_element_type(type);
	column->varlena = get_typlen(getBaseType(type)) == -1;
	column->is_array = OidIsValid(get_element_type(getBaseType(type)));
	if (column->kind == DPERM_READ_NONE)
		column->kind = OidIsValid(column->element) ? DPERM_READ_NUMBER_ARRAY : DPERM_READ_OUTPUT;
	column->tag = dperm_reader_kind_tag(column->kind);
	if (column->kind == DPERM_READ_ENUM || column->kind == DPERM_READ_OUTPUT)
	{
		Oid			output;
		bool		is_varlena;

		getTypeOutputInfo(type, &output, &is_varlena);
		fmgr_info_cxt(output, &column->output, context);
	}
}

/* How the columns of this call are written. */
static TaggedColumn *
tagged_columns(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	TaggedColumn *columns = flinfo->fn_extra;

	if (columns == NULL)
	{
		if (get_fn_expr_variadic(flinfo))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("the columns of a row cannot be an array with VARIADIC")));
		columns = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(*columns) * PG_NARGS());
		for (int i = 0; i < PG_NARGS(); i++)
			init_column(&columns[i], get_fn_expr_argtype(flinfo, i), flinfo->fn_mcxt);
		flinfo->fn_extra = columns;
	}
	return columns;
}

/* Raise an error for columns whose text depends on the catalog or a setting. */
static void
check_plain(FunctionCallInfo fcinfo)
{
	const TaggedColumn *columns = tagged_columns(fcinfo);

	for (int i = 0; i < PG_NARGS(); i++)
		if (columns[i].kind == DPERM_READ_ENUM || columns[i].kind == DPERM_READ_OUTPUT)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("dperm_row_plain does not accept columns of type %s",
							format_type_be(get_fn_expr_argtype(fcinfo->flinfo, i)))));
}

/* Make room for a value with this many bytes after its head. */
static unsigned char *
room_for(StringInfo row, Size bytes)
{
	enlargeStringInfo(row, DPERM_TAGGED_HEAD + bytes);
	return (unsigned char *) row->data + row->len;
}

/* Set the length after writing. */
static void
wrote(StringInfo row, const unsigned char *end)
{
	row->len = end - (unsigned char *) row->data;
}

static void
write_null(StringInfo row, const TaggedColumn *column)
{
	wrote(row, dperm_tagged_put_null(room_for(row, 0), column->tag, GetDatabaseEncoding()));
}

/* Write a text. */
static void
write_text_value(StringInfo row, const TaggedColumn *column, Datum datum)
{
	const char *text;
	int			len;

	if (column->kind == DPERM_READ_TEXT || column->kind == DPERM_READ_BPCHAR)
	{
		struct varlena *flat = PG_DETOAST_DATUM_PACKED(datum);

		text = VARDATA_ANY(flat);
		len =
			dperm_category_length(column->kind == DPERM_READ_BPCHAR, text, VARSIZE_ANY_EXHDR(flat));
	}
	else
	{
		text = OutputFunctionCall((FmgrInfo *) &column->output, datum);
		len = strlen(text);
	}
	wrote(row, dperm_tagged_put_text(room_for(row, len), GetDatabaseEncoding(), text, len));
}

/* Write a value of pgvector's type. */
static void
write_pgvector(StringInfo row, const TaggedColumn *column, Datum datum)
{
	int			count;
	const float *elements = dperm_datum_values_get_pgvector(datum, &count);

	if (elements == NULL)
		write_null(row, column);
	else
		wrote(row, dperm_tagged_put_float4(room_for(row, sizeof(float) * count), elements, count));
}

/* Write an array; one that cannot be a vector becomes null. */
static void
write_array(StringInfo row, const TaggedColumn *column, Datum datum)
{
	ArrayType  *array = dperm_datum_values_get_array(datum);
	int			count = array ? dperm_datum_values_array_elements(array) : -1;

	if (count < 0 || !dperm_datum_values_is_plain(array, count))
		write_null(row, column);
	else if (column->kind == DPERM_READ_FLOAT4_ARRAY)
		wrote(row, dperm_tagged_put_float4(room_for(row, sizeof(float) * count),
										   (const float *) ARR_DATA_PTR(array), count));
	else
	{
		double	   *elements = palloc(sizeof(double) * Max(count, 1));

		dperm_datum_values_read_array(array, column->element, count, elements);
		wrote(row, dperm_tagged_put_float8(room_for(row, sizeof(double) * count), elements, count));
		pfree(elements);
	}
}

/* Write a value. */
static void
write_value(StringInfo row, const TaggedColumn *column, Datum datum, bool isnull)
{
	if (isnull || (column->varlena && dperm_datum_values_too_large(datum, column->is_array)))
		write_null(row, column);
	else if (column->tag == DPERM_TAG_TEXT)
		write_text_value(row, column, datum);
	else if (column->kind == DPERM_READ_VECTOR)
		write_pgvector(row, column, datum);
	else if (column->tag == DPERM_TAG_FLOAT8 || column->tag == DPERM_TAG_FLOAT4)
		write_array(row, column, datum);
	else
		wrote(row, dperm_tagged_put_number(room_for(row, 0), column->tag,
										   dperm_reader_number(column->kind, datum)));
}

/*
 * dperm_row(VARIADIC columns "any"): a row as bytes. The concatenation of two
 * rows is a row, too.
 */
Datum
dperm_row(PG_FUNCTION_ARGS)
{
	const TaggedColumn *columns = tagged_columns(fcinfo);
	StringInfoData row;

	initStringInfo(&row);
	row.len = VARHDRSZ;
	for (int i = 0; i < PG_NARGS(); i++)
		write_value(&row, &columns[i], PG_GETARG_DATUM(i), PG_ARGISNULL(i));
	SET_VARSIZE(row.data, row.len);
	PG_RETURN_BYTEA_P(row.data);
}

/*
 * The same for columns whose bytes depend only on their values: it is
 * immutable, as functions sent to foreign servers must be.
 */
Datum
dperm_row_plain(PG_FUNCTION_ARGS)
{
	if (fcinfo->flinfo->fn_extra == NULL)
		check_plain(fcinfo);
	return dperm_row(fcinfo);
}
