/*
 * owner_notes.h: what an owner should know when they protect a relation, end
 * that, or grant a share of its budget.
 */
#ifndef DPERM_OWNER_NOTES_H
#define DPERM_OWNER_NOTES_H

#include "protect/registry.h"

/*
 * Tell in a notice which columns of a protected relation have no domain, and
 * warn if everybody, or a role with a grant of its budget, can read its rows.
 */
extern void dperm_owner_notes_relation(Oid relation);

/* Warn if a role can read the relations that are charged to a budget. */
extern void dperm_owner_notes_grantee(Oid role, const char *budget);

#endif							/* DPERM_OWNER_NOTES_H */
