/*
 * protect.c: dp_protect and dp_unprotect.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "base/arguments.h"
#include "base/compat.h"
#include "base/message.h"
#include "budget/debit.h"
#include "column/domain_print.h"
#include "column/domains.h"
#include "column/encode.h"
#include "protect/owner_notes.h"
#include "protect/protection.h"
#include "protect/registered_columns.h"
#include "query/persons.h"
#include "query/source.h"
#include "relation/cluster.h"
#include "relation/location.h"
#include "relation/relation.h"
#include "relation/row_sources.h"

PG_FUNCTION_INFO_V1(dp_protect);
PG_FUNCTION_INFO_V1(dp_unprotect);
PG_FUNCTION_INFO_V1(dperm_may_spend);

#define is_owner(relation, role) object_ownercheck(RelationRelationId, relation, role)

/* Maximum size of registered domains as text: they are in every dump. */
#define DOMAINS_TEXT (1024 * 1024)

/* Bytes of a list of columns in a message. */
#define COLUMNS_SHOWN 1000

#define REQUIRED_HINT "Call dp_protect('table', budget => 'name')."
#define OFFER_HINT "Protect its table first; then dp_protect('view') offers the view."

/*
 * Whatever goes wrong when relation is looked up, the hint is about this
 * argument.
 */
static void
relation_hint(void *arg)
{
	if (geterrcode() == ERRCODE_WRONG_OBJECT_TYPE)
		errhint("relation must be a table, a view, a materialized view or a foreign table.");
	else
		errhint("Write relation as in FROM: 'table', 'schema.table', or '\"Mixed Case\"' with "
				"double quotes.");
}

/* The relation argument, which must belong to the caller. */
static Oid
own_relation(FunctionCallInfo fcinfo)
{
	char	   *name = dperm_arguments_required_text(fcinfo, "relation", REQUIRED_HINT);
	ErrorContextCallback hint = {.previous = error_context_stack, .callback = relation_hint};
	Oid			relation;

	error_context_stack = &hint;
	relation = dperm_source_find(name);
	error_context_stack = hint.previous;
	if (!is_owner(relation, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of relation %s", get_rel_name(relation)),
				 errhint("Only the owner can protect a relation.")));
	if (relation < FirstNormalObjectId || get_rel_persistence(relation) == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot protect %s relation "
						"\"%s\"", relation < FirstNormalObjectId ? "system" : "temporary",
						get_rel_name(relation))));

	/* one registration at a time */
	LockRelationOid(relation, ShareUpdateExclusiveLock);
	return relation;
}

/* The names in columns; NULL if it is NULL. */
static char **
columns_argument(FunctionCallInfo fcinfo, int *count)
{
	Datum		value;

	if (dperm_arguments_get(fcinfo, "columns", TEXTARRAYOID, &value))
	{
		const ArrayType *array = DatumGetArrayTypeP(value);

		if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) > MaxHeapAttributeNumber)
			ereport(ERROR,
					(errcode(ERRCODE_TOO_MANY_COLUMNS),
					 errmsg("columns must name at most %d columns", MaxHeapAttributeNumber),
					 errhint("Omit it for all columns.")));
	}
	return dperm_arguments_names(fcinfo, "columns", count);
}

/*
 * Do domains have at most this many bytes as text? A number of a few bytes can
 * have thousands of digits, so lengths are added up before the text is built.
 */
static bool
domains_fit(Jsonb *domains, size_t limit)
{
	JsonbIterator *it = JsonbIteratorInit(&domains->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	size_t		size = 0;

	while (size <= limit && (token = JsonbIteratorNext(&it, &value, false)) != WJB_DONE)
	{
		if (token != WJB_KEY && token != WJB_VALUE && token != WJB_ELEM)
			continue;
		if (value.type == jbvNumeric)
		{
			char	   *number = DatumGetCString(
				DirectFunctionCall1(numeric_out, NumericGetDatum(value.val.numeric)));

			size += strlen(number);
			pfree(number);
		}
		else
			size += value.type == jbvString ? value.val.string.len : 1;
	}
	return size <= limit && strlen(JsonbToCString(NULL, &domains->root, VARSIZE(domains))) <= limit;
}

/* The domains of a relation; NULL if they are NULL. */
static Jsonb *
domains_argument(FunctionCallInfo fcinfo)
{
	Jsonb	   *domains = dperm_arguments_jsonb(fcinfo, "domains");

	if (domains && !domains_fit(domains, DOMAINS_TEXT))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("domains must have at most %d bytes as text", DOMAINS_TEXT),
				 errhint("Declare long lists of categories in the catalog, with an enum or a CHECK "
						 "constraint.")));
	return domains;
}

