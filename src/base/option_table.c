/*
 * option_table.c: every option of the learners: its name, type and values, and
 * where it may be specified.
 * Plain: plan, charge and model all take from it what they are.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "base/base.h"
#include "base/options.h"

/*
 * An entry of the table. A value is stored as its type says: as double, int,
 * int64 or char *; a boolean, and the number of a word, as int; a pair as two
 * doubles, and a list of classes in DpermLabels.
 */
typedef struct Option
{
	const char *name;
	Oid			type;			/* of the SQL argument, or as if it were one */
	size_t		at;				/* where in DpermOptions its value is */
	int			places;			/* any of DpermOptionPlace */
	const char *hint;			/* what it means; NULL for words, which are listed */

	/* the range of a number, if any, or of the numbers of words */
	double		least;
	double		most;
	const char *also;			/* a number that is valid, too; or NULL */
	const char *(*word) (int number);	/* the word with a number */

	size_t		given;			/* where it is noted that there is a value; 0: nowhere */
	int			learners;		/* any of 1 << DpermLearner; 0: all */
	bool		required;
} Option;

/* Combinations of places that many options share. */
#define KEY (DPERM_PLACE_AGGREGATE | DPERM_PLACE_CANDIDATE)
#define OPTION (DPERM_PLACE_OPTION | KEY)

#define LOGREG (1 << DPERM_LEARNER_LOGREG)
#define SVM (1 << DPERM_LEARNER_SVM)
#define LINREG (1 << DPERM_LEARNER_LINREG)

#define AT(member) offsetof(DpermOptions, member)

static const char *
method_word(int number)
{
	return number < 0 ? "auto" : dperm_mechanism_name(number);
}

static const char *
noise_word(int number)
{
	return number == DPERM_NOISE_SHAPED ? "shaped" : "ball";
}

/*
 * The options: arguments, in the order of the SQL declarations; options of all
 * learners; and what only aggregates need, which have no domains. There is
 * always room for an intercept beside dimension, knots and kernel_features.
 */
