/*
 * options.c: what a learner is told, as a whole.
 */
#include "postgres.h"

#include <math.h>

#include "core/base/limits.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"
#include "dperm.h"
#include "options.h"

/* Start from the defaults. */
void
dperm_options_init(DpermOptions *options, DpermLearner learner)
{
	memset(options, 0, sizeof(*options));
	options->learner = learner;
	options->loss = dperm_loss_default(learner);
	options->method = DPERM_METHOD_OBJECTIVE;
	options->analysis = DPERM_ANALYSIS_SHARP;
	options->epsilon = NAN;
	options->lambda = -1;
	options->intercept = -1;
}

/* The kernel's parameters: all of them, or none without a kernel. */
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

	/* a kernel follows constants by itself, and an intercept would cost it half of the ball */
	if (options->intercept < 0)
		options->intercept = kernel->kind == DPERM_KERNEL_LINEAR;
}

/* Fill in the defaults that depend on other options, and refuse what does not go together. */
void
dperm_options_settle(DpermOptions *options)
{
	DpermSetup	setup = {.lambda = options->lambda};
	bool		noiseless = isinf(options->epsilon);

	settle_kernel(options);

	/* some mechanisms raise lambda by themselves as far as they need */
	if (options->lambda >= 0 && options->lambda < DPERM_LAMBDA_MIN &&
		(noiseless || dperm_mechanism_entry((int) options->method)->check(&setup) != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lambda must be at least %g %s", DPERM_LAMBDA_MIN,
						noiseless ? "when epsilon is infinite" : psprintf("for %s", dperm_mechanism_description(options->method))),
				 errhint("Omit lambda to use a default that does not depend on the data.")));
}

/* The block of a vector that is no column, or has no domain. */
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

	return dperm_checked_encoder(encoder);
}

/* The setup of the mechanism, with lambda by default if it was not given. */
DpermSetup
dperm_options_setup(const DpermOptions *options, int dim, int64 rows)
{
	DpermSetup	setup = {
		.loss = options->loss,
		.method = options->method,
		.analysis = options->analysis,
		.epsilon = options->epsilon,
		.lambda = options->lambda,
		.rows = rows,
		.dim = dim
	};

	if (options->lambda < 0)
		setup.lambda = dperm_calibrate_default_lambda(options->epsilon, rows, dim);
	return setup;
}

/* Refuse options of which no number of rows makes sense: effective lambda only falls as rows are added. */
void
dperm_options_check(const DpermOptions *options, int dim)
{
	DpermSetup	few = dperm_options_setup(options, dim, 1);
	DpermSetup	many = dperm_options_setup(options, dim, DPERM_ROWS_MAX);
	DpermCalibration calibration;
	const char *why;

	if (dperm_calibrate(&many, &calibration, &why) != DPERM_OK)
		(void) dperm_checked_calibration(&few);
}
