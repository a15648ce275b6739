/*
 * blas.h: the few BLAS and LAPACK routines that the core calls. Fast.
 *
 * Fortran interface with 32-bit integers. Callers keep every dimension within
 * DPERM_DIM_MAX, because reference LAPACK ends the process on a bad argument.
 *
 * They are reached through a table of pointers, because a server loads the
 * libraries when they are first needed: loading takes longer than training on a
 * small table, or predicting.
 */
#ifndef DPERM_BLAS_H
#define DPERM_BLAS_H

typedef struct DpermBlas
{
	void		(*dgemv) (const char *trans, const int *m, const int *n, const double *alpha,
						  const double *a, const int *lda, const double *x, const int *incx,
						  const double *beta, double *y, const int *incy);
	void		(*dsyrk) (const char *uplo, const char *trans, const int *n, const int *k,
						  const double *alpha, const double *a, const int *lda,
						  const double *beta, double *c, const int *ldc);
	void		(*ssyrk) (const char *uplo, const char *trans, const int *n, const int *k,
						  const float *alpha, const float *a, const int *lda,
						  const float *beta, float *c, const int *ldc);
	void		(*dgemm) (const char *transa, const char *transb, const int *m, const int *n,
						  const int *k, const double *alpha, const double *a, const int *lda,
						  const double *b, const int *ldb, const double *beta, double *c,
						  const int *ldc);
	void		(*dtrsm) (const char *side, const char *uplo, const char *transa,
						  const char *diag, const int *m, const int *n, const double *alpha,
						  const double *a, const int *lda, double *b, const int *ldb);
	void		(*dpotrf) (const char *uplo, const int *n, double *a, const int *lda, int *info);
} DpermBlas;

/* Up to this many columns, our own loops are as fast as BLAS. */
#define DPERM_BLAS_SMALL 24

/* The routines. Like dperm_host_poll(), this may exit by longjmp. */
extern const DpermBlas *dperm_blas(void);

#endif							/* DPERM_BLAS_H */
