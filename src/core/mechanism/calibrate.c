/*
 * calibrate.c: from public parameters to every constant of a mechanism.
 * Trusted: all noise, and what the solver has to certify, is as large as this says.
 *
 * What depends on how noise is used; the slack; the default lambda; the
 * certificate. Then objective perturbation, whose noise tilts the objective, and
 * output perturbation, whose noise is added to the minimiser, and their table;
 * and all of it together. At the end what follows from it: the rule for knots,
 * and how large the noise is beside what a model is likely to find.
 *
 * Section names are those of docs/guarantee.md. Where a constant is computed in
 * doubles, it is nudged to the safe side by more than its rounding error.
 */
#include "core/mechanism/calibrate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/core.h"
#include "core/privacy/composition.h"
#include "core/solve/solver.h"
#include "core/solve/sums.h"

/*
 * The largest gradient at weights that are accepted: BOUND, or BOUND_ROWS
 * divided by the number of rows, which keeps release noise below a hundredth of
 * the main noise. Without noise, BOUND is added to what rounding may hide.
 */
#define BOUND 1e-10
#define BOUND_ROWS 6e-5
#define GOAL_WITHOUT_NOISE 1e-12

/* The finest grid, and how many grid points the weights may span. */
#define GRID_MIN 0x1p-40
#define GRID_POINTS 0x1p50

/*
 * Steps of the search for the least risk: each reduces the interval by more
 * than a third, and the risk is flat there.
 */
#define SEARCH_STEPS 40

/* A relative margin for the rounding of the constants computed here. */
#define NUDGE (1 + 1e-12)

/* Of the rule for knots, from simulations: see docs/experiments.md. */
#define KNOTS_FACTOR 0.85

/*
 * How much the scores of a model are expected to correlate with the labels, and how
 * curved losses are at its weights, as a share of what they can be.
 */
#define TYPICAL_CORRELATION 0.5
#define TYPICAL_CURVATURE 0.5

/* More than the relative rounding error of a slack and of its derivative. */
#define ROUNDING 1e-13

/* The search for the tangent: its relative precision, and the most steps. */
#define TANGENT_PRECISION 1e-13
#define TANGENT_STEPS 60

/* The share of epsilon that the slack may always take, in the sharp analysis. */
#define SLACK_SHARE 0.1

/* The relative precision of the search for a lambda. */
#define LAMBDA_PRECISION 1e-12

/* The coordinates whose noise is drawn together. */
static int
drawn_dim(const DpermSetup *s)
{
	return dperm_setup_in_objective(s) ? dperm_setup_row_dim(s) : s->dim;
}

/* The mean of the noise's squared norm at scale 1. */
static double
spread(const DpermSetup *s)
{
	int			dim = drawn_dim(s);

	return s->dim / dim * dperm_noise_spread(dperm_setup_law(s), s->noise, dim);
}

/* The norm of the noise is larger than this with probability below 2^-65. */
static double
tail_of(const DpermSetup *s, double scale)
{
	int			dim = drawn_dim(s);

	return dperm_noise_tail(dperm_setup_law(s), s->noise, dim, s->dim / dim, scale);
}

/*
 * The mean of |b| is at most its root mean square, and in the objective b moves
 * the minimum by at most |b|/(n lambda).
 */
double
dperm_mechanism_effect(const DpermSetup *s, const DpermCalibration *cal)
{
	return sqrt(spread(s)) * cal->noise_scale /
		(dperm_setup_in_objective(s) ? s->rows * cal->lambda : 1);
}

void
dperm_mechanism_draw(DpermEntropy *e, const DpermSetup *s, const DpermCalibration *cal,
					 double *noise)
{
	int			dim = drawn_dim(s);

	for (int i = 0; i < s->dim; i += dim)
		dperm_noise_draw(e, dperm_setup_law(s), s->noise, dim, cal->noise_scale, noise + i);
}

/*
 * A row adds a matrix of the rank of the curvature to the Hessian, a person one
 * of up to that rank times the coordinates of a row, with the same trace: the
 * worst case is an even spread.
 */
double
dperm_slack_rank(DpermLoss loss, DpermUnit unit, int dim)
{
	int			rank = dperm_loss_bounds(loss).rank;

	return unit == DPERM_UNIT_PERSON ? (double) rank * (dim / dperm_loss_blocks(loss)) : rank;
}

