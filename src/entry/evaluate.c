/*
 * evaluate.c: dp_evaluate and dp_roc: the quality of a model, privately. Trusted.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"

#include "base/base.h"
#include "base/options.h"
#include "column/column.h"
#include "entry/entry.h"
#include "query/source.h"
#include "train/call_charge.h"
#include "train/count.h"
#include "core/base/core.h"
#include "core/metrics/metrics.h"
#include "core/privacy/claim.h"
#include "core/privacy/counts.h"

/* A model, the rows to evaluate it on, and what that may cost. */
typedef struct Measure
{
	DpermSource source;
	DpermModel *model;
	DpermCountsNoise noise;
	uint64		parts;			/* of a unit, in which counts are measured */
	/* of a histogram; 0: the cells of the confusion matrix are counted */
	int			bins;
	bool		choose_bins;	/* is their number to be chosen? Then these are fine-grained */
	int64	   *counts;

	/* where the rows of the result go */
	Tuplestorestate *store;
	TupleDesc	desc;
} Measure;

/* Are errors added up, in place of rows that are counted? */
static bool
sums_errors(const Measure *measure)
{
	return dperm_model_label(measure->model) == DPERM_LABEL_NUMBER;
}

/*
 * The columns of the model. A model that was trained on arrays has no name for
 * its vector: the caller specifies the column.
 */
static void
name_columns(FunctionCallInfo fcinfo, DpermModel *model)
{
	char	   *features = dperm_arguments_text(fcinfo, "features");
	const DpermBlock *blocks = model->encoder.blocks;
	bool		vector = model->encoder.block_count == 1 &&
		(blocks[0].kind == DPERM_BLOCK_VECTOR || blocks[0].kind == DPERM_BLOCK_BOX);

	if (features ? !vector : blocks[0].column.len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 features ? errmsg("features can only be specified for a model of one vector") :
				 errmsg("the model was trained on arrays and does not name a column"),
				 features ? errhint("The model knows the names of its columns.") :
				 errhint("Specify the column that holds the vectors, as in features => 'x'.")));
	dperm_model_type_name_columns(model, features);
}

/*
 * The label column, and the positive one of two classes, from the arguments or
 * else from the training; who names the label of the training means the same
 * class. In another column it is not guessed: the metrics would be about the
 * other class. A model of an aggregate does not name its label.
 */
static const char *
name_label(FunctionCallInfo fcinfo, const DpermModel *model, DpermLabels *labels)
{
	DpermLabelKind kind = dperm_model_label(model);
	char	   *label = dperm_arguments_text(fcinfo, "label");
	char	   *trained =
		model->label.len > 0 ? pnstrdup(model->label.bytes, model->label.len) : NULL;

	if (label == NULL && trained == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the model does not name a label column"),
				 errhint("Name the column that holds the labels, as in label => 'y'.")));
	labels->positive = dperm_arguments_text(fcinfo, "positive");
	if (kind != DPERM_LABEL_TWO && labels->positive)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only one of two classes can be positive"),
				 errhint("Omit positive.")));
	if (kind == DPERM_LABEL_TWO && labels->positive == NULL && model->has_positive)
	{
		labels->positive = pnstrdup(model->positive.bytes, model->positive.len);
		if (label && trained && strcmp(label, trained) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("label \"%s\" requires a positive value", label),
					 errhint("Specify the value of the positive class, as in positive => "
							 "'yes'.")));
	}
	return label ? label : trained;
}

/* Put one of the classes of a model before the others. */
static void
put_first(DpermModel *model, int number)
{
	int			classes = model->loss.classes;
	Size		size = sizeof(double) * dperm_encoder_dim(&model->encoder);
	char	   *weights = palloc(size * classes);
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < classes; i++)
	{
		int			from = i == 0 ? number : i < number ? i : i + 1;
		const char *name = dperm_label_class_name(model, from);

		memcpy(weights + i * size, dperm_model_class(model, from), size);
		appendBinaryStringInfo(&names, name, strlen(name) + 1);
	}
	model->weights = (double *) weights;
	model->classes = (DpermText) {names.data, names.len};
}

/* Raise an error for more classes than are counted in a matrix. */
static void
check_classes(int classes)
{
	if (classes > DPERM_COUNTS_CLASSES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a confusion matrix of more than %d classes is not computed",
						DPERM_COUNTS_CLASSES_MAX),
				 errdetail("The model has %d classes.", classes),
				 errhint("dp_roc() measures one class against the others.")));
}

/*
 * The bins of a curve from the arguments, for a model that has one: that of a class
 * against the others.
 */
