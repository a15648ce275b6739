/*
 * summary.c: dp_summary: counts and quantiles of all columns, privately; and
 * dp_cost for it. Trusted.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "utils/timestamp.h"

#include "base/base.h"
#include "core/metrics/metrics.h"
#include "entry/entry.h"
#include "query/source.h"
#include "train/call_charge.h"
#include "train/count.h"
#include "core/privacy/claim.h"

PG_FUNCTION_INFO_V1(dp_cost_summary);

/* A summary that is open, and then counted. */
typedef struct Summary
{
	DpermSource source;
	DpermOptions options;
	uint64		parts;			/* of a unit, in which counts are measured */
	int			count;			/* columns, of which some are counted */
	int			counted;
	DpermCells *cells;
	DpermSummary *columns;		/* what each gets */
	int64		units;
	DpermEntropy entropy;

	/* where the rows of the result go */
	Tuplestorestate *store;
	TupleDesc	desc;
} Summary;

/* Raise an error for a vector that was asked for, and tell of any other. */
static void
tell_vector(const DpermBlock *block, bool named)
{
	ereport(named ? ERROR : NOTICE,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("column \"%s\" is a vector, which has no summary", block->column.bytes),
			 errhint("Show its elements as columns in a view.")));
}

/* Divide epsilon among the columns that are counted. */
static void
divide_epsilon(Summary *summary, bool named)
{
	const DpermOptions *options = &summary->options;

	summary->columns = palloc0(sizeof(DpermSummary) * summary->count);
	for (int i = 0; i < summary->count; i++)
	{
		summary->columns[i].kind = summary->cells[i].kind;
		if (summary->columns[i].kind == DPERM_SUMMARY_NOTHING)
			tell_vector(&summary->source.blocks[i], named);
		else
			summary->counted++;
	}
	if (summary->counted == 0)
		tell_vector(&summary->source.blocks[0], true);
	if (!dperm_summary_divide(options->epsilon, options->delta, options->neighbours,
							  summary->parts, summary->columns, summary->count))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon is too small to be divided among %d columns", summary->counted),
				 errhint("Specify fewer columns, or a larger epsilon.")));
}

/* Check the arguments, and open the source. */
static Summary *
open_source(FunctionCallInfo fcinfo, const DpermRegistration *registration, bool reads)
{
	Summary    *summary = palloc0(sizeof(*summary));
	DpermSourceNames names = {
		.relation = dperm_arguments_required_text(fcinfo, "relation", DPERM_RELATION_REQUIRED),
		.registration = registration,
		.reads = reads,
		.domains = dperm_arguments_jsonb(fcinfo, "domains"),
		.unit = dperm_arguments_text(fcinfo, "unit")
	};

	names.features = dperm_arguments_names(fcinfo, "columns", &names.feature_count);
	dperm_options_init(&summary->options, DPERM_LEARNER_LOGREG);
	dperm_option_table_arguments(&summary->options, fcinfo);
	dperm_options_settle(&summary->options);
	dperm_queries_open(&summary->source, &names, &summary->options);
	summary->parts =
		dperm_unit_parts(summary->source.unit ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW);
	summary->count = summary->source.block_count;
	summary->cells = dperm_count_cells(&summary->source);
	divide_epsilon(summary, names.features != NULL);
	return summary;
}

/* Check everything about a call of dp_summary before any row is read. */
void
dperm_entry_open_summary(DpermCall *call)
{
	Summary    *summary = open_source(call->fcinfo, call->registration, true);

	dperm_call_charge_fill(call, &summary->source, &summary->options, DPERM_CALL_SUMMARY, NULL);
	call->opened = summary;
}

/* ---------------------------------------------------------- the result */

/* A row of the result, about a column. */
typedef struct Line
{
	const char *item;
	const char *value;
	const char *low;
	const char *high;
	NullableDatum share;
} Line;

