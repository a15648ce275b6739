/*
 * fuzz_model_json.c: whatever text is read is a valid model, and its own text and
 * binary form lead back to it.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "unit/sample_model.h"

static double weights[DPERM_DIM_MAX + 1];
static double again_weights[DPERM_DIM_MAX + 1];
static unsigned char form[112 + 8 * DPERM_DIM_MAX];
static unsigned char again_form[112 + 8 * DPERM_DIM_MAX];
static char text[DPERM_DIM_MAX * 30 + 8192];
static char again_text[DPERM_DIM_MAX * 30 + 8192];

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	DpermModel	model;
	DpermModel	again;
	const char *why = NULL;
	size_t		len;
	size_t		room = size / 2 + 1;	/* what the server makes room for */

	if (room > DPERM_DIM_MAX + 1)
		room = DPERM_DIM_MAX + 1;
	if (dperm_model_from_json((const char *) data, size, weights, room, &model,
							  &why) != DPERM_OK)
	{
		FUZZ_REQUIRE(why != NULL && why[0] != '\0');
		return 0;
	}
	FUZZ_REQUIRE(dperm_model_check(&model, &why) == DPERM_OK);

	len = dperm_model_to_json(&model, text, sizeof(text));
	FUZZ_REQUIRE(len < sizeof(text));
	FUZZ_REQUIRE(dperm_model_from_json(text, len, again_weights, DPERM_DIM_MAX + 1, &again,
									   &why) == DPERM_OK);
	FUZZ_REQUIRE(dperm_model_to_json(&again, again_text, sizeof(again_text)) == len);
	FUZZ_REQUIRE(memcmp(text, again_text, len) == 0);

	dperm_model_to_binary(&model, form);
	dperm_model_to_binary(&again, again_form);
	FUZZ_REQUIRE(dperm_model_binary_size(&model) == dperm_model_binary_size(&again));
	FUZZ_REQUIRE(memcmp(form, again_form, dperm_model_binary_size(&model)) == 0);
	FUZZ_REQUIRE(dperm_model_from_binary(form, dperm_model_binary_size(&model), again_weights,
										 &again, &why) == DPERM_OK);
	dperm_model_to_binary(&again, again_form);
	FUZZ_REQUIRE(memcmp(form, again_form, dperm_model_binary_size(&model)) == 0);
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	/* Short, so that the mutations hit the escapes. */
	static const char escapes[] = "{\"\\u0061\\uD834\\uDD1E\": \"\\n\", \"f\\u006frmat\": 1}";
	TestRandom	state = (TestRandom) index + 1;
	DpermModel	model;
	size_t		len;

	if (index > 32)
		return 0;
	if (index == 32)
	{
		len = strlen(escapes);
		if (len > room)
			return 0;
		memcpy(out, escapes, len);
		return len;
	}
	model = sample_model(&state, weights);
	/* Few weights and no paragraph: the bytes that matter are hit more often. */
	if (model.encoder.dimension > 4)
		model.encoder.dimension = 4;
	len = dperm_model_to_json(&model, text, sizeof(text));
	if (index % 2 == 0)
	{
		char	   *end = strstr(text, ", \"guarantee\"");

		strcpy(end, "}");
		len = strlen(text);
	}
	if (len > room)
		return 0;
	memcpy(out, text, len);
	return len;
}
