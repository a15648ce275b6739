/*
 * domains.h: the public domain of each column, from the caller and from the
 * catalog.
 *
 * Nothing here looks at rows or at statistics about rows: a domain learned from
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
 * The dimension of the vectors that an expression makes whatever rows hold, 0
 * if it does not say; params may be NULL.
 */
typedef int (*DpermDimensionOf) (Node *node, ParamListInfo params);

/*
 * All live columns of a relation, in order. domains is the caller's jsonb
 * object or NULL; it takes precedence over the catalog. Raises for keys that
 * are no columns and for domains that make no sense for the column's type.
 * dimension_of is for the expressions of views. Everything is palloc'd in the
 * current context.
 *
 * An integer or numeric(p,s) column that the caller gave categories has a
 * CATEGORY block. Categories are the text output of base; those of bpchar have
 * lost their trailing blanks, as dperm_category_length() says.
 */
extern DpermColumn *dperm_domains_read(Oid relation, Jsonb *domains, DpermDimensionOf dimension_of,
									   int *count);

/*
 * Raise the error for a column without a domain: it names the column and both
 * ways to give one. For a column of an unusable type, the error that says so.
 */
extern _Noreturn void dperm_domains_missing(const DpermColumn *column);

/*
 * Raise the error for a vector that is the only feature and has no declared
 * dimension: as above, and the argument.
 */
extern _Noreturn void dperm_domains_unsized(const DpermColumn *column);

/*
 * The query of a view or of a materialized view, NULL for any other relation.
 */
extern Query *dperm_domains_view_query(Relation view);

/* Can a relation of this kind be trained on? */
extern bool dperm_domains_has_rows(char relkind);

#endif							/* DPERM_DOMAINS_H */
