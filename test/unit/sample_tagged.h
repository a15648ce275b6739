/*
 * sample_tagged.h: tagged rows of every kind, for tests and as seeds for
 * fuzzing.
 */
#ifndef DPERM_SAMPLE_TAGGED_H
#define DPERM_SAMPLE_TAGGED_H

#include "unit/test.h"

#include "core/encode/tagged.h"

#define SAMPLE_TAGGED_VALUES 12
#define SAMPLE_TAGGED_COUNT 20
#define SAMPLE_TAGGED_BYTES (SAMPLE_TAGGED_VALUES * (DPERM_TAGGED_HEAD + 8 * SAMPLE_TAGGED_COUNT))

/* A number of any size, NaN, or infinity. */
static inline double
sample_number(TestRandom *state)
{
	static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};

	if (test_below(state, 4) == 0)
		return special[test_below(state, 5)];
	return ldexp(2 * test_uniform(state) - 1, test_below(state, 200) - 100);
}

/*
 * Write a value and say what it is, with what it has as a text in its elements; returns the
 * position after it.
 */
static inline unsigned char *
sample_value(TestRandom *state, DpermTagged *value, double *elements, unsigned char *at)
{
	memset(value, 0, sizeof(*value));
	value->kind = (DpermBlockKind) test_below(state, 5);
	value->single = value->kind == DPERM_BLOCK_VECTOR && test_below(state, 2);
	value->present = test_below(state, 4) != 0;
	value->encoding = value->kind == DPERM_BLOCK_CATEGORY ? (int) test_below(state, 42) : 0;
	value->bytes = (const unsigned char *) elements;
	if (!value->present)
		return dperm_tagged_put(at, value, elements);
	switch (value->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			value->number = sample_number(state);
			break;
		case DPERM_BLOCK_FLAG:
			value->number = test_below(state, 2) ? 1 : -1;
			break;
		default:
			value->count = (int) test_below(state, SAMPLE_TAGGED_COUNT + 1);
	}
	for (int i = 0; i < value->count; i++)
	{
		elements[i] = sample_number(state);
		if (value->single)
			elements[i] = (float) elements[i];
	}
	return dperm_tagged_put(at, value, elements);
}

#endif							/* DPERM_SAMPLE_TAGGED_H */
