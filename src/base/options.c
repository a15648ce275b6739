/*
 * options.c: the options of a learner as a whole.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "base/host.h"
#include "base/message.h"
#include "base/options.h"
#include "core/base/core.h"
#include "core/mechanism/calibrate.h"

/* Set the defaults. Epsilon has none: it has to be set. */
void
dperm_options_init(DpermOptions *options, DpermLearner learner)
{
	memset(options, 0, sizeof(*options));
	options->learner = learner;
	options->loss = dperm_loss_default(learner);
	options->labels.kind = dperm_loss_entry((int) options->loss.kind)->label;
	options->method = -1;
	options->analysis = DPERM_ANALYSIS_SHARP;
	options->epsilon = NAN;
	options->lambda = -1;
	options->intercept = -1;
	options->norm = 1;
}

/* Raise an error for options. */
static void
refuse_if(bool refused, const char *message, const char *hint)
{
	if (refused)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s", message),
				 errhint("%s", hint)));
}

/* Raise an error for an argument that contradicts the prior. */
static void
check_same(bool same, const char *name)
{
	refuse_if(!same, psprintf("%s differs from that of the prior", name),
			  psprintf("Omit %s to use that of the prior.", name));
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
	labels->positive = positive;
}

/* Kernel, intercept and labels are those of a model, but for the positive value. */
void
dperm_options_follow(DpermOptions *options, const DpermModel *model)
{
	DpermLabels *labels = &options->labels;

	options->kernel = model->encoder.kernel;
	options->has_seed = model->encoder.kernel.kind != DPERM_KERNEL_LINEAR;
	options->intercept = model->encoder.intercept;
	labels->kind = dperm_model_label(model);
	labels->low = model->label_low;
	labels->high = model->label_high;
	labels->classes = labels->kind == DPERM_LABEL_SEVERAL ? model->classes.bytes : NULL;
	labels->class_count = model->loss.classes;
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
	dperm_options_follow(options, prior);
}

/* The loss for labels: that of the options, or that of several classes. */
DpermLoss
dperm_options_loss(const DpermOptions *options, const DpermLabels *labels)
{
	if (labels->kind == DPERM_LABEL_SEVERAL)
		return (DpermLoss) {.kind = DPERM_LOSS_SOFTMAX, .classes = labels->class_count};
	return options->loss;
}

/*
 * Set the domain of labels, which is known once the source is: their kind,
 * bounds or classes, and the loss that follows from these. The positive value
 * stays that of the arguments.
 */
void
dperm_options_set_labels(DpermOptions *options, const DpermLabels *labels)
{
	const char *positive = options->labels.positive;

	options->loss = dperm_options_loss(options, labels);
	options->labels = *labels;
	options->labels.positive = positive;
}

/* May labels be of several classes, if their domain says so? A prior has said what they are. */
bool
dperm_options_may_be_several(const DpermOptions *options)
{
	return options->learner == DPERM_LEARNER_LOGREG && options->prior == NULL;
}

/* May the method be objective perturbation with the sharp analysis? */
static bool
may_be_sharp(const DpermOptions *options)
{
	return options->method != DPERM_METHOD_OUTPUT &&
		   options->analysis == DPERM_ANALYSIS_SHARP;
}

/* Raise an error for what ranges do not say: single values, and options that exclude each other. */
static void
check_combinations(const DpermOptions *options)
{
	const DpermKernel *kernel = &options->kernel;
	bool		linear = kernel->kind == DPERM_KERNEL_LINEAR;
	const char *fault = dperm_loss_fault(options->loss);

	refuse_if(options->delta == 1, "delta must be less than 1",
			  "delta should be much smaller than 1 divided by the number of rows, or 0 for pure "
			  "epsilon.");
	refuse_if(fault != NULL, fault, "Omit h to use the default of the loss.");
	refuse_if(kernel->features % 2 != 0, "kernel_features must be an even number",
			  "More features approximate the kernel better but need more noise.");
	refuse_if(options->labels.kind == DPERM_LABEL_SEVERAL && options->labels.positive,
			  "cannot specify both classes and positive",
			  "positive is one of two classes; classes are several.");
	refuse_if(linear && (kernel->gamma != 0 || kernel->features != 0 || options->has_seed),
			  "gamma, kernel_features and kernel_seed require a kernel",
			  "Specify one, for example kernel => 'gaussian'.");
	refuse_if(!linear && options->knots > 1,
			  "knots cannot be combined with a kernel",
			  "Omit knots: a kernel takes numbers as they are.");
	refuse_if(options->noise == DPERM_NOISE_SHAPED && !may_be_sharp(options),
			  "noise 'shaped' requires method 'objective' and analysis 'sharp'",
			  "Omit noise: with other methods it is always 'ball'.");
	refuse_if(options->delta > 0 && isinf(options->epsilon),
			  "cannot specify delta when epsilon is infinite",
			  "Omit delta: without noise nothing is guaranteed.");
	refuse_if(options->delta > 0 && options->analysis == DPERM_ANALYSIS_PAPER,
			  "delta requires analysis 'sharp'",
			  "The analysis of the paper supports only pure epsilon.");
}

/* Fill in the defaults that depend on other options, and reject invalid combinations. */
void
dperm_options_settle(DpermOptions *options)
{
	DpermKernel *kernel = &options->kernel;
	bool		linear;

	if (options->prior)
		settle_prior(options);
	check_combinations(options);
	options->loss = dperm_options_loss(options, &options->labels);
	linear = kernel->kind == DPERM_KERNEL_LINEAR;
	if (!linear && kernel->gamma == 0)
		kernel->gamma = 1;
	if (!linear && kernel->features == 0)
		kernel->features = 200;
	if (!linear && !options->has_seed)
		kernel->seed = 1;

	/*
	 * a kernel approximates constants by itself, and an intercept would take
	 * half of the ball from it
	 */
	if (options->intercept < 0)
		options->intercept = linear;

	/*
	 * options of objective perturbation select it; without noise all methods
	 * are the same
	 */
	if (options->noise == DPERM_NOISE_SHAPED || options->analysis == DPERM_ANALYSIS_PAPER ||
		isinf(options->epsilon))
		options->objective_only = true;
}

