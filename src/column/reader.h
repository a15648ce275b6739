/*
 * reader.h: datums as values for the encoder, without ever raising an error.
 *
 * The contents of a row must not cause an error (it would be a leak): a value
 * that cannot be used is absent, or an unlisted category. NaN and infinities
 * are passed on: the encoder handles them.
 *
 * A reader is made once, from the type of the column and the block that it
 * provides values for; reading does not access the catalog. What a request says
 * about readers is valid on any server: whatever has an OID is looked up where
 * the rows are.
 */
#ifndef DPERM_READER_H
#define DPERM_READER_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "fmgr.h"

#include "base/compat.h"
#include "core/encode/encoder.h"
#include "core/encode/tagged.h"

/*
 * The size in bytes of the largest value that is read, uncompressed and
 * including the header. Larger values are not fetched, and count as no
 * category, no label and no vector. This must be a constant: if it depended on
 * arguments, the buffers that a call reads would reveal how a value's size
 * compares with them.
 */
#define DPERM_VALUE_MAX 131072

/* How a column is stored. The numbers are sent in requests: append only. */
typedef enum DpermReaderKind
{
	DPERM_READ_NONE = 0,		/* the type does not fit the block */
	DPERM_READ_INT2,
	DPERM_READ_INT4,
	DPERM_READ_INT8,
	DPERM_READ_FLOAT4,
	DPERM_READ_FLOAT8,
	DPERM_READ_NUMERIC,
	DPERM_READ_BOOL,
	DPERM_READ_DATE,
	DPERM_READ_TIMESTAMP,
	DPERM_READ_TEXT,
	DPERM_READ_BPCHAR,			/* trailing blanks do not count */
	DPERM_READ_ENUM,
	DPERM_READ_FLOAT8_ARRAY,
	DPERM_READ_FLOAT4_ARRAY,
	DPERM_READ_NUMBER_ARRAY,	/* of another number type; prediction only */
	DPERM_READ_VECTOR,			/* pgvector's type */
	/* the text of any type: as stored, or from its output function */
	DPERM_READ_OUTPUT,
	DPERM_READ_TIMESTAMPTZ,		/* stored like the other one, but it means another moment */
	DPERM_READ_TIME_OF_DAY,
	DPERM_READ_LAST = DPERM_READ_TIME_OF_DAY
} DpermReaderKind;

/* What there is to know about the values of a type, looked up once. */
typedef struct DpermStored
{
	Oid			type;			/* InvalidOid: not known, and not needed for its kind */
	DpermReaderKind kind;
	DpermReaderKind element;	/* of an array of numbers */
	int16		len;			/* as in pg_type */
	bool		by_value;
	bool		is_array;
	FmgrInfo	output;
} DpermStored;

/* A hash table of the categories of a block, with open addressing. */
typedef struct DpermCategories
{
	const DpermText *keys;
	uint32		mask;			/* number of slots - 1; slots are a power of two */
	struct DpermSlot *slots;
} DpermCategories;

typedef struct DpermReader
{
	DpermReaderKind kind;
	const DpermBlock *block;
	DpermStored stored;
	Oid			expected;		/* OUTPUT: the base type in the request; InvalidOid: any */
	DpermCategories texts;		/* by text */
	DpermCategories values;		/* ENUM: by the enum values of the type */
	double	   *vector;			/* room for converted elements */
} DpermReader;

/* A record type, and the columns of its last row. All zero: no type yet. */
typedef struct DpermRecord
{
	Oid			type;
	int32		typmod;
	uint64		version;		/* of the type; desc may be newer, never older */
	TupleDesc	desc;
	Datum	   *datums;			/* one per column, dropped ones included */
	bool	   *nulls;
} DpermRecord;

/* Values of a type. */
extern bool dperm_reader_too_large(Datum value, bool is_array);
extern void dperm_reader_look(DpermStored *stored, Oid type, MemoryContext context);
extern bool dperm_reader_exceeds(const DpermStored *stored, Datum value);
extern double dperm_reader_number(DpermReaderKind kind, Datum datum);
extern const char *dperm_reader_text(DpermStored *stored, Datum value, int *len);
extern const double *dperm_reader_elements(const DpermStored *stored, Datum value, int *count,
										   double *room);

/* What types can be read as. */
extern DpermReaderKind dperm_reader_kind(Oid type, DpermBlockKind kind);
extern DpermReaderKind dperm_reader_kind_natural(Oid type);
extern DpermTag dperm_reader_kind_tag(DpermReaderKind kind);
extern bool dperm_reader_kind_fits(uint64 kind, DpermBlockKind block);

/* What requests say. */
extern int	dperm_reader_encoding(const char *bytes, int len);
extern void dperm_reader_check_encoding(int encoding);
extern bool dperm_reader_text_fits(const char *bytes, size_t len, int encoding);
extern Oid	dperm_reader_common_type(Oid type);
extern uint64 dperm_reader_word(DpermReaderKind kind, const DpermBlock *block, Oid type);
extern bool dperm_reader_word_fits(uint64 word, const DpermBlock *block);

/* Categories by their keys. */
extern DpermCategories dperm_reader_index(const DpermText *keys, int key_count);
extern int	dperm_reader_find(const DpermCategories *categories, const char *bytes, int len);

/* Readers. */
extern void dperm_reader_init(DpermReader *reader, DpermReaderKind kind, const DpermBlock *block,
							  Oid type);
extern DpermReader *dperm_reader_make_all(const DpermEncoder *encoder, const uint64 *words);
extern bool dperm_reader_bind(DpermReader *readers, int i, Oid type);
extern void dperm_reader_bind_columns(DpermReader *readers, int count, TupleDesc desc, int first);
extern void dperm_reader_read(DpermReader *reader, Datum datum, bool isnull, DpermValue *value);
extern void dperm_reader_read_tagged(DpermReader *reader, const DpermTagged *tagged,
									 DpermValue *value);

/* Records. */
extern void dperm_reader_take_record(DpermRecord *record, HeapTupleHeader row);
extern bool dperm_reader_read_record(DpermRecord *record, HeapTupleHeader row);

/* Does a reader of a kind have to know the type of its column? */
static inline bool
dperm_reader_by_type(DpermReaderKind kind)
{
	return kind == DPERM_READ_ENUM || kind == DPERM_READ_OUTPUT || kind == DPERM_READ_NUMBER_ARRAY;
}

/*
 * May one of such readers read a column of this type, which is stored so
 * (dperm_reader_kind_natural())? It takes the bytes of a value for what it was
 * made to read, so every column is looked at before its first value is read. A
 * reader that has to be bound to the type is.
 */
static inline bool
dperm_reader_accept(DpermReader *readers, int i, Oid type, DpermReaderKind stored)
{
	DpermReaderKind kind = readers[i].kind;

	if (stored != kind && kind != DPERM_READ_OUTPUT)
		return false;
	return !dperm_reader_by_type(kind) || readers[i].stored.type == type ||
		dperm_reader_bind(readers, i, type);
}

#endif							/* DPERM_READER_H */
