/*
 * result_set.h: functions that return rows.
 */
#ifndef DPERM_RESULT_SET_H
#define DPERM_RESULT_SET_H

#include "fmgr.h"
#include "access/tupdesc.h"
#include "utils/tuplestore.h"

/*
 * An empty result set of the function's row type, to be filled with
 * tuplestore_putvalues().
 */
extern Tuplestorestate *dperm_result_set_begin(FunctionCallInfo fcinfo, TupleDesc *desc);

#endif							/* DPERM_RESULT_SET_H */
