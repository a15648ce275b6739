/*
 * encode.c: dp_encode, a row as the vector that a learner sees.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "args.h"
#include "domains.h"
#include "encode.h"
#include "scorer.h"

PG_FUNCTION_INFO_V1(dp_encode_model);
PG_FUNCTION_INFO_V1(dp_encode_domains);

/* The encoded features of a row as an array. */
static Datum
encode(FunctionCallInfo fcinfo, DpermModelOpener open)
{
	DpermScorer *scorer = dperm_scorer_get(fcinfo, open);
	const double *encoded = dperm_scorer_encode(scorer, PG_GETARG_DATUM(1));
	int			count = dperm_encoder_dim(&dperm_scorer_model(scorer)->encoder);
	Datum	   *datums = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		datums[i] = Float8GetDatum(encoded[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(datums, count, FLOAT8OID, sizeof(float8),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* dp_encode(model, row): what the weights of the model are multiplied with. */
Datum
dp_encode_model(PG_FUNCTION_ARGS)
{
	return encode(fcinfo, dperm_scorer_open_model);
}

/* The object without the keys whose value is null: those take their domain from the catalog. */
static Jsonb *
without_nulls(Jsonb *json)
{
	JsonbIterator *it = JsonbIteratorInit(&json->root);
	JsonbParseState *state = NULL;
	JsonbIteratorToken token;
	JsonbValue	key,
				value;
	JsonbValue *result;

	if (!JB_ROOT_IS_OBJECT(json))
		return json;			/* dperm_domains_read() says what is wrong */
	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
	{
		if (token != WJB_KEY)
			continue;
		(void) JsonbIteratorNext(&it, &value, true);
		if (value.type == jbvNull)
			continue;
		pushJsonbValue(&state, WJB_KEY, &key);
		pushJsonbValue(&state, WJB_VALUE, &value);
	}
	result = pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	return JsonbValueToJsonb(result);
}

/* Is the column a key of the object? */
static bool
is_listed(Jsonb *json, const DpermColumn *column)
{
	JsonbValue	key;

	key.type = jbvString;
	key.val.string.val = column->name;
	key.val.string.len = strlen(column->name);
	return findJsonbValueFromContainer(&json->root, JB_FOBJECT, &key) != NULL;
}

/* A model without weights whose features are the listed columns of the rows' table. */
static DpermModel *
open_domains(Datum value, Oid features_type)
{
	Jsonb	   *json = DatumGetJsonbP(value);
	Oid			relation = get_typ_typrelid(features_type);
	DpermModel *model = palloc0(sizeof(*model));
	DpermColumn *columns;
	DpermBlock *blocks;
	DpermOptions options;
	int			count;
	int			chosen = 0;

	if (!OidIsValid(relation))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("domains can be applied to the rows of a table or view only"),
				 errhint("Pass the alias of a table, or encode with a model.")));
	columns = dperm_domains_read(relation, without_nulls(json), &count);
	blocks = palloc(sizeof(DpermBlock) * Max(count, 1));
	for (int i = 0; i < count; i++)
	{
		if (!is_listed(json, &columns[i]))
			continue;
		if (!columns[i].known)
			dperm_domains_missing(&columns[i]);
		blocks[chosen] = columns[i].block;
		blocks[chosen].column.bytes = columns[i].name;
		blocks[chosen].column.len = strlen(columns[i].name);
		chosen++;
	}
	if (chosen != (int) JB_ROOT_COUNT(json))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("domains has a key with the value null that is no column of \"%s\"",
						get_rel_name(relation)),
				 errhint("Keys are the names of columns as they are stored.")));
	memset(&options, 0, sizeof(options));
	model->encoder = dperm_options_encoder(&options, blocks, chosen);
	return model;
}

/* The length of the vectors that a call makes. */
int
dperm_encode_length(Oid function, Datum value, Oid features_type)
{
	FmgrInfo	call;
	DpermModel *model;

	fmgr_info(function, &call);
	if (call.fn_addr == dp_encode_domains)
		model = open_domains(value, features_type);
	else if (call.fn_addr == dp_encode_model)
		model = dperm_scorer_open_model(value, features_type);
	else
		return 0;
	return dperm_encoder_dim(&model->encoder);
}

/* dp_encode(domains, row): the listed columns, without intercept. */
Datum
dp_encode_domains(PG_FUNCTION_ARGS)
{
	return encode(fcinfo, open_domains);
}
