/*
 * divergence.c: the delta of Gaussian noise itself, maximised over the values
 * of small neighbouring tables.
 *
 * What (epsilon, delta) claims is a bound on the integral of max(0, p -
 * e^epsilon p') over outputs, p and p' being the densities of the ideal output
 * on two neighbouring tables. As for pure epsilon (density.c) values go through
 * the library's encoder, and Lambda, deviations and minimisers are the
 * library's. The integral is computed for one table after the other and climbed
 * over the values of all rows:
 *
 *	one weight			b is a monotone function of f, so intervals of f have normal probabilities. The intervals where
 *						p > e^epsilon p' are looked for; whichever are missed, what is found is no more than the truth
 *	two or three		along lines, by midpoints between the bends of the loss, and over lines by a sum
 *	output perturbation	normal laws around two minimisers: a closed form
 *
 * What is found never exceeds delta; for a row that is removed it comes close
 * to it; and it exceeds it as soon as a constant is wrong. The last line of the
 * output has the highest share of the claim, and whether it is a fault.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include "audit/charge_share.h"
#include "audit/deltas.h"
#include "audit/sigma.h"
#include "audit/target.h"
#include "core/privacy/composition.h"

/*
 * The highest share of delta, of all and by relation, method and number of
 * weights.
 */
static double highest;
static double charged_share;
static char highest_at[200] = "nowhere";
static double shares[2][2][DIVERGENCE_DIM_MAX];
static double person_shares[2][DIVERGENCE_DIM_MAX];
static double other_shares[OTHERS][2];	/* numbers and several classes: objective, output */

/* The largest delta that some climbs find, in one direction. */
static double
attack(const Target *t, uint64_t seed, int starts, int steps)
{
	TestRandom	state = seed * 1000003 + 17;
	int			free_numbers = inputs_of(t);
	double		best[POINT_MAX] = {0};
	double		most = -INFINITY;

	for (int i = 0; i < starts; i++)
	{
		double		point[POINT_MAX] = {0};
		double		found;

		make_start(t, &state, point);
		found = delta_at(t, point);
		if (found > most)
		{
			most = found;
			memcpy(best, point, sizeof(best));
		}
		if (i % 4 || steps == 0)
			continue;
		found = simplex_climb(delta_at, t, point, free_numbers, 0.3, steps);
		if (found > most)
		{
			most = found;
			memcpy(best, point, sizeof(best));
		}
	}
	if (!t->output)
		check_solver(t, best);
	return exact_delta(t, best);
}

/* How much is tried: the more weights, the longer it takes. */
static int
starts_of(const Target *t)
{
	return t->dim == 1 ? 12 : t->dim == 2 || t->output ? 8 : 4;
}

static int
steps_of(const Target *t)
{
	return t->output ? 20 : t->dim == 1 ? 40 : t->dim == 2 ? 12 : 0;
}

/* The largest delta, in both directions if a row is removed. */
static double
attack_both(Target *t, uint64_t seed)
{
	double		most;

	t->reverse = false;
	most = attack(t, seed, starts_of(t), steps_of(t));
	t->reverse = true;
	if (t->neighbours == DPERM_NEIGHBOURS_REMOVE)
		most = fmax(most, attack(t, seed, starts_of(t), steps_of(t)));
	return most;
}

/* The margin for quadrature. */
static double
room_of(const Target *t)
{
	return t->output || t->dim == 1 ? 1e-7 : QUADRATURE;
}

/* Nothing is found above delta; a person has two rows or three. */
static void
check_private(const DpermSetup *s, int space, uint64_t seed)
{
	Target		t = calibrated(s, space);
	bool		person = s->unit == DPERM_UNIT_PERSON;
	double	   *share = s->loss.kind > DPERM_LOSS_SMOOTH_HINGE ? &other_shares[s->loss.classes ? 1 : s->loss.h < 0.1 ? 2 : 0][t.output] :
		person ? &person_shares[t.neighbours][t.output ? 0 : t.dim - 1] :
		&shares[t.neighbours][t.output][t.output ? 0 : t.dim - 1];
	double		most;

	if (person)
		take_rows(&t, 2 + (int) (seed % 2));
	most = attack_both(&t, seed);

	CHECK(most <= t.delta * (1 + room_of(&t)));
	*share = fmax(*share, most / t.delta);
	if (most / t.delta / (1 + room_of(&t)) > highest)
	{
		highest = most / t.delta / (1 + room_of(&t));
		snprintf(highest_at, sizeof(highest_at), "%s, %s, %s, %s, n %d, %s, epsilon %g, delta %g", dperm_mechanism_name(s->method),
				 dperm_claim_neighbours_name(s->neighbours), dperm_loss_name(s->loss.kind), t.space->name, t.units, dperm_claim_unit_name(s->unit), s->epsilon, s->delta);
	}
}

