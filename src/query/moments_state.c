/*
 * moments_state.c: the state of the pass aggregates, updated in place.
 *
 * A dperm_moments value is either flat (moments_flat.c) or an expanded object,
 * as here. The rules for the aggregate's functions, which hold on a Citus
 * cluster too:
 *
 * - transition and combine take a flat, a read-only or a read-write expanded
 *   state; only the last kind is modified, any other is copied into the
 *   aggregate's context first;
 * - everything a pass needs is in the request, hence in the state; no setting
 *   is looked at;
 * - nothing in a request depends on a server: no OID, and texts that are not
 *   ASCII come with their encoding;
 * - nothing a row holds raises an error.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/host.h"
#include "core/base/classes.h"
#include "core/base/digest.h"
#include "core/model/score.h"
#include "core/privacy/counts.h"
#include "core/privacy/claim.h"
#include "query/moments_state.h"

PG_FUNCTION_INFO_V1(dperm_moments_combine);

StaticAssertDecl(DPERM_PASS_CELLS == DPERM_CELLS, "cells of the confusion matrix");
StaticAssertDecl(DPERM_PASS_CLASSES_MAX == DPERM_COUNTS_CLASSES_MAX, "classes that are counted");
StaticAssertDecl(DPERM_PASS_SUMS == DPERM_SUMS, "sums of errors");
StaticAssertDecl(DPERM_PASS_PARTS == DPERM_PERSON_PARTS, "parts of a person");
StaticAssertDecl(DPERM_PASS_PARTS == DPERM_ERRORS_PARTS, "parts of an error");

/* Move waiting rows into the current block. */
static void
map_rows(DpermMomentsState *state)
{
	const DpermLayout *layout = &state->feed.layout;
	int			waiting = state->feed.waiting;
	double	   *mapped;

	if (waiting == 0)
		return;
	mapped = dperm_feed_map(&state->feed);
	for (int i = 0; layout->weighted && i < waiting; i++)
		*dperm_row_weight(layout, mapped + (size_t) i * layout->words) = state->waiting[i];
	memcpy(dperm_moments_next_rows(&state->moments, waiting), mapped,
		   sizeof(double) * layout->words * waiting);
}

/* Does the state belong to a pass that counts? */
static bool
is_counting(const DpermMomentsState *state)
{
	return state->pass.order == DPERM_PASS_COUNT;
}

/* Bring the header up to date with the sums. */
static void
settle_state(DpermMomentsState *state)
{
	if (is_counting(state))
		return;
	map_rows(state);
	dperm_moments_flush(&state->moments);
	state->pass.rows = state->moments.rows;
	state->pass.value[0] = state->moments.value[0];
	state->pass.value[1] = state->moments.value[1];
}

/* What is beside the weights: their low parts, or a direction. */
static const double *
second_vector(const DpermMomentsState *state)
{
	return state->pass.order == DPERM_PASS_CAREFUL ? state->moments.weights_low :
													 state->moments.direction;
}

/* Size of the flat form of an expanded state. */
static Size
state_flat_size(ExpandedObjectHeader *header)
{
	DpermMomentsState *state = (DpermMomentsState *) header;

	settle_state(state);
	return DPERM_FLAT_SIZE(dperm_pass_words(&state->pass));
}

