/*
 * fuzz_pass.c: whatever words are read as a pass satisfy every invariant of the
 * form, and its header can be written again.
 */
#include <stdlib.h>

#include "core/base/limits.h"
#include "fuzz/fuzz.h"
#include "unit/sample_pass.h"

static uint64_t words[SAMPLE_PASS_WORDS];

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t		count = size / sizeof(uint64_t);
	uint64_t   *in;
	uint64_t	header[DPERM_PASS_HEADER];
	DpermPass	pass;
	const char *why = NULL;

	/* memory that is aligned and ends where the words do */
	in = malloc(count > 0 ? count * sizeof(uint64_t) : 1);
	memcpy(in, data, count * sizeof(uint64_t));
	if (!dperm_pass_read(in, count, &pass, &why))
		FUZZ_REQUIRE(why != NULL && why[0] != '\0');
	else
	{
		FUZZ_REQUIRE(why == NULL);
		FUZZ_REQUIRE(pass.dim >= 1 && pass.dim <= DPERM_DIM_MAX);
		FUZZ_REQUIRE(dperm_pass_words(&pass) == count);
		FUZZ_REQUIRE(dperm_pass_weights_at(&pass) <= dperm_pass_gradient_at(&pass) &&
					 dperm_pass_gradient_at(&pass) <= dperm_pass_hess_at(&pass) &&
					 dperm_pass_hess_at(&pass) <= dperm_pass_readers_at(&pass) &&
					 dperm_pass_readers_at(&pass) <= dperm_pass_encoder_at(&pass) &&
					 dperm_pass_encoder_at(&pass) <= dperm_pass_domain_at(&pass) &&
					 dperm_pass_domain_at(&pass) <= count);
		FUZZ_REQUIRE(dperm_pass_ordered_words(in, count) == dperm_pass_encoder_at(&pass));
		FUZZ_REQUIRE(pass.order >= DPERM_PASS_GRADIENT && pass.order <= DPERM_PASS_LAST);
		FUZZ_REQUIRE(pass.bins >= 0 && pass.bins <= (pass.order == DPERM_PASS_COUNT ? DPERM_BINS_MAX : 0));
		FUZZ_REQUIRE((pass.label == DPERM_LABEL_SEVERAL) == (pass.loss.classes > 0));
		if (pass.label == DPERM_LABEL_SEVERAL)
		{
			const char *domain = (const char *) (in + dperm_pass_domain_at(&pass));

			FUZZ_REQUIRE(pass.loss.classes >= DPERM_CLASSES_MIN && pass.dim % pass.loss.classes == 0);
			FUZZ_REQUIRE(dperm_classes_size(domain, pass.loss.classes) + 1 == (size_t) pass.domain);
			FUZZ_REQUIRE(dperm_classes_find(domain, pass.loss.classes,
											dperm_classes_value(domain, pass.loss.classes)) == pass.loss.classes);
		}
		if (pass.order == DPERM_PASS_COUNT && pass.rows > 0)
		{
			bool		sums = pass.label == DPERM_LABEL_NUMBER;
			int64_t		most = pass.rows * (pass.weighted || sums ? (int64_t) DPERM_PASS_PARTS : 1);
			int64_t		counted = 0;

			/* none is negative, so the sum shows overflow; sums of errors have a bound each */
			for (int i = 0; i < dperm_pass_count_cells(&pass); i++)
			{
				int64_t		cell = (int64_t) in[dperm_pass_gradient_at(&pass) + i];

				FUZZ_REQUIRE(cell >= 0 && cell <= most);
				counted += sums ? 0 : cell;
			}
			FUZZ_REQUIRE(counted >= 0 && counted <= most);
		}
		FUZZ_REQUIRE(pass.rows >= 0 && pass.rows <= DPERM_ROWS_MAX);
		FUZZ_REQUIRE(pass.persons >= 0 && pass.persons <= (pass.weighted ? pass.rows : 0));
		FUZZ_REQUIRE(dperm_pass_matches(&pass, &pass));
		dperm_pass_write(&pass, header);
		FUZZ_REQUIRE(memcmp(header, in, sizeof(header)) == 0);
	}
	free(in);
	return 0;
}

size_t
fuzz_seeds(int index, uint8_t *out, size_t room)
{
	TestRandom	state = (TestRandom) index + 1;
	DpermPass	pass;
	size_t		size;

	if (index >= 32)
		return 0;
	size = sample_pass(&state, &pass, words) * sizeof(uint64_t);
	if (size > room)
		return 0;
	memcpy(out, words, size);
	return size;
}
