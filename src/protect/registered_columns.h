/*
 * registered_columns.h: the columns of a protected relation, with the domains
 * that are registered for it or for relations behind it.
 */
#ifndef DPERM_REGISTERED_COLUMNS_H
#define DPERM_REGISTERED_COLUMNS_H

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

#include "column/domain_column.h"
#include "protect/registry.h"

/*
 * All columns of a protected relation that have not been dropped, as from
 * dperm_domains_read(): with the domains that are registered or declared in the
 * catalog, or narrower ones that the caller specifies. *versions are all
 * registrations that they depend on (debit.h); it may be NULL. A column is
 * closed if a relation behind it closes it (registered_behind.h), and has the
 * domain of the nearest one unless it has its own.
 */
extern DpermColumn *
dperm_registered_columns_read(const DpermRegistration *registration, Jsonb *domains, int *count,
							  List **versions);

/*
 * The same for dp_protect: given are the domains that are to be registered in
 * place of those before, which may be NULL. They are the caller's, or if these
 * are NULL those before. Knots without a range are for the range that the
 * column had. *versions are the registrations of other relations that were
 * read.
 */
extern DpermColumn *
dperm_registered_columns_replace(Oid relation, const DpermRegistration *before, Jsonb *domains,
								 int *count, List **versions);

#endif							/* DPERM_REGISTERED_COLUMNS_H */
