/*
 * moments.c: sums over the rows of other servers. Trusted.
 *
 * Two aggregates compute what a pass is asked: one over rows, one over rows of
 * persons. Both get a row as the bytes of dperm_row, so they need no types: Citus
 * calls transition functions without those of their arguments. A state is a
 * bytea: its request, and behind it the answer so far (core/solve/pass.h). While
 * rows are added it is an expanded object. The rules:
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
#include "mb/pg_wchar.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "base/base.h"
#include "column/column.h"
#include "core/base/bytes.h"
#include "core/base/core.h"
#include "core/encode/layout.h"
#include "core/model/model.h"
#include "core/privacy/claim.h"
#include "core/privacy/counts.h"
#include "core/solve/sums.h"
#include "query/checked_query.h"

PG_FUNCTION_INFO_V1(dperm_moments_step);
PG_FUNCTION_INFO_V1(dperm_moments_step_person);
PG_FUNCTION_INFO_V1(dperm_moments_combine);

/* The expanded form of a state. */
typedef struct State
{
	ExpandedObjectHeader hdr;
	bytea	   *request;		/* as it came, without an answer */
	DpermPass	pass;			/* the request; settling writes the answer here */

	/* how rows are read and encoded */
	DpermEncoder encoder;
	DpermReader *readers;		/* one per block */
	DpermValue *values;
	DpermFeed	feed;
	uint64_t   *digest_keys;	/* of rows, if the request asks for a digest; else NULL */

	DpermMoments moments;		/* of a pass that sums */
	double	   *rows;			/* that wait, encoded; with a kernel the feed has them */
	int			waiting;
	int64	   *counts;			/* of a pass that counts */
	double	   *room;			/* for a decision */
} State;

/* A state that we have not written. */
static void
raise_corrupted(const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("invalid request or state of a pass"),
			 errdetail("The value is not valid: %s.", why)));
}

/* Does the state belong to a pass that counts? */
static bool
is_counting(const State *state)
{
	return state->pass.order == DPERM_PASS_COUNT;
}

/* ------------------------------------------------------ expanded and flat */

/* Add the rows that wait, with a kernel or without one. */
static void
map_rows(State *state)
{
	int			waiting = state->feed.waiting;

	if (waiting > 0)
		dperm_moments_add(&state->moments, dperm_feed_map(&state->feed), waiting, 1);
	dperm_moments_add(&state->moments, state->rows, state->waiting, 1);
	state->waiting = 0;
}

/* Bring the answer up to date with the sums, except for a Hessian. */
static void
settle_state(State *state)
{
	if (is_counting(state))
		return;
	map_rows(state);
	dperm_moments_flush(&state->moments);
	state->pass.rows = state->moments.rows;
	state->pass.value[0] = state->moments.value[0];
	state->pass.value[1] = state->moments.value[1];
}

/* Size of the flat form of an expanded state. */
static Size
state_flat_size(ExpandedObjectHeader *header)
{
	State	   *state = (State *) header;

	settle_state(state);
	return VARSIZE(state->request) + dperm_pass_write_answer(&state->pass, NULL);
}

/* Write the flat form of an expanded state. */
static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	State	   *state = (State *) header;
	DpermPass  *pass = &state->pass;
	int			dim = pass->dim;
	double	   *room = NULL;

	settle_state(state);
	memcpy(result, state->request, VARSIZE(state->request));
	SET_VARSIZE(result, size);
	if (pass->rows > 0 && !is_counting(state))
	{
		size_t		packed = dperm_pass_has_hess(pass) ? dperm_moments_packed(dim, pass->loss) : 0;

		room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) * (2 * dim + packed));
		memcpy(room, state->moments.gradient, sizeof(double) * dim);
		memcpy(room + dim, state->moments.gradient_low, sizeof(double) * dim);
		if (packed > 0)
			dperm_moments_pack(&state->moments, room + 2 * dim);
		pass->sums = room;
		pass->hess = room + 2 * dim;
	}
	(void) dperm_pass_write_answer(pass, (unsigned char *) result + VARSIZE(state->request));
	if (room)
		pfree(room);
}

static const ExpandedObjectMethods state_methods = {state_flat_size, state_flatten};

