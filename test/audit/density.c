/*
 * density.c: the privacy loss itself, maximised over the values of small
 * neighbouring tables.
 *
 * Values go through the library's encoder, its calibration gives Lambda and the
 * scale of the noise, and its solver the minimisers. For the ideal output f of
 * objective perturbation the log of the density ratio under two neighbours D,
 * D' is then known in closed form,
 *
 *	(N(b') - N(b))/scale + log det A_D - log det A_D',
 *
 * where N is the norm of the noise: |b|, or that of the shapes of the columns
 * (unit/shaped.h) with the groups and shares that the library plans; and for
 * output perturbation its supremum over f is |f*(D) - f*(D')|/scale. Both are
 * climbed over f, the row that differs and the rows in common, from many
 * starts. What is found never exceeds epsilon minus the share of the release
 * stage; it comes close to it where the analysis is tight; and it exceeds it as
 * soon as a constant is wrong. The closed form holds for a solver that
 * minimises what it should: at the top of each climb the library, given b, has
 * to reproduce f.
 *
 * The last line of the output has the highest share of the claim, and whether
 * it is a fault.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include <stdlib.h>

#include "audit/target.h"
#include "core/mechanism/calibrate.h"
#include "unit/shaped.h"

#define BALL_DIM_MAX 4

/* The highest share of the claim, of all and by space and method. */
static double highest;
static char highest_at[200] = "nowhere";
static double shares[3][SPACES];	/* objective, output, objective with noise in shapes */
static double person_shares[3]; /* the same for persons */
static double other_shares[OTHERS][2];	/* numbers and several classes: objective, output */

/* The norm of the noise: of each class by itself, added up. */
static double
noise_norm(const Target *t, const double *b)
{
	double		sum = 0;

	for (int k = 0; k < t->blocks; k++)
	{
		Row			part;

		for (int j = 0; j < t->space->dim; j++)
			part[j] = b[j * t->blocks + k];
		sum += shaped_norm(t->noise, t->space->dim, part);
	}
	return sum;
}

/*
 * The privacy loss at a point: what is behind the rows in common and the two
 * rows; f.
 */
static double
privacy_loss(const void *arg, const double *point)
{
	const Target *t = arg;
	Row			ours[ROWS_MAX];
	Row			theirs[ROWS_MAX];
	Row			b;
	Row			b_theirs;
	double		ratio;

	tables_of(t, point, ours, theirs);
	if (t->output)
	{
		minimise(t, ours, NULL, b);
		minimise(t, theirs, NULL, b_theirs);
		for (int j = 0; j < t->dim; j++)
			b[j] -= b_theirs[j];
		return norm_of(t->dim, b) / t->scale;
	}
	ratio = explain(t, ours, output_of(t, point), b) - explain(t, theirs, output_of(t, point), b_theirs);
	return (noise_norm(t, b_theirs) - noise_norm(t, b)) / t->scale + ratio;
}

/* The largest privacy loss that many climbs find, in one direction. */
static double
attack(const Target *t, uint64_t seed, int starts)
{
	TestRandom	state = seed * 1000003 + 17;
	int			free_numbers = inputs_of(t) + (t->output ? 0 : t->dim);
	double		most = -INFINITY;

	for (int i = 0; i < starts; i++)
	{
		double		point[POINT_MAX] = {0};

		make_start(t, &state, point);
		most = fmax(most, privacy_loss(t, point));
		if (i % 4)
			continue;
		most = fmax(most, simplex_climb(privacy_loss, t, point, free_numbers, 0.3, t->output ? 40 : 120));
		most = fmax(most, simplex_climb(privacy_loss, t, point, free_numbers, 0.01, t->output ? 20 : 80));
		if (!t->output)
			check_solver(t, point);
	}
	return most;
}

/*
 * Call something for every small setup of a method and analysis. Noise in
 * shapes is for spaces where it is better than the ball, and leaves the slack
 * to the criterion; the ball is for the smaller ones, where the search is
 * quick.
 */
