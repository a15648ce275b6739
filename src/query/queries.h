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
 * of them fail later. Copies of the source have the same queries.
 */
extern void dperm_queries_open(DpermSource *source, const DpermSourceNames *names,
							   const DpermOptions *options);

/*
 * The number of units of a source whose rows are elsewhere, by a scan of its
 * own: rows, or persons; and the number of rows.
 */
extern int64 dperm_queries_count(const DpermSource *source, int64 *rows);

/*
 * Read about one in "every" rows, but no more than the limit: each arrives as
 * in dperm_queries_read(). Which ones is neither secret nor relevant.
 */
extern void
dperm_queries_sample(const DpermSource *source, int64 every, int64 limit, DestReceiver *receiver);

/*
 * Read all rows, once. The receiver gets the label, the features and, if there
 * is one, the unit. source->label says how the label is read. Rows are read
 * without parallel workers, in any order.
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
 * Run one pass over rows that are elsewhere: of the request, the caller has filled
 * in the order, and weights and second, or weights and bins. The answer is in the
 * current memory context.
 */
extern void dperm_queries_pass(const DpermSource *source, DpermPass *pass);

#endif							/* DPERM_QUERIES_H */
