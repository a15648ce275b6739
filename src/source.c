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
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "columns.h"
#include "domains.h"
#include "label.h"
#include "moments_type.h"
#include "source.h"

/* A function takes 100 arguments at most, and ours has some of its own. */
#define MAX_COLUMN_ARGS 90

#define SOURCE_HINT \
	"Write source as in FROM: 'table', 'schema.table', or '\"Mixed Case\"' with double quotes."

/* Whatever goes wrong in looking up source, the hint is the same. */
static void
source_hint(void *arg)
{
	errhint(SOURCE_HINT);
}

/* A name as in FROM. */
static RangeVar *
parse_name(const char *name)
{
	List	   *parts;

	if (!SplitIdentifierString(pstrdup(name), '.', &parts) || parts == NIL ||
		list_length(parts) > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("\"%s\" is not the name of a relation", name)));
	for (int i = 0; i < list_length(parts); i++)
		list_nth_cell(parts, i)->ptr_value = makeString(list_nth(parts, i));
	return makeRangeVarFromNameList(parts);
}

/* The relation of a name as in FROM, locked. */
static Oid
find_relation(const char *name)
{
	ErrorContextCallback hint = {
		.previous = error_context_stack,
		.callback = source_hint
	};
	Oid			relation;

	error_context_stack = &hint;
	relation = RangeVarGetRelidExtended(parse_name(name), AccessShareLock, 0, NULL, NULL);
	error_context_stack = hint.previous;
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

/* A column by its exact name. */
static DpermColumn *
find_column(const DpermSource *source, DpermColumn *columns, int count, const char *name,
			const char *argument)
{
	for (int i = 0; i < count; i++)
		if (strcmp(columns[i].name, name) == 0)
			return &columns[i];
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					get_rel_name(source->relation)),
			 errhint("%s takes the name as it is stored: upper and lower case matter, and no quotes are needed.",
					 argument)));
	return NULL;				/* keep compiler quiet */
}

/* May the caller read the columns? Better to say so now than halfway. */
static void
check_privileges(Oid relation, const DpermColumn *label, DpermColumn **features, int count)
{
	Oid			user = GetUserId();
	bool		allowed;

	if (pg_class_aclcheck(relation, user, ACL_SELECT) == ACLCHECK_OK)
		return;
	allowed = pg_attribute_aclcheck(relation, label->number, user, ACL_SELECT) == ACLCHECK_OK;
	for (int i = 0; allowed && i < count; i++)
		allowed = pg_attribute_aclcheck(relation, features[i]->number, user,
										ACL_SELECT) == ACLCHECK_OK;
	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for relation %s", get_rel_name(relation)),
				 errhint("Training needs SELECT on the label and the feature columns.")));
}

/* The columns that the caller named, or all that have a domain. */
static DpermColumn **
choose_features(const DpermSource *source, DpermColumn *columns, int count,
				const DpermColumn *label, char **names, int *chosen)
{
	DpermColumn **features = palloc(sizeof(*features) * Max(count, *chosen));

	if (names == NULL)
	{
		*chosen = 0;
		for (int i = 0; i < count; i++)
			if (columns[i].known && &columns[i] != label)
				features[(*chosen)++] = &columns[i];
		if (*chosen == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("no column of relation \"%s\" has a domain",
							get_rel_name(source->relation)),
					 errhint("Give domains, or CHECK constraints; dp_domains('%s') shows what is known.",
							 get_rel_name(source->relation))));
		return features;
	}
	for (int i = 0; i < *chosen; i++)
	{
		features[i] = find_column(source, columns, count, names[i], "features");
		if (features[i] == label)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column \"%s\" is both label and feature", names[i])));
		for (int j = 0; j < i; j++)
			if (features[j] == features[i])
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" is named twice in features", names[i])));
	}
	return features;
}

/* A domain that nobody uses is a mistake. */
static void
check_domains_used(DpermColumn *columns, int count, DpermColumn **features, int chosen)
{
	for (int i = 0; i < count; i++)
	{
		bool		used = !columns[i].given;

		for (int j = 0; !used && j < chosen; j++)
			used = features[j] == &columns[i];
		if (!used)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("domains has column \"%s\", which is not among the features",
							columns[i].name),
					 errhint("Add it to features, or leave it out of domains.")));
	}
}

/* The block of a feature that is the only one and a vector: norm and dimension are arguments. */
static DpermBlock
lone_vector(DpermSource *source, DpermColumn *column, const DpermOptions *options)
{
	DpermBlock	block = dperm_options_vector_block(options);

	if (column->given && (options->norm != 0 || options->dimension != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" has its dimension and norm in domains", column->name),
				 errhint("Leave out the arguments dimension and norm, or the domain.")));
	if (column->known)
	{
		if (block.count == 0)
			block.count = column->block.count;
		if (options->norm == 0)
			block.norm = column->block.norm;
	}
	else if (block.count == 0)
	{
		/* the length of an array can be found out */
		if (dperm_reader_kind(column->type, DPERM_BLOCK_VECTOR) == DPERM_READ_VECTOR)
			dperm_domains_missing(column);
		source->unsized = column->name;
	}
	return block;
}

