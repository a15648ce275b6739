/*
 * blas.c: the routines of the BLAS and LAPACK that this program or library is
 * linked with. Fast.
 */
#include "core/base/blas.h"

/* A routine of the library, whose name ends with an underscore, as the table declares it. */
#define ROUTINE(name) extern __typeof__(*((DpermBlas *) 0)->name) name##_

ROUTINE(dgemv);
ROUTINE(dsyrk);
ROUTINE(ssyrk);
ROUTINE(dgemm);
ROUTINE(dtrsm);
ROUTINE(dpotrf);

const DpermBlas *
dperm_blas(void)
{
	static const DpermBlas routines = {dgemv_, dsyrk_, ssyrk_, dgemm_, dtrsm_, dpotrf_};

	return &routines;
}
