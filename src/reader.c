/*
 * reader.c: from the datum of a column to the value that the encoder takes.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "domain_types.h"
#include "reader.h"
#include "rows.h"

/* The stored form of a value of the extension pgvector. */
typedef struct StoredVector
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int16		dim;
	int16		unused;
	float		x[FLEXIBLE_ARRAY_MEMBER];
} StoredVector;

/* How a type can feed a number or a time. */
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

/* How a type can feed categories: by its bytes where it is text, else by its output. */
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

/* How a type can feed a vector. */
static DpermReaderKind
vector_kind(Oid type)
{
	if (type == FLOAT8ARRAYOID)
		return DPERM_READ_FLOAT8_ARRAY;
	if (type == FLOAT4ARRAYOID)
		return DPERM_READ_FLOAT4_ARRAY;
	if (dperm_domain_types_is_pgvector(type))
		return DPERM_READ_VECTOR;
	if (OidIsValid(dperm_rows_element_type(type)))
		return DPERM_READ_NUMBER_ARRAY;
	return DPERM_READ_NONE;
}

/* How a type can feed a kind of block. */
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
			return type == TIMESTAMPOID || type == TIMESTAMPTZOID ? DPERM_READ_TIMESTAMP :
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
dperm_reader_natural(Oid type)
{
	static const DpermBlockKind tried[] = {DPERM_BLOCK_NUMBER, DPERM_BLOCK_TIME,
	DPERM_BLOCK_FLAG, DPERM_BLOCK_VECTOR, DPERM_BLOCK_CATEGORY};

	for (int i = 0; i < lengthof(tried); i++)
	{
		DpermReaderKind kind = dperm_reader_kind(type, tried[i]);

		if (dperm_reader_fits(kind, tried[i]))
			return kind;
	}
	return DPERM_READ_NONE;
}

/* May a stored kind feed a kind of block? Those for prediction only may not. */
bool
dperm_reader_fits(uint64 kind, DpermBlockKind block)
{
	switch (kind)
	{
		case DPERM_READ_INT2:
		case DPERM_READ_INT4:
		case DPERM_READ_INT8:
		case DPERM_READ_FLOAT4:
		case DPERM_READ_FLOAT8:
		case DPERM_READ_NUMERIC:
			return block == DPERM_BLOCK_NUMBER;
		case DPERM_READ_DATE:
		case DPERM_READ_TIMESTAMP:
			return block == DPERM_BLOCK_TIME;
		case DPERM_READ_BOOL:
			return block == DPERM_BLOCK_FLAG;
		case DPERM_READ_TEXT:
		case DPERM_READ_BPCHAR:
		case DPERM_READ_ENUM:
			return block == DPERM_BLOCK_CATEGORY;
		case DPERM_READ_FLOAT8_ARRAY:
		case DPERM_READ_FLOAT4_ARRAY:
		case DPERM_READ_VECTOR:
			return block == DPERM_BLOCK_VECTOR || block == DPERM_BLOCK_BOX;
		default:
			return false;
	}
}

/* The enum values of the categories of a block. */
Oid *
dperm_reader_enum_oids(Oid type, const DpermBlock *block)
{
	Oid		   *oids = palloc(sizeof(Oid) * block->count);

	for (int i = 0; i < block->count; i++)
	{
		char	   *label = pnstrdup(block->categories[i].bytes, block->categories[i].len);

		oids[i] = InvalidOid;
		if (strlen(label) < NAMEDATALEN)
			oids[i] = GetSysCacheOid2(ENUMTYPOIDNAME, Anum_pg_enum_oid,
									  ObjectIdGetDatum(getBaseType(type)),
									  CStringGetDatum(label));
		pfree(label);
	}
	return oids;
}

static inline uint32
text_hash(const char *bytes, int len)
{
	return hash_bytes((const unsigned char *) bytes, len);
}

/* Index the categories by text or by enum value, with open addressing, and hardly any detours. */
static void
index_categories(DpermReader *reader)
{
	const DpermBlock *block = reader->block;
	uint32		slots = 4;

	while (slots < 4 * (uint32) block->count)
		slots *= 2;
	reader->mask = slots - 1;
	reader->slots = palloc(sizeof(DpermSlot) * slots);
	for (uint32 i = 0; i < slots; i++)
		reader->slots[i].position = -1;
	for (int i = 0; i < block->count; i++)
	{
		const DpermText *text = &block->categories[i];
		uint32		hash = reader->kind == DPERM_READ_ENUM ? hash_bytes_uint32(reader->oids[i]) :
			text_hash(text->bytes, text->len);
		uint32		at = hash & reader->mask;

		while (reader->slots[at].position >= 0)
			at = (at + 1) & reader->mask;
		reader->slots[at].hash = hash;
		reader->slots[at].position = i;
	}
}

/* Make a reader. */
void
dperm_reader_init(DpermReader *reader, DpermReaderKind kind, const DpermBlock *block,
				  const Oid *oids, Oid type)
{
	memset(reader, 0, sizeof(*reader));
	reader->kind = kind;
	reader->block = block;
	reader->oids = oids;
	if (block->kind == DPERM_BLOCK_CATEGORY)
		index_categories(reader);
	if (block->kind == DPERM_BLOCK_VECTOR || block->kind == DPERM_BLOCK_BOX)
		reader->vector = palloc(sizeof(double) * block->count);
	if (kind == DPERM_READ_NUMBER_ARRAY)
		reader->element = dperm_rows_element_type(type);
	if (kind == DPERM_READ_OUTPUT)
	{
		Oid			output;
		bool		varlena;

		getTypeOutputInfo(type, &output, &varlena);
		fmgr_info(output, &reader->output);
	}
}

