/*
 * source.h: the relation that a learner reads, and the query of a pass over it.
 */
#ifndef DPERM_SOURCE_H
#define DPERM_SOURCE_H

#include "nodes/parsenodes.h"
#include "tcop/dest.h"

#include "args.h"
#include "moments_type.h"

typedef struct DpermSource
{
	Oid			extension_schema;	/* where our own functions are */
	Oid			moments_type;	/* dp_moments */
	Oid			relation;
	char	   *from;			/* quoted name, for FROM */
	char	   *label_column;
	char	   *label;			/* SQL expression: boolean, NULL for no label */
	char	  **columns;		/* SQL expressions of the features */
	Datum		positive;		/* text, or 0 for NULL */

	/* only the rows of one portion, see dperm_source_divide() */
	int			portions;		/* 0: all rows */
	int			portion;
	Datum		key;			/* bytea */
	char	   *identity;		/* SQL list that identifies a row */
	DpermBlock *blocks;			/* the features */
	int			block_count;
	bool	   *varlena;		/* is the column of variable length? */
	bool		lone_array;		/* is the only feature an array? */
	DpermPassSpec spec;
} DpermSource;

/*
 * Find relation and columns and check types, domains and privileges; every mistake is an error
 * here, before any row is read. function is the SQL function that was called; features may be NULL:
 * every column that has a domain. With like, features and domains are those of that source instead.
 * The relation is locked against changes of its definition until
 * the end of the transaction.
 */
extern void dperm_source_open(DpermSource *source, Oid function, const char *relation,
							  const char *label, char **features, int feature_count,
							  Jsonb *domains, const DpermSource *like,
							  const DpermOptions *options);

/* Random bits by which rows are divided, fresh for each call. */
extern Datum dperm_source_key(void);

/*
 * Divide the rows into portions by a key; dperm_source_rows_sql() is about the portion that is set in
 * source->portion. identity names a column that identifies rows; NULL for a relation whose rows
 * have a place of their own. It has to be unique by constraints unless the rows are public. The queries over
 * portions are checked, those of dperm_source_mistakes() too.
 */
extern void dperm_source_divide(DpermSource *source, int portions, const char *identity,
								bool is_public, Datum key);

/*
 * The labels and features of the portion as a subquery called r, for FROM; *label is the name of the
 * label in it. A row of r can be given to dp_predict.
 */
extern char *dperm_source_rows_sql(const DpermSource *source, char **label);

/*
 * Run a query with the parameters of all our queries, and values of a type of ours from
 * $DPERM_EXTRA on; the answer is in SPI_tuptable.
 */
#define DPERM_EXTRA 5
extern void dperm_source_execute(const DpermSource *source, const char *query, const char *type,
								 const Datum *extras, int extra_count);

/*
 * Read all rows, once: each comes to the receiver as label, features and, of a divided source, its
 * portion. The receiver's process alone reads, in no order.
 */
extern void dperm_source_read(const DpermSource *source, DestReceiver *receiver);

/* Raise for an analysed query that is not fit to be a pass over the source. */
extern void dperm_check_query(const DpermSource *source, Query *tree);

/* Do two sources read from a common table? */
extern bool dperm_source_overlap(const DpermSource *a, const DpermSource *b);

/* The schema of our own functions, quoted, and a type of ours. */
extern const char *dperm_source_schema(const DpermSource *source);
extern Oid	dperm_source_type(const DpermSource *source, const char *name);

/* Check the queries over the source; dperm_source_open() and dperm_source_divide() do. */
extern void dperm_source_prepare(const DpermSource *source);

/* Columns that are arguments of an aggregate of their own; more are one record. */
#define DPERM_COLUMN_ARGS 90

/*
 * How many rows of the portion with a label each model gets wrong; needs an SPI connection. models are count
 * dp_model datums. Returns the number of rows of the portion.
 */
extern int64 dperm_source_mistakes(const DpermSource *source, const Datum *models, int count,
								   int64 *mistakes);

/*
 * Run one pass that answers several requests, count of them: each over all rows if portions is NULL, or else
 * over a portion of a divided source, where a request may be 0 for none. The results are dp_moments values in the caller's memory
 * context, 0 where there are no rows. Needs an SPI connection. All passes of a call see the same
 * snapshot.
 */
extern void dperm_source_pass(const DpermSource *source, int count, const Datum *requests,
							  const int *portions, Datum *results);

#endif							/* DPERM_SOURCE_H */
