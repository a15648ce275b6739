/*
 * protect.c: how budgets and protected relations are administered. The work is
 * done in SQL (sql/parts/82_internal_protection.sql, 83_internal_administration.sql);
 * here is what that needs in C. And dp_budget_charge; and dp_domains, the domains of
 * the columns of a relation, protected or not. Trusted.
 *
 * A function with the rights of its owner cannot know who calls it. So whoever
 * calls dp_grant calls dperm_administer(), which passes the current user on to
 * dperm.dp_grant.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "base/base.h"
#include "base/compat.h"
#include "budget/budget.h"
#include "column/column.h"
#include "core/mechanism/charge.h"
#include "entry/entry.h"
#include "query/source.h"
#include "relation/relation.h"
#include "train/call_charge.h"
#include "core/base/core.h"

PG_FUNCTION_INFO_V1(dperm_administer);
PG_FUNCTION_INFO_V1(dperm_budget_order);
PG_FUNCTION_INFO_V1(dperm_budget_left);
PG_FUNCTION_INFO_V1(dperm_row_sources);
PG_FUNCTION_INFO_V1(dp_protect);
PG_FUNCTION_INFO_V1(dp_unprotect);
PG_FUNCTION_INFO_V1(dp_domains);

/* Bytes of a list of columns in a message. */
#define COLUMNS_SHOWN 1000

/* -------------------------------------------------------------- budgets */

/*
 * Call a function of schema dperm by its name, as the owner of the extension. Its
 * first argument is added here: the current user, who may be nobody else's
 * deputy. A missing one of the others is NULL. An error has no context, since
 * whoever calls knows nothing of the function.
 */
static NullableDatum
call_as_owner(const char *function, int count, const NullableDatum *arguments)
{
	/* the second hides shards in pg_class */
	static const char *const off[] = {"quote_all_identifiers", "citus.override_table_visibility"};
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	MemoryContext context = CurrentMemoryContext;
	Oid			owner = dperm_relation_owner(dperm_own_rows_table("budgets"));
	FmgrInfo	found;
	Oid			any_types = InvalidOid;	/* names are unique in the schema */
	Oid			user;
	int			security;
	Datum		result = 0;
	int			settings;

	dperm_location_check_coordinator();
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("budgets and protected relations cannot be changed in isolation level %s",
						XactIsoLevel == XACT_SERIALIZABLE ? "SERIALIZABLE" : "REPEATABLE READ"),
				 errdetail("Its snapshot does not see what others have changed since."),
				 errhint("Use READ COMMITTED.")));
	fmgr_info(LookupFuncName(list_make2(makeString("dperm"), makeString(pstrdup(function))),
							 -1, &any_types, false), &found);
	GetUserIdAndSecContext(&user, &security);
	dperm_budget_check_role(user);
	InitFunctionCallInfoData(*inner, &found, count + 1, InvalidOid, NULL, NULL);
	inner->args[0] = (NullableDatum) {ObjectIdGetDatum(user), false};
	memcpy(inner->args + 1, arguments, sizeof(NullableDatum) * count);
	SetUserIdAndSecContext(owner, security | SECURITY_LOCAL_USERID_CHANGE);
	settings = NewGUCNestLevel();
	for (int i = 0; i < lengthof(off); i++)
		if (GetConfigOption(off[i], true, false))
			(void) set_config_option(off[i], "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
									 true, 0, false);
	PG_TRY();
	{
		result = FunctionCallInvoke(inner);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		error->context = NULL;	/* but for that of who calls us */
		ThrowErrorData(error);
	}
	PG_END_TRY();
	AtEOXact_GUC(true, settings);
	SetUserIdAndSecContext(user, security);
	return (NullableDatum) {result, inner->isnull};
}

/* dp_budget_create and its like: dperm.<name>(caller, arguments...) */
Datum
dperm_administer(PG_FUNCTION_ARGS)
{
	NullableDatum result =
		call_as_owner(get_func_name(fcinfo->flinfo->fn_oid), PG_NARGS(), fcinfo->args);

	fcinfo->isnull = result.isnull;
	return result.value;
}

/* A numeric argument as an amount; false if it is not one. */
static bool
amount_argument(FunctionCallInfo fcinfo, int i, DpermAmount *amount)
{
	return dperm_amount_read(DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(i))),
							 amount);
}

/* dperm_budget_order(epsilon, delta) */
Datum
dperm_budget_order(PG_FUNCTION_ARGS)
{
	DpermAmount epsilon,
				delta;

	if (!amount_argument(fcinfo, 0, &epsilon) || !amount_argument(fcinfo, 1, &delta))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(dperm_filter_order(dperm_amount_double(epsilon), dperm_amount_double(delta)));
}

/*
 * dperm_budget_left(epsilon, delta, renyi_order, spent_epsilon, spent_delta,
 * spent_divergence, spent_direct, spent_tail, is_delta)
 */
