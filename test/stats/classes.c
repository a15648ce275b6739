/*
 * classes.c: looks for rows and outputs that cost more than objective perturbation of several classes allows.
 *
 * One unit differs between two tables: a row, or a person with two rows. All other rows have a slope of largest size at the output,
 * and no curvature: they move the noise by any vector, which is what suits an adversary best. Values and classes of the unit, the
 * vector and the output are climbed over. Nothing may be above the claim; what is found has to come close to it, or the search is no
 * good; and faults have to be found: slopes whose sum is taken as 1, the slack of two classes, and Gaussian noise for one direction.
 */
#define TEST_OWN_MAIN
#include "unit/test.h"

#include "audit/simplex.h"
#include "core/base/core.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/composition.h"

#define CLASSES 5
#define DIM 2
#define WEIGHTS (CLASSES * DIM)
#define OWN 2					/* rows of a person */
#define STARTS 6
#define CLIMB 2000
#define GRID 60				/* points of an integral, in each of two directions; and those that a result is checked with */
#define FINE_GRID 500

typedef struct Game
{
	DpermLoss	loss;
	int			dim;			/* of rows */
	int			own;			/* rows of the unit */
	bool		replaced;		/* or else: it is in the first table only, or in the second */
	bool		added;
	int			labels[2][OWN];
	double		flat;			/* n Lambda */
	double		scale;			/* of the noise */
	double		epsilon;
	int			grid;
} Game;

static TestRandom state;
static double best_numbers[SIMPLEX_MAX];	/* of the last search */

/* Probabilities of the classes at output z. */
static void
probabilities(int classes, const double *z, double *p)
{
	double		most = z[0];
	double		sum = 0;

	for (int k = 1; k < classes; k++)
		most = fmax(most, z[k]);
	for (int k = 0; k < classes; k++)
		sum += p[k] = exp(z[k] - most);
	for (int k = 0; k < classes; k++)
		p[k] /= sum;
}

/* Add what a row does at f to noise and Hessian; all class by class. */
static void
add_row(const Game *game, const double *numbers, int label, const double *f, double *b, double a[WEIGHTS][WEIGHTS])
{
	int			classes = game->loss.classes;
	int			d = game->dim;
	double		norm = fmax(1, d > 1 ? hypot(numbers[0], numbers[1]) : fabs(numbers[0]));
	double		z[CLASSES] = {0};
	double		p[CLASSES];

	for (int k = 0; k < classes; k++)
		for (int j = 0; j < d; j++)
			z[k] += f[k * d + j] * numbers[j] / norm;
	probabilities(classes, z, p);
	for (int k = 0; k < classes; k++)
		for (int j = 0; j < d; j++)
		{
			b[k * d + j] -= (p[k] - (k == label)) * numbers[j] / norm / game->own;
			for (int l = 0; l < classes; l++)
				for (int i = 0; i < d; i++)
					a[k * d + j][l * d + i] += ((k == l ? p[k] : 0) - p[k] * p[l]) * numbers[j] * numbers[i] / norm / norm / game->own;
		}
}

/* The logarithm of a determinant, by Cholesky's factor. */
static double
log_determinant(int dim, double a[WEIGHTS][WEIGHTS])
{
	double		sum = 0;

	for (int j = 0; j < dim; j++)
	{
		for (int k = 0; k < j; k++)
			for (int i = j; i < dim; i++)
				a[i][j] -= a[i][k] * a[j][k];
		sum += log(a[j][j]);
		a[j][j] = sqrt(a[j][j]);
		for (int i = j + 1; i < dim; i++)
			a[i][j] /= a[j][j];
	}
	return sum;
}

