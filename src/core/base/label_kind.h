/*
 * label_kind.h: the kinds of labels, their public domain, and how a row holds
 * one: as a double.
 *
 *   two classes   -1 or +1; 0 for none
 *   a number      from -1 to 1, mapped from its bounds; 2 for none
 *   several       the number of the class, from 1 on; 0 for none
 *
 * The loss decides on the kind (core/loss/loss.h). The domain is never read
 * from rows: it is declared, registered or an argument.
 */
#ifndef DPERM_LABEL_KIND_H
#define DPERM_LABEL_KIND_H

#include <math.h>
#include <stdbool.h>

typedef enum DpermLabelKind
{
	DPERM_LABEL_TWO = 0,
	DPERM_LABEL_NUMBER = 1,
	DPERM_LABEL_SEVERAL = 2
} DpermLabelKind;

/* The public domain of labels: what is needed to read them. */
typedef struct DpermLabels
{
	DpermLabelKind kind;
	const char *positive;		/* of two classes: the positive value, or NULL */
	double		low;			/* the bounds of a number; equal if they are not known */
	double		high;
	const char *classes;		/* of several: their values (classes.h) */
	int			class_count;	/* of two: their names, the negative one first, or 0 if not known */
} DpermLabels;

/* The label of a row that has none. */
static inline double
dperm_label_kind_none(DpermLabelKind kind)
{
	return kind == DPERM_LABEL_NUMBER ? 2 : 0;
}

/* Is there a label? */
static inline bool
dperm_label_kind_has(DpermLabelKind kind, double label)
{
	return kind == DPERM_LABEL_NUMBER ? fabs(label) <= 1 : label != 0;
}

#endif							/* DPERM_LABEL_KIND_H */