static void
for_all(DpermMethod method, DpermAnalysis analysis, DpermNeighbours neighbours, bool shaped, int starts,
		void (*check) (const DpermSetup *, int, int, uint64_t))
{
	static const double epsilons[] = {0.1, 1, 5};
	static const double lambdas[] = {0.01, 0.3, 3};
	bool		all_setups = test_rounds(4) == 4;	/* or a quarter of them */
	uint64_t	seed = 1;

	for (int l = 0; l < 4; l++)
		for (int space = 0; space < SPACES; space++)
			for (int rows = 1; rows <= UNITS_MAX; rows++)
				for (int e = 0; e < 3; e++)
					for (int k = 0; k < 3; k++)
					{
						DpermSetup	s = {.loss = losses[l], .method = method, .analysis = analysis,
							.neighbours = neighbours, .epsilon = epsilons[e], .lambda = lambdas[k], .rows = rows,
							.dim = spaces[space].dim, .noise = shaped ? spaces[space].noise : NULL,
							.slack = shaped ? 0 : 0.1
						};

						if (shaped ? s.noise == NULL : s.dim > BALL_DIM_MAX)
							continue;
						if (seed % 4 == 0 || all_setups)
							check(&s, space, starts, seed);
						seed++;
					}
}

/* Nothing is found above what is allowed. */
static void
check_target(const DpermSetup *s, Target t, int starts, uint64_t seed)
{
	double		most = attack(&t, seed, starts);
	bool		person = s->unit == DPERM_UNIT_PERSON;
	double	   *share = s->loss.kind > DPERM_LOSS_SMOOTH_HINGE ? &other_shares[s->loss.classes ? 1 : s->loss.h < 0.1 ? 2 : 0][t.output] :
		person ? &person_shares[t.noise ? 2 : t.output] : &shares[t.noise ? 2 : t.output][t.space - spaces];

	t.reverse = true;
	if (s->neighbours == DPERM_NEIGHBOURS_REMOVE)
		most = fmax(most, attack(&t, seed, starts));
	CHECK(most <= t.allowed + 1e-9);
	*share = fmax(*share, most / t.allowed);
	if (most / t.allowed > highest)
	{
		highest = most / t.allowed;
		snprintf(highest_at, sizeof(highest_at), "%s, %s, %s noise, %s, %s, n %d, %s of %d, epsilon %g",
				 dperm_mechanism_name(s->method), dperm_claim_neighbours_name(s->neighbours), t.noise ? "shaped" : "ball", dperm_loss_name(s->loss.kind), t.space->name,
				 t.units, dperm_claim_unit_name(s->unit), t.own, s->epsilon);
	}
}

static void
check_private(const DpermSetup *s, int space, int starts, uint64_t seed)
{
	check_target(s, calibrated(s, space), starts, seed);
}

/* Call something for setups for persons, where most of epsilon may be slack. */
static void
for_persons(DpermMethod method, bool shaped, int starts, void (*check) (const DpermSetup *, Target, int, uint64_t))
{
	static const double epsilons[] = {0.1, 1, 5};
	static const double lambdas[] = {0.01, 3};
	static const double slacks[] = {0.9, 0.1, 0.5};
	uint64_t	seed = 5000;

	for (int l = 0; l < 4; l++)
		for (int space = 0; space < SPACES; space++)
			for (int e = 0; e < 3; e++)
				for (int k = 0; k < 4; k++)
				{
					DpermSetup	s = {.loss = losses[l], .method = method, .neighbours = (DpermNeighbours) (k % 2),
						.unit = DPERM_UNIT_PERSON, .epsilon = epsilons[e], .lambda = lambdas[k / 2], .rows = 1 + (k + e) % 2,
						.dim = spaces[space].dim, .noise = shaped ? spaces[space].noise : NULL,
						.slack = method == DPERM_METHOD_OUTPUT ? 0 : slacks[(l + e + k) % 3]
					};
					Target		t;

					if (shaped ? s.noise == NULL : s.dim > BALL_DIM_MAX)
						continue;
					t = calibrated(&s, space);
					take_rows(&t, 2 + (int) (seed % 2));
					check(&s, t, starts, seed++);
				}
}

/* Persons with rows of different directions. */
TEST(persons_are_private)
{
	for_persons(DPERM_METHOD_OBJECTIVE, false, 12, check_target);
	for_persons(DPERM_METHOD_OBJECTIVE, true, 8, check_target);
	for_persons(DPERM_METHOD_OUTPUT, false, 4, check_target);
}

