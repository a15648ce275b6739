/* The slack of objective perturbation: never below what slopes and curvatures can do together, and no more than that. */
#include "core/mechanism/slack.h"

#include "unit/slack.h"
#include "unit/test.h"

static const DpermLoss losses[] = {
	{DPERM_LOSS_LOGISTIC, 0}, {DPERM_LOSS_SMOOTH_HINGE, 1}, {DPERM_LOSS_SMOOTH_HINGE, 0.01}, {DPERM_LOSS_HUBER, 0.5}
};

/* What dperm_slack() is told, with one row, so that lambda is n Lambda. */
static DpermSlack
slack_of(DpermLoss loss, int apart, int rank, double flat, double epsilon)
{
	DpermSetup	s = {.loss = loss, .neighbours = apart == 1 ? DPERM_NEIGHBOURS_REMOVE : DPERM_NEIGHBOURS_REPLACE,
		.unit = rank > 1 ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW, .rows = 1, .dim = rank};

	return dperm_slack(&s, flat, epsilon);
}

/* The curvature of a loss by its slope: what the loss itself says at margins, a bound everywhere, and concave. */
TEST(curvature_belongs_to_the_slope)
{
	for (int l = 0; l < 3; l++)
	{
		const DpermLossEntry *entry = dperm_loss_entry((int) losses[l].kind);
		double		c = dperm_loss_bounds(losses[l]).curvature;
		double		bend = losses[l].h > 0 ? losses[l].h : 20;
		double		change;

		for (double t = -1.2; t <= 1.2; t += 1e-4)
		{
			DpermLossAt at = dperm_loss_at(losses[l], (losses[l].h > 0) + t * bend);

			CHECK_NEAR(entry->share(1 + at.slope, &change) * c, at.curve, 1e-9 * c + 1e-7 * at.curve);
		}
		for (double rest = 1e-12; rest < 1; rest = rest < 0.01 ? 1.3 * rest : rest + 0.003)
		{
			double		step = fmin(rest, 1 - rest) * 1e-5;
			double		before,
						after,
						none;
			double		share = entry->share(rest, &change);

			before = entry->share(rest - step, &none);
			after = entry->share(rest + step, &none);
			CHECK_NEAR(change, (before - after) / (2 * step), 1e-4 * (fabs(change) + 1));
			CHECK(2 * share >= before + after - 1e-15);
			CHECK(share >= 0 && share <= 1 + 1e-15);
		}
	}
}

