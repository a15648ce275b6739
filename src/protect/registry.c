/*
 * registry.c: the registrations of protected relations.
 *
 * Tables and columns are registered by OID and number, so that renaming them
 * changes nothing. A dump contains their names and owners instead, and each
 * restored row is resolved to an OID and a number (object_name.c). If the
 * relation did not exist yet, or belonged to another role, the registration
 * keeps its name, and the relation cannot be used until this is settled. An
 * event trigger settles it before names change, and removes registrations of
 * dropped relations (registry_events.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

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

/*
 * Which of them counts? After a restore there may be two; then it does not
 * matter which (debit.c), as long as it has a budget. A pending one need not
 * belong to this relation.
 */
static int
best_row(const DpermOwnRows *rows)
{
	int			best = 0;

	for (int i = 1; i < rows->count; i++)
		if (dperm_own_rows_value(rows, i, "budget") && !dperm_own_rows_value(rows, best, "budget"))
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
			if (dperm_own_rows_value(&rows, i, "budget") ||
				TransactionIdIsCurrentTransactionId(
					DatumGetTransactionId(dperm_own_rows_value(&rows, i, "xmin"))))
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

	return dperm_own_tables_execute(psprintf("UPDATE dperm.%s SET %s = $2 WHERE ctid "
											 "OPERATOR(pg_catalog.=) $1",
											 table, name),
									lengthof(types), types, values, NULL, false) > 0;
}

/*
 * Make rows of one of our tables that have the name of a relation refer to it,
 * if they also have its owner; or, whatever their owner, all of them on
 * request, or the columns that are kept for the budget with this id. Returns
 * whether there are any. Other rows are neither changed nor locked: their owner
 * may be about to change them.
 */
static bool
settle_rows(DpermTablesScope *scope, Oid relation, bool is_column, const char *id, bool all)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(dperm_object_name_relation(relation))};
	uint64		count = dperm_own_tables_query(scope, is_column ?
										   "SELECT c.ctid, c.column_name, c.kept_by FROM "
										   "dperm.dp_protected_columns AS c WHERE c.pending "
										   "OPERATOR(pg_catalog.=) $1" :
										   "SELECT r.ctid, r.relation_name, NULL FROM "
										   "dperm.dp_protected_relations AS r WHERE r.pending "
										   "OPERATOR(pg_catalog.=) $1",
										   lengthof(types), types, values, NULL);
	SPITupleTable *rows = SPI_tuptable;
	bool		found = false;

	for (uint64 i = 0; i < count; i++)
	{
		bool		isnull;
		Datum		row = SPI_getbinval(rows->vals[i], rows->tupdesc, 1, &isnull);
		Datum		pending = SPI_getbinval(rows->vals[i], rows->tupdesc, 2, &isnull);
		char	   *kept_by = id ? SPI_getvalue(rows->vals[i], rows->tupdesc, 3) : NULL;
		Datum		reference = pending;

		if (!dperm_object_name_bind(&reference, is_column))
		{
			if (!all && !(kept_by && strcmp(kept_by, id) == 0))
				continue;
			reference = is_column ? dperm_object_name_settle(pending, relation) :
									dperm_object_name_make(relation);
		}
		found |= write_reference(scope, is_column, row, reference);
	}
	return found;
}

/* The registrations that charge a budget. */
static DpermOwnRows
charging_rows(const DpermBudget *budget)
{
	return dperm_own_rows_find(RELATIONS, "budget_id", dperm_own_rows_uuid(budget->id));
}

