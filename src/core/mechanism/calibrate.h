/*
 * calibrate.h: from the public parameters to every constant of the mechanism.
 *
 * One pure function. The formulas of a mechanism are in its file (mechanism.h),
 * those of selection and counts in selection.h and counts.h; section names are
 * those of docs/guarantee.md.
 */
#ifndef DPERM_CALIBRATE_H
#define DPERM_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/mechanism/setup.h"

/*
 * The default lambda, which does not depend on the data: that of the mechanism,
 * or 1/rows without noise.
 */
extern double dperm_calibrate_default_lambda(const DpermSetup *setup);

/*
 * The lambda of least risk, and the risk at a lambda (section "The criterion").
 */
extern double dperm_calibrate_best_lambda(const DpermSetup *setup);
extern double dperm_calibrate_risk(const DpermSetup *setup, double lambda);

/*
 * The risk at the lambda that a setup uses; INFINITY if the setup is not valid.
 */
extern double dperm_calibrate_expected_risk(const DpermSetup *setup);

/*
 * For mechanisms: the norm of weights that the criterion expects, and their
 * distance from those of a prior, if there is one.
 */
extern double dperm_calibrate_typical(const DpermSetup *setup);

/*
 * For mechanisms: the delta that is left for the noise after its tail and
 * truncated loops are accounted for.
 */
extern double dperm_calibrate_delta(const DpermSetup *setup);

/*
 * The largest share of epsilon that the release stage takes (section "The share
 * of the release").
 */
#define DPERM_RELEASE_SHARE_MAX 0.01

/*
 * DPERM_BAD_ARGUMENT if a parameter is out of range, the effective Lambda would
 * be below DPERM_LAMBDA_MIN, or no noise is large enough, which no parameters in
 * range are known to lead to; *why is then a static string that says which.
 */
extern DpermStatus dperm_calibrate(const DpermSetup *setup, DpermCalibration *out,
								   const char **why);

/* The reason for an effective lambda below DPERM_LAMBDA_MIN. */
#define DPERM_LAMBDA_TOO_SMALL "lambda is too small: it must be at least 1e-10"

/*
 * For mechanisms: the bounds of the minimiser and of the certificate, if the
 * noise in the tilt, times the number of rows, has norm at most tail.
 */
extern void dperm_calibrate_solver(const DpermSetup *setup, double tail, DpermCalibration *out);

extern const char *dperm_calibrate_analysis_name(int analysis);

#endif							/* DPERM_CALIBRATE_H */