/* How often wrong constants for persons were found. */
static int	slack_found;
static int	weights_found;

/* The slack of a row, where it makes a difference; rows of weight 1 each. */
static void
check_person_faults(const DpermSetup *s, Target t, int starts, uint64_t seed)
{
	Target		good = t;
	double		ratio = dperm_loss_bounds(s->loss).curvature / (t.units * t.lambda);
	double		slack = dperm_slack_any_slope(t.dim, ratio);
	double		left = t.allowed - log1p(ratio);

	if (s->loss.kind != DPERM_LOSS_HUBER || t.units > 1 || s->epsilon != 5)
		return;
	if (t.dim > 1 && slack > 2.5)
	{
		t.scale = dperm_claim_rows_apart(s->neighbours) / left;
		slack_found += attack(&t, seed, starts) > t.allowed + 1e-3;
	}
	t = good;
	t.weight = 1;
	weights_found += attack(&t, seed, starts) > t.allowed + 1e-3;
}

TEST(finds_wrong_constants_for_persons)
{
	for_persons(DPERM_METHOD_OBJECTIVE, false, 24, check_person_faults);
	for_persons(DPERM_METHOD_OBJECTIVE, true, 24, check_person_faults);
	CHECK(slack_found >= 5);
	CHECK(weights_found >= 20);
}

TEST(sharp_objective_is_private)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REPLACE, false, 40, check_private);
}

TEST(paper_objective_is_private)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_PAPER, DPERM_NEIGHBOURS_REPLACE, false, 20, check_private);
}

TEST(shaped_objective_is_private)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REPLACE, true, 16, check_private);
}

TEST(output_is_private)
{
	for_all(DPERM_METHOD_OUTPUT, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REPLACE, false, 4, check_private);
}

/* A row that is removed, and one that is added. */
TEST(removing_is_private)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REMOVE, false, 4, check_private);
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REMOVE, true, 4, check_private);
	for_all(DPERM_METHOD_OUTPUT, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REMOVE, false, 1, check_private);
}

/*
 * Numbers, and several classes: rows and persons, both relations, in the ball
 * and in shapes. Most of epsilon may be slack.
 */
static void
check_others(DpermMethod method, int space, uint64_t seed, int starts)
{
	static const double epsilons[] = {0.3, 1, 5};
	static const double lambdas[] = {0.01, 1, 5};
	DpermLoss	loss = other_losses[seed % OTHERS];
	DpermSetup	s = {.loss = loss, .method = method, .neighbours = (DpermNeighbours) (seed / 3 % 2), .unit = (DpermUnit) (seed / 6 % 2),
		.epsilon = epsilons[seed / 5 % 3], .lambda = lambdas[seed / 7 % 3], .rows = 1 + (int) (seed / 4 % 2),
		.dim = spaces[space].dim * dperm_loss_blocks(loss), .slack = method == DPERM_METHOD_OUTPUT ? 0 : 0.9,
		.noise = method == DPERM_METHOD_OBJECTIVE && seed / 2 % 2 ? spaces[space].noise : NULL};
	Target		t;

	if (s.dim > DIM_MAX || spaces[space].dim > BALL_DIM_MAX)
		return;
	t = calibrated(&s, space);
	if (s.unit == DPERM_UNIT_PERSON)
		take_rows(&t, 2);
	check_target(&s, t, starts, seed);
}

TEST(other_labels_are_private)
{
	for (int space = 0; space < SPACES; space++)
		for (uint64_t i = 0; i < 40; i++)
		{
			check_others(DPERM_METHOD_OBJECTIVE, space, 40 * (uint64_t) space + i, 24);
			if (i % 8 == 0)
				check_others(DPERM_METHOD_OUTPUT, space, 40 * (uint64_t) space + i / 8, 4);
		}
	CHECK(other_shares[0][0] > 0.99 && other_shares[1][0] > 0.95);
}

TEST(solver_minimises_what_it_should)
{
	CHECK(disagreement <= DISAGREEMENT_MAX);
}

