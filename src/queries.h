/*
 * queries.h: the queries that are run over a source.
 *
 * All of them see the snapshot of the calling query and are checked before they run.
 */
#ifndef DPERM_QUERIES_H
#define DPERM_QUERIES_H

#include "tcop/dest.h"

#include "checked.h"
#include "options.h"
#include "source.h"

/* The parameters of our queries, by number: these in all of them, and values of a type of ours from the last one on. */
enum
{
	DPERM_PARAM_POSITIVE = 1,
	DPERM_PARAM_KEY,
	DPERM_PARAM_PORTIONS,
	DPERM_PARAM_PORTION,
	DPERM_PARAM_EXTRA
};

/*
 * Open a source, and check the queries over it: nothing but rows can make one of them fail later. *tried, NIL in the
 * beginning, is a list of the queries that have been checked: sources that differ in what comes after the rows have the
 * same ones.
 */
extern void dperm_queries_open(DpermSource *source, const DpermSourceNames *names,
							   const DpermOptions *options, List **tried);

/* Random bits by which rows are divided, fresh for each call. */
extern Datum dperm_queries_key(void);

/*
 * Divide the rows into portions by a key; dperm_queries_rows_sql() is about the portion that is set in
 * source->portion. identity names a column that identifies rows; NULL for a relation whose rows
 * have a place of their own. It has to be unique by constraints unless the rows are public. The queries over
 * portions are checked, those of dperm_queries_mistakes() too.
 */
extern void dperm_queries_divide(DpermSource *source, int portions, const char *identity,
								bool is_public, Datum key, List **tried);

/*
 * The labels and features of the portion as a subquery called r, for FROM; *label is the name of the
 * label in it. A row of r can be given to dp_predict.
 */
extern char *dperm_queries_rows_sql(const DpermSource *source, char **label);

/*
 * Run a query with the parameters of all our queries, and values of a type of ours from
 * $DPERM_PARAM_EXTRA on. The answer is for the caller to free.
 */
extern DpermAnswer *dperm_queries_execute(const DpermSource *source, const char *query, const char *type,
								  const Datum *extras, int extra_count);

/*
 * Read all rows, once: each comes to the receiver as label, features and, of a divided source, its
 * portion; or, of a source that is read once and has a unit, that. The receiver's process alone reads, in no order.
 */
extern void dperm_queries_read(const DpermSource *source, DestReceiver *receiver);

/* The census of a source that shows all rows, as source->census is; and run the census of a source that has one. */
extern char *dperm_queries_own_census(const DpermSource *source);
extern void dperm_queries_census(const DpermSource *source, DestReceiver *receiver);

/* Do two sources read from a common table? */
extern bool dperm_queries_overlap(const DpermSource *a, const DpermSource *b);

/*
 * How many rows of the portion with a label each model gets wrong. models are count
 * dp_model datums. Returns the number of rows of the portion.
 */
extern int64 dperm_queries_mistakes(const DpermSource *source, const Datum *models, int count,
								   int64 *mistakes);

/*
 * Run one pass that answers several requests, count of them: each over all rows if portions is NULL, or else
 * over a portion of a divided source, where a request may be 0 for none. The results are dp_moments values in the caller's memory
 * context, 0 where there are no rows. All passes of a call see the same
 * snapshot.
 */
extern void dperm_queries_pass(const DpermSource *source, int count, const Datum *requests,
							  const int *portions, Datum *results);

#endif							/* DPERM_QUERIES_H */
