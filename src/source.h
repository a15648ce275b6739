/*
 * source.h: the relation that a learner reads, and the query of a pass over it.
 */
#ifndef DPERM_SOURCE_H
#define DPERM_SOURCE_H

#include "args.h"
#include "moments_type.h"

typedef struct DpermSource
{
	Oid			extension_schema;	/* where our own functions are */
	Oid			moments_type;	/* dp_moments */
	Oid			relation;
	char	   *from;			/* quoted name, for FROM */
	char	   *pass_query;		/* $1 dp_moments, $2 text (the positive value) */
	Datum		positive;		/* text, or 0 for NULL */
	DpermBlock *blocks;			/* the features */
	int			block_count;
	char	   *unsized;		/* the one vector whose length is not known yet, or NULL */
	DpermPassSpec spec;			/* encoder: once the length is known */
} DpermSource;

/*
 * Find relation and columns and check types, domains and privileges; every mistake is an error
 * here, before any row is read. function is the SQL function that was called; features may be NULL:
 * every column that has a domain. The relation is locked against changes of its definition until
 * the end of the transaction.
 */
extern void dperm_source_open(DpermSource *source, Oid function, const char *relation,
							  const char *label, char **features, int feature_count,
							  Jsonb *domains, const DpermOptions *options);

/*
 * The most common vector length among the first rows, for a source whose vectors have no declared
 * length; needs an SPI connection.
 */
extern int	dperm_source_length(const DpermSource *source);

/* Complete the encoder; length is for a source with an unsized vector. */
extern void dperm_source_settle(DpermSource *source, const DpermOptions *options, int length);

/*
 * Run one pass: the dp_moments value in the caller's memory context, or 0 if there are no
 * rows. Needs an SPI connection. All passes of a call see the same snapshot.
 */
extern Datum dperm_source_pass(const DpermSource *source, DpermPassOrder order,
							   int64 capacity, const double *weights);

/* How many rows are looked at for the vector length. */
#define DPERM_LENGTH_ROWS 100

/* The most common of some vector lengths, the smaller one of a tie; 1 if there is none. */
extern int	dperm_common_length(const int *lengths, int count);

#endif							/* DPERM_SOURCE_H */
