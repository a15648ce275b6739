/*
 * queries.h: the queries that are run over a source.
 *
 * All of them see the snapshot of the calling query and are checked before they
 * run.
 */
#ifndef DPERM_QUERIES_H
#define DPERM_QUERIES_H

#include "tcop/dest.h"

#include "base/options.h"
#include "query/source.h"

/*
 * Open a source, and check the queries over it: nothing but rows can make one
 * of them fail later. *tried, NIL in the beginning, is a list of the queries
 * that have been checked: sources that differ in what comes after the rows have
 * the same ones.
 */
extern void dperm_queries_open(DpermSource *source, const DpermSourceNames *names,
							   const DpermOptions *options, List **tried);

/* Random bits by which rows are divided, fresh for each call. */
extern Datum dperm_queries_key(void);

/*
 * Divide the rows into portions by a key. identity names columns that identify
 * rows; NIL for a relation whose rows have a place of their own, or for
 * persons, who are divided by their unit. They have to be unique by constraints
 * unless the rows are public. The queries over portions are checked.
 */
extern void dperm_queries_divide(DpermSource *source, int portions, List *identity,
								bool is_public, Datum key, List **tried);

/*
 * The number of units, by a scan of its own: of rows, or of persons if they are
 * weighed where they are. Of a divided source, portions, unless it is NULL,
 * gets the number of units in each portion. *rows, unless NULL, gets the number
 * of rows.
 */
extern int64 dperm_queries_count(const DpermSource *source, int64 *portions, int64 *rows);

/*
 * The portion of a row that a query, which may have run on another server, has
 * told; raises if there is no such portion.
 */
extern int	dperm_queries_checked_portion(const DpermSource *source, Datum portion, bool isnull);

/*
 * Read about one row in every so many, but no more than the limit: each comes
 * as in dperm_queries_read(). Which ones is no secret, and no matter.
 */
extern void
dperm_queries_sample(const DpermSource *source, int64 every, int64 limit, DestReceiver *receiver);

/*
 * Read all rows, once: each comes to the receiver as label, features and, of a
 * divided source, its portion; or, of a source that is read once and has a
 * unit, that. source->label says how the label is read. The receiver's process
 * alone reads, in no order.
 */
extern void dperm_queries_read(const DpermSource *source, DestReceiver *receiver);

/*
 * Check, before the charge, the query that counts units: who asks for their
 * number needs it, and nobody else does.
 */
extern void dperm_queries_check_population(const DpermSource *source);

/*
 * The population of a source that shows all rows, as source->population is; and
 * run the population of a source that has one.
 */
extern char *dperm_queries_own_population(const DpermSource *source);
extern void dperm_queries_population(const DpermSource *source, DestReceiver *receiver);

/* Do two sources read from a common table? */
extern bool dperm_queries_overlap(const DpermSource *a, const DpermSource *b);

/*
 * Run one pass that answers several requests, count of them: each over all rows
 * if portions is NULL, or else over a portion of a divided source, where a
 * request may be 0 for none. The results are dperm_moments values in the
 * caller's memory context, 0 where there are no rows. All passes of a call see
 * the same snapshot.
 */
extern void dperm_queries_pass(const DpermSource *source, int count, const Datum *requests,
							  const int *portions, Datum *results);

#endif							/* DPERM_QUERIES_H */
