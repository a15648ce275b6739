/*
 * option_table.c: every option of the learners: its name, type and values, and
 * where it may be specified.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "base/arguments.h"
#include "base/class_list.h"
#include "base/option_table.h"
#include "core/base/limits.h"
#include "core/encode/block.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"

/* The value of an option; the type of the option tells which member. */
typedef union OptionValue
{
	double		number;			/* float8, and integer: a JSON number need not be an integer */
	int64		integer;		/* bigint */
	bool		flag;			/* boolean */
	char	   *text;			/* text */
	double		pair[2];		/* float8[] with two elements */
	ArrayType  *array;			/* text[] */
} OptionValue;

/*
 * An entry of the table. A value is stored as its type says: as double, int,
 * int64 or char *; a boolean, and the number of a word, as int; a list of
 * classes in DpermLabels.
 */
typedef struct Option
{
	const char *name;
	Oid			type;			/* of the SQL argument */
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
#define ARGUMENT (DPERM_PLACE_TRAIN | DPERM_PLACE_TUNE)
#define KEY (DPERM_PLACE_AGGREGATE | DPERM_PLACE_CANDIDATE)

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
 * The options, in the order of the SQL declarations. There is always room for
 * an intercept beside dimension, knots and kernel_features.
 */
static const Option table[] = {
	{"epsilon", FLOAT8OID, AT(epsilon), ARGUMENT,
	"Typical values are between 0.1 and 10; 'Infinity' trains without privacy.",
	DPERM_EPSILON_MIN, DPERM_EPSILON_MAX, .also = "Infinity", .required = true},
	{"lambda", FLOAT8OID, AT(lambda), ARGUMENT | KEY,
	"Omit lambda to use a default that does not depend on the data.", 0, DPERM_LAMBDA_MAX},
	{"method", TEXTOID, AT(method), ARGUMENT | KEY, NULL,
	-1, DPERM_METHOD_COUNT - 1, .word = method_word},
	{"analysis", TEXTOID, AT(analysis), ARGUMENT | KEY, NULL,
	DPERM_ANALYSIS_SHARP, DPERM_ANALYSIS_PAPER, .word = dperm_calibrate_analysis_name},
	{"positive", TEXTOID, AT(labels.positive), ARGUMENT | DPERM_PLACE_AGGREGATE, NULL,
	.learners = LOGREG | SVM},
	{"classes", TEXTARRAYOID, AT(labels), ARGUMENT | DPERM_PLACE_AGGREGATE, NULL,
	.learners = LOGREG},
	{"bounds", FLOAT8ARRAYOID, AT(labels.low), ARGUMENT | DPERM_PLACE_AGGREGATE,
	"bounds is the public range of the label, as in bounds => '{0,120}'.",
	.fault = bounds_fault, .learners = LINREG},
	{"intercept", BOOLOID, AT(intercept), ARGUMENT | KEY},
	{"norm", FLOAT8OID, AT(norm), ARGUMENT | KEY,
	"norm is a public bound on the norm of the vectors; larger vectors are scaled down to it.",
	DPERM_NORM_MIN, DPERM_NORM_MAX},
	{"dimension", INT4OID, AT(dimension), ARGUMENT | KEY,
	"dimension is the number of elements of the feature vectors.",
	1, DPERM_DIM_MAX - 1},
	{"knots", INT4OID, AT(knots), ARGUMENT | DPERM_PLACE_CANDIDATE,
	"knots is the number of points of each number's curve; 1 is a straight line.",
	1, DPERM_DIM_MAX - 1},
	{"kernel", TEXTOID, AT(kernel.kind), ARGUMENT | KEY, NULL,
	DPERM_KERNEL_LINEAR, DPERM_KERNEL_MATERN, .word = dperm_encoder_kernel_name,
	.given = AT(has_kernel)},
	{"gamma", FLOAT8OID, AT(kernel.gamma), ARGUMENT | KEY,
	"gamma is the bandwidth of the kernel, for vectors of norm at most 1.",
	DPERM_GAMMA_MIN, DPERM_GAMMA_MAX},
	{"kernel_features", INT4OID, AT(kernel.features), ARGUMENT | KEY,
	"More features approximate the kernel better but need more noise.",
	2, DPERM_DIM_MAX - 2, .fault = kernel_features_fault},
	{"kernel_seed", INT8OID, AT(kernel.seed), ARGUMENT | KEY, NULL, .given = AT(has_seed)},
	{"noise", TEXTOID, AT(noise), ARGUMENT | KEY, NULL,
	DPERM_NOISE_SHAPED, DPERM_NOISE_BALL, .word = noise_word},
	{"delta", FLOAT8OID, AT(delta), ARGUMENT | DPERM_PLACE_AGGREGATE,
	"delta should be much smaller than 1 divided by the number of rows, or 0 for pure epsilon.",
	DPERM_DELTA_MIN, 1, .also = "0", .fault = delta_fault},
	{"neighbours", TEXTOID, AT(neighbours), ARGUMENT | DPERM_PLACE_AGGREGATE, NULL,
	DPERM_NEIGHBOURS_REPLACE, DPERM_NEIGHBOURS_REMOVE, .word = dperm_claim_neighbours_name},
	{"loss", TEXTOID, AT(loss.kind), ARGUMENT | KEY, NULL,
	0, DPERM_LOSS_COUNT - 1, .word = loss_word, .learners = SVM},
	{"h", FLOAT8OID, AT(loss.h), ARGUMENT | KEY,
	"Omit h to use the default of the loss.",
	.fault = h_fault, .learners = SVM | LINREG}
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

/* Set an option; raises an error for a value that is not valid. */
static void
set(DpermOptions *options, const Option *option, OptionValue value)
{
	void	   *at = (char *) options + option->at;
	const char *fault;

	if (option->type == FLOAT8OID || option->type == INT4OID)
		store_number(option, value.number, at);
	else if (option->type == INT8OID)
		*(int64 *) at = value.integer;
	else if (option->type == BOOLOID)
		*(int *) at = value.flag;
	else if (option->type == TEXTOID && option->word)
		store_word(option, value.text, at);
	else if (option->type == TEXTOID)
		*(const char **) at = value.text;
	else if (option->type == FLOAT8ARRAYOID)
		for (int i = 0; i < 2; i++)
			((double *) at)[i] = value.pair[i] + 0.0;
	else
		dperm_class_list_take((DpermLabels *) at, value.array);
	if (option->given > 0)
		*((bool *) options + option->given) = true;
	fault = option->fault ? option->fault(options) : NULL;
	if (fault)
		refuse(option, fault, NULL);
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

/* Raise for a list that is no pair of numbers. */
static _Noreturn void
refuse_pair(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s must be two numbers", name),
			 errhint("The first is the lower one.")));
}

/* The two elements of an array. */
static void
pair_of_array(const char *name, ArrayType *array, double *pair)
{
	Datum	   *numbers;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &numbers,
					  &nulls, &count);
	if (ARR_NDIM(array) != 1 || count != 2 || nulls[0] || nulls[1])
		refuse_pair(name);
	for (int i = 0; i < 2; i++)
		pair[i] = DatumGetFloat8(numbers[i]);
}

