/*
 * options.c: the options of a learner as a whole.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "base/host.h"
#include "base/message.h"
#include "base/options.h"
#include "core/base/limits.h"
#include "core/encode/bend.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"

/* Set the defaults. */
void
dperm_options_init(DpermOptions *options, DpermLearner learner)
{
	memset(options, 0, sizeof(*options));
	options->learner = learner;
	options->loss = dperm_loss_default(learner);
	options->labels.kind = dperm_loss_label(options->loss);
	options->method = -1;
	options->analysis = DPERM_ANALYSIS_SHARP;
	options->epsilon = NAN;
	options->lambda = -1;
	options->intercept = -1;
}

/* Raise the error for an argument that contradicts the prior. */
static void
check_same(bool same, const char *name)
{
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s differs from that of the prior", name),
				 errhint("Omit %s to use that of the prior.", name)));
}

/* The domain of labels is that of the prior. */
static void
settle_prior_labels(DpermOptions *options)
{
	const DpermModel *prior = options->prior;
	DpermLabels *labels = &options->labels;
	char	   *positive =
		prior->has_positive ? pnstrdup(prior->positive.bytes, prior->positive.len) : NULL;

	check_same(labels->positive == NULL ||
				   (positive && strcmp(labels->positive, positive) == 0),
			   "positive");
	labels->kind = dperm_model_label(prior);
	labels->positive = positive;
	labels->low = prior->label_low;
	labels->high = prior->label_high;
	labels->classes = prior->loss.classes > 0 ? prior->classes.bytes : NULL;
	labels->class_count = prior->loss.classes;
}

/* Kernel and intercept are those of an encoder. */
void
dperm_options_follow(DpermOptions *options, const DpermEncoder *encoder)
{
	options->kernel = encoder->kernel;
	options->has_seed = encoder->kernel.kind != DPERM_KERNEL_LINEAR;
	options->intercept = encoder->intercept;
}

/*
 * Kernel, intercept and the domain of labels are those of the prior; arguments
 * must not say otherwise.
 */
static void
settle_prior(DpermOptions *options)
{
	const DpermModel *prior = options->prior;
	const DpermKernel *kernel = &prior->encoder.kernel;

	check_same(!options->has_kernel || options->kernel.kind == kernel->kind, "kernel");
	check_same(options->kernel.gamma == 0 || options->kernel.gamma == kernel->gamma, "gamma");
	check_same(options->kernel.features == 0 || options->kernel.features == kernel->features,
			   "kernel_features");
	check_same(!options->has_seed || options->kernel.seed == kernel->seed, "kernel_seed");
	check_same(options->intercept < 0 || (options->intercept > 0) == prior->encoder.intercept,
			   "intercept");
	settle_prior_labels(options);
	dperm_options_follow(options, &prior->encoder);
}

/* The loss for labels. */
DpermLoss
dperm_options_loss(const DpermOptions *options, const DpermLabels *labels)
{
	if (labels->kind == DPERM_LABEL_SEVERAL)
		return (DpermLoss) {.kind = DPERM_LOSS_SOFTMAX, .classes = labels->class_count};
	return options->loss;
}

/* Set the domain of labels. */
void
dperm_options_set_labels(DpermOptions *options, const DpermLabels *labels)
{
	const char *positive = options->labels.positive;

	options->loss = dperm_options_loss(options, labels);
	options->labels = *labels;
	options->labels.positive = positive;
}

/* A prior has said what labels are. */
bool
dperm_options_may_be_several(const DpermOptions *options)
{
	return options->learner == DPERM_LEARNER_LOGREG && options->prior == NULL;
}

/* Classes are two or several. */
static void
settle_classes(DpermOptions *options)
{
	DpermLabels labels = options->labels;

	if (labels.kind == DPERM_LABEL_SEVERAL && labels.positive)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify both classes and positive"),
				 errhint("positive is one of two classes; classes are several.")));
	dperm_options_set_labels(options, &labels);
}

