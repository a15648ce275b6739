/*
 * blas.c: the routines of the BLAS and LAPACK that this program or library is
 * linked with.
 */
#include "core/base/blas.h"

extern void dgemv_(const char *trans, const int *m, const int *n, const double *alpha,
				   const double *a, const int *lda, const double *x, const int *incx,
				   const double *beta, double *y, const int *incy);
extern void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k,
				   const double *alpha, const double *a, const int *lda,
				   const double *beta, double *c, const int *ldc);
extern void ssyrk_(const char *uplo, const char *trans, const int *n, const int *k,
				   const float *alpha, const float *a, const int *lda,
				   const float *beta, float *c, const int *ldc);
extern void dgemm_(const char *transa, const char *transb, const int *m, const int *n,
				   const int *k, const double *alpha, const double *a, const int *lda,
				   const double *b, const int *ldb, const double *beta, double *c,
				   const int *ldc);
extern void dtrsm_(const char *side, const char *uplo, const char *transa,
				   const char *diag, const int *m, const int *n, const double *alpha,
				   const double *a, const int *lda, double *b, const int *ldb);
extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

const DpermBlas *
dperm_blas(void)
{
	static const DpermBlas routines = {dgemv_, dsyrk_, ssyrk_, dgemm_, dtrsm_, dpotrf_};

	return &routines;
}
