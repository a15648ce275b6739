/*
 * kernel.h: the parameters of a kernel.
 */
#ifndef DPERM_KERNEL_H
#define DPERM_KERNEL_H

#include <stdint.h>

typedef enum DpermKernelKind
{
	DPERM_KERNEL_LINEAR = 0,	/* none */
	DPERM_KERNEL_GAUSSIAN = 1,
	DPERM_KERNEL_LAPLACIAN = 2,
	DPERM_KERNEL_CAUCHY = 3,
	DPERM_KERNEL_MATERN = 4
} DpermKernelKind;

typedef struct DpermKernel
{
	DpermKernelKind kind;
	double		gamma;			/* bandwidth, > 0 */
	int			features;		/* D, even */
	int64_t		seed;			/* public */
} DpermKernel;

#define DPERM_GAMMA_MIN 1e-6
#define DPERM_GAMMA_MAX 1e6

#endif							/* DPERM_KERNEL_H */
