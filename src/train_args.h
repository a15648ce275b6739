/*
 * train_args.h: the arguments that dp_logreg_train, dp_svm_train and their tuning twins share.
 */
#ifndef DPERM_TRAIN_ARGS_H
#define DPERM_TRAIN_ARGS_H

#include "fmgr.h"

#include "args.h"

/* Arguments of the SQL functions, in order. */
enum
{
	DPERM_ARG_SOURCE,
	DPERM_ARG_LABEL,
	DPERM_ARG_FEATURES,
	DPERM_ARG_EPSILON,
	DPERM_ARG_LAMBDA,
	DPERM_ARG_METHOD,
	DPERM_ARG_ANALYSIS,
	DPERM_ARG_POSITIVE,
	DPERM_ARG_INTERCEPT,
	DPERM_ARG_NORM,
	DPERM_ARG_DIMENSION,
	DPERM_ARG_DOMAINS,
	DPERM_ARG_KERNEL,
	DPERM_ARG_GAMMA,
	DPERM_ARG_KERNEL_FEATURES,
	DPERM_ARG_KERNEL_SEED,
	DPERM_ARG_LOSS,					/* the last two: support vector machines */
	DPERM_ARG_H
};

/* A text argument, NULL if it is NULL. */
extern char *dperm_text_arg(FunctionCallInfo fcinfo, int n);

/* A text argument that must be there. */
extern char *dperm_required_text_arg(FunctionCallInfo fcinfo, int n, const char *name);

/* Options out of the arguments; NULL stands for the default. Not settled yet. */
extern void dperm_train_options(FunctionCallInfo fcinfo, bool svm, DpermOptions *options);

/* The feature columns, NULL for all that have a domain. as_array: features is text[]. */
extern char **dperm_train_features(FunctionCallInfo fcinfo, bool as_array, int *count);

#endif							/* DPERM_TRAIN_ARGS_H */
