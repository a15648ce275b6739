/*
 * domain_terms.c: the terms of a CHECK constraint: a column, constants, arrays
 * of them.
 *
 * Casts of constants are not called: what they do to the value is computed
 * here. So no code of a user is executed, and no cast can raise an error.
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

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

/* The argument of a node that does not change its value, or NULL. */
static Node *
peel(Node *node)
{
	switch (nodeTag(node))
	{
		case T_RelabelType:
			return (Node *) ((RelabelType *) node)->arg;
		case T_CollateExpr:
			return (Node *) ((CollateExpr *) node)->arg;
		case T_CoerceToDomain:
			return (Node *) ((CoerceToDomain *) node)->arg;
		default:
			return NULL;
	}
}

/* The argument of a node that preserves the order of values, or NULL. */
static Node *
peel_cast(Node *node)
{
	if (IsA(node, FuncExpr))
		return is_plain_cast((FuncExpr *) node) ? linitial(((FuncExpr *) node)->args) : NULL;
	return peel(node);
}

/* Is this node the column, perhaps cast? */
bool
dperm_domain_terms_is_column(const DpermSubject *subject, Node *node)
{
	Node	   *inner;

	while ((inner = peel_cast(node)) != NULL)
		node = inner;
	if (IsA(node, CoerceViaIO) && subject->kind == DPERM_BLOCK_CATEGORY &&
		dperm_domain_types_is_text(getBaseType(((CoerceViaIO *) node)->resulttype)))
		return dperm_domain_terms_is_column(subject, (Node *) ((CoerceViaIO *) node)->arg);
	if (subject->number == 0)
		return IsA(node, CoerceToDomainValue);
	return IsA(node, Var) && ((Var *) node)->varno == 1 && ((Var *) node)->varlevelsup == 0 &&
		((Var *) node)->varattno == subject->number;
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

/* A number as rounded by a type; NaN if it is out of range. */
static double
rounded_to(Oid type, double x)
{
	double		limit = INFINITY;

	switch (getBaseType(type))
	{
		case INT2OID:
			limit = PG_INT16_MAX;
			break;
		case INT4OID:
			limit = PG_INT32_MAX;
			break;
		case INT8OID:
			limit = (double) PG_INT64_MAX;
			break;
		case DATEOID:
			return floor(x);
		case FLOAT4OID:
			return (float) x;
		default:
			return x;
	}

	/* numeric and double precision round a half differently */
	return rint(x) >= -limit - 1 && rint(x) <= limit && fabs(x - trunc(x)) != 0.5 ? rint(x) : NAN;
}

/*
 * Sums, differences and products of numbers, which users write for readability.
 */
static bool
read_arithmetic(OpExpr *op, double *out)
{
	DpermBlockKind kind;
	char	   *name;
	double		a = 0,
				b;

	if (op->opno >= FirstNormalObjectId || !dperm_domain_types_kind(op->opresulttype, &kind) ||
		kind != DPERM_BLOCK_NUMBER || !dperm_domain_terms_number(llast(op->args), &b) ||
		(list_length(op->args) == 2 && !dperm_domain_terms_number(linitial(op->args), &a)))
		return false;
	name = get_opname(op->opno);
	if (name == NULL || !dperm_domain_types_kind(getBaseType(exprType(llast(op->args))), &kind) ||
		kind != DPERM_BLOCK_NUMBER)
		return false;
	if (strcmp(name, "-") == 0)
		*out = a - b;
	else if (strcmp(name, "+") == 0)
		*out = a + b;
	else if (strcmp(name, "*") == 0 && list_length(op->args) == 2)
		*out = a * b;
	else
		return false;
	return true;
}

/*
 * The array whose elements a node changes in no other way than inner_of() peels
 * off, or NULL.
 */
static Node *
peel_elements(Node *node, Node *(*inner_of) (Node *))
{
	Node	   *element;
	Node	   *inner;

	if (!IsA(node, ArrayCoerceExpr))
		return NULL;
	element = (Node *) ((ArrayCoerceExpr *) node)->elemexpr;
	while ((inner = inner_of(element)) != NULL)
		element = inner;
	return IsA(element, CaseTestExpr) ? (Node *) ((ArrayCoerceExpr *) node)->arg : NULL;
}

/*
 * The value of a constant expression of numbers or times; false for NULL and
 * NaN.
 */
bool
dperm_domain_terms_number(Node *node, double *out)
{
	Node	   *inner = peel_cast(node);

	check_stack_depth();
	if (inner != NULL)
	{
		/* a modifier rounds in its own way */
		if ((IsA(node, FuncExpr) && list_length(((FuncExpr *) node)->args) > 1) ||
			!dperm_domain_terms_number(inner, out))
			return false;
		*out = rounded_to(exprType(node), *out);
		return !isnan(*out);
	}
	if (IsA(node, OpExpr))
		return read_arithmetic((OpExpr *) node, out) && !isnan(*out);
	return IsA(node, Const) && !((Const *) node)->constisnull &&
		read_number_datum(((Const *) node)->consttype, ((Const *) node)->constvalue, out) &&
		!isnan(*out);
}

/*
 * The text of a constant that can be compared with a category column; NULL for
 * any other.
 */
char *
dperm_domain_terms_text(const DpermSubject *subject, Node *node)
{
	Const	   *constant;
	Node	   *inner;
	Oid			output;
	bool		is_varlena;
	bool		padded = subject->base == BPCHAROID;
	char	   *text;

	while ((inner = peel_cast(node)) != NULL)
	{
		padded |= exprType(inner) == BPCHAROID;
		node = inner;
	}
	if (!IsA(node, Const) || ((Const *) node)->constisnull)
		return NULL;
	constant = (Const *) node;
	if (constant->consttype != subject->base && !dperm_domain_types_is_text(constant->consttype))
		return NULL;
	getTypeOutputInfo(constant->consttype, &output, &is_varlena);
	text = OidOutputFunctionCall(output, constant->constvalue);
	text[dperm_category_length(padded, text, strlen(text))] = '\0';
	return text;
}

/* Is this node the array column whose elements are compared, perhaps cast? */
bool
dperm_domain_terms_is_array(const DpermSubject *subject, Node *node)
{
	Node	   *inner;

	while ((inner = peel_elements(node, peel_cast)) != NULL || (inner = peel(node)) != NULL)
		node = inner;
	return dperm_domain_terms_is_column(subject, node);
}

/*
 * The elements of an array of constants as nodes; NIL if it is something else.
 */
List *
dperm_domain_terms_elements(Node *node)
{
	List	   *elements = NIL;
	Node	   *inner;
	Oid			type;
	int16		len;
	bool		byval;
	char		align;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	if ((inner = peel_elements(node, peel_cast)) != NULL || (inner = peel(node)) != NULL)
		return dperm_domain_terms_elements(inner);
	if (IsA(node, ArrayExpr))
		return ((ArrayExpr *) node)->multidims ? NIL : ((ArrayExpr *) node)->elements;
	if (!IsA(node, Const) || ((Const *) node)->constisnull)
		return NIL;
	type = get_element_type(((Const *) node)->consttype);
	if (!OidIsValid(type))
		return NIL;
	get_typlenbyvalalign(type, &len, &byval, &align);
	deconstruct_array(DatumGetArrayTypeP(((Const *) node)->constvalue), type, len, byval, align,
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