/* A column of an argument, by its exact name. */
static DpermRegisteredColumn *
column_named(const char *name, Oid relation, const DpermColumn *columns,
			 DpermRegisteredColumn *registered, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(columns[i].name, name) == 0)
			return &registered[i];
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not "
					"exist", name, get_rel_name(relation)),
			 errhint("Names are case-sensitive and are not quoted.")));
	return NULL;				/* keep compiler quiet */
}

/* Mark the columns that are listed. */
static void
list_columns(char **names, int listed, Oid relation, const DpermColumn *columns,
			 DpermRegisteredColumn *registered, int count)
{
	for (int i = 0; i < listed; i++)
	{
		DpermRegisteredColumn *column =
			column_named(names[i], relation, columns, registered, count);

		if (column->listed)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" appears twice in columns", names[i])));
		column->listed = true;
	}
}

/* Raise an error for a column whose type cannot identify persons. */
static void
check_unit_type(Oid relation, AttrNumber number)
{
	Oid			type = get_atttype(relation, number);

	if (!dperm_persons_takes(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("unit cannot be of type %s", format_type_be(type)),
				 errhint("Use a column of an integer type, numeric, uuid, text, bytea, an enum, "
						 "date or timestamp.")));
}

/*
 * Raise an error for a unit that is computed when read: that may fail.
 */
static void
check_unit_stored(Oid table, AttrNumber unit)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	if (get_attgenerated(table, unit) == ATTRIBUTE_GENERATED_VIRTUAL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of table \"%s\" cannot be the unit: it is a virtual "
						"generated column", get_attname(table, unit, false), get_rel_name(table)),
				 errhint("Use a stored column.")));
#endif
}

/* What dp_protect registers. */
typedef struct Protecting
{
	DpermRegistration registration;
	char	   *unit;
	char	  **names;			/* of the listed columns, or NULL for all */
	int			listed;
	Jsonb	   *domains;
	bool		domains_kept;	/* are they those of the former registration? */
	DpermRegisteredColumn *columns; /* those with anything to register */
	int			count;
} Protecting;

/* Keep what a former registration has and the arguments omit. */
static void
keep_omitted(Protecting *protecting, const DpermRegistration *before)
{
	ListCell   *cell;

	/* it need not be about this relation */
	if (before->waiting)
	{
		if (!protecting->unit || !protecting->names || !protecting->domains)
			ereport(WARNING,
					(errmsg("nothing of the restored registration of relation \"%s\" is kept",
							get_rel_name(protecting->registration.relation)),
					 errdetail("The relation had another owner when it was dumped."),
					 errhint("Specify unit, columns and domains.")));
		return;
	}
	/* those of a view are its table's */
	if (protecting->registration.budget == NULL && !before->view_of)
		protecting->registration.budget = before->budget;
	if (protecting->unit == NULL && !before->view_of)
		protecting->unit = dperm_protection_unit(before, NULL);
	if (protecting->names == NULL && !before->all_columns)
	{
		protecting->names = palloc(sizeof(char *) * (list_length(before->columns) + 1));
		foreach(cell, before->columns)
			protecting->names[protecting->listed++] =
				get_attname(before->relation, lfirst_int(cell), false);
	}
	protecting->domains_kept = protecting->domains == NULL;
	if (protecting->domains_kept)
		protecting->domains = before->domains;
}

/* Put another domain of a column into domains. */
static void
set_domain(Protecting *protecting, const DpermColumn *column)
{
	StringInfoData text;
	Datum		changed;

	initStringInfo(&text);
	appendStringInfoChar(&text, '{');
	escape_json(&text, column->name);
	appendStringInfoChar(&text, ':');
	dperm_domain_print(&text, column);
	appendStringInfoChar(&text, '}');
	changed = DirectFunctionCall1(jsonb_in, CStringGetDatum(text.data));
	protecting->domains = DatumGetJsonbP(
		DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(protecting->domains), changed));
}

/*
 * The domain of a column as it is registered: knots with their range, which
 * might otherwise get lost, and times as they are now, whatever the DateStyle,
 * the TimeZone and the day when they are read.
 */
static Jsonb *
registered_domain(Protecting *protecting, const DpermColumn *column)
{
	if (column->knotted || column->block.kind == DPERM_BLOCK_TIME || column->base == TIMETZOID)
		set_domain(protecting, column);
	return JsonbValueToJsonb(getKeyJsonValueFromContainer(
		&protecting->domains->root, column->name, strlen(column->name), NULL));
}