/* Fill in the parameters of the kernel; without a kernel there must be none. */
static void
settle_kernel(DpermOptions *options)
{
	DpermKernel *kernel = &options->kernel;

	if (kernel->kind != DPERM_KERNEL_LINEAR)
	{
		if (kernel->gamma == 0)
			kernel->gamma = 1;
		if (kernel->features == 0)
			kernel->features = 200;
		if (!options->has_seed)
			kernel->seed = 1;
	}
	else if (kernel->gamma != 0 || kernel->features != 0 || options->has_seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gamma, kernel_features and kernel_seed require a kernel"),
				 errhint("Specify one, for example kernel => 'gaussian'.")));

	if (kernel->kind != DPERM_KERNEL_LINEAR && options->knots > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("knots cannot be combined with a kernel"),
				 errhint("Omit knots: a kernel takes numbers as they are.")));

	/*
	 * a kernel approximates constants by itself, and an intercept would take
	 * half of the ball from it
	 */
	if (options->intercept < 0)
		options->intercept = kernel->kind == DPERM_KERNEL_LINEAR;
}

/* May the method be objective perturbation with the sharp analysis? */
static bool
may_be_sharp(const DpermOptions *options)
{
	return options->method != DPERM_METHOD_OUTPUT &&
		   options->analysis == DPERM_ANALYSIS_SHARP;
}

/* Shaped noise is for one method and one analysis only. */
static void
settle_noise(DpermOptions *options)
{
	if (options->noise == DPERM_NOISE_SHAPED && !may_be_sharp(options))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("noise 'shaped' requires method 'objective' and analysis 'sharp'"),
				 errhint("Omit noise: with other methods it is always 'ball'.")));
	if (options->delta > 0 && isinf(options->epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify delta when epsilon is infinite"),
				 errhint("Omit delta: without noise nothing is guaranteed.")));
	if (options->delta > 0 && options->analysis == DPERM_ANALYSIS_PAPER)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta requires analysis 'sharp'"),
				 errhint("The analysis of the paper supports only pure epsilon.")));

	/*
	 * options of objective perturbation select it; without noise all methods
	 * are the same
	 */
	if (options->noise == DPERM_NOISE_SHAPED || options->analysis == DPERM_ANALYSIS_PAPER ||
		isinf(options->epsilon))
		options->objective_only = true;
}

/*
 * Fill in the defaults that depend on other options, and reject invalid
 * combinations.
 */
void
dperm_options_settle(DpermOptions *options)
{
	DpermSetup	setup = {.lambda = options->lambda};
	bool		noiseless = isinf(options->epsilon);

	if (options->prior)
		settle_prior(options);
	settle_classes(options);
	settle_kernel(options);
	settle_noise(options);

	/* some mechanisms raise lambda themselves as far as necessary */
	if (options->lambda >= 0 && options->lambda < DPERM_LAMBDA_MIN &&
		(noiseless || (options->method >= 0 &&
					   dperm_mechanism_entry(options->method)->check(&setup) != NULL)))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("lambda must be at least %g %s", DPERM_LAMBDA_MIN,
							   noiseless ? "when epsilon is "
										   "infinite" :
										   psprintf("for %s",
													dperm_mechanism_description(options->method))),
						errhint("Omit lambda to use a default that does not depend on the data.")));
}

/* Set whether persons are the units. */
void
dperm_options_set_unit(DpermOptions *options, bool persons)
{
	options->unit = persons ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW;
	if (persons && options->analysis == DPERM_ANALYSIS_PAPER)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a unit requires analysis 'sharp'"),
				 errhint("The analysis of the paper supports rows, not persons.")));
}

/* The block of a vector that is not a column, or has no domain. */
DpermBlock
dperm_options_vector_block(const DpermOptions *options)
{
	DpermBlock	block = {
		.kind = DPERM_BLOCK_VECTOR,
		.column = {"", 0},
		.count = options->dimension,
		.norm = options->norm == 0 ? 1 : options->norm
	};

	return block;
}

/* The encoder of some blocks. */
DpermEncoder
dperm_options_encoder(const DpermOptions *options, const DpermBlock *blocks, int count)
{
	DpermEncoder encoder = {
		.block_count = count,
		.blocks = blocks,
		.intercept = options->intercept > 0,
		.kernel = options->kernel
	};

	return dperm_host_check_encoder(encoder);
}

/* Can the noise be shaped? Without noise there is no shape. */
static bool
takes_shape(const DpermOptions *options)
{
	return options->noise != DPERM_NOISE_BALL && may_be_sharp(options) && !isinf(options->epsilon);
}

