/*
 * layout.h: the layout of an encoded row in memory, and how rows are encoded into it.
 * Trusted.
 *
 * A row of numbers is a vector. A category sets one coordinate of many, so a
 * column of categories is stored as one code, not as a vector of zeros. A curve
 * sets two neighbouring coordinates, so it is stored as the position of its number
 * among the knots (encoder.h), from which the two entries are computed while rows are
 * summed up; a vector of curves is stored as so many of them. A pass takes time
 * proportional to the number of columns, not of coordinates, and so does memory.
 * The trained coordinates are renumbered for this: what is stored as it is, straight
 * numbers, the intercept, categories, curves. A row has
 *
 *   numbers | positions | codes, 16 bits each, padded to a word | label |
 *   the weight or the owner of the row
 *
 * The intercept is the same in every row, so no row holds it. The label is as
 * its kind says (core.h); if there is none, the row adds nothing to any
 * sum, whatever else it holds (sums.h). Plain vectors have no word for it:
 * theirs is 1.
 *
 * Numbers are open until n is known, which decides how many knots they have. Then all
 * straight numbers are stored as positions, too, in the order of the model, so that rows
 * are the same for any number of knots: only the layout is made anew. The order of
 * coordinates does not depend on what was open, so it is the same where rows are encoded
 * when the knots are known.
 *
 * Rows have weights if the unit of privacy is a person: the rows of a person
 * together weigh as much as one row. Otherwise each row weighs 1. What a person's
 * rows weigh is known only when all of them have arrived, so rows that are kept have
 * the number of their owner, and the layout has a table of weights.
 *
 * Codes are places among the coordinates of categories. The objective, the noise and
 * the release do not depend on the order of coordinates; the model does, so the trained
 * weights are restored to its order at the end.
 */
#ifndef DPERM_LAYOUT_H
#define DPERM_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/core.h"
#include "core/base/vector.h"
#include "core/encode/encoder.h"

/* What is stored as a position: a curve, or a straight line. */
typedef struct DpermPosition
{
	double		steps;			/* knots less 1 */
	int32_t		first;			/* coordinate */
	int32_t		word;			/* of a row */
} DpermPosition;

typedef struct DpermLayout
{
	int			dim;			/* trained coordinates */
	int			numbers;		/* words that are entries, of the first coordinates */
	int			dense;			/* the same with straight lines that are stored as positions */
	int			first_code;		/* after these, and the intercept if there is one */
	int			codes;			/* columns that are codes */
	int			curves;			/* positions that are curves: columns or elements */
	int			words;			/* of a row, in doubles */
	bool		labelled;		/* do rows have a label? Otherwise it is 1 */
	DpermLabelKind label;		/* its kind */
	bool		weighted;		/* do they have a weight, the last word? Otherwise it is 1 */
	const double *owners;		/* of each owner, if the word is its number, below 0 for nobody */
	/* the intercept, the coordinate of a category, the sum of a curve's entries */
	double		unit;
	const DpermPosition *positions; /* curves, then lines */
	/* to encode rows: where each block starts, a word, or a coordinate of a category */
	const int  *starts;
	/* where each coordinate is in the model; NULL: the same as here */
	const int  *place;
} DpermLayout;

/*
 * Rows of so many coordinates have at most this many words: one for each, one for
 * what pads codes, a label and a weight.
 */
#define DPERM_LAYOUT_WORDS_MAX(dim) ((dim) + 3)

/* The layout of plain vectors. */
extern DpermLayout dperm_layout_dense(int dim);

/*
 * The layout for the rows of an encoder, in memory of the host, which may have weights of at
 * most 1 in an additional last word.
 */
extern DpermLayout dperm_layout_make(const DpermEncoder *enc, bool weighted);

/* Encode a row without a kernel; a weight is ignored if rows have none. */
extern void dperm_layout_encode(const DpermLayout *layout, const DpermEncoder *enc,
								const DpermValue *values, double label, double weight,
								double *row);

/*
 * Decode rows, stride words apart: numbers with straight lines, layout.dense of each
 * row, if there are such lines; the coordinates of categories, dim for none; and for
 * each curve its first coordinate, dim if there is no number, and the entries of that and
 * of the next coordinate, which mean nothing then. Decoded rows are as far apart as the
 * functions below say.
 */
extern void dperm_layout_decode(const DpermLayout *layout, const double *rows, int count,
								size_t stride, double *dense, uint16_t *codes, int32_t *places,
								double *entries);

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

/*
 * Decoded rows are so far apart: in codes, a multiple of four, as so many are in a word;
 * and in curves, a multiple of two.
 */
static inline size_t
dperm_layout_codes_apart(const DpermLayout *layout)
{
	return ((size_t) layout->codes + 3) & ~(size_t) 3;
}

static inline size_t
dperm_layout_curves_apart(const DpermLayout *layout)
{
	return ((size_t) layout->curves + 1) & ~(size_t) 1;
}

/* How many words of a row are positions. */
static inline int
dperm_layout_positions(const DpermLayout *layout)
{
	return layout->curves + layout->dense - layout->numbers;
}

/* The word of the label, if rows have one. */
static inline int
dperm_layout_label(const DpermLayout *layout)
{
	return layout->words - (layout->weighted ? 2 : 1);
}

/* What a row weighs. */
static inline double
dperm_layout_weight(const DpermLayout *layout, const double *row)
{
	double		word = layout->weighted ? row[layout->words - 1] : 1;

	if (!layout->weighted || layout->owners == NULL)
		return word;
	return word < 0 ? 0 : layout->owners[(size_t) word];
}

/* How many rows can wait. */
#define DPERM_FEED_ROWS 32

/*
 * How rows are encoded. With a kernel, which has frequencies, they wait until there are
 * enough for a matrix product, which is many times faster than a product for each row.
 */
typedef struct DpermFeed
{
	const DpermEncoder *encoder;
	DpermLayout layout;
	const double *frequencies;	/* of the kernel, or NULL */
	int			linear;			/* coordinates before the kernel */
	int			waiting;
	double	   *blocks;			/* DPERM_FEED_ROWS x linear: waiting rows, then zeros */
	double	   *mapped;			/* DPERM_FEED_ROWS x layout.words, with labels from the start */
} DpermFeed;

/*
 * Initialise, in memory of the host. The feed keeps a pointer to the encoder, and, to
 * share frequencies that are the same, those of another feed, which may be NULL.
 */
extern void dperm_feed_init(DpermFeed *feed, const DpermEncoder *encoder, bool weighted,
							const DpermFeed *like);

/*
 * Let a row wait; true when no more can wait, so that dperm_feed_map() must be
 * called.
 */
extern bool dperm_feed_wait(DpermFeed *feed, const DpermValue *values, double label,
							double weight);

/*
 * Encode the waiting rows, feed.waiting of them, row after row; none wait afterwards.
 * The result is valid until the next row waits. The product always has the same shape,
 * so that the rounding of a row does not depend on the others.
 */
extern double *dperm_feed_map(DpermFeed *feed);

#endif							/* DPERM_LAYOUT_H */
