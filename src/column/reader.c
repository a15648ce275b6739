/*
 * reader.c: datums as values for the encoder, without ever raising an error. Trusted.
 *
 * From the top: values of a type, what types can be read as, what requests say
 * about columns, readers, records; and the functions of rows that queries call.
 * dperm_bounded excludes large values: one that is too large to be useful must not
 * exhaust memory, as the error would reveal that it exists. dperm_row makes the columns
 * of a row one value that any server can read (core/encode/tagged.h): some servers call
 * aggregates without the types of their arguments, as Citus does on its workers, but an
 * ordinary function knows them everywhere. dperm_sample decides by the contents of a row
 * whether it is in a sample.
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/tupmacs.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "column/column.h"

PG_FUNCTION_INFO_V1(dperm_bounded);
PG_FUNCTION_INFO_V1(dperm_row);
PG_FUNCTION_INFO_V1(dperm_sample);

/* How many bytes of a value decide whether its row is in a sample. */
#define SAMPLE_PREFIX 256

/*
 * The type of each kind, if that is a single one, and what it is in a tagged row: a kind of
 * block, whose elements may be floats.
 */
static const struct
{
	Oid			type;
	DpermBlockKind block;
	bool		single;
}			kinds[] = {
	[DPERM_READ_NONE] = {InvalidOid, DPERM_BLOCK_CATEGORY},
	[DPERM_READ_INT2] = {INT2OID, DPERM_BLOCK_NUMBER},
	[DPERM_READ_INT4] = {INT4OID, DPERM_BLOCK_NUMBER},
	[DPERM_READ_INT8] = {INT8OID, DPERM_BLOCK_NUMBER},
	[DPERM_READ_FLOAT4] = {FLOAT4OID, DPERM_BLOCK_NUMBER},
	[DPERM_READ_FLOAT8] = {FLOAT8OID, DPERM_BLOCK_NUMBER},
	[DPERM_READ_NUMERIC] = {NUMERICOID, DPERM_BLOCK_NUMBER},
	[DPERM_READ_BOOL] = {BOOLOID, DPERM_BLOCK_FLAG},
	[DPERM_READ_DATE] = {DATEOID, DPERM_BLOCK_TIME},
	[DPERM_READ_TIMESTAMP] = {TIMESTAMPOID, DPERM_BLOCK_TIME},
	[DPERM_READ_TEXT] = {InvalidOid, DPERM_BLOCK_CATEGORY},
	[DPERM_READ_BPCHAR] = {BPCHAROID, DPERM_BLOCK_CATEGORY},
	[DPERM_READ_ENUM] = {InvalidOid, DPERM_BLOCK_CATEGORY},
	[DPERM_READ_FLOAT8_ARRAY] = {FLOAT8ARRAYOID, DPERM_BLOCK_VECTOR},
	[DPERM_READ_FLOAT4_ARRAY] = {FLOAT4ARRAYOID, DPERM_BLOCK_VECTOR, true},
	[DPERM_READ_NUMBER_ARRAY] = {InvalidOid, DPERM_BLOCK_VECTOR},
	[DPERM_READ_VECTOR] = {InvalidOid, DPERM_BLOCK_VECTOR, true},
	[DPERM_READ_OUTPUT] = {InvalidOid, DPERM_BLOCK_CATEGORY},
	[DPERM_READ_TIMESTAMPTZ] = {TIMESTAMPTZOID, DPERM_BLOCK_TIME},
	[DPERM_READ_TIME_OF_DAY] = {TIMEOID, DPERM_BLOCK_TIME}
};

/* The stored form of a value of the extension pgvector. */
typedef struct StoredVector
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int16		dim;
	int16		unused;
	float		x[FLEXIBLE_ARRAY_MEMBER];
} StoredVector;

/* A category in a hash table, by its key. */
typedef struct Category
{
	DpermText	key;
	uint32		hash;
	int			position;
	char		status;
} Category;

#define SH_PREFIX categories
#define SH_ELEMENT_TYPE Category
#define SH_KEY_TYPE DpermText
#define SH_KEY key
#define SH_HASH_KEY(table, key) hash_bytes((const unsigned char *) (key).bytes, (key).len)
#define SH_EQUAL(table, a, b) dperm_host_same_text(&(a), &(b))
#define SH_STORE_HASH
#define SH_GET_HASH(table, category) ((category)->hash)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * A word of a request: the kind; an encoding plus one, or 0; and a type, or 0.
 */
