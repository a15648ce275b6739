/*
 * charge.h: what a call may release, as known before its first row is read, and
 * what that takes from a budget (docs/guarantee.md, "Budgets").
 * Trusted.
 */
#ifndef DPERM_CHARGE_H
#define DPERM_CHARGE_H

#include <stdbool.h>

#include "core/loss/loss.h"
#include "core/privacy/claim.h"
#include "core/privacy/filter.h"

/*
 * What a call may release. The flags say which laws it may have: several if the
 * method is chosen by a rule that depends on the number of rows. With a delta
 * the noise is Gaussian, and if no flag is set, or bound is, only epsilon and
 * delta are known. Without a delta, only output alone says more than that.
 */
typedef struct DpermSpend
{
	DpermNeighbours neighbours;
	DpermUnit	unit;
	double		epsilon;		/* finite; of everything that the call releases */
	double		delta;			/* 0, or at least DPERM_DELTA_MIN */
	/* more than one release, or one of another kind: only epsilon and delta are known */
	bool		bound;
	bool		output;			/* may it be output perturbation? */
	bool		objective;		/* may it be objective perturbation? */
	int			dim;			/* the number of weights */
	DpermLoss	loss;
	/* the largest share of epsilon for its slack, which must be that of the setup */
	double		slack;
} DpermSpend;

/* The slack of Gaussian objective perturbation on a protected relation. */
#define DPERM_CHARGE_SLACK 0.05

/*
 * What it takes from a budget with this order (0: a budget without delta).
 * Rounded up, and the same for any number of rows.
 */
extern DpermFilterSums dperm_charge_of(const DpermSpend *spend, double order);

#endif							/* DPERM_CHARGE_H */
