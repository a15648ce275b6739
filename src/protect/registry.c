/*
 * registry.c: the registrations of protected relations.
 *
 * Tables and columns are registered by OID and number, so that renaming them
 * changes nothing. A dump contains their names and owners instead, and each
 * restored row is resolved to an OID and a number (object_name.c). If the
 * relation did not exist yet, or belonged to another role, the registration
 * keeps its name, and the relation cannot be used until this is settled. An
 * event trigger settles it before names change, and ends registrations of
 * dropped relations (registry_events.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "budget/object_name.h"
#include "budget/own_rows.h"
#include "protect/registry.h"
#include "relation/relation.h"

#define RELATIONS "dp_protected_relations"
#define COLUMNS "dp_protected_columns"

/* The name of a column; NULL if it has been dropped. */
static char *
present_name(Oid relation, AttrNumber number)
{
	HeapTuple	tuple = SearchSysCacheAttNum(relation, number);
	char	   *name = NULL;

	if (HeapTupleIsValid(tuple))
	{
		name = pstrdup(NameStr(((Form_pg_attribute) GETSTRUCT(tuple))->attname));
		ReleaseSysCache(tuple);
	}
	return name;
}

/*
 * Fill in the columns of a registration: those that it was made with, whatever
 * else has been restored for a relation with this name. Columns that are not
 * resolved to the relation are ignored.
 */
static void
find_columns(DpermRegistration *registration, Datum id)
{
	DpermOwnRows rows = dperm_own_rows_find(COLUMNS, "registered_by", id);
	JsonbInState state = {0};
	bool		any = false,
				ambiguous = false;

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < rows.count; i++)
	{
		AttrNumber	number = DatumGetInt16(dperm_own_rows_value(&rows, i, "number"));
		bool		found =
			DatumGetObjectId(dperm_own_rows_value(&rows, i, "relation")) == registration->relation;
		char	   *name = found && number > 0 ?
			present_name(registration->relation, number) : NULL;
		Datum		domain = dperm_own_rows_value(&rows, i, "domain");

		if (name == NULL)
			continue;
		if (DatumGetBool(dperm_own_rows_value(&rows, i, "listed")))
			registration->columns = list_append_unique_int(registration->columns, number);
		if (DatumGetBool(dperm_own_rows_value(&rows, i, "is_unit")))
		{
			ambiguous |= registration->unit && registration->unit != number;
			registration->unit = number;
		}
		if (domain)
		{
			JsonbValue	key = {.type = jbvString};
			JsonbValue	value;

			key.val.string.val = name;
			key.val.string.len = strlen(name);
			pushJsonbValue(&state, WJB_KEY, &key);
			JsonbToJsonbValue(DatumGetJsonbP(domain), &value);
			pushJsonbValue(&state, WJB_VALUE, &value);
			any = true;
		}
	}
	pushJsonbValue(&state, WJB_END_OBJECT, NULL);

	/* a registration has one unit; if its rows disagree, it is unknown */
	if (ambiguous)
		registration->unit = 0;
	if (any)
		registration->domains = JsonbValueToJsonb(state.result);
}

/* The registrations of a relation, and those with its name. */
static DpermOwnRows
find_rows(Oid relation)
{
	DpermOwnRows rows = dperm_own_rows_find(RELATIONS, "relation", ObjectIdGetDatum(relation));
	DpermOwnRows named = dperm_own_rows_find(
		RELATIONS, "pending", CStringGetTextDatum(dperm_object_name_relation(relation)));

	dperm_own_rows_add(&rows, &named);
	return rows;
}

/* Is a row written by this transaction? */
static bool
is_fresh(const DpermOwnRows *rows, int row)
{
	return TransactionIdIsCurrentTransactionId(
		DatumGetTransactionId(dperm_own_rows_value(rows, row, "xmin")));
}

/*
 * Which of them counts? One that has ended has no budget, and counts only if
 * this transaction has ended it. After a restore there may be two others; then
 * it does not matter which (debit.c). A pending one need not belong to this
 * relation.
 */
