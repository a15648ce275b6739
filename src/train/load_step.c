/*
 * load_step.c: load rows by a parallel aggregate.
 *
 * The aggregate is dperm_load_agg(key, portion, label, columns). The key lets
 * workers join the shared rows of the process that runs the query, which has
 * described the sets there: nobody else knows a key, so nothing in the
 * description is checked. A process fills the same caches whatever number of
 * partial aggregates it computes; the last description of them counts.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "column/reader.h"
#include "core/base/classes.h"
#include "train/load_parts.h"
#include "train/load_step.h"

PG_FUNCTION_INFO_V1(dperm_load_step);
PG_FUNCTION_INFO_V1(dperm_load_step_record);
PG_FUNCTION_INFO_V1(dperm_load_combine);
PG_FUNCTION_INFO_V1(dperm_load_serialize);
PG_FUNCTION_INFO_V1(dperm_load_deserialize);
PG_FUNCTION_INFO_V1(dperm_load_final);

/*
 * With so many workers, passes over the table are so quick that more compact rows
 * than a sample cost more than they save (measured with 1, 3, 7 and 15).
 */
#define QUICK_PASS_WORKERS 3

/* What this process does for a load. */
typedef struct Process
{
	DpermSharedKey key;
	DpermSharedRows *shared;
	MemoryContext context;
	MemoryContextCallback forget;
	struct Process *outer;		/* the load that began before */

	DpermFill	fill;
	DpermLabels labels;
	DpermLabel	label;
	DpermRecord record;			/* the type of rows that come as records */
	Datum	   *datums;
	bool	   *nulls;

	int			portion_count;
	int64	   *portions;		/* rows of each */
	uint32		version;		/* of its description */
} Process;

/* The loads of this session that have not been forgotten, the latest first. */
static Process *current;

/* The state of an aggregate. */
typedef struct State
{
	Process    *process;		/* that adds rows; NULL: only the descriptions of others */
	StringInfoData parts;
} State;

/* Copy from the front of bytes. */
static void
take_bytes(const char **at, void *to, Size size)
{
	memcpy(to, *at, size);
	*at += size;
}

/* Describe how labels are read, for workers. */
static void
note_labels(StringInfo note, const DpermLabels *labels)
{
	const char *positive = labels->positive;
	double		bounds[2] = {labels->low, labels->high};
	int			bytes = (int) dperm_classes_size(labels->classes, labels->class_count);
	int32		head[4] = {labels->kind, positive ? (int) strlen(positive) : -1,
						   labels->class_count, bytes};

	appendBinaryStringInfo(note, (char *) bounds, sizeof(bounds));
	appendBinaryStringInfo(note, (char *) head, sizeof(head));
	if (positive)
		appendBinaryStringInfo(note, positive, head[1]);
	if (labels->classes)
		appendBinaryStringInfo(note, labels->classes, bytes);
}

/* Read that. */
static DpermLabels
noted_labels(const char **at)
{
	double		bounds[2];
	int32		head[4];
	DpermLabels labels;

	take_bytes(at, bounds, sizeof(bounds));
	take_bytes(at, head, sizeof(head));
	labels = (DpermLabels) {.kind = head[0],
							.low = bounds[0],
							.high = bounds[1],
							.class_count = head[2]};
	if (head[1] >= 0)
	{
		labels.positive = pnstrdup(*at, head[1]);
		*at += head[1];
	}
	if (head[3] > 0)
	{
		char	   *classes = palloc(head[3]);

		take_bytes(at, classes, head[3]);
		labels.classes = classes;
	}
	return labels;
}

/* Describe the sets, for workers. */
static void
write_note(StringInfo note, const DpermFill *fill, const DpermSource *source)
{
	int32		head[2] = {fill->count, source->portions};

	appendBinaryStringInfo(note, (char *) head, sizeof(head));
	note_labels(note, &source->spec.labels);
	for (int i = 0; i < fill->count; i++)
	{
		const DpermFillSet *set = &fill->sets[i];
		DpermText	form = dperm_encoder_form_write(set->encoder);
		int			blocks = set->encoder->block_count;
		int32		parts[3] = {set->portion, form.len, blocks};

		appendBinaryStringInfo(note, (char *) parts, sizeof(parts));
		appendBinaryStringInfo(note, form.bytes, form.len);
		appendBinaryStringInfo(note, (const char *) set->words, sizeof(uint64) * blocks);
		for (int j = 0; j < blocks; j++)
			appendStringInfoChar(note, set->encoder->blocks[j].open);
	}
}

