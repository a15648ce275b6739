/*
 * train.c: dp_logreg_train, dp_svm_train and dp_linreg_train; and dp_logreg_tune,
 * dp_svm_tune and dp_linreg_tune: training with parameters that are chosen
 * privately. Trusted.
 *
 * Tuning is algorithm 4 of the paper: the rows are divided into one portion per
 * candidate and one more. Each candidate is trained on its own portion with all
 * of epsilon, and one is chosen by the mistakes on the last portion, also with
 * all of epsilon. Each row is in one portion, so the total cost is epsilon.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "base/base.h"
#include "base/options.h"
#include "column/column.h"
#include "core/privacy/claim.h"
#include "core/privacy/counts.h"
#include "entry/entry.h"
#include "query/source.h"
#include "relation/relation.h"
#include "train/call_charge.h"
#include "train/count.h"
#include "train/training.h"

/* ------------------------------------------------------------ training */

/* A training that is open. */
typedef struct Training
{
	DpermOptions options;
	DpermSource source;
	DpermPlan	plan;
} Training;

/* The arguments of a training or a tuning; the options are not settled yet. */
static DpermSourceNames
read_arguments(FunctionCallInfo fcinfo, DpermLearner learner,
			   const DpermRegistration *registration, bool reads, DpermOptions *options)
{
	DpermSourceNames names = {
		.relation = dperm_arguments_required_text(fcinfo, "relation", DPERM_RELATION_REQUIRED),
		.registration = registration,
		.reads = reads,
		.label = dperm_arguments_required_text(fcinfo, "label", DPERM_RELATION_REQUIRED),
		.domains = dperm_arguments_jsonb(fcinfo, "domains"),
		.unit = dperm_arguments_text(fcinfo, "unit")
	};

	names.features = dperm_arguments_names(fcinfo, "features", &names.feature_count);
	dperm_options_init(options, learner);
	dperm_option_table_arguments(options, fcinfo);
	dperm_model_type_prior(fcinfo, options);
	return names;
}

/* Settle what options leave to an open source; returns the plan of its training. */
static DpermPlan
make_plan(const DpermSource *source, DpermOptions *options)
{
	dperm_options_set_unit(options, source->unit != NULL);
	dperm_options_set_labels(options, &source->spec.labels);
	dperm_call_charge_settle(options, source);
	return dperm_plan_begin(options, &source->spec.encoder, NULL);
}

/*
 * Read the arguments of a training, and open its source, with its registration
 * or NULL, whose rows may or may not be read: every mistake is an error here,
 * before any row is read.
 */
void
dperm_train_open(FunctionCallInfo fcinfo, DpermLearner learner,
				 const DpermRegistration *registration, bool reads, DpermOptions *options,
				 DpermSource *source, DpermPlan *plan)
{
	DpermSourceNames names = read_arguments(fcinfo, learner, registration, reads, options);

	dperm_options_settle(options);
	dperm_queries_open(source, &names, options);
	*plan = make_plan(source, options);
}

/* Tell that a call has been charged for nothing; the number of units is public. */
static void
tell_empty(const DpermRegistration *registration)
{
	dperm_message_tell(NOTICE,
					   psprintf("relation \"%s\" has no %s, so there is no model",
								get_rel_name(registration->relation),
								registration->persons ? "rows of persons" : "rows"),
					   "The call has been charged, as any other.",
					   registration->persons ? "Rows whose unit is NULL do not count." : NULL);
}

/*
 * The result of a training function, in the memory context of its caller: the
 * model, with its relation and its charge; NULL if there are no rows. Ends the SPI
 * connection.
 */
static Datum
result_of(DpermCall *call, MemoryContext caller, const DpermSource *source, DpermModel *model)
{
	Datum		result = 0;

	if (model)
	{
		MemoryContext spi = MemoryContextSwitchTo(caller);
		char	   *name = dperm_relation_name(source->relation);

		model->source = (DpermText) {name, (int) strlen(name)};
		if (call->registration)
		{
			model->budget = (DpermText) {call->paid.budget, (int) strlen(call->paid.budget)};
			model->entry = call->paid.entry;
			call->units = dperm_model_units(model);
		}
		result = dperm_model_type_make(model);
		MemoryContextSwitchTo(spi);
	}
	else if (call->registration)
		tell_empty(call->registration);
	SPI_finish();
	call->fcinfo->isnull = model == NULL;
	return result;
}