/* A setup for a seed: every number of each kind comes in turn. */
static DpermSetup
any_setup(int space, DpermMethod method, DpermNeighbours neighbours, uint64_t seed)
{
	static const double epsilons[] = {0.1, 1, 3};
	static const double deltas[] = {1e-6, 1e-3, 0.05, 1e-10};
	static const double lambdas[] = {0.01, 1, 10, 1000, 3};
	static const double slacks[] = {0.1, 0, 0.9, 0.1, 0.5, 0, 0.1};
	int			dim = spaces[space].dim;

	return (DpermSetup) {
		.loss = losses[seed % 4], .method = method, .neighbours = neighbours, .epsilon = epsilons[seed % 3],
		.delta = deltas[seed / 2 % 4], .lambda = lambdas[seed % 5], .rows = 1 + (int) (seed / 3 % 3), .dim = dim,
		.noise = method == DPERM_METHOD_OBJECTIVE ? spaces[space].gaussian : NULL,

		/* a large slack makes densities steep, which costs steps */
		.slack = dim == 1 ? slacks[seed % 7] : dim == 2 && seed % 2 ? 0.3 : 0.1
	};
}

/* Both relations and all spaces of so many weights. */
static void
check_spaces(DpermMethod method, DpermUnit unit, int dim, int setups)
{
	uint64_t	seed = 100 * (uint64_t) dim;

	if (setups > 4)
		setups = test_rounds(setups);
	for (int space = 0; space < SPACES; space++)
		for (int i = 0; i < 2 * setups; i++)
			if (spaces[space].dim == dim)
			{
				DpermSetup	s = any_setup(space, method, (DpermNeighbours) (i % 2), seed += i % 2 ? 0 : 1);

				s.unit = unit;
				check_private(&s, space, seed);
			}
}

TEST(one_weight_is_private)
{
	check_spaces(DPERM_METHOD_OBJECTIVE, DPERM_UNIT_ROW, 1, 40);
}

TEST(two_weights_are_private)
{
	check_spaces(DPERM_METHOD_OBJECTIVE, DPERM_UNIT_ROW, 2, 2);
}

TEST(three_weights_are_private)
{
	check_spaces(DPERM_METHOD_OBJECTIVE, DPERM_UNIT_ROW, 3, 2);
}

TEST(output_is_private)
{
	for (int dim = 1; dim <= 4; dim++)
		check_spaces(DPERM_METHOD_OUTPUT, DPERM_UNIT_ROW, dim, 8);
}

/* Persons with rows of different directions. */
TEST(persons_are_private)
{
	check_spaces(DPERM_METHOD_OBJECTIVE, DPERM_UNIT_PERSON, 1, 30);
	check_spaces(DPERM_METHOD_OBJECTIVE, DPERM_UNIT_PERSON, 2, 2);
	check_spaces(DPERM_METHOD_OUTPUT, DPERM_UNIT_PERSON, 2, 4);
}

/*
 * The noise for one removed row, where persons are replaced; and rows of weight
 * 1 each.
 */
TEST(finds_wrong_constants_for_persons)
{
	int			close = 0;

	for (int space = 0; space < SPACES; space++)
	{
		DpermSetup	s = {.loss = losses[1], .unit = DPERM_UNIT_PERSON, .epsilon = 1, .delta = 1e-3, .lambda = 1e5, .rows = 1,
		.dim = spaces[space].dim, .noise = spaces[space].gaussian};
		Target		t = calibrated(&s, space);

		if (t.dim > 2)
			continue;
		take_rows(&t, 2);
		close += attack(&t, 1, 32, 0) > 0.5 * t.delta;
		t.scale = dperm_privacy_sigma(t.allowed, t.delta);
		CHECK(attack(&t, 1, 32, 0) > 2 * t.delta);
		t = calibrated(&s, space);
		take_rows(&t, 2);
		t.weight = 1;
		CHECK(attack(&t, 1, 32, 0) > 2 * t.delta);
	}

	/*
	 * where two rows of a start are one direction, as they are among few values
	 */
	CHECK(close >= 5);
}

