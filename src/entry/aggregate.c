/*
 * aggregate.c: dp_logreg, dp_svm and dp_linreg, the aggregates that train one
 * model per group. Trusted.
 *
 * The state keeps the encoded rows of the group in chunks; the final function
 * runs the whole mechanism over them. Its memory depends only on the number of
 * rows and their dimension, never on what they contain, so the memory limit
 * leaks nothing.
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "base/base.h"
#include "base/options.h"
#include "column/column.h"
#include "protect/protect.h"
#include "train/training.h"
#include "core/base/core.h"

PG_FUNCTION_INFO_V1(dperm_aggregate_step);
PG_FUNCTION_INFO_V1(dperm_aggregate_final);

/* What is known about a call, for as long as its query runs. */
typedef struct Call
{
	DpermLearner learner;
	bool		advised;		/* has delta been warned of? */

	/* what the query and the catalog say about the vectors in features */
	int			dimension;		/* 0: nothing */
	bool		encoded;		/* are they made by dp_encode, with this encoder? */
	DpermEncoder made_by;
} Call;

/* The memory for the rows of a group, even if dperm.cache_memory is smaller. */
#define LEAST_MEMORY ((Size) 48 * 1024 * 1024)

/* The state of one group. */
typedef struct FitState
{
	/* parameters, as the first row gave them */
	DpermOptions options;

	/* how to read a row */
	DpermLabel	label;
	DpermStored features;

	/* the rows, encoded */
	DpermBlock	block;			/* the vector, the only one */
	DpermEncoder encoder;
	double	   *raw;			/* a vector converted to doubles */
	DpermRows	rows;

	/*
	 * vectors made by dp_encode lie in these shapes, so the noise has a shape,
	 * too; else 0 and NULL
	 */
	int			shape_count;
	DpermShape *shapes;
	DpermPlan	plan;

	Call	   *known;			/* of the call */
} FitState;

/* Arguments of the transition function behind the state. */
enum
{
	ARG_LABEL = 1,
	ARG_FEATURES,
	ARG_EPSILON,
	ARG_OPTIONS
};

/*
 * Raise an error unless the parameters of a call are constants, whatever rows contain.
 * Where Citus gathers the rows of several servers, even a constant is a column of them.
 */
static void
check_parameters(const Aggref *call)
{
	ListCell   *cell;

	foreach(cell, call->args)
	{
		const TargetEntry *argument = lfirst_node(TargetEntry, cell);

		/* what rows are sorted by is not an argument */
		if (!argument->resjunk && foreach_current_index(cell) >= ARG_EPSILON - 1 &&
			(contain_volatile_functions((Node *) argument->expr) ||
			 contain_var_clause((Node *) argument->expr)))
			ereport(ERROR,
					(errcode(ERRCODE_GROUPING_ERROR),
					 errmsg("epsilon and options of dp_logreg, dp_svm and dp_linreg must be "
							"constants"),
					 errhint("They are parameters of the model, not values of rows. Over a "
							 "distributed table, gather the rows first, as in WITH r AS "
							 "MATERIALIZED (SELECT ... FROM ...) SELECT dp_logreg(...) FROM r, "
							 "or use dp_logreg_train().")));
	}
}

/*
 * Raise an error unless a call in its node trains on disjoint groups, with constant
 * parameters.
 */
static void
check_call(const AggState *node, const Aggref *call)
{
	Agg		   *agg = castNode(Agg, node->ss.ps.plan);
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, node->ss.ps.state->es_plannedstmt->rtable)
		if (OidIsValid(lfirst_node(RangeTblEntry, cell)->relid))
			tables = list_append_unique_oid(tables, lfirst_node(RangeTblEntry, cell)->relid);
	dperm_protection_check_query(tables);

	/*
	 * the number of distinct rows depends on private values; and in several
	 * groups a row would cost epsilon several times
	 */
	if (call->aggdistinct != NIL || list_length(agg->groupingSets) > 1 || agg->chain != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be used with DISTINCT, ROLLUP, "
						"CUBE or several grouping sets"),
				 errhint("Use GROUP BY, or one query for each grouping set: each row has to count "
						 "once.")));
	check_parameters(call);
}

