/*
 * fit_agg.c: dp_logreg and dp_svm, the aggregates that train one model per group.
 *
 * The state keeps the encoded rows of the group in chunks; the final function runs the whole
 * mechanism over them. Its memory depends on the number of rows and their dimension alone,
 * never on what they hold: the limit is no leak.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "args.h"
#include "cache.h"
#include "core/fit.h"
#include "core/model.h"
#include "dperm.h"
#include "label.h"
#include "model_type.h"
#include "rows.h"
#include "source.h"

PG_FUNCTION_INFO_V1(dp_logreg_step);
PG_FUNCTION_INFO_V1(dp_svm_step);
PG_FUNCTION_INFO_V1(dp_fit_final);

/* A row that waits until the vector length is settled. */
typedef struct EarlyRow
{
	int			sign;
	int			length;			/* -1: no vector that could be used */
	double	   *raw;
} EarlyRow;

/* The state of one group. */
typedef struct FitState
{
	MemoryContext context;		/* the aggregate's: all of this lives there */

	/* parameters, as the first row gave them; they may not change */
	DpermOptions options;
	double		lambda_arg;
	bool		lambda_null;
	Jsonb	   *options_arg;	/* NULL: none */
	DpermDimensionSource dimension_source;

	/* how to read a row */
	DpermLabel	label;
	Oid			element;		/* of the feature arrays */

	/* rows until the length is known; then count = 0 again */
	EarlyRow   *early;
	int			early_count;
	MemoryContext early_context;	/* of their vectors: not the aggregate's, whose size EXPLAIN shows */
	MemoryContextCallback early_ends[2];	/* of the aggregate's context, and of theirs */

	/* the rows, encoded */
	bool		ready;			/* encoder and dim are set */
	DpermBlock	block;			/* the vector, the only one */
	DpermEncoder encoder;
	double	   *raw;			/* a vector converted to doubles */
	DpermCache	cache;
} FitState;

/* Arguments of the transition function behind the state. */
enum
{
	ARG_LABEL = 1,
	ARG_FEATURES,
	ARG_EPSILON,
	ARG_LAMBDA,
	ARG_OPTIONS
};

/* An argument that the caller may have left out. */
static inline bool
has_arg(FunctionCallInfo fcinfo, int n)
{
	return PG_NARGS() > n && !PG_ARGISNULL(n);
}

/* Options as of the first row. */
static void
read_options(FunctionCallInfo fcinfo, bool svm, FitState *state)
{
	DpermOptions *options = &state->options;

	if (!has_arg(fcinfo, ARG_EPSILON))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon must not be null"),
				 errhint("Common values lie between 0.1 and 10; 'Infinity' trains without privacy.")));
	dperm_options_init(options, svm, PG_GETARG_FLOAT8(ARG_EPSILON));
	state->lambda_null = !has_arg(fcinfo, ARG_LAMBDA);
	if (!state->lambda_null)
	{
		state->lambda_arg = PG_GETARG_FLOAT8(ARG_LAMBDA);
		dperm_options_set_lambda(options, state->lambda_arg);
	}
	if (has_arg(fcinfo, ARG_OPTIONS))
	{
		state->options_arg = PG_GETARG_JSONB_P_COPY(ARG_OPTIONS);
		dperm_options_set_jsonb(options, state->options_arg);
	}
	dperm_options_settle(options);
}

/* Parameters are the group's, not the row's. */
static void
check_unchanged(FunctionCallInfo fcinfo, const FitState *state)
{
	bool		same = has_arg(fcinfo, ARG_EPSILON) &&
		PG_GETARG_FLOAT8(ARG_EPSILON) == state->options.epsilon &&
		has_arg(fcinfo, ARG_LAMBDA) == !state->lambda_null &&
		(state->lambda_null || PG_GETARG_FLOAT8(ARG_LAMBDA) == state->lambda_arg) &&
		has_arg(fcinfo, ARG_OPTIONS) == (state->options_arg != NULL);

	if (same && state->options_arg)
	{
		Jsonb	   *now = PG_GETARG_JSONB_P(ARG_OPTIONS);

		same = VARSIZE(now) == VARSIZE(state->options_arg) &&
			memcmp(now, state->options_arg, VARSIZE(now)) == 0;
		PG_FREE_IF_COPY(now, ARG_OPTIONS);
	}
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon, lambda and options must be the same for all rows of a group"),
				 errhint("They are parameters of the model; group by what they depend on.")));
}

