/*
 * options.h: what a learner is told, as a whole; option_table.h has the options
 * one by one.
 */
#ifndef DPERM_OPTIONS_H
#define DPERM_OPTIONS_H

#include "core/encode/encoder.h"
#include "core/encode/kernel.h"
#include "core/loss/loss.h"
#include "core/mechanism/setup.h"

/* The shape that noise is to have. */
typedef enum DpermNoiseChoice
{
	DPERM_NOISE_DEFAULT = 0,	/* that of the data, where the mechanism allows it */
	DPERM_NOISE_SHAPED,
	DPERM_NOISE_BALL
} DpermNoiseChoice;

/*
 * The shapes of the noise, one for each law: of the one that is chosen. NULL
 * for the ball.
 */
typedef struct DpermNoisePlans
{
	const DpermNoise *of[DPERM_LAW_COUNT];
} DpermNoisePlans;

/* Everything a learner is told, apart from where its rows are. */
typedef struct DpermOptions
{
	DpermLearner learner;
	DpermLoss	loss;
	bool		automatic;		/* is the method chosen by its risk? */
	DpermMethod method;			/* unless it is */
	bool		objective_only;	/* do other options leave no choice? */
	bool		gaussian_only;	/* is delta spent anyway? */
	DpermAnalysis analysis;
	double		epsilon;
	double		delta;			/* 0: pure epsilon */
	DpermNeighbours neighbours;
	DpermUnit	unit;
	double		lambda;			/* < 0: by the default rule */
	double		scale;			/* of the default lambda; 0: not given */
	double		slack;			/* 0: not given */
	DpermNoiseChoice noise;
	char	   *positive;		/* NULL: not given */
	int			intercept;		/* 0, 1; < 0: not given */
	double		norm;			/* 0: not given */
	int			dimension;		/* 0: not given */
	DpermKernel kernel;			/* features, gamma: 0 if not given */
	bool		has_seed;
	int64		rows;			/* how many units the caller expects; 0: not given */
	bool		noise_told;		/* has the caller been told that they are too few? */
} DpermOptions;

/* Start from the defaults. Epsilon has none: it has to be set. */
extern void dperm_options_init(DpermOptions *options, DpermLearner learner);

/*
 * Fill in the defaults that depend on other options, and refuse what does not
 * go together.
 */
extern void dperm_options_settle(DpermOptions *options);

/*
 * Say whether persons are the units, which is known once the source is; refuses
 * what does not go together with them.
 */
extern void dperm_options_set_unit(DpermOptions *options, bool persons);

/* The encoder of some blocks; raises if there are too many coordinates. */
extern DpermEncoder dperm_options_encoder(const DpermOptions *options,
										  const DpermBlock *blocks, int count);

/*
 * The block of a vector that is no column, or has no domain. Its count may be
 * set later.
 */
extern DpermBlock dperm_options_vector_block(const DpermOptions *options);

/*
 * The shape of the noise for the rows of an encoder, in the order of the model
 * or with codes behind all else, made in the current memory context. For
 * vectors that another encoder has made: by that one.
 */
extern DpermNoisePlans
dperm_options_noise(const DpermOptions *options, const DpermEncoder *encoder, bool codes_last);
extern DpermNoisePlans
dperm_options_noise_within(const DpermOptions *options, const DpermEncoder *inner,
						   const DpermEncoder *encoder);

/* Refuse options of which no number of rows makes sense. */
extern void dperm_options_check(const DpermOptions *options, int dim, DpermNoisePlans noise);

/*
 * The setup of the mechanism once the number of rows is known, with the method
 * of least risk if it is to be chosen. The noise stays in use.
 */
extern DpermSetup
dperm_options_setup(const DpermOptions *options, int dim, DpermNoisePlans noise, int64 rows);

/*
 * Warn of a delta that is in use and not smaller than one in so many rows, of
 * which the number is public.
 */
extern void dperm_options_advise(const DpermSetup *setup, int64 rows);

#endif							/* DPERM_OPTIONS_H */
