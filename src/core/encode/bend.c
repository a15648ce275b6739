/*
 * bend.c: rows of straight lines into rows of curves.
 */
#include "core/encode/bend.h"

#include <string.h>

#include "core/encode/knots.h"

/* Does an encoder have open numbers? */
bool
dperm_bend_is_open(const DpermEncoder *enc)
{
	for (int i = 0; i < enc->block_count; i++)
		if (enc->blocks[i].open)
			return true;
	return false;
}

/* The number of coordinates with this many knots. */
int64_t
dperm_bend_dim(const DpermEncoder *enc, int knots)
{
	int64_t		dim = dperm_encoder_dim(enc);

	for (int i = 0; i < enc->block_count; i++)
		dim += enc->blocks[i].open ? knots - 1 : 0;
	return dim;
}

/* The blocks with this many knots. */
void
dperm_bend_blocks(const DpermEncoder *enc, int knots, DpermBlock *blocks)
{
	for (int i = 0; i < enc->block_count; i++)
	{
		blocks[i] = enc->blocks[i];
		if (blocks[i].open)
			blocks[i].count = knots;
		blocks[i].open = false;
	}
}

/* Where the next block is in a row, by what it may be. */
typedef struct Cursor
{
	double	   *number;
	uint16_t   *category;
	double	   *entry;
	uint16_t   *place;
	uint16_t   *room;
	int			curve;			/* the first coordinate of the next curve */
} Cursor;

static Cursor
cursor_of(const DpermLayout *layout, double *row)
{
	uint16_t   *codes = (uint16_t *) dperm_row_codes(layout, row);

	return (Cursor) {
		.number = row,
		.category = codes,
		.entry = row + layout->dense,
		.place = codes + layout->codes,
		.room = codes + layout->codes + layout->curves,
		.curve = layout->first_curve
	};
}

/* A code among coordinates that have moved; dim stands for none. */
static uint16_t
move_code(const DpermBend *bend, uint16_t code, int by)
{
	return (uint16_t) (code == bend->from.dim ? bend->to.dim : code + by);
}

/* An open number becomes a curve. */
static void
bend_number(const DpermBend *bend, int knots, Cursor *from, Cursor *to)
{
	double		line = *from->number++;
	double		unit = bend->to.unit;
	int			place = bend->to.dim;

	*to->entry = 0;

	if (*from->room++ != 0)
		place = to->curve + dperm_knots_bend(knots, line, unit, to->entry);
	*to->place++ = (uint16_t) place;
	to->entry++;
	to->curve += knots;
}

/* Any other block moves. */
static void
move_block(const DpermBend *bend, const DpermBlock *block, Cursor *from, Cursor *to)
{
	if (block->kind == DPERM_BLOCK_CATEGORY)
		*to->category++ =
			move_code(bend, *from->category++, bend->to.first_code - bend->from.first_code);
	else if (dperm_block_is_curve(block))
	{
		for (int i = 0; i < dperm_block_parts(block); i++)
		{
			*to->entry++ = *from->entry++;
			*to->place++ = move_code(bend, *from->place++, to->curve - from->curve);
		}
		from->curve += block->count;
		to->curve += block->count;
	}
	else
	{
		memcpy(to->number, from->number, sizeof(double) * (size_t) block->count);
		from->number += block->count;
		to->number += block->count;
	}
}

/* Rewrite a row. */
void
dperm_bend_row(const DpermBend *bend, const double *row, double *out)
{
	const DpermLayout *layout = &bend->to;
	int			coded = layout->dense + layout->curves;
	int			label = dperm_layout_label(layout);
	Cursor		from = cursor_of(&bend->from, (double *) row);
	Cursor		to = cursor_of(layout, out);

	memset(out + coded, 0, sizeof(double) * (size_t) (label - coded));
	for (int i = 0; i < bend->lines->block_count; i++)
		if (bend->lines->blocks[i].open)
			bend_number(bend, bend->curves->blocks[i].count, &from, &to);
		else
			move_block(bend, &bend->lines->blocks[i], &from, &to);
	memcpy(out + label, row + label, sizeof(double) * (size_t) (layout->words - label));
}
