/*
 * tune.c: dp_logreg_tune, dp_svm_tune and dp_linreg_tune: training with
 * parameters that are chosen privately.
 *
 * The private way (Algorithm 4 of the paper): the rows are divided into one
 * portion per candidate and one more. Each candidate is trained on its own
 * portion with all of epsilon, and one is chosen by the mistakes on the last
 * portion, also with all of epsilon. Each row is in one portion, so the total
 * cost is epsilon. The holdout way: the choice is made on a public table, and
 * the model is trained on all rows.
 */
#include "postgres.h"

#include <math.h>

#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "base/arguments.h"
#include "base/host.h"
#include "base/message.h"
#include "base/option_table.h"
#include "column/prior_argument.h"
#include "core/base/classes.h"
#include "core/base/limits.h"
#include "core/encode/bend.h"
#include "core/mechanism/calibrate.h"
#include "core/privacy/counts.h"
#include "core/privacy/errors.h"
#include "core/privacy/person.h"
#include "core/privacy/selection.h"
#include "entry/candidates.h"
#include "entry/train.h"
#include "protect/locks.h"
#include "protect/protected_call.h"
#include "protect/worker.h"
#include "query/queries.h"
#include "relation/relation.h"
#include "train/call_charge.h"
#include "train/count_errors.h"
#include "train/noise_notice.h"
#include "train/tasks.h"

PG_FUNCTION_INFO_V1(dp_logreg_tune);
PG_FUNCTION_INFO_V1(dp_svm_tune);
PG_FUNCTION_INFO_V1(dp_linreg_tune);

/*
 * How often every candidate is trained on a public table, to average over the
 * noise.
 */
#define HOLDOUT_REPEATS 3

/* A tuning in progress. */
typedef struct Tuning
{
	FunctionCallInfo fcinfo;
	Oid			protected;		/* to be read by a worker; else InvalidOid */
	DpermOptions base;
	DpermSourceNames names;		/* of the private table */
	DpermSelection selection;
	List	   *identity;		/* names of columns */
	DpermCandidates candidates;
	DpermSource *sources;		/* of each candidate */
	DpermSource first;			/* the private table, for the first of them */
	DpermRows  *sets;			/* loaded rows, each set for one or more candidates */
	int			set_count;
	DpermRows **trained_on;		/* the set that each candidate is trained on */
	/*
	 * the set that its mistakes are counted on, if rows may be read only once
	 */
	DpermRows **tested_on;
	List	   *tried;			/* queries that have been checked */
	const char *holdout;		/* the public table, or NULL */
	int64		holdout_rows[2];	/* in its two halves */
	DpermSource *private;		/* with a holdout: the private table, for each candidate */
} Tuning;

/* The arguments of a tuning, and the options of each candidate. */
static void
read_arguments(Tuning *tuning, DpermLearner learner)
{
	FunctionCallInfo fcinfo = tuning->fcinfo;
	DpermSourceNames *names = &tuning->names;
	char	   *selection;
	char	  **identity;
	int			count;

	names->function = fcinfo->flinfo->fn_oid;
	names->relation = dperm_arguments_required_text(fcinfo, "source", DPERM_SOURCE_REQUIRED);
	names->protected = dperm_worker_relation(fcinfo);
	names->reads = !OidIsValid(tuning->protected);
	dperm_options_init(&tuning->base, learner);
	selection = dperm_arguments_text(fcinfo, "selection");
	dperm_option_table_arguments(&tuning->base, DPERM_PLACE_TUNE, fcinfo);
	dperm_prior_argument_read(fcinfo, &tuning->base);
	identity = dperm_arguments_names(fcinfo, "identity", &count);
	for (int i = 0; i < count; i++)
		tuning->identity = lappend(tuning->identity, identity[i]);
	if (selection && !dperm_selection_parse(selection, &tuning->selection))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown selection \"%s\"", selection),
				 errhint("Use 'permute_and_flip' or 'exponential'.")));
	dperm_candidates_read(&tuning->candidates, fcinfo, &tuning->base);
	tuning->sources = palloc0(sizeof(DpermSource) * tuning->candidates.count);
	tuning->trained_on = palloc0(sizeof(DpermRows *) * tuning->candidates.count);
	tuning->tested_on = palloc0(sizeof(DpermRows *) * tuning->candidates.count);
	names->label = dperm_arguments_required_text(fcinfo, "label", DPERM_SOURCE_REQUIRED);
	names->features = dperm_arguments_names(fcinfo, "features", &names->feature_count);
	names->domains = dperm_arguments_jsonb(fcinfo, "domains");
	names->unit = dperm_arguments_text(fcinfo, "unit");
	if (names->unit && tuning->identity && !tuning->holdout)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify both unit and identity"),
				 errhint("Omit identity: persons are divided into portions, each with all of their "
						 "rows.")));
}