/* At fifty digits, by mpmath: the least over all slopes of what the noise may have. */
TEST(is_that_of_fifty_digits)
{
	static const struct
	{
		int			kind;
		double		h;
		int			apart;
		int			rank;
		double		flat;
		double		epsilon;
		double		slack;
	}			cases[] = {
		{0, 0.0, 2, 1, 13.2087, 0.0625, 0.0075490858951629283508},
		{0, 0.0, 2, 1, 4.87604, 0.0625, 0.045950347861255313115},
		{0, 0.0, 2, 1, 0.714574, 1.0, 0.12664706807189301881},
		{0, 0.0, 2, 1, 0.203992, 1.0, 0.73596658385144623192},
		{0, 0.0, 2, 1, 0.0249422, 8.0, 1.3373975365603857531},
		{0, 0.0, 2, 1, 0.000416081, 8.0, 5.9515778924655161822},
		{0, 0.0, 1, 1, 13.2087, 0.0625, 0.00061146483036843107698},
		{0, 0.0, 1, 1, 4.87604, 0.0625, 0.038924110005294066313},
		{0, 0.0, 1, 1, 0.714574, 1.0, 0.02073232787053892179},
		{0, 0.0, 1, 1, 0.203992, 1.0, 0.63071809318419191757},
		{0, 0.0, 1, 1, 0.0249422, 8.0, 0.80918383375586589723},
		{0, 0.0, 1, 1, 0.000416081, 8.0, 5.4846383139061254604},
		{0, 0.0, 2, 7, 13.3155, 0.0625, 0.0075281998914355066228},
		{0, 0.0, 2, 7, 4.98216, 0.0625, 0.04594794990853873788},
		{0, 0.0, 2, 7, 0.815604, 1.0, 0.12128510251701384097},
		{0, 0.0, 2, 7, 0.294983, 1.0, 0.73526426753341384667},
		{0, 0.0, 2, 7, 0.0873279, 8.0, 1.0203426518401652508},
		{0, 0.0, 2, 7, 0.0238893, 8.0, 5.8887736670995171725},
		{0, 0.0, 1, 200, 13.3327, 0.0625, 0.00056957358104586631266},
		{0, 0.0, 1, 200, 4.99938, 0.0625, 0.038893268112605345179},
		{0, 0.0, 1, 200, 0.832708, 1.0, 0.0091633331691543544894},
		{0, 0.0, 1, 200, 0.311875, 1.0, 0.6223324539366829332},
		{0, 0.0, 1, 200, 0.103543, 8.0, 0.076316374097614810662},
		{0, 0.0, 1, 200, 0.0384408, 8.0, 4.9808644131856810167},
		{2, 0.5, 2, 1, 79.2523, 0.0625, 0.010142445764580989153},
		{2, 0.5, 2, 1, 29.2562, 0.0625, 0.046091510295848518823},
		{2, 0.5, 2, 1, 4.28744, 1.0, 0.16911796028129545233},
		{2, 0.5, 2, 1, 1.22395, 1.0, 0.73908555127752081462},
		{2, 0.5, 2, 1, 0.149653, 8.0, 1.6752701293152226836},
		{2, 0.5, 2, 1, 0.00249648, 8.0, 6.0280991069993921549},
		{2, 0.5, 1, 1, 79.2523, 0.0625, 0.0063108801244358388157},
		{2, 0.5, 1, 1, 29.2562, 0.0625, 0.040290003563867361644},
		{2, 0.5, 1, 1, 4.28744, 1.0, 0.11196592283119135653},
		{2, 0.5, 1, 1, 1.22395, 1.0, 0.65726374939546755721},
		{2, 0.5, 1, 1, 0.149653, 8.0, 1.4115737968733058475},
		{2, 0.5, 1, 1, 0.00249648, 8.0, 5.7639227678350969846},
		{2, 0.5, 2, 7, 79.8929, 0.0625, 0.010117451865689914993},
		{2, 0.5, 2, 7, 29.893, 0.0625, 0.046086134577975170068},
		{2, 0.5, 2, 7, 4.89362, 1.0, 0.16287701835013021223},
		{2, 0.5, 2, 7, 1.7699, 1.0, 0.73758867804901022147},
		{2, 0.5, 2, 7, 0.523968, 8.0, 1.3610590763934396357},
		{2, 0.5, 2, 7, 0.143336, 8.0, 5.9148440955299303201},
		{2, 0.5, 1, 200, 79.9963, 0.0625, 0.0062644696405721029176},
		{2, 0.5, 1, 200, 29.9963, 0.0625, 0.040238108177046902872},
		{2, 0.5, 1, 200, 4.99625, 1.0, 0.10028767232353249307},
		{2, 0.5, 1, 200, 1.87125, 1.0, 0.64387565228406354408},
		{2, 0.5, 1, 200, 0.621257, 8.0, 0.8056456493524772829},
		{2, 0.5, 1, 200, 0.230645, 8.0, 5.1547097005452105964},
		{2, 0.015625, 2, 1, 2536.07, 0.0625, 0.010142469708473475179},
		{2, 0.015625, 2, 1, 936.2, 0.0625, 0.04609140294622326269},
		{2, 0.015625, 2, 1, 137.198, 1.0, 0.16911810002954903987},
		{2, 0.015625, 2, 1, 39.1664, 1.0, 0.73908555127752081462},
		{2, 0.015625, 2, 1, 4.7889, 8.0, 1.6752693620758927715},
		{2, 0.015625, 2, 1, 0.0798875, 8.0, 6.0280970747671507196},
		{2, 0.015625, 1, 1, 2536.07, 0.0625, 0.0063108968290145031555},
		{2, 0.015625, 1, 1, 936.2, 0.0625, 0.040289873332096072688},
		{2, 0.015625, 1, 1, 137.198, 1.0, 0.11196602851502298347},
		{2, 0.015625, 1, 1, 39.1664, 1.0, 0.65726374939546755721},
		{2, 0.015625, 1, 1, 4.7889, 8.0, 1.4115730621490928972},
		{2, 0.015625, 1, 1, 0.0798875, 8.0, 5.7639206783697755293},
		{2, 0.015625, 2, 7, 2556.57, 0.0625, 0.010117470468600076378},
		{2, 0.015625, 2, 7, 956.576, 0.0625, 0.046086134577975170068},
		{2, 0.015625, 2, 7, 156.596, 1.0, 0.16287674545961025293},
		{2, 0.015625, 2, 7, 56.6367, 1.0, 0.73759039554273704234},
		{2, 0.015625, 2, 7, 16.767, 8.0, 1.3610563798182520946},
		{2, 0.015625, 2, 7, 4.58674, 8.0, 5.9148580377653730619},
		{2, 0.015625, 1, 200, 2559.88, 0.0625, 0.0062644770100456877371},
		{2, 0.015625, 1, 200, 959.88, 0.0625, 0.040238238854075956053},
		{2, 0.015625, 1, 200, 159.88, 1.0, 0.10028767232353249307},
		{2, 0.015625, 1, 200, 59.8801, 1.0, 0.64387356201258915724},
		{2, 0.015625, 1, 200, 19.8802, 8.0, 0.80564746907000809561},
		{2, 0.015625, 1, 200, 7.38064, 8.0, 5.1547097005452105964},
		{1, 0.5, 2, 1, 52.8349, 0.0625, 0.018749998531894731802},
		{1, 0.5, 2, 1, 19.5042, 0.0625, 0.049999916215352164372},
		{1, 0.5, 2, 1, 2.8583, 1.0, 0.29999962944969941954},
		{1, 0.5, 2, 1, 0.815966, 1.0, 0.80000014908965002584},
		{1, 0.5, 2, 1, 0.0997688, 8.0, 2.3999997456875296786},
		{1, 0.5, 2, 1, 0.00166432, 8.0, 6.400001583933820197},
		{1, 0.5, 1, 1, 52.8349, 0.0625, 0.018749998531894731802},
		{1, 0.5, 1, 1, 19.5042, 0.0625, 0.049999916215352164372},
		{1, 0.5, 1, 1, 2.8583, 1.0, 0.29999962944969941954},
		{1, 0.5, 1, 1, 0.815966, 1.0, 0.80000014908965002584},
		{1, 0.5, 1, 1, 0.0997688, 8.0, 2.3999997456875296786},
		{1, 0.5, 1, 1, 0.00166432, 8.0, 6.400001583933820197},
		{1, 0.5, 2, 7, 53.2619, 0.0625, 0.018750012884661264157},
		{1, 0.5, 2, 7, 19.9287, 0.0625, 0.049999891156055987593},
		{1, 0.5, 2, 7, 3.26241, 1.0, 0.30000044560203266927},
		{1, 0.5, 2, 7, 1.17993, 1.0, 0.8000010742632568534},
		{1, 0.5, 2, 7, 0.349312, 8.0, 2.3999985664236920791},
		{1, 0.5, 2, 7, 0.0955571, 8.0, 6.3999999165444281199},
		{1, 0.5, 1, 200, 53.3308, 0.0625, 0.018750011732490258904},
		{1, 0.5, 1, 200, 19.9975, 0.0625, 0.050000000260416672306},
		{1, 0.5, 1, 200, 3.33083, 1.0, 0.30000035625048771896},
		{1, 0.5, 1, 200, 1.2475, 1.0, 0.80000106666922663987},
		{1, 0.5, 1, 200, 0.414172, 8.0, 2.3999980799093755503},
		{1, 0.5, 1, 200, 0.153763, 8.0, 6.4000136452063082852},
	};

	for (int i = 0; i < (int) (sizeof(cases) / sizeof(cases[0])); i++)
	{
		DpermLoss	loss = {(DpermLossKind) cases[i].kind, cases[i].h};
		DpermSlack	line = slack_of(loss, cases[i].apart, cases[i].rank, cases[i].flat, cases[i].epsilon);

		CHECK(line.slack >= cases[i].slack);
		CHECK(line.slack <= cases[i].slack + 1e-11 * cases[i].epsilon);
		CHECK_NEAR(slack_reference(loss, cases[i].apart, cases[i].rank, cases[i].flat, cases[i].epsilon), cases[i].slack,
				   1e-15 * cases[i].epsilon);
	}
}

