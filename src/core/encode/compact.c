/*
 * compact.c: encoded rows at a quarter of their size.
 */
#include "core/encode/compact.h"

#include <string.h>

#include "core/base/vector.h"

#define NUMBERS_PER_WORD (sizeof(double) / sizeof(int16_t))

/* How many coordinates of a row are in units. */
static size_t
number_count(const DpermLayout *layout)
{
	return (size_t) (layout->dense + layout->curves);
}

static size_t
code_count(const DpermLayout *layout)
{
	return (size_t) dperm_layout_slots(layout);
}

/* Words of a compact row. */
int
dperm_compact_words(const DpermLayout *layout)
{
	size_t		numbers = number_count(layout) + code_count(layout) + (layout->labelled ? 1 : 0);

	return (int) ((numbers + NUMBERS_PER_WORD - 1) / NUMBERS_PER_WORD) + (layout->weighted ? 1 : 0);
}

/*
 * A coordinate in units: adding a large number leaves the nearest integer in
 * the last bits.
 */
static inline int16_t
in_units(double x)
{
	double		shifted = x * DPERM_COMPACT_UNITS + 0x1.8p52;
	int64_t		bits;

	memcpy(&bits, &shifted, sizeof(bits));
	return (int16_t) bits;
}

/* A label in 16 bits. */
static inline int16_t
compact_label(DpermLabelKind kind, double label)
{
	if (kind != DPERM_LABEL_NUMBER)
		return (int16_t) label;
	return dperm_label_kind_has(kind, label) ? in_units(label) : INT16_MIN;
}

/* Make a row compact. */
void
dperm_compact_put(const DpermLayout *layout, const double *restrict row, double *restrict compact)
{
	int16_t    *numbers = (int16_t *) compact;
	size_t		filled = number_count(layout);

	for (size_t j = 0; j < filled; j++)
		numbers[j] = in_units(row[j]);
	memcpy(numbers + filled, dperm_row_codes(layout, row), sizeof(uint16_t) * code_count(layout));
	filled += code_count(layout);
	if (layout->labelled)
		numbers[filled++] = compact_label(layout->label, row[dperm_layout_label(layout)]);
	for (; filled % NUMBERS_PER_WORD != 0; filled++)
		numbers[filled] = 0;	/* the padding */
	if (layout->weighted)
		*dperm_compact_weight(layout, compact) = row[layout->words - 1];
}

/* Expand compact rows. */
void
dperm_compact_get(const DpermLayout *layout, const double *restrict compact, size_t from, int count,
				  double *restrict rows)
{
	size_t		filled = number_count(layout);
	size_t		codes = code_count(layout);
	int			weight = dperm_compact_words(layout) - 1;

	for (int i = 0; i < count; i++, compact += from, rows += layout->words)
	{
		const int16_t *numbers = (const int16_t *) compact;

		dperm_fetch_ahead(compact, sizeof(double) * from, sizeof(int16_t) * filled);
		/* by way of float, for which there are vector conversions */
		for (size_t j = 0; j < filled; j++)
			rows[j] = (float) numbers[j] * (1.0f / DPERM_COMPACT_UNITS);
		if (codes > 0)
			memcpy(rows + filled, dperm_compact_codes(layout, compact), sizeof(uint16_t) * codes);
		if (layout->labelled)
			rows[dperm_layout_label(layout)] = dperm_compact_label(layout, compact);
		if (layout->weighted)
			rows[layout->words - 1] = compact[weight];
	}
}

/* Expand only the numbers of compact rows, in single precision. */
void
dperm_compact_get_single(const DpermLayout *layout, const double *restrict compact, size_t from,
						 int count, float *restrict rows)
{
	size_t		wide = dperm_compact_single(layout);

	/* a compact row has a multiple of four slots, too: these are in it */
	for (int i = 0; i < count; i++, compact += from, rows += wide)
	{
		dperm_fetch_ahead(compact, sizeof(double) * from, sizeof(int16_t) * wide);
		for (size_t j = 0; j < wide; j++)
			rows[j] = (float) ((const int16_t *) compact)[j] * (1.0f / DPERM_COMPACT_UNITS);
	}
}

/* Expand only the entries of curves. */
void
dperm_compact_get_entries(const DpermLayout *layout, const double *restrict compact, size_t from,
						  int count, double *restrict entries)
{
	size_t		curves = (size_t) layout->curves;

	for (int i = 0; i < count; i++, compact += from, entries += curves)
		for (size_t j = 0; j < curves; j++)
			entries[j] = (float) ((const int16_t *) compact)[layout->dense + j] *
				(1.0f / DPERM_COMPACT_UNITS);
}