/*
 * Raise an error unless the relation looks the same to two candidates: between
 * them, planning may have run a function of the caller that has altered it.
 */
static void
check_unaltered(const DpermSource *first, const DpermSource *other)
{
	const DpermLabels *one = &first->spec.labels;
	const DpermLabels *two = &other->spec.labels;
	bool		same = first->relation == other->relation &&
		first->block_count == other->block_count &&
		strcmp(first->label_column, other->label_column) == 0 && one->kind == two->kind &&
		one->low == two->low && one->high == two->high && one->class_count == two->class_count &&
		dperm_classes_same(one->classes, two->classes, one->class_count) &&
		first->unit_type == other->unit_type && first->once == other->once &&
		first->spec.weighted == other->spec.weighted && first->location == other->location &&
		(first->registration == NULL) == (other->registration == NULL);

	for (int i = 0; same && i < first->block_count; i++)
		same = strcmp(first->columns[i], other->columns[i]) == 0;
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" was changed while it was used",
						get_rel_name(first->relation)),
				 errhint("Try again.")));
}

/*
 * Open the named relation for every candidate; on request with the features of
 * the former source.
 */
static void
open_sources(Tuning *tuning, const DpermSourceNames *names, bool like_before)
{
	for (int i = 0; i < tuning->candidates.count; i++)
	{
		DpermSource *source = &tuning->sources[i];
		DpermOptions *options = &tuning->candidates.each[i];
		DpermSourceNames own = *names;

		if (like_before)
		{
			own.blocks = source->blocks;
			own.block_count = source->block_count;
		}
		dperm_queries_open(source, &own, options, &tuning->tried);
		check_unaltered(&tuning->sources[0], source);
		if (!like_before)
		{
			dperm_options_set_unit(options, source->unit != NULL);
			dperm_call_charge_settle(options, source);
			dperm_options_set_labels(options, &source->spec.labels);	/* of a holdout, too */
			dperm_options_set_labels(&tuning->base, &source->spec.labels);
		}
		dperm_options_check(options, dperm_encoder_dim(&source->spec.encoder),
							dperm_options_noise(options, &source->spec.encoder, false));
	}
}

/*
 * Divide the rows of every candidate, by one new key. If they are read once,
 * portions are drawn for rows or persons when they arrive; for persons on other
 * servers that is known later.
 */
static void
divide_sources(Tuning *tuning, int portions, bool is_public)
{
	Datum		key;

	if (dperm_source_only_once(&tuning->sources[0]))
	{
		for (int i = 0; i < tuning->candidates.count; i++)
			tuning->sources[i].portions = portions;
		return;
	}
	key = dperm_queries_key();
	for (int i = 0; i < tuning->candidates.count; i++)
		dperm_queries_divide(&tuning->sources[i], portions, tuning->identity,
							 is_public, key, &tuning->tried);
}

/*
 * Settle the knots of all candidates for training on this many rows, and bend
 * the rows that have been loaded.
 */
