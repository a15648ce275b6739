/*
 * row_portion.c: dp_portion, the portion of a row by its identity.
 */
#include "postgres.h"

#include "fmgr.h"
#include "port/pg_bswap.h"
#include "storage/itemptr.h"
#include "utils/uuid.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "core/privacy/portion.h"

PG_FUNCTION_INFO_V1(dp_portion_place);
PG_FUNCTION_INFO_V1(dp_portion_text);
PG_FUNCTION_INFO_V1(dp_portion_bigint);
PG_FUNCTION_INFO_V1(dp_portion_uuid);

/* The key and the number of portions. */
static const unsigned char *
read_key(FunctionCallInfo fcinfo, int *portions)
{
	bytea	   *key = PG_ARGISNULL(0) ? NULL : PG_GETARG_BYTEA_PP(0);

	*portions = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);
	if (key == NULL || VARSIZE_ANY_EXHDR(key) != DPERM_PORTION_KEY || *portions < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dp_portion requires a key of %d bytes and at least one portion",
						DPERM_PORTION_KEY)));
	return (const unsigned char *) VARDATA_ANY(key);
}

/* dp_portion(key, portions, tableoid, ctid): by the place of a row. */
Datum
dp_portion_place(PG_FUNCTION_ARGS)
{
	int			portions;
	const unsigned char *key = read_key(fcinfo, &portions);
	ItemPointer place = (ItemPointer) PG_GETARG_POINTER(3);
	uint32		identity[3] = {PG_GETARG_OID(2), ItemPointerGetBlockNumberNoCheck(place),
	ItemPointerGetOffsetNumberNoCheck(place)};

	PG_RETURN_INT32(dperm_portion(key, identity, sizeof(identity), portions));
}

/* dp_portion(key, portions, identity): by a column. Whichever its type is, rows without an identity share a portion. */
Datum
dp_portion_text(PG_FUNCTION_ARGS)
{
	int			portions;
	const unsigned char *key = read_key(fcinfo, &portions);
	text	   *identity;

	if (PG_ARGISNULL(2))
		PG_RETURN_INT32(dperm_portion(key, "", 0, portions));
	identity = PG_GETARG_TEXT_PP(2);
	PG_RETURN_INT32(dperm_portion(key, VARDATA_ANY(identity), VARSIZE_ANY_EXHDR(identity),
								  portions));
}

/* The same by an integer: servers of any byte order give it the same portion. */
Datum
dp_portion_bigint(PG_FUNCTION_ARGS)
{
	int			portions;
	const unsigned char *key = read_key(fcinfo, &portions);
	uint64		identity = PG_ARGISNULL(2) ? 0 : pg_hton64((uint64) PG_GETARG_INT64(2));

	PG_RETURN_INT32(dperm_portion(key, &identity, PG_ARGISNULL(2) ? 0 : sizeof(identity), portions));
}

/* The same by a UUID. */
Datum
dp_portion_uuid(PG_FUNCTION_ARGS)
{
	int			portions;
	const unsigned char *key = read_key(fcinfo, &portions);

	if (PG_ARGISNULL(2))
		PG_RETURN_INT32(dperm_portion(key, "", 0, portions));
	PG_RETURN_INT32(dperm_portion(key, PG_GETARG_UUID_P(2)->data, UUID_LEN, portions));
}