/* The log of the density of an output, up to what both tables share. */
static double
log_density(const Game *game, const double *f, const double *tilt, const double *rows, const int *labels, bool empty, bool gaussian)
{
	int			dim = game->loss.classes * game->dim;
	double		b[WEIGHTS];
	double		a[WEIGHTS][WEIGHTS] = {{0}};
	double		sum = 0;

	for (int i = 0; i < dim; i++)
	{
		b[i] = tilt[i] - game->flat * f[i];
		a[i][i] = game->flat;
	}
	for (int k = 0; k < game->own && !empty; k++)
		add_row(game, rows + k * game->dim, labels[k], f, b, a);
	for (int k = 0; k < game->loss.classes; k++)
	{
		double		square = 0;

		for (int j = 0; j < game->dim; j++)
			square += b[k * game->dim + j] * b[k * game->dim + j];
		sum += gaussian ? square / 2 / game->scale / game->scale : sqrt(square) / game->scale;
	}
	return log_determinant(dim, a) - sum;
}

/* The numbers of the pure game: output, vector, rows of both tables. */
static int
count_numbers(const Game *game)
{
	return 2 * game->loss.classes * game->dim + 2 * game->own * game->dim;
}

/* The privacy loss at an output. */
static double
loss_at(const void *arg, const double *numbers)
{
	const Game *game = arg;
	int			dim = game->loss.classes * game->dim;
	const double *rows = numbers + 2 * dim;
	double		f[WEIGHTS];
	double		tilt[WEIGHTS];

	for (int i = 0; i < dim; i++)
	{
		f[i] = sinh(numbers[i]);
		tilt[i] = 10 * numbers[dim + i];
	}
	return log_density(game, f, tilt, rows, game->labels[0], !game->replaced && game->added, false) -
		log_density(game, f, tilt, rows + game->own * game->dim, game->labels[1], !game->replaced && !game->added, false);
}

/* Where the last integral was taken: densities of the two tables. */
typedef struct Sums
{
	double		total;
	double		delta;
	double		moments[4];
} Sums;

static const double orders[] = {1.5, 2, 4, 8};

/*
 * Gaussian noise with three classes and one coordinate. The mean over the classes is the same under both tables, so that the plane
 * across it is enough.
 */
static Sums
integrate(const Game *game, const double *numbers)
{
	static const double plane[2][3] = {{0.7071067811865476, -0.7071067811865476, 0}, {0.4082482904638631, 0.4082482904638631, -0.8164965809277261}};
	double		rows[2] = {tanh(numbers[2]), tanh(numbers[3])};
	double		reach = (8.5 * game->scale + 3) / game->flat;
	Sums		sums = {0};
	double		tilt[3];

	for (int k = 0; k < 3; k++)
		tilt[k] = sinh(numbers[0]) * plane[0][k] + sinh(numbers[1]) * plane[1][k];
	for (int i = 0; i < game->grid; i++)
		for (int j = 0; j < game->grid; j++)
		{
			double		across[2] = {reach * (2 * (i + 0.5) / game->grid - 1), reach * (2 * (j + 0.5) / game->grid - 1)};
			double		f[3];
			double		p;
			double		q;

			for (int k = 0; k < 3; k++)
				f[k] = tilt[k] / game->flat + across[0] * plane[0][k] + across[1] * plane[1][k];
			p = log_density(game, f, tilt, rows, game->labels[0], !game->replaced && game->added, true);
			q = log_density(game, f, tilt, rows + 1, game->labels[1], !game->replaced && !game->added, true);
			sums.total += exp(p);
			sums.delta += fmax(exp(p) - exp(game->epsilon + q), 0);
			for (int o = 0; o < 4; o++)
				sums.moments[o] += exp(orders[o] * p + (1 - orders[o]) * q);
		}
	return sums;
}

static double
delta_at(const void *arg, const double *numbers)
{
	Sums		sums = integrate(arg, numbers);

	return sums.delta / sums.total;
}

