/* evaluate.c: dp_evaluate and dp_roc: the quality of a model, privately. */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/arguments.h"
#include "base/host.h"
#include "base/message.h"
#include "base/option_table.h"
#include "base/result_set.h"
#include "column/label.h"
#include "column/model_type.h"
#include "core/base/limits.h"
#include "core/privacy/counts.h"
#include "core/privacy/curve.h"
#include "core/privacy/errors.h"
#include "core/privacy/person.h"
#include "core/privacy/selection.h"
#include "entry/functions.h"
#include "query/pass_query.h"
#include "query/queries.h"
#include "query/source_notes.h"
#include "train/call_charge.h"
#include "train/count_decisions.h"

PG_FUNCTION_INFO_V1(dp_evaluate);
PG_FUNCTION_INFO_V1(dp_roc);

/* Bytes of a value in a message. */
#define VALUE_SHOWN 100

/* A hint for arguments that are missing. */
#define EVALUATION_CALL \
	"Specify model, relation and epsilon: dp_evaluate(model, 'table', epsilon => 1)."

/* A model, the rows to evaluate it on, and what that may cost. */
typedef struct Measure
{
	DpermSource source;
	DpermModel *model;
	uint64		budget;
	uint64		parts;			/* of a unit, in which counts are measured */
	/* of a histogram; 0: the cells of the confusion matrix are counted */
	int			bins;
	bool		choose_bins;	/* is their number to be chosen? Then these are fine-grained */
	int64	   *counts;
} Measure;

/* The number of its classes, if they are several; else 0. */
static int
class_count(const Measure *measure)
{
	return measure->model->loss.classes;
}

/* Are errors added up, in place of rows that are counted? */
static bool
sums_errors(const Measure *measure)
{
	return dperm_model_label(measure->model) == DPERM_LABEL_NUMBER;
}

/* A zero-terminated copy of a text. */
static DpermText
terminated(const char *bytes, int len)
{
	DpermText	text = {pnstrdup(bytes, len), len};

	return text;
}

/*
 * The model with a column for every feature. A model that was trained on arrays
 * has no name for its vector: the caller specifies the column.
 */
static DpermModel *
name_columns(DpermModel *model, const char *features)
{
	int			count = model->encoder.block_count;
	DpermBlock *blocks = palloc(sizeof(DpermBlock) * count);

	memcpy(blocks, model->encoder.blocks, sizeof(DpermBlock) * count);
	if (features)
	{
		if (count != 1 ||
			(blocks[0].kind != DPERM_BLOCK_VECTOR && blocks[0].kind != DPERM_BLOCK_BOX))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("features can only be specified for a model of one vector"),
					 errhint("The model knows the names of its columns.")));
		blocks[0].column = terminated(features, strlen(features));
	}
	for (int i = 0; i < count; i++)
	{
		if (blocks[i].column.len == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the model was trained on arrays and does not name a column"),
					 errhint("Specify the column that holds the vectors, as in features => 'x'.")));
		blocks[i].column = terminated(blocks[i].column.bytes, blocks[i].column.len);
	}
	model->encoder.blocks = blocks;
	return model;
}

/* The bounds of a number, or several classes, are those of the training. */
static void
take_domain(FunctionCallInfo fcinfo, const DpermModel *model, DpermOptions *options)
{
	if (dperm_arguments_text(fcinfo, "positive"))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 dperm_model_label(model) == DPERM_LABEL_NUMBER ?
				 errmsg("the model predicts a number, which has no positive value") :
				 errmsg("the model has several classes, none of which is positive"),
				 errhint("Omit positive.")));
	options->labels.kind = dperm_model_label(model);
	options->labels.low = model->label_low;
	options->labels.high = model->label_high;
	options->labels.classes = model->classes.bytes;
	options->labels.class_count = model->loss.classes;
}

/*
 * The positive value of a label, from the arguments or else from the training.
 * Which it is in another column is not known, nor guessed: the metrics would be
 * about the other class.
 */
static void
take_positive(FunctionCallInfo fcinfo, const DpermModel *model, const char *label,
			  const char *trained, DpermOptions *options)
{
	const char **positive = &options->labels.positive;

	*positive = dperm_arguments_text(fcinfo, "positive");
	if (*positive || !model->has_positive)
		return;
	*positive = pnstrdup(model->positive.bytes, model->positive.len);
	if (trained && strcmp(label, trained) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" requires a positive value", label),
				 errdetail("The model was trained with positive value \"%s\" of label \"%s\".",
						   dperm_message_clip(*positive, VALUE_SHOWN), trained),
				 errhint("Specify the value of the positive class, as in positive => 'yes'.")));
}

