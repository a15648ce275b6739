/*
 * encode.c: dp_encode, a row as the vector that a learner sees; and the public
 * dimension of the vectors that an expression produces.
 *
 * Only the expression itself and the catalog are used: a constant, ARRAY[a, b,
 * c], a call of dp_encode whose first argument is a constant or a parameter, a
 * domain whose CHECK fixes the dimension.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "base/host.h"
#include "column/datum_values.h"
#include "column/domains.h"
#include "column/encode.h"
#include "column/scorer.h"

PG_FUNCTION_INFO_V1(dperm_encode_model);
PG_FUNCTION_INFO_V1(dperm_encode_domains);

/* The encoded features of a row as an array. */
static Datum
encode(FunctionCallInfo fcinfo, DpermScorerOpener open)
{
	DpermScorer *scorer = dperm_scorer_get(fcinfo, open);
	const double *encoded = dperm_scorer_encode(scorer, PG_GETARG_DATUM(1));
	int			count = dperm_encoder_dim(dperm_scorer_encoder(scorer));
	Datum	   *datums = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		datums[i] = Float8GetDatum(encoded[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(datums, count, FLOAT8OID, sizeof(float8),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * dp_encode(model, row): the vector that the weights of the model are
 * multiplied by.
 */
Datum
dperm_encode_model(PG_FUNCTION_ARGS)
{
	return encode(fcinfo, dperm_scorer_open_model);
}

/* Is the column a key of the object? */
static bool
names_column(Jsonb *json, const DpermColumn *column)
{
	JsonbValue	key;

	key.type = jbvString;
	key.val.string.val = column->name;
	key.val.string.len = strlen(column->name);
	return findJsonbValueFromContainer(&json->root, JB_FOBJECT, &key) != NULL;
}

/*
 * The encoder whose features are the listed columns of the rows' table. Those
 * whose value is null take their domain from the catalog.
 */
static void
open_domains(Datum value, Oid features_type, DpermScored *out)
{
	Jsonb	   *json = DatumGetJsonbP(value);
	Oid			relation = get_typ_typrelid(features_type);
	DpermColumn *columns;
	DpermBlock *blocks;
	int			count;
	int			chosen = 0;

	if (!dperm_domains_has_rows(get_rel_relkind(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("domains can only be applied to the rows of a table or view"),
				 errhint("Pass the alias of a table, or encode with a model.")));
	columns = dperm_domains_read(relation, NULL, &count);
	dperm_domains_give(relation, columns, count, json, true);
	blocks = palloc(sizeof(DpermBlock) * Max(count, 1));
	for (int i = 0; i < count; i++)
	{
		if (!names_column(json, &columns[i]))
			continue;
		if (!dperm_column_known(&columns[i]))
			dperm_domains_missing(&columns[i]);
		blocks[chosen] = columns[i].block;
		blocks[chosen].column.bytes = columns[i].name;
		blocks[chosen].column.len = strlen(columns[i].name);
		chosen++;
	}
	out->model = NULL;
	out->encoder =
		dperm_host_check_encoder((DpermEncoder) {.block_count = chosen, .blocks = blocks});
}

/* dp_encode(domains, row): the listed columns, without intercept. */
Datum
dperm_encode_domains(PG_FUNCTION_ARGS)
{
	return encode(fcinfo, open_domains);
}

/*
 * The value of a constant or a parameter; false for anything else, and for
 * NULL.
 */
static bool
read_value(Node *node, ParamListInfo params, Datum *value)
{
	if (IsA(node, Const))
	{
		*value = ((Const *) node)->constvalue;
		return !((Const *) node)->constisnull;
	}
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXTERN && params &&
		((Param *) node)->paramid <= params->numParams)
	{
		int			id = ((Param *) node)->paramid;
		ParamExternData room;
		ParamExternData *param = params->paramFetch ?
			params->paramFetch(params, id, false, &room) : &params->params[id - 1];

		*value = param->value;
		return param->ptype == ((Param *) node)->paramtype && !param->isnull;
	}
	return false;
}

/* The dimension of a constant vector. */
static int
constant_dimension(Const *constant)
{
	if (constant->constisnull || !OidIsValid(get_element_type(getBaseType(constant->consttype))))
		return 0;
	return Max(dperm_datum_values_array_elements(DatumGetArrayTypeP(constant->constvalue)), 0);
}

/*
 * The encoder of a call of dp_encode; false for any other function, and if its
 * first argument is not known yet.
 */
static bool
called_encoder(FuncExpr *call, ParamListInfo params, DpermEncoder *encoder)
{
	DpermScorerOpener open;
	DpermScored scored;
	FmgrInfo	function;
	Datum		value;

	if (list_length(call->args) != 2 || !read_value(linitial(call->args), params, &value))
		return false;
	fmgr_info(call->funcid, &function);
	if (function.fn_addr == dperm_encode_domains)
		open = open_domains;
	else if (function.fn_addr == dperm_encode_model)
		open = dperm_scorer_open_model;
	else
		return false;
	open(value, getBaseType(exprType(lsecond(call->args))), &scored);
	*encoder = scored.encoder;
	return true;
}

/*
 * The encoder of an expression. Nothing in between may round: a cast to real[]
 * would.
 */
bool
dperm_encode_encoder(Node *node, ParamListInfo params, DpermEncoder *encoder)
{
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			return called_encoder((FuncExpr *) node, params, encoder);
		case T_RelabelType:
			return dperm_encode_encoder((Node *) ((RelabelType *) node)->arg, params, encoder);
		case T_CoerceToDomain:
			return dperm_encode_encoder((Node *) ((CoerceToDomain *) node)->arg, params, encoder);
		default:
			return false;
	}
}

/* The dimension that an expression declares. */
int
dperm_encode_dimension(Node *node, ParamListInfo params)
{
	DpermColumn column = {.type = exprType(node),
						  .base = getBaseType(exprType(node)),
						  .typmod = -1,
						  .block = {.kind = DPERM_BLOCK_VECTOR}};
	DpermEncoder encoder;

	check_stack_depth();
	dperm_domains_of_type(&column);
	if (dperm_column_known(&column))
		return dperm_block_elements(&column.block);
	switch (nodeTag(node))
	{
		case T_Const:
			return constant_dimension((Const *) node);
		case T_ArrayExpr:
			return ((ArrayExpr *) node)->multidims ? 0 :
													 list_length(((ArrayExpr *) node)->elements);
		case T_FuncExpr:
			return called_encoder((FuncExpr *) node, params, &encoder) ?
					   dperm_encoder_dim(&encoder) :
					   0;
		case T_RelabelType:
			return dperm_encode_dimension((Node *) ((RelabelType *) node)->arg, params);
		case T_CoerceToDomain:
			return dperm_encode_dimension((Node *) ((CoerceToDomain *) node)->arg, params);
		case T_ArrayCoerceExpr:
			return dperm_encode_dimension((Node *) ((ArrayCoerceExpr *) node)->arg, params);
		default:
			return 0;
	}
}
