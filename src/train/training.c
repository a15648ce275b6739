/*
 * training.c: trainings, each from a plan and encoded rows to a model. Trusted.
 *
 * The solver asks for sums over all rows (core/mechanism/fit.h). They come from the
 * store, or, of rows that stay on other servers, from passes there.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/memutils.h"

#include "base/base.h"
#include "core/base/core.h"
#include "core/encode/layout.h"
#include "core/mechanism/fit.h"
#include "core/privacy/draw.h"
#include "core/solve/sums.h"
#include "query/source.h"
#include "train/team.h"
#include "train/training.h"

/* A training in progress. */
typedef struct Training
{
	const DpermPlan *plan;
	DpermRows  *rows;
	const DpermLayout *layout;	/* of the rows */
	DpermFit	fit;
	DpermEntropy entropy;
	DpermMatrix matrix;			/* a sample of the rows */
	double	   *sample;
	DpermFitting fitting;
	double	   *weights;		/* in the order of the layout */
	const DpermSource *remote;	/* of rows that stay where they are, or NULL */
	DpermTeam  *team;			/* or NULL */
	uint64		digest;			/* of the rows that its passes read, if they compute it */
	bool		digested;		/* is it known? */
} Training;

/*
 * The cost of a Hessian in a pass over the table, in gradients per coordinate:
 * less than in memory, since reading the rows is most of the work.
 */
#define STREAMED_HESS_COST (1.0 / 72)

double *
dperm_train_arrange(const DpermModel *model, const DpermLayout *layout)
{
	int			blocks = dperm_loss_blocks(model->loss);
	double	   *weights = palloc(sizeof(double) * layout->dim * blocks);

	for (int k = 0; k < blocks; k++)
		for (int i = 0; i < layout->dim; i++)
			weights[i * blocks + k] =
				model->weights[(Size) k * layout->dim + (layout->place ? layout->place[i] : i)];
	return weights;
}

/*
 * A sample to start from has at most this size, divided by the number of processes,
 * since one process starts while all of them make the passes that it saves; but 20
 * rows for each coordinate, if these fit into half of dperm.cache_memory: a start on
 * fewer saves less.
 */
#define SAMPLE_BYTES ((Size) 32 * 1024 * 1024)
#define SAMPLE_ROWS_EACH 20

/* How many rows a sample has: if these are all rows, no more than a start is worth. */
static int64
sample_rows(const DpermRows *rows, int dim, bool remote)
{
	Size		row = sizeof(double) * rows->words;
	Size		bytes = Min(row * SAMPLE_ROWS_EACH * dim, (Size) dperm_cache_memory * 1024 / 2);

	bytes = Max(bytes, SAMPLE_BYTES / dperm_rows_processes(rows->store));
	return Min(rows->count / (remote ? 1 : DPERM_SOLVER_PART), bytes / row);
}

/*
 * Begin a training: noise, and a start from a sample. If they are remote, rows are
 * not all of them, and cannot answer.
 */
static void
begin(Training *training, const DpermPlan *plan, DpermRows *rows, bool remote)
{
	const DpermOptions *options = plan->options;
	const DpermLayout *layout = &rows->feed.layout;
	int			blocks = dperm_loss_blocks(options->loss);
	int			dim = plan->setup.dim;

	memset(training, 0, sizeof(*training));
	training->plan = plan;
	training->rows = rows;
	training->layout = layout;
	training->fit.setup = plan->setup;
	training->fit.calibration = plan->calibration;
	if (options->prior)
		training->fit.prior = dperm_train_arrange(options->prior, layout);
	training->matrix = (DpermMatrix) {.loss = options->loss, .dim = dim, .layout = layout,
									  .chunks = &training->sample,
									  .rough = dperm_solver_rough(plan->calibration.lambda,
																  options->loss)};
	training->matrix.count = training->matrix.chunk_rows =
		dperm_rows_sample(rows, sample_rows(rows, dim, remote), &training->sample);
	if (layout->weighted)
	{
		training->matrix.of = rows->count;
		training->matrix.units = (double) plan->setup.rows;
	}
	training->matrix.room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
												   dperm_moments_room(dim, blocks, true));
	training->fit.sample = &training->matrix;
	training->fit.hess_cost = remote ? STREAMED_HESS_COST * layout->dim : 0;
	training->fit.entropy = &training->entropy;
	training->weights = palloc(sizeof(double) * dim);
	dperm_fit_start(&training->fitting, &training->fit, training->weights,
					MemoryContextAllocHuge(CurrentMemoryContext,
										   sizeof(double) * dperm_fit_room(dim, blocks)));
}

