/*
 * cost.c: dp_cost, what a training would be and spend, and how much noise it
 * would add, before it reads a row.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "base/arguments.h"
#include "base/host.h"
#include "base/options.h"
#include "budget/budget.h"
#include "column/model_type.h"
#include "core/base/limits.h"
#include "core/base/names.h"
#include "core/encode/bend.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"
#include "core/mechanism/noise_share.h"
#include "entry/entry.h"
#include "protect/protection.h"
#include "query/source_notes.h"
#include "relation/relation.h"
#include "train/call_charge.h"

PG_FUNCTION_INFO_V1(dp_cost);

/* The delta beside a call: that of the budget, divided by ten to this power. */
#define DELTA_BESIDE 3

/* The columns of the result. Those from delta to calls_left are in with_delta, too. */
typedef enum Column
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
} Column;

/* A row of the result: what is not put is NULL. */
typedef struct Row
{
	Datum		values[COST_COLUMNS];
	bool		has[COST_COLUMNS];
} Row;

/* A planned training, before it reads a row. */
typedef struct Planned
{
	DpermOptions options;
	DpermEncoder encoder;
	DpermKnotsNoise knots_noise;	/* for the rule that chooses the knots of open numbers */
	int64		rows;
	/* for some number of rows */
	int			knots;			/* 0: none yet */
	DpermNoisePlans noise;
	DpermEncoder bent;
} Planned;

/* Put a value into a row. */
static void
put(Row *row, Column column, Datum value)
{
	row->values[column] = value;
	row->has[column] = true;
}

/* Put a text. */
static void
put_text(Row *row, Column column, const char *text)
{
	put(row, column, CStringGetTextDatum(text));
}

