/*
 * label_classes.h: which of several classes a value of a label column is.
 *
 * Values are compared as the positive value of two classes is: texts by their
 * bytes, numbers exactly, enums by the OIDs that their values have here.
 */
#ifndef DPERM_LABEL_CLASSES_H
#define DPERM_LABEL_CLASSES_H

#include "core/base/label_kind.h"

typedef struct DpermLabelClasses DpermLabelClasses;

/*
 * Prepare to find the classes of labels among values of a base type, in the
 * current memory context; raises an error for values that the type does not
 * accept, or that are equal.
 */
extern DpermLabelClasses *dperm_label_classes_make(Oid type, const DpermLabels *labels);

/*
 * The number of the class of a value that is not NULL; 0 if it is none. Never
 * raises an error; may allocate in the current memory context.
 */
extern int	dperm_label_classes_find(const DpermLabelClasses *classes, Datum value);

#endif							/* DPERM_LABEL_CLASSES_H */
