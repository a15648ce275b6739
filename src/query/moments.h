/*
 * moments.h: sums over the rows of other servers: what a pass is asked, and what
 * comes back. pass.h has both as bytes; aggregates in moments.c compute them.
 */
#ifndef DPERM_MOMENTS_AGGREGATE_H
#define DPERM_MOMENTS_AGGREGATE_H

#include "nodes/pg_list.h"

#include "core/encode/encoder.h"
#include "core/loss/loss.h"
#include "core/solve/pass.h"

/* What a pass is told about the rows, apart from its order and its weights. */
typedef struct DpermPassSpec
{
	DpermLoss	loss;
	DpermEncoder encoder;
	const uint64 *readers;		/* one word per block, see dperm_reader_word() */
	DpermLabels labels;
	bool		weighted;		/* are the units persons, whose rows have weights in a pass? */
	uint64		seed;			/* of a digest of the rows, 0: none; passes that count have none */
} DpermPassSpec;

extern bytea *dperm_moments_request(const DpermPassSpec *spec, DpermPass *pass);
extern void dperm_moments_answer(const bytea *request, List *results, DpermPass *answer);
extern void dperm_moments_wrong_answer(void) __attribute__((noreturn));

#endif							/* DPERM_MOMENTS_AGGREGATE_H */
