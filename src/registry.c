/*
 * registry.c: the registrations of protected relations.
 *
 * Tables and columns are registered by OID and number, so that renaming them changes nothing. A dump has their names and owners instead, and each row of it finds its
 * own OID and number when it is restored (reference.c). A relation that was not there yet, or was somebody else's, when its registration was restored is known by its name, and cannot be used
 * until that is settled. An event trigger settles it, before names change, and removes what has been dropped (registry_sync.c).
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

#include "reference.h"
#include "registry.h"

/* A column of the answer, 0 if it is null. */
static Datum
answer(uint64 row, int column)
{
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull);

	return isnull ? (Datum) 0 : value;
}

/* Enter a scope that sees what is committed by now, whatever the snapshot of the caller is. */
static void
enter_newest(DpermTablesScope *scope)
{
	dperm_tables_enter_reading(scope);

	/* a query with parallel workers keeps to its snapshot; only aggregates look here in one */
	PushActiveSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
}

/* Leave it. */
static void
leave_newest(DpermTablesScope *scope)
{
	PopActiveSnapshot();
	dperm_tables_leave(scope);
}

/* The name of a column, NULL if it has been dropped. */
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

/* Fill in the columns of a registration: those that it was made with, whatever else has been restored of a relation of this name. One that has not found the relation is not there. */
static void
find_columns(DpermTablesScope *scope, DpermRegistration *registration, const char *id)
{
	Oid			types[] = {TEXTOID, OIDOID};
	Datum		values[] = {CStringGetTextDatum(id), ObjectIdGetDatum(registration->relation)};
	JsonbParseState *state = NULL;
	JsonbValue *domains;
	bool		any = false,
				ambiguous = false;

	(void) dperm_tables_execute(psprintf("SELECT number, listed, is_unit, domain FROM %s.dp_protected_columns WHERE registered_by OPERATOR(pg_catalog.=) $1::pg_catalog.uuid "
										 "AND relation OPERATOR(pg_catalog.=) $2", scope->schema), lengthof(types), types, values, NULL, true);
	(void) pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		AttrNumber	number = DatumGetInt16(answer(i, 1));
		char	   *name = number > 0 ? present_name(registration->relation, number) : NULL;
		Datum		domain = answer(i, 4);
		MemoryContext spi;

		if (name == NULL)
			continue;
		spi = MemoryContextSwitchTo(scope->caller);
		if (DatumGetBool(answer(i, 2)))
			registration->columns = list_append_unique_int(registration->columns, number);
		if (DatumGetBool(answer(i, 3)))
		{
			ambiguous |= registration->unit && registration->unit != number;
			registration->unit = number;
		}
		MemoryContextSwitchTo(spi);
		if (domain)
		{
			JsonbValue	key = {.type = jbvString};
			JsonbValue	value;

			key.val.string.val = name;
			key.val.string.len = strlen(name);
			(void) pushJsonbValue(&state, WJB_KEY, &key);
			JsonbToJsonbValue(DatumGetJsonbP(domain), &value);
			(void) pushJsonbValue(&state, WJB_VALUE, &value);
			any = true;
		}
	}
	domains = pushJsonbValue(&state, WJB_END_OBJECT, NULL);

	/* a registration has one; if its rows say otherwise, nobody knows which */
	if (ambiguous)
		registration->unit = 0;
	if (any)
	{
		MemoryContext spi = MemoryContextSwitchTo(scope->caller);

		registration->domains = JsonbValueToJsonb(domains);
		MemoryContextSwitchTo(spi);
	}
}

