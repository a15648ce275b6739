/*
 * queries.c: the queries that are run over a source.
 *
 * All of them see the snapshot of the calling query, use parallel workers where the planner likes,
 * and are checked before they run: nothing in them may change the rows from pass to pass, and no
 * function may stand in for one of ours.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

#include "core/privacy/portion.h"
#include "dperm.h"
#include "identity.h"
#include "queries.h"
#include "query_check.h"
#include "reach.h"

/* A parameter, by its number. */
static void
set_param(ParamListInfo params, int number, Oid type, Datum value, bool isnull)
{
	ParamExternData *param = &params->params[number - 1];

	param->ptype = type;
	param->value = value;
	param->isnull = isnull;
	param->pflags = PARAM_FLAG_CONST;
}

/* The parameters of our queries, and some more. */
static ParamListInfo
make_params(const DpermSource *source, Oid extra_type, const Datum *extras, int extra_count)
{
	ParamListInfo params = makeParamList(DPERM_PARAM_EXTRA - 1 + extra_count);

	set_param(params, DPERM_PARAM_POSITIVE, TEXTOID, source->positive, source->positive == 0);
	set_param(params, DPERM_PARAM_KEY, BYTEAOID, source->key, source->key == 0);
	set_param(params, DPERM_PARAM_PORTIONS, INT4OID, Int32GetDatum(source->portions), false);
	set_param(params, DPERM_PARAM_PORTION, INT4OID, Int32GetDatum(source->portion), false);
	for (int i = 0; i < extra_count; i++)
		set_param(params, DPERM_PARAM_EXTRA + i, extra_type, extras[i], extras[i] == 0);
	return params;
}

/*
 * The plan of one of our queries, checked. Every pass has to see the same rows: a snapshot does that
 * for tables, but a view may compute something new each time.
 */
static SPIPlanPtr
checked_plan(const DpermSource *source, const char *query, const ParamListInfo params,
			 int options)
{
	Oid		   *types = palloc(sizeof(Oid) * params->numParams);
	SPIPlanPtr	plan;
	ListCell   *cell;

	for (int i = 0; i < params->numParams; i++)
		types[i] = params->params[i].ptype;
	plan = SPI_prepare_cursor(query, params->numParams, types, options);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
	pfree(types);
	foreach(cell, SPI_plan_get_plan_sources(plan))
	{
		Query	   *tree = linitial_node(Query, ((CachedPlanSource *) lfirst(cell))->query_list);

		dperm_query_check(source->extension_schema, source->moments_type, tree);
	}
	return plan;
}

/* The portion of a row. */
static char *
portion_sql(const DpermSource *source)
{
	return psprintf("%s.dp_portion($%d, $%d, %s)", dperm_source_schema(source), DPERM_PARAM_KEY,
					DPERM_PARAM_PORTIONS, source->identity);
}

/* The label of a row: boolean, NULL for no label. */
static char *
label_sql(const DpermSource *source)
{
	char	   *column = psprintf("t.%s", quote_identifier(source->label_column));

	return source->label_plain ? column :
		psprintf("%s.dp_label(%s, $%d)", dperm_source_schema(source), column, DPERM_PARAM_POSITIVE);
}

/*
 * A plan holds the weights of a pass as a constant, and settings that anybody may change print plans, and
 * how much a sort took, to the client. Switch them off, and all messages; the caller ends the nest level.
 */
