/* dropped_roles.h: budgets of dropped roles. */
#ifndef DPERM_DROPPED_ROLES_H
#define DPERM_DROPPED_ROLES_H

#include "budget/own_tables.h"

/*
 * Are there budgets of dropped roles that the caller of a scope, if a superuser
 * or the owner of our tables, can give away? And give them to that owner.
 */
extern bool dperm_dropped_roles_has_orphans(DpermTablesScope *scope);
extern void dperm_dropped_roles_orphans(DpermTablesScope *scope);

#endif							/* DPERM_DROPPED_ROLES_H */
