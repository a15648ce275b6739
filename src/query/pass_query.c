/*
 * pass_query.c: the text of the query of a pass, by where the rows are.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "query/pass_query.h"
#include "relation/relation.h"

/* The portion of a row. */
char *
dperm_pass_query_portion(const DpermSource *source)
{
	return psprintf("dperm.dperm_portion($%d, $%d, %s)", DPERM_PARAM_KEY, DPERM_PARAM_PORTIONS,
					source->identity);
}

/*
 * The label of a row as an argument of an aggregate: boolean, or unchanged, to
 * be read as the request says. It contains nothing that is only stable, so that
 * foreign servers run it.
 */
static char *
raw_label(const DpermSource *source)
{
	return psprintf(source->label_negated ? "(NOT t.%s)" : "t.%s",
					quote_identifier(source->label_column));
}

/*
 * The label of a row: boolean, or of double precision, if it is a number or the
 * number of a class; NULL for no label.
 */
static char *
read_label(const DpermSource *source)
{
	char	   *label = raw_label(source);

	switch (source->spec.labels.kind)
	{
		case DPERM_LABEL_NUMBER:
			return psprintf("dperm.dperm_label_number(%s)", label);
		case DPERM_LABEL_SEVERAL:
			return psprintf("dperm.dperm_label_class(%s, $%d)", label, DPERM_PARAM_LABELS);
		case DPERM_LABEL_TWO:
			break;
	}
	return source->label_plain ?
		label : psprintf("dperm.dperm_label(%s, $%d)", label, DPERM_PARAM_LABELS);
}

/* Are the columns one argument of an aggregate, because they are too many? */
static bool
is_wide(const DpermSource *source)
{
	return source->block_count > DPERM_COLUMN_ARGS;
}

/*
 * The columns as arguments of an aggregate, renamed or not. Values that are too
 * large to be useful must not get into a record, which is built in memory.
 */
static void
append_columns(StringInfo sql, const DpermSource *source, bool renamed)
{
	appendStringInfoString(sql, is_wide(source) ? "ROW(" : "");
	for (int i = 0; i < source->block_count; i++)
	{
		const char *column = renamed ? psprintf("s.c%d", i) : source->columns[i];

		appendStringInfoString(sql, i > 0 ? ", " : "");
		if (is_wide(source) && source->varlena[i])
			appendStringInfo(sql, "dperm.dperm_bounded(%s)", column);
		else
			appendStringInfoString(sql, column);
	}
	appendStringInfoString(sql, is_wide(source) ? ")" : "");
}

/*
 * A row as one value, made by a function that takes a limited number of
 * columns; two rows side by side are a row.
 */
static char *
row_by(const DpermSource *source, const char *function)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < source->block_count; i++)
		appendStringInfo(&sql, "%s%s",
						 i == 0						? psprintf("dperm.%s(", function) :
						 i % DPERM_COLUMN_ARGS == 0 ? psprintf(") OPERATOR(pg_catalog.||) "
															   "dperm.%s(",
															   function) :
													  ", ",
						 source->output[i] ?
							 psprintf("dperm.dperm_text(%s)", source->columns[i]) :
							 source->columns[i]);
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/*
 * A condition that selects about one in "every" rows by their contents. It does
 * not use their physical location: a foreign table may be a view on its server.
 */
char *
dperm_pass_query_sample(const DpermSource *source, int every)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "dperm.dperm_sample($%d, "
						   "%d, t.%s", DPERM_PARAM_KEY, every,
					 quote_identifier(source->label_column));
	for (int i = 0; i < Min(source->block_count, DPERM_COLUMN_ARGS); i++)
		appendStringInfo(&sql, ", t.%s", quote_identifier(source->blocks[i].column.bytes));
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/* The condition for the rows of a request. */
static char *
filter(const char *portion, int wanted, int request)
{
	return psprintf(" FILTER (WHERE %s OPERATOR(pg_catalog.=) %d AND $%d IS NOT "
					"NULL)", portion, wanted,
					DPERM_PARAM_EXTRA + request);
}

/*
 * A single array with a boolean label has an aggregate without polymorphic
 * arguments.
 */
static const char *
aggregate_name(const DpermSource *source)
{
	return source->lone_array && source->label_plain ? "dperm_moments_vector_agg" :
													   "dperm_moments_agg";
}

/*
 * Requests as a table that is computed once: as constants they would be part of
 * every plan and of its copies in workers.
 */
static void
append_requests(StringInfo sql, int count)
{
	for (int i = 0; i < count; i++)
		appendStringInfo(sql, "%s $%d AS w%d", i == 0 ? "WITH w AS MATERIALIZED (SELECT" : ",",
						 DPERM_PARAM_EXTRA + i, i);
	appendStringInfoString(sql, ") ");
}

/*
 * The aggregates over one relation, directly from its columns. A foreign server
 * gets no record, and nothing that is not immutable.
 */
static void
append_direct(StringInfo sql, const DpermSource *source, const char *from, int count,
			  const int *portions)
{
	bool		as_bytes = is_wide(source) && source->plain &&
		source->location != DPERM_LOCATION_HERE;

	for (int i = 0; i < count; i++)
	{
		appendStringInfo(sql, "%s dperm.%s((SELECT w%d FROM "
							  "w), %s, ", i == 0 ? "SELECT" : ",",
						 as_bytes ? "dperm_moments_row_agg" : aggregate_name(source), i,
						 as_bytes ? read_label(source) : raw_label(source));
		if (as_bytes)
			appendStringInfoString(sql, row_by(source, "dperm_row_plain"));
		else
			append_columns(sql, source, false);
		appendStringInfo(sql, ")%s AS m%d",
						 portions ? filter(dperm_pass_query_portion(source), portions[i], i) : "",
						 i);
	}
	appendStringInfo(sql, " FROM %s AS t", from);
}

