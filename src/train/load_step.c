/*
 * load_step.c: load rows by a parallel aggregate. Trusted.
 *
 * The aggregate is dperm_load_agg(key, label, columns). The key lets
 * workers join the store of the process that runs the query, which has described
 * the sets there: nobody else knows a key, so nothing in the description is
 * checked. A process fills the same sets whatever number of partial aggregates it
 * computes, and each of these hands over what has been filled since the one
 * before.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "base/base.h"
#include "base/compat.h"
#include "column/column.h"
#include "core/base/core.h"
#include "train/load.h"

PG_FUNCTION_INFO_V1(dperm_load_step);
PG_FUNCTION_INFO_V1(dperm_load_step_record);
PG_FUNCTION_INFO_V1(dperm_load_combine);
PG_FUNCTION_INFO_V1(dperm_load_serialize);
PG_FUNCTION_INFO_V1(dperm_load_deserialize);
PG_FUNCTION_INFO_V1(dperm_load_final);

/* What this process does for a load. */
typedef struct Process
{
	DpermRowsKey key;
	DpermStore *store;
	MemoryContext context;
	MemoryContextCallback forget;
	struct Process *outer;		/* the load that began before */

	DpermIntake intake;
	DpermLabels labels;
	DpermLabel	label;
	DpermRecord record;			/* the type of rows that come as records */
	Datum	   *datums;
	bool	   *nulls;
	int64		taken;			/* rows that have not been handed over */
} Process;

/* The loads of this session that have not been forgotten, the latest first. */
static Process *current;

