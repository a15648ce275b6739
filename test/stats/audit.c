/*
 * audit.c: the privacy loss itself, maximised over small neighbouring tables.
 *
 * For the ideal output f of objective perturbation the log of the density ratio under two
 * neighbours D, D' is known in closed form,
 *
 *	(|b'| - |b|)/scale + log det A_D - log det A_D',
 *
 * and for output perturbation its supremum over f is |f*(D) - f*(D')|/scale. Both are
 * climbed over f, the row that differs and the rows in common, from many starts. What is
 * found never exceeds epsilon less the share of the release stage; it comes close to it
 * where the analysis is tight; and it exceeds it as soon as a constant is wrong.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/calibrate.h"
#include "unit/entropy.h"
#include "unit/problem.h"

#define ROWS_MAX 3
#define DIM_MAX 2
#define POINT_MAX ((ROWS_MAX + 2) * DIM_MAX)

/* What is attacked: the mechanism's constants, and the true loss. */
typedef struct Target
{
	DpermLoss	loss;
	bool		output;
	int			dim;
	int			rows;
	double		lambda;
	double		scale;
	double		allowed;		/* epsilon less the share of the release stage */
} Target;

/* A row from two free numbers: into the unit ball if it is outside. */
static void
ball(const double *from, int dim, double *row)
{
	double		length = dim == 1 ? fabs(from[0]) : hypot(from[0], from[1]);

	for (int j = 0; j < dim; j++)
		row[j] = from[j] / fmax(1, length);
}

/* Noise and Jacobian determinant that belong to output f. */
static void
explain(const Target *t, double a[][DIM_MAX], const double *f, double *b, double *det)
{
	double		xx = t->rows * t->lambda,
				yy = xx,
				xy = 0;

	for (int j = 0; j < t->dim; j++)
		b[j] = -t->rows * t->lambda * f[j];
	for (int i = 0; i < t->rows; i++)
	{
		double		margin = a[i][0] * f[0] + (t->dim > 1 ? a[i][1] * f[1] : 0);
		DpermLossAt at = dperm_loss_at(t->loss, margin);

		for (int j = 0; j < t->dim; j++)
			b[j] -= at.slope * a[i][j];
		xx += at.curve * a[i][0] * a[i][0];
		if (t->dim > 1)
		{
			xy += at.curve * a[i][0] * a[i][1];
			yy += at.curve * a[i][1] * a[i][1];
		}
	}
	*det = t->dim == 1 ? xx : xx * yy - xy * xy;
}

/* The minimiser of J. */
static void
minimise(const Target *t, double a[][DIM_MAX], double *f)
{
	Rows		rows = {.loss = t->loss, .dim = t->dim, .count = t->rows};
	double		flat[ROWS_MAX * DIM_MAX];
	double	   *chunk;
	static double moments_room[20000];
	static double room[100];
	DpermMatrix matrix;
	DpermProblem problem = {.dim = t->dim, .lambda = t->lambda, .goal = 1e-12};

	for (int i = 0; i < t->rows; i++)
		memcpy(flat + i * t->dim, a[i], sizeof(double) * t->dim);
	rows.data = flat;
	matrix = rows_matrix(&rows, &chunk, moments_room);
	problem.oracle = (DpermOracle) {dperm_matrix_eval, &matrix};
	memset(f, 0, sizeof(double) * t->dim);
	CHECK(dperm_newton(&problem, f, room) == DPERM_OK);
}

