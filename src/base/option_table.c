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

/* An entry of the table. */
typedef struct Option
{
	const char *name;
	Oid			type;			/* of the SQL argument */
	/* raises an error for a value out of range */
	void		(*set) (DpermOptions *options, OptionValue value);
	int			places;			/* any of DpermOptionPlace */
	int			learners;		/* any of 1 << DpermLearner; 0: all */
	const char *required;		/* the hint for NULL; NULL: there is a default */
} Option;

/* Combinations of places that many options share. */
#define ARGUMENT (DPERM_PLACE_TRAIN | DPERM_PLACE_TUNE)
#define KEY (DPERM_PLACE_AGGREGATE | DPERM_PLACE_CANDIDATE)

#define LOGREG (1 << DPERM_LEARNER_LOGREG)
#define SVM (1 << DPERM_LEARNER_SVM)
#define LINREG (1 << DPERM_LEARNER_LINREG)

static void
set_epsilon(DpermOptions *options, OptionValue value)
{
	double		epsilon = value.number;

	if (isnan(epsilon) || epsilon <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be greater than zero"),
				 errhint("Typical values are between 0.1 and 10; 'Infinity' trains without "
						 "privacy.")));
	if (epsilon < DPERM_EPSILON_MIN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be at least %g", DPERM_EPSILON_MIN),
				 errhint("Typical values are between 0.1 and 10; no model is useful at a smaller "
						 "epsilon.")));
	if (epsilon > DPERM_EPSILON_MAX && !isinf(epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be at most %d, or 'Infinity'", DPERM_EPSILON_MAX),
				 errhint("A larger epsilon gives no protection; use 'Infinity' to train without "
						 "privacy.")));
	options->epsilon = epsilon;
}

static void
set_delta(DpermOptions *options, OptionValue value)
{
	double		delta = value.number;

	if (!(delta == 0 || (delta >= DPERM_DELTA_MIN && delta < 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be 0, or at least %g and less than 1", DPERM_DELTA_MIN),
				 errhint("delta should be much smaller than 1 divided by the number of rows, or 0 "
						 "for pure epsilon.")));
	options->delta = delta;
}

static void
set_neighbours(DpermOptions *options, OptionValue value)
{
	int			neighbours = dperm_claim_neighbours_parse(value.text);

	if (neighbours < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown neighbours \"%s\"", value.text),
				 errhint("Use 'replace' or 'remove'.")));
	options->neighbours = (DpermNeighbours) neighbours;
}

static void
set_lambda(DpermOptions *options, OptionValue value)
{
	double		lambda = value.number;

	if (isnan(lambda) || lambda < 0 || lambda > DPERM_LAMBDA_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lambda must be between 0 and %g", DPERM_LAMBDA_MAX),
				 errhint("Omit lambda to use a default that does not depend on the data.")));
	options->lambda = lambda;
}

static void
set_method(DpermOptions *options, OptionValue value)
{
	const char *name = value.text;

	options->automatic = strcmp(name, "auto") == 0;
	if (!options->automatic && !dperm_mechanism_parse(name, &options->method))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown method \"%s\"", name),
				 errhint("Use 'auto', 'objective' or 'output'.")));
}

static void
set_analysis(DpermOptions *options, OptionValue value)
{
	const char *name = value.text;

	if (!dperm_calibrate_analysis_parse(name, &options->analysis))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown analysis \"%s\"", name),
				 errhint("Use 'sharp' or 'paper'.")));
}

static void
set_noise(DpermOptions *options, OptionValue value)
{
	const char *name = value.text;

	if (strcmp(name, "shaped") == 0)
		options->noise = DPERM_NOISE_SHAPED;
	else if (strcmp(name, "ball") == 0)
		options->noise = DPERM_NOISE_BALL;
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown noise \"%s\"", name),
				 errhint("Use 'shaped' or 'ball'.")));
}

static void
set_positive(DpermOptions *options, OptionValue value)
{
	options->labels.positive = value.text;
}

static void
set_classes(DpermOptions *options, OptionValue value)
{
	dperm_class_list_take(&options->labels, value.array);
}

