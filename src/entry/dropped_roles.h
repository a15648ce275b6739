/*
 * dropped_roles.h: budgets of roles that go.
 */
#ifndef DPERM_DROPPED_ROLES_H
#define DPERM_DROPPED_ROLES_H

#include "budget/own_tables.h"

/*
 * Budgets of roles that are gone: are there some that the caller of a scope, a
 * superuser or the owner of our tables, can give away? And give them to that
 * owner.
 */
extern bool dperm_dropped_roles_has_orphans(DpermTablesScope *scope);
extern void dperm_dropped_roles_orphans(DpermTablesScope *scope);

#endif							/* DPERM_DROPPED_ROLES_H */