#define WORD_KIND(word) ((word) & 0xffff)
#define WORD_ENCODING(word) ((word) >> 16 & 0xffff)
#define WORD_TYPE(word) ((word) >> 32)
#define MAKE_WORD(kind, encoding, type) \
	((uint64) (kind) | (uint64) (encoding) << 16 | (uint64) (type) << 32)

/*
 * Is a value of variable length larger than any that is read? Does not fetch it.
 */
bool
dperm_reader_too_large(Datum value, bool is_array)
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

/*
 * How the elements of an array type are read, which may be a domain, or have
 * domains as elements; DPERM_READ_NONE if they are not numbers. Accesses the
 * catalog.
 */
static DpermReaderKind
kind_of_elements(Oid type)
{
	Oid			element = get_base_element_type(type);

	return OidIsValid(element) ? dperm_reader_kind(element, DPERM_BLOCK_NUMBER) : DPERM_READ_NONE;
}

/* What there is to know about a type, in the given context. */
void
dperm_reader_look(DpermStored *stored, Oid type, MemoryContext context)
{
	Oid			output;
	bool		varlena;

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the types of the columns of a row")));
	stored->type = type;
	stored->kind = dperm_reader_kind_natural(type);
	stored->element = kind_of_elements(type);
	if (stored->kind == DPERM_READ_NONE)
		stored->kind = stored->element == DPERM_READ_NONE ? DPERM_READ_OUTPUT :
														   DPERM_READ_NUMBER_ARRAY;
	get_typlenbyval(type, &stored->len, &stored->by_value);
	stored->is_array = OidIsValid(get_base_element_type(type));
	getTypeOutputInfo(type, &output, &varlena);
	fmgr_info_cxt(output, &stored->output, context);
}

/* Is a value of a type larger than any that is read? */
bool
dperm_reader_exceeds(const DpermStored *stored, Datum value)
{
	return stored->len == -1 && dperm_reader_too_large(value, stored->is_array);
}

/*
 * Days since 2000-01-01, the numbers of TIME blocks; infinite times are infinite. A
 * time of day is a timestamp of that day.
 */
static double
days_of(Timestamp time)
{
	if (TIMESTAMP_NOT_FINITE(time))
		return TIMESTAMP_IS_NOBEGIN(time) ? -INFINITY : INFINITY;
	return (double) time / (double) USECS_PER_DAY;
}

/* The value of a number, a time or a boolean, for a kind that is stored as one. */
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
			if (DATE_NOT_FINITE(DatumGetDateADT(datum)))
				return DATE_IS_NOBEGIN(DatumGetDateADT(datum)) ? -INFINITY : INFINITY;
			return DatumGetDateADT(datum);
		case DPERM_READ_TIMESTAMP:
		case DPERM_READ_TIMESTAMPTZ:
		case DPERM_READ_TIME_OF_DAY:
			return days_of(DatumGetTimestamp(datum));
		default:
			elog(ERROR, "a column is not a number");
	}
}

/*
 * The text of a value as a category: its bytes if it is stored as text, else its
 * output. NULL if it is too large.
 */
const char *
dperm_reader_text(DpermStored *stored, Datum value, int *len)
{
	char	   *text;

	if (dperm_reader_exceeds(stored, value))
		return NULL;
	if (stored->kind == DPERM_READ_TEXT || stored->kind == DPERM_READ_BPCHAR)
	{
		struct varlena *flat = PG_DETOAST_DATUM_PACKED(value);

		*len = dperm_category_length(stored->kind == DPERM_READ_BPCHAR, VARDATA_ANY(flat),
									 VARSIZE_ANY_EXHDR(flat));
		return VARDATA_ANY(flat);
	}
	text = OutputFunctionCall(&stored->output, value);
	*len = strlen(text);
	return text;
}

/* Convert elements without nulls: they are adjacent, even after a null bitmap. */
static void
convert_elements(DpermReaderKind element, char *at, int count, double *out)
{
	int16		len;
	bool		by_value;

	if (element == DPERM_READ_FLOAT4)
	{
		for (int i = 0; i < count; i++)
			out[i] = ((const float *) at)[i];
		return;
	}
	get_typlenbyval(kinds[element].type, &len, &by_value);
	for (int i = 0; i < count; i++)
	{
		out[i] = dperm_reader_number(element, fetch_att(at, by_value, len));
		at = att_addlength_pointer(at, len, at);
		if (len < 0)
			at = (char *) att_align_nominal(at, TYPALIGN_INT);
	}
}