static void
settle_knots(Tuning *tuning, int64 rows)
{
	for (int i = 0; i < tuning->candidates.count; i++)
	{
		DpermEncoder *encoder = &tuning->sources[i].spec.encoder;

		*encoder = dperm_options_bend_for(&tuning->candidates.each[i], *encoder, rows);
	}
	dperm_load_bend(tuning->sets, tuning->set_count);
}

/* The setup of a candidate that is trained on this many rows. */
static DpermSetup
setup_of_candidate(const Tuning *tuning, int candidate, int64 rows)
{
	const DpermOptions *options = &tuning->candidates.each[candidate];
	const DpermEncoder *encoder = &tuning->sources[candidate].spec.encoder;

	return dperm_options_setup(options, dperm_encoder_dim(encoder),
							   dperm_options_noise(options, encoder, false), rows);
}

/*
 * Check that each candidate can be trained on this many rows, before any of
 * them is. Returns their setups.
 */
static DpermSetup *
check_candidates_on(const Tuning *tuning, int64 rows)
{
	DpermSetup *setups = palloc(sizeof(DpermSetup) * tuning->candidates.count);

	for (int i = 0; i < tuning->candidates.count; i++)
	{
		setups[i] = setup_of_candidate(tuning, i, rows);
		(void) dperm_host_calibrate(&setups[i]);
	}
	return setups;
}

/*
 * A candidate with Gaussian noise spends delta whether or not it is chosen,
 * since its mistakes affect the choice. So if one spends delta, all do, and the
 * released model says so. Numbers of rows are public.
 */
static void
settle_delta(Tuning *tuning, const int64 *rows, int64 total)
{
	DpermSetup	spends = {.delta = 0};

	for (int i = 0; i < tuning->candidates.count; i++)
	{
		DpermSetup	setup = setup_of_candidate(tuning, i, rows[i]);

		if (setup.delta > 0)
			spends = setup;
	}
	for (int i = 0; i < tuning->candidates.count; i++)
	{
		tuning->candidates.each[i].gaussian_only = spends.delta > 0;
		tuning->candidates.each[i].delta = spends.delta;
	}
	dperm_options_advise(&spends, total);
}

/* Record in a model how it was chosen. */
static void
set_tuning(DpermModel *model, char *text)
{
	model->tuning.bytes = text;
	model->tuning.len = strlen(text);
}

/* What the units are called. */
static const char *
units_name(const Tuning *tuning)
{
	return tuning->candidates.each[0].unit == DPERM_UNIT_PERSON ? "persons" : "rows";
}

/*
 * Raise an error: a portion is empty. The number of units is public, and the
 * portion of a unit does not depend on its contents.
 */
static void
too_few_units(const Tuning *tuning)
{
	dperm_message_public();
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a portion of the %s is empty", units_name(tuning)),
			 errhint("There are too few %s for this many candidates.", units_name(tuning))));
}

/* Will two candidates have the same encoder, whatever the number of rows? */
static bool
same_encoder(const Tuning *tuning, const DpermSource *a, const DpermSource *b)
{
	const DpermEncoder *one = &a->spec.encoder;
	const DpermEncoder *other = &b->spec.encoder;
	const DpermOptions *each = tuning->candidates.each;
	size_t		size = dperm_encoder_form_size(one);
	unsigned char *forms[2];
	DpermKnotsNoise noise[2];

	if (dperm_encoder_form_size(other) != size ||
		dperm_bend_is_open(one) != dperm_bend_is_open(other))
		return false;
	forms[0] = palloc(size);
	forms[1] = palloc(size);
	dperm_encoder_form_write(one, forms[0]);
	dperm_encoder_form_write(other, forms[1]);
	noise[0] = dperm_options_knots_noise(&each[a - tuning->sources], one);
	noise[1] = dperm_options_knots_noise(&each[b - tuning->sources], other);
	return memcmp(forms[0], forms[1], size) == 0 &&
		memcmp(&noise[0], &noise[1], sizeof(DpermKnotsNoise)) == 0;
}

