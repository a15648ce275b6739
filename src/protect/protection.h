/*
 * protection.h: what holds for a relation that is protected, or that shares
 * rows with one that is.
 */
#ifndef DPERM_PROTECTION_H
#define DPERM_PROTECTION_H

#include "base/options.h"
#include "column/domain_column.h"
#include "protect/registry.h"

/*
 * The registration of a relation, NULL if it is not protected. Raises if this
 * transaction has ended its protection, or if it is not known whether the
 * registration is about this relation.
 */
extern DpermRegistration *dperm_protection_find(Oid relation);

/*
 * Raise for a relation that is not protected and shares rows with one that is.
 * The caller may read it, and has been told already if not.
 */
extern void dperm_protection_check_reach(Oid relation);

/*
 * Raise if one of the relations of a query, which has an aggregate of ours, is
 * protected or shares rows with one that is.
 */
extern void dperm_protection_check_query(List *relations);

/*
 * Raise if a relation shares rows with one that is charged to another budget.
 */
extern void dperm_protection_check_shared(const DpermRegistration *ours);

/*
 * May the caller spend what the relation is charged to? If not, raise unless
 * they may not even read it: then false.
 */
extern bool dperm_protection_permitted(const DpermRegistration *registration, bool may_read);

/*
 * Raise for options that a protected relation does not allow: no noise, and
 * neighbours that are not its budget's.
 */
extern void
dperm_protection_check_options(const DpermRegistration *registration, const DpermOptions *options);

/* Is a column open to training? And raise if it is not. */
extern bool
dperm_protection_lists(const DpermRegistration *registration, const DpermColumn *column);
extern void
dperm_protection_check_column(const DpermRegistration *registration, const DpermColumn *column);

/*
 * The unit of a protected relation, by its name, NULL for rows. Raises if the
 * caller asks for another one.
 */
extern char *dperm_protection_unit(const DpermRegistration *registration, const char *asked);

/*
 * All live columns of a protected relation, as dperm_domains_read() has them:
 * with the domains that are registered, or declared in the catalog, or narrower
 * ones that the caller gives.
 */
extern DpermColumn *
dperm_protection_columns(const DpermRegistration *registration, Jsonb *domains, int *count);

/* Raise unless a block is within the domain of its column. */
extern void dperm_protection_check_block(const DpermRegistration *registration,
										 const DpermColumn *column, const DpermBlock *block);

#endif							/* DPERM_PROTECTION_H */
