/* budget_charge.h: dp_budget_charge, for releases by other tools. */
#ifndef DPERM_BUDGET_CHARGE_H
#define DPERM_BUDGET_CHARGE_H

#include "protect/call.h"

extern const DpermFunction dperm_budget_charge_function;

#endif							/* DPERM_BUDGET_CHARGE_H */