static void
read_bins(FunctionCallInfo fcinfo, Measure *measure)
{
	Datum		value;
	int			number;

	measure->choose_bins = !dperm_arguments_get(fcinfo, "bins", INT4OID, &value);
	measure->bins = measure->choose_bins ? DPERM_COUNTS_FINE : DatumGetInt32(value);
	if (measure->bins < 2 || measure->bins > DPERM_BINS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bins must be between 2 and %d", DPERM_BINS_MAX),
				 errhint("More bins show the curve in more detail but add more noise.")));
	if (sums_errors(measure))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the model predicts a number, which has no ROC curve"),
				 errhint("Use dp_evaluate().")));
	number = dperm_label_choose_class(measure->model, dperm_arguments_text(fcinfo, "class"));
	if (measure->model->loss.classes > 0)
		put_first(measure->model, number);
}

/*
 * Check the arguments of dp_evaluate or, as a variant, dp_roc, and open the source,
 * before any row is read.
 */
void
dperm_entry_open_measure(DpermCall *call)
{
	FunctionCallInfo fcinfo = call->fcinfo;
	Measure	   *measure = palloc0(sizeof(*measure));
	DpermModel *model = measure->model = dperm_model_type_required(fcinfo);
	DpermOptions options;
	DpermSourceNames names = {
		.relation = dperm_arguments_required_text(fcinfo, "relation", DPERM_RELATION_REQUIRED),
		.registration = call->registration,
		.reads = true,
		.unit = dperm_arguments_text(fcinfo, "unit")
	};

	if (call->function->variant)
		read_bins(fcinfo, measure);
	else
		check_classes(model->loss.classes);
	dperm_options_init(&options, dperm_loss_entry((int) model->loss.kind)->learner);
	dperm_option_table_arguments(&options, fcinfo);
	dperm_options_follow(&options, model);
	names.label = name_label(fcinfo, model, &options.labels);
	dperm_options_settle(&options);
	name_columns(fcinfo, model);
	names.blocks = model->encoder.blocks;
	names.block_count = model->encoder.block_count;
	/* of sums, for either relation: see counts.h */
	measure->noise.budget = dperm_selection_budget(
		options.epsilon, sums_errors(measure) ? DPERM_NEIGHBOURS_REPLACE : options.neighbours);
	dperm_queries_open(&measure->source, &names, &options);
	dperm_source_tell_training(&measure->source, &model->source);
	measure->parts = sums_errors(measure) ? DPERM_ERRORS_NOISE_PARTS :
		dperm_unit_parts(measure->source.unit ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW);
	dperm_call_charge_fill(call, &measure->source, &options, DPERM_CALL_EVALUATION, model);
	call->opened = measure;
}

/* The number of cells. */
static int
cells_of(const Measure *measure)
{
	int			classes = Max(measure->model->loss.classes, 2);

	return sums_errors(measure) ? DPERM_SUMS :
		measure->bins > 0 ? 2 * measure->bins : classes * classes;
}

/*
 * Count rows by cells in one pass, by the decisions of the model; rows without a
 * label are in no cell. Then add the noise.
 */
static void
count_with_noise(Measure *measure)
{
	int			cells = cells_of(measure);
	DpermEntropy entropy = {0};
	int64		units;

	measure->counts = palloc0(sizeof(int64) * cells);
	SPI_connect();
	if (measure->source.location == DPERM_LOCATION_HERE)
		units = dperm_count_decisions(&measure->source, measure->model, measure->bins,
									  measure->counts);
	else
	{
		DpermPass	pass = {.order = DPERM_PASS_COUNT, .weights = measure->model->weights,
							.bins = measure->bins};

		dperm_queries_pass(&measure->source, &pass);
		units = dperm_pass_units(&pass);
		if (pass.rows > 0)
			memcpy(measure->counts, pass.counts, sizeof(int64) * cells);
	}
	SPI_finish();
	if (measure->choose_bins)
	{
		measure->bins = dperm_metrics_bins(measure->noise.budget, units);
		dperm_counts_merge(measure->counts, measure->bins);
	}
	dperm_counts_add_noise(&entropy, measure->noise, measure->parts, measure->counts,
						   cells_of(measure));
	dperm_host_check_status(entropy.status);
	dperm_entropy_wipe(&entropy);
}

/*
 * One row of the result of dp_evaluate; about one of several classes, and one
 * that is predicted, or 0.
 */
static void
put_estimate(const Measure *measure, const char *name, DpermEstimate estimate, int class,
			 int predicted)
{
	const DpermModel *model = measure->model;

	dperm_host_put_row(measure->store, measure->desc, (NullableDatum[]) {
		dperm_host_text(name),
		dperm_host_number(estimate.value),
		{Float8GetDatum(estimate.low)},
		{Float8GetDatum(estimate.high)},
		{BoolGetDatum(measure->noise.budget > 0)},
		dperm_host_text(class > 0 ? dperm_label_class_name(model, class) : NULL),
		dperm_host_text(predicted > 0 ? dperm_label_class_name(model, predicted) : NULL)
	});
}

