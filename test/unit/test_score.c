/*
 * test_score.c: decisions and probabilities.
 */
#include "unit/sample_encoder.h"

#include "core/encode/encoder.h"
#include "core/model/model.h"

/* The decision on one vector; NULL is a missing one. */
static double
decide_vector(const DpermBlock *block, bool intercept, const double *weights, const double *raw)
{
	DpermEncoder enc = {.block_count = 1, .blocks = block, .intercept = intercept};
	DpermValue	value = {.present = raw != NULL, .vector = raw};
	double		room[2 * SAMPLE_DIM_MAX];

	return dperm_score_decision(&enc, NULL, weights, &value, room);
}

TEST(adds_up_a_plain_vector)
{
	DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = 3, .norm = 10.0};
	double		weights[3] = {1.0, -2.0, 4.0};
	double		raw[3] = {1.0, 2.0, 3.0};

	CHECK_NEAR(decide_vector(&block, false, weights, raw), 0.9, 1e-12);
}

/*
 * The decision is the product with exactly the vector that training would see.
 */
TEST(agrees_with_the_encoder)
{
	static SampleEncoder sampled;
	static SampleRow row;
	TestRandom	state = 1;

	for (int round = 0; round < 30000; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		const DpermValue *values = sample_row(&state, enc, &row);
		int			dim = dperm_encoder_dim(enc);
		int			linear = dperm_encoder_linear_dim(enc);
		double	   *room = malloc(sizeof(double) * (size_t) (dim + linear));
		double	   *frequencies;
		double		weights[SAMPLE_DIM_MAX];
		double		encoded[SAMPLE_DIM_MAX];
		double		blocks[SAMPLE_DIM_MAX];
		double		sum = 0.0;

		frequencies = dperm_fourier_make(&enc->kernel, linear);
		for (int i = 0; i < dim; i++)
			weights[i] = test_uniform(&state) - 0.5;
		dperm_encoder_encode(enc, frequencies, values, 1.0, encoded, blocks);
		for (int i = 0; i < dim; i++)
			sum += weights[i] * encoded[i];

		/* up to the order of the sums: |encoded| is at most 1 */
		CHECK_NEAR(dperm_score_decision(enc, frequencies, weights, values, room), sum,
				   4 * dim * DBL_EPSILON);
		if (enc->kernel.kind == DPERM_KERNEL_LINEAR)
		{
			double		terms[SAMPLE_DIM_MAX + 1];
			int			count = enc->block_count + (enc->intercept ? 1 : 0);

			dperm_score_terms(enc, weights, values, room, terms);
			for (int i = 1; i < count; i++)
				terms[0] += terms[i];
			CHECK_NEAR(terms[0], dperm_score_decision(enc, NULL, weights, values, room),
					   4 * dim * DBL_EPSILON);
		}
		free(room);
	}
}

/*
 * One lookup per category; a value that is not listed or missing adds nothing.
 */
TEST(looks_categories_up)
{
	DpermText	texts[3] = {sample_literal("a"), sample_literal("b"), sample_literal("c")};
	DpermBlock	blocks[2] = {
		{.kind = DPERM_BLOCK_CATEGORY, .count = 3, .categories = texts},
		{.kind = DPERM_BLOCK_FLAG, .count = 1}
	};
	DpermEncoder enc = {.block_count = 2, .blocks = blocks, .intercept = true};
	double		weights[5] = {1, 10, 100, 1000, 10000};
	double		room[9];

	for (int category = -2; category < 5; category++)
		for (int present = 0; present < 4; present++)
		{
			DpermValue	values[2] = {
				{.present = present & 1, .category = category},
				{.present = present & 2, .number = category}
			};
			double		expected = 10000;

			if ((present & 1) && category >= 0 && category < 3)
				expected += weights[category];
			if (present & 2)
				expected += category > 0 ? 1000 : -1000;
			CHECK_NEAR(dperm_score_decision(&enc, NULL, weights, values, room),
					   expected / sqrt(3), 1e-11);
		}
}

/*
 * Missing, NaN and infinite vectors are a zero block: only the intercept
 * counts.
 */
