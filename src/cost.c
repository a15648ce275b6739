/*
 * cost.c: dp_cost, what a training would spend and with what noise, before it reads a row.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "arguments.h"
#include "core/base/limits.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"
#include "dperm.h"
#include "option_table.h"

PG_FUNCTION_INFO_V1(dp_cost);

/* A model is likely to be useful when the noise is at most this share of what weights can be. */
#define USEFUL_SHARE 0.5

/* Columns of the result. */
enum
{
	COST_LAMBDA,
	COST_LAMBDA_EFFECTIVE,
	COST_SLACK,
	COST_NOISE,
	COST_RELEASE,
	COST_NOISE_NORM,
	COST_WEIGHT_BOUND,
	COST_NOISE_SHARE,
	COST_ROWS_NEEDED,
	COST_COLUMNS
};

/*
 * A bound on the expected norm of the noise in the weights: what the mechanism adds, and the release noise, of variance
 * 2 T^2 per coordinate, in grid steps.
 */
static double
noise_norm(const DpermSetup *setup, const DpermCalibration *calibration)
{
	double		release = sqrt(2.0 * setup->dim) * calibration->release_scale *
		calibration->grid;

	return dperm_mechanism_entry((int) setup->method)->effect(setup, calibration) + release;
}

/* A bound on the norm of the weights without noise: the loss at zero bounds the regulariser. */
static double
weight_bound(const DpermSetup *setup, const DpermCalibration *calibration)
{
	double		start = dperm_loss_at(setup->loss, 0).value;

	return Min(sqrt(2 * start / calibration->lambda), 1 / calibration->lambda);
}

/* The noise as a share of the weights, infinite where the parameters make no sense. */
static double
noise_share(const DpermOptions *options, int dim, int64 rows)
{
	DpermSetup	setup = dperm_options_setup(options, dim, NULL, rows);
	DpermCalibration calibration;
	const char *why;

	if (dperm_calibrate(&setup, &calibration, &why) != DPERM_OK)
		return INFINITY;
	return noise_norm(&setup, &calibration) / weight_bound(&setup, &calibration);
}

/* The smallest number of rows with a useful share, 0 if there is none. */
static int64
rows_needed(const DpermOptions *options, int dim)
{
	int64		low = 0;
	int64		high = 1;

	while (noise_share(options, dim, high) > USEFUL_SHARE)
	{
		if (high > DPERM_ROWS_MAX / 2)
			return 0;
		low = high;
		high *= 2;
	}
	while (high - low > 1)
	{
		int64		middle = low + (high - low) / 2;

		if (noise_share(options, dim, middle) > USEFUL_SHARE)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The learner that a loss belongs to; setting a loss that there is not says so. */
static DpermLearner
learner_of(const char *loss)
{
	DpermLossKind kind;

	if (loss == NULL)
		return DPERM_LEARNER_LOGREG;
	return dperm_loss_parse(loss, &kind) ? dperm_loss_entry((int) kind)->learner : DPERM_LEARNER_SVM;
}

/* The options of the arguments. */
static void
read_cost_options(FunctionCallInfo fcinfo, DpermOptions *options)
{
	dperm_options_init(options, learner_of(dperm_arguments_text(fcinfo, "loss")));
	dperm_option_table_arguments(options, DPERM_PLACE_COST, fcinfo);
	dperm_options_settle(options);
}

/* dp_cost(rows, dimension, epsilon, lambda, method, analysis, loss, h) */
Datum
dp_cost(PG_FUNCTION_ARGS)
{
	DpermOptions options;
	DpermSetup	setup;
	DpermCalibration calibration;
	TupleDesc	desc;
	Datum		values[COST_COLUMNS];
	bool		nulls[COST_COLUMNS] = {false};
	int64		needed;
	int			dim;
	Datum		rows,
				dimension,
				epsilon;

	if (!dperm_arguments_get(fcinfo, "rows", INT8OID, &rows) ||
		!dperm_arguments_get(fcinfo, "dimension", INT4OID, &dimension) ||
		!dperm_arguments_get(fcinfo, "epsilon", FLOAT8OID, &epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("rows, dimension and epsilon must not be null"),
				 errhint("Call dp_cost(rows => 10000, dimension => 20, epsilon => 1).")));
	read_cost_options(fcinfo, &options);
	dim = DatumGetInt32(dimension);
	setup = dperm_options_setup(&options, dim, NULL, Max(DatumGetInt64(rows), 1));
	setup.rows = DatumGetInt64(rows);
	calibration = dperm_checked_calibration(&setup);

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[COST_LAMBDA] = Float8GetDatum(setup.lambda);
	values[COST_LAMBDA_EFFECTIVE] = Float8GetDatum(calibration.lambda);
	values[COST_SLACK] = Float8GetDatum(calibration.claim.shares[DPERM_SHARE_SLACK]);
	values[COST_NOISE] = Float8GetDatum(calibration.claim.shares[DPERM_SHARE_NOISE]);
	values[COST_RELEASE] = Float8GetDatum(calibration.claim.shares[DPERM_SHARE_RELEASE]);
	values[COST_NOISE_NORM] = Float8GetDatum(noise_norm(&setup, &calibration));
	values[COST_WEIGHT_BOUND] = Float8GetDatum(weight_bound(&setup, &calibration));
	values[COST_NOISE_SHARE] = Float8GetDatum(noise_share(&options, dim, setup.rows));
	needed = rows_needed(&options, dim);
	values[COST_ROWS_NEEDED] = Int64GetDatum(needed);
	nulls[COST_ROWS_NEEDED] = needed == 0;
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