/*
 * On Citus: requests are part of the query, and a row is one value. An array
 * already is.
 */
static void
append_citus(StringInfo sql, const DpermSource *source, int count, const int *portions)
{
	bool		vector = source->lone_array && source->spec.labels.kind == DPERM_LABEL_TWO;
	const char *aggregate = vector ? "dperm_moments_vector_agg" : "dperm_moments_row_agg";
	const char *row = vector ? source->columns[0] : row_by(source, "dperm_row");

	for (int i = 0; i < count; i++)
		appendStringInfo(sql,
						 "%s dperm.%s($%d, %s, "
						 "%s)%s",
						 i == 0 ? "SELECT" : ",", aggregate,
						 DPERM_PARAM_EXTRA + i, read_label(source), row,
						 portions ? filter(dperm_pass_query_portion(source), portions[i], i) : "");
	appendStringInfo(sql, " FROM %s AS t", source->from);
}

/*
 * The same over persons. A row comes with the number of labelled rows of its
 * person, and one row of each person, no matter which, is marked as the first.
 * Rows without a person are excluded.
 */
static void
append_persons(StringInfo sql, const DpermSource *source, int count, const int *portions)
{
	for (int i = 0; i < count; i++)
		appendStringInfo(sql,
						 "%s dperm.dperm_moments_person_agg($%d, s.label, s.columns, s.labelled, "
						 "s.first)%s",
						 i == 0 ? "SELECT" : ",", DPERM_PARAM_EXTRA + i,
						 portions ? filter("s.portion", portions[i], i) : "");
	appendStringInfo(sql,
					 " FROM (SELECT %s AS label, %s AS columns, pg_catalog.count(%s) OVER "
					 "(PARTITION BY %s) AS labelled, "
					 "pg_catalog.row_number() OVER (PARTITION BY %s) OPERATOR(pg_catalog.=) 1 AS "
					 "first",
					 read_label(source), row_by(source, "dperm_row"),
					 read_label(source), source->unit, source->unit);
	if (portions)
		appendStringInfo(sql, ", %s AS portion", dperm_pass_query_portion(source));
	appendStringInfo(sql, " FROM %s AS t WHERE %s IS NOT NULL) AS s", source->from, source->unit);
}

/* The aggregates of all parts, combined. */
static void
append_parts(StringInfo sql, const DpermSource *source, int count, const int *portions)
{
	ListCell   *cell;

	for (int i = 0; i < count; i++)
		appendStringInfo(sql, "%s dperm.dperm_moments_sum(s.m%d)", i == 0 ? "SELECT" : ",",
						 i);
	foreach(cell, source->parts)
	{
		appendStringInfoString(sql, cell == list_head(source->parts) ? " FROM (" : " UNION ALL ");
		append_direct(sql, source, dperm_relation_name(lfirst_oid(cell)), count, portions);
	}
	appendStringInfoString(sql, ") AS s");
}

/*
 * For portions, the rows come from a subquery, so that the portion of a row is
 * computed once; OFFSET NULL skips no rows, but keeps the planner from
 * flattening it.
 */
static void
append_divided(StringInfo sql, const DpermSource *source, int count, const int *portions)
{
	for (int i = 0; i < count; i++)
	{
		appendStringInfo(sql, "%s dperm.%s((SELECT w%d FROM w), "
							  "s.label, ", i == 0 ? "SELECT" : ",",
						 aggregate_name(source), i);
		append_columns(sql, source, true);
		appendStringInfo(sql, ")%s", filter("s.portion", portions[i], i));
	}
	appendStringInfo(sql, " FROM (SELECT %s AS label, %s AS portion", raw_label(source),
					 dperm_pass_query_portion(source));
	for (int i = 0; i < source->block_count; i++)
		appendStringInfo(sql, ", %s AS c%d", source->columns[i], i);
	appendStringInfo(sql, " FROM %s AS t OFFSET NULL) AS s", source->from);
}

/* The query of a pass. */
char *
dperm_pass_query(const DpermSource *source, int count, const int *portions)
{
	StringInfoData sql;

	initStringInfo(&sql);
	if (source->location != DPERM_LOCATION_CITUS)
		append_requests(&sql, count);
	switch (source->location)
	{
		case DPERM_LOCATION_CITUS:
			if (dperm_source_weighs(source))
				append_persons(&sql, source, count, portions);
			else
				append_citus(&sql, source, count, portions);
			break;
		case DPERM_LOCATION_PARTS:
			append_parts(&sql, source, count, portions);
			break;
		case DPERM_LOCATION_SERVER:
			append_direct(&sql, source, source->from, count, portions);
			break;
		case DPERM_LOCATION_HERE:
			if (portions)
				append_divided(&sql, source, count, portions);
			else
				append_direct(&sql, source, source->from, count, NULL);
			break;
	}
	return sql.data;
}

/* The pass of one request over one relation. */
char *
dperm_pass_query_part(const DpermSource *source, Oid relation)
{
	StringInfoData sql;
	int			portion = 0;

	initStringInfo(&sql);
	append_requests(&sql, 1);
	append_direct(&sql, source, dperm_relation_name(relation), 1,
				  source->portions > 0 ? &portion : NULL);
	return sql.data;
}

/* The query that loads all rows. */
char *
dperm_pass_query_load(const DpermSource *source)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT dperm.dperm_load_agg($%d, NULL::pg_catalog.int4, %s, ",
					 DPERM_PARAM_EXTRA, raw_label(source));
	append_columns(&sql, source, false);
	appendStringInfo(&sql, ") FROM %s AS t", source->from);
	return sql.data;
}
