/*
 * label_domain.h: the domain of a label column: its bounds, or whether it
 * allows both classes.
 */
#ifndef DPERM_LABEL_DOMAIN_H
#define DPERM_LABEL_DOMAIN_H

#include "column/domain_column.h"
#include "column/label.h"

/*
 * How to read the labels of a column, as dperm_label_init() does. Bounds that
 * labels does not have are set to those of the domain. Raises, too, for a label
 * that is the same in all rows that its domain allows, or whose positive value
 * is not in its domain, if that is known.
 */
extern void dperm_label_domain_init(DpermLabel *label, const DpermColumn *column,
									DpermLabels *labels);

#endif							/* DPERM_LABEL_DOMAIN_H */
