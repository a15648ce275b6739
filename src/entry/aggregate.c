/*
 * aggregate.c: dp_logreg, dp_svm and dp_linreg, the aggregates that train one
 * model per group.
 *
 * The state keeps the encoded rows of the group in chunks; the final function
 * runs the whole mechanism over them. Its memory depends only on the number of
 * rows and their dimension, never on what they contain, so the memory limit
 * leaks nothing.
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "base/host.h"
#include "base/option_table.h"
#include "base/settings.h"
#include "column/datum_values.h"
#include "column/encode.h"
#include "column/label.h"
#include "column/model_type.h"
#include "protect/protection.h"
#include "train/cache.h"
#include "train/fill.h"
#include "train/training.h"

PG_FUNCTION_INFO_V1(dperm_logreg_step);
PG_FUNCTION_INFO_V1(dperm_svm_step);
PG_FUNCTION_INFO_V1(dperm_linreg_step);
PG_FUNCTION_INFO_V1(dperm_aggregate_final);

/* What is known about a call, for as long as its query runs. */
typedef struct Call
{
	bool		advised;		/* has delta been warned of? */

	/* what the query and the catalog say about the vectors in features */
	int			dimension;		/* 0: nothing */
	bool		encoded;		/* are they made by dp_encode, with this encoder? */
	DpermEncoder made_by;
} Call;

/* The state of one group. */
typedef struct FitState
{
	/* parameters, as the first row gave them */
	DpermOptions options;

	/* how to read a row */
	DpermLabel	label;
	Oid			element;		/* of the feature arrays */

	/* the rows, encoded */
	DpermBlock	block;			/* the vector, the only one */
	DpermEncoder encoder;
	double	   *raw;			/* a vector converted to doubles */
	DpermCache	cache;

	/*
	 * vectors made by dp_encode lie in these shapes, so the noise has a shape,
	 * too; else 0 and NULL
	 */
	int			shape_count;
	DpermShape *shapes;
	DpermNoisePlans noise;

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

/* Read the options from the first row. */
static void
read_group_options(FunctionCallInfo fcinfo, DpermLearner learner, DpermOptions *options)
{
	dperm_options_init(options, learner);
	dperm_option_table_set(options, "epsilon", PG_GETARG_DATUM(ARG_EPSILON),
						   PG_ARGISNULL(ARG_EPSILON));
	if (PG_NARGS() > ARG_OPTIONS && !PG_ARGISNULL(ARG_OPTIONS))
		dperm_option_table_jsonb(options, DPERM_PLACE_AGGREGATE,
								 PG_GETARG_JSONB_P_COPY(ARG_OPTIONS));
	dperm_options_settle(options);
}

/*
 * Does an expression over the input of a node contain a column that it does not
 * group by?
 */
static bool
has_ungrouped_column(Node *expression, void *node)
{
	const Agg  *agg = node;

	if (expression == NULL)
		return false;
	if (IsA(expression, Var))
	{
		for (int i = 0; i < agg->numCols; i++)
			if (agg->grpColIdx[i] == ((Var *) expression)->varattno)
				return false;
		return true;
	}
	return expression_tree_walker(expression, has_ungrouped_column, node);
}

/*
 * Raise an error unless the parameters of a call are the same for all rows of a
 * group, whatever the rows contain.
 */
static void
check_parameters(Agg *agg, const Aggref *call)
{
	ListCell   *cell;

	foreach(cell, call->args)
	{
		TargetEntry *argument = lfirst_node(TargetEntry, cell);

		/* what rows are sorted by is not an argument */
		if (!argument->resjunk && foreach_current_index(cell) >= ARG_EPSILON - 1 &&
			(has_ungrouped_column((Node *) argument->expr, agg) ||
			 contain_volatile_functions((Node *) argument->expr)))
			ereport(ERROR,
					(errcode(ERRCODE_GROUPING_ERROR),
					 errmsg("epsilon and options of dp_logreg, dp_svm and dp_linreg must be "
							"constants or depend on columns of GROUP BY"),
					 errhint("They are parameters of the model, not values of rows.")));
	}
}

/*
 * Does Citus gather the rows of a node from several servers? Then even a
 * constant is a column of them.
 */
static bool
is_gathered(const Agg *agg)
{
	const Plan *plan = agg->plan.lefttree;

	while (plan && !IsA(plan, CustomScan))
		plan = plan->lefttree;
	return plan && strncmp(((const CustomScan *) plan)->methods->CustomName, "Citus", 5) == 0;
}

/*
 * The tables of a statement. If Citus has planned it, only the range table
 * names them.
 */
static List *
statement_tables(const PlannedStmt *statement)
{
	List	   *tables = list_copy(statement->relationOids);
	ListCell   *cell;

	foreach(cell, statement->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_RELATION)
			tables = list_append_unique_oid(tables, lfirst_node(RangeTblEntry, cell)->relid);
	return tables;
}

/*
 * Raise an error unless a call in its node trains on disjoint groups, with
 * parameters that do not depend on rows.
 */
static void
check_call(const AggState *node, const Aggref *call)
{
	Agg		   *agg = castNode(Agg, node->ss.ps.plan);

	dperm_protection_check_query(statement_tables(node->ss.ps.state->es_plannedstmt));
	if (call->aggdistinct != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be used with DISTINCT"),
				 errhint("The number of rows is public, but the number of distinct rows depends on "
						 "private values.")));
	if (list_length(agg->groupingSets) > 1 || agg->chain != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be used with ROLLUP, CUBE or "
						"several grouping sets"),
				 errdetail("A row would belong to several groups, each of which costs epsilon."),
				 errhint("Use GROUP BY, or one query for each grouping set.")));
	if (is_gathered(agg))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be computed over a distributed "
						"table, unless GROUP BY has its distribution column"),
				 errhint("Gather the rows first, as in WITH r AS MATERIALIZED (SELECT ... FROM "
						 "...) SELECT dp_logreg(...) FROM r, or use dp_logreg_train().")));
	check_parameters(agg, call);
}