/*
 * The elements of a vector, in room unless they can stay where they are; if room
 * is NULL, it is allocated. NULL unless there are *count of them, -1 for any
 * number, and none is null. *count is set to their number, or -1.
 */
const double *
dperm_reader_elements(const DpermStored *stored, Datum value, int *count, double *room)
{
	int			expected = *count;
	bool		doubles = stored->kind == DPERM_READ_FLOAT8_ARRAY;
	ArrayType  *array = NULL;
	char	   *data;

	*count = -1;
	/* the most common case: an array stored inline, of a known number of doubles */
	if (!(doubles && expected >= 0 && VARATT_IS_4B_U(DatumGetPointer(value))) &&
		dperm_reader_too_large(value, stored->kind != DPERM_READ_VECTOR))
		return NULL;
	if (stored->kind == DPERM_READ_VECTOR)
	{
		StoredVector *vector = (StoredVector *) PG_DETOAST_DATUM(value);

		if (vector->dim >= 0 &&
			VARSIZE(vector) == offsetof(StoredVector, x) + sizeof(float) * vector->dim)
			*count = vector->dim;
		data = (char *) vector->x;
	}
	else
	{
		array = DatumGetArrayTypeP(value);
		if (ARR_NDIM(array) <= 1)
			*count = ARR_NDIM(array) == 1 ? ARR_DIMS(array)[0] : 0;
		data = ARR_DATA_PTR(array);
	}
	if (*count < 0 || (expected >= 0 && *count != expected) ||
		(array && ARR_HASNULL(array) && array_contains_nulls(array)))
		return NULL;

	/* The data start is MAXALIGNed within a palloc'd or aligned array. */
	if (doubles)
		return (const double *) data;
	if (room == NULL)
		room = palloc(sizeof(double) * *count);
	convert_elements(array ? stored->element : DPERM_READ_FLOAT4, data, *count, room);
	return room;
}

/*
 * How a type is stored, as a column of a pass; DPERM_READ_NONE for a type that
 * has to be cast to text first. Accesses the catalog.
 */
DpermReaderKind
dperm_reader_kind_natural(Oid type)
{
	Oid			base = getBaseType(type);

	for (int kind = DPERM_READ_NONE + 1; kind <= DPERM_READ_LAST; kind++)
		if (kinds[kind].type == base)
			return (DpermReaderKind) kind;
	if (get_typtype(base) == TYPTYPE_ENUM)
		return DPERM_READ_ENUM;
	if (base != NAMEOID && dperm_column_is_text(base))
		return DPERM_READ_TEXT;
	if (dperm_column_is_pgvector(base))
		return DPERM_READ_VECTOR;
	return dperm_column_has_text(base) ? DPERM_READ_OUTPUT : DPERM_READ_NONE;
}

/*
 * How to read values for a kind of block from a type; DPERM_READ_NONE if that
 * is not possible. Accesses the catalog.
 */
DpermReaderKind
dperm_reader_kind(Oid type, DpermBlockKind block)
{
	DpermReaderKind natural = dperm_reader_kind_natural(type);

	if (dperm_reader_kind_fits(natural, block))
		return natural;
	if (block == DPERM_BLOCK_CATEGORY && dperm_column_has_text(getBaseType(type)))
		return DPERM_READ_OUTPUT;
	if ((block == DPERM_BLOCK_VECTOR || block == DPERM_BLOCK_BOX) &&
		kind_of_elements(type) != DPERM_READ_NONE)
		return DPERM_READ_NUMBER_ARRAY;
	return DPERM_READ_NONE;
}

/* The kind of block that a kind can be; a VECTOR may be a BOX, too. */
DpermBlockKind
dperm_reader_kind_block(DpermReaderKind kind)
{
	return kinds[kind].block;
}

/*
 * Can a kind that is stored in a request provide values for a kind of block?
 * The one for prediction cannot.
 */
bool
dperm_reader_kind_fits(uint64 kind, DpermBlockKind block)
{
	return kind > DPERM_READ_NONE && kind <= DPERM_READ_LAST && kind != DPERM_READ_NUMBER_ARRAY &&
		dperm_tagged_fits(kinds[kind].block, block);
}

/*
 * 0 for a text that has the same bytes in all encodings, else the encoding of
 * this database plus one.
 */
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