static int
best_row(const DpermOwnRows *rows)
{
	int			best = 0;

	for (int i = 0; i < rows->count; i++)
		if (dperm_own_rows_value(rows, i, "budget"))
			return i;
		else if (is_fresh(rows, i))
			best = i;
	return best;
}

/* A registration as it is read once; NULL if there is none. */
static DpermRegistration *
read_registration(Oid relation)
{
	DpermOwnRows rows = find_rows(relation);
	int			row = best_row(&rows);
	DpermRegistration *registration;

	if (rows.count == 0)
		return NULL;
	registration = palloc0(sizeof(*registration));
	registration->relation = relation;
	registration->id = dperm_own_rows_text(&rows, row, "id");
	registration->view_of = dperm_own_rows_text(&rows, row, "view_of");
	registration->budget = dperm_own_rows_text(&rows, row, "budget");
	registration->budget_id = dperm_own_rows_text(&rows, row, "budget_id");
	registration->version = DatumGetTransactionId(dperm_own_rows_value(&rows, row, "xmin"));
	registration->persons = DatumGetBool(dperm_own_rows_value(&rows, row, "persons"));
	registration->all_columns = DatumGetBool(dperm_own_rows_value(&rows, row, "all_columns"));
	registration->waiting = dperm_own_rows_value(&rows, row, "pending") != 0;
	find_columns(registration, dperm_own_rows_value(&rows, row, "id"));
	return registration;
}

/*
 * The registration of a relation, or NULL. Its rows are not found by one scan:
 * if it has changed in between, columns or domains would be missing.
 */
DpermRegistration *
dperm_registry_find(Oid relation)
{
	DpermRegistration *registration;
	DpermOwnRows rows;

	do
	{
		CHECK_FOR_INTERRUPTS();
		registration = read_registration(relation);
		rows = find_rows(relation);
	} while (registration && rows.count > 0 &&
			 registration->version != DatumGetTransactionId(
				dperm_own_rows_value(&rows, best_row(&rows), "xmin")));
	return registration;
}

/* Is anything registered? Most databases protect nothing. */
bool
dperm_registry_any(void)
{
	return dperm_own_rows_any(RELATIONS);
}

/*
 * Those of the relations that are protected, or were when this transaction
 * began.
 */
List *
dperm_registry_among(List *relations)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, relations)
	{
		DpermOwnRows rows = find_rows(lfirst_oid(cell));

		for (int i = 0; i < rows.count; i++)
			if (dperm_own_rows_value(&rows, i, "budget") || is_fresh(&rows, i))
				found = list_append_unique_oid(found, lfirst_oid(cell));
	}
	return found;
}

/*
 * Make a row of one of our tables, about a column or a relation, refer to a
 * relation; false if somebody has just done the same.
 */
static bool
write_reference(DpermTablesScope *scope, bool is_column, Datum row, Datum reference)
{
	const char *table = is_column ? "dp_protected_columns" : "dp_protected_relations";
	const char *name = is_column ? "column_name" : "relation_name";
	Oid			types[] = {TIDOID, dperm_object_name_type(table, name)};
	Datum		values[] = {row, reference};

	return dperm_own_tables_query(scope, psprintf("UPDATE dperm.%s SET %s = $2 WHERE ctid = $1",
												  table, name),
								  lengthof(types), types, values, NULL) > 0;
}

/*
 * Make rows of one of our tables that have the name of a relation refer to it,
 * if they also have its owner; or, whatever their owner, all of them on
 * request. Returns whether there are any. Other rows are neither changed nor
 * locked: their owner may be about to change them.
 */
