/*
 * locks.h: the locks that a call on a protected relation may need, taken before
 * its first row.
 *
 * Everybody sees locks, and an error if the lock table is full. So no lock may
 * depend on what a row contains.
 */
#ifndef DPERM_LOCKS_H
#define DPERM_LOCKS_H

#include "nodes/pg_list.h"
#include "utils/resowner.h"

/*
 * Lock a relation, all relations that it shares rows with, their TOAST tables,
 * some system catalogs and our tables for this process, until it ends or a
 * transaction of it fails. From then on the definition of what it reads does
 * not change, except that partitions may be attached. Returns the relation and
 * those it shares rows with: a plan must read no others.
 */
extern List *dperm_locks_hold(Oid relation);

/*
 * The registration of the relation, and that of the table of a view, is locked,
 * too (registry.h). It is let go when this process has the snapshot that it reads
 * rows with. After the charge, so nothing is looked up for it.
 */
extern void dperm_locks_let_go(void);

/*
 * In a session: locks that are taken between these two are released, so that a
 * role without rights on a relation cannot block its owner for the rest of a
 * transaction. An error releases them, too. They are to be kept if planning may
 * have run functions of the caller, as it does for a relation that is not
 * protected: these may have altered something, which stays locked until the end
 * of the transaction.
 */
extern ResourceOwner dperm_locks_look(void);
extern void dperm_locks_look_away(ResourceOwner before, bool keep);

#endif							/* DPERM_LOCKS_H */
