/*
 * dperm.h: what the PostgreSQL side lends to the core, and its settings.
 */
#ifndef DPERM_H
#define DPERM_H

#include "core/base/status.h"
#include "core/encode/encoder.h"
#include "core/encode/feed.h"
#include "core/mechanism/setup.h"

/* dperm.aggregate_memory, dperm.cache_memory and dperm.pull_memory, in kilobytes; dperm.progress. */
extern int	dperm_aggregate_memory;
extern int	dperm_cache_memory;

/* How long a call on a protected relation may read and compute, in milliseconds; 0 for no limit. */
extern int	dperm_call_timeout;
extern int	dperm_pull_memory;
extern bool dperm_progress;

/* CHECK_FOR_INTERRUPTS as the core's poll. */
extern const DpermPoll dperm_interrupts;

/* pg_strong_random as the core's entropy. */
extern bool dperm_strong_random(void *arg, void *bytes, size_t count);

/* Raise the error for a status of the core. Nothing in it depends on rows. */
extern void dperm_check_status(DpermStatus status);

/* dperm_calibrate, or the error for an argument that only shows with the row count. */
extern DpermCalibration dperm_checked_calibration(const DpermSetup *setup);

/* The encoder itself, or the error for one that cannot be: of too many coordinates, for example. */
extern DpermEncoder dperm_checked_encoder(DpermEncoder encoder);

/* The frequencies of an encoder's kernel in the current context; NULL without a kernel. */
extern double *dperm_frequencies(const DpermEncoder *encoder);

/* Make a feed for an encoder in the current context; like, if not NULL, lends what is the same and stays in use. */
extern void dperm_feed_make(DpermFeed *feed, const DpermEncoder *encoder, const DpermFeed *like);

#endif							/* DPERM_H */
