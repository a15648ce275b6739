/*
 * pass_query.c: the text of the query of a pass, by where the rows are.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "query/pass_query.h"
#include "relation/relation.h"

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
 * The columns as arguments of an aggregate. Values that are too large to be
 * useful must not get into a record, which is built in memory.
 */
static void
append_columns(StringInfo sql, const DpermSource *source)
{
	appendStringInfoString(sql, is_wide(source) ? "ROW(" : "");
	for (int i = 0; i < source->block_count; i++)
	{
		const char *column = source->columns[i];

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
						   "%d, t.%s", DPERM_PARAM_EXTRA, every,
					 quote_identifier(source->label_column));
	for (int i = 0; i < Min(source->block_count, DPERM_COLUMN_ARGS); i++)
		appendStringInfo(&sql, ", t.%s", quote_identifier(source->blocks[i].column.bytes));
	appendStringInfoChar(&sql, ')');
	return sql.data;
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
 * The request as a table that is computed once: as a constant it would be part
 * of every plan and of its copies in workers.
 */
static void
append_request(StringInfo sql)
{
	appendStringInfo(sql, "WITH w AS MATERIALIZED (SELECT $%d AS w) ", DPERM_PARAM_EXTRA);
}

/*
 * The aggregate over one relation, directly from its columns. A foreign server
 * gets no record, and nothing that is not immutable.
 */
static void
append_direct(StringInfo sql, const DpermSource *source, const char *from)
{
	bool		as_bytes = is_wide(source) && source->plain;

	appendStringInfo(sql, "SELECT dperm.%s((SELECT w FROM w), %s, ",
					 as_bytes ? "dperm_moments_row_agg" : aggregate_name(source),
					 as_bytes ? read_label(source) : raw_label(source));
	if (as_bytes)
		appendStringInfoString(sql, row_by(source, "dperm_row_plain"));
	else
		append_columns(sql, source);
	appendStringInfo(sql, ") AS m FROM %s AS t", from);
}

/*
 * On Citus: the request is part of the query, and a row is one value. An array
 * already is.
 */
static void
append_citus(StringInfo sql, const DpermSource *source)
{
	bool		vector = source->lone_array && source->spec.labels.kind == DPERM_LABEL_TWO;

	appendStringInfo(sql, "SELECT dperm.%s($%d, %s, %s) FROM %s AS t",
					 vector ? "dperm_moments_vector_agg" : "dperm_moments_row_agg",
					 DPERM_PARAM_EXTRA, read_label(source),
					 vector ? source->columns[0] : row_by(source, "dperm_row"), source->from);
}

/*
 * The same over persons. A row comes with the number of labelled rows of its
 * person, and one row of each person, no matter which, is marked as the first.
 * Rows without a person are excluded.
 */
static void
append_persons(StringInfo sql, const DpermSource *source)
{
	appendStringInfo(sql,
					 "SELECT dperm.dperm_moments_person_agg($%d, s.label, s.columns, s.labelled, "
					 "s.first) FROM (SELECT %s AS label, %s AS columns, pg_catalog.count(%s) OVER "
					 "(PARTITION BY %s) AS labelled, "
					 "pg_catalog.row_number() OVER (PARTITION BY %s) OPERATOR(pg_catalog.=) 1 AS "
					 "first FROM %s AS t WHERE %s IS NOT NULL) AS s",
					 DPERM_PARAM_EXTRA, read_label(source), row_by(source, "dperm_row"),
					 read_label(source), source->unit, source->unit, source->from, source->unit);
}

/* The aggregates of all parts, combined. */
static void
append_parts(StringInfo sql, const DpermSource *source)
{
	ListCell   *cell;

	appendStringInfoString(sql, "SELECT dperm.dperm_moments_sum(s.m)");
	foreach(cell, source->parts)
	{
		appendStringInfoString(sql, cell == list_head(source->parts) ? " FROM (" : " UNION ALL ");
		append_direct(sql, source, dperm_relation_name(lfirst_oid(cell)));
	}
	appendStringInfoString(sql, ") AS s");
}

/* The query of a pass. */
char *
dperm_pass_query(const DpermSource *source)
{
	StringInfoData sql;

	initStringInfo(&sql);
	if (source->location != DPERM_LOCATION_CITUS)
		append_request(&sql);
	if (source->spec.weighted)
		append_persons(&sql, source);
	else if (source->location == DPERM_LOCATION_CITUS)
		append_citus(&sql, source);
	else if (source->location == DPERM_LOCATION_PARTS)
		append_parts(&sql, source);
	else
		append_direct(&sql, source, source->from);
	return sql.data;
}

/* The pass over one of the relations that make up the source. */
char *
dperm_pass_query_part(const DpermSource *source, Oid relation)
{
	StringInfoData sql;

	initStringInfo(&sql);
	append_request(&sql);
	append_direct(&sql, source, dperm_relation_name(relation));
	return sql.data;
}

/* The query that loads all rows. */
char *
dperm_pass_query_load(const DpermSource *source)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT dperm.dperm_load_agg($%d, %s, ", DPERM_PARAM_EXTRA,
					 raw_label(source));
	append_columns(&sql, source);
	appendStringInfo(&sql, ") FROM %s AS t", source->from);
	return sql.data;
}
