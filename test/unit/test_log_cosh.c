/*
 * test_log_cosh.c: the loss of numbers, against fifty digits; and labels in
 * blocks, of every loss.
 */
#include "unit/test.h"

#include <float.h>

#include "core/loss/loss.h"
#include "loss_at.h"

#define COUNT(array) (int) (sizeof(array) / sizeof((array)[0]))

static const double widths[] = {0.02, 0.1, 0.25, 0.5, 1};

/* Value, slope and curvature by mpmath. */
static const struct
{
	double		h;
	double		residual;
	double		value;
	double		slope;
	double		curve;
}			cases[] = {
	{0.02, 0.0, 0, 0, 49.99999999999999895916591},
	{0.02, 1e-300, 0, 5.000000000000000021212051e-299, 49.99999999999999895916591},
	{0.02, 1e-12, 2.499999999999999847390492e-23, 4.999999999999999795345663e-11, 49.99999999999999895904091},
	{0.02, 3e-05, 2.249999156250506316820505e-8, 0.001499998875001012505854151, 49.99988750016874874401124},
	{0.02, 0.01, 0.002402290139165550542642977, 0.4621171572600097585023185, 39.32238664829636968892334},
	{0.02, -0.03, 0.01710880342027593377280047, -0.9051482536448664225685013, 9.035331946182427760497867},
	{0.02, 0.2, 0.1861370564300241770315927, 0.9999999958776927636195957, 4.122307227883695741066594e-7},
	{0.02, -0.25, 0.2361370563890788524003722, -0.9999999999722241122704577, 2.777588772915655512699757e-9},
	{0.02, 0.5, 0.4861370563888010935230787, 0.9999999999999999999996143, 3.857499695927839500750023e-20},
	{0.02, -1.0, 0.9861370563888010935230749, -1.0, 7.440151952041687258967624e-42},
	{0.02, 1.5, 1.486137056388801093523075, 1.0, 1.435019194632886534944874e-63},
	{0.02, -2.0, 1.986137056388801093523075, -1.0, 2.767793053473486526934503e-85},
	{0.02, 4.75, 4.736137056388801093523075, 1.0, 1.026008813977851346104528e-204},
	{0.02, -20.0, 19.98613705638880109352307, -1.0, 0},
	{0.02, 800.0, 799.9861370563888010935231, 1.0, 0},
	{0.02, 10000000000.0, 9.999999999986137056388801e+9, 1.0, 0},
	{0.25, 0.0, 0, 0, 4.0},
	{0.25, 1e-300, 0, 4.000000000000000100236367e-300, 4.0},
	{0.25, 1e-12, 1.999999999999999919546585e-24, 3.999999999999999919546569e-12, 3.999999999999999999999936},
	{0.25, 3e-05, 1.799999995680000107791886e-9, 0.0001199999994240000063578628, 3.999999942400000552959993},
	{0.25, 0.01, 0.0001999466894111752619907568, 0.03997868031116357134127916, 3.993606820482311128842228},
	{0.25, -0.03, 0.001795696516620132682792748, -0.1194272985343858852364386, 3.942948481459114683952719},
	{0.25, 0.2, 0.07268839008209838744485489, 0.6640367702678489885118814, 2.236220670928975782279453},
	{0.25, -0.25, 0.1084452076207567967566237, -0.7615941559557648881194583, 1.679897366456104277577987},
	{0.25, 0.5, 0.3312506868394661077344378, 0.9640275800758168839464137, 0.2826032994126578627449906},
	{0.25, -1.0, 0.8267970564532376148535854, -0.9993292997390670437922433, 0.005363802732103587519880876},
	{0.25, 1.5, 1.326714740908383105847051, 0.9999877116507955705643489, 9.830618962133080520300476e-5},
	{0.25, -2.0, 1.826713232993805769439896, -0.9999997749296758898100188, 1.800562390254916669072487e-6},
	{0.25, 4.75, 4.576713204860013680493524, 0.9999999999999999372173442, 5.022612467276847090601393e-16},
	{0.25, -20.0, 19.82671320486001367264569, -1.0, 5.211981651532034019826407e-69},
	{0.25, 800.0, 799.8267132048600136726457, 1.0, 0},
	{0.25, 10000000000.0, 9.999999999826713204860014e+9, 1.0, 0},
	{1.0, 0.0, 0, 0, 1.0},
	{1.0, 1e-300, 0, 1.000000000000000025059092e-300, 1.0},
	{1.0, 1e-12, 4.999999999999999798866475e-25, 9.999999999999999798866473e-13, 0.999999999999999999999999},
	{1.0, 3e-05, 4.499999999325000228169717e-10, 2.999999999100000076326572e-5, 0.99999999910000000054},
	{1.0, 0.01, 4.999916668888821638918182e-5, 0.009999666679999460547474922, 0.9999000066662889085662909},
	{1.0, -0.03, 0.0004499325161955751862537536, -0.02999100323882014347668041, 0.9991005397247290796640258},
	{1.0, 0.2, 0.01986807184000731644244608, 0.1973753202249040114078778, 0.9610429829661165975075911},
	{1.0, -0.25, 0.03092980362016137145576523, -0.2449186624037091292778011, 0.9400148488063779562772108},
	{1.0, 0.5, 0.1201145069582775246317634, 0.4621171572600097585023185, 0.7864477329659274101496989},
	{1.0, -1.0, 0.4337808304830271870264947, -0.7615941559557648881194583, 0.4199743416140260693944967},
	{1.0, 1.5, 0.8554401710137967493416938, 0.9051482536448664382423037, 0.1807066389236485305974401},
	{1.0, -2.0, 1.325002747357864430937751, -0.9640275800758168839464137, 0.07065082485316446568624766},
	{1.0, 4.75, 4.056927668468683957746856, 0.9998503075449787775378736, 0.0002993625022113546435429088},
	{1.0, -20.0, 19.30685281944005469483112, -0.9999999999999999915032915, 1.699341702116635583692883e-17},
	{1.0, 800.0, 799.3068528194400546905828, 1.0, 0},
	{1.0, 10000000000.0, 9.999999999306852819440055e+9, 1.0, 0},
};

