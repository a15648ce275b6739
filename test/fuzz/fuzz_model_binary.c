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
	DpermText	bytes = {(const char *) data, (int) size};
	DpermText	again_bytes;
	DpermTree	tree;
	DpermModel	model;
	DpermModel	again;
	const char *why;

	test_host_release();
	why = dperm_model_receive(bytes, &model);
	FUZZ_REQUIRE(test_host_allocated <= SAMPLE_ALLOCATED(size));
	if (why)
	{
		FUZZ_REQUIRE(why[0] != '\0');
		return 0;
	}
	FUZZ_REQUIRE(dperm_model_fault(&model) == NULL);
	again_bytes = dperm_model_write(&model);
	FUZZ_REQUIRE(same_text(&again_bytes, &bytes));
	FUZZ_REQUIRE(dperm_tree_parse(dperm_model_print(&model), &tree));
	FUZZ_REQUIRE(dperm_model_parse(&tree, &again) == NULL);
	again_bytes = dperm_model_write(&again);
	FUZZ_REQUIRE(same_text(&again_bytes, &bytes));
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	static SampleModel sampled;
	TestRandom	state = (TestRandom) index + 1;
	DpermModel	model = sample_model(&state, &sampled);
	DpermText	form = dperm_model_write(&model);

	if (index >= 64 || (size_t) form.len > room)
		return 0;
	memcpy(out, form.bytes, (size_t) form.len);
	return (size_t) form.len;
}