/*
 * Raise an error unless a column is of the type that it is known to have, perhaps as a
 * domain: the query that returns it may have found another column.
 */
void
dperm_reader_check_type(const char *what, Oid type, Oid expected)
{
	if (getBaseType(type) != getBaseType(expected))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the %s has changed its type since the call began", what)));
}

/* A type if it is the same on all servers of any version, or InvalidOid. */
Oid
dperm_reader_common_type(Oid type)
{
	return type < FirstGenbkiObjectId ? type : InvalidOid;
}

/*
 * The word of a request that describes a column of a type: its kind; the
 * encoding of this database if a category of its block is not plain ASCII,
 * because a server with another encoding would not find it; and, for a column
 * that is read by its output, the base type if that is built in, because another
 * type may write the same value differently.
 */
uint64
dperm_reader_word(DpermReaderKind kind, const DpermBlock *block, Oid type)
{
	int			encoding = 0;

	if (block->kind == DPERM_BLOCK_CATEGORY)
		for (int i = 0; i < block->count; i++)
			encoding = Max(encoding, dperm_reader_encoding(block->categories[i].bytes,
														   block->categories[i].len));
	return MAKE_WORD(kind, encoding,
					 kind == DPERM_READ_OUTPUT ? dperm_reader_common_type(getBaseType(type)) :
												 InvalidOid);
}

/* Append to hexadecimal digits how dperm_row gets a column and writes it. */
void
dperm_reader_row_form(StringInfo hex, uint64 word)
{
	appendStringInfo(hex, "%02x", (unsigned) WORD_KIND(word));
	if (WORD_KIND(word) == DPERM_READ_OUTPUT)
		appendStringInfo(hex, "%08x", (unsigned) WORD_TYPE(word));
}

/* Is a word of a request valid for a block? */
bool
dperm_reader_word_fits(uint64 word, const DpermBlock *block)
{
	bool		category = block->kind == DPERM_BLOCK_CATEGORY;

	if (category)
		for (int i = 0; i < block->count; i++)
			if (!dperm_reader_text_fits(block->categories[i].bytes, block->categories[i].len,
										WORD_ENCODING(word)))
				return false;
	return dperm_reader_kind_fits(WORD_KIND(word), block->kind) &&
		WORD_ENCODING(word) <= (category ? _PG_LAST_ENCODING_ : 0) &&
		WORD_TYPE(word) < (WORD_KIND(word) == DPERM_READ_OUTPUT ? FirstGenbkiObjectId : 1);
}

/* A hash table of categories by their keys, with few collisions, in the current context. */
DpermCategories *
dperm_reader_index(const DpermText *keys, int key_count)
{
	DpermCategories *result = categories_create(CurrentMemoryContext, 2 * key_count, NULL);

	for (int i = 0; i < key_count; i++)
	{
		bool		found;
		Category   *category = categories_insert(result, keys[i], &found);

		if (!found)
			category->position = i;
	}
	return result;
}

/*
 * The same by the values of an enum type. A category that is not a label of it
 * has the value InvalidOid, which never occurs.
 */
static DpermCategories *
index_labels(const DpermBlock *block, Oid type)
{
	DpermText  *keys = palloc(sizeof(DpermText) * block->count);
	Oid		   *values = palloc0(sizeof(Oid) * block->count);

	for (int i = 0; i < block->count; i++)
	{
		char	   *label = pnstrdup(block->categories[i].bytes, block->categories[i].len);

		if (strlen(label) < NAMEDATALEN)
			values[i] = GetSysCacheOid2(ENUMTYPOIDNAME, Anum_pg_enum_oid, ObjectIdGetDatum(type),
										CStringGetDatum(label));
		keys[i] = (DpermText) {(char *) &values[i], sizeof(Oid)};
		pfree(label);
	}
	return dperm_reader_index(keys, block->count);
}

/* The position of the first category with a key, or -1. */
int
dperm_reader_find(DpermCategories *categories, const char *bytes, int len)
{
	const Category *category = categories_lookup(categories, (DpermText) {bytes, len});

	return category ? category->position : -1;
}

/* Does a reader of a kind have to know the type of its column? */
static bool
needs_type(DpermReaderKind kind)
{
	return kind == DPERM_READ_ENUM || kind == DPERM_READ_OUTPUT || kind == DPERM_READ_NUMBER_ARRAY;
}

/*
 * Bind a reader to a type, in the current context; false if the request is about
 * another type.
 */