/* The block of every feature. */
static void
make_blocks(DpermSource *source, DpermColumn **features, int count,
			const DpermOptions *options)
{
	source->block_count = count;
	source->blocks = palloc0(sizeof(DpermBlock) * count);
	if (count == 1 && features[0]->usable && features[0]->block.kind == DPERM_BLOCK_VECTOR)
		source->blocks[0] = lone_vector(source, features[0], options);
	else if (options->norm != 0 || options->dimension != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("norm and dimension are for a single vector column"),
				 errhint("Give the bounds of columns in domains, such as '{\"age\": [0, 120], \"x\": {\"dimension\": 3, \"norm\": 1}}'.")));
	else
		for (int i = 0; i < count; i++)
		{
			if (!features[i]->known)
				dperm_domains_missing(features[i]);
			source->blocks[i] = features[i]->block;
		}
	for (int i = 0; i < count; i++)
	{
		source->blocks[i].column.bytes = features[i]->name;
		source->blocks[i].column.len = strlen(features[i]->name);
	}
}

/* The schema of our own functions, quoted. */
static const char *
our_schema(const DpermSource *source)
{
	return quote_identifier(get_namespace_name(source->extension_schema));
}

/* How each column is read: the words for the request, and the SQL expression. */
static char **
make_readers(DpermSource *source, DpermColumn **features)
{
	char	  **expressions = palloc(sizeof(char *) * source->block_count);
	uint64	   *words;
	int			count = source->block_count;

	for (int i = 0; i < source->block_count; i++)
		if (source->blocks[i].kind == DPERM_BLOCK_CATEGORY)
			count += source->blocks[i].count;
	words = palloc(sizeof(uint64) * count);
	source->spec.readers = words;
	for (int i = 0; i < source->block_count; i++)
	{
		DpermBlock *block = &source->blocks[i];
		DpermReaderKind kind = dperm_reader_kind(features[i]->type, block->kind);

		expressions[i] = psprintf("t.%s", quote_identifier(features[i]->name));
		if (kind == DPERM_READ_OUTPUT)
		{
			/* types that are not text themselves have a text form */
			expressions[i] = psprintf("%s.dp_text(%s)", our_schema(source), expressions[i]);
			kind = DPERM_READ_TEXT;
		}

		/* a record is made in memory: what is too large to be of use must not get into it */
		if (source->block_count > MAX_COLUMN_ARGS &&
			get_typlen(getBaseType(features[i]->type)) == -1)
			expressions[i] = psprintf("%s.dp_bounded(%s, %zu)", our_schema(source),
									  expressions[i], dperm_reader_size(block));
		if (!dperm_reader_fits(kind, block->kind))
			elog(ERROR, "column \"%s\" cannot be read", features[i]->name);
		*words++ = kind;
		if (kind == DPERM_READ_ENUM)
		{
			Oid		   *oids = dperm_reader_enum_oids(features[i]->type, block);

			for (int j = 0; j < block->count; j++)
				*words++ = oids[j];
		}
	}
	source->spec.reader_words = words - source->spec.readers;
	return expressions;
}

/* The columns as arguments of the aggregate; as one record where they are too many. */
static char *
join_columns(char **expressions, int count)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < count; i++)
		appendStringInfo(&sql, "%s%s", i > 0 ? ", " : "", expressions[i]);
	if (count > MAX_COLUMN_ARGS)
		return psprintf("ROW(%s)", sql.data);
	return sql.data;
}

/* What may make rows change between two scans under one snapshot. */
static bool
is_unstable(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		return rte->tablesample != NULL && rte->tablesample->repeatable == NULL;
	}
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		if ((query->limitCount || query->limitOffset) && query->sortClause == NIL)
			return true;
		return query_tree_walker(query, is_unstable, context, QTW_EXAMINE_RTES_BEFORE);
	}
	return expression_tree_walker(node, is_unstable, context);
}

/*
 * The pass query calls our functions by name. Somebody who may create functions in our schema could
 * offer ones that fit better; they would run with the caller's rights.
 */
static void
check_ours(Oid function, Oid extension)
{
	if (getExtensionOfObject(ProcedureRelationId, function) != extension)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FUNCTION),
				 errmsg("function %s stands in the way of dperm's own",
						format_procedure(function)),
				 errhint("Drop it, and revoke CREATE on the schema of the extension.")));
}

/* The aggregate of a pass, and the label function if there is one. */
static bool
check_functions(Node *node, void *extension)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		check_ours(((Aggref *) node)->aggfnoid, *(Oid *) extension);
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CALL)
		check_ours(((FuncExpr *) node)->funcid, *(Oid *) extension);
	return expression_tree_walker(node, check_functions, extension);
}

/*
 * The plan of one of our queries, checked. Every pass has to see the same rows: a snapshot does that
 * for tables, but a view may compute something new each time.
 */