/*
 * The dimension of the vectors: an option, or what the features argument
 * declares.
 */
static int
declared_dimension(const Call *known, const DpermOptions *options)
{
	int			dimension = options->dimension == 0 ? known->dimension : options->dimension;

	if (dimension == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the dimension of the feature vectors is not declared"),
				 errhint("Specify it as an option, as in dp_logreg(label, features, 1, "
						 "'{\"dimension\": 3}'), or pass ARRAY[a, b, c], dp_encode(...), or a "
						 "domain with CHECK (cardinality(VALUE) = 3).")));
	return dimension;
}

/*
 * Prepare for rows whose vectors have this many elements, and were made by an
 * encoder if it is known.
 */
static void
init_rows(FitState *state, int dimension, const DpermEncoder *made_by)
{
	state->block = dperm_options_vector_block(&state->options);
	state->block.count = dimension;
	state->encoder = dperm_options_encoder(&state->options, &state->block, 1);
	if (made_by && state->encoder.kernel.kind == DPERM_KERNEL_LINEAR)
	{
		state->shapes = palloc(sizeof(DpermShape) * dperm_shape_most(made_by));
		state->shape_count = dperm_shape_list(made_by, false, state->shapes);
		state->noise = dperm_options_noise_within(&state->options, made_by, &state->encoder);
	}
	else
		state->noise = dperm_options_noise(&state->options, &state->encoder, false);
	dperm_options_check(&state->options, dperm_encoder_dim(&state->encoder), state->noise);
	dperm_cache_init(&state->cache, &state->encoder, state->options.labels.kind, 0, NULL, false);
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
	const AggState *node = castNode(AggState, fcinfo->context);
	const Aggref *call = AggGetAggref(fcinfo);
	ParamListInfo params = node->ss.ps.state->es_param_list_info;
	Call	   *known = fcinfo->flinfo->fn_extra;

	if (known == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
		Node	   *features =
			(Node *) list_nth_node(TargetEntry, call->args, ARG_FEATURES - 1)->expr;

		check_call(node, call);
		known = palloc0(sizeof(Call));
		known->encoded = dperm_encode_encoder(features, params, &known->made_by);
		known->dimension = dperm_encode_dimension(features, params);
		fcinfo->flinfo->fn_extra = known;
		MemoryContextSwitchTo(caller);
	}
	return known;
}

/* The state for the first row of a group. */
static FitState *
make_state(FunctionCallInfo fcinfo, MemoryContext context, DpermLearner learner, Call *known)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	FitState   *state = palloc0(sizeof(*state));
	Oid			label_type = get_fn_expr_argtype(fcinfo->flinfo, ARG_LABEL);
	Oid			features_type = get_fn_expr_argtype(fcinfo->flinfo, ARG_FEATURES);
	DpermLabels labels;
	int			dimension;

	state->known = known;
	read_group_options(fcinfo, learner, &state->options);
	state->element = dperm_datum_values_element_type(features_type);
	if (!OidIsValid(state->element))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("features cannot be of type %s", format_type_be(features_type)),
				 errhint("Pass an array of numbers, such as double precision[].")));
	labels = state->options.labels;
	dperm_label_domain_init_type(&state->label, label_type,
								 dperm_options_may_be_several(&state->options), &labels);
	dperm_options_set_labels(&state->options, &labels);
	dimension = declared_dimension(known, &state->options);
	init_rows(state, dimension,
			  known->encoded && dperm_encoder_dim(&known->made_by) == dimension ? &known->made_by :
																				  NULL);
	MemoryContextSwitchTo(caller);
	return state;
}

