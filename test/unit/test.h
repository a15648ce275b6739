/*
 * test.h: the harness of the unit tests. One program per file, which runs its
 * tests in their order:
 *
 *	TEST(adds_up)
 *	{
 *		CHECK(1 + 1 == 2);
 *	}
 *
 * A program that prepares something first defines TEST_OWN_MAIN, and calls
 * test_main().
 */
#ifndef DPERM_TEST_H
#define DPERM_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Failures shown per test; a loop that fails shows only its first few. */
#define TEST_COMPLAINTS 10

static int	test_passed;
static int	test_failed;
static int	test_complaints;
static const char *test_name;

/*
 * How often something random is tried: a quarter as often as asked for, unless
 * the variable LONG is set, as it is once a week and for the audit.
 */
static inline int
test_rounds(int asked)
{
	const char *set = getenv("LONG");

	return set && *set ? asked : asked / 4;
}

/* A test of this program. */
typedef struct TestEntry
{
	const char *name;
	void		(*run) (void);
	struct TestEntry *next;
} TestEntry;

static TestEntry *test_entries;

/* Add a test after the others. */
static inline void
test_add(TestEntry *entry)
{
	static TestEntry **end = &test_entries;

	*end = entry;
	end = &entry->next;
}

/* Record a check that did not hold. */
static inline void
test_complain(const char *file, int line, const char *what)
{
	if (test_complaints++ < TEST_COMPLAINTS)
		fprintf(stderr, "%s:%d: %s: %s\n", file, line, test_name, what);
}

/* As test_complain, with the two numbers. */
static inline void
test_complain_near(const char *file, int line, const char *what,
				   double a, double b, double tolerance)
{
	if (test_complaints++ < TEST_COMPLAINTS)
		fprintf(stderr, "%s:%d: %s: %s: %.17g and %.17g differ by more than %g\n",
				file, line, test_name, what, a, b, tolerance);
}

/* As test_complain, with the two strings. */
static inline void
test_complain_text(const char *file, int line, const char *a, const char *b)
{
	if (test_complaints++ < TEST_COMPLAINTS)
		fprintf(stderr, "%s:%d: %s: got \"%s\", expected \"%s\"\n", file, line, test_name,
				a ? a : "(null)", b);
}

/* Run one test function and count it. */
static inline void
test_run(const char *name, void (*fn) (void))
{
	test_name = name;
	test_complaints = 0;
	fn();
	if (test_complaints > 0)
		test_failed++;
	else
		test_passed++;
}

/* The closing line; the result is the exit code. */
static inline int
test_report(void)
{
	printf("%d passed, %d failed\n", test_passed, test_failed);
	return test_failed > 0 || test_passed == 0;
}

/* Runs every test; the result is the exit code. */
static inline int
test_main(void)
{
	for (const TestEntry *entry = test_entries; entry; entry = entry->next)
		test_run(entry->name, entry->run);
	return test_report();
}

#ifndef TEST_OWN_MAIN
int
main(void)
{
	return test_main();
}
#endif

#define TEST(function) \
	static void function(void); \
	static void __attribute__((constructor)) \
	test_add_##function(void) \
	{ \
		static TestEntry entry = {#function, function, NULL}; \
		test_add(&entry); \
	} \
	static void function(void)

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			test_complain(__FILE__, __LINE__, #condition); \
	} while (0)

/* Written so that a NaN fails. */
#define CHECK_NEAR(a, b, tolerance) \
	do { \
		double test_a = (a); \
		double test_b = (b); \
		double test_tolerance = (tolerance); \
		if (!(fabs(test_a - test_b) <= test_tolerance)) \
			test_complain_near(__FILE__, __LINE__, #a " ~ " #b, test_a, test_b, \
							   test_tolerance); \
	} while (0)

#define CHECK_TEXT(a, b) \
	do { \
		const char *test_text = (a); \
		if (test_text == NULL || strcmp(test_text, (b)) != 0) \
			test_complain_text(__FILE__, __LINE__, test_text, (b)); \
	} while (0)

/* xorshift64*: the same stream on every machine. The state is never zero. */
typedef uint64_t TestRandom;

static inline uint64_t
test_random(TestRandom *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

/* Uniform on [0, 1). */
static inline double
test_uniform(TestRandom *state)
{
	return (double) (test_random(state) >> 11) * 0x1p-53;
}

/* Uniform among 0 .. below - 1, near enough. */
static inline int
test_below(TestRandom *state, int below)
{
	return (int) (test_random(state) % (uint64_t) below);
}

#endif							/* DPERM_TEST_H */
