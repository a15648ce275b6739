/*
 * option_table.c: every option of the learners: its name, type and values, and
 * where it may be specified.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "base/arguments.h"
#include "base/option_table.h"
#include "core/base/limits.h"
#include "core/encode/block.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"

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

	/* the range of a number, unless fault says it, or of the numbers of words */
	double		least;
	double		most;
	const char *also;			/* a number that is valid, too; or NULL */
	const char *(*word) (int number);	/* the word with a number; it may be NULL */
	/* what else is wrong with a value, once it is stored; or NULL */
	const char *(*fault) (const DpermOptions *options);

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

/* Only support vector machines have a choice of losses. */
static const char *
loss_word(int number)
{
	return dperm_loss_entry(number)->learner == DPERM_LEARNER_SVM ? dperm_loss_name(number) : NULL;
}

static const char *
delta_fault(const DpermOptions *options)
{
	return options->delta == 1 ? "delta must be less than 1" : NULL;
}

static const char *
bounds_fault(const DpermOptions *options)
{
	return dperm_block_are_bounds(options->labels.low, options->labels.high) ? NULL :
		   "bounds must be between -1e300 and 1e300, and the lower one below the upper one";
}

/* The range of h depends on the loss. */
static const char *
h_fault(const DpermOptions *options)
{
	return dperm_loss_fault(options->loss);
}

static const char *
kernel_features_fault(const DpermOptions *options)
{
	return options->kernel.features % 2 != 0 ? "kernel_features must be an even number" : NULL;
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
	DPERM_DELTA_MIN, 1, .also = "0", .fault = delta_fault},
	{"lambda", FLOAT8OID, AT(lambda), DPERM_PLACE_ARGUMENT | KEY,
	"Omit lambda to use a default that does not depend on the data.",
	0, DPERM_LAMBDA_MAX},
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
	2, DPERM_DIM_MAX - 2, .fault = kernel_features_fault},
	{"kernel_seed", INT8OID, AT(kernel.seed), OPTION,
	"A seed is any number of type bigint.", .given = AT(has_seed)},
	{"loss", TEXTOID, AT(loss.kind), OPTION, NULL,
	0, DPERM_LOSS_COUNT - 1, .word = loss_word, .learners = SVM},
	{"h", FLOAT8OID, AT(loss.h), OPTION,
	"Omit h to use the default of the loss.",
	.fault = h_fault, .learners = SVM | LINREG},

	{"classes", TEXTARRAYOID, AT(labels), DPERM_PLACE_AGGREGATE, NULL,
	.learners = LOGREG},
	{"bounds", FLOAT8ARRAYOID, AT(labels.low), DPERM_PLACE_AGGREGATE,
	"bounds is the public range of the label, as in '{\"bounds\": [0, 120]}'.",
	.fault = bounds_fault, .learners = LINREG},
	{"norm", FLOAT8OID, AT(norm), DPERM_PLACE_AGGREGATE,
	"norm is a public bound on the norm of the vectors; larger vectors are scaled down to it.",
	DPERM_NORM_MIN, DPERM_NORM_MAX},
	{"dimension", INT4OID, AT(dimension), DPERM_PLACE_AGGREGATE,
	"dimension is the number of elements of the feature vectors.",
	1, DPERM_DIM_MAX - 1}
};

/* Raise for a value; without a hint of the option, with this one. */
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

/* Store the number of a word, or raise an error that lists the valid words. */
static void
store_word(const Option *option, const char *word, void *at)
{
	StringInfoData hint;
	const char *last = NULL;

	StaticAssertStmt(sizeof(DpermKernelKind) == sizeof(int), "words are stored as int");
	initStringInfo(&hint);
	for (int number = (int) option->least; number <= (int) option->most; number++)
	{
		const char *valid = option->word(number);

		if (valid == NULL)
			continue;
		if (strcmp(valid, word) == 0)
		{
			memcpy(at, &number, sizeof(int));
			return;
		}
		if (last)
			appendStringInfo(&hint, "%s'%s'", hint.len > 0 ? ", " : "", last);
		last = valid;
	}
	refuse(option, psprintf("unknown %s \"%s\"", option->name, word),
		   psprintf("Use %s or '%s'.", hint.data, last));
}

/* Store a text, or the number of a word. */
static void
store_text(const Option *option, const char *text, void *at)
{
	if (option->word)
		store_word(option, text, at);
	else
		*(const char **) at = text;
}

/* Note that an option has been set, and check what its range does not say. */
static void
finish(DpermOptions *options, const Option *option)
{
	const char *fault = option->fault ? option->fault(options) : NULL;

	if (fault)
		refuse(option, fault, NULL);
	if (option->given > 0)
		*((bool *) options + option->given) = true;
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

/* Set an option from a datum; for NULL, leave it at its default. */
static void
set_datum(DpermOptions *options, const Option *option, Datum datum, bool isnull)
{
	void	   *at = (char *) options + option->at;

	if (isnull && option->required)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", option->name),
				 errhint("%s", option->hint)));
	if (isnull)
		return;
	if (option->type == TEXTOID)
		store_text(option, TextDatumGetCString(datum), at);
	else
		store_number(option,
					 option->type == INT4OID ? DatumGetInt32(datum) : DatumGetFloat8(datum), at);
	finish(options, option);
}

/* Set one option from a datum. */
void
dperm_option_table_set(DpermOptions *options, const char *name, Datum value, bool isnull)
{
	set_datum(options, find(name), value, isnull);
}

