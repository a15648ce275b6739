/*
 * datum_values.h: convert a datum to doubles, without ever raising an error.
 *
 * The contents of a row must not cause an error (it would be a leak), so every
 * reader returns false or NULL for "not a usable vector", and its caller
 * decides what that means. NaN and infinities are passed on: the encoder
 * handles them.
 */
#ifndef DPERM_DATUM_VALUES_H
#define DPERM_DATUM_VALUES_H

#include "catalog/pg_type.h"
#include "utils/array.h"

/*
 * The size in bytes of the largest value that is read, uncompressed and
 * including the header. Larger values are not fetched, and count as no
 * category, no label and no vector. This must be a constant: if it depended on
 * arguments, the buffers that a call reads would reveal how a value's size
 * compares with them.
 */
#define DPERM_VALUE_MAX 131072

/*
 * Is a value of variable length larger than that? Does not fetch it, and never
 * raises an error.
 */
extern bool dperm_datum_values_too_large(Datum value, bool is_array);

/*
 * A flat array, or NULL if it is too large. It is a copy unless the datum
 * points to it.
 */
extern ArrayType *dperm_datum_values_get_array(Datum value);

/*
 * The base element type of an array type whose elements can be read: float8,
 * float4, numeric, int2, int4, int8, and domains over those or over the array.
 * InvalidOid for any other type. Reads the catalog: call it once per query, not
 * per row.
 */
extern Oid	dperm_datum_values_element_type(Oid arraytype);

/* The number of elements; -1 unless the array has exactly one dimension. */
static inline int
dperm_datum_values_array_elements(ArrayType *array)
{
	return ARR_NDIM(array) == 1 ? ARR_DIMS(array)[0] : -1;
}

/* One dimension, the expected number of elements, and no NULL among them. */
static inline bool
dperm_datum_values_is_plain(ArrayType *array, int expected_len)
{
	return expected_len >= 0 &&
		dperm_datum_values_array_elements(array) == expected_len &&
		!(ARR_HASNULL(array) && array_contains_nulls(array));
}

/*
 * A pointer into a float8 array of expected_len elements without NULLs, else
 * NULL. The array must be detoasted with DatumGetArrayTypeP (never the packed
 * form: a short header leaves the elements unaligned).
 */
static inline const double *
dperm_datum_values_peek_float8(ArrayType *array, int expected_len)
{
	if (ARR_ELEMTYPE(array) != FLOAT8OID || !dperm_datum_values_is_plain(array, expected_len))
		return NULL;

	/* The data start is MAXALIGNed within a palloc'd or aligned array. */
	return (const double *) ARR_DATA_PTR(array);
}

/*
 * Convert expected_len elements of base type elemtype to doubles. False, with
 * out untouched, for another number of elements or dimensions, a NULL element,
 * or an element type that cannot be read. A numeric out of the range of float8
 * becomes infinite.
 */
extern bool dperm_datum_values_read_array(ArrayType *array, Oid elemtype,
								  int expected_len, double *out);

/*
 * The elements of a value of pgvector's type, and their number; NULL if it is
 * too large or does not have the size that its header says. It is a copy unless
 * the datum points to it.
 */
extern const float *dperm_datum_values_get_pgvector(Datum value, int *count);

/* Widen count floats. */
extern void dperm_datum_values_from_float4(const float *in, int count, double *out);

#endif							/* DPERM_DATUM_VALUES_H */
