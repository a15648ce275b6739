/*
 * reader_kind.h: how columns of a type are stored, and what they can be read as.
 */
#ifndef DPERM_READER_KIND_H
#define DPERM_READER_KIND_H

#include "core/encode/block.h"
#include "core/encode/tagged.h"

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

/*
 * How to read values for a kind of block from a type; DPERM_READ_NONE if that
 * is not possible. Accesses the catalog.
 */
extern DpermReaderKind dperm_reader_kind(Oid type, DpermBlockKind kind);

/*
 * How a type is stored, as a column of a pass; DPERM_READ_NONE for a type that
 * has to be cast to text first. A reader must only be given datums of the type
 * that it was made for.
 */
extern DpermReaderKind dperm_reader_kind_natural(Oid type);

/* The tag of a kind in a tagged row; text unless there is a better one. */
extern DpermTag dperm_reader_kind_tag(DpermReaderKind kind);

/* Can a kind that is stored in a request provide values for a kind of block? */
extern bool dperm_reader_kind_fits(uint64 kind, DpermBlockKind block);

#endif							/* DPERM_READER_KIND_H */