static int
hide_plans(void)
{
	static const char *const settings[][2] = {{"debug_print_parse", "off"},
	{"debug_print_rewritten", "off"}, {"debug_print_plan", "off"}, {"trace_sort", "off"},
	{"client_min_messages", "error"}};
	int			level = NewGUCNestLevel();

	for (int i = 0; i < lengthof(settings); i++)
		if (GetConfigOption(settings[i][0], true, false) != NULL)	/* not every server traces */
			(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET,
									 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* Run a query of ours; its rows go to a receiver, or if that is NULL to SPI_tuptable. */
static void
run_query(const DpermSource *source, const char *query, ParamListInfo params,
		  DestReceiver *receiver, int options)
{
	int			level = hide_plans();
	SPIPlanPtr	plan = checked_plan(source, query, params, options);
	SPIExecuteOptions how = {.params = params, .read_only = true, .dest = receiver};

	/* no row limit: with one the executor would not use parallel workers */
	if (SPI_execute_plan_extended(plan, &how) != SPI_OK_SELECT)
		elog(ERROR, "a pass over the rows failed");
	SPI_freeplan(plan);
	AtEOXact_GUC(true, level);
}

/* Run a query of ours with values of a type of ours. */
void
dperm_queries_execute(const DpermSource *source, const char *query, const char *type,
					 const Datum *extras, int extra_count)
{
	run_query(source, query, make_params(source, dperm_source_type(source, type), extras,
										 extra_count), NULL, CURSOR_OPT_PARALLEL_OK);
}

/* The query that reads all rows. */
static char *
read_query(const DpermSource *source)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT %s", label_sql(source));
	for (int i = 0; i < source->block_count; i++)
		appendStringInfo(&sql, ", %s", source->columns[i]);
	if (source->unit)
		appendStringInfo(&sql, ", %s", source->unit);
	if (source->portions > 0 && !source->once)
		appendStringInfo(&sql, ", %s", portion_sql(source));
	appendStringInfo(&sql, " FROM %s AS t", source->from);
	return sql.data;
}

/* Read all rows, once. Workers would only send them here. */
void
dperm_queries_read(const DpermSource *source, DestReceiver *receiver)
{
	run_query(source, read_query(source), make_params(source, InvalidOid, NULL, 0), receiver, 0);
}

/* The census of a source that shows all rows. */
char *
dperm_queries_own_census(const DpermSource *source)
{
	return psprintf("SELECT %s FROM %s AS t", source->unit ? source->unit : "pg_catalog.count(*)", source->from);
}

/* Run the census. */
void
dperm_queries_census(const DpermSource *source, DestReceiver *receiver)
{
	run_query(source, source->census, make_params(source, InvalidOid, NULL, 0), receiver, 0);
}

/* The columns as arguments of an aggregate, renamed or not. */
static void
append_columns(StringInfo sql, const DpermSource *source, bool renamed)
{
	bool		as_record = source->block_count > DPERM_COLUMN_ARGS;

	appendStringInfoString(sql, as_record ? "ROW(" : "");
	for (int i = 0; i < source->block_count; i++)
	{
		appendStringInfoString(sql, i > 0 ? ", " : "");
		if (renamed)
			appendStringInfo(sql, "s.c%d", i);
		else
			appendStringInfoString(sql, source->columns[i]);
	}
	appendStringInfoString(sql, as_record ? ")" : "");
}

/*
 * The query of a pass: an aggregate for each request. Over portions, the rows come from a subquery, so
 * that the portion of a row is computed once; OFFSET NULL leaves out nothing, but keeps the planner
 * from merging the two.
 */
static char *
pass_query(const DpermSource *source, int count, const int *portions)
{
	/* a lone array has an aggregate without polymorphic arguments, which Citus pushes down */
	const char *aggregate = source->lone_array ? "dp_moments_vector_agg" : "dp_moments_agg";
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < count; i++)
		appendStringInfo(&sql, "%s $%d AS w%d", i == 0 ? "WITH w AS MATERIALIZED (SELECT" : ",",
						 DPERM_PARAM_EXTRA + i, i);
	for (int i = 0; i < count; i++)
	{
		appendStringInfo(&sql, "%s %s.%s((SELECT w%d FROM w), %s, ", i == 0 ? ") SELECT" : ",",
						 dperm_source_schema(source), aggregate, i,
						 portions ? "s.label" : label_sql(source));
		append_columns(&sql, source, portions != NULL);
		appendStringInfoChar(&sql, ')');
		if (portions)
			appendStringInfo(&sql, " FILTER (WHERE s.portion OPERATOR(pg_catalog.=) %d AND $%d IS NOT NULL)",
							 portions[i], DPERM_PARAM_EXTRA + i);
	}
	if (!portions)
	{
		appendStringInfo(&sql, " FROM %s AS t", source->from);
		return sql.data;
	}
	appendStringInfo(&sql, " FROM (SELECT %s AS label, %s AS portion", label_sql(source),
					 portion_sql(source));
	for (int i = 0; i < source->block_count; i++)
		appendStringInfo(&sql, ", %s AS c%d", source->columns[i], i);
	appendStringInfo(&sql, " FROM %s AS t OFFSET NULL) AS s", source->from);
	return sql.data;
}

