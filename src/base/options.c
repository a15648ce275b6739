/*
 * options.c: the options of a learner as a whole, and the plan of a training. Trusted.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "base/base.h"
#include "base/options.h"

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

/* Kernel, intercept and labels are those of the prior, and so are knots. */
static void
settle_prior(DpermOptions *options)
{
	const DpermModel *prior = options->prior;
	const DpermKernel *kernel = &options->kernel;

	refuse_if(options->labels.positive || options->knots > 0 || options->intercept >= 0 ||
			  options->has_kernel || kernel->gamma != 0 || kernel->features != 0 ||
			  options->has_seed,
			  "positive, knots, intercept and kernel cannot be specified with a prior",
			  "Omit them: they are those of the prior.");
	if (prior->has_positive)
		options->labels.positive = pnstrdup(prior->positive.bytes, prior->positive.len);
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
 * The shape of the noise for the rows of an encoder, in the order that they have in
 * memory, for each law that may be used. For vectors that an inner encoder has
 * produced, if that is not NULL, by its shapes, unless a kernel changes them.
 */
static DpermNoisePlans
noise_of(const DpermOptions *options, const DpermEncoder *inner, const DpermEncoder *encoder)
{
	DpermNoisePlans plans = {{NULL}};
	DpermShape *shapes;
	int			count;

	/* without noise there is no shape */
	if (options->noise == DPERM_NOISE_BALL || !may_be_sharp(options) || isinf(options->epsilon))
		return plans;
	if (encoder->kernel.kind != DPERM_KERNEL_LINEAR)
		inner = NULL;
	shapes = palloc(sizeof(DpermShape) * (dperm_encoder_dim(inner ? inner : encoder) + 1));
	count = inner ? dperm_shape_list_within(inner, encoder, shapes) :
		dperm_shape_list(encoder, true, shapes);
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
 * The setup of a mechanism and a law for the rows of an encoder, with the default
 * lambda if none was specified.
 */
static DpermSetup
setup_of(const DpermOptions *options, DpermMethod method, DpermNoiseLaw law,
		 const DpermEncoder *encoder, DpermNoisePlans noise, int64 rows)
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
		.dim = dperm_encoder_dim(encoder) * dperm_loss_blocks(options->loss),
		.noise = method == DPERM_METHOD_OBJECTIVE ? noise.of[law] : NULL,
		.slack = method == DPERM_METHOD_OBJECTIVE ? options->slack : 0,
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
 * does not depend on lambda or the number of units.
 */
static double
least_noise(const DpermOptions *options, const DpermEncoder *encoder)
{
	DpermNoisePlans noise = noise_of(options, NULL, encoder);
	DpermOptions any = *options;
	double		least = INFINITY;

	any.lambda = 0;
	for (int law = 0; law < DPERM_LAW_COUNT; law++)
		if (may_follow(options, (DpermNoiseLaw) law))
		{
			DpermSetup	setup = setup_of(&any, DPERM_METHOD_OBJECTIVE, (DpermNoiseLaw) law,
										 encoder, noise, 1);

			least = Min(least, dperm_calibrate_knots_noise(&setup));
		}
	return least;
}

/* The noise of an encoder for each number of knots that its open numbers can have. */
static void
fill_knots_noise(const DpermOptions *options, const DpermEncoder *encoder, double *noise)
{
	bool		open = dperm_encoder_is_open(encoder);
	int			most = DPERM_DIM_MAX / dperm_loss_blocks(options->loss);

	for (int knots = 0; knots <= DPERM_KNOTS_MOST; knots++)
	{
		DpermEncoder bent = dperm_encoder_with_knots(encoder, knots);

		CHECK_FOR_INTERRUPTS();
		noise[knots] = open && knots >= DPERM_KNOTS_LEAST && dperm_encoder_dim(&bent) <= most ?
			least_noise(options, &bent) : INFINITY;
	}
}

/*
 * The setup of the mechanism for a number of units, with the method of least risk if
 * the method is automatic.
 */
static DpermSetup
setup_for(const DpermPlan *plan, int64 units)
{
	const DpermOptions *options = plan->options;
	bool		choose = options->method < 0 && !options->objective_only;
	DpermMethod method = Max(options->method, DPERM_METHOD_OBJECTIVE);
	DpermSetup	best =
		setup_of(options, method, options->delta > 0 ? DPERM_LAW_GAUSSIAN : DPERM_LAW_NORM,
				 &plan->encoder, plan->noise, units);
	double		least = INFINITY;

	if (options->method >= 0 || isinf(options->epsilon))
		return best;
	for (int m = 0; m < DPERM_METHOD_COUNT; m++)
		for (int law = 0; law < DPERM_LAW_COUNT; law++)
		{
			DpermSetup	setup;
			double		risk;

			if ((m != DPERM_METHOD_OBJECTIVE && !choose) ||
				!may_follow(options, (DpermNoiseLaw) law))
				continue;
			setup = setup_of(options, (DpermMethod) m, (DpermNoiseLaw) law, &plan->encoder,
							 plan->noise, units);
			risk = dperm_calibrate_expected_risk(&setup);
			if (risk < least)
			{
				least = risk;
				best = setup;
			}
		}
	return best;
}

/* Raise an error for more weights than there may be. */
static void
check_weights(const DpermOptions *options, int dim)
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
 * Begin a plan: reject options that are invalid for any number of units, as they are if
 * they are for the largest and for the smallest: effective lambda only decreases with the
 * number. Options and inner encoder stay in use.
 */
DpermPlan
dperm_plan_begin(const DpermOptions *options, const DpermEncoder *encoder,
				 const DpermEncoder *inner)
{
	DpermPlan	plan = {.options = options, .open = *encoder, .inner = inner, .encoder = *encoder};

	check_weights(options, dperm_encoder_dim(encoder));
	plan.noise = noise_of(options, inner, encoder);
	dperm_plan_resize(&plan, DPERM_ROWS_MAX);
	if (plan.fault)
	{
		dperm_plan_resize(&plan, 1);
		dperm_plan_check(&plan);
	}
	fill_knots_noise(options, encoder, plan.knots_noise);
	return plan;
}

/* Plan for a number of units, by which the rule chooses the knots of open numbers. */
void
dperm_plan_for(DpermPlan *plan, int64 units)
{
	CHECK_FOR_INTERRUPTS();
	plan->knots = dperm_calibrate_knots(plan->knots_noise, units);
	if (dperm_encoder_is_open(&plan->open))
	{
		plan->encoder = dperm_encoder_with_knots(&plan->open, plan->knots);
		plan->noise = noise_of(plan->options, plan->inner, &plan->encoder);
	}
	dperm_plan_resize(plan, units);
}

/* Plan for another number of units, with the same knots. */
void
dperm_plan_resize(DpermPlan *plan, int64 units)
{
	plan->setup = setup_for(plan, units);
	plan->fault = dperm_calibrate(&plan->setup, &plan->calibration);
	plan->noise_share =
		plan->fault ? INFINITY : dperm_noise_share(&plan->setup, &plan->calibration);
}

/* Raise an error for parameters that the number of units does not allow. */
void
dperm_plan_check(const DpermPlan *plan)
{
	if (plan->fault)
	{
		/* depends only on arguments and the number of units */
		dperm_message_public();
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot train with these parameters: %s", plan->fault),
				 strcmp(plan->fault, DPERM_LAMBDA_TOO_SMALL) != 0 ? 0 :
				 errhint("Omit lambda to use the default for this number of rows.")));
	}
}