/* ------------------------------------------------------------- answers */

/* Answer from the store. */
static void
answer_from_store(Training *training, const DpermAsk *ask)
{
	DpermMoments moments;

	dperm_matrix_start(&training->matrix, ask, &moments);
	dperm_team_sum(training->team, training->rows, &training->matrix, ask, &moments);
	dperm_matrix_means(&moments, (double) training->plan->setup.rows, ask);
}

/*
 * Raise an error if the rows of a pass are not those of the earlier passes: there
 * is no common snapshot.
 */
static void
check_rows(Training *training, const DpermPass *pass)
{
	if (dperm_pass_units(pass) != training->plan->setup.rows)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the number of rows in source changed during training"),
				 errhint("Try again while no rows are inserted or deleted, or store them first, "
						 "for example in a materialized view.")));
	if (pass->seed != 0 && training->digested && pass->digest != training->digest)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("rows in source changed during training"),
				 errhint("Try again while no rows are changed, or store them first, for example in "
						 "a materialized view.")));
	training->digest = pass->digest;
	training->digested = true;
}

/* Answer by a pass over the rows of a source, which stay where they are. */
static void
answer_by_pass(Training *training, const DpermAsk *ask)
{
	DpermMoments sums;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dperm pass",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	DpermPass	pass = {
		.order = dperm_ask_order(ask, training->matrix.rough),
		.weights = ask->weights,
		.weights_low = ask->weights_low
	};

	dperm_queries_pass(training->remote, &pass);
	check_rows(training, &pass);
	dperm_matrix_start(&training->matrix, ask, &sums);
	dperm_moments_merge(&sums, pass.rows, pass.value, pass.sums, pass.sums + sums.dim, pass.hess);
	dperm_matrix_means(&sums, (double) training->plan->setup.rows, ask);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/* Answer a question of a training. */
static void
answer(void *training, const DpermAsk *ask)
{
	if (((Training *) training)->remote)
		answer_by_pass(training, ask);
	else
		answer_from_store(training, ask);
}

/* -------------------------------------------------------------- models */

/* Copy a text that may be NULL, in a context. */
static DpermText
copy_text(const char *text, MemoryContext context)
{
	DpermText	copy = {NULL, 0};

	if (text)
		copy = (DpermText) {MemoryContextStrdup(context, text), (int) strlen(text)};
	return copy;
}

/* Copy the names of classes, in a context. */
static DpermText
copy_classes(const DpermLabels *labels, MemoryContext context)
{
	DpermText	copy = {NULL, 0};

	if (labels->class_count > 0)
	{
		size_t		size = dperm_classes_size(labels->classes, labels->class_count);
		char	   *bytes = MemoryContextAlloc(context, size);

		memcpy(bytes, labels->classes, size);
		copy = (DpermText) {bytes, (int) size};
	}
	return copy;
}

/* The shape of the noise in the order of the model, in a context. */
static const DpermNoise *
copy_noise(const DpermNoise *noise, const DpermLayout *layout, MemoryContext context)
{
	DpermNoise *copy;

	if (noise == NULL)
		return NULL;
	copy = MemoryContextAlloc(context, sizeof(*copy));
	*copy = *noise;
	copy->groups = MemoryContextAlloc(context, sizeof(DpermNoiseGroup) * noise->group_count);
	memcpy(copy->groups, noise->groups, sizeof(DpermNoiseGroup) * noise->group_count);
	copy->shapes = MemoryContextAlloc(context, sizeof(DpermShape) * noise->shape_count);
	memcpy(copy->shapes, noise->shapes, sizeof(DpermShape) * noise->shape_count);
	if (layout->place)
		for (int i = 0; i < copy->shape_count; i++)
			copy->shapes[i].first = layout->place[copy->shapes[i].first];
	return copy;
}

/*
 * The model of a training, made in a context. label is the label column, NULL if it
 * was an expression.
 */
