/*
 * test_model.c: what a valid model is, its binary form, and the guarantee in words.
 */
#include "unit/sample_model.h"

#include <stdlib.h>

#define BINARY_MAX (112 + 8 * SAMPLE_DIM_MAX)
#define GUARANTEE_MAX 4096

/* Decode a copy that ends where the bytes end, for the sanitizer; NULL if it is fine. */
static const char *
read_binary(const unsigned char *in, size_t len, double *weights, DpermModel *out)
{
	unsigned char *copy = malloc(len > 0 ? len : 1);
	const char *why = NULL;
	DpermStatus status = DPERM_BAD_FORMAT;
	int			dim;

	memcpy(copy, in, len);
	dim = dperm_model_binary_dim(copy, len);
	if (dim > SAMPLE_DIM_MAX)
		abort();				/* no input of these tests is as long as that */
	status = dperm_model_from_binary(copy, len, weights, out, &why);
	if (dim < 0 && status == DPERM_OK)
		abort();
	if ((status == DPERM_OK) != (why == NULL))
		abort();
	free(copy);
	return why;
}

/* Why the model that breaks one rule is refused; "" if it is not. */
static const char *
why_not(const DpermModel *m)
{
	const char *why;

	return dperm_model_check(m, &why) == DPERM_OK ? "" : why;
}

TEST(round_trips_binary)
{
	TestRandom	state = 1;

	for (int round = 0; round < 5000; round++)
	{
		double		weights[SAMPLE_DIM_MAX];
		double		again_weights[SAMPLE_DIM_MAX];
		unsigned char form[BINARY_MAX];
		unsigned char again_form[BINARY_MAX];
		DpermModel	m = sample_model(&state, weights);
		DpermModel	again;
		size_t		size = dperm_model_binary_size(&m);
		const char *why;

		CHECK(dperm_model_check(&m, &why) == DPERM_OK);
		CHECK(size <= sizeof(form));
		dperm_model_to_binary(&m, form);
		CHECK(dperm_model_binary_dim(form, size) == dperm_encoder_dim(&m.encoder));
		CHECK(read_binary(form, size, again_weights, &again) == NULL);
		CHECK(same_model(&m, &again));
		for (int i = 0; i < dperm_encoder_dim(&m.encoder); i++)
			CHECK(!(again_weights[i] == 0.0 && signbit(again_weights[i])));
		dperm_model_to_binary(&again, again_form);
		CHECK(memcmp(form, again_form, size) == 0);
	}
}

/* Nothing but the full length decodes. */
TEST(refuses_other_lengths)
{
	TestRandom	state = 3;
	double		weights[SAMPLE_DIM_MAX];
	double		room[SAMPLE_DIM_MAX];
	unsigned char form[BINARY_MAX + 8] = {0};
	DpermModel	m = sample_model(&state, weights);
	DpermModel	out;
	size_t		size = dperm_model_binary_size(&m);

	dperm_model_to_binary(&m, form);
	for (size_t cut = 0; cut <= sizeof(form); cut++)
		CHECK((read_binary(form, cut, room, &out) == NULL) == (cut == size));
}

/* The largest model there may be, and one weight more. */
TEST(holds_the_largest_dimension)
{
	static double weights[DPERM_DIM_MAX];
	static unsigned char form[112 + 8 * (DPERM_DIM_MAX + 1)];
	DpermModel	m = plain_model();

	m.weights = weights;
	m.encoder.dimension = DPERM_DIM_MAX - 1;
	CHECK_TEXT(why_not(&m), "");
	dperm_model_to_binary(&m, form);
	CHECK(dperm_model_binary_dim(form, sizeof(form) - 8) == DPERM_DIM_MAX);
	form[14] = DPERM_DIM_MAX >> 8;	/* one feature more */
	form[15] = DPERM_DIM_MAX & 0xff;
	CHECK(dperm_model_binary_dim(form, sizeof(form)) == -1);
	form[9] = 0;				/* without an intercept there is room for them */
	CHECK(dperm_model_binary_dim(form, sizeof(form) - 8) == DPERM_DIM_MAX);
}