/* The plan of a pass, checked. */
static SPIPlanPtr
pass_plan(const DpermSource *source)
{
	Datum		request = 0;
	int			portion = 0;

	return checked_plan(source, pass_query(source, 1, source->portions > 0 ? &portion : NULL),
						make_params(source, source->moments_type, &request, 1),
						CURSOR_OPT_PARALLEL_OK);
}

/*
 * Do all that comes before the first row of a query with one value of a type of ours: check it, plan it, and let the
 * executor look at privileges and at what it would read. Not again for a query that was tried before.
 */
static void
try_open(const DpermSource *source, char *query, const char *type, int options, List **tried)
{
	Datum		none = 0;
	ParamListInfo params;
	SPIPlanPtr	plan;
	int			level;
	ListCell   *cell;

	foreach(cell, *tried)
		if (strcmp(lfirst(cell), query) == 0)
			return;
	*tried = lappend(*tried, query);
	SPI_connect();
	params = make_params(source, dperm_source_type(source, type), &none, 1);
	level = hide_plans();
	plan = checked_plan(source, query, params, options);

	/* the NULL that stands for a value must not simplify the plan */
	for (int i = 0; i < params->numParams; i++)
		params->params[i].pflags = 0;
	SPI_cursor_close(SPI_cursor_open_with_paramlist(NULL, plan, params, true));
	SPI_freeplan(plan);
	AtEOXact_GUC(true, level);
	SPI_finish();
}

/* Check the queries over the source, before the first of them is run. */
static void
check_queries(const DpermSource *source, List **tried)
{
	int			portion = 0;

	/* what is read once has no passes */
	if (source->once)
	{
		try_open(source, read_query(source), "dp_moments", 0, tried);
		if (source->census)
			try_open(source, source->census, "dp_moments", 0, tried);
		return;
	}
	try_open(source, pass_query(source, 1, source->portions > 0 ? &portion : NULL), "dp_moments",
			 CURSOR_OPT_PARALLEL_OK, tried);
	try_open(source, read_query(source), "dp_moments", 0, tried);
}

/* Open a source, and check the queries over it. */
void
dperm_queries_open(DpermSource *source, const DpermSourceNames *names, const DpermOptions *options,
				   List **tried)
{
	dperm_source_open(source, names, options);
	check_queries(source, tried);
}

/* Run one pass. */
void
dperm_queries_pass(const DpermSource *source, int count, const Datum *requests,
				  const int *portions, Datum *results)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext spi;

	/* without portions there is no condition that leaves out a request of 0 */
	Assert(portions || (count == 1 && requests[0]));
	dperm_queries_execute(source, pass_query(source, count, portions), "dp_moments", requests,
						 count);
	if (SPI_processed != 1)
		elog(ERROR, "a pass over the rows failed");
	spi = MemoryContextSwitchTo(caller);
	for (int i = 0; i < count; i++)
	{
		bool		isnull;
		Datum		result = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1,
										   &isnull);

		results[i] = isnull ? 0 : PointerGetDatum(PG_DETOAST_DATUM_COPY(result));
	}
	MemoryContextSwitchTo(spi);
	SPI_freetuptable(SPI_tuptable);
}

/* A fresh key. */
Datum
dperm_queries_key(void)
{
	bytea	   *key = palloc(VARHDRSZ + DPERM_PORTION_KEY);

	SET_VARSIZE(key, VARHDRSZ + DPERM_PORTION_KEY);
	if (!pg_strong_random(VARDATA(key), DPERM_PORTION_KEY))
		dperm_check_status(DPERM_NO_ENTROPY);
	return PointerGetDatum(key);
}