Datum
dperm_budget_left(PG_FUNCTION_ARGS)
{
	DpermFilter filter = {.order = PG_GETARG_FLOAT8(2)};
	DpermFilterSums spent;
	DpermAmount *const amounts[] = {&filter.epsilon, &filter.delta, NULL, &spent.epsilon,
		&spent.delta, &spent.divergence, &spent.direct, &spent.tail};

	for (int i = 0; i < lengthof(amounts); i++)
		if (amounts[i] ? !amount_argument(fcinfo, i, amounts[i]) : !isfinite(filter.order))
			PG_RETURN_NULL();
	PG_RETURN_DATUM(dperm_own_rows_numeric(PG_GETARG_BOOL(8) ?
		dperm_filter_delta_left(&filter, &spent, DPERM_EPSILON_MIN) :
		dperm_filter_left(&filter, &spent)));
}

/* dperm_row_sources(relation): the relations that share rows with it */
Datum
dperm_row_sources(PG_FUNCTION_ARGS)
{
	List	   *relations = dperm_relation_sources(PG_GETARG_OID(0));
	Datum	   *values = palloc(sizeof(Datum) * list_length(relations));

	for (int i = 0; i < list_length(relations); i++)
		values[i] = ObjectIdGetDatum(list_nth_oid(relations, i));
	PG_RETURN_ARRAYTYPE_P(construct_array(values, list_length(relations), OIDOID, sizeof(Oid),
										  true, TYPALIGN_INT));
}

/*
 * dp_budget_charge(budget, epsilon, delta, purpose): for a release that dperm
 * does not make, so there is nothing to run.
 */
void
dperm_entry_open_charge(DpermCall *call)
{
	FunctionCallInfo fcinfo = call->fcinfo;
	Datum		value;

	call->charge = (DpermCharge) {
		.budget = dperm_budget_get(
			dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED)),
		.role = GetUserId(),
		.function = call->function->name,
		.asked = {.purpose = dperm_call_charge_purpose(fcinfo)}
	};
	call->charge.spend.epsilon = DatumGetFloat8(
		dperm_arguments_required(fcinfo, "epsilon", FLOAT8OID,
								 "It is the epsilon of a release that was made elsewhere."));
	if (dperm_arguments_get(fcinfo, "delta", FLOAT8OID, &value))
		call->charge.spend.delta = DatumGetFloat8(value);
	if (!dperm_budget_permits(call->charge.budget, InvalidOid, GetUserId()))
		dperm_budget_raise_denied(call->charge.budget);
}

/* ------------------------------------------------------------ relations */

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
	dperm_protection_lock(relation, ExclusiveLock, false);
	return relation;
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
	dperm_protection_lock(table, ShareLock, false);
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
	dperm_view_check_table(table);
	dperm_protection_check_family(table, dperm_relation_family(table));
	if (dperm_location_protected_on_citus(table))
		dperm_location_connect(dperm_relation_owner(table));
}

/*
 * Check domains, and write them as they are registered: vectors with their dimension, and
 * times as they are now, whatever the DateStyle, the TimeZone and the day when they are
 * read.
 */
static Datum
settle_domains(Oid relation, Jsonb *given)
{
	int			count;
	DpermColumn *columns = dperm_domains_read(relation, NULL, &count);
	StringInfoData text;

	/* nothing is said without a range: what is registered now may have another one */
	for (int i = 0; i < count; i++)
	{
		DpermBlock *block = &columns[i].block;

		if (dperm_block_is_number(block))
			columns[i].from = DPERM_DOMAIN_UNKNOWN;
		else if (block->kind == DPERM_BLOCK_BOX)
			*block = (DpermBlock) {
				.kind = DPERM_BLOCK_VECTOR, .column = block->column, .count = block->count
			};
	}
	dperm_domains_give(relation, columns, count, given, true);
	initStringInfo(&text);
	for (int i = 0; i < count; i++)
		if (columns[i].from == DPERM_DOMAIN_GIVEN &&
			(columns[i].knotted || dperm_block_is_number(&columns[i].block) ||
			 columns[i].block.kind == DPERM_BLOCK_VECTOR || columns[i].base == TIMETZOID))
		{
			appendStringInfoChar(&text, text.len == 0 ? '{' : ',');
			escape_json(&text, columns[i].name);
			appendStringInfoChar(&text, ':');
			dperm_domain_json_print(&text, &columns[i]);
		}
	appendStringInfoString(&text, text.len == 0 ? "{}" : "}");
	return DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(given),
							   DirectFunctionCall1(jsonb_in, CStringGetDatum(text.data)));
}

/*
 * Check the unit and the columns that are open to training, now that they are
 * registered, and tell which of them have no domain.
 */
