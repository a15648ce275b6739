/*
 * option_table.h: the options of the learners, one by one.
 *
 * The table in option_table.c is the only place that defines an option: its
 * name, its type, the meaning of its values and where it may be specified. SQL
 * arguments, the options of the aggregates, the candidates of a tuning, dp_cost
 * and the hints all read it. A new option is an entry of the table, a field of
 * DpermOptions and an argument in the SQL declarations.
 */
#ifndef DPERM_OPTION_TABLE_H
#define DPERM_OPTION_TABLE_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "base/options.h"

/* Where an option may be specified. */
typedef enum DpermOptionPlace
{
	DPERM_PLACE_TRAIN = 1,		/* an argument of dp_logreg_train, dp_svm_train and dp_cost */
	DPERM_PLACE_TUNE = 2,		/* an argument of dp_logreg_tune and dp_svm_tune */
	DPERM_PLACE_AGGREGATE = 4,	/* a key of the options of dp_logreg, dp_svm and dp_linreg */
	DPERM_PLACE_CANDIDATE = 8	/* a key of a candidate of a tuning */
} DpermOptionPlace;

/*
 * Set one option from a datum of its type; raises an error for a value out of
 * range, and for NULL where there is no default.
 */
extern void
dperm_option_table_set(DpermOptions *options, const char *name, Datum value, bool isnull);

/*
 * Set all options that are arguments of a function; NULL stands for the
 * default. dperm_options_settle() must follow.
 */
extern void dperm_option_table_arguments(DpermOptions *options, DpermOptionPlace place,
										 FunctionCallInfo fcinfo);

/*
 * Set options from a jsonb object whose keys are the names of options.
 * dperm_options_settle() must follow.
 */
extern void dperm_option_table_jsonb(DpermOptions *options, DpermOptionPlace place, Jsonb *json);

#endif							/* DPERM_OPTION_TABLE_H */
