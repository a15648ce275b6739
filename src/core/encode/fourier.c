/*
 * fourier.c: generate and apply random Fourier features of norm 1. Trusted.
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
#include "core/encode/encoder.h"

#include <float.h>
#include <math.h>

#include "core/base/blas.h"
#include "core/base/bytes.h"
#include "core/base/host.h"
#include "core/base/linsys.h"
#include "core/base/vector.h"

/* The next word of a public stream: SplitMix64. */
static uint64_t
next_word(uint64_t *stream)
{
	return dperm_bytes_mix(*stream += UINT64_C(0x9e3779b97f4a7c15));
}

/* Uniform on (0, 1), endpoints excluded. */
static double
next_uniform(uint64_t *stream)
{
	return ((double) (next_word(stream) >> 12) + 0.5) * 0x1p-52;
}

/*
 * The natural logarithm by elementary operations, because libm's may differ in
 * the last place from machine to machine: x = m 2^e with m near 1, log m = 2
 * atanh((m-1)/(m+1)).
 */
static double
plain_log(double x)
{
	static const double log_2 = 0.693147180559945309417232;
	int			exponent;
	double		m = frexp(x, &exponent);	/* in [1/2, 1) */
	double		t,
				term,
				sum;

	if (m < 0.70710678118654752)
	{
		m *= 2;
		exponent--;
	}
	term = sum = t = (m - 1) / (m + 1); /* |t| < 0.172 */
	for (int k = 3; k <= 27; k += 2)
	{
		term *= t * t;
		sum += term / k;
	}
	return 2 * sum + exponent * log_2;
}

/* Independent standard normals: Marsaglia's polar method, two at a time, needs no sine. */
static void
fill_normal(uint64_t *stream, double *out, int count)
{
	for (int i = 0; i < count; i += 2)
	{
		double		u,
					v,
					s,
					factor;

		do
		{
			u = 2 * next_uniform(stream) - 1;
			v = 2 * next_uniform(stream) - 1;
			s = u * u + v * v;
		} while (s >= 1 || s == 0);
		factor = sqrt(-2 * plain_log(s) / s);
		out[i] = u * factor;
		if (i + 1 < count)
			out[i + 1] = v * factor;
	}
}

/* The norm of a standard normal vector. */
static double
next_chi(uint64_t *stream, int degrees)
{
	double		sum = 0;

	for (int i = 0; i < degrees / 2; i++)
		sum -= 2 * plain_log(next_uniform(stream));
	if (degrees % 2 == 1)
	{
		double		x;

		fill_normal(stream, &x, 1);
		sum += x * x;
	}
	return sqrt(sum);
}

/* Orthonormalise count <= dim rows by Gram-Schmidt, twice for accuracy. */
static void
orthonormalise(int count, int dim, double *rows)
{
	for (int i = 0; i < count; i++)
	{
		double	   *row = rows + (size_t) i * dim;
		double		norm;

		dperm_host_poll();
		for (int round = 0; round < 2; round++)
			for (int j = 0; j < i; j++)
			{
				const double *other = rows + (size_t) j * dim;
				double		along = dperm_dot(dim, row, other);

				for (int k = 0; k < dim; k++)
					row[k] -= along * other[k];
			}
		norm = sqrt(dperm_dot(dim, row, row));
		for (int k = 0; k < dim; k++)
			row[k] /= norm;
	}
}

/*
 * Rows that are orthogonalised together. A larger group costs more and gains
 * little.
 */
#define GROUP_MAX 256

/*
 * Normal frequencies, orthogonal within groups: uniformly distributed
 * orthonormal rows with independent chi norms, so that each row by itself is a
 * normal vector (Yu et al. 2016).
 */