double
dperm_slack_any_slope(double rank, double ratio)
{
	return rank * log1p(ratio / rank);
}

/*
 * The tangent at slope 1 - rest. The determinants are concave in the slope, so
 * they are nowhere above it.
 */
static DpermSlack
tangent(const DpermSetup *s, double rank, double ratio, double rest)
{
	double		change;
	double		share = dperm_loss_entry((int) s->loss.kind)->share(s->loss, rest, &change);
	double		value = rank * log1p(ratio * share / rank);
	double		fall = -ratio * change / (1 + ratio * share / rank);
	double		error = (value + fabs(fall)) * ROUNDING;

	return (DpermSlack) {
		.slack = fmax(value * (1 + ROUNDING) - (fall - error) * rest, 0),
		.fall = fall + error
	};
}

/*
 * Where to look next, between two points where the tangent is above epsilon by
 * over and below it by under: on the line between them, or in the middle.
 */
static double
between(double low, double high, double over, double under, int step)
{
	double		share = over / (over + under);

	if (step % 3 == 2 || !(share > 0.001 && share < 0.999))
		share = 0.5;
	return low + (high - low) * share;
}

/*
 * The tangent's slack falls, and its value at the other end rises, as its slope
 * approaches 1. So a search finds the tangent through epsilon there. Any
 * tangent that stays below epsilon will do.
 */
DpermSlack
dperm_slack(const DpermSetup *s, double lambda, double epsilon)
{
	double		rank = dperm_slack_rank(s->loss, s->unit, s->dim);
	double		ratio = dperm_loss_bounds(s->loss).trace / (s->rows * lambda);
	int			apart = dperm_claim_rows_apart(s->neighbours);
	DpermSlack	best = {.slack = dperm_slack_any_slope(rank, ratio) * (1 + ROUNDING)};
	double		low = 0;
	double		high = 1;
	double		over = INFINITY;
	double		under = epsilon;

	if (dperm_loss_entry((int) s->loss.kind)->share == NULL || !(best.slack < epsilon))
		return best;
	for (int i = 0; i < TANGENT_STEPS && high - low > TANGENT_PRECISION * high; i++)
	{
		double		rest = i == 0 ? 0 : between(low, high, over, under, i);
		DpermSlack	line = tangent(s, rank, ratio, rest);
		double		end = line.slack + apart * line.fall;

		if (end <= epsilon)
		{
			high = rest;
			under = epsilon - end;
			best = line.slack < best.slack ? line : best;
		}
		else
		{
			low = rest;
			over = end - epsilon;
		}
	}
	return best;
}

/* How far weights are from where the regulariser pulls them: half as far from a prior. */
static double
typical_distance(const DpermSetup *s)
{
	return dperm_loss_bounds(s->loss).typical_norm / (s->prior_norm > 0 ? 2 : 1);
}

/*
 * The lambda of least risk. The risk is convex in lambda, so a golden-section
 * search over its logarithm finds it. Three digits are easy to read, and do not
 * depend on how a platform rounds logarithms.
 */
static double
best_lambda(const DpermSetup *s)
{
	double		(*risk) (const DpermSetup *, double) = dperm_mechanism_entry((int) s->method)->risk;
	const double golden = 0.6180339887498949;
	double		low = log(DPERM_LAMBDA_MIN);
	double		high = log(DPERM_LAMBDA_MAX);
	double		left = high - golden * (high - low);
	double		right = low + golden * (high - low);
	double		left_risk = risk(s, exp(left));
	double		right_risk = risk(s, exp(right));

	for (int i = 0; i < SEARCH_STEPS; i++)
	{
		/* where the slack would take all of epsilon, both are infinite: lambda is too small */
		if (left_risk < right_risk)
		{
			high = right;
			right = left;
			right_risk = left_risk;
			left = high - golden * (high - low);
			left_risk = risk(s, exp(left));
		}
		else
		{
			low = left;
			left = right;
			left_risk = right_risk;
			right = low + golden * (high - low);
			right_risk = risk(s, exp(right));
		}
	}
	return dperm_composition_digits(exp(high), 3, false);
}

