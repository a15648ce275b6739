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
#include "entry/train.h"
#include "protect/locks.h"
#include "protect/protected_call.h"
#include "protect/worker.h"
#include "query/queries.h"
#include "relation/relation.h"
#include "train/call_charge.h"
#include "train/tasks.h"

PG_FUNCTION_INFO_V1(dp_logreg_train);
PG_FUNCTION_INFO_V1(dp_svm_train);
PG_FUNCTION_INFO_V1(dp_linreg_train);

/* Tell that a call has been charged for nothing; the number of units is public. */
static void
tell_empty(Oid relation, bool persons)
{
	dperm_message_public();
	ereport(NOTICE,
			(errmsg("relation \"%s\" has no %s, so there is no model", get_rel_name(relation),
					persons ? "rows of persons" : "rows"),
			 persons ? errdetail("The call has been charged, as any other. Rows whose unit is NULL "
								 "do not count.") :
			 errdetail("The call has been charged, as any other.")));
	dperm_message_private();
}

/*
 * The result of a training function: the model, with its relation and its
 * charge; NULL if there are no rows.
 */
Datum
dperm_train_result(FunctionCallInfo fcinfo, MemoryContext caller, const DpermSource *source,
				   DpermModel *model)
{
	Oid			relation = source->relation;
	bool		persons = source->registration && source->registration->persons;
	Datum		result = 0;

	if (model)
	{
		MemoryContext spi = MemoryContextSwitchTo(caller);
		char	   *name = dperm_relation_name(relation);

		model->source = (DpermText) {name, (int) strlen(name)};
		if (dperm_worker_is_for(fcinfo))
		{
			DpermLedgerEntry paid = dperm_worker_entry();

			model->budget = (DpermText) {paid.budget, (int) strlen(paid.budget)};
			model->entry = paid.entry;
		}
		result = dperm_model_type_make(model);
		MemoryContextSwitchTo(spi);
	}
	SPI_finish();
	if (!model && dperm_worker_is_for(fcinfo))
		tell_empty(relation, persons);
	if (!model)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result);
}

/* Read the arguments of a training, and open its source. */
void
dperm_train_open(FunctionCallInfo fcinfo, DpermLearner learner, bool reads, DpermOptions *options,
				 DpermSource *source)
{
	DpermSourceNames names = {
		.relation = dperm_arguments_required_text(fcinfo, "source", DPERM_SOURCE_REQUIRED),
		.protected = dperm_worker_relation(fcinfo),
		.reads = reads,
		.label = dperm_arguments_required_text(fcinfo, "label", DPERM_SOURCE_REQUIRED)
	};
	List	   *tried = NIL;
	ResourceOwner look;

	names.features = dperm_arguments_names(fcinfo, "features", &names.feature_count);
	names.domains = dperm_arguments_jsonb(fcinfo, "domains");
	names.unit = dperm_arguments_text(fcinfo, "unit");
	dperm_options_init(options, learner);
	dperm_option_table_arguments(options, DPERM_PLACE_TRAIN, fcinfo);
	dperm_prior_argument_read(fcinfo, options);
	dperm_options_settle(options);
	look = reads ? NULL : dperm_locks_look();
	dperm_queries_open(source, &names, options, &tried);
	if (look)
		dperm_locks_look_away(look, source->registration == NULL);
	dperm_options_set_unit(options, source->unit != NULL);
	dperm_options_set_labels(options, &source->spec.labels);
	dperm_call_charge_settle(options, source);
	dperm_options_check(options, dperm_encoder_dim(&source->spec.encoder),
						dperm_options_noise(options, &source->spec.encoder, false));
}

/* Train as the arguments say. */
static Datum
train(FunctionCallInfo fcinfo, DpermLearner learner)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			protected = dperm_protected_call_relation(fcinfo);
	DpermOptions options;
	DpermSource source;

	if (OidIsValid(protected))
		return dperm_protected_call(fcinfo, protected);
	dperm_train_open(fcinfo, learner, true, &options, &source);
	dperm_call_charge(&source, &options, DPERM_CALL_TRAINING, fcinfo, NULL);
	SPI_connect();
	return dperm_train_result(fcinfo, caller, &source,
							  dperm_tasks_train(&options, &source));
}

/* dp_logreg_train(source, label, features, epsilon, ...): see sql/parts */
Datum
dp_logreg_train(PG_FUNCTION_ARGS)
{
	return train(fcinfo, DPERM_LEARNER_LOGREG);
}

/*
 * dp_svm_train(source, label, features, epsilon, ..., loss, h): see sql/parts
 */
Datum
dp_svm_train(PG_FUNCTION_ARGS)
{
	return train(fcinfo, DPERM_LEARNER_SVM);
}

/*
 * dp_linreg_train(source, label, features, epsilon, ..., bounds, h): see
 * sql/parts
 */
Datum
dp_linreg_train(PG_FUNCTION_ARGS)
{
	return train(fcinfo, DPERM_LEARNER_LINREG);
}