/* The memory for the rows of a group, in bytes. */
static Size
memory_limit(void)
{
	return Max((Size) dperm_cache_memory * 1024, LEAST_MEMORY);
}

/*
 * Prepare for rows: their vectors have as many elements as an option says, or what
 * the features argument declares. They may have been made by an encoder.
 */
static void
init_rows(FitState *state)
{
	DpermOptions *options = &state->options;
	const Call *known = state->known;
	int			dimension = options->dimension == 0 ? known->dimension : options->dimension;

	if (dimension == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the dimension of the feature vectors is not declared"),
				 errhint("Specify it as an option, as in dp_logreg(label, features, 1, "
						 "'{\"dimension\": 3}'), or pass ARRAY[a, b, c], dp_encode(...), or a "
						 "domain with CHECK (cardinality(VALUE) = 3).")));
	state->block = (DpermBlock) {
		.kind = DPERM_BLOCK_VECTOR, .column = {"", 0}, .count = dimension,
		.norm = options->norm
	};
	state->encoder = dperm_options_encoder(options, &state->block, 1);
	if (known->encoded && dperm_encoder_dim(&known->made_by) == dimension &&
		state->encoder.kernel.kind == DPERM_KERNEL_LINEAR)
	{
		state->shapes = palloc(sizeof(DpermShape) * dperm_encoder_dim(&known->made_by));
		state->shape_count = dperm_shape_list(&known->made_by, false, state->shapes);
	}
	state->plan = dperm_plan_begin(options, &state->encoder,
								   state->shapes ? &known->made_by : NULL);
	dperm_rows_init_encoded(&state->rows, dperm_rows_make(memory_limit(), false, false),
							&state->encoder, options->labels.kind, false, NULL, 1);
	state->raw = palloc(sizeof(double) * dimension);
}

/*
 * Check a call when it has its first row. What is known about its vectors is what
 * the features argument says, never what rows contain: the number of weights
 * would reveal it.
 */
static Call *
look_at_call(FunctionCallInfo fcinfo)
{
	static const char *const steps[] = {
		[DPERM_LEARNER_LOGREG] = "dperm_logreg_step",
		[DPERM_LEARNER_SVM] = "dperm_svm_step",
		[DPERM_LEARNER_LINREG] = "dperm_linreg_step"
	};
	const AggState *node = castNode(AggState, fcinfo->context);
	const Aggref *call = AggGetAggref(fcinfo);
	ParamListInfo params = node->ss.ps.state->es_param_list_info;
	Call	   *known = fcinfo->flinfo->fn_extra;

	if (known == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
		int			learner =
			dperm_find_name(steps, lengthof(steps), get_func_name(fcinfo->flinfo->fn_oid));
		Node	   *features =
			(Node *) list_nth_node(TargetEntry, call->args, ARG_FEATURES - 1)->expr;

		check_call(node, call);
		if (learner < 0)
			elog(ERROR, "unknown transition function");
		known = palloc0(sizeof(Call));
		known->learner = (DpermLearner) learner;
		known->encoded = dperm_scorer_declared_encoder(features, params, &known->made_by);
		known->dimension = dperm_scorer_declared_dimension(features, params);
		fcinfo->flinfo->fn_extra = known;
		MemoryContextSwitchTo(caller);
	}
	return known;
}

/* The state for the first row of a group. */
static FitState *
make_state(FunctionCallInfo fcinfo, MemoryContext context, Call *known)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	FitState   *state = palloc0(sizeof(*state));
	Oid			label_type = get_fn_expr_argtype(fcinfo->flinfo, ARG_LABEL);
	Oid			features_type = get_fn_expr_argtype(fcinfo->flinfo, ARG_FEATURES);
	DpermLabels labels;

	state->known = known;
	dperm_options_init(&state->options, known->learner);
	dperm_option_table_set(&state->options, "epsilon", PG_GETARG_DATUM(ARG_EPSILON),
						   PG_ARGISNULL(ARG_EPSILON));
	if (PG_NARGS() > ARG_OPTIONS && !PG_ARGISNULL(ARG_OPTIONS))
		dperm_option_table_jsonb(&state->options, DPERM_PLACE_AGGREGATE,
								 PG_GETARG_JSONB_P_COPY(ARG_OPTIONS));
	dperm_options_settle(&state->options);
	dperm_reader_look(&state->features, features_type, context);
	if (state->features.element == DPERM_READ_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("features cannot be of type %s", format_type_be(features_type)),
				 errhint("Pass an array of numbers, such as double precision[].")));
	labels = state->options.labels;
	dperm_label_domain_init_type(&state->label, label_type,
								 dperm_options_may_be_several(&state->options), &labels);
	dperm_options_set_labels(&state->options, &labels);
	init_rows(state);
	MemoryContextSwitchTo(caller);
	return state;
}

