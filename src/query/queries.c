/*
 * queries.c: the queries over a source. Trusted.
 *
 * All of them see the snapshot of the calling query, and are checked before they
 * run: no function may replace one of ours. Rows are read here once. Those of
 * other servers may stay there, if they are many, and are added up in passes: an
 * aggregate that runs there.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/parsenodes.h"
#include "optimizer/cost.h"
#include "optimizer/paths.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/base.h"
#include "query/checked_query.h"
#include "relation/relation.h"
#include "core/base/core.h"

/*
 * The parameters of our queries, by number: the domain of labels, for
 * dperm_label; and the request of a pass, or a key.
 */
enum
{
	PARAM_LABELS = 1,
	PARAM_EXTRA
};

/* Set a parameter by number. */
static void
set_param(ParamListInfo params, int number, Oid type, Datum value)
{
	params->params[number - 1] = (ParamExternData) {
		.value = value, .isnull = value == 0, .pflags = PARAM_FLAG_CONST, .ptype = type};
}

/* A query over a relation, of which the source consists; its last parameter is of a type. */
static DpermChecked
make_query(const DpermSource *source, Oid relation, char *text, Oid extra_type, Datum extra)
{
	DpermChecked query = {.source = source, .relation = relation, .text = text,
						  .params = makeParamList(PARAM_EXTRA)};

	set_param(query.params, PARAM_LABELS, BYTEAOID, source->label_domain);
	set_param(query.params, PARAM_EXTRA, extra_type, extra);
	return query;
}

/* ------------------------------------------------------------------ passes */

/*
 * A row of the relation t as bytes. A function takes a limited number of columns;
 * two rows side by side are a row. None of this is more than immutable, and what
 * has a collation is only a column: so foreign servers run it.
 */
static char *
row_as_bytes(const DpermSource *source)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < source->block_count; i += DPERM_COLUMN_ARGS)
	{
		int			end = Min(i + DPERM_COLUMN_ARGS, source->block_count);

		appendStringInfo(&sql, "%sdperm.dperm_row('\\x",
						 i > 0 ? " OPERATOR(pg_catalog.||) " : "");
		for (int j = i; j < end; j++)
			dperm_reader_row_form(&sql, source->spec.readers[j]);
		appendStringInfoString(&sql, "'::pg_catalog.bytea");
		for (int j = i; j < end; j++)
			appendStringInfo(&sql, ", %s", source->columns[j]);
		appendStringInfoChar(&sql, ')');
	}
	return sql.data;
}

/* The label of a row of the relation t, as dperm_label has it. */
static char *
read_label(const DpermSource *source)
{
	return psprintf("dperm.dperm_label(t.%s, $%d)", quote_identifier(source->label_column),
					PARAM_LABELS);
}

/*
 * On Citus, which runs aggregates in parts where the rows are. The request is part
 * of the query, hence as short as text can be. Over persons, a row comes with the
 * number of labelled rows of its person, and one row of each person, no matter
 * which, is marked as the first; rows without a person are excluded.
 */
static char *
citus_pass(const DpermSource *source)
{
	char	   *label = read_label(source);
	char	   *row = row_as_bytes(source);

	if (!source->spec.weighted)
		return psprintf("SELECT dperm.dperm_moments_agg(pg_catalog.decode($%d, 'base64'), %s, %s) "
						"FROM %s AS t", PARAM_EXTRA, label, row, source->from);
	return psprintf("SELECT dperm.dperm_moments_person_agg(pg_catalog.decode($%d, 'base64'), "
					"s.label, s.columns, s.labelled, s.first) "
					"FROM (SELECT %s AS label, %s AS columns, pg_catalog.count(%s) OVER "
					"(PARTITION BY %s) AS labelled, pg_catalog.row_number() OVER "
					"(PARTITION BY %s) OPERATOR(pg_catalog.=) 1 AS first "
					"FROM %s AS t WHERE %s IS NOT NULL) AS s",
					PARAM_EXTRA, label, row, label, source->unit, source->unit, source->from,
					source->unit);
}

/*
 * Over tables, some of which are foreign ones: an aggregate for each. The request
 * is a table that is computed once: as a constant it would be part of every plan.
 */