static SPIPlanPtr
checked_plan(const DpermSource *source, const char *query, int count, Oid *types)
{
	Oid			extension = getExtensionOfObject(TypeRelationId, source->moments_type);
	SPIPlanPtr	plan = SPI_prepare_cursor(query, count, types, CURSOR_OPT_PARALLEL_OK);
	ListCell   *cell;

	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
	foreach(cell, SPI_plan_get_plan_sources(plan))
	{
		Query	   *tree = linitial_node(Query, ((CachedPlanSource *) lfirst(cell))->query_list);

		if (contain_volatile_functions((Node *) tree))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("source uses volatile functions, so that its rows change from pass to pass"),
					 errhint("Store the rows first, for example in a materialized view.")));
		if (is_unstable((Node *) tree, NULL))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("source picks rows by TABLESAMPLE or LIMIT, so that they may change from pass to pass"),
					 errhint("Add REPEATABLE or ORDER BY, or store the rows first, for example in a materialized view.")));
		check_functions((Node *) tree->targetList, &extension);
	}
	return plan;
}

/* Check the query of a pass before the first one. */
static void
check_query(const DpermSource *source)
{
	Oid			types[2] = {source->moments_type, TEXTOID};

	SPI_connect();
	SPI_freeplan(checked_plan(source, source->pass_query, 2, types));
	SPI_finish();
}

/*
 * A plan holds the weights of a pass as a constant, and settings that anybody may change print plans to
 * the client. Switch them off; the caller ends the nest level.
 */
static int
hide_plans(void)
{
	static const char *const settings[] = {"debug_print_parse", "debug_print_rewritten",
	"debug_print_plan"};
	int			level = NewGUCNestLevel();

	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i], "off", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* The label as a boolean SQL expression; NULL stands for no label. */
static char *
label_sql(DpermSource *source, const DpermColumn *label, const char *schema,
		  const DpermOptions *options)
{
	DpermLabel	reader;
	char	   *column = psprintf("t.%s", quote_identifier(label->name));

	dperm_label_init(&reader, label->type, options->positive);
	if (options->positive)
		source->positive = PointerGetDatum(cstring_to_text(options->positive));
	if (getBaseType(label->type) == BOOLOID && options->positive == NULL)
		return column;
	return psprintf("%s.dp_label(%s, $2)", schema, column);
}

/* Find relation and columns and check types, domains and privileges. */
void
dperm_source_open(DpermSource *source, Oid function, const char *relation,
				  const char *label_name, char **feature_names, int feature_count,
				  Jsonb *domains, const DpermOptions *options)
{
	const char *schema;
	int			column_count;
	DpermColumn *columns,
			   *label,
			  **features;
	char	  **expressions;

	memset(source, 0, sizeof(*source));
	source->extension_schema = get_func_namespace(function);
	source->moments_type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
										   CStringGetDatum("dp_moments"),
										   ObjectIdGetDatum(source->extension_schema));
	source->relation = find_relation(relation);
	source->from = quote_qualified_identifier(get_namespace_name(get_rel_namespace(source->relation)),
											  get_rel_name(source->relation));
	columns = dperm_domains_read(source->relation, domains, &column_count);
	label = find_column(source, columns, column_count, label_name, "label");
	features = choose_features(source, columns, column_count, label, feature_names,
							   &feature_count);
	check_privileges(source->relation, label, features, feature_count);
	check_domains_used(columns, column_count, features, feature_count);
	make_blocks(source, features, feature_count, options);
	expressions = make_readers(source, features);

	schema = our_schema(source);
	source->pass_query =
		psprintf("WITH w AS MATERIALIZED (SELECT $1 AS w) "
				 "SELECT %s.dp_moments_agg((SELECT w FROM w), %s, %s) FROM %s AS t",
				 schema, label_sql(source, label, schema, options),
				 join_columns(expressions, source->block_count), source->from);
	source->spec.loss = options->loss;
	if (!source->unsized)
		dperm_source_settle(source, options, 0);
	check_query(source);
}

/* Complete the encoder. */
void
dperm_source_settle(DpermSource *source, const DpermOptions *options, int length)
{
	if (source->unsized)
		source->blocks[0].count = length;
	source->spec.encoder = dperm_options_encoder(options, source->blocks,
												 source->block_count);
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

/* Run one pass. */
Datum
dperm_source_pass(const DpermSource *source, DpermPassOrder order, int64 capacity,
				  const double *weights)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			types[2] = {source->moments_type, TEXTOID};
	Datum		values[2] = {dperm_moments_request(&source->spec, order, capacity, weights),
	source->positive};
	char		nulls[2] = {' ', source->positive ? ' ' : 'n'};
	Datum		result = 0;
	bool		isnull;
	int			level = hide_plans();
	SPIPlanPtr	plan = checked_plan(source, source->pass_query, 2, types);

	/* no row limit: with one the executor would not use parallel workers */
	if (SPI_execute_plan(plan, values, nulls, true, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "a pass over the rows failed");
	SPI_freeplan(plan);
	AtEOXact_GUC(true, level);
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
