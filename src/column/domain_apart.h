/*
 * domain_apart.h: can a column have no value that a model knows?
 */
#ifndef DPERM_DOMAIN_APART_H
#define DPERM_DOMAIN_APART_H

#include "column/domain_column.h"

/*
 * Are the domain that a model has for a column and what is known of the column,
 * its domain and its type, known to have no value in common, or only a bound,
 * which values beyond it are clamped to?
 */
extern bool dperm_domain_apart(const DpermBlock *model, const DpermColumn *column);

#endif							/* DPERM_DOMAIN_APART_H */
