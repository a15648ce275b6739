/*
 * blas.c: BLAS and LAPACK, loaded when they are first needed.
 */
#include "postgres.h"

#include "fmgr.h"

#include "core/base/blas.h"

/* The routines, from a separate library. */
const DpermBlas *
dperm_blas(void)
{
	static const DpermBlas *routines;

	if (routines == NULL)
	{
		const DpermBlas *(*get)(void) = (const DpermBlas *(*) (void) )(
			void *) load_external_function("dperm_blas", "dperm_blas_routines", true, NULL);

		routines = get();
	}
	return routines;
}
