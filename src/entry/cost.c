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
#include "utils/tuplestore.h"

#include "base/arguments.h"
#include "base/host.h"
#include "base/option_table.h"
#include "base/result_set.h"
#include "core/base/limits.h"
#include "core/encode/bend.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"
#include "core/mechanism/noise_share.h"
#include "entry/train.h"
#include "query/source_notes.h"
#include "relation/relation.h"
#include "train/call_charge.h"

PG_FUNCTION_INFO_V1(dp_cost);
PG_FUNCTION_INFO_V1(dperm_cost_source);

/*
 * A model is likely to be useful if the noise is at most this share of the size
 * that weights can have.
 */
#define USEFUL_SHARE 0.5

/* A planned training, before it reads a row. */
typedef struct Planned
{
	DpermOptions options;
	DpermEncoder encoder;		/* without blocks if only the dimension is known */
	DpermKnotsNoise knots_noise;	/* for the rule that chooses the knots of open numbers */
	int64		rows;
	/* for some number of rows */
	int			knots;			/* 0: none yet */
	DpermNoisePlans noise;
	int			dim;
} Planned;

/* Plan for an encoder, with options that are settled. */
static void
plan_encoder(Planned *planned, const DpermEncoder *encoder)
{
	planned->encoder = *encoder;
	planned->knots_noise = dperm_options_knots_noise(&planned->options, encoder);
	planned->knots = 0;
}

/* The setup with this many rows, which decide on the number of knots. */
static DpermSetup
setup_for(Planned *planned, int64 rows)
{
	const DpermEncoder *encoder = &planned->encoder;
	int			knots =
		encoder->blocks ? dperm_knots_rule(&planned->knots_noise, rows) : planned->knots;

	if (knots != planned->knots)
	{
		DpermEncoder bent = dperm_options_bend(*encoder, knots);

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

/* The number of rows at which the share becomes useful; 0 if there is none. */
static int64
rows_needed(Planned *planned)
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

/* Write a column of the result, if this version of dp_cost has it. */
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

/*
 * The number of rows and the dimension are arguments here, so the errors name
 * them.
 */
static void
check_size(const Planned *planned)
{
	if (planned->rows < 1 || planned->rows > DPERM_ROWS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows must be between 1 and " INT64_FORMAT, (int64) DPERM_ROWS_MAX),
				 errhint("rows is the number of rows to expect, for example rows => 10000.")));
	if (planned->dim < 1 || planned->dim > DPERM_DIM_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dimension must be between 1 and %d", DPERM_DIM_MAX),
				 errhint("dimension is the number of weights: one for each number, category and "
						 "vector element, and one for the intercept.")));
}

/* What a training costs: one row of the result. Returns its setup. */
static DpermSetup
fill_row(Planned *planned, TupleDesc desc, Datum *values, bool *nulls)
{
	DpermSetup	setup = setup_for(planned, planned->rows);
	DpermCalibration calibration;
	int64		needed;
	double		norm;
	int			knots;

	calibration = dperm_host_calibrate(&setup);
	norm = dperm_noise_share_norm(&setup, &calibration);
	knots = dperm_bend_is_open(&planned->encoder) ? planned->knots : planned->options.knots;
	needed = rows_needed(planned);
	memset(nulls, true, sizeof(bool) * desc->natts);
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
	put_column(desc, "risk", Float8GetDatum(dperm_calibrate_expected_risk(&setup)),
			   isinf(setup.epsilon), values, nulls);
	put_column(desc, "rows_needed", Int64GetDatum(needed), needed == 0, values, nulls);
	return setup;
}

/*
 * What a training would charge to the budget of a protected relation; nothing
 * for other relations.
 */
static void
fill_charge(const Planned *planned, const DpermSource *source, Oid function, TupleDesc desc,
			Datum *values, bool *nulls)
{
	DpermCharge charge;
	DpermQuote	quote;

	if (source->registration == NULL)
		return;
	charge = dperm_call_charge_charge(source, &planned->options, DPERM_CALL_TRAINING, function);
	quote = dperm_debit_preview(&charge);
	put_column(desc, "budget", CStringGetTextDatum(charge.budget), false, values, nulls);
	put_column(desc, "epsilon_charged", numeric_of(quote.epsilon), false, values, nulls);
	put_column(desc, "delta_charged", numeric_of(quote.delta), false, values, nulls);
	put_column(desc, "epsilon_left", numeric_of(quote.left), false, values, nulls);
	put_column(desc, "epsilon_left_after", numeric_of(quote.left_after), !quote.allowed, values,
			   nulls);
	put_column(desc, "calls_left", Int64GetDatum(quote.calls), false, values, nulls);
}