/* Anywhere: above all slopes, not above the slack whatever the slope, and found as tight as it can be. */
TEST(covers_every_slope)
{
	TestRandom	state = 3;
	int			lines = 0;

	for (int i = 0; i < 20000; i++)
	{
		DpermLoss	loss = losses[test_below(&state, 4)];
		int			apart = 1 + test_below(&state, 2);
		int			rank = test_below(&state, 2) ? 1 : 1 + test_below(&state, 5000);
		double		epsilon = pow(10, -6 + 8.69 * test_uniform(&state));
		double		c = dperm_loss_bounds(loss).curvature;
		double		flat = c / expm1(epsilon * pow(10, 1 - 4 * test_uniform(&state)));
		DpermSlack	line;
		long double exact = slack_reference(loss, apart, rank, fmax(flat, 1e-10), epsilon);
		double		any;

		flat = fmax(flat, 1e-10);
		line = slack_of(loss, apart, rank, flat, epsilon);
		any = dperm_slack_any_slope(rank, c / flat);
		CHECK(line.slack <= any * (1 + 1e-12) && line.slack >= 0 && line.fall >= 0);
		if (!(any < epsilon * (1 - 1e-9)))
		{
			CHECK(line.slack >= epsilon * (1 - 2e-9));
			continue;
		}
		CHECK(line.slack >= exact - 1e-17L * epsilon && line.slack <= exact + 1e-9L * epsilon);
		CHECK(line.slack + apart * line.fall <= epsilon);
		for (int k = 0; k <= 40; k++)
		{
			long double slope,
						curve;

			slack_output(loss, k / 40.0L, &slope, &curve);
			CHECK(rank * log1pl(curve / (rank * (long double) flat)) <= line.slack + (1 - slope) * line.fall + 1e-17L);
		}
		lines += line.fall > 0;
	}
	CHECK(lines > 5000);
}

