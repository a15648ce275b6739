/* evaluate.c: dp_evaluate and dp_roc: the quality of a model, privately. */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/arguments.h"
#include "base/result_set.h"
#include "column/class_choice.h"
#include "core/base/limits.h"
#include "core/privacy/counts.h"
#include "core/privacy/curve.h"
#include "core/privacy/errors.h"
#include "entry/measure.h"

PG_FUNCTION_INFO_V1(dp_evaluate);
PG_FUNCTION_INFO_V1(dp_roc);

/* Where the rows of a result go. */
typedef struct Report
{
	Tuplestorestate *store;
	TupleDesc	desc;
	const DpermMeasure *measure;
} Report;

/*
 * One row of the result of dp_evaluate; about one of several classes, and one
 * that is predicted, or 0.
 */
static void
put_estimate(const Report *report, const char *name, DpermEstimate estimate, int class,
			 int predicted)
{
	const DpermModel *model = report->measure->model;
	Datum		values[7] = {CStringGetTextDatum(name), Float8GetDatum(estimate.value),
		Float8GetDatum(estimate.low), Float8GetDatum(estimate.high),
		BoolGetDatum(report->measure->budget > 0)};
	bool		nulls[7] = {[1] = isnan(estimate.value), [5] = class == 0, [6] = predicted == 0};

	if (class > 0)
		values[5] = CStringGetTextDatum(dperm_class_choice_name(model, class));
	if (predicted > 0)
		values[6] = CStringGetTextDatum(dperm_class_choice_name(model, predicted));
	tuplestore_putvalues(report->store, report->desc, values, nulls);
}

/* A count. */
static DpermEstimate
count_at(const DpermMeasure *measure, int cell)
{
	return dperm_counts_estimate(measure->counts[cell], measure->budget, measure->parts);
}

/* A metric of all classes or, unless class is 0, of one of several. */
static void
put_metric(const Report *report, DpermMetric metric, int class)
{
	const DpermMeasure *measure = report->measure;

	put_estimate(report, dperm_counts_metric_name(metric),
				 dperm_counts_metric(metric, Max(dperm_measure_classes(measure), 2), Max(class, 1),
									 measure->counts, measure->parts,
									 dperm_counts_variance(measure->budget, measure->parts)),
				 class, 0);
}

/* The rows of a model of two classes. */
static void
put_two(const Report *report)
{
	put_estimate(report, "true positives", count_at(report->measure, DPERM_TRUE_POSITIVE), 0, 0);
	put_estimate(report, "false positives", count_at(report->measure, DPERM_FALSE_POSITIVE), 0,
				 0);
	put_estimate(report, "false negatives", count_at(report->measure, DPERM_FALSE_NEGATIVE), 0,
				 0);
	put_estimate(report, "true negatives", count_at(report->measure, DPERM_TRUE_NEGATIVE), 0, 0);
	for (int i = 0; i < DPERM_METRICS; i++)
		put_metric(report, (DpermMetric) i, 0);
}

/* The rows of a model of several classes. */
static void
put_several(const Report *report)
{
	int			classes = dperm_measure_classes(report->measure);

	for (int i = 0; i < classes * classes; i++)
		put_estimate(report, "count", count_at(report->measure, i), i / classes + 1,
					 i % classes + 1);
	put_metric(report, DPERM_METRIC_ACCURACY, 0);
	put_metric(report, DPERM_METRIC_ERROR, 0);
	put_metric(report, DPERM_METRIC_MACRO_F1, 0);
	for (int class = 1; class <= classes; class++)
		for (int i = DPERM_METRIC_PRECISION; i <= DPERM_METRIC_F1; i++)
			put_metric(report, (DpermMetric) i, class);
}

/* The rows of a model whose label is a number. */
static void
put_errors(const Report *report)
{
	const DpermMeasure *measure = report->measure;

	for (int i = 0; i < DPERM_ERROR_METRICS; i++)
		put_estimate(report, dperm_errors_metric_name((DpermErrorMetric) i),
					 dperm_errors_metric((DpermErrorMetric) i, measure->counts,
										 measure->budget, dperm_model_unit(measure->model)),
					 0, 0);
}

