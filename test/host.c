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

void		(*test_host_poll) (void *arg);
void	   *test_host_poll_arg;

/* The sources of random bits: more than any test uses at the same time. */
#define SOURCES 64

static struct
{
	const void *place;
	bool		(*fill) (void *arg, void *bytes, size_t count);
	void	   *arg;
}			sources[SOURCES];
static int	newest;

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
dperm_host_poll(void)
{
	if (test_host_poll)
		test_host_poll(test_host_poll_arg);
}

void
test_host_count_poll(void *arg)
{
	++*(int *) arg;
}

/* The source of a place; that which was set longest ago, if it has none. */
static int
source_of(const void *place)
{
	for (int i = 0; i < SOURCES; i++)
		if (sources[i].place == place)
			return i;
	return newest = (newest + 1) % SOURCES;
}

void
test_host_random_from(const void *place, bool (*fill) (void *arg, void *bytes, size_t count),
					  void *arg)
{
	int			i = source_of(place);

	sources[i].place = place;
	sources[i].fill = fill;
	sources[i].arg = arg;
}

bool
dperm_host_random(void *bytes, size_t count)
{
	int			i = source_of(bytes);

	if (sources[i].place != bytes)
	{
		fprintf(stderr, "random bits without a source\n");
		abort();
	}
	return sources[i].fill(sources[i].arg, bytes, count);
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