/* Nothing for logistic regression as soon as n Lambda is nu/epsilon, and something below; never nothing for a bend. */
TEST(vanishes_where_it_should)
{
	for (int apart = 1; apart <= 2; apart++)
		for (double epsilon = 1e-6; epsilon < 500; epsilon *= 3)
			for (int rank = 1; rank < 100; rank += 33)
			{
				double		flat = fmax(apart / epsilon, 1e-10);

				CHECK(slack_of(losses[0], apart, rank, flat * (1 + 1e-12), epsilon).slack == 0);
				CHECK(slack_of(losses[0], apart, rank, flat * 0.99, epsilon).slack > 0);
				CHECK(slack_of(losses[0], apart, rank, flat * 0.99, epsilon).slack < 1e-3 * epsilon);
				CHECK(slack_of(losses[1], apart, rank, flat * 10, epsilon).slack > 0);
			}
}

/* More regularisation or epsilon never leaves less for the noise. */
TEST(leaves_more_for_more)
{
	TestRandom	state = 5;

	for (int i = 0; i < 3000; i++)
	{
		DpermLoss	loss = losses[test_below(&state, 4)];
		int			apart = 1 + test_below(&state, 2);
		double		epsilon = pow(10, -3 + 4 * test_uniform(&state));
		double		flat = dperm_loss_bounds(loss).curvature / expm1(epsilon * test_uniform(&state));
		double		left = epsilon - slack_of(loss, apart, 1, flat, epsilon).slack;

		CHECK(1.01 * epsilon - slack_of(loss, apart, 1, flat, 1.01 * epsilon).slack >= left);
		CHECK(epsilon - slack_of(loss, apart, 1, 1.01 * flat, epsilon).slack >= left - 1e-12 * epsilon);
	}
}
