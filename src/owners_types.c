/*
 * owners_types.c: the functions behind types and operators that PostgreSQL may call for a query.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/indexing.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "owners.h"
#include "owners_walk.h"
#include "reach.h"

/* The functions behind an operator. The planner may put its negator or its commutator in its place. */
void
dperm_owners_types_operator(Oid operator, DpermOwners *owners)
{
	if (!OidIsValid(operator) || !dperm_owners_is_new(owners, OperatorRelationId, operator))
		return;
	if (OidIsValid(get_opcode(operator)))
		(void) dperm_owners_function(get_opcode(operator), owners);
	if (operator < FirstNormalObjectId)
		return;
	dperm_owners_types_operator(get_negator(operator), owners);
	dperm_owners_types_operator(get_commutator(operator), owners);
}

/* What a range type is made with, if it is a function. */
static void
check_range(Oid class, Oid object, void *owners)
{
	if (class == ProcedureRelationId)
		(void) dperm_owners_function(object, owners);
}

/* The functions in the constraints of a domain. */
static void
check_constraints(Oid type, DpermOwners *owners)
{
	Relation	catalog = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(type));
	scan = systable_beginscan(catalog, ConstraintTypidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(catalog), &isnull);

		dperm_owners_text(value, isnull, owners);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* Is a type somebody else's? */
static bool
is_strange(Oid type, const DpermOwners *owners)
{
	HeapTuple	tuple;
	Oid			owner;

	if (type < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	owner = ((Form_pg_type) GETSTRUCT(tuple))->typowner;
	ReleaseSysCache(tuple);
	return owner != owners->owner && !superuser_arg(owner);
}

/* Raise for a type of somebody else, who can give it constraints and casts at any moment. */
static void
check_type_owner(Oid type, DpermOwners *owners)
{
	if (is_strange(type, owners))
		ereport(owners->level,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("type %s does not belong to the owner of protected relation \"%s\"", format_type_be(type),
						get_rel_name(owners->relation)),
				 errhint("Its owner could have functions run with the rights of the relation's owner. The owner of the relation, or a superuser, has to own the type.")));
}

/* The functions of casts from and to a type. Some functions of PostgreSQL look for one when they are called: those that make text or JSON of anything. */
static void
check_casts(Oid type, DpermOwners *owners)
{
	Relation	catalog = table_open(CastRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_cast form = (Form_pg_cast) GETSTRUCT(tuple);

		/* whoever owns one of the types can make a cast; values of a stranger's type are refused anyway */
		if ((form->castsource == type || form->casttarget == type) && OidIsValid(form->castfunc) &&
			!is_strange(form->castsource, owners) && !is_strange(form->casttarget, owners))
			(void) dperm_owners_function(form->castfunc, owners);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* Raise for a type whose values stand for an object of the catalog, which can change at any moment: what is written, and read, is a name. */
static void
refuse_names(Oid type, DpermOwners *owners)
{
	if (dperm_owners_builtin_names_object(type))
		ereport(owners->level,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("values of type %s behind protected relation \"%s\" depend on what the catalog has under a name", format_type_be(type), get_rel_name(owners->relation)),
				 errhint("What is computed of a row may depend on that row alone. A constant can be compared with an oid: tableoid = 'part'::regclass.")));
}

/* The types of the columns of a composite type. */
static void
check_column_list(Oid relation, DpermOwners *owners)
{
	Relation	composite = relation_open(relation, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(composite);

	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			dperm_owners_types_check(TupleDescAttr(desc, i)->atttypid, owners);
	relation_close(composite, NoLock);
}

/* The base type and the constraints of a domain. */
static void
check_domain(Oid type, DpermOwners *owners)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid			base;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	base = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
	ReleaseSysCache(tuple);
	check_constraints(type, owners);
	dperm_owners_types_check(base, owners);
}

/*
 * The functions that values of a type are made with, beyond those of the type itself: casts, and constraints of domains, also within arrays, records and
 * ranges, whose input is a function of PostgreSQL that calls the others. How values are compared, operator classes tell, which only superusers make, as they do types with functions in C.
 */
void
dperm_owners_types_check(Oid type, DpermOwners *owners)
{
	if (!OidIsValid(type) || !dperm_owners_is_new(owners, TypeRelationId, type))
		return;
	refuse_names(type, owners);
	dperm_owners_types_check(get_element_type(type), owners);
	dperm_owners_types_check(get_range_subtype(type), owners);
	dperm_owners_types_check(get_multirange_range(type), owners);
	if (type < FirstNormalObjectId)
		return;
	check_type_owner(type, owners);
	check_casts(type, owners);
	if (get_typtype(type) == TYPTYPE_RANGE)
		dperm_reach_dependencies(TypeRelationId, type, check_range, owners);
	else if (get_typtype(type) == TYPTYPE_DOMAIN)
		check_domain(type, owners);
	else if (get_typtype(type) == TYPTYPE_COMPOSITE)
		check_column_list(get_typ_typrelid(type), owners);
}
