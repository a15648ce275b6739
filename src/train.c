/*
 * train.c: dp_logreg_train and dp_svm_train: passes over a relation drive the core.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "args.h"
#include "core/fit.h"
#include "core/model.h"
#include "dperm.h"
#include "model_type.h"
#include "moments_type.h"
#include "source.h"

PG_FUNCTION_INFO_V1(dp_logreg_train);
PG_FUNCTION_INFO_V1(dp_logreg_train_array);
PG_FUNCTION_INFO_V1(dp_svm_train);
PG_FUNCTION_INFO_V1(dp_svm_train_array);

/* Memory for the rows that the first pass keeps: a start, or the whole of a small table. */
#define SAMPLE_BYTES (16 * 1024 * 1024)

/* A training under way. */
typedef struct Training
{
	DpermOptions options;
	DpermSource source;
	int			dim;
	int64		rows;
	MemoryContext pass_context;	/* reset after each pass */
} Training;

/* Arguments of the SQL functions, in order. */
enum
{
	ARG_SOURCE,
	ARG_LABEL,
	ARG_FEATURES,
	ARG_EPSILON,
	ARG_LAMBDA,
	ARG_METHOD,
	ARG_ANALYSIS,
	ARG_POSITIVE,
	ARG_INTERCEPT,
	ARG_NORM,
	ARG_DIMENSION,
	ARG_DOMAINS,
	ARG_KERNEL,
	ARG_GAMMA,
	ARG_KERNEL_FEATURES,
	ARG_KERNEL_SEED,
	ARG_LOSS,					/* the last two: dp_svm_train alone */
	ARG_H
};

/* A text argument, NULL if it is NULL. */
static char *
text_arg(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* A text argument that must be there. */
static char *
required_text_arg(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name),
				 errhint("Call dp_logreg_train('table', label => 'column', features => '{column,...}', epsilon => 1).")));
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* Options out of the arguments; NULL stands for the default. */
static void
read_options(FunctionCallInfo fcinfo, bool svm, DpermOptions *options)
{
	char	   *text;

	if (PG_ARGISNULL(ARG_EPSILON))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon must not be null"),
				 errhint("Common values lie between 0.1 and 10; 'Infinity' trains without privacy.")));
	dperm_options_init(options, svm, PG_GETARG_FLOAT8(ARG_EPSILON));
	if (!PG_ARGISNULL(ARG_LAMBDA))
		dperm_options_set_lambda(options, PG_GETARG_FLOAT8(ARG_LAMBDA));
	if ((text = text_arg(fcinfo, ARG_METHOD)) != NULL)
		dperm_options_set_method(options, text);
	if ((text = text_arg(fcinfo, ARG_ANALYSIS)) != NULL)
		dperm_options_set_analysis(options, text);
	options->positive = text_arg(fcinfo, ARG_POSITIVE);
	if (!PG_ARGISNULL(ARG_INTERCEPT))
		options->intercept = PG_GETARG_BOOL(ARG_INTERCEPT);
	if (!PG_ARGISNULL(ARG_NORM))
		dperm_options_set_norm(options, PG_GETARG_FLOAT8(ARG_NORM));
	if (!PG_ARGISNULL(ARG_DIMENSION))
		dperm_options_set_dimension(options, PG_GETARG_INT32(ARG_DIMENSION));
	if ((text = text_arg(fcinfo, ARG_KERNEL)) != NULL)
		dperm_options_set_kernel(options, text);
	if (!PG_ARGISNULL(ARG_GAMMA))
		dperm_options_set_gamma(options, PG_GETARG_FLOAT8(ARG_GAMMA));
	if (!PG_ARGISNULL(ARG_KERNEL_FEATURES))
		dperm_options_set_kernel_features(options, PG_GETARG_INT32(ARG_KERNEL_FEATURES));
	if (!PG_ARGISNULL(ARG_KERNEL_SEED))
		dperm_options_set_kernel_seed(options, PG_GETARG_INT64(ARG_KERNEL_SEED));
	if (svm)
	{
		if ((text = text_arg(fcinfo, ARG_LOSS)) != NULL)
			dperm_options_set_loss(options, text);
		if (!PG_ARGISNULL(ARG_H))
			dperm_options_set_h(options, PG_GETARG_FLOAT8(ARG_H));
	}
	dperm_options_settle(options);
}

