/*
 * guard.h: who writes our own tables; and budgets of roles that go.
 */
#ifndef DPERM_GUARD_H
#define DPERM_GUARD_H

#include "budget.h"

/* Give budgets of roles that are gone to the owner of our tables, within a scope. */
extern void dperm_guard_orphans(DpermBudgetScope *scope);

#endif							/* DPERM_GUARD_H */