static DpermModel *
make_model(const Training *training, const char *label, MemoryContext result)
{
	const DpermPlan *plan = training->plan;
	const DpermLabels *labels = &plan->options->labels;
	double	   *weights = MemoryContextAlloc(result, sizeof(double) * plan->setup.dim);
	DpermModel *model = MemoryContextAllocZero(result, sizeof(*model));

	dperm_layout_restore(training->layout, dperm_loss_blocks(plan->setup.loss),
						 training->weights, weights);
	model->label = copy_text(label, result);
	model->has_positive = labels->positive != NULL;
	model->positive = copy_text(labels->positive, result);
	model->label_low = labels->low;
	model->label_high = labels->high;
	model->classes = copy_classes(labels, result);
	model->prior = copy_text(plan->options->prior_text.bytes, result);
	dperm_model_fill(model, &plan->setup, &plan->calibration, &plan->encoder, weights);
	model->noise = copy_noise(model->noise, training->layout, result);
	return model;
}

/* ------------------------------------------------------------ trainings */

/*
 * Train on rows of a store, with a team or NULL; or, if the source of remote rows is
 * not NULL, by passes over them.
 */
static DpermModel *
train(const DpermPlan *plan, DpermRows *rows, const DpermSource *remote, DpermTeam *team,
	  const char *label)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(caller, "dperm training", ALLOCSET_DEFAULT_SIZES);
	Training	training;
	DpermModel *model;
	DpermStatus status;

	MemoryContextSwitchTo(work);
	begin(&training, plan, rows, remote != NULL);
	training.remote = remote;
	training.team = team;
	dperm_fit_minimise(&training.fitting, answer, &training);

	/* release the weights; and erase the noise and the start, which is derived from it */
	status = dperm_fit_end(&training.fitting);
	dperm_matrix_wipe(&training.matrix);
	dperm_entropy_wipe(&training.entropy);
	dperm_host_check_status(status);
	model = make_model(&training, label, caller);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
	return model;
}

/* Train on rows of no source. */
DpermModel *
dperm_train_rows(const DpermPlan *plan, DpermRows *rows)
{
	return train(plan, rows, NULL, NULL, NULL);
}

/*
 * Run trainings over rows of one source, which are closed if they are not used
 * any more. The system takes long to free shared memory, in the process that
 * lets go of it last: so members of a team, who share the work, end after this
 * process has let go. A team must end before any query runs.
 */
static void
run_tasks(DpermTask *tasks, int count, bool close)
{
	DpermTeam  *team = NULL;

	if (!tasks[0].rows->remote)
	{
		DpermLoad **sets = palloc(sizeof(DpermLoad *) * count);

		for (int i = 0; i < count; i++)
			sets[i] = tasks[i].rows;
		/* all have the same label, and so the same number of classes */
		team = dperm_team_begin(sets, count, dperm_loss_blocks(tasks[0].plan->options->loss));
		pfree(sets);
	}
	for (int i = 0; i < count; i++)
	{
		DpermLoad  *rows = tasks[i].rows;

		tasks[i].model = train(tasks[i].plan, &rows->rows, rows->remote ? rows->source : NULL,
							   team, rows->source->label_column);
	}
	if (close)
		dperm_load_close(tasks[0].rows, 1);
	dperm_team_end(team, close);
}

/* Run trainings over rows that are still used afterwards. */
void
dperm_train_tasks(DpermTask *tasks, int count)
{
	run_tasks(tasks, count, false);
}

/* Load the rows of a source and train on them. */
DpermModel *
dperm_train_source(DpermPlan *plan, const DpermSource *source)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext load = AllocSetContextCreate(caller, "dperm rows", ALLOCSET_DEFAULT_SIZES);
	DpermSource settled = *source;
	DpermLoad	rows = {.source = &settled, .portion = -1};
	DpermTask	task = {.plan = plan, .rows = &rows};

	MemoryContextSwitchTo(load);
	dperm_load(&rows, 1, NULL);
	MemoryContextSwitchTo(caller);
	if (rows.count > 0)
	{
		dperm_plan_for(plan, rows.count);
		settled.spec.encoder = plan->encoder;
		dperm_load_settle(&rows, 1);
		dperm_plan_tell_delta(plan, rows.count);
		dperm_plan_tell_noise(plan, 1, 1, rows.count);
		dperm_plan_check(plan);
		run_tasks(&task, 1, true);
	}
	dperm_load_close(&rows, 1);
	MemoryContextDelete(load);
	return task.model;
}