/*
 * The learner that a loss belongs to; an unknown loss raises an error when it
 * is set.
 */
static DpermLearner
learner_of(const char *loss)
{
	DpermLossKind kind;

	if (loss == NULL)
		return DPERM_LEARNER_LOGREG;
	if (strcmp(loss, dperm_loss_name(DPERM_LOSS_SOFTMAX)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("loss \"%s\" is that of several classes", loss),
				 errhint("Omit loss, and specify classes.")));
	return dperm_loss_parse(loss, &kind) ? dperm_loss_entry((int) kind)->learner :
										   DPERM_LEARNER_SVM;
}

/* Raise an error for classes of a learner that has two, or none. */
static void
refuse_classes_of(DpermLearner learner)
{
	if (learner != DPERM_LEARNER_LOGREG)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a %s cannot have several classes", dperm_loss_learner_name(learner)),
				 errhint("Omit classes or loss.")));
}

/* Set the number of classes. */
static void
set_class_count(DpermOptions *options, int count)
{
	DpermLabels labels = {.kind = DPERM_LABEL_SEVERAL, .class_count = count};

	refuse_classes_of(options->learner);
	if (count < DPERM_CLASSES_MIN || count > DPERM_DIM_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("classes must be between %d and %d", DPERM_CLASSES_MIN, DPERM_DIM_MAX),
				 errhint("Omit classes if there are two.")));
	dperm_options_set_labels(options, &labels);
}

/*
 * dp_cost(rows, dimension, epsilon, lambda, method, analysis, loss, h):
 * for any rows with this many coordinates
 */
Datum
dp_cost(PG_FUNCTION_ARGS)
{
	Planned		planned = {.knots = 1};
	DpermSetup	setup;
	TupleDesc	desc;
	Datum	   *values;
	bool	   *nulls;
	Datum		rows,
				dimension,
				epsilon,
				classes;

	if (!dperm_arguments_get(fcinfo, "rows", INT8OID, &rows) ||
		!dperm_arguments_get(fcinfo, "dimension", INT4OID, &dimension) ||
		!dperm_arguments_get(fcinfo, "epsilon", FLOAT8OID, &epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("rows, dimension and epsilon must not be null"),
				 errhint("Call dp_cost(rows => 10000, dimension => 20, epsilon => 1).")));
	planned.rows = DatumGetInt64(rows);
	planned.dim = DatumGetInt32(dimension);
	check_size(&planned);
	dperm_options_init(&planned.options, learner_of(dperm_arguments_text(fcinfo, "loss")));
	dperm_option_table_arguments(&planned.options, DPERM_PLACE_COST, fcinfo);
	dperm_options_settle(&planned.options);
	if (dperm_arguments_get(fcinfo, "classes", INT4OID, &classes))
		set_class_count(&planned.options, DatumGetInt32(classes));
	dperm_options_check_size(&planned.options, planned.dim);

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values = palloc(sizeof(Datum) * desc->natts);
	nulls = palloc(sizeof(bool) * desc->natts);
	setup = fill_row(&planned, desc, values, nulls);
	dperm_options_advise(&setup, planned.rows);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/* The number of rows to expect: from the caller, or else from the catalog. */
static int64
expected_rows(FunctionCallInfo fcinfo, const DpermSource *source)
{
	int64		estimate = source->unit ? 0 : dperm_relation_estimated_rows(source->relation);
	Datum		rows;

	if (dperm_arguments_get(fcinfo, "rows", INT8OID, &rows))
		return DatumGetInt64(rows);
	if (estimate == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 source->unit ? errmsg("rows must be specified for persons") :
				 errmsg("rows must be specified for relation \"%s\"",
						get_rel_name(source->relation)),
				 errhint("rows is the number of %s to expect, for example rows => 10000%s.",
						 source->unit ? "persons" : "rows",
						 source->unit ? "" : "; for a plain table, ANALYZE provides an "
						 "estimate")));
	ereport(NOTICE,
			(errmsg("rows is " INT64_FORMAT ", the estimate in the catalog for relation \"%s\"",
					estimate, get_rel_name(source->relation))));
	return estimate;
}

