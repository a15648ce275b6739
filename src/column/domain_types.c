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
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/host.h"
#include "base/message.h"
#include "column/domains.h"
#include "column/reader.h"

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

/* Is a type stored as text, or name, so that its values compare as texts? */
bool
dperm_domain_types_is_text(Oid base)
{
	return base == NAMEOID || (category_of(base) == TYPCATEGORY_STRING && get_typlen(base) == -1);
}

/*
 * Is this the type "vector" of the extension "vector"? Others of this name are
 * stored differently. Its values are varlena: int16 dimension, int16 unused,
 * float4 coordinates.
 */
bool
dperm_domain_types_is_pgvector(Oid base)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
	Form_pg_type type;
	Oid			extension;
	bool		named;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", base);
	type = (Form_pg_type) GETSTRUCT(tuple);
	named = strcmp(NameStr(type->typname), "vector") == 0 &&
		type->typtype == TYPTYPE_BASE && type->typlen == -1;
	ReleaseSysCache(tuple);
	if (!named)
		return false;
	extension = getExtensionOfObject(TypeRelationId, base);
	return OidIsValid(extension) && extension == get_extension_oid("vector", true);
}

/*
 * Can the text of a type's values be a category? Not if it depends on session
 * settings: dates, regclass, money, interval, bytea, floats inside geometric
 * types. Texts are compared directly; the output of any other type must be short.
 */
static bool
has_plain_text(Oid base)
{
	char		category = category_of(base);

	if (get_typtype(base) != TYPTYPE_BASE)
		return get_typtype(base) == TYPTYPE_ENUM;
	if (base == DATEOID || base == TIMESTAMPOID || base == TIMESTAMPTZOID ||
		category == TYPCATEGORY_TIMESPAN || category == TYPCATEGORY_GEOMETRIC ||
		(category == TYPCATEGORY_NUMERIC && base != OIDOID))
		return false;
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
	return has_plain_text(base) || dperm_domain_types_is_integer(base) || base == NUMERICOID;
}

/* The kind of block of a base type; false if it cannot be a feature. */
bool
dperm_domain_types_kind(Oid base, DpermBlockKind *kind)
{
	static const DpermBlockKind kinds[] = {
		[DPERM_TAG_NUMBER] = DPERM_BLOCK_NUMBER,
		[DPERM_TAG_TIME] = DPERM_BLOCK_TIME,
		[DPERM_TAG_FLAG] = DPERM_BLOCK_FLAG,
		[DPERM_TAG_TEXT] = DPERM_BLOCK_CATEGORY,
		[DPERM_TAG_FLOAT8] = DPERM_BLOCK_VECTOR,
		[DPERM_TAG_FLOAT4] = DPERM_BLOCK_VECTOR
	};
	DpermReaderKind stored = dperm_reader_kind_natural(base);

	*kind = kinds[dperm_reader_kind_tag(stored)];
	return stored != DPERM_READ_NONE;
}

/*
 * The value of a number or a time, as blocks have it; false for any other type.
 * *out may be NaN or infinite.
 */
bool
dperm_domain_types_number(Oid type, Datum value, double *out)
{
	DpermReaderKind stored = dperm_reader_kind_natural(type);
	DpermTag	tag = dperm_reader_kind_tag(stored);

	if (tag != DPERM_TAG_NUMBER && tag != DPERM_TAG_TIME)
		return false;
	*out = dperm_reader_number(stored, value);
	return true;
}

/* The text of a value, as categories are written. */
DpermText
dperm_domain_types_text(Oid base, Datum value)
{
	DpermText	text = {.bytes = dperm_host_output(value, base)};

	text.len = dperm_category_length(base == BPCHAROID, text.bytes, strlen(text.bytes));
	return text;
}

/* Is a text among those of a list? */
bool
dperm_domain_types_lists(const DpermText *texts, int count, const DpermText *text)
{
	for (int i = 0; i < count; i++)
		if (dperm_block_same_text(&texts[i], text))
			return true;
	return false;
}

/*
 * Read a text as a type does, with a modifier; false, and why, if that fails. An error of the
 * input function of a type that can be a feature leaves nothing behind.
 */
bool
dperm_domain_types_input(Oid base, int32 typmod, const char *text, Datum *value, char **why)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			input,
				ioparam;

	*why = NULL;
	getTypeInputInfo(base, &input, &ioparam);
	PG_TRY();
	{
		*value = OidInputFunctionCall(input, pstrdup(text), ioparam, typmod);
	}
	PG_CATCH();
	{
		*why = dperm_message_data_error(context);
	}
	PG_END_TRY();
	return *why == NULL;
}

/*
 * A time as a type of times has it, whatever the DateStyle is; timestamptz in a zone, or in that of
 * the session if that is NULL.
 */
char *
dperm_domain_types_time(Oid type, double usecs, const int *zone)
{
	char	   *text = palloc(MAXDATELEN + 1);
	Datum		value;

	if (type == DATEOID)
		value = DateADTGetDatum((DateADT) rint(usecs / (double) USECS_PER_DAY));
	else if (type == TIMEOID)
		value = TimeADTGetDatum((TimeADT) usecs);
	else
		/* a bound at the end of all times may have been rounded beyond it */
		value = TimestampGetDatum(usecs >= (double) END_TIMESTAMP ? END_TIMESTAMP - 1 :
								  (Timestamp) usecs);
	return JsonEncodeDateTime(text, value, type, zone);
}

/*
 * A value of a number or a time as text, to the second. A model does not say of which
 * type a time was: a range within the first day of 2000 is that of times of day.
 */
char *
dperm_domain_types_shown(const DpermBlock *block, double value)
{
	double		usecs = rint(value * SECS_PER_DAY) * (double) USECS_PER_SEC;

	if (block->kind != DPERM_BLOCK_TIME || !(usecs >= (double) MIN_TIMESTAMP) ||
		!(usecs < (double) END_TIMESTAMP))
		return double_to_shortest_decimal(value);
	return dperm_domain_types_time(block->low >= 0 && block->high <= 1 ? TIMEOID :
								   fmod(usecs, (double) USECS_PER_DAY) == 0 ? DATEOID :
								   TIMESTAMPOID, usecs, NULL);
}

/* The labels of an enum, in order, as zero-terminated texts. */
DpermText *
dperm_domain_types_labels(Oid type, int *count)
{
	Relation	catalog = table_open(EnumRelationId, AccessShareLock);
	Relation	index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
	DpermText  *texts = palloc(sizeof(DpermText));
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

		texts = repalloc(texts, (*count + 1) * sizeof(DpermText));
		texts[(*count)++] = (DpermText) {label, (int) strlen(label)};
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	table_close(catalog, AccessShareLock);
	return texts;
}
