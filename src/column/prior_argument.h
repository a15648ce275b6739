/*
 * prior_argument.h: the prior of a training, from its argument, and whether the
 * training fits it.
 *
 * Weights mean the same in both only if rows are encoded in the same way. So
 * the training has the columns, the domains and the kernel of the prior, and
 * arguments that contradict it are errors, before a row is read.
 */
#ifndef DPERM_PRIOR_ARGUMENT_H
#define DPERM_PRIOR_ARGUMENT_H

#include "fmgr.h"

#include "base/options.h"
#include "column/domains.h"

/*
 * Set the prior of a training if the call has one; raises an error for one that
 * no training of this learner can have. dperm_options_settle() must follow.
 */
extern void dperm_prior_argument_read(FunctionCallInfo fcinfo, DpermOptions *options);

/* Raise an error if label or features are not those of the prior. */
extern void dperm_prior_argument_check_names(const DpermModel *prior, const char *label,
											 char **features, int count);

/*
 * Raise an error if the caller specified another domain for a column than the
 * prior has.
 */
extern void dperm_prior_argument_check_block(const DpermOptions *options, const DpermColumn *column,
											 const DpermBlock *block);

#endif							/* DPERM_PRIOR_ARGUMENT_H */