/* Plan the noise for shapes, for each law that may be used. */
static DpermNoisePlans
plan_noise(const DpermOptions *options, const DpermShape *shapes, int count)
{
	DpermNoisePlans plans = {{NULL}};

	for (int law = 0; law < DPERM_LAW_COUNT; law++)
		if (law == DPERM_LAW_NORM || options->delta > 0)
		{
			DpermArena	arena = {.left = dperm_noise_room(count)};

			arena.at = palloc(arena.left);
			plans.of[law] = dperm_noise_plan((DpermNoiseLaw) law, shapes, count, &arena);
		}
	return plans;
}

/* The noise for the rows of an encoder. */
DpermNoisePlans
dperm_options_noise(const DpermOptions *options, const DpermEncoder *encoder, bool codes_last)
{
	DpermShape *shapes;

	if (!takes_shape(options))
		return (DpermNoisePlans) {{NULL}};
	shapes = palloc(sizeof(DpermShape) * dperm_shape_most(encoder));
	return plan_noise(options, shapes, dperm_shape_list(encoder, codes_last, shapes));
}

/*
 * The noise for vectors that another encoder has produced. A kernel would
 * change their shapes.
 */
DpermNoisePlans
dperm_options_noise_within(const DpermOptions *options, const DpermEncoder *inner,
						   const DpermEncoder *encoder)
{
	DpermShape *shapes;

	if (!takes_shape(options) || encoder->kernel.kind != DPERM_KERNEL_LINEAR)
		return dperm_options_noise(options, encoder, false);
	shapes = palloc(sizeof(DpermShape) * (dperm_shape_most(inner) + 1));
	return plan_noise(options, shapes, dperm_shape_list_within(inner, encoder, shapes));
}

/* May noise of a law be used? */
static bool
may_follow(const DpermOptions *options, DpermNoiseLaw law)
{
	return law == DPERM_LAW_GAUSSIAN ? options->delta > 0 :
		   options->delta == 0 || (options->method < 0 && !options->gaussian_only);
}

/* The noise of an encoder: the least of what the laws that may be used need. */
static double
least_noise(const DpermOptions *options, const DpermEncoder *encoder)
{
	DpermNoisePlans noise = dperm_options_noise(options, encoder, false);
	double		least = INFINITY;

	for (int law = 0; law < DPERM_LAW_COUNT; law++)
	{
		DpermSetup	setup = {
			.loss = options->loss,
			.neighbours = options->neighbours,
			.epsilon = options->epsilon,
			.delta = law == DPERM_LAW_GAUSSIAN ? options->delta : 0,
			.dim = dperm_encoder_dim(encoder) * dperm_loss_blocks(options->loss),
			.noise = noise.of[law]
		};

		if (may_follow(options, (DpermNoiseLaw) law))
			least = Min(least, dperm_knots_rule_noise(&setup));
	}
	return least;
}

/* The encoder with this many knots for its open numbers. */
DpermEncoder
dperm_options_bend(DpermEncoder encoder, int knots)
{
	DpermBlock *blocks;

	if (!dperm_bend_is_open(&encoder))
		return encoder;
	blocks = palloc(sizeof(DpermBlock) * encoder.block_count);
	dperm_bend_blocks(&encoder, knots, blocks);
	encoder.blocks = blocks;
	return encoder;
}

/* The noise of an encoder for each number of knots that the rule can choose. */
DpermKnotsNoise
dperm_options_knots_noise(const DpermOptions *options, const DpermEncoder *encoder)
{
	bool		open = dperm_bend_is_open(encoder);
	DpermKnotsNoise noise;

	for (int knots = 0; knots <= DPERM_KNOTS_MOST; knots++)
	{
		CHECK_FOR_INTERRUPTS();
		noise.of[knots] = INFINITY;
		if (open && knots >= DPERM_KNOTS_LEAST &&
			dperm_bend_dim(encoder, knots) <= DPERM_DIM_MAX / dperm_loss_blocks(options->loss))
		{
			DpermEncoder bent = dperm_options_bend(*encoder, knots);

			noise.of[knots] = least_noise(options, &bent);
		}
	}
	return noise;
}

/* The encoder with the knots that the rule chooses. */
DpermEncoder
dperm_options_bend_for(const DpermOptions *options, DpermEncoder encoder, int64 rows)
{
	DpermKnotsNoise noise = dperm_options_knots_noise(options, &encoder);

	return dperm_options_bend(encoder, dperm_knots_rule(&noise, rows));
}

