/*
 * quad.h: 113 bits to check doubles with. What checks them in turn is fixed.h.
 */
#ifndef DPERM_TEST_QUAD_H
#define DPERM_TEST_QUAD_H

#include "core/base/core.h"
#include "core/loss/loss.h"

typedef DpermExtended Quad;

static inline double
quad_size(Quad x)
{
	return (double) (x < 0 ? -x : x);
}

/*
 * e^x for x <= 0: the Taylor series of x/2^20, squared twenty times, all minus
 * one.
 */
static inline Quad
quad_exp(Quad x)
{
	Quad		term = 1;
	Quad		sum = 0;

	if (x < -3000)
		return 0;
	x /= 1048576;
	for (int k = 1; k < 40; k++)
	{
		term *= x / k;
		sum += term;
	}
	for (int i = 0; i < 20; i++)
		sum = 2 * sum + sum * sum;
	return sum + 1;
}

/* The slope of a loss, by the definitions of the guarantee document. */
static inline Quad
quad_slope(DpermLoss loss, Quad z)
{
	Quad		h = loss.h;
	Quad		t = 1 - z;
	Quad		e;

	if (loss.kind == DPERM_LOSS_LOGISTIC)
	{
		e = quad_exp(z < 0 ? z : -z);
		return -(z < 0 ? 1 : e) / (1 + e);
	}
	if (loss.kind == DPERM_LOSS_LOG_COSH)
	{
		e = quad_exp((z < 0 ? 2 : -2) * z / h);
		return (z < 0 ? -1 : 1) * (1 - e) / (1 + e);
	}
	if (t > h)
		return -1;
	if (t < -h)
		return 0;
	if (loss.kind == DPERM_LOSS_HUBER)
		return -(h + t) / (2 * h);
	return t * t * t / (4 * h * h * h) - 3 * t / (4 * h) - (Quad) 0.5;
}

#endif							/* DPERM_TEST_QUAD_H */
