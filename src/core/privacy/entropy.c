/*
 * entropy.c: the pool of random bits.
 */
#include "core/privacy/entropy.h"

#include <string.h>

/* Start with an empty pool. */
void
dperm_entropy_init(DpermEntropy *e)
{
	memset(e, 0, sizeof(*e));
}

/* Erase the unused bits, in a way that the compiler does not optimise away. */
void
dperm_entropy_wipe(DpermEntropy *e)
{
	volatile uint64_t *word = e->pool;

	for (size_t i = 0; i < sizeof(e->pool) / sizeof(e->pool[0]); i++)
		word[i] = 0;
	e->left = 0;
	e->bits = 0;
	e->bits_left = 0;
}