/* The registration of a relation, or NULL. */
DpermRegistration *
dperm_registry_find(Oid relation)
{
	DpermTablesScope scope;
	DpermRegistration *registration = NULL;
	Oid			types[] = {OIDOID, TEXTOID};
	Datum		values[] = {ObjectIdGetDatum(relation), CStringGetTextDatum(dperm_reference_relation(relation))};

	enter_newest(&scope);

	/* there may be two, after a restore; which one does not matter then (debit.c) as long as it has a budget. One that waits for its relation need not be of this one. */
	(void) dperm_tables_execute(psprintf("SELECT budget, xmin, persons, all_columns, budget_id, pending IS NOT NULL, id FROM %s.dp_protected_relations "
						  "WHERE relation = $1 OR pending = $2 ORDER BY budget IS NULL, pending IS NOT NULL", scope.schema),
				 lengthof(types), types, values, NULL, true);
	if (SPI_processed > 0)
	{
		Datum		budget = answer(0, 1);

		registration = MemoryContextAllocZero(scope.caller, sizeof(*registration));
		registration->relation = relation;
		if (budget)
			registration->budget = MemoryContextStrdup(scope.caller, TextDatumGetCString(budget));
		if (answer(0, 5))
			registration->budget_id = MemoryContextStrdup(scope.caller, dperm_tables_value(0, 5));
		registration->version = DatumGetTransactionId(answer(0, 2));
		registration->persons = DatumGetBool(answer(0, 3));
		registration->all_columns = DatumGetBool(answer(0, 4));
		registration->waiting = DatumGetBool(answer(0, 6));
		find_columns(&scope, registration, dperm_tables_value(0, 7));
	}
	leave_newest(&scope);
	return registration;
}

/* Is anything registered? Most databases protect nothing. */
bool
dperm_registry_any(void)
{
	DpermTablesScope scope;
	bool		any;

	enter_newest(&scope);
	any = dperm_tables_execute(psprintf("SELECT FROM %s.dp_protected_relations LIMIT 1", scope.schema), 0, NULL, NULL, NULL, true) > 0;
	leave_newest(&scope);
	return any;
}

/* Some relations as arguments of a statement: their OIDs, and their names, which what was restored before them may have. */
static void
relation_arrays(List *relations, Datum *values)
{
	int			count = list_length(relations);
	Datum	   *oids = palloc(sizeof(Datum) * Max(count, 1));
	Datum	   *names = palloc(sizeof(Datum) * Max(count, 1));

	for (int i = 0; i < count; i++)
	{
		oids[i] = ObjectIdGetDatum(list_nth_oid(relations, i));
		names[i] = CStringGetTextDatum(dperm_reference_relation(list_nth_oid(relations, i)));
	}
	values[0] = PointerGetDatum(construct_array(oids, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
	values[1] = PointerGetDatum(construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Those of some relations that are protected, or were when this transaction began. */
List *
dperm_registry_among(List *relations)
{
	DpermTablesScope scope;
	List	   *found = NIL;
	List	   *ordered = NIL;
	ListCell   *cell;
	Oid			types[] = {OIDARRAYOID, TEXTARRAYOID};
	Datum		values[2];

	relation_arrays(relations, values);
	enter_newest(&scope);
	(void) dperm_tables_execute(psprintf("SELECT relation::oid, budget, xmin FROM %s.dp_protected_relations WHERE relation = ANY ($1) "
								"UNION ALL SELECT ($1)[array_position($2, pending)], budget, xmin FROM %s.dp_protected_relations WHERE pending = ANY ($2)",
								scope.schema, scope.schema),
					   lengthof(types), types, values, NULL, true);
	for (uint64 i = 0; i < SPI_processed; i++)
		if (answer(i, 2) || TransactionIdIsCurrentTransactionId(DatumGetTransactionId(answer(i, 3))))
		{
			MemoryContext spi = MemoryContextSwitchTo(scope.caller);

			found = lappend_oid(found, DatumGetObjectId(answer(i, 1)));
			MemoryContextSwitchTo(spi);
		}
	leave_newest(&scope);

	/* in the order of the relations, so that errors are about the same one each time */
	foreach(cell, relations)
		if (list_member_oid(found, lfirst_oid(cell)))
			ordered = lappend_oid(ordered, lfirst_oid(cell));
	return ordered;
}

/* Which of some relations a kept unit is about, by OID or by the name that it was restored with; InvalidOid for none. */
static Oid
kept_relation(List *relations, Oid relation, Datum pending)
{
	ListCell   *cell;

	if (!pending)
		return list_member_oid(relations, relation) ? relation : InvalidOid;
	foreach(cell, relations)
		if (strcmp(dperm_reference_relation(lfirst_oid(cell)), TextDatumGetCString(pending)) == 0)
			return lfirst_oid(cell);
	return InvalidOid;
}

/* A column, 0 if the relation does not have it any more. */
static AttrNumber
live_column(Oid relation, AttrNumber number)
{
	HeapTuple	tuple = number > 0 ? SearchSysCacheAttNum(relation, number) : NULL;

	if (!HeapTupleIsValid(tuple))
		return 0;
	ReleaseSysCache(tuple);
	return number;
}

/* The units that are kept for a budget. One statement without a join: every process that reads a protected relation plans it anew. */
List *
dperm_registry_kept(const char *id, List *relations)
{
	DpermTablesScope scope;
	List	   *found = NIL;
	Oid			types[] = {TEXTOID};
	Datum		values[] = {id ? CStringGetTextDatum(id) : (Datum) 0};

	enter_newest(&scope);
	(void) dperm_tables_execute(psprintf("SELECT c.relation::pg_catalog.oid, c.number, c.is_unit, c.xmin, c.column_name, c.pending FROM %s.dp_protected_columns AS c "
										 "WHERE c.kept_by OPERATOR(pg_catalog.=) $1::pg_catalog.uuid ORDER BY 1", scope.schema),
								lengthof(types), types, values, id ? " " : "n", true);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext spi = MemoryContextSwitchTo(scope.caller);
		Oid			relation = kept_relation(relations, DatumGetObjectId(answer(i, 1)), answer(i, 6));
		DpermKeptUnit *unit;

		if (OidIsValid(relation))
		{
			unit = palloc(sizeof(*unit));
			*unit = (DpermKeptUnit) {.relation = relation, .mixed = !DatumGetBool(answer(i, 3)),
			.changed = TransactionIdIsCurrentTransactionId(DatumGetTransactionId(answer(i, 4)))};
			unit->unit = answer(i, 6) ? dperm_reference_number(dperm_reference_settle(answer(i, 5), relation)) :
				live_column(relation, DatumGetInt16(answer(i, 2)));
			found = lappend(found, unit);
		}
		MemoryContextSwitchTo(spi);
	}
	leave_newest(&scope);
	return found;
}

/* Forget all units of a budget. */
void
dperm_registry_forget(DpermTablesScope *scope, const DpermBudget *budget)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id)};

	(void) dperm_tables_query(scope, "DELETE FROM %s.dp_protected_columns WHERE kept_by OPERATOR(pg_catalog.=) $1::pg_catalog.uuid", lengthof(types), types, values, NULL);
}

