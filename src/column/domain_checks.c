/*
 * domain_checks.c: derive bounds and lists from CHECK constraints.
 *
 * Constraints are read as expression trees. A tree is understood if it compares
 * the column with constants by operators of a default btree family, through casts
 * that preserve the order; otherwise it is ignored. Nothing is executed but casts
 * of constants, if they are immutable functions of PostgreSQL: no code of a user.
 * AND intersects, OR takes the hull or the union, so the result contains all
 * values that pass. Training clamps to it, so constraints that are NOT VALID or
 * not enforced, or a materialized view that is not up to date, do no harm.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/indexing.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/message.h"
#include "column/domain_checks.h"
#include "column/domain_types.h"
#include "core/base/limits.h"

/* Integers below are doubles exactly. */
#define EXACT_MAX 9e15

/* One constraint. */
typedef struct Check
{
	char	   *name;
	Node	   *tree;
} Check;

/*
 * Whose constraints: those of a relation or of a domain type; the other one is
 * InvalidOid.
 */
typedef struct Owner
{
	Oid			relation;
	Oid			type;
	List	   *checks;
} Owner;

/* The column that a tree is read for. */
typedef struct Subject
{
	DpermBlockKind kind;
	Oid			base;
	AttrNumber	number;			/* in constraints of a relation; 0 in those of a type */
	bool		discrete;		/* integers or days */
	bool		elements;		/* look for the elements of a vector column */
} Subject;

static DpermSaid read_condition(const Subject *subject, Node *node);

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
static bool
is_column(const Subject *subject, Node *node)
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
static bool
read_number(Node *node, double *out)
{
	Const	   *constant = constant_of(node);

	return constant && read_number_datum(constant->consttype, constant->constvalue, out) &&
		!isnan(*out);
}

/*
 * The text of a constant that can be compared with a category column; NULL for
 * any other.
 */
static char *
read_text(const Subject *subject, Node *node)
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
static List *
elements_of(Node *node)
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
static bool
is_subject(const Subject *subject, Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	double		axis = 1;

	if (subject->kind != DPERM_BLOCK_VECTOR)
		return is_column(subject, node);
	return IsA(node, FuncExpr) &&
		   (call->funcid == F_CARDINALITY || call->funcid == F_ARRAY_LENGTH) &&
		   (list_length(call->args) == 1 ||
			(read_number(lsecond(call->args), &axis) && axis == 1)) &&
		   is_column(subject, linitial(call->args));
}

/* All values: no restriction. */
static DpermSaid
all_values(void)
{
	DpermSaid	said = {.low = -INFINITY, .high = INFINITY};

	return said;
}

/* None at all. */
static DpermSaid
no_value(void)
{
	DpermSaid	said = {.low = INFINITY, .high = -INFINITY, .listed = true};

	return said;
}

/* Is a text among those of a list? */
bool
dperm_domain_checks_lists(const DpermSaid *said, const char *text)
{
	for (int i = 0; i < said->count; i++)
		if (strcmp(said->texts[i], text) == 0)
			return true;
	return false;
}

/* Values in both. */
static DpermSaid
both(DpermSaid a, DpermSaid b)
{
	DpermSaid	said = all_values();

	said.low = Max(a.low, b.low);
	said.high = Min(a.high, b.high);
	if (!a.listed || !b.listed)
	{
		const DpermSaid *list = a.listed ? &a : &b;

		said.listed = list->listed;
		said.count = list->count;
		said.texts = list->texts;
		return said;
	}
	said.listed = true;
	said.texts = palloc((a.count + 1) * sizeof(char *));
	for (int i = 0; i < a.count; i++)
		if (dperm_domain_checks_lists(&b, a.texts[i]))
			said.texts[said.count++] = a.texts[i];
	return said;
}

/*
 * Values in either; a is not used afterwards. A list that is too long for any
 * model means no restriction.
 */
