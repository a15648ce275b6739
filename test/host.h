/*
 * host.h: the host of the core in tests: memory by malloc, and failures that a
 * test can expect.
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
