/*
 * reader.c: convert the datum of a column to a value for the encoder.
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "column/datum_values.h"
#include "column/domains.h"
#include "column/reader.h"

/*
 * A word of a request: the kind; an encoding plus one, or 0; and a type, or 0.
 */
#define WORD_KIND(word) ((word) & 0xffff)
#define WORD_ENCODING(word) ((word) >> 16 & 0xffff)
#define WORD_TYPE(word) ((word) >> 32)
#define MAKE_WORD(kind, encoding, type) \
	((uint64) (kind) | (uint64) (encoding) << 16 | (uint64) (type) << 32)

/* The encoding of a text, if it matters. */
int
dperm_reader_encoding(const char *bytes, int len)
{
	for (int i = 0; i < len; i++)
		if (IS_HIGHBIT_SET(bytes[i]))
			return GetDatabaseEncoding() + 1;
	return 0;
}

/*
 * Is a text of a request in its encoding, as far as that can be seen here? Or a
 * list of texts, each with a zero byte.
 */
bool
dperm_reader_text_fits(const char *bytes, size_t len, int encoding)
{
	const char *end = bytes + len;

	if (encoding == 0)
		return dperm_reader_encoding(bytes, (int) len) == 0;
	while (encoding == GetDatabaseEncoding() + 1 && bytes < end)
	{
		int			size = (int) strnlen(bytes, end - bytes);

		if (!pg_verifymbstr(bytes, size, true))
			return false;
		bytes += size + 1;
	}
	return true;
}

/* The encoding of the categories of a block, if it matters. */
static int
category_encoding(const DpermBlock *block)
{
	int			encoding = 0;

	for (int i = 0; block->kind == DPERM_BLOCK_CATEGORY && i < block->count; i++)
		encoding = Max(encoding,
					   dperm_reader_encoding(block->categories[i].bytes, block->categories[i].len));
	return encoding;
}

/* Types with these OIDs are the same on all servers of any version. */
Oid
dperm_reader_common_type(Oid type)
{
	return type < FirstGenbkiObjectId ? type : InvalidOid;
}

/* The word of a request that describes a column. */
uint64
dperm_reader_word(DpermReaderKind kind, const DpermBlock *block, Oid type)
{
	return MAKE_WORD(kind, category_encoding(block),
					 kind == DPERM_READ_OUTPUT ? dperm_reader_common_type(getBaseType(type)) :
												 InvalidOid);
}

/* Is a word of a request valid for a block? */
bool
dperm_reader_word_fits(uint64 word, const DpermBlock *block)
{
	for (int i = 0; block->kind == DPERM_BLOCK_CATEGORY && i < block->count; i++)
		if (!dperm_reader_text_fits(block->categories[i].bytes, block->categories[i].len,
									WORD_ENCODING(word)))
			return false;
	return dperm_reader_kind_fits(WORD_KIND(word), block->kind) &&
		WORD_ENCODING(word) <= (block->kind == DPERM_BLOCK_CATEGORY ? _PG_LAST_ENCODING_ : 0) &&
		WORD_TYPE(word) < (WORD_KIND(word) == DPERM_READ_OUTPUT ? FirstGenbkiObjectId : 1);
}

/* Raise an error if texts of a request have another encoding than the rows. */
void
dperm_reader_check_encoding(int encoding)
{
	if (encoding != 0 && encoding != GetDatabaseEncoding() + 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a pass compares categories in encoding %s, but the rows are in "
						"encoding %s",
						pg_encoding_to_char(encoding - 1), GetDatabaseEncodingName()),
				 errhint("Use databases of the same encoding, or categories in ASCII.")));
}

/* The enum values of the categories of a block; InvalidOid if there is none. */
static Oid *
find_labels(Oid type, const DpermBlock *block)
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

/*
 * A hash table of the categories by text or, if oids are given, by enum value,
 * with open addressing and few collisions.
 */
static DpermSlot *
index_categories(DpermReader *reader, const Oid *oids)
{
	const DpermBlock *block = reader->block;
	uint32		count = 4;
	DpermSlot  *slots;

	while (count < 4 * (uint32) block->count)
		count *= 2;
	reader->mask = count - 1;
	slots = palloc(sizeof(DpermSlot) * count);
	for (uint32 i = 0; i < count; i++)
		slots[i].position = -1;
	for (int i = 0; i < block->count; i++)
	{
		const DpermText *text = &block->categories[i];
		uint32		hash = oids ? hash_bytes_uint32(oids[i]) : text_hash(text->bytes, text->len);
		uint32		at = hash & reader->mask;

		if (oids && !OidIsValid(oids[i]))
			continue;
		while (slots[at].position >= 0)
			at = (at + 1) & reader->mask;
		slots[at].hash = hash;
		slots[at].position = i;
	}
	return slots;
}