static bool
take_type(DpermReader *reader, Oid type)
{
	Oid			base = getBaseType(type);

	if (reader->kind == DPERM_READ_OUTPUT &&
		(dperm_reader_kind(base, DPERM_BLOCK_CATEGORY) == DPERM_READ_NONE ||
		 (OidIsValid(reader->expected) && reader->expected != base)))
		return false;
	if (reader->kind == DPERM_READ_ENUM)
		reader->values = index_labels(reader->block, base);
	dperm_reader_look(&reader->stored, type, CurrentMemoryContext);
	return true;
}

/*
 * Make a reader in the current context. type is that of the column, or
 * InvalidOid for a reader that is bound later.
 */
void
dperm_reader_init(DpermReader *reader, DpermReaderKind kind, const DpermBlock *block, Oid type)
{
	memset(reader, 0, sizeof(*reader));
	reader->kind = kind;
	reader->block = block;
	reader->stored.kind = kind;
	reader->stored.element = DPERM_READ_FLOAT4;	/* others are bound, or need no conversion */
	reader->stored.len = -1;
	if (block->kind == DPERM_BLOCK_CATEGORY)
		reader->texts = dperm_reader_index(block->categories, block->count);
	if (block->kind == DPERM_BLOCK_VECTOR || block->kind == DPERM_BLOCK_BOX)
		reader->vector = palloc(sizeof(double) * dperm_block_elements(block));
	if (OidIsValid(type) && needs_type(kind))
		take_type(reader, type);
}

/*
 * The readers for the blocks of an encoder, as one chunk in the current
 * context. words are those of a request, one for each block. Raises an error if
 * they come from a database with another encoding and that matters.
 */
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
 * Bind readers to the columns of a result, beginning at a position, in the order of the
 * blocks; raises an error. A reader takes the bytes of a value for what it was made to
 * read, so every column is looked at before its first value is read. What a reader needs
 * to know of its type lives as long as the readers.
 */
void
dperm_reader_bind_columns(DpermReader *readers, int count, TupleDesc desc, int first)
{
	MemoryContext caller = MemoryContextSwitchTo(GetMemoryChunkContext(readers));

	if (first + count > desc->natts)
		elog(ERROR, "a result has %d columns, not %d", desc->natts, first + count);
	for (int i = 0; i < count; i++)
	{
		DpermReader *reader = &readers[i];
		Oid			type = TupleDescAttr(desc, first + i)->atttypid;

		if ((reader->kind != DPERM_READ_OUTPUT &&
			 reader->kind != dperm_reader_kind_natural(type)) ||
			(needs_type(reader->kind) && reader->stored.type != type && !take_type(reader, type)))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("feature %d has changed its type since the call began", i + 1)));
	}
	MemoryContextSwitchTo(caller);
}

/* The category of a value, or -1. */
static int
read_category(DpermReader *reader, Datum datum)
{
	const char *text;
	int			len;

	if (needs_type(reader->kind) && !OidIsValid(reader->stored.type))
		elog(ERROR, "the type of a column is not known");
	if (reader->kind == DPERM_READ_ENUM)
	{
		Oid			value = DatumGetObjectId(datum);

		return dperm_reader_find(reader->values, (const char *) &value, sizeof(value));
	}
	text = dperm_reader_text(&reader->stored, datum, &len);
	return text ? dperm_reader_find(reader->texts, text, len) : -1;
}

/*
 * Read one value. What it points to lives as long as the datum and the current
 * context.
 */
void
dperm_reader_read(DpermReader *reader, Datum datum, bool isnull, DpermValue *value)
{
	int			count;

	value->present = !isnull;
	if (isnull)
		return;
	switch (dperm_reader_kind_block(reader->kind))
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
		case DPERM_BLOCK_FLAG:
			value->number = dperm_reader_number(reader->kind, datum);
			break;
		case DPERM_BLOCK_CATEGORY:
			value->category = read_category(reader, datum);
			break;
		case DPERM_BLOCK_VECTOR:
		case DPERM_BLOCK_BOX:
			count = dperm_block_elements(reader->block);
			value->vector = dperm_reader_elements(&reader->stored, datum, &count, reader->vector);
			value->present = value->vector != NULL;
			break;
	}
}

/*
 * Read a value of a tagged row, whose tag fits the block. The reader need not
 * be bound.
 */
