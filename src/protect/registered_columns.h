/*
 * registered_columns.h: the columns of a protected relation, with the domains
 * that are registered for it, or for the table behind a view.
 */
#ifndef DPERM_REGISTERED_COLUMNS_H
#define DPERM_REGISTERED_COLUMNS_H

#include "utils/jsonb.h"

#include "column/domain_column.h"
#include "protect/registry.h"

/*
 * All columns of a protected relation that have not been dropped, as from
 * dperm_domains_read(): with the domains that are registered or declared in the
 * catalog, or narrower ones that the caller specifies. The registration is
 * resolved: what a view shows of its table unchanged is closed if it is closed
 * there, and has the domain of there unless it has its own.
 */
extern DpermColumn *
dperm_registered_columns_read(const DpermRegistration *registration, Jsonb *domains, int *count);

/*
 * The same for dp_protect: given are the domains that are to be registered in
 * place of those before. They are the caller's, or if these are NULL those
 * before. Knots without a range are for the range that the column had.
 */
extern DpermColumn *
dperm_registered_columns_replace(const DpermRegistration *before, Jsonb *domains, int *count);

#endif							/* DPERM_REGISTERED_COLUMNS_H */
