/*
 * aggregate_plan.h: is a call of dp_logreg or dp_svm planned so that it
 * releases what it claims?
 */
#ifndef DPERM_AGGREGATE_PLAN_H
#define DPERM_AGGREGATE_PLAN_H

#include "nodes/execnodes.h"

/*
 * Raise an error unless a call in its node releases one model for each of
 * disjoint groups, with parameters that do not depend on rows.
 */
extern void dperm_aggregate_plan_check(AggState *node, const Aggref *call, int first_parameter);

/*
 * An argument of a call, counted from 0, as written in the statement: Citus
 * replaces arguments by columns if it gathers the rows here.
 */
extern Node *dperm_aggregate_plan_argument(const AggState *node, const Aggref *call, int number);

#endif							/* DPERM_AGGREGATE_PLAN_H */
