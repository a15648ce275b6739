/*
 * domains.h: the public domain of each column, from the caller and from the
 * catalog.
 *
 * Nothing here looks at rows or at statistics about rows: a domain derived from
 * data would leak.
 */
#ifndef DPERM_DOMAINS_H
#define DPERM_DOMAINS_H

#include "nodes/parsenodes.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"

#include "column/domain_column.h"

/*
 * All live columns of a relation, in order. domains is the caller's jsonb
 * object or NULL; it takes precedence over the catalog. Raises an error for
 * keys that are not columns and for domains that are not valid for the column's
 * type. Everything is palloc'd in the current context.
 *
 * An integer or numeric(p,s) column for which the caller specified categories
 * has a CATEGORY block. Categories are the text output of base; those of bpchar
 * have no trailing blanks (dperm_category_length()).
 */
extern DpermColumn *dperm_domains_read(Oid relation, Jsonb *domains, int *count);

/*
 * Give columns of a relation the caller's domains, in place of those that they
 * have. A column whose domain is null keeps its own, if that is allowed.
 */
extern void dperm_domains_give(Oid relation, DpermColumn *columns, int count, Jsonb *domains,
							   bool may_be_null);

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

/*
 * Fill in the domain that the type of a column declares, which is a column of no
 * relation.
 */
extern void dperm_domains_of_type(DpermColumn *column);

/*
 * What of the inner domain is not contained in the outer one, as the subject of
 * "... is not within"; NULL if all is. Ranges and categories have to be
 * subsets, dimensions equal, and norms not larger.
 */
extern const char *dperm_domains_fault(const DpermBlock *outer, const DpermBlock *inner);

/* Can a relation of this kind be trained on? */
extern bool dperm_domains_has_rows(char relkind);

#endif							/* DPERM_DOMAINS_H */
