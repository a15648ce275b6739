/*
 * domain_types.c: which types can be features, and of which kind.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "common/shortest_dec.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "column/domain_types.h"
#include "core/base/limits.h"

/* The category of a type, as in pg_type.typcategory. */
static char
category_of(Oid type)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(type, &category, &preferred);
	return category;
}

/* Is this a type of integers? */
bool
dperm_domain_types_is_integer(Oid base)
{
	return base == INT2OID || base == INT4OID || base == INT8OID;
}

/* Is a type stored as text, or name? */
bool
dperm_domain_types_is_text(Oid base)
{
	return base == NAMEOID || (category_of(base) == TYPCATEGORY_STRING && get_typlen(base) == -1);
}

/*
 * Is this the type "vector" of the extension "vector"? Others of this name are
 * stored differently.
 */
bool
dperm_domain_types_is_pgvector(Oid base)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
	bool		named;
	Oid			extension;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", base);
	named = strcmp(NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname), "vector") == 0 &&
		((Form_pg_type) GETSTRUCT(tuple))->typtype == TYPTYPE_BASE &&
		((Form_pg_type) GETSTRUCT(tuple))->typlen == -1;
	ReleaseSysCache(tuple);
	if (!named)
		return false;
	extension = getExtensionOfObject(TypeRelationId, base);
	name = OidIsValid(extension) ? get_extension_name(extension) : NULL;
	return name != NULL && strcmp(name, "vector") == 0;
}

/*
 * Can the text of a type's values be a category? Not if it depends on session
 * settings: regclass, money, interval, bytea, floats inside geometric types.
 */
static bool
has_plain_text(Oid base)
{
	char		category = category_of(base);

	if (get_typtype(base) == TYPTYPE_ENUM)
		return true;
	if (get_typtype(base) != TYPTYPE_BASE || OidIsValid(get_element_type(base)) ||
		base == INT2VECTOROID || base == OIDVECTOROID || base == BYTEAOID)
		return false;
	/* settings determine how dates are written */
	if (base == DATEOID || base == TIMESTAMPOID || base == TIMESTAMPTZOID)
		return false;
	if (category == TYPCATEGORY_TIMESPAN || category == TYPCATEGORY_GEOMETRIC ||
		(category == TYPCATEGORY_NUMERIC && base != OIDOID))
		return false;

	/*
	 * texts are compared directly; the output of any other type must be short
	 */
	return dperm_domain_types_is_text(base) || get_typlen(base) > 0 ||
		category == TYPCATEGORY_NETWORK;
}

/*
 * Can prediction read categories from a type? Numbers too, if they were
 * specified as categories.
 */
bool
dperm_domain_types_has_text(Oid base)
{
	return has_plain_text(base) ||
		base == INT2OID || base == INT4OID || base == INT8OID || base == NUMERICOID;
}

/* The kind of block of a base type. */
bool
dperm_domain_types_kind(Oid base, DpermBlockKind *kind)
{
	switch (base)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			*kind = DPERM_BLOCK_NUMBER;
			return true;
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
			*kind = DPERM_BLOCK_TIME;
			return true;
		case BOOLOID:
			*kind = DPERM_BLOCK_FLAG;
			return true;
		case FLOAT4ARRAYOID:
		case FLOAT8ARRAYOID:
			*kind = DPERM_BLOCK_VECTOR;
			return true;
		default:
			*kind = dperm_domain_types_is_pgvector(base) ?
				DPERM_BLOCK_VECTOR : DPERM_BLOCK_CATEGORY;
			return *kind == DPERM_BLOCK_VECTOR || has_plain_text(base);
	}
}

/* The value of a number or a time. */
bool
dperm_domain_types_number(Oid type, Datum value, double *out)
{
	switch (type)
	{
		case INT2OID:
			*out = DatumGetInt16(value);
			return true;
		case INT4OID:
			*out = DatumGetInt32(value);
			return true;
		case INT8OID:
			*out = (double) DatumGetInt64(value);
			return true;
		case FLOAT4OID:
			*out = DatumGetFloat4(value);
			return true;
		case FLOAT8OID:
			*out = DatumGetFloat8(value);
			return true;
		case NUMERICOID:
			*out = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
			return true;
		case DATEOID:
			*out = dperm_days_from_date(DatumGetDateADT(value));
			return true;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*out = dperm_days_from_timestamp(DatumGetTimestamp(value));
			return true;
		case TIMEOID:
			*out = dperm_days_from_time(DatumGetTimeADT(value));
			return true;
		default:
			return false;
	}
}

/* The text of a value, as categories are written. */
DpermText
dperm_domain_types_text(Oid base, Datum value)
{
	Oid			output;
	bool		is_varlena;
	DpermText	text;

	getTypeOutputInfo(base, &output, &is_varlena);
	text.bytes = OidOutputFunctionCall(output, value);
	text.len = dperm_category_length(base == BPCHAROID, text.bytes, strlen(text.bytes));
	return text;
}

/* A value of a number or a time as text. */
char *
dperm_domain_types_shown(const DpermBlock *block, double value)
{
	double		usecs = rint(value * SECS_PER_DAY) * (double) USECS_PER_SEC;
	char		text[MAXDATELEN + 1];
	struct pg_tm tm;
	fsec_t		fsec;

	if (block->kind != DPERM_BLOCK_TIME || !(usecs >= (double) MIN_TIMESTAMP) ||
		!(usecs < (double) END_TIMESTAMP))
		return double_to_shortest_decimal(value);
	if (block->low >= 0 && block->high <= 1)
	{
		(void) time2tm((TimeADT) usecs, &tm, &fsec);
		EncodeTimeOnly(&tm, 0, false, 0, USE_ISO_DATES, text);
		return pstrdup(text);
	}
	if (timestamp2tm((Timestamp) usecs, NULL, &tm, &fsec, NULL, NULL) != 0)
		return double_to_shortest_decimal(value);
	if (tm.tm_hour == 0 && tm.tm_min == 0 && tm.tm_sec == 0)
		EncodeDateOnly(&tm, USE_ISO_DATES, text);
	else
		EncodeDateTime(&tm, 0, false, 0, NULL, USE_ISO_DATES, text);
	return pstrdup(text);
}

/* The labels of an enum, in order. */
DpermText *
dperm_domain_types_labels(Oid type, int *count)
{
	Relation	catalog = table_open(EnumRelationId, AccessShareLock);
	Relation	index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
	DpermText  *texts = palloc(DPERM_DIM_MAX * sizeof(DpermText));
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	*count = 0;
	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(type));
	scan = systable_beginscan_ordered(catalog, index, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext_ordered(scan, ForwardScanDirection)))
	{
		char	   *label = pstrdup(NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel));

		if (*count < DPERM_DIM_MAX)
			texts[*count] = (DpermText) {label, (int) strlen(label)};
		(*count)++;
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	table_close(catalog, AccessShareLock);
	return texts;
}
