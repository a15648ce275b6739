/*
 * moments_state.h: the state of the pass aggregates, updated in place.
 */
#ifndef DPERM_MOMENTS_STATE_H
#define DPERM_MOMENTS_STATE_H

#include "fmgr.h"
#include "utils/expandeddatum.h"

#include "column/label.h"
#include "column/reader.h"
#include "core/encode/feed.h"
#include "core/solve/moments.h"
#include "query/moments_flat.h"

/* The expanded form. */
typedef struct DpermMomentsState
{
	ExpandedObjectHeader hdr;
	DpermPass	pass;			/* the request; settling writes the sums here */
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

	/* how labels that are not booleans are read */
	DpermLabels labels;
	DpermLabel	label;
	/* the type in this call; InvalidOid: none so far */
	Oid			label_call;

	double	   *weights;		/* those of the request */
	DpermMoments moments;		/* of a pass that sums */
	int64	   *counts;			/* of a pass that counts; in the rows of the header, too */
	double	   *room;			/* for a decision */
	/* weights of the rows that wait in the feed, if they have any */
	double		waiting[DPERM_FEED_ROWS];
} DpermMomentsState;

/*
 * An expanded state that continues a flat one, in a child of the given context.
 */
extern DpermMomentsState *dperm_moments_state_expand(const DpermFlat *flat, MemoryContext parent);

/*
 * Add a row of a person with this many labelled rows, including this one if it
 * has a label; rows without a label have no weight. first: is it the row that
 * the person is counted by? Only for a pass with weights.
 */
extern void
dperm_moments_state_add_weighted(DpermMomentsState *state, double label, int64 labelled,
								 bool first);

/*
 * Any state as an expanded object that may be modified; copied only if it is
 * not one already.
 */
extern DpermMomentsState *dperm_moments_state_get(Datum value, MemoryContext parent);

/*
 * Where an aggregate's state lives; outside an aggregate, where the caller is.
 */
extern MemoryContext dperm_moments_state_context(FunctionCallInfo fcinfo);

/*
 * Prepare to read labels of a type; false if the request is for another type.
 */
extern bool dperm_moments_state_bind_label(DpermMomentsState *state, Oid type);

/* Add the row whose values have been read, with a label as layout.h says. */
extern void dperm_moments_state_add_any(DpermMomentsState *state, double label);

/*
 * The same, with a fast path for a row that need not wait for others in a pass
 * that sums.
 */
static inline void
dperm_moments_state_add(DpermMomentsState *state, double label)
{
	if (state->direct)
		dperm_feed_write(&state->feed, state->values, label, dperm_moments_next(&state->moments));
	else
		dperm_moments_state_add_any(state, label);
}

#endif							/* DPERM_MOMENTS_STATE_H */