/* Do two candidates encode rows in the same way? */
static bool
same_rows(const Tuning *tuning, const DpermSource *a, const DpermSource *b)
{
	return a->spec.loss.kind == b->spec.loss.kind && a->spec.loss.h == b->spec.loss.h &&
		same_encoder(tuning, a, b);
}

/*
 * The set of a portion for a source: an equal one from "first" on, or a new
 * one.
 */
static DpermRows *
find_set(Tuning *tuning, const DpermSource *source, int portion, int first)
{
	int			at = first;

	while (at < tuning->set_count && !same_rows(tuning, tuning->sets[at].source, source))
		at++;
	if (at == tuning->set_count)
		tuning->sets[tuning->set_count++] = (DpermRows) {.source = source, .portion = portion};
	return &tuning->sets[at];
}

/*
 * Load the rows of each candidate in one pass: its own portion, or the first
 * one for all, which is kept once for all candidates that encode it in the same
 * way. If the last portion cannot be read later, it is loaded in the same way.
 */
static void
load_candidates(Tuning *tuning, bool own_portions, int64 *portions)
{
	int			count = tuning->candidates.count;
	int			last;

	tuning->sets = palloc0(sizeof(DpermRows) * 2 * count);
	for (int i = 0; i < count; i++)
		tuning->trained_on[i] = find_set(tuning, &tuning->sources[i], own_portions ? i : 0,
										 own_portions ? tuning->set_count : 0);
	last = tuning->set_count;
	for (int i = 0; tuning->sources[0].once && i < count; i++)
		tuning->tested_on[i] =
			find_set(tuning, &tuning->sources[i], tuning->sources[0].portions - 1, last);
	dperm_load(tuning->sets, tuning->set_count, portions);
}

/* Is the label a number? Then mistakes are absolute errors, in parts. */
static bool
is_regression(const Tuning *tuning)
{
	return tuning->base.labels.kind == DPERM_LABEL_NUMBER;
}

/* The number of classes. */
static int
class_count(const Tuning *tuning)
{
	return tuning->base.loss.classes > 0 ? tuning->base.loss.classes : 2;
}

/*
 * The result of a pass that counts, over this many units: sums of errors, or the
 * confusion matrix, by label and then by decision.
 */
static int64 *
read_counts(const Tuning *tuning, Datum result, int64 *units)
{
	int			count = is_regression(tuning) ? DPERM_SUMS :
												class_count(tuning) * class_count(tuning);
	int64	   *cells = palloc(sizeof(int64) * count);

	*units = dperm_moments_flat_counts(result, cells, count);
	return cells;
}

/* The mistakes in the result of a pass that counts, over this many rows. */
static int64
mistakes_of(const Tuning *tuning, Datum result, int64 rows)
{
	int			classes = class_count(tuning);
	int64		mistakes = 0;
	int64		units;
	int64	   *cells = read_counts(tuning, result, &units);

	if (units != rows)
		dperm_tasks_rows_changed();
	if (is_regression(tuning))
		return cells[DPERM_SUM_ABSOLUTE];
	for (int i = 0; i < classes; i++)
		for (int j = 0; j < classes; j++)
			mistakes += i == j ? 0 : cells[i * classes + j];
	pfree(cells);
	return mistakes;
}

/*
 * Count the mistakes of the models of tasks on a portion with this many rows,
 * which none of them was trained on.
 */
static void
count_mistakes(const Tuning *tuning, int portion, int64 rows, const DpermTask *tasks, int count,
			   int64 *mistakes)
{
	Datum	   *requests = palloc(sizeof(Datum) * count);
	Datum	   *results = palloc(sizeof(Datum) * count);
	int		   *portions = palloc(sizeof(int) * count);

	for (int i = 0; i < count; i++)
	{
		requests[i] =
			dperm_moments_flat_count(&tasks[i].rows->source->spec, tasks[i].model->weights, 0);
		portions[i] = portion;
	}
	dperm_queries_pass(&tuning->sources[0], count, requests, portions, results);
	for (int i = 0; i < count; i++)
		mistakes[i] = mistakes_of(tuning, results[i], rows);
}