static const Option table[] = {
	{"epsilon", FLOAT8OID, AT(epsilon), DPERM_PLACE_ARGUMENT,
	"Typical values are between 0.1 and 10; 'Infinity' trains without privacy.",
	DPERM_EPSILON_MIN, DPERM_EPSILON_MAX, .also = "Infinity", .required = true},
	{"neighbours", TEXTOID, AT(neighbours), DPERM_PLACE_ARGUMENT | DPERM_PLACE_AGGREGATE, NULL,
	DPERM_NEIGHBOURS_REPLACE, DPERM_NEIGHBOURS_REMOVE, .word = dperm_claim_neighbours_name},
	{"positive", TEXTOID, AT(labels.positive), DPERM_PLACE_ARGUMENT | DPERM_PLACE_AGGREGATE, NULL,
	.learners = LOGREG | SVM},
	{"delta", FLOAT8OID, AT(delta), DPERM_PLACE_ARGUMENT | DPERM_PLACE_AGGREGATE,
	"delta should be much smaller than 1 divided by the number of rows, or 0 for pure epsilon.",
	DPERM_DELTA_MIN, 1, .also = "0"},
	{"lambda", FLOAT8OID, AT(lambda), DPERM_PLACE_ARGUMENT | KEY,
	"Omit lambda to use a default that does not depend on the data.",
	0, DPERM_LAMBDA_MAX},
	{"scale", FLOAT8OID, AT(scale), DPERM_PLACE_GRID},
	{"knots", INT4OID, AT(knots), DPERM_PLACE_ARGUMENT | DPERM_PLACE_CANDIDATE,
	"knots is the number of points of each number's curve; 1 is a straight line.",
	1, DPERM_DIM_MAX - 1},
	{"kernel", TEXTOID, AT(kernel.kind), DPERM_PLACE_ARGUMENT | KEY, NULL,
	DPERM_KERNEL_LINEAR, DPERM_KERNEL_MATERN, .word = dperm_encoder_kernel_name,
	.given = AT(has_kernel)},
	{"gamma", FLOAT8OID, AT(kernel.gamma), DPERM_PLACE_ARGUMENT | KEY,
	"gamma is the bandwidth of the kernel, for vectors of norm at most 1.",
	DPERM_GAMMA_MIN, DPERM_GAMMA_MAX},

	{"method", TEXTOID, AT(method), OPTION, NULL,
	-1, DPERM_METHOD_COUNT - 1, .word = method_word},
	{"analysis", TEXTOID, AT(analysis), OPTION, NULL,
	DPERM_ANALYSIS_SHARP, DPERM_ANALYSIS_PAPER, .word = dperm_calibrate_analysis_name},
	{"noise", TEXTOID, AT(noise), OPTION, NULL,
	DPERM_NOISE_SHAPED, DPERM_NOISE_BALL, .word = noise_word},
	{"intercept", BOOLOID, AT(intercept), OPTION},
	{"kernel_features", INT4OID, AT(kernel.features), OPTION,
	"More features approximate the kernel better but need more noise.",
	2, DPERM_DIM_MAX - 2},
	{"kernel_seed", INT8OID, AT(kernel.seed), OPTION,
	"A seed is any number of type bigint.", .given = AT(has_seed)},
	{"loss", TEXTOID, AT(loss.kind), OPTION, NULL,
	DPERM_LOSS_HUBER, DPERM_LOSS_SMOOTH_HINGE, .word = dperm_loss_name, .learners = SVM},
	{"h", FLOAT8OID, AT(loss.h), OPTION, NULL,
	.learners = SVM | LINREG},

	{"classes", TEXTARRAYOID, AT(labels), DPERM_PLACE_AGGREGATE, NULL,
	.learners = LOGREG},
	{"bounds", FLOAT8ARRAYOID, AT(labels.low), DPERM_PLACE_AGGREGATE,
	"bounds is the public range of the label, as in '{\"bounds\": [0, 120]}'.",
	.learners = LINREG},
	{"norm", FLOAT8OID, AT(norm), DPERM_PLACE_AGGREGATE,
	"norm is a public bound on the norm of the vectors; larger vectors are scaled down to it.",
	DPERM_NORM_MIN, DPERM_NORM_MAX},
	{"dimension", INT4OID, AT(dimension), DPERM_PLACE_AGGREGATE,
	"dimension is the number of elements of the feature vectors.",
	1, DPERM_DIM_MAX - 1}
};

/* Raise for a value, with the hint of the option or else this one. */
static _Noreturn void
refuse(const Option *option, const char *message, const char *hint)
{
	if (option->hint)
		hint = option->hint;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s", message),
			 hint ? errhint("%s", hint) : 0));
}

/* Names as in "a, b and c". */
static char *
in_words(List *names, const char *before_last)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < list_length(names); i++)
		appendStringInfo(&text, "%s%s",
						 i == 0 ? "" : i < list_length(names) - 1 ? ", " : before_last,
						 (char *) list_nth(names, i));
	return text.data;
}

/* Store a number, or raise an error for one out of range. */
static void
store_number(const Option *option, double number, void *at)
{
	bool		whole = option->type == INT4OID;

	if (option->least < option->most &&
		(!(number >= option->least && number <= option->most) ||
		 (whole && number != floor(number))) &&
		!(option->also && number == strtod(option->also, NULL)))
		refuse(option, psprintf("%s must be %sbetween %g and %g%s%s", option->name,
								whole ? "a whole number " : "", option->least, option->most,
								option->also ? ", or " : "", option->also ? option->also : ""),
			   NULL);
	if (whole)
		*(int *) at = (int) number;
	else
		*(double *) at = number + 0.0;	/* no negative zero */
}