/* A count. */
static void
put_count(const Measure *measure, const char *name, int cell, int class, int predicted)
{
	put_estimate(measure, name,
				 dperm_metrics_count(measure->counts[cell], measure->noise, measure->parts),
				 class, predicted);
}

/* A metric of all classes or, unless class is 0, of one of several. */
static void
put_metric(const Measure *measure, DpermMetricKind metric, int class)
{
	put_estimate(measure, dperm_metrics_name(metric),
				 dperm_metrics_of_counts(metric, Max(measure->model->loss.classes, 2),
										 Max(class, 1), measure->counts, measure->parts,
										 dperm_metrics_variance(measure->noise,
																measure->parts)),
				 class, 0);
}

/* The rows of a model of two classes. */
static void
put_two(const Measure *measure)
{
	put_count(measure, "true positives", DPERM_TRUE_POSITIVE, 0, 0);
	put_count(measure, "false positives", DPERM_FALSE_POSITIVE, 0, 0);
	put_count(measure, "false negatives", DPERM_FALSE_NEGATIVE, 0, 0);
	put_count(measure, "true negatives", DPERM_TRUE_NEGATIVE, 0, 0);
	for (int i = 0; i < DPERM_METRIC_MACRO_F1; i++)
		put_metric(measure, (DpermMetricKind) i, 0);
}

/* The rows of a model of several classes. */
static void
put_several(const Measure *measure)
{
	int			classes = measure->model->loss.classes;

	for (int i = 0; i < classes * classes; i++)
		put_count(measure, "count", i, i / classes + 1, i % classes + 1);
	put_metric(measure, DPERM_METRIC_ACCURACY, 0);
	put_metric(measure, DPERM_METRIC_ERROR, 0);
	put_metric(measure, DPERM_METRIC_MACRO_F1, 0);
	for (int class = 1; class <= classes; class++)
		for (int i = DPERM_METRIC_PRECISION; i <= DPERM_METRIC_F1; i++)
			put_metric(measure, (DpermMetricKind) i, class);
}

/* The rows of a model whose label is a number. */
static void
put_errors(const Measure *measure)
{
	for (int i = DPERM_METRIC_ROWS; i < DPERM_METRIC_COUNT; i++)
		put_estimate(measure, dperm_metrics_name((DpermMetricKind) i),
					 dperm_metrics_of_errors((DpermMetricKind) i, measure->counts,
											 measure->noise.budget,
											 dperm_model_unit(measure->model)),
					 0, 0);
}

/* The points of the curve, from the strictest threshold down. */
static void
put_curve(const Measure *measure)
{
	int			bins = measure->bins;
	double	   *settled = palloc(sizeof(double) * 2 * bins);
	DpermEstimate area;
	double		totals[2] = {0, 0};
	double		above[2] = {0, 0};

	for (int c = 0; c < 2; c++)
	{
		dperm_metrics_settle(measure->counts + c * bins, bins, measure->parts,
							 settled + c * bins);
		for (int i = bins; i-- > 0;)
			totals[c] += settled[c * bins + i];
	}
	area = dperm_metrics_area(settled, settled + bins, bins,
							  dperm_metrics_variance(measure->noise, measure->parts));
	for (int i = bins; i >= 0; i--)
	{
		if (i < bins)
			for (int c = 0; c < 2; c++)
				above[c] += settled[c * bins + i];
		dperm_host_put_row(measure->store, measure->desc, (NullableDatum[]) {
			{Float8GetDatum(i == bins ? INFINITY : i == 0 ? -INFINITY :
							tan(M_PI * ((double) i / bins - 0.5)))},
			dperm_host_number(totals[0] > 0 ? above[0] / totals[0] : NAN),
			dperm_host_number(totals[1] > 0 ? above[1] / totals[1] : NAN),
			dperm_host_number(area.value),
			{Float8GetDatum(area.low)},
			{Float8GetDatum(area.high)},
			{BoolGetDatum(measure->noise.budget > 0)}
		});
	}
}

/* Count, and say what that shows. */
Datum
dperm_entry_run_measure(DpermCall *call)
{
	Measure	   *measure = call->opened;

	count_with_noise(measure);
	measure->store = dperm_host_result_set(call->fcinfo, &measure->desc);
	if (measure->bins > 0)
		put_curve(measure);
	else if (sums_errors(measure))
		put_errors(measure);
	else if (measure->model->loss.classes > 0)
		put_several(measure);
	else
		put_two(measure);
	return (Datum) 0;
}