/* Up to a few units in the last place; the exponential multiplies the error of its argument. */
TEST(is_that_of_fifty_digits)
{
	for (int i = 0; i < COUNT(cases); i++)
	{
		DpermLoss	loss = {DPERM_LOSS_LOG_COSH, cases[i].h};
		double		x = fabs(cases[i].residual) / cases[i].h;
		LossAt at = loss_at(loss, cases[i].residual, 0);

		CHECK_NEAR(at.value, cases[i].value, 4 * DBL_EPSILON * cases[i].value);
		CHECK_NEAR(at.slope, cases[i].slope, 4 * DBL_EPSILON * fabs(cases[i].slope));
		CHECK_NEAR(at.curve, cases[i].curve, (4 + 4 * x) * DBL_EPSILON * cases[i].curve + 1e-300);
	}
}

/* An output under a label: the residual decides. */
TEST(follows_the_residual)
{
	TestRandom	state = 1;

	for (int i = 0; i < 100000; i++)
	{
		DpermLoss	loss = {DPERM_LOSS_LOG_COSH, widths[i % 5]};
		double		label = 2 * test_uniform(&state) - 1;
		double		output = label + loss.h * sinh(10 * (2 * test_uniform(&state) - 1));
		long double x = ((long double) output - label) / loss.h;
		long double c = 1 / (long double) loss.h;
		LossAt at = loss_at(loss, output, label);

		CHECK_NEAR(at.value, (double) (loss.h * (fabsl(x) + log1pl(expl(-2 * fabsl(x))) - logl(2))),
				   8 * DBL_EPSILON * (1 + fabs(output)));
		CHECK(fabsl(at.slope - tanhl(x)) <= (2 * c + 8) * DBL_EPSILON / 2);
		CHECK(fabsl(at.curve - c / coshl(x) / coshl(x)) <= (8 * c + 16) * c * DBL_EPSILON);
		CHECK(fabs(at.slope) <= 1 && at.curve >= 0 && at.curve <= 1 / loss.h && at.value >= 0);
		CHECK(at.slope * (output - label) >= 0);
	}
}

