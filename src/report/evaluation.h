/*
 * evaluation.h: rows of dp_evaluate and dp_roc, as JSON, in a report.
 */
#ifndef DPERM_EVALUATION_H
#define DPERM_EVALUATION_H

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

/*
 * Raise an error unless it is an array of rows, of either function or of both.
 */
extern void dperm_evaluation_check(JsonbContainer *rows);

/* Metrics, the confusion matrix and the curve, as far as there are rows. */
extern void dperm_evaluation_show(StringInfo page, JsonbContainer *rows);

#endif							/* DPERM_EVALUATION_H */
