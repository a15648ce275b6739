/*
 * protect.c: dp_protect and dp_unprotect: what they need in C. The rest is in SQL
 * (sql/parts/82_internal_protection.sql). And dp_domains, the domains of the
 * columns of a relation, protected or not.
 */
#include "postgres.h"

#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "base/arguments.h"
#include "base/compat.h"
#include "base/message.h"
#include "base/result_set.h"
#include "budget/debit.h"
#include "column/domain_json.h"
#include "column/domain_types.h"
#include "column/domains.h"
#include "entry/administer.h"
#include "protect/locks.h"
#include "protect/protection.h"
#include "query/persons.h"
#include "query/source.h"
#include "relation/relation.h"

PG_FUNCTION_INFO_V1(dp_protect);
PG_FUNCTION_INFO_V1(dp_unprotect);
PG_FUNCTION_INFO_V1(dp_domains);

/* Bytes of a list of columns in a message. */
#define COLUMNS_SHOWN 1000

/*
 * The relation argument, which must belong to the caller. It stays, and one at a
 * time changes its registration.
 */
static Oid
own_relation(FunctionCallInfo fcinfo, const char *hint)
{
	Oid			relation =
		dperm_source_find(dperm_arguments_required_text(fcinfo, "relation", hint));

	if (!object_ownercheck(RelationRelationId, relation, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relation)),
					   get_rel_name(relation));
	dperm_registry_lock(relation, ExclusiveLock, false);
	return relation;
}

/* What is registered of a relation by now, as far as a new registration keeps it. */
static DpermRegistration
former_registration(Oid relation)
{
	const DpermRegistration *found = dperm_registry_find(relation);

	if (found == NULL || found->ended || found->foreign || found->budget == NULL)
		return (DpermRegistration) {.relation = relation};
	if (found->mixed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("it is not known which columns of relation \"%s\" are registered",
						get_rel_name(relation)),
				 errdetail("One was renamed while no event trigger followed it."),
				 errhint("Call dp_unprotect, and then dp_protect with all arguments.")));
	return *found;
}

/* Lock the table of a view, which must have the same owner, and its registration. */
static void
lock_table(Oid view, Oid table)
{
	if (dperm_relation_owner(view) != dperm_relation_owner(table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("view \"%s\" and its table \"%s\" have different owners",
						get_rel_name(view), get_rel_name(table)),
				 errhint("The owner of the table offers views of it.")));
	LockRelationOid(table, AccessShareLock);
	dperm_registry_lock(table, ShareLock, false);
}

/* Raise an error for a table that cannot be protected. */
static void
check_table(Oid table)
{
	if (has_superclass(table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" is a part of another table", get_rel_name(table)),
				 errhint("Protect the root of its partitions or children, and offer a view of "
						 "that with a WHERE clause.")));
	dperm_protection_check_table(table);
	dperm_protection_check_family(table, dperm_row_sources_family(table));
	if (dperm_location_protected_on_citus(table))
		dperm_location_connect(dperm_relation_owner(table));
}

/* Raise an error for a column whose type cannot identify persons. */
static void
check_unit(Oid table, AttrNumber unit)
{
	Oid			type = get_atttype(table, unit);

	if (!dperm_persons_takes(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("unit cannot be of type %s", format_type_be(type)),
				 errhint("Use a column of an integer type, numeric, uuid, text, bytea, an enum, "
						 "date or timestamp.")));
}

/*
 * Check domains, and write them as they are registered: knots and scales with their
 * range, which might otherwise get lost, and times as they are now, whatever the
 * DateStyle, the TimeZone and the day when they are read.
 */
static Datum
settle_domains(const DpermRegistration *before, Jsonb *given)
{
	Datum		domains = JsonbPGetDatum(given);
	int			count;
	DpermColumn *columns = dperm_registered_columns_replace(before, given, &count);

	for (int i = 0; i < count; i++)
		if (dperm_column_given(&columns[i]) &&
			(columns[i].knotted || dperm_block_is_number(&columns[i].block) ||
			 columns[i].block.kind == DPERM_BLOCK_VECTOR || columns[i].base == TIMETZOID))
		{
			StringInfoData text;

			initStringInfo(&text);
			appendStringInfoChar(&text, '{');
			escape_json(&text, columns[i].name);
			appendStringInfoChar(&text, ':');
			dperm_domain_json_print(&text, &columns[i]);
			appendStringInfoChar(&text, '}');
			domains = DirectFunctionCall2(
				jsonb_concat, domains, DirectFunctionCall1(jsonb_in, CStringGetDatum(text.data)));
		}
	return domains;
}

/*
 * Check the unit and the columns that are open to training, now that they are
 * registered, and tell which of them have no domain.
 */
static void
tell_columns(Oid relation)
{
	DpermRegistration *registration = dperm_registry_find(relation);
	DpermColumn *columns;
	StringInfoData names;
	int			count;

	dperm_protection_resolve(registration);
	if (registration->persons)
		check_unit(dperm_protection_table(registration), registration->unit);
	columns = dperm_registered_columns_read(registration, NULL, NULL, &count);
	initStringInfo(&names);
	for (int i = 0; i < count; i++)
		if (dperm_protection_lists(registration, &columns[i]))
		{
			dperm_protection_check_fit(relation, &columns[i]);
			if (dperm_column_usable(&columns[i]) && !dperm_column_known(&columns[i]))
				appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", columns[i].name);
		}
	if (names.len > 0)
		ereport(NOTICE,
				(errmsg("columns without a domain: %s",
						dperm_message_clip(names.data, COLUMNS_SHOWN)),
				 errdetail("They cannot be features, and as labels they are not checked."),
				 errhint("Specify domains or omit these columns; dp_domains shows what to fill "
						 "in.")));
}

