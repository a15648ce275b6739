/*
 * source_query.c: the queries that are run over a source.
 *
 * All of them see the snapshot of the calling query, use parallel workers where the planner likes,
 * and are checked before they run: nothing in them may change the rows from pass to pass, and no
 * function may stand in for one of ours.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

#include "columns.h"
#include "core/portion.h"
#include "dperm.h"
#include "moments_type.h"
#include "source.h"

/* Of our queries: $1 dp_moments, $2 positive, $3 key, $4 portions, $5 portion. */
#define PARAMETERS 5

/*
 * The plan of one of our queries, checked. Every pass has to see the same rows: a snapshot does that
 * for tables, but a view may compute something new each time.
 */
static SPIPlanPtr
checked_plan(const DpermSource *source, const char *query, int count, Oid *types)
{
	SPIPlanPtr	plan = SPI_prepare_cursor(query, count, types, CURSOR_OPT_PARALLEL_OK);
	ListCell   *cell;

	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
	foreach(cell, SPI_plan_get_plan_sources(plan))
	{
		Query	   *tree = linitial_node(Query, ((CachedPlanSource *) lfirst(cell))->query_list);

		dperm_check_query(source, tree);
	}
	return plan;
}

/* The condition that a row is of the portion, with WHERE; empty for all rows. */
static const char *
portion_sql(const DpermSource *source)
{
	if (source->portions == 0)
		return "";
	return psprintf(" WHERE %s.dp_portion($3, $4, %s) OPERATOR(pg_catalog.=) $5",
					dperm_source_schema(source), source->identity);
}

/*
 * A plan holds the weights of a pass as a constant, and settings that anybody may change print plans, and
 * how much a sort took, to the client. Switch them off, and all messages; the caller ends the nest level.
 */
static int
hide_plans(void)
{
	static const char *const settings[][2] = {{"debug_print_parse", "off"},
	{"debug_print_rewritten", "off"}, {"debug_print_plan", "off"},
	{"client_min_messages", "error"}};
	int			level = NewGUCNestLevel();

	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* The query of a pass. */
static void
make_pass_query(DpermSource *source)
{
	/* a lone array has an aggregate without polymorphic arguments, which Citus pushes down */
	source->pass_query =
		psprintf("WITH w AS MATERIALIZED (SELECT $1 AS w) "
				 "SELECT %s.%s((SELECT w FROM w), %s, %s) FROM %s AS t%s",
				 dperm_source_schema(source),
				 source->lone_array ? "dp_moments_vector_agg" : "dp_moments_agg",
				 source->label, source->columns, source->from, portion_sql(source));
}

/* Make the query of a pass and check it, before the first one. */
void
dperm_source_prepare(DpermSource *source)
{
	Oid			types[PARAMETERS] = {source->moments_type, TEXTOID, BYTEAOID, INT4OID, INT4OID};

	make_pass_query(source);
	SPI_connect();
	SPI_freeplan(checked_plan(source, source->pass_query, PARAMETERS, types));
	SPI_finish();
}

/* The most common of some vector lengths. */
int
dperm_common_length(const int *lengths, int count)
{
	int			best = 1;
	int			best_votes = 0;

	for (int i = 0; i < count; i++)
	{
		int			votes = 0;

		if (lengths[i] < 1 || lengths[i] >= DPERM_DIM_MAX)
			continue;
		for (int j = 0; j < count; j++)
			votes += lengths[j] == lengths[i];
		if (votes > best_votes || (votes == best_votes && lengths[i] < best))
		{
			best = lengths[i];
			best_votes = votes;
		}
	}
	return best;
}

/* The most common vector length among the first rows. */
int
dperm_source_length(const DpermSource *source)
{
	int			lengths[DPERM_LENGTH_ROWS];
	int			count = 0;
	const char *column = quote_identifier(source->unsized);
	char	   *query = psprintf("SELECT CASE WHEN pg_catalog.array_ndims(t.%s) OPERATOR(pg_catalog.=) 1 "
								 "THEN pg_catalog.array_length(t.%s, 1) END FROM %s AS t LIMIT %d",
								 column, column, source->from, DPERM_LENGTH_ROWS);

	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the vector lengths");
	for (uint64 i = 0; i < SPI_processed && count < DPERM_LENGTH_ROWS; i++)
	{
		bool		isnull;
		Datum		length = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1,
										   &isnull);

		if (!isnull)
			lengths[count++] = DatumGetInt32(length);
	}
	SPI_freetuptable(SPI_tuptable);
	return dperm_common_length(lengths, count);
}

