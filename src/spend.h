/*
 * spend.h: what a call over a protected relation is charged, before it reads its first row.
 */
#ifndef DPERM_SPEND_H
#define DPERM_SPEND_H

#include "debit.h"
#include "options.h"
#include "source.h"

/* What a call releases. */
typedef enum DpermSpendKind
{
	DPERM_SPEND_TRAINING,
	DPERM_SPEND_TUNING,
	DPERM_SPEND_EVALUATION
} DpermSpendKind;

/*
 * Fill in what the options leave open and a charge has to know: the slack of Gaussian noise. For an open source, before the options are used
 * for anything else; of any other source than a protected one nothing changes.
 */
extern void dperm_spend_settle(DpermOptions *options, const DpermSource *source);

/* Charge a call of a function, by its OID, or raise. Does nothing for a source that is not protected. */
extern void dperm_spend(const DpermSource *source, const DpermOptions *options, DpermSpendKind kind, Oid function);

/* The charge of a training, for dperm_debit_preview(). The source is protected. */
extern DpermCharge dperm_spend_charge(const DpermSource *source, const DpermOptions *options, DpermSpendKind kind, Oid function);

#endif							/* DPERM_SPEND_H */
