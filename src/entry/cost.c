/*
 * cost.c: dp_cost, what a training would be and spend, and how much noise it
 * would add, before it reads a row. Plain.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "base/base.h"
#include "base/options.h"
#include "budget/budget.h"
#include "column/column.h"
#include "entry/entry.h"
#include "relation/relation.h"
#include "core/base/core.h"
#include "core/encode/encoder.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"

PG_FUNCTION_INFO_V1(dp_cost);

/* The delta beside a call: that of the budget, divided by ten to this power. */
#define DELTA_BESIDE 3

/* The columns of the result. Those from delta to calls_left are in with_delta, too. */
enum
{
	COST_LABEL,
	COST_FEATURES,
	COST_UNITS,
	COST_UNITS_FROM,
	COST_DELTA,
	COST_METHOD,
	COST_NOISE,
	COST_KNOTS,
	COST_NOISE_SHARE,
	COST_VERDICT,
	COST_UNITS_NEEDED,
	COST_CALLS_LEFT,
	COST_WITH_DELTA,
	COST_BUDGET,
	COST_EPSILON_CHARGED,
	COST_DELTA_CHARGED,
	COST_EPSILON_LEFT,
	COST_EPSILON_LEFT_AFTER,
	COST_LAMBDA_USED,
	COST_LAMBDA_EFFECTIVE,
	COST_EPSILON_SLACK,			/* and the other shares, in their order */
	COST_EPSILON_NOISE,
	COST_EPSILON_RELEASE,
	COST_NOISE_NORM,
	COST_COLUMNS
};

/* Is the share of the noise useful with this many rows? */
static bool
is_useful(DpermPlan *plan, int64 rows)
{
	dperm_plan_for(plan, rows);
	return plan->noise_share <= DPERM_NOISE_USEFUL;
}

/*
 * The number of rows or persons at which the share becomes useful, on the side of
 * the expected number where that is; 0 if there is none.
 */