static bool
settle_rows(DpermTablesScope *scope, Oid relation, bool is_column, bool all)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(dperm_object_name_relation(relation))};
	uint64		count = dperm_own_tables_query(scope, is_column ?
											   "SELECT ctid, column_name FROM "
											   "dperm.dp_protected_columns WHERE pending = $1" :
											   "SELECT ctid, relation_name FROM "
											   "dperm.dp_protected_relations WHERE pending = $1",
											   lengthof(types), types, values, NULL);
	SPITupleTable *rows = SPI_tuptable;
	bool		found = false;

	for (uint64 i = 0; i < count; i++)
	{
		bool		isnull;
		Datum		row = SPI_getbinval(rows->vals[i], rows->tupdesc, 1, &isnull);
		Datum		pending = SPI_getbinval(rows->vals[i], rows->tupdesc, 2, &isnull);
		Datum		reference = pending;

		if (!dperm_object_name_bind(&reference, is_column))
		{
			if (!all)
				continue;
			reference = is_column ? dperm_object_name_settle(pending, relation) :
									dperm_object_name_make(relation);
		}
		found |= write_reference(scope, is_column, row, reference);
	}
	return found;
}

/* The registrations that charge, or have charged, a budget. */
static DpermOwnRows
rows_of_budget(const char *id)
{
	return dperm_own_rows_find(RELATIONS, "budget_id", dperm_own_rows_uuid(id));
}

/* A relation that charges a budget. */
char *
dperm_registry_charging(const DpermBudget *budget)
{
	DpermOwnRows rows = rows_of_budget(budget->id);
	char	   *found = NULL;

	for (int i = 0; i < rows.count; i++)
	{
		char	   *name = dperm_own_rows_text(&rows, i, "pending");

		if (!dperm_own_rows_value(&rows, i, "budget"))
			continue;
		if (name == NULL)
			name = dperm_own_rows_text(&rows, i, "relation");
		if (found == NULL || strcmp(name, found) < 0)
			found = name;
	}
	return found;
}

/* All relations that charge a budget. */
List *
dperm_registry_charge(const DpermBudget *budget)
{
	DpermOwnRows rows = rows_of_budget(budget->id);
	List	   *found = NIL;

	for (int i = 0; i < rows.count; i++)
		if (dperm_own_rows_value(&rows, i, "budget") &&
			dperm_own_rows_value(&rows, i, "pending") == 0)
			found =
				lappend_oid(found, DatumGetObjectId(dperm_own_rows_value(&rows, i, "relation")));
	list_sort(found, list_oid_cmp);
	return found;
}

/* Does another table charge a budget? One may have been dropped unseen. */
bool
dperm_registry_charges(const DpermBudget *budget, Oid except)
{
	ListCell   *cell;

	foreach(cell, dperm_registry_charge(budget))
	{
		char		kind = get_rel_relkind(lfirst_oid(cell));

		if (lfirst_oid(cell) != except && kind != RELKIND_VIEW && kind != '\0')
			return true;
	}
	return false;
}

/*
 * The unit of a registration of a table, as its column is called now, or was
 * when it was dumped; NULL for rows, empty for a column that has been dropped.
 */
static char *
own_unit(const DpermOwnRows *rows, int row, Oid table)
{
	DpermOwnRows columns = dperm_own_rows_find(COLUMNS, "registered_by",
											   dperm_own_rows_value(rows, row, "id"));

	for (int i = 0; i < columns.count; i++)
		if (DatumGetBool(dperm_own_rows_value(&columns, i, "is_unit")) &&
			DatumGetObjectId(dperm_own_rows_value(&columns, i, "relation")) == table)
		{
			AttrNumber	number = DatumGetInt16(dperm_own_rows_value(&columns, i, "number"));
			char	   *name = number > 0 ? present_name(table, number) : NULL;

			return name ? name : pstrdup("");
		}
	return dperm_own_rows_text(rows, row, "unit");
}

/*
 * The unit that a budget keeps for a table: its own, or that of the last one of
 * its name that was dropped.
 */
bool
dperm_registry_kept_unit(const char *budget_id, Oid table, char **unit)
{
	DpermOwnRows rows = rows_of_budget(budget_id);
	char	   *name = dperm_object_name_relation(table);
	TimestampTz last = 0;
	int			found = -1;

	for (int i = 0; i < rows.count; i++)
	{
		char	   *dropped = dperm_own_rows_text(&rows, i, "dropped_name");
		TimestampTz ended = DatumGetTimestampTz(dperm_own_rows_value(&rows, i, "ended"));

		if (dperm_own_rows_value(&rows, i, "view_of"))
			continue;
		if (DatumGetObjectId(dperm_own_rows_value(&rows, i, "relation")) == table)
		{
			*unit = own_unit(&rows, i, table);
			return true;
		}
		if (dropped && strcmp(dropped, name) == 0 && (found < 0 || ended > last))
		{
			found = i;
			last = ended;
		}
	}
	if (found >= 0)
		*unit = dperm_own_rows_text(&rows, found, "unit");
	return found >= 0;
}