/* Write the flat form of an expanded state. */
static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	DpermMomentsState *state = (DpermMomentsState *) header;
	DpermFlat *flat = result;
	const DpermPass *pass = &state->pass;
	size_t		vector = sizeof(double) * state->dim;

	settle_state(state);
	Assert(size == DPERM_FLAT_SIZE(dperm_pass_words(pass)));
	SET_VARSIZE(flat, size);
	flat->padding = 0;
	dperm_pass_write(pass, flat->words);
	memcpy(flat->words + dperm_pass_weights_at(pass), state->weights, vector);
	if (dperm_pass_has_second(pass))
		memcpy(flat->words + dperm_pass_weights_at(pass) + state->dim, second_vector(state),
			   vector);
	if (pass->rows > 0 && is_counting(state))
		memcpy(flat->words + dperm_pass_gradient_at(pass), state->counts,
			   sizeof(int64) * dperm_pass_count_cells(pass));
	else if (pass->rows > 0)
	{
		double	   *sums = (double *) flat->words + dperm_pass_gradient_at(pass);

		memcpy(sums, state->moments.gradient, vector);
		memcpy(sums + state->dim, state->moments.gradient_low, vector);
	}
	if (dperm_pass_has_hess(pass) && pass->rows > 0)
		dperm_moments_pack(&state->moments,
						   (double *) flat->words + dperm_pass_hess_at(pass));
	memcpy(flat->words + dperm_pass_readers_at(pass), state->reader_words,
		   sizeof(uint64) * pass->readers);
	dperm_moments_flat_put_bytes(flat, pass, state->encoder_form, &state->labels);
}

static const ExpandedObjectMethods state_methods = {state_flat_size, state_flatten};

/* Take over from a flat value how rows are read and encoded. */
static void
take_encoder(DpermMomentsState *state, const DpermFlat *flat)
{
	const DpermPass *pass = &state->pass;
	unsigned char *form;

	if (dperm_moments_flat_open_encoder(flat, pass, &state->encoder) != NULL)
		dperm_moments_flat_corrupted();
	form = palloc(pass->encoder);
	memcpy(form, flat->words + dperm_pass_encoder_at(pass), pass->encoder);
	state->encoder_form = form;
	state->reader_words = palloc(sizeof(uint64) * pass->readers);
	memcpy(state->reader_words, flat->words + dperm_pass_readers_at(pass),
		   sizeof(uint64) * pass->readers);
	state->readers = dperm_reader_make_all(&state->encoder, state->reader_words);
	state->values = palloc0(sizeof(DpermValue) * state->encoder.block_count);
	state->labels = dperm_moments_flat_labels(flat, pass);
	dperm_host_feed(&state->feed, &state->encoder, NULL);
	if (pass->weighted)
		dperm_layout_weigh(&state->feed.layout);
}

/*
 * Add the results of another state of the same request; numbers are its words.
 */
static void
merge_found(DpermMomentsState *state, const DpermPass *pass, const double *numbers)
{
	const double *sums = numbers + dperm_pass_gradient_at(pass);

	state->pass.persons += pass->persons;
	if (is_counting(state))
	{
		const int64 *counts = (const int64 *) numbers + dperm_pass_gradient_at(pass);

		for (int i = 0; i < dperm_pass_count_cells(pass); i++)
			state->counts[i] += counts[i];
		state->pass.rows += pass->rows;
		return;
	}
	settle_state(state);
	state->pass.digest += pass->digest;
	dperm_moments_merge(&state->moments, pass->rows, pass->value, sums, sums + state->dim,
						dperm_pass_has_hess(pass) ? numbers + dperm_pass_hess_at(pass) : NULL);
	state->pass.rows = state->moments.rows;
}

/* Prepare to sum up, at the weights of a flat value. */
static void
prepare_sums(DpermMomentsState *state, const double *weights)
{
	const DpermPass *pass = &state->pass;
	bool		hessian = dperm_pass_has_hess(pass);
	size_t		size = dperm_moments_room(state->dim, dperm_loss_blocks(pass->loss), hessian);
	double	   *room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) * size);

	dperm_moments_init_rows(&state->moments, pass->loss, &state->feed.layout, hessian, weights,
							room);
	state->weights = state->moments.weights;
	if (pass->order == DPERM_PASS_ROUGH)
		dperm_moments_be_rough(&state->moments);
	if (pass->order == DPERM_PASS_CAREFUL)
		dperm_moments_be_careful(&state->moments, weights + state->dim);
	if (pass->order == DPERM_PASS_PRODUCT)
		dperm_moments_be_product(&state->moments, weights + state->dim);
}

