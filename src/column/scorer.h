/*
 * scorer.h: a model and the rows it is applied to, prepared once per query.
 */
#ifndef DPERM_SCORER_H
#define DPERM_SCORER_H

#include "fmgr.h"

#include "core/encode/encoder.h"
#include "core/model/model.h"

typedef struct DpermScorer DpermScorer;

/* What is applied to rows. */
typedef struct DpermScored
{
	DpermEncoder encoder;
	/* the model of the encoder; NULL: an encoder without weights */
	const DpermModel *model;
} DpermScored;

/*
 * Makes it from the first argument, in the current context. features_type is
 * the type of the second one.
 */
typedef void (*DpermScorerOpener) (Datum value, Oid features_type, DpermScored *out);

/*
 * The scorer of a call site whose arguments are (model, features "any"), with
 * the model of this row. open is called again only if the value changes.
 */
extern DpermScorer *dperm_scorer_get(FunctionCallInfo fcinfo, DpermScorerOpener open);

/* The opener for a dp_model. */
extern void dperm_scorer_open_model(Datum value, Oid features_type, DpermScored *out);

/* The model that was opened. */
extern const DpermModel *dperm_scorer_model(const DpermScorer *scorer);
extern const DpermEncoder *dperm_scorer_encoder(const DpermScorer *scorer);

/* w.x of the features of this row; false if no feature has a value. */
extern bool dperm_scorer_decision(DpermScorer *scorer, Datum features, double *decision);

/*
 * The same for each of several classes, valid until the next call; NULL if no
 * feature has a value.
 */
extern double *dperm_scorer_outputs(DpermScorer *scorer, Datum features);

/*
 * What each block adds to the decision of a class, 1 if there are not several,
 * and then the intercept, if there is one: valid until the next call. Raises an
 * error for a kernel.
 */
extern const double *dperm_scorer_terms(DpermScorer *scorer, Datum features, int class);

/*
 * The value of a block in the row that was read last, as text; NULL if it is.
 */
extern char *dperm_scorer_value(const DpermScorer *scorer, int block);

/* x itself: dperm_encoder_dim() doubles that live until the next call. */
extern const double *dperm_scorer_encode(DpermScorer *scorer, Datum features);

#endif							/* DPERM_SCORER_H */