static void
tell_columns(Oid relation)
{
	DpermRegistration *registration = dperm_protection_find(relation);
	DpermColumn *columns;
	StringInfoData names;
	Oid			type,
				collation;
	int			count;

	dperm_protection_resolve(registration);
	if (registration->persons)
		dperm_persons_column(registration->table->relation, registration->unit, &type,
							 &collation);
	columns = dperm_protection_columns(registration, NULL, NULL, &count);
	initStringInfo(&names);
	for (int i = 0; i < count; i++)
		if (dperm_protection_lists(registration, &columns[i]) &&
			columns[i].from != DPERM_DOMAIN_UNUSABLE && !dperm_column_known(&columns[i]))
		{
			if (columns[i].from == DPERM_DOMAIN_MISFIT)
				dperm_protection_check_column(registration, &columns[i]);	/* an error */
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
	NullableDatum arguments[6];	/* one more: the table of a view */
	Oid			relation = own_relation(fcinfo, "Call dp_protect('table', budget => 'name').");
	DpermRegistration *before = dperm_protection_find(relation);
	Jsonb	   *domains = dperm_arguments_jsonb(fcinfo, "domains");
	bool		is_view = get_rel_relkind(relation) == RELKIND_VIEW;

	memcpy(arguments, fcinfo->args, sizeof(NullableDatum) * PG_NARGS());
	arguments[0].value = ObjectIdGetDatum(relation);
	arguments[5] = (NullableDatum) {0, !is_view};
	if (before && !before->ended && before->bound && before->budget)
	{
		if (before->renamed)
			dperm_protection_check_usable(before);	/* an error: which columns are registered? */
		if (is_view && before->view_of == NULL)
			dperm_protection_resolve(before);	/* it has become a view, which is an error */
	}
	if (is_view)
	{
		Oid			table = dperm_view_read(relation)->table;

		lock_table(relation, table);
		arguments[5].value = ObjectIdGetDatum(table);
	}
	else
		check_table(relation);
	if (domains)
		arguments[4].value = settle_domains(relation, domains);
	(void) call_as_owner("dperm_protect", lengthof(arguments), arguments);
	tell_columns(relation);
	if (!is_view)
		dperm_location_warn(relation);
	PG_RETURN_VOID();
}

/* dp_unprotect(relation) */
Datum
dp_unprotect(PG_FUNCTION_ARGS)
{
	NullableDatum relation = {
		ObjectIdGetDatum(own_relation(fcinfo, "Call dp_unprotect('table').")), false
	};

	(void) call_as_owner("dperm_unprotect", 1, &relation);
	PG_RETURN_VOID();
}

/*
 * The registration of a relation, if the caller may train on it: then
 * dp_protected shows it.
 */
static const DpermRegistration *
usable_registration(Oid relation)
{
	DpermRegistration *registration = dperm_protection_find(relation);

	if (registration == NULL || !dperm_protection_holds(registration) ||
		!dperm_budget_permits(registration->budget, relation, GetUserId()))
		return NULL;
	dperm_protection_resolve(registration);
	return registration;
}

/* What was written as JSON, or NULL for nothing. */
static NullableDatum
json_datum(const StringInfoData *json)
{
	return json->len == 0 ? (NullableDatum) {0, true} :
		(NullableDatum) {DirectFunctionCall1(jsonb_in, CStringGetDatum(json->data)), false};
}

/* A row of the result. */
static void
put_domain(Tuplestorestate *store, TupleDesc desc, const DpermColumn *column)
{
	bool		known = dperm_column_known(column);
	StringInfoData domain;
	StringInfoData template;

	initStringInfo(&domain);
	initStringInfo(&template);
	if (known)
		dperm_domain_json_print(&domain, column);
	else
		dperm_domain_json_template(&template, column);
	dperm_host_put_row(store, desc, (NullableDatum[]) {
		{DirectFunctionCall1(namein, CStringGetDatum(column->name))},
		{ObjectIdGetDatum(column->type)},
		json_datum(&domain),
		dperm_host_text(known ? column->origin : column->lack),
		json_datum(&template)
	});
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
	Tuplestorestate *store = dperm_host_result_set(fcinfo, &desc);
	ResourceOwner look = dperm_call_look();
	Oid			relation = dperm_source_find(name);
	const DpermRegistration *registration = usable_registration(relation);
	DpermBlockKind kind;
	int			count;
	DpermColumn *columns = registration ?
		dperm_protection_columns(registration, NULL, NULL, &count) :
		dperm_domains_read(relation, NULL, &count);

	for (int i = 0; i < count; i++)
		if (dperm_column_kind(columns[i].base, &kind) &&
			(registration == NULL || dperm_protection_lists(registration, &columns[i])))
			put_domain(store, desc, &columns[i]);
	dperm_call_look_away(look, false);
	return (Datum) 0;
}