/* Bind a reader to an enum type, in the current context. */
static void
take_enum(DpermReader *reader, Oid type)
{
	Oid		   *oids = find_labels(type, reader->block);

	if (reader->oid_slots)
	{
		pfree(reader->oid_slots);
		pfree(reader->oids);
	}
	reader->oid_slots = index_categories(reader, oids);
	reader->oids = oids;
	reader->type = type;
}

/*
 * Bind a reader to a type that is read by its text, in the current context;
 * false if the request is about another type.
 */
static bool
take_output(DpermReader *reader, Oid type)
{
	Oid			base = getBaseType(type);
	DpermReaderKind stored = dperm_reader_kind(base, DPERM_BLOCK_CATEGORY);
	Oid			output;

	if (stored == DPERM_READ_NONE || (OidIsValid(reader->expected) && reader->expected != base))
		return false;
	getTypeOutputInfo(type, &output, &reader->varlena);
	fmgr_info_cxt(output, &reader->output, CurrentMemoryContext);
	reader->stored =
		stored == DPERM_READ_TEXT || stored == DPERM_READ_BPCHAR ? stored : DPERM_READ_OUTPUT;
	reader->type = type;
	return true;
}

/* Make a reader. */
void
dperm_reader_init(DpermReader *reader, DpermReaderKind kind, const DpermBlock *block, Oid type)
{
	memset(reader, 0, sizeof(*reader));
	reader->kind = kind;
	reader->block = block;
	if (block->kind == DPERM_BLOCK_CATEGORY)
		reader->slots = index_categories(reader, NULL);
	if (kind == DPERM_READ_ENUM && OidIsValid(type))
		take_enum(reader, type);
	if (block->kind == DPERM_BLOCK_VECTOR || block->kind == DPERM_BLOCK_BOX)
		reader->vector = palloc(sizeof(double) * dperm_block_elements(block));
	if (kind == DPERM_READ_NUMBER_ARRAY)
		reader->element = dperm_datum_values_element_type(type);
	reader->stored = kind;
	if (kind == DPERM_READ_OUTPUT && OidIsValid(type))
		take_output(reader, type);
}

/* The readers for the blocks of an encoder. */
DpermReader *
dperm_reader_make_all(const DpermEncoder *encoder, const uint64 *words)
{
	DpermReader *readers = palloc(sizeof(DpermReader) * encoder->block_count);

	for (int i = 0; i < encoder->block_count; i++)
	{
		dperm_reader_check_encoding(WORD_ENCODING(words[i]));
		dperm_reader_init(&readers[i], (DpermReaderKind) WORD_KIND(words[i]), &encoder->blocks[i],
						  InvalidOid);
		readers[i].expected = WORD_TYPE(words[i]);
	}
	return readers;
}

/*
 * Bind one of the readers to a type. What it needs lives as long as the
 * readers.
 */
bool
dperm_reader_bind(DpermReader *readers, int i, Oid type)
{
	MemoryContext caller = MemoryContextSwitchTo(GetMemoryChunkContext(readers));
	bool		taken = true;

	if (readers[i].kind == DPERM_READ_OUTPUT)
		taken = take_output(&readers[i], type);
	else
		take_enum(&readers[i], type);
	MemoryContextSwitchTo(caller);
	return taken;
}

/* Bind readers to the columns of a result. */
void
dperm_reader_bind_columns(DpermReader *readers, int count, TupleDesc desc, int first)
{
	if (first + count > desc->natts)
		elog(ERROR, "a result has %d columns, not %d", desc->natts, first + count);
	for (int i = 0; i < count; i++)
	{
		Oid			type = TupleDescAttr(desc, first + i)->atttypid;

		if (!dperm_reader_accept(readers, i, type, dperm_reader_kind_natural(type)))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("feature %d has changed its type since the call began", i + 1)));
	}
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
	const DpermSlot *slot;

	if (reader->oid_slots == NULL)
		elog(ERROR, "the type of an enum column is not known");
	slot = &reader->oid_slots[hash_bytes_uint32(oid) & reader->mask];
	while (slot->position >= 0)
	{
		if (reader->oids[slot->position] == oid)
			return slot->position;
		slot = &reader->oid_slots[(slot - reader->oid_slots + 1) & reader->mask];
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

	if (dperm_datum_values_too_large(datum, false))
		return -1;
	text = PG_DETOAST_DATUM_PACKED(datum);
	bytes = VARDATA_ANY(text);
	len = dperm_category_length(reader->stored == DPERM_READ_BPCHAR, bytes,
								VARSIZE_ANY_EXHDR(text));
	return find_text(reader, bytes, len);
}

