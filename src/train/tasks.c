/*
 * tasks.c: train on the rows of a source, several models at a time.
 *
 * Questions are answered from the store; of rows that stay on other servers by
 * passes there.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/memutils.h"

#include "base/host.h"
#include "core/solve/sums.h"
#include "query/moments.h"
#include "query/queries.h"
#include "train/noise_notice.h"
#include "train/tasks.h"
#include "train/team.h"
#include "train/training.h"

/* A task in progress. */
typedef struct Work
{
	DpermTask  *task;
	DpermTraining training;
	uint64		digest;			/* of the rows that its passes read, if passes compute it */
	bool		digested;		/* is it known? */
} Work;

/* The shape of the noise of a task, in the order of its rows in memory. */
static DpermNoisePlans
noise_of(const DpermTask *task)
{
	const DpermFeed *feed = &task->rows->rows.feed;

	return dperm_options_noise(task->options, NULL, feed->encoder, feed->layout.place != NULL);
}

/* Begin the training of a task. */
static void
begin_work(Work *work, DpermTask *task)
{
	DpermLoad  *rows = task->rows;

	work->task = task;
	work->digested = false;
	dperm_training_begin(&work->training, task->options, &rows->rows, noise_of(task), rows->count,
						 rows->remote);
}

/* Make the model of a finished task, in a context. */
static void
end_work(Work *work, MemoryContext result)
{
	const DpermSource *source = work->task->rows->source;
	DpermLabels labels = source->spec.labels;

	labels.positive = work->task->options->labels.positive;	/* as the caller wrote it */
	work->task->model = dperm_training_model(&work->training, &source->spec.encoder,
											 source->label_column, &labels, result);
}

/* Start a team for the rows of tasks; it must end before any query runs. */
static DpermTeam *
begin_team(const DpermTask *tasks, int count)
{
	DpermLoad **sets = palloc(sizeof(DpermLoad *) * count);
	int			different = 0;
	DpermTeam  *team;

	for (int i = 0; i < count; i++)
	{
		int			at = 0;

		while (at < different && sets[at] != tasks[i].rows)
			at++;
		if (at == different)
			sets[different++] = tasks[i].rows;
	}
	/* all have the same label, and so the same number of classes */
	team = dperm_team_begin(sets, different, dperm_loss_blocks(tasks[0].options->loss));
	pfree(sets);
	return team;
}

/* Train on rows that are all in the store. */
static void
train_alone(DpermTask *task, DpermTeam *team, MemoryContext result)
{
	Work		work;

	begin_work(&work, task);
	while (work.training.active)
		dperm_training_answer(&work.training, team);
	dperm_host_check_status(dperm_training_finish(&work.training));
	end_work(&work, result);
}

/* The request for the question of a training. */
static bytea *
make_request(const Work *work)
{
	const DpermAsk *ask = &work->training.ask;

	return dperm_moments_request(&work->task->rows->source->spec,
								 dperm_ask_order(ask, dperm_fit_rough(&work->training.fit)),
								 ask->weights,
								 ask->weights_low ? ask->weights_low : ask->direction);
}

/*
 * Raise an error if the rows of a pass are not those of the earlier passes: there
 * is no common snapshot.
 */
static void
check_rows(Work *work, const DpermPass *pass)
{
	if (dperm_pass_units(pass) != work->task->rows->count)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the number of rows in source changed during training"),
				 errhint("Try again while no rows are inserted or deleted, or store them first, "
						 "for example in a materialized view.")));
	if (pass->seed != 0 && work->digested && pass->digest != work->digest)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("rows in source changed during training"),
				 errhint("Try again while no rows are changed, or store them first, for example in "
						 "a materialized view.")));
	work->digest = pass->digest;
	work->digested = true;
}

/* Give the answer of a pass to a training. */
static void
answer_by_pass(Work *work, const DpermPass *pass)
{
	const DpermAsk *ask = &work->training.ask;
	DpermMoments sums;

	check_rows(work, pass);
	dperm_matrix_start(&work->training.matrix, ask, &sums);
	dperm_moments_merge(&sums, pass->rows, pass->value, pass->sums, pass->sums + sums.dim,
						pass->hess);
	dperm_matrix_means(&sums, (double) work->task->rows->count, ask);
	dperm_training_next(&work->training);
}

/* Train on rows that stay elsewhere, in passes. */
static void
train_by_passes(DpermTask *task, MemoryContext result)
{
	MemoryContext work = CurrentMemoryContext;
	MemoryContext pass = AllocSetContextCreate(work, "dperm pass", ALLOCSET_DEFAULT_SIZES);
	Work		training;

	begin_work(&training, task);
	while (training.training.active)
	{
		DpermPass	answer;

		MemoryContextSwitchTo(pass);
		dperm_queries_pass(task->rows->source, make_request(&training), &answer);
		answer_by_pass(&training, &answer);
		MemoryContextSwitchTo(work);
		MemoryContextReset(pass);
	}
	dperm_host_check_status(dperm_training_finish(&training.training));
	end_work(&training, result);
}

/*
 * Run trainings over rows of one source, which are closed if they are not used
 * any more. The system takes long to free shared memory, in the process that
 * lets go of it last: so members, who share the work, end after this process
 * has let go.
 */
static void
run_tasks(DpermTask *tasks, int count, bool close)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(caller, "dperm training", ALLOCSET_DEFAULT_SIZES);
	DpermTeam  *team = NULL;

	/* check all of them before one is trained */
	for (int i = 0; i < count; i++)
	{
		const DpermLoad *rows = tasks[i].rows;
		DpermSetup	setup = dperm_options_setup(tasks[i].options, rows->rows.feed.layout.dim,
												noise_of(&tasks[i]), rows->count);

		(void) dperm_host_calibrate(&setup);
	}
	if (!tasks[0].rows->remote)
		team = begin_team(tasks, count);
	for (int i = 0; i < count; i++)
	{
		MemoryContextSwitchTo(work);
		if (tasks[i].rows->remote)
			train_by_passes(&tasks[i], caller);
		else
			train_alone(&tasks[i], team, caller);
		MemoryContextReset(work);
	}
	MemoryContextSwitchTo(caller);
	if (close)
		dperm_load_close(tasks[0].rows, 1);
	dperm_team_end(team, close);
	MemoryContextDelete(work);
}

/* Run trainings over rows that are still used afterwards. */
void
dperm_tasks_run(DpermTask *tasks, int count)
{
	run_tasks(tasks, count, false);
}

/* Load the rows of a source and train on them. */
DpermModel *
dperm_tasks_train(const DpermOptions *options, const DpermSource *source)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext load = AllocSetContextCreate(caller, "dperm rows", ALLOCSET_DEFAULT_SIZES);
	DpermSource settled = *source;
	DpermLoad	rows = {.source = &settled, .portion = -1};
	DpermTask	task = {.options = options, .rows = &rows};

	MemoryContextSwitchTo(load);
	dperm_load(&rows, 1, NULL);
	MemoryContextSwitchTo(caller);
	if (rows.count > 0)
	{
		DpermSetup	setup;

		settled.spec.encoder = dperm_options_bend_for(options, source->spec.encoder, rows.count);
		dperm_load_settle(&rows, 1);
		setup =
			dperm_options_setup(options, rows.rows.feed.layout.dim, noise_of(&task), rows.count);
		dperm_options_advise(&setup, rows.count);
		dperm_noise_notice(options, &settled, 1, 1, rows.count);
		run_tasks(&task, 1, true);
	}
	dperm_load_close(&rows, 1);
	MemoryContextDelete(load);
	return task.model;
}
