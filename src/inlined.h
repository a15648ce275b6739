/*
 * inlined.h: functions in SQL that are left when a query has been planned.
 */
#ifndef DPERM_INLINED_H
#define DPERM_INLINED_H

#include "nodes/plannodes.h"

/* Is a function in language SQL? */
extern bool dperm_inlined_is_sql(Oid function);

/* A function in SQL that a plan calls; InvalidOid if there is none. */
extern Oid	dperm_inlined_left(const PlannedStmt *planned);

/* The same for expressions that no plan shows, once they are planned. The planner calls functions: a shield has to be up. */
extern Oid	dperm_inlined_left_unseen(const List *expressions);

/* Raise, or warn, for such a function; of one that PostgreSQL itself looks up and calls, whatever its body is. */
extern void dperm_inlined_refuse(int level, Oid function, Oid relation);
extern void dperm_inlined_refuse_support(int level, Oid function, Oid relation);

/* Warn of a function that would be refused in a view whose callees have been checked. */
extern void dperm_inlined_warn(Oid view, Oid owner, const List *unseen);

#endif							/* DPERM_INLINED_H */
