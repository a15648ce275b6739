/*
 * test_score.c: decisions and probabilities.
 */
#include "unit/test.h"

#include "core/score.h"

#define DIM_MAX 16

TEST(adds_up_a_plain_vector)
{
	DpermEncoder enc = {3, 10.0, false};
	double		weights[3] = {1.0, -2.0, 4.0};
	double		raw[3] = {1.0, 2.0, 3.0};
	double		room[3];

	CHECK_NEAR(dperm_score_decision(&enc, weights, raw, room), 0.9, 1e-12);
}

/* The decision is the product with exactly what training would have seen. */
TEST(agrees_with_the_encoder)
{
	TestRandom	state = 1;

	for (int round = 0; round < 20000; round++)
	{
		DpermEncoder enc = {1 + test_below(&state, DIM_MAX - 1),
			pow(10.0, test_below(&state, 7) - 3), test_below(&state, 2)};
		double		scale = pow(10.0, test_below(&state, 13) - 6);
		double		weights[DIM_MAX];
		double		raw[DIM_MAX];
		double		room[DIM_MAX];
		double		encoded[DIM_MAX];
		double		sum = 0.0;

		for (int i = 0; i < enc.dimension; i++)
			raw[i] = (test_uniform(&state) - 0.5) * scale;
		for (int i = 0; i < dperm_encoder_dim(&enc); i++)
			weights[i] = test_uniform(&state) - 0.5;
		dperm_encode_vector(&enc, raw, 1.0, encoded);
		for (int i = 0; i < dperm_encoder_dim(&enc); i++)
			sum += weights[i] * encoded[i];
		CHECK(dperm_score_decision(&enc, weights, raw, room) == sum);
	}
}

/* Missing, NaN and infinite vectors are a zero block: only the intercept speaks. */
TEST(takes_bad_vectors_as_zero)
{
	DpermEncoder with = {2, 1.0, true};
	DpermEncoder without = {2, 1.0, false};
	double		weights[3] = {5.0, 7.0, 2.0};
	double		zero[2] = {0.0, 0.0};
	double		nan[2] = {0.5, NAN};
	double		inf[2] = {-INFINITY, 0.5};
	double		room[3];
	double		expected = dperm_score_decision(&with, weights, zero, room);

	CHECK_NEAR(expected, 2.0 * sqrt(0.5), 1e-12);
	CHECK(dperm_score_decision(&with, weights, NULL, room) == expected);
	CHECK(dperm_score_decision(&with, weights, nan, room) == expected);
	CHECK(dperm_score_decision(&with, weights, inf, room) == expected);
	CHECK(dperm_score_decision(&without, weights, NULL, room) == 0.0);
	CHECK(dperm_score_decision(&without, weights, nan, room) == 0.0);
	CHECK(dperm_score_decision(&without, weights, inf, room) == 0.0);
}

/* Beyond the norm only the direction counts, up to the largest doubles. */
TEST(clips_long_vectors)
{
	DpermEncoder enc = {2, 1.0, false};
	double		weights[2] = {3.0, 4.0};
	double		room[2];
	double		lengths[] = {1.0, 10.0, 1e10, 1e150, 1e200, 1e308};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
	{
		double		raw[2] = {0.6 * lengths[i], 0.8 * lengths[i]};

		CHECK_NEAR(dperm_score_decision(&enc, weights, raw, room), 5.0, 1e-9);
		CHECK(dperm_score_decision(&enc, weights, raw, room) <= 5.0);
	}
}

TEST(gives_probabilities)
{
	CHECK(dperm_score_probability(0.0) == 0.5);
	CHECK(dperm_score_probability(INFINITY) == 1.0);
	CHECK(dperm_score_probability(-INFINITY) == 0.0);
	CHECK(dperm_score_probability(1e308) == 1.0);
	CHECK(dperm_score_probability(-1e308) == 0.0);
	CHECK(dperm_score_probability(-740.0) > 0.0);	/* where exp(740) overflows */
	CHECK(isnan(dperm_score_probability(NAN)));
	CHECK_NEAR(dperm_score_probability(2.0), 0.88079707797788244, 1e-15);
	for (double z = -40.0; z <= 40.0; z += 0.25)
	{
		double		p = dperm_score_probability(z);

		CHECK_NEAR(p + dperm_score_probability(-z), 1.0, 1e-15);
		CHECK(p <= dperm_score_probability(z + 0.25));
		CHECK(p >= 0.0 && p <= 1.0);
	}
}

int
main(void)
{
	RUN(adds_up_a_plain_vector);
	RUN(agrees_with_the_encoder);
	RUN(takes_bad_vectors_as_zero);
	RUN(clips_long_vectors);
	RUN(gives_probabilities);
	return test_report();
}