static DpermSaid
either(DpermSaid a, DpermSaid b)
{
	DpermSaid	said = all_values();

	if (a.low > a.high || b.low > b.high)
		return a.low > a.high ? b : a;
	said.low = Min(a.low, b.low);
	said.high = Max(a.high, b.high);
	if (!a.listed || !b.listed || a.count + b.count > 2 * DPERM_DIM_MAX)
		return said;
	CHECK_FOR_INTERRUPTS();
	said.texts = repalloc(a.texts, (a.count + b.count + 1) * sizeof(char *));
	said.count = a.count;
	for (int i = 0; i < b.count; i++)
		if (!dperm_domain_checks_lists(&said, b.texts[i]))
			said.texts[said.count++] = b.texts[i];
	said.listed = said.count <= DPERM_DIM_MAX;
	return said;
}

/*
 * The btree strategy of an operator with this left operand, 0 if it has none.
 */
static int
strategy_of(Oid op, Node *left)
{
	TypeCacheEntry *type = lookup_type_cache(getBaseType(exprType(left)),
											 TYPECACHE_BTREE_OPFAMILY);

	return OidIsValid(type->btree_opf) ? get_op_opfamily_strategy(op, type->btree_opf) : 0;
}

/* A list of one text. */
static void
list_text(DpermSaid *said, char *text)
{
	said->listed = true;
	said->count = 1;
	said->texts = palloc(sizeof(char *));
	said->texts[0] = text;
}

/*
 * The text of a number that a column equals, NULL if other numbers pass as well:
 * a cast may have rounded them.
 */
static char *
equal_text(const Subject *subject, Node *column, double x)
{
	Oid			type = getBaseType(exprType(column));
	char	   *text;

	if (subject->kind != DPERM_BLOCK_NUMBER ||
		(fabs(x) >= EXACT_MAX && (subject->discrete || subject->base == NUMERICOID)))
		return NULL;
	if (subject->discrete)
		return psprintf("%.0f", x);
	if (type != subject->base && type != FLOAT8OID)
		return NULL;
	text = double_to_shortest_decimal(x);
	/* a numeric of more digits is rounded here */
	return subject->base == NUMERICOID && strtod(psprintf("%.15g", x), NULL) != x ? NULL : text;
}

/* column <op> constant; for integers, a strict bound moves in by one. */
static DpermSaid
compare(const Subject *subject, Node *column, int strategy, Node *constant)
{
	char	   *text;
	DpermSaid	said = all_values();
	double		x;

	if (subject->kind == DPERM_BLOCK_CATEGORY || subject->kind == DPERM_BLOCK_FLAG)
	{
		text =
			strategy == BTEqualStrategyNumber ? read_text(subject, constant) : NULL;
		if (text)
			list_text(&said, text);
		return said;
	}
	if (!read_number(constant, &x))
		return said;
	if (strategy == BTEqualStrategyNumber && subject->discrete && x != floor(x))
		return no_value();
	if (strategy >= BTEqualStrategyNumber && strategy <= BTGreaterStrategyNumber)
		said.low = !subject->discrete ? x :
			strategy == BTGreaterStrategyNumber ? floor(x) + 1 : ceil(x);
	if (strategy >= BTLessStrategyNumber && strategy <= BTEqualStrategyNumber)
		said.high = !subject->discrete ? x :
			strategy == BTLessStrategyNumber ? ceil(x) - 1 : floor(x);
	text = strategy == BTEqualStrategyNumber ? equal_text(subject, column, x) : NULL;
	if (text)
		list_text(&said, text);
	return said;
}

/* A comparison, in either direction. */
static DpermSaid
read_comparison(const Subject *subject, OpExpr *op)
{
	Node	   *left,
			   *right;
	bool		flipped;
	int			strategy;

	if (list_length(op->args) != 2)
		return all_values();
	left = linitial(op->args);
	right = lsecond(op->args);
	flipped = !is_subject(subject, left);
	if (flipped && !is_subject(subject, right))
		return all_values();
	strategy = strategy_of(op->opno, left);
	if (strategy == 0)
		return all_values();
	return flipped ? compare(subject, right, BTMaxStrategyNumber + 1 - strategy, left) :
		compare(subject, left, strategy, right);
}

/*
 * column = ANY (array): the union of its elements; a NULL among them lets every
 * value pass.
 */