/*
 * The setup of a mechanism and a law, with the default lambda if none was
 * specified.
 */
static DpermSetup
setup_of(const DpermOptions *options, DpermMethod method, DpermNoiseLaw law, int dim,
		 DpermNoisePlans noise, int64 rows)
{
	DpermSetup	setup = {
		.loss = options->loss,
		.method = method,
		.analysis = options->analysis,
		.neighbours = options->neighbours,
		.unit = options->unit,
		.epsilon = options->epsilon,
		.delta = law == DPERM_LAW_GAUSSIAN ? options->delta : 0,
		.lambda = options->lambda,
		.rows = rows,
		.dim = dim * dperm_loss_blocks(options->loss),
		.noise = method == DPERM_METHOD_OBJECTIVE ? noise.of[law] : NULL,
		.slack = method == DPERM_METHOD_OBJECTIVE ? options->slack : 0,
		.prior = options->prior != NULL,
		.prior_norm = options->prior_norm
	};

	if (options->lambda < 0)
	{
		setup.lambda = dperm_calibrate_default_lambda(&setup);
		if (options->scale > 0)
			setup.lambda =
				Min(Max(options->scale * setup.lambda, DPERM_LAMBDA_MIN), DPERM_LAMBDA_MAX);
	}
	return setup;
}

/* The setup of the mechanism: the requested one, or the one of least risk. */
DpermSetup
dperm_options_setup(const DpermOptions *options, int dim, DpermNoisePlans noise, int64 rows)
{
	bool		choose = options->method < 0 && !options->objective_only;
	DpermMethod method = Max(options->method, DPERM_METHOD_OBJECTIVE);
	DpermSetup	best =
		setup_of(options, method, options->delta > 0 ? DPERM_LAW_GAUSSIAN : DPERM_LAW_NORM, dim,
				 noise, rows);
	double		least = INFINITY;

	if (options->method >= 0 || isinf(options->epsilon) || rows < 1)
		return best;
	for (int m = 0; m < DPERM_METHOD_COUNT; m++)
		for (int law = 0; law < DPERM_LAW_COUNT; law++)
		{
			DpermSetup	setup;
			double		risk;

			if ((m != DPERM_METHOD_OBJECTIVE && !choose) ||
				(law == DPERM_LAW_GAUSSIAN && options->delta == 0) ||
				(law == DPERM_LAW_NORM && options->gaussian_only))
				continue;
			setup = setup_of(options, (DpermMethod) m, (DpermNoiseLaw) law, dim, noise, rows);
			risk = dperm_calibrate_expected_risk(&setup);
			if (risk < least)
			{
				least = risk;
				best = setup;
			}
		}
	return best;
}

/* Raise an error for too many weights. */
static void
check_size(const DpermOptions *options, int dim)
{
	int			classes = options->loss.classes;

	if (classes > 0 && dim > DPERM_DIM_MAX / classes)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%d classes with %d weights each are more than %d weights", classes, dim,
						DPERM_DIM_MAX),
				 errhint("Use fewer features or fewer classes: rows with a label that is not "
						 "listed in classes add nothing.")));
}

/*
 * Reject options that are invalid for any number of rows: effective lambda only
 * decreases with the number of rows.
 */
void
dperm_options_check(const DpermOptions *options, int dim, DpermNoisePlans noise)
{
	DpermSetup	few;
	DpermSetup	many;
	DpermCalibration calibration;
	const char *why;

	check_size(options, dim);
	few = dperm_options_setup(options, dim, noise, 1);
	many = dperm_options_setup(options, dim, noise, DPERM_ROWS_MAX);
	if (dperm_calibrate(&many, &calibration, &why) != DPERM_OK)
		(void) dperm_host_calibrate(&few);
}

/* A delta of 1/n would allow publishing a row at random. */
void
dperm_options_advise(const DpermSetup *setup, int64 rows)
{
	bool		persons = setup->unit == DPERM_UNIT_PERSON;

	if (setup->delta > 0 && setup->delta >= 1.0 / rows)
		dperm_message_tell(WARNING,
						   psprintf("delta is not smaller than 1 divided by the number "
									"of %s, " INT64_FORMAT, persons ? "persons" : "rows", rows),
						   NULL,
						   psprintf("A method that publishes one %s at random would satisfy such a "
									"delta; choose a much smaller one.",
									persons ? "person" : "row"));
}
