/*
 * row_order.h: does the result of a query depend on the order in which rows are
 * read?
 */
#ifndef DPERM_ROW_ORDER_H
#define DPERM_ROW_ORDER_H

#include "nodes/parsenodes.h"

/*
 * True unless it can be proven that it does not; extension is dperm, whose
 * aggregates are trusted.
 */
extern bool dperm_row_order_matters(Query *query, Oid extension);

#endif							/* DPERM_ROW_ORDER_H */
