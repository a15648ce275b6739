/*
 * arguments.h: the arguments of a call, by their names in the SQL declaration.
 *
 * No C code depends on the position of an argument: to add one, declare it. An
 * argument that is not declared reads as one that is NULL.
 */
#ifndef DPERM_ARGUMENTS_H
#define DPERM_ARGUMENTS_H

#include "fmgr.h"
#include "utils/jsonb.h"

/* Hints for required arguments. */
#define DPERM_RELATION_REQUIRED "relation is a table or view, and label is one of its columns."
#define DPERM_MODEL_REQUIRED \
	"A training without rows has no model, nor has a call that failed: use WHERE model IS NOT NULL."
#define DPERM_BUDGET_REQUIRED "It is the name of a budget, as in dp_budgets."

extern bool dperm_arguments_get(FunctionCallInfo fcinfo, const char *name, Oid type, Datum *value);
extern Datum dperm_arguments_required(FunctionCallInfo fcinfo, const char *name, Oid type,
									  const char *hint);
extern char *dperm_arguments_text(FunctionCallInfo fcinfo, const char *name);
extern char *
dperm_arguments_required_text(FunctionCallInfo fcinfo, const char *name, const char *hint);
extern Jsonb *dperm_arguments_jsonb(FunctionCallInfo fcinfo, const char *name);
extern char **dperm_arguments_names(FunctionCallInfo fcinfo, const char *name, int *count);
extern Jsonb *dperm_arguments_json(FunctionCallInfo fcinfo, const char *const *except, int count,
								   int limit);

#endif							/* DPERM_ARGUMENTS_H */