/*
 * Store a text or, if the option is one of some words, its number; raises an
 * error that lists the words.
 */
static void
store_text(const Option *option, const char *text, void *at)
{
	List	   *valid = NIL;

	StaticAssertStmt(sizeof(DpermKernelKind) == sizeof(int), "words are stored as int");
	if (option->word == NULL)
	{
		*(const char **) at = text;
		return;
	}
	for (int number = (int) option->least; number <= (int) option->most; number++)
	{
		const char *word = option->word(number);

		if (strcmp(word, text) == 0)
		{
			memcpy(at, &number, sizeof(int));
			return;
		}
		valid = lappend(valid, psprintf("'%s'", word));
	}
	refuse(option, psprintf("unknown %s \"%s\"", option->name, text),
		   psprintf("Use %s.", in_words(valid, " or ")));
}

/* The option with a name, NULL if there is none. */
static const Option *
find(const char *name)
{
	for (int i = 0; i < lengthof(table); i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

/* May an option be specified at this place, for these options? */
static bool
is_allowed(const Option *option, const DpermOptions *options, DpermOptionPlace place)
{
	return (option->places & place) != 0 &&
		(option->learners == 0 || (option->learners & 1 << options->learner) != 0);
}

/*
 * Set one option from a datum of its type; raises an error for a value out of
 * range, and for NULL where there is no default.
 */
void
dperm_option_table_set(DpermOptions *options, const char *name, Datum value, bool isnull)
{
	const Option *option = find(name);
	void	   *at = (char *) options + option->at;

	if (isnull && option->required)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name),
				 errhint("%s", option->hint)));
	if (isnull)
		return;
	if (option->type == TEXTOID)
		store_text(option, TextDatumGetCString(value), at);
	else
		store_number(option,
					 option->type == INT4OID ? DatumGetInt32(value) : DatumGetFloat8(value), at);
	if (option->given > 0)
		*((bool *) options + option->given) = true;
}

/* Raise an error unless a value in JSON is what an option takes. */
static void
expect(const Option *option, bool fits, const char *what)
{
	if (!fits)
		refuse(option, psprintf("option \"%s\" must be %s", option->name, what),
			   "Options are a JSON object, such as '{\"intercept\": false, "
			   "\"method\": \"output\"}'.");
}

static double
number_of(const JsonbValue *json)
{
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(json->val.numeric)));
}

/* A seed, which may have more digits than a double. */
static int64
seed_of(const Option *option, const JsonbValue *json)
{
	char	   *end;
	int64		seed;

	errno = 0;
	seed = strtoll(numeric_normalize(json->val.numeric), &end, 10);
	if (errno != 0 || *end != '\0')
		refuse(option, psprintf("%s must be a whole number of 64 bits", option->name), NULL);
	return seed;
}

/* Store two numbers, or a list of classes. */
static void
store_list(const Option *option, const JsonbValue *json, void *at)
{
	bool		pair = option->type == FLOAT8ARRAYOID;
	const char *what = pair ?
		"an array of two numbers between -1e300 and 1e300, the lower one first" :
		"an array of strings";
	JsonbContainer *array = json->val.binary.data;
	StringInfoData classes;
	int			count;

	expect(option, json->type == jbvBinary && JsonContainerIsArray(array), what);
	count = JsonContainerSize(array);
	expect(option, !pair || count == 2, what);
	initStringInfo(&classes);
	for (int i = 0; i < count; i++)
	{
		JsonbValue *element = getIthJsonbValueFromContainer(array, i);

		expect(option, element->type == (pair ? jbvNumeric : jbvString), what);
		if (pair)
			((double *) at)[i] = number_of(element) + 0.0;	/* no negative zero */
		else
		{
			appendBinaryStringInfo(&classes, element->val.string.val, element->val.string.len);
			appendStringInfoChar(&classes, '\0');
		}
	}
	if (pair)
		expect(option, dperm_block_are_bounds(((double *) at)[0], ((double *) at)[1]), what);
	else
	{
		DpermLabels *labels = at;

		labels->kind = DPERM_LABEL_SEVERAL;
		labels->classes = classes.data;
		labels->class_count = count;
	}
}