/*
 * The label column and its domain, from the arguments or else from the training;
 * who names the label of the training means the same classes. A model of an
 * aggregate does not name its label.
 */
static void
name_label(FunctionCallInfo fcinfo, const DpermModel *model, DpermSourceNames *names,
		   DpermOptions *options)
{
	const char *trained =
		model->label.len > 0 ? terminated(model->label.bytes, model->label.len).bytes : NULL;
	char	   *label = dperm_arguments_text(fcinfo, "label");

	if (label == NULL && trained == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the model does not name a label column"),
				 errhint("Name the column that holds the labels, as in label => 'y'.")));
	names->label = label ? label : trained;
	if (dperm_model_label(model) == DPERM_LABEL_TWO)
		take_positive(fcinfo, model, names->label, trained, options);
	else
		take_domain(fcinfo, model, options);
}

/* The same model, with one of its classes before the others. */
static DpermModel *
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
	return model;
}

/* Raise an error for a model that has no ROC curve, or too many classes. */
static void
check_model(FunctionCallInfo fcinfo, Measure *measure)
{
	int			classes = class_count(measure);

	if (measure->bins > 0 && sums_errors(measure))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the model predicts a number, which has no ROC curve"),
				 errhint("Use dp_evaluate().")));
	if (measure->bins > 0)
	{
		int			number =
			dperm_label_choose_class(measure->model, dperm_arguments_text(fcinfo, "class"));

		if (classes > 0)
			measure->model = put_first(measure->model, number);
	}
	else if (classes > DPERM_COUNTS_CLASSES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a confusion matrix of more than %d classes is not computed",
						DPERM_COUNTS_CLASSES_MAX),
				 errdetail("The model has %d classes.", classes),
				 errhint("dp_roc() measures one class against the others.")));
}

/* Check the arguments and open the source, before any row is read. */
static void
open_measure(DpermCall *call, Measure *measure)
{
	FunctionCallInfo fcinfo = call->fcinfo;
	DpermOptions options;
	DpermModel *model;
	DpermSourceNames names = {.registration = call->registration, .reads = true};
	List	   *tried = NIL;
	Datum		value,
				epsilon;

	value = dperm_arguments_required(fcinfo, "model", InvalidOid, EVALUATION_CALL);
	epsilon = dperm_arguments_required(fcinfo, "epsilon", FLOAT8OID, EVALUATION_CALL);
	model = dperm_model_type_open(value);
	names.relation = dperm_arguments_required_text(fcinfo, "relation", DPERM_RELATION_REQUIRED);
	measure->model = model;
	check_model(fcinfo, measure);
	model = measure->model;
	dperm_options_init(&options, dperm_loss_entry((int) model->loss.kind)->learner);
	dperm_option_table_set(&options, "epsilon", epsilon, false);
	if (dperm_arguments_text(fcinfo, "neighbours"))
		dperm_option_table_set(&options, "neighbours",
							   CStringGetTextDatum(dperm_arguments_text(fcinfo, "neighbours")),
							   false);
	dperm_options_follow(&options, &model->encoder);
	name_label(fcinfo, model, &names, &options);
	dperm_options_settle(&options);
	model = name_columns(model, dperm_arguments_text(fcinfo, "features"));
	measure->model = model;
	measure->budget = sums_errors(measure) ?
		dperm_selection_budget(options.epsilon) :	/* either relation: errors.h */
		dperm_selection_budget_for(options.epsilon, options.neighbours);
	names.blocks = model->encoder.blocks;
	names.block_count = model->encoder.block_count;
	names.unit = dperm_arguments_text(fcinfo, "unit");
	dperm_queries_open(&measure->source, &names, &options, &tried);
	dperm_source_notes_training(&measure->source, &model->source);
	measure->parts =
		dperm_person_parts(measure->source.unit ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW);
	dperm_call_charge_fill(call, &measure->source, &options, DPERM_CALL_EVALUATION, model);
	call->opened = measure;
}

/* Add the noise. */
static void
add_noise(const Measure *measure, int64 *counts, int count)
{
	DpermEntropy entropy;

	dperm_entropy_init(&entropy, dperm_host_random, NULL);
	if (sums_errors(measure))
		dperm_errors_add_noise(&entropy, measure->budget, counts);
	else
		dperm_counts_add_noise(&entropy, measure->budget, measure->parts, counts, count);
	if (!dperm_entropy_ok(&entropy))
		dperm_host_check_status(DPERM_NO_ENTROPY);
	dperm_entropy_wipe(&entropy);
}

/* The number of cells. */
static int
cells_of(const Measure *measure)
{
	int			classes = Max(class_count(measure), 2);

	return sums_errors(measure) ? DPERM_SUMS :
		measure->bins > 0 ? 2 * measure->bins : classes * classes;
}