/* Open a training. */
void
dperm_entry_open_training(DpermCall *call)
{
	Training   *training = palloc0(sizeof(*training));

	dperm_train_open(call->fcinfo, (DpermLearner) call->function->variant, call->registration,
					 true, &training->options, &training->source, &training->plan);
	dperm_call_charge_fill(call, &training->source, &training->options, DPERM_CALL_TRAINING, NULL);
	call->opened = training;
}

/* Train. */
Datum
dperm_entry_run_training(DpermCall *call)
{
	MemoryContext caller = CurrentMemoryContext;
	Training   *training = call->opened;

	SPI_connect();
	return result_of(call, caller, &training->source,
					 dperm_train_source(&training->plan, &training->source));
}

/* -------------------------------------------------------------- tuning */

/* A tuning in progress. */
typedef struct Tuning
{
	DpermSelection selection;
	Jsonb	   *grid;			/* the candidates, an array */
	int			count;			/* of candidates */
	DpermOptions *candidates;
	DpermSource *sources;		/* of each candidate */
	DpermPlan  *plans;			/* of each candidate */
	/*
	 * loaded rows: the portion of each candidate; then the last one, each set
	 * for one or more candidates
	 */
	DpermLoad  *sets;
	int			set_count;
	DpermLoad **tested_on;		/* the set that the mistakes of each candidate are counted on */
} Tuning;

/* The default grid: these multiples of the default lambda. */
static const char default_grid[] =
	"[{\"scale\": 0.01}, {\"scale\": 0.1}, {\"scale\": 1}, {\"scale\": 10}, {\"scale\": 100}]";

/* A candidate, an object whose keys are names of options. */
static Jsonb *
candidate_of(const Tuning *tuning, int i)
{
	return JsonbValueToJsonb(getIthJsonbValueFromContainer(&tuning->grid->root, i));
}

static char *
candidate_text(const Tuning *tuning, int i)
{
	return JsonbToCString(NULL, &candidate_of(tuning, i)->root, -1);
}

/* What the units are called. */
static const char *
units_name(const Tuning *tuning)
{
	return tuning->candidates[0].unit == DPERM_UNIT_PERSON ? "persons" : "rows";
}

/* How a model was chosen, as it becomes part of it. */
static DpermText
describe_choice(const Tuning *tuning, int64 units, int chosen)
{
	char	   *text =
		psprintf("{\"way\": \"private\", \"selection\": \"%s\", \"%s\": " INT64_FORMAT
				 ", \"portions\": %d, \"chosen\": %s, \"candidates\": %s}",
				 dperm_selection_name(tuning->selection), units_name(tuning), units,
				 tuning->count + 1, candidate_text(tuning, chosen),
				 JsonbToCString(NULL, &tuning->grid->root, -1));
	DpermTree	tree;

	(void) dperm_tree_parse((DpermText) {text, (int) strlen(text)}, &tree);
	return dperm_tree_print(&tree);
}

/* Raise an error for candidates that the model could not say. */
static void
check_storable(const Tuning *tuning)
{
	/* whichever is chosen */
	if (describe_choice(tuning, PG_INT64_MAX, 0).len > DPERM_MODEL_TUNING_MAX / 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("candidates cannot be stored in a model"),
				 errhint("A candidate is an object with a few plain values.")));
}

/*
 * Read the candidates from the arguments: the options that all have, with changes
 * to each.
 */
