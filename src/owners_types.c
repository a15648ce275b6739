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
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "inlined.h"
#include "owners.h"
#include "owners_walk.h"
#include "reach.h"

/* An operator that PostgreSQL itself calls, be it as a member of a family or in place of another one. */
static void
check_member_operator(Oid operator, DpermOwners *owners)
{
	if (OidIsValid(operator) && OidIsValid(get_opcode(operator)))
		(void) dperm_owners_support(get_opcode(operator), owners);
	dperm_owners_types_operator(operator, owners);
}

/* The functions of an operator family: how values are compared and hashed, wherever PostgreSQL does so. */
void
dperm_owners_types_family(Oid family, DpermOwners *owners)
{
	bool		before = owners->aside;
	CatCList   *functions;
	CatCList   *operators;

	if (family < FirstNormalObjectId || !dperm_owners_is_new(owners, OperatorFamilyRelationId, family))
		return;
	owners->aside = true;
	functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
	for (int i = 0; i < functions->n_members; i++)
		(void) dperm_owners_support(((Form_pg_amproc) GETSTRUCT(&functions->members[i]->tuple))->amproc, owners);
	ReleaseSysCacheList(functions);
	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	for (int i = 0; i < operators->n_members; i++)
		check_member_operator(((Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple))->amopopr, owners);
	ReleaseSysCacheList(operators);
	owners->aside = before;
}

/* The functions behind an operator. The planner may put its negator or its commutator in its place, and hash or compare by a family that it is in. */
void
dperm_owners_types_operator(Oid operator, DpermOwners *owners)
{
	HeapTuple	tuple;
	Form_pg_operator form;
	CatCList   *members;

	if (!OidIsValid(operator) || !dperm_owners_is_new(owners, OperatorRelationId, operator))
		return;
	members = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator));
	for (int i = 0; i < members->n_members; i++)
		dperm_owners_types_family(((Form_pg_amop) GETSTRUCT(&members->members[i]->tuple))->amopfamily, owners);
	ReleaseSysCacheList(members);
	if (operator < FirstNormalObjectId)
		return;
	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	{
		Oid			functions[] = {form->oprcode, form->oprrest, form->oprjoin};

		for (int i = 0; i < lengthof(functions); i++)
			if (OidIsValid(functions[i]))
				(void) dperm_owners_function(functions[i], owners);
	}

	/* if the body of this one is put in line, nothing is left to put another one in place of */
	if (dperm_inlined_is_sql(form->oprcode))
	{
		/* the planner calls one that has an estimator with values of the statistics, before there is a plan */
		if (OidIsValid(form->oprrest) || OidIsValid(form->oprjoin))
			(void) dperm_owners_support(form->oprcode, owners);
		dperm_owners_types_operator(form->oprnegate, owners);
		dperm_owners_types_operator(form->oprcom, owners);
	}
	else
	{
		check_member_operator(form->oprnegate, owners);
		check_member_operator(form->oprcom, owners);
	}
	ReleaseSysCache(tuple);
}

/* An object that another depends on. */
static void
check_dependency(Oid class, Oid object, void *owners)
{
	if (class == ProcedureRelationId)
		(void) dperm_owners_support(object, owners);
	else if (class == OperatorRelationId)
		dperm_owners_types_operator(object, owners);
	else if (class == TypeRelationId)
		dperm_owners_types_check(object, owners);
	else if (class == OperatorClassRelationId)
		dperm_owners_types_family(get_opclass_family(object), owners);
}

/* The functions that an object depends on, also those behind operators. */
static void
check_dependencies(Oid class, Oid object, DpermOwners *owners)
{
	dperm_reach_dependencies(class, object, check_dependency, owners);
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
		if (!isnull && !owners->planned)
			owners->unseen = lappend(owners->unseen, stringToNode(TextDatumGetCString(value)));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* How values of a type are compared and hashed by default. PostgreSQL does so in GREATEST, in arrays and in records, and keeps the functions for the session. */
static void
check_ordering(Oid type, DpermOwners *owners)
{
	Oid			methods[] = {BTREE_AM_OID, HASH_AM_OID};

	for (int i = 0; i < lengthof(methods); i++)
	{
		Oid			class = GetDefaultOpClass(type, methods[i]);

		if (OidIsValid(class))
			dperm_owners_types_family(get_opclass_family(class), owners);
	}
}

/* Look at all rows of a catalog that has no index by types. What is found so is only possibly called. */
static void
check_catalog(Oid catalog, void (*check) (HeapTuple tuple, Oid type, DpermOwners *owners), Oid type, DpermOwners *owners)
{
	Relation	relation = table_open(catalog, AccessShareLock);
	SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, NULL, 0, NULL);
	bool		before = owners->aside;
	HeapTuple	tuple;

	owners->aside = true;
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		check(tuple, type, owners);
	owners->aside = before;
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
}