/* The state of an aggregate. */
typedef struct State
{
	Process    *process;		/* that adds rows; NULL: only what others hand over */
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
write_note(StringInfo note, const DpermIntake *intake, const DpermSource *source)
{
	int32		head[2] = {intake->count, intake->portions};

	appendBinaryStringInfo(note, (char *) head, sizeof(head));
	note_labels(note, &source->spec.labels);
	for (int i = 0; i < intake->count; i++)
	{
		const DpermIntakeSet *set = &intake->sets[i];
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
read_set(DpermIntake *intake, int i, const char **at)
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
	dperm_intake_describe(intake, i, parts[0], encoder, words, palloc(sizeof(DpermRows)));
}

/* A load has ended, in whatever way, and perhaps before later ones. */
static void
forget(void *arg)
{
	Process    *process = arg;

	dperm_entropy_wipe(&process->intake.entropy);
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
start_process(DpermStore *store, const DpermRowsKey *key)
{
	Process    *process = palloc0(sizeof(*process));
	const char *at = dperm_rows_note(store);
	int32		head[2];
	int			blocks;

	take_bytes(&at, head, sizeof(head));
	process->key = *key;
	process->store = store;
	process->context = CurrentMemoryContext;
	process->labels = noted_labels(&at);
	dperm_intake_init(&process->intake, head[0], head[1]);
	for (int i = 0; i < head[0]; i++)
		read_set(&process->intake, i, &at);
	dperm_intake_start(&process->intake, store, process->labels.kind, false);
	blocks = process->intake.sets[0].encoder->block_count;
	process->datums = palloc(sizeof(Datum) * blocks);
	process->nulls = palloc(sizeof(bool) * blocks);
	process->outer = current;
	process->forget = (MemoryContextCallback) {.func = forget, .arg = process};
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &process->forget);
	current = process;
	return process;
}

/* Prepare to load. */
DpermStore *
dperm_load_step_begin(const DpermIntake *intake, const DpermSource *source, Size limit,
					  int workers, DpermRowsKey *key)
{
	StringInfoData note;
	DpermStore *store;

	initStringInfo(&note);
	write_note(&note, intake, source);
	store = dperm_rows_share(limit, workers + 1, note.data, note.len, key);
	if (store)
		start_process(store, key);
	return store;
}

/* Take over what all processes have handed over, after the load has ended. */
int64
dperm_load_step_end(DpermStore *store, DpermIntake *intake, DpermLabelKind label,
					const bytea *parts)
{
	const char *at = parts ? VARDATA(parts) : NULL;
	const char *end = parts ? at + VARSIZE(parts) - VARHDRSZ : NULL;
	Process    *process = current;
	int64		taken = 0;

	while (process && process->store != store)
		process = process->outer;
	if (process)
		forget(process);
	dperm_intake_start(intake, store, label, false);
	while (at < end)
	{
		int64		part;

		take_bytes(&at, &part, sizeof(part));
		taken += part;
		for (int i = 0; i < intake->count; i++)
			at = dperm_rows_take_over(intake->sets[i].rows, at, end);
	}
	return taken;
}

/* What this process does for the load with a key. */
static Process *
find_process(const bytea *argument)
{
	DpermRowsKey key;
	DpermStore *store = NULL;
	MemoryContext caller;
	Process    *process;

	if (argument && VARSIZE_ANY_EXHDR(argument) == sizeof(key))
	{
		memcpy(&key, VARDATA_ANY(argument), sizeof(key));
		for (process = current; process; process = process->outer)
			if (memcmp(process->key.token, key.token, DPERM_ROWS_TOKEN) == 0)
				return process;
		caller = MemoryContextSwitchTo(TopMemoryContext);
		store = dperm_rows_join(&key);
		MemoryContextSwitchTo(caller);
	}
	if (store == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dperm_load_agg() is internal to training")));
	caller = MemoryContextSwitchTo(AllocSetContextCreate(TopMemoryContext, "dperm load",
														 ALLOCSET_DEFAULT_SIZES));
	process = start_process(store, &key);
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

/* Bind the label of a call to its type, once for each call. */
static void
bind_label(Process *process, Oid type)
{
	MemoryContext caller = MemoryContextSwitchTo(process->context);

	dperm_label_init(&process->label, type, &process->labels);
	MemoryContextSwitchTo(caller);
}

/* Bind the columns that are arguments. */
static void
bind_arguments(Process *process, FunctionCallInfo fcinfo)
{
	int			count = PG_NARGS() - 3;
	TupleDesc	desc = CreateTemplateTupleDesc(count);

	process->record.type = InvalidOid;	/* its columns may be read otherwise from now on */
	for (int i = 0; i < count; i++)
		TupleDescInitEntry(desc, i + 1, NULL, get_fn_expr_argtype(fcinfo->flinfo, 3 + i), -1, 0);
	dperm_intake_bind(&process->intake, desc, 0);
	FreeTupleDesc(desc);
}

/* Add a row. */
static void
add_loaded(Process *process, FunctionCallInfo fcinfo, const Datum *datums, const bool *nulls)
{
	DpermIntake *intake = &process->intake;
	MemoryContext caller = MemoryContextSwitchTo(intake->row_context);
	double		label =
		dperm_label_read(&process->label, PG_GETARG_DATUM(2), PG_ARGISNULL(2));

	MemoryContextSwitchTo(caller);
	process->taken++;
	dperm_intake_take(intake, dperm_intake_portion(intake), datums, nulls, label, 0);
}

/* Transition: (state internal, key bytea, label "any", VARIADIC columns) */
Datum
dperm_load_step(PG_FUNCTION_ARGS)
{
	State	   *state = load_state(fcinfo);
	Process    *process = state->process;

	if (fcinfo->flinfo->fn_extra != process)
	{
		bind_label(process, get_fn_expr_argtype(fcinfo->flinfo, 2));
		bind_arguments(process, fcinfo);
		fcinfo->flinfo->fn_extra = process;
	}
	for (int i = 3; i < PG_NARGS(); i++)
	{
		process->datums[i - 3] = PG_GETARG_DATUM(i);
		process->nulls[i - 3] = PG_ARGISNULL(i);
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

	if (PG_ARGISNULL(3))
		elog(ERROR, "a load has no row");
	row = PG_GETARG_HEAPTUPLEHEADER(3);
	if (fcinfo->flinfo->fn_extra != process)
	{
		bind_label(process, get_fn_expr_argtype(fcinfo->flinfo, 2));
		fcinfo->flinfo->fn_extra = process;
	}
	if (!dperm_reader_read_record(&process->record, row))
	{
		MemoryContext caller = MemoryContextSwitchTo(process->context);

		dperm_reader_take_record(&process->record, row);
		dperm_intake_bind(&process->intake, process->record.desc, 0);
		MemoryContextSwitchTo(caller);
		dperm_reader_read_record(&process->record, row);
	}
	add_loaded(process, fcinfo, process->record.datums, process->record.nulls);
	PG_RETURN_POINTER(state);
}

/* The result of a state: what it and others hand over. */
static bytea *
result_of(State *state)
{
	Process    *process = state->process;
	StringInfoData result;

	initStringInfo(&result);
	appendStringInfoSpaces(&result, VARHDRSZ);
	if (state->parts.data)
		appendBinaryStringInfo(&result, state->parts.data, state->parts.len);
	if (process)
	{
		appendBinaryStringInfo(&result, (char *) &process->taken, sizeof(process->taken));
		process->taken = 0;
		for (int i = 0; i < process->intake.count; i++)
			dperm_rows_hand_over(process->intake.sets[i].rows, &result);
		dperm_intake_end(&process->intake);
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
