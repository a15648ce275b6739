/*
 * pass_query.h: the text of the query of a pass, by where the rows are.
 *
 * A pass is an aggregate over rows that are on other servers; what is here is
 * read once. Citus runs it in parts on the servers that have the rows, and calls
 * our functions without the types of their arguments, so columns are passed as
 * one value, dperm_row. A foreign
 * server runs it as a whole, if everything in it is immutable or an aggregate;
 * for a table with foreign partitions, each partition has an aggregate of its
 * own, and the results are combined here. Where a server of Citus has all rows
 * of a person, it counts the labelled ones to find their weight.
 */
#ifndef DPERM_PASS_QUERY_H
#define DPERM_PASS_QUERY_H

#include "query/source.h"

/*
 * The parameters of our queries, by number. The last one is the request of a
 * pass, or a key.
 */
enum
{
	DPERM_PARAM_LABELS = 1,		/* the positive value, or the classes */
	DPERM_PARAM_EXTRA
};

/*
 * The query of a pass, with its request as $DPERM_PARAM_EXTRA: one row, with a
 * dperm_moments.
 */
extern char *dperm_pass_query(const DpermSource *source);

/* The pass over one of the relations that make up the source. */
extern char *dperm_pass_query_part(const DpermSource *source, Oid relation);

/*
 * The query that loads all rows where they are read, with the key of the shared
 * rows as $DPERM_PARAM_EXTRA: one row, with the result of dperm_load_agg.
 */
extern char *dperm_pass_query_load(const DpermSource *source);

/*
 * SQL: a condition that selects about one in "every" rows of the relation t, by
 * a key, $DPERM_PARAM_EXTRA, and their contents.
 */
extern char *dperm_pass_query_sample(const DpermSource *source, int every);

#endif							/* DPERM_PASS_QUERY_H */