/* Prepare to count, by the weights of a flat value. */
static void
prepare_counts(DpermMomentsState *state, const double *weights)
{
	state->pass.rows = 0;
	state->weights = palloc(sizeof(double) * state->dim);
	memcpy(state->weights, weights, sizeof(double) * state->dim);
	state->counts = palloc0(sizeof(int64) * dperm_pass_count_cells(&state->pass));
	state->room = palloc(sizeof(double) * (dperm_encoder_dim(&state->encoder) +
										   dperm_encoder_linear_dim(&state->encoder) +
										   state->pass.loss.classes));
}

/*
 * An expanded state that continues a flat one, in a child of the given context.
 */
DpermMomentsState *
dperm_moments_state_expand(const DpermFlat *flat, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "dperm_moments",
												  ALLOCSET_START_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	DpermMomentsState *state = palloc0(sizeof(*state));
	const double *numbers = (const double *) flat->words;
	DpermPass	found;

	EOH_init_header(&state->hdr, &state_methods, context);
	dperm_moments_flat_read(flat, &found);
	state->pass = found;
	state->pass.digest = 0;		/* added with the results */
	state->pass.persons = 0;
	state->dim = found.dim;
	take_encoder(state, flat);
	state->direct = !is_counting(state) && !dperm_feed_waits(&state->feed) && found.seed == 0;
	if (found.seed != 0)
	{
		size_t		most = Max(state->feed.layout.words, state->feed.linear) + 2;

		state->digest_keys = palloc(sizeof(uint64) * dperm_digest_room(most));
		dperm_digest_keys(found.seed, most, state->digest_keys);
	}
	if (is_counting(state))
		prepare_counts(state, numbers + dperm_pass_weights_at(&found));
	else
		prepare_sums(state, numbers + dperm_pass_weights_at(&found));
	if (found.rows > 0)
		merge_found(state, &found, numbers);
	MemoryContextSwitchTo(caller);
	return state;
}

/* The state as an expanded object that may be modified. */
DpermMomentsState *
dperm_moments_state_get(Datum value, MemoryContext parent)
{
	if (VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(value)))
		return (DpermMomentsState *) DatumGetEOHP(value);
	return dperm_moments_state_expand(dperm_moments_flat_get(value), parent);
}

/*
 * Where an aggregate's state lives; outside an aggregate, where the caller is.
 */
MemoryContext
dperm_moments_state_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (AggCheckCallContext(fcinfo, &context))
		return context;
	return CurrentMemoryContext;
}

/*
 * Prepare to read labels of a type. Whatever has an OID is looked up here,
 * where the rows are.
 */
bool
dperm_moments_state_bind_label(DpermMomentsState *state, Oid type)
{
	const DpermPass *pass = &state->pass;
	MemoryContext caller;

	if (OidIsValid(pass->label_type) && pass->label_type != getBaseType(type))
		return false;
	dperm_reader_check_encoding(pass->domain_encoding);
	caller = MemoryContextSwitchTo(state->hdr.eoh_context);
	state->label_call = InvalidOid;
	dperm_label_init(&state->label, type, &state->labels);
	state->label_call = type;
	MemoryContextSwitchTo(caller);
	return true;
}

/*
 * Count the row whose values have been read. The decision is the same as that
 * of dp_decision, to the last bit, and of several classes that of
 * dp_predict_class.
 */
static void
count_row(DpermMomentsState *state, double label, int64 labelled)
{
	int			classes = state->pass.loss.classes;
	double		decision = dperm_score_judge(&state->encoder, state->feed.frequencies, classes,
											 state->weights, state->values, state->pass.bins,
											 state->room);

	state->pass.rows++;
	if (!dperm_label_kind_has(state->labels.kind, label))
		return;
	if (state->labels.kind == DPERM_LABEL_NUMBER)
		dperm_counts_add_errors(decision, label, labelled, state->counts);
	else
		state->counts[dperm_counts_cell(classes, decision, label, state->pass.bins)] +=
			state->pass.weighted ? dperm_unit_count(1, labelled) : 1;
}

/*
 * Let a row wait for its kernel. Its digest is computed before the kernel is
 * applied.
 */
