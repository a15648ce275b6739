/* functions.h: the functions that a worker may be asked to run. */
#ifndef DPERM_FUNCTIONS_H
#define DPERM_FUNCTIONS_H

#include "protect/call.h"

extern const DpermFunction dperm_train_functions[3];
extern const DpermFunction dperm_tune_functions[3];
extern const DpermFunction dperm_evaluate_functions[2];
extern const DpermFunction dperm_charge_function;

#endif							/* DPERM_FUNCTIONS_H */
