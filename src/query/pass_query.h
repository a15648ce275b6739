/*
 * pass_query.h: the text of the query of a pass, by where the rows are.
 *
 * A pass is one aggregate over the rows for each request. On this server it
 * runs in this process and its parallel workers. Citus runs it in parts on the
 * servers that have the rows, and calls our functions without the types of
 * their arguments, so columns are passed as one value, dperm_row. A foreign
 * server runs it as a whole, if everything in it is immutable or an aggregate;
 * for a table with foreign partitions, each partition has an aggregate of its
 * own, and the results are combined here. Where a server of Citus has all rows
 * of a person, it counts the labelled ones to find their weight.
 */
#ifndef DPERM_PASS_QUERY_H
#define DPERM_PASS_QUERY_H

#include "query/source.h"

/*
 * The parameters of our queries, by number. These are in all of them; from the
 * last one on, they are values of our types.
 */
enum
{
	DPERM_PARAM_LABELS = 1,		/* the positive value, or the classes */
	DPERM_PARAM_KEY,
	DPERM_PARAM_PORTIONS,
	DPERM_PARAM_EXTRA
};

/*
 * The query of a pass, with requests from $DPERM_PARAM_EXTRA on: one row, with
 * a dperm_moments for each. portions are the portions that the requests are
 * for, or NULL for all rows. If there are portions, a NULL request has the
 * result NULL.
 */
extern char *dperm_pass_query(const DpermSource *source, int count, const int *portions);

/* The pass of one request over one of the relations that make up the source. */
extern char *dperm_pass_query_part(const DpermSource *source, Oid relation);

/*
 * The query that loads all rows where they are read, with the key of the shared
 * rows as $DPERM_PARAM_EXTRA: one row, with the result of dperm_load_agg.
 */
extern char *dperm_pass_query_load(const DpermSource *source);

/* SQL: the portion of a row of the relation t. */
extern char *dperm_pass_query_portion(const DpermSource *source);

/*
 * SQL: a condition that selects about one in "every" rows of the relation t, by
 * $DPERM_PARAM_KEY and their contents.
 */
extern char *dperm_pass_query_sample(const DpermSource *source, int every);

#endif							/* DPERM_PASS_QUERY_H */
