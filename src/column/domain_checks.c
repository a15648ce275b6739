/*
 * domain_checks.c: derive bounds and lists from CHECK constraints. Plain.
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
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/base.h"
#include "column/column.h"

/* No restriction, and one that no value passes. */
static const DpermSaid all_values = {.low = -INFINITY, .high = INFINITY, .count = -1};
static const DpermSaid no_values = {.low = INFINITY, .high = -INFINITY, .count = -1};

/* The column that a tree is read for. */
typedef struct Subject
{
	DpermBlockKind kind;
	Oid			base;
	AttrNumber	number;			/* in constraints of a relation; 0 in those of a type */
	bool		discrete;		/* integers or days */
} Subject;

/*
 * Can a cast from one type to the other only round, pad or trim, so that the order
 * of values stays? Casts between such types are all PostgreSQL's, but for texts.
 */
static bool
is_same_kind(Oid from, Oid to)
{
	DpermBlockKind kind,
				other;

	from = getBaseType(from);
	to = getBaseType(to);
	if (!dperm_column_kind(from, &kind) || !dperm_column_kind(to, &other) ||
		kind != other)
		return false;
	/* a time of day does not follow the order of days */
	return kind == DPERM_BLOCK_CATEGORY ?
		dperm_column_is_text(from) && dperm_column_is_text(to) :
		kind != DPERM_BLOCK_VECTOR && (from == TIMEOID) == (to == TIMEOID);
}

/*
 * A cast by a built-in function between types of the same kind, but for one that
 * cuts texts.
 */
static bool
is_plain_cast(FuncExpr *call)
{
	return (call->funcformat == COERCE_IMPLICIT_CAST || call->funcformat == COERCE_EXPLICIT_CAST) &&
		call->funcid < FirstNormalObjectId && call->args != NIL &&
		is_same_kind(exprType(linitial(call->args)), call->funcresulttype) &&
		(list_length(call->args) == 1 || !dperm_column_is_text(call->funcresulttype));
}

/*
 * What a node casts, if that preserves the order of values, or NULL; of an array,
 * that of its elements.
 */
