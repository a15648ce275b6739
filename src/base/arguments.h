/*
 * arguments.h: the arguments of a call, by their names in the SQL declaration.
 *
 * No C code depends on the position of an argument: to add one, declare it.
 */
#ifndef DPERM_ARGUMENTS_H
#define DPERM_ARGUMENTS_H

#include "fmgr.h"
#include "utils/jsonb.h"

/*
 * The value of an argument that is declared with this type, or with one of our
 * own types if that is InvalidOid; false if it is NULL or not declared.
 */
extern bool dperm_arguments_get(FunctionCallInfo fcinfo, const char *name, Oid type, Datum *value);

/* The same for an argument that must not be NULL, with a hint for the error. */
extern Datum dperm_arguments_required(FunctionCallInfo fcinfo, const char *name, Oid type,
									  const char *hint);

/*
 * A text argument, NULL if it is NULL; and one that must not be NULL, with a
 * hint for the error.
 */
extern char *dperm_arguments_text(FunctionCallInfo fcinfo, const char *name);
extern char *
dperm_arguments_required_text(FunctionCallInfo fcinfo, const char *name, const char *hint);

/* Hints for required arguments. */
#define DPERM_RELATION_REQUIRED "relation is a table or view, and label is one of its columns."
#define DPERM_MODEL_REQUIRED \
	"A training without rows has no model, nor has a call that failed: use WHERE model IS NOT NULL."
#define DPERM_BUDGET_REQUIRED "It is the name of a budget, as in dp_budgets."

/* A jsonb argument, NULL if it is NULL. */
extern Jsonb *dperm_arguments_jsonb(FunctionCallInfo fcinfo, const char *name);

/*
 * The arguments that are not NULL as an object, but for those of some names, of
 * which the last one is NULL. A value whose text has more bytes than limit is
 * cut.
 */
extern Jsonb *
dperm_arguments_json(FunctionCallInfo fcinfo, const char *const *except, int limit);

/*
 * The names in an argument of any type that is a string or an array of strings.
 * A string in braces is read as an array, so that the literal '{x}' means the
 * same either way. NULL if the argument is NULL.
 */
extern char **dperm_arguments_names(FunctionCallInfo fcinfo, const char *name, int *count);

/*
 * The same for the argument at a position, which is not NULL; the name is for
 * errors.
 */
extern char **
dperm_arguments_names_at(FunctionCallInfo fcinfo, int at, const char *name, int *count);

#endif							/* DPERM_ARGUMENTS_H */
