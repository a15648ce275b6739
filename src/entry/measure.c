/*
 * measure.c: a model, and the rows it is measured on: arguments, counts, noise.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "base/arguments.h"
#include "base/host.h"
#include "base/message.h"
#include "base/option_table.h"
#include "column/class_choice.h"
#include "column/model_type.h"
#include "core/privacy/counts.h"
#include "core/privacy/curve.h"
#include "core/privacy/errors.h"
#include "core/privacy/person.h"
#include "core/privacy/selection.h"
#include "entry/measure.h"
#include "query/pass_query.h"
#include "query/queries.h"
#include "query/source_notes.h"
#include "train/call_charge.h"
#include "train/count_decisions.h"

/* Bytes of a value in a message. */
#define VALUE_SHOWN 100

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
		const char *name = dperm_class_choice_name(model, from);

		memcpy(weights + i * size, dperm_model_class(model, from), size);
		appendBinaryStringInfo(&names, name, strlen(name) + 1);
	}
	model->weights = (double *) weights;
	model->classes = (DpermText) {names.data, names.len};
	return model;
}

/* Raise an error for a model that has no ROC curve, or too many classes. */
static void
check_model(FunctionCallInfo fcinfo, DpermMeasure *measure)
{
	int			classes = dperm_measure_classes(measure);

	if (measure->bins > 0 && dperm_measure_sums_errors(measure))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the model predicts a number, which has no ROC curve"),
				 errhint("Use dp_evaluate().")));
	if (measure->bins > 0)
	{
		int			number =
			dperm_class_choice(measure->model, dperm_arguments_text(fcinfo, "class"));

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
void
dperm_measure_open(DpermCall *call, DpermMeasure *measure)
{
	FunctionCallInfo fcinfo = call->fcinfo;
	DpermOptions options;
	DpermModel *model;
	DpermSourceNames names = {.registration = call->registration, .reads = true};
	List	   *tried = NIL;
	Datum		value,
				epsilon;

	if (!dperm_arguments_get(fcinfo, "model", InvalidOid, &value) ||
		!dperm_arguments_get(fcinfo, "epsilon", FLOAT8OID, &epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("model and epsilon must not be null"),
				 errhint("Call dp_evaluate(model, 'table', epsilon => 1).")));
	model = dperm_model_type_open(value);
	names.relation = dperm_arguments_required_text(fcinfo, "source", DPERM_SOURCE_REQUIRED);
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
	measure->budget = dperm_measure_sums_errors(measure) ?
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
add_noise(const DpermMeasure *measure, int64 *counts, int count)
{
	DpermEntropy entropy;

	dperm_entropy_init(&entropy, dperm_host_random, NULL);
	if (dperm_measure_sums_errors(measure))
		dperm_errors_add_noise(&entropy, measure->budget, counts);
	else
		dperm_counts_add_noise(&entropy, measure->budget, measure->parts, counts, count);
	if (!dperm_entropy_ok(&entropy))
		dperm_host_check_status(DPERM_NO_ENTROPY);
	dperm_entropy_wipe(&entropy);
}

/* The number of cells. */
static int
cells_of(const DpermMeasure *measure)
{
	int			classes = Max(dperm_measure_classes(measure), 2);

	return dperm_measure_sums_errors(measure) ? DPERM_SUMS :
		measure->bins > 0 ? 2 * measure->bins : classes * classes;
}

/*
 * Count rows by cells in one pass, by the decisions of the model; rows without
 * a label are in no cell. Returns the number of units.
 */
static int64
count_by_pass(const DpermMeasure *measure)
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
count_rows(const DpermMeasure *measure)
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
void
dperm_measure_count(DpermMeasure *measure)
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