static void
fill_orthogonal(uint64_t *stream, int rows, int dim, double scale, double *out)
{
	int			group = dim < GROUP_MAX ? dim : GROUP_MAX;

	for (int first = 0; first < rows; first += group)
	{
		int			count = rows - first < group ? rows - first : group;
		double	   *block = out + (size_t) first * dim;

		fill_normal(stream, block, count * dim);
		orthonormalise(count, dim, block);
		for (int i = 0; i < count; i++)
		{
			double		norm = scale * next_chi(stream, dim);

			for (int k = 0; k < dim; k++)
				block[(size_t) i * dim + k] *= norm;
		}
	}
}

/* Make the frequencies of a kernel. */
double *
dperm_fourier_make(const DpermKernel *kernel, int dim)
{
	uint64_t	stream = (uint64_t) kernel->seed;
	int			rows = kernel->features / 2;
	double	   *frequencies = dperm_host_alloc(sizeof(double) * (size_t) rows * (size_t) dim);

	if (kernel->kind == DPERM_KERNEL_GAUSSIAN)
	{
		/* the spectral law of exp(-gamma r^2) is normal with variance 2 gamma */
		fill_orthogonal(&stream, rows, dim, sqrt(2 * kernel->gamma), frequencies);
		return frequencies;
	}
	for (int i = 0; i < rows; i++)
	{
		double	   *row = frequencies + (size_t) i * dim;

		dperm_host_poll();
		if (kernel->kind == DPERM_KERNEL_MATERN)
		{
			double		scale;

			fill_normal(&stream, row, dim);
			scale = kernel->gamma * sqrt(3) / next_chi(&stream, 3);
			for (int k = 0; k < dim; k++)
				row[k] *= scale;
		}
		else if (kernel->kind == DPERM_KERNEL_LAPLACIAN)
			for (int k = 0; k < dim; k++)
			{
				/* a quotient of normals is Cauchy */
				double		pair[2];

				fill_normal(&stream, pair, 2);
				row[k] = kernel->gamma * pair[0] / pair[1];
			}
		else
			for (int k = 0; k < dim; k++)
			{
				double		size = -plain_log(next_uniform(&stream));

				row[k] = kernel->gamma * (next_word(&stream) >> 63 ? size : -size);
			}
	}
	return frequencies;
}

/* Replace the angles in the first half of out by scaled cosines and sines. */
static void
turn(int rows, double target, double *out)
{
	/*
	 * the computed cos^2 + sin^2 is off by at most a few units in the last
	 * place
	 */
	double		scale = target * sqrt(1.0 / rows) * (1 - 8 * DBL_EPSILON);
	int			i = 0;

	for (; i + 2 <= rows; i += 2)
	{
		DpermPair	cosine,
					sine;

		if (!(fabs(out[i]) <= DPERM_ANGLE_MAX && fabs(out[i + 1]) <= DPERM_ANGLE_MAX))
			break;
		dperm_cos_sin(dperm_pair_at(out + i), &cosine, &sine);
		dperm_put_pair(scale * cosine, out + i);
		dperm_put_pair(scale * sine, out + rows + i);
	}

	/* large angles: of kernels whose frequencies have unbounded variance */
	for (; i < rows; i++)
	{
		double		angle = out[i];

		out[i] = scale * cos(angle);
		out[rows + i] = scale * sin(angle);
	}
}

/* Write the features of some vectors: one matrix product for all angles. */
void
dperm_fourier_map_rows(const DpermKernel *kernel, const double *frequencies, int dim,
					   int count, const double *x, double target, int extra,
					   double *out)
{
	const double unit = 1,
				zero = 0;
	const int	one = 1;
	int			rows = kernel->features / 2;
	int			stride = kernel->features + extra;

	if (count == 1)
		dperm_blas()->dgemv("T", &dim, &rows, &unit, frequencies, &dim, x, &one, &zero, out, &one);
	else
		dperm_blas()->dgemm("T", "N", &rows, &count, &dim, &unit, frequencies, &dim, x, &dim,
							&zero, out, &stride);
	for (int i = 0; i < count; i++)
		turn(rows, target, out + (size_t) i * stride);
}