/*
 * Is the vector where dp_encode puts it? It always is, but privacy depends on
 * it, so it is checked.
 */
static bool
in_shape(const FitState *state, const double *vector)
{
	for (int i = 0; i < state->shape_count; i++)
		if (!dperm_shape_contains(&state->shapes[i], vector))
			return false;
	return true;
}

/*
 * Encode and keep one row, with a zero block if there is no vector, or none that
 * can be read.
 */
static void
add_group_row(FitState *state, double label, const double *vector)
{
	bool		present = vector && in_shape(state, vector);
	DpermValue	value = {.present = present, .vector = present ? vector : NULL};

	if (!dperm_rows_add(&state->rows, &value, label, 0))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a group needs more than %zu kB of memory", memory_limit() / 1024),
				 errhint("Raise dperm.cache_memory, or train this group from a view with "
						 "dp_logreg_train(), dp_svm_train() or dp_linreg_train(), which use "
						 "temporary files.")));
}

/* Transition: (internal, label "any", features "any", epsilon [, options]) */
Datum
dperm_aggregate_step(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	FitState   *state;
	const double *vector = NULL;
	double		label;
	int			count;
	int			where = AggCheckCallContext(fcinfo, &context);

	if (where == AGG_CONTEXT_WINDOW)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be used as window functions"),
				 errdetail("Each frame would release another model of the same rows."),
				 errhint("Use GROUP BY.")));
	if (where != AGG_CONTEXT_AGGREGATE)
		elog(ERROR, "aggregate transition function called in non-aggregate context");

	state = PG_ARGISNULL(0) ? make_state(fcinfo, context, look_at_call(fcinfo)) :
		(FitState *) PG_GETARG_POINTER(0);
	label = dperm_label_read(&state->label, PG_GETARG_DATUM(ARG_LABEL), PG_ARGISNULL(ARG_LABEL));
	count = state->block.count;
	if (!PG_ARGISNULL(ARG_FEATURES))
		vector = dperm_reader_elements(&state->features, PG_GETARG_DATUM(ARG_FEATURES), &count,
									   state->raw);
	add_group_row(state, label, vector);
	PG_RETURN_POINTER(state);
}

/* Warn of a large delta, once per call: there may be many groups. */
static void
tell_delta(FitState *group)
{
	const DpermSetup *setup = &group->plan.setup;
	bool		large = setup->delta > 0 && setup->delta >= 1.0 / setup->rows;

	if (large && !group->known->advised)
		dperm_plan_tell_delta(&group->plan, setup->rows);
	group->known->advised = group->known->advised || large;
}

/*
 * Final: run the mechanism over the rows of the group. NULL for a group without
 * rows. PostgreSQL may ask again, as it does when a hash table of groups is
 * scanned again: that releases another model.
 */
Datum
dperm_aggregate_final(PG_FUNCTION_ARGS)
{
	FitState   *group;

	if (AggCheckCallContext(fcinfo, NULL) != AGG_CONTEXT_AGGREGATE)
		elog(ERROR, "aggregate final function called in non-aggregate context");
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	group = (FitState *) PG_GETARG_POINTER(0);
	dperm_rows_end(&group->rows);
	dperm_plan_for(&group->plan, group->rows.count);
	tell_delta(group);
	dperm_plan_check(&group->plan);
	PG_RETURN_DATUM(dperm_model_type_make(dperm_train_rows(&group->plan, &group->rows)));
}