static DpermSaid
read_any(const Subject *subject, ScalarArrayOpExpr *op)
{
	List	   *elements;
	ListCell   *cell;
	DpermSaid	said = all_values();

	if (!op->useOr || !is_subject(subject, linitial(op->args)) ||
		strategy_of(op->opno, linitial(op->args)) != BTEqualStrategyNumber)
		return said;
	elements = elements_of(lsecond(op->args));
	foreach(cell, elements)
	{
		DpermSaid	one = compare(subject, linitial(op->args), BTEqualStrategyNumber,
										lfirst(cell));

		said = cell == list_head(elements) ? one : either(said, one);
	}
	return said;
}

/* constant <op> ALL (column): a bound of every element. */
static DpermSaid
read_all(const Subject *subject, ScalarArrayOpExpr *op)
{
	int			strategy;

	if (op->useOr || !is_column(subject, lsecond(op->args)))
		return all_values();
	strategy = strategy_of(op->opno, linitial(op->args));
	return strategy == 0 ? all_values() :
		compare(subject, lsecond(op->args), BTMaxStrategyNumber + 1 - strategy,
				linitial(op->args));
}

/* The text of a boolean column, if a condition is the column itself. */
static DpermSaid
say_flag(const Subject *subject, Node *node, char *text)
{
	DpermSaid	said = all_values();

	if (subject->kind == DPERM_BLOCK_FLAG && is_column(subject, node))
		list_text(&said, text);
	return said;
}

/*
 * AND and OR. NULL passes a CHECK anyway, so that "OR column IS NULL" adds
 * nothing.
 */
static DpermSaid
read_junction(const Subject *subject, BoolExpr *junction)
{
	DpermSaid	said = all_values();
	bool		first = true;
	ListCell   *cell;

	if (junction->boolop == NOT_EXPR)
		return say_flag(subject, linitial(junction->args), "f");
	foreach(cell, junction->args)
	{
		Node	   *arg = lfirst(cell);
		DpermSaid	one;

		if (junction->boolop == OR_EXPR && IsA(arg, NullTest) &&
			((NullTest *) arg)->nulltesttype == IS_NULL &&
			is_column(subject, (Node *) ((NullTest *) arg)->arg))
			continue;
		one = read_condition(subject, arg);
		said = first ? one : junction->boolop == AND_EXPR ? both(said, one) : either(said, one);
		first = false;
	}
	return said;
}

/* What a condition says about the column. */
static DpermSaid
read_condition(const Subject *subject, Node *node)
{
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_BoolExpr:
			return read_junction(subject, (BoolExpr *) node);
		case T_OpExpr:
			return subject->elements ? all_values() : read_comparison(subject, (OpExpr *) node);
		case T_ScalarArrayOpExpr:
			return subject->elements ? read_all(subject, (ScalarArrayOpExpr *) node) :
				read_any(subject, (ScalarArrayOpExpr *) node);
		default:
			return say_flag(subject, node, "t");
	}
}

/* The CHECK constraints of a relation or of a domain type, by name. */
static List *
checks_of(List **cache, Oid relation, Oid type)
{
	Relation	catalog;
	SysScanDesc scan;
	ScanKeyData keys[2];
	HeapTuple	tuple;
	Owner	   *owner;
	ListCell   *cell;

	foreach(cell, *cache)
	{
		owner = lfirst(cell);
		if (owner->relation == relation && owner->type == type)
			return owner->checks;
	}
	owner = palloc0(sizeof(*owner));
	owner->relation = relation;
	owner->type = type;
	catalog = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyInit(&keys[0], Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relation));
	ScanKeyInit(&keys[1], Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(type));
	scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);
		bool		isnull;
		Datum		tree = heap_getattr(tuple, Anum_pg_constraint_conbin,
										RelationGetDescr(catalog), &isnull);
		Check	   *check;

		if (form->contype != CONSTRAINT_CHECK || isnull)
			continue;
		check = palloc(sizeof(*check));
		check->name = pstrdup(NameStr(form->conname));
		check->tree = stringToNode(TextDatumGetCString(tree));
		owner->checks = lappend(owner->checks, check);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	*cache = lappend(*cache, owner);
	return owner->checks;
}

/* Does the second one restrict more than the first? */
static bool
is_narrower(const DpermSaid *before, const DpermSaid *after)
{
	return after->low != before->low || after->high != before->high ||
		after->listed != before->listed || after->count != before->count;
}

