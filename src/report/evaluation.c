/*
 * evaluation.c: rows of dp_evaluate and dp_roc, as JSON, in a report.
 */
#include "postgres.h"

#include <math.h>

#include "core/base/limits.h"
#include "report/evaluation.h"
#include "report/facts.h"
#include "report/page.h"
#include "report/picture.h"

/* dp_roc returns a point for each bin, and one more. */
#define POINTS_MAX (DPERM_BINS_MAX + 1)

/* How many classes a confusion matrix shows. */
#define MATRIX_CLASSES 12

/* Check the argument. */
void
dperm_evaluation_check(JsonbContainer *rows)
{
	bool		valid = dperm_facts_count(rows) > 0;

	for (int i = 0; valid && i < dperm_facts_count(rows); i++)
	{
		JsonbContainer *row = dperm_facts_object(rows, i);

		valid = dperm_facts_text(row, "metric") || dperm_facts_text(row, "true_positive_rate");
	}
	if (!valid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("evaluation must be an array of rows of dp_evaluate or dp_roc"),
				 errhint("Use (SELECT jsonb_agg(e) FROM dp_evaluate(...) e). Rows of both can be "
						 "concatenated with ||.")));
}

/* Is a metric a cell of the confusion matrix? */
static bool
is_count(const char *metric)
{
	return strcmp(metric, "count") == 0 ||
		strcmp(metric, "true positives") == 0 || strcmp(metric, "false positives") == 0 ||
		strcmp(metric, "true negatives") == 0 || strcmp(metric, "false negatives") == 0;
}

/* A bound of an interval with four digits, rounded outwards: up, or down. */
static double
bound_of(double number, bool up)
{
	double		unit = number == 0 || !isfinite(number) ? 0 :
		pow(10, floor(log10(fabs(number))) - 3);

	if (!(unit > 0))
		return number;
	return (up ? ceil(number / unit - 1e-9) : floor(number / unit + 1e-9)) * unit;
}

/* The value of a metric, with its interval. */
static char *
metric_text(JsonbContainer *row)
{
	char	   *metric = dperm_facts_text(row, "metric");
	double		value;
	double		low;
	double		high;
	bool		count = metric && is_count(metric);

	if (!dperm_facts_number(row, "value", &value))
		return pstrdup("not known");
	if (!dperm_facts_number(row, "low", &low) || !dperm_facts_number(row, "high", &high) ||
		!(low < high))
		return count ? psprintf("%.15g", value) : psprintf("%.4g", value);

	/* outwards, and without a zero that is negative */
	return count ?
		psprintf("%.0f (%.0f to %.0f)", rint(value) + 0.0, floor(low) + 0.0, ceil(high) + 0.0) :
		psprintf("%.4g (%.4g to %.4g)", value, bound_of(low, false), bound_of(high, true));
}

/* Two cells of the confusion matrix. */
static void
put_counts(StringInfo page, JsonbContainer *rows, const char *name, const char *positive,
		   const char *negative)
{
	dperm_page_put(page, "<tr>");
	dperm_page_cell(page, true, name);
	dperm_page_cell(page, false, metric_text(dperm_facts_find(rows, "metric", positive)));
	dperm_page_cell(page, false, metric_text(dperm_facts_find(rows, "metric", negative)));
	dperm_page_put(page, "</tr>\n");
}

/* The count of a class that is predicted as another, or NULL. */
static JsonbContainer *
find_count(JsonbContainer *rows, const char *class, const char *predicted)
{
	for (int i = 0; i < dperm_facts_count(rows); i++)
	{
		JsonbContainer *row = dperm_facts_object(rows, i);

		if (dperm_facts_is(row, "class", class) && dperm_facts_is(row, "predicted", predicted))
			return row;
	}
	return NULL;
}