/* Set an option from a value in JSON. */
static void
set_json(DpermOptions *options, const Option *option, const JsonbValue *json)
{
	void	   *at = (char *) options + option->at;

	switch (option->type)
	{
		case TEXTOID:
			expect(option, json->type == jbvString, "a string");
			store_text(option, pnstrdup(json->val.string.val, json->val.string.len), at);
			break;
		case BOOLOID:
			expect(option, json->type == jbvBool, "true or false");
			*(int *) at = json->val.boolean;
			break;
		case FLOAT8ARRAYOID:
		case TEXTARRAYOID:
			store_list(option, json, at);
			break;
		default:
			expect(option, json->type == jbvNumeric, "a number");
			if (option->type == INT8OID)
				*(int64 *) at = seed_of(option, json);
			else
				store_number(option, number_of(json), at);
	}
	if (option->given > 0)
		*((bool *) options + option->given) = true;
}

/* The options that may be specified here, for a hint. */
static char *
allowed_names(const DpermOptions *options, DpermOptionPlace place)
{
	List	   *names = NIL;

	for (int i = 0; i < lengthof(table); i++)
		if (is_allowed(&table[i], options, place))
			names = lappend(names, (char *) table[i].name);
	return in_words(names, " and ");
}

/* Set the option of one key. */
static void
set_key(DpermOptions *options, DpermOptionPlace place, const char *key, JsonbValue *value)
{
	const Option *option = find(key);

	if (option && is_allowed(option, options, place))
		set_json(options, option, value);
	else if (option && place != DPERM_PLACE_AGGREGATE &&
			 is_allowed(option, options, DPERM_PLACE_ARGUMENT))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 place == DPERM_PLACE_CANDIDATE ?
				 errmsg("%s cannot differ between candidates", key) :
				 errmsg("%s is an argument, not an option", key),
				 errhint("Specify %s as an argument of the function.", key)));
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 option && (option->places & place) != 0 ?
				 errmsg("a %s does not have option \"%s\"",
						dperm_loss_learner_name(options->learner), key) :
				 errmsg("unknown option \"%s\"", key),
				 errhint("Valid options are %s.", allowed_names(options, place))));
}

/* Set options from a jsonb object whose keys are the names of options. */
void
dperm_option_table_jsonb(DpermOptions *options, DpermOptionPlace place, Jsonb *json)
{
	JsonbIterator *it;
	JsonbValue	key,
				value;

	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options must be a JSON object"),
				 errhint("For example '{\"intercept\": false}'.")));
	it = JsonbIteratorInit(&json->root);
	(void) JsonbIteratorNext(&it, &key, true);
	while (JsonbIteratorNext(&it, &key, true) == WJB_KEY)
	{
		(void) JsonbIteratorNext(&it, &value, true);
		set_key(options, place, pnstrdup(key.val.string.val, key.val.string.len), &value);
	}
}

/*
 * Set all options that are arguments of a function, or keys of its argument
 * "options"; NULL stands for the default.
 */
void
dperm_option_table_arguments(DpermOptions *options, FunctionCallInfo fcinfo)
{
	Jsonb	   *more = dperm_arguments_jsonb(fcinfo, "options");

	for (int i = 0; i < lengthof(table); i++)
		if (is_allowed(&table[i], options, DPERM_PLACE_ARGUMENT))
		{
			Datum		value = 0;
			bool		given = dperm_arguments_get(fcinfo, table[i].name, table[i].type, &value);

			dperm_option_table_set(options, table[i].name, value, !given);
		}
	if (more)
		dperm_option_table_jsonb(options, DPERM_PLACE_OPTION, more);
}
