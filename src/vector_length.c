/*
 * vector_length.c: the public length of the vectors that an expression makes.
 *
 * Only the text of the query and the catalog are looked at: a constant, ARRAY[a, b, c], a call of dp_encode
 * whose first argument is a constant or a parameter, a domain whose CHECK fixes the length.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "domains.h"
#include "encode.h"
#include "rows.h"
#include "vector_length.h"

/* The value of a constant or a parameter; false for anything else, and for NULL. */
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

/* The length of a constant vector. */
static int
constant_length(Const *constant)
{
	if (constant->constisnull || !OidIsValid(get_element_type(getBaseType(constant->consttype))))
		return 0;
	return Max(dperm_rows_array_length(DatumGetArrayTypeP(constant->constvalue)), 0);
}

/* The length of what a call makes. */
static int
call_length(FuncExpr *call, ParamListInfo params)
{
	Datum		value;

	if (list_length(call->args) != 2 || !read_value(linitial(call->args), params, &value))
		return 0;
	return dperm_encode_length(call->funcid, value, getBaseType(exprType(lsecond(call->args))));
}

/* The length that an expression declares. */
int
dperm_vector_length(Node *node, ParamListInfo params)
{
	int			length = dperm_domains_type_length(exprType(node));

	check_stack_depth();
	if (length > 0)
		return length;
	switch (nodeTag(node))
	{
		case T_Const:
			return constant_length((Const *) node);
		case T_ArrayExpr:
			return ((ArrayExpr *) node)->multidims ? 0 : list_length(((ArrayExpr *) node)->elements);
		case T_FuncExpr:
			return call_length((FuncExpr *) node, params);
		case T_RelabelType:
			return dperm_vector_length((Node *) ((RelabelType *) node)->arg, params);
		case T_CoerceToDomain:
			return dperm_vector_length((Node *) ((CoerceToDomain *) node)->arg, params);
		case T_ArrayCoerceExpr:
			return dperm_vector_length((Node *) ((ArrayCoerceExpr *) node)->arg, params);
		default:
			return 0;
	}
}