/*
 * The mistakes of the models of all candidates on the last portion, which has
 * this many units.
 */
static void
test_candidates(Tuning *tuning, const DpermTask *tasks, int64 units, int64 *mistakes)
{
	int			count = tuning->candidates.count;

	if (tuning->sources[0].once && !tuning->tested_on[0]->elsewhere)
		for (int i = 0; i < count; i++)
			mistakes[i] = dperm_count_errors(tuning->tested_on[i], tasks[i].model);
	else
		count_mistakes(tuning, count, units, tasks, count, mistakes);
}

/* Algorithm 4: the chosen model, or NULL if there are no rows. */
static DpermModel *
tune_privately(Tuning *tuning)
{
	int			portions = tuning->candidates.count + 1;
	DpermTask  *tasks = palloc0(sizeof(DpermTask) * tuning->candidates.count);
	int64	   *rows = palloc(sizeof(int64) * portions);
	int64	   *mistakes = palloc(sizeof(int64) * tuning->candidates.count);
	int		   *order = palloc(sizeof(int) * tuning->candidates.count);
	int64		total = 0;
	DpermEntropy entropy;
	int			chosen;

	load_candidates(tuning, true, rows);
	for (int i = 0; i < portions; i++)
		total += rows[i];
	if (total == 0)
	{
		dperm_load_close(tuning->sets, tuning->set_count);
		return NULL;
	}
	for (int i = 0; i < portions; i++)
		if (rows[i] == 0)
			too_few_units(tuning);
	settle_knots(tuning, total / portions);
	settle_delta(tuning, rows, total);
	dperm_noise_notice_after(tuning->candidates.each, tuning->sources, tuning->candidates.count,
							 portions, total);
	for (int i = 0; i < tuning->candidates.count; i++)
		tasks[i] =
			(DpermTask) {.options = &tuning->candidates.each[i], .rows = tuning->trained_on[i]};
	dperm_tasks_run(tasks, tuning->candidates.count);
	test_candidates(tuning, tasks, rows[tuning->candidates.count], mistakes);
	dperm_load_close(tuning->sets, tuning->set_count);

	dperm_entropy_init(&entropy, dperm_host_random, NULL);
	chosen = dperm_selection_choose(&entropy, tuning->selection,
						  dperm_selection_budget_for(tuning->base.epsilon, tuning->base.neighbours),
						  is_regression(tuning) ? DPERM_ERRORS_PARTS :
						  dperm_person_parts(tuning->candidates.each[0].unit), mistakes,
						  tuning->candidates.count, order);
	if (!dperm_entropy_ok(&entropy))
		dperm_host_check_status(DPERM_NO_ENTROPY);
	dperm_entropy_wipe(&entropy);
	set_tuning(tasks[chosen].model,
			   psprintf("{\"way\": \"private\", \"selection\": \"%s\", \"%s\": " INT64_FORMAT
						", \"portions\": %d, %s}",
						dperm_selection_name(tuning->selection), units_name(tuning), total,
						portions, dperm_candidates_json(&tuning->candidates, chosen)));
	return tasks[chosen].model;
}

/*
 * How many classes the labels of a public table have, in both halves; numbers
 * count as one. *first is the least of them.
 */
static int
count_holdout_classes(const Tuning *tuning, int *first)
{
	const DpermPassSpec *spec = &tuning->sources[0].spec;
	int			blocks = dperm_loss_blocks(spec->loss);
	double	   *weights = palloc0(sizeof(double) * dperm_encoder_dim(&spec->encoder) * blocks);
	Datum		request = dperm_moments_flat_count(spec, weights, 0);
	int			classes = is_regression(tuning) ? 1 : class_count(tuning);
	int64	   *labels = palloc0(sizeof(int64) * classes);
	int			found = 0;
	Datum		results[2];

	dperm_queries_pass(&tuning->sources[0], 2, (Datum[]) {request, request}, (int[]) {0, 1},
					   results);
	for (int half = 0; half < 2; half++)
	{
		int64		units;
		int64	   *cells = read_counts(tuning, results[half], &units);

		if (is_regression(tuning))
			labels[0] += cells[DPERM_SUM_ROWS];
		else
			for (int i = 0; i < classes * classes; i++)
				labels[i / classes] += cells[i];
	}
	for (int i = classes; i >= 1; i--)
		if (labels[i - 1] > 0)
		{
			found++;
			*first = i;
		}
	return found;
}

