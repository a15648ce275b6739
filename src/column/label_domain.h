/*
 * label_domain.h: does the domain of a label allow both classes?
 */
#ifndef DPERM_LABEL_DOMAIN_H
#define DPERM_LABEL_DOMAIN_H

#include "column/domain_column.h"
#include "column/label.h"

/*
 * How to read the labels of a column, as dperm_label_init() does. Raises, too,
 * for a label that is the same in all rows that its domain allows, or whose
 * positive value is not in its domain, if that is known.
 */
extern void dperm_label_domain_init(DpermLabel *label, const DpermColumn *column,
									const char *positive);

#endif							/* DPERM_LABEL_DOMAIN_H */
