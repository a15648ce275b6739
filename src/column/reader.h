/*
 * reader.h: from the datum of a column to the value that the encoder takes.
 *
 * A reader is made once, from the type of the column and the block that it
 * feeds; reading looks at no catalog and never raises. What a request says
 * about readers holds on any server: whatever has an OID is looked up where the
 * rows are.
 */
#ifndef DPERM_READER_H
#define DPERM_READER_H

#include "access/tupdesc.h"
#include "fmgr.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "column/datum_values.h"
#include "core/encode/encoder.h"
#include "core/encode/tagged.h"

/* How a column is stored. The numbers travel in requests: append only. */
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
	DPERM_READ_VECTOR,			/* of the extension pgvector */
	/* the text of any type: as it is stored, or by its output function */
	DPERM_READ_OUTPUT,
	DPERM_READ_TIMESTAMPTZ,		/* stored like the other one, but it means another moment */
	DPERM_READ_LAST = DPERM_READ_TIMESTAMPTZ
} DpermReaderKind;

/* A place in an index of categories. */
typedef struct DpermSlot
{
	uint32		hash;
	int			position;		/* of the category, or -1 */
} DpermSlot;

typedef struct DpermReader
{
	DpermReaderKind kind;
	const DpermBlock *block;
	uint32		mask;			/* categories: slots - 1, a power of two less one */
	DpermSlot  *slots;			/* by their texts */
	Oid			type;			/* ENUM, OUTPUT: the type of the column, once it is known */
	Oid		   *oids;			/* ENUM: its value for each category, or InvalidOid */
	DpermSlot  *oid_slots;		/* by these */
	Oid			element;		/* NUMBER_ARRAY */
	/* OUTPUT: the base type that the request is about; InvalidOid: any */
	Oid			expected;
	DpermReaderKind stored;		/* how the text is stored, or OUTPUT: not as text */
	bool		varlena;
	FmgrInfo	output;
	double	   *vector;			/* room for converted elements */
} DpermReader;

/*
 * How a type can feed a kind of block; DPERM_READ_NONE if it cannot. Looks at
 * the catalog.
 */
extern DpermReaderKind dperm_reader_kind(Oid type, DpermBlockKind kind);

/*
 * How a type is stored, as a column of a pass; DPERM_READ_NONE for a type that
 * has to be cast to text first. A reader must only be given datums of the type
 * that it was made for.
 */
extern DpermReaderKind dperm_reader_natural(Oid type);

/* How a kind is written in a tagged row: by its text, if by nothing else. */
extern DpermTag dperm_reader_tag(DpermReaderKind kind);

/* May a stored kind feed a kind of block, when it comes from a request? */
extern bool dperm_reader_fits(uint64 kind, DpermBlockKind block);

/*
 * Make a reader in the current context. type is that of the column: for
 * DPERM_READ_ENUM and DPERM_READ_OUTPUT, unless it is bound later, and for the
 * kind that is for prediction only.
 */
extern void dperm_reader_init(DpermReader *reader, DpermReaderKind kind,
							  const DpermBlock *block, Oid type);

/*
 * What a request says about a column of a type: its DpermReaderKind, and if a
 * category of its block is not plain ASCII also the encoding of this database,
 * for a server with another one would not find it. What is read by its output
 * has the base type too, if that is built in and so the same on all servers:
 * another type may write the same value in another way. And may a word of a
 * request be about a block?
 */
extern uint64 dperm_reader_word(DpermReaderKind kind, const DpermBlock *block, Oid type);
extern bool dperm_reader_word_fits(uint64 word, const DpermBlock *block);

/*
 * The readers for the blocks of an encoder, as one chunk in the current
 * context. words are those of a request, one for each block. Raises if they are
 * from a database of another encoding that matters.
 */
extern DpermReader *dperm_reader_make_all(const DpermEncoder *encoder, const uint64 *words);

/*
 * 0 for a text that is the same bytes in all encodings, else one more than the
 * encoding of this database. And raise if that is of another.
 */
extern int	dperm_reader_encoding(const char *bytes, int len);
extern void dperm_reader_check_encoding(int encoding);

/* A type that is the same on all servers, or InvalidOid. */
extern Oid	dperm_reader_common_type(Oid type);

/*
 * Let a DPERM_READ_ENUM or DPERM_READ_OUTPUT among such readers read a type;
 * looks at the catalog. False if the request is about another type. A category
 * that is no label of an enum is one that no row has.
 */
extern bool dperm_reader_bind(DpermReader *readers, int i, Oid type);

/* Does a reader have to be bound to a type, before it reads a column of it? */
static inline bool
dperm_reader_is_unbound(const DpermReader *reader, Oid type)
{
	return (reader->kind == DPERM_READ_ENUM || reader->kind == DPERM_READ_OUTPUT) &&
		   reader->type != type;
}

/*
 * Bind readers to the columns of a result from a position on: those of the
 * blocks in their order.
 */
extern void dperm_reader_bind_columns(DpermReader *readers, int count, TupleDesc desc, int first);

/* The value of a number, a time or a boolean, of a kind that is stored so. */
extern double dperm_reader_number(DpermReaderKind kind, Datum datum);

/*
 * Read a value of a tagged row, whose tag fits the block. The reader need not
 * be bound.
 */
extern void
dperm_reader_read_tagged(DpermReader *reader, const DpermTagged *tagged, DpermValue *value);

/*
 * Read one value. What it points to lives as long as the datum and the current
 * context.
 */
extern void dperm_reader_read_any(DpermReader *reader, Datum datum, bool isnull,
								  DpermValue *value);

/*
 * The same; an array that lies in the row as it is, the most common of all,
 * takes the shortest way.
 */
static inline void
dperm_reader_read(DpermReader *reader, Datum datum, bool isnull, DpermValue *value)
{
	if (reader->kind == DPERM_READ_FLOAT8_ARRAY && !isnull &&
		VARATT_IS_4B_U(DatumGetPointer(datum)))
	{
		value->vector = dperm_datum_values_peek_float8((ArrayType *) DatumGetPointer(datum),
													   reader->block->count);
		value->present = value->vector != NULL;
	}
	else
		dperm_reader_read_any(reader, datum, isnull, value);
}

#endif							/* DPERM_READER_H */
