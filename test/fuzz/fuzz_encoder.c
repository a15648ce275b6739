/*
 * fuzz_encoder.c: whatever decodes is a valid encoder in canonical form, and
 * whatever it encodes is in the unit ball.
 */
#include <stdlib.h>

#include "core/mechanism/calibrate.h"
#include "core/encode/encoder.h"
#include "fuzz/fuzz.h"
#include "unit/exact.h"
#include "unit/sample_encoder.h"

/* Rows of any values for an encoder that is small enough. */
static void
encode_rows(const DpermEncoder *enc)
{
	static SampleRow row;
	static double *frequencies;
	double		out[SAMPLE_DIM_MAX];
	double		room[SAMPLE_DIM_MAX];
	TestRandom	state = 1;

	if (enc->block_count > SAMPLE_BLOCKS || dperm_encoder_dim(enc) > SAMPLE_DIM_MAX)
		return;
	for (int i = 0; i < enc->block_count; i++)
		if (enc->blocks[i].count > SAMPLE_COUNT)
			return;
	frequencies = dperm_fourier_make(&enc->kernel, dperm_encoder_linear_dim(enc));
	for (int round = 0; round < 4; round++)
	{
		dperm_encoder_encode(enc, frequencies, sample_row(&state, enc, &row), round % 2 ? 1 : -1, out, room);
		FUZZ_REQUIRE(exact_in_ball(out, dperm_encoder_dim(enc)));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	DpermText	bytes = {(const char *) data, (int) size};
	DpermText	again;
	DpermEncoder enc;
	const char *why;

	test_host_release();
	why = dperm_encoder_form_read(bytes, &enc);
	FUZZ_REQUIRE(test_host_allocated <= SAMPLE_ALLOCATED(size));
	if (why)
	{
		FUZZ_REQUIRE(why[0] != '\0');
		return 0;
	}
	FUZZ_REQUIRE(dperm_encoder_fault(&enc) == NULL);
	again = dperm_encoder_form_write(&enc);
	FUZZ_REQUIRE(same_text(&again, &bytes));
	encode_rows(&enc);
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	static SampleEncoder sampled;
	TestRandom	state = (TestRandom) index + 1;
	DpermText	form = dperm_encoder_form_write(sample_encoder(&state, &sampled));

	if (index >= 64 || (size_t) form.len > room)
		return 0;
	memcpy(out, form.bytes, (size_t) form.len);
	return (size_t) form.len;
}