/*
 * The domains, by column. Those that are kept are dropped with columns that are
 * no longer listed.
 */
static void
split_domains(Protecting *protecting, const DpermColumn *columns,
			  DpermRegisteredColumn *registered, int count)
{
	for (int i = 0; i < count; i++)
	{
		const char *name = columns[i].name;

		if (!columns[i].given)
			continue;
		if (protecting->names == NULL || registered[i].listed)
		{
			dperm_protection_check_fit(protecting->registration.relation, &columns[i]);
			registered[i].domain = registered_domain(protecting, &columns[i]);
		}
		else if (protecting->domains_kept)
			protecting->domains = DatumGetJsonbP(DirectFunctionCall2(
				jsonb_delete, JsonbPGetDatum(protecting->domains), CStringGetTextDatum(name)));
		else
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column \"%s\" in domains is not listed in columns", name),
					 errhint("Add it to columns, or remove it from domains.")));
	}
}

/* What is to be registered about the columns of a relation. */
static void
register_columns(Protecting *protecting, const DpermColumn *columns, int count)
{
	Oid			relation = protecting->registration.relation;
	DpermRegisteredColumn *registered = palloc0(sizeof(*registered) * Max(count, 1));

	for (int i = 0; i < count; i++)
		registered[i].number = columns[i].number;
	list_columns(protecting->names, protecting->listed, relation, columns, registered, count);
	if (protecting->domains)
		split_domains(protecting, columns, registered, count);
	if (protecting->unit)
	{
		DpermRegisteredColumn *column =
			column_named(protecting->unit, relation, columns, registered, count);

		column->is_unit = true;
		protecting->registration.unit = column->number;
		protecting->registration.unit_name = protecting->unit;
		check_unit_type(relation, column->number);
		check_unit_stored(relation, column->number);
	}
	protecting->columns = registered;
	for (int i = 0; i < count; i++)
		if (registered[i].listed || registered[i].is_unit || registered[i].domain)
			registered[protecting->count++] = registered[i];
}

/* A description of the registration for the ledger. */
static char *
describe_registration(const Protecting *protecting)
{
	Jsonb	   *domains = protecting->domains;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "unit: %s; columns: ",
					 protecting->unit ? quote_identifier(protecting->unit) : "row");
	for (int i = 0; protecting->names && i < protecting->listed; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", quote_identifier(protecting->names[i]));
	appendStringInfo(&text, "%s; domains: %s", protecting->names ? "" : "all",
					 domains ? JsonbToCString(NULL, &domains->root, VARSIZE(domains)) :
							   "as declared");
	return text.data;
}

/*
 * Raise an error if the unit of a table differs from the one that it had when
 * the budget was charged: what has been spent is about other persons.
 * dp_unprotect, or DROP TABLE, in between makes no difference.
 */
static void
check_kept_unit(const DpermBudget *budget, const Protecting *protecting)
{
	Oid			relation = protecting->registration.relation;
	char	   *kept;

	if (!dperm_registry_kept_unit(budget->id, relation, &kept) ||
		(kept && protecting->unit ? strcmp(kept, protecting->unit) == 0 :
		 kept == protecting->unit))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("relation \"%s\" has another unit in budget \"%s\"",
					get_rel_name(relation), budget->name),
			 kept == NULL ? errdetail("Its unit is a row.") :
			 *kept == '\0' ? errdetail("Its unit is a column that has been dropped.") :
			 errdetail("Its unit is column \"%s\".", kept),
			 errhint("Specify that unit, or create another budget.")));
}

/*
 * Write the registration of a table, replacing the former one if there is one.
 * Its views follow. Budgets are locked in the order of their names.
 */
static void
write_table(Protecting *protecting, const DpermRegistration *before)
{
	DpermRegistration *registration = &protecting->registration;
	Oid			relation = registration->relation;
	int			order = before ? strcmp(before->budget, registration->budget) : 0;
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermBudget *old = NULL;

	dperm_own_tables_enter(&scope);
	if (order < 0)
		old = dperm_registry_budget(before, true);
	budget = dperm_budget_get_own(registration->budget, scope.user);
	if (order > 0)
		old = dperm_registry_budget(before, true);
	registration->budget_id = MemoryContextStrdup(scope.caller, budget->id);
	dperm_budget_settle_unit(&scope, budget,
							 registration->persons ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW,
							 dperm_registry_charges(budget, relation));
	if (dperm_budget_is_charged(budget))
		check_kept_unit(budget, protecting);
	else
		dperm_registry_forget(&scope, budget);
	dperm_registry_write(&scope, registration, protecting->columns, protecting->count);
	if (before)
		dperm_registry_move_views(&scope, before->id, registration);
	if (old)
		dperm_budget_note(old->name, "unprotect", scope.user, dperm_relation_name(relation), NULL);
	dperm_budget_note(registration->budget, "protect", scope.user, dperm_relation_name(relation),
					  describe_registration(protecting));
	dperm_own_tables_leave(&scope);
}

