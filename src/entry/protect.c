/*
 * protect.c: dp_protect and dp_unprotect.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"

#include "base/arguments.h"
#include "base/compat.h"
#include "base/message.h"
#include "budget/debit.h"
#include "column/domain_print.h"
#include "column/domains.h"
#include "column/encode.h"
#include "protect/allowed_code.h"
#include "protect/kept_unit_rows.h"
#include "protect/kept_units.h"
#include "protect/owner_notes.h"
#include "protect/population.h"
#include "protect/protection.h"
#include "protect/registered_columns.h"
#include "protect/view.h"
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

/* A view whose query is checked, and the role that it is read as. */
typedef struct ReadView
{
	Oid			view;
	Oid			role;
} ReadView;

static void check_view_readable(Oid view, Oid reader);

/* Raise an error for a part of a query that reads what a role may not read. */
static bool
check_readable(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		Oid			relation = ((RangeTblEntry *) node)->relid;
		Oid			role = ((ReadView *) context)->role;

		/* a view has range table entries for itself: its old and new rows */
		if (((RangeTblEntry *) node)->rtekind != RTE_RELATION ||
			relation == ((ReadView *) context)->view)
			return false;
		if (pg_class_aclcheck(relation, role, ACL_SELECT) != ACLCHECK_OK &&
			pg_attribute_aclcheck_all(relation, role, ACL_SELECT, ACLMASK_ANY) != ACLCHECK_OK)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for relation %s", get_rel_name(relation)),
					 errhint("The owner of a protected view must be able to read what it reads.")));
		check_view_readable(relation, role);
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, check_readable, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, check_readable, context);
}

/*
 * Raise an error for a view, materialized or not, that reads what its owner may
 * not read, directly or through other views: nobody could train on it, so
 * nothing should be registered.
 */
static void
check_view_readable(Oid view, Oid reader)
{
	Relation	relation = relation_open(view, AccessShareLock);
	Query	   *query = dperm_domains_view_query(relation);
	ReadView	context = {view, relation->rd_rel->relowner};

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();		/* views that read views may be many */
	if (relation->rd_rel->relkind == RELKIND_VIEW && RelationHasSecurityInvoker(relation))
		context.role = reader;
	if (query)
		(void) check_readable((Node *) query, &context);
	relation_close(relation, AccessShareLock);
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
 * If nothing has been spent from a budget, it only keeps the units of the
 * relations that charge it now, except this one.
 */
static void
keep_present(DpermTablesScope *scope, const DpermBudget *budget, Oid relation)
{
	ListCell   *cell;

	if (dperm_budget_is_charged(budget))
		return;
	dperm_kept_unit_rows_forget(scope, budget);
	foreach(cell, dperm_registry_charge(budget))
	{
		DpermRegistration *present =
			lfirst_oid(cell) != relation ? dperm_registry_find(lfirst_oid(cell)) : NULL;

		/* it may have been dropped or unprotected since */
		if (present && present->budget_id && strcmp(present->budget_id, budget->id) == 0)
			dperm_kept_unit_rows_add(scope, budget->id,
								dperm_kept_units_trace(present->relation, present->unit));
	}
}

/*
 * Keep the unit of a relation for its budget. Raises an error if it differs
 * from that of relations that share rows with it, or from the one it had when
 * the budget was charged: what has been spent is about other persons.
 * dp_unprotect in between makes no difference.
 */
static void
keep_unit(DpermTablesScope *scope, const DpermBudget *budget, const DpermRegistration *registration)
{
	List	   *tables = dperm_kept_units_trace(registration->relation, registration->unit);

	keep_present(scope, budget, registration->relation);
	dperm_kept_units_check(registration, tables, false);
	dperm_kept_unit_rows_add(scope, budget->id, tables);
}

/* A relation leaves a budget. */
static void
let_go(DpermTablesScope *scope, const DpermBudget *budget, Oid relation)
{
	if (budget == NULL)			/* it is missing */
		return;
	keep_present(scope, budget, relation);
	dperm_budget_note(budget->name, "unprotect", scope->user, dperm_relation_name(relation), NULL);
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
	List	   *versions;		/* DpermVersion: registrations of other relations */
	DpermRegisteredColumn *columns; /* those with anything to register */
	int			count;
	List	   *usable;			/* numbers of columns that calls may use */
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
	if (protecting->unit == NULL)
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

/* Does a registration open a column? */
static bool
is_opened(const Protecting *protecting, const char *column)
{
	if (protecting->names == NULL)
		return protecting->unit == NULL || strcmp(column, protecting->unit) != 0;
	for (int i = 0; i < protecting->listed; i++)
		if (strcmp(protecting->names[i], column) == 0)
			return true;
	return false;
}

/*
 * Columns that are closed in another relation that shows them stay closed. If
 * all columns are to be open, those are not registered as such.
 */
static void
keep_closed(Protecting *protecting, const DpermColumn *columns, int count)
{
	Oid			relation = protecting->registration.relation;
	char	  **open = palloc(sizeof(char *) * (count + 1));
	int			opened = 0;
	StringInfoData closed;

	initStringInfo(&closed);
	for (int i = 0; i < count; i++)
		if (!is_opened(protecting, columns[i].name))
			continue;
		else if (OidIsValid(columns[i].closed_in))
			appendStringInfo(&closed, "%s\"%s\" (in \"%s\")", closed.len > 0 ? ", " : "",
							 columns[i].name, get_rel_name(columns[i].closed_in));
		else
			open[opened++] = columns[i].name;
	if (closed.len == 0)
		return;
	if (protecting->names == NULL)
	{
		protecting->names = open;
		protecting->listed = opened;
	}
	ereport(NOTICE,
			(errmsg("columns of relation \"%s\" that are closed elsewhere stay closed: %s",
					get_rel_name(relation), dperm_message_clip(closed.data, COLUMNS_SHOWN)),
			 errhint("To open a column, list it in columns of both relations, or show an "
					 "expression of it in a view.")));
}

/* What is to be registered about the columns of a relation. */
static void
register_columns(Protecting *protecting, const DpermColumn *columns, int count)
{
	Oid			relation = protecting->registration.relation;
	bool		all = protecting->names == NULL;
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
		check_unit_type(relation, column->number);
	}
	protecting->columns = registered;
	for (int i = 0; i < count; i++)
	{
		if (all || registered[i].listed || registered[i].is_unit)
			protecting->usable = lappend_int(protecting->usable, registered[i].number);
		if (registered[i].listed || registered[i].is_unit || registered[i].domain)
			registered[protecting->count++] = registered[i];
	}
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
 * Write a registration, replacing the former one if there is one. Budgets are
 * locked in the order of their names.
 */
static void
write_registration(const Protecting *protecting, const DpermRegistration *before)
{
	const DpermRegistration *registration = &protecting->registration;
	Oid			relation = registration->relation;
	int			order = before && before->budget && !before->waiting ?
		strcmp(before->budget, registration->budget) : 0;
	DpermTablesScope scope;
	DpermBudget *budget;
	DpermBudget *old = NULL;

	dperm_own_tables_enter(&scope);
	if (order < 0)
		old = dperm_registry_budget(before, true);
	budget = dperm_budget_get_own(registration->budget, scope.user);
	if (order > 0)
		old = dperm_registry_budget(before, true);
	if (!dperm_debit_unchanged(protecting->versions))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the registration of a relation behind \"%s\" has changed",
						get_rel_name(relation)),
				 errhint("Try again.")));
	if (strcmp(budget->id, registration->budget_id) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("budget \"%s\" has changed", budget->name),
				 errhint("Try again.")));
	dperm_budget_settle_unit(&scope, budget,
							 registration->persons ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW,
							 list_delete_oid(dperm_registry_charge(budget), relation) != NIL);
	dperm_registry_write(&scope, registration, protecting->columns, protecting->count);
	keep_unit(&scope, budget, registration);
	if (order != 0)
		let_go(&scope, old, relation);
	dperm_budget_note(registration->budget, "protect", scope.user, dperm_relation_name(relation),
					  describe_registration(protecting));
	dperm_own_tables_leave(&scope);
}

