/*
 * queries.h: the queries over a source.
 *
 * All of them see the snapshot of the calling query, and are checked before
 * they run.
 */
#ifndef DPERM_QUERIES_H
#define DPERM_QUERIES_H

#include "tcop/dest.h"

#include "base/options.h"
#include "query/source.h"

/*
 * Open a source, and check the queries over it, so that only rows can make one
 * of them fail later. *tried, initially NIL, lists the queries that have been
 * checked: sources that differ only in what is done with the rows have the same
 * queries.
 */
extern void dperm_queries_open(DpermSource *source, const DpermSourceNames *names,
							   const DpermOptions *options, List **tried);

/* A random key to divide rows by, new for each call. */
extern Datum dperm_queries_key(void);

/*
 * Divide the rows into portions by a key. identity names columns that identify
 * rows; it is NIL for a relation whose rows have a physical location, and for
 * persons, who are divided by their unit. The columns must be unique by
 * constraints. The queries over portions are checked.
 */
extern void dperm_queries_divide(DpermSource *source, int portions, List *identity, Datum key,
								 List **tried);

/*
 * The number of units, by a scan of its own: rows, or persons if their rows are
 * weighted where they are. For a divided source, portions, unless NULL, gets
 * the number of units in each portion. *rows, unless NULL, gets the number of
 * rows.
 */
extern int64 dperm_queries_count(const DpermSource *source, int64 *portions, int64 *rows);

/*
 * The portion of a row, as returned by a query that may have run on another
 * server; raises an error if there is no such portion.
 */
extern int	dperm_queries_checked_portion(const DpermSource *source, Datum portion, bool isnull);

/*
 * Read about one in "every" rows, but no more than the limit: each arrives as
 * in dperm_queries_read(). Which ones is neither secret nor relevant.
 */
extern void
dperm_queries_sample(const DpermSource *source, int64 every, int64 limit, DestReceiver *receiver);

/*
 * Read all rows, once. The receiver gets the label, the features and, of a
 * divided source, the portion, or, of a source with a unit that is read once,
 * the unit. source->label says how the label is read. Rows are read without
 * parallel workers, in any order.
 */
extern void dperm_queries_read(const DpermSource *source, DestReceiver *receiver);

/*
 * Load all rows where they are read, by parallel workers, as far as the planner
 * wants to use any: prepare() is told how many, fills in the key of the shared
 * rows, and may refuse. Returns false if the query was not run; otherwise
 * *result is that of dperm_load_agg in the memory context of the caller, NULL if
 * there are no rows.
 */
extern bool
dperm_queries_load(const DpermSource *source, bytea *key, bool (*prepare) (void *arg, int workers),
				   void *arg, bytea **result);

/*
 * Run one pass that answers count requests: each over all rows if portions is
 * NULL, or else over a portion of a divided source, where a request may be 0
 * for none. The results are dperm_moments values in the memory context of the
 * caller, 0 if there are no rows. All passes of a call see the same snapshot.
 */
extern void dperm_queries_pass(const DpermSource *source, int count, const Datum *requests,
							  const int *portions, Datum *results);

#endif							/* DPERM_QUERIES_H */