/* Counts of several classes: each has a row for its precision. */
static void
put_matrix(StringInfo page, JsonbContainer *rows)
{
	const char *names[MATRIX_CLASSES + 2] = {"label"};
	int			count = 0;
	int			shown;

	for (int i = 0; i < dperm_facts_count(rows); i++)
	{
		JsonbContainer *row = dperm_facts_object(rows, i);
		char	   *class = dperm_facts_text(row, "class");

		if (class && dperm_facts_is(row, "metric", "precision") && ++count <= MATRIX_CLASSES)
			names[count] = class;
	}
	shown = Min(count, MATRIX_CLASSES);
	dperm_page_table(page, "Confusion matrix: labels in rows, predictions in columns", names);
	for (int i = 1; i <= shown; i++)
	{
		dperm_page_put(page, "<tr>");
		dperm_page_cell(page, true, names[i]);
		for (int k = 1; k <= shown; k++)
			dperm_page_cell(page, false, metric_text(find_count(rows, names[i], names[k])));
		dperm_page_put(page, "</tr>\n");
	}
	dperm_page_table_end(page);
	dperm_page_cut(page, count, shown, "classes");
}

/* The rows of dp_evaluate: counts as a matrix, and all others. */
static void
show_metrics(StringInfo page, JsonbContainer *rows)
{
	static const char *const matrix[] = {"label", "predicted positive", "predicted negative", NULL};
	static const char *const columns[] = {"metric", "value (95 % interval)", NULL};

	if (dperm_facts_find(rows, "metric", "true positives"))
	{
		dperm_page_table(page, "Confusion matrix, with 95 % intervals", matrix);
		put_counts(page, rows, "positive", "true positives", "false negatives");
		put_counts(page, rows, "negative", "false positives", "true negatives");
		dperm_page_table_end(page);
	}
	if (dperm_facts_find(rows, "metric", "count"))
		put_matrix(page, rows);
	dperm_page_table(page, "Metrics, with 95 % intervals that allow for the noise", columns);
	for (int i = 0, shown = 0; i < dperm_facts_count(rows) && shown < DPERM_PAGE_ROWS; i++)
	{
		JsonbContainer *row = dperm_facts_object(rows, i);
		char	   *metric = dperm_facts_text(row, "metric");

		if (metric == NULL || is_count(metric))
			continue;
		if (dperm_facts_text(row, "class"))
			metric = psprintf("%s of %s", metric, dperm_facts_text(row, "class"));
		dperm_page_fact(page, metric, metric_text(row));
		shown++;
	}
	dperm_page_table_end(page);
}

/* The rows of dp_roc. */
static void
show_roc(StringInfo page, JsonbContainer *rows)
{
	DpermPoint *points = palloc0(sizeof(DpermPoint) * POINTS_MAX);
	JsonbContainer *last = NULL;
	int			count = 0;
	double		auc;
	double		low;
	double		high;

	for (int i = 0; i < dperm_facts_count(rows) && count < POINTS_MAX; i++)
	{
		JsonbContainer *row = dperm_facts_object(rows, i);

		if (dperm_facts_number(row, "false_positive_rate", &points[count].x) &&
			dperm_facts_number(row, "true_positive_rate", &points[count].y))
		{
			count++;
			last = row;
		}
	}
	if (count < 2)
		return;
	dperm_page_put(page, "<h3>ROC curve</h3>\n");
	if (dperm_facts_number(last, "auc", &auc) && dperm_facts_number(last, "auc_low", &low) &&
		dperm_facts_number(last, "auc_high", &high))
		dperm_page_put(page, "<p>Area under the curve: %.4g (95 %% interval %.4g to %.4g). 0.5 is "
					   "guessing, 1 is perfect.</p>\n", auc, bound_of(low, false),
					   bound_of(high, true));
	dperm_page_put(page, "<div class=\"pictures\">\n");
	dperm_picture_roc(page, points, count);
	dperm_page_put(page, "</div>\n");
}

/* Both, as far as they are there. */
void
dperm_evaluation_show(StringInfo page, JsonbContainer *rows)
{
	bool		metrics = false;

	if (dperm_facts_find(rows, "private", "false"))
		dperm_page_put(page, "<p class=\"alarm\">These figures are exact, NOT PRIVATE.</p>\n");
	for (int i = 0; i < dperm_facts_count(rows); i++)
		metrics = metrics || dperm_facts_text(dperm_facts_object(rows, i), "metric");
	if (metrics)
		show_metrics(page, rows);
	show_roc(page, rows);
}