/* dp_protect(relation, budget, unit, columns, domains) */
Datum
dp_protect(PG_FUNCTION_ARGS)
{
	Protecting	protecting = {.unit = dperm_arguments_text(fcinfo, "unit")};
	DpermRegistration *registration = &protecting.registration;
	DpermRegistration *before;
	DpermColumn *columns;
	int			count;
	Oid			relation,
				owner;
	bool		distributed;

	protecting.names = columns_argument(fcinfo, &protecting.listed);
	relation = own_relation(fcinfo);
	owner = dperm_relation_owner(relation);
	protecting.domains = domains_argument(fcinfo);
	registration->relation = relation;
	registration->budget = dperm_arguments_required_text(fcinfo, "budget", REQUIRED_HINT);
	before = dperm_registry_find(relation);
	if (before && before->budget)
		keep_omitted(&protecting, before);
	registration->persons = protecting.unit != NULL;
	columns = dperm_registered_columns_replace(
		relation, before, protecting.domains_kept ? NULL : protecting.domains, &count,
		&protecting.versions);
	keep_closed(&protecting, columns, count);
	registration->all_columns = protecting.names == NULL;

	dperm_location_check_coordinator();
	distributed = dperm_location_protected_on_citus(relation);
	if (distributed)
		dperm_cluster_connect(owner);
	register_columns(&protecting, columns, count);
	if (get_rel_relkind(relation) == RELKIND_VIEW)
		(void) dperm_view_read(relation);
	else
		dperm_view_check_table(relation, find_all_inheritors(relation, AccessShareLock, NULL));
	(void) dperm_population_query(relation, registration->unit, NULL);
	check_view_readable(relation, owner);
	registration->budget_id = dperm_budget_get(registration->budget, false)->id;
	dperm_protection_check_shared(registration, dperm_row_sources_relations(relation));
	write_registration(&protecting, before);

	dperm_owner_notes_relation(relation);
	dperm_population_warn(relation, registration->persons);
	if (dperm_location_has_citus())
		dperm_cluster_warn(relation, distributed);
	dperm_allowed_code_warn(get_extension_oid("dperm", false), relation, owner, protecting.usable);
	PG_RETURN_VOID();
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
	dperm_registry_end(&scope, relation);
	let_go(&scope, budget, relation);
	dperm_own_tables_leave(&scope);
	dperm_owner_notes_ended(registration);
	PG_RETURN_VOID();
}

/* dperm_may_spend(budget, relation): may the caller spend on it? */
Datum
dperm_may_spend(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(dperm_debit_may_spend(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_OID(1),
										 GetUserId()));
}
