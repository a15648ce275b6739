/*
 * layout.h: the layout of an encoded row in memory.
 *
 * A row of numbers is a vector. A category sets one coordinate of many, so a
 * column of categories is stored as one code, not as a vector of zeros. A curve
 * sets two neighbouring coordinates, so it is stored as the entry of the first
 * of them and as a code, its place: the other entry is what the first one
 * leaves of the unit (knots.h); a vector of curves is stored as so many of them.
 * A pass takes time proportional to the number of columns, not of coordinates,
 * and so does memory. The trained coordinates are renumbered for this, with
 * numbers first, then the intercept, then categories, then curves:
 *
 *   numbers | entries of curves | codes, 16 bits each, padded to a word | label |
 *   what the row weighs
 *
 * The intercept is the same in every row, so no row holds it. The label is as
 * its kind says (core.h); if there is none, the row adds nothing to any
 * sum, whatever else it holds (moments.h). Plain vectors have no word for it:
 * theirs is 1.
 *
 * Numbers that may become curves later (bend.h) are numbers that have room for
 * the code of a curve, after the other codes: until then it says whether there
 * is a number.
 *
 * Rows have weights if the unit of privacy is a person: the rows of a person
 * together weigh as much as one row. Otherwise each row weighs 1. Codes are the
 * coordinates of categories, then the first coordinates of curves, or dim for
 * none. The objective, the noise and the release do not depend on the order of
 * coordinates; the model does, so the trained weights are restored to its order
 * at the end.
 */
#ifndef DPERM_LAYOUT_H
#define DPERM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/encode/encoder.h"

typedef struct DpermLayout
{
	int			dim;			/* trained coordinates */
	int			dense;			/* how many of them are numbers; they come first */
	int			first_code;		/* after the numbers, and the intercept if there is one */
	int			first_curve;	/* those of curves come last, from this one on */
	int			codes;			/* columns that are codes */
	int			curves;			/* numbers that are an entry and a code: columns or elements */
	int			open;			/* numbers that have room for the code of a curve */
	int			words;			/* of a row, in doubles */
	bool		labelled;		/* do rows have a label? Otherwise it is 1 */
	DpermLabelKind label;		/* its kind */
	bool		weighted;		/* is the last word the weight of the row? */
	/* the intercept, the coordinate of a category, the sum of a curve's entries */
	double		unit;
	/* dim positions of coordinates in the model; NULL: the same as here */
	const int  *place;
} DpermLayout;

/*
 * Rows of so many coordinates have at most this many words: one for each, room
 * for as many codes, a label and a weight.
 */
#define DPERM_LAYOUT_WORDS_MAX(dim) ((dim) + (dim) / 4 + 3)

/* The layout of plain vectors. */
extern DpermLayout dperm_layout_dense(int dim);

/*
 * The layout for the rows of an encoder; places is room for dperm_encoder_dim()
 * integers.
 */
extern DpermLayout dperm_layout_make(const DpermEncoder *enc, int *places);

/* Encode a row without a kernel. Writes all words but its weight. */
extern void dperm_layout_encode(const DpermLayout *layout, const DpermEncoder *enc,
								const DpermValue *values, double label, double *row);

/* Give rows weights of at most 1 in an additional last word. */
extern void dperm_layout_weigh(DpermLayout *layout);

/*
 * Restore trained weights to the order of the model: class by class, if there
 * are several blocks of them, which are coordinate by coordinate here.
 */
extern void dperm_layout_restore(const DpermLayout *layout, int blocks, const double *weights,
								 double *out);

/* Is there an intercept? It is the coordinate after the numbers, and the unit in every row. */
static inline bool
dperm_layout_has_constant(const DpermLayout *layout)
{
	return layout->first_code > layout->dense;
}

/* That unit, or 0 if there is no intercept. */
static inline double
dperm_layout_constant(const DpermLayout *layout)
{
	return dperm_layout_has_constant(layout) ? layout->unit : 0;
}

/* The number of codes of a row. */
static inline int
dperm_layout_codes(const DpermLayout *layout)
{
	return layout->codes + layout->curves;
}

/* The same with the room for more: the 16-bit words that are stored. */
static inline int
dperm_layout_slots(const DpermLayout *layout)
{
	return dperm_layout_codes(layout) + layout->open;
}

/* Those codes: categories, then curves. */
static inline const uint16_t *
dperm_row_codes(const DpermLayout *layout, const double *row)
{
	return (const uint16_t *) (row + layout->dense + layout->curves);
}

/* The word of the label, if rows have one. */
static inline int
dperm_layout_label(const DpermLayout *layout)
{
	return layout->words - (layout->weighted ? 2 : 1);
}

/* A pointer to the weight of a row. */
static inline double *
dperm_row_weight(const DpermLayout *layout, double *row)
{
	return row + layout->words - 1;
}

#endif							/* DPERM_LAYOUT_H */