/* The category of a stored text, or of the output of a type. */
static int
read_output(DpermReader *reader, Datum datum)
{
	char	   *text;

	if (!OidIsValid(reader->type))
		elog(ERROR, "the type of a column is not known");
	if (reader->stored != DPERM_READ_OUTPUT)
		return read_text(reader, datum);
	if (reader->varlena && dperm_datum_values_too_large(datum, false))
		return -1;
	text = OutputFunctionCall(&reader->output, datum);
	return find_text(reader, text, strlen(text));
}

/*
 * The elements of an array or a vector, NULL if their number is not the
 * expected one.
 */
static const double *
read_vector(DpermReader *reader, Datum datum)
{
	int			count = dperm_block_elements(reader->block);
	ArrayType  *array;

	if (reader->kind == DPERM_READ_VECTOR)
	{
		int			elements;
		const float *stored = dperm_datum_values_get_pgvector(datum, &elements);

		if (stored == NULL || elements != count)
			return NULL;
		dperm_datum_values_from_float4(stored, count, reader->vector);
		return reader->vector;
	}
	array = dperm_datum_values_get_array(datum);
	if (array == NULL)
		return NULL;
	if (reader->kind == DPERM_READ_FLOAT8_ARRAY)
		return dperm_datum_values_peek_float8(array, count);
	return dperm_datum_values_read_array(array, reader->kind == DPERM_READ_FLOAT4_ARRAY ?
								 FLOAT4OID : reader->element, count, reader->vector) ?
		reader->vector : NULL;
}

/* The value of a number, a time or a boolean. */
double
dperm_reader_number(DpermReaderKind kind, Datum datum)
{
	switch (kind)
	{
		case DPERM_READ_INT2:
			return DatumGetInt16(datum);
		case DPERM_READ_INT4:
			return DatumGetInt32(datum);
		case DPERM_READ_INT8:
			return (double) DatumGetInt64(datum);
		case DPERM_READ_FLOAT4:
			return DatumGetFloat4(datum);
		case DPERM_READ_FLOAT8:
			return DatumGetFloat8(datum);
		case DPERM_READ_NUMERIC:
			/*
			 * out of range becomes infinity, where a cast would raise an error
			 */
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, datum));
		case DPERM_READ_BOOL:
			return DatumGetBool(datum) ? 1 : -1;
		case DPERM_READ_DATE:
			return dperm_days_from_date(DatumGetDateADT(datum));
		case DPERM_READ_TIMESTAMP:
		case DPERM_READ_TIMESTAMPTZ:
		case DPERM_READ_TIME_OF_DAY:
			return dperm_days_from_timestamp(DatumGetTimestamp(datum));
		default:
			elog(ERROR, "a column is not a number");
	}
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
		case DPERM_READ_INT4:
		case DPERM_READ_INT8:
		case DPERM_READ_FLOAT4:
		case DPERM_READ_FLOAT8:
		case DPERM_READ_NUMERIC:
		case DPERM_READ_BOOL:
		case DPERM_READ_DATE:
		case DPERM_READ_TIMESTAMP:
		case DPERM_READ_TIMESTAMPTZ:
		case DPERM_READ_TIME_OF_DAY:
			value->number = dperm_reader_number(reader->kind, datum);
			break;
		case DPERM_READ_TEXT:
		case DPERM_READ_BPCHAR:
			value->category = read_text(reader, datum);
			break;
		case DPERM_READ_ENUM:
			value->category = find_oid(reader, DatumGetObjectId(datum));
			break;
		case DPERM_READ_OUTPUT:
			value->category = read_output(reader, datum);
			break;
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

/* Read a value of a tagged row, whose tag fits the block. */
void
dperm_reader_read_tagged(DpermReader *reader, const DpermTagged *tagged, DpermValue *value)
{
	value->present = tagged->present;
	if (!tagged->present)
		return;
	switch (tagged->tag)
	{
		case DPERM_TAG_NUMBER:
		case DPERM_TAG_TIME:
		case DPERM_TAG_FLAG:
			value->number = tagged->number;
			break;
		case DPERM_TAG_TEXT:
			value->category = find_text(reader, (const char *) tagged->bytes, tagged->count);
			break;
		case DPERM_TAG_FLOAT8:
		case DPERM_TAG_FLOAT4:
			value->present = tagged->count == dperm_block_elements(reader->block);
			value->vector = reader->vector;
			if (value->present)
				dperm_tagged_elements(tagged, reader->vector);
			break;
	}
}
