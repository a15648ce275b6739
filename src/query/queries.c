/*
 * queries.c: the queries over a source.
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
#include "query/moments.h"
#include "query/queries.h"
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

/* The parameters of our queries; the last one is of a type, unless that is none. */
static ParamListInfo
make_params(const DpermSource *source, Oid extra_type, Datum extra)
{
	bool		has_extra = OidIsValid(extra_type);
	ParamListInfo params = makeParamList(has_extra ? PARAM_EXTRA : PARAM_EXTRA - 1);

	set_param(params, PARAM_LABELS, BYTEAOID, source->label_domain);
	if (has_extra)
		set_param(params, PARAM_EXTRA, extra_type, extra);
	return params;
}

/* A query over a relation, of which the source consists. */
static DpermChecked
make_query(const DpermSource *source, Oid relation, char *text, ParamListInfo params)
{
	return (DpermChecked) {.source = source, .relation = relation, .text = text,
						   .params = params};
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
	Datum		value = PointerGetDatum(request);
	DpermChecked pass;

	if (citus && request)
		value = DirectFunctionCall2(binary_encode, value, CStringGetTextDatum("base64"));
	pass = make_query(source, source->relation, citus ? citus_pass(source) :
					  tables_pass(source, source->parts ? source->parts :
								  list_make1_oid(source->relation)),
					  make_params(source, citus ? TEXTOID : BYTEAOID, value));
	pass.options = CURSOR_OPT_PARALLEL_OK;
	return pass;
}