/*
 * The feature columns, NULL for all that have a domain. features is text or text[]; a text in
 * braces is read as an array, so that the quoted form '{x}' means the same either way.
 */
static char **
read_features(FunctionCallInfo fcinfo, bool as_array, int *count)
{
	Datum	   *names;
	bool	   *nulls;
	char	  **result;
	Datum		array = PG_GETARG_DATUM(ARG_FEATURES);

	*count = 0;
	if (PG_ARGISNULL(ARG_FEATURES))
		return NULL;
	if (!as_array)
	{
		char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(ARG_FEATURES));
		size_t		len = strlen(name);

		if (len < 2 || name[0] != '{' || name[len - 1] != '}')
		{
			result = palloc(sizeof(char *));
			result[0] = name;
			*count = 1;
			return result;
		}
		array = OidInputFunctionCall(F_ARRAY_IN, name, TEXTOID, -1);
	}
	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  &names, &nulls, count);
	if (*count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("features must name at least one column"),
				 errhint("NULL stands for all columns that have a domain.")));
	result = palloc(sizeof(char *) * *count);
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("features must not contain nulls")));
		result[i] = TextDatumGetCString(names[i]);
	}
	return result;
}

/* DpermOracle.eval: the means over all rows, by one pass. */
static DpermStatus
eval_pass(void *arg, const double *weights, double *value, double *gradient, double *hess)
{
	Training   *training = arg;
	MemoryContext caller = MemoryContextSwitchTo(training->pass_context);
	Datum		result = dperm_source_pass(&training->source, hess ? DPERM_PASS_HESSIAN :
										   DPERM_PASS_GRADIENT, 0, weights);
	DpermPass	pass;
	int			dim = training->dim;
	const uint64 *words;
	const double *sums;
	double		n = (double) training->rows;

	if (result)
		dperm_moments_open(result, &pass, &words);
	if (!result || pass.rows != training->rows)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the number of rows in source changed during training"),
				 errhint("Store the rows first, for example in a materialized view.")));
	sums = (const double *) words + dperm_pass_gradient_at(&pass);
	*value = (pass.value[0] + pass.value[1]) / n;
	for (int i = 0; i < dim; i++)
		gradient[i] = (sums[i] + sums[dim + i]) / n;
	if (hess)
	{
		const double *packed = (const double *) words + dperm_pass_hess_at(&pass);

		for (int j = 0; j < dim; j++)
			for (int i = j; i < dim; i++)
				hess[(size_t) j * dim + i] = *packed++ / n;
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(training->pass_context);
	return DPERM_OK;
}

/* The first pass: how many rows there are, and some of them. 0 without rows. */
static Datum
first_pass(Training *training, DpermPass *pass, const uint64 **words)
{
	Datum		result;

	result = dperm_source_pass(&training->source, DPERM_PASS_COUNT,
							   Max(SAMPLE_BYTES / (int) sizeof(double) / training->dim, 2),
							   NULL);
	if (result)
	{
		dperm_moments_open(result, pass, words);
		training->rows = pass->rows;
	}
	return result;
}