void
dperm_reader_read_tagged(DpermReader *reader, const DpermTagged *tagged, DpermValue *value)
{
	value->present = tagged->present;
	if (!tagged->present)
		return;
	switch (tagged->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
		case DPERM_BLOCK_FLAG:
			value->number = tagged->number;
			break;
		case DPERM_BLOCK_CATEGORY:
			value->category =
				dperm_reader_find(reader->texts, (const char *) tagged->bytes, tagged->count);
			break;
		case DPERM_BLOCK_VECTOR:
		case DPERM_BLOCK_BOX:
			value->present = tagged->count == dperm_block_elements(reader->block);
			value->vector = reader->vector;
			if (value->present)
				dperm_tagged_elements(tagged, reader->vector);
			break;
	}
}

/*
 * The typmod of a row. Only anonymous types have one: newer servers store a
 * version there.
 */
static int32
row_typmod(HeapTupleHeader row)
{
	return HeapTupleHeaderGetTypeId(row) == RECORDOID ? HeapTupleHeaderGetTypMod(row) : -1;
}

/*
 * Remember the type of a row, in the current context. The version is read
 * first: if the type is altered between the two lookups, the version is out of
 * date, and the next row will not fit.
 *
 * natts must not be changed: the server uses it to locate data after the
 * attributes.
 */
void
dperm_reader_take_record(DpermRecord *record, HeapTupleHeader row)
{
	record->type = HeapTupleHeaderGetTypeId(row);
	record->typmod = row_typmod(row);
	record->version = assign_record_type_identifier(record->type, record->typmod);
	record->desc = lookup_rowtype_tupdesc_copy(record->type, record->typmod);
	record->datums = palloc(sizeof(Datum) * Max(record->desc->natts, 1));
	record->nulls = palloc(sizeof(bool) * Max(record->desc->natts, 1));
}

/*
 * Deform a row; false if it has another type than is remembered, or the type has
 * been altered, as it can be between two rows of one query.
 */
bool
dperm_reader_read_record(DpermRecord *record, HeapTupleHeader row)
{
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(row), .t_data = row};

	if (!OidIsValid(record->type) || HeapTupleHeaderGetTypeId(row) != record->type ||
		row_typmod(row) != record->typmod ||
		assign_record_type_identifier(record->type, record->typmod) != record->version)
		return false;
	ItemPointerSetInvalid(&tuple.t_self);
	heap_deform_tuple(&tuple, record->desc, record->datums, record->nulls);
	return true;
}

/* ---------------------------------------- functions that queries over rows call */

/* The types of the arguments of a call, looked up once. */
static DpermStored *
argument_types(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	DpermStored *types = flinfo->fn_extra;

	if (types == NULL)
	{
		if (get_fn_expr_variadic(flinfo))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("the columns of a row cannot be an array with VARIADIC")));
		types = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(*types) * PG_NARGS());
		for (int i = 0; i < PG_NARGS(); i++)
			dperm_reader_look(&types[i], get_fn_expr_argtype(flinfo, i), flinfo->fn_mcxt);
		flinfo->fn_extra = types;
	}
	return types;
}

