/*
 * training.c: one training, from encoded rows to a model.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/host.h"
#include "core/base/classes.h"
#include "train/training.h"

/*
 * The cost of a Hessian in a pass over the table, in gradients per coordinate:
 * less than in memory, since reading the rows is most of the work.
 */
#define STREAMED_HESS_COST (1.0 / 72)

/* The weights of a prior in the order of the rows, and of classes within that. */
static const double *
arrange_prior(const DpermModel *prior, const DpermLayout *layout, int blocks)
{
	double	   *weights = palloc(sizeof(double) * layout->dim * blocks);

	for (int k = 0; k < blocks; k++)
		for (int i = 0; i < layout->dim; i++)
			weights[i * blocks + k] =
				prior->weights[k * layout->dim + (layout->place ? layout->place[i] : i)];
	return weights;
}

/*
 * A sample to start from has at most this size; but 20 rows for each coordinate,
 * if these fit into half of dperm.cache_memory, since a start on fewer saves less.
 * On 16 cores a smaller one saved less than the passes that it cost.
 */
#define SAMPLE_BYTES ((Size) 32 * 1024 * 1024)
#define SAMPLE_ROWS_EACH 20

/* How many rows a sample has: if these are all rows, no more than a start is worth. */
static int64
sample_rows(const DpermRows *rows, int dim, bool remote)
{
	Size		row = sizeof(double) * rows->words;
	Size		bytes = Min(row * SAMPLE_ROWS_EACH * dim, (Size) dperm_cache_memory * 1024 / 2);

	return Min(rows->count / (remote ? 1 : DPERM_MINIMISE_PART), Max(bytes, SAMPLE_BYTES) / row);
}

/* Begin a training: noise, and a start from a sample. */
void
dperm_training_begin(DpermTraining *training, const DpermOptions *options, DpermRows *rows,
					 DpermNoisePlans noise, int64 units, bool remote)
{
	const DpermLayout *layout = &rows->feed.layout;
	int			blocks = dperm_loss_blocks(options->loss);
	int			dim = layout->dim * blocks;

	memset(training, 0, sizeof(*training));
	training->rows = rows;
	training->layout = layout;
	training->fit.setup = dperm_options_setup(options, layout->dim, noise, units);
	training->fit.calibration = dperm_host_calibrate(&training->fit.setup);
	training->prior = options->prior_text.bytes;
	if (options->prior)
		training->fit.prior = arrange_prior(options->prior, layout, blocks);
	dperm_entropy_init(&training->entropy);
	training->matrix = (DpermMatrix) {.loss = options->loss, .dim = dim, .layout = layout,
									  .chunks = &training->sample,
									  .rough = dperm_fit_rough(&training->fit)};
	training->matrix.count = training->matrix.chunk_rows =
		dperm_rows_sample(rows, sample_rows(rows, dim, remote), &training->sample);
	if (layout->weighted)
	{
		training->matrix.of = rows->count;
		training->matrix.units = (double) units;
	}
	training->matrix.room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
												   dperm_moments_room(dim, blocks, true));
	training->fit.sample = &training->matrix;
	training->fit.hess_cost = remote ? STREAMED_HESS_COST * layout->dim : 0;
	training->fit.entropy = &training->entropy;
	training->weights = palloc(sizeof(double) * dim);
	training->room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
											dperm_fit_room(dim, blocks));
	dperm_fit_start(&training->fitting, &training->fit, training->weights, training->room);
	dperm_training_next(training);
}

/* Answer from all rows. */
void
dperm_training_answer(DpermTraining *training, DpermTeam *team)
{
	DpermMoments moments;

	dperm_matrix_start(&training->matrix, &training->ask, &moments);
	dperm_team_sum(team, training->rows, &training->matrix, &training->ask, &moments);
	dperm_matrix_means(&moments, (double) training->fit.setup.rows, &training->ask);
	dperm_training_next(training);
}

/* Continue with the answer. */
void
dperm_training_next(DpermTraining *training)
{
	training->active = dperm_fit_next(&training->fitting, &training->ask);
}

/*
 * End a training: release its weights, and erase the noise and the start, which
 * is derived from it.
 */
DpermStatus
dperm_training_finish(DpermTraining *training)
{
	DpermStatus status = dperm_fit_end(&training->fitting);

	dperm_matrix_wipe(&training->matrix);
	dperm_entropy_wipe(&training->entropy);
	return status;
}

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

/* The model of a finished training, made in a context. */
DpermModel *
dperm_training_model(DpermTraining *training, const DpermEncoder *encoder, const char *label,
					 const DpermLabels *labels, MemoryContext result)
{
	double	   *weights = MemoryContextAlloc(result, sizeof(double) * training->fit.setup.dim);
	DpermModel *model = MemoryContextAllocZero(result, sizeof(*model));

	dperm_layout_restore(training->layout, dperm_loss_blocks(training->fit.setup.loss),
						 training->weights, weights);
	model->label = copy_text(label, result);
	model->has_positive = labels->positive != NULL;
	model->positive = copy_text(labels->positive, result);
	model->label_low = labels->low;
	model->label_high = labels->high;
	model->classes = copy_classes(labels, result);
	model->prior = copy_text(training->prior, result);
	dperm_model_fill(model, &training->fit.setup, &training->fit.calibration, encoder, weights);
	model->noise = copy_noise(model->noise, training->layout, result);
	pfree(training->sample);
	pfree(training->matrix.room);
	pfree(training->weights);
	pfree(training->room);
	return model;
}
