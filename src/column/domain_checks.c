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

/* No bounds. */
#define UNBOUNDED ((DpermInterval) {-INFINITY, INFINITY})

/* One constraint. */
typedef struct Check
{
	char	   *origin;			/* what it is, for people */
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
} Subject;

/* The number of elements of a vector, as a subject. */
static const Subject length_subject = {
	.kind = DPERM_BLOCK_NUMBER, .base = INT4OID, .discrete = true
};

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

/* Has a type, or that of the elements of an array, values that a domain can list? */
static bool
is_known_type(Oid type)
{
	Oid			element = get_base_element_type(type);
	DpermBlockKind kind;

	return dperm_domain_types_kind(OidIsValid(element) ? element : getBaseType(type), &kind);
}

/*
 * Does a tree hold anything but constants, arrays of these, and casts that
 * is_other_function() lets pass? All of them are of types that domains have:
 * others can be read slowly, or not at all.
 */
static bool
is_computed(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (!IsA(node, List) && !is_known_type(exprType(node)))
		return true;
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

/* Is this node the number of elements of the column, a vector? */
static bool
is_length(const Subject *subject, Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	Const	   *axis;

	if (!IsA(node, FuncExpr) ||
		(call->funcid != F_CARDINALITY && call->funcid != F_ARRAY_LENGTH))
		return false;
	axis = call->funcid == F_ARRAY_LENGTH ? constant_of(lsecond(call->args)) : NULL;
	return is_column(subject, linitial(call->args)) &&
		(call->funcid == F_CARDINALITY || (axis && DatumGetInt32(axis->constvalue) == 1));
}

/* Is this node what comparisons of a subject are about? */
static bool
is_subject(const Subject *subject, Node *node)
{
	return subject->kind == DPERM_BLOCK_VECTOR ? is_length(subject, node) :
		is_column(subject, node);
}

/* All values: no restriction. */
static DpermSaid
all_values(void)
{
	return (DpermSaid) {.values = UNBOUNDED, .dimension = UNBOUNDED};
}

/* Is a text among those of a list? */
bool
dperm_domain_checks_lists(const DpermSaid *said, const DpermText *text)
{
	for (int i = 0; i < said->count; i++)
		if (dperm_block_same_text(&said->texts[i], text))
			return true;
	return false;
}

/* What is in both intervals. */
static DpermInterval
overlap(DpermInterval a, DpermInterval b)
{
	return (DpermInterval) {Max(a.low, b.low), Min(a.high, b.high)};
}

/* The smallest interval that contains both. */
static DpermInterval
hull(DpermInterval a, DpermInterval b)
{
	return (DpermInterval) {Min(a.low, b.low), Max(a.high, b.high)};
}

/* Values in both. */
static DpermSaid
both(DpermSaid a, DpermSaid b)
{
	DpermSaid	said = a.listed ? a : b;

	said.values = overlap(a.values, b.values);
	said.dimension = overlap(a.dimension, b.dimension);
	if (a.listed && b.listed)
	{
		said.texts = palloc(Max(a.count, 1) * sizeof(DpermText));
		said.count = 0;
		for (int i = 0; i < a.count; i++)
			if (dperm_domain_checks_lists(&b, &a.texts[i]))
				said.texts[said.count++] = a.texts[i];
	}
	return said;
}

/* Does no value pass? */
static bool
is_empty(const DpermSaid *said)
{
	return said->values.low > said->values.high || said->dimension.low > said->dimension.high;
}

/*
 * Values in either; a is not used afterwards. A list that is too long for any
 * model means no restriction.
 */
static DpermSaid
either(DpermSaid a, DpermSaid b)
{
	DpermSaid	said = all_values();

	if (is_empty(&a) || is_empty(&b))
		return is_empty(&a) ? b : a;
	said.values = hull(a.values, b.values);
	said.dimension = hull(a.dimension, b.dimension);
	if (!a.listed || !b.listed || a.count + b.count > 2 * DPERM_DIM_MAX)
		return said;
	CHECK_FOR_INTERRUPTS();
	said.texts = repalloc(a.texts, (a.count + b.count) * sizeof(DpermText));
	said.count = a.count;
	for (int i = 0; i < b.count; i++)
		if (!dperm_domain_checks_lists(&said, &b.texts[i]))
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

/*
 * The text of a number that a column equals; without bytes if other numbers pass
 * as well: a cast may have rounded them.
 */
static DpermText
equal_text(const Subject *subject, Node *column, double x)
{
	Oid			type = getBaseType(exprType(column));
	DpermText	text = {0};

	if (subject->kind != DPERM_BLOCK_NUMBER ||
		(fabs(x) >= EXACT_MAX && (subject->discrete || subject->base == NUMERICOID)) ||
		(!subject->discrete && type != subject->base && type != FLOAT8OID))
		return text;
	/* a numeric of more digits is rounded here */
	if (subject->base == NUMERICOID && strtod(psprintf("%.15g", x), NULL) != x)
		return text;
	text.bytes = subject->discrete ? psprintf("%.0f", x) : double_to_shortest_decimal(x);
	text.len = (int) strlen(text.bytes);
	return text;
}

/* column <op> x; for integers, a strict bound moves in by one. */
static DpermInterval
interval_of(bool discrete, int strategy, double x)
{
	DpermInterval interval = UNBOUNDED;

	if (strategy >= BTEqualStrategyNumber && strategy <= BTGreaterStrategyNumber)
		interval.low = !discrete ? x :
			strategy == BTGreaterStrategyNumber ? floor(x) + 1 : ceil(x);
	if (strategy >= BTLessStrategyNumber && strategy <= BTEqualStrategyNumber)
		interval.high = !discrete ? x :
			strategy == BTLessStrategyNumber ? ceil(x) - 1 : floor(x);
	return interval;
}

/*
 * The text of a value that can be compared with a category column; without bytes
 * for any other.
 */
static DpermText
category_text(const Subject *subject, Oid type, Datum value)
{
	DpermText	text = {0};

	if (type == subject->base || dperm_domain_types_is_text(type))
		text = dperm_domain_types_text(type, value);
	text.len = dperm_category_length(subject->base == BPCHAROID, text.bytes, text.len);
	return text;
}

/* column <op> value of a constant */
static DpermSaid
compare(const Subject *subject, Node *column, int strategy, Oid type, Datum value)
{
	DpermSaid	said = all_values();
	DpermText	text = {0};
	double		x;

	if (subject->kind == DPERM_BLOCK_CATEGORY)
		text = category_text(subject, type, value);
	else if (dperm_domain_types_number(type, value, &x) && !isnan(x))
	{
		said.values = interval_of(subject->discrete, strategy, x);
		text = equal_text(subject, column, x);
	}
	if (strategy == BTEqualStrategyNumber && text.bytes)
	{
		said.listed = true;
		said.count = 1;
		said.texts = palloc(sizeof(DpermText));
		said.texts[0] = text;
	}
	return said;
}

/* A comparison of the subject with a constant. */
static DpermSaid
compare_node(const Subject *subject, Node *column, int strategy, Node *node)
{
	Const	   *constant = constant_of(node);

	return constant ? compare(subject, column, strategy, constant->consttype,
							  constant->constvalue) : all_values();
}

/* A comparison, in either direction; of a vector, that of its dimension. */
static DpermSaid
read_comparison(const Subject *subject, OpExpr *op)
{
	DpermSaid	said = all_values();
	bool		vector = subject->kind == DPERM_BLOCK_VECTOR;
	const Subject *compared = vector ? &length_subject : subject;
	Node	   *left = linitial(op->args);
	Node	   *right = llast(op->args);
	int			strategy = strategy_of(op->opno, left);

	if (list_length(op->args) != 2 || strategy == 0)
		return said;
	if (is_subject(subject, left))
		said = compare_node(compared, left, strategy, right);
	else if (is_subject(subject, right))
		said = compare_node(compared, right, BTMaxStrategyNumber + 1 - strategy, left);
	return vector ? (DpermSaid) {.values = UNBOUNDED, .dimension = said.values} : said;
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
	DpermSaid	said = all_values();
	int16		len;
	bool		byval;
	char		align;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	if (!OidIsValid(type) || strategy_of(op->opno, column) != BTEqualStrategyNumber)
		return said;
	get_typlenbyvalalign(type, &len, &byval, &align);
	deconstruct_array(DatumGetArrayTypeP(array->constvalue), type, len, byval, align,
					  &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		DpermSaid	one = nulls[i] ? all_values() :
			compare(subject, column, BTEqualStrategyNumber, type, values[i]);

		said = i == 0 ? one : either(said, one);
	}
	return said;
}

/* constant <op> ALL (column): a bound of every element. */
static DpermSaid
read_all(const Subject *subject, ScalarArrayOpExpr *op)
{
	int			strategy = strategy_of(op->opno, linitial(op->args));

	return strategy && is_column(subject, lsecond(op->args)) ?
		compare_node(subject, lsecond(op->args), BTMaxStrategyNumber + 1 - strategy,
					 linitial(op->args)) : all_values();
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
	bool		vector = subject->kind == DPERM_BLOCK_VECTOR;

	check_stack_depth();
	if (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop != NOT_EXPR)
		return read_junction(subject, (BoolExpr *) node);
	if (IsA(node, OpExpr))
		return read_comparison(subject, (OpExpr *) node);
	if (IsA(node, ScalarArrayOpExpr) && ((ScalarArrayOpExpr *) node)->useOr != vector)
		return vector ? read_all(subject, (ScalarArrayOpExpr *) node) :
			read_any(subject, (ScalarArrayOpExpr *) node);
	return all_values();
}

/*
 * The CHECK constraints of a relation or of a domain type, which has this name, by
 * their own names.
 */
static List *
checks_of(List **cache, Oid relation, Oid type, const char *domain)
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
		check->origin = domain ? psprintf("CHECK of domain \"%s\"", domain) :
			psprintf("CHECK constraint \"%s\"", NameStr(form->conname));
		check->tree = stringToNode(TextDatumGetCString(tree));
		owner->checks = lappend(owner->checks, check);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	*cache = lappend(*cache, owner);
	return owner->checks;
}

/* Are two intervals the same? */
static bool
is_same(DpermInterval a, DpermInterval b)
{
	return a.low == b.low && a.high == b.high;
}

/* Does the second one restrict more than the first? */
static bool
is_narrower(const DpermSaid *before, const DpermSaid *after)
{
	return !is_same(after->values, before->values) ||
		!is_same(after->dimension, before->dimension) ||
		after->listed != before->listed || after->count != before->count;
}

/*
 * Add what constraints say. The origin gets those that are a new restriction; all
 * of a domain have one name. behind is the table that a view shows, or NULL.
 */
static void
add_checks(DpermSaid *said, const Subject *subject, List *checks, const char *behind)
{
	ListCell   *cell;

	foreach(cell, checks)
	{
		Check	   *check = lfirst(cell);
		DpermSaid	before = *said;
		char	   *origin = check->origin;

		*said = both(before, read_condition(subject, check->tree));
		said->origin = before.origin;
		if (!is_narrower(&before, said))
			continue;
		if (behind)
			origin = psprintf("%s of \"%s\"", origin, behind);
		if (said->origin == NULL)
			said->origin = origin;
		else if (strstr(said->origin, origin) == NULL)
			said->origin = psprintf("%s, %s", said->origin, origin);
	}
}

/*
 * Add what the constraints of a type say, and those of the domains it is based
 * on.
 */
static void
add_type(DpermSaid *said, List **cache, Subject subject, Oid type)
{
	subject.number = 0;
	while (get_typtype(type) == TYPTYPE_DOMAIN)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
		Form_pg_type form;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", type);
		form = (Form_pg_type) GETSTRUCT(tuple);
		add_checks(said, &subject,
				   checks_of(cache, InvalidOid, type, NameStr(form->typname)), NULL);
		type = form->typbasetype;
		ReleaseSysCache(tuple);
	}
}

/* What they say about a column. */
DpermSaid
dperm_domain_checks_read(List **cache, Oid relation, const DpermColumn *column)
{
	DpermSaid	said = all_values();
	Oid			base = column->base;
	Subject		subject = {
		.kind = column->block.kind,
		.base = base,
		.number = column->home,
		.discrete = base == INT2OID || base == INT4OID || base == INT8OID || base == DATEOID
	};

	add_checks(&said, &subject, checks_of(cache, column->relation, InvalidOid, NULL),
			   column->relation == relation ? NULL : get_rel_name(column->relation));
	add_type(&said, cache, subject, column->type);
	return said;
}

/* The dimension that they declare, or 0. */
int
dperm_domain_checks_dimension(Oid type)
{
	Subject		subject = {.kind = DPERM_BLOCK_VECTOR, .base = getBaseType(type)};
	DpermSaid	said = all_values();
	double		low;
	List	   *cache = NIL;

	add_type(&said, &cache, subject, type);
	low = said.dimension.low;
	return low == said.dimension.high && low >= 1 && low <= DPERM_DIM_MAX ? (int) low : 0;
}
