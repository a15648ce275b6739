/*
 * mechanisms.c: objective perturbation, whose noise tilts the objective; output
 * perturbation, whose noise is added to the minimiser; and their table
 * (docs/guarantee.md, "Objective perturbation" and "Output perturbation").
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/gaussian.h"

/* More than the relative rounding error of a slack and of its derivative. */
#define ROUNDING 1e-13

/* The search for the tangent: its relative precision, and the most steps. */
#define TANGENT_PRECISION 1e-13
#define TANGENT_STEPS 60

/* The share of epsilon that the slack may always take, in the sharp analysis. */
#define SLACK_SHARE 0.1

/* The relative precision of the search for a lambda. */
#define LAMBDA_PRECISION 1e-12

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

/* Is the noise in the objective? */
static bool
in_objective(const DpermSetup *s)
{
	return dperm_mechanism_entry((int) s->method)->in_objective;
}

/* The coordinates whose noise is drawn together. */
static int
drawn_dim(const DpermSetup *s)
{
	return in_objective(s) ? dperm_setup_row_dim(s) : s->dim;
}

/* The shape of what is drawn. */
static const DpermNoise *
drawn_shape(const DpermSetup *s)
{
	return in_objective(s) ? s->noise : NULL;
}

/* The mean of the noise's squared norm at scale 1. */
static double
spread(const DpermSetup *s)
{
	int			dim = drawn_dim(s);

	return s->dim / dim * dperm_noise_spread(dperm_setup_law(s), drawn_shape(s), dim);
}

double
dperm_mechanism_tail(const DpermSetup *s, double scale)
{
	int			dim = drawn_dim(s);

	return dperm_noise_tail(dperm_setup_law(s), drawn_shape(s), dim, s->dim / dim, scale);
}

/*
 * The mean of |b| is at most its root mean square, and in the objective b moves
 * the minimum by at most |b|/(n lambda).
 */
double
dperm_mechanism_effect(const DpermSetup *s, const DpermCalibration *cal)
{
	return sqrt(spread(s)) * cal->noise_scale / (in_objective(s) ? s->rows * cal->lambda : 1);
}

void
dperm_mechanism_draw(DpermEntropy *e, const DpermSetup *s, const DpermCalibration *cal,
					 double *noise)
{
	int			dim = drawn_dim(s);

	for (int i = 0; i < s->dim; i += dim)
		dperm_noise_draw(e, dperm_setup_law(s), drawn_shape(s), dim, cal->noise_scale, noise + i);
}

/*
 * A proxy for the excess risk at a lambda, from public quantities only (section
 * "The criterion"): what the noise adds to the objective, and the cost of the
 * regulariser for weights of a typical norm.
 */
static double
objective_risk(const DpermSetup *s, double lambda)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);
	double		left = s->epsilon - dperm_slack(s, lambda, s->epsilon).slack;
	double		typical = dperm_calibrate_typical(s);
	double		scale;

	if (!(left > 0))
		return INFINITY;

	/* close enough here: the noise that two means at that distance need */
	scale = dperm_claim_rows_apart(s->neighbours) *
			(s->delta > 0 ? loss.norm * dperm_gaussian_sigma(left, s->delta / loss.directions) :
							loss.reach / left);
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
	least = s->slack == 0 ? dperm_calibrate_best_lambda(s) : INFINITY;
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

	if (epsilon - slack > 0)
	{
		out->lambda = lambda;
		out->claim.shares[DPERM_SHARE_SLACK] = slack;
		out->claim.shares[DPERM_SHARE_NOISE] = epsilon - slack;
	}
	else
	{
		out->lambda = c / (s->rows * expm1(epsilon / 4));
		out->claim.shares[DPERM_SHARE_SLACK] = epsilon / 2;
		out->claim.shares[DPERM_SHARE_NOISE] = epsilon / 2;
	}
}