/* A name for the label that no feature has. */
static char *
label_alias(const DpermSource *source)
{
	char	   *alias = pstrdup("label");

	for (int i = 0; i < source->block_count; i++)
		if (strcmp(source->blocks[i].column.bytes, alias) == 0)
		{
			alias = psprintf("%s_", alias);
			i = -1;
		}
	return alias;
}

/* The labels and features of the portion as a subquery: rows that a model can be applied to. */
char *
dperm_queries_rows_sql(const DpermSource *source, char **label)
{
	StringInfoData sql;

	*label = label_alias(source);
	initStringInfo(&sql);
	appendStringInfo(&sql, "(SELECT %s AS %s", label_sql(source), *label);
	for (int i = 0; i < source->block_count; i++)
	{
		const char *column = quote_identifier(source->blocks[i].column.bytes);

		/* the row is made in memory: what is too large to be of use must not get into it */
		if (source->varlena[i])
			appendStringInfo(&sql, ", %s.dp_bounded(t.%s) AS %s", dperm_source_schema(source),
							 column, column);
		else
			appendStringInfo(&sql, ", t.%s", column);
	}
	appendStringInfo(&sql, " FROM %s AS t", source->from);
	if (source->portions > 0)
		appendStringInfo(&sql, " WHERE %s OPERATOR(pg_catalog.=) $%d", portion_sql(source),
						 DPERM_PARAM_PORTION);
	appendStringInfoString(&sql, ") AS r");
	return sql.data;
}

/* The query that counts the rows of the portion, and those that each model gets wrong. */
static char *
mistakes_query(const DpermSource *source, int count)
{
	StringInfoData sql;
	char	   *label;
	char	   *rows = dperm_queries_rows_sql(source, &label);

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT pg_catalog.count(*)");
	for (int i = 0; i < count; i++)
		appendStringInfo(&sql, ", pg_catalog.count(*) FILTER (WHERE %s.dp_predict($%d, r.*) OPERATOR(pg_catalog.<>) r.%s)",
						 dperm_source_schema(source), DPERM_PARAM_EXTRA + i, label);
	appendStringInfo(&sql, " FROM %s", rows);
	return sql.data;
}

/* Divide the rows into portions by a key. */
void
dperm_queries_divide(DpermSource *source, int portions, const char *identity, bool is_public,
					Datum key, List **tried)
{
	source->portions = portions;
	source->portion = 0;
	source->key = key;
	source->identity = dperm_identity_sql(source, identity, is_public);
	check_queries(source, tried);
	try_open(source, mistakes_query(source, 1), "dp_model", CURSOR_OPT_PARALLEL_OK, tried);
}

/* How many rows with a label each model gets wrong. */
int64
dperm_queries_mistakes(const DpermSource *source, const Datum *models, int count,
					  int64 *mistakes)
{
	int64		rows;
	bool		isnull;

	dperm_queries_execute(source, mistakes_query(source, count), "dp_model", models, count);
	rows = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	for (int i = 0; i < count; i++)
		mistakes[i] = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
												  SPI_tuptable->tupdesc, i + 2, &isnull));
	SPI_freetuptable(SPI_tuptable);
	return rows;
}

/* The tables that a source reads from, however far behind it; within SPI. */
static List *
source_tables(const DpermSource *source)
{
	SPIPlanPtr	plan = pass_plan(source);
	CachedPlanSource *planned = linitial(SPI_plan_get_plan_sources(plan));
	List	   *result = dperm_reach_tables(list_append_unique_oid(list_copy(planned->relationOids),
																   source->relation));

	SPI_freeplan(plan);
	return result;
}

/* Do two sources read from a common table? */
bool
dperm_queries_overlap(const DpermSource *a, const DpermSource *b)
{
	bool		overlap = false;
	List	   *others;
	ListCell   *cell;

	SPI_connect();
	others = source_tables(b);
	foreach(cell, source_tables(a))
		overlap = overlap || list_member_oid(others, lfirst_oid(cell));
	SPI_finish();
	return overlap;
}
