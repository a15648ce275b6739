/*
 * label_domain.h: the domain of a label column: its bounds, its classes, or its
 * positive value.
 */
#ifndef DPERM_LABEL_DOMAIN_H
#define DPERM_LABEL_DOMAIN_H

#include "column/domains.h"
#include "column/label.h"

/*
 * How to read the labels of a column, as dperm_label_init() does. Here it is
 * decided whether labels are of two classes or of several, if they may be of
 * several: they are, if the domain lists more than two values and none of them
 * is the positive one. Bounds and classes that labels does not have are set to
 * those of the domain.
 *
 * Raises, too, for a positive value or a class that is not in the list of the
 * domain, if there is one, and for a list of a single value. A number of two
 * classes without a positive value must be 0 or 1, or -1 or 1, by its domain: an
 * amount of money would train "above 0". Only if it has no domain, and its
 * relation is not protected, it may be any; then true is returned.
 */
extern bool dperm_label_domain_init(DpermLabel *label, const DpermColumn *column,
									bool may_be_several, bool protected, DpermLabels *labels);

/* The same for labels of a type that are no column: of enums, the type is the domain. */
extern void dperm_label_domain_init_type(DpermLabel *label, Oid type, bool may_be_several,
										 DpermLabels *labels);

#endif							/* DPERM_LABEL_DOMAIN_H */