/* The default lambda; the analysis of the paper has a simple rule. */
double
dperm_calibrate_default_lambda(const DpermSetup *s)
{
	bool		printed = s->method == DPERM_METHOD_OBJECTIVE &&
		s->analysis == DPERM_ANALYSIS_PAPER;
	double		lambda = isinf(s->epsilon) ? 1.0 / s->rows :
					printed			  ? 0.1 * s->dim / (s->rows * s->epsilon) :
										best_lambda(s);

	return fmin(fmax(lambda, DPERM_LAMBDA_MIN), DPERM_LAMBDA_MAX);
}

/*
 * The constants of the certificate (sections "Bounded weights", "Rounding" and
 * "The solver always certifies"): how large the minimiser can be if |b| is at
 * most tail, and how small the gradient must become. A prior is a part of the
 * tilt (section "A prior").
 */
static void
bound_solver(const DpermSetup *s, double tail, DpermCalibration *out)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);
	double		tilt = tail / s->rows + out->lambda * s->prior_norm;
	double		pull = tilt / out->lambda;
	double		by_gradient = pull + loss.norm / out->lambda;
	double		by_value = pull + sqrt(pull * pull + 2 * loss.start / out->lambda);
	double		at_zero = dperm_moments_rounding(s->dim, s->loss, 0);

	out->weight_bound = 1.01 * fmin(by_gradient, by_value);
	out->rounding[0] = at_zero + 8 * DPERM_ROUNDING_UNIT * (loss.norm + tilt);
	if (s->unit == DPERM_UNIT_PERSON)
		/* the product of slope and weight */
		out->rounding[0] += DPERM_ROUNDING_UNIT * loss.norm;
	out->rounding[1] = dperm_moments_rounding(s->dim, s->loss, 1) - at_zero +
		8 * DPERM_ROUNDING_UNIT * out->lambda;
	if (isinf(s->epsilon))
		out->gradient_bound =
			GOAL_WITHOUT_NOISE + 2 * (out->rounding[0] + out->rounding[1] * out->weight_bound);
	else
		out->gradient_bound = fmin(BOUND, BOUND_ROWS / s->rows);
	out->gradient_bound =
		fmax(out->gradient_bound,
			 4 * dperm_solver_reach(s->dim, out->lambda, s->loss, dperm_setup_most_rows(s),
									dperm_setup_more_rows(s), out->weight_bound, tilt));
	out->descent_steps =
		dperm_solver_steps(out->lambda, loss.curvature, out->weight_bound, out->gradient_bound);
}

/*
 * The scale of noise in a sum of slopes for an epsilon: what two means need that
 * are as far apart as neighbours can be.
 */
static double
slopes_scale(const DpermSetup *s, double epsilon)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);

	return dperm_claim_rows_apart(s->neighbours) *
		   (s->delta > 0 ? loss.norm * dperm_privacy_sigma(epsilon, s->delta / loss.directions) :
						   loss.reach / epsilon);
}

/*
 * A proxy for the excess risk at a lambda, from public quantities only (section
 * "The criterion"): what the noise adds to the objective, and the cost of the
 * regulariser for weights of a typical norm.
 */
static double
objective_risk(const DpermSetup *s, double lambda)
{
	double		left = s->epsilon - dperm_slack(s, lambda, s->epsilon).slack;
	double		typical = typical_distance(s);
	double		scale;

	if (!(left > 0))
		return INFINITY;
	scale = slopes_scale(s, left);	/* close enough here */
	return scale * scale * spread(s) / (2.0 * s->rows * s->rows * lambda) +
		   lambda * typical * typical / 2;
}

/* The lambda at which the slack whatever the slope takes a share of epsilon. */
static double
lambda_any_slope(const DpermSetup *s, double share)
{
	double		rank = dperm_slack_rank(s->loss, s->unit, s->dim);

	return dperm_loss_bounds(s->loss).trace / (rank * s->rows * expm1(share * s->epsilon / rank));
}

/*
 * The lambda at which the slack takes a share of epsilon; the second epsilon is
 * what slack and noise have together. The slack falls as lambda grows, and has
 * no closed form. With a delta it is the slack whatever the slope, which the
 * curves of releases depend on.
 */
