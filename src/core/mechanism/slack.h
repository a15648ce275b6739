/*
 * slack.h: what the determinants of objective perturbation cost
 * (docs/guarantee.md, "The slack").
 *
 * A row's slope s decides how much the noise differs between neighbours, and
 * its curvature how much the determinants do. Both belong to the same output:
 * where the slope is largest, the curvature of a smooth loss is not. So the
 * determinants cost at most a line in s, slack + (1 - s) fall, and the noise
 * saves (1 - s) epsilon_b/nu.
 */
#ifndef DPERM_SLACK_H
#define DPERM_SLACK_H

#include "core/mechanism/setup.h"

/*
 * For all slopes s in [0, 1] the determinants contribute at most slack + (1 -
 * s) fall to the privacy loss. Both are rounded up.
 */
typedef struct DpermSlack
{
	double		slack;
	double		fall;
} DpermSlack;

/*
 * The line of least slack with slack + nu fall <= epsilon, or a constant. If
 * its slack is not below epsilon, lambda is too small for this epsilon.
 */
extern DpermSlack dperm_slack(const DpermSetup *setup, double lambda, double epsilon);

/* The rank of what a row or a person adds to the Hessian of dim weights. */
extern double dperm_slack_rank(DpermLoss loss, DpermUnit unit, int dim);

/*
 * The slack whatever the slope, where ratio is the largest trace of the
 * curvature over n Lambda: that of the constant line, not rounded.
 */
extern double dperm_slack_any_slope(double rank, double ratio);

#endif							/* DPERM_SLACK_H */