/* A lambda that is too small is raised, so every lambda is valid. */
static const char *
check_objective(const DpermSetup *s)
{
	if (s->analysis == DPERM_ANALYSIS_PAPER && s->delta > 0)
		return "the analysis of the paper does not support delta";
	if (s->analysis == DPERM_ANALYSIS_PAPER && s->unit == DPERM_UNIT_PERSON)
		return "the analysis of the paper supports rows, not persons";
	if (s->analysis == DPERM_ANALYSIS_PAPER &&
		dperm_loss_entry((int) s->loss.kind)->label != DPERM_LABEL_TWO)
		return "the analysis of the paper supports labels of two classes only";
	return NULL;
}

/*
 * The scale of the noise for its share of epsilon (sections "Objective
 * perturbation" and "Gaussian noise").
 */
static double
objective_scale(const DpermSetup *s, const DpermCalibration *cal)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);
	double		epsilon = cal->claim.shares[DPERM_SHARE_NOISE];

	if (s->delta == 0)
		return loss.reach * dperm_claim_rows_apart(s->neighbours) / epsilon;
	return loss.norm * dperm_gaussian_objective_sigma(s->neighbours, s->unit, epsilon,
													  dperm_calibrate_delta(s->delta) / loss.directions,
													  cal->floor);
}

static void
spend_objective(const DpermSetup *s, DpermCalibration *out)
{
	if (s->analysis == DPERM_ANALYSIS_SHARP)
		sharp(s, out);
	else
		paper(s, out);
	out->noise_scale = objective_scale(s, out);
}

/*
 * The noise that leads to the same output on two neighbouring tables differs by
 * at most two slopes: the bounds have to hold for both. The rounding of the
 * noise, and of the tilt, acts like a gradient.
 */
static double
bound_objective(const DpermSetup *s, DpermCalibration *out)
{
	double		tail = dperm_mechanism_tail(s, out->noise_scale) +
		2 * dperm_loss_bounds(s->loss).norm;
	double		largest;

	dperm_calibrate_solver(s, tail, out);
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

/* Lambda must be large enough: nothing raises it here. */
static const char *
check_output(const DpermSetup *s)
{
	return s->lambda >= DPERM_LAMBDA_MIN ? NULL : DPERM_LAMBDA_TOO_SMALL;
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

	return s->delta > 0 ? reach * dperm_gaussian_sigma(epsilon, delta) : reach / epsilon;
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
	double		typical = dperm_calibrate_typical(s);

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
	double		tail = dperm_mechanism_tail(s, out->noise_scale) +
		2 * dperm_loss_bounds(s->loss).norm / (s->rows * out->lambda);
	double		largest;

	dperm_calibrate_solver(s, 0, out);
	largest = out->weight_bound + out->gradient_bound / out->lambda + tail;
	out->residual = out->gradient_bound / out->lambda + dperm_noise_rounding(s->dim) * tail +
		2 * DBL_EPSILON * (largest + s->prior_norm);
	return largest;
}

/* The noise is in the weights as it is. */
static bool
output_deviations(const DpermSetup *s, const DpermCalibration *cal, double *each)
{
	dperm_noise_deviations(dperm_setup_law(s), NULL, s->dim, each);
	for (int i = 0; i < s->dim; i++)
		each[i] *= cal->noise_scale;
	return true;
}

static const DpermMechanism mechanisms[DPERM_METHOD_COUNT] = {
	[DPERM_METHOD_OBJECTIVE] = {
		.name = "objective",
		.description = "objective perturbation",
		.in_objective = true,
		.check = check_objective,
		.risk = objective_risk,
		.spend = spend_objective,
		.bound = bound_objective,
		.deviations = objective_deviations
	},
	[DPERM_METHOD_OUTPUT] = {
		.name = "output",
		.description = "output perturbation",
		.check = check_output,
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

const char *
dperm_mechanism_name(int method)
{
	return mechanisms[method].name;
}

bool
dperm_mechanism_parse(const char *name, DpermMethod *method)
{
	for (int i = 0; i < DPERM_METHOD_COUNT; i++)
		if (strcmp(name, mechanisms[i].name) == 0)
		{
			*method = (DpermMethod) i;
			return true;
		}
	return false;
}