/* Read the description of a set. */
static void
read_set(DpermFill *fill, int i, const char **at)
{
	DpermEncoder *encoder = palloc0(sizeof(*encoder));
	DpermBlock *blocks;
	uint64	   *words;
	DpermText	form;
	int32		parts[3];

	take_bytes(at, parts, sizeof(parts));
	form = (DpermText) {palloc(parts[1]), parts[1]};
	take_bytes(at, (char *) form.bytes, form.len);
	if (dperm_encoder_form_read(form, encoder) != NULL || encoder->block_count != parts[2])
		elog(ERROR, "a parallel worker cannot read an encoder");
	words = palloc(sizeof(uint64) * parts[2]);
	take_bytes(at, words, sizeof(uint64) * parts[2]);
	blocks = palloc(sizeof(DpermBlock) * parts[2]);
	memcpy(blocks, encoder->blocks, sizeof(DpermBlock) * parts[2]);
	for (int j = 0; j < parts[2]; j++)
		blocks[j].open = *(*at)++;
	encoder->blocks = blocks;
	dperm_fill_describe(fill, i, parts[0], encoder, words, palloc0(sizeof(DpermCache)));
}

/* A load has ended, in whatever way, and perhaps before later ones. */
static void
forget(void *arg)
{
	Process    *process = arg;

	for (Process **at = &current; *at; at = &(*at)->outer)
	{
		if (*at == process)
		{
			*at = process->outer;
			break;
		}
	}
}

/* Start to work on a load, in the current context, as the note describes it. */
static Process *
start_process(DpermSharedRows *shared, const DpermSharedKey *key, int processes)
{
	Process    *process = palloc0(sizeof(*process));
	Size		size;
	const char *at = dperm_shared_rows_note(shared, &size);
	int32		head[2];

	take_bytes(&at, head, sizeof(head));
	process->key = *key;
	process->shared = shared;
	process->context = CurrentMemoryContext;
	process->portion_count = head[1];
	process->portions = palloc0(sizeof(int64) * Max(head[1], 1));
	process->labels = noted_labels(&at);
	dperm_fill_init(&process->fill, head[0], 0, shared,
					AllocSetContextCreate(CurrentMemoryContext, "dperm row",
										  ALLOCSET_DEFAULT_SIZES));
	for (int i = 0; i < head[0]; i++)
		read_set(&process->fill, i, &at);
	dperm_fill_start(&process->fill, process->labels.kind, processes, false);
	process->datums = palloc(sizeof(Datum) * process->fill.sets[0].encoder->block_count);
	process->nulls = palloc(sizeof(bool) * process->fill.sets[0].encoder->block_count);
	process->outer = current;
	process->forget = (MemoryContextCallback) {.func = forget, .arg = process};
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &process->forget);
	current = process;
	return process;
}

/* Prepare to load. */
DpermSharedRows *
dperm_load_step_begin(const DpermFill *fill, const DpermSource *source, int workers,
					  DpermSharedKey *key)
{
	Size		compact_limit =
		workers >= QUICK_PASS_WORKERS ? DPERM_FILL_SAMPLE : Max(fill->limit, DPERM_FILL_SAMPLE);
	StringInfoData note;
	DpermSharedRows *shared;

	initStringInfo(&note);
	write_note(&note, fill, source);
	shared = dperm_shared_rows_create(fill->limit, compact_limit, workers + 1, note.data,
									  note.len, key);
	if (shared == NULL)
		return NULL;
	if (fill->limit == 0)
		dperm_shared_rows_advance(shared, DPERM_SHARED_COMPACT);
	start_process(shared, key, workers + 1);
	return shared;
}

