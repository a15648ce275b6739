/*
 * locks.h: the locks that a call over a protected relation may need, taken before its first row.
 *
 * Everybody sees locks, and an error when the table of locks is full. So none may be taken because of what a row holds.
 */
#ifndef DPERM_LOCKS_H
#define DPERM_LOCKS_H

/*
 * Lock a relation, all that it shares rows with, what holds their long values, and the system catalogs, for this process: until it ends, or a transaction of it fails. What the relation reads
 * does not change from then on, but for partitions that are attached.
 */
extern void dperm_locks_hold(Oid relation);

#endif							/* DPERM_LOCKS_H */