/* Set an option from a datum; for NULL, leave it at its default. */
static void
set_datum(DpermOptions *options, const Option *option, Datum datum, bool isnull)
{
	OptionValue value;

	if (isnull && option->required)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", option->name),
				 errhint("%s", option->hint)));
	if (isnull)
		return;
	switch (option->type)
	{
		case FLOAT8OID:
			value.number = DatumGetFloat8(datum);
			break;
		case INT4OID:
			value.number = DatumGetInt32(datum);
			break;
		case INT8OID:
			value.integer = DatumGetInt64(datum);
			break;
		case BOOLOID:
			value.flag = DatumGetBool(datum);
			break;
		case TEXTOID:
			value.text = TextDatumGetCString(datum);
			break;
		case FLOAT8ARRAYOID:
			pair_of_array(option->name, DatumGetArrayTypeP(datum), value.pair);
			break;
		case TEXTARRAYOID:
			value.array = DatumGetArrayTypeP(datum);
			break;
		default:
			elog(ERROR, "option \"%s\" has a type without values", option->name);
	}
	set(options, option, value);
}

/* Set one option from a datum. */
void
dperm_option_table_set(DpermOptions *options, const char *name, Datum value, bool isnull)
{
	set_datum(options, find(name), value, isnull);
}

/* Set all options that are arguments of a function. */
void
dperm_option_table_arguments(DpermOptions *options, DpermOptionPlace place, FunctionCallInfo fcinfo)
{
	for (int i = 0; i < lengthof(table); i++)
	{
		Datum		value = 0;

		if (is_allowed(&table[i], options, place))
		{
			bool		given = dperm_arguments_get(fcinfo, table[i].name, table[i].type, &value);

			set_datum(options, &table[i], value, !given);
		}
	}
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
						 "\"norm\": 2}'.")));
	return value;
}