/* The most that climbs find, over classes, too. */
static double
climbed(Game *game, double (*height) (const void *arg, const double *numbers), int count, int starts, int steps)
{
	double		most = -INFINITY;
	int			best_labels[2][OWN] = {{0}};

	for (int i = 0; i < starts; i++)
	{
		double		numbers[SIMPLEX_MAX];

		for (int t = 0; t < 2; t++)
			for (int k = 0; k < OWN; k++)
				game->labels[t][k] = test_below(&state, game->loss.classes);
		for (int j = 0; j < count; j++)
			numbers[j] = (1 + 3 * test_below(&state, 3)) * (2 * test_uniform(&state) - 1);
		for (int again = 0; again < 3; again++)
		{
			double		found = simplex_climb(height, game, numbers, count, again ? 0.2 : 1, steps / 3);

			if (found > most)
			{
				memcpy(best_numbers, numbers, sizeof(numbers));
				memcpy(best_labels, game->labels, sizeof(best_labels));
			}
			most = fmax(most, found);
		}
	}
	memcpy(game->labels, best_labels, sizeof(best_labels));
	return most;
}

/* A setup where the slack has some of epsilon. */
static DpermSetup
any_setup(int i)
{
	static const double factors[] = {0.3, 1, 4};
	static const double epsilons[] = {0.3, 1, 4};
	static const int classes[] = {3, 3, 5};
	static const int dims[] = {1, 2, 1};
	DpermSetup	s = {.loss = {DPERM_LOSS_SOFTMAX, 0, classes[i % 3]}, .neighbours = (DpermNeighbours) (i / 3 % 2),
		.unit = (DpermUnit) (i / 6 % 2), .epsilon = epsilons[i / 12 % 3], .rows = 1, .slack = DPERM_SLACK_MAX};

	s.dim = dims[i % 3] * s.loss.classes;
	s.lambda = 2 * dperm_claim_rows_apart(s.neighbours) / s.epsilon * factors[i / 36 % 3];
	return s;
}

static Game
game_of(const DpermSetup *s, const DpermCalibration *cal)
{
	return (Game) {.loss = s->loss, .dim = dperm_setup_row_dim(s), .own = s->unit == DPERM_UNIT_PERSON ? OWN : 1, .flat = cal->lambda,
		.replaced = s->neighbours == DPERM_NEIGHBOURS_REPLACE, .scale = cal->noise_scale,
		.epsilon = s->epsilon - cal->claim.shares[DPERM_SHARE_RELEASE], .grid = GRID};
}

/* The scale of noise for the slack of two classes. */
static double
scale_of_two_classes(DpermSetup s, const DpermCalibration *cal, double epsilon)
{
	s.loss = (DpermLoss) {DPERM_LOSS_LOGISTIC, 0, 0};
	s.dim = 1;
	return 2 * dperm_claim_rows_apart(s.neighbours) / (epsilon - dperm_slack(&s, cal->lambda, epsilon).slack);
}

TEST(pure_noise_is_enough)
{
	double		highest = 0;
	int			cases = 0,
				close = 0,
				halves = 0,
				halved = 0,
				slacks = 0,
				slack_found = 0;

	for (int i = 0; i < 108; i++)
	{
		DpermSetup	s = any_setup(i);
		DpermCalibration cal;
		Game		game;
		double		found;

		CHECK(dperm_calibrate(&s, &cal) == NULL);
		game = game_of(&s, &cal);
		for (int way = 0; way < (game.replaced ? 1 : 2); way++)
		{
			game.added = way == 1;
			found = climbed(&game, loss_at, count_numbers(&game), STARTS, CLIMB) / game.epsilon;
			CHECK(found <= 1 + 1e-9);
			highest = fmax(highest, found);
			close += found > 0.95;
			cases++;
		}

		/* the faults: a row's slopes add up to 2, and it has more curvature than one of two classes */
		if (i % 5 > 1)
			continue;
		game.added = false;
		game.scale = cal.noise_scale / 2;
		halves += climbed(&game, loss_at, count_numbers(&game), STARTS, CLIMB) > 1.1 * game.epsilon;
		halved++;
		if (s.unit == DPERM_UNIT_ROW && cal.claim.shares[DPERM_SHARE_SLACK] > 0.1 * s.epsilon)
		{
			game.scale = scale_of_two_classes(s, &cal, game.epsilon);
			slack_found += climbed(&game, loss_at, count_numbers(&game), STARTS, CLIMB) > 1.001 * game.epsilon;
			slacks++;
		}
	}
	printf("pure: %d searches, %d within a twentieth of the claim, highest %.6f; half the noise found %d times of %d, "
		   "the slack of two classes %d times of %d\n", cases, close, highest, halves, halved, slack_found, slacks);
	CHECK(highest > 0.999 && close > cases / 4);
	CHECK(halves > halved * 2 / 3 && slack_found > slacks / 2 && slacks > 5);
}

