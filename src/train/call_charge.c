/*
 * call_charge.c: what a call over a protected relation is charged, before it
 * reads its first row. Trusted.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "base/base.h"
#include "train/call_charge.h"
#include "core/base/blas.h"
#include "core/encode/encoder.h"
#include "core/loss/loss.h"

/* Bytes of a text that a caller can put into the ledger. */
#define LEDGER_TEXT 1024

/* May a training with a delta be objective perturbation? */
static bool
may_be_objective(const DpermOptions *options)
{
	return options->method != DPERM_METHOD_OUTPUT;
}

/*
 * The charge must not depend on the number of rows, which is not known yet: so
 * the slack is a fixed share of epsilon, and a delta is used in any case. If
 * pure noise were possible, too, all calls would be charged for it.
 */
void
dperm_call_charge_settle(DpermOptions *options, const DpermSource *source)
{
	if (source->registration == NULL || options->delta == 0)
		return;
	options->gaussian_only = true;
	if (may_be_objective(options))
		options->slack = DPERM_CHARGE_SLACK;
}

/* What a call may release, as far as known before it reads rows. */
static DpermSpend
spend_of(const DpermSource *source, const DpermOptions *options, DpermCallKind kind)
{
	DpermSpend	spend = {
		.neighbours = options->neighbours,
		.unit = source->registration->persons ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW,
		.epsilon = options->epsilon,
		.delta = kind == DPERM_CALL_EVALUATION ? 0 : options->delta
	};

	/*
	 * tuning is separate portions, and a choice: each row is in one portion,
	 * but the laws of the models differ
	 */
	if (kind != DPERM_CALL_TRAINING)
		return spend;

	/* straight lines cost most, if anything depends on it (Lemma 26) */
	spend.dim = dperm_encoder_dim(&source->spec.encoder) * dperm_loss_blocks(options->loss);
	spend.output =
		options->method < 0 ? !options->objective_only : options->method == DPERM_METHOD_OUTPUT;
	spend.loss = options->loss;
	spend.objective = may_be_objective(options);
	spend.slack = options->slack;
	return spend;
}

/* The charge of a call. */
DpermCharge
dperm_call_charge_charge(const DpermSource *source, const DpermOptions *options, DpermCallKind kind,
						 const char *function)
{
	const DpermRegistration *registration = source->registration;
	return (DpermCharge) {
		.budget = registration->budget,
		.relation = source->relation,
		.role = GetUserId(),
		.function = function,
		.spend = spend_of(source, options, kind)
	};
}

/* The purpose of a call. */
char *
dperm_call_charge_purpose(FunctionCallInfo fcinfo)
{
	char	   *purpose = dperm_arguments_text(fcinfo, "purpose");

	if (purpose && strlen(purpose) >= LEDGER_TEXT)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("purpose must have less than %d bytes", LEDGER_TEXT)));
	return purpose;
}

/* The names of features as an array. */
static ArrayType *
names_of(const DpermBlock *blocks, int count)
{
	Datum	   *names = palloc(sizeof(Datum) * Max(count, 1));

	for (int i = 0; i < count; i++)
		names[i] =
			PointerGetDatum(cstring_to_text_with_len(blocks[i].column.bytes, blocks[i].column.len));
	return construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT);
}

/* What was asked for, apart from what a line of the ledger has of every charge. */
static DpermAsked
asked_of(FunctionCallInfo fcinfo, const DpermSource *source, const char *learner)
{
	static const char *const apart[] = {"relation", "label",	 "features", "model",	"prior",
										"epsilon", "delta", "neighbours", "unit", "purpose",
										"columns"};

	return (DpermAsked) {.label = source->label_column,
						 .features = names_of(source->blocks, source->block_count),
						 .learner = learner,
						 .parameters = dperm_arguments_json(fcinfo, apart, lengthof(apart),
															   LEDGER_TEXT),
						 .purpose = dperm_call_charge_purpose(fcinfo)};
}

/* Which entry of which ledger a model has, for the details of a charge. */
static char *
details_of(const char *what, const DpermModel *model)
{
	return psprintf("%s: entry " INT64_FORMAT " of budget %s", what, model->entry,
					quote_identifier(pnstrdup(model->budget.bytes, model->budget.len)));
}

/* Fill in what a call is to be charged. */
void
dperm_call_charge_fill(DpermCall *call, const DpermSource *source, const DpermOptions *options,
					   DpermCallKind kind, const DpermModel *model)
{
	DpermEncoder largest = dperm_encoder_with_knots(&source->spec.encoder, DPERM_KNOTS_MOST);
	DpermLearner learner =
		model ? dperm_loss_entry((int) model->loss.kind)->learner : options->learner;
	int			most = dperm_encoder_dim(&largest) * dperm_loss_blocks(source->spec.loss);

	(void) dperm_call_charge_purpose(call->fcinfo);
	dperm_source_tell(source);
	if (source->registration == NULL)
		return;

	/*
	 * load the library first, if any number of rows needs it: nothing is
	 * charged if that fails
	 */
	if (kind == DPERM_CALL_SUMMARY)
		;						/* it multiplies nothing */
	else if (most >= DPERM_BLAS_SMALL || kind == DPERM_CALL_TUNING ||
			 source->spec.encoder.kernel.kind != DPERM_KERNEL_LINEAR)
		(void) dperm_blas();
	call->charge = dperm_call_charge_charge(source, options, kind, call->function->name);
	call->charge.asked = asked_of(call->fcinfo, source, kind == DPERM_CALL_SUMMARY ? NULL :
								  dperm_loss_learner_name(learner));
	if (model && model->entry > 0)
		call->charge.details = details_of("model", model);
	else if (options->prior && options->prior->entry > 0)
		call->charge.details = details_of("prior", options->prior);
}