/* Prepare to read and encode rows, as the request says. */
static void
take_encoder(State *state)
{
	DpermPass  *pass = &state->pass;
	DpermEncoder *encoder = &state->encoder;
	DpermText	form = {(const char *) pass->encoder, (int) pass->encoder_size};
	const char *fault = dperm_encoder_form_read(form, encoder);

	if (fault)
		raise_corrupted(fault);
	if (dperm_encoder_dim(encoder) * Max(pass->loss.classes, 1) != pass->dim)
		raise_corrupted("the dimension of the encoder does not match");
	if (pass->reader_count != encoder->block_count)
		raise_corrupted("the readers do not match the encoder");
	for (int i = 0; i < encoder->block_count; i++)
		if (!dperm_reader_word_fits(pass->readers[i], &encoder->blocks[i]))
			raise_corrupted("a reader is unknown");
	state->readers = dperm_reader_make_all(encoder, pass->readers);
	state->values = palloc0(sizeof(DpermValue) * encoder->block_count);
	dperm_feed_init(&state->feed, encoder, pass->weighted, NULL);
	if (pass->seed != 0)
	{
		size_t		most = Max(state->feed.layout.words, state->feed.linear) + 2;

		state->digest_keys = palloc(sizeof(uint64) * dperm_digest_room(most));
		dperm_digest_keys(pass->seed, most, state->digest_keys);
	}
}

/* Prepare to sum up. */
static void
prepare_sums(State *state)
{
	const DpermPass *pass = &state->pass;
	bool		hessian = dperm_pass_has_hess(pass);
	size_t		size = dperm_moments_room(pass->dim, dperm_loss_blocks(pass->loss), hessian);
	double	   *room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) * size);

	dperm_moments_start(&state->moments, pass->order, pass->loss, &state->feed.layout,
						pass->weights, pass->weights_low, room);
	state->rows = palloc(sizeof(double) * DPERM_FEED_ROWS * state->feed.layout.words);
}

/* Prepare to count. */
static void
prepare_counts(State *state)
{
	state->counts = palloc0(sizeof(int64) * dperm_pass_count_cells(&state->pass));
	state->pass.counts = state->counts;
	state->room = palloc(sizeof(double) * (dperm_encoder_dim(&state->encoder) +
										   dperm_encoder_linear_dim(&state->encoder) +
										   state->pass.loss.classes));
}

/* Add the answer of another state of the same request. */
static void
add_answer(State *state, const DpermPass *found)
{
	DpermPass  *pass = &state->pass;

	if (found->rows == 0)
		return;
	pass->persons += found->persons;
	pass->digest += found->digest;
	if (is_counting(state))
	{
		for (int i = 0; i < dperm_pass_count_cells(pass); i++)
			state->counts[i] += found->counts[i];
		pass->rows += found->rows;
		return;
	}
	settle_state(state);
	dperm_moments_merge(&state->moments, found->rows, found->value, found->sums,
						found->sums + pass->dim, found->hess);
	pass->rows = state->moments.rows;
}

/* Read a flat state. */
static void
read_state(const bytea *flat, DpermPass *pass, size_t *request)
{
	const char *fault = dperm_pass_read((const unsigned char *) VARDATA_ANY(flat),
										VARSIZE_ANY_EXHDR(flat), pass, request);

	if (fault)
		raise_corrupted(fault);
}

/* An expanded state that continues a flat one, in a child of the given context. */
static State *
expand(const bytea *flat, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "dperm_moments",
												  ALLOCSET_START_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	State	   *state = palloc0(sizeof(*state));
	DpermPass	found;
	size_t		request;

	EOH_init_header(&state->hdr, &state_methods, context);
	read_state(flat, &found, &request);
	state->request = palloc(VARHDRSZ + request);
	SET_VARSIZE(state->request, VARHDRSZ + request);
	memcpy(VARDATA(state->request), VARDATA_ANY(flat), request);
	read_state(state->request, &state->pass, &request);
	take_encoder(state);
	if (is_counting(state))
		prepare_counts(state);
	else
		prepare_sums(state);
	add_answer(state, &found);
	MemoryContextSwitchTo(caller);
	return state;
}

/* Any state as an expanded one that may be modified; copied unless it is one. */
static State *
get_state(Datum value, FunctionCallInfo fcinfo)
{
	MemoryContext context = CurrentMemoryContext;

	if (VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(value)))
		return (State *) DatumGetEOHP(value);
	(void) AggCheckCallContext(fcinfo, &context);
	return expand(DatumGetByteaPP(value), context);
}

/* ------------------------------------------------------------------- rows */

/* The columns of a row do not match the request. */
static void
raise_mismatch(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the columns of a pass do not match its request")));
}

/*
 * Count the row whose values have been read. The decision is the same as that
 * of dp_decision, to the last bit, and of several classes that of
 * dp_predict_class.
 */
