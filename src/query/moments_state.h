/*
 * moments_state.h: the state of the pass aggregates, updated in place.
 */
#ifndef DPERM_MOMENTS_STATE_H
#define DPERM_MOMENTS_STATE_H

#include "fmgr.h"
#include "utils/expandeddatum.h"

#include "column/label.h"
#include "column/reader.h"
#include "column/record.h"
#include "core/encode/feed.h"
#include "core/solve/moments.h"
#include "query/moments_flat.h"

/* The expanded form. */
typedef struct DpermMomentsState
{
	ExpandedObjectHeader hdr;
	DpermPass	pass;			/* the request; sums are brought here by settling */
	int			dim;

	/* how rows are read and encoded */
	DpermEncoder encoder;
	const unsigned char *encoder_form;	/* its binary form, pass.encoder bytes */
	uint64	   *reader_words;
	DpermReader *readers;		/* one per block */
	DpermValue *values;
	DpermRecord record;			/* the type of rows that come as records */
	DpermFeed	feed;
	uint64	   *digest_keys;	/* of rows, if the request asks for a digest; else NULL */
	bool		direct;			/* do rows go straight into the sums? */

	/* how labels are read that are no booleans */
	char	   *positive;		/* or NULL */
	DpermLabel	label;
	/* the type that it reads, as the call has it; InvalidOid: none so far */
	Oid			label_call;

	double	   *weights;		/* those of the request */
	DpermMoments moments;		/* of a pass that sums up */
	int64	   *counts;			/* of a pass that counts, in the header's rows too */
	double	   *room;			/* for a decision */
	/* what rows weigh that wait in the feed, if they have weights */
	double		waiting[DPERM_FEED_ROWS];
} DpermMomentsState;

/*
 * An expanded state that continues a flat one, in a child of the given context.
 */
extern DpermMomentsState *dperm_moments_state_expand(const DpermFlat *flat, MemoryContext parent);

/*
 * Add the row of a person with so many rows that have a label, this one among
 * them if it has one; rows without a label weigh nothing. first: is it the one
 * of their rows by which the person is counted? For a pass over rows with
 * weights, and no other is for rows without.
 */
extern void
dperm_moments_state_add_weighted(DpermMomentsState *state, int sign, int64 labelled, bool first);

/*
 * Any state as an expanded object that may be modified; one that is already
 * stays where it is.
 */
extern DpermMomentsState *dperm_moments_state_get(Datum value, MemoryContext parent);

/*
 * Where an aggregate's state lives; outside an aggregate, where the caller is.
 */
extern MemoryContext dperm_moments_state_context(FunctionCallInfo fcinfo);

/*
 * Let labels of a type be read: false if the request is about those of another
 * one.
 */
extern bool dperm_moments_state_bind_label(DpermMomentsState *state, Oid type);

/*
 * Add the row whose values have been read; sign is -1 or +1, or 0 for a row
 * without a label.
 */
extern void dperm_moments_state_add_any(DpermMomentsState *state, int sign);

/*
 * The same; a row that need not wait for others, in a pass that sums up, takes
 * the shortest way.
 */
static inline void
dperm_moments_state_add(DpermMomentsState *state, int sign)
{
	if (state->direct)
		dperm_feed_write(&state->feed, state->values, sign, dperm_moments_next(&state->moments));
	else
		dperm_moments_state_add_any(state, sign);
}

#endif							/* DPERM_MOMENTS_STATE_H */
