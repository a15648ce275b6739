/*
 * host.h: what the core needs of its host. The server has it in base/host.c,
 * tests in test/host.c.
 *
 * Between drawing noise and wiping it, only an interrupt may leave a function of
 * the core: nothing in between allocates or fails.
 */
#ifndef DPERM_CORE_HOST_H
#define DPERM_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Memory, zeroed, and never NULL. Nobody frees it by itself: it goes with the
 * context of the server that it is from.
 */
extern void *dperm_host_alloc(size_t size);

/*
 * Give up, with a static text that says why: what cannot happen. Does not
 * return. Bad data and bad arguments are results instead.
 */
extern void dperm_host_fail(const char *why) __attribute__((noreturn));

/*
 * Called at least every few tens of milliseconds by what can run for long. May
 * not return: the core holds nothing that would have to be released.
 */
extern void dperm_host_poll(void);

/* Strong random bytes; false if there are none. Only entropy.c asks for them. */
extern bool dperm_host_random(void *bytes, size_t count);

#endif							/* DPERM_CORE_HOST_H */
