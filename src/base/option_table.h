/*
 * option_table.h: the options of the learners, one by one.
 *
 * The table in option_table.c is the only place that defines an option: its
 * name, its type, its range or its words, and where it may be specified. SQL
 * arguments, the options of functions and aggregates, the candidates of a
 * tuning, dp_cost and the hints all read it. A new option is an entry of the
 * table and a field of DpermOptions.
 */
#ifndef DPERM_OPTION_TABLE_H
#define DPERM_OPTION_TABLE_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "base/options.h"

/* Where an option may be specified. */
typedef enum DpermOptionPlace
{
	DPERM_PLACE_ARGUMENT = 1,	/* an argument of training, tuning and dp_cost */
	DPERM_PLACE_OPTION = 2,		/* a key of their argument options */
	DPERM_PLACE_AGGREGATE = 4,	/* a key of the options of dp_logreg, dp_svm and dp_linreg */
	DPERM_PLACE_CANDIDATE = 8,	/* a key of a candidate of a tuning */
	DPERM_PLACE_GRID = 16		/* a key of a candidate of the default grid */
} DpermOptionPlace;

/*
 * Set one option from a datum of its type; raises an error for a value out of
 * range, and for NULL where there is no default.
 */
extern void
dperm_option_table_set(DpermOptions *options, const char *name, Datum value, bool isnull);

/*
 * Set all options that are arguments of a function, or keys of its argument
 * "options"; NULL stands for the default. dperm_options_settle() must follow.
 */
extern void dperm_option_table_arguments(DpermOptions *options, FunctionCallInfo fcinfo);

/*
 * Set options from a jsonb object whose keys are the names of options.
 * dperm_options_settle() must follow.
 */
extern void dperm_option_table_jsonb(DpermOptions *options, DpermOptionPlace place, Jsonb *json);

#endif							/* DPERM_OPTION_TABLE_H */
