/*
 * fuzz_model_binary.c: whatever decodes is valid, canonical, and has a text
 * that leads back to the same bytes.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "unit/sample_model.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void *memory;
	static void *again_memory;
	DpermArena	arena = sample_arena(&memory, dperm_model_arena_size(size));
	DpermModel	model;
	DpermModel	again;
	const char *why = NULL;
	unsigned char *form;
	char	   *text;
	size_t		len;

	if (dperm_model_binary_read(data, size, &arena, &model, &why) != DPERM_OK)
	{
		FUZZ_REQUIRE(why != NULL && why[0] != '\0');
		FUZZ_REQUIRE(strstr(why, "memory") == NULL);	/* the documented size is enough */
		return 0;
	}
	FUZZ_REQUIRE(dperm_model_check(&model, &why) == DPERM_OK);
	FUZZ_REQUIRE(dperm_model_binary_size(&model) == size);
	form = malloc(size);
	dperm_model_binary_write(&model, form);
	FUZZ_REQUIRE(memcmp(form, data, size) == 0);

	len = dperm_model_print(&model, NULL, 0);
	text = malloc(len + 1);
	FUZZ_REQUIRE(dperm_model_print(&model, text, len + 1) == len);
	arena = sample_arena(&again_memory, dperm_model_arena_size(len));
	FUZZ_REQUIRE(dperm_model_parse(text, len, &arena, &again, &why) == DPERM_OK);
	FUZZ_REQUIRE(dperm_model_binary_size(&again) == size);
	dperm_model_binary_write(&again, form);
	FUZZ_REQUIRE(memcmp(form, data, size) == 0);
	free(form);
	free(text);
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	static SampleModel sampled;
	TestRandom	state = (TestRandom) index + 1;
	DpermModel	model;

	if (index >= 64)
		return 0;
	model = sample_model(&state, &sampled);
	if (dperm_model_binary_size(&model) > room)
		return 0;
	dperm_model_binary_write(&model, out);
	return dperm_model_binary_size(&model);
}
