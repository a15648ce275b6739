/*
 * cost.c: dp_cost, what a training would spend and with what noise, before it reads a row.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "args.h"
#include "core/loss/loss.h"
#include "core/mechanism/mechanism.h"
#include "dperm.h"
#include "train_args.h"

PG_FUNCTION_INFO_V1(dp_cost);

/* A model is likely to be useful when the noise is at most this share of what weights can be. */
#define USEFUL_SHARE 0.5

enum
{
	ARG_ROWS,
	ARG_DIMENSION,
	ARG_EPSILON,
	ARG_LAMBDA,
	ARG_METHOD,
	ARG_ANALYSIS,
	ARG_LOSS,
	ARG_H
};

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

/* How long weights can be without noise: the loss at zero bounds the regulariser. */
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
	DpermSetup	setup = dperm_options_setup(options, dim, rows);
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

/* The options of the arguments. */
static void
read_options(FunctionCallInfo fcinfo, DpermOptions *options)
{
	char	   *loss = dperm_text_arg(fcinfo, ARG_LOSS);
	char	   *text;
	bool		svm = loss != NULL && strcmp(loss, "logistic") != 0;

	dperm_options_init(options, svm, PG_GETARG_FLOAT8(ARG_EPSILON));
	if (!PG_ARGISNULL(ARG_LAMBDA))
		dperm_options_set_lambda(options, PG_GETARG_FLOAT8(ARG_LAMBDA));
	if ((text = dperm_text_arg(fcinfo, ARG_METHOD)) != NULL)
		dperm_options_set_method(options, text);
	if ((text = dperm_text_arg(fcinfo, ARG_ANALYSIS)) != NULL)
		dperm_options_set_analysis(options, text);
	if (svm)
	{
		dperm_options_set_loss(options, loss);
		if (!PG_ARGISNULL(ARG_H))
			dperm_options_set_h(options, PG_GETARG_FLOAT8(ARG_H));
	}
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

	if (PG_ARGISNULL(ARG_ROWS) || PG_ARGISNULL(ARG_DIMENSION) || PG_ARGISNULL(ARG_EPSILON))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("rows, dimension and epsilon must not be null"),
				 errhint("Call dp_cost(rows => 10000, dimension => 20, epsilon => 1).")));
	read_options(fcinfo, &options);
	dim = PG_GETARG_INT32(ARG_DIMENSION);
	setup = dperm_options_setup(&options, dim, Max(PG_GETARG_INT64(ARG_ROWS), 1));
	setup.rows = PG_GETARG_INT64(ARG_ROWS);
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
