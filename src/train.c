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
#include "core/mechanism/fit.h"
#include "core/encode/fourier.h"
#include "dperm.h"
#include "model_type.h"
#include "moments_type.h"
#include "train.h"
#include "train_args.h"

PG_FUNCTION_INFO_V1(dp_logreg_train);
PG_FUNCTION_INFO_V1(dp_logreg_train_array);
PG_FUNCTION_INFO_V1(dp_svm_train);
PG_FUNCTION_INFO_V1(dp_svm_train_array);

/*
 * What a Hessian costs in a pass over the table, in gradients: less than in memory, since reading the rows
 * is most of the work. So many for each coordinate.
 */
#define STREAMED_HESS_COST (1.0 / 72)

/* Steps of the solver that are reported, see dperm.progress. */
#define REPORTED_STEPS 8

/* A training under way. */
typedef struct Training
{
	DpermTask  *task;
	DpermFit	fit;
	DpermEntropy entropy;
	DpermMatrix matrix;			/* the rows in memory */
	DpermFitting fitting;
	double	   *weights;		/* in the order of the layout */
	double	   *room;
	DpermAsk	ask;			/* what it waits for, if active */
	bool		active;
} Training;

/*
 * Report a step of the solver. How many it takes depends on the rows, so no more than a fixed number of
 * steps is reported, and at the end as many as are left of it: the reports are always the same.
 */
static void
report_step(int *reported, bool end)
{
	while (dperm_progress && *reported < REPORTED_STEPS)
	{
		++*reported;
		ereport(INFO, (errmsg("dperm: solving, step %d of %d", *reported, REPORTED_STEPS)));
		if (!end)
			return;
	}
}

/* The setup of a training. */
static DpermSetup
task_setup(const DpermTask *task)
{
	return dperm_options_setup(task->options, task->rows->cache.feed.layout.dim,
							   task->rows->count);
}

/* Begin a training: noise, and a start from the rows in memory. */
static void
begin(Training *training, DpermTask *task)
{
	const DpermRows *rows = task->rows;
	const DpermLayout *layout = &rows->cache.feed.layout;

	memset(training, 0, sizeof(*training));
	training->task = task;
	training->fit.setup = task_setup(task);
	training->fit.calibration = dperm_checked_calibration(&training->fit.setup);
	dperm_entropy_init(&training->entropy, dperm_strong_random, NULL);
	training->matrix = dperm_matrix_of(&rows->cache.keep, layout, task->options->loss);
	training->matrix.compact = rows->cache.compact;
	training->matrix.rough = dperm_fit_rough(&training->fit);
	training->matrix.poll = dperm_interrupts;
	training->matrix.room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
												   dperm_moments_room(layout->dim, true));
	training->fit.sample = &training->matrix;
	training->fit.hess_cost = rows->complete ? 0 : STREAMED_HESS_COST * layout->dim;
	training->fit.entropy = &training->entropy;
	training->fit.poll = dperm_interrupts;
	training->weights = palloc(sizeof(double) * layout->dim);
	training->room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
											dperm_fit_room(layout->dim));
	dperm_fitting_start(&training->fitting, &training->fit, training->weights, training->room);
	training->active = dperm_fitting_next(&training->fitting, &training->ask);
}

/* End a training: release its weights, and leave no trace of the noise, of which the start is made too. */
static DpermStatus
finish(Training *training)
{
	DpermStatus status = dperm_fitting_end(&training->fitting);

	dperm_matrix_wipe(&training->matrix);
	dperm_entropy_wipe(&training->entropy);
	return status;
}