/* A function in an operator family, if it is for a type. */
static void
check_support(HeapTuple tuple, Oid type, DpermOwners *owners)
{
	Form_pg_amproc form = (Form_pg_amproc) GETSTRUCT(tuple);

	if (form->amproclefttype == type || form->amprocrighttype == type)
		(void) dperm_owners_support(form->amproc, owners);
}

/* An operator in an operator family, if it is for a type. */
static void
check_member(HeapTuple tuple, Oid type, DpermOwners *owners)
{
	Form_pg_amop form = (Form_pg_amop) GETSTRUCT(tuple);

	if (form->amoplefttype == type || form->amoprighttype == type)
		check_member_operator(form->amopopr, owners);
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
		ereport(dperm_owners_level(owners),
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("type %s does not belong to the owner of protected relation \"%s\"", format_type_be(type),
						get_rel_name(owners->relation)),
				 errhint("Its owner could have functions run with the rights of the relation's owner. The owner of the relation, or a superuser, has to own the type.")));
}

/* A cast, if it is from or to a type. Some functions of PostgreSQL look for one when they are called: those that make text or JSON of anything. */
static void
check_cast(HeapTuple tuple, Oid type, DpermOwners *owners)
{
	Form_pg_cast form = (Form_pg_cast) GETSTRUCT(tuple);

	/* whoever owns one of the types can make a cast; values of a stranger's type are refused anyway */
	if ((form->castsource == type || form->casttarget == type) && OidIsValid(form->castfunc) &&
		!is_strange(form->castsource, owners) && !is_strange(form->casttarget, owners))
	{
		/* to JSON: all other casts are in the query, or become part of it */
		if (form->casttarget == JSONOID || form->casttarget == JSONBOID)
			(void) dperm_owners_support(form->castfunc, owners);
		else
			(void) dperm_owners_function(form->castfunc, owners);
	}
}

/* Raise for a type whose values PostgreSQL reads from text by way of the catalog, where no function shows it. */
void
dperm_owners_types_refuse_names(Oid type, Oid part, DpermOwners *owners)
{
	if (!owners->planned && OidIsValid(part) && dperm_owners_builtin_names_object(part))
		ereport(dperm_owners_level(owners),
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("values of type %s behind protected relation \"%s\" depend on what the catalog has under a name", format_type_be(type), get_rel_name(owners->relation)),
				 errhint("What is computed of a row may depend on that row alone.")));
}

/* The types of the columns of a composite type. */
static void
check_column_list(Oid relation, DpermOwners *owners)
{
	Relation	composite = relation_open(relation, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(composite);

	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
		{
			dperm_owners_types_refuse_names(desc->tdtypeid, TupleDescAttr(desc, i)->atttypid, owners);
			dperm_owners_types_check(TupleDescAttr(desc, i)->atttypid, owners);
		}
	relation_close(composite, NoLock);
}

/*
 * The functions that values of a type are made and compared with, beyond those of the type itself: casts, operator families, and constraints of domains, also within arrays, records and
 * ranges, whose input is a function of PostgreSQL that calls the others.
 */
void
dperm_owners_types_check(Oid type, DpermOwners *owners)
{
	Oid			parts[] = {get_element_type(type), get_range_subtype(type), get_multirange_range(type)};

	if (!OidIsValid(type) || !dperm_owners_is_new(owners, TypeRelationId, type))
		return;
	check_ordering(type, owners);
	if (type >= FirstNormalObjectId)
	{
		check_type_owner(type, owners);
		check_dependencies(TypeRelationId, type, owners);
		check_catalog(CastRelationId, check_cast, type, owners);

		/* in any operator family, also in one of PostgreSQL */
		check_catalog(AccessMethodProcedureRelationId, check_support, type, owners);
		check_catalog(AccessMethodOperatorRelationId, check_member, type, owners);
	}
	for (int i = 0; i < lengthof(parts); i++)
	{
		dperm_owners_types_refuse_names(type, parts[i], owners);
		dperm_owners_types_check(parts[i], owners);
	}
	if (type < FirstNormalObjectId)
		return;
	if (get_typtype(type) == TYPTYPE_DOMAIN)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
		Oid			base;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", type);
		base = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
		ReleaseSysCache(tuple);
		check_constraints(type, owners);
		dperm_owners_types_refuse_names(type, base, owners);
		dperm_owners_types_check(base, owners);
	}
	else if (get_typtype(type) == TYPTYPE_COMPOSITE)
		check_column_list(get_typ_typrelid(type), owners);
}