static void
set_bounds(DpermOptions *options, OptionValue value)
{
	if (!dperm_block_are_bounds(value.pair[0], value.pair[1]))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds must be between -1e300 and 1e300, and the lower one below the "
						"upper one"),
				 errhint("bounds is the public range of the label, as in bounds => '{0,120}'.")));
	options->labels.low = value.pair[0] + 0.0;	/* no negative zero */
	options->labels.high = value.pair[1] + 0.0;
}

static void
set_intercept(DpermOptions *options, OptionValue value)
{
	options->intercept = value.flag;
}

/* The losses of a learner, for a hint. */
static char *
loss_names(DpermLearner learner)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < DPERM_LOSS_COUNT; i++)
		if (dperm_loss_entry(i)->learner == learner &&
			dperm_loss_entry(i)->label != DPERM_LABEL_SEVERAL)
			appendStringInfo(&names, "%s'%s'", names.len > 0 ? " or " : "",
							 dperm_loss_entry(i)->name);
	return names.data;
}

static void
set_loss(DpermOptions *options, OptionValue value)
{
	const char *name = value.text;
	DpermLossKind kind;

	if (!dperm_loss_parse(name, &kind) || dperm_loss_entry(kind)->learner != options->learner)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown loss \"%s\" "
						"for a %s", name, dperm_loss_learner_name(options->learner)),
				 errhint("Use %s.", loss_names(options->learner))));
	options->loss.kind = kind;
}

static void
set_h(DpermOptions *options, OptionValue value)
{
	DpermLoss	loss = {options->loss.kind, value.number};
	const char *fault = dperm_loss_fault(loss);

	if (fault)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s", fault),
				 errhint("The default is %g.", dperm_loss_default(options->learner).h)));
	options->loss = loss;
}

static void
set_norm(DpermOptions *options, OptionValue value)
{
	double		norm = value.number;

	if (!(norm >= DPERM_NORM_MIN && norm <= DPERM_NORM_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("norm must be between %g and %g", DPERM_NORM_MIN, DPERM_NORM_MAX),
				 errhint("norm is a public bound on the norm of the vectors; larger vectors are "
						 "scaled down to it.")));
	options->norm = norm;
}

static void
set_dimension(DpermOptions *options, OptionValue value)
{
	double		dimension = value.number;

	/* one coordinate less, so that there is always room for an intercept */
	if (!(dimension >= 1 && dimension <= DPERM_DIM_MAX - 1) || dimension != floor(dimension))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dimension must be a whole number between 1 and %d", DPERM_DIM_MAX - 1),
				 errhint("dimension is the number of elements of the feature vectors.")));
	options->dimension = (int) dimension;
}

static void
set_knots(DpermOptions *options, OptionValue value)
{
	double		knots = value.number;

	if (!(knots >= 1 && knots <= DPERM_DIM_MAX - 1) || knots != floor(knots))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("knots must be a whole number between 1 and %d", DPERM_DIM_MAX - 1),
				 errhint("knots is the number of points of each number's curve; 1 is a straight "
						 "line.")));
	options->knots = (int) knots;
}

static void
set_kernel(DpermOptions *options, OptionValue value)
{
	const char *name = value.text;

	if (!dperm_encoder_kernel_parse(name, &options->kernel.kind))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown kernel \"%s\"", name),
				 errhint("Use 'linear', 'gaussian', 'laplacian', 'cauchy' or 'matern'.")));
	options->has_kernel = true;
}

static void
set_gamma(DpermOptions *options, OptionValue value)
{
	double		gamma = value.number;

	if (!(gamma >= DPERM_GAMMA_MIN && gamma <= DPERM_GAMMA_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gamma must be between %g and %g", DPERM_GAMMA_MIN, DPERM_GAMMA_MAX),
				 errhint("gamma is the bandwidth of the kernel, for vectors of norm at most 1.")));
	options->kernel.gamma = gamma;
}