static void
read_candidates(Tuning *tuning, FunctionCallInfo fcinfo, const DpermOptions *base)
{
	Jsonb	   *given = dperm_arguments_jsonb(fcinfo, "candidates");

	if (base->lambda >= 0 && !given)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify lambda when tuning it"),
				 errhint("Specify candidates, as in '[{\"lambda\": 0.01}, {\"lambda\": "
						 "0.001}]'.")));
	tuning->grid = given ? given :
		DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(default_grid)));
	tuning->count = JB_ROOT_COUNT(tuning->grid);
	if (!JB_ROOT_IS_ARRAY(tuning->grid) || JB_ROOT_IS_SCALAR(tuning->grid) ||
		tuning->count < 1 || tuning->count > DPERM_CANDIDATES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("candidates must be a JSON array of 1 to %d objects", DPERM_CANDIDATES_MAX),
				 errhint("For example '[{\"lambda\": 0.01}, {\"lambda\": 0.001}]'. Each is trained "
						 "on its own portion of the rows, so specify only a few.")));
	tuning->candidates = palloc0(sizeof(DpermOptions) * tuning->count);
	for (int i = 0; i < tuning->count; i++)
	{
		tuning->candidates[i] = *base;
		dperm_option_table_jsonb(&tuning->candidates[i],
								 given ? DPERM_PLACE_CANDIDATE : DPERM_PLACE_GRID,
								 candidate_of(tuning, i));
		for (int j = 0; j < i; j++)
			if (memcmp(&tuning->candidates[i], &tuning->candidates[j], sizeof(*base)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("candidate %s appears twice", candidate_text(tuning, i)),
						 errhint("Specify each candidate once: each is trained on its own portion "
								 "of the rows.")));
	}
	check_storable(tuning);
}

/* Open the relation, once, and encode its features for every candidate. */
static void
open_sources(Tuning *tuning, const DpermSourceNames *names)
{
	for (int i = 0; i < tuning->count; i++)
	{
		DpermOptions *options = &tuning->candidates[i];
		DpermSource *source = &tuning->sources[i];

		dperm_options_settle(options);
		if (i == 0)
			dperm_queries_open(source, names, options);
		else
		{
			*source = tuning->sources[0];
			dperm_source_encode(source, options);
		}
		source->portions = tuning->count + 1;
		tuning->plans[i] = make_plan(source, options);
	}
}

/* Is the label a number? Then mistakes are absolute errors, in parts. */
static bool
is_regression(const Tuning *tuning)
{
	return tuning->candidates[0].labels.kind == DPERM_LABEL_NUMBER;
}

/* Open a tuning. */
void
dperm_entry_open_tuning(DpermCall *call)
{
	FunctionCallInfo fcinfo = call->fcinfo;
	Tuning	   *tuning = palloc0(sizeof(*tuning));
	char	   *selection = dperm_arguments_text(fcinfo, "selection");
	int			rule = DPERM_SELECT_PERMUTE_AND_FLIP;
	DpermOptions base;
	DpermSourceNames names = read_arguments(fcinfo, (DpermLearner) call->function->variant,
											call->registration, true, &base);

	names.divides = true;
	if (selection)
		rule = dperm_find_word(dperm_selection_name, DPERM_SELECTION_COUNT, selection);
	if (rule < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown selection \"%s\"", selection),
				 errhint("Use 'permute_and_flip' or 'exponential'.")));
	tuning->selection = (DpermSelection) rule;
	read_candidates(tuning, fcinfo, &base);
	tuning->sources = palloc0(sizeof(DpermSource) * tuning->count);
	tuning->plans = palloc0(sizeof(DpermPlan) * tuning->count);
	tuning->tested_on = palloc0(sizeof(DpermLoad *) * tuning->count);
	open_sources(tuning, &names);
	dperm_call_charge_fill(call, &tuning->sources[0], &tuning->candidates[0], DPERM_CALL_TUNING,
						   NULL);
	call->opened = tuning;
}

/*
 * Complete the plans of all candidates, and settle the rows that have been loaded.
 * What is chosen, and what is told, is that for portions of equal size. A candidate
 * with Gaussian noise spends delta whether or not it is chosen, since its mistakes
 * affect the choice. So if one spends delta, all do, and the released model says so.
 * Numbers of rows are public.
 */
static void
complete_plans(Tuning *tuning, const int64 *rows, int64 total)
{
	int			portions = tuning->count + 1;
	const DpermPlan *spends = NULL;

	for (int i = 0; i < tuning->count; i++)
	{
		dperm_plan_for(&tuning->plans[i], total / portions);
		tuning->sources[i].spec.encoder = tuning->plans[i].encoder;
		if (tuning->plans[i].setup.delta > 0)
			spends = &tuning->plans[i];
	}
	dperm_load_settle(tuning->sets, tuning->set_count);
	for (int i = 0; i < tuning->count; i++)
	{
		DpermOptions *options = &tuning->candidates[i];

		options->gaussian_only = spends != NULL;
		if (!spends)
			options->delta = 0;
		else if (tuning->plans[i].setup.delta == 0)
			dperm_plan_resize(&tuning->plans[i], total / portions);
	}
	if (spends)
		dperm_plan_tell_delta(spends, total);
	dperm_plan_tell_noise(tuning->plans, tuning->count, portions, total);
	for (int i = 0; i < tuning->count; i++)
	{
		dperm_plan_resize(&tuning->plans[i], rows[i]);
		dperm_plan_check(&tuning->plans[i]);
	}
}