static void
wait_row(DpermMomentsState *state, double label, double weight)
{
	DpermFeed  *feed = &state->feed;
	int			place = feed->waiting;
	bool		full = dperm_feed_wait(feed, state->values, label);
	double		rest[2] = {label, weight};

	if (state->pass.weighted)
		state->waiting[place] = weight;
	if (state->digest_keys)
		state->pass.digest +=
			dperm_digest(state->digest_keys, feed->blocks + (size_t) place * feed->linear,
						 feed->linear, rest, 2);
	if (full)
		map_rows(state);
}

/* Write a row into the sums. */
static void
write_row(DpermMomentsState *state, double label, double weight)
{
	double	   *row = dperm_moments_next(&state->moments);

	dperm_feed_write(&state->feed, state->values, label, row);
	if (state->pass.weighted)
		*dperm_row_weight(&state->feed.layout, row) = weight;
	if (state->digest_keys)
		state->pass.digest +=
			dperm_digest(state->digest_keys, row, state->feed.layout.words, NULL, 0);
}

/*
 * Add the row whose values have been read, with its weight in sums; in counts it
 * is one of so many labelled rows of a person.
 */
static void
add_row(DpermMomentsState *state, double label, double weight, int64 labelled)
{
	if (is_counting(state))
		count_row(state, label, labelled);
	else if (dperm_feed_waits(&state->feed))
		wait_row(state, label, weight);
	else
		write_row(state, label, weight);
}

/* Add the row whose values have been read, unless it goes straight into the sums. */
void
dperm_moments_state_add_any(DpermMomentsState *state, double label)
{
	add_row(state, label, 1, 1);
}

/*
 * Add the row of a person. Its weight or count is the same as when rows are
 * read once: load.c, count_decisions.c.
 */
void
dperm_moments_state_add_weighted(DpermMomentsState *state, double label, int64 labelled,
								 bool first)
{
	state->pass.persons += first;
	if (dperm_label_kind_has(state->labels.kind, label))
		add_row(state, label, dperm_unit_weight(labelled), labelled);
	else
		add_row(state, label, 0, 1);
}

/* Does another state of the same form have the same domain of labels? */
static bool
same_labels(const DpermMomentsState *state, const DpermFlat *other, const DpermPass *pass)
{
	DpermLabels labels = dperm_moments_flat_labels(other, pass);

	switch (pass->label)
	{
		case DPERM_LABEL_NUMBER:
			return labels.low == state->labels.low && labels.high == state->labels.high;
		case DPERM_LABEL_SEVERAL:
			return dperm_classes_same(labels.classes, state->labels.classes, labels.class_count);
		default:
			return pass->domain == 0 || strcmp(labels.positive, state->labels.positive) == 0;
	}
}

/* Combine two states of the same request. STRICT. */
Datum
dperm_moments_combine(PG_FUNCTION_ARGS)
{
	DpermMomentsState *state =
		dperm_moments_state_get(PG_GETARG_DATUM(0), dperm_moments_state_context(fcinfo));
	DpermFlat *other = dperm_moments_flat_get(PG_GETARG_DATUM(1));
	const double *numbers = (const double *) other->words;
	DpermPass	pass;

	dperm_moments_flat_read(other, &pass);
	if (!dperm_pass_matches(&pass, &state->pass) ||
		memcmp(other->words + dperm_pass_readers_at(&pass), state->reader_words,
			   sizeof(uint64) * pass.readers) != 0 ||
		memcmp(other->words + dperm_pass_encoder_at(&pass), state->encoder_form, pass.encoder) !=
			0 ||
		!same_labels(state, other, &pass) ||
		memcmp(numbers + dperm_pass_weights_at(&pass), state->weights,
			   sizeof(double) * state->dim) != 0 ||
		(dperm_pass_has_second(&pass) &&
		 memcmp(numbers + dperm_pass_weights_at(&pass) + state->dim, second_vector(state),
				sizeof(double) * state->dim) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine the states of two different passes")));

	if (pass.rows > 0)
		merge_found(state, &pass, numbers);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}
