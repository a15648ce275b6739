/*
 * args.c: SQL arguments of the learners.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/numeric.h"

#include "core/mechanism/mechanism.h"
#include "args.h"
#include "dperm.h"

/* Start from the defaults; epsilon has none. */
void
dperm_options_init(DpermOptions *options, bool svm, double epsilon)
{
	memset(options, 0, sizeof(*options));
	options->svm = svm;
	options->loss.kind = svm ? DPERM_LOSS_HUBER : DPERM_LOSS_LOGISTIC;
	options->loss.h = svm ? DPERM_H_DEFAULT : 0;
	options->method = DPERM_METHOD_OBJECTIVE;
	options->analysis = DPERM_ANALYSIS_SHARP;
	options->lambda = -1;
	options->intercept = -1;

	if (isnan(epsilon) || epsilon <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be greater than zero"),
				 errhint("Common values lie between 0.1 and 10; 'Infinity' trains without privacy.")));
	if (epsilon < DPERM_EPSILON_MIN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be at least %g", DPERM_EPSILON_MIN),
				 errhint("No model can be useful below; common values lie between 0.1 and 10.")));
	if (epsilon > DPERM_EPSILON_MAX && !isinf(epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be at most %d, or 'Infinity'", DPERM_EPSILON_MAX),
				 errhint("Such an epsilon protects nothing; 'Infinity' says so.")));
	options->epsilon = epsilon;
}

void
dperm_options_set_lambda(DpermOptions *options, double lambda)
{
	if (isnan(lambda) || lambda < 0 || lambda > DPERM_LAMBDA_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lambda must be between 0 and %g", DPERM_LAMBDA_MAX),
				 errhint("Leave lambda out to get a default that does not depend on the data.")));
	options->lambda = lambda;
}

void
dperm_options_set_method(DpermOptions *options, const char *name)
{
	if (!dperm_mechanism_parse(name, &options->method))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown method \"%s\"", name),
				 errhint("Use 'objective' or 'output'.")));
}

void
dperm_options_set_analysis(DpermOptions *options, const char *name)
{
	if (!dperm_analysis_parse(name, &options->analysis))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown analysis \"%s\"", name),
				 errhint("Use 'sharp' or 'paper'.")));
}

void
dperm_options_set_loss(DpermOptions *options, const char *name)
{
	DpermLossKind kind;

	if (!dperm_loss_parse(name, &kind) || kind == DPERM_LOSS_LOGISTIC)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown loss \"%s\" for a support vector machine", name),
				 errhint("Use 'huber' or 'smooth_hinge'.")));
	options->loss.kind = kind;
}

void
dperm_options_set_h(DpermOptions *options, double h)
{
	if (!(h >= DPERM_H_MIN && h <= DPERM_H_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("h must be between %g and %g", DPERM_H_MIN, DPERM_H_MAX),
				 errhint("The default is %g.", DPERM_H_DEFAULT)));
	options->loss.h = h;
}

void
dperm_options_set_norm(DpermOptions *options, double norm)
{
	if (!(norm >= DPERM_NORM_MIN && norm <= DPERM_NORM_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("norm must be between %g and %g", DPERM_NORM_MIN, DPERM_NORM_MAX),
				 errhint("norm is a public bound on the length of the vectors; longer ones are clipped to it.")));
	options->norm = norm;
}

void
dperm_options_set_dimension(DpermOptions *options, double dimension)
{
	/* one coordinate less, so that an intercept always has its place */
	if (!(dimension >= 1 && dimension <= DPERM_DIM_MAX - 1) || dimension != floor(dimension))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dimension must be a whole number between 1 and %d", DPERM_DIM_MAX - 1),
				 errhint("dimension is the length of the feature vectors.")));
	options->dimension = (int) dimension;
}

void
dperm_options_set_kernel(DpermOptions *options, const char *name)
{
	if (!dperm_kernel_parse(name, &options->kernel.kind))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown kernel \"%s\"", name),
				 errhint("Use 'linear', 'gaussian', 'laplacian', 'cauchy' or 'matern'.")));
}

void
dperm_options_set_gamma(DpermOptions *options, double gamma)
{
	if (!(gamma >= DPERM_GAMMA_MIN && gamma <= DPERM_GAMMA_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gamma must be between %g and %g", DPERM_GAMMA_MIN, DPERM_GAMMA_MAX),
				 errhint("gamma is the bandwidth of the kernel over vectors of length at most 1.")));
	options->kernel.gamma = gamma;
}

void
dperm_options_set_kernel_features(DpermOptions *options, double features)
{
	if (!(features >= 2 && features <= DPERM_DIM_MAX - 2) || fmod(features, 2) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("kernel_features must be an even number between 2 and %d",
						DPERM_DIM_MAX - 2),
				 errhint("More features follow the kernel more closely and need more noise.")));
	options->kernel.features = (int) features;
}