static void
count_row(State *state, double label, int64 labelled)
{
	const DpermPass *pass = &state->pass;
	int			classes = pass->loss.classes;
	double		decision = dperm_score_judge(&state->encoder, state->feed.frequencies, classes,
											 pass->weights, state->values, pass->bins,
											 state->room);

	state->pass.rows++;
	if (!dperm_label_kind_has(pass->label, label))
		return;
	if (pass->label == DPERM_LABEL_NUMBER)
		dperm_counts_add_errors(decision, label, labelled, state->counts);
	else
		state->counts[dperm_counts_cell(classes, decision, label, pass->bins)] +=
			pass->weighted ? dperm_unit_count(1, labelled) : 1;
}

/*
 * Let a row wait for its kernel. Its digest is computed before the kernel is
 * applied.
 */
static void
wait_row(State *state, double label, double weight)
{
	DpermFeed  *feed = &state->feed;
	int			place = feed->waiting;
	bool		full = dperm_feed_wait(feed, state->values, label, weight);
	double		rest[2] = {label, weight};

	if (state->digest_keys)
		state->pass.digest +=
			dperm_digest(state->digest_keys, feed->blocks + (size_t) place * feed->linear,
						 feed->linear, rest, 2);
	if (full)
		map_rows(state);
}

/* The same without a kernel. */
static void
write_row(State *state, double label, double weight)
{
	const DpermLayout *layout = &state->feed.layout;
	double	   *row = state->rows + (size_t) state->waiting * layout->words;

	dperm_layout_encode(layout, &state->encoder, state->values, label, weight, row);
	if (state->digest_keys)
		state->pass.digest += dperm_digest(state->digest_keys, row, layout->words, NULL, 0);
	if (++state->waiting == DPERM_FEED_ROWS)
		map_rows(state);
}

/*
 * Add the row whose values have been read, with its weight in sums; in counts it
 * is one of so many labelled rows of a person.
 */
static void
add_row(State *state, double label, double weight, int64 labelled)
{
	if (is_counting(state))
		count_row(state, label, labelled);
	else if (state->feed.frequencies)
		wait_row(state, label, weight);
	else
		write_row(state, label, weight);
}

/*
 * Read the columns of a row made by dperm_row. Errors depend only on the types
 * of columns, which are the same in all rows.
 */
static void
read_columns(State *state, FunctionCallInfo fcinfo)
{
	bytea	   *bytes;
	DpermBytes	row = {0};

	if (PG_ARGISNULL(3))
		raise_mismatch();
	bytes = PG_GETARG_BYTEA_PP(3);
	row.at = (const unsigned char *) VARDATA_ANY(bytes);
	row.left = VARSIZE_ANY_EXHDR(bytes);
	for (int i = 0; i < state->encoder.block_count; i++)
	{
		DpermTagged tagged;

		if (row.left == 0)
			raise_mismatch();
		if (!dperm_tagged_get(&row, &tagged))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					 errmsg("the value is not a row made by dperm_row")));
		if (!dperm_tagged_fits(tagged.kind, state->encoder.blocks[i].kind))
			raise_mismatch();
		if (tagged.kind == DPERM_BLOCK_CATEGORY && tagged.encoding != GetDatabaseEncoding())
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("the row is from a database of another encoding"),
					 errhint("Use databases of the same encoding.")));
		dperm_reader_read_tagged(&state->readers[i], &tagged, &state->values[i]);
	}
	if (row.left > 0)
		raise_mismatch();
}

/* The label argument, as dperm_label returns it; anything else is none. */
static double
read_label(const DpermPass *pass, FunctionCallInfo fcinfo)
{
	double		label = PG_ARGISNULL(2) ? NAN : PG_GETARG_FLOAT8(2);
	bool		known = pass->label == DPERM_LABEL_NUMBER ? fabs(label) <= 1 :
		pass->label == DPERM_LABEL_TWO ? fabs(label) == 1 :
		dperm_label_numbered(label, pass->loss.classes) != 0;

	return known ? label : dperm_label_kind_none(pass->label);
}

/*
 * The state of a transition: the one so far, or a new one from the request. It
 * and the function must agree on weights: otherwise, a row would get an arbitrary
 * weight.
 */