/*
 * Count rows by cells in one pass, by the decisions of the model; rows without
 * a label are in no cell. Returns the number of units.
 */
static int64
count_by_pass(const Measure *measure)
{
	DpermPassSpec spec = measure->source.spec;
	Datum		request,
				result;

	/*
	 * how the model encodes a row is in its own encoder; how columns are
	 * stored, in the source
	 */
	spec.encoder = measure->model->encoder;
	request = dperm_moments_flat_count(&spec, measure->model->weights, measure->bins);
	dperm_queries_pass(&measure->source, 1, &request, NULL, &result);
	return dperm_moments_flat_counts(result, measure->counts, cells_of(measure));
}

/* Read and count the rows. Returns the number of units. */
static int64
count_rows(const Measure *measure)
{
	int64		units = 0;

	if (!dperm_source_only_once(&measure->source))
		return count_by_pass(measure);
	dperm_count_decisions(&measure->source, measure->model, measure->bins,
						  measure->counts, cells_of(measure),
						  measure->choose_bins ? &units : NULL);
	return units;
}

/* Count, and add the noise. */
static void
count_with_noise(Measure *measure)
{
	int64		units;

	measure->counts = palloc(sizeof(int64) * cells_of(measure));
	SPI_connect();
	units = count_rows(measure);
	SPI_finish();
	if (measure->choose_bins)
	{
		measure->bins = dperm_curve_bins(measure->budget, units);
		dperm_curve_merge(measure->counts, measure->bins);
	}
	add_noise(measure, measure->counts, cells_of(measure));
}

/* Where the rows of a result go. */
typedef struct Report
{
	Tuplestorestate *store;
	TupleDesc	desc;
	const Measure *measure;
} Report;

/*
 * One row of the result of dp_evaluate; about one of several classes, and one
 * that is predicted, or 0.
 */
static void
put_estimate(const Report *report, const char *name, DpermEstimate estimate, int class,
			 int predicted)
{
	const DpermModel *model = report->measure->model;
	Datum		values[7] = {CStringGetTextDatum(name), Float8GetDatum(estimate.value),
		Float8GetDatum(estimate.low), Float8GetDatum(estimate.high),
		BoolGetDatum(report->measure->budget > 0)};
	bool		nulls[7] = {[1] = isnan(estimate.value), [5] = class == 0, [6] = predicted == 0};

	if (class > 0)
		values[5] = CStringGetTextDatum(dperm_label_class_name(model, class));
	if (predicted > 0)
		values[6] = CStringGetTextDatum(dperm_label_class_name(model, predicted));
	tuplestore_putvalues(report->store, report->desc, values, nulls);
}

/* A count. */
static DpermEstimate
count_at(const Measure *measure, int cell)
{
	return dperm_counts_estimate(measure->counts[cell], measure->budget, measure->parts);
}

/* A metric of all classes or, unless class is 0, of one of several. */
static void
put_metric(const Report *report, DpermMetric metric, int class)
{
	const Measure *measure = report->measure;

	put_estimate(report, dperm_counts_metric_name(metric),
				 dperm_counts_metric(metric, Max(class_count(measure), 2), Max(class, 1),
									 measure->counts, measure->parts,
									 dperm_counts_variance(measure->budget, measure->parts)),
				 class, 0);
}

/* The rows of a model of two classes. */
static void
put_two(const Report *report)
{
	put_estimate(report, "true positives", count_at(report->measure, DPERM_TRUE_POSITIVE), 0, 0);
	put_estimate(report, "false positives", count_at(report->measure, DPERM_FALSE_POSITIVE), 0,
				 0);
	put_estimate(report, "false negatives", count_at(report->measure, DPERM_FALSE_NEGATIVE), 0,
				 0);
	put_estimate(report, "true negatives", count_at(report->measure, DPERM_TRUE_NEGATIVE), 0, 0);
	for (int i = 0; i < DPERM_METRICS; i++)
		put_metric(report, (DpermMetric) i, 0);
}

/* The rows of a model of several classes. */
static void
put_several(const Report *report)
{
	int			classes = class_count(report->measure);

	for (int i = 0; i < classes * classes; i++)
		put_estimate(report, "count", count_at(report->measure, i), i / classes + 1,
					 i % classes + 1);
	put_metric(report, DPERM_METRIC_ACCURACY, 0);
	put_metric(report, DPERM_METRIC_ERROR, 0);
	put_metric(report, DPERM_METRIC_MACRO_F1, 0);
	for (int class = 1; class <= classes; class++)
		for (int i = DPERM_METRIC_PRECISION; i <= DPERM_METRIC_F1; i++)
			put_metric(report, (DpermMetric) i, class);
}

