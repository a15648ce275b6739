/*
 * host.h: the host of the core in tests: memory by malloc, failures that a test
 * can expect, polls that it can count or leave by, and its own random bits.
 */
#ifndef DPERM_TEST_HOST_H
#define DPERM_TEST_HOST_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/host.h"

/* Where a failure goes, and why it failed last; without a place it ends the program. */
extern jmp_buf *test_host_failure;
extern const char *test_host_why;

/* Memory of the host's own. */
extern void *test_host_keep(size_t size);

/* How many bytes the core has allocated since the last release; and free all of them. */
extern size_t test_host_allocated;
extern void test_host_release(void);

/* What a poll does, if not NULL; it may leave by longjmp. */
extern void (*test_host_poll) (void *arg);
extern void *test_host_poll_arg;

/* A poll that counts, for an int as test_host_poll_arg. */
extern void test_host_count_poll(void *arg);

/*
 * Where random bits that are written to this place come from, from now on. So
 * each DpermEntropy has a source of its own, by the address of its pool: a test
 * can compare several streams. A place without a source ends the program.
 */
extern void test_host_random_from(const void *place, bool (*fill) (void *arg, void *bytes, size_t count),
								  void *arg);

/* Does this statement fail? It must not need what it leaves behind. */
#define TEST_FAILS(statement) \
	(__extension__ ({ \
		jmp_buf		test_place; \
		volatile bool test_failed_here = true; \
		test_host_failure = &test_place; \
		if (setjmp(test_place) == 0) \
		{ \
			statement; \
			test_failed_here = false; \
		} \
		test_host_failure = NULL; \
		test_failed_here; \
	}))

#endif							/* DPERM_TEST_HOST_H */
