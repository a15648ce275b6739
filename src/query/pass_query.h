/*
 * pass_query.h: the text of the query of a pass, by where the rows are.
 *
 * A pass is one aggregate over the rows for each request. Here it runs in this
 * process and its parallel workers. Citus runs it in parts on the servers that
 * have the rows, and calls our functions without the types of their arguments:
 * columns go to it as one value, dperm_row. On a foreign server it runs as a
 * whole, as long as everything in it is immutable or an aggregate; of a table
 * with foreign partitions each has an aggregate of its own, and the results are
 * combined here. Where a server of Citus has all rows of a person, it finds out
 * how many of them have a label, and so what they weigh.
 */
#ifndef DPERM_PASS_QUERY_H
#define DPERM_PASS_QUERY_H

#include "query/source.h"

/*
 * The parameters of our queries, by number: these in all of them, and values of
 * a type of ours from the last one on.
 */
enum
{
	DPERM_PARAM_POSITIVE = 1,
	DPERM_PARAM_KEY,
	DPERM_PARAM_PORTIONS,
	DPERM_PARAM_EXTRA
};

/*
 * The query of a pass, with requests from $DPERM_PARAM_EXTRA on: one row, with
 * a dperm_moments for each. portions are those whose rows each of them is
 * about, or NULL: all rows. A request that is NULL has the result NULL if there
 * are portions.
 */
extern char *dperm_pass_query(const DpermSource *source, int count, const int *portions);

/*
 * The pass of one request over one of the relations that the source consists
 * of.
 */
extern char *dperm_pass_query_part(const DpermSource *source, Oid relation);

/*
 * SQL expressions over the relation as t: the label of a row, boolean or NULL
 * for none; and its portion.
 */
extern char *dperm_pass_query_label(const DpermSource *source);
extern char *dperm_pass_query_portion(const DpermSource *source);

/*
 * SQL: a condition that about one in every so many rows of the relation t
 * meets, by $DPERM_PARAM_KEY and what they hold.
 */
extern char *dperm_pass_query_sample(const DpermSource *source, int every);

#endif							/* DPERM_PASS_QUERY_H */
