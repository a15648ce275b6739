/*
 * model.h: a trained model as a plain struct, with its binary and text forms.
 *
 * The binary form is what the server stores and what send/receive transport: a
 * fixed big-endian header, the encoder and the weights. The text form is JSON.
 * Both decoders accept hostile bytes and return DPERM_BAD_FORMAT; neither
 * writes past its arena or accepts a model that dperm_model_check() rejects.
 */
#ifndef DPERM_MODEL_H
#define DPERM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/status.h"
#include "core/encode/encoder.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/claim.h"

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
	DpermText	classes;		/* names; of two, the negative one first, or empty (classes.h) */
	DpermText	tuning;			/* how the parameters were chosen (tuning.h); empty if given */
	DpermText	prior;			/* its prior (prior.h); empty if it has none */
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

/* Longer than the candidates of any tuning, and than any name or label. */
#define DPERM_MODEL_TUNING_MAX (1 << 20)
#define DPERM_MODEL_LABEL_MAX (1 << 18)

/* Both forms begin with this number, the only format that is read. */
#define DPERM_MODEL_FORMAT 1

/*
 * Fill in what a fit was given and made: everything but source, label and its
 * domain, tuning, prior and the entry of the ledger.
 */
extern void dperm_model_fill(DpermModel *model, const DpermSetup *setup,
							 const DpermCalibration *calibration,
							 const DpermEncoder *encoder, const double *weights);

/*
 * DPERM_OK if every field is in range and consistent, else DPERM_BAD_FORMAT and
 * *why.
 */
extern DpermStatus dperm_model_check(const DpermModel *model, const char **why);

/* Bytes of arena that either decoder needs for a form of len bytes. */
extern size_t dperm_model_arena_size(size_t len);

/* Binary form. The result points into the arena only, not into the input. */
extern size_t dperm_model_binary_size(const DpermModel *model);
extern void dperm_model_binary_write(const DpermModel *model, unsigned char *out);
extern DpermStatus dperm_model_binary_read(const unsigned char *in, size_t len,
										   DpermArena *arena, DpermModel *out,
										   const char **why);

/*
 * Text form. dperm_model_print works as snprintf does: it returns the length
 * without the terminating zero and writes at most room bytes, the zero
 * included.
 */
extern size_t dperm_model_print(const DpermModel *model, char *out, size_t room);
extern DpermStatus dperm_model_parse(const char *in, size_t len,
										 DpermArena *arena, DpermModel *out,
										 const char **why);

/*
 * Its label with its domain, and its features, as they are in the text form; these
 * need no weights. The guarantee in one paragraph. All of them work as snprintf
 * does, too.
 */
extern size_t dperm_model_print_label(const DpermModel *model, char *out, size_t room);
extern size_t dperm_model_print_features(const DpermModel *model, char *out, size_t room);
extern size_t dperm_model_print_guarantee(const DpermModel *model, char *out, size_t room);

#endif							/* DPERM_MODEL_H */
