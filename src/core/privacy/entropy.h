/*
 * entropy.h: the random bits that protect privacy.
 *
 * They come from one callback: the server's strong random source; a fixed
 * stream in unit tests. A failed source is remembered in the struct: draws made
 * afterwards are meaningless, and the caller asks once at the end with
 * dperm_entropy_ok().
 */
#ifndef DPERM_ENTROPY_H
#define DPERM_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct DpermEntropy
{
	bool		(*fill) (void *arg, void *bytes, size_t count);
	void	   *arg;
	bool		failed;
	uint64_t	pool[32];
	int			left;			/* words not yet used */
	uint64_t	bits;			/* single bits not yet used */
	int			bits_left;
} DpermEntropy;

extern void dperm_entropy_init(DpermEntropy *e, bool (*fill) (void *, void *, size_t),
							   void *arg);

/* Did every draw so far have its random bits? */
static inline bool
dperm_entropy_ok(const DpermEntropy *e)
{
	return !e->failed;
}

/* Forget the unused bits. */
extern void dperm_entropy_wipe(DpermEntropy *e);

#endif							/* DPERM_ENTROPY_H */
