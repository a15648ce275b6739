/*
 * loss_at.h: the losses of one output and their first two derivatives, by formulas
 * of their own: what blocks of outputs are compared with, and laws of trainings
 * computed from.
 */
#ifndef DPERM_TEST_LOSS_AT_H
#define DPERM_TEST_LOSS_AT_H

#include <math.h>

#include "core/loss/loss.h"

/* A loss and its derivatives, by the output or by the argument of the loss. */
typedef struct LossAt
{
	double		value;
	double		slope;
	double		curve;
} LossAt;

/* log(1 + exp(-z)), where the argument of exp cannot overflow. */
static inline LossAt
loss_at_logistic(double z)
{
	double		e = exp(-fabs(z));	/* in (0, 1] */

	return (LossAt) {
		.value = log1p(e) - fmin(z, 0),
		.slope = -(z >= 0 ? e : 1) / (1 + e),
		.curve = fmin(0.25, e / ((1 + e) * (1 + e)))
	};
}

/* A loss with a bend: linear before it, 0 beyond it; q is from 1 to -1 on it. */
static inline LossAt
loss_at_bend(DpermLoss loss, double z)
{
	double		h = loss.h;
	double		q = (1 - z) / h;

	if (z > 1 + h)
		return (LossAt) {0, 0, 0};
	if (z < 1 - h)
		return (LossAt) {1 - z, -1, 0};
	if (loss.kind == DPERM_LOSS_HUBER)
		return (LossAt) {
			.value = (1 + h - z) * (1 + h - z) / (4 * h),
			.slope = fmax(-1, fmin(0, -(1 + h - z) / (2 * h))),
			.curve = 1 / (2 * h)
		};
	return (LossAt) {
		.value = h * fmax(0, ((-q * q / 16 + 3.0 / 8) * q + 0.5) * q + 3.0 / 16),
		.slope = fmax(-1, fmin(0, (q * q - 3) * q / 4 - 0.5)),
		.curve = 0.75 * fmax(0, 1 - q * q) / h
	};
}

/*
 * With e = exp(-2|r|/h), in (0, 1], nothing overflows. Near 0 the logarithm is
 * that of 1 + 2 sinh(r/2h)^2.
 */
static inline LossAt
loss_at_log_cosh(double h, double r)
{
	double		x = fabs(r) / h;
	double		e = exp(-2 * x);
	double		half = sinh(fmin(x, 1) / 2);

	return (LossAt) {
		.value = x < 1 ? h * log1p(2 * half * half) : fabs(r) + h * (log1p(e) - 0x1.62e42fefa39efp-1),
		.slope = tanh(r / h),
		.curve = fmin(4 * e / ((1 + e) * (1 + e)), 1) / h
	};
}

/*
 * The loss of an output under a label, and its derivatives by the output. Without
 * a label there are none, and the loss is a constant. Not for several classes.
 */
static inline LossAt
loss_at(DpermLoss loss, double output, double label)
{
	bool		there = dperm_label_kind_has(dperm_loss_entry((int) loss.kind)->label, label);
	LossAt		at;

	if (loss.kind == DPERM_LOSS_LOG_COSH)
	{
		at = loss_at_log_cosh(loss.h, there ? output - label : 0);
		return there ? at : (LossAt) {at.value, 0, 0};
	}
	at = loss.kind == DPERM_LOSS_LOGISTIC ? loss_at_logistic(output * label) : loss_at_bend(loss, output * label);
	return (LossAt) {at.value, at.slope * label, at.curve * label * label};
}

#endif							/* DPERM_TEST_LOSS_AT_H */