/*
 * Warn about a delta that is used and not smaller than 1/n, which would allow
 * publishing a row at random. The number of units is public.
 */
void
dperm_plan_tell_delta(const DpermPlan *plan, int64 units)
{
	bool		persons = plan->setup.unit == DPERM_UNIT_PERSON;

	if (plan->setup.delta > 0 && plan->setup.delta >= 1.0 / units)
		dperm_message_tell(WARNING,
						   psprintf("delta is not smaller than 1 divided by the number "
									"of %s, " INT64_FORMAT, persons ? "persons" : "rows", units),
						   NULL,
						   psprintf("A method that publishes one %s at random would satisfy such a "
									"delta; choose a much smaller one.",
									persons ? "person" : "row"));
}

/* If the best plan is too noisy with its portion of so many units, tell. */
void
dperm_plan_tell_noise(const DpermPlan *plans, int count, int portions, int64 units)
{
	double		least = INFINITY;

	for (int i = 0; i < count; i++)
		least = Min(least, plans[i].noise_share);
	if (least > DPERM_NOISE_TOO_MUCH)
		dperm_message_tell(NOTICE,
						   psprintf("the noise is larger than what a model is likely to find: "
									"noise_share is %.3g with " INT64_FORMAT " %s%s",
									least, units / portions,
									plans->options->unit == DPERM_UNIT_PERSON ? "persons" : "rows",
									portions > 1 ? " for each candidate" : ""),
						   NULL,
						   "Use a larger epsilon, more rows or fewer features. dp_cost shows how "
						   "many rows are needed.");
}