/* The privacy loss at a point: the rows in common, the two rows, f. */
static double
privacy_loss(const Target *t, const double *point)
{
	double		ours[ROWS_MAX][DIM_MAX];
	double		theirs[ROWS_MAX][DIM_MAX];
	const double *f = point + (t->rows + 1) * t->dim;
	double		b[DIM_MAX] = {0};
	double		b_theirs[DIM_MAX] = {0};
	double		det,
				det_theirs;

	for (int i = 0; i < t->rows; i++)
		ball(point + i * t->dim, t->dim, ours[i]);
	memcpy(theirs, ours, sizeof(ours));
	ball(point + t->rows * t->dim, t->dim, theirs[0]);
	if (t->output)
	{
		minimise(t, ours, b);
		minimise(t, theirs, b_theirs);
		return hypot(b[0] - b_theirs[0], b[1] - b_theirs[1]) / t->scale;
	}
	explain(t, ours, f, b, &det);
	explain(t, theirs, f, b_theirs, &det_theirs);
	return (hypot(b_theirs[0], b_theirs[1]) - hypot(b[0], b[1])) / t->scale +
		log(det / det_theirs);
}

/* Climb from a point by Nelder and Mead's simplex; returns the height. */
static double
climb(const Target *t, double *point, int free_numbers, double size, int steps)
{
	double		simplex[POINT_MAX + 1][POINT_MAX];
	double		height[POINT_MAX + 1];
	int			n = free_numbers;

	for (int i = 0; i <= n; i++)
	{
		memcpy(simplex[i], point, sizeof(double) * n);
		if (i > 0)
			simplex[i][i - 1] += size;
		height[i] = privacy_loss(t, simplex[i]);
	}
	for (int step = 0; step < steps; step++)
	{
		double		centre[POINT_MAX] = {0};
		double		trial[POINT_MAX];
		int			worst = 0,
					best = 0;
		double		found = 0;
		static const double factors[] = {1, 2, 0.5, -0.5};
		bool		better = false;

		for (int i = 1; i <= n; i++)
		{
			worst = height[i] < height[worst] ? i : worst;
			best = height[i] > height[best] ? i : best;
		}
		for (int i = 0; i <= n; i++)
			for (int j = 0; i != worst && j < n; j++)
				centre[j] += simplex[i][j] / n;
		for (int k = 0; k < 4 && !better; k++)
		{
			for (int j = 0; j < n; j++)
				trial[j] = centre[j] + factors[k] * (centre[j] - simplex[worst][j]);
			found = privacy_loss(t, trial);
			better = found > height[worst];
		}
		if (better)
		{
			memcpy(simplex[worst], trial, sizeof(trial));
			height[worst] = found;
			continue;
		}
		for (int i = 0; i <= n; i++)
			if (i != best)
			{
				for (int j = 0; j < n; j++)
					simplex[i][j] = (simplex[i][j] + simplex[best][j]) / 2;
				height[i] = privacy_loss(t, simplex[i]);
			}
	}
	for (int i = 1; i <= n; i++)
		if (height[i] > height[0])
		{
			height[0] = height[i];
			memcpy(simplex[0], simplex[i], sizeof(double) * n);
		}
	memcpy(point, simplex[0], sizeof(double) * n);
	return height[0];
}

/* A start: rows on the sphere or inside, f where margins meet a bend of the loss. */
static void
make_start(const Target *t, TestRandom *state, double *point)
{
	static const double corners[] = {1, -1, 1, -1, 0};
	double	   *f = point + (t->rows + 1) * t->dim;
	double		h = t->loss.kind == DPERM_LOSS_LOGISTIC ? 1 : t->loss.h;
	double		bends[] = {0, 1 - h, 1 + h, 1, -1, 10, 1 / (t->rows * t->lambda)};
	bool		on_sphere = test_below(state, 3) > 0;

	for (int i = 0; i <= t->rows; i++)
	{
		random_row(state, t->dim, point + i * t->dim);
		if (on_sphere && t->dim == 1)
			point[i] = corners[test_below(state, 5)];
		else if (on_sphere)
		{
			double		angle = test_below(state, 8) * atan(1);

			point[i * 2] = cos(angle);
			point[i * 2 + 1] = sin(angle);
		}
	}
	random_row(state, t->dim, f);
	for (int j = 0; j < t->dim; j++)
	{
		int			i = test_below(state, t->rows + 1);

		f[j] = (on_sphere ? point[i * t->dim + j] : f[j]) * bends[test_below(state, 7)] *
			(test_below(state, 2) ? 1 : 1 + 1e-9);
	}
}

