/*
 * label.h: convert the value of a label column to a sign.
 *
 * Boolean: true is positive. Number: greater than zero is positive, NaN is no
 * label. Text and enum: equal to the given positive value. With a positive
 * value, numbers and booleans are compared with it too. NULL is no label.
 * Reading never raises an error.
 */
#ifndef DPERM_LABEL_H
#define DPERM_LABEL_H

typedef struct DpermLabel
{
	Oid			type;			/* base type of the values */
	bool		textual;		/* compare bytes */
	bool		padded;			/* trailing blanks do not count */
	bool		compare;		/* with the positive value below */
	char	   *bytes;			/* textual: the positive value */
	int			bytes_len;
	Datum		value;			/* otherwise: the positive value */
} DpermLabel;

/*
 * Prepare to read labels of a type; raises an error for a type that cannot be a
 * label, for a text without a positive value, and for a positive value that the
 * type does not accept.
 */
extern void dperm_label_init(DpermLabel *label, Oid type, const char *positive);

/*
 * A positive value as a datum of the label's base type, with a type modifier,
 * or -1; raises an error for one that the type does not accept.
 */
extern Datum dperm_label_value(const DpermLabel *label, const char *positive, int32 typmod);

/* Raise an error unless labels of this type can be read in this way. */
extern void dperm_label_check(const DpermLabel *label, Oid type);

/* -1 or +1, or 0 for no label; may allocate in the current memory context. */
extern int	dperm_label_sign(const DpermLabel *label, Datum value);

#endif							/* DPERM_LABEL_H */
