/*
 * relation.h: names, owners and sizes of relations.
 */
#ifndef DPERM_RELATION_H
#define DPERM_RELATION_H

#include "storage/lockdefs.h"

/*
 * Look up and lock a relation by a name as in FROM; InvalidOid if there is none
 * and missing_ok.
 */
extern Oid	dperm_relation_look_up(const char *name, LOCKMODE lock, bool missing_ok);

/*
 * The name of a relation, qualified and quoted. Raises an error for one that the
 * caller has dropped meanwhile.
 */
extern char *dperm_relation_name(Oid relation);

/* The owner of a relation, InvalidOid if it has been dropped. */
extern Oid	dperm_relation_owner(Oid relation);

/*
 * How many rows the catalog estimates that a plain table has, which everybody
 * can read there; 0 if it does not know, or for any other relation.
 */
extern int64 dperm_relation_estimated_rows(Oid relation);

#endif							/* DPERM_RELATION_H */
