/*
 * queries.c: the queries over a source.
 *
 * All of them see the snapshot of the calling query, use parallel workers if
 * the planner chooses to, and are checked before they run: no function may
 * replace one of ours.
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

#include "base/host.h"
#include "core/base/limits.h"
#include "query/checked_query.h"
#include "query/moments_flat.h"
#include "query/pass_query.h"
#include "query/queries.h"
#include "relation/relation.h"

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
	ParamListInfo params = makeParamList(has_extra ? DPERM_PARAM_EXTRA : DPERM_PARAM_EXTRA - 1);

	set_param(params, DPERM_PARAM_LABELS,
			  source->spec.labels.kind == DPERM_LABEL_SEVERAL ? TEXTARRAYOID : TEXTOID,
			  source->label_domain);
	if (has_extra)
		set_param(params, DPERM_PARAM_EXTRA, extra_type, extra);
	return params;
}

/* A pass, with its request. */
static DpermChecked
make_pass(const DpermSource *source, Datum request)
{
	return (DpermChecked) {.source = source,
						   .relation = source->relation,
						   .text = dperm_pass_query(source),
						   .params = make_params(source, source->moments_type, request),
						   .options = CURSOR_OPT_PARALLEL_OK};
}

/* The query that reads rows: label, features, and the unit, if there is one. */
static char *
read_query(const DpermSource *source)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT t.%s", quote_identifier(source->label_column));
	for (int i = 0; i < source->block_count; i++)
		appendStringInfo(&sql, ", %s", source->columns[i]);
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
	return (DpermChecked) {.source = source, .relation = source->relation,
						   .text = read_query(source),
						   .params = make_params(source, InvalidOid, 0)};
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

/* Read a sample of rows. */
void
dperm_queries_sample(const DpermSource *source, int64 every, int64 limit, DestReceiver *receiver)
{
	bool		has_places = source->location == DPERM_LOCATION_CITUS &&
					  get_rel_relkind(source->relation) != RELKIND_VIEW;
	int			one_in = (int) Min(every, PG_INT32_MAX);
	DpermChecked checked = {.source = source, .relation = source->relation,
							.params = make_params(source, INT8OID,
												  Int64GetDatum((int64) make_key()))};

	/*
	 * by physical location if there is one, else by contents: then equal rows
	 * are in the sample together, hence the limit
	 */
	checked.text =
		psprintf("%s WHERE %s%s LIMIT " INT64_FORMAT, read_query(source),
				 source->unit ? psprintf("%s IS NOT NULL AND ", source->unit) : "",
				 has_places ? psprintf("dperm.dperm_sample($%d, %d, t.ctid)", DPERM_PARAM_EXTRA,
									   one_in) :
							  dperm_pass_query_sample(source, one_in),
				 limit);
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
	DpermChecked checked = {.source = source, .relation = source->relation,
							.text = count_query(source),
							.params = make_params(source, InvalidOid, 0),
							.options = CURSOR_OPT_PARALLEL_OK};
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
			dperm_moments_flat_wrong_answer();
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
 * The query that loads all rows. The key is not known when it is planned, so it
 * must not be part of the plan.
 */
static DpermChecked
make_load(const DpermSource *source, bytea *key)
{
	DpermChecked checked = {.source = source, .relation = source->relation,
							.text = dperm_pass_query_load(source),
							.params = make_params(source, BYTEAOID, PointerGetDatum(key)),
							.options = CURSOR_OPT_PARALLEL_OK};

	checked.params->params[DPERM_PARAM_EXTRA - 1].pflags = 0;
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

/* The same for the query that reads all rows. */
static void
try_read(const DpermSource *source, List **tried)
{
	DpermChecked checked = make_read(source);

	try_open(&checked, tried);
}

/* The same for a pass. */
static void
try_pass(const DpermSource *source, List **tried)
{
	DpermChecked checked = make_pass(source, 0);

	try_open(&checked, tried);
}

/*
 * Does the server of a foreign table run passes over it? It does not run what
 * it does not know, or what may differ there.
 */
static bool
runs_there(const DpermSource *source, Oid relation)
{
	DpermChecked checked = {.source = source, .relation = relation,
							.text = dperm_pass_query_part(source, relation),
							.params = make_params(source, source->moments_type, 0)};

	checked.params->params[DPERM_PARAM_EXTRA - 1].pflags = 0;
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
	check_location(source);
	if (source->location != DPERM_LOCATION_HERE)
		try_pass(source, tried);
	try_read(source, tried);
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

/* Run one pass. */
Datum
dperm_queries_pass(const DpermSource *source, Datum request)
{
	DpermChecked pass = make_pass(source, request);
	DpermAnswer *answer = dperm_checked_query_answer(&pass);
	Datum		result;
	bool		isnull;

	if (answer->count != 1)
		elog(ERROR, "a pass over the rows failed");
	result = dperm_checked_query_value(answer, 0, 1, &isnull);
	result = isnull ? 0 : PointerGetDatum(PG_DETOAST_DATUM_COPY(result));
	if (result)
		dperm_moments_flat_check_answer(result, request);
	dperm_checked_query_free(answer);
	return result;
}