/* Forget what has ended before this transaction. */
void
dperm_registry_forget(DpermTablesScope *scope, const DpermBudget *budget)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id)};

	(void) dperm_own_tables_query(scope,
								  "WITH gone AS (DELETE FROM dperm.dp_protected_relations WHERE "
								  "budget_id = $1::uuid AND ended < now() RETURNING id) "
								  "DELETE FROM dperm.dp_protected_columns WHERE registered_by IN "
								  "(SELECT id FROM gone)", lengthof(types), types, values, NULL);
}

/* The views that are offered of a table. */
List *
dperm_registry_views(const DpermRegistration *table)
{
	List	   *found = NIL;
	ListCell   *cell;

	if (table->budget_id == NULL)
		return NIL;
	foreach(cell, dperm_registry_charge(&(const DpermBudget) {.id = table->budget_id}))
	{
		const DpermRegistration *other = dperm_registry_find(lfirst_oid(cell));

		if (other && other->view_of && strcmp(other->view_of, table->id) == 0)
			found = lappend_oid(found, lfirst_oid(cell));
	}
	return found;
}

/* The budget of a registration. */
DpermBudget *
dperm_registry_budget(const DpermRegistration *registration, bool lock)
{
	DpermBudget *budget = registration->budget && registration->budget_id ?
							  dperm_budget_find(registration->budget, lock) :
							  NULL;

	return budget && strcmp(budget->id, registration->budget_id) == 0 ? budget : NULL;
}

/* Are two relations charged to the same budget? */
bool
dperm_registry_same_budget(const DpermRegistration *a, const DpermRegistration *b)
{
	return a->budget && b->budget && a->budget_id && b->budget_id &&
		   strcmp(a->budget, b->budget) == 0 && strcmp(a->budget_id, b->budget_id) == 0;
}

/*
 * Settle a relation. A registration belongs to a relation of the role that
 * owned it when it was dumped. Otherwise, others could have their relations
 * charged to a budget, or end protections that are not theirs. A superuser who
 * protects the relation is trusted.
 */
bool
dperm_registry_settle(DpermTablesScope *scope, Oid relation, bool own)
{
	bool		all = own && superuser_arg(scope->user);
	bool		found = settle_rows(scope, relation, false, all);

	(void) settle_rows(scope, relation, true, all);
	return found;
}

/* Write the columns of a registration. */
static void
write_columns(DpermTablesScope *scope, const DpermRegistration *registration,
			  const DpermRegisteredColumn *columns, int count)
{
	Oid			types[] = {TEXTOID, dperm_object_name_type("dp_protected_columns", "column_name"),
						   BOOLOID, BOOLOID, JSONBOID};

	for (int i = 0; i < count; i++)
	{
		Datum		values[] = {
			CStringGetTextDatum(registration->id),
			dperm_object_name_column(registration->relation, columns[i].number),
			BoolGetDatum(columns[i].listed), BoolGetDatum(columns[i].is_unit),
			columns[i].domain ? JsonbPGetDatum(columns[i].domain) : (Datum) 0};

		(void) dperm_own_tables_query(
			scope,
			"INSERT INTO dperm.dp_protected_columns (registered_by, column_name, listed, is_unit, "
			"domain) VALUES ($1::uuid, $2, $3, $4, $5)",
			lengthof(types), types, values, columns[i].domain ? "     " : "    n");
	}
}

/*
 * Write a registration in place of the former ones of its relation. Only one
 * row is kept for each budget that it was charged to.
 */