/* Open an evaluation. */
static void
open_evaluation(DpermCall *call)
{
	dperm_measure_open(call, palloc0(sizeof(DpermMeasure)));
}

/* Evaluate. */
static Datum
run_evaluation(DpermCall *call)
{
	DpermMeasure *measure = call->opened;
	Report		report = {.measure = measure};

	dperm_measure_count(measure);
	report.store = dperm_result_set_begin(call->fcinfo, &report.desc);
	if (dperm_measure_sums_errors(measure))
		put_errors(&report);
	else if (dperm_measure_classes(measure) > 0)
		put_several(&report);
	else
		put_two(&report);
	return (Datum) 0;
}

/* A share of a sum; NULL if the sum is zero. */
static Datum
share(double part, double whole, bool *isnull)
{
	*isnull = !(whole > 0);
	return Float8GetDatum(*isnull ? 0 : part / whole);
}

/* The points of the curve, from the strictest threshold down. */
static void
put_curve(Tuplestorestate *store, TupleDesc desc, const DpermMeasure *measure)
{
	int			bins = measure->bins;
	double	   *settled = palloc(sizeof(double) * 2 * bins);
	DpermEstimate area;
	double		totals[2] = {0, 0};
	double		above[2] = {0, 0};

	for (int c = 0; c < 2; c++)
	{
		dperm_curve_settle(measure->counts + c * bins, bins, measure->parts,
						   settled + c * bins);
		for (int i = bins; i-- > 0;)
			totals[c] += settled[c * bins + i];
	}
	area = dperm_curve_area(settled, settled + bins, bins,
							dperm_counts_variance(measure->budget, measure->parts));
	for (int i = bins; i >= 0; i--)
	{
		Datum		values[7];
		bool		nulls[7] = {[3] = isnan(area.value)};

		if (i < bins)
			for (int c = 0; c < 2; c++)
				above[c] += settled[c * bins + i];
		values[0] = Float8GetDatum(i == bins ? INFINITY : i == 0 ? -INFINITY :
								   tan(M_PI * ((double) i / bins - 0.5)));
		values[1] = share(above[0], totals[0], &nulls[1]);
		values[2] = share(above[1], totals[1], &nulls[2]);
		values[3] = Float8GetDatum(nulls[3] ? 0 : area.value);
		values[4] = Float8GetDatum(area.low);
		values[5] = Float8GetDatum(area.high);
		values[6] = BoolGetDatum(measure->budget > 0);
		tuplestore_putvalues(store, desc, values, nulls);
	}
}

/* Open a curve. */
static void
open_curve(DpermCall *call)
{
	DpermMeasure *measure = palloc0(sizeof(*measure));
	Datum		value;

	measure->choose_bins = !dperm_arguments_get(call->fcinfo, "bins", INT4OID, &value);
	measure->bins = measure->choose_bins ? DPERM_CURVE_FINE : DatumGetInt32(value);
	if (measure->bins < 2 || measure->bins > DPERM_BINS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bins must be between 2 and %d", DPERM_BINS_MAX),
				 errhint("More bins show the curve in more detail but add more noise.")));
	dperm_measure_open(call, measure);
}

/* Make the curve. */
static Datum
run_curve(DpermCall *call)
{
	TupleDesc	desc;
	Tuplestorestate *store;

	dperm_measure_count(call->opened);
	store = dperm_result_set_begin(call->fcinfo, &desc);
	put_curve(store, desc, call->opened);
	return (Datum) 0;
}

const DpermFunction dperm_measure_functions[] = {
	{"dp_evaluate", 0, open_evaluation, run_evaluation},
	{"dp_roc", 0, open_curve, run_curve}
};

/*
 * dp_evaluate(model, source, label, epsilon, positive, features, neighbours,
 * unit, purpose)
 */
Datum
dp_evaluate(PG_FUNCTION_ARGS)
{
	return dperm_call(fcinfo, &dperm_measure_functions[0]);
}

/*
 * dp_roc(model, source, label, epsilon, positive, features, bins, neighbours,
 * unit, purpose, class)
 */
Datum
dp_roc(PG_FUNCTION_ARGS)
{
	return dperm_call(fcinfo, &dperm_measure_functions[1]);
}
