/*
 * domain_terms.c: the terms of a CHECK constraint: a column, constants, arrays
 * of them.
 *
 * Casts of constants are evaluated if they are functions of PostgreSQL that are
 * immutable. So no code of a user is executed.
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "base/message.h"
#include "column/domain_terms.h"
#include "column/domain_types.h"

/* Can a cast from one type to the other only round, pad or trim? */
static bool
is_same_kind(Oid from, Oid to)
{
	DpermBlockKind kind,
				other;

	from = getBaseType(from);
	to = getBaseType(to);
	if (!dperm_domain_types_kind(from, &kind) || !dperm_domain_types_kind(to, &other) ||
		kind != other)
		return false;
	/* a time of day does not follow the order of days */
	if ((from == TIMEOID) != (to == TIMEOID))
		return false;
	if (kind == DPERM_BLOCK_CATEGORY)
		return dperm_domain_types_is_text(from) && dperm_domain_types_is_text(to);
	return kind == DPERM_BLOCK_NUMBER || kind == DPERM_BLOCK_TIME;
}

/*
 * A cast by a built-in function between types of the same kind. Length limits
 * of texts do not matter.
 */
static bool
is_plain_cast(FuncExpr *call)
{
	return (call->funcformat == COERCE_IMPLICIT_CAST || call->funcformat == COERCE_EXPLICIT_CAST) &&
		call->funcid < FirstNormalObjectId && call->args != NIL &&
		is_same_kind(exprType(linitial(call->args)), call->funcresulttype) &&
		(list_length(call->args) == 1 || !dperm_domain_types_is_text(call->funcresulttype));
}

/*
 * What a node casts, if that preserves the order of values, or NULL; of an array,
 * that of its elements.
 */
static Node *
peel(Node *node)
{
	Node	   *element;
	Node	   *inner;

	switch (nodeTag(node))
	{
		case T_RelabelType:
			return (Node *) ((RelabelType *) node)->arg;
		case T_CollateExpr:
			return (Node *) ((CollateExpr *) node)->arg;
		case T_CoerceToDomain:
			return (Node *) ((CoerceToDomain *) node)->arg;
		case T_CoerceViaIO:
			return dperm_domain_types_is_text(getBaseType(((CoerceViaIO *) node)->resulttype)) ?
				(Node *) ((CoerceViaIO *) node)->arg : NULL;
		case T_FuncExpr:
			return is_plain_cast((FuncExpr *) node) ? linitial(((FuncExpr *) node)->args) : NULL;
		case T_ArrayCoerceExpr:
			element = (Node *) ((ArrayCoerceExpr *) node)->elemexpr;
			while ((inner = peel(element)) != NULL)
				element = inner;
			return IsA(element, CaseTestExpr) ? (Node *) ((ArrayCoerceExpr *) node)->arg : NULL;
		default:
			return NULL;
	}
}

/* Is this node the column, perhaps cast? */
bool
dperm_domain_terms_is_column(const DpermSubject *subject, Node *node)
{
	Node	   *inner;

	while ((inner = peel(node)) != NULL)
		node = inner;
	if (subject->number == 0)
		return IsA(node, CoerceToDomainValue);
	return IsA(node, Var) && ((Var *) node)->varno == 1 && ((Var *) node)->varlevelsup == 0 &&
		((Var *) node)->varattno == subject->number;
}

/* Is this a function of a user, or one that is not immutable? */
static bool
is_other_function(Oid function, void *context)
{
	return function >= FirstNormalObjectId || func_volatile(function) != PROVOLATILE_IMMUTABLE;
}

/*
 * Does a tree hold anything but constants, arrays of these, and casts that
 * is_other_function() lets pass?
 */
static bool
is_computed(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Const:
		case T_ArrayExpr:
		case T_RelabelType:
		case T_CaseTestExpr:	/* an element, in the cast of an array */
		case T_ArrayCoerceExpr:
		case T_CoerceViaIO:
			break;
		case T_FuncExpr:
			if (((FuncExpr *) node)->funcformat != COERCE_IMPLICIT_CAST &&
				((FuncExpr *) node)->funcformat != COERCE_EXPLICIT_CAST)
				return true;
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_other_function, NULL) ||
		expression_tree_walker(node, is_computed, context);
}

