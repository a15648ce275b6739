/*
 * units.h: do relations that share rows, and a budget, tell persons apart alike?
 */
#ifndef DPERM_UNITS_H
#define DPERM_UNITS_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

/*
 * Raise if the unit of a relation is another than that of a relation that it shares rows with: one that it reads or is a part of, or that
 * reads it, or one whose unit comes from another column of the same table. kept is a list of DpermKeptUnit (registry.h), all of one budget.
 */
extern void dperm_units_check(const char *budget, Oid relation, AttrNumber unit, List *kept);

#endif							/* DPERM_UNITS_H */
