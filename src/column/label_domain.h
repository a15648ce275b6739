/*
 * label_domain.h: the domain of a label column: its bounds, its classes, or
 * whether it allows both of two.
 */
#ifndef DPERM_LABEL_DOMAIN_H
#define DPERM_LABEL_DOMAIN_H

#include "column/domain_column.h"
#include "column/label.h"

/*
 * How to read the labels of a column, as dperm_label_init() does. Here it is
 * decided whether labels are of two classes or of several, if they may be of
 * several: they are, if the domain lists more than two values and none of them
 * is the positive one. Bounds and classes that labels does not have are set to
 * those of the domain. Raises, too, for a label that is the same in all rows
 * that its domain allows, and for a positive value or a class that is not in
 * its domain, if that is known.
 */
extern void dperm_label_domain_init(DpermLabel *label, const DpermColumn *column,
									bool may_be_several, DpermLabels *labels);

/* The same for labels of a type that are no column: of enums, the type is the domain. */
extern void dperm_label_domain_init_type(DpermLabel *label, Oid type, bool may_be_several,
										 DpermLabels *labels);

#endif							/* DPERM_LABEL_DOMAIN_H */
