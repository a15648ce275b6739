/*
 * domain_catalog.h: the domain of a column as declared in the catalog.
 */
#ifndef DPERM_DOMAIN_CATALOG_H
#define DPERM_DOMAIN_CATALOG_H

#include "nodes/pg_list.h"

#include "column/domain_column.h"

/*
 * Fill in the domain of a column whose type can be a feature, from its type and
 * its constraints. relation and *cache are as in domain_checks.h.
 */
extern void dperm_domain_catalog_read(List **cache, Oid relation, DpermColumn *column);

#endif							/* DPERM_DOMAIN_CATALOG_H */