static int64
units_needed(DpermPlan *plan, int64 expected)
{
	bool		enough = is_useful(plan, expected);
	int64		low = enough ? 0 : expected;
	int64		high = enough ? expected : DPERM_ROWS_MAX;

	if (!is_useful(plan, high))
		return 0;
	while (high - low > 1)
	{
		int64		middle = low + (high - low) / 2;

		if (is_useful(plan, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* What the label and the features are, as a model has them. */
static void
fill_inputs(char **row, const DpermPlan *plan, const DpermSource *source)
{
	const DpermLabels *labels = &plan->options->labels;
	const char *positive = labels->positive ? labels->positive :
		source->label.type == BOOLOID ? "true" : NULL;
	DpermModel	model = {
		.loss = plan->options->loss,
		.label = {source->label_column, strlen(source->label_column)},
		.has_positive = positive != NULL,
		.positive = {positive, positive ? strlen(positive) : 0},
		.label_low = labels->low,
		.label_high = labels->high,
		.classes = {labels->classes, labels->classes ? strlen(labels->classes) : 0},
		.encoder = plan->encoder
	};

	row[COST_LABEL] = (char *) dperm_model_print_label(&model).bytes;
	row[COST_FEATURES] = (char *) dperm_model_print_features(&model).bytes;
}

/* What a training of so many units is: its noise, and whether that leaves enough. */
static void
fill_training(char **row, DpermPlan *plan, const DpermSource *source, int64 units)
{
	int64		needed = units_needed(plan, units);
	const DpermSetup *setup = &plan->setup;
	int			knots;

	dperm_plan_for(plan, units);
	dperm_plan_check(plan);
	knots = dperm_encoder_is_open(&plan->open) ? plan->knots : plan->options->knots;
	fill_inputs(row, plan, source);
	row[COST_DELTA] = double_to_shortest_decimal(setup->delta);
	if (!isinf(setup->epsilon))
	{
		row[COST_METHOD] = pstrdup(dperm_mechanism_name(setup->method));
		row[COST_NOISE] = setup->noise ? "shaped" : "ball";
	}
	if (knots > 0)
		row[COST_KNOTS] = psprintf("%d", knots);
	row[COST_NOISE_SHARE] = double_to_shortest_decimal(plan->noise_share);
	row[COST_VERDICT] = plan->noise_share <= DPERM_NOISE_USEFUL ? "useful" :
		plan->noise_share <= DPERM_NOISE_TOO_MUCH ? "poor" : "noise";
	if (needed > 0)
		row[COST_UNITS_NEEDED] = psprintf(INT64_FORMAT, needed);
	row[COST_LAMBDA_USED] = double_to_shortest_decimal(setup->lambda);
	row[COST_LAMBDA_EFFECTIVE] = double_to_shortest_decimal(plan->calibration.lambda);
	for (int i = 0; i < DPERM_SHARE_COUNT; i++)
		row[COST_EPSILON_SLACK + i] = double_to_shortest_decimal(plan->calibration.claim.shares[i]);
	row[COST_NOISE_NORM] =
		double_to_shortest_decimal(dperm_noise_share_norm(setup, &plan->calibration));
}

/*
 * What a call would charge to the budget of a protected relation, from its budget to what
 * is left after it, and how many such calls are left; nothing for other relations.
 * Returns the delta that budget and grant allow in all.
 */
double
dperm_cost_charge(const DpermSource *source, const DpermOptions *options, DpermCallKind kind,
				  char **calls_left, char **columns)
{
	DpermCharge charge;
	DpermQuote	quote;

	if (source->registration == NULL)
		return 0;
	charge = dperm_call_charge_charge(source, options, kind, NULL);
	quote = dperm_budget_preview(&charge);
	*calls_left = psprintf(INT64_FORMAT, quote.calls);
	columns[0] = charge.budget->name;
	columns[1] = pstrdup(quote.epsilon);
	columns[2] = pstrdup(quote.delta);
	columns[3] = pstrdup(quote.left);
	columns[4] = quote.allowed ? pstrdup(quote.left_after) : NULL;
	return quote.delta_limit;
}

/*
 * The same call with a delta beside it, if budget and grant have one: a thousandth
 * of it, rounded down to a power of ten. As JSON, without what is NULL.
 */
static char *
print_beside(DpermOptions options, const DpermSource *source, int64 units, double limit,
			 AttInMetadata *result)
{
	char	   *row[COST_COLUMNS] = {NULL};
	bool		spends = options.delta > 0;
	DpermPlan	plan;
	Datum		json;

	options.delta = pow(10, floor(log10(limit) + 1e-9) - DELTA_BESIDE);
	if (!(options.delta >= DPERM_DELTA_MIN) || spends ||
		options.analysis != DPERM_ANALYSIS_SHARP)
		return NULL;
	dperm_call_charge_settle(&options, source);
	plan = dperm_plan_begin(&options, &source->spec.encoder, NULL);
	fill_training(row, &plan, source, units);
	(void) dperm_cost_charge(source, &options, DPERM_CALL_TRAINING, &row[COST_CALLS_LEFT],
							 &row[COST_BUDGET]);
	if (row[COST_EPSILON_LEFT_AFTER] == NULL)
		return NULL;
	for (int i = 0; i < COST_COLUMNS; i++)
		if (i < COST_DELTA || i > COST_CALLS_LEFT)
			row[i] = NULL;
	json = DirectFunctionCall1(row_to_json,
							   HeapTupleGetDatum(BuildTupleFromCStrings(result, row)));
	return TextDatumGetCString(DirectFunctionCall1(json_strip_nulls, json));
}

/* The learner of the training, as it is called in the names of functions. */
static DpermLearner
learner_argument(FunctionCallInfo fcinfo)
{
	static const char *const names[] = {
		[DPERM_LEARNER_LOGREG] = "logreg",
		[DPERM_LEARNER_SVM] = "svm",
		[DPERM_LEARNER_LINREG] = "linreg"
	};
	const char *name = dperm_arguments_text(fcinfo, "learner");
	int			learner = name ? dperm_find_name(names, lengthof(names), name) :
		DPERM_LEARNER_LOGREG;

	if (learner < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown learner \"%s\"", name),
				 errhint("Use 'logreg', 'svm' or 'linreg'.")));
	return (DpermLearner) learner;
}

/*
 * The number of rows or persons to expect: from the caller; or else that of the
 * newest kept release, whoever paid, since n is public; or else, for rows, from the
 * catalog.
 */
static int64
expected_units(FunctionCallInfo fcinfo, const DpermSource *source, char **from)
{
	const DpermRegistration *registration = source->registration;
	Datum		given;
	int64		units = 0;

	if (dperm_arguments_get(fcinfo, "units", INT8OID, &given))
	{
		*from = "given";
		units = DatumGetInt64(given);
		if (units < 1 || units > DPERM_ROWS_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("units must be between 1 and " INT64_FORMAT, (int64) DPERM_ROWS_MAX),
					 errhint("units is the number of rows, or persons, to expect, for example "
							 "units => 10000.")));
		return units;
	}
	*from = "release";
	if (registration)
		units = dperm_own_rows_units(registration->table->id);
	if (units <= 0 && source->unit == NULL)
	{
		*from = "catalog";
		units = dperm_relation_estimated_rows(registration ? registration->table->relation :
											  source->relation);
	}
	if (units <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("units must be specified for %s", source->unit ? "persons" :
						psprintf("relation \"%s\"", get_rel_name(source->relation))),
				 errhint("units is the number of %s to expect, for example units => 10000%s.",
						 source->unit ? "persons" : "rows",
						 source->unit ? "" : "; for a plain table, ANALYZE provides an estimate")));
	return Min(units, DPERM_ROWS_MAX);
}

/*
 * dp_cost(relation, label, features, epsilon, ...): for a training with these
 * arguments. Locks on a protected relation are released, so that a role without
 * rights on it cannot block its owner for the rest of a transaction.
 */
Datum
dp_cost(PG_FUNCTION_ARGS)
{
	DpermLearner learner = learner_argument(fcinfo);
	ResourceOwner look = dperm_call_look();
	const DpermRegistration *registration = dperm_protection_open(
		dperm_source_find(
			dperm_arguments_required_text(fcinfo, "relation", DPERM_RELATION_REQUIRED)), NIL);
	DpermOptions options;
	DpermSource source;
	DpermPlan	plan;
	TupleDesc	desc;
	AttInMetadata *result;
	char	   *row[COST_COLUMNS] = {NULL};
	int64		units;
	double		limit;

	dperm_train_open(fcinfo, learner, registration, false, &options, &source, &plan);
	dperm_call_look_away(look, registration == NULL);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != COST_COLUMNS)
		elog(ERROR, "return type must be a row type");
	result = TupleDescGetAttInMetadata(desc);
	units = expected_units(fcinfo, &source, &row[COST_UNITS_FROM]);
	row[COST_UNITS] = psprintf(INT64_FORMAT, units);
	dperm_source_tell(&source);
	fill_training(row, &plan, &source, units);
	limit = dperm_cost_charge(&source, &options, DPERM_CALL_TRAINING, &row[COST_CALLS_LEFT],
							  &row[COST_BUDGET]);
	dperm_plan_tell_delta(&plan, units);
	row[COST_WITH_DELTA] = print_beside(options, &source, units, limit, result);
	PG_RETURN_DATUM(HeapTupleGetDatum(BuildTupleFromCStrings(result, row)));
}