/* Run a query of ours with its parameters, and some more dp_model ones. */
void
dperm_source_execute(const DpermSource *source, const char *query, Datum request,
					 const Datum *models, int model_count)
{
	int			count = PARAMETERS + model_count;
	Oid		   *types = palloc(sizeof(Oid) * count);
	Datum	   *values = palloc(sizeof(Datum) * count);
	char	   *nulls = palloc(count);
	int			level = hide_plans();
	SPIPlanPtr	plan;

	memset(nulls, ' ', count);
	types[0] = source->moments_type;
	values[0] = request;
	nulls[0] = request ? ' ' : 'n';
	types[1] = TEXTOID;
	values[1] = source->positive;
	nulls[1] = source->positive ? ' ' : 'n';
	types[2] = BYTEAOID;
	values[2] = source->key;
	nulls[2] = source->key ? ' ' : 'n';
	types[3] = INT4OID;
	values[3] = Int32GetDatum(source->portions);
	types[4] = INT4OID;
	values[4] = Int32GetDatum(source->portion);
	for (int i = 0; i < model_count; i++)
	{
		types[PARAMETERS + i] = dperm_source_type(source, "dp_model");
		values[PARAMETERS + i] = models[i];
	}

	/* no row limit: with one the executor would not use parallel workers */
	plan = checked_plan(source, query, count, types);
	if (SPI_execute_plan(plan, values, nulls, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "a pass over the rows failed");
	SPI_freeplan(plan);
	AtEOXact_GUC(true, level);
	pfree(types);
	pfree(values);
	pfree(nulls);
}

/* Run one pass. */
Datum
dperm_source_pass(const DpermSource *source, DpermPassOrder order, int64 capacity,
				  const double *weights)
{
	MemoryContext caller = CurrentMemoryContext;
	Datum		request = dperm_moments_request(&source->spec, order, capacity, weights);
	Datum		result;
	bool		isnull;

	dperm_source_execute(source, source->pass_query, request, NULL, 0);
	if (SPI_processed != 1)
		elog(ERROR, "a pass over the rows failed");
	result = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	if (isnull)
		result = 0;
	else
	{
		MemoryContext spi = MemoryContextSwitchTo(caller);

		result = PointerGetDatum(PG_DETOAST_DATUM_COPY(result));
		MemoryContextSwitchTo(spi);
	}
	SPI_freetuptable(SPI_tuptable);
	pfree(DatumGetPointer(request));
	return result;
}

/* A column that identifies rows; what is private in a row does not. */
static char *
identity_column(const DpermSource *source, const char *identity)
{
	AttrNumber	number = get_attnum(source->relation, identity);
	bool		is_private = strcmp(identity, source->label_column) == 0;

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", identity,
						get_rel_name(source->relation)),
				 errhint("identity names a column that identifies rows, such as a key.")));
	for (int i = 0; i < source->block_count; i++)
		is_private = is_private || strcmp(identity, source->blocks[i].column.bytes) == 0;
	if (is_private)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("identity cannot be the label or a feature"),
				 errhint("It names a column that identifies rows and tells nothing else, such as a key.")));
	if (pg_class_aclcheck(source->relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck(source->relation, number, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for relation %s", get_rel_name(source->relation)),
				 errhint("Tuning needs SELECT on the column that identifies rows.")));
	return psprintf("%s.dp_text(t.%s)", dperm_source_schema(source),
					quote_identifier(identity));
}

/* Do the rows of the relation have places: are there tables at all of its leaves? */
static bool
has_places(Oid relation)
{
	ListCell   *cell;

	switch (get_rel_relkind(relation))
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
			foreach(cell, find_all_inheritors(relation, AccessShareLock, NULL))
				if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
					return false;
			return true;
		case RELKIND_MATVIEW:
			return true;
		default:
			return false;
	}
}

/* What identifies a row of the relation: a column, or the place of the row. */
static char *
identity_sql(const DpermSource *source, const char *identity)
{
	if (identity)
		return identity_column(source, identity);
	if (!has_places(source->relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the rows of \"%s\" have no identity of their own",
						get_rel_name(source->relation)),
				 errhint("Name a column that identifies rows, as in identity => 'id', or store the rows in a table.")));
	if (pg_class_aclcheck(source->relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for relation %s", get_rel_name(source->relation)),
				 errhint("Tuning needs SELECT on the whole table, or a column that identifies rows, as in identity => 'id'.")));
	return "t.tableoid, t.ctid";
}