/* Make the model of a training that has ended, in a context. */
static void
make_model(Training *training, MemoryContext result)
{
	const DpermRows *rows = training->task->rows;
	double	   *weights;
	DpermModel *model;

	weights = MemoryContextAlloc(result, sizeof(double) * training->fit.setup.dim);
	model = MemoryContextAllocZero(result, sizeof(*model));
	dperm_layout_restore(&rows->cache.feed.layout, training->weights, weights);
	model->dimension_source = DPERM_DIMENSION_DECLARED;
	dperm_model_fill(model, &training->fit.setup, &training->fit.calibration,
					 &rows->source->spec.encoder, weights);
	training->task->model = model;
	pfree(training->matrix.room);
	pfree(training->weights);
	pfree(training->room);
}

/* Train on rows that are all in memory; one of several trainings has no reports of its own. */
static void
train_in_memory(DpermTask *task, bool one_of_several, MemoryContext result)
{
	Training	training;
	int			reported = one_of_several ? REPORTED_STEPS : 0;

	begin(&training, task);
	while (training.active)
	{
		(void) dperm_matrix_answer(&training.matrix, &training.ask);
		report_step(&reported, false);
		training.active = dperm_fitting_next(&training.fitting, &training.ask);
	}
	report_step(&reported, true);
	dperm_check_status(finish(&training));
	make_model(&training, result);
}

/* The request for what a training waits for. */
static Datum
make_request(const Training *training)
{
	const DpermAsk *ask = &training->ask;

	return dperm_moments_request(&training->task->rows->source->spec,
								 ask->weights_low ? DPERM_PASS_CAREFUL :
								 !ask->hess ? DPERM_PASS_GRADIENT :
								 dperm_fit_rough(&training->fit) ? DPERM_PASS_ROUGH :
								 DPERM_PASS_HESSIAN,
								 ask->weights, ask->weights_low);
}

/* Rows are not the same in every pass: a view or a foreign table that changes under one snapshot. */
void
dperm_rows_changed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the number of rows in source changed during training"),
			 errhint("Store the rows first, for example in a materialized view.")));
}

/* Give a training what a pass found. */
static void
answer(Training *training, Datum result)
{
	const DpermAsk *ask = &training->ask;
	int			dim = training->fit.setup.dim;
	double		n = (double) training->task->rows->count;
	DpermPass	pass;
	const uint64 *words;
	const double *sums;

	if (result)
		dperm_moments_open(result, &pass, &words);
	if (!result || pass.rows != training->task->rows->count)
		dperm_rows_changed();
	sums = (const double *) words + dperm_pass_gradient_at(&pass);
	dperm_sums_means(pass.value, sums, sums + dim, pass.rows, dim, ask);
	if (ask->hess)
	{
		const double *packed = (const double *) words + dperm_pass_hess_at(&pass);

		for (int j = 0; j < dim; j++)
			for (int i = j; i < dim; i++)
				ask->hess[(size_t) j * dim + i] = *packed++ / n;
	}
	training->active = dperm_fitting_next(&training->fitting, &training->ask);
}

/*
 * One pass over the table, for all trainings that are active; false if none is. The query is the same in every
 * pass, whichever those are: an error would show it.
 */
static bool
run_pass(Training *trainings, int count)
{
	const DpermSource *source = trainings[0].task->rows->source;
	Datum	   *requests = palloc0(sizeof(Datum) * count);
	Datum	   *results = palloc(sizeof(Datum) * count);
	int		   *portions = palloc(sizeof(int) * count);
	bool		active = false;

	for (int i = 0; i < count; i++)
	{
		if (trainings[i].active)
			requests[i] = make_request(&trainings[i]);
		portions[i] = trainings[i].task->rows->portion;
		active = active || trainings[i].active;
	}
	if (!active)
		return false;
	dperm_source_pass(source, count, requests, source->portions > 0 ? portions : NULL, results);
	for (int i = 0; i < count; i++)
		if (trainings[i].active)
			answer(&trainings[i], results[i]);
	return true;
}