/* Fix the vector length and all that follows from it. */
static void
settle_dimension(FitState *state, int dimension)
{
	MemoryContext caller = MemoryContextSwitchTo(state->context);

	state->block = dperm_options_vector_block(&state->options);
	state->block.count = dimension;
	state->encoder = dperm_options_encoder(&state->options, &state->block, 1);
	dperm_cache_init(&state->cache, &state->encoder, 0, NULL);
	state->raw = palloc(sizeof(double) * dimension);
	state->ready = true;
	MemoryContextSwitchTo(caller);
}

/* The vectors of the early rows go with the aggregate's context... */
static void
drop_early(void *arg)
{
	FitState   *state = arg;

	if (state->early_context)
		MemoryContextDelete(state->early_context);
}

/* ...unless they went before. */
static void
forget_early(void *arg)
{
	((FitState *) arg)->early_context = NULL;
}

/* The state for the first row of a group. */
static FitState *
make_state(FunctionCallInfo fcinfo, MemoryContext context, bool svm)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	FitState   *state = palloc0(sizeof(*state));
	Oid			label_type = get_fn_expr_argtype(fcinfo->flinfo, ARG_LABEL);
	Oid			features_type = get_fn_expr_argtype(fcinfo->flinfo, ARG_FEATURES);

	state->context = context;
	read_options(fcinfo, svm, state);
	state->element = dperm_rows_element_type(features_type);
	if (!OidIsValid(state->element))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("features cannot be of type %s", format_type_be(features_type)),
				 errhint("Pass an array of numbers, such as double precision[].")));
	dperm_label_init(&state->label, label_type, state->options.positive);
	if (state->options.dimension > 0)
	{
		state->dimension_source = DPERM_DIMENSION_DECLARED;
		settle_dimension(state, state->options.dimension);
	}
	else
	{
		state->dimension_source = DPERM_DIMENSION_ROWS;
		state->early = palloc(sizeof(EarlyRow) * DPERM_LENGTH_ROWS);
		state->early_context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "dperm early rows",
													 ALLOCSET_SMALL_SIZES);
		state->early_ends[0].func = drop_early;
		state->early_ends[1].func = forget_early;
		state->early_ends[0].arg = state->early_ends[1].arg = state;
		MemoryContextRegisterResetCallback(context, &state->early_ends[0]);
		MemoryContextRegisterResetCallback(state->early_context, &state->early_ends[1]);
	}
	MemoryContextSwitchTo(caller);
	return state;
}

/* Encode and keep one row: a zero row without a label, a zero block without a vector. */
static void
keep_row(FitState *state, int sign, const double *raw)
{
	DpermValue	value = {.present = raw != NULL, .vector = raw};
	Size		needs = dperm_cache_needs(&state->cache);

	if (needs > 0 && state->cache.keep.used > 0 &&
		dperm_cache_size(&state->cache) + needs > dperm_aggregate_memory * (Size) 1024)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a group needs more than dperm.aggregate_memory (%d kB)",
						dperm_aggregate_memory),
				 errhint("Raise dperm.aggregate_memory, or train this group from a view with dp_logreg_train() or dp_svm_train(), which read rows in passes.")));
	dperm_cache_add(&state->cache, &value, sign);
}

/* Settle the length on the rows seen so far, and encode them. */
static void
end_early(FitState *state)
{
	int			lengths[DPERM_LENGTH_ROWS];

	for (int i = 0; i < state->early_count; i++)
		lengths[i] = state->early[i].length;
	settle_dimension(state, dperm_common_length(lengths, state->early_count));
	for (int i = 0; i < state->early_count; i++)
	{
		EarlyRow   *row = &state->early[i];

		keep_row(state, row->sign,
				 row->length == state->block.count ? row->raw : NULL);
	}
}

/* Put one row aside until the length is known. */
static void
add_early(FitState *state, int sign, ArrayType *array)
{
	EarlyRow   *row = &state->early[state->early_count++];

	row->sign = sign;
	row->raw = NULL;
	row->length = array ? dperm_rows_array_length(array) : -1;
	if (row->length >= 1 && row->length < DPERM_DIM_MAX)
	{
		/* a vector with a NULL inside still has a length to vote with */
		row->raw = MemoryContextAllocZero(state->early_context, sizeof(double) * row->length);
		if (!dperm_rows_read_array(array, state->element, row->length, row->raw))
			row->raw[0] = NAN;
	}
	if (state->early_count == DPERM_LENGTH_ROWS)
	{
		end_early(state);
		drop_early(state);
		state->early_count = 0;
	}
}

