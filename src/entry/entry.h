/*
 * entry.h: what the functions that read rows consist of (protect/protect.h), and what
 * they share. Trusted.
 */
#ifndef DPERM_ENTRY_H
#define DPERM_ENTRY_H

#include "base/options.h"
#include "protect/protect.h"
#include "query/source.h"
#include "train/call_charge.h"

extern void dperm_entry_open_training(DpermCall *call);
extern Datum dperm_entry_run_training(DpermCall *call);
extern void dperm_entry_open_tuning(DpermCall *call);
extern Datum dperm_entry_run_tuning(DpermCall *call);
extern void dperm_entry_open_measure(DpermCall *call);
extern Datum dperm_entry_run_measure(DpermCall *call);
extern void dperm_entry_open_summary(DpermCall *call);
extern Datum dperm_entry_run_summary(DpermCall *call);
extern void dperm_entry_open_charge(DpermCall *call);

extern void dperm_train_open(FunctionCallInfo fcinfo, DpermLearner learner,
							 const DpermRegistration *registration, bool reads,
							 DpermOptions *options, DpermSource *source, DpermPlan *plan);

extern double dperm_cost_charge(const DpermSource *source, const DpermOptions *options,
								DpermCallKind kind, char **calls_left, char **columns);

#endif							/* DPERM_ENTRY_H */
