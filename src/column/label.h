/*
 * label.h: read the value of a label column, as its kind and its public domain
 * say (core/base/label_kind.h).
 *
 * Two classes. Boolean: true is positive. Number: greater than zero is positive,
 * NaN is no label. Text and enum: equal to the given positive value. With a
 * positive value, numbers and booleans are compared with it too.
 *
 * A number is clamped to its bounds and mapped to [-1, 1]; NaN is no label.
 *
 * Several classes: the number of the class that the value equals; any other
 * value is no label.
 *
 * NULL is no label. Reading never raises an error.
 */
#ifndef DPERM_LABEL_H
#define DPERM_LABEL_H

#include "column/label_classes.h"
#include "column/reader.h"
#include "core/base/label_kind.h"

typedef struct DpermLabel
{
	DpermLabelKind kind;
	Oid			type;			/* base type of the values */

	/* a number */
	DpermReaderKind reader;
	double		low;
	double		high;

	/* two classes */
	bool		textual;		/* compare bytes */
	bool		padded;			/* trailing blanks do not count */
	bool		compare;		/* with the positive value below */
	char	   *bytes;			/* textual: the positive value */
	int			bytes_len;
	Datum		value;			/* otherwise: the positive value */

	/* several classes */
	const DpermLabelClasses *classes;	/* NULL: values are their numbers */
	int			class_count;	/* if so */
} DpermLabel;

/*
 * Prepare to read labels of a type; raises an error for a type that cannot be a
 * label of this kind, for a text without a positive value, for a positive value
 * or a class that the type does not accept, and for a number without bounds.
 */
extern void dperm_label_init(DpermLabel *label, Oid type, const DpermLabels *labels);

/*
 * Prepare to read what dperm_label_class() returns: the numbers of classes, in
 * double precision.
 */
extern void dperm_label_init_numbered(DpermLabel *label, int class_count);

/* The label of a number that is one of so many classes; 0 if it is none. */
static inline double
dperm_label_numbered(double number, int class_count)
{
	return number >= 1 && number <= class_count && number == floor(number) ? number : 0;
}

/* Raise an error unless labels of this type can be read in this way. */
extern void dperm_label_check(const DpermLabel *label, Oid type);

/* The label as a row holds it; may allocate in the current memory context. */
extern double dperm_label_read(const DpermLabel *label, Datum value, bool isnull);

/* Is there one? */
static inline bool
dperm_label_has(const DpermLabel *label, double read)
{
	return dperm_label_kind_has(label->kind, read);
}

#endif							/* DPERM_LABEL_H */
