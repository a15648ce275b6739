/*
 * tune.c: dp_logreg_tune, dp_svm_tune and dp_linreg_tune: training with
 * parameters that are chosen privately.
 *
 * Algorithm 4 of the paper: the rows are divided into one portion per candidate
 * and one more. Each candidate is trained on its own portion with all of
 * epsilon, and one is chosen by the mistakes on the last portion, also with all
 * of epsilon. Each row is in one portion, so the total cost is epsilon.
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "base/arguments.h"
#include "base/host.h"
#include "base/message.h"
#include "base/option_table.h"
#include "column/prior_argument.h"
#include "core/base/classes.h"
#include "core/base/json.h"
#include "core/encode/bend.h"
#include "core/model/tuning.h"
#include "core/privacy/counts.h"
#include "core/privacy/errors.h"
#include "core/privacy/person.h"
#include "core/privacy/selection.h"
#include "entry/entry.h"
#include "query/queries.h"
#include "train/call_charge.h"
#include "train/count_errors.h"
#include "train/noise_notice.h"
#include "train/tasks.h"

/* A tuning in progress. */
typedef struct Tuning
{
	FunctionCallInfo fcinfo;
	const DpermRegistration *registration;	/* or NULL */
	DpermOptions base;
	DpermSourceNames names;
	DpermSelection selection;
	List	   *identity;		/* names of columns */
	int			count;			/* of candidates */
	DpermOptions *candidates;	/* base, with changes */
	Jsonb	   *given;			/* the argument; NULL: they are the default grid */
	DpermSource *sources;		/* of each candidate */
	/*
	 * loaded rows: the portion of each candidate; then the last one, each set
	 * for one or more candidates
	 */
	DpermRows  *sets;
	int			set_count;
	/*
	 * the set that the mistakes of each candidate are counted on, if rows may be
	 * read only once
	 */
	DpermRows **tested_on;
	List	   *tried;			/* queries that have been checked */
} Tuning;

/* The default grid: these multiples of the default lambda. */
static const double default_scales[] = {0.01, 0.1, 1, 10, 100};

/* A candidate from the argument, an object whose keys are argument names. */
static Jsonb *
given_candidate(const Tuning *tuning, int i)
{
	return JsonbValueToJsonb(getIthJsonbValueFromContainer(&tuning->given->root, i));
}

/* A candidate as JSON: as specified, or a multiple of the default lambda. */
static char *
candidate_json(const Tuning *tuning, int i)
{
	if (tuning->given)
		return JsonbToCString(NULL, &given_candidate(tuning, i)->root, -1);
	return psprintf("{\"scale\": %s}", double_to_shortest_decimal(tuning->candidates[i].scale));
}

/* What the units are called. */
static const char *
units_name(const Tuning *tuning)
{
	return tuning->candidates[0].unit == DPERM_UNIT_PERSON ? "persons" : "rows";
}

/* How a model was chosen, as it becomes part of it (core/model/tuning.h). */
static DpermText
describe_choice(const Tuning *tuning, int64 units, int chosen)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "{\"way\": \"private\", \"selection\": \"%s\", \"%s\": " INT64_FORMAT
					 ", \"portions\": %d, \"chosen\": %s, \"candidates\": [",
					 dperm_selection_name(tuning->selection), units_name(tuning), units,
					 tuning->count + 1, candidate_json(tuning, chosen));
	for (int i = 0; i < tuning->count; i++)
		appendStringInfo(&text, "%s%s", i == 0 ? "" : ", ", candidate_json(tuning, i));
	appendStringInfoString(&text, "]}");
	return (DpermText) {text.data, text.len};
}

/* Raise an error for candidates that the model could not say. */
static void
check_storable(const Tuning *tuning)
{
	DpermText	text = describe_choice(tuning, 1, 0);
	DpermTuning read;

	if (dperm_tuning_read(&text, &read) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("candidates cannot be stored in a model"),
				 errhint("A candidate is an object with a few plain values, and numbers of up to "
						 "%d characters.", DPERM_JSON_NUMBER_MAX)));
}

/*
 * Raise an error for candidates that are the same: each takes rows from the
 * others.
 */
