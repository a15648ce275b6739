/*
 * fuzz_model_binary.c: whatever decodes is valid, canonical, and has a text that
 * leads back to the same bytes.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "unit/sample_model.h"

static double weights[DPERM_DIM_MAX];
static double again_weights[DPERM_DIM_MAX + 1];
static unsigned char form[112 + 8 * DPERM_DIM_MAX];
static char text[DPERM_DIM_MAX * 30 + 8192];

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	DpermModel	model;
	DpermModel	again;
	const char *why = NULL;
	int			dim = dperm_model_binary_dim(data, size);
	size_t		len;

	FUZZ_REQUIRE(dim == -1 || (dim >= 1 && dim <= DPERM_DIM_MAX));
	if (dperm_model_from_binary(data, size, weights, &model, &why) != DPERM_OK)
	{
		FUZZ_REQUIRE(why != NULL && why[0] != '\0');
		return 0;
	}
	FUZZ_REQUIRE(dim == dperm_encoder_dim(&model.encoder));
	FUZZ_REQUIRE(dperm_model_check(&model, &why) == DPERM_OK);
	FUZZ_REQUIRE(dperm_model_binary_size(&model) == size);
	dperm_model_to_binary(&model, form);
	FUZZ_REQUIRE(memcmp(form, data, size) == 0);

	len = dperm_model_to_json(&model, text, sizeof(text));
	FUZZ_REQUIRE(len < sizeof(text));
	FUZZ_REQUIRE(dperm_model_from_json(text, len, again_weights, DPERM_DIM_MAX + 1, &again,
									   &why) == DPERM_OK);
	dperm_model_to_binary(&again, form);
	FUZZ_REQUIRE(memcmp(form, data, size) == 0);
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	TestRandom	state = (TestRandom) index + 1;
	DpermModel	model;

	if (index >= 32)
		return 0;
	model = sample_model(&state, weights);
	if (dperm_model_binary_size(&model) > room)
		return 0;
	dperm_model_to_binary(&model, out);
	return dperm_model_binary_size(&model);
}
