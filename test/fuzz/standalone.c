/*
 * standalone.c: a main() for fuzz targets where libFuzzer is not available.
 *
 *	target [-seconds N] [corpus file or directory ...]
 *
 * Runs every seed, then mutations of them until the time is up: always the same
 * ones, so that a finding can be repeated. It is blind to coverage. libFuzzer's
 * -max_total_time=N and -artifact_prefix=P are understood, its other options
 * are not. An input that ends the run is written to <prefix>crash.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "fuzz/fuzz.h"

#define INPUT_MAX 8192
#define SEEDS_MAX 1024

typedef struct Seed
{
	uint8_t    *data;
	size_t		size;
} Seed;

static Seed seeds[SEEDS_MAX];
static int	seed_count;
static const char *artifact_prefix = "";

/* The current input, for the report of a crash. */
static const uint8_t *current;
static size_t current_size;

/* The sanitizers call this before they end the process. */
extern void __sanitizer_set_death_callback(void (*callback) (void)) __attribute__((weak));

/* xorshift64*, never seeded by anything but this constant. */
static uint64_t random_state = 88172645463325252;

static uint64_t
next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * UINT64_C(2685821657736338717);
}

/* Uniform among 0 .. below - 1, near enough. */
static size_t
below(size_t limit)
{
	return limit == 0 ? 0 : (size_t) (next_random() % limit);
}

/* Keep the input that ends the run. */
static void
write_artifact(void)
{
	char		path[4096];
	FILE	   *file;

	if (current == NULL)
		return;
	snprintf(path, sizeof(path), "%scrash", artifact_prefix);
	file = fopen(path, "wb");
	if (file == NULL)
		return;
	fwrite(current, 1, current_size, file);
	fclose(file);
	fprintf(stderr, "input of %zu bytes written to %s\n", current_size, path);
	current = NULL;
}

/* abort() in a target. */
static void
on_abort(int signal_number)
{
	write_artifact();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Run one input, from memory that ends where the input does. */
static void
run(const uint8_t *data, size_t size)
{
	uint8_t    *copy = malloc(size > 0 ? size : 1);

	memcpy(copy, data, size);
	current = copy;
	current_size = size;
	LLVMFuzzerTestOneInput(copy, size);
	current = NULL;
	free(copy);
}

/* Remember a seed. */
static void
add_seed(const uint8_t *data, size_t size)
{
	Seed	   *seed = &seeds[seed_count];

	if (seed_count >= SEEDS_MAX)
		return;
	seed->data = malloc(size > 0 ? size : 1);
	memcpy(seed->data, data, size);
	seed->size = size;
	seed_count++;
}

/* A corpus file, or all of a directory. */
static void
add_path(const char *path)
{
	static uint8_t data[INPUT_MAX];
	struct stat st;

	if (stat(path, &st) != 0)
	{
		perror(path);
		exit(2);
	}
	if (S_ISDIR(st.st_mode))
	{
		DIR		   *dir = opendir(path);
		struct dirent *entry;

		while (dir && (entry = readdir(dir)) != NULL)
		{
			char		child[4096];

			if (entry->d_name[0] == '.')
				continue;
			snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
			add_path(child);
		}
		if (dir)
			closedir(dir);
	}
	else
	{
		FILE	   *file = fopen(path, "rb");

		if (file == NULL)
		{
			perror(path);
			exit(2);
		}
		add_seed(data, fread(data, 1, sizeof(data), file));
		fclose(file);
	}
}

/* Cut size bytes at a position out of an input. */
static size_t
cut(uint8_t *data, size_t size, size_t at, size_t count)
{
	memmove(data + at, data + at + count, size - at - count);
	return size - count;
}

/* Make space for count bytes at a position, as far as the input may grow. */
static size_t
widen(uint8_t *data, size_t size, size_t at, size_t *count)
{
	if (*count > INPUT_MAX - size)
		*count = INPUT_MAX - size;
	memmove(data + at + *count, data + at, size - at);
	return size + *count;
}

/* Change an input in one small way; returns its new size. */
static size_t
mutate(uint8_t *data, size_t size)
{
	static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff, '"', '\\', '{', '}', '[', ']', ',',
		':', '-', '.', 'e', '0', '9', 'n', 't', ' '};
	const Seed *other = &seeds[below((size_t) seed_count)];
	size_t		at = below(size);
	size_t		count = 1 + below(next_random() % 4 ? 8 : 64);
	size_t		from;

	if (size == 0)
	{
		data[0] = (uint8_t) next_random();
		return 1;
	}
	switch (next_random() % 8)
	{
		case 0:					/* one bit */
			data[at] ^= (uint8_t) (1U << below(8));
			return size;
		case 1:					/* one byte */
			data[at] = (uint8_t) next_random();
			return size;
		case 2:					/* one byte of a special value */
			data[at] = edges[below(sizeof(edges))];
			return size;
		case 3:					/* a few bytes, counted up or down */
			data[at] = (uint8_t) (data[at] + 1 + below(16) - 8);
			return size;
		case 4:					/* less */
			return cut(data, size, at, count < size - at ? count : size - at);
		case 5:					/* a piece of the same input again */
			from = below(size);
			if (count > size - from)
				count = size - from;
			{
				uint8_t		piece[64];

				memcpy(piece, data + from, count);
				size = widen(data, size, at, &count);
				memcpy(data + at, piece, count);
			}
			return size;
		case 6:					/* a piece of another seed, over this one */
			from = below(other->size);
			for (size_t i = 0; i < count && from + i < other->size && at + i < size; i++)
				data[at + i] = other->data[from + i];
			return size;
		default:				/* shorter */
			return next_random() % 8 ? size : at;
	}
}

int
main(int argc, char **argv)
{
	static uint8_t data[INPUT_MAX];
	double		seconds = 5.0;
	struct timespec start;
	struct timespec now;
	uint64_t	executions = 0;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "-seconds") == 0 && i + 1 < argc)
			seconds = atof(argv[++i]);
		else if (strncmp(argv[i], "-max_total_time=", 16) == 0)
			seconds = atof(argv[i] + 16);
		else if (strncmp(argv[i], "-artifact_prefix=", 17) == 0)
			artifact_prefix = argv[i] + 17;
		else if (argv[i][0] == '-')
		{
			fprintf(stderr, "unknown option %s\n", argv[i]);
			return 2;
		}
		else
			add_path(argv[i]);
	}
	if (fuzz_seeds)
	{
		size_t		size;

		for (int i = 0; (size = fuzz_seeds(i, data, sizeof(data))) > 0; i++)
			add_seed(data, size);
	}
	if (seed_count == 0)
		add_seed((const uint8_t *) "", 0);

	signal(SIGABRT, on_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(write_artifact);

	for (int i = 0; i < seed_count; i++, executions++)
		run(seeds[i].data, seeds[i].size);

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
	{
		for (int i = 0; i < 256; i++, executions++)
		{
			const Seed *seed = &seeds[below((size_t) seed_count)];
			size_t		size = seed->size;

			memcpy(data, seed->data, size);
			for (size_t changes = 1 + below(4); changes > 0; changes--)
				size = mutate(data, size);
			run(data, size);
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double) (now.tv_sec - start.tv_sec) +
			 1e-9 * (double) (now.tv_nsec - start.tv_nsec) < seconds);

	for (int i = 0; i < seed_count; i++)
		free(seeds[i].data);
	printf("%llu executions from %d seeds\n", (unsigned long long) executions, seed_count);
	printf("no input broke a promise\n");
	return 0;
}