static void
check_different(const Tuning *tuning)
{
	for (int i = 0; i < tuning->count; i++)
		for (int j = 0; j < i; j++)
			if (memcmp(&tuning->candidates[i], &tuning->candidates[j], sizeof(DpermOptions)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("candidate %s appears twice", candidate_json(tuning, i)),
						 errhint("Specify each candidate once: each is trained on its own portion "
								 "of the rows.")));
}

/* Read the candidates from the arguments. */
static void
read_candidates(Tuning *tuning)
{
	Jsonb	   *given = dperm_arguments_jsonb(tuning->fcinfo, "candidates");

	if (tuning->base.lambda >= 0 && !given)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify lambda when tuning it"),
				 errhint("Specify candidates, as in '[{\"lambda\": 0.01}, {\"lambda\": "
						 "0.001}]'.")));
	if (given && (!JB_ROOT_IS_ARRAY(given) || JB_ROOT_IS_SCALAR(given)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("candidates must be a JSON array of objects"),
				 errhint("For example '[{\"lambda\": 0.01}, {\"lambda\": 0.001}]'.")));
	tuning->given = given;
	tuning->count = given ? JB_ROOT_COUNT(given) : lengthof(default_scales);
	if (tuning->count < 1 || tuning->count > DPERM_CANDIDATES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there must be between 1 and %d candidates", DPERM_CANDIDATES_MAX),
				 errhint("Each candidate is trained on its own portion of the rows, so specify "
						 "only a few.")));
	tuning->candidates = palloc0(sizeof(DpermOptions) * tuning->count);
	for (int i = 0; i < tuning->count; i++)
	{
		DpermOptions *options = &tuning->candidates[i];

		*options = tuning->base;
		if (given)
			dperm_option_table_jsonb(options, DPERM_PLACE_CANDIDATE, given_candidate(tuning, i));
		else
			options->scale = default_scales[i];
		dperm_options_settle(options);
	}
	check_different(tuning);
	check_storable(tuning);
}

/* The arguments of a tuning, and the options of each candidate. */
static void
read_arguments(Tuning *tuning, DpermLearner learner)
{
	FunctionCallInfo fcinfo = tuning->fcinfo;
	DpermSourceNames *names = &tuning->names;
	char	   *selection;
	char	  **identity;
	int			count;

	names->relation = dperm_arguments_required_text(fcinfo, "relation", DPERM_RELATION_REQUIRED);
	names->registration = tuning->registration;
	names->reads = true;
	dperm_options_init(&tuning->base, learner);
	selection = dperm_arguments_text(fcinfo, "selection");
	dperm_option_table_arguments(&tuning->base, fcinfo);
	dperm_prior_argument_read(fcinfo, &tuning->base);
	identity = dperm_arguments_names(fcinfo, "identity", &count);
	for (int i = 0; i < count; i++)
		tuning->identity = lappend(tuning->identity, identity[i]);
	if (selection && !dperm_selection_parse(selection, &tuning->selection))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown selection \"%s\"", selection),
				 errhint("Use 'permute_and_flip' or 'exponential'.")));
	read_candidates(tuning);
	tuning->sources = palloc0(sizeof(DpermSource) * tuning->count);
	tuning->tested_on = palloc0(sizeof(DpermRows *) * tuning->count);
	names->label = dperm_arguments_required_text(fcinfo, "label", DPERM_RELATION_REQUIRED);
	names->features = dperm_arguments_names(fcinfo, "features", &names->feature_count);
	names->domains = dperm_arguments_jsonb(fcinfo, "domains");
	names->unit = dperm_arguments_text(fcinfo, "unit");
	if (names->unit && tuning->identity)
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

