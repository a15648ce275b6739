/*
 * locks.h: the locks that a call over a protected relation may need, taken
 * before its first row.
 *
 * Everybody sees locks, and an error when the table of locks is full. So none
 * may be taken because of what a row holds.
 */
#ifndef DPERM_LOCKS_H
#define DPERM_LOCKS_H

#include "utils/resowner.h"

/*
 * Lock a relation, all that it shares rows with, what holds their long values,
 * and the system catalogs, for this process: until it ends, or a transaction of
 * it fails. What the relation reads does not change from then on, but for
 * partitions that are attached.
 */
extern void dperm_locks_hold(Oid relation);

/*
 * In a session: what is locked between these two is released, so that nobody
 * without a right to a relation keeps its owner from it for the rest of a
 * transaction. An error ends it, too.
 */
extern ResourceOwner dperm_locks_look(void);
extern void dperm_locks_look_away(ResourceOwner before);

#endif							/* DPERM_LOCKS_H */
