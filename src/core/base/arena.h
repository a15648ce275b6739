/*
 * arena.h: memory that a caller lends to a decoder.
 *
 * The decoders do not allocate. Their results point into an arena, whose size
 * the caller derives from the length of the input. Running out of space is
 * reported as a bad format; it never crashes.
 */
#ifndef DPERM_ARENA_H
#define DPERM_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct DpermArena
{
	char	   *at;
	size_t		left;
} DpermArena;

/*
 * size bytes aligned for any type, or NULL if they do not fit; every later call
 * returns NULL then.
 */
static inline void *
dperm_arena_take(DpermArena *arena, size_t size)
{
	size_t		skip = (16 - (uintptr_t) arena->at % 16) % 16;
	char	   *taken;

	if (size > SIZE_MAX - skip || skip + size > arena->left)
	{
		arena->left = 0;
		return NULL;
	}
	taken = arena->at + skip;
	arena->at += skip + size;
	arena->left -= skip + size;
	return taken;
}

#endif							/* DPERM_ARENA_H */