/* Where the analysis is tight, the search attains the claim. */
static void
check_tight(const DpermSetup *s, int space, int starts, uint64_t seed)
{
	Target		t = calibrated(s, space);
	double		most;

	/*
	 * at the bend: both slopes 1 there, as long as |b| is in the way of neither
	 */
	if (s->loss.kind != DPERM_LOSS_HUBER || t.units * t.lambda * (1 - s->loss.h) < 1.01)
		return;
	most = attack(&t, seed, starts);
	CHECK(most > (t.rows == 1 ? 0.9999 : 0.8) * t.allowed);

	/* a row that is added costs no slack */
	t.reverse = true;
	if (t.rows == 1 && s->neighbours == DPERM_NEIGHBOURS_REMOVE)
		CHECK(attack(&t, seed, starts) > 0.9999 / t.scale);
}

TEST(sharp_objective_is_nearly_tight)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REPLACE, false, 80, check_tight);
}

TEST(shaped_objective_is_nearly_tight)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REPLACE, true, 40, check_tight);
}

TEST(removing_is_nearly_tight)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REMOVE, false, 20, check_tight);
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REMOVE, true, 24, check_tight);
}

/*
 * For a flat slope on both sides the minimisers are 2/(n Lambda) apart, or 1/(n
 * Lambda) if one row is empty.
 */
TEST(output_is_tight)
{
	DpermSetup	s = {.loss = losses[1], .method = DPERM_METHOD_OUTPUT, .epsilon = 1, .lambda = 3,
	.rows = 1};

	for (int i = 0; i < 2 * SPACES; i++)
	{
		int			space = i / 2;
		Target		t;

		s.neighbours = (DpermNeighbours) (i % 2);
		s.dim = spaces[space].dim;
		t = calibrated(&s, space);
		CHECK(attack(&t, (uint64_t) space + 1, 30) > 0.9999 * t.allowed);
	}
}

/* Wrong constants, made here as a wrong calibration would. */
static void
check_faults(const DpermSetup *s, int space, int starts, uint64_t seed)
{
	Target		good = calibrated(s, space);
	Target		t = good;
	double		c = dperm_loss_bounds(s->loss).curvature;
	double		release = s->epsilon - good.allowed;

	if (s->loss.kind != DPERM_LOSS_HUBER || s->rows > 1 || good.lambda * (1 - s->loss.h) < 1.01)
		return;

	/* two hundredths less noise */
	t.scale = good.scale / 1.02;
	CHECK(attack(&t, seed, starts) > good.allowed + 1e-6);

	/* the slack forgotten */
	t.scale = 2 / good.allowed;
	CHECK(attack(&t, seed, starts) > good.allowed + 1e-6);

	/* c taken as half its value */
	t = good;
	t.lambda = fmax(s->lambda, c / 2 / expm1(0.1 * s->epsilon));
	t.scale = 2 / (s->epsilon - release - log1p(c / 2 / t.lambda));
	if (t.lambda * (1 - s->loss.h) > 1.01)
		CHECK(attack(&t, seed, starts) > good.allowed + 1e-6);

	/* half of the regulariser that was paid for */
	t = good;
	t.lambda = good.lambda / 2;
	if (t.lambda * (1 - s->loss.h) > 1.01)
		CHECK(attack(&t, seed, starts) > good.allowed + 1e-6);
}

TEST(finds_wrong_constants)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REPLACE, false, 80, check_faults);
}

/*
 * The constant of rows that are removed, where they are replaced; and two
 * hundredths less noise where they are removed.
 */
static void
check_wrong_relation(const DpermSetup *s, int space, int starts, uint64_t seed)
{
	Target		t = calibrated(s, space);

	if (s->loss.kind != DPERM_LOSS_HUBER || s->rows > 1 || s->epsilon != 1 || t.lambda * (1 - s->loss.h) < 1.01)
		return;
	t.neighbours = DPERM_NEIGHBOURS_REPLACE;
	CHECK(attack(&t, seed, starts) > t.allowed + 1e-3);
	t.neighbours = DPERM_NEIGHBOURS_REMOVE;
	t.scale /= 1.02;
	CHECK(attack(&t, seed, starts) > t.allowed + 1e-6);
}

TEST(finds_the_constant_of_the_other_relation)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REMOVE, false, 20, check_wrong_relation);
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REMOVE, true, 24, check_wrong_relation);
}

