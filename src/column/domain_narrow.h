/*
 * domain_narrow.h: is one domain contained in another?
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

#endif							/* DPERM_DOMAIN_NARROW_H */