/* dp_protect(relation, budget, unit, columns, domains) */
Datum
dp_protect(PG_FUNCTION_ARGS)
{
	static const Oid types[] = {OIDOID, TEXTOID, TEXTOID, TEXTARRAYOID, JSONBOID, OIDOID};
	NullableDatum arguments[lengthof(types)];
	Oid			relation = own_relation(fcinfo, "Call dp_protect('table', budget => 'name').");
	DpermRegistration before = former_registration(relation);
	Jsonb	   *domains = dperm_arguments_jsonb(fcinfo, "domains");
	bool		is_view = get_rel_relkind(relation) == RELKIND_VIEW,
				isnull;

	memcpy(arguments, fcinfo->args, sizeof(NullableDatum) * PG_NARGS());
	arguments[0].value = ObjectIdGetDatum(relation);
	arguments[5] = (NullableDatum) {0, !is_view};
	if (is_view)
	{
		if (before.id && before.view_of == NULL)
			dperm_protection_resolve(&before);	/* it has become a view, which is an error */
		before.view = dperm_view_read(relation);
		lock_table(relation, before.view->table);
		before.table = dperm_registry_find(before.view->table);
		arguments[5].value = ObjectIdGetDatum(before.view->table);
	}
	else
		check_table(relation);
	if (domains && (!is_view || before.table))
		arguments[4].value = settle_domains(&before, domains);
	(void) dperm_administer_call("dperm_protect", lengthof(types), types, arguments, &isnull);
	tell_columns(relation);
	if (!is_view)
		dperm_location_warn(relation);
	PG_RETURN_VOID();
}

/* dp_unprotect(relation) */
Datum
dp_unprotect(PG_FUNCTION_ARGS)
{
	static const Oid types[] = {OIDOID};
	NullableDatum relation = {
		ObjectIdGetDatum(own_relation(fcinfo, "Call dp_unprotect('table').")), false
	};
	bool		isnull;

	(void) dperm_administer_call("dperm_unprotect", lengthof(types), types, &relation, &isnull);
	PG_RETURN_VOID();
}

/*
 * The registration of a relation, if the caller may train on it: then
 * dp_protected shows it.
 */
static const DpermRegistration *
usable_registration(Oid relation)
{
	DpermRegistration *registration = dperm_registry_find(relation);

	if (registration == NULL || registration->ended || registration->stale ||
		registration->mixed ||
		registration->budget == NULL ||
		!dperm_protection_is_owners(registration) ||
		!dperm_debit_permitted(registration->budget, relation, GetUserId()))
		return NULL;
	dperm_protection_resolve(registration);
	return registration;
}

/* A row of the result. */
static void
put_domain(Tuplestorestate *store, TupleDesc desc, const DpermColumn *column)
{
	bool		known = dperm_column_known(column);
	char	   *origin = known ? column->origin :
		column->from != DPERM_DOMAIN_MISFIT ? column->lack :
		psprintf("%s: %s", column->origin, column->lack);
	StringInfoData domain;
	StringInfoData template;
	Datum		values[5] = {DirectFunctionCall1(namein, CStringGetDatum(column->name)),
	ObjectIdGetDatum(column->type)};
	bool		nulls[5] = {false, false, !known, origin == NULL};

	initStringInfo(&domain);
	initStringInfo(&template);
	if (known)
	{
		dperm_domain_json_print(&domain, column);
		values[2] = DirectFunctionCall1(jsonb_in, CStringGetDatum(domain.data));
	}
	nulls[4] = !dperm_domain_json_template(&template, column);
	if (!nulls[4])
		values[4] = DirectFunctionCall1(jsonb_in, CStringGetDatum(template.data));
	if (origin)
		values[3] = CStringGetTextDatum(origin);
	tuplestore_putvalues(store, desc, values, nulls);
}

/*
 * dp_domains(relation): what is known about each column that can be a feature;
 * for a protected relation, about those that are open to training. It keeps no
 * lock, which might be in the way of an owner.
 */
Datum
dp_domains(PG_FUNCTION_ARGS)
{
	char	   *name = dperm_arguments_required_text(fcinfo, "relation",
													 "Call dp_domains('table').");
	TupleDesc	desc;
	Tuplestorestate *store = dperm_result_set_begin(fcinfo, &desc);
	ResourceOwner look = dperm_locks_look();
	Oid			relation = dperm_source_find(name);
	const DpermRegistration *registration = usable_registration(relation);
	DpermBlockKind kind;
	int			count;
	DpermColumn *columns = registration ?
		dperm_registered_columns_read(registration, NULL, NULL, &count) :
		dperm_domains_read(relation, NULL, &count);

	for (int i = 0; i < count; i++)
		if (dperm_domain_types_kind(columns[i].base, &kind) &&
			(registration == NULL || dperm_protection_lists(registration, &columns[i])))
			put_domain(store, desc, &columns[i]);
	dperm_locks_look_away(look, false);
	return (Datum) 0;
}
