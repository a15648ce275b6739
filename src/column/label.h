/*
 * label.h: labels: how their values are read, and what their domain says about that.
 *
 * Two classes. A boolean is positive if it is true, a number if it is above
 * zero. With a positive value, what equals it is positive, and any other value
 * is not. A text or an enum needs one. NaN is no label.
 *
 * Several classes: the number of the class that the value equals; any other
 * value is no label. The positive value is a list of one class, so both find
 * values in the same way: texts by their bytes, numbers by their value in double
 * precision, enums by the OIDs that their values have here.
 *
 * A number is clamped to its bounds and mapped to [-1, 1]; NaN is no label.
 *
 * NULL is no label. Reading never raises an error.
 */
#ifndef DPERM_LABEL_H
#define DPERM_LABEL_H

#include "column/domains.h"
#include "column/reader.h"
#include "core/base/label_kind.h"
#include "core/model/model.h"

typedef struct DpermLabel
{
	DpermLabelKind kind;
	Oid			type;			/* base type of the values */

	DpermReaderKind reader;
	double		low;			/* of a number */
	double		high;
	bool		listed;			/* of classes: or is positive what is above zero? */
	DpermCategories values;
} DpermLabel;

/* The label of a number that is one of so many classes; 0 if it is none. */
static inline double
dperm_label_numbered(double number, int class_count)
{
	return number >= 1 && number <= class_count && number == floor(number) ? number : 0;
}

/* Is there one? */
static inline bool
dperm_label_has(const DpermLabel *label, double read)
{
	return dperm_label_kind_has(label->kind, read);
}

extern void dperm_label_init(DpermLabel *label, Oid type, const DpermLabels *labels);
extern void dperm_label_check(const DpermLabel *label, Oid type);
extern double dperm_label_read(const DpermLabel *label, Datum value, bool isnull);
extern bytea *dperm_label_domain_bytes(const DpermLabels *labels, Oid type);
extern int	dperm_label_choose_class(const DpermModel *model, const char *name);
extern const char *dperm_label_class_name(const DpermModel *model, int number);
extern bool dperm_label_domain_init(DpermLabel *label, const DpermColumn *column,
									bool may_be_several, bool protected, DpermLabels *labels);
extern void dperm_label_domain_init_type(DpermLabel *label, Oid type, bool may_be_several,
										 DpermLabels *labels);
extern void dperm_label_domain_check(const DpermColumn *column, const DpermBlock *classes);

#endif							/* DPERM_LABEL_H */
