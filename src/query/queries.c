/*
 * queries.c: the queries over a source.
 *
 * All of them see the snapshot of the calling query, use parallel workers if
 * the planner chooses to, and are checked before they run: nothing in them may
 * change the rows from pass to pass, and no function may replace one of ours.
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
#include "core/privacy/portion.h"
#include "query/checked_query.h"
#include "query/identity.h"
#include "query/moments_flat.h"
#include "query/pass_query.h"
#include "query/queries.h"
#include "relation/relation.h"

/* Set a parameter by number. */
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

	set_param(params, DPERM_PARAM_LABELS,
			  source->spec.labels.kind == DPERM_LABEL_SEVERAL ? TEXTARRAYOID : TEXTOID,
			  source->label_domain, source->label_domain == 0);
	set_param(params, DPERM_PARAM_KEY, BYTEAOID, source->key, source->key == 0);
	set_param(params, DPERM_PARAM_PORTIONS, INT4OID, Int32GetDatum(source->portions), false);
	for (int i = 0; i < extra_count; i++)
		set_param(params, DPERM_PARAM_EXTRA + i, extra_type, extras[i], extras[i] == 0);
	return params;
}

/*
 * A pass, with requests. A pass over persons numbers their rows in any order:
 * it does not matter which one is the first, so it is exempt from the check
 * that the order of rows does not matter. It reads a table directly, without a
 * view that could depend on an order, too. The query that reads all rows is not
 * exempt, and checks everything else.
 */
static DpermChecked
make_pass(const DpermSource *source, int count, const int *portions, const Datum *requests)
{
	return (DpermChecked) {.source = source,
						   .relation = source->relation,
						   .text = dperm_pass_query(source, count, portions),
						   .params = make_params(source, source->moments_type, requests, count),
						   .options = CURSOR_OPT_PARALLEL_OK,
						   .any_rows = dperm_source_weighs(source)};
}

/*
 * The query that reads all rows once, or one for rows that can be read again,
 * each with its portion.
 */
static char *
read_query(const DpermSource *source, bool once)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT %s",
					 source->label_column ?
						 psprintf("t.%s, ", quote_identifier(source->label_column)) : "");
	for (int i = 0; i < source->block_count; i++)
		appendStringInfo(&sql, "%s%s", i > 0 ? ", " : "", source->columns[i]);
	if (once && source->unit)
		appendStringInfo(&sql, ", %s", source->unit);
	if (source->portions > 0 && !once)
		appendStringInfo(&sql, ", %s", dperm_pass_query_portion(source));
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
						   .text = read_query(source, source->once),
						   .params = make_params(source, InvalidOid, NULL, 0)};
}

/* Read a sample of rows. */
void
dperm_queries_sample(const DpermSource *source, int64 every, int64 limit, DestReceiver *receiver)
{
	bool		has_places = source->location == DPERM_LOCATION_CITUS &&
					  get_rel_relkind(source->relation) != RELKIND_VIEW;
	int			one_in = (int) Min(every, PG_INT32_MAX);
	DpermSource keyed = *source;
	DpermChecked checked = {.source = &keyed, .relation = source->relation, .any_rows = true};

	/*
	 * by physical location if there is one, else by contents: then equal rows
	 * are in the sample together, hence the limit
	 */
	if (keyed.key == 0)
		keyed.key = dperm_queries_key();
	checked.text =
		psprintf("%s WHERE %s%s LIMIT " INT64_FORMAT, read_query(source, false),
				 source->unit ? psprintf("%s IS NOT NULL AND ", source->unit) : "",
				 has_places ? psprintf("dperm.dperm_portion($%d, %d, 0::pg_catalog.oid, "
									   "t.ctid) OPERATOR(pg_catalog.=) 0",
									   DPERM_PARAM_KEY, one_in) :
							  dperm_pass_query_sample(source, one_in),
				 limit);
	checked.params = make_params(&keyed, InvalidOid, NULL, 0);
	dperm_checked_query_run(&checked, receiver);
}

/*
 * The query that counts rows and units. It returns one or more rows with the
 * numbers of a relation, or for each portion the portion and its numbers. A row
 * without a unit belongs to no person, and count(DISTINCT) ignores it.
 */
static char *
count_query(const DpermSource *source)
{
	List	   *relations = source->parts ? source->parts : list_make1_oid(source->relation);
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	foreach(cell, relations)
	{
		appendStringInfo(&sql, "%sSELECT pg_catalog.count(*), %s",
						 cell == list_head(relations) ? "" : " UNION ALL ",
						 source->unit ? psprintf("pg_catalog.count(DISTINCT %s)", source->unit) :
										"pg_catalog.count(*)");
		if (source->portions > 0)
			appendStringInfo(&sql, ", %s", dperm_pass_query_portion(source));
		appendStringInfo(&sql, " FROM %s AS t%s", dperm_relation_name(lfirst_oid(cell)),
						 source->portions > 0 ? " GROUP BY 3" : "");
	}
	return sql.data;
}

/* A portion that a query has returned. */
int
dperm_queries_checked_portion(const DpermSource *source, Datum portion, bool isnull)
{
	if (isnull || DatumGetInt32(portion) < 0 || DatumGetInt32(portion) >= source->portions)
		dperm_moments_flat_wrong_answer();
	return DatumGetInt32(portion);
}