/* dperm_bounded(value anyelement): the value, or NULL if it is too large. */
Datum
dperm_bounded(PG_FUNCTION_ARGS)
{
	if (dperm_reader_exceeds(argument_types(fcinfo), PG_GETARG_DATUM(0)))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Append a value; one that cannot be read becomes null. */
static void
append_tagged(StringInfo row, DpermStored *type, Datum value, bool isnull)
{
	DpermTagged tagged = {.kind = kinds[type->kind].block, .single = kinds[type->kind].single,
						  .encoding = GetDatabaseEncoding(), .count = -1};
	const double *elements = NULL;
	bool		vector = tagged.kind == DPERM_BLOCK_VECTOR;
	unsigned char *at;

	if (isnull)
		tagged.present = false;
	else if (tagged.kind == DPERM_BLOCK_CATEGORY)
	{
		tagged.bytes = (const unsigned char *) dperm_reader_text(type, value, &tagged.count);
		tagged.present = tagged.bytes != NULL;
	}
	else if (vector)
	{
		elements = dperm_reader_elements(type, value, &tagged.count, NULL);
		tagged.present = elements && tagged.count > 0;
	}
	else
	{
		tagged.number = dperm_reader_number(type->kind, value);
		tagged.present = true;
	}
	enlargeStringInfo(row,
					  DPERM_TAGGED_HEAD + (tagged.present ? Max(tagged.count, 0) : 0) *
					  (vector ? sizeof(double) : 1));
	at = (unsigned char *) row->data + row->len;
	row->len = dperm_tagged_put(at, &tagged, elements) - (unsigned char *) row->data;
}

/*
 * The columns of a call, as its first argument says that they are
 * (dperm_reader_row_form), looked up once. A column that is read by its output is
 * written as that.
 */
static DpermStored *
row_types(FunctionCallInfo fcinfo)
{
	DpermStored *types = fcinfo->flinfo->fn_extra;
	bytea	   *form;
	StringInfoData in;

	if (types)
		return types;
	types = argument_types(fcinfo);
	fcinfo->flinfo->fn_extra = NULL;
	form = PG_ARGISNULL(0) ? NULL : PG_GETARG_BYTEA_PP(0);
	initStringInfo(&in);
	if (form)
		appendBinaryStringInfo(&in, VARDATA_ANY(form), VARSIZE_ANY_EXHDR(form));
	for (int i = 1; i < PG_NARGS(); i++)
	{
		DpermReaderKind kind = (DpermReaderKind) (in.cursor < in.len ? pq_getmsgbyte(&in) : 0);
		Oid			expected = kind == DPERM_READ_OUTPUT ? pq_getmsgint(&in, 4) : InvalidOid;

		if (kind == DPERM_READ_OUTPUT &&
			(!OidIsValid(expected) || expected == getBaseType(types[i].type)))
			types[i].kind = kind;
		if (kind != types[i].kind || kind == DPERM_READ_NONE)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("the columns of a pass do not match its request"),
					 errhint("The columns of a foreign table must have the types that they have "
							 "on its server.")));
	}
	fcinfo->flinfo->fn_extra = types;
	return types;
}

/*
 * dperm_row(form bytea, VARIADIC columns "any"): a row as bytes. The concatenation
 * of two rows is a row, too. It is declared as immutable for the same reason as
 * dperm_label.
 */
Datum
dperm_row(PG_FUNCTION_ARGS)
{
	DpermStored *types = row_types(fcinfo);
	StringInfoData row;

	initStringInfo(&row);
	row.len = VARHDRSZ;
	for (int i = 1; i < PG_NARGS(); i++)
		append_tagged(&row, &types[i], PG_GETARG_DATUM(i), PG_ARGISNULL(i));
	SET_VARSIZE(row.data, row.len);
	PG_RETURN_BYTEA_P(row.data);
}

/* Append the first bytes of a value, as stored in memory. */
static void
append_image(StringInfo image, Datum value, const DpermStored *type)
{
	if (type->by_value)
	{
		Datum		stored = 0;

		/* only this many bytes of the datum are the value */
		store_att_byval(&stored, value, type->len);
		appendBinaryStringInfo(image, (char *) &stored, type->len);
	}
	else if (dperm_reader_exceeds(type, value))
		appendStringInfoChar(image, 'l');
	else if (type->len == -1)
	{
		struct varlena *prefix = PG_DETOAST_DATUM_SLICE(value, 0, SAMPLE_PREFIX);

		appendBinaryStringInfo(image, VARDATA_ANY(prefix), VARSIZE_ANY_EXHDR(prefix));
	}
	else
		appendBinaryStringInfo(image, DatumGetPointer(value),
							   type->len < 0 ? strlen(DatumGetCString(value)) : type->len);
}

/*
 * dperm_sample(key, every, VARIADIC columns): is a row in a sample of about
 * 1/every of all rows? It looks only at bytes, so that it is immutable for any
 * type of column: only immutable functions are sent to foreign servers.
 */
Datum
dperm_sample(PG_FUNCTION_ARGS)
{
	const DpermStored *types = argument_types(fcinfo);
	StringInfoData image;
	uint64		hash;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_GETARG_INT32(1) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dperm_sample requires a key, and one in at least one row")));
	initStringInfo(&image);
	for (int i = 2; i < PG_NARGS(); i++)
	{
		appendStringInfoChar(&image, PG_ARGISNULL(i) ? 'n' : 'v');
		if (!PG_ARGISNULL(i))
			append_image(&image, PG_GETARG_DATUM(i), &types[i]);
	}
	hash = hash_bytes_extended((unsigned char *) image.data, image.len,
							   (uint64) PG_GETARG_INT64(0));
	PG_RETURN_BOOL(hash % PG_GETARG_INT32(1) == 0);
}
