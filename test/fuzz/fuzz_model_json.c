/*
 * fuzz_model_json.c: whatever text is read is a valid model, and its own text
 * and bytes lead back to it.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "unit/sample_model.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	DpermText	text;
	DpermText	again_text;
	DpermText	bytes;
	DpermText	again_bytes;
	DpermTree	tree;
	DpermModel	model;
	DpermModel	again;
	const char *why;

	test_host_release();
	if (!dperm_tree_parse((DpermText) {(const char *) data, (int) size}, &tree))
		return 0;
	why = dperm_model_parse(&tree, &model);
	FUZZ_REQUIRE(test_host_allocated <= SAMPLE_ALLOCATED(size));
	if (why)
	{
		FUZZ_REQUIRE(why[0] != '\0');
		return 0;
	}
	FUZZ_REQUIRE(dperm_model_fault(&model) == NULL);

	text = dperm_model_print(&model);
	FUZZ_REQUIRE(dperm_tree_parse(text, &tree) && dperm_model_parse(&tree, &again) == NULL);
	again_text = dperm_model_print(&again);
	FUZZ_REQUIRE(same_text(&text, &again_text));

	bytes = dperm_model_write(&model);
	FUZZ_REQUIRE(dperm_model_receive(bytes, &again) == NULL);
	again_bytes = dperm_model_write(&again);
	FUZZ_REQUIRE(same_text(&bytes, &again_bytes));
	again_text = dperm_model_print(&again);
	FUZZ_REQUIRE(same_text(&text, &again_text));
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	/* Short, so that the mutations hit the escapes. */
	static const char escapes[] = "{\"\\u0061\\uD834\\uDD1E\": \"\\n\", \"f\\u006frmat\": 1}";
	static SampleModel sampled;
	TestRandom	state = (TestRandom) index + 1;
	DpermModel	model = sample_model(&state, &sampled);
	DpermText	text = dperm_model_print(&model);

	if (index > 64)
		return 0;
	if (index == 64)
		text = (DpermText) {escapes, (int) strlen(escapes)};
	/* Without the paragraph, mutations hit the bytes that matter more often. */
	else if (index % 2 == 0)
	{
		char	   *words = strstr(text.bytes, ", \"guarantee\"");

		strcpy(words, "}");
		text.len = (int) (words + 1 - text.bytes);
	}
	if ((size_t) text.len > room)
		return 0;
	memcpy(out, text.bytes, (size_t) text.len);
	return (size_t) text.len;
}
