/*
 * domain_narrow.h: is one domain contained in another, or apart from it?
 */
#ifndef DPERM_DOMAIN_NARROW_H
#define DPERM_DOMAIN_NARROW_H

#include "core/encode/block.h"

/*
 * What of the inner domain is not contained in the outer one, as the subject of
 * "... is not within"; NULL if all is. Ranges and categories have to be
 * subsets, dimensions equal, and norms not larger.
 */
extern const char *dperm_domain_narrow_fault(const DpermBlock *outer, const DpermBlock *inner);

/*
 * Are the domain that a model has for a column and that of the column known to
 * have no value in common, or only a bound, which values beyond it are clamped
 * to?
 */
extern bool dperm_domain_narrow_disjoint(const DpermBlock *model, const DpermBlock *column);

#endif							/* DPERM_DOMAIN_NARROW_H */