/* The rows of a model whose label is a number. */
static void
put_errors(const Report *report)
{
	const Measure *measure = report->measure;

	for (int i = 0; i < DPERM_ERROR_METRICS; i++)
		put_estimate(report, dperm_errors_metric_name((DpermErrorMetric) i),
					 dperm_errors_metric((DpermErrorMetric) i, measure->counts,
										 measure->budget, dperm_model_unit(measure->model)),
					 0, 0);
}

/* Open an evaluation. */
static void
open_evaluation(DpermCall *call)
{
	open_measure(call, palloc0(sizeof(Measure)));
}

/* Evaluate. */
static Datum
run_evaluation(DpermCall *call)
{
	Measure *measure = call->opened;
	Report		report = {.measure = measure};

	count_with_noise(measure);
	report.store = dperm_result_set_begin(call->fcinfo, &report.desc);
	if (sums_errors(measure))
		put_errors(&report);
	else if (class_count(measure) > 0)
		put_several(&report);
	else
		put_two(&report);
	return (Datum) 0;
}

/* A share of a sum; NULL if the sum is zero. */
static Datum
share(double part, double whole, bool *isnull)
{
	*isnull = !(whole > 0);
	return Float8GetDatum(*isnull ? 0 : part / whole);
}

/* The points of the curve, from the strictest threshold down. */
static void
put_curve(Tuplestorestate *store, TupleDesc desc, const Measure *measure)
{
	int			bins = measure->bins;
	double	   *settled = palloc(sizeof(double) * 2 * bins);
	DpermEstimate area;
	double		totals[2] = {0, 0};
	double		above[2] = {0, 0};

	for (int c = 0; c < 2; c++)
	{
		dperm_curve_settle(measure->counts + c * bins, bins, measure->parts,
						   settled + c * bins);
		for (int i = bins; i-- > 0;)
			totals[c] += settled[c * bins + i];
	}
	area = dperm_curve_area(settled, settled + bins, bins,
							dperm_counts_variance(measure->budget, measure->parts));
	for (int i = bins; i >= 0; i--)
	{
		Datum		values[7];
		bool		nulls[7] = {[3] = isnan(area.value)};

		if (i < bins)
			for (int c = 0; c < 2; c++)
				above[c] += settled[c * bins + i];
		values[0] = Float8GetDatum(i == bins ? INFINITY : i == 0 ? -INFINITY :
								   tan(M_PI * ((double) i / bins - 0.5)));
		values[1] = share(above[0], totals[0], &nulls[1]);
		values[2] = share(above[1], totals[1], &nulls[2]);
		values[3] = Float8GetDatum(nulls[3] ? 0 : area.value);
		values[4] = Float8GetDatum(area.low);
		values[5] = Float8GetDatum(area.high);
		values[6] = BoolGetDatum(measure->budget > 0);
		tuplestore_putvalues(store, desc, values, nulls);
	}
}

/* Open a curve. */
static void
open_curve(DpermCall *call)
{
	Measure *measure = palloc0(sizeof(*measure));
	Datum		value;

	measure->choose_bins = !dperm_arguments_get(call->fcinfo, "bins", INT4OID, &value);
	measure->bins = measure->choose_bins ? DPERM_CURVE_FINE : DatumGetInt32(value);
	if (measure->bins < 2 || measure->bins > DPERM_BINS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bins must be between 2 and %d", DPERM_BINS_MAX),
				 errhint("More bins show the curve in more detail but add more noise.")));
	open_measure(call, measure);
}

/* Make the curve. */
static Datum
run_curve(DpermCall *call)
{
	TupleDesc	desc;
	Tuplestorestate *store;

	count_with_noise(call->opened);
	store = dperm_result_set_begin(call->fcinfo, &desc);
	put_curve(store, desc, call->opened);
	return (Datum) 0;
}

const DpermFunction dperm_evaluate_functions[] = {
	{"dp_evaluate", 0, open_evaluation, run_evaluation},
	{"dp_roc", 0, open_curve, run_curve}
};

/*
 * dp_evaluate(model, relation, epsilon, label, positive, features, neighbours,
 * unit, purpose)
 */
Datum
dp_evaluate(PG_FUNCTION_ARGS)
{
	return dperm_call(fcinfo, &dperm_evaluate_functions[0]);
}

/*
 * dp_roc(model, relation, epsilon, label, positive, features, bins, neighbours,
 * unit, purpose, class)
 */
Datum
dp_roc(PG_FUNCTION_ARGS)
{
	return dperm_call(fcinfo, &dperm_evaluate_functions[1]);
}
