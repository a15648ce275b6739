/*
 * protect.c: dp_protect and dp_unprotect.
 */
#include "postgres.h"

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

#include "base/arguments.h"
#include "base/compat.h"
#include "base/message.h"
#include "column/domain_print.h"
#include "column/domains.h"
#include "entry/administer.h"
#include "protect/protection.h"
#include "protect/registered_columns.h"
#include "query/persons.h"
#include "query/source.h"
#include "relation/relation.h"

PG_FUNCTION_INFO_V1(dp_protect);
PG_FUNCTION_INFO_V1(dp_unprotect);

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

	/* it stays, and one at a time changes its registration */
	LockRelationOid(relation, AccessShareLock);
	dperm_registry_lock(relation, ExclusiveLock, false);
	return relation;
}

/* The domains of a relation; NULL if they are NULL. */
static Jsonb *
domains_argument(FunctionCallInfo fcinfo)
{
	Jsonb	   *domains = dperm_arguments_jsonb(fcinfo, "domains");

	if (domains &&
		strlen(JsonbToCString(NULL, &domains->root, VARSIZE(domains))) > DOMAINS_TEXT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("domains must have at most %d bytes as text", DOMAINS_TEXT),
				 errhint("Declare long lists of categories in the catalog, with an enum or a CHECK "
						 "constraint.")));
	return domains;
}

/* The place of a column of an argument, by its exact name. */
static int
column_named(const char *name, Oid relation, const DpermColumn *columns, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(columns[i].name, name) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not "
					"exist", name, get_rel_name(relation)),
			 errhint("Names are case-sensitive and are not quoted.")));
	return -1;					/* keep compiler quiet */
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
	Oid			relation;
	char	   *budget;
	char	   *unit;
	char	  **names;			/* of the listed columns, or NULL for all */
	int			listed;
	Jsonb	   *domains;
	bool		domains_kept;	/* are they those of the former registration? */
} Protecting;