/* A fresh key. */
Datum
dperm_source_key(void)
{
	bytea	   *key = palloc(VARHDRSZ + DPERM_PORTION_KEY);

	SET_VARSIZE(key, VARHDRSZ + DPERM_PORTION_KEY);
	if (!pg_strong_random(VARDATA(key), DPERM_PORTION_KEY))
		dperm_check_status(DPERM_NO_ENTROPY);
	return PointerGetDatum(key);
}

/* Divide the rows into portions by a key. */
void
dperm_source_divide(DpermSource *source, int portions, const char *identity, Datum key)
{
	source->portions = portions;
	source->portion = 0;
	source->key = key;
	source->identity = identity_sql(source, identity);
	dperm_source_prepare(source);
}

/* How many rows each portion has. */
void
dperm_source_count(const DpermSource *source, int64 *rows)
{
	char	   *query = psprintf("SELECT %s.dp_portion($3, $4, %s), pg_catalog.count(*) FROM %s AS t GROUP BY 1",
								 dperm_source_schema(source), source->identity, source->from);

	memset(rows, 0, sizeof(int64) * source->portions);
	dperm_source_execute(source, query, 0, NULL, 0);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[i];
		bool		isnull;
		int			portion = DatumGetInt32(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 1,
														  &isnull));

		rows[portion] = DatumGetInt64(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 2, &isnull));
	}
	SPI_freetuptable(SPI_tuptable);
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
dperm_source_rows_sql(const DpermSource *source, char **label)
{
	StringInfoData sql;

	*label = label_alias(source);
	initStringInfo(&sql);
	appendStringInfo(&sql, "(SELECT %s AS %s", source->label, *label);
	for (int i = 0; i < source->block_count; i++)
	{
		const char *column = quote_identifier(source->blocks[i].column.bytes);

		/* the row is made in memory: what is too large to be of use must not get into it */
		if (source->varlena[i])
			appendStringInfo(&sql, ", %s.dp_bounded(t.%s, %zu) AS %s",
							 dperm_source_schema(source), column,
							 dperm_reader_size(&source->blocks[i]), column);
		else
			appendStringInfo(&sql, ", t.%s", column);
	}
	appendStringInfo(&sql, " FROM %s AS t%s) AS r", source->from, portion_sql(source));
	return sql.data;
}

/* How many rows with a label each model gets wrong. */
void
dperm_source_mistakes(const DpermSource *source, const Datum *models, int count,
					  int64 *mistakes)
{
	StringInfoData sql;
	char	   *label;
	char	   *rows = dperm_source_rows_sql(source, &label);

	initStringInfo(&sql);
	for (int i = 0; i < count; i++)
		appendStringInfo(&sql, "%s pg_catalog.count(*) FILTER (WHERE %s.dp_predict($%d, r.*) OPERATOR(pg_catalog.<>) r.%s)",
						 i == 0 ? "SELECT" : ",", dperm_source_schema(source), PARAMETERS + 1 + i, label);
	appendStringInfo(&sql, " FROM %s", rows);
	dperm_source_execute(source, sql.data, 0, models, count);
	for (int i = 0; i < count; i++)
	{
		bool		isnull;

		mistakes[i] = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
												  SPI_tuptable->tupdesc, i + 1, &isnull));
	}
	SPI_freetuptable(SPI_tuptable);
}

/* The tables that a source reads from, with their partitions and children; within SPI. */
static List *
source_tables(const DpermSource *source)
{
	Oid			types[PARAMETERS] = {source->moments_type, TEXTOID, BYTEAOID, INT4OID, INT4OID};
	SPIPlanPtr	plan = checked_plan(source, source->pass_query, PARAMETERS, types);
	CachedPlanSource *planned = linitial(SPI_plan_get_plan_sources(plan));
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, planned->relationOids)
		result = list_concat_unique_oid(result, find_all_inheritors(lfirst_oid(cell),
																	AccessShareLock, NULL));
	SPI_freeplan(plan);
	return result;
}

/* Do two sources read from a common table? */
bool
dperm_source_overlap(const DpermSource *a, const DpermSource *b)
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