/* Whatever one byte is changed to: refused, or a valid model in canonical form. */
TEST(survives_flipped_bytes)
{
	TestRandom	state = 4;
	double		weights[SAMPLE_DIM_MAX];
	double		room[SAMPLE_DIM_MAX];
	unsigned char form[BINARY_MAX];
	unsigned char again[BINARY_MAX];
	DpermModel	out;
	const char *why;

	for (int round = 0; round < 20; round++)
	{
		DpermModel	m = sample_model(&state, weights);
		size_t		size = dperm_model_binary_size(&m);

		for (size_t i = 0; i < size; i++)
			for (int bit = 0; bit <= 8; bit++)
			{
				dperm_model_to_binary(&m, form);
				form[i] ^= (unsigned char) (bit < 8 ? 1 << bit : 0xff);
				if (read_binary(form, size, room, &out) != NULL)
					continue;
				CHECK(i >= 6);	/* neither magic nor format may change */
				CHECK(dperm_model_check(&out, &why) == DPERM_OK);
				dperm_model_to_binary(&out, again);
				CHECK(memcmp(form, again, size) == 0);
			}
	}
}

/* One broken field, and what the check must say of it. */
#define CHECK_BROKEN(change, expected) \
	do { \
		DpermModel	m = plain_model(); \
		change; \
		CHECK_TEXT(why_not(&m), expected); \
	} while (0)

TEST(checks_every_field)
{
	static const double bad_weights[2] = {0.0, NAN};

	CHECK_BROKEN((void) 0, "");
	CHECK_BROKEN(m.loss.kind = (DpermLossKind) 3, "the loss is unknown");
	CHECK_BROKEN(m.loss.h = 0.5, "the logistic loss has no h");
	CHECK_BROKEN((m.loss.kind = DPERM_LOSS_HUBER, m.loss.h = 0.5), "");
	CHECK_BROKEN(m.loss.kind = DPERM_LOSS_HUBER, "h is out of range");
	CHECK_BROKEN((m.loss.kind = DPERM_LOSS_HUBER, m.loss.h = NAN), "h is out of range");
	CHECK_BROKEN((m.loss.kind = DPERM_LOSS_SMOOTH_HINGE, m.loss.h = 1.01), "h is out of range");
	CHECK_BROKEN(m.method = (DpermMethod) 2, "the method is unknown");
	CHECK_BROKEN(m.analysis = (DpermAnalysis) 2, "the analysis is unknown");
	CHECK_BROKEN(m.rows = 0, "the number of rows is out of range");
	CHECK_BROKEN(m.rows = INT64_MIN, "the number of rows is out of range");
	CHECK_BROKEN(m.rows = DPERM_ROWS_MAX + 1, "the number of rows is out of range");
	CHECK_BROKEN(m.lambda = -1e-9, "lambda is out of range");
	CHECK_BROKEN(m.lambda = INFINITY, "lambda is out of range");
	CHECK_BROKEN(m.lambda = 0.0, "");
	CHECK_BROKEN(m.lambda_effective = 0.0, "lambda_effective is out of range");
	CHECK_BROKEN(m.lambda_effective = 0.0099, "lambda_effective is out of range");
	CHECK_BROKEN(m.lambda_effective = NAN, "lambda_effective is out of range");
	CHECK_BROKEN(m.epsilon = 0.0, "epsilon is out of range");
	CHECK_BROKEN(m.epsilon = NAN, "epsilon is out of range");
	CHECK_BROKEN(m.epsilon = -INFINITY, "epsilon is out of range");
	CHECK_BROKEN(m.epsilon = 0.99, "the budget adds up to more than epsilon");
	CHECK_BROKEN(m.epsilon = INFINITY, "a model without privacy has no noise and no budget");
	CHECK_BROKEN(m.eps_slack = -0.1, "a share of the budget is out of range");
	CHECK_BROKEN(m.eps_slack = 0.0, "");
	CHECK_BROKEN(m.eps_noise = 0.0, "a share of the budget is out of range");
	CHECK_BROKEN(m.eps_release = NAN, "a share of the budget is out of range");
	CHECK_BROKEN(m.noise_scale = 0.0, "noise_scale is out of range");
	CHECK_BROKEN(m.grid = 0.3, "grid is not a power of two");
	CHECK_BROKEN(m.grid = -0.5, "grid is not a power of two");
	CHECK_BROKEN(m.grid = INFINITY, "grid is not a power of two");
	CHECK_BROKEN(m.release_scale = 0, "release_scale is out of range");
	CHECK_BROKEN(m.encoder.dimension = 0, "dimension is out of range");
	CHECK_BROKEN(m.encoder.dimension = INT32_MAX, "dimension is out of range");
	CHECK_BROKEN(m.encoder.dimension = DPERM_DIM_MAX, "dimension is out of range");
	CHECK_BROKEN(m.dimension_source = (DpermDimensionSource) 7, "dimension_source is unknown");
	CHECK_BROKEN(m.encoder.norm = 0.0, "norm is out of range");
	CHECK_BROKEN(m.encoder.norm = INFINITY, "norm is out of range");
	CHECK_BROKEN(m.weights = bad_weights, "a weight is not finite");
}

