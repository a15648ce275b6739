/*
 * options.h: the options of a learner as a whole; option_table.h defines each
 * of them.
 */
#ifndef DPERM_OPTIONS_H
#define DPERM_OPTIONS_H

#include "core/encode/encoder.h"
#include "core/encode/kernel.h"
#include "core/loss/loss.h"
#include "core/mechanism/knots_rule.h"
#include "core/mechanism/setup.h"
#include "core/model/model.h"

/* The requested shape of the noise. */
typedef enum DpermNoiseChoice
{
	DPERM_NOISE_DEFAULT = 0,	/* that of the data, where the mechanism allows it */
	DPERM_NOISE_SHAPED,
	DPERM_NOISE_BALL
} DpermNoiseChoice;

/*
 * The shapes of the noise, one for each law that may be chosen. NULL for the
 * ball.
 */
typedef struct DpermNoisePlans
{
	const DpermNoise *of[DPERM_LAW_COUNT];
} DpermNoisePlans;

/* All options of a learner, except where its rows are. */
typedef struct DpermOptions
{
	DpermLearner learner;
	DpermLoss	loss;
	int			method;			/* DpermMethod; < 0: chosen by the estimated risk */
	bool		objective_only;	/* do other options require it? */
	bool		gaussian_only;	/* is delta spent in any case? */
	DpermAnalysis analysis;
	double		epsilon;
	double		delta;			/* 0: pure epsilon */
	DpermNeighbours neighbours;
	DpermUnit	unit;
	double		lambda;			/* < 0: the default */
	double		scale;			/* of the default lambda, in the default grid of a tuning; else 0 */
	double		slack;			/* see DPERM_CHARGE_SLACK; 0: by the criterion */
	DpermNoiseChoice noise;
	DpermLabels labels;			/* as far as arguments say, or the source (set_labels) */
	int			intercept;		/* 0, 1; < 0: not specified */
	double		norm;			/* 0: not specified */
	int			dimension;		/* 0: not specified */
	int			knots;			/* of numbers whose domain says nothing; 0: by the rule */
	DpermKernel kernel;			/* features, gamma: 0 if not specified */
	bool		has_kernel;		/* was its kind specified? */
	bool		has_seed;
	const DpermModel *prior;	/* the regulariser is centred at its weights; NULL: at 0 */
	double		prior_norm;		/* a bound on their norm */
	const char *prior_text;		/* what the model says about it (core/model/prior.h) */
} DpermOptions;

/* Set the defaults. Epsilon has none: it has to be set. */
extern void dperm_options_init(DpermOptions *options, DpermLearner learner);

/* Kernel, intercept and labels are those of a model, but for the positive value. */
extern void dperm_options_follow(DpermOptions *options, const DpermModel *model);

/*
 * Fill in the defaults that depend on other options, and reject invalid
 * combinations.
 */
extern void dperm_options_settle(DpermOptions *options);

/*
 * Set whether persons are the units, which is known once the source is; rejects
 * options that persons do not allow.
 */
extern void dperm_options_set_unit(DpermOptions *options, bool persons);

/*
 * Set the domain of labels, which is known once the source is: their kind,
 * bounds or classes, and the loss that follows from these. The positive value
 * stays that of the arguments.
 */
extern void dperm_options_set_labels(DpermOptions *options, const DpermLabels *labels);

/* The loss for labels: that of the options, or that of several classes. */
extern DpermLoss dperm_options_loss(const DpermOptions *options, const DpermLabels *labels);

/* May labels be of several classes, if their domain says so? */
extern bool dperm_options_may_be_several(const DpermOptions *options);

/*
 * The encoder of some blocks; raises an error if there are too many
 * coordinates.
 */
extern DpermEncoder dperm_options_encoder(const DpermOptions *options,
										  const DpermBlock *blocks, int count);

/*
 * The block of a vector that is not a column, or has no domain. Its count may
 * be set later.
 */
extern DpermBlock dperm_options_vector_block(const DpermOptions *options);

/*
 * The shape of the noise for the rows of an encoder, in the order of the model
 * or with codes last, allocated in the current memory context. For vectors that
 * another encoder has produced, its shapes are used.
 */
extern DpermNoisePlans
dperm_options_noise(const DpermOptions *options, const DpermEncoder *encoder, bool codes_last);
extern DpermNoisePlans
dperm_options_noise_within(const DpermOptions *options, const DpermEncoder *inner,
						   const DpermEncoder *encoder);

/*
 * The encoder with this many knots for its open numbers, allocated in the
 * current memory context. An encoder without open numbers stays the same.
 */
extern DpermEncoder dperm_options_bend(DpermEncoder encoder, int knots);

/*
 * The noise of an encoder for each number of knots that its open numbers can
 * have, and the encoder with as many as the rule (core/mechanism/knots_rule.h)
 * then chooses for a number of rows.
 */
extern DpermKnotsNoise
dperm_options_knots_noise(const DpermOptions *options, const DpermEncoder *encoder);
extern DpermEncoder
dperm_options_bend_for(const DpermOptions *options, DpermEncoder encoder, int64 rows);

/*
 * Reject options that are invalid for any number of rows. Here and below, dim is
 * the number of coordinates of a row, with a weight for each class.
 */
extern void dperm_options_check(const DpermOptions *options, int dim, DpermNoisePlans noise);

/*
 * The setup of the mechanism once the number of rows is known, with the method
 * of least risk if the method is automatic. The noise stays in use.
 */
extern DpermSetup
dperm_options_setup(const DpermOptions *options, int dim, DpermNoisePlans noise, int64 rows);

/*
 * Warn about a delta that is used and not smaller than 1/rows; the number of
 * rows is public.
 */
extern void dperm_options_advise(const DpermSetup *setup, int64 rows);

#endif							/* DPERM_OPTIONS_H */
