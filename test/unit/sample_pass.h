/*
 * sample_pass.h: valid passes of every kind, for tests and as seeds for
 * fuzzing.
 */
#ifndef DPERM_SAMPLE_PASS_H
#define DPERM_SAMPLE_PASS_H

#include "unit/test.h"

#include "core/loss/loss.h"
#include "core/solve/sums.h"
#include "core/solve/pass.h"

#define SAMPLE_PASS_BYTES 16384

/* What a sample points to. */
typedef struct SamplePass
{
	DpermPass	pass;
	double		weights[24];
	double		weights_low[24];
	uint64_t	readers[8];
	unsigned char encoder[128];
	double		sums[48];
	double		hess[512];
	int64_t		counts[128];
} SamplePass;

/*
 * A request, and an answer if there are rows, with every number finite; returns
 * their size in bytes.
 */
static inline size_t
sample_pass(TestRandom *state, SamplePass *sample, unsigned char *bytes)
{
	DpermPass  *pass = &sample->pass;
	size_t		request;

	memset(sample, 0, sizeof(*sample));
	pass->order = (DpermPassOrder) (1 + test_below(state, DPERM_PASS_LAST));
	if (pass->order == DPERM_PASS_COUNT)
	{
		pass->label = (DpermLabelKind) test_below(state, 3);
		if (pass->label != DPERM_LABEL_NUMBER)
			pass->bins = test_below(state, 2) ? 1 + test_below(state, 40) : 0;
	}
	else
	{
		pass->loss.kind = (DpermLossKind) test_below(state, DPERM_LOSS_COUNT);
		pass->label = dperm_loss_entry((int) pass->loss.kind)->label;
		if (dperm_loss_entry((int) pass->loss.kind)->h_min > 0)
			pass->loss.h = 0.02 + 0.98 * test_uniform(state);
	}
	pass->dim = 1 + test_below(state, 12);
	if (pass->label == DPERM_LABEL_SEVERAL)
	{
		pass->loss.classes = 3 + test_below(state, 3);
		pass->dim = pass->loss.classes * (1 + test_below(state, 4));
	}
	pass->reader_count = test_below(state, 5);
	pass->encoder_size = (size_t) test_below(state, 100);
	pass->weighted = test_below(state, 2);
	if (pass->order != DPERM_PASS_COUNT && test_below(state, 2))
		pass->seed = 1 + (uint64_t) test_below(state, 1000);
	for (int i = 0; i < 24; i++)
	{
		sample->weights[i] = 2 * test_uniform(state) - 1;
		sample->weights_low[i] = 2 * test_uniform(state) - 1;
		sample->sums[2 * i] = 2 * test_uniform(state) - 1;
		sample->sums[2 * i + 1] = 2 * test_uniform(state) - 1;
	}
	for (int i = 0; i < 8; i++)
		sample->readers[i] = (uint64_t) test_below(state, 1 << 30);
	for (int i = 0; i < 128; i++)
		sample->encoder[i] = (unsigned char) test_below(state, 256);
	for (int i = 0; i < 512; i++)
		sample->hess[i] = 2 * test_uniform(state) - 1;
	pass->weights = sample->weights;
	pass->weights_low = pass->order == DPERM_PASS_EXTENDED ? sample->weights_low : NULL;
	pass->readers = sample->readers;
	pass->encoder = sample->encoder;
	pass->sums = sample->sums;
	pass->hess = sample->hess;
	pass->counts = sample->counts;
	pass->rows = test_below(state, 3) ? 1 + test_below(state, 1000) : 0;
	if (pass->rows > 0)
	{
		bool		sums = pass->label == DPERM_LABEL_NUMBER;
		int			left = (int) pass->rows * (pass->weighted || sums ? (int) DPERM_PERSON_PARTS : 1);

		pass->persons = pass->weighted ? test_below(state, (int) pass->rows + 1) : 0;
		for (int i = 0; i < dperm_pass_count_cells(pass); i++)
		{
			sample->counts[i] = test_below(state, left + 1);
			left -= sums ? 0 : (int) sample->counts[i];
		}
		if (pass->order != DPERM_PASS_COUNT)
		{
			pass->value[0] = 100 * test_uniform(state);
			pass->value[1] = 1e-14 * test_uniform(state);
			pass->digest = pass->seed != 0 ? (uint64_t) test_below(state, 1000) << 40 : 0;
		}
	}
	request = dperm_pass_write_request(pass, bytes);
	return request + dperm_pass_write_answer(pass, bytes + request);
}

#endif							/* DPERM_SAMPLE_PASS_H */
