/*
 * fuzz_model_json.c: whatever text is read is a valid model, and its own text
 * and binary form lead back to it.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "unit/sample_model.h"

/* The text of a model, for free(). */
static char *
print_model(const DpermModel *model, size_t *len)
{
	char	   *text;

	*len = dperm_model_print(model, NULL, 0);
	text = malloc(*len + 1);
	FUZZ_REQUIRE(dperm_model_print(model, text, *len + 1) == *len);
	return text;
}

/* The binary form of a model, for free(). */
static unsigned char *
make_form(const DpermModel *model)
{
	unsigned char *form = malloc(dperm_model_binary_size(model));

	dperm_model_binary_write(model, form);
	return form;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void *memory;
	static void *again_memory;
	DpermArena	arena = sample_arena(&memory, dperm_model_arena_size(size));
	DpermModel	model;
	DpermModel	again;
	const char *why = NULL;
	unsigned char *form,
			   *again_form;
	char	   *text,
			   *again_text;
	size_t		form_size,
				len,
				again_len;

	/*
	 * Only texts that are not models, such as [0,0,0,0], may run out of memory.
	 */
	if (dperm_model_parse((const char *) data, size, &arena, &model, &why) != DPERM_OK)
	{
		FUZZ_REQUIRE(why != NULL && why[0] != '\0');
		return 0;
	}
	FUZZ_REQUIRE(dperm_model_check(&model, &why) == DPERM_OK);

	text = print_model(&model, &len);
	arena = sample_arena(&again_memory, dperm_model_arena_size(len));
	FUZZ_REQUIRE(dperm_model_parse(text, len, &arena, &again, &why) == DPERM_OK);
	again_text = print_model(&again, &again_len);
	FUZZ_REQUIRE(len == again_len && memcmp(text, again_text, len) == 0);

	form_size = dperm_model_binary_size(&model);
	FUZZ_REQUIRE(dperm_model_binary_size(&again) == form_size);
	form = make_form(&model);
	again_form = make_form(&again);
	FUZZ_REQUIRE(memcmp(form, again_form, form_size) == 0);
	free(again_form);
	arena = sample_arena(&again_memory, dperm_model_arena_size(form_size));
	FUZZ_REQUIRE(dperm_model_binary_read(form, form_size, &arena, &again, &why) == DPERM_OK);
	again_form = make_form(&again);
	FUZZ_REQUIRE(memcmp(form, again_form, form_size) == 0);
	free(form);
	free(again_form);
	free(text);
	free(again_text);
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	/* Short, so that the mutations hit the escapes. */
	static const char escapes[] = "{\"\\u0061\\uD834\\uDD1E\": \"\\n\", \"f\\u006frmat\": 1}";
	static SampleModel sampled;
	TestRandom	state = (TestRandom) index + 1;
	DpermModel	model;
	char	   *text;
	size_t		len;

	if (index > 64)
		return 0;
	if (index == 64)
	{
		len = strlen(escapes);
		if (len > room)
			return 0;
		memcpy(out, escapes, len);
		return len;
	}
	model = sample_model(&state, &sampled);
	text = print_model(&model, &len);
	/* Without the paragraph, mutations hit the bytes that matter more often. */
	if (index % 2 == 0)
	{
		strcpy(strstr(text, ", \"guarantee\""), "}");
		len = strlen(text);
	}
	if (len > room)
		len = 0;
	memcpy(out, text, len);
	free(text);
	return len;
}