/* The largest privacy loss that many climbs find. */
static double
attack(const Target *t, uint64_t seed, int starts)
{
	TestRandom	state = seed * 1000003 + 17;
	int			free_numbers = (t->rows + (t->output ? 1 : 2)) * t->dim;
	double		most = -INFINITY;

	for (int i = 0; i < starts; i++)
	{
		double		point[POINT_MAX] = {0};

		make_start(t, &state, point);
		most = fmax(most, privacy_loss(t, point));
		if (i % 4)
			continue;
		most = fmax(most, climb(t, point, free_numbers, 0.3, t->output ? 40 : 120));
		most = fmax(most, climb(t, point, free_numbers, 0.01, t->output ? 20 : 80));
	}
	return most;
}

/* The constants that the library gives. */
static Target
calibrated(const DpermSetup *s)
{
	DpermCalibration cal;
	const char *why;
	Target		t = {.loss = s->loss, .output = s->method == DPERM_METHOD_OUTPUT,
	.dim = s->dim, .rows = (int) s->rows};

	CHECK(dperm_calibrate(s, &cal, &why) == DPERM_OK);
	t.lambda = cal.lambda;
	t.scale = cal.noise_scale;
	t.allowed = s->epsilon - cal.eps_release;
	return t;
}

static const DpermLoss losses[] = {{DPERM_LOSS_LOGISTIC, 0}, {DPERM_LOSS_HUBER, 0.5},
{DPERM_LOSS_HUBER, 0.05}, {DPERM_LOSS_SMOOTH_HINGE, 0.5}};

/* Call something for every small setup of a method and analysis. */
static void
for_all(DpermMethod method, DpermAnalysis analysis, int starts,
		void (*check) (const DpermSetup *, int, uint64_t))
{
	static const double epsilons[] = {0.1, 1, 5};
	static const double lambdas[] = {0.01, 0.3, 3};
	uint64_t	seed = 1;

	for (int l = 0; l < 4; l++)
		for (int dim = 1; dim <= 2; dim++)
			for (int rows = 1; rows <= ROWS_MAX; rows++)
				for (int e = 0; e < 3; e++)
					for (int k = 0; k < 3; k++)
					{
						DpermSetup	s = {.loss = losses[l], .method = method, .analysis = analysis,
							.epsilon = epsilons[e], .lambda = lambdas[k], .rows = rows, .dim = dim
						};

						check(&s, starts, seed++);
					}
}

/* Nothing is found above what is allowed. */
static void
check_private(const DpermSetup *s, int starts, uint64_t seed)
{
	Target		t = calibrated(s);
	double		most = attack(&t, seed, starts);

	CHECK(most <= t.allowed + 1e-9);
	if (!(most <= t.allowed + 1e-9))
		fprintf(stderr, "loss %d h %g dim %d rows %d epsilon %g lambda %g: %g of %g\n",
				s->loss.kind, s->loss.h, s->dim, (int) s->rows, s->epsilon, s->lambda, most,
				t.allowed);
}

TEST(sharp_objective_is_private)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, 60, check_private);
}

TEST(paper_objective_is_private)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_PAPER, 60, check_private);
}

TEST(output_is_private)
{
	for_all(DPERM_METHOD_OUTPUT, DPERM_ANALYSIS_SHARP, 8, check_private);
}