static double
number_of_key(const char *key, JsonbValue *value)
{
	expect_type(key, value, jbvNumeric, "a number");
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(value->val.numeric)));
}

static int64
integer_of_key(const char *key, JsonbValue *value)
{
	double		number = number_of_key(key, value);

	/*
	 * seeds beyond 2^53 need the SQL argument: JSON numbers are read as doubles
	 */
	if (number != floor(number) || fabs(number) > 0x1p53)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must be a whole number", key),
				 errhint("Its absolute value must be at most 2^53.")));
	return (int64) number;
}

static void
pair_of_key(const char *key, JsonbValue *value, double *pair)
{
	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data) ||
		JsonContainerSize(value->val.binary.data) != 2)
		refuse_pair(key);
	for (int i = 0; i < 2; i++)
		pair[i] = number_of_key(key, getIthJsonbValueFromContainer(value->val.binary.data, i));
}

static char *
string_of_key(const char *key, JsonbValue *value)
{
	expect_type(key, value, jbvString, "a string");
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* An array of strings; null elements stay what they are. */
static ArrayType *
array_of_key(const char *key, JsonbValue *value)
{
	int			count;
	Datum	   *elements;
	bool	   *nulls;

	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data))
		expect_type(key, value, jbvArray, "an array of strings");
	count = JsonContainerSize(value->val.binary.data);
	elements = palloc0(sizeof(Datum) * Max(count, 1));
	nulls = palloc0(sizeof(bool) * Max(count, 1));
	for (int i = 0; i < count; i++)
	{
		JsonbValue *element = getIthJsonbValueFromContainer(value->val.binary.data, i);

		nulls[i] = element->type == jbvNull;
		if (nulls[i])
			continue;
		expect_type(key, element, jbvString, "an array of strings");
		elements[i] = PointerGetDatum(cstring_to_text(string_of_key(key, element)));
	}
	return construct_md_array(elements, nulls, 1, &count, (int[]) {1}, TEXTOID, -1, false,
							  TYPALIGN_INT);
}

/* Set an option from a value in JSON. */
static void
set_json(DpermOptions *options, const Option *option, JsonbValue *json)
{
	OptionValue value;

	switch (option->type)
	{
		case FLOAT8OID:
		case INT4OID:
			value.number = number_of_key(option->name, json);
			break;
		case INT8OID:
			value.integer = integer_of_key(option->name, json);
			break;
		case BOOLOID:
			value.flag = expect_type(option->name, json, jbvBool, "true or false")->val.boolean;
			break;
		case TEXTOID:
			value.text = string_of_key(option->name, json);
			break;
		case FLOAT8ARRAYOID:
			pair_of_key(option->name, json, value.pair);
			break;
		case TEXTARRAYOID:
			value.array = array_of_key(option->name, json);
			break;
		default:
			elog(ERROR, "option \"%s\" has a type without values", option->name);
	}
	set(options, option, value);
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
	else if (option && place == DPERM_PLACE_CANDIDATE &&
			 is_allowed(option, options, DPERM_PLACE_TUNE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s cannot differ between candidates", key),
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
