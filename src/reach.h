/*
 * reach.h: the tables that relations read from, also through views, materialized views and functions.
 */
#ifndef DPERM_REACH_H
#define DPERM_REACH_H

#include "nodes/pg_list.h"

/*
 * The tables behind some relations, with their partitions and children. Raises for a function that may read
 * any table: one whose body the catalog does not know, unless it is marked IMMUTABLE; and for the statistics, which
 * hold values of any table.
 */
extern List *dperm_reach_tables(List *relations);

#endif							/* DPERM_REACH_H */
