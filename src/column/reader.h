/*
 * reader.h: convert the datum of a column to a value for the encoder.
 *
 * A reader is made once, from the type of the column and the block that it
 * provides values for; reading does not access the catalog and never raises an
 * error. What a request says about readers is valid on any server: whatever has
 * an OID is looked up where the rows are.
 */
#ifndef DPERM_READER_H
#define DPERM_READER_H

#include "access/tupdesc.h"
#include "fmgr.h"

#include "base/compat.h"
#include "column/datum_values.h"
#include "column/reader_kind.h"
#include "core/encode/encoder.h"
#include "core/encode/tagged.h"

/* A slot of a hash table of categories. */
typedef struct DpermSlot
{
	uint32		hash;
	int			position;		/* of the category, or -1 */
} DpermSlot;

typedef struct DpermReader
{
	DpermReaderKind kind;
	const DpermBlock *block;
	uint32		mask;			/* categories: number of slots - 1; slots are a power of two */
	DpermSlot  *slots;			/* by text */
	Oid			type;			/* ENUM, OUTPUT: the type of the column, once it is known */
	Oid		   *oids;			/* ENUM: the enum value of each category, or InvalidOid */
	DpermSlot  *oid_slots;		/* by enum value */
	Oid			element;		/* NUMBER_ARRAY */
	/* OUTPUT: the base type in the request; InvalidOid: any */
	Oid			expected;
	DpermReaderKind stored;		/* how the text is stored; OUTPUT: not as text */
	bool		varlena;
	FmgrInfo	output;
	double	   *vector;			/* room for converted elements */
} DpermReader;

/*
 * Make a reader in the current context. type is that of the column: it is
 * needed for DPERM_READ_ENUM and DPERM_READ_OUTPUT, unless they are bound
 * later, and for the kind that only prediction uses.
 */
extern void dperm_reader_init(DpermReader *reader, DpermReaderKind kind,
							  const DpermBlock *block, Oid type);

/*
 * The word of a request that describes a column of a type: its DpermReaderKind;
 * the encoding of this database if a category of its block is not plain ASCII,
 * because a server with another encoding would not find it; and, for a column
 * that is read by its output, the base type if that is built in and so the same
 * on all servers, because another type may write the same value differently.
 * And is a word of a request valid for a block?
 */
extern uint64 dperm_reader_word(DpermReaderKind kind, const DpermBlock *block, Oid type);
extern bool dperm_reader_word_fits(uint64 word, const DpermBlock *block);

/*
 * The readers for the blocks of an encoder, as one chunk in the current
 * context. words are those of a request, one for each block. Raises an error if
 * they come from a database with another encoding and that matters.
 */
extern DpermReader *dperm_reader_make_all(const DpermEncoder *encoder, const uint64 *words);

/*
 * 0 for a text that has the same bytes in all encodings, else the encoding of
 * this database plus one. And raise an error if that is not the encoding of
 * this database.
 */
extern int	dperm_reader_encoding(const char *bytes, int len);
extern void dperm_reader_check_encoding(int encoding);

/*
 * Is a text of a request, or a list of texts, each with a zero byte, in the
 * encoding it is said to have? Unless that is another than that of this database.
 */
extern bool dperm_reader_text_fits(const char *bytes, size_t len, int encoding);

/* A type that is the same on all servers, or InvalidOid. */
extern Oid	dperm_reader_common_type(Oid type);

/*
 * Bind a DPERM_READ_ENUM or DPERM_READ_OUTPUT among such readers to a type;
 * accesses the catalog. False if the request is about another type. A category
 * that is not a label of the enum never occurs.
 */
extern bool dperm_reader_bind(DpermReader *readers, int i, Oid type);

/*
 * May one of such readers read a column of this type, which is stored so
 * (dperm_reader_kind_natural())? It takes the bytes of a value for what it was
 * made to read, so every column is looked at before its first value is read. A
 * reader that has to be bound to the type is.
 */
static inline bool
dperm_reader_accept(DpermReader *readers, int i, Oid type, DpermReaderKind stored)
{
	bool		by_type = readers[i].kind == DPERM_READ_ENUM ||
		readers[i].kind == DPERM_READ_OUTPUT;

	if (stored != readers[i].kind && readers[i].kind != DPERM_READ_OUTPUT)
		return false;
	return !by_type || readers[i].type == type || dperm_reader_bind(readers, i, type);
}

/*
 * The same for the columns of a result, beginning at a position, in the order of
 * the blocks; raises an error.
 */
extern void dperm_reader_bind_columns(DpermReader *readers, int count, TupleDesc desc, int first);

/*
 * The value of a number, a time or a boolean, for a kind that is stored as one.
 */
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
 * The same, with a fast path for the most common case, an array stored inline.
 */
static inline void
dperm_reader_read(DpermReader *reader, Datum datum, bool isnull, DpermValue *value)
{
	if (reader->kind == DPERM_READ_FLOAT8_ARRAY && !isnull &&
		VARATT_IS_4B_U(DatumGetPointer(datum)))
	{
		value->vector = dperm_datum_values_peek_float8((ArrayType *) DatumGetPointer(datum),
													   dperm_block_elements(reader->block));
		value->present = value->vector != NULL;
	}
	else
		dperm_reader_read_any(reader, datum, isnull, value);
}

#endif							/* DPERM_READER_H */