/* Add one row, with its vector or NULL. */
static void
add_row(FitState *state, int sign, ArrayType *array)
{
	const double *raw = NULL;

	if (!state->ready)
	{
		add_early(state, sign, array);
		return;
	}
	if (array && dperm_rows_read_array(array, state->element, state->block.count,
									   state->raw))
		raw = state->raw;
	keep_row(state, sign, raw);
}

/* Transition: (internal, label "any", features "any", epsilon [, lambda [, options]]) */
static Datum
step(FunctionCallInfo fcinfo, bool svm)
{
	MemoryContext context;
	FitState   *state;
	ArrayType  *array = NULL;
	int			sign = 0;
	int			where = AggCheckCallContext(fcinfo, &context);

	if (where == AGG_CONTEXT_WINDOW)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg and dp_svm cannot be used as window functions"),
				 errhint("Every frame would release a model of the same rows; use GROUP BY.")));
	if (where != AGG_CONTEXT_AGGREGATE)
		elog(ERROR, "aggregate transition function called in non-aggregate context");

	if (PG_ARGISNULL(0))
	{
		Aggref	   *call = AggGetAggref(fcinfo);

		if (call && call->aggdistinct != NIL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("dp_logreg and dp_svm cannot be used with DISTINCT"),
					 errhint("The number of distinct rows depends on what rows hold, but the number of rows is public.")));
		state = make_state(fcinfo, context, svm);
	}
	else
	{
		state = (FitState *) PG_GETARG_POINTER(0);
		check_unchanged(fcinfo, state);
	}

	if (!PG_ARGISNULL(ARG_LABEL))
		sign = dperm_label_sign(&state->label, PG_GETARG_DATUM(ARG_LABEL));
	if (!PG_ARGISNULL(ARG_FEATURES))
		array = PG_GETARG_ARRAYTYPE_P(ARG_FEATURES);
	add_row(state, sign, array);
	if (array)
		PG_FREE_IF_COPY(array, ARG_FEATURES);
	PG_RETURN_POINTER(state);
}

Datum
dp_logreg_step(PG_FUNCTION_ARGS)
{
	return step(fcinfo, false);
}

Datum
dp_svm_step(PG_FUNCTION_ARGS)
{
	return step(fcinfo, true);
}

/* Final: run the mechanism over the rows of the group. NULL for a group without rows. */
Datum
dp_fit_final(PG_FUNCTION_ARGS)
{
	FitState   *state;
	const DpermLayout *layout;
	DpermMatrix matrix;
	DpermEntropy entropy;
	DpermStatus status;
	DpermFit	fit = {0};
	DpermModel	model = {0};
	double	   *weights;
	double	   *room;
	Datum		result;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate final function called in non-aggregate context");
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (FitState *) PG_GETARG_POINTER(0);
	if (!state->ready)
	{
		/* the state is not the final function's to change */
		FitState   *settled = palloc(sizeof(*settled));

		*settled = *state;
		settled->context = CurrentMemoryContext;
		end_early(settled);
		state = settled;
	}

	layout = &state->cache.feed.layout;
	fit.setup = dperm_options_setup(&state->options, layout->dim, state->cache.keep.used);
	fit.calibration = dperm_checked_calibration(&fit.setup);
	dperm_cache_end(&state->cache);
	matrix = dperm_matrix_of(&state->cache.keep, layout, state->options.loss);
	matrix.rough = dperm_fit_rough(&fit);
	matrix.poll = dperm_interrupts;
	matrix.room = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
										 dperm_moments_room(layout->dim, true));
	room = MemoryContextAllocHuge(CurrentMemoryContext,
								  sizeof(double) * dperm_fit_room(layout->dim));
	weights = palloc(sizeof(double) * layout->dim);
	dperm_entropy_init(&entropy, dperm_strong_random, NULL);
	fit.rows.answer = dperm_matrix_answer;
	fit.rows.arg = &matrix;
	fit.sample = &matrix;
	fit.entropy = &entropy;
	fit.poll = dperm_interrupts;

	status = dperm_fit(&fit, weights, room);
	dperm_matrix_wipe(&matrix);
	dperm_entropy_wipe(&entropy);
	dperm_check_status(status);

	model.dimension_source = state->dimension_source;
	dperm_model_fill(&model, &fit.setup, &fit.calibration, &state->encoder, weights);
	result = dperm_model_make(&model);
	pfree(matrix.room);
	pfree(room);
	pfree(weights);
	PG_RETURN_DATUM(result);
}
