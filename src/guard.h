/*
 * guard.h: budgets of roles that go.
 */
#ifndef DPERM_GUARD_H
#define DPERM_GUARD_H

#include "tables.h"

/*
 * Budgets of roles that are gone: are there some that the caller of a scope, a superuser or the owner of our tables, can give away? And give them to that
 * owner.
 */
extern bool dperm_guard_has_orphans(DpermTablesScope *scope);
extern void dperm_guard_orphans(DpermTablesScope *scope);

#endif							/* DPERM_GUARD_H */