/*
 * Raise an error for a relation that cannot be registered: a part of a table,
 * or a materialized view without a unit.
 */
static void
check_table(const Protecting *protecting)
{
	Oid			relation = protecting->registration.relation;

	if (has_superclass(relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" is a part of another table", get_rel_name(relation)),
				 errhint("Protect the root of its partitions or children, and offer a view of "
						 "that with a WHERE clause.")));
	if (get_rel_relkind(relation) == RELKIND_MATVIEW && protecting->unit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a materialized view needs a unit"),
				 errhint("Its rows may be made of several rows of a person: specify the column "
						 "that identifies persons, unit => 'column'.")));
	dperm_protection_check_table(relation);
	dperm_protection_check_family(relation, dperm_row_sources_family(relation));
}

/*
 * Warn that the rows of a materialized view are the owner's word, and of a table
 * behind it that charges another budget.
 */
static void
warn_stored(const DpermRegistration *registration)
{
	Oid			relation = registration->relation;
	ListCell   *cell;

	if (get_rel_relkind(relation) != RELKIND_MATVIEW)
		return;
	ereport(WARNING,
			(errmsg("each row of materialized view \"%s\" must be computed from rows of one "
					"unit", get_rel_name(relation)),
			 errdetail("dperm does not check how its rows were made.")));
	foreach(cell, dperm_registry_among(dperm_row_sources_relations(relation)))
	{
		const DpermRegistration *other = dperm_registry_find(lfirst_oid(cell));

		if (other && other->relation != relation && other->budget &&
			!dperm_registry_same_budget(other, registration))
			ereport(WARNING,
					(errmsg("materialized view \"%s\" reads \"%s\", which charges another "
							"budget: \"%s\"", get_rel_name(relation),
							get_rel_name(other->relation), other->budget),
					 errdetail("The same people have two budgets, which add up."),
					 errhint("Protect both with the same budget.")));
	}
}

/* Protect a table; before is its registration, or NULL. */
static void
protect_table(Protecting *protecting, const DpermRegistration *before)
{
	DpermRegistration *registration = &protecting->registration;
	Oid			relation = registration->relation;
	const DpermRegistration nothing = {.relation = relation};
	bool		distributed;
	DpermColumn *columns;
	int			count;

	if (registration->budget == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("budget must not be null"),
				 errhint(REQUIRED_HINT)));
	registration->persons = protecting->unit != NULL;
	registration->all_columns = protecting->names == NULL;
	check_table(protecting);
	columns = dperm_registered_columns_replace(
		before ? before : &nothing, protecting->domains_kept ? NULL : protecting->domains, &count);
	distributed = dperm_location_protected_on_citus(relation);
	if (distributed)
		dperm_cluster_connect(dperm_relation_owner(relation));
	register_columns(protecting, columns, count);
	write_table(protecting, before);

	dperm_owner_notes_relation(relation);
	warn_stored(registration);
	if (dperm_location_has_citus())
		dperm_cluster_warn(relation, distributed);
}

/* Raise an error for arguments of a view that differ from its table. */
static void
check_offer(const Protecting *protecting, const DpermRegistration *table)
{
	const char *budget = protecting->registration.budget;

	if (protecting->names)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("columns is for tables: a view offers the columns that it shows"),
				 errhint("Omit columns. A column that is closed in the table stays closed.")));
	if (budget && strcmp(budget, table->budget) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a view is charged to the budget of its table, which is \"%s\"",
						table->budget),
				 errhint("Omit budget.")));
	(void) dperm_protection_unit(table, protecting->unit);
}

