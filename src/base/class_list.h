/*
 * class_list.h: lists of several classes, from what the caller specifies.
 */
#ifndef DPERM_CLASS_LIST_H
#define DPERM_CLASS_LIST_H

#include "utils/array.h"

#include "core/base/label_kind.h"

/*
 * Make labels those of several classes, with these values, allocated in the
 * current memory context; raises an error for fewer than three, for duplicates
 * and for a list that is too long.
 */
extern void dperm_class_list_set(DpermLabels *labels, char **values, int count);

/* The same with the elements of an array of text, which must not be NULL. */
extern void dperm_class_list_take(DpermLabels *labels, ArrayType *array);

/* The classes as an array of text. */
extern Datum dperm_class_list_array(const DpermLabels *labels);

#endif							/* DPERM_CLASS_LIST_H */
