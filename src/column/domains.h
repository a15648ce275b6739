/*
 * domains.h: the public domain of each column, from the caller and from the
 * catalog.
 *
 * Nothing here looks at rows or at statistics about rows: a domain derived from
 * data would leak.
 */
#ifndef DPERM_DOMAINS_H
#define DPERM_DOMAINS_H

#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"

#include "column/domain_column.h"

/*
 * The dimension of the vectors that an expression produces for any row, 0 if
 * that is not known; params may be NULL.
 */
typedef int (*DpermDimensionOf) (Node *node, ParamListInfo params);

/*
 * All live columns of a relation, in order. domains is the caller's jsonb
 * object or NULL; it takes precedence over the catalog. Raises an error for
 * keys that are not columns and for domains that are not valid for the column's
 * type. dimension_of is for the expressions of views. Everything is palloc'd in
 * the current context.
 *
 * An integer or numeric(p,s) column for which the caller specified categories
 * has a CATEGORY block. Categories are the text output of base; those of bpchar
 * have no trailing blanks (dperm_category_length()).
 */
extern DpermColumn *dperm_domains_read(Oid relation, Jsonb *domains, DpermDimensionOf dimension_of,
									   int *count);

/*
 * Give columns of a relation the caller's domains, in place of those that they
 * have.
 */
extern void dperm_domains_give(Oid relation, DpermColumn *columns, int count, Jsonb *domains);

/*
 * Raise the error for a column without a domain: it names the column and both
 * ways to specify a domain. For a column of an unusable type, the error says
 * so.
 */
extern _Noreturn void dperm_domains_missing(const DpermColumn *column);

/*
 * The query of a view or of a materialized view, NULL for any other relation.
 */
extern Query *dperm_domains_view_query(Relation view);

/* Can a relation of this kind be trained on? */
extern bool dperm_domains_has_rows(char relkind);

#endif							/* DPERM_DOMAINS_H */
