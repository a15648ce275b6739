/*
 * host.h: services of the server for the core: interrupts, random bits, memory,
 * errors.
 */
#ifndef DPERM_HOST_H
#define DPERM_HOST_H

#include "core/base/status.h"
#include "core/encode/encoder.h"
#include "core/encode/feed.h"
#include "core/mechanism/setup.h"

/* CHECK_FOR_INTERRUPTS as the core's poll. */
extern const DpermPoll dperm_host_interrupts;

/* pg_strong_random as the core's entropy. */
extern bool dperm_host_random(void *arg, void *bytes, size_t count);

/* Raise the error for a status of the core. Nothing in it depends on rows. */
extern void dperm_host_check_status(DpermStatus status);

/*
 * dperm_calibrate(), or an error for arguments that are not valid for this row
 * count.
 */
extern DpermCalibration dperm_host_calibrate(const DpermSetup *setup);

/*
 * Return the encoder, or raise an error if it is not valid, for example because
 * it has too many coordinates.
 */
extern DpermEncoder dperm_host_check_encoder(DpermEncoder encoder);

/*
 * The frequencies of an encoder's kernel in the current context; NULL without a
 * kernel.
 */
extern double *dperm_host_frequencies(const DpermEncoder *encoder);

/*
 * Make a feed for an encoder in the current context; if like is not NULL, what
 * is the same is shared with it, so that it must live as long.
 */
extern void dperm_host_feed(DpermFeed *feed, const DpermEncoder *encoder, const DpermFeed *like);

#endif							/* DPERM_HOST_H */