/* Write that a row of one of our tables, of a column or of a relation, is about a relation; false if it has just changed, by somebody who wrote the same. */
static bool
write_reference(DpermTablesScope *scope, bool is_column, Datum row, Datum reference)
{
	const char *table = is_column ? "dp_protected_columns" : "dp_protected_relations";
	const char *name = is_column ? "column_name" : "relation_name";
	Oid			types[] = {TIDOID, dperm_reference_type(scope, table, name)};
	Datum		values[] = {row, reference};

	return dperm_tables_execute(psprintf("UPDATE %s.%s SET %s = $2 WHERE ctid OPERATOR(pg_catalog.=) $1", scope->schema, table, name), lengthof(types), types, values, NULL, false) > 0;
}

/*
 * Let the rows of one of our tables that have the name of a relation be about it, if they have its owner, too; or, whatever owner they have, those of columns that are kept for the budget of an id, or
 * all on demand. Are there any? Others stay as they are, and are not locked: their owner may be about to change them.
 */
static bool
settle_rows(DpermTablesScope *scope, Oid relation, bool is_column, const char *id, bool all)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(dperm_reference_relation(relation))};
	uint64		count = dperm_tables_query(scope, is_column ?
										   "SELECT c.ctid, c.column_name, c.kept_by FROM %s.dp_protected_columns AS c WHERE c.pending OPERATOR(pg_catalog.=) $1" :
										   "SELECT r.ctid, r.relation_name, NULL FROM %s.dp_protected_relations AS r WHERE r.pending OPERATOR(pg_catalog.=) $1",
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

		if (!dperm_reference_bind(&reference, is_column))
		{
			if (!all && !(kept_by && strcmp(kept_by, id) == 0))
				continue;
			reference = is_column ? dperm_reference_settle(pending, relation) : dperm_reference_make(relation);
		}
		found |= write_reference(scope, is_column, row, reference);
	}
	return found;
}

