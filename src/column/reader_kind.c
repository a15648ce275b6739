/*
 * reader_kind.c: how columns of a type are stored, and what they can be read as.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "column/datum_values.h"
#include "column/domains.h"
#include "column/reader_kind.h"

/* How to read a number or a time from a type. */
static DpermReaderKind
number_kind(Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DPERM_READ_INT2;
		case INT4OID:
			return DPERM_READ_INT4;
		case INT8OID:
			return DPERM_READ_INT8;
		case FLOAT4OID:
			return DPERM_READ_FLOAT4;
		case FLOAT8OID:
			return DPERM_READ_FLOAT8;
		case NUMERICOID:
			return DPERM_READ_NUMERIC;
		default:
			return DPERM_READ_NONE;
	}
}

/*
 * How to read categories from a type: its bytes if it is text, else its output.
 */
static DpermReaderKind
category_kind(Oid type)
{
	char		category;
	bool		preferred;

	if (get_typtype(type) == TYPTYPE_ENUM)
		return DPERM_READ_ENUM;
	if (type == BPCHAROID)
		return DPERM_READ_BPCHAR;
	get_type_category_preferred(type, &category, &preferred);
	if (category == TYPCATEGORY_STRING && get_typlen(type) == -1)
		return DPERM_READ_TEXT;
	return dperm_domain_types_has_text(type) ? DPERM_READ_OUTPUT : DPERM_READ_NONE;
}

/* How to read a vector from a type. */
static DpermReaderKind
vector_kind(Oid type)
{
	if (type == FLOAT8ARRAYOID)
		return DPERM_READ_FLOAT8_ARRAY;
	if (type == FLOAT4ARRAYOID)
		return DPERM_READ_FLOAT4_ARRAY;
	if (dperm_domain_types_is_pgvector(type))
		return DPERM_READ_VECTOR;
	if (OidIsValid(dperm_datum_values_element_type(type)))
		return DPERM_READ_NUMBER_ARRAY;
	return DPERM_READ_NONE;
}

/* How to read values for a kind of block from a type. */
DpermReaderKind
dperm_reader_kind(Oid type, DpermBlockKind kind)
{
	type = getBaseType(type);
	switch (kind)
	{
		case DPERM_BLOCK_NUMBER:
			return number_kind(type);
		case DPERM_BLOCK_TIME:
			if (type == DATEOID)
				return DPERM_READ_DATE;
			return type == TIMESTAMPOID	  ? DPERM_READ_TIMESTAMP :
				   type == TIMESTAMPTZOID ? DPERM_READ_TIMESTAMPTZ :
				   type == TIMEOID		  ? DPERM_READ_TIME_OF_DAY :
											DPERM_READ_NONE;
		case DPERM_BLOCK_FLAG:
			return type == BOOLOID ? DPERM_READ_BOOL : DPERM_READ_NONE;
		case DPERM_BLOCK_CATEGORY:
			return category_kind(type);
		case DPERM_BLOCK_VECTOR:
		case DPERM_BLOCK_BOX:
			return vector_kind(type);
	}
	return DPERM_READ_NONE;
}

/* How a type is stored, as a column of a pass. */
DpermReaderKind
dperm_reader_kind_natural(Oid type)
{
	static const DpermBlockKind tried[] = {DPERM_BLOCK_NUMBER, DPERM_BLOCK_TIME,
	DPERM_BLOCK_FLAG, DPERM_BLOCK_VECTOR, DPERM_BLOCK_CATEGORY};

	for (int i = 0; i < lengthof(tried); i++)
	{
		DpermReaderKind kind = dperm_reader_kind(type, tried[i]);

		if (dperm_reader_kind_fits(kind, tried[i]))
			return kind;
	}
	return DPERM_READ_NONE;
}

/* The tag of a kind. */
DpermTag
dperm_reader_kind_tag(DpermReaderKind kind)
{
	switch (kind)
	{
		case DPERM_READ_INT2:
		case DPERM_READ_INT4:
		case DPERM_READ_INT8:
		case DPERM_READ_FLOAT4:
		case DPERM_READ_FLOAT8:
		case DPERM_READ_NUMERIC:
			return DPERM_TAG_NUMBER;
		case DPERM_READ_DATE:
		case DPERM_READ_TIMESTAMP:
		case DPERM_READ_TIMESTAMPTZ:
		case DPERM_READ_TIME_OF_DAY:
			return DPERM_TAG_TIME;
		case DPERM_READ_BOOL:
			return DPERM_TAG_FLAG;
		case DPERM_READ_FLOAT8_ARRAY:
		case DPERM_READ_NUMBER_ARRAY:
			return DPERM_TAG_FLOAT8;
		case DPERM_READ_FLOAT4_ARRAY:
		case DPERM_READ_VECTOR:
			return DPERM_TAG_FLOAT4;
		default:
			return DPERM_TAG_TEXT;
	}
}

/*
 * Can a kind that is stored in a request provide values for a kind of block?
 * The one for prediction cannot.
 */
bool
dperm_reader_kind_fits(uint64 kind, DpermBlockKind block)
{
	return kind > DPERM_READ_NONE && kind <= DPERM_READ_LAST && kind != DPERM_READ_NUMBER_ARRAY &&
		dperm_tagged_fits(dperm_reader_kind_tag((DpermReaderKind) kind), block);
}