/* Keep what a former registration has and the arguments omit. */
static void
keep_omitted(Protecting *protecting, const DpermRegistration *before)
{
	ListCell   *cell;

	/* those of a view are its table's */
	if (protecting->budget == NULL && !before->view_of)
		protecting->budget = before->budget->name;
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
 * Check the domains, and write them as they are registered: knots with their
 * range, which might otherwise get lost, and times as they are now, whatever the
 * DateStyle, the TimeZone and the day when they are read. Those that are kept are
 * dropped with columns that are no longer listed.
 */
static void
settle_domains(Protecting *protecting, const DpermColumn *columns, const bool *listed, int count)
{
	for (int i = 0; i < count; i++)
	{
		const char *name = columns[i].name;

		if (!columns[i].given)
			continue;
		if (protecting->names == NULL || listed[i])
		{
			dperm_protection_check_fit(protecting->relation, &columns[i]);
			if (columns[i].knotted || columns[i].block.kind == DPERM_BLOCK_TIME ||
				columns[i].base == TIMETZOID)
				set_domain(protecting, &columns[i]);
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

/* Tell which columns open to training have no domain, now that it is registered. */
static void
tell_columns(Oid relation)
{
	DpermRegistration *registration = dperm_registry_find(relation);
	DpermColumn *columns;
	StringInfoData names;
	int			count;

	dperm_protection_resolve(registration);
	columns = dperm_registered_columns_read(registration, NULL, &count);
	initStringInfo(&names);
	for (int i = 0; i < count; i++)
		if (columns[i].usable && !columns[i].known &&
			dperm_protection_lists(registration, &columns[i]))
			appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", columns[i].name);
	if (names.len > 0)
		ereport(NOTICE,
				(errmsg("columns without a domain: %s",
						dperm_message_clip(names.data, COLUMNS_SHOWN)),
				 errdetail("They cannot be features, and as labels they are not checked."),
				 errhint("Specify domains or omit these columns; dp_domains shows what to fill "
						 "in.")));
}

/*
 * Check what is to be registered about the columns of a relation; before is its
 * registration.
 */
static void
check_columns(Protecting *protecting, const DpermRegistration *before)
{
	Oid			relation = protecting->relation;
	int			count;
	DpermColumn *columns = dperm_registered_columns_replace(
		before, protecting->domains_kept ? NULL : protecting->domains, &count);
	bool	   *listed = palloc0(Max(count, 1));

	for (int i = 0; i < protecting->listed; i++)
	{
		bool	   *found =
			&listed[column_named(protecting->names[i], relation, columns, count)];

		if (*found)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" appears twice in columns", protecting->names[i])));
		*found = true;
	}
	if (protecting->domains)
		settle_domains(protecting, columns, listed, count);
	if (protecting->unit && !before->view)
	{
		AttrNumber	unit = columns[column_named(protecting->unit, relation, columns, count)].number;

		check_unit_type(relation, unit);
		check_unit_stored(relation, unit);
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

/* An argument of a function in SQL, NULL for NULL. */
static NullableDatum
text_argument(const char *text)
{
	return (NullableDatum) {text ? CStringGetTextDatum(text) : (Datum) 0, text == NULL};
}

static NullableDatum
name_argument(const char *name)
{
	return (NullableDatum) {
		name ? DirectFunctionCall1(namein, CStringGetDatum(name)) : (Datum) 0, name == NULL};
}

static NullableDatum
jsonb_argument(Jsonb *json)
{
	return (NullableDatum) {PointerGetDatum(json), json == NULL};
}

/* The listed columns as name[], NULL for all. */
static NullableDatum
names_argument(char **names, int count)
{
	Datum	   *values = palloc(sizeof(Datum) * Max(count, 1));

	for (int i = 0; i < count; i++)
		values[i] = name_argument(names[i]).value;
	return (NullableDatum) {
		PointerGetDatum(construct_array(values, count, NAMEOID, NAMEDATALEN, false,
										TYPALIGN_CHAR)), names == NULL};
}

/*
 * Raise an error for a relation that cannot be registered: a part of a table,
 * or a materialized view without a unit.
 */
static void
check_table(const Protecting *protecting)
{
	Oid			relation = protecting->relation;

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

/* Protect a table; before is its registration, or NULL. */
static void
protect_table(Protecting *protecting, const DpermRegistration *before)
{
	static const Oid types[] = {OIDOID, TEXTOID, NAMEOID, NAMEARRAYOID, JSONBOID, TEXTOID};
	Oid			relation = protecting->relation;
	const DpermRegistration nothing = {.relation = relation};
	bool		isnull;

	if (protecting->budget == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("budget must not be null"),
				 errhint(REQUIRED_HINT)));
	check_table(protecting);
	check_columns(protecting, before ? before : &nothing);
	if (dperm_location_protected_on_citus(relation))
		dperm_location_connect(dperm_relation_owner(relation));
	(void) dperm_administer_call("dperm_protect", lengthof(types), types, (NullableDatum[]) {
		{ObjectIdGetDatum(relation), false},
		text_argument(protecting->budget),
		name_argument(protecting->unit),
		names_argument(protecting->names, protecting->listed),
		jsonb_argument(protecting->domains),
		text_argument(describe_registration(protecting))
	}, &isnull);
	tell_columns(relation);
	dperm_location_warn(relation);
}

/* Raise an error for arguments of a view that differ from its table. */
static void
check_offer(const Protecting *protecting, const DpermRegistration *table)
{
	const char *budget = protecting->budget;

	if (protecting->names)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("columns is for tables: a view offers the columns that it shows"),
				 errhint("Omit columns. A column that is closed in the table stays closed.")));
	if (budget && strcmp(budget, table->budget->name) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a view is charged to the budget of its table, which is \"%s\"",
						table->budget->name),
				 errhint("Omit budget.")));
	(void) dperm_protection_unit(table, protecting->unit);
}