/* Where the analysis is tight the search gets there. */
static void
check_tight(const DpermSetup *s, int starts, uint64_t seed)
{
	Target		t = calibrated(s);
	double		most;

	/* at the bend: both slopes 1 there, as long as |b| is in the way of neither */
	if (s->loss.kind != DPERM_LOSS_HUBER ||
		(t.rows * t.lambda * (1 - s->loss.h) < 1 && t.rows < 2))
		return;
	most = attack(&t, seed, starts);
	CHECK(most > 0.85 * t.allowed);
	if (s->dim == 1 && s->rows == 1 && t.rows * t.lambda * (1 - s->loss.h) > 1.01)
		CHECK(most > 0.999 * t.allowed);
}

TEST(sharp_objective_is_nearly_tight)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, 200, check_tight);
}

/* For a flat slope on both sides the minimisers are 2/(n Lambda) apart. */
TEST(output_is_tight)
{
	DpermSetup	s = {.loss = losses[1], .method = DPERM_METHOD_OUTPUT, .epsilon = 1, .lambda = 3};

	for (s.rows = 1; s.rows <= 3; s.rows++)
		for (s.dim = 1; s.dim <= 2; s.dim++)
		{
			Target		t = calibrated(&s);

			CHECK(attack(&t, (uint64_t) s.rows, 30) > 0.999 * t.allowed);
		}
}

/* Wrong constants, made here as a wrong calibration would. */
static void
check_faults(const DpermSetup *s, int starts, uint64_t seed)
{
	Target		good = calibrated(s);
	Target		t = good;
	double		c = dperm_loss_curvature(s->loss);
	double		release = s->epsilon - good.allowed;
	bool		within_reach = good.rows * good.lambda * (1 - s->loss.h) > 1.01;

	if (s->loss.kind != DPERM_LOSS_HUBER || s->dim > 1 || !within_reach)
		return;

	/* half the noise */
	t.scale = good.scale / 2;
	CHECK(attack(&t, seed, starts) > good.allowed + 1e-6);

	/* five hundredths less */
	t.scale = good.scale / 1.05;
	CHECK(attack(&t, seed, starts) > good.allowed + 1e-6);

	/* the slack forgotten */
	t.scale = 2 / good.allowed;
	CHECK(attack(&t, seed, starts) > good.allowed + 1e-6);

	/* c taken for half of what it is */
	t = good;
	t.lambda = fmax(s->lambda, c / 2 / (s->rows * expm1(0.1 * s->epsilon)));
	t.scale = 2 / (s->epsilon - release - log1p(c / 2 / (s->rows * t.lambda)));
	if (t.rows * t.lambda * (1 - s->loss.h) > 1.01)
		CHECK(attack(&t, seed, starts) > good.allowed + 1e-6);

	/* half of the regulariser that was paid for */
	t = good;
	t.lambda = good.lambda / 2;
	if (t.rows * t.lambda * (1 - s->loss.h) > 1.01)
		CHECK(attack(&t, seed, starts) > good.allowed + 1e-6);
}

TEST(finds_planted_faults)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, 200, check_faults);
}

/* In the paper's analysis half of the slack is spare, so only gross faults show. */
TEST(finds_planted_faults_in_the_paper)
{
	DpermSetup	s = {.loss = losses[1], .analysis = DPERM_ANALYSIS_PAPER, .epsilon = 1,
	.lambda = 30, .rows = 1, .dim = 1};
	Target		t = calibrated(&s);

	t.scale /= 2;
	CHECK(attack(&t, 1, 200) > t.allowed + 1e-3);
	t.scale = 2 / t.allowed;
	CHECK(attack(&t, 1, 200) > t.allowed + 1e-3);
	s.method = DPERM_METHOD_OUTPUT;
	t = calibrated(&s);
	t.scale /= 1.05;
	CHECK(attack(&t, 1, 40) > t.allowed + 1e-3);
}

int
main(void)
{
	RUN(sharp_objective_is_private);
	RUN(paper_objective_is_private);
	RUN(output_is_private);
	RUN(sharp_objective_is_nearly_tight);
	RUN(output_is_tight);
	RUN(finds_planted_faults);
	RUN(finds_planted_faults_in_the_paper);
	return test_report();
}