/* The ways to train that are rows of the result. */
typedef struct Ways
{
	Tuplestorestate *store;
	TupleDesc	desc;
	bool		shown[DPERM_METHOD_COUNT][DPERM_LAW_COUNT][2];	/* the ball, and a shape */
} Ways;

/* Add a row for a way to train, unless it exists already or makes no sense. */
static void
add_way(Ways *ways, Planned *planned, const DpermSource *source, Oid function, bool chosen)
{
	Datum	   *values = palloc(sizeof(Datum) * ways->desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * ways->desc->natts);
	DpermSetup	setup = setup_for(planned, planned->rows);
	bool	   *shown =
		&ways->shown[setup.method][dperm_setup_law(&setup)][setup.noise ? 1 : 0];

	if (*shown || (!chosen && isinf(noise_share(planned, planned->rows))))
		return;
	*shown = true;
	(void) fill_row(planned, ways->desc, values, nulls);
	put_column(ways->desc, "chosen", BoolGetDatum(chosen), false, values, nulls);
	fill_charge(planned, source, function, ways->desc, values, nulls);
	tuplestore_putvalues(ways->store, ways->desc, values, nulls);
	if (chosen)
		dperm_options_advise(&setup, planned->rows);
}

/*
 * Add the ways that the caller could ask for instead: arguments are fixed,
 * except that pure noise needs no delta.
 */
static void
add_alternatives(Ways *ways, const Planned *chosen, const DpermSource *source, Oid function)
{
	const DpermOptions *options = &chosen->options;

	for (int way = 0; way < DPERM_METHOD_COUNT * DPERM_LAW_COUNT * 2; way++)
	{
		Planned		planned = *chosen;
		DpermMethod method = way / 2 / DPERM_LAW_COUNT;
		bool		gaussian = way / 2 % DPERM_LAW_COUNT == DPERM_LAW_GAUSSIAN;

		if ((options->automatic ? options->objective_only && method != DPERM_METHOD_OBJECTIVE :
			 method != options->method) ||
			(gaussian ? options->delta == 0 : options->delta > 0 && !options->automatic) ||
			(way % 2 == 1 && options->noise != DPERM_NOISE_DEFAULT))
			continue;
		planned.options.automatic = false;
		planned.options.method = method;
		if (!gaussian)
			planned.options.delta = 0;
		if (way % 2 == 1)
			planned.options.noise = DPERM_NOISE_BALL;
		planned.options.slack = 0;
		dperm_call_charge_settle(&planned.options, source);
		plan_encoder(&planned, &source->spec.encoder);
		add_way(ways, &planned, source, function, false);
	}
}

/*
 * dp_cost(source, label, features, epsilon, rows, ...): for a training with
 * these arguments, and for the other ways that it could take
 */
Datum
dperm_cost_source(PG_FUNCTION_ARGS)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	Ways		ways = {NULL};
	Planned		planned;
	DpermSource source;
	DpermLearner learner = learner_of(dperm_arguments_text(fcinfo, "loss"));
	Datum		classes;

	if (dperm_arguments_get(fcinfo, "classes", TEXTARRAYOID, &classes))
		refuse_classes_of(learner);
	dperm_train_open(fcinfo, learner, false, &planned.options, &source);
	planned.rows = expected_rows(fcinfo, &source);
	planned.dim = dperm_encoder_dim(&source.spec.encoder);
	check_size(&planned);
	plan_encoder(&planned, &source.spec.encoder);
	dperm_source_notes_tell(&source);
	ways.store = dperm_result_set_begin(fcinfo, &ways.desc);
	add_way(&ways, &planned, &source, function, true);
	if (!isinf(planned.options.epsilon))
		add_alternatives(&ways, &planned, &source, function);
	return (Datum) 0;
}