/* Put an exact amount. */
static void
put_amount(Row *row, Column column, const char *amount)
{
	put(row, column, DirectFunctionCall3(numeric_in, CStringGetDatum(amount),
										 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

/* Put JSON. */
static void
put_json(Row *row, Column column, const char *json)
{
	put(row, column, DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
}

/* A training with these options over a source. */
static Planned
plan(const DpermOptions *options, const DpermSource *source, int64 rows)
{
	return (Planned) {
		.options = *options,
		.encoder = source->spec.encoder,
		.knots_noise = dperm_options_knots_noise(options, &source->spec.encoder),
		.rows = rows
	};
}

/* The setup with this many rows, which decide on the number of knots. */
static DpermSetup
setup_for(Planned *planned, int64 rows)
{
	int			knots = dperm_knots_rule(&planned->knots_noise, rows);

	if (knots != planned->knots)
	{
		planned->knots = knots;
		planned->bent = dperm_options_bend(planned->encoder, knots);
		planned->noise = dperm_options_noise(&planned->options, NULL, &planned->bent, false);
	}
	return dperm_options_setup(&planned->options, dperm_encoder_dim(&planned->bent),
							   planned->noise, rows);
}

/*
 * The share of the noise with this many rows; infinite if the parameters make no
 * sense.
 */
static double
noise_share(Planned *planned, int64 rows)
{
	DpermSetup	setup = setup_for(planned, rows);

	CHECK_FOR_INTERRUPTS();
	return dperm_noise_share(&setup);
}

/*
 * The number of rows or persons at which the share becomes useful, on the side of
 * the expected number where that is; 0 if there is none.
 */
static int64
units_needed(Planned *planned)
{
	bool		enough = noise_share(planned, planned->rows) <= DPERM_NOISE_USEFUL;
	int64		low = enough ? 0 : planned->rows;
	int64		high = enough ? planned->rows : DPERM_ROWS_MAX;

	if (noise_share(planned, high) > DPERM_NOISE_USEFUL)
		return 0;
	while (high - low > 1)
	{
		int64		middle = low + (high - low) / 2;

		if (noise_share(planned, middle) > DPERM_NOISE_USEFUL)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* What a training is: its noise, and whether that leaves enough. */
static void
fill_noise(Row *row, Planned *planned)
{
	int64		needed = units_needed(planned);
	DpermSetup	setup = setup_for(planned, planned->rows);
	DpermCalibration calibration = dperm_host_calibrate(&setup);
	double		share = dperm_noise_share(&setup);
	int			knots = dperm_bend_is_open(&planned->encoder) ? planned->knots :
		planned->options.knots;

	put(row, COST_DELTA, Float8GetDatum(setup.delta));
	if (!isinf(setup.epsilon))
	{
		put_text(row, COST_METHOD, dperm_mechanism_name(setup.method));
		put_text(row, COST_NOISE, setup.noise ? "shaped" : "ball");
	}
	if (knots > 0)
		put(row, COST_KNOTS, Int32GetDatum(knots));
	put(row, COST_NOISE_SHARE, Float8GetDatum(share));
	put_text(row, COST_VERDICT, share <= DPERM_NOISE_USEFUL ? "useful" :
			 share <= DPERM_NOISE_TOO_MUCH ? "poor" : "noise");
	if (needed > 0)
		put(row, COST_UNITS_NEEDED, Int64GetDatum(needed));
	put(row, COST_LAMBDA_USED, Float8GetDatum(setup.lambda));
	put(row, COST_LAMBDA_EFFECTIVE, Float8GetDatum(calibration.lambda));
	for (int i = 0; i < DPERM_SHARE_COUNT; i++)
		put(row, COST_EPSILON_SLACK + i, Float8GetDatum(calibration.claim.shares[i]));
	put(row, COST_NOISE_NORM, Float8GetDatum(dperm_noise_share_norm(&setup, &calibration)));
}

/*
 * What a training would charge to the budget of a protected relation; nothing
 * for other relations. Returns the delta that budget and grant allow in all.
 */
static double
fill_charge(Row *row, const Planned *planned, const DpermSource *source)
{
	DpermCharge charge;
	DpermQuote	quote;

	if (source->registration == NULL)
		return 0;
	charge = dperm_call_charge_charge(source, &planned->options, DPERM_CALL_TRAINING, NULL);
	quote = dperm_budget_preview(&charge);
	put(row, COST_CALLS_LEFT, Int64GetDatum(quote.calls));
	put_text(row, COST_BUDGET, charge.budget->name);
	put_amount(row, COST_EPSILON_CHARGED, quote.epsilon);
	put_amount(row, COST_DELTA_CHARGED, quote.delta);
	put_amount(row, COST_EPSILON_LEFT, quote.left);
	if (quote.allowed)
		put_amount(row, COST_EPSILON_LEFT_AFTER, quote.left_after);
	return quote.delta_limit;
}

/* What the label and the features are, as a model has them. */
static void
fill_inputs(Row *row, const Planned *planned, const DpermSource *source)
{
	const DpermLabels *labels = &planned->options.labels;
	const char *positive = labels->positive ? labels->positive :
		source->label_plain ? (source->label_negated ? "false" : "true") : NULL;
	DpermModel	model = {
		.loss = planned->options.loss,
		.label = {source->label_column, strlen(source->label_column)},
		.has_positive = positive != NULL,
		.positive = {positive, positive ? strlen(positive) : 0},
		.label_low = labels->low,
		.label_high = labels->high,
		.classes = {labels->classes, labels->classes ? strlen(labels->classes) : 0},
		.encoder = planned->bent
	};

	put_json(row, COST_LABEL, dperm_model_type_print(&model, dperm_model_print_label));
	put_json(row, COST_FEATURES, dperm_model_type_print(&model, dperm_model_print_features));
}

/* A row as JSON, without what is NULL. */
static Datum
as_json(HeapTuple row)
{
	Datum		json = DirectFunctionCall1(row_to_json, HeapTupleGetDatum(row));

	return DirectFunctionCall1(jsonb_strip_nulls, DirectFunctionCall1(
								   jsonb_in, CStringGetDatum(TextDatumGetCString(json))));
}

/*
 * The same call with a delta beside it, if budget and grant have one: a thousandth
 * of it, rounded down to a power of ten.
 */
static void
fill_beside(Row *row, const Planned *planned, const DpermSource *source, double limit,
			TupleDesc desc)
{
	DpermOptions options = planned->options;
	Row			beside = {0};
	Planned		with_delta;
	bool		nulls[COST_COLUMNS];

	options.delta = pow(10, floor(log10(limit) + 1e-9) - DELTA_BESIDE);
	if (!(options.delta >= DPERM_DELTA_MIN) || planned->options.delta > 0 ||
		options.analysis != DPERM_ANALYSIS_SHARP)
		return;
	dperm_call_charge_settle(&options, source);
	with_delta = plan(&options, source, planned->rows);
	fill_noise(&beside, &with_delta);
	fill_charge(&beside, &with_delta, source);
	if (!beside.has[COST_EPSILON_LEFT_AFTER])
		return;
	for (int i = 0; i < COST_COLUMNS; i++)
		nulls[i] = !beside.has[i] || i < COST_DELTA || i > COST_CALLS_LEFT;
	put(row, COST_WITH_DELTA, as_json(heap_form_tuple(desc, beside.values, nulls)));
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
expected_units(FunctionCallInfo fcinfo, const DpermSource *source, const char **from)
{
	const DpermRegistration *registration = source->registration;
	Datum		given;
	int64		units = 0;

	*from = "given";
	if (dperm_arguments_get(fcinfo, "units", INT8OID, &given))
	{
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
		units = dperm_own_rows_units(registration->view_of ? registration->view_of :
									 registration->id);
	if (units > 0)
		return units;
	*from = "catalog";
	if (source->unit == NULL)
		units = dperm_relation_estimated_rows(registration ? dperm_protection_table(registration) :
											  source->relation);
	if (units > 0)
		return Min(units, DPERM_ROWS_MAX);
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 source->unit ? errmsg("units must be specified for persons") :
			 errmsg("units must be specified for relation \"%s\"", get_rel_name(source->relation)),
			 errhint("units is the number of %s to expect, for example units => 10000%s.",
					 source->unit ? "persons" : "rows",
					 source->unit ? "" : "; for a plain table, ANALYZE provides an estimate")));
}

/*
 * Open the source. Locks on a protected relation are released, so that a role
 * without rights on it cannot block its owner for the rest of a transaction.
 */
static void
open_source(FunctionCallInfo fcinfo, DpermLearner learner, DpermOptions *options,
			DpermSource *source)
{
	ResourceOwner look = dperm_locks_look();
	const DpermRegistration *registration = dperm_protection_open(
		dperm_source_find(
			dperm_arguments_required_text(fcinfo, "relation", DPERM_RELATION_REQUIRED)), NIL);

	dperm_train_open(fcinfo, learner, registration, false, options, source);
	dperm_locks_look_away(look, registration == NULL);
}

/*
 * dp_cost(relation, label, features, epsilon, ...): for a training with these
 * arguments
 */
Datum
dp_cost(PG_FUNCTION_ARGS)
{
	DpermLearner learner = learner_argument(fcinfo);
	DpermOptions options;
	DpermSource source;
	Planned		planned;
	DpermSetup	setup;
	TupleDesc	desc;
	Row			row = {0};
	bool		nulls[COST_COLUMNS];
	const char *from;
	double		limit;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != COST_COLUMNS)
		elog(ERROR, "return type must be a row type");
	desc = BlessTupleDesc(desc);
	open_source(fcinfo, learner, &options, &source);
	planned = plan(&options, &source, expected_units(fcinfo, &source, &from));
	dperm_source_notes_tell(&source);
	put(&row, COST_UNITS, Int64GetDatum(planned.rows));
	put_text(&row, COST_UNITS_FROM, from);
	fill_noise(&row, &planned);
	fill_inputs(&row, &planned, &source);
	limit = fill_charge(&row, &planned, &source);
	setup = setup_for(&planned, planned.rows);
	dperm_options_advise(&setup, planned.rows);
	fill_beside(&row, &planned, &source, limit, desc);
	for (int i = 0; i < COST_COLUMNS; i++)
		nulls[i] = !row.has[i];
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, row.values, nulls)));
}