/* Raise an error for a public table whose labels are of one class, or missing. */
static void
check_holdout_labels(const Tuning *tuning)
{
	const DpermLabels *labels = &tuning->base.labels;
	int			first = 0;
	int			found = count_holdout_classes(tuning, &first);

	if (found > 1 || (is_regression(tuning) && found == 1))
		return;
	if (is_regression(tuning))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" of holdout is null in all rows", tuning->names.label),
				 errhint("Candidates are compared by their errors on its rows.")));
	if (labels->kind == DPERM_LABEL_SEVERAL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 found == 0 ? errmsg("label \"%s\" of holdout is no class in any row",
									 tuning->names.label) :
				 errmsg("label \"%s\" of holdout is \"%s\" in all rows", tuning->names.label,
						dperm_classes_value(labels->classes, first)),
				 errhint("Candidates are compared by their mistakes on rows of all classes.")));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("label \"%s\" of holdout is %s in all rows", tuning->names.label,
					first == 1 ? "positive" : first == 2 ? "negative" : "null"),
			 errhint("Candidates are compared by their mistakes on rows of both classes.")));
}

/*
 * Raise an error for a public table whose rows are all the same to the
 * candidates: other units or spellings than those of the private table, perhaps.
 */
static void
check_holdout_rows(const Tuning *tuning)
{
	bool		features = false,
				labels = false;

	/* a candidate may see less than others: by its dimension, for example */
	for (int i = 0; i < tuning->candidates.count && !(features && labels); i++)
		dperm_cache_compare(&tuning->trained_on[i]->cache, &features, &labels);
	if (!features)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows of holdout do not differ in any feature"),
				 errdetail("This is so in the half of its rows on which candidates are trained. "
						   "Values that are not in the domains of the private table are all the "
						   "same, and numbers beyond a bound are that bound."),
				 errhint("Use the units and the spellings of the private table.")));
	if (is_regression(tuning) && !labels)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" of holdout is the same number in all rows",
						tuning->names.label),
				 errdetail("This is so in the half of its rows on which candidates are trained. "
						   "Numbers beyond a bound of the label are that bound.")));
}

/* Load the public table. Errors in it show here, before anything is charged. */
static void
load_holdout(Tuning *tuning)
{
	load_candidates(tuning, false, tuning->holdout_rows);
	if (tuning->holdout_rows[0] == 0 || tuning->holdout_rows[1] == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("holdout has too few rows")));
	check_holdout_labels(tuning);
	check_holdout_rows(tuning);
}

/*
 * The best candidate on a public table: one half trains, the other half counts.
 * The noise should be as large as on the private rows, so epsilon is scaled by
 * the numbers of rows; method, noise and lambda are those of the private
 * training.
 */
