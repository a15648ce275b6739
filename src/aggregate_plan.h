/*
 * aggregate_plan.h: is a call of dp_logreg or dp_svm planned so that it releases what it claims?
 */
#ifndef DPERM_AGGREGATE_PLAN_H
#define DPERM_AGGREGATE_PLAN_H

#include "nodes/execnodes.h"

/* Raise unless a call, in its node, releases one model for each of disjoint groups, with parameters that rows do not set. */
extern void dperm_aggregate_plan_check(AggState *node, const Aggref *call, int first_parameter);

#endif							/* DPERM_AGGREGATE_PLAN_H */