/* Release the weights of a training whose first pass found rows. */
static void
fit_rows(Training *training, const DpermPass *first, const uint64 *words, DpermFit *fit,
		 double *weights)
{
	double	   *sample_rows = (double *) words + dperm_pass_sample_at(first);
	DpermMatrix matrix = {
		.loss = training->options.loss,
		.dim = training->dim,
		.count = first->used,
		.chunk_rows = first->used,
		.chunks = &sample_rows,
		.poll = dperm_interrupts
	};
	DpermOracle sample = {dperm_matrix_eval, &matrix};
	DpermEntropy entropy;
	DpermStatus status;
	double	   *room;

	matrix.room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
										 dperm_moments_room(training->dim, true));
	room = MemoryContextAllocHuge(CurrentMemoryContext,
								  sizeof(double) * dperm_fit_room(training->dim));
	dperm_entropy_init(&entropy, dperm_strong_random, NULL);
	fit->entropy = &entropy;
	fit->poll = dperm_interrupts;
	fit->sample = &sample;
	fit->rows.eval = eval_pass;
	fit->rows.arg = training;

	/* a small table was kept whole: no more passes */
	if (first->used == first->rows)
		fit->rows = sample;

	status = dperm_fit(fit, weights, room);
	dperm_entropy_wipe(&entropy);
	dperm_check_status(status);
}

/* Train as the arguments say. */
static Datum
train(FunctionCallInfo fcinfo, bool svm, bool as_array)
{
	MemoryContext caller = CurrentMemoryContext;
	Training	training = {0};
	DpermFit	fit = {0};
	DpermModel	model = {0};
	DpermPass	first;
	const uint64 *words;
	Datum		result;
	char	   *source = required_text_arg(fcinfo, ARG_SOURCE, "source");
	char	   *label = required_text_arg(fcinfo, ARG_LABEL, "label");
	int			feature_count;
	char	  **features = read_features(fcinfo, as_array, &feature_count);
	Jsonb	   *domains = PG_ARGISNULL(ARG_DOMAINS) ? NULL : PG_GETARG_JSONB_P(ARG_DOMAINS);
	double	   *weights;

	read_options(fcinfo, svm, &training.options);
	dperm_source_open(&training.source, fcinfo->flinfo->fn_oid, source, label, features,
					  feature_count, domains, &training.options);

	SPI_connect();
	training.pass_context = AllocSetContextCreate(CurrentMemoryContext, "dperm pass",
												  ALLOCSET_DEFAULT_SIZES);
	model.dimension_source = DPERM_DIMENSION_DECLARED;
	if (training.source.unsized)
	{
		dperm_source_settle(&training.source, &training.options,
							dperm_source_length(&training.source));
		model.dimension_source = DPERM_DIMENSION_ROWS;
	}
	training.dim = dperm_encoder_dim(&training.source.spec.encoder);

	if (!first_pass(&training, &first, &words))
	{
		SPI_finish();
		PG_RETURN_NULL();
	}
	fit.setup = dperm_options_setup(&training.options, training.dim, training.rows);
	fit.calibration = dperm_checked_calibration(&fit.setup);
	weights = palloc(sizeof(double) * training.dim);
	fit_rows(&training, &first, words, &fit, weights);

	dperm_model_fill(&model, &fit.setup, &fit.calibration, &training.source.spec.encoder,
					 weights);
	MemoryContextSwitchTo(caller);
	result = dperm_model_make(&model);
	SPI_finish();
	PG_RETURN_DATUM(result);
}

/* dp_logreg_train(source, label, features text, epsilon, ...): see sql/dperm.sql */
Datum
dp_logreg_train(PG_FUNCTION_ARGS)
{
	return train(fcinfo, false, false);
}

/* The same with features text[]. */
Datum
dp_logreg_train_array(PG_FUNCTION_ARGS)
{
	return train(fcinfo, false, true);
}

/* dp_svm_train(source, label, features text, epsilon, ..., loss, h): see sql/dperm.sql */
Datum
dp_svm_train(PG_FUNCTION_ARGS)
{
	return train(fcinfo, true, false);
}

/* The same with features text[]. */
Datum
dp_svm_train_array(PG_FUNCTION_ARGS)
{
	return train(fcinfo, true, true);
}