static double
lambda_at(const DpermSetup *s, double share, double epsilon)
{
	double		high = lambda_any_slope(s, share);
	double		low = fmax(lambda_any_slope(s, 1), DPERM_LAMBDA_MIN);

	while (s->delta == 0 && high > low * (1 + LAMBDA_PRECISION))
	{
		double		middle = sqrt(low) * sqrt(high);

		if (dperm_slack(s, middle, epsilon).slack <= share * s->epsilon)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Does the slack at a lambda take at most a share of epsilon? */
static bool
takes_at_most(const DpermSetup *s, double lambda, double share, double epsilon)
{
	return lambda >= lambda_any_slope(s, share) ||
		(s->delta == 0 && dperm_slack(s, lambda, epsilon).slack <= share * s->epsilon);
}

/*
 * The caller's lambda, or the least: where the slack takes the share of the
 * setup; without one a tenth of epsilon, or what it takes at the default lambda
 * if that is more.
 */
static double
raised_lambda(const DpermSetup *s, double epsilon)
{
	double		share = s->slack > 0 ? s->slack : SLACK_SHARE;
	double		lambda = fmax(s->lambda, DPERM_LAMBDA_MIN);
	double		least;

	/* most often it is large enough, and nothing has to be searched for */
	if (takes_at_most(s, lambda, share, epsilon))
		return lambda;
	least = s->slack == 0 ? best_lambda(s) : INFINITY;
	if (takes_at_most(s, least, share, epsilon))
		return fmax(lambda, fmin(least, lambda_at(s, share, epsilon)));
	least = fmax(lambda, least);
	return takes_at_most(s, least, DPERM_SLACK_MAX, epsilon) ?
		least : fmax(least, lambda_at(s, DPERM_SLACK_MAX, epsilon));
}

/* The factor of the determinants, and a capped slack (section "Sharp analysis"). */
static void
sharp(const DpermSetup *s, DpermCalibration *out)
{
	double		epsilon = s->epsilon - out->claim.shares[DPERM_SHARE_RELEASE];
	DpermSlack	line;

	out->lambda = raised_lambda(s, epsilon);
	line = dperm_slack(s, out->lambda, epsilon);
	out->claim.shares[DPERM_SHARE_SLACK] = line.slack;
	out->claim.shares[DPERM_SHARE_NOISE] = epsilon - line.slack;
	/* both were rounded up, so that an excess of the product is of rounding */
	out->floor = fmin(dperm_claim_rows_apart(s->neighbours) * line.fall,
					  out->claim.shares[DPERM_SHARE_NOISE]);
}

/* Algorithm 2 as printed, run at epsilon less the release share (section "Paper analysis"). */
static void
paper(const DpermSetup *s, DpermCalibration *out)
{
	double		epsilon = s->epsilon - out->claim.shares[DPERM_SHARE_RELEASE];
	double		c = dperm_loss_bounds(s->loss).trace;
	double		lambda = fmax(s->lambda, DPERM_LAMBDA_MIN);
	double		slack = 2 * log1p(c / (s->rows * lambda));

	if (!(epsilon - slack > 0))
	{
		lambda = c / (s->rows * expm1(epsilon / 4));
		slack = epsilon / 2;
	}
	out->lambda = lambda;
	out->claim.shares[DPERM_SHARE_SLACK] = slack;
	out->claim.shares[DPERM_SHARE_NOISE] = epsilon - slack;
}

/* The scale of the noise: see "Objective perturbation" and "Gaussian noise". */
static void
spend_objective(const DpermSetup *s, DpermCalibration *out)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);
	double		epsilon;

	if (s->analysis == DPERM_ANALYSIS_SHARP)
		sharp(s, out);
	else
		paper(s, out);
	epsilon = out->claim.shares[DPERM_SHARE_NOISE];
	out->noise_scale = s->delta == 0 ? slopes_scale(s, epsilon) :
		loss.norm * dperm_privacy_objective_sigma(
			s->neighbours, s->unit, epsilon, dperm_calibrate_delta(s->delta) / loss.directions,
			out->floor);
}

/*
 * The noise that leads to the same output on two neighbouring tables differs by
 * at most two slopes: the bounds have to hold for both. The rounding of the
 * noise, and of the tilt, acts like a gradient.
 */
static double
bound_objective(const DpermSetup *s, DpermCalibration *out)
{
	double		tail = tail_of(s, out->noise_scale) +
		2 * dperm_loss_bounds(s->loss).norm;
	double		largest;

	bound_solver(s, tail, out);
	largest = out->weight_bound + out->gradient_bound / out->lambda;
	out->residual =
		(out->gradient_bound +
		 (dperm_noise_rounding(dperm_setup_row_dim(s)) + DBL_EPSILON) * tail / s->rows) /
			out->lambda +
		DBL_EPSILON * (largest + 2 * s->prior_norm);
	return largest;
}