/* Put a row, with a count unless it is NULL. */
static void
put_line(const Summary *summary, int column, const Line *line, const int64 *count)
{
	DpermEstimate estimate = {0};

	if (count)
		estimate = dperm_metrics_count(*count, summary->columns[column].noise, summary->parts);
	dperm_host_put_row(summary->store, summary->desc, (NullableDatum[]) {
		dperm_host_text(summary->cells[column].block->column.bytes),
		dperm_host_text(line->item),
		dperm_host_text(line->value),
		dperm_host_text(line->low),
		dperm_host_text(line->high),
		{Float8GetDatum(estimate.value), count == NULL},
		{Float8GetDatum(estimate.low), count == NULL},
		{Float8GetDatum(estimate.high), count == NULL},
		count == NULL ? line->share :
		dperm_host_number(summary->units > 0 ? estimate.value / summary->units : NAN),
		{BoolGetDatum(!isinf(summary->options.epsilon))}
	});
}

/* The rows of a list of values. */
static void
put_values(const Summary *summary, int column)
{
	const DpermCells *cells = &summary->cells[column];
	static const char *const flags[] = {"false", "true"};

	for (int i = 0; i < cells->count; i++)
	{
		const DpermText *category = &cells->block->categories[i];

		put_line(summary, column,
				 &(Line) {"value", cells->block->kind == DPERM_BLOCK_FLAG ? flags[i] :
						  pnstrdup(category->bytes, category->len)},
				 &cells->counts[i]);
	}
}

/*
 * A place among the cells of a number, as text that domains take in any session. That of dates is
 * the first date after it.
 */
static char *
shown(const DpermCells *cells, double place)
{
	static const Oid types[] = {
		[DPERM_READ_DATE] = DATEOID,
		[DPERM_READ_TIMESTAMP] = TIMESTAMPOID,
		[DPERM_READ_TIMESTAMPTZ] = TIMESTAMPTZOID,
		[DPERM_READ_TIME_OF_DAY] = TIMEOID
	};
	static const int utc = 0;
	double		edge = dperm_count_edge(cells, (int) place);

	if (cells->block->kind != DPERM_BLOCK_TIME)
		return double_to_shortest_decimal(edge);
	if (cells->reader == DPERM_READ_DATE)
		edge = ceil(edge);
	return dperm_column_time(types[cells->reader], rint(edge * (double) USECS_PER_DAY), &utc);
}

/* The quantiles of a number, from the noisy counts of its intervals. */
static void
put_quantiles(const Summary *summary, int column, const int *ends, const int64 *counts, int count)
{
	static const double quantiles[] = {0.05, 0.25, 0.5, 0.75, 0.95};
	const DpermCells *cells = &summary->cells[column];
	double		variance = dperm_metrics_variance(summary->columns[column].noise, summary->parts) *
		(double) summary->parts * (double) summary->parts;

	for (int i = 0; i < lengthof(quantiles); i++)
	{
		DpermEstimate place = dperm_metrics_quantile(quantiles[i], counts, variance, ends, count);
		Line		line = {.item = "quantile",
							.low = shown(cells, place.low),
							.high = shown(cells, place.high - cells->whole),
							.share = dperm_host_number(quantiles[i])};

		if (!isnan(place.value))
			line.value = shown(cells, place.value);
		put_line(summary, column, &line, NULL);
	}
}

/* Add the noise of a column to counts of its cells, or of several of them together. */
static void
add_noise(Summary *summary, int column, int64 *counts, int count)
{
	dperm_counts_add_noise(&summary->entropy, summary->columns[column].noise, summary->parts,
						   counts, count);
}

/* The rows of a number: quantiles and intervals. */
static void
put_number(Summary *summary, int column)
{
	const DpermCells *cells = &summary->cells[column];
	int		   *ends = palloc(sizeof(int) * cells->count);
	int			count = dperm_summary_intervals(&summary->entropy, &summary->columns[column],
												summary->parts, summary->units, cells->counts,
												cells->count, ends);
	int64	   *counts = palloc0(sizeof(int64) * count);

	for (int i = 0, cell = 0; i < count; i++)
		while (cell < ends[i])
			counts[i] += cells->counts[cell++];
	add_noise(summary, column, counts, count);
	put_quantiles(summary, column, ends, counts, count);
	for (int i = 0; i < count; i++)
		put_line(summary, column,
				 &(Line) {.item = "interval", .low = shown(cells, i > 0 ? ends[i - 1] : 0),
						  .high = shown(cells, ends[i] - cells->whole)},
				 &counts[i]);
}

