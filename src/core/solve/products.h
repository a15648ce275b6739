/*
 * products.h: outputs of rows, and sums over them, for one block of weights or
 * several.
 *
 * With several classes, weights and sums are coordinate by coordinate, with a
 * number for each class: f[j K + k], so that what a code selects is contiguous.
 * Outputs and slopes are row by row, with a number for each class.
 */
#ifndef DPERM_PRODUCTS_H
#define DPERM_PRODUCTS_H

#include <stddef.h>

#include "core/solve/codes.h"

/*
 * The outputs of count rows, stride words apart, whose coded part is codes.
 * Weights have DPERM_CODES_BEYOND coordinates of zeros at their end.
 */
extern void dperm_solve_outputs(const DpermCodes *codes, int blocks, const double *rows, int count,
								size_t stride, const double *weights, double *outputs);

/*
 * The sum over such rows of their coordinates times their slopes; it has
 * DPERM_CODES_BEYOND coordinates more, which mean nothing.
 */
extern void dperm_solve_sum(const DpermCodes *codes, int blocks, const double *rows, int count,
							size_t stride, const double *slopes, double *sum);

#endif							/* DPERM_PRODUCTS_H */