static void
set_kernel_features(DpermOptions *options, OptionValue value)
{
	double		features = value.number;

	if (!(features >= 2 && features <= DPERM_DIM_MAX - 2) || fmod(features, 2) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("kernel_features must be an even number between 2 and %d",
						DPERM_DIM_MAX - 2),
				 errhint("More features approximate the kernel better but need more noise.")));
	options->kernel.features = (int) features;
}

static void
set_kernel_seed(DpermOptions *options, OptionValue value)
{
	options->kernel.seed = value.integer;
	options->has_seed = true;
}

/* The options, in the order of the SQL declarations. */
static const Option table[] = {
	{"epsilon", FLOAT8OID, set_epsilon, ARGUMENT, .required =
	"Typical values are between 0.1 and 10; 'Infinity' trains without privacy."},
	{"lambda", FLOAT8OID, set_lambda, ARGUMENT | KEY},
	{"method", TEXTOID, set_method, ARGUMENT | KEY},
	{"analysis", TEXTOID, set_analysis, ARGUMENT | KEY},
	{"positive", TEXTOID, set_positive, ARGUMENT | DPERM_PLACE_AGGREGATE, .learners = LOGREG | SVM},
	{"classes", TEXTARRAYOID, set_classes, ARGUMENT | DPERM_PLACE_AGGREGATE, .learners = LOGREG},
	{"bounds", FLOAT8ARRAYOID, set_bounds, ARGUMENT | DPERM_PLACE_AGGREGATE, .learners = LINREG},
	{"intercept", BOOLOID, set_intercept, ARGUMENT | KEY},
	{"norm", FLOAT8OID, set_norm, ARGUMENT | KEY},
	{"dimension", INT4OID, set_dimension, ARGUMENT | KEY},
	{"knots", INT4OID, set_knots, ARGUMENT | DPERM_PLACE_CANDIDATE},
	{"kernel", TEXTOID, set_kernel, ARGUMENT | KEY},
	{"gamma", FLOAT8OID, set_gamma, ARGUMENT | KEY},
	{"kernel_features", INT4OID, set_kernel_features, ARGUMENT | KEY},
	{"kernel_seed", INT8OID, set_kernel_seed, ARGUMENT | KEY},
	{"noise", TEXTOID, set_noise, ARGUMENT | KEY},
	{"delta", FLOAT8OID, set_delta, ARGUMENT | DPERM_PLACE_AGGREGATE},
	{"neighbours", TEXTOID, set_neighbours, ARGUMENT | DPERM_PLACE_AGGREGATE},
	{"loss", TEXTOID, set_loss, ARGUMENT | KEY, .learners = SVM},
	{"h", FLOAT8OID, set_h, ARGUMENT | KEY, .learners = SVM | LINREG}
};

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

	if (isnull)
	{
		if (option->required)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", option->name),
					 errhint("%s", option->required)));
		return;
	}
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
	option->set(options, value);
}

/* Set one option from a datum. */
void
dperm_option_table_set(DpermOptions *options, const char *name, Datum value, bool isnull)
{
	for (int i = 0; i < lengthof(table); i++)
		if (strcmp(table[i].name, name) == 0)
		{
			set_datum(options, &table[i], value, isnull);
			return;
		}
	elog(ERROR, "there is no option \"%s\"", name);
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
	option->set(options, value);
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
	for (int i = 0; i < lengthof(table); i++)
		if (strcmp(table[i].name, key) == 0 && is_allowed(&table[i], options, place))
		{
			set_json(options, &table[i], value);
			return;
		}
	for (int i = 0; i < lengthof(table); i++)
		if (strcmp(table[i].name, key) == 0 && place == DPERM_PLACE_CANDIDATE &&
			is_allowed(&table[i], options, DPERM_PLACE_TUNE))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s cannot differ between candidates", key),
					 errhint("Specify %s as an argument of the function.", key)));
	for (int i = 0; i < lengthof(table); i++)
		if (strcmp(table[i].name, key) == 0 && (table[i].places & place) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a %s does not have option \"%s\"",
							dperm_loss_learner_name(options->learner), key),
					 errhint("Its options are %s.", allowed_names(options, place))));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
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