/* A number that is none of them has neither slope nor curvature. */
static bool
adds_nothing(LossAt at)
{
	return at.slope == 0 && at.curve == 0;
}

static DpermExtended
extended_slope(DpermLoss loss, double output, double label)
{
	DpermExtended slope = output;

	dperm_loss_slopes(loss, &slope, label);
	return slope;
}

TEST(has_no_slope_without_a_label)
{
	for (int kind = 0; kind < DPERM_LOSS_SOFTMAX; kind++)
	{
		DpermLoss	loss = {(DpermLossKind) kind, kind ? 0.25 : 0};
		DpermLabelKind label = dperm_loss_entry(kind)->label;
		double		none = dperm_label_kind_none(label);

		CHECK(!dperm_label_kind_has(label, none));
		CHECK(dperm_label_kind_has(label, 1) && dperm_label_kind_has(label, -1));
		for (double output = -5; output < 5; output += 0.3)
		{
			CHECK(adds_nothing(loss_at(loss, output, none)));
			CHECK(loss_at(loss, output, none).value == loss_at(loss, 7, none).value);
			CHECK(extended_slope(loss, output, none) == 0);
			CHECK(extended_slope(loss, output, 1) != 0 || loss_at(loss, output, 1).slope == 0);
		}
	}
	CHECK(dperm_label_kind_has(DPERM_LABEL_NUMBER, 0) && !dperm_label_kind_has(DPERM_LABEL_NUMBER, NAN));
	CHECK(loss_at((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.25}, 3, 2).value == 0);
}

/* A label of the kind of a loss, sometimes none. */
static double
any_label(TestRandom *state, DpermLabelKind kind)
{
	if (test_below(state, 8) == 0)
		return dperm_label_kind_none(kind);
	return kind == DPERM_LABEL_NUMBER ? 2 * test_uniform(state) - 1 : test_below(state, 2) ? 1 : -1;
}

/* Blocks of every size give what outputs give one by one, with and without weights. */
TEST(agrees_in_blocks)
{
	TestRandom	state = 2;

	for (int round = 0; round < 8000; round++)
	{
		DpermLoss	loss = {(DpermLossKind) (round % DPERM_LOSS_SOFTMAX), 0};
		DpermLabelKind kind = dperm_loss_entry((int) loss.kind)->label;
		int			count = round % 9 ? 1 + test_below(&state, 20) : 1 + test_below(&state, DPERM_LOSS_BLOCK);
		bool		weighted = test_below(&state, 2);
		double		outputs[DPERM_LOSS_BLOCK];
		double		again[DPERM_LOSS_BLOCK];
		double		labels[DPERM_LOSS_BLOCK];
		double		curves[DPERM_LOSS_BLOCK];
		double		weights[DPERM_LOSS_BLOCK];
		LossAt at[DPERM_LOSS_BLOCK];
		double		c,
					value;
		long double sum = 0,
					size = 0;

		loss.h = loss.kind == DPERM_LOSS_LOGISTIC ? 0 : widths[test_below(&state, 5)];
		c = dperm_loss_bounds(loss).curvature;
		for (int i = 0; i < count; i++)
		{
			outputs[i] = again[i] = sinh(8 * (2 * test_uniform(&state) - 1)) / 50;
			labels[i] = any_label(&state, kind);
			weights[i] = weighted ? test_uniform(&state) : 1;
			at[i] = loss_at(loss, outputs[i], labels[i]);
			sum += weights[i] * at[i].value;
			size += weights[i] * (1 + fabs(outputs[i]));
		}
		value = dperm_loss_block(loss, count, outputs, labels, curves, weighted ? weights : NULL);
		CHECK(fabsl(value - sum) <= 8 * DBL_EPSILON * (4 + size));
		for (int i = 0; i < count; i++)
		{
			CHECK_NEAR(outputs[i], weights[i] * at[i].slope, (4 + c) * DBL_EPSILON);
			CHECK_NEAR(curves[i], weights[i] * at[i].curve, 16 * (1 + c) * DBL_EPSILON * c);
			CHECK(curves[i] >= 0 && curves[i] <= c * (1 + DBL_EPSILON) && fabs(outputs[i]) <= 1);
			if (!dperm_label_kind_has(kind, labels[i]))
				CHECK(outputs[i] == 0 && curves[i] == 0);
		}

		/* the same without curvatures */
		CHECK(dperm_loss_block(loss, count, again, labels, NULL, weighted ? weights : NULL) == value);
		CHECK(memcmp(again, outputs, sizeof(double) * count) == 0);
	}
}

