/*
 * host.c: the host of the core in tests.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

/* What was allocated, each with the one before. */
typedef struct Chunk
{
	struct Chunk *before;
	max_align_t bytes[];
} Chunk;

jmp_buf    *test_host_failure;
const char *test_host_why;
size_t		test_host_allocated;
static Chunk *chunks;

void *
test_host_keep(size_t size)
{
	Chunk	   *chunk = calloc(1, sizeof(Chunk) + size);

	if (chunk == NULL)
		dperm_host_fail("out of memory");
	chunk->before = chunks;
	chunks = chunk;
	return chunk->bytes;
}

void *
dperm_host_alloc(size_t size)
{
	test_host_allocated += size;
	return test_host_keep(size);
}

void
dperm_host_fail(const char *why)
{
	test_host_why = why;
	if (test_host_failure)
		longjmp(*test_host_failure, 1);
	fprintf(stderr, "the core failed: %s\n", why);
	abort();
}

void
test_host_release(void)
{
	while (chunks)
	{
		Chunk	   *before = chunks->before;

		free(chunks);
		chunks = before;
	}
	test_host_allocated = 0;
}
