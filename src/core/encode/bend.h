/*
 * bend.h: rows of straight lines into rows of curves.
 *
 * How many knots suit a table depends on its number of rows, which is known
 * only once they have been read. So numbers that are left to the rule
 * (core/mechanism/calibrate.h) are open: rows are encoded with straight lines,
 * and have room for the codes of curves (layout.h). Once the number of knots is
 * known, each row is rewritten in its place, with the same result as if it had
 * been encoded over these knots at once. Rows that stay straight lines stay as
 * they are.
 */
#ifndef DPERM_BEND_H
#define DPERM_BEND_H

#include <stdbool.h>

#include "core/encode/encoder.h"
#include "core/encode/layout.h"

typedef struct DpermBend
{
	const DpermEncoder *lines;	/* with open numbers */
	const DpermEncoder *curves;	/* the same with knots */
	DpermLayout from;
	DpermLayout to;				/* of as many words */
} DpermBend;

/* Does an encoder have open numbers? */
extern bool dperm_bend_is_open(const DpermEncoder *enc);

/*
 * The number of coordinates if its open numbers had this many knots, 1 for
 * straight lines; it may be too large for an encoder.
 */
extern int64_t dperm_bend_dim(const DpermEncoder *enc, int knots);

/*
 * Write the encoder's blocks with this many knots to blocks; none of them is
 * open any more.
 */
extern void dperm_bend_blocks(const DpermEncoder *enc, int knots, DpermBlock *blocks);

/* Rewrite a row. Its label and its weight, or its owner, stay the same. */
extern void dperm_bend_row(const DpermBend *bend, const double *row, double *out);

#endif							/* DPERM_BEND_H */