/* Keep units. */
void
dperm_registry_keep(DpermTablesScope *scope, const char *id, List *units)
{
	Oid			reference = dperm_reference_type(scope, "dp_protected_columns", "column_name");
	ListCell   *cell;

	foreach(cell, units)
	{
		const DpermKeptUnit *unit = lfirst(cell);
		Oid			types[] = {TEXTOID, OIDOID, BOOLOID, reference};
		Datum		values[] = {CStringGetTextDatum(id), ObjectIdGetDatum(unit->relation), BoolGetDatum(!unit->mixed),
		dperm_reference_column(unit->relation, unit->unit)};

		/* whose name it has, restored for this budget, is this table */
		(void) settle_rows(scope, unit->relation, true, id, false);
		(void) dperm_tables_query(scope, "INSERT INTO %s.dp_protected_columns (column_name, listed, is_unit, kept_by) SELECT $4, false, $3, $1::pg_catalog.uuid"
								  " WHERE NOT EXISTS (SELECT FROM %s.dp_protected_columns AS c WHERE c.relation OPERATOR(pg_catalog.=) $2 AND c.kept_by OPERATOR(pg_catalog.=) $1::pg_catalog.uuid)", lengthof(types), types, values, NULL);
	}
}

/* A relation that charges a budget. */
char *
dperm_registry_charging(DpermTablesScope *scope, const DpermBudget *budget)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id)};
	char	   *found = NULL;

	PushActiveSnapshot(GetLatestSnapshot());
	(void) dperm_tables_execute(psprintf("SELECT coalesce(pending, relation::text) FROM %s.dp_protected_relations WHERE budget_id = $1::uuid ORDER BY 1 LIMIT 1",
								scope->schema),
					   lengthof(types), types, values, NULL, true);
	PopActiveSnapshot();
	if (SPI_processed > 0)
		found = TextDatumGetCString(answer(0, 1));
	return found;
}

/* All relations that charge a budget. */
List *
dperm_registry_charge(DpermTablesScope *scope, const DpermBudget *budget)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id)};
	uint64		count;

	PushActiveSnapshot(GetLatestSnapshot());
	count = dperm_tables_execute(psprintf("SELECT relation::pg_catalog.oid FROM %s.dp_protected_relations WHERE budget_id OPERATOR(pg_catalog.=) $1::pg_catalog.uuid AND pending IS NULL ORDER BY 1",
										  scope->schema), lengthof(types), types, values, NULL, true);
	PopActiveSnapshot();
	return dperm_tables_oids(count, 1);
}

/* The budget of a registration. */
DpermBudget *
dperm_registry_budget(DpermTablesScope *scope, const DpermRegistration *registration, bool lock)
{
	DpermBudget *budget = registration->budget && registration->budget_id ? dperm_budget_find(scope, registration->budget, lock) : NULL;

	return budget && strcmp(budget->id, registration->budget_id) == 0 ? budget : NULL;
}

/* Are two relations charged to the same budget? */
bool
dperm_registry_same_budget(const DpermRegistration *a, const DpermRegistration *b)
{
	return a->budget && b->budget && a->budget_id && b->budget_id && strcmp(a->budget, b->budget) == 0 && strcmp(a->budget_id, b->budget_id) == 0;
}

/* Those of some relations whose names restored registrations have. */
List *
dperm_registry_awaited(DpermTablesScope *scope, List *relations)
{
	Oid			types[] = {OIDARRAYOID, TEXTARRAYOID};
	Datum		values[2];
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, relations)
		if (dperm_reference_is_kind(lfirst_oid(cell)))
			tables = lappend_oid(tables, lfirst_oid(cell));
	if (tables == NIL)
		return NIL;
	relation_arrays(tables, values);
	(void) dperm_tables_query(scope, "SELECT n.oid FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS n (oid, name) WHERE EXISTS (SELECT FROM %s.dp_protected_relations AS r WHERE r.pending OPERATOR(pg_catalog.=) n.name)"
							  " OR EXISTS (SELECT FROM %s.dp_protected_columns AS c WHERE c.pending OPERATOR(pg_catalog.=) n.name)", lengthof(types), types, values, NULL);
	return dperm_tables_oids(SPI_processed, 1);
}

