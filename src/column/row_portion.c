/*
 * row_portion.c: dperm_portion, which assigns a row to a portion by its
 * identity; and dperm_sample, which decides by its contents whether it is in a
 * sample.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "port/pg_bswap.h"
#include "storage/itemptr.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "base/compat.h"
#include "column/datum_values.h"
#include "core/privacy/portion.h"

PG_FUNCTION_INFO_V1(dperm_portion_place);
PG_FUNCTION_INFO_V1(dperm_portion_text);
PG_FUNCTION_INFO_V1(dperm_portion_bigint);
PG_FUNCTION_INFO_V1(dperm_portion_uuid);
PG_FUNCTION_INFO_V1(dperm_sample);

/* How many bytes of a value decide whether its row is in a sample. */
#define SAMPLE_PREFIX 256

/* Read the key and the number of portions of a call. */
static const unsigned char *
read_key(FunctionCallInfo fcinfo, const char *function, int *portions)
{
	bytea	   *key = PG_ARGISNULL(0) ? NULL : PG_GETARG_BYTEA_PP(0);

	*portions = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);
	if (key == NULL || VARSIZE_ANY_EXHDR(key) != DPERM_PORTION_KEY || *portions < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s requires a key of %d bytes and at least one portion", function,
						DPERM_PORTION_KEY)));
	return (const unsigned char *) VARDATA_ANY(key);
}

/*
 * dperm_portion(key, portions, tableoid, ctid): by the physical location of a
 * row.
 */
Datum
dperm_portion_place(PG_FUNCTION_ARGS)
{
	int			portions;
	const unsigned char *key = read_key(fcinfo, "dperm_portion", &portions);
	ItemPointer place = (ItemPointer) PG_GETARG_POINTER(3);
	uint32		identity[3] = {PG_GETARG_OID(2), ItemPointerGetBlockNumberNoCheck(place),
	ItemPointerGetOffsetNumberNoCheck(place)};

	PG_RETURN_INT32(dperm_portion(key, identity, sizeof(identity), portions));
}

/*
 * dperm_portion(key, portions, identity): by a column. Rows without an identity
 * share a portion, whatever the type.
 */
Datum
dperm_portion_text(PG_FUNCTION_ARGS)
{
	int			portions;
	const unsigned char *key = read_key(fcinfo, "dperm_portion", &portions);
	text	   *identity;

	if (PG_ARGISNULL(2))
		PG_RETURN_INT32(dperm_portion(key, "", 0, portions));
	identity = PG_GETARG_TEXT_PP(2);
	PG_RETURN_INT32(dperm_portion(key, VARDATA_ANY(identity), VARSIZE_ANY_EXHDR(identity),
								  portions));
}

/* The same by an integer, independent of the byte order of the server. */
Datum
dperm_portion_bigint(PG_FUNCTION_ARGS)
{
	int			portions;
	const unsigned char *key = read_key(fcinfo, "dperm_portion", &portions);
	uint64		identity = PG_ARGISNULL(2) ? 0 : pg_hton64((uint64) PG_GETARG_INT64(2));

	PG_RETURN_INT32(
		dperm_portion(key, &identity, PG_ARGISNULL(2) ? 0 : sizeof(identity), portions));
}

/* The same by a UUID. */
Datum
dperm_portion_uuid(PG_FUNCTION_ARGS)
{
	int			portions;
	const unsigned char *key = read_key(fcinfo, "dperm_portion", &portions);

	if (PG_ARGISNULL(2))
		PG_RETURN_INT32(dperm_portion(key, "", 0, portions));
	PG_RETURN_INT32(dperm_portion(key, PG_GETARG_UUID_P(2)->data, UUID_LEN, portions));
}

/* Append the first bytes of a value, as stored in memory. */
static void
append_image(StringInfo image, Datum value, Oid type)
{
	int16		len;
	bool		by_value;

	get_typlenbyval(type, &len, &by_value);
	if (by_value)
	{
		Datum		stored = 0;

		/* only this many bytes of the datum are the value */
		store_att_byval(&stored, value, len);
		appendBinaryStringInfo(image, (char *) &stored, len);
	}
	else if (len == -1 && dperm_datum_values_too_large(value, false))
		appendStringInfoChar(image, 'l');
	else if (len == -1)
	{
		struct varlena *prefix = PG_DETOAST_DATUM_SLICE(value, 0, SAMPLE_PREFIX);

		appendBinaryStringInfo(image, VARDATA_ANY(prefix), VARSIZE_ANY_EXHDR(prefix));
	}
	else
		appendBinaryStringInfo(image, DatumGetPointer(value),
							   len < 0 ? strlen(DatumGetCString(value)) : len);
}

/*
 * dperm_sample(key, every, VARIADIC columns): is a row in a sample of about
 * 1/every of all rows? It looks only at bytes, so that it is immutable for any
 * type of column: only immutable functions are sent to foreign servers.
 */
Datum
dperm_sample(PG_FUNCTION_ARGS)
{
	int			every;
	const unsigned char *key = read_key(fcinfo, "dperm_sample", &every);
	StringInfoData image;

	initStringInfo(&image);
	for (int i = 2; i < PG_NARGS(); i++)
	{
		Oid			type = get_fn_expr_argtype(fcinfo->flinfo, i);

		if (!OidIsValid(type))
			ereport(ERROR,
					(errcode(ERRCODE_INDETERMINATE_DATATYPE),
					 errmsg("could not determine the types of the columns of a row")));
		appendStringInfoChar(&image, PG_ARGISNULL(i) ? 'n' : 'v');
		if (!PG_ARGISNULL(i))
			append_image(&image, PG_GETARG_DATUM(i), type);
	}
	PG_RETURN_BOOL(dperm_portion(key, image.data, image.len, every) == 0);
}
