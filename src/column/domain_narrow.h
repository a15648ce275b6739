/*
 * domain_narrow.h: is a domain within another?
 */
#ifndef DPERM_DOMAIN_NARROW_H
#define DPERM_DOMAIN_NARROW_H

#include "core/encode/encoder.h"

/*
 * What keeps the inner domain from being within the outer one: words for "...
 * is not within", or NULL if it is. Ranges and categories have to be subsets,
 * dimensions the same, norms no larger.
 */
extern const char *dperm_domain_narrow_fault(const DpermBlock *outer, const DpermBlock *inner);

#endif							/* DPERM_DOMAIN_NARROW_H */