static char *
tables_pass(const DpermSource *source, List *tables)
{
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	appendStringInfo(&sql, "WITH w AS MATERIALIZED (SELECT $%d AS w)", PARAM_EXTRA);
	foreach(cell, tables)
		appendStringInfo(&sql, "%s SELECT dperm.dperm_moments_agg((SELECT w FROM w), %s, %s) "
								"FROM %s AS t", cell == list_head(tables) ? "" : " UNION ALL",
						 read_label(source), row_as_bytes(source),
						 dperm_relation_name(lfirst_oid(cell)));
	return sql.data;
}

/* A pass, with its request or NULL. */
static DpermChecked
make_pass(const DpermSource *source, const bytea *request)
{
	bool		citus = source->location == DPERM_LOCATION_CITUS;
	List	   *tables = source->parts ? source->parts : list_make1_oid(source->relation);
	Datum		value = PointerGetDatum(request);
	DpermChecked pass;

	if (citus && request)
		value = DirectFunctionCall2(binary_encode, value, CStringGetTextDatum("base64"));
	pass = make_query(source, source->relation,
					  citus ? citus_pass(source) : tables_pass(source, tables),
					  citus ? TEXTOID : BYTEAOID, value);
	pass.options = CURSOR_OPT_PARALLEL_OK;
	return pass;
}

/* The results of a pass, in the memory context of the caller. */
typedef struct Results
{
	MemoryContext context;
	List	   *list;
} Results;

/* A result has arrived. */
static void
take_result(void *arg, TupleTableSlot *slot)
{
	Results    *results = arg;
	MemoryContext before = MemoryContextSwitchTo(results->context);

	if (!slot->tts_isnull[0])
		results->list = lappend(results->list, DatumGetByteaPCopy(slot->tts_values[0]));
	MemoryContextSwitchTo(before);
}

/*
 * Run one pass over rows that are elsewhere: of the request, the caller has filled in the
 * order, and weights and second, or weights and bins. The answer is in the current memory
 * context.
 */
void
dperm_queries_pass(const DpermSource *source, DpermPass *pass)
{
	const bytea *request = dperm_moments_request(&source->spec, pass);
	DpermChecked query = make_pass(source, request);
	Results		results = {CurrentMemoryContext, NIL};

	dperm_checked_query_take(&query, take_result, &results);
	dperm_moments_answer(request, results.list, pass);
}

/* ------------------------------------------------------------------ rows */

/* The query that reads rows: label, features, and the unit, if there is one. */
static char *
read_query(const DpermSource *source)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT %s",
					 source->label_column ?
						 psprintf("t.%s, ", quote_identifier(source->label_column)) : "");
	for (int i = 0; i < source->block_count; i++)
		appendStringInfo(&sql, "%s%s", i > 0 ? ", " : "", source->columns[i]);
	if (source->unit)
		appendStringInfo(&sql, ", %s", source->unit);
	appendStringInfo(&sql, " FROM %s AS t", source->from);
	return sql.data;
}

/*
 * The query that reads all rows, without parallel workers: they would only send
 * rows here.
 */
static DpermChecked
make_read(const DpermSource *source)
{
	return make_query(source, source->relation, read_query(source), BYTEAOID, 0);
}

/* A random number, new for each call. */
static uint64
make_key(void)
{
	uint64		key;

	if (!pg_strong_random(&key, sizeof(key)))
		dperm_host_check_status(DPERM_NO_ENTROPY);
	return key;
}

/*
 * A condition that selects about one in "every" rows of the relation t, by their
 * physical location on Citus, and else by their contents: then equal rows are in
 * the sample together. A foreign table may be a view on its server.
 */
