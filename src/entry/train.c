/*
 * train.c: dp_logreg_train, dp_svm_train and dp_linreg_train.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "utils/lsyscache.h"

#include "base/arguments.h"
#include "base/message.h"
#include "base/option_table.h"
#include "column/model_type.h"
#include "column/prior_argument.h"
#include "core/model/tuning.h"
#include "entry/functions.h"
#include "entry/train.h"
#include "query/queries.h"
#include "relation/relation.h"
#include "train/call_charge.h"
#include "train/tasks.h"

PG_FUNCTION_INFO_V1(dp_logreg_train);
PG_FUNCTION_INFO_V1(dp_svm_train);
PG_FUNCTION_INFO_V1(dp_linreg_train);

/* A training that is open. */
typedef struct Training
{
	DpermOptions options;
	DpermSource source;
} Training;

/* Tell that a call has been charged for nothing; the number of units is public. */
static void
tell_empty(const DpermRegistration *registration)
{
	dperm_message_tell(NOTICE,
					   psprintf("relation \"%s\" has no %s, so there is no model",
								get_rel_name(registration->relation),
								registration->persons ? "rows of persons" : "rows"),
					   registration->persons ?
					   "The call has been charged, as any other. Rows whose unit is NULL do not "
					   "count." :
					   "The call has been charged, as any other.",
					   NULL);
}

/* The units of a model: if it was tuned, those of all portions. */
static int64
units_of(const DpermModel *model)
{
	DpermTuning tuning;

	return model->tuning.len > 0 && dperm_tuning_read(&model->tuning, &tuning) == NULL ?
		tuning.rows : model->rows;
}

/*
 * The result of a training function: the model, with its relation and its
 * charge; NULL if there are no rows.
 */
Datum
dperm_train_result(DpermCall *call, MemoryContext caller, const DpermSource *source,
				   DpermModel *model)
{
	Datum		result = 0;

	if (model)
	{
		MemoryContext spi = MemoryContextSwitchTo(caller);
		char	   *name = dperm_relation_name(source->relation);

		model->source = (DpermText) {name, (int) strlen(name)};
		if (call->registration)
		{
			model->budget = (DpermText) {call->paid.budget, (int) strlen(call->paid.budget)};
			model->entry = call->paid.entry;
			call->units = units_of(model);
		}
		result = dperm_model_type_make(model);
		MemoryContextSwitchTo(spi);
	}
	else if (call->registration)
		tell_empty(call->registration);
	SPI_finish();
	call->fcinfo->isnull = model == NULL;
	return result;
}

/* Read the arguments of a training, and open its source. */
void
dperm_train_open(FunctionCallInfo fcinfo, DpermLearner learner,
				 const DpermRegistration *registration, bool reads, DpermOptions *options,
				 DpermSource *source)
{
	DpermSourceNames names = {
		.relation = dperm_arguments_required_text(fcinfo, "relation", DPERM_RELATION_REQUIRED),
		.registration = registration,
		.reads = reads,
		.label = dperm_arguments_required_text(fcinfo, "label", DPERM_RELATION_REQUIRED)
	};
	List	   *tried = NIL;

	names.features = dperm_arguments_names(fcinfo, "features", &names.feature_count);
	names.domains = dperm_arguments_jsonb(fcinfo, "domains");
	names.unit = dperm_arguments_text(fcinfo, "unit");
	dperm_options_init(options, learner);
	dperm_option_table_arguments(options, fcinfo);
	dperm_prior_argument_read(fcinfo, options);
	dperm_options_settle(options);
	dperm_queries_open(source, &names, options, &tried);
	dperm_options_set_unit(options, source->unit != NULL);
	dperm_options_set_labels(options, &source->spec.labels);
	dperm_call_charge_settle(options, source);
	dperm_options_check(options, dperm_encoder_dim(&source->spec.encoder),
						dperm_options_noise(options, &source->spec.encoder, false));
}

/* Open a training. */
static void
open_training(DpermCall *call)
{
	Training   *training = palloc0(sizeof(*training));

	dperm_train_open(call->fcinfo, (DpermLearner) call->function->variant, call->registration,
					 true, &training->options, &training->source);
	dperm_call_charge_fill(call, &training->source, &training->options, DPERM_CALL_TRAINING, NULL);
	call->opened = training;
}

/* Train. */
static Datum
run_training(DpermCall *call)
{
	MemoryContext caller = CurrentMemoryContext;
	const Training *training = call->opened;

	SPI_connect();
	return dperm_train_result(call, caller, &training->source,
							  dperm_tasks_train(&training->options, &training->source));
}

const DpermFunction dperm_train_functions[] = {
	{"dp_logreg_train", DPERM_LEARNER_LOGREG, open_training, run_training},
	{"dp_svm_train", DPERM_LEARNER_SVM, open_training, run_training},
	{"dp_linreg_train", DPERM_LEARNER_LINREG, open_training, run_training}
};

/* dp_logreg_train(relation, label, features, epsilon, ...): see sql/parts */
Datum
dp_logreg_train(PG_FUNCTION_ARGS)
{
	return dperm_call(fcinfo, &dperm_train_functions[0]);
}

/* dp_svm_train(relation, label, features, epsilon, ...): see sql/parts */
Datum
dp_svm_train(PG_FUNCTION_ARGS)
{
	return dperm_call(fcinfo, &dperm_train_functions[1]);
}

/* dp_linreg_train(relation, label, features, epsilon, ...): see sql/parts */
Datum
dp_linreg_train(PG_FUNCTION_ARGS)
{
	return dperm_call(fcinfo, &dperm_train_functions[2]);
}
