/*
 * domain_print.c: write domains as JSON, in the forms of domain_json.c.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/timestamp.h"

#include "column/domain_print.h"
#include "column/domain_types.h"
#include "core/encode/encoder.h"

/* Append the form of a domain. */
void
dperm_domain_print_template(StringInfo out, const DpermColumn *column)
{
	DpermBlockKind kind = column->block.kind;

	/* a list must not have a value twice, and a dimension is a number */
	appendStringInfoString(out, kind == DPERM_BLOCK_CATEGORY ? "[\"value\", \"value\"]" :
						   kind == DPERM_BLOCK_VECTOR ? "{\"dimension\": \"number\", \"norm\": 1}" :
						   "[\"low\", \"high\"]");
}

/* A time; a bound at the end of the range may have been rounded beyond it. */
static Timestamp
time_within(double usecs)
{
	return usecs <= (double) MIN_TIMESTAMP ? MIN_TIMESTAMP :
		usecs >= (double) END_TIMESTAMP ? END_TIMESTAMP - 1 : (Timestamp) usecs;
}

/* A bound of a time column, independent of the session's DateStyle. */
static void
print_time(StringInfo out, Oid base, double days)
{
	char		buf[MAXDATELEN + 1];
	Datum		value;

	if (base == DATEOID)
		value = DateADTGetDatum((DateADT) days);
	else if (base == TIMEOID)
		value = TimeADTGetDatum((TimeADT) rint(days * (double) USECS_PER_DAY));
	else
		value = TimestampGetDatum(time_within(rint(days * (double) USECS_PER_DAY)));
	JsonEncodeDateTime(buf, value, base, NULL);
	escape_json(out, buf);
}

/* The categories, as a list of strings. */
static void
print_categories(StringInfo out, const DpermBlock *block)
{
	appendStringInfoChar(out, '[');
	for (int i = 0; i < block->count; i++)
	{
		if (i > 0)
			appendStringInfoString(out, ", ");
		escape_json(out, pnstrdup(block->categories[i].bytes, block->categories[i].len));
	}
	appendStringInfoChar(out, ']');
}

/* Some positions, as a list. */
static void
print_positions(StringInfo out, const DpermColumn *column, const double *positions, int count)
{
	for (int i = 0; i < count; i++)
	{
		appendStringInfoString(out, i == 0 ? "[" : ", ");
		if (column->block.kind == DPERM_BLOCK_TIME)
			print_time(out, column->base, positions[i]);
		else
			appendStringInfoString(out, double_to_shortest_decimal(positions[i]));
	}
	appendStringInfoChar(out, ']');
}

/* The knots of a number or of each element, if they are specified. */
static void
print_knots(StringInfo out, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;

	if (!column->knotted)
		return;
	appendStringInfoString(out, ", \"knots\": ");
	if (block->knots)
		print_positions(out, column, block->knots, dperm_block_knots(block));
	else
		appendStringInfo(out, "%d", dperm_block_knots(block));
}

/* A vector with bounds. */
static void
print_box(StringInfo out, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;
	int			ranges = block->bounds ? dperm_block_elements(block) : 1;

	appendStringInfo(out, "{\"dimension\": %d, "
						  "\"range\": %s", dperm_block_elements(block),
					 block->bounds ? "[" : "");
	for (int i = 0; i < ranges; i++)
		appendStringInfo(out, "%s[%s, %s]", i > 0 ? ", " : "",
						 double_to_shortest_decimal(dperm_block_low(block, i)),
						 double_to_shortest_decimal(dperm_block_high(block, i)));
	appendStringInfoString(out, block->bounds ? "]" : "");
	print_knots(out, column);
	appendStringInfoChar(out, '}');
}

/* The range of a number or a time, and its knots if they are specified. */
static void
print_range(StringInfo out, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;

	if (column->knotted)
		appendStringInfoString(out, "{\"range\": ");
	print_positions(out, column, (double[]) {block->low, block->high}, 2);
	print_knots(out, column);
	if (column->knotted)
		appendStringInfoChar(out, '}');
}

/* Append a known domain. */
void
dperm_domain_print(StringInfo out, const DpermColumn *column)
{
	const DpermBlock *block = &column->block;
	DpermBlockKind kind = block->kind;

	switch (kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			print_range(out, column);
			break;
		case DPERM_BLOCK_FLAG:
			appendStringInfoString(out, "[false, true]");
			break;
		case DPERM_BLOCK_CATEGORY:
			(void) dperm_domain_types_kind(column->base, &kind);
			if (kind == DPERM_BLOCK_NUMBER)
				appendStringInfoString(out, "{\"categories\": ");
			print_categories(out, block);
			if (kind == DPERM_BLOCK_NUMBER)
				appendStringInfoChar(out, '}');
			break;
		case DPERM_BLOCK_VECTOR:
			appendStringInfo(out, "{\"dimension\": %d, \"norm\": %s}", block->count,
							 double_to_shortest_decimal(block->norm));
			break;
		case DPERM_BLOCK_BOX:
			print_box(out, column);
			break;
	}
}