/* The Renyi divergences of the last integral against the curve of such a release. */
static double
compare_curves(const DpermSetup *s, const Game *game, const Sums *sums)
{
	const DpermLossBounds loss = dperm_loss_bounds(s->loss);
	DpermRelease release = {.neighbours = s->neighbours, .unit = s->unit, .epsilon = s->epsilon, .delta = s->delta};
	double		most = 0;

	dperm_composition_objective(&release, loss.directions, loss.rank, game->scale / loss.norm);
	release.kappa = dperm_slack_any_slope(dperm_slack_rank(s->loss, s->unit, s->dim), loss.trace / game->flat);
	for (int o = 0; o < 4; o++)
	{
		double		exact = log(sums->moments[o] / sums->total) / (orders[o] - 1);
		double		bound = dperm_composition_curve(&release, orders[o]);

		CHECK(exact <= bound * (1 + 1e-6) + 1e-9);
		most = fmax(most, exact / bound);
	}
	return most;
}

TEST(gaussian_noise_is_enough)
{
	double		highest = 0,
				curve = 0,
				without_slack = 0;
	int			one_direction = 0;

	for (int i = 0; i < 36; i++)
	{
		DpermSetup	s = any_setup(3 * i);
		DpermCalibration cal;
		Game		game;

		if (s.unit == DPERM_UNIT_PERSON)
			continue;
		s.delta = i % 3 ? 1e-3 : 0.03;
		CHECK(dperm_calibrate(&s, &cal) == NULL);
		game = game_of(&s, &cal);
		for (int way = 0; way < (game.replaced ? 1 : 2); way++)
		{
			Sums		sums;
			double		found;

			game.added = way == 1;
			climbed(&game, delta_at, 4, 2, 60);
			game.grid = FINE_GRID;
			sums = integrate(&game, best_numbers);
			game.grid = GRID;
			found = sums.delta / sums.total / s.delta;
			CHECK(found <= 1 + 1e-6);
			highest = fmax(highest, found);
			curve = fmax(curve, compare_curves(&s, &game, &sums));
		}
		if (game.replaced)
			continue;

		/* an added row costs no slack, and the noise may have all of epsilon: where directions can vary, one is not enough */
		game.added = true;
		game.flat = 0.02;
		game.scale = sqrt(2) * dperm_privacy_sigma(game.epsilon, s.delta / 2);
		climbed(&game, delta_at, 4, 2, 60);
		game.grid = FINE_GRID;
		without_slack = fmax(without_slack, delta_at(&game, best_numbers) / s.delta);
		game.grid = GRID;
		game.scale = sqrt(2) * dperm_privacy_sigma(game.epsilon, s.delta);
		one_direction += climbed(&game, delta_at, 4, 2, 60) > 1.05 * s.delta;
	}
	printf("Gaussian: highest %.4f of delta, %.4f of a curve; an added row %.4f, of which one direction allows too much %d times\n", highest,
		   curve, without_slack, one_direction);
	CHECK(highest > 0.05 && without_slack > 0.7 && without_slack <= 1 + 1e-3 && one_direction > 3);
}

int
main(int argc, char **argv)
{
	(void) argc;
	(void) argv;
	state = 31;
	return test_main();
}
