/*
 * domain_checks.c: derive bounds and lists from CHECK constraints.
 *
 * Constraints are read as expression trees and never executed. A tree is
 * understood if it compares the column with constants by operators of a default
 * btree family, through casts that preserve the order; otherwise it is ignored.
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
#include "catalog/indexing.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "column/domain_checks.h"
#include "column/domain_terms.h"
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

static DpermSaid read_condition(const DpermSubject *subject, Node *node);

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
equal_text(const DpermSubject *subject, Node *column, double x)
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
compare(const DpermSubject *subject, Node *column, int strategy, Node *constant)
{
	char	   *text;
	DpermSaid	said = all_values();
	double		x;

	if (subject->kind == DPERM_BLOCK_CATEGORY || subject->kind == DPERM_BLOCK_FLAG)
	{
		text =
			strategy == BTEqualStrategyNumber ? dperm_domain_terms_text(subject, constant) : NULL;
		if (text)
			list_text(&said, text);
		return said;
	}
	if (!dperm_domain_terms_number(constant, &x))
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
read_comparison(const DpermSubject *subject, OpExpr *op)
{
	Node	   *left,
			   *right;
	bool		flipped;
	int			strategy;

	if (list_length(op->args) != 2)
		return all_values();
	left = linitial(op->args);
	right = lsecond(op->args);
	flipped = !dperm_domain_terms_is_subject(subject, left);
	if (flipped && !dperm_domain_terms_is_subject(subject, right))
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
read_any(const DpermSubject *subject, ScalarArrayOpExpr *op)
{
	List	   *elements;
	ListCell   *cell;
	DpermSaid	said = all_values();

	if (!op->useOr || !dperm_domain_terms_is_subject(subject, linitial(op->args)) ||
		strategy_of(op->opno, linitial(op->args)) != BTEqualStrategyNumber)
		return said;
	elements = dperm_domain_terms_elements(lsecond(op->args));
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
read_all(const DpermSubject *subject, ScalarArrayOpExpr *op)
{
	int			strategy;

	if (op->useOr || !dperm_domain_terms_is_column(subject, lsecond(op->args)))
		return all_values();
	strategy = strategy_of(op->opno, linitial(op->args));
	return strategy == 0 ? all_values() :
		compare(subject, lsecond(op->args), BTMaxStrategyNumber + 1 - strategy,
				linitial(op->args));
}

/* The text of a boolean column, if a condition is the column itself. */
static DpermSaid
say_flag(const DpermSubject *subject, Node *node, char *text)
{
	DpermSaid	said = all_values();

	if (subject->kind == DPERM_BLOCK_FLAG && dperm_domain_terms_is_column(subject, node))
		list_text(&said, text);
	return said;
}

/*
 * AND and OR. NULL passes a CHECK anyway, so that "OR column IS NULL" adds
 * nothing.
 */
static DpermSaid
read_junction(const DpermSubject *subject, BoolExpr *junction)
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
			dperm_domain_terms_is_column(subject, (Node *) ((NullTest *) arg)->arg))
			continue;
		one = read_condition(subject, arg);
		said = first ? one : junction->boolop == AND_EXPR ? both(said, one) : either(said, one);
		first = false;
	}
	return said;
}

/* What a condition says about the column. */
static DpermSaid
read_condition(const DpermSubject *subject, Node *node)
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
add_check(DpermSaid *said, const DpermSubject *subject, const Check *check)
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
static DpermSubject
make_subject(DpermBlockKind kind, Oid base, AttrNumber number)
{
	DpermSubject subject = {
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
add_type(DpermSaid *said, List **cache, const DpermSubject *subject, Oid type)
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
read_constraints(List **cache, Oid relation, const DpermColumn *column, DpermSubject subject,
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
	DpermSubject subject = make_subject(DPERM_BLOCK_NUMBER, column->base, column->home);

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
	DpermSubject subject = make_subject(DPERM_BLOCK_VECTOR, getBaseType(type), 0);
	DpermSaid	said = all_values();
	List	   *cache = NIL;

	add_type(&said, &cache, &subject, type);
	return said.low == said.high && said.low >= 1 && said.low <= DPERM_DIM_MAX ? (int) said.low : 0;
}
