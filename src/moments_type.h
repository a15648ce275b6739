/*
 * moments_type.h: dp_moments, the state of a pass as a SQL value.
 */
#ifndef DPERM_MOMENTS_TYPE_H
#define DPERM_MOMENTS_TYPE_H

#include "core/pass.h"

/* The flat value of a request: no rows yet. weights may be NULL for DPERM_PASS_COUNT. */
extern Datum dperm_moments_request(const DpermPass *pass, const double *weights);

/* Open a value that a pass returned; *words points into it (or into a detoasted copy). */
extern void dperm_moments_open(Datum value, DpermPass *pass, const uint64 **words);

#endif							/* DPERM_MOMENTS_TYPE_H */