/* No row comes after this. */
void
dperm_load_step_end(const DpermSharedRows *shared)
{
	Process    *process = current;

	while (process && process->shared != shared)
		process = process->outer;
	if (process)
		forget(process);
}

/* What this process does for the load with a key. */
static Process *
find_process(const bytea *argument)
{
	DpermSharedKey key;
	DpermSharedRows *shared = NULL;
	MemoryContext caller;
	Process    *process;

	if (argument && VARSIZE_ANY_EXHDR(argument) == sizeof(key))
	{
		memcpy(&key, VARDATA_ANY(argument), sizeof(key));
		for (process = current; process; process = process->outer)
			if (memcmp(process->key.token, key.token, DPERM_SHARED_TOKEN) == 0)
				return process;
		caller = MemoryContextSwitchTo(TopMemoryContext);
		shared = dperm_shared_rows_join(&key);
		MemoryContextSwitchTo(caller);
	}
	if (shared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dperm_load_agg() is internal to training")));
	caller = MemoryContextSwitchTo(AllocSetContextCreate(TopMemoryContext, "dperm load",
														 ALLOCSET_DEFAULT_SIZES));
	process = start_process(shared, &key, dperm_shared_rows_processes(shared));
	MemoryContextSwitchTo(caller);
	return process;
}

/* The state of a transition: the one so far, or a new one for a key. */
static State *
load_state(FunctionCallInfo fcinfo)
{
	MemoryContext context;
	State	   *state;

	if (!PG_ARGISNULL(0))
		return (State *) PG_GETARG_POINTER(0);
	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	state = MemoryContextAllocZero(context, sizeof(*state));
	state->process = find_process(PG_ARGISNULL(1) ? NULL : PG_GETARG_BYTEA_PP(1));
	return state;
}

/* Bind labels and columns of a call to their types, once for each call. */
static void
bind_label(Process *process, Oid type)
{
	MemoryContext caller = MemoryContextSwitchTo(process->context);

	dperm_label_init(&process->label, type, &process->labels);
	MemoryContextSwitchTo(caller);
}

static void
bind_columns(Process *process, TupleDesc desc)
{
	for (int i = 0; i < process->fill.count; i++)
	{
		DpermFillSet *set = &process->fill.sets[i];

		if (desc->natts != set->encoder->block_count)
			elog(ERROR, "a load has %d columns, not %d", desc->natts, set->encoder->block_count);
		dperm_reader_bind_columns(set->readers, desc->natts, desc, 0);
	}
}

/* Bind the columns that are arguments. */
static void
bind_arguments(Process *process, FunctionCallInfo fcinfo)
{
	int			count = PG_NARGS() - 4;
	TupleDesc	desc = CreateTemplateTupleDesc(count);

	process->record.type = InvalidOid;	/* its columns may be read otherwise from now on */
	for (int i = 0; i < count; i++)
		TupleDescInitEntry(desc, i + 1, NULL, get_fn_expr_argtype(fcinfo->flinfo, 4 + i), -1, 0);
	bind_columns(process, desc);
	FreeTupleDesc(desc);
}

/* The portion of a row, which is counted; -1 if rows have none. */
static int
count_loaded(Process *process, FunctionCallInfo fcinfo)
{
	int			portion = PG_ARGISNULL(2) ? -1 : PG_GETARG_INT32(2);

	if (process->portion_count == 0)
		return -1;
	if (portion < 0 || portion >= process->portion_count)
		elog(ERROR, "a load has no portion %d", portion);
	process->portions[portion]++;
	return portion;
}

/* Add a row. */
static void
add_loaded(Process *process, FunctionCallInfo fcinfo, const Datum *datums, const bool *nulls)
{
	int			portion = count_loaded(process, fcinfo);
	MemoryContext caller;
	double		label;

	if (dperm_shared_rows_stage(process->shared) == DPERM_SHARED_FAILED)
		return;
	caller = MemoryContextSwitchTo(process->fill.row_context);
	label = dperm_label_read(&process->label, PG_GETARG_DATUM(3), PG_ARGISNULL(3));
	MemoryContextSwitchTo(caller);
	dperm_fill_take(&process->fill, portion, datums, nulls, label, 0);
}

/*
 * Transition: (state internal, key bytea, portion integer, label "any",
 * VARIADIC columns)
 */
Datum
dperm_load_step(PG_FUNCTION_ARGS)
{
	State	   *state = load_state(fcinfo);
	Process    *process = state->process;

	if (fcinfo->flinfo->fn_extra != process)
	{
		bind_label(process, get_fn_expr_argtype(fcinfo->flinfo, 3));
		bind_arguments(process, fcinfo);
		fcinfo->flinfo->fn_extra = process;
	}
	for (int i = 4; i < PG_NARGS(); i++)
	{
		process->datums[i - 4] = PG_GETARG_DATUM(i);
		process->nulls[i - 4] = PG_ARGISNULL(i);
	}
	add_loaded(process, fcinfo, process->datums, process->nulls);
	PG_RETURN_POINTER(state);
}

/* The same with the columns as one record. */
Datum
dperm_load_step_record(PG_FUNCTION_ARGS)
{
	State	   *state = load_state(fcinfo);
	Process    *process = state->process;
	HeapTupleHeader row;

	if (PG_ARGISNULL(4))
		elog(ERROR, "a load has no row");
	row = PG_GETARG_HEAPTUPLEHEADER(4);
	if (fcinfo->flinfo->fn_extra != process)
	{
		bind_label(process, get_fn_expr_argtype(fcinfo->flinfo, 3));
		fcinfo->flinfo->fn_extra = process;
	}
	if (!dperm_reader_read_record(&process->record, row))
	{
		MemoryContext caller = MemoryContextSwitchTo(process->context);

		dperm_reader_take_record(&process->record, row);
		bind_columns(process, process->record.desc);
		MemoryContextSwitchTo(caller);
		dperm_reader_read_record(&process->record, row);
	}
	add_loaded(process, fcinfo, process->record.datums, process->record.nulls);
	PG_RETURN_POINTER(state);
}

/* The result of a state: the descriptions of all parts. */
static bytea *
result_of(State *state)
{
	StringInfoData result;

	initStringInfo(&result);
	appendStringInfoSpaces(&result, VARHDRSZ);
	if (state->parts.data)
		appendBinaryStringInfo(&result, state->parts.data, state->parts.len);
	if (state->process)
	{
		DpermLoadPart part = {.number = dperm_shared_rows_number(state->process->shared),
							  .version = ++state->process->version};

		dperm_load_parts_write(&result, &part, state->process->portions,
							   state->process->portion_count, &state->process->fill);
	}
	SET_VARSIZE(result.data, result.len);
	return (bytea *) result.data;
}

/* Serialise a state. STRICT. */
Datum
dperm_load_serialize(PG_FUNCTION_ARGS)
{
	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	PG_RETURN_BYTEA_P(result_of((State *) PG_GETARG_POINTER(0)));
}

/* The other way round. STRICT. */
Datum
dperm_load_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	State	   *state = palloc0(sizeof(*state));

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	initStringInfo(&state->parts);
	appendBinaryStringInfo(&state->parts, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	PG_RETURN_POINTER(state);
}

/* Combine two states that were serialised. */
Datum
dperm_load_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	MemoryContext caller;
	State	   *state;
	const State *other;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_POINTER(PG_GETARG_POINTER(0));
	}
	other = (const State *) PG_GETARG_POINTER(1);
	caller = MemoryContextSwitchTo(context);
	if (PG_ARGISNULL(0))
	{
		state = palloc0(sizeof(*state));
		initStringInfo(&state->parts);
	}
	else
		state = (State *) PG_GETARG_POINTER(0);
	appendBinaryStringInfo(&state->parts, other->parts.data, other->parts.len);
	MemoryContextSwitchTo(caller);
	PG_RETURN_POINTER(state);
}

/* The result. STRICT. */
Datum
dperm_load_final(PG_FUNCTION_ARGS)
{
	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	PG_RETURN_BYTEA_P(result_of((State *) PG_GETARG_POINTER(0)));
}