/* Set whether persons are the units, which is known once the source is. */
void
dperm_options_set_unit(DpermOptions *options, bool persons)
{
	options->unit = persons ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW;
	refuse_if(persons && options->analysis == DPERM_ANALYSIS_PAPER,
			  "a unit requires analysis 'sharp'",
			  "The analysis of the paper supports rows, not persons.");
}

/* The encoder of some blocks; raises an error if there are too many coordinates. */
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

/*
 * The shape of the noise for the rows of an encoder, in the order of the model
 * or with codes last, for each law that may be used. For vectors that an inner
 * encoder has produced, if that is not NULL, by its shapes, unless a kernel changes them.
 */
DpermNoisePlans
dperm_options_noise(const DpermOptions *options, const DpermEncoder *inner,
					const DpermEncoder *encoder, bool codes_last)
{
	DpermNoisePlans plans = {{NULL}};
	DpermShape *shapes;
	int			count;

	/* without noise there is no shape */
	if (options->noise == DPERM_NOISE_BALL || !may_be_sharp(options) || isinf(options->epsilon))
		return plans;
	if (encoder->kernel.kind != DPERM_KERNEL_LINEAR)
		inner = NULL;
	shapes = palloc(sizeof(DpermShape) * (dperm_shape_most(inner ? inner : encoder) + 1));
	count = inner ? dperm_shape_list_within(inner, encoder, shapes) :
		dperm_shape_list(encoder, codes_last, shapes);
	for (int law = 0; law < DPERM_LAW_COUNT; law++)
		if (law == DPERM_LAW_NORM || options->delta > 0)
			plans.of[law] = dperm_noise_plan((DpermNoiseLaw) law, shapes, count);
	return plans;
}

/* May noise of a law be used? */
static bool
may_follow(const DpermOptions *options, DpermNoiseLaw law)
{
	return law == DPERM_LAW_GAUSSIAN ? options->delta > 0 :
		   options->delta == 0 || (options->method < 0 && !options->gaussian_only);
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

/*
 * The noise of an encoder: the least of what the laws that may be used need. It
 * does not depend on lambda or the number of rows.
 */
static double
least_noise(const DpermOptions *options, const DpermEncoder *encoder)
{
	DpermNoisePlans noise = dperm_options_noise(options, NULL, encoder, false);
	DpermOptions any = *options;
	double		least = INFINITY;

	any.lambda = 0;
	for (int law = 0; law < DPERM_LAW_COUNT; law++)
		if (may_follow(options, (DpermNoiseLaw) law))
		{
			DpermSetup	setup = setup_of(&any, DPERM_METHOD_OBJECTIVE, (DpermNoiseLaw) law,
										 dperm_encoder_dim(encoder), noise, 1);

			least = Min(least, dperm_calibrate_knots_noise(&setup));
		}
	return least;
}

/* The noise of an encoder for each number of knots that its open numbers can have. */
DpermKnotsNoise
dperm_options_knots_noise(const DpermOptions *options, const DpermEncoder *encoder)
{
	bool		open = dperm_encoder_is_open(encoder);
	int			most = DPERM_DIM_MAX / dperm_loss_blocks(options->loss);
	DpermKnotsNoise noise;

	for (int knots = 0; knots <= DPERM_KNOTS_MOST; knots++)
	{
		CHECK_FOR_INTERRUPTS();
		noise.of[knots] = INFINITY;
		if (open && knots >= DPERM_KNOTS_LEAST &&
			dperm_encoder_knots_dim(encoder, knots) <= most)
		{
			DpermEncoder bent = dperm_encoder_with_knots(encoder, knots);

			noise.of[knots] = least_noise(options, &bent);
		}
	}
	return noise;
}

/* The encoder with as many knots as the rule then chooses for a number of rows. */
DpermEncoder
dperm_options_bend_for(const DpermOptions *options, DpermEncoder encoder, int64 rows)
{
	DpermKnotsNoise noise = dperm_options_knots_noise(options, &encoder);

	return dperm_encoder_with_knots(&encoder, dperm_calibrate_knots(&noise, rows));
}

/*
 * The setup of the mechanism once the number of rows is known, with the method
 * of least risk if the method is automatic. The noise stays in use.
 */
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
				!may_follow(options, (DpermNoiseLaw) law))
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

/*
 * Reject options that are invalid for any number of rows: effective lambda only
 * decreases with the number of rows.
 */
void
dperm_options_check(const DpermOptions *options, int dim, DpermNoisePlans noise)
{
	int			classes = options->loss.classes;
	DpermSetup	few;
	DpermSetup	many;
	DpermCalibration calibration;

	if (classes > 0 && dim > DPERM_DIM_MAX / classes)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%d classes with %d weights each are more than %d weights", classes, dim,
						DPERM_DIM_MAX),
				 errhint("Use fewer features or fewer classes: rows with a label that is not "
						 "listed in classes add nothing.")));
	few = dperm_options_setup(options, dim, noise, 1);
	many = dperm_options_setup(options, dim, noise, DPERM_ROWS_MAX);
	if (dperm_calibrate(&many, &calibration) != NULL)
		(void) dperm_host_calibrate(&few);
}

/*
 * Warn about a delta that is used and not smaller than 1/n, which would allow
 * publishing a row at random. The number of rows is public.
 */
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