/* Offer a view of a protected table; before is its registration, or NULL. */
static void
offer_view(Protecting *protecting, const DpermRegistration *before)
{
	static const Oid types[] = {OIDOID, OIDOID, JSONBOID, TEXTOID};
	Oid			relation = protecting->relation;
	DpermRegistration former = before ? *before : (DpermRegistration) {.relation = relation};
	const DpermRegistration *table;
	bool		isnull;

	former.view = dperm_view_read(relation);
	dperm_registry_lock(former.view->table, ShareLock, false);
	former.table = table = dperm_registry_find(former.view->table);
	if (dperm_relation_owner(former.view->table) != dperm_relation_owner(relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("view \"%s\" and its table \"%s\" have different owners",
						get_rel_name(relation), get_rel_name(former.view->table)),
				 errhint("The owner of the table offers views of it.")));
	if (table == NULL || table->ended || table->budget == NULL ||
		!dperm_protection_is_owners(table))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" of view \"%s\" is not protected",
						get_rel_name(former.view->table), get_rel_name(relation)),
				 errhint(OFFER_HINT)));
	check_offer(protecting, table);
	protecting->unit = dperm_protection_unit(table, NULL);	/* for the ledger */
	check_columns(protecting, &former);
	(void) dperm_administer_call("dperm_offer", lengthof(types), types, (NullableDatum[]) {
		{ObjectIdGetDatum(relation), false},
		{ObjectIdGetDatum(table->relation), false},
		jsonb_argument(protecting->domains),
		text_argument(describe_registration(protecting))
	}, &isnull);
	tell_columns(relation);
}

/* dp_protect(relation, budget, unit, columns, domains) */
Datum
dp_protect(PG_FUNCTION_ARGS)
{
	Protecting	protecting = {.unit = dperm_arguments_text(fcinfo, "unit")};
	const DpermRegistration *before;

	protecting.names = dperm_arguments_names(fcinfo, "columns", &protecting.listed);
	protecting.relation = own_relation(fcinfo);
	protecting.domains = domains_argument(fcinfo);
	protecting.budget = dperm_arguments_text(fcinfo, "budget");
	dperm_location_check_coordinator();
	before = dperm_registry_find(protecting.relation);
	if (before && (before->ended || before->foreign || before->budget == NULL))
		before = NULL;
	if (before && before->mixed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("it is not known which columns of relation \"%s\" are registered",
						get_rel_name(protecting.relation)),
				 errdetail("One was renamed while no event trigger followed it."),
				 errhint("Call dp_unprotect, and then dp_protect with all arguments.")));
	if (before)
		keep_omitted(&protecting, before);
	if (get_rel_relkind(protecting.relation) == RELKIND_VIEW)
		offer_view(&protecting, before);
	else
		protect_table(&protecting, before);
	PG_RETURN_VOID();
}

/*
 * dp_unprotect(relation). What was restored for a relation of this name is ended
 * by a superuser, or a role that has the rights of its owner.
 */
Datum
dp_unprotect(PG_FUNCTION_ARGS)
{
	static const Oid types[] = {OIDOID};
	Oid			relation = own_relation(fcinfo);
	const DpermRegistration *registration = dperm_registry_find(relation);
	bool		isnull;

	if (registration == NULL || registration->ended)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("relation \"%s\" is not protected", get_rel_name(relation))));
	if (registration->foreign && !has_privs_of_role(GetUserId(), registration->owner))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" has the name of a protected relation of "
						"another role", get_rel_name(relation)),
				 errdetail("That relation has not been restored."),
				 errhint("Rename yours, or protect it with dp_protect.")));
	(void) dperm_administer_call("dperm_unprotect", lengthof(types), types,
								 &(NullableDatum) {ObjectIdGetDatum(relation), false}, &isnull);
	PG_RETURN_VOID();
}