/* Numbers with one weight, three classes with three; and output perturbation. */
TEST(other_labels_are_private)
{
	for (int i = 0; i < 60; i++)
	{
		DpermMethod method = i % 4 == 3 ? DPERM_METHOD_OUTPUT : DPERM_METHOD_OBJECTIVE;
		DpermSetup	s = any_setup(0, method, (DpermNeighbours) (i / 2 % 2), (uint64_t) i + 500);

		s.loss = other_losses[i % 6 == 1 ? 1 : 2 * (i / 2 % 2)];
		s.dim = dperm_loss_blocks(s.loss);
		if (s.loss.classes && method == DPERM_METHOD_OBJECTIVE)
			s.slack = 0.3;
		else if (i % 5 == 0)
			s.unit = DPERM_UNIT_PERSON;
		check_private(&s, 0, (uint64_t) i + 500);
	}
	CHECK(other_shares[0][0] > 0.3);
}

TEST(solver_minimises_what_it_should)
{
	CHECK(disagreement <= DISAGREEMENT_MAX);
	CHECK(mass_off < QUADRATURE);
}

/*
 * Where the regulariser is so steep that the slack is nothing and slopes never
 * change.
 */
static DpermSetup
steep_setup(int space, DpermMethod method, DpermNeighbours neighbours, double epsilon, double delta)
{
	return (DpermSetup) {
		.loss = losses[1], .method = method, .neighbours = neighbours, .epsilon = epsilon, .delta = delta, .lambda = 1e5, .rows = 1,
		.dim = spaces[space].dim, .noise = method == DPERM_METHOD_OBJECTIVE ? spaces[space].gaussian : NULL
	};
}

/* Is a space one of those that are integrated over? */
static bool
is_small(int space)
{
	return spaces[space].dim <= DIVERGENCE_DIM_MAX;
}

/*
 * A row that is removed attains delta, in both directions; one that is replaced
 * nearly does.
 */
TEST(delta_is_attained)
{
	for (int space = 0; space < SPACES; space++)
		for (int method = 0; method < 2; method++)
			if (is_small(space) || method == DPERM_METHOD_OUTPUT)
			{
				DpermSetup	s = steep_setup(space, (DpermMethod) method, DPERM_NEIGHBOURS_REMOVE, 1, 1e-3);
				Target		t = calibrated(&s, space);

				for (int reverse = 0; reverse < 2; reverse++)
				{
					t.reverse = reverse;
					CHECK(attack(&t, 1, t.dim == 3 ? 4 : 8, 0) > 0.99 * t.delta);
				}
				s.neighbours = DPERM_NEIGHBOURS_REPLACE;
				t = calibrated(&s, space);
				CHECK(attack(&t, 1, t.dim == 3 ? 4 : 8, 0) > (method == DPERM_METHOD_OUTPUT ? 0.99 : 0.9) * t.delta);
			}
}

/* Is more than delta found with a wrong scale? */
static bool
is_found(Target t, double scale)
{
	t.scale = scale;
	return attack(&t, 1, t.dim == 3 ? 4 : 8, 0) > t.delta * 1.05;
}

TEST(finds_wrong_scales)
{
	for (int space = 0; space < SPACES; space++)
		for (int method = 0; method < 2; method++)
			if (is_small(space) || method == DPERM_METHOD_OUTPUT)
			{
				DpermSetup	s = steep_setup(space, (DpermMethod) method, DPERM_NEIGHBOURS_REMOVE, 1, 1e-3);
				Target		t = calibrated(&s, space);

				CHECK(is_found(t, t.scale / 1.02));

				/* the noise for removed rows, where they are replaced */
				t.neighbours = DPERM_NEIGHBOURS_REPLACE;
				CHECK(is_found(t, t.scale));

				/* the bound for rows that are replaced is not quite attained */
				s.neighbours = DPERM_NEIGHBOURS_REPLACE;
				t = calibrated(&s, space);
				CHECK(is_found(t, t.scale / (method == DPERM_METHOD_OUTPUT ? 1.02 : 1.03)));
			}
}

/*
 * The slack forgotten; and found in one direction only: a row that is added
 * costs none.
 */