/* For two classes a label is a sign of the margin, bit for bit. */
TEST(multiplies_by_a_sign)
{
	TestRandom	state = 3;

	for (int round = 0; round < 3000; round++)
	{
		DpermLoss	loss = {(DpermLossKind) (round % 3), round % 3 ? 0.5 : 0};
		double		outputs[20],
					margins[20],
					labels[20],
					curves[2][20];

		for (int i = 0; i < 20; i++)
		{
			labels[i] = test_below(&state, 2) ? 1 : -1;
			outputs[i] = 4 * test_uniform(&state) - 2;
			margins[i] = labels[i] * outputs[i];
		}
		CHECK(dperm_loss_block(loss, 20, outputs, labels, curves[0], NULL) ==
			  dperm_loss_block(loss, 20, margins, NULL, curves[1], NULL));
		for (int i = 0; i < 20; i++)
			CHECK(outputs[i] == labels[i] * margins[i] && curves[0][i] == curves[1][i]);
	}
}

/* Up to the largest doubles, in blocks too. */
TEST(survives_the_ends)
{
	static const double far[] = {100, 1e4, 1e10, 1e300};

	for (int i = 0; i < 4; i++)
		for (int w = 0; w < 5; w++)
			for (int sign = -1; sign <= 1; sign += 2)
			{
				DpermLoss	loss = {DPERM_LOSS_LOG_COSH, widths[w]};
				double		outputs[3] = {sign * far[i], sign * far[i], 0};
				double		labels[3] = {0.5, -1, 2};
				double		curves[3];
				LossAt at = loss_at(loss, sign * far[i], 0.5);
				double		value = dperm_loss_block(loss, 3, outputs, labels, curves, NULL);

				CHECK(at.slope == sign && at.curve < 1e-40);
				CHECK_NEAR(at.value, far[i] - 0.5 * sign - loss.h * log(2), 1e-15 * far[i]);
				CHECK_NEAR(value, 2 * at.value + 1.5 * sign, 1e-14 * far[i]);
				CHECK(outputs[0] == sign && outputs[1] == sign && outputs[2] == 0);
				CHECK(curves[0] < 1e-40 && curves[2] == 0);
			}
	CHECK(isinf(loss_at((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.5}, -INFINITY, 0).value));
	CHECK(loss_at((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.5}, -INFINITY, 0).slope == -1);
}

/* Its name, and its range of h. */
TEST(is_in_the_table)
{
	DpermLoss	loss = dperm_loss_default(DPERM_LEARNER_LINREG);

	CHECK_TEXT(dperm_loss_name(DPERM_LOSS_LOG_COSH), "log_cosh");
	CHECK(dperm_loss_entry((int) loss.kind)->label == DPERM_LABEL_NUMBER);
	CHECK(loss.kind == DPERM_LOSS_LOG_COSH && loss.h == 0.25 && dperm_loss_fault(loss) == NULL);
	CHECK_TEXT(dperm_loss_fault((DpermLoss) {DPERM_LOSS_LOG_COSH, 0.0199}), "h must be between 0.02 and 1");
	CHECK_TEXT(dperm_loss_fault((DpermLoss) {DPERM_LOSS_HUBER, 0.0099}), "h must be between 0.01 and 1");
}
