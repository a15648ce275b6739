/*
 * status.h: how the core reports errors, and how its caller can interrupt it.
 *
 * A function that can fail returns a DpermStatus; a function that can run for
 * long takes a DpermPoll and calls it at least every few tens of milliseconds.
 * The poll may exit by longjmp: the core holds no resources that would have to
 * be released.
 */
#ifndef DPERM_STATUS_H
#define DPERM_STATUS_H

typedef enum DpermStatus
{
	DPERM_OK = 0,
	DPERM_BAD_ARGUMENT,			/* a parameter is outside its documented range */
	DPERM_BAD_FORMAT,			/* a text or binary form cannot be decoded */
	DPERM_NO_ENTROPY,			/* the random source failed */
	DPERM_NOT_CERTIFIED			/* a solver did not reach its goal; never the result of a fit */
} DpermStatus;

typedef struct DpermPoll
{
	void		(*fn) (void *arg);	/* NULL: nothing to poll */
	void	   *arg;
} DpermPoll;

static inline void
dperm_poll(const DpermPoll *poll)
{
	if (poll && poll->fn)
		poll->fn(poll->arg);
}

#endif							/* DPERM_STATUS_H */
