/*
 * datum_values.c: convert a datum to doubles, without ever raising an error.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/tupmacs.h"
#include "utils/builtins.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "column/datum_values.h"
#include "core/base/limits.h"

/* The stored form of a value of the extension pgvector. */
typedef struct StoredVector
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int16		dim;
	int16		unused;
	float		x[FLEXIBLE_ARRAY_MEMBER];
} StoredVector;

/* Is a value larger than any that is looked at? */
bool
dperm_datum_values_too_large(Datum value, bool is_array)
{
	/*
	 * an expanded array may be larger than a flat one can be, and asking for
	 * its size would raise an error
	 */
	if (is_array && VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		ExpandedArrayHeader *array = (ExpandedArrayHeader *) DatumGetEOHP(value);

		if (array->ea_magic == EA_MAGIC &&
			ArrayGetNItems(array->ndims, array->dims) > DPERM_DIM_MAX)
			return true;
	}
	return toast_raw_datum_size(value) > DPERM_VALUE_MAX;
}

/* A flat array, unless it is too large. */
ArrayType *
dperm_datum_values_get_array(Datum value)
{
	return dperm_datum_values_too_large(value, true) ? NULL : DatumGetArrayTypeP(value);
}

/* The element types that dperm_datum_values_read_array() supports. */
static bool
is_readable(Oid elemtype)
{
	switch (elemtype)
	{
		case FLOAT8OID:
		case FLOAT4OID:
		case NUMERICOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return true;
		default:
			return false;
	}
}

/* The base element type of an array type, if it can be read. */
Oid
dperm_datum_values_element_type(Oid arraytype)
{
	Oid			elemtype;

	if (!OidIsValid(arraytype))
		return InvalidOid;

	elemtype = get_element_type(getBaseType(arraytype));
	if (!OidIsValid(elemtype))
		return InvalidOid;

	elemtype = getBaseType(elemtype);
	return is_readable(elemtype) ? elemtype : InvalidOid;
}

/* Widen floats to doubles. */
void
dperm_datum_values_from_float4(const float *in, int count, double *out)
{
	for (int i = 0; i < count; i++)
		out[i] = (double) in[i];
}

/* The elements of a value of pgvector's type. */
const float *
dperm_datum_values_get_pgvector(Datum value, int *count)
{
	StoredVector *stored;

	if (dperm_datum_values_too_large(value, false))
		return NULL;
	stored = (StoredVector *) PG_DETOAST_DATUM(value);
	if (stored->dim < 0 ||
		VARSIZE(stored) != offsetof(StoredVector, x) + sizeof(float) * stored->dim)
		return NULL;
	*count = stored->dim;
	return stored->x;
}

/* Elements of variable length have to be visited one after the other. */
static void
from_numeric(char *at, int count, double *out)
{
	for (int i = 0; i < count; i++)
	{
		/*
		 * Out of range becomes infinity here, where a cast would raise an
		 * error.
		 */
		out[i] = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
													PointerGetDatum(at)));
		at = att_addlength_pointer(at, -1, at);
		at = (char *) att_align_nominal(at, TYPALIGN_INT);
	}
}

/* Convert a plain vector of any readable element type. */
bool
dperm_datum_values_read_array(ArrayType *array, Oid elemtype, int expected_len, double *out)
{
	char	   *data;

	if (!is_readable(elemtype) || !dperm_datum_values_is_plain(array, expected_len))
		return false;

	/* Without NULLs the elements are adjacent, even after a null bitmap. */
	data = ARR_DATA_PTR(array);
	switch (elemtype)
	{
		case FLOAT8OID:
			memcpy(out, data, (size_t) expected_len * sizeof(double));
			break;
		case FLOAT4OID:
			dperm_datum_values_from_float4((const float *) data, expected_len, out);
			break;
		case NUMERICOID:
			from_numeric(data, expected_len, out);
			break;
		case INT2OID:
			for (int i = 0; i < expected_len; i++)
				out[i] = (double) ((const int16 *) data)[i];
			break;
		case INT4OID:
			for (int i = 0; i < expected_len; i++)
				out[i] = (double) ((const int32 *) data)[i];
			break;
		case INT8OID:
			for (int i = 0; i < expected_len; i++)
				out[i] = (double) ((const int64 *) data)[i];
			break;
	}
	return true;
}
