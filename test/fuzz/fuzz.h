/*
 * fuzz.h: what a fuzz target provides to standalone.c.
 */
#ifndef DPERM_FUZZ_H
#define DPERM_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The target; the engine calls it with one input after the other. */
extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Optional: write the index-th built-in seed to out, at most room bytes, and
 * return its size; 0 after the last one. libFuzzer does not know of it and
 * starts from its corpus alone.
 */
extern size_t fuzz_seeds(int index, uint8_t *out, size_t room) __attribute__((weak));

/* End the run at an input that violates an assertion. */
#define FUZZ_REQUIRE(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

#endif							/* DPERM_FUZZ_H */
