/*
 * options.h: the options of a learner, one by one and as a whole.
 *
 * The table in option_table.c is the only place that defines an option: its
 * name, its type, its range or its words, and where it may be specified. SQL
 * arguments, the options of functions and aggregates, the candidates of a
 * tuning, dp_cost and the hints all read it. A new option is an entry of the
 * table and a field of DpermOptions.
 *
 * A call sets its options, each checked by itself, and then settles them. What
 * is known once the source is follows: unit and labels. Then it checks them as
 * a whole, for any number of rows, and has the setup for one number of rows.
 */
#ifndef DPERM_OPTIONS_H
#define DPERM_OPTIONS_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "core/encode/encoder.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/model/model.h"

/* Where an option may be specified. */
typedef enum DpermOptionPlace
{
	DPERM_PLACE_ARGUMENT = 1,	/* an argument of training, tuning and dp_cost */
	DPERM_PLACE_OPTION = 2,		/* a key of their argument options */
	DPERM_PLACE_AGGREGATE = 4,	/* a key of the options of dp_logreg, dp_svm and dp_linreg */
	DPERM_PLACE_CANDIDATE = 8,	/* a key of a candidate of a tuning */
	DPERM_PLACE_GRID = 16		/* a key of a candidate of the default grid */
} DpermOptionPlace;

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
	double		norm;			/* of the vectors of an aggregate */
	int			dimension;		/* of these; 0: not specified */
	int			knots;			/* of numbers whose domain says nothing; 0: by the rule */
	DpermKernel kernel;			/* features, gamma: 0 if not specified */
	bool		has_kernel;		/* was its kind specified? */
	bool		has_seed;
	const DpermModel *prior;	/* the regulariser is centred at its weights; NULL: at 0 */
	double		prior_norm;		/* a bound on their norm */
	DpermText	prior_text;		/* what the model says about it (core/model/model.h) */
} DpermOptions;

/* option_table.c: set options that are specified. */
extern void dperm_option_table_arguments(DpermOptions *options, FunctionCallInfo fcinfo);
extern void dperm_option_table_jsonb(DpermOptions *options, DpermOptionPlace place, Jsonb *json);
extern void
dperm_option_table_set(DpermOptions *options, const char *name, Datum value, bool isnull);

/* options.c: all of them together. */
extern void dperm_options_init(DpermOptions *options, DpermLearner learner);
extern void dperm_options_follow(DpermOptions *options, const DpermModel *model);
extern void dperm_options_settle(DpermOptions *options);
extern void dperm_options_set_unit(DpermOptions *options, bool persons);
extern void dperm_options_set_labels(DpermOptions *options, const DpermLabels *labels);
extern DpermLoss dperm_options_loss(const DpermOptions *options, const DpermLabels *labels);
extern bool dperm_options_may_be_several(const DpermOptions *options);

/* Encoders, and the noise for their rows; allocated in the current memory context. */
extern DpermEncoder dperm_options_encoder(const DpermOptions *options,
										  const DpermBlock *blocks, int count);
extern DpermNoisePlans
dperm_options_noise(const DpermOptions *options, const DpermEncoder *inner,
					const DpermEncoder *encoder, bool codes_last);
extern DpermKnotsNoise
dperm_options_knots_noise(const DpermOptions *options, const DpermEncoder *encoder);
extern DpermEncoder
dperm_options_bend_for(const DpermOptions *options, DpermEncoder encoder, int64 rows);

/* dim is the number of coordinates of a row, with a weight for each class. */
extern void dperm_options_check(const DpermOptions *options, int dim, DpermNoisePlans noise);
extern DpermSetup
dperm_options_setup(const DpermOptions *options, int dim, DpermNoisePlans noise, int64 rows);
extern void dperm_options_advise(const DpermSetup *setup, int64 rows);

#endif							/* DPERM_OPTIONS_H */
