/*
 * compact.h: encoded rows at a quarter of their size.
 *
 * Coordinates are at most 1, so a compact row stores them as multiples of
 * 1/32767, in 16 bits each, and so are the entries of curves; codes and weights
 * (layout.h) are unchanged. Labels take 16 bits, after the codes: classes are
 * small integers, numbers are such multiples. The minimiser over compact rows is
 * close to that over the rows themselves, and the Hessians are closer still:
 * minimise.c corrects the minimiser with a few gradients over the rows
 * themselves. What is released does not depend on compact rows beyond the
 * certified residual.
 */
#ifndef DPERM_COMPACT_H
#define DPERM_COMPACT_H

#include <stddef.h>
#include <stdint.h>

#include "core/encode/layout.h"

/* Words of a compact row, in doubles. */
extern int	dperm_compact_words(const DpermLayout *layout);

/* Make a row compact. */
extern void dperm_compact_put(const DpermLayout *layout, const double *row, double *compact);

/*
 * Expand count compact rows, row after row; from is the distance between them
 * in words.
 */
extern void dperm_compact_get(const DpermLayout *layout, const double *compact, size_t from,
							  int count, double *rows);

/*
 * How many numbers a row has in single precision: a multiple of four, for
 * loops without an end. The last ones mean nothing.
 */
static inline size_t
dperm_compact_single(const DpermLayout *layout)
{
	return ((size_t) layout->dense + 3) / 4 * 4;
}

/*
 * Expand only these numbers of compact rows; and only the entries of curves,
 * row after row.
 */
extern void dperm_compact_get_single(const DpermLayout *layout, const double *compact, size_t from,
									 int count, float *rows);
extern void dperm_compact_get_entries(const DpermLayout *layout, const double *compact,
									  size_t from, int count, double *entries);

/* A coordinate of 1, in units. */
#define DPERM_COMPACT_UNITS 32767

/* The label of a compact row that has one. */
static inline double
dperm_compact_label(const DpermLayout *layout, const double *compact)
{
	int16_t		label = ((const int16_t *)
						 compact)[layout->dense + layout->curves + dperm_layout_slots(layout)];

	return layout->label != DPERM_LABEL_NUMBER ? label :
		   label == INT16_MIN				   ? dperm_label_kind_none(DPERM_LABEL_NUMBER) :
												 label * (1.0 / DPERM_COMPACT_UNITS);
}

/* Where the weight of a compact row is. */
static inline double *
dperm_compact_weight(const DpermLayout *layout, double *compact)
{
	return compact + dperm_compact_words(layout) - 1;
}

/* The codes of a compact row. */
static inline const uint16_t *
dperm_compact_codes(const DpermLayout *layout, const double *compact)
{
	return (const uint16_t *) compact + layout->dense + layout->curves;
}

#endif							/* DPERM_COMPACT_H */
