/*
 * options.h: the options of a learner, one by one and as a whole. Trusted.
 *
 * The table in option_table.c is the only place that defines an option: its
 * name, its type, its range or its words, and where it may be specified. SQL
 * arguments, the options of functions and aggregates, the candidates of a
 * tuning, dp_cost and the hints all read it. A new option is an entry of the
 * table and a field of DpermOptions.
 *
 * A call sets its options, each checked by itself, and then settles them. What
 * is known once the source is follows: unit and labels. Then it makes a plan, which
 * checks them as a whole, for any number of units, and is completed for one.
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

/* What follows is allocated in the current memory context. */
extern DpermEncoder dperm_options_encoder(const DpermOptions *options,
										  const DpermBlock *blocks, int count);

/*
 * A training: everything that follows from its options, its encoder and the public
 * number of units. It is computed once they are known, and whatever says or does
 * something about the training takes it from here.
 */
typedef struct DpermPlan
{
	/* for any number of units */
	const DpermOptions *options;
	DpermEncoder open;			/* how rows are read; it may have open numbers */
	const DpermEncoder *inner;	/* that has made the vectors in the rows, or NULL */
	double		knots_noise[DPERM_KNOTS_MOST + 1];

	/* for one */
	int			knots;			/* of open numbers; 1: straight lines */
	DpermEncoder encoder;		/* with these knots */
	DpermNoisePlans noise;		/* in the order of the rows in memory, as that of the setup */
	DpermSetup	setup;
	DpermCalibration calibration;
	const char *fault;			/* why the parameters do not allow so many units, or NULL */
	double		noise_share;	/* infinite then */
} DpermPlan;

extern DpermPlan dperm_plan_begin(const DpermOptions *options, const DpermEncoder *encoder,
								  const DpermEncoder *inner);
extern void dperm_plan_for(DpermPlan *plan, int64 units);
extern void dperm_plan_resize(DpermPlan *plan, int64 units);
extern void dperm_plan_check(const DpermPlan *plan);
extern void dperm_plan_tell_delta(const DpermPlan *plan, int64 units);
extern void dperm_plan_tell_noise(const DpermPlan *plans, int count, int portions, int64 units);

#endif							/* DPERM_OPTIONS_H */