/* A jsonb value of an option, or an error that names the option. */
static JsonbValue *
expect_type(const char *key, JsonbValue *value, enum jbvType type, const char *what)
{
	if (value->type != type)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must be %s", key, what),
				 errhint("Options are a JSON object, such as '{\"intercept\": false, "
						 "\"method\": \"output\"}'.")));
	return value;
}

static double
number_of_key(const char *key, JsonbValue *value)
{
	expect_type(key, value, jbvNumeric, "a number");
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(value->val.numeric)));
}

/* A seed, which may have more digits than a double. */
static int64
seed_of_key(const Option *option, JsonbValue *value)
{
	char	   *digits,
			   *end;
	int64		seed;

	expect_type(option->name, value, jbvNumeric, "a number");
	digits = numeric_normalize(value->val.numeric);
	errno = 0;
	seed = strtoll(digits, &end, 10);
	if (errno != 0 || *end != '\0')
		refuse(option, psprintf("%s must be a whole number of 64 bits", option->name), NULL);
	return seed;
}

static char *
string_of_key(const char *key, JsonbValue *value)
{
	expect_type(key, value, jbvString, "a string");
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* The elements of an array. */
static JsonbValue **
elements_of_key(const char *key, JsonbValue *value, const char *what, int *count)
{
	JsonbContainer *array = value->val.binary.data;
	JsonbValue **elements;

	if (value->type != jbvBinary || !JsonContainerIsArray(array))
		expect_type(key, value, jbvArray, what);
	*count = JsonContainerSize(array);
	elements = palloc(sizeof(*elements) * Max(*count, 1));
	for (int i = 0; i < *count; i++)
		elements[i] = getIthJsonbValueFromContainer(array, i);
	return elements;
}

/* Two numbers. */
static void
set_pair(const char *key, JsonbValue *value, double *pair)
{
	static const char *what = "an array of two numbers, the lower one first";
	int			count;
	JsonbValue **elements = elements_of_key(key, value, what, &count);

	if (count != 2)
		expect_type(key, value, jbvArray, what);
	for (int i = 0; i < 2; i++)
		pair[i] = number_of_key(key, elements[i]) + 0.0;
}

/* A list of classes. */
static void
set_classes(const char *key, JsonbValue *value, DpermLabels *labels)
{
	static const char *what = "an array of strings";
	int			count;
	JsonbValue **elements = elements_of_key(key, value, what, &count);
	StringInfoData classes;

	initStringInfo(&classes);
	for (int i = 0; i < count; i++)
	{
		char	   *class;

		expect_type(key, elements[i], jbvString, what);
		class = string_of_key(key, elements[i]);
		appendBinaryStringInfo(&classes, class, strlen(class) + 1);
	}
	labels->kind = DPERM_LABEL_SEVERAL;
	labels->classes = classes.data;
	labels->class_count = count;
}

/* Set an option from a value in JSON. */
static void
set_json(DpermOptions *options, const Option *option, JsonbValue *json)
{
	void	   *at = (char *) options + option->at;

	if (option->type == TEXTOID)
		store_text(option, string_of_key(option->name, json), at);
	else if (option->type == BOOLOID)
		*(int *) at = expect_type(option->name, json, jbvBool, "true or false")->val.boolean;
	else if (option->type == INT8OID)
		*(int64 *) at = seed_of_key(option, json);
	else if (option->type == FLOAT8ARRAYOID)
		set_pair(option->name, json, at);
	else if (option->type == TEXTARRAYOID)
		set_classes(option->name, json, at);
	else
		store_number(option, number_of_key(option->name, json), at);
	finish(options, option);
}

/* The options that may be specified here, for a hint. */
static char *
allowed_names(const DpermOptions *options, DpermOptionPlace place)
{
	StringInfoData names;
	const char *last = NULL;

	initStringInfo(&names);
	for (int i = 0; i < lengthof(table); i++)
	{
		if (!is_allowed(&table[i], options, place))
			continue;
		if (last)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", last);
		last = table[i].name;
	}
	appendStringInfo(&names, "%s%s", names.len > 0 ? " and " : "", last);
	return names.data;
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

/* Set options from a jsonb object. */
void
dperm_option_table_jsonb(DpermOptions *options, DpermOptionPlace place, Jsonb *json)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	key,
				value;

	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options must be a JSON object"),
				 errhint("For example '{\"intercept\": false}'.")));
	it = JsonbIteratorInit(&json->root);
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
	{
		if (token != WJB_KEY)
			continue;
		(void) JsonbIteratorNext(&it, &value, true);
		set_key(options, place, pnstrdup(key.val.string.val, key.val.string.len), &value);
	}
}

/* Set options from the arguments of a function, one of which is options. */
void
dperm_option_table_arguments(DpermOptions *options, FunctionCallInfo fcinfo)
{
	Jsonb	   *more = dperm_arguments_jsonb(fcinfo, "options");

	for (int i = 0; i < lengthof(table); i++)
		if (is_allowed(&table[i], options, DPERM_PLACE_ARGUMENT))
		{
			Datum		value = 0;
			bool		given = dperm_arguments_get(fcinfo, table[i].name, table[i].type, &value);

			set_datum(options, &table[i], value, !given);
		}
	if (more)
		dperm_option_table_jsonb(options, DPERM_PLACE_OPTION, more);
}