/*
 * The set of the last portion for a candidate. Candidates that differ only in
 * lambda encode rows in the same way, and share it.
 */
static DpermLoad *
last_portion(Tuning *tuning, int candidate)
{
	DpermOptions own = tuning->candidates[candidate];

	for (int i = 0; i < candidate; i++)
	{
		own.lambda = tuning->candidates[i].lambda;
		own.scale = tuning->candidates[i].scale;
		if (memcmp(&own, &tuning->candidates[i], sizeof(own)) == 0)
			return tuning->tested_on[i];
	}
	tuning->sets[tuning->set_count] =
		(DpermLoad) {.source = &tuning->sources[candidate], .portion = tuning->count};
	return &tuning->sets[tuning->set_count++];
}

/* Load the portion of each candidate, and the last one, in one scan. */
static void
load_candidates(Tuning *tuning, int64 *portions)
{
	int			count = tuning->count;

	tuning->sets = palloc0(sizeof(DpermLoad) * 2 * count);
	for (int i = 0; i < count; i++)
		tuning->sets[i] = (DpermLoad) {.source = &tuning->sources[i], .portion = i};
	tuning->set_count = count;
	for (int i = 0; i < count; i++)
		tuning->tested_on[i] = last_portion(tuning, i);
	dperm_load(tuning->sets, tuning->set_count, portions);
}

/* Algorithm 4: the chosen model, or NULL if there are no rows. */
static DpermModel *
tune_privately(Tuning *tuning)
{
	const DpermOptions *candidate = &tuning->candidates[0];	/* in this they are all alike */
	int			portions = tuning->count + 1;
	DpermTask  *tasks = palloc0(sizeof(DpermTask) * tuning->count);
	int64	   *rows = palloc(sizeof(int64) * portions);
	int64	   *mistakes = palloc(sizeof(int64) * tuning->count);
	int		   *order = palloc(sizeof(int) * tuning->count);
	int64		total = 0;
	DpermEntropy entropy = {0};
	int			chosen;

	load_candidates(tuning, rows);
	for (int i = 0; i < portions; i++)
		total += rows[i];
	if (total == 0)
	{
		dperm_load_close(tuning->sets, tuning->set_count);
		return NULL;
	}
	for (int i = 0; i < portions; i++)
		if (rows[i] == 0)
		{
			/* numbers of units are public, and no portion depends on their contents */
			dperm_message_public();
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a portion of the %s is empty", units_name(tuning)),
					 errhint("There are too few %s for this many candidates.",
							 units_name(tuning))));
		}
	complete_plans(tuning, rows, total);
	for (int i = 0; i < tuning->count; i++)
		tasks[i] = (DpermTask) {.plan = &tuning->plans[i], .rows = &tuning->sets[i]};
	dperm_train_tasks(tasks, tuning->count);
	for (int i = 0; i < tuning->count; i++)
		mistakes[i] = dperm_count_errors(tuning->tested_on[i], tasks[i].model);
	dperm_load_close(tuning->sets, tuning->set_count);

	chosen = dperm_selection_choose(&entropy, tuning->selection,
						  dperm_selection_budget(candidate->epsilon, candidate->neighbours),
						  is_regression(tuning) ? DPERM_ERRORS_PARTS :
						  dperm_unit_parts(candidate->unit), mistakes,
						  tuning->count, order);
	dperm_host_check_status(entropy.status);
	dperm_entropy_wipe(&entropy);
	tasks[chosen].model->tuning = describe_choice(tuning, total, chosen);
	return tasks[chosen].model;
}

/* Tune. */
Datum
dperm_entry_run_tuning(DpermCall *call)
{
	MemoryContext caller = CurrentMemoryContext;
	Tuning	   *tuning = call->opened;

	SPI_connect();
	return result_of(call, caller, &tuning->sources[0], tune_privately(tuning));
}
