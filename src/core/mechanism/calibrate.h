/*
 * calibrate.h: from the public parameters to every constant of the mechanism.
 *
 * One pure function. The formulas of a mechanism are in its file (mechanism.h),
 * those of choosing and counting in selection.h and counts.h; section names are
 * those of docs/guarantee.md.
 */
#ifndef DPERM_CALIBRATE_H
#define DPERM_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/mechanism/setup.h"

/*
 * The default of lambda, which does not depend on the data: the mechanism's, or
 * 1/rows without noise.
 */
extern double dperm_calibrate_default_lambda(const DpermSetup *setup);

/*
 * The lambda of least risk, and the risk at a lambda (section "The criterion").
 */
extern double dperm_calibrate_best_lambda(const DpermSetup *setup);
extern double dperm_calibrate_risk(const DpermSetup *setup, double lambda);

/*
 * The risk at the lambda that a setup would use; INFINITY if it cannot be used.
 */
extern double dperm_calibrate_expected_risk(const DpermSetup *setup);

/* For mechanisms: the norm of weights that the criterion expects. */
#define DPERM_TYPICAL_NORM 20

/*
 * For mechanisms: what is left of delta for the noise, once its tail and cut
 * loops are paid for.
 */
extern double dperm_calibrate_delta(const DpermSetup *setup);

/*
 * The slack: the most that the determinants of objective perturbation
 * contribute to the privacy loss, where ratio is the curvature of the loss over
 * n Lambda (sections "Objective perturbation" and "Persons").
 */
extern double dperm_calibrate_slack(DpermUnit unit, int dim, double ratio);

/* The share of epsilon that the release stage takes. */
#define DPERM_RELEASE_SHARE 0.01

/*
 * DPERM_BAD_ARGUMENT when a parameter is out of range or the effective Lambda
 * would be below DPERM_LAMBDA_MIN; *why then says which, in a static string.
 */
extern DpermStatus dperm_calibrate(const DpermSetup *setup, DpermCalibration *out,
								   const char **why);

/* What is wrong with an effective lambda below DPERM_LAMBDA_MIN. */
#define DPERM_LAMBDA_TOO_SMALL "lambda is too small: it must be at least 1e-10"

/*
 * For mechanisms: the bounds of the minimiser and of the certificate, when the
 * tilt times the number of rows has a norm of at most tail.
 */
extern void dperm_calibrate_solver(const DpermSetup *setup, double curvature, double tail,
								   DpermCalibration *out);

extern const char *dperm_calibrate_analysis_name(DpermAnalysis analysis);
extern bool dperm_calibrate_analysis_parse(const char *name, DpermAnalysis *analysis);

#endif							/* DPERM_CALIBRATE_H */
