/*
 * picture.h: pictures of a report, as SVG within the page.
 *
 * Each has a title and a description for those who do not see it. Numbers may
 * be of any size: what does not fit is drawn at the edge, and what is not
 * finite is left out.
 */
#ifndef DPERM_PICTURE_H
#define DPERM_PICTURE_H

#include "lib/stringinfo.h"

/* How many bars a picture has at most. */
#define DPERM_PICTURE_BARS 24

typedef struct DpermPoint
{
	double		x;
	double		y;
	double		noise;			/* a standard deviation of y; 0: none is drawn */
} DpermPoint;

typedef struct DpermBar
{
	const char *name;
	double		value;
	double		noise;
} DpermBar;

/* A round number that is not below a number, and not much above. */
extern double dperm_picture_limit(double number);

/*
 * A curve over numbers, with its noise as a band: y is between -limit and
 * limit. The labels are those of the least, the middle and the largest x.
 */
extern void
dperm_picture_curve(StringInfo page, const char *name, const DpermPoint *points, int count,
					double limit, const char *const labels[3]);

/* Bars to both sides of zero; the same limit. */
extern void
dperm_picture_bars(StringInfo page, const char *name, const DpermBar *bars, int count,
				   double limit);

/* A ROC curve: false positive rates by x, true ones by y. */
extern void dperm_picture_roc(StringInfo page, const DpermPoint *points, int count);

/* A sum that grows with x, time, and its limit; labels of its two ends. */
extern void
dperm_picture_sum(StringInfo page, const DpermPoint *points, int count, double limit,
				  const char *from, const char *to);

#endif							/* DPERM_PICTURE_H */
