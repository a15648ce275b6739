/*
 * model.h: a trained model as a plain struct, its two forms, and what follows
 * from it; its prediction for a row. Plain.
 *
 * model.c describes both forms at once. The bytes are what the server stores, and
 * what send and receive transport; the text is JSON. Both readers take anything,
 * and return NULL or what is wrong.
 */
#ifndef DPERM_MODEL_H
#define DPERM_MODEL_H

#include "core/base/codec.h"
#include "core/encode/encoder.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/claim.h"
#include "core/privacy/composition.h"

typedef struct DpermModel
{
	DpermLoss	loss;			/* says which learner it is of, and the kind of its label */
	DpermMethod method;
	DpermAnalysis analysis;
	DpermClaim	claim;			/* no claim: trained without noise */
	double		lambda;			/* as requested or by default */
	int64_t		rows;
	DpermEncoder encoder;

	/* From the calibration; zero without noise, except lambda_effective. */
	double		lambda_effective;
	double		noise_scale;
	const DpermNoise *noise;	/* its shape, in the order of the weights; NULL: the ball */
	double		grid;
	int64_t		release_scale;

	/* dperm_model_weights() of them: the encoder's, class by class if there are several */
	const double *weights;
	DpermText	source;			/* the relation, with its schema; empty for an aggregate */
	DpermText	label;			/* the label column; empty if it was an expression */
	bool		has_positive;	/* was a positive value specified? */
	DpermText	positive;
	double		label_low;		/* the bounds of a label that is a number, else zeros */
	double		label_high;
	DpermText	classes;		/* names; of two, the negative one first, or empty (core.h) */

	/*
	 * Objects of JSON, or empty: how the parameters were chosen, and of its prior
	 * the norm, private (all priors behind it, too), claim, source and ledger.
	 * Nothing follows from them but words; who made the model may write anything.
	 */
	DpermText	tuning;
	DpermText	prior;
	DpermText	budget;			/* that was charged for it; empty if none was */
	int64_t		entry;			/* of the ledger of that budget, or 0 */
} DpermModel;

/* The law of its noise. */
static inline DpermNoiseLaw
dperm_model_law(const DpermModel *model)
{
	return model->claim.delta > 0 ? DPERM_LAW_GAUSSIAN : DPERM_LAW_NORM;
}

/* The kind of its label. */
static inline DpermLabelKind
dperm_model_label(const DpermModel *model)
{
	return dperm_loss_entry((int) model->loss.kind)->label;
}

/*
 * A decision of 1 in units of the label, and what a decision of 0 stands for; 1
 * and 0 if the label is not a number.
 */
static inline double
dperm_model_unit(const DpermModel *model)
{
	return dperm_model_label(model) == DPERM_LABEL_NUMBER ?
			   model->label_high / 2 - model->label_low / 2 :
			   1;
}

static inline double
dperm_model_centre(const DpermModel *model)
{
	return dperm_model_label(model) == DPERM_LABEL_NUMBER ?
			   model->label_low / 2 + model->label_high / 2 :
			   0;
}

/* How many of its classes have names: those of two may not be known. */
static inline int
dperm_model_names(const DpermModel *model)
{
	return model->loss.classes > 0 ? model->loss.classes : model->classes.len > 0 ? 2 : 0;
}

/* The number of its weights; and those of a class, the first of which is number 1. */
static inline int
dperm_model_weights(const DpermModel *model)
{
	return dperm_encoder_dim(&model->encoder) * dperm_loss_blocks(model->loss);
}

static inline const double *
dperm_model_class(const DpermModel *model, int number)
{
	return model->weights + (size_t) (number - 1) * (size_t) dperm_encoder_dim(&model->encoder);
}

/* Longer than any tuning, any prior, and any name or label. */
#define DPERM_MODEL_TUNING_MAX (1 << 20)
#define DPERM_MODEL_PRIOR_MAX (1 << 16)
#define DPERM_MODEL_LABEL_MAX (1 << 18)

/* The formats of both forms, and the only ones that are read. */
#define DPERM_MODEL_FORMAT 1	/* JSON */
#define DPERM_MODEL_BINARY 2

/* The most portions of a tuning but one. */
#define DPERM_CANDIDATES_MAX 64

/* How many deviations a weight has to be from zero to stand out from its noise. */
#define DPERM_MODEL_STANDS_OUT 2.5

/* model.c */
extern void dperm_model_fill(DpermModel *model, const DpermSetup *setup,
							 const DpermCalibration *calibration,
							 const DpermEncoder *encoder, const double *weights);
extern const char *dperm_model_fault(const DpermModel *model);
extern DpermText dperm_model_write(const DpermModel *model);
extern int	dperm_model_format(DpermText bytes);
extern const char *dperm_model_open(DpermText bytes, DpermModel *out);
extern const char *dperm_model_receive(DpermText bytes, DpermModel *out);
extern DpermText dperm_model_print(const DpermModel *model);
extern DpermText dperm_model_print_label(const DpermModel *model);
extern DpermText dperm_model_print_features(const DpermModel *model);
extern const char *dperm_model_parse(const DpermTree *tree, DpermModel *out);
extern void dperm_model_claim(DpermCodec *c, DpermClaim *claim);
extern void dperm_model_ledger(DpermCodec *c, DpermModel *model);

/* model_words.c */
extern DpermText dperm_model_guarantee(const DpermModel *model);
extern int64_t dperm_model_units(const DpermModel *model);
extern bool dperm_model_prior_is_private(const DpermModel *model);

extern DpermRelease dperm_model_release(const DpermModel *model);
extern bool dperm_model_weight_noise(const DpermModel *model, double *out);
extern double dperm_model_norm(const double *weights, int count);

/* score.c: room is dperm_encoder_dim() + dperm_encoder_linear_dim() doubles. */
extern double dperm_score_decision(const DpermEncoder *enc, const double *frequencies,
								   const double *weights, const DpermValue *values,
								   double *room);
extern void dperm_score_terms(const DpermEncoder *enc, const double *weights,
							  const DpermValue *values, double *room, double *terms);
extern bool dperm_score_says_something(const DpermEncoder *enc, const DpermValue *values);
extern double dperm_score_value(double decision, double low, double high);
extern double dperm_score_probability(double decision);
extern void dperm_score_outputs(const DpermEncoder *enc, const double *frequencies, int classes,
								const double *weights, const DpermValue *values, double *room,
								double *outputs);
extern double dperm_score_judge(const DpermEncoder *enc, const double *frequencies, int classes,
								const double *weights, const DpermValue *values, int bins,
								double *room);
extern int	dperm_score_class(int classes, const double *outputs);
extern void dperm_score_probabilities(int classes, double *outputs);
extern double dperm_score_odds(int classes, const double *outputs);

#endif							/* DPERM_MODEL_H */