TEST(finds_forgotten_slack)
{
	for (int neighbours = 0; neighbours < 2; neighbours++)
	{
		DpermSetup	s = {.loss = losses[2], .neighbours = (DpermNeighbours) neighbours, .epsilon = 1, .delta = 1e-6, .lambda = 1e-3,
		.rows = 1, .dim = 1, .slack = 0.9};
		Target		t = calibrated(&s, 0);

		t.scale = dperm_claim_rows_apart(s.neighbours) * sigma_for(t.allowed, t.delta, neighbours == DPERM_NEIGHBOURS_REPLACE, 0);
		CHECK(attack(&t, 3, 24, 60) > 10 * t.delta);
		t.reverse = true;
		if (neighbours == DPERM_NEIGHBOURS_REMOVE)
			CHECK(attack(&t, 3, 24, 60) <= t.delta * (1 + 1e-5));
	}
}

/*
 * Wrong shares of the norm, and wrong radii: deviations that are too small for
 * one block.
 */
TEST(finds_wrong_deviations)
{
	int			spaces_seen = 0;

	for (int space = 0; space < SPACES; space++)
	{
		DpermSetup	s = steep_setup(space, DPERM_METHOD_OBJECTIVE, DPERM_NEIGHBOURS_REMOVE, 1, 1e-3);
		Target		t = calibrated(&s, space);

		if (!is_small(space) || t.noise == NULL)
			continue;
		spaces_seen++;
		for (int i = 0; i < 2 * t.noise->group_count; i++)
		{
			DpermShape	shapes[BLOCKS_MAX + 1];
			DpermNoiseGroup groups[BLOCKS_MAX + 1];
			DpermNoise	wrong = *t.noise;
			Target		off = t;

			memcpy(shapes, t.noise->shapes, sizeof(DpermShape) * (size_t) t.noise->shape_count);
			memcpy(groups, t.noise->groups, sizeof(DpermNoiseGroup) * (size_t) t.noise->group_count);
			wrong.shapes = shapes;
			wrong.groups = groups;
			off.noise = &wrong;
			if (i % 2)
				groups[i / 2].share *= 1.1;
			else
				shapes[i / 2].radius /= 1.1;
			CHECK(is_found(off, t.scale));
		}
	}
	CHECK(spaces_seen >= 3);
}

/*
 * What a budget charges for a training is at least the Renyi divergence of what
 * the training releases, whichever method it then uses.
 */
TEST(charges_cover_what_is_released)
{
	TestRandom	state = 3;
	double		most = 0;

	for (int i = 0; i < CHARGE_CALLS; i++)
	{
		ChargedCall call = charge_call(i);
		double		share = charge_search(&call, &state);

		CHECK(share <= 1);
		most = fmax(most, share);
		if (share > highest)
		{
			highest = share;
			snprintf(highest_at, sizeof(highest_at), "the charge of a call, epsilon %g, slack %g",
					 call.spend.epsilon, call.spend.slack);
		}
	}
	CHECK(most > 0.5);
	charged_share = most;
}

int
main(void)
{
	int			result;

	test_run("prepare_spaces", prepare_spaces);
	result = test_main();
	for (int i = 0; i < 2; i++)
		printf("%s: %.6f of delta with one weight, %.4f with two, %.4f with three, %.6f by output perturbation\n",
			   dperm_claim_neighbours_name((DpermNeighbours) i), shares[i][0][0], shares[i][0][1], shares[i][0][2], shares[i][1][0]);
	for (int i = 0; i < 2; i++)
		printf("persons, %s: %.6f of delta with one weight or by output perturbation, %.4f with two\n",
			   dperm_claim_neighbours_name((DpermNeighbours) i), person_shares[i][0], person_shares[i][1]);
	for (int i = 0; i < OTHERS; i++)
		printf("%s, h %g, %d classes: %.4f of delta, %.4f by output perturbation\n", dperm_loss_name(other_losses[i].kind), other_losses[i].h,
			   other_losses[i].classes, other_shares[i][0], other_shares[i][1]);
	printf("trainings that charge a budget: %.4f of the charge\n", charged_share);
	printf("the solver comes back to within %.1e, densities add up to 1 within %.1e\n", disagreement, mass_off);
	if (disagreement > DISAGREEMENT_MAX)
		printf("note solver off\n");
	printf("found %.6f %s (%s)\n", highest, highest > 1 || disagreement > DISAGREEMENT_MAX ? "fault" : "nothing", highest_at);
	return result;
}
