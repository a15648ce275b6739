/*
 * result_set.h: functions that return rows.
 */
#ifndef DPERM_RESULT_SET_H
#define DPERM_RESULT_SET_H

#include "fmgr.h"
#include "access/tupdesc.h"
#include "utils/tuplestore.h"

/* An empty result set of the function's row type. */
extern Tuplestorestate *dperm_result_set_begin(FunctionCallInfo fcinfo, TupleDesc *desc);

/*
 * Add a row, with a value for each column: {datum} is one, and these are a text,
 * or NULL for NULL, and a number, or NULL for NaN.
 */
extern void
dperm_result_set_put(Tuplestorestate *store, TupleDesc desc, const NullableDatum *row);
extern NullableDatum dperm_result_set_text(const char *text);
extern NullableDatum dperm_result_set_number(double number);

#endif							/* DPERM_RESULT_SET_H */