/*
 * Is the vector where dp_encode puts it? It always is, but privacy depends on
 * it, so it is checked.
 */
static bool
in_shape(const FitState *state)
{
	for (int i = 0; i < state->shape_count; i++)
		if (!dperm_shape_contains(&state->shapes[i], state->raw))
			return false;
	return true;
}

/*
 * Encode and keep one row, with a zero block if there is no vector, or none that
 * can be read.
 */
static void
add_group_row(FitState *state, double label, ArrayType *array)
{
	bool		present = array && dperm_datum_values_read_array(array, state->element,
															  state->block.count, state->raw) &&
		in_shape(state);
	DpermValue	value = {.present = present, .vector = present ? state->raw : NULL};
	Size		needs = dperm_cache_needs(&state->cache);
	Size		limit = Max(dperm_cache_memory * (Size) 1024, DPERM_FILL_SAMPLE);

	if (needs > 0 && state->cache.keep.used > 0 &&
		dperm_cache_size(&state->cache) + needs > limit)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a group needs more than %zu kB of memory", limit / 1024),
				 errhint("Raise dperm.cache_memory, or train this group from a view with "
						 "dp_logreg_train(), dp_svm_train() or dp_linreg_train(), which read rows "
						 "in passes.")));
	dperm_cache_add(&state->cache, &value, label, 0);
}

/* Transition: (internal, label "any", features "any", epsilon [, options]) */
static Datum
step_group(FunctionCallInfo fcinfo, DpermLearner learner)
{
	MemoryContext context;
	FitState   *state;
	ArrayType  *array = NULL;
	double		label;
	int			where = AggCheckCallContext(fcinfo, &context);

	if (where == AGG_CONTEXT_WINDOW)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be used as window functions"),
				 errdetail("Each frame would release another model of the same rows."),
				 errhint("Use GROUP BY.")));
	if (where != AGG_CONTEXT_AGGREGATE)
		elog(ERROR, "aggregate transition function called in non-aggregate context");

	state = PG_ARGISNULL(0) ?
		make_state(fcinfo, context, learner, look_at_call(fcinfo)) :
		(FitState *) PG_GETARG_POINTER(0);
	label = dperm_label_read(&state->label, PG_GETARG_DATUM(ARG_LABEL), PG_ARGISNULL(ARG_LABEL));
	if (!PG_ARGISNULL(ARG_FEATURES))
		array = dperm_datum_values_get_array(PG_GETARG_DATUM(ARG_FEATURES));
	add_group_row(state, label, array);
	if (array)
		PG_FREE_IF_COPY(array, ARG_FEATURES);
	PG_RETURN_POINTER(state);
}

Datum
dperm_logreg_step(PG_FUNCTION_ARGS)
{
	return step_group(fcinfo, DPERM_LEARNER_LOGREG);
}

Datum
dperm_svm_step(PG_FUNCTION_ARGS)
{
	return step_group(fcinfo, DPERM_LEARNER_SVM);
}

Datum
dperm_linreg_step(PG_FUNCTION_ARGS)
{
	return step_group(fcinfo, DPERM_LEARNER_LINREG);
}

/* Warn of a large delta, once per call: there may be many groups. */
static void
advise_group(FitState *group)
{
	DpermSetup	setup = dperm_options_setup(&group->options, group->cache.feed.layout.dim,
										   group->noise, group->cache.keep.used);
	bool		large = setup.delta > 0 && setup.delta >= 1.0 / setup.rows;

	if (large && !group->known->advised)
		dperm_options_advise(&setup, setup.rows);
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
	DpermTraining training;

	if (AggCheckCallContext(fcinfo, NULL) != AGG_CONTEXT_AGGREGATE)
		elog(ERROR, "aggregate final function called in non-aggregate context");
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	group = (FitState *) PG_GETARG_POINTER(0);
	dperm_cache_end(&group->cache);
	advise_group(group);
	dperm_training_begin(&training, &group->options, &group->cache, group->noise,
						 group->cache.keep.used, true);
	while (training.active)
		dperm_training_answer(&training);
	dperm_host_check_status(dperm_training_finish(&training));
	PG_RETURN_DATUM(dperm_model_type_make(dperm_training_model(
		&training, &group->encoder, NULL, &group->options.labels, CurrentMemoryContext)));
}