/*
 * The value of casts of constants, or NULL if one fails. An error of such a cast
 * leaves nothing behind.
 */
static Const *
evaluate(Node *node)
{
	MemoryContext context = CurrentMemoryContext;
	Expr	   *volatile value = NULL;

	PG_TRY();
	{
		value = evaluate_expr((Expr *) node, exprType(node), exprTypmod(node),
							  exprCollation(node));
	}
	PG_CATCH();
	{
		(void) dperm_message_data_error(context);
	}
	PG_END_TRY();
	return (Const *) value;
}

/*
 * The value of a constant, or of casts of constants; NULL for anything else, and
 * for NULL.
 */
static Const *
constant_of(Node *node)
{
	Const	   *constant;

	while (IsA(node, CollateExpr))
		node = (Node *) ((CollateExpr *) node)->arg;
	constant = is_computed(node, NULL) ? NULL :
		IsA(node, Const) ? (Const *) node : evaluate(node);
	return constant && !constant->constisnull ? constant : NULL;
}

/* Read a constant of a number or time type. */
static bool
read_number_datum(Oid type, Datum value, double *out)
{
	switch (type)
	{
		case INT2OID:
			*out = DatumGetInt16(value);
			return true;
		case INT4OID:
			*out = DatumGetInt32(value);
			return true;
		case INT8OID:
			*out = (double) DatumGetInt64(value);
			return true;
		case FLOAT4OID:
			*out = DatumGetFloat4(value);
			return true;
		case FLOAT8OID:
			*out = DatumGetFloat8(value);
			return true;
		case NUMERICOID:
			*out = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
			return true;
		case DATEOID:
			*out = dperm_days_from_date(DatumGetDateADT(value));
			return true;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*out = dperm_days_from_timestamp(DatumGetTimestamp(value));
			return true;
		case TIMEOID:
			*out = dperm_days_from_time(DatumGetTimeADT(value));
			return true;
		default:
			return false;
	}
}

/*
 * The value of a constant that is a number or a time; false for any other, for
 * NULL and NaN.
 */
bool
dperm_domain_terms_number(Node *node, double *out)
{
	Const	   *constant = constant_of(node);

	return constant && read_number_datum(constant->consttype, constant->constvalue, out) &&
		!isnan(*out);
}

/*
 * The text of a constant that can be compared with a category column; NULL for
 * any other.
 */
char *
dperm_domain_terms_text(const DpermSubject *subject, Node *node)
{
	Const	   *constant = constant_of(node);
	DpermText	text;

	if (constant == NULL || (constant->consttype != subject->base &&
							 !dperm_domain_types_is_text(constant->consttype)))
		return NULL;
	text = dperm_domain_types_text(constant->consttype, constant->constvalue);
	return pnstrdup(text.bytes,
					dperm_category_length(subject->base == BPCHAROID, text.bytes, text.len));
}

/*
 * The elements of an array of constants as nodes; NIL if it is something else.
 */
List *
dperm_domain_terms_elements(Node *node)
{
	List	   *elements = NIL;
	Const	   *array = constant_of(node);
	Oid			type = array ? get_element_type(array->consttype) : InvalidOid;
	int16		len;
	bool		byval;
	char		align;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	if (!OidIsValid(type))
		return NIL;
	get_typlenbyvalalign(type, &len, &byval, &align);
	deconstruct_array(DatumGetArrayTypeP(array->constvalue), type, len, byval, align,
					  &values, &nulls, &count);
	for (int i = 0; i < count; i++)
		elements = lappend(elements, makeConst(type, -1, InvalidOid, len, values[i], nulls[i],
											   byval));
	return elements;
}

/*
 * Is this node what constraints compare: the column, or the number of elements
 * of a vector column?
 */
bool
dperm_domain_terms_is_subject(const DpermSubject *subject, Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	double		axis = 1;

	if (subject->kind != DPERM_BLOCK_VECTOR)
		return dperm_domain_terms_is_column(subject, node);
	return IsA(node, FuncExpr) &&
		   (call->funcid == F_CARDINALITY || call->funcid == F_ARRAY_LENGTH) &&
		   (list_length(call->args) == 1 ||
			(dperm_domain_terms_number(lsecond(call->args), &axis) && axis == 1)) &&
		   dperm_domain_terms_is_column(subject, linitial(call->args));
}