static Node *
peel(Node *node)
{
	Node	   *arg;

	switch (nodeTag(node))
	{
		case T_RelabelType:
			return (Node *) ((RelabelType *) node)->arg;
		case T_CollateExpr:
			return (Node *) ((CollateExpr *) node)->arg;
		case T_CoerceToDomain:
			return (Node *) ((CoerceToDomain *) node)->arg;
		case T_CoerceViaIO:
			return dperm_column_is_text(getBaseType(((CoerceViaIO *) node)->resulttype)) ?
				(Node *) ((CoerceViaIO *) node)->arg : NULL;
		case T_FuncExpr:
			return is_plain_cast((FuncExpr *) node) ? linitial(((FuncExpr *) node)->args) : NULL;
		case T_ArrayCoerceExpr:
			arg = (Node *) ((ArrayCoerceExpr *) node)->arg;
			return is_same_kind(get_base_element_type(exprType(arg)),
								get_base_element_type(exprType(node))) ? arg : NULL;
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
			break;
		case T_FuncExpr:
			if (((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST ||
				((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CAST)
				break;
			return true;
		default:
			return true;
	}
	return check_functions_in_node(node, is_other_function, NULL) ||
		expression_tree_walker(node, is_computed, context);
}

/*
 * The value of a constant, or of casts of constants; NULL for anything else, for
 * NULL, and if a cast fails. An error of such a cast leaves nothing behind.
 */
static Const *
constant_of(Node *node)
{
	MemoryContext context = CurrentMemoryContext;
	Const	   *volatile constant = NULL;

	if (is_computed(node, NULL))
		return NULL;
	PG_TRY();
	{
		constant = (Const *) evaluate_expr((Expr *) node, exprType(node), exprTypmod(node),
										   exprCollation(node));
	}
	PG_CATCH();
	{
		(void) dperm_message_data_error(context);
	}
	PG_END_TRY();
	return constant && !constant->constisnull ? constant : NULL;
}

/* Is this node the number of elements of the column, a vector? */
static bool
is_length(const Subject *subject, Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	Const	   *axis;

	if (!IsA(node, FuncExpr) ||
		(call->funcid != F_CARDINALITY && call->funcid != F_ARRAY_LENGTH) ||
		!is_column(subject, linitial(call->args)))
		return false;
	axis = call->funcid == F_ARRAY_LENGTH ? constant_of(lsecond(call->args)) : NULL;
	return call->funcid == F_CARDINALITY || (axis && DatumGetInt32(axis->constvalue) == 1);
}

/* Values in both. */
static DpermSaid
both(DpermSaid a, DpermSaid b)
{
	DpermSaid	said = a.count >= 0 ? a : b;

	said.low = Max(a.low, b.low);
	said.high = Min(a.high, b.high);
	said.dimension = a.dimension == 0 || a.dimension == b.dimension ? b.dimension :
		b.dimension == 0 ? a.dimension : -1;
	if (a.count >= 0 && b.count >= 0)
	{
		said.texts = palloc(Max(a.count, 1) * sizeof(DpermText));
		said.count = 0;
		for (int i = 0; i < a.count; i++)
			if (dperm_column_lists(b.texts, b.count, &a.texts[i]))
				said.texts[said.count++] = a.texts[i];
	}
	return said;
}

/*
 * Values in either; a is not used afterwards. A list that is too long for any
 * model means no restriction.
 */
static DpermSaid
either(DpermSaid a, DpermSaid b)
{
	DpermSaid	said = all_values;

	if (a.low > a.high || b.low > b.high)
		return a.low > a.high ? b : a;
	said.low = Min(a.low, b.low);
	said.high = Max(a.high, b.high);
	said.dimension = a.dimension == b.dimension ? a.dimension : 0;
	if (a.count < 0 || b.count < 0)
		return said;
	CHECK_FOR_INTERRUPTS();
	said.texts = repalloc(a.texts, (a.count + b.count) * sizeof(DpermText));
	said.count = a.count;
	for (int i = 0; i < b.count; i++)
		if (!dperm_column_lists(said.texts, said.count, &b.texts[i]))
			said.texts[said.count++] = b.texts[i];
	if (said.count > DPERM_DIM_MAX)
		said.count = -1;
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

/*
 * The text of a number that a column equals; without bytes if other numbers pass
 * as well, since a cast may have rounded them, or are the same as a double.
 */
static DpermText
number_text(const Subject *subject, Node *column, double x)
{
	Oid			type = getBaseType(exprType(column));
	bool		exact = subject->discrete || subject->base == NUMERICOID;
	DpermText	text = {0};

	if (subject->kind != DPERM_BLOCK_NUMBER ||
		(!subject->discrete && type != subject->base && type != FLOAT8OID))
		return text;
	text.bytes = exact ? psprintf("%.15g", x) : double_to_shortest_decimal(x);
	if (exact && (fabs(x) >= 1e15 || strtod(text.bytes, NULL) != x))
		text.bytes = NULL;
	else
		text.len = (int) strlen(text.bytes);
	return text;
}

/* column <op> value of a constant; for integers, a strict bound moves in by one. */
static DpermSaid
compare(const Subject *subject, Node *column, int strategy, Oid type, Datum value)
{
	bool		discrete = subject->discrete;
	DpermSaid	said = all_values;
	DpermText	text = {0};
	double		x;

	if (subject->kind == DPERM_BLOCK_CATEGORY)
	{
		if (type == subject->base || dperm_column_is_text(type))
			text = dperm_column_text(type, value);
		text.len = dperm_category_length(subject->base == BPCHAROID, text.bytes, text.len);
	}
	else if (dperm_column_number(type, value, &x) && !isnan(x))
	{
		if (strategy >= BTEqualStrategyNumber)
			said.low = !discrete ? x :
				strategy == BTGreaterStrategyNumber ? floor(x) + 1 : ceil(x);
		if (strategy <= BTEqualStrategyNumber)
			said.high = !discrete ? x :
				strategy == BTLessStrategyNumber ? ceil(x) - 1 : floor(x);
		text = number_text(subject, column, x);
	}
	if (strategy == BTEqualStrategyNumber && text.bytes)
	{
		said.count = 1;
		said.texts = palloc(sizeof(DpermText));
		said.texts[0] = text;
	}
	return said;
}

/*
 * A comparison with a constant, in either direction: of the column, or of the
 * length of a vector; with ALL, of the elements of a vector, on the right.
 */
static DpermSaid
read_comparison(const Subject *subject, Oid op, List *args, bool all)
{
	bool		length = subject->kind == DPERM_BLOCK_VECTOR && !all;
	bool		(*is_subject) (const Subject *, Node *) = length ? is_length : is_column;
	Node	   *column = linitial(args);
	Node	   *other = llast(args);
	int			strategy = strategy_of(op, column);
	DpermSaid	said = all_values;
	Const	   *constant;
	double		x;

	if (strategy == 0)
		return said;
	if (all || !is_subject(subject, column))
	{
		column = llast(args);
		other = linitial(args);
		strategy = BTMaxStrategyNumber + 1 - strategy;
	}
	if (!is_subject(subject, column) || (constant = constant_of(other)) == NULL)
		return said;
	if (!length)
		return compare(subject, column, strategy, constant->consttype, constant->constvalue);
	if (strategy == BTEqualStrategyNumber &&
		dperm_column_number(constant->consttype, constant->constvalue, &x))
		said.dimension = x >= 1 && x <= DPERM_DIM_MAX ? (int) x : -1;
	return said;
}

/*
 * column = ANY (array): the union of its elements; a NULL among them lets every
 * value pass.
 */
static DpermSaid
read_any(const Subject *subject, ScalarArrayOpExpr *op)
{
	Node	   *column = linitial(op->args);
	Const	   *array = is_column(subject, column) ? constant_of(lsecond(op->args)) : NULL;
	Oid			type = array ? get_element_type(array->consttype) : InvalidOid;
	DpermSaid	said = no_values;
	ArrayIterator elements;
	Datum		value;
	bool		isnull;

	if (!OidIsValid(type) || strategy_of(op->opno, column) != BTEqualStrategyNumber)
		return all_values;
	elements = array_create_iterator(DatumGetArrayTypeP(array->constvalue), 0, NULL);
	while (array_iterate(elements, &value, &isnull))
		said = either(said, isnull ? all_values :
					  compare(subject, column, BTEqualStrategyNumber, type, value));
	return said;
}

static DpermSaid read_condition(const Subject *subject, Node *node);

/*
 * AND and OR. NULL passes a CHECK anyway, so that "OR column IS NULL" adds
 * nothing.
 */
static DpermSaid
read_junction(const Subject *subject, BoolExpr *junction)
{
	bool		and = junction->boolop == AND_EXPR;
	DpermSaid	said = and ? all_values : no_values;
	ListCell   *cell;

	foreach(cell, junction->args)
	{
		Node	   *arg = lfirst(cell);

		if (and)
			said = both(said, read_condition(subject, arg));
		else if (!IsA(arg, NullTest) || ((NullTest *) arg)->nulltesttype != IS_NULL ||
				 !is_column(subject, (Node *) ((NullTest *) arg)->arg))
			said = either(said, read_condition(subject, arg));
	}
	return said;
}

/* What a condition says about the column. */
static DpermSaid
read_condition(const Subject *subject, Node *node)
{
	bool		vector = subject->kind == DPERM_BLOCK_VECTOR;
	ScalarArrayOpExpr *array = (ScalarArrayOpExpr *) node;

	check_stack_depth();
	if (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop != NOT_EXPR)
		return read_junction(subject, (BoolExpr *) node);
	if (IsA(node, OpExpr) && list_length(((OpExpr *) node)->args) == 2)
		return read_comparison(subject, ((OpExpr *) node)->opno, ((OpExpr *) node)->args, false);
	if (IsA(node, ScalarArrayOpExpr) && vector && !array->useOr)
		return read_comparison(subject, array->opno, array->args, true);
	if (IsA(node, ScalarArrayOpExpr) && !vector && array->useOr)
		return read_any(subject, array);
	return all_values;
}

/* Does a constraint use a column? Those of a type use no other. */
static bool
uses_column(HeapTuple constraint, TupleDesc desc, AttrNumber number)
{
	bool		isnull;
	Datum		key = heap_getattr(constraint, Anum_pg_constraint_conkey, desc, &isnull);
	ArrayType  *columns;

	if (isnull)
		return number == 0;
	columns = DatumGetArrayTypeP(key);
	for (int i = 0; i < ARR_DIMS(columns)[0]; i++)
		if (((int16 *) ARR_DATA_PTR(columns))[i] == number)
			return true;
	return number == 0;
}

/*
 * Add what the CHECK constraints of a relation or of a domain type say, by their
 * names; the other one is InvalidOid. The origin gets those that are a new
 * restriction. of is the name of the type, or what to add to the names of the
 * relation's.
 */
static void
add_checks(DpermSaid *said, const Subject *subject, Oid relation, Oid type, const char *of)
{
	Relation	catalog = table_open(ConstraintRelationId, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(catalog);
	SysScanDesc scan;
	ScanKeyData keys[2];
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relation));
	ScanKeyInit(&keys[1], Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(type));
	scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);
		DpermSaid	before = *said;
		bool		isnull;
		Datum		tree = heap_getattr(tuple, Anum_pg_constraint_conbin, desc, &isnull);
		char	   *origin;

		if (form->contype != CONSTRAINT_CHECK || isnull ||
			!uses_column(tuple, desc, subject->number))
			continue;
		*said = both(before, read_condition(subject, stringToNode(TextDatumGetCString(tree))));
		said->origin = before.origin;
		if (said->low == before.low && said->high == before.high &&
			said->dimension == before.dimension && said->count == before.count)
			continue;
		origin = OidIsValid(type) ? psprintf("CHECK of domain \"%s\"", of) :
			psprintf("CHECK constraint \"%s\"%s", NameStr(form->conname), of);
		if (said->origin == NULL)
			said->origin = origin;
		else if (strstr(said->origin, origin) == NULL)
			said->origin = psprintf("%s, %s", said->origin, origin);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/*
 * Add what the constraints of a type say, and those of the domains it is based
 * on.
 */
static void
add_type(DpermSaid *said, Subject subject, Oid type)
{
	subject.number = 0;
	while (get_typtype(type) == TYPTYPE_DOMAIN)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
		Form_pg_type form;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", type);
		form = (Form_pg_type) GETSTRUCT(tuple);
		add_checks(said, &subject, InvalidOid, type, NameStr(form->typname));
		type = form->typbasetype;
		ReleaseSysCache(tuple);
	}
}

/*
 * What the constraints of a column's table and of its type say. relation is what the
 * caller specified; column->relation may be a table behind it.
 */
DpermSaid
dperm_domain_checks_read(Oid relation, const DpermColumn *column)
{
	DpermSaid	said = all_values;
	Oid			base = column->base;
	Subject		subject = {
		.kind = column->block.kind,
		.base = base,
		.number = column->home,
		.discrete = dperm_column_is_integer(base) || base == DATEOID
	};

	if (OidIsValid(column->relation))
		add_checks(&said, &subject, column->relation, InvalidOid,
				   column->relation == relation ? "" :
				   psprintf(" of \"%s\"", get_rel_name(column->relation)));
	add_type(&said, subject, column->type);
	return said;
}