static int
best_on_holdout(Tuning *tuning, int64 private_rows, const DpermSetup *setups)
{
	int			trainings = tuning->candidates.count * HOLDOUT_REPEATS;
	DpermTask  *tasks = palloc0(sizeof(DpermTask) * trainings);
	int64	   *mistakes = palloc(sizeof(int64) * trainings);
	int64		best_mistakes = PG_INT64_MAX;
	const int64 *rows = tuning->holdout_rows;
	int			best = 0;

	for (int i = 0; i < tuning->candidates.count; i++)
	{
		DpermOptions *options = palloc(sizeof(*options));

		*options = tuning->candidates.each[i];
		options->automatic = false;
		options->method = setups[i].method;
		options->delta = setups[i].delta;
		options->lambda = setups[i].lambda;
		if (!isinf(options->epsilon))
			options->epsilon = Min(Max(options->epsilon * private_rows / rows[0],
									   DPERM_EPSILON_MIN), DPERM_EPSILON_MAX);
		for (int r = 0; r < HOLDOUT_REPEATS; r++)
			tasks[i * HOLDOUT_REPEATS + r] =
				(DpermTask) {.options = options, .rows = tuning->trained_on[i]};
	}
	dperm_tasks_run(tasks, trainings);
	count_mistakes(tuning, 1, rows[1], tasks, trainings, mistakes);
	for (int i = 0; i < tuning->candidates.count; i++)
	{
		int64		total = 0;

		for (int r = 0; r < HOLDOUT_REPEATS; r++)
			total += mistakes[i * HOLDOUT_REPEATS + r];
		if (total < best_mistakes)
		{
			best_mistakes = total;
			best = i;
		}
	}
	return best;
}

/*
 * The number of the best candidate on the holdout, given the number of private
 * units. Runs in the session of the caller, whose code the holdout may call.
 */
static int
choose_on_holdout(int64 units, void *arg)
{
	Tuning	   *tuning = arg;
	int			best;

	SPI_connect();
	settle_knots(tuning, units);
	best = best_on_holdout(tuning, units, check_candidates_on(tuning, units));
	SPI_finish();
	return best;
}

/* The paper's first way: choose on public rows, train on all private ones. */
static DpermModel *
tune_on_holdout(Tuning *tuning, DpermSource *private)
{
	int64		units = dperm_source_only_once(&private[0]) ?
					  dperm_load_count(&private[0]) :
					  dperm_queries_count(&private[0], NULL, NULL);
	DpermModel *model;
	int			best;
	StringInfoData text;

	if (units == 0)
		return NULL;
	if (dperm_worker_is_for(tuning->fcinfo))
		best = dperm_worker_ask(units);
	else
	{
		load_holdout(tuning);
		best = choose_on_holdout(units, tuning);
		dperm_load_close(tuning->sets, tuning->set_count);
	}
	if (best < 0 || best >= tuning->candidates.count)
		elog(ERROR, "there is no candidate %d", best);
	model = dperm_tasks_train(&tuning->candidates.each[best], &private[best]);
	if (model == NULL || model->rows != units)
		dperm_tasks_rows_changed();
	initStringInfo(&text);
	appendStringInfoString(&text, "{\"way\": \"holdout\", \"holdout\": ");
	escape_json(&text, dperm_relation_written(tuning->holdout));
	appendStringInfo(&text, ", %s}", dperm_candidates_json(&tuning->candidates, best));
	set_tuning(model, text.data);
	return model;
}

/* Do the public and the private table read from a common one? */
static bool
overlap(const Tuning *tuning, const DpermSource *private)
{
	ResourceOwner look = dperm_locks_look();
	bool		result = dperm_queries_overlap(&tuning->sources[0], private);

	dperm_locks_look_away(look, false);
	return result;
}

/*
 * Open the public table in place of the private one, and check that it is
 * another one.
 */
static DpermSource *
open_holdout(Tuning *tuning, const char *holdout)
{
	DpermSource *private = palloc(sizeof(DpermSource) * tuning->candidates.count);
	DpermSourceNames names = tuning->names;

	for (int i = 0; i < tuning->candidates.count; i++)
		private[i] = tuning->sources[i];
	names.relation = holdout;
	names.unit = NULL;			/* public rows need no persons */
	names.domains = NULL;		/* those of the private table hold */
	names.reads = false;		/* it may be protected: see below */
	open_sources(tuning, &names, true);
	if (tuning->sources[0].registration)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("holdout is protected relation \"%s\"", holdout),
				 errhint("Use a public table, or omit holdout to choose privately.")));
	if (overlap(tuning, &private[0]))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("holdout reads from the private table"),
				 errhint("Use a public table, or omit holdout to choose privately.")));
	return private;
}