static char *
sample_condition(const DpermSource *source, int every)
{
	StringInfoData sql;

	initStringInfo(&sql);
	if (source->unit)
		appendStringInfo(&sql, "%s IS NOT NULL AND ", source->unit);
	appendStringInfo(&sql, "dperm.dperm_sample($%d, %d", PARAM_EXTRA, every);
	if (source->location == DPERM_LOCATION_CITUS &&
		get_rel_relkind(source->relation) != RELKIND_VIEW)
		appendStringInfoString(&sql, ", t.ctid)");
	else
	{
		appendStringInfo(&sql, ", t.%s", quote_identifier(source->label_column));
		for (int i = 0; i < Min(source->block_count, DPERM_COLUMN_ARGS); i++)
			appendStringInfo(&sql, ", %s", source->columns[i]);
		appendStringInfoChar(&sql, ')');
	}
	return sql.data;
}

/*
 * Read about one in "every" rows, but no more than the limit, which is for equal ones. Which
 * ones is neither secret nor relevant.
 */
void
dperm_queries_sample(const DpermSource *source, int64 every, int64 limit, DestReceiver *receiver)
{
	char	   *condition = sample_condition(source, (int) Min(every, PG_INT32_MAX));
	DpermChecked checked =
		make_query(source, source->relation,
				   psprintf("%s WHERE %s LIMIT " INT64_FORMAT, read_query(source), condition,
							limit),
				   INT8OID, Int64GetDatum((int64) make_key()));

	dperm_checked_query_run(&checked, receiver);
}

/*
 * The query that counts rows and units: one row with both numbers for each
 * relation that the source consists of. A row without a unit belongs to no
 * person, and count(DISTINCT) ignores it.
 */
static char *
count_query(const DpermSource *source)
{
	List	   *relations = source->parts ? source->parts : list_make1_oid(source->relation);
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	foreach(cell, relations)
		appendStringInfo(&sql, "%sSELECT pg_catalog.count(*), %s FROM %s AS t",
						 cell == list_head(relations) ? "" : " UNION ALL ",
						 source->unit ? psprintf("pg_catalog.count(DISTINCT %s)", source->unit) :
										"pg_catalog.count(*)",
						 dperm_relation_name(lfirst_oid(cell)));
	return sql.data;
}

/* The numbers of units and of rows in all relations so far. */
typedef struct Counts
{
	int64		units;
	int64		rows;
} Counts;

/* The numbers of a relation, which may come from another server, have arrived. */
static void
take_counts(void *arg, TupleTableSlot *slot)
{
	Counts	   *counts = arg;
	int64		rows = DatumGetInt64(slot->tts_values[0]);
	int64		units = DatumGetInt64(slot->tts_values[1]);

	if (slot->tts_isnull[0] || slot->tts_isnull[1] || units < 0 || units > rows ||
		rows > DPERM_ROWS_MAX - counts->rows)
		dperm_moments_wrong_answer();
	counts->units += units;
	counts->rows += rows;
}

/*
 * The number of units of a source whose rows are elsewhere, by a scan of its own: rows, or
 * persons; and the number of rows.
 */
int64
dperm_queries_count(const DpermSource *source, int64 *rows)
{
	DpermChecked query = make_query(source, source->relation, count_query(source), BYTEAOID, 0);
	Counts		counts = {0, 0};

	dperm_checked_query_take(&query, take_counts, &counts);
	*rows = counts.rows;
	return counts.units;
}

/*
 * Read all rows, once, without parallel workers, in any order. The receiver gets the label,
 * the features and, if there is one, the unit. source->label says how the label is read.
 */
void
dperm_queries_read(const DpermSource *source, DestReceiver *receiver)
{
	DpermChecked checked;

	if (source->registration)
	{
		dperm_checked_query_run_kept(source->kept, receiver);
		return;
	}
	checked = make_read(source);
	dperm_checked_query_run(&checked, receiver);
}

/*
 * The query that loads all rows where they are read. The key is not known when it
 * is planned, so it must not be part of the plan. Too many columns are one record;
 * values that are too large to be useful must not get into it, since it is built in
 * memory.
 */
