/*
 * fuzz_pass.c: whatever bytes are read as a pass satisfy every invariant of the
 * form, take memory in proportion, and can be written again.
 */
#include <stdlib.h>

#include "core/base/core.h"
#include "fuzz/fuzz.h"
#include "host.h"
#include "unit/sample_pass.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *in = malloc(size > 0 ? size : 1);	/* ends where the bytes do */
	unsigned char *again;
	DpermPass	pass;
	size_t		request;
	const char *why;

	memcpy(in, data, size);
	why = dperm_pass_read(in, size, &pass, &request);
	FUZZ_REQUIRE(test_host_allocated <= 4 * size + 64);
	if (why)
		FUZZ_REQUIRE(why[0] != '\0');
	else
	{
		FUZZ_REQUIRE(pass.dim >= 1 && pass.dim <= DPERM_DIM_MAX);
		FUZZ_REQUIRE(pass.order >= DPERM_PASS_GRADIENT && pass.order <= DPERM_PASS_LAST);
		FUZZ_REQUIRE(pass.bins >= 0 && pass.bins <= (pass.order == DPERM_PASS_COUNT ? DPERM_BINS_MAX : 0));
		FUZZ_REQUIRE((pass.label == DPERM_LABEL_SEVERAL) == (pass.loss.classes > 0));
		FUZZ_REQUIRE(pass.label != DPERM_LABEL_SEVERAL || pass.dim % pass.loss.classes == 0);
		FUZZ_REQUIRE(pass.rows >= 0 && pass.rows <= DPERM_ROWS_MAX);
		FUZZ_REQUIRE(pass.persons >= 0 && pass.persons <= (pass.weighted ? pass.rows : 0));
		if (pass.order == DPERM_PASS_COUNT && pass.rows > 0)
		{
			bool		sums = pass.label == DPERM_LABEL_NUMBER;
			int64_t		most = pass.rows * (pass.weighted || sums ? (int64_t) DPERM_PERSON_PARTS : 1);
			int64_t		counted = 0;

			/* none is negative, so the sum shows overflow; sums of errors have a bound each */
			for (int i = 0; i < dperm_pass_count_cells(&pass); i++)
			{
				FUZZ_REQUIRE(pass.counts[i] >= 0 && pass.counts[i] <= most);
				counted += sums ? 0 : pass.counts[i];
			}
			FUZZ_REQUIRE(counted >= 0 && counted <= most);
		}
		again = malloc(size);
		FUZZ_REQUIRE(dperm_pass_write_request(&pass, again) == request);
		FUZZ_REQUIRE(request + dperm_pass_write_answer(&pass, again + request) == size);
		FUZZ_REQUIRE(memcmp(again, in, size) == 0);
		free(again);
	}
	free(in);
	test_host_release();
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	static unsigned char bytes[SAMPLE_PASS_BYTES];
	static SamplePass sample;
	TestRandom	state = (TestRandom) index + 1;
	size_t		size;

	if (index >= 32)
		return 0;
	size = sample_pass(&state, &sample, bytes);
	if (size > room)
		return 0;
	memcpy(out, bytes, size);
	return size;
}