/*
 * Raise an error for more classes than can be counted where the rows are. Rows
 * that are read once are counted here.
 */
static void
check_class_count(const Tuning *tuning)
{
	if (class_count(tuning) > DPERM_COUNTS_CLASSES_MAX &&
		(tuning->holdout || !dperm_source_only_once(&tuning->first)))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot tune a model of more than %d classes", DPERM_COUNTS_CLASSES_MAX),
				 errdetail("Candidates are compared by their mistakes, which are counted by "
						   "class."),
				 errhint("Train it with the default lambda.")));
}

/* Open the private table, and the public one if there is one. */
static void
open_tables(Tuning *tuning)
{
	ResourceOwner look = OidIsValid(tuning->protected) ? dperm_locks_look() : NULL;

	open_sources(tuning, &tuning->names, false);
	if (look)
		dperm_locks_look_away(look, tuning->sources[0].registration == NULL);
	tuning->first = tuning->sources[0];
	check_class_count(tuning);
	if (tuning->first.registration && tuning->identity && !tuning->holdout)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify identity for protected relation \"%s\"",
						tuning->names.relation),
				 errhint("Omit identity: the portions are drawn at random.")));

	/* a worker asks its session about the holdout */
	if (tuning->holdout && dperm_worker_is_for(tuning->fcinfo))
	{
		tuning->private = tuning->sources;
		dperm_queries_check_population(&tuning->first);
		return;
	}
	if (tuning->holdout)
		tuning->private = open_holdout(tuning, tuning->holdout);
	divide_sources(tuning, tuning->holdout ? 2 : tuning->candidates.count + 1,
				   tuning->holdout != NULL);
}

/* Tune as the arguments say. */
static Datum
tune(FunctionCallInfo fcinfo, DpermLearner learner)
{
	MemoryContext caller = CurrentMemoryContext;
	Tuning		tuning = {.fcinfo = fcinfo, .protected = dperm_protected_call_relation(fcinfo)};
	DpermModel *model;
	Datum		model_or_null;

	tuning.holdout = dperm_arguments_text(fcinfo, "holdout");
	if (OidIsValid(tuning.protected) && tuning.holdout == NULL)
		return dperm_protected_call(fcinfo, tuning.protected, NULL, NULL);
	read_arguments(&tuning, learner);
	open_tables(&tuning);
	if (OidIsValid(tuning.protected))
	{
		load_holdout(&tuning);
		model_or_null = dperm_protected_call(fcinfo, tuning.protected, choose_on_holdout, &tuning);
		dperm_load_close(tuning.sets, tuning.set_count);
		return model_or_null;
	}

	/*
	 * all errors in the arguments have been found: here the first row is read
	 */
	dperm_noise_notice_before(tuning.candidates.each,
							  tuning.holdout ? tuning.private : tuning.sources,
							  tuning.candidates.count,
							  tuning.holdout ? 1 : tuning.candidates.count + 1);
	dperm_call_charge(&tuning.first, &tuning.base, DPERM_CALL_TUNING, fcinfo, NULL);
	SPI_connect();
	model = tuning.holdout ? tune_on_holdout(&tuning, tuning.private) : tune_privately(&tuning);
	return dperm_train_result(fcinfo, caller, tuning.first.relation, model);
}

/* dp_logreg_tune(source, label, features, epsilon, ...): see sql/parts */
Datum
dp_logreg_tune(PG_FUNCTION_ARGS)
{
	return tune(fcinfo, DPERM_LEARNER_LOGREG);
}

/* dp_svm_tune(source, label, features, epsilon, ...): see sql/parts */
Datum
dp_svm_tune(PG_FUNCTION_ARGS)
{
	return tune(fcinfo, DPERM_LEARNER_SVM);
}

/* dp_linreg_tune(source, label, features, epsilon, ...): see sql/parts */
Datum
dp_linreg_tune(PG_FUNCTION_ARGS)
{
	return tune(fcinfo, DPERM_LEARNER_LINREG);
}
