/*
 * queries.c: the queries that are run over a source.
 *
 * All of them see the snapshot of the calling query, use parallel workers where the planner likes,
 * and are checked before they run: nothing in them may change the rows from pass to pass, and no
 * function may stand in for one of ours.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "core/privacy/portion.h"
#include "dperm.h"
#include "identity.h"
#include "queries.h"
#include "reach.h"
#include "run_as.h"

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

/* Run a query of ours with values of a type of ours. */
DpermAnswer *
dperm_queries_execute(const DpermSource *source, const char *query, const char *type,
					 const Datum *extras, int extra_count)
{
	DpermChecked checked = {source, source->relation, query,
	make_params(source, dperm_source_type(source, type), extras, extra_count), CURSOR_OPT_PARALLEL_OK};

	return dperm_checked_answer(&checked);
}

/* Run a query of ours in this process alone: workers would only send rows here. */
static void
read_rows(const DpermSource *source, Oid relation, const char *query, DestReceiver *receiver)
{
	DpermChecked checked = {source, relation, query, make_params(source, InvalidOid, NULL, 0), 0};

	dperm_checked_run(&checked, receiver);
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

/* Read all rows, once. */
void
dperm_queries_read(const DpermSource *source, DestReceiver *receiver)
{
	read_rows(source, source->relation, read_query(source), receiver);
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
	read_rows(source, source->census_relation, source->census, receiver);
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

/* Open a query, and close it. */
static void
open_and_close(void *query)
{
	dperm_checked_try(query);
}

/*
 * Do all that comes before the first row of a query with one value of a type of ours: check it, plan it, and let the
 * executor look at privileges and at what it would read. Not again for a query that was tried before. The planner reads statistics, whose
 * size tells about the values of columns.
 */
static void
try_open(const DpermSource *source, Oid relation, char *query, const char *type, int options, List **tried)
{
	Datum		none = 0;
	DpermChecked checked = {source, relation, query, make_params(source, dperm_source_type(source, type), &none, 1), options};
	ListCell   *cell;

	foreach(cell, *tried)
		if (strcmp(lfirst(cell), query) == 0)
			return;
	*tried = lappend(*tried, query);

	/* the NULL that stands for a value must not simplify the plan */
	for (int i = 0; i < checked.params->numParams; i++)
		checked.params->params[i].pflags = 0;
	dperm_run_as_unseen(source->run_as, open_and_close, &checked);
}

/* Check the queries over the source, before the first of them is run. */
static void
check_queries(const DpermSource *source, List **tried)
{
	int			portion = 0;

	/* what is read once has no passes */
	if (source->once)
	{
		try_open(source, source->relation, read_query(source), "dp_moments", 0, tried);
		if (source->census)
			try_open(source, source->census_relation, source->census, "dp_moments", 0, tried);
		return;
	}
	try_open(source, source->relation, pass_query(source, 1, source->portions > 0 ? &portion : NULL), "dp_moments",
			 CURSOR_OPT_PARALLEL_OK, tried);
	try_open(source, source->relation, read_query(source), "dp_moments", 0, tried);
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
	DpermAnswer *answer;

	/* without portions there is no condition that leaves out a request of 0 */
	Assert(portions || (count == 1 && requests[0]));
	answer = dperm_queries_execute(source, pass_query(source, count, portions), "dp_moments", requests, count);
	if (answer->count != 1)
		elog(ERROR, "a pass over the rows failed");
	for (int i = 0; i < count; i++)
	{
		bool		isnull;
		Datum		result = dperm_checked_value(answer, 0, i + 1, &isnull);

		results[i] = isnull ? 0 : PointerGetDatum(PG_DETOAST_DATUM_COPY(result));
	}
	dperm_checked_free(answer);
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
	try_open(source, source->relation, mistakes_query(source, 1), "dp_model", CURSOR_OPT_PARALLEL_OK, tried);
}

/* How many rows with a label each model gets wrong. */
int64
dperm_queries_mistakes(const DpermSource *source, const Datum *models, int count,
					  int64 *mistakes)
{
	DpermAnswer *answer = dperm_queries_execute(source, mistakes_query(source, count), "dp_model", models, count);
	int64		rows;
	bool		isnull;

	rows = DatumGetInt64(dperm_checked_value(answer, 0, 1, &isnull));
	for (int i = 0; i < count; i++)
		mistakes[i] = DatumGetInt64(dperm_checked_value(answer, 0, i + 2, &isnull));
	dperm_checked_free(answer);
	return rows;
}

/* The tables that a source reads from, however far behind it. */
static List *
source_tables(const DpermSource *source)
{
	Datum		request = 0;
	int			portion = 0;
	DpermChecked checked = {source, source->relation, pass_query(source, 1, source->portions > 0 ? &portion : NULL),
	make_params(source, source->moments_type, &request, 1), 0};

	return dperm_reach_tables(dperm_checked_relations(&checked));
}

/* Do two sources read from a common table? */
bool
dperm_queries_overlap(const DpermSource *a, const DpermSource *b)
{
	List	   *others = source_tables(b);
	bool		overlap = false;
	ListCell   *cell;

	foreach(cell, source_tables(a))
		overlap = overlap || list_member_oid(others, lfirst_oid(cell));
	return overlap;
}
