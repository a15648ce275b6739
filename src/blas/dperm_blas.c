/*
 * dperm_blas.c: a separate library, linked with BLAS and LAPACK, that dperm
 * loads when it needs them. Fast.
 */
#include "postgres.h"

#include "fmgr.h"

#include "core/base/blas.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
extern PGDLLEXPORT const DpermBlas *dperm_blas_routines(void);

/*
 * If the installed BLAS is OpenBLAS, it starts threads of its own when it is
 * loaded. A backend must stay single-threaded: signals are handled on any
 * thread that does not block them. The symbols are weak, so any other BLAS
 * works as well.
 */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int	blas_thread_shutdown_(void) __attribute__((weak));

/* Called when the library is loaded. */
void
_PG_init(void)
{
	if (openblas_set_num_threads)
		openblas_set_num_threads(1);
	if (blas_thread_shutdown_)
		blas_thread_shutdown_();
}

/* The routines. */
const DpermBlas *
dperm_blas_routines(void)
{
	return dperm_blas();
}