static DpermChecked
make_load(const DpermSource *source, bytea *key)
{
	bool		wide = source->block_count > DPERM_COLUMN_ARGS;
	StringInfoData sql;
	DpermChecked checked;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT dperm.dperm_load_agg($%d, t.%s, %s", PARAM_EXTRA,
					 quote_identifier(source->label_column), wide ? "ROW(" : "");
	for (int i = 0; i < source->block_count; i++)
		appendStringInfo(&sql, wide && source->varlena[i] ? "%sdperm.dperm_bounded(%s)" : "%s%s",
						 i > 0 ? ", " : "", source->columns[i]);
	appendStringInfo(&sql, ")%s FROM %s AS t", wide ? ")" : "", source->from);
	checked = make_query(source, source->relation, sql.data, BYTEAOID, PointerGetDatum(key));
	checked.options = CURSOR_OPT_PARALLEL_OK;
	checked.params->params[PARAM_EXTRA - 1].pflags = 0;
	return checked;
}

/*
 * Workers pay off from so many times the size of a table on from which one
 * scan does: a training starts them twice, and rows in shared memory cost more.
 */
#define SMALL_SCANS 4

/* Is a source a table for which workers do not pay? Then there is no need to plan. */
static bool
is_small(const DpermSource *source)
{
	char		kind = get_rel_relkind(source->relation);
	Relation	relation;
	bool		small;

	if (kind != RELKIND_RELATION && kind != RELKIND_MATVIEW)
		return false;
	relation = table_open(source->relation, NoLock);	/* it is locked */
	small = RelationGetParallelWorkers(relation, -1) == -1 &&
		RelationGetNumberOfBlocks(relation) < (double) SMALL_SCANS * min_parallel_table_scan_size;
	table_close(relation, NoLock);
	return small;
}

/*
 * Load all rows where they are read, by parallel workers, as far as the planner wants to
 * use any: prepare() is told how many, fills in the key of the shared rows, and may refuse.
 * Returns false if the query was not run; otherwise *result is that of dperm_load_agg in
 * the memory context of the caller, NULL if there are no rows.
 */
bool
dperm_queries_load(const DpermSource *source, bytea *key, bool (*prepare) (void *arg, int workers),
				   void *arg, bytea **result)
{
	Results		results = {CurrentMemoryContext, NIL};
	DpermChecked query;

	if (max_parallel_workers_per_gather == 0 || is_small(source))
		return false;
	query = make_load(source, key);
	query.prepare = prepare;
	query.prepare_arg = arg;
	if (!dperm_checked_query_take(&query, take_result, &results))
		return false;
	*result = results.list == NIL ? NULL : linitial(results.list);
	return true;
}

/* Does the server of a foreign table run passes over it? It does not run what it does not know. */
static bool
runs_there(const DpermSource *source, Oid relation)
{
	DpermChecked query = make_query(source, relation, tables_pass(source, list_make1_oid(relation)),
									BYTEAOID, 0);

	return get_rel_relkind(relation) != RELKIND_FOREIGN_TABLE ||
		dperm_checked_query_runs_there(&query);
}

/* Do the servers that have the rows run passes? If not, all rows are fetched. */
static void
check_location(DpermSource *source)
{
	bool		runs = runs_there(source, source->relation);
	ListCell   *cell;

	foreach(cell, source->parts)
		runs = runs && runs_there(source, lfirst_oid(cell));
	if (!runs)
	{
		source->location = DPERM_LOCATION_HERE;
		source->parts = NIL;
		source->spec.weighted = false;
	}
	/* a digest shows whether passes read the same rows: there is no common snapshot */
	else
		source->spec.seed = make_key();
}

/*
 * Do everything up to the first row of the queries: check them, plan them, and have
 * the executor check privileges and what it would read.
 */
static void
try_queries(DpermSource *source)
{
	DpermChecked read = make_read(source);

	if (source->location != DPERM_LOCATION_HERE)
		check_location(source);
	if (source->location != DPERM_LOCATION_HERE)
	{
		DpermChecked pass = make_pass(source, NULL);

		dperm_checked_query_try(&pass);
	}
	dperm_checked_query_try(&read);
}

/*
 * Open a source, and check the queries over it, so that only rows can make one of them fail
 * later. Copies of the source have the same queries.
 */
void
dperm_queries_open(DpermSource *source, const DpermSourceNames *names, const DpermOptions *options)
{
	dperm_source_open(source, names, options);
	if (!source->registration)
		try_queries(source);
	else if (names->reads)
		source->kept = dperm_checked_query_keep(source);
}
