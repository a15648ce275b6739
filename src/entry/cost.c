/*
 * cost.c: dp_cost, what a training would spend and how much noise it would add,
 * before it reads a row.
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

/*
 * A model is likely to be useful if the noise is at most this share of the size
 * that weights can have.
 */
#define USEFUL_SHARE 0.5

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
	int			dim;
} Planned;

/* The setup with this many rows, which decide on the number of knots. */
static DpermSetup
setup_for(Planned *planned, int64 rows)
{
	int			knots = dperm_knots_rule(&planned->knots_noise, rows);

	if (knots != planned->knots)
	{
		DpermEncoder bent = dperm_options_bend(planned->encoder, knots);

		planned->knots = knots;
		planned->noise = dperm_options_noise(&planned->options, &bent, false);
		planned->dim = dperm_encoder_dim(&bent);
	}
	return dperm_options_setup(&planned->options, planned->dim, planned->noise, rows);
}

/*
 * The noise as a share of the weights with this many rows; infinite if the
 * parameters make no sense.
 */
static double
noise_share(Planned *planned, int64 rows)
{
	DpermSetup	setup = setup_for(planned, rows);

	CHECK_FOR_INTERRUPTS();
	return dperm_noise_share(&setup);
}

/* The number of rows or persons at which the share becomes useful; 0 if there is none. */
static int64
units_needed(Planned *planned)
{
	int64		low = 0;
	int64		high = 1;

	while (noise_share(planned, high) > USEFUL_SHARE)
	{
		if (high > DPERM_ROWS_MAX / 2)
			return 0;
		low = high;
		high *= 2;
	}
	while (high - low > 1)
	{
		int64		middle = low + (high - low) / 2;

		if (noise_share(planned, middle) > USEFUL_SHARE)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Write a column of the result. */
static void
put_column(TupleDesc desc, const char *name, Datum value, bool isnull, Datum *values, bool *nulls)
{
	for (int i = 0; i < desc->natts; i++)
		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
		{
			values[i] = value;
			nulls[i] = isnull;
		}
}

/* An exact amount. */
static Datum
numeric_of(const char *amount)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(amount), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/* Write a column that is a number. */
static void
put_number(TupleDesc desc, const char *name, double value, Datum *values, bool *nulls)
{
	put_column(desc, name, Float8GetDatum(value), false, values, nulls);
}

/* What a training costs. */
static void
fill_training(Planned *planned, TupleDesc desc, Datum *values, bool *nulls)
{
	DpermSetup	setup = setup_for(planned, planned->rows);
	DpermCalibration calibration;
	int64		needed;
	double		norm;
	int			knots;

	calibration = dperm_host_calibrate(&setup);
	norm = dperm_noise_share_norm(&setup, &calibration);
	knots = dperm_bend_is_open(&planned->encoder) ? planned->knots : planned->options.knots;
	needed = units_needed(planned);
	put_column(desc, "knots", Int32GetDatum(knots), knots == 0, values, nulls);
	put_column(desc, "noise", CStringGetTextDatum(setup.noise ? "shaped" : "ball"),
			   isinf(setup.epsilon), values, nulls);
	put_column(desc, "method", CStringGetTextDatum(dperm_mechanism_name(setup.method)),
			   isinf(setup.epsilon), values, nulls);
	put_column(desc, "neighbours",
			   CStringGetTextDatum(dperm_claim_neighbours_name(setup.neighbours)),
			   isinf(setup.epsilon), values, nulls);
	put_number(desc, "delta", setup.delta, values, nulls);
	put_number(desc, "lambda_used", setup.lambda, values, nulls);
	put_number(desc, "lambda_effective", calibration.lambda, values, nulls);
	put_number(desc, "epsilon_slack", calibration.claim.shares[DPERM_SHARE_SLACK], values, nulls);
	put_number(desc, "epsilon_noise", calibration.claim.shares[DPERM_SHARE_NOISE], values, nulls);
	put_number(desc, "epsilon_release", calibration.claim.shares[DPERM_SHARE_RELEASE], values,
			   nulls);
	put_number(desc, "noise_norm", norm, values, nulls);
	put_number(desc, "weight_error", norm / sqrt(setup.dim), values, nulls);
	put_number(desc, "weight_bound", dperm_noise_share_bound(&setup, &calibration), values, nulls);
	put_number(desc, "noise_share", noise_share(planned, setup.rows), values, nulls);
	put_column(desc, "units_needed", Int64GetDatum(needed), needed == 0, values, nulls);
	dperm_options_advise(&setup, planned->rows);
}

/*
 * What a training would charge to the budget of a protected relation; nothing
 * for other relations.
 */
static void
fill_charge(const Planned *planned, const DpermSource *source, TupleDesc desc, Datum *values,
			bool *nulls)
{
	DpermCharge charge;
	DpermQuote	quote;

	if (source->registration == NULL)
		return;
	charge = dperm_call_charge_charge(source, &planned->options, DPERM_CALL_TRAINING, NULL);
	quote = dperm_budget_preview(&charge);
	put_column(desc, "budget", CStringGetTextDatum(charge.budget->name), false, values, nulls);
	put_column(desc, "epsilon_charged", numeric_of(quote.epsilon), false, values, nulls);
	put_column(desc, "delta_charged", numeric_of(quote.delta), false, values, nulls);
	put_column(desc, "epsilon_left", numeric_of(quote.left), false, values, nulls);
	put_column(desc, "epsilon_left_after", numeric_of(quote.left_after), !quote.allowed, values,
			   nulls);
	put_column(desc, "calls_left", Int64GetDatum(quote.calls), false, values, nulls);
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

/* The number of rows or persons to expect: from the caller, or else from the catalog. */
static int64
expected_units(FunctionCallInfo fcinfo, const DpermSource *source)
{
	int64		estimate = source->unit ? 0 : dperm_relation_estimated_rows(source->relation);
	Datum		units;

	if (dperm_arguments_get(fcinfo, "units", INT8OID, &units))
	{
		int64		expected = DatumGetInt64(units);

		if (expected < 1 || expected > DPERM_ROWS_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("units must be between 1 and " INT64_FORMAT, (int64) DPERM_ROWS_MAX),
					 errhint("units is the number of rows, or persons, to expect, for example "
							 "units => 10000.")));
		return expected;
	}
	if (estimate == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 source->unit ? errmsg("units must be specified for persons") :
				 errmsg("units must be specified for relation \"%s\"",
						get_rel_name(source->relation)),
				 errhint("units is the number of %s to expect, for example units => 10000%s.",
						 source->unit ? "persons" : "rows",
						 source->unit ? "" : "; for a plain table, ANALYZE provides an "
						 "estimate")));
	ereport(NOTICE,
			(errmsg("units is " INT64_FORMAT ", the estimate in the catalog for relation \"%s\"",
					estimate, get_rel_name(source->relation))));
	return estimate;
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
	Planned		planned;
	DpermSource source;
	TupleDesc	desc;
	Datum	   *values;
	bool	   *nulls;

	open_source(fcinfo, learner, &planned.options, &source);
	planned.rows = expected_units(fcinfo, &source);
	planned.encoder = source.spec.encoder;
	planned.knots_noise = dperm_options_knots_noise(&planned.options, &planned.encoder);
	planned.knots = 0;
	dperm_source_notes_tell(&source);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values = palloc(sizeof(Datum) * desc->natts);
	nulls = palloc(sizeof(bool) * desc->natts);
	memset(nulls, true, sizeof(bool) * desc->natts);
	fill_training(&planned, desc, values, nulls);
	fill_charge(&planned, &source, desc, values, nulls);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