/* Offer a view of a protected table; before is its registration, or NULL. */
static void
offer_view(Protecting *protecting, const DpermRegistration *before)
{
	DpermRegistration *registration = &protecting->registration;
	Oid			relation = registration->relation;
	DpermRegistration former = before ? *before : (DpermRegistration) {.relation = relation};
	const DpermView *view = dperm_view_read(relation);
	DpermRegistration *table = dperm_registry_find(view->table);
	DpermTablesScope scope;
	DpermColumn *columns;
	int			count;

	if (dperm_relation_owner(view->table) != dperm_relation_owner(relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("view \"%s\" and its table \"%s\" have different owners",
						get_rel_name(relation), get_rel_name(view->table)),
				 errhint("The owner of the table offers views of it.")));
	if (table == NULL || table->budget == NULL || table->waiting ||
		!dperm_debit_is_owners(table->relation))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" of view \"%s\" is not protected",
						get_rel_name(view->table), get_rel_name(relation)),
				 errhint(OFFER_HINT)));
	check_offer(protecting, table);
	registration->view = former.view = view;
	registration->table = former.table = table;
	registration->view_of = table->id;
	registration->budget = table->budget;
	registration->budget_id = table->budget_id;
	registration->persons = table->persons;
	registration->all_columns = true;
	protecting->unit = NULL;
	columns = dperm_registered_columns_replace(
		&former, protecting->domains_kept ? NULL : protecting->domains, &count);
	register_columns(protecting, columns, count);
	protecting->unit = dperm_protection_unit(table, NULL);	/* for the ledger */

	dperm_own_tables_enter(&scope);
	(void) dperm_budget_get_own(table->budget, scope.user);	/* locked */
	if (!dperm_debit_unchanged(dperm_protection_versions(table)))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the registration of table \"%s\" has changed",
						get_rel_name(table->relation)),
				 errhint("Try again.")));
	dperm_registry_write(&scope, registration, protecting->columns, protecting->count);
	dperm_budget_note(registration->budget, "protect", scope.user, dperm_relation_name(relation),
					  describe_registration(protecting));
	dperm_own_tables_leave(&scope);
	dperm_owner_notes_relation(relation);
}

/* dp_protect(relation, budget, unit, columns, domains) */
Datum
dp_protect(PG_FUNCTION_ARGS)
{
	Protecting	protecting = {.unit = dperm_arguments_text(fcinfo, "unit")};
	DpermRegistration *before;
	Oid			relation;

	protecting.names = columns_argument(fcinfo, &protecting.listed);
	relation = own_relation(fcinfo);
	protecting.domains = domains_argument(fcinfo);
	protecting.registration.relation = relation;
	protecting.registration.budget = dperm_arguments_text(fcinfo, "budget");
	dperm_location_check_coordinator();
	before = dperm_registry_find(relation);
	if (before && before->budget)
		keep_omitted(&protecting, before);
	if (before && (before->budget == NULL || before->waiting))
		before = NULL;
	if (get_rel_relkind(relation) == RELKIND_VIEW)
		offer_view(&protecting, before);
	else
		protect_table(&protecting, before);
	PG_RETURN_VOID();
}

/* End the views of a table, and name them. */
static void
end_views(DpermTablesScope *scope, const DpermRegistration *table)
{
	StringInfoData names;
	ListCell   *cell;

	initStringInfo(&names);
	foreach(cell, dperm_registry_views(table))
	{
		dperm_registry_end(scope, lfirst_oid(cell));
		if (get_rel_name(lfirst_oid(cell)) == NULL)
			continue;			/* dropped by a transaction that did not see its registration */
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "",
						 get_rel_name(lfirst_oid(cell)));
		dperm_budget_note(table->budget, "unprotect", scope->user,
						  dperm_relation_name(lfirst_oid(cell)), NULL);
	}
	if (names.len > 0)
		ereport(NOTICE,
				(errmsg("views of table \"%s\" are no longer offered: %s",
						get_rel_name(table->relation),
						dperm_message_clip(names.data, COLUMNS_SHOWN))));
}

/* dp_unprotect(relation) */
Datum
dp_unprotect(PG_FUNCTION_ARGS)
{
	Oid			relation = own_relation(fcinfo);
	DpermRegistration *registration = dperm_registry_find(relation);
	DpermTablesScope scope;
	DpermBudget *budget;

	if (registration == NULL || registration->budget == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("relation \"%s\" is not protected", get_rel_name(relation))));
	dperm_own_tables_enter(&scope);
	if (registration->waiting && !dperm_registry_settle(&scope, relation, true))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" has the name of a protected relation of "
						"another role", get_rel_name(relation)),
				 errdetail("That relation has not been restored."),
				 errhint("Rename yours, or protect it with dp_protect.")));
	budget = dperm_registry_budget(registration, true);
	if (!registration->view_of)
		end_views(&scope, registration);
	dperm_registry_end(&scope, relation);
	if (budget)
		dperm_budget_note(budget->name, "unprotect", scope.user, dperm_relation_name(relation),
						  NULL);
	dperm_own_tables_leave(&scope);
	PG_RETURN_VOID();
}

/* dperm_may_spend(budget, relation): may the caller spend on it? */
Datum
dperm_may_spend(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(dperm_debit_may_spend(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_OID(1),
										 GetUserId()));
}