/*
 * The private curvature decides how coordinates of the noise mix. It is at
 * least n lambda: then a weight has the deviation of its own coordinate, or up
 * to this if another one has a larger deviation (Proposition 3).
 */
static bool
objective_deviations(const DpermSetup *s, const DpermCalibration *cal, double *each)
{
	double		factor = cal->noise_scale / (s->rows * cal->lambda);
	double		largest = 0;
	int			row_dim = dperm_setup_row_dim(s);

	for (int i = 0; i < s->dim; i += row_dim)
		dperm_noise_deviations(dperm_setup_law(s), s->noise, row_dim, each + i);
	for (int i = 0; i < s->dim; i++)
		largest = fmax(largest, each[i] * each[i]);
	for (int i = 0; i < s->dim; i++)
	{
		double		own = each[i] * each[i];

		each[i] = factor * (largest > 2 * own ? largest / (2 * sqrt(largest - own)) : each[i]);
	}
	return false;
}

/*
 * The scale of the noise at a lambda, for its share of epsilon: the minimum
 * moves by at most a row's share divided by lambda.
 */
static double
output_scale(const DpermSetup *s, double lambda, double epsilon, double delta)
{
	double		reach = dperm_loss_bounds(s->loss).norm * dperm_claim_rows_apart(s->neighbours) /
		(s->rows * lambda);

	return s->delta > 0 ? reach * dperm_privacy_sigma(epsilon, delta) : reach / epsilon;
}

/*
 * A proxy for the excess risk (section "The criterion"). Noise is the same in
 * all directions, so it meets the mean curvature; the curvatures add up to at
 * most their trace, plus lambda in each direction.
 */
static double
output_risk(const DpermSetup *s, double lambda)
{
	double		scale = output_scale(s, lambda, s->epsilon, s->delta);
	double		typical = typical_distance(s);

	return scale * scale * spread(s) *
			   (lambda + dperm_loss_bounds(s->loss).trace / s->dim) / 2 +
		   lambda * typical * typical / 2;
}

static void
spend_output(const DpermSetup *s, DpermCalibration *out)
{
	out->lambda = s->lambda;
	out->claim.shares[DPERM_SHARE_SLACK] = 0;
	out->claim.shares[DPERM_SHARE_NOISE] = s->epsilon - out->claim.shares[DPERM_SHARE_RELEASE];
	out->noise_scale = output_scale(s, out->lambda, out->claim.shares[DPERM_SHARE_NOISE],
									dperm_calibrate_delta(s->delta));
}

/*
 * As for objective perturbation; the noise is added to the weights, in doubles,
 * and only a prior is in the tilt.
 */
static double
bound_output(const DpermSetup *s, DpermCalibration *out)
{
	double		tail = tail_of(s, out->noise_scale) +
		2 * dperm_loss_bounds(s->loss).norm / (s->rows * out->lambda);
	double		largest;

	bound_solver(s, 0, out);
	largest = out->weight_bound + out->gradient_bound / out->lambda + tail;
	out->residual = out->gradient_bound / out->lambda + dperm_noise_rounding(s->dim) * tail +
		2 * DBL_EPSILON * (largest + s->prior_norm);
	return largest;
}

/* The noise is in the weights as it is. */
static bool
output_deviations(const DpermSetup *s, const DpermCalibration *cal, double *each)
{
	dperm_noise_deviations(dperm_setup_law(s), s->noise, s->dim, each);
	for (int i = 0; i < s->dim; i++)
		each[i] *= cal->noise_scale;
	return true;
}

static const DpermMechanism mechanisms[DPERM_METHOD_COUNT] = {
	[DPERM_METHOD_OBJECTIVE] = {
		.description = "objective perturbation",
		.in_objective = true,
		.risk = objective_risk,
		.spend = spend_objective,
		.bound = bound_objective,
		.deviations = objective_deviations
	},
	[DPERM_METHOD_OUTPUT] = {
		.description = "output perturbation",
		.risk = output_risk,
		.spend = spend_output,
		.bound = bound_output,
		.deviations = output_deviations
	}
};

const DpermMechanism *
dperm_mechanism_entry(int method)
{
	return method >= 0 && method < DPERM_METHOD_COUNT ? &mechanisms[method] : NULL;
}

