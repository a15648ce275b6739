/*
 * source.c: the relation that a learner reads, and the query of a pass over it.
 *
 * Names come from the caller as data: the relation as one would write it in FROM, columns as
 * plain names. They are looked up in the catalog, and only what was found there goes into the
 * query, quoted and schema-qualified.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "label.h"
#include "moments_type.h"
#include "rows.h"
#include "source.h"

/* The relation of a name as in FROM, locked; an error with a hint if there is none. */
static Oid
find_relation(const char *name)
{
	RangeVar   *range = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name)));
	Oid			relation = RangeVarGetRelidExtended(range, AccessShareLock, RVR_MISSING_OK,
													NULL, NULL);

	if (!OidIsValid(relation))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" does not exist", name),
				 errhint("Write source as in FROM: 'table', 'schema.table', or '\"Mixed Case\"' with double quotes.")));
	switch (get_rel_relkind(relation))
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_VIEW:
		case RELKIND_MATVIEW:
		case RELKIND_FOREIGN_TABLE:
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" has no rows to train on", name),
					 errhint("source is a table, a view, a materialized view or a foreign table.")));
	}
	return relation;
}

/* A column by its exact name: its number and type. */
static AttrNumber
find_column(Oid relation, const char *name, const char *argument, Oid *type)
{
	HeapTuple	tuple = SearchSysCacheAttName(relation, name);
	AttrNumber	number;

	if (HeapTupleIsValid(tuple) &&
		((Form_pg_attribute) GETSTRUCT(tuple))->attnum < 0)
	{
		ReleaseSysCache(tuple);
		tuple = NULL;
	}
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						get_rel_name(relation)),
				 errhint("%s takes the name as it is stored: upper and lower case matter, and no quotes are needed.",
						 argument)));
	number = ((Form_pg_attribute) GETSTRUCT(tuple))->attnum;
	*type = ((Form_pg_attribute) GETSTRUCT(tuple))->atttypid;
	ReleaseSysCache(tuple);
	return number;
}

/* May the caller read the columns? Better to say so now than halfway. */
static void
check_privileges(Oid relation, AttrNumber label, AttrNumber features)
{
	Oid			user = GetUserId();

	if (pg_class_aclcheck(relation, user, ACL_SELECT) == ACLCHECK_OK ||
		(pg_attribute_aclcheck(relation, label, user, ACL_SELECT) == ACLCHECK_OK &&
		 pg_attribute_aclcheck(relation, features, user, ACL_SELECT) == ACLCHECK_OK))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for relation %s", get_rel_name(relation)),
			 errhint("Training needs SELECT on the label and the feature columns.")));
}

/* A column reference, quoted. */
static char *
column_sql(const char *name)
{
	return psprintf("t.%s", quote_identifier(name));
}

/*
 * Every pass has to see the same rows. A snapshot does that for tables, but a view may
 * compute something new each time.
 */
static void
check_stable(const DpermSource *source)
{
	Oid			types[2] = {source->moments_type, TEXTOID};
	SPIPlanPtr	plan;
	ListCell   *cell;

	SPI_connect();
	plan = SPI_prepare(source->pass_query, 2, types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	foreach(cell, SPI_plan_get_plan_sources(plan))
	{
		CachedPlanSource *planned = lfirst(cell);

		if (contain_volatile_functions((Node *) planned->query_list))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("source uses volatile functions, so that its rows change from pass to pass"),
					 errhint("Store the rows first, for example in a materialized view.")));
	}
	SPI_finish();
}

/* Find relation and columns and check types and privileges. */
void
dperm_source_open(DpermSource *source, Oid function, const char *relation,
				  const char *label, const char *features, const DpermOptions *options)
{
	Oid			label_type,
				features_type,
				element;
	AttrNumber	label_column,
				features_column;
	DpermLabel	reader;
	const char *schema;

	memset(source, 0, sizeof(*source));
	source->extension_schema = get_func_namespace(function);
	source->moments_type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
										   CStringGetDatum("dp_moments"),
										   ObjectIdGetDatum(source->extension_schema));
	source->relation = find_relation(relation);
	source->from = quote_qualified_identifier(get_namespace_name(get_rel_namespace(source->relation)),
											  get_rel_name(source->relation));
	label_column = find_column(source->relation, label, "label", &label_type);
	features_column = find_column(source->relation, features, "features", &features_type);
	check_privileges(source->relation, label_column, features_column);

	element = dperm_rows_element_type(features_type);
	if (getBaseType(features_type) != FLOAT8ARRAYOID &&
		getBaseType(features_type) != FLOAT4ARRAYOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("features column \"%s\" is of type %s", features,
						format_type_be(features_type)),
				 errhint(OidIsValid(element) ?
						 "Convert it to double precision[], for example in a view." :
						 "Features are a column of type double precision[] or real[].")));
	source->features = column_sql(features);

	dperm_label_init(&reader, label_type, options->positive);
	if (options->positive)
		source->positive = PointerGetDatum(cstring_to_text(options->positive));
	schema = quote_identifier(get_namespace_name(source->extension_schema));
	if (getBaseType(label_type) == BOOLOID && options->positive == NULL)
		source->label = column_sql(label);
	else
		source->label = psprintf("%s.dp_label(%s, $2)", schema, column_sql(label));

	source->pass_query =
		psprintf("WITH w AS MATERIALIZED (SELECT $1 AS w) "
				 "SELECT %s.dp_moments_agg((SELECT w FROM w), %s, %s) FROM %s AS t",
				 schema, source->label, source->features, source->from);
	check_stable(source);
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
dperm_source_dimension(const DpermSource *source)
{
	int			lengths[DPERM_LENGTH_ROWS];
	int			count = 0;
	char	   *query = psprintf("SELECT CASE WHEN pg_catalog.array_ndims(%s) OPERATOR(pg_catalog.=) 1 "
								 "THEN pg_catalog.array_length(%s, 1) END FROM %s AS t LIMIT %d",
								 source->features, source->features, source->from,
								 DPERM_LENGTH_ROWS);

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

/* Run one pass. */
Datum
dperm_source_pass(const DpermSource *source, const DpermPass *request, const double *weights)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			types[2] = {source->moments_type, TEXTOID};
	Datum		values[2] = {dperm_moments_request(request, weights), source->positive};
	char		nulls[2] = {' ', source->positive ? ' ' : 'n'};
	Datum		result = 0;
	bool		isnull;
	int			status;

	/*
	 * Neither a prepared plan nor a row limit: with either of them the planner or the
	 * executor would not use parallel workers.
	 */
	status = SPI_execute_with_args(source->pass_query, 2, types, values, nulls, true, 0);
	if (status != SPI_OK_SELECT || SPI_processed != 1)
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
	pfree(DatumGetPointer(values[0]));
	return result;
}