/* Is more than the claim found with wrong shapes or shares? */
static bool
is_found(Target t, const DpermShape *shapes, const DpermNoiseGroup *groups, uint64_t seed, int starts)
{
	DpermNoise	wrong = *t.noise;

	wrong.shapes = (DpermShape *) shapes;
	wrong.groups = (DpermNoiseGroup *) groups;
	t.noise = &wrong;
	return attack(&t, seed, starts) > t.allowed + 1e-6;
}

/* Wrong shapes and shares, made here as a wrong plan would. */
static void
check_shaped_faults(const DpermSetup *s, int space, int starts, uint64_t seed)
{
	Target		t = calibrated(s, space);
	DpermShape	shapes[BLOCKS_MAX + 1];
	DpermNoiseGroup groups[BLOCKS_MAX + 1];
	Target		off = t;

	if (s->loss.kind != DPERM_LOSS_HUBER || s->rows > 1 || s->epsilon != 1 || t.lambda * (1 - s->loss.h) < 1.01)
		return;
	off.scale = t.scale / 1.02;
	CHECK(attack(&off, seed, starts) > t.allowed + 1e-6);

	/*
	 * each radius a little too small: the largest of a group counts, so each by
	 * itself shows
	 */
	for (int i = 0; i < t.noise->shape_count; i++)
	{
		memcpy(shapes, t.noise->shapes, sizeof(DpermShape) * (size_t) t.noise->shape_count);
		shapes[i].radius /= 1.05;
		CHECK(is_found(t, shapes, t.noise->groups, seed, starts));
	}

	/* and so with shares: they add up to more than 1 */
	for (int i = 0; i < t.noise->group_count; i++)
	{
		memcpy(groups, t.noise->groups, sizeof(DpermNoiseGroup) * (size_t) t.noise->group_count);
		groups[i].share *= 1.05;
		CHECK(is_found(t, t.noise->shapes, groups, seed, starts));
	}
}

TEST(finds_wrong_shapes)
{
	for_all(DPERM_METHOD_OBJECTIVE, DPERM_ANALYSIS_SHARP, DPERM_NEIGHBOURS_REPLACE, true, 80, check_shaped_faults);
}

/*
 * In the paper's analysis half of the slack is spare, so only gross faults
 * show.
 */
TEST(finds_wrong_constants_of_the_paper)
{
	DpermSetup	s = {.loss = losses[1], .analysis = DPERM_ANALYSIS_PAPER, .epsilon = 1,
	.lambda = 30, .rows = 1, .dim = 1};
	Target		t = calibrated(&s, 0);

	t.scale /= 2;
	CHECK(attack(&t, 1, 80) > t.allowed + 1e-3);
	t.scale = 2 / t.allowed;
	CHECK(attack(&t, 1, 80) > t.allowed + 1e-3);
	s.method = DPERM_METHOD_OUTPUT;
	t = calibrated(&s, 0);
	t.scale /= 1.02;
	CHECK(attack(&t, 1, 40) > t.allowed + 1e-3);
}

int
main(void)
{
	int			result;

	test_run("prepare_spaces", prepare_spaces);
	result = test_main();
	for (int i = 0; i < SPACES; i++)
		printf("%s (d = %d, %d groups): objective %.6f, output %.6f, in shapes %.6f\n", spaces[i].name, spaces[i].dim,
			   spaces[i].noise ? spaces[i].noise->group_count : 0, shares[0][i], shares[1][i], shares[2][i]);
	printf("persons: objective %.6f, output %.6f, in shapes %.6f; the slack of a row found %d times, forgotten weights %d times\n",
		   person_shares[0], person_shares[1], person_shares[2], slack_found, weights_found);
	for (int i = 0; i < OTHERS; i++)
		printf("%s, h %g, %d classes: objective %.6f, output %.6f\n", dperm_loss_name(other_losses[i].kind), other_losses[i].h,
			   other_losses[i].classes, other_shares[i][0], other_shares[i][1]);
	printf("the solver comes back to within %.1e\n", disagreement);
	if (disagreement > DISAGREEMENT_MAX)
		printf("note solver off\n");
	printf("found %.6f %s (%s)\n", highest,
		   highest > 1 + 1e-6 || disagreement > DISAGREEMENT_MAX ? "fault" : "nothing", highest_at);
	return result;
}