DPERM_WORDS(dperm_mechanism_name, "objective", "output");
DPERM_WORDS(dperm_calibrate_analysis_name, "sharp", "paper");

/*
 * What is wrong with the parameters, or NULL: their ranges, which the formulas
 * below rely on, and what the analysis of the paper does not support. A lambda
 * that is too small for objective perturbation is raised.
 */
static const char *
fault_of(const DpermSetup *s)
{
	if (!(s->epsilon >= DPERM_EPSILON_MIN))
		return "epsilon must be at least 1e-6";
	if (s->epsilon > DPERM_EPSILON_MAX && !isinf(s->epsilon))
		return "epsilon must be at most 500, or infinite";
	if (!(s->delta == 0 || (s->delta >= DPERM_DELTA_MIN && s->delta < 1)))
		return "delta must be 0, or at least 1e-15 and less than 1";
	if (s->delta > 0 && isinf(s->epsilon))
		return "delta must be 0 when epsilon is infinite";
	if ((int) s->neighbours < 0 || (int) s->neighbours > DPERM_NEIGHBOURS_REMOVE)
		return "neighbours is unknown";
	if ((int) s->unit < 0 || (int) s->unit > DPERM_UNIT_PERSON)
		return "unit is unknown";
	if (!(s->lambda >= 0 && s->lambda <= DPERM_LAMBDA_MAX))
		return "lambda must be between 0 and 1e9";
	if (s->rows < 1 || s->rows > DPERM_ROWS_MAX)
		return s->unit == DPERM_UNIT_PERSON ?
			"the number of persons is out of range" : "the number of rows is out of range";
	if (s->dim < 1 || s->dim > DPERM_DIM_MAX)
		return "the dimension is out of range";
	if (!(s->slack == 0 || (s->slack >= DPERM_SLACK_MIN && s->slack <= DPERM_SLACK_MAX)))
		return "slack must be between 0.001 and 0.9";
	if (!(s->prior_norm >= 0 && s->prior_norm <= DPERM_PRIOR_NORM_MAX))
		return "the weights of the prior must have a norm of at most 1e6";
	if (dperm_mechanism_entry((int) s->method) == NULL)
		return "the method is unknown";
	if (dperm_loss_fault(s->loss))
		return dperm_loss_fault(s->loss);
	if (s->dim % dperm_loss_blocks(s->loss) != 0)
		return "the number of weights is not a multiple of that of classes";
	if (s->noise &&
		(s->method != DPERM_METHOD_OBJECTIVE || s->analysis == DPERM_ANALYSIS_PAPER))
		return "noise of this method and analysis has no shape";
	if (s->method != DPERM_METHOD_OBJECTIVE || s->analysis != DPERM_ANALYSIS_PAPER ||
		isinf(s->epsilon))
		return NULL;
	if (s->delta > 0)
		return "the analysis of the paper does not support delta";
	if (s->unit == DPERM_UNIT_PERSON)
		return "the analysis of the paper supports rows, not persons";
	if (dperm_loss_entry((int) s->loss.kind)->label != DPERM_LABEL_TWO)
		return "the analysis of the paper supports labels of two classes only";
	return NULL;
}

/* The grid and the release noise for a residual rho (section "Release"). */
static void
release_stage(const DpermSetup *s, double longest, DpermCalibration *out)
{
	double		grid = GRID_MIN;

	for (;; grid *= 2)
	{
		double		steps = 2 * sqrt(s->dim) * out->residual / grid * (1 + 1e-9) + s->dim;
		double		scale = ceil(steps / out->claim.shares[DPERM_SHARE_RELEASE] * NUDGE);

		if (longest / grid <= GRID_POINTS && scale <= GRID_POINTS)
		{
			out->grid = grid;
			out->release_scale = (int64_t) scale;
			return;
		}
	}
}

/*
 * The share of epsilon for the release stage at which noise and release cost
 * least together, from the constants at the largest share (section "The share
 * of the release"). Unlike the noise, the release is not damped by curvatures,
 * whose mean is at most their trace over d, besides lambda.
 */
static double
release_share(const DpermSetup *s, const DpermCalibration *largest)
{
	double		noise = dperm_mechanism_effect(s, largest);
	double		release = DPERM_RELEASE_SHARE_MAX * sqrt(2.0 * s->dim) * largest->grid *
		(double) largest->release_scale;
	double		curvature = 1 + dperm_loss_bounds(s->loss).trace / (s->dim * largest->lambda);
	double		odds = cbrt(release / noise * (release / noise) * curvature);

	return fmin(odds / (1 + odds), DPERM_RELEASE_SHARE_MAX);
}

