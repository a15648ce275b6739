/*
 * sample_pass.h: valid passes of every kind, for tests and as seeds for
 * fuzzing.
 */
#ifndef DPERM_SAMPLE_PASS_H
#define DPERM_SAMPLE_PASS_H

#include "unit/test.h"

#include "core/base/classes.h"
#include "core/solve/pass.h"

#define SAMPLE_PASS_WORDS 1024

/* The values of as many classes as a sample has, one of them empty. */
static const char sample_pass_classes[] = "a\0\0bb\0\xc3\xa4 \"\0A";

/*
 * A request or a result, with every number finite; returns its length in words.
 */
static inline size_t
sample_pass(TestRandom *state, DpermPass *pass, uint64_t *words)
{
	memset(pass, 0, sizeof(*pass));
	pass->order = (DpermPassOrder) (1 + test_below(state, DPERM_PASS_LAST));
	if (pass->order == DPERM_PASS_COUNT)
	{
		pass->label = (DpermLabelKind) test_below(state, 3);
		if (pass->label != DPERM_LABEL_NUMBER)
			pass->bins = test_below(state, 2) ? 1 + test_below(state, 40) : 0;
	}
	else
	{
		pass->loss.kind = pass->order == DPERM_PASS_PRODUCT ? DPERM_LOSS_SOFTMAX :
			(DpermLossKind) test_below(state, DPERM_LOSS_COUNT);
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
	pass->readers = test_below(state, 5);
	pass->encoder = test_below(state, 100);
	if (pass->label == DPERM_LABEL_NUMBER)
		pass->domain = DPERM_PASS_BOUNDS + 1;
	else if (pass->label == DPERM_LABEL_SEVERAL)
		pass->domain = (int64_t) dperm_classes_size(sample_pass_classes, pass->loss.classes) + 1;
	else if (test_below(state, 2))
	{
		pass->domain = 1 + test_below(state, 30);
		pass->domain_encoding = test_below(state, 256);
	}
	if (pass->label == DPERM_LABEL_SEVERAL)
		pass->domain_encoding = test_below(state, 256);
	if (test_below(state, 2))
		pass->label_type = (uint32_t) test_below(state, 10000);
	pass->rows = test_below(state, 3) ? 1 + test_below(state, 1000) : 0;
	if (test_below(state, 2) && pass->order != DPERM_PASS_COUNT)
	{
		pass->seed = 1 + (uint64_t) test_below(state, 1000);
		pass->digest = pass->rows > 0 ? (uint64_t) test_below(state, 1000) << 40 : 0;
	}
	pass->weighted = test_below(state, 2);
	if (pass->weighted)
		pass->persons = test_below(state, (int) pass->rows + 1);
	if (pass->rows > 0 && pass->order != DPERM_PASS_COUNT)
	{
		pass->value[0] = 100 * test_uniform(state);
		pass->value[1] = 1e-14 * test_uniform(state);
	}
	for (size_t i = DPERM_PASS_HEADER; i < dperm_pass_words(pass); i++)
	{
		double		x = 2 * test_uniform(state) - 1;

		memcpy(&words[i], &x, sizeof(x));
	}
	if (pass->label == DPERM_LABEL_NUMBER)
		dperm_pass_put_bounds(-test_uniform(state), 1 + test_uniform(state),
							  (unsigned char *) (words + dperm_pass_domain_at(pass)));
	if (pass->label == DPERM_LABEL_SEVERAL)
		memcpy(words + dperm_pass_domain_at(pass), sample_pass_classes, (size_t) pass->domain - 1);
	if (pass->order == DPERM_PASS_COUNT && pass->rows > 0)
	{
		bool		sums = pass->label == DPERM_LABEL_NUMBER;
		int			left = (int) pass->rows * (pass->weighted || sums ? (int) DPERM_PASS_PARTS : 1);

		for (int i = 0; i < dperm_pass_count_cells(pass); i++)
		{
			words[dperm_pass_gradient_at(pass) + i] = test_below(state, left + 1);
			left -= sums ? 0 : (int) words[dperm_pass_gradient_at(pass) + i];
		}
	}
	dperm_pass_write(pass, words);
	return dperm_pass_words(pass);
}

#endif							/* DPERM_SAMPLE_PASS_H */