/* The number of units, and of those in each portion. */
int64
dperm_queries_count(const DpermSource *source, int64 *portions, int64 *rows)
{
	DpermChecked checked = {.source = source, .relation = source->relation,
							.text = count_query(source),
							.params = make_params(source, InvalidOid, NULL, 0),
							.options = CURSOR_OPT_PARALLEL_OK};
	DpermAnswer *answer = dperm_checked_query_answer(&checked);
	int64		total = 0;

	if (portions)
		memset(portions, 0, sizeof(int64) * source->portions);
	if (rows)
		*rows = 0;
	for (uint64 i = 0; i < answer->count; i++)
	{
		bool		isnull,
					unknown;
		int64		seen = DatumGetInt64(dperm_checked_query_value(answer, i, 1, &unknown));
		int64		units = DatumGetInt64(dperm_checked_query_value(answer, i, 2, &isnull));

		/* it may come from another server */
		if (isnull || unknown || units < 0 || units > seen || seen > DPERM_ROWS_MAX - total)
			dperm_moments_flat_wrong_answer();
		total += units;
		if (rows)
			*rows += seen;
		if (portions)
			portions[dperm_queries_checked_portion(
				source, dperm_checked_query_value(answer, i, 3, &isnull), isnull)] += units;
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
	Datum		value = PointerGetDatum(key);
	DpermChecked checked = {.source = source, .relation = source->relation,
							.text = dperm_pass_query_load(source),
							.params = make_params(source, BYTEAOID, &value, 1),
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

/* The same for a pass, with one request. */
static void
try_pass(const DpermSource *source, List **tried)
{
	int			portion = 0;
	Datum		none = 0;
	DpermChecked checked = make_pass(source, 1, source->portions > 0 ? &portion : NULL, &none);

	try_open(&checked, tried);
}

/*
 * Does the server of a foreign table run passes over it? It does not run what
 * it does not know, or what may differ there.
 */
static bool
runs_there(const DpermSource *source, Oid relation)
{
	Datum		none = 0;
	DpermChecked checked = {.source = source, .relation = relation,
							.text = dperm_pass_query_part(source, relation),
							.params = make_params(source, source->moments_type, &none, 1)};

	checked.params->params[DPERM_PARAM_EXTRA - 1].pflags = 0;
	return dperm_checked_query_runs_there(&checked);
}

/* Fetch rows from servers that do not run passes. */
static void
check_location(DpermSource *source)
{
	ListCell   *cell;
	bool		there = true;

	if (source->location == DPERM_LOCATION_SERVER)
		there = runs_there(source, source->relation);
	foreach(cell, source->parts)
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			there = there && runs_there(source, lfirst_oid(cell));
	if (!there)
	{
		source->location = DPERM_LOCATION_HERE;
		source->parts = NIL;
	}

	/*
	 * here the snapshot ensures that all passes read the same rows; elsewhere a
	 * digest shows whether they do
	 */
	if (source->location == DPERM_LOCATION_HERE)
		source->spec.seed = 0;
	else if (!pg_strong_random(&source->spec.seed, sizeof(source->spec.seed)))
		dperm_host_check_status(DPERM_NO_ENTROPY);
}

/* Check the queries over the source, before the first of them is run. */
static void
check_queries(DpermSource *source, List **tried)
{
	check_location(source);

	/* rows that are only read once have no passes */
	if (!dperm_source_only_once(source))
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
void
dperm_queries_pass(const DpermSource *source, int count, const Datum *requests,
				  const int *portions, Datum *results)
{
	DpermChecked pass = make_pass(source, count, portions, requests);
	DpermAnswer *answer;

	/* without portions, no condition excludes a request of 0 */
	Assert(portions || (count == 1 && requests[0]));
	answer = dperm_checked_query_answer(&pass);
	if (answer->count != 1)
		elog(ERROR, "a pass over the rows failed");
	for (int i = 0; i < count; i++)
	{
		bool		isnull;
		Datum		result = dperm_checked_query_value(answer, 0, i + 1, &isnull);

		results[i] = isnull ? 0 : PointerGetDatum(PG_DETOAST_DATUM_COPY(result));
		if (results[i])
		{
			if (!requests[i])
				dperm_moments_flat_wrong_answer();
			dperm_moments_flat_check_answer(results[i], requests[i]);
		}
	}
	dperm_checked_query_free(answer);
}

/* A fresh key. */
Datum
dperm_queries_key(void)
{
	bytea	   *key = palloc(VARHDRSZ + DPERM_PORTION_KEY);

	SET_VARSIZE(key, VARHDRSZ + DPERM_PORTION_KEY);
	if (!pg_strong_random(VARDATA(key), DPERM_PORTION_KEY))
		dperm_host_check_status(DPERM_NO_ENTROPY);
	return PointerGetDatum(key);
}

/* Divide the rows into portions by a key. */
void
dperm_queries_divide(DpermSource *source, int portions, List *identity, Datum key, List **tried)
{
	source->portions = portions;
	source->key = key;
	source->identity = dperm_source_weighs(source) ?
						   psprintf("%s::pg_catalog.%s", source->unit,
									getBaseType(source->unit_type) == UUIDOID ? "uuid" : "int8") :
						   dperm_identity_sql(source, identity);
	check_queries(source, tried);
}
