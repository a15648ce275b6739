/*
 * fourier.h: random Fourier features of norm 1.
 *
 * For D features, D/2 frequencies w_k give pairs sqrt(2/D) (cos w_k.x, sin
 * w_k.x). Their inner product is an average of cos w_k.(x - x'), whose mean is
 * the kernel when the frequencies follow its spectral law (Rahimi and Recht
 * 2007); the norm is 1 for any x, up to rounding, which never exceeds 1. The
 * frequencies do not depend on data: their seed is public.
 *
 *   gaussian   exp(-gamma |x-x'|^2)                        normal, orthogonal within blocks
 *   laplacian  exp(-gamma |x-x'|_1)                        Cauchy per coordinate
 *   cauchy     prod_j 1/(1 + gamma^2 (x_j-x'_j)^2)         Laplace per coordinate
 *   matern     (1 + sqrt(3) gamma r) exp(-sqrt(3) gamma r) multivariate t, 3 degrees of freedom
 */
#ifndef DPERM_FOURIER_H
#define DPERM_FOURIER_H

#include <stddef.h>

#include "core/encode/encoder.h"

/* Doubles for the frequencies: D/2 rows of dim. */
extern size_t dperm_fourier_size(const DpermKernel *kernel, int dim);

/*
 * Make the frequencies of a kernel for inputs of dim coordinates. Only +, -, *,
 * /, sqrt and integer arithmetic are used, so that the result is the same on
 * every IEEE machine.
 */
extern void dperm_fourier_make(const DpermKernel *kernel, int dim, double *frequencies);

/*
 * Write the D features of each of count vectors, of norm at most |target|, with the sign
 * of target: row after row, D + extra doubles apart.
 */
extern void dperm_fourier_map_rows(const DpermKernel *kernel, const double *frequencies, int dim,
								   int count, const double *x, double target, int extra,
								   double *out);

#endif							/* DPERM_FOURIER_H */