/* Run one pass. */
void
dperm_queries_pass(const DpermSource *source, const bytea *request, DpermPass *answer)
{
	DpermChecked pass = make_pass(source, request);
	DpermAnswer *found = dperm_checked_query_answer(&pass);
	List	   *results = NIL;

	for (uint64 i = 0; i < found->count; i++)
	{
		bool		isnull;
		Datum		result = dperm_checked_query_value(found, i, 1, &isnull);

		if (!isnull)
			results = lappend(results, DatumGetByteaPP(result));
	}
	dperm_moments_answer(request, results, answer);
	dperm_checked_query_free(found);
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
	return make_query(source, source->relation, read_query(source),
					  make_params(source, InvalidOid, 0));
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

/* Read a sample of rows; the limit is for equal ones. */
void
dperm_queries_sample(const DpermSource *source, int64 every, int64 limit, DestReceiver *receiver)
{
	char	   *condition = sample_condition(source, (int) Min(every, PG_INT32_MAX));
	DpermChecked checked =
		make_query(source, source->relation,
				   psprintf("%s WHERE %s LIMIT " INT64_FORMAT, read_query(source), condition,
							limit),
				   make_params(source, INT8OID, Int64GetDatum((int64) make_key())));

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

/* The number of units, and of rows. */
int64
dperm_queries_count(const DpermSource *source, int64 *rows)
{
	DpermChecked checked = make_query(source, source->relation, count_query(source),
									  make_params(source, InvalidOid, 0));
	DpermAnswer *answer = dperm_checked_query_answer(&checked);
	int64		total = 0;

	*rows = 0;
	for (uint64 i = 0; i < answer->count; i++)
	{
		bool		isnull,
					unknown;
		int64		seen = DatumGetInt64(dperm_checked_query_value(answer, i, 1, &unknown));
		int64		units = DatumGetInt64(dperm_checked_query_value(answer, i, 2, &isnull));

		/* it comes from another server */
		if (isnull || unknown || units < 0 || units > seen || seen > DPERM_ROWS_MAX - *rows)
			dperm_moments_wrong_answer();
		total += units;
		*rows += seen;
	}
	dperm_checked_query_free(answer);
	return total;
}

/* Read all rows, once. */
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
	checked = make_query(source, source->relation, sql.data,
						 make_params(source, BYTEAOID, PointerGetDatum(key)));
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

/* Load all rows where they are read. */
bool
dperm_queries_load(const DpermSource *source, bytea *key, bool (*prepare) (void *arg, int workers),
				   void *arg, bytea **result)
{
	DpermChecked checked;
	DpermAnswer *answer;
	bool		isnull;
	Datum		value;
	bool		loaded;

	if (max_parallel_workers_per_gather == 0 || is_small(source))
		return false;
	checked = make_load(source, key);
	checked.prepare = prepare;
	checked.prepare_arg = arg;
	answer = dperm_checked_query_answer(&checked);
	loaded = answer->count > 0;
	*result = NULL;
	if (loaded)
	{
		value = dperm_checked_query_value(answer, 0, 1, &isnull);
		if (!isnull)
			*result = DatumGetByteaPCopy(value);
	}
	dperm_checked_query_free(answer);
	return loaded;
}

/*
 * Do everything up to the first row of a query: check it, plan it, and have the
 * executor check privileges and what it would read. Queries that have been
 * tried before are skipped.
 */
static void
try_open(DpermChecked *query, List **tried)
{
	ListCell   *cell;

	foreach(cell, *tried)
		if (strcmp(lfirst(cell), query->text) == 0)
			return;
	*tried = lappend(*tried, pstrdup(query->text));

	/* the NULL in place of a value must not simplify the plan */
	for (int i = 0; i < query->params->numParams; i++)
		query->params->params[i].pflags = 0;
	dperm_checked_query_try(query);
}

/*
 * Does the server of a foreign table run passes over it? It does not run what
 * it does not know, or what may differ there.
 */
static bool
runs_there(const DpermSource *source, Oid relation)
{
	DpermChecked checked = make_query(source, relation,
									  tables_pass(source, list_make1_oid(relation)),
									  make_params(source, BYTEAOID, 0));

	checked.params->params[PARAM_EXTRA - 1].pflags = 0;
	return dperm_checked_query_runs_there(&checked);
}

/* Do the servers that have the rows run passes, which all read the same rows? */
static bool
runs_passes(const DpermSource *source)
{
	DpermChecked read = make_read(source);
	ListCell   *cell;

	if (source->location == DPERM_LOCATION_SERVER && !runs_there(source, source->relation))
		return false;
	foreach(cell, source->parts)
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE &&
			!runs_there(source, lfirst_oid(cell)))
			return false;
	return dperm_checked_query_is_steady(&read);
}

/* Fetch rows from servers that do not run passes. */
static void
check_location(DpermSource *source)
{
	if (source->location == DPERM_LOCATION_HERE)
		return;
	if (!runs_passes(source))
	{
		source->location = DPERM_LOCATION_HERE;
		source->parts = NIL;
		source->spec.weighted = false;
	}
	/* a digest shows whether passes read the same rows: there is no common snapshot */
	else
		source->spec.seed = make_key();
}

/* Check the queries over the source, before the first of them is run. */
static void
check_queries(DpermSource *source, List **tried)
{
	DpermChecked read = make_read(source);
	DpermChecked pass;

	check_location(source);
	if (source->location != DPERM_LOCATION_HERE)
	{
		pass = make_pass(source, NULL);
		try_open(&pass, tried);
	}
	try_open(&read, tried);
}

/*
 * Plan the query over a protected relation. Sources that differ only in what is
 * done with the rows share it.
 */
static void
keep_query(DpermSource *source, List **kept)
{
	DpermTableRows *rows = dperm_table_rows_make(source);
	ListCell   *cell;

	foreach(cell, *kept)
		if (strcmp(((DpermKeptQuery *) lfirst(cell))->rows->text, rows->text) == 0)
			source->kept = lfirst(cell);
	if (source->kept)
		return;
	source->kept = dperm_checked_query_keep(source, rows);
	*kept = lappend(*kept, source->kept);
}

/* Open a source, and check the queries over it. */
void
dperm_queries_open(DpermSource *source, const DpermSourceNames *names, const DpermOptions *options,
				   List **tried)
{
	dperm_source_open(source, names, options);
	if (!source->registration)
		check_queries(source, tried);
	else if (names->reads)
		keep_query(source, tried);
}