TEST(refuses_non_canonical_binary)
{
	DpermModel	m = plain_model();
	DpermModel	out;
	double		room[SAMPLE_DIM_MAX];
	unsigned char form[BINARY_MAX];
	size_t		size = dperm_model_binary_size(&m);

	dperm_model_to_binary(&m, form);
	form[11] = 1;
	CHECK_TEXT(read_binary(form, size, room, &out), "it is not in canonical form");

	dperm_model_to_binary(&m, form);
	memset(form + 112, 0, 8);
	CHECK(read_binary(form, size, room, &out) == NULL);
	form[112] = 0x80;			/* a negative zero */
	CHECK_TEXT(read_binary(form, size, room, &out), "it is not in canonical form");

	dperm_model_to_binary(&m, form);
	form[5] = 2;
	CHECK_TEXT(read_binary(form, size, room, &out),
			   "the format of the model is unknown to this version of dperm");

	/* A dimension whose size overflows 32 bits is not believed. */
	dperm_model_to_binary(&m, form);
	memset(form + 12, 0xff, 4);
	CHECK(dperm_model_binary_dim(form, size) == -1);
	CHECK_TEXT(read_binary(form, size, room, &out), "dimension is out of range");
}

TEST(states_the_guarantee)
{
	DpermModel	m = plain_model();
	char		text[GUARANTEE_MAX];

	dperm_model_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "This logistic regression (logistic loss) was trained on 1000 rows") == text);
	CHECK(strstr(text, "epsilon = 1 and delta = 0, up to a probability below 2^-60") != NULL);
	CHECK(strstr(text, "replace-one") != NULL);
	CHECK(strstr(text, "objective perturbation, with the sharp analysis") != NULL);
	CHECK(strstr(text, "The length of the vectors, 1, was declared.") != NULL);
	CHECK(strpbrk(text, "\"\\\n") == NULL);

	m.dimension_source = DPERM_DIMENSION_ROWS;
	dperm_model_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "was read from the rows and is treated as public") != NULL);

	m.loss.kind = DPERM_LOSS_SMOOTH_HINGE;
	m.loss.h = 0.1;
	m.epsilon = INFINITY;
	m.eps_slack = m.eps_noise = m.eps_release = m.noise_scale = m.grid = 0.0;
	m.release_scale = 0;
	CHECK_TEXT(why_not(&m), "");
	dperm_model_guarantee(&m, text, sizeof(text));
	CHECK(strstr(text, "NOT PRIVATE. This support vector machine (smooth_hinge loss, h = 0.1)")
		  == text);
	CHECK(strstr(text, "delta") == NULL);
}

int
main(void)
{
	RUN(round_trips_binary);
	RUN(refuses_other_lengths);
	RUN(holds_the_largest_dimension);
	RUN(survives_flipped_bytes);
	RUN(refuses_non_canonical_binary);
	RUN(checks_every_field);
	RUN(states_the_guarantee);
	return test_report();
}