void
dperm_registry_write(DpermTablesScope *scope, DpermRegistration *registration,
					 const DpermRegisteredColumn *columns, int count)
{
	Oid			types[] = {OIDOID, TEXTOID, BOOLOID, BOOLOID, TEXTOID,
						   dperm_object_name_type("dp_protected_relations", "relation_name"),
						   dperm_object_name_type("dp_protected_relations", "owner_name"), TEXTOID,
						   TEXTOID};
	Datum		values[] = {ObjectIdGetDatum(registration->relation),
							CStringGetTextDatum(registration->budget),
							BoolGetDatum(registration->persons),
							BoolGetDatum(registration->all_columns),
							CStringGetTextDatum(registration->budget_id),
							dperm_object_name_make(registration->relation),
							dperm_object_name_make(dperm_relation_owner(registration->relation)),
							registration->view_of ? CStringGetTextDatum(registration->view_of) : 0,
							registration->unit_name ?
							CStringGetTextDatum(registration->unit_name) : 0};
	char		nulls[] = "         ";

	nulls[7] = registration->view_of ? ' ' : 'n';
	nulls[8] = registration->unit_name ? ' ' : 'n';
	(void) dperm_registry_settle(scope, registration->relation, true);
	dperm_registry_end(scope, registration->relation);
	(void) dperm_own_tables_query(scope,
								  "WITH gone AS (DELETE FROM dperm.dp_protected_relations WHERE "
								  "relation = $1 AND budget_id = $5::uuid RETURNING id) "
								  "DELETE FROM dperm.dp_protected_columns WHERE registered_by IN "
								  "(SELECT id FROM gone)", lengthof(types), types, values, nulls);
	if (dperm_own_tables_query(scope,
							   "INSERT INTO dperm.dp_protected_relations (relation_name, "
							   "owner_name, budget, budget_id, persons, all_columns, view_of, unit)"
							   " VALUES ($6, $7, $2, $5::uuid, $3, $4, $8::uuid, $9::name) "
							   "RETURNING id", lengthof(types), types, values, nulls) != 1)
		elog(ERROR, "could not write a registration");
	registration->id = MemoryContextStrdup(scope->caller, dperm_own_tables_value(0, 1));
	write_columns(scope, registration, columns, count);
}

/*
 * The views of a table belong to another registration of it, and to its budget.
 * Those of a former owner stay, and are closed.
 */
void
dperm_registry_move_views(DpermTablesScope *scope, const char *from, const DpermRegistration *to)
{
	Oid			types[] = {TEXTOID, TEXTOID, TEXTOID, TEXTOID, BOOLOID, OIDOID};
	Datum		values[] = {CStringGetTextDatum(from), CStringGetTextDatum(to->id),
							CStringGetTextDatum(to->budget), CStringGetTextDatum(to->budget_id),
							BoolGetDatum(to->persons),
							ObjectIdGetDatum(dperm_relation_owner(to->relation))};

	(void) dperm_own_tables_query(scope,
								  "UPDATE dperm.dp_protected_relations SET view_of = $2::uuid, "
								  "budget = $3, budget_id = $4::uuid, persons = $5 "
								  "WHERE view_of = $1::uuid AND budget IS NOT NULL "
								  "AND owner = $6",
								  lengthof(types), types, values, NULL);
}

/*
 * End the protection of a relation. Its row stays, so that this transaction
 * cannot train uncharged, and so that the budget keeps its unit, whatever that
 * column is called later.
 */
void
dperm_registry_end(DpermTablesScope *scope, Oid relation)
{
	Oid			types[] = {OIDOID, TEXTOID};
	Datum		values[] = {ObjectIdGetDatum(relation),
							CStringGetTextDatum(GetUserNameFromId(scope->user, false))};

	(void) dperm_own_tables_query(scope,
								  "WITH ended AS (UPDATE dperm.dp_protected_relations SET "
								  "budget = NULL, ended = clock_timestamp(), ended_by = $2::name "
								  "WHERE relation = $1 AND budget IS NOT NULL RETURNING id) "
								  "DELETE FROM dperm.dp_protected_columns WHERE NOT is_unit AND "
								  "registered_by IN (SELECT id FROM ended)",
								  lengthof(types), types, values, NULL);
}