/* Open the relation for every candidate. */
static void
open_sources(Tuning *tuning)
{
	for (int i = 0; i < tuning->count; i++)
	{
		DpermSource *source = &tuning->sources[i];
		DpermOptions *options = &tuning->candidates[i];

		dperm_queries_open(source, &tuning->names, options, &tuning->tried);
		check_unaltered(&tuning->sources[0], source);
		dperm_options_set_unit(options, source->unit != NULL);
		dperm_call_charge_settle(options, source);
		dperm_options_set_labels(options, &source->spec.labels);
		dperm_options_set_labels(&tuning->base, &source->spec.labels);
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
divide_sources(Tuning *tuning)
{
	int			portions = tuning->count + 1;
	Datum		key;

	if (dperm_source_only_once(&tuning->sources[0]))
	{
		for (int i = 0; i < tuning->count; i++)
			tuning->sources[i].portions = portions;
		return;
	}
	key = dperm_queries_key();
	for (int i = 0; i < tuning->count; i++)
		dperm_queries_divide(&tuning->sources[i], portions, tuning->identity, key,
							 &tuning->tried);
}

/*
 * Settle the knots of all candidates for training on this many rows, and bend
 * the rows that have been loaded.
 */
static void
settle_knots(Tuning *tuning, int64 rows)
{
	for (int i = 0; i < tuning->count; i++)
	{
		DpermEncoder *encoder = &tuning->sources[i].spec.encoder;

		*encoder = dperm_options_bend_for(&tuning->candidates[i], *encoder, rows);
	}
	dperm_load_bend(tuning->sets, tuning->set_count);
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

	for (int i = 0; i < tuning->count; i++)
	{
		const DpermOptions *options = &tuning->candidates[i];
		const DpermEncoder *encoder = &tuning->sources[i].spec.encoder;
		DpermSetup	setup = dperm_options_setup(options, dperm_encoder_dim(encoder),
											   dperm_options_noise(options, encoder, false),
											   rows[i]);

		if (setup.delta > 0)
			spends = setup;
	}
	for (int i = 0; i < tuning->count; i++)
	{
		tuning->candidates[i].gaussian_only = spends.delta > 0;
		tuning->candidates[i].delta = spends.delta;
	}
	dperm_options_advise(&spends, total);
}

/* Will two candidates encode rows in the same way, whatever their number? */
static bool
same_rows(const Tuning *tuning, const DpermSource *a, const DpermSource *b)
{
	const DpermEncoder *one = &a->spec.encoder;
	const DpermEncoder *other = &b->spec.encoder;
	const DpermOptions *each = tuning->candidates;
	size_t		size = dperm_encoder_form_size(one);
	unsigned char *forms[2];
	DpermKnotsNoise noise[2];

	if (a->spec.loss.kind != b->spec.loss.kind || a->spec.loss.h != b->spec.loss.h ||
		dperm_encoder_form_size(other) != size ||
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

/*
 * The set of the last portion for a source: an equal one from "first" on, or a
 * new one.
 */
static DpermRows *
find_set(Tuning *tuning, const DpermSource *source, int first)
{
	int			at = first;

	while (at < tuning->set_count && !same_rows(tuning, tuning->sets[at].source, source))
		at++;
	if (at == tuning->set_count)
		tuning->sets[tuning->set_count++] =
			(DpermRows) {.source = source, .portion = source->portions - 1};
	return &tuning->sets[at];
}

/*
 * Load the portion of each candidate in one pass. If the last portion cannot be
 * read later, it is loaded, too, once for all candidates that encode it in the
 * same way.
 */
static void
load_candidates(Tuning *tuning, int64 *portions)
{
	int			count = tuning->count;

	tuning->sets = palloc0(sizeof(DpermRows) * 2 * count);
	for (int i = 0; i < count; i++)
		tuning->sets[i] = (DpermRows) {.source = &tuning->sources[i], .portion = i};
	tuning->set_count = count;
	for (int i = 0; tuning->sources[0].once && i < count; i++)
		tuning->tested_on[i] = find_set(tuning, &tuning->sources[i], count);
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
 * The mistakes in the result of a pass that counts, over this many rows: the sum
 * of errors, or what is off the diagonal of the confusion matrix.
 */
static int64
mistakes_of(const Tuning *tuning, Datum result, int64 rows)
{
	int			classes = class_count(tuning);
	int			count = is_regression(tuning) ? DPERM_SUMS : classes * classes;
	int64	   *cells = palloc(sizeof(int64) * count);
	int64		mistakes = 0;

	if (dperm_moments_flat_counts(result, cells, count) != rows)
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
 * The mistakes of the models of all candidates on the last portion, which has
 * this many units: counted here if rows are read once, else where they are.
 */
static void
test_candidates(Tuning *tuning, const DpermTask *tasks, int64 units, int64 *mistakes)
{
	int			count = tuning->count;
	Datum	   *requests = palloc(sizeof(Datum) * count);
	Datum	   *results = palloc(sizeof(Datum) * count);
	int		   *portions = palloc(sizeof(int) * count);

	if (tuning->sources[0].once && !tuning->tested_on[0]->elsewhere)
	{
		for (int i = 0; i < count; i++)
			mistakes[i] = dperm_count_errors(tuning->tested_on[i], tasks[i].model);
		return;
	}
	for (int i = 0; i < count; i++)
	{
		requests[i] =
			dperm_moments_flat_count(&tuning->sources[i].spec, tasks[i].model->weights, 0);
		portions[i] = count;
	}
	dperm_queries_pass(&tuning->sources[0], count, requests, portions, results);
	for (int i = 0; i < count; i++)
		mistakes[i] = mistakes_of(tuning, results[i], units);
}

/* Algorithm 4: the chosen model, or NULL if there are no rows. */
static DpermModel *
tune_privately(Tuning *tuning)
{
	int			portions = tuning->count + 1;
	DpermTask  *tasks = palloc0(sizeof(DpermTask) * tuning->count);
	int64	   *rows = palloc(sizeof(int64) * portions);
	int64	   *mistakes = palloc(sizeof(int64) * tuning->count);
	int		   *order = palloc(sizeof(int) * tuning->count);
	int64		total = 0;
	DpermEntropy entropy;
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
	settle_knots(tuning, total / portions);
	settle_delta(tuning, rows, total);
	dperm_noise_notice(tuning->candidates, tuning->sources, tuning->count, portions,
					   total);
	for (int i = 0; i < tuning->count; i++)
		tasks[i] =
			(DpermTask) {.options = &tuning->candidates[i], .rows = &tuning->sets[i]};
	dperm_tasks_run(tasks, tuning->count);
	test_candidates(tuning, tasks, rows[tuning->count], mistakes);
	dperm_load_close(tuning->sets, tuning->set_count);

	dperm_entropy_init(&entropy, dperm_host_random, NULL);
	chosen = dperm_selection_choose(&entropy, tuning->selection,
						  dperm_selection_budget_for(tuning->base.epsilon, tuning->base.neighbours),
						  is_regression(tuning) ? DPERM_ERRORS_PARTS :
						  dperm_person_parts(tuning->candidates[0].unit), mistakes,
						  tuning->count, order);
	if (!dperm_entropy_ok(&entropy))
		dperm_host_check_status(DPERM_NO_ENTROPY);
	dperm_entropy_wipe(&entropy);
	tasks[chosen].model->tuning = describe_choice(tuning, total, chosen);
	return tasks[chosen].model;
}

/*
 * Raise an error for more classes than can be counted where the rows are. Rows
 * that are read once are counted here.
 */
static void
check_class_count(const Tuning *tuning)
{
	if (class_count(tuning) > DPERM_COUNTS_CLASSES_MAX &&
		!dperm_source_only_once(&tuning->sources[0]))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot tune a model of more than %d classes", DPERM_COUNTS_CLASSES_MAX),
				 errdetail("Candidates are compared by their mistakes, which are counted by "
						   "class."),
				 errhint("Train it with the default lambda.")));
}

/* Open the relation, and divide its rows. */
static void
open_relation(Tuning *tuning)
{
	open_sources(tuning);
	check_class_count(tuning);
	if (tuning->sources[0].registration && tuning->identity)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify identity for protected relation \"%s\"",
						tuning->names.relation),
				 errhint("Omit identity: the portions are drawn at random.")));
	divide_sources(tuning);
}

/* Open a tuning. */
void
dperm_entry_open_tuning(DpermCall *call)
{
	Tuning	   *tuning = palloc0(sizeof(*tuning));

	tuning->fcinfo = call->fcinfo;
	tuning->registration = call->registration;
	read_arguments(tuning, (DpermLearner) call->function->variant);
	open_relation(tuning);
	dperm_call_charge_fill(call, &tuning->sources[0], &tuning->base, DPERM_CALL_TUNING, NULL);
	call->opened = tuning;
}

/* Tune. */
Datum
dperm_entry_run_tuning(DpermCall *call)
{
	MemoryContext caller = CurrentMemoryContext;
	Tuning	   *tuning = call->opened;

	SPI_connect();
	return dperm_train_result(call, caller, &tuning->sources[0], tune_privately(tuning));
}