/* The readers for the blocks of an encoder. */
DpermReader *
dperm_reader_make_all(const DpermEncoder *encoder, const uint64 *words)
{
	DpermReader *readers = palloc(sizeof(DpermReader) * encoder->block_count);

	for (int i = 0; i < encoder->block_count; i++)
	{
		const DpermBlock *block = &encoder->blocks[i];
		DpermReaderKind kind = (DpermReaderKind) *words++;
		Oid		   *oids = NULL;

		if (kind == DPERM_READ_ENUM)
		{
			oids = palloc(sizeof(Oid) * block->count);
			for (int j = 0; j < block->count; j++)
				oids[j] = (Oid) *words++;
		}
		dperm_reader_init(&readers[i], kind, block, oids, InvalidOid);
	}
	return readers;
}

/* The position of a text among the categories, or -1. */
static int
find_text(const DpermReader *reader, const char *bytes, int len)
{
	uint32		hash = text_hash(bytes, len);
	const DpermSlot *slot = &reader->slots[hash & reader->mask];

	while (slot->position >= 0)
	{
		const DpermText *text = &reader->block->categories[slot->position];

		if (slot->hash == hash && text->len == len && memcmp(text->bytes, bytes, len) == 0)
			return slot->position;
		slot = &reader->slots[(slot - reader->slots + 1) & reader->mask];
	}
	return -1;
}

/* The same for an enum value. */
static int
find_oid(const DpermReader *reader, Oid oid)
{
	const DpermSlot *slot = &reader->slots[hash_bytes_uint32(oid) & reader->mask];

	while (slot->position >= 0)
	{
		if (reader->oids[slot->position] == oid)
			return slot->position;
		slot = &reader->slots[(slot - reader->slots + 1) & reader->mask];
	}
	return -1;
}

/* The category of a stored text. */
static int
read_text(const DpermReader *reader, Datum datum)
{
	struct varlena *text;
	const char *bytes;
	int			len;

	if (dperm_rows_too_large(datum, false))
		return -1;
	text = PG_DETOAST_DATUM_PACKED(datum);
	bytes = VARDATA_ANY(text);
	len = dperm_category_length(reader->kind == DPERM_READ_BPCHAR, bytes,
								VARSIZE_ANY_EXHDR(text));
	return find_text(reader, bytes, len);
}

/* The elements of an array or a vector, NULL if their number is not the right one. */
static const double *
read_vector(DpermReader *reader, Datum datum)
{
	int			count = reader->block->count;
	ArrayType  *array;

	if (reader->kind == DPERM_READ_VECTOR)
	{
		StoredVector *stored;

		if (dperm_rows_too_large(datum, false))
			return NULL;
		stored = (StoredVector *) PG_DETOAST_DATUM(datum);
		if (VARSIZE(stored) != offsetof(StoredVector, x) + sizeof(float) * count ||
			stored->dim != count)
			return NULL;
		dperm_rows_from_float4(stored->x, count, reader->vector);
		return reader->vector;
	}
	array = dperm_rows_get_array(datum);
	if (array == NULL)
		return NULL;
	if (reader->kind == DPERM_READ_FLOAT8_ARRAY)
		return dperm_rows_peek_float8(array, count);
	return dperm_rows_read_array(array, reader->kind == DPERM_READ_FLOAT4_ARRAY ?
								 FLOAT4OID : reader->element, count, reader->vector) ?
		reader->vector : NULL;
}

/* Read one value of any kind. */
void
dperm_reader_read_any(DpermReader *reader, Datum datum, bool isnull, DpermValue *value)
{
	value->present = !isnull;
	if (isnull)
		return;
	switch (reader->kind)
	{
		case DPERM_READ_INT2:
			value->number = DatumGetInt16(datum);
			break;
		case DPERM_READ_INT4:
			value->number = DatumGetInt32(datum);
			break;
		case DPERM_READ_INT8:
			value->number = (double) DatumGetInt64(datum);
			break;
		case DPERM_READ_FLOAT4:
			value->number = DatumGetFloat4(datum);
			break;
		case DPERM_READ_FLOAT8:
			value->number = DatumGetFloat8(datum);
			break;
		case DPERM_READ_NUMERIC:
			/* out of range gives an infinity, where a cast would raise */
			value->number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
															   datum));
			break;
		case DPERM_READ_BOOL:
			value->number = DatumGetBool(datum) ? 1 : -1;
			break;
		case DPERM_READ_DATE:
			value->number = dperm_days_from_date(DatumGetDateADT(datum));
			break;
		case DPERM_READ_TIMESTAMP:
			value->number = dperm_days_from_timestamp(DatumGetTimestamp(datum));
			break;
		case DPERM_READ_TEXT:
		case DPERM_READ_BPCHAR:
			value->category = read_text(reader, datum);
			break;
		case DPERM_READ_ENUM:
			value->category = find_oid(reader, DatumGetObjectId(datum));
			break;
		case DPERM_READ_OUTPUT:
			{
				char	   *text = OutputFunctionCall(&reader->output, datum);

				value->category = find_text(reader, text, strlen(text));
				break;
			}
		case DPERM_READ_FLOAT8_ARRAY:
		case DPERM_READ_FLOAT4_ARRAY:
		case DPERM_READ_NUMBER_ARRAY:
		case DPERM_READ_VECTOR:
			value->vector = read_vector(reader, datum);
			value->present = value->vector != NULL;
			break;
		case DPERM_READ_NONE:
			value->present = false;
			break;
	}
}
