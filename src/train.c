/*
 * train.c: dp_logreg_train and dp_svm_train: passes over a relation drive the core.
 */
#include "postgres.h"

#include <math.h>

#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "args.h"
#include "core/fit.h"
#include "core/model.h"
#include "dperm.h"
#include "model_type.h"
#include "moments_type.h"
#include "source.h"
#include "train.h"
#include "train_args.h"

PG_FUNCTION_INFO_V1(dp_logreg_train);
PG_FUNCTION_INFO_V1(dp_logreg_train_array);
PG_FUNCTION_INFO_V1(dp_svm_train);
PG_FUNCTION_INFO_V1(dp_svm_train_array);

/* Memory for the rows that the first pass keeps: a start, or the whole of a small table. */
#define SAMPLE_BYTES (16 * 1024 * 1024)

/* A training under way. */
typedef struct Training
{
	const DpermOptions *options;
	const DpermSource *source;
	int			dim;
	int64		rows;
	MemoryContext pass_context;	/* reset after each pass */
} Training;

/* DpermOracle.eval: the means over all rows, by one pass. */
static DpermStatus
eval_pass(void *arg, const double *weights, double *value, double *gradient, double *hess)
{
	Training   *training = arg;
	MemoryContext caller = MemoryContextSwitchTo(training->pass_context);
	Datum		result = dperm_source_pass(training->source, hess ? DPERM_PASS_HESSIAN :
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

	result = dperm_source_pass(training->source, DPERM_PASS_COUNT,
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
		.loss = training->options->loss,
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

/* Train on the rows of a source. */
DpermModel *
dperm_train_rows(const DpermOptions *options, const DpermSource *source)
{
	Training	training = {.options = options, .source = source};
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(caller, "dperm training",
											   ALLOCSET_DEFAULT_SIZES);
	DpermModel *model = NULL;
	DpermPass	first;
	const uint64 *words;

	training.dim = dperm_encoder_dim(&source->spec.encoder);
	MemoryContextSwitchTo(work);
	training.pass_context = AllocSetContextCreate(work, "dperm pass", ALLOCSET_DEFAULT_SIZES);
	if (first_pass(&training, &first, &words))
	{
		double	   *weights = MemoryContextAlloc(caller, sizeof(double) * training.dim);
		DpermFit	fit = {0};

		fit.setup = dperm_options_setup(options, training.dim, training.rows);
		fit.calibration = dperm_checked_calibration(&fit.setup);
		fit_rows(&training, &first, words, &fit, weights);
		model = MemoryContextAllocZero(caller, sizeof(*model));
		model->dimension_source = source->unsized ? DPERM_DIMENSION_ROWS :
			DPERM_DIMENSION_DECLARED;
		dperm_model_fill(model, &fit.setup, &fit.calibration, &source->spec.encoder, weights);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
	return model;
}

/* The result of a training function: the model, or NULL without rows. */
Datum
dperm_train_result(FunctionCallInfo fcinfo, MemoryContext caller, const DpermModel *model)
{
	Datum		result = 0;

	if (model)
	{
		MemoryContext spi = MemoryContextSwitchTo(caller);

		result = dperm_model_make(model);
		MemoryContextSwitchTo(spi);
	}
	SPI_finish();
	if (!model)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result);
}

/* Train as the arguments say. */
static Datum
train(FunctionCallInfo fcinfo, bool svm, bool as_array)
{
	MemoryContext caller = CurrentMemoryContext;
	DpermOptions options;
	DpermSource source;
	char	   *relation = dperm_required_text_arg(fcinfo, DPERM_ARG_SOURCE, "source");
	char	   *label = dperm_required_text_arg(fcinfo, DPERM_ARG_LABEL, "label");
	int			feature_count;
	char	  **features = dperm_train_features(fcinfo, as_array, &feature_count);
	Jsonb	   *domains = PG_ARGISNULL(DPERM_ARG_DOMAINS) ? NULL :
		PG_GETARG_JSONB_P(DPERM_ARG_DOMAINS);

	dperm_train_options(fcinfo, svm, &options);
	dperm_options_settle(&options);
	dperm_source_open(&source, fcinfo->flinfo->fn_oid, relation, label, features,
					  feature_count, domains, NULL, &options);

	SPI_connect();
	if (source.unsized)
		dperm_source_settle(&source, &options, dperm_source_length(&source));
	return dperm_train_result(fcinfo, caller, dperm_train_rows(&options, &source));
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
