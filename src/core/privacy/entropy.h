/*
 * entropy.h: the random bits that protect privacy.
 *
 * They come from the host: the server's strong random source, or a fixed stream
 * in unit tests. If the source fails, the struct remembers it: draws
 * made afterwards are meaningless, and the caller checks dperm_entropy_ok()
 * once at the end.
 */
#ifndef DPERM_ENTROPY_H
#define DPERM_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct DpermEntropy
{
	bool		failed;
	uint64_t	pool[32];
	int			left;			/* words not yet used */
	uint64_t	bits;			/* single bits not yet used */
	int			bits_left;
} DpermEntropy;

extern void dperm_entropy_init(DpermEntropy *e);

/* Did the source provide random bits for every draw so far? */
static inline bool
dperm_entropy_ok(const DpermEntropy *e)
{
	return !e->failed;
}

/* Erase the unused bits. */
extern void dperm_entropy_wipe(DpermEntropy *e);

#endif							/* DPERM_ENTROPY_H */