static State *
step_state(FunctionCallInfo fcinfo, bool weighted)
{
	State	   *state;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a pass needs a request")));
	state = get_state(PG_GETARG_DATUM(PG_ARGISNULL(0) ? 1 : 0), fcinfo);
	if (PG_ARGISNULL(0) && state->pass.rows != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a request has no rows of its own")));
	if (state->pass.weighted != weighted)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 weighted ? errmsg("the request is not about persons") :
				 errmsg("the request is about persons"),
				 errhint("Use dperm_moments_person_agg for requests about persons, and for no "
						 "others.")));
	return state;
}

/* Transition: (state bytea, request bytea, label float8, columns bytea) */
Datum
dperm_moments_step(PG_FUNCTION_ARGS)
{
	State	   *state = step_state(fcinfo, false);

	read_columns(state, fcinfo);
	add_row(state, read_label(&state->pass, fcinfo), 1, 1);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/*
 * The same for a row of a person: (..., columns bytea, rows bigint, first
 * boolean). rows is the number of labelled rows of the person, and one of all
 * their rows is the first. The weight of a row, or what it counts, is the same as
 * when rows are read here: load.c, count.c.
 */
Datum
dperm_moments_step_person(PG_FUNCTION_ARGS)
{
	State	   *state = step_state(fcinfo, true);
	double		label = read_label(&state->pass, fcinfo);
	bool		has = dperm_label_kind_has(state->pass.label, label);
	int64		labelled = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT64(4);

	if (PG_ARGISNULL(5) || labelled > DPERM_ROWS_MAX || labelled < (has ? 1 : 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the number of rows of a person is out of range")));
	read_columns(state, fcinfo);
	state->pass.persons += PG_GETARG_BOOL(5);
	add_row(state, label, has ? dperm_unit_weight(labelled) : 0, has ? labelled : 1);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/* Add a flat state of the same request. */
static bool
combine(State *state, const bytea *flat)
{
	DpermPass	found;
	size_t		request;

	read_state(flat, &found, &request);
	if (request != VARSIZE(state->request) - VARHDRSZ ||
		memcmp(VARDATA_ANY(flat), VARDATA(state->request), request) != 0)
		return false;
	add_answer(state, &found);
	return true;
}

/* Combine two states of the same request. STRICT. */
Datum
dperm_moments_combine(PG_FUNCTION_ARGS)
{
	State	   *state = get_state(PG_GETARG_DATUM(0), fcinfo);

	if (!combine(state, PG_GETARG_BYTEA_PP(1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine the states of two different passes")));
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/* --------------------------------------------------- requests and answers */

/*
 * A request as bytes. The caller has filled in what is computed, and weights, in the
 * order of core/layout.h, or, to count by the decisions of a model, in that of the model;
 * what a specification says of the rows follows.
 */
bytea *
dperm_moments_request(const DpermPassSpec *spec, DpermPass *pass)
{
	DpermText	form = dperm_encoder_form_write(&spec->encoder);
	size_t		size;
	bytea	   *request;

	if (pass->order != DPERM_PASS_COUNT)
	{
		pass->loss = spec->loss;
		pass->seed = spec->seed;
	}
	pass->label = spec->labels.kind;
	if (pass->label == DPERM_LABEL_SEVERAL)
		pass->loss.classes = spec->labels.class_count;
	pass->dim = dperm_encoder_dim(&spec->encoder) * Max(pass->loss.classes, 1);
	pass->weighted = spec->weighted;
	pass->reader_count = spec->encoder.block_count;
	pass->readers = spec->readers;
	pass->encoder_size = form.len;
	pass->encoder = (const unsigned char *) form.bytes;
	size = VARHDRSZ + dperm_pass_write_request(pass, NULL);
	request = palloc(size);
	SET_VARSIZE(request, size);
	(void) dperm_pass_write_request(pass, (unsigned char *) VARDATA(request));
	return request;
}

/*
 * The answer to a request: the results of all relations together, in the current
 * memory context; no row if there are none. They come from servers whose owners can
 * return anything, so an error says if they are about another request.
 */
void
dperm_moments_answer(const bytea *request, List *results, DpermPass *answer)
{
	State	   *state = expand(request, CurrentMemoryContext);
	bytea	   *flat;
	ListCell   *cell;
	size_t		size;

	foreach(cell, results)
		if (!combine(state, lfirst(cell)))
			dperm_moments_wrong_answer();
	size = EOH_get_flat_size(&state->hdr);
	flat = palloc(size);
	EOH_flatten_into(&state->hdr, flat, size);
	read_state(flat, answer, &size);
}

/* A server has answered something else than what was requested. */
void
dperm_moments_wrong_answer(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("a server that has the rows answered another request"),
			 errhint("All servers must have the same version of dperm.")));
}
