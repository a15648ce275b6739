/*
 * scorer.h: a model and the rows it is applied to, prepared once per query.
 */
#ifndef DPERM_SCORER_H
#define DPERM_SCORER_H

#include "fmgr.h"

#include "core/model/model.h"

typedef struct DpermScorer DpermScorer;

/*
 * Makes a model out of the first argument, in the current context. features_type is the type of the
 * second one.
 */
typedef DpermModel *(*DpermModelOpener) (Datum value, Oid features_type);

/*
 * The scorer of a call site whose arguments are (model, features "any"), with the model of this row
 * at hand. open is called again only when another value comes along.
 */
extern DpermScorer *dperm_scorer_get(FunctionCallInfo fcinfo, DpermModelOpener open);

/* The opener for a dp_model. */
extern DpermModel *dperm_scorer_open_model(Datum value, Oid features_type);

extern const DpermModel *dperm_scorer_model(const DpermScorer *scorer);

/* w.x of the features of this row. */
extern double dperm_scorer_decision(DpermScorer *scorer, Datum features);

/* x itself: dperm_encoder_dim() doubles that live until the next call. */
extern const double *dperm_scorer_encode(DpermScorer *scorer, Datum features);

#endif							/* DPERM_SCORER_H */
