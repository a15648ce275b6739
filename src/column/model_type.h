/*
 * model_type.h: dp_model as a type, applied to rows, and as the prior of a
 * training.
 *
 * The body of the varlena is the binary form of core/model/model.h, and nothing
 * else.
 */
#ifndef DPERM_MODEL_TYPE_H
#define DPERM_MODEL_TYPE_H

#include "fmgr.h"
#include "nodes/params.h"
#include "nodes/primnodes.h"

#include "base/options.h"
#include "column/domains.h"
#include "core/encode/encoder.h"
#include "core/model/model.h"

/* model_type.c: datums */
extern Datum dperm_model_type_make(const DpermModel *model);
extern DpermModel *dperm_model_type_open(Datum value);
extern DpermModel *dperm_model_type_required(FunctionCallInfo fcinfo);
extern Datum dperm_model_type_accept(Node *context, DpermTree tree);
extern Datum dperm_model_type_array(const double *numbers, int rows, int columns);

/*
 * scorer.c: a model and the rows it is applied to, prepared once per query
 */
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

extern void dperm_scorer_open_model(Datum value, Oid features_type, DpermScored *out);
extern DpermScorer *dperm_scorer_get(FunctionCallInfo fcinfo, DpermScorerOpener open);
extern const DpermModel *dperm_scorer_model(const DpermScorer *scorer);
extern const DpermEncoder *dperm_scorer_encoder(const DpermScorer *scorer);
extern bool dperm_scorer_decision(DpermScorer *scorer, Datum features, double *decision);
extern double *dperm_scorer_outputs(DpermScorer *scorer, Datum features);
extern const double *dperm_scorer_terms(DpermScorer *scorer, Datum features, int class);
extern char *dperm_scorer_value(const DpermScorer *scorer, int block);
extern bool dperm_scorer_declared_encoder(Node *node, ParamListInfo params, DpermEncoder *encoder);
extern int	dperm_scorer_declared_dimension(Node *node, ParamListInfo params);

/* prior_argument.c: may a training have this prior? */
extern void dperm_prior_argument_read(FunctionCallInfo fcinfo, DpermOptions *options);
extern void dperm_prior_argument_check_names(const DpermModel *prior, const char *label,
											 char **features, int count);
extern void dperm_prior_argument_check_block(const DpermOptions *options, const DpermColumn *column,
											 const DpermBlock *block);

#endif							/* DPERM_MODEL_TYPE_H */