/* Train on rows that are read again in every pass. */
static void
train_by_passes(DpermTask *tasks, int count, MemoryContext result)
{
	Training   *trainings = palloc(sizeof(Training) * count);
	MemoryContext work = CurrentMemoryContext;
	MemoryContext pass = AllocSetContextCreate(work, "dperm pass", ALLOCSET_DEFAULT_SIZES);
	DpermStatus status = DPERM_OK;
	int			reported = 0;
	bool		more = true;

	for (int i = 0; i < count; i++)
		begin(&trainings[i], &tasks[i]);
	while (more)
	{
		MemoryContextSwitchTo(pass);
		more = run_pass(trainings, count);
		MemoryContextSwitchTo(work);
		MemoryContextReset(pass);
		if (more)
			report_step(&reported, false);
	}
	report_step(&reported, true);

	/* all of them, before one may raise */
	for (int i = 0; i < count; i++)
	{
		DpermStatus one = finish(&trainings[i]);

		status = status == DPERM_OK ? one : status;
	}
	dperm_check_status(status);
	for (int i = 0; i < count; i++)
		make_model(&trainings[i], result);
}

/* Memory for the matrices of trainings that share passes, even if less is set. */
#define SHARING_BYTES ((Size) 256 * 1024 * 1024)

/*
 * How many of the tasks can share passes: their matrices have to fit into memory together, and the results of a pass
 * into one row, whichever trainings ask for a Hessian.
 */
static int
sharing(const DpermTask *tasks, int count)
{
	Size		limit = Max((Size) dperm_cache_memory * 1024, SHARING_BYTES);
	Size		size = 0;
	Size		row = 0;

	for (int i = 0; i < count; i++)
	{
		const DpermEncoder *encoder = &tasks[i].rows->source->spec.encoder;
		int			dim = dperm_encoder_dim(encoder);

		/* the solver's, and those of the pass in its executor's and in its flat form */
		size += sizeof(double) * (dperm_fit_room(dim) + 3 * dperm_moments_room(dim, true));
		if (encoder->kernel.kind != DPERM_KERNEL_LINEAR)
			size += sizeof(double) * dperm_fourier_size(&encoder->kernel,
														dperm_encoder_linear_dim(encoder));
		row += sizeof(double) * (dperm_packed_size(dim) + 4 * (Size) dim);
		if (i > 0 && (size > limit || row > MaxAllocSize / 4))
			return i;
	}
	return count;
}

/* Run trainings over rows of one source. */
void
dperm_train_tasks(DpermTask *tasks, int count)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(caller, "dperm training", ALLOCSET_DEFAULT_SIZES);

	/* all of them, before one is trained */
	for (int i = 0; i < count; i++)
	{
		DpermSetup	setup = task_setup(&tasks[i]);

		(void) dperm_checked_calibration(&setup);
	}
	for (int done = 0; done < count;)
	{
		MemoryContextSwitchTo(work);
		if (tasks[done].rows->complete)
			train_in_memory(&tasks[done++], count > 1, caller);
		else
		{
			int			some = sharing(tasks + done, count - done);

			train_by_passes(tasks + done, some, caller);
			done += some;
		}
		MemoryContextReset(work);
		if (dperm_progress && count > 1)
			ereport(INFO, (errmsg("dperm: %d of %d models trained", done, count)));
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
}

/* Load the rows of a source and train on them. */
DpermModel *
dperm_train_rows(const DpermOptions *options, const DpermSource *source)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext load = AllocSetContextCreate(caller, "dperm rows", ALLOCSET_DEFAULT_SIZES);
	DpermRows	rows = {.source = source, .portion = -1};
	DpermTask	task = {.options = options, .rows = &rows};

	MemoryContextSwitchTo(load);
	dperm_load(&rows, 1, NULL);
	MemoryContextSwitchTo(caller);
	if (rows.count > 0)
		dperm_train_tasks(&task, 1);
	MemoryContextDelete(load);
	return task.model;
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
	dperm_options_check(&options, dperm_encoder_dim(&source.spec.encoder));

	SPI_connect();
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
