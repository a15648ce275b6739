/*
 * call_charge.h: what a call over a protected relation is charged, before it
 * reads its first row. Trusted.
 */
#ifndef DPERM_CALL_CHARGE_H
#define DPERM_CALL_CHARGE_H

#include "base/options.h"
#include "core/model/model.h"
#include "protect/protect.h"
#include "query/source.h"

/* What a call releases. */
typedef enum DpermCallKind
{
	DPERM_CALL_TRAINING,
	DPERM_CALL_TUNING,
	DPERM_CALL_EVALUATION,
	DPERM_CALL_SUMMARY
} DpermCallKind;

/*
 * Fill in what the charge depends on and no option says: the slack of Gaussian
 * noise. To be called once the source is open, before the options are
 * used for anything else. Changes nothing unless the source is protected.
 */
extern void dperm_call_charge_settle(DpermOptions *options, const DpermSource *source);

/*
 * The last part of opening a call: tell the caller what there is to know about
 * its source, and fill in what it is to be charged. model is the one that is
 * evaluated, or NULL.
 */
extern void dperm_call_charge_fill(DpermCall *call, const DpermSource *source,
								   const DpermOptions *options, DpermCallKind kind,
								   const DpermModel *model);

/*
 * The charge of a call, whose source is protected.
 */
extern DpermCharge dperm_call_charge_charge(const DpermSource *source, const DpermOptions *options,
											DpermCallKind kind, const char *function);

/*
 * What the caller says about a release, NULL if nothing; raises for more than
 * the ledger takes.
 */
extern char *dperm_call_charge_purpose(FunctionCallInfo fcinfo);

#endif							/* DPERM_CALL_CHARGE_H */