/*
 * Settle a relation. A registration is about a relation of the role that owned it when it was dumped; others could have relations of theirs charged to a budget, or end what is not about them. A
 * superuser is believed where they protect the relation.
 */
bool
dperm_registry_settle(DpermTablesScope *scope, Oid relation, bool own)
{
	bool		all = own && superuser_arg(scope->user);
	bool		found = settle_rows(scope, relation, false, NULL, all);

	(void) settle_rows(scope, relation, true, NULL, all);
	return found;
}

/* Forget the columns of the registrations of a relation; also those that have not found it. */
static void
forget_columns(DpermTablesScope *scope, Oid relation)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relation)};

	(void) dperm_tables_query(scope, "DELETE FROM %s.dp_protected_columns AS c WHERE c.registered_by OPERATOR(pg_catalog.=) ANY"
							  " (ARRAY(SELECT r.id FROM %s.dp_protected_relations AS r WHERE r.relation OPERATOR(pg_catalog.=) $1))", lengthof(types), types, values, NULL);
}

/* Write a registration in place of another. */
void
dperm_registry_write(DpermTablesScope *scope, const DpermRegistration *registration, const DpermRegisteredColumn *columns,
					 int count)
{
	Oid			types[] = {OIDOID, TEXTOID, BOOLOID, BOOLOID, TEXTOID, dperm_reference_type(scope, "dp_protected_relations", "relation_name"),
	dperm_reference_type(scope, "dp_protected_relations", "owner_name")};
	Datum		values[] = {ObjectIdGetDatum(registration->relation), CStringGetTextDatum(registration->budget), BoolGetDatum(registration->persons),
		BoolGetDatum(registration->all_columns), CStringGetTextDatum(registration->budget_id), dperm_reference_make(registration->relation),
	dperm_reference_make(dperm_tables_relation_owner(registration->relation))};
	Oid			column_type = dperm_reference_type(scope, "dp_protected_columns", "column_name");

	(void) dperm_registry_settle(scope, registration->relation, true);

	/* the relation is locked, so that there is one */
	forget_columns(scope, registration->relation);
	(void) dperm_tables_query(scope, "DELETE FROM %s.dp_protected_relations WHERE relation = $1", 1, types, values, NULL);
	if (dperm_tables_query(scope, "INSERT INTO %s.dp_protected_relations (relation_name, owner_name, budget, budget_id, persons, all_columns)"
						   " VALUES ($6, $7, $2, $5::uuid, $3, $4)", lengthof(types), types, values, NULL) != 1)
		elog(ERROR, "could not write a registration");
	for (int i = 0; i < count; i++)
	{
		Oid			column_types[] = {column_type, BOOLOID, BOOLOID, JSONBOID, OIDOID};
		Datum		column_values[] = {dperm_reference_column(registration->relation, columns[i].number),
			BoolGetDatum(columns[i].listed), BoolGetDatum(columns[i].is_unit),
		columns[i].domain ? JsonbPGetDatum(columns[i].domain) : (Datum) 0, values[0]};

		if (dperm_tables_query(scope, "INSERT INTO %s.dp_protected_columns (column_name, listed, is_unit, domain, registered_by)"
							   " SELECT $1, $2, $3, $4, r.id FROM %s.dp_protected_relations AS r WHERE r.relation OPERATOR(pg_catalog.=) $5",
							   lengthof(column_types), column_types, column_values, columns[i].domain ? "     " : "   n ") != 1)
			elog(ERROR, "could not write a registration");
	}
}

/* End the protection of a relation. Its row stays until the relation goes, so that this transaction cannot train unseen. */
void
dperm_registry_end(DpermTablesScope *scope, Oid relation)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relation)};

	if (dperm_tables_query(scope, "UPDATE %s.dp_protected_relations SET budget = NULL, budget_id = NULL WHERE relation = $1", lengthof(types), types, values, NULL) == 0)
		elog(ERROR, "could not end a registration");
	forget_columns(scope, relation);
}