/* Every constant of the mechanism, with a share for the release stage. */
static const char *
calibrate(const DpermSetup *s, double share, DpermCalibration *out)
{
	const char *fault = fault_of(s);
	const DpermMechanism *mechanism = dperm_mechanism_entry((int) s->method);

	memset(out, 0, sizeof(*out));
	if (fault)
		return fault;
	out->claim = (DpermClaim) {
		.neighbours = s->neighbours, .unit = s->unit, .epsilon = s->epsilon, .delta = s->delta};
	out->lambda = s->lambda;
	if (!isinf(s->epsilon))
	{
		out->claim.shares[DPERM_SHARE_RELEASE] = share * s->epsilon;
		mechanism->spend(s, out);
		out->noise_scale *= NUDGE;
	}
	if (!(out->lambda >= DPERM_LAMBDA_MIN))
		return DPERM_LAMBDA_TOO_SMALL;
	if (!isfinite(out->noise_scale))
		return "no noise is large enough";
	if (isinf(s->epsilon))
		bound_solver(s, 0, out);
	else
		release_stage(s, mechanism->bound(s, out), out);
	return NULL;
}

const char *
dperm_calibrate(const DpermSetup *s, DpermCalibration *out)
{
	const char *fault = calibrate(s, DPERM_RELEASE_SHARE_MAX, out);

	return fault || isinf(s->epsilon) ? fault : calibrate(s, release_share(s, out), out);
}

double
dperm_calibrate_expected_risk(const DpermSetup *s)
{
	DpermCalibration out = {.claim = {.epsilon = s->epsilon}};
	const DpermMechanism *mechanism = dperm_mechanism_entry((int) s->method);

	if (fault_of(s))
		return INFINITY;
	mechanism->spend(s, &out);
	return out.lambda >= DPERM_LAMBDA_MIN ? mechanism->risk(s, out.lambda) : INFINITY;
}

double
dperm_calibrate_knots_noise(const DpermSetup *s)
{
	return slopes_scale(s, s->epsilon) *
		   sqrt(dperm_noise_spread(dperm_setup_law(s), s->noise, dperm_setup_row_dim(s)));
}

int
dperm_calibrate_knots(const double *noise, int64_t rows)
{
	for (int knots = DPERM_KNOTS_MOST; knots >= DPERM_KNOTS_LEAST; knots--)
		/* without noise the quotient is infinite */
		if (rint(KNOTS_FACTOR * cbrt((double) rows / noise[knots])) >= knots)
			return knots;
	return 1;
}

double
dperm_noise_share_norm(const DpermSetup *setup, const DpermCalibration *calibration)
{
	double		release = sqrt(2.0 * setup->dim) * (double) calibration->release_scale *
		calibration->grid;

	/* they are independent, and the release has mean 0 */
	return hypot(dperm_mechanism_effect(setup, calibration), release);
}

/* The norm of the slope of a row's loss at weights 0. */
static double
slope_at_zero(DpermLoss loss)
{
	const double label = 1;
	double		slope = 0;

	if (loss.classes > 0)
		return sqrt(1 - 1.0 / loss.classes);
	dperm_loss_block(loss, 1, &slope, &label, NULL, NULL);
	return fabs(slope);
}

/*
 * At the minimum, the noise in a gradient is to that as the noise in a score is to
 * the score, if all directions are alike. Of the d coordinates of a row, whose norm
 * is about 1, each has a mean square of 1/d. So the gradient at 0 has a norm of
 * about the slope times the correlation, divided by sqrt(d). Noise that is added to
 * the minimum, where curvatures do not damp it, counts as if it were in a gradient.
 */
double
dperm_noise_share(const DpermSetup *setup, const DpermCalibration *calibration)
{
	double		curvature = calibration->lambda;

	if (!dperm_setup_in_objective(setup))
		curvature += TYPICAL_CURVATURE * dperm_loss_bounds(setup->loss).trace / setup->dim;
	return dperm_noise_share_norm(setup, calibration) * curvature *
		sqrt(dperm_setup_row_dim(setup)) / (slope_at_zero(setup->loss) * TYPICAL_CORRELATION);
}