TEST(takes_bad_vectors_as_zero)
{
	DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = 2, .norm = 1.0};
	double		weights[3] = {5.0, 7.0, 2.0};
	double		zero[2] = {0.0, 0.0};
	double		nan[2] = {0.5, NAN};
	double		inf[2] = {-INFINITY, 0.5};
	double		expected = decide_vector(&block, true, weights, zero);

	CHECK_NEAR(expected, 2.0 * sqrt(0.5), 1e-12);
	CHECK(decide_vector(&block, true, weights, NULL) == expected);
	CHECK(decide_vector(&block, true, weights, nan) == expected);
	CHECK(decide_vector(&block, true, weights, inf) == expected);
	CHECK(decide_vector(&block, false, weights, NULL) == 0.0);
	CHECK(decide_vector(&block, false, weights, nan) == 0.0);
	CHECK(decide_vector(&block, false, weights, inf) == 0.0);
}

/* Beyond the norm only the direction counts, up to the largest doubles. */
TEST(clips_long_vectors)
{
	DpermBlock	block = {.kind = DPERM_BLOCK_VECTOR, .count = 2, .norm = 1.0};
	double		weights[2] = {3.0, 4.0};
	double		norms[] = {1.0, 10.0, 1e10, 1e150, 1e200, 1e308};

	for (size_t i = 0; i < sizeof(norms) / sizeof(norms[0]); i++)
	{
		double		raw[2] = {0.6 * norms[i], 0.8 * norms[i]};

		CHECK_NEAR(decide_vector(&block, false, weights, raw), 5.0, 1e-9);
		CHECK(decide_vector(&block, false, weights, raw) <= 5.0);
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

/* Values that contribute, and values that are read as zeros. */
TEST(knows_rows_that_say_nothing)
{
	static const double bad[][2] = {{NAN, 1}, {1, INFINITY}, {NAN, NAN}, {0, 0}, {1e300, -1e300}};
	static const struct
	{
		DpermBlockKind kind;
		DpermValue	value;
		bool		something;
	}			cases[] = {
		{DPERM_BLOCK_NUMBER, {.present = true, .number = 0.5}, true},	/* its code is zero */
		{DPERM_BLOCK_NUMBER, {.present = true, .number = -INFINITY}, true},
		{DPERM_BLOCK_NUMBER, {.present = true, .number = NAN}, false},
		{DPERM_BLOCK_NUMBER, {.present = false, .number = 0.5}, false},
		{DPERM_BLOCK_TIME, {.present = true, .number = 7}, true},
		{DPERM_BLOCK_FLAG, {.present = true, .number = -1}, true},
		{DPERM_BLOCK_FLAG, {.present = false, .number = 1}, false},
		{DPERM_BLOCK_CATEGORY, {.present = true, .category = 1}, true},
		{DPERM_BLOCK_CATEGORY, {.present = true, .category = -1}, false},
		{DPERM_BLOCK_CATEGORY, {.present = true, .category = 2}, false},
		{DPERM_BLOCK_CATEGORY, {.present = false, .category = 1}, false},
		{DPERM_BLOCK_VECTOR, {.present = true, .vector = bad[0]}, false},
		{DPERM_BLOCK_VECTOR, {.present = true, .vector = bad[1]}, false},
		{DPERM_BLOCK_VECTOR, {.present = true, .vector = bad[3]}, true},
		{DPERM_BLOCK_VECTOR, {.present = true, .vector = bad[4]}, true},
		{DPERM_BLOCK_VECTOR, {.present = false}, false},
		{DPERM_BLOCK_BOX, {.present = true, .vector = bad[0]}, true},
		{DPERM_BLOCK_BOX, {.present = true, .vector = bad[1]}, true},
		{DPERM_BLOCK_BOX, {.present = true, .vector = bad[2]}, false}
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int beside = 0; beside < 2; beside++)
		{
			bool		wide = cases[i].kind >= DPERM_BLOCK_CATEGORY;
			DpermBlock	blocks[2] = {{.kind = DPERM_BLOCK_FLAG, .count = 1},
			{.kind = cases[i].kind, .low = 0, .high = 1, .norm = 1, .count = wide ? 2 : 1}};
			DpermValue	values[2] = {{.present = beside == 1, .number = 1}, cases[i].value};
			DpermEncoder enc = {.block_count = 2, .blocks = blocks, .intercept = true};
			DpermValue	missing[2] = {{.present = false}, {.present = false}};
			double		weights[4] = {1, 2, 3, 4};
			double		room[8];

			CHECK(dperm_score_says_something(&enc, values) == (cases[i].something || beside));
			CHECK(!dperm_score_says_something(&enc, missing));
			if (!cases[i].something && !beside)
				CHECK(dperm_score_decision(&enc, NULL, weights, values, room) ==
					  dperm_score_decision(&enc, NULL, weights, missing, room));
		}
}

/* The outputs of classes are the decisions by their weights, to the last bit. */
TEST(outputs_are_decisions)
{
	static SampleEncoder sampled;
	static SampleRow row;
	TestRandom	state = 5;

	for (int round = 0; round < 3000; round++)
	{
		const DpermEncoder *enc = sample_encoder(&state, &sampled);
		const DpermValue *values = sample_row(&state, enc, &row);
		int			dim = dperm_encoder_dim(enc);
		int			linear = dperm_encoder_linear_dim(enc);
		double		room[2 * SAMPLE_DIM_MAX + 4];
		double	   *frequencies;
		double		weights[4 * SAMPLE_DIM_MAX];
		double		outputs[4];

		frequencies = dperm_fourier_make(&enc->kernel, linear);
		for (int i = 0; i < 4 * dim; i++)
			weights[i] = test_uniform(&state) - 0.5;
		dperm_score_outputs(enc, frequencies, 4, weights, values, room, outputs);
		for (int k = 0; k < 4; k++)
			CHECK(outputs[k] ==
				  dperm_score_decision(enc, frequencies, weights + k * dim, values, room));

		/* and so is what a row is counted by */
		CHECK(dperm_score_judge(enc, frequencies, 4, weights, values, 0, room) ==
			  dperm_score_class(4, outputs));
		CHECK(dperm_score_judge(enc, frequencies, 4, weights, values, 9, room) ==
			  dperm_score_odds(4, outputs));
		CHECK(dperm_score_judge(enc, frequencies, 0, weights, values, 9, room) == outputs[0]);
	}
}

/* The first of the largest; infinities and NaN have a place, too. */
TEST(chooses_a_class)
{
	CHECK(dperm_score_class(3, (double[]) {0, 0, 0}) == 1);
	CHECK(dperm_score_class(3, (double[]) {-1, 2, 2}) == 2);
	CHECK(dperm_score_class(3, (double[]) {-1, 2, 2.5}) == 3);
	CHECK(dperm_score_class(3, (double[]) {NAN, -INFINITY, -1}) == 3);
	CHECK(dperm_score_class(3, (double[]) {NAN, NAN, NAN}) == 1);
	CHECK(dperm_score_class(3, (double[]) {DBL_MAX, INFINITY, 0}) == 1);
}

/* Probabilities add up to 1, keep their order, and do not overflow. */
TEST(gives_probabilities_of_classes)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 0, 1e300, -745, 710};
	double		p[3] = {log(1), log(2), log(5)};

	dperm_score_probabilities(3, p);
	CHECK_NEAR(p[0], 0.125, 1e-15);
	CHECK_NEAR(p[1], 0.25, 1e-15);
	CHECK_NEAR(p[2], 0.625, 1e-15);
	for (int i = 0; i < 9 * 9 * 9; i++)
	{
		double		outputs[3] = {odd[i % 9], odd[i / 9 % 9], odd[i / 81]};
		int			chosen = dperm_score_class(3, outputs);
		double		odds = dperm_score_odds(3, outputs);

		dperm_score_probabilities(3, outputs);
		CHECK_NEAR(outputs[0] + outputs[1] + outputs[2], 1, 1e-15);
		for (int k = 0; k < 3; k++)
			CHECK(outputs[k] >= 0 && outputs[k] <= outputs[chosen - 1]);
		CHECK(!isnan(odds));
		CHECK_NEAR(dperm_score_probability(odds), outputs[0], 1e-15);
	}
}

/* The odds of the first class, also where its probability is nearly 1. */
TEST(gives_odds)
{
	TestRandom	state = 6;

	CHECK_NEAR(dperm_score_odds(3, (double[]) {50, 0, 0}), 50 - log(2), 1e-14);
	CHECK_NEAR(dperm_score_odds(3, (double[]) {-800, 0, -900}), -800, 1e-12);
	for (int round = 0; round < 1000; round++)
	{
		double		outputs[5];
		double		odds;

		for (int k = 0; k < 5; k++)
			outputs[k] = 20 * (test_uniform(&state) - 0.5);
		odds = dperm_score_odds(5, outputs);
		dperm_score_probabilities(5, outputs);
		CHECK_NEAR(dperm_score_probability(odds), outputs[0], 1e-14);
	}
}