/* A relation that charges a budget. */
char *
dperm_registry_charging(const DpermBudget *budget)
{
	DpermOwnRows rows = charging_rows(budget);
	char	   *found = NULL;

	for (int i = 0; i < rows.count; i++)
	{
		char	   *name = dperm_own_rows_text(&rows, i, "pending");

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
	DpermOwnRows rows = charging_rows(budget);
	List	   *found = NIL;

	for (int i = 0; i < rows.count; i++)
		if (dperm_own_rows_value(&rows, i, "pending") == 0)
			found =
				lappend_oid(found, DatumGetObjectId(dperm_own_rows_value(&rows, i, "relation")));
	list_sort(found, list_oid_cmp);
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
 * Relations as arguments of a statement: their OIDs and their names, which
 * restored rows may have.
 */
static void
relation_arrays(List *relations, Datum *values)
{
	int			count = list_length(relations);
	Datum	   *oids = palloc(sizeof(Datum) * Max(count, 1));
	Datum	   *names = palloc(sizeof(Datum) * Max(count, 1));

	for (int i = 0; i < count; i++)
	{
		oids[i] = ObjectIdGetDatum(list_nth_oid(relations, i));
		names[i] = CStringGetTextDatum(dperm_object_name_relation(list_nth_oid(relations, i)));
	}
	values[0] =
		PointerGetDatum(construct_array(oids, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
	values[1] = PointerGetDatum(construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Those of the relations whose names pending registrations have. */
List *
dperm_registry_awaited(DpermTablesScope *scope, List *relations)
{
	Oid			types[] = {OIDARRAYOID, TEXTARRAYOID};
	Datum		values[2];
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, relations)
		if (dperm_object_name_is_kind(lfirst_oid(cell)))
			tables = lappend_oid(tables, lfirst_oid(cell));
	if (tables == NIL)
		return NIL;
	relation_arrays(tables, values);
	(void) dperm_own_tables_query(scope, "SELECT n.oid FROM ROWS FROM (pg_catalog.unnest($1), "
										 "pg_catalog.unnest($2)) AS n (oid, name) WHERE EXISTS "
										 "(SELECT FROM dperm.dp_protected_relations AS r WHERE "
										 "r.pending OPERATOR(pg_catalog.=) n.name)"
							  " OR EXISTS (SELECT FROM dperm.dp_protected_columns AS c WHERE "
							  "c.pending OPERATOR(pg_catalog.=) "
							  "n.name)", lengthof(types), types, values, NULL);
	return dperm_own_tables_oids(SPI_processed, 1);
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
	bool		found = settle_rows(scope, relation, false, NULL, all);

	(void) settle_rows(scope, relation, true, NULL, all);
	return found;
}

/* The same for the units that are kept for a budget. */
void
dperm_registry_settle_kept(DpermTablesScope *scope, Oid relation, const char *id)
{
	(void) settle_rows(scope, relation, true, id, false);
}

/*
 * Delete the columns of the registrations of a relation, including those that
 * have not been resolved.
 */
static void
forget_columns(DpermTablesScope *scope, Oid relation)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relation)};

	(void) dperm_own_tables_query(scope,
								  "DELETE FROM dperm.dp_protected_columns AS c WHERE "
								  "c.registered_by OPERATOR(pg_catalog.=) ANY"
								  " (ARRAY(SELECT r.id FROM dperm.dp_protected_relations AS r "
								  "WHERE r.relation OPERATOR(pg_catalog.=) $1))",
								  lengthof(types), types, values, NULL);
}

/* Write a registration in place of the former one. */
void
dperm_registry_write(DpermTablesScope *scope, const DpermRegistration *registration,
					 const DpermRegisteredColumn *columns, int count)
{
	Oid			types[] = {OIDOID,
				   TEXTOID,
				   BOOLOID,
				   BOOLOID,
				   TEXTOID,
				   dperm_object_name_type("dp_protected_relations", "relation_name"),
				   dperm_object_name_type("dp_protected_relations", "owner_name")};
	Datum		values[] = {ObjectIdGetDatum(registration->relation),
					  CStringGetTextDatum(registration->budget),
					  BoolGetDatum(registration->persons),
					  BoolGetDatum(registration->all_columns),
					  CStringGetTextDatum(registration->budget_id),
					  dperm_object_name_make(registration->relation),
					  dperm_object_name_make(dperm_relation_owner(registration->relation))};
	Oid			column_type = dperm_object_name_type("dp_protected_columns", "column_name");

	(void) dperm_registry_settle(scope, registration->relation, true);

	/* the relation is locked, so there is only one */
	forget_columns(scope, registration->relation);
	(void) dperm_own_tables_query(scope, "DELETE FROM dperm.dp_protected_relations WHERE "
										 "relation = $1", 1, types, values, NULL);
	if (dperm_own_tables_query(scope, "INSERT INTO dperm.dp_protected_relations (relation_name, "
									  "owner_name, budget, budget_id, persons, all_columns)"
						   " VALUES ($6, $7, $2, $5::uuid, "
						   "$3, $4)", lengthof(types), types, values, NULL) != 1)
		elog(ERROR, "could not write a registration");
	for (int i = 0; i < count; i++)
	{
		Oid			column_types[] = {column_type, BOOLOID, BOOLOID, JSONBOID, OIDOID};
		Datum		column_values[] = {
			dperm_object_name_column(registration->relation, columns[i].number),
			BoolGetDatum(columns[i].listed), BoolGetDatum(columns[i].is_unit),
			columns[i].domain ? JsonbPGetDatum(columns[i].domain) : (Datum) 0, values[0]};

		if (dperm_own_tables_query(
				scope,
				"INSERT INTO dperm.dp_protected_columns (column_name, "
				"listed, is_unit, domain, registered_by)"
				" SELECT $1, $2, $3, $4, r.id FROM dperm.dp_protected_relations AS r "
				"WHERE r.relation OPERATOR(pg_catalog.=) $5",
				lengthof(column_types), column_types, column_values,
				columns[i].domain ? "     " : "   n ") != 1)
			elog(ERROR, "could not write a registration");
	}
}

/*
 * End the protection of a relation. Its row stays until the relation is
 * dropped, so that this transaction cannot train uncharged.
 */
void
dperm_registry_end(DpermTablesScope *scope, Oid relation)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relation)};

	if (dperm_own_tables_query(scope, "UPDATE dperm.dp_protected_relations SET budget = NULL, "
									  "budget_id = NULL WHERE "
									  "relation = $1", lengthof(types), types, values, NULL) == 0)
		elog(ERROR, "could not end a registration");
	forget_columns(scope, relation);
}