/* Add what one constraint says; returns whether that was a new restriction. */
static bool
add_check(DpermSaid *said, const Subject *subject, const Check *check)
{
	DpermSaid	before = *said;

	*said = both(before, read_condition(subject, check->tree));
	said->origin = before.origin;
	return is_narrower(&before, said);
}

/*
 * Add the name of a constraint that was used; all constraints of a domain share
 * one name.
 */
static void
add_origin(DpermSaid *said, char *origin)
{
	if (said->origin == NULL)
		said->origin = origin;
	else if (strstr(said->origin, origin) == NULL)
		said->origin = psprintf("%s, %s", said->origin, origin);
}

/* The subject for the column of this number; 0 in the constraints of a type. */
static Subject
make_subject(DpermBlockKind kind, Oid base, AttrNumber number)
{
	Subject subject = {
		.kind = kind,
		.base = base,
		.number = number,
		.discrete = kind == DPERM_BLOCK_VECTOR || base == INT2OID || base == INT4OID ||
		base == INT8OID || base == DATEOID
	};

	return subject;
}

/*
 * Add what the constraints of a type say, and those of the domains it is based
 * on.
 */
static void
add_type(DpermSaid *said, List **cache, const Subject *subject, Oid type)
{
	while (OidIsValid(type))
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
		Form_pg_type form;
		ListCell   *cell;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", type);
		form = (Form_pg_type) GETSTRUCT(tuple);
		if (form->typtype == TYPTYPE_DOMAIN)
			foreach(cell, checks_of(cache, InvalidOid, type))
				if (add_check(said, subject, lfirst(cell)))
					add_origin(said, psprintf("CHECK of domain \"%s\"", NameStr(form->typname)));
		type = form->typtype == TYPTYPE_DOMAIN ? form->typbasetype : InvalidOid;
		ReleaseSysCache(tuple);
	}
}

/*
 * What the constraints of the table and of the column's type say about the
 * subject; they are added to the origin.
 */
static DpermSaid
read_constraints(List **cache, Oid relation, const DpermColumn *column, Subject subject,
				 char *origin)
{
	DpermSaid	said = all_values();
	ListCell   *cell;

	said.origin = origin;
	foreach(cell, checks_of(cache, column->relation, InvalidOid))
	{
		Check	   *check = lfirst(cell);

		if (!add_check(&said, &subject, check))
			continue;
		origin = psprintf("CHECK constraint \"%s\"", check->name);
		if (column->relation != relation)
			origin = psprintf("%s of \"%s\"", origin, get_rel_name(column->relation));
		add_origin(&said, origin);
	}
	subject.number = 0;
	add_type(&said, cache, &subject, column->type);
	return said;
}

/* What they say about the column. */
DpermSaid
dperm_domain_checks_read(List **cache, Oid relation, const DpermColumn *column)
{
	return read_constraints(cache, relation, column,
							make_subject(column->block.kind, column->base, column->home), NULL);
}

/* What they say about the elements of a vector column. */
DpermSaid
dperm_domain_checks_elements(List **cache, Oid relation, const DpermColumn *column)
{
	Subject subject = make_subject(DPERM_BLOCK_NUMBER, column->base, column->home);

	subject.elements = true;
	return read_constraints(cache, relation, column, subject, column->origin);
}

/* The list as texts with their lengths. */
DpermText *
dperm_domain_checks_texts(const DpermSaid *said)
{
	DpermText  *texts = palloc(Max(said->count, 1) * sizeof(DpermText));

	for (int i = 0; i < said->count; i++)
		texts[i] = (DpermText) {said->texts[i], (int) strlen(said->texts[i])};
	return texts;
}

/* The number of elements that the constraints of an array type declare. */
int
dperm_domain_checks_dimension(Oid type)
{
	Subject subject = make_subject(DPERM_BLOCK_VECTOR, getBaseType(type), 0);
	DpermSaid	said = all_values();
	List	   *cache = NIL;

	add_type(&said, &cache, &subject, type);
	return said.low == said.high && said.low >= 1 && said.low <= DPERM_DIM_MAX ? (int) said.low : 0;
}