/* The rows of a column. */
static void
put_column(Summary *summary, int column)
{
	const DpermCells *cells = &summary->cells[column];
	bool		number = summary->columns[column].kind == DPERM_SUMMARY_NUMBER;

	/* those of a number get their noise once they are joined to intervals */
	add_noise(summary, column, cells->counts + (number ? cells->count : 0),
			  number ? 1 : cells->count + 1);
	if (number)
		put_number(summary, column);
	else
		put_values(summary, column);
	put_line(summary, column, &(Line) {"missing"}, &cells->counts[cells->count]);
}

/* Count, and say what that shows. */
Datum
dperm_entry_run_summary(DpermCall *call)
{
	Summary    *summary = call->opened;

	/* a removed row is empty, and so is one that a view leaves out */
	bool		skip_empty = summary->options.neighbours == DPERM_NEIGHBOURS_REMOVE ||
		(call->registration && call->registration->view);

	SPI_connect();
	summary->units = dperm_count_values(&summary->source, summary->cells, skip_empty);
	call->units = summary->units;
	summary->store = dperm_host_result_set(call->fcinfo, &summary->desc);
	for (int i = 0; i < summary->count; i++)
		if (summary->columns[i].kind != DPERM_SUMMARY_NOTHING)
			put_column(summary, i);
	dperm_host_check_status(summary->entropy.status);
	dperm_entropy_wipe(&summary->entropy);
	SPI_finish();
	return (Datum) 0;
}

/* ------------------------------------------------------------ the cost */

/* The columns of the result. */
enum
{
	COST_COUNTED,
	COST_VALUES_ERROR,			/* by kind of column */
	COST_INTERVALS_ERROR,
	COST_CALLS_LEFT,
	COST_BUDGET,				/* and what cost.c fills in with it */
	COST_COLUMNS = COST_BUDGET + 5
};

/*
 * How far counts of values, or of intervals, may be from the truth, which is the
 * same for all columns of a kind; NULL if there are none.
 */
static char *
error_of(const Summary *summary, DpermSummaryKind kind)
{
	for (int i = 0; i < summary->count; i++)
		if (summary->columns[i].kind == kind)
			return double_to_shortest_decimal(
				dperm_metrics_count(0, summary->columns[i].noise, summary->parts).high);
	return NULL;
}

/*
 * dp_cost(relation, epsilon, ...): for a summary with these arguments, from
 * them and the catalog. Locks are released as for a training (cost.c).
 */
Datum
dp_cost_summary(PG_FUNCTION_ARGS)
{
	ResourceOwner look = dperm_call_look();
	const DpermRegistration *registration = dperm_protection_open(
		dperm_source_find(
			dperm_arguments_required_text(fcinfo, "relation", DPERM_RELATION_REQUIRED)), NIL);
	Summary    *summary = open_source(fcinfo, registration, false);
	char	   *row[COST_COLUMNS] = {
		[COST_COUNTED] = psprintf("%d", summary->counted),
		[COST_VALUES_ERROR] = error_of(summary, DPERM_SUMMARY_VALUES),
		[COST_INTERVALS_ERROR] = error_of(summary, DPERM_SUMMARY_NUMBER)
	};
	TupleDesc	desc;

	dperm_call_look_away(look, registration == NULL);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != COST_COLUMNS)
		elog(ERROR, "return type must be a row type");
	dperm_source_tell(&summary->source);
	(void) dperm_cost_charge(&summary->source, &summary->options, DPERM_CALL_SUMMARY,
							 &row[COST_CALLS_LEFT], &row[COST_BUDGET]);
	PG_RETURN_DATUM(HeapTupleGetDatum(BuildTupleFromCStrings(TupleDescGetAttInMetadata(desc),
															 row)));
}