void
dperm_options_set_kernel_seed(DpermOptions *options, int64 seed)
{
	options->kernel.seed = seed;
	options->has_seed = true;
}

/* A jsonb value of an option, or an error that names the option. */
static JsonbValue *
expect(const char *key, JsonbValue *value, enum jbvType type, const char *what)
{
	if (value->type != type)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must be %s", key, what),
				 errhint("Options are a JSON object such as '{\"intercept\": false, \"norm\": 2}'.")));
	return value;
}

static double
expect_number(const char *key, JsonbValue *value)
{
	expect(key, value, jbvNumeric, "a number");
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(value->val.numeric)));
}

static int64
expect_integer(const char *key, JsonbValue *value)
{
	double		number = expect_number(key, value);

	/* seeds beyond 2^53 are for the argument: here a number is a JSON number */
	if (number != floor(number) || fabs(number) > 0x1p53)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must be a whole number", key),
				 errhint("Its size may be 2^53 at most.")));
	return (int64) number;
}

static char *
expect_string(const char *key, JsonbValue *value)
{
	expect(key, value, jbvString, "a string");
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* Set the option of one key. */
static void
set_by_key(DpermOptions *options, const char *key, JsonbValue *value)
{
	if (strcmp(key, "method") == 0)
		dperm_options_set_method(options, expect_string(key, value));
	else if (strcmp(key, "analysis") == 0)
		dperm_options_set_analysis(options, expect_string(key, value));
	else if (strcmp(key, "positive") == 0)
		options->positive = expect_string(key, value);
	else if (strcmp(key, "intercept") == 0)
		options->intercept = expect(key, value, jbvBool, "true or false")->val.boolean;
	else if (strcmp(key, "norm") == 0)
		dperm_options_set_norm(options, expect_number(key, value));
	else if (strcmp(key, "dimension") == 0)
		dperm_options_set_dimension(options, expect_number(key, value));
	else if (options->lambda_as_key && strcmp(key, "lambda") == 0)
		dperm_options_set_lambda(options, expect_number(key, value));
	else if (strcmp(key, "kernel") == 0)
		dperm_options_set_kernel(options, expect_string(key, value));
	else if (strcmp(key, "gamma") == 0)
		dperm_options_set_gamma(options, expect_number(key, value));
	else if (strcmp(key, "kernel_features") == 0)
		dperm_options_set_kernel_features(options, expect_number(key, value));
	else if (strcmp(key, "kernel_seed") == 0)
		dperm_options_set_kernel_seed(options, expect_integer(key, value));
	else if (options->svm && strcmp(key, "loss") == 0)
		dperm_options_set_loss(options, expect_string(key, value));
	else if (options->svm && strcmp(key, "h") == 0)
		dperm_options_set_h(options, expect_number(key, value));
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown option \"%s\"", key),
				 errhint("Options are %smethod, analysis, positive, intercept, norm, dimension, kernel, gamma, kernel_features, kernel_seed%s.",
						 options->lambda_as_key ? "lambda, " : "",
						 options->svm ? ", loss and h" : "")));
}

/* Set options from a jsonb object whose keys are argument names. */
void
dperm_options_set_jsonb(DpermOptions *options, Jsonb *json)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	key,
				value;

	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options must be a JSON object"),
				 errhint("For example '{\"intercept\": false}'.")));
	it = JsonbIteratorInit(&json->root);
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
	{
		if (token != WJB_KEY)
			continue;
		(void) JsonbIteratorNext(&it, &value, true);
		set_by_key(options, pnstrdup(key.val.string.val, key.val.string.len), &value);
	}
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
				 errmsg("gamma, kernel_features and kernel_seed need a kernel"),
				 errhint("Give for example kernel => 'gaussian'.")));

	/* a kernel follows constants by itself, and an intercept would cost it half of the ball */
	if (options->intercept < 0)
		options->intercept = kernel->kind == DPERM_KERNEL_LINEAR;
}

/* Fill in the defaults that depend on other options, and refuse what does not go together. */
void
dperm_options_settle(DpermOptions *options)
{
	bool		noiseless = isinf(options->epsilon);

	settle_kernel(options);

	/* objective perturbation raises lambda by itself as far as it needs */
	if (options->lambda >= 0 && options->lambda < DPERM_LAMBDA_MIN &&
		(noiseless || options->method == DPERM_METHOD_OUTPUT))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lambda must be at least %g %s", DPERM_LAMBDA_MIN,
						noiseless ? "when epsilon is infinite" : "for output perturbation"),
				 errhint("Leave lambda out to get a default that does not depend on the data.")));
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
	const char *fault = dperm_encoder_fault(&encoder);

	if (fault)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot encode these features: %s", fault),
				 errhint("All columns together may have %d coordinates: one per number, category and vector element.",
						 DPERM_DIM_MAX - 1)));
	return encoder;
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
