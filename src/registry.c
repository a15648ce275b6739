/*
 * registry.c: the registrations of protected relations.
 *
 * Tables and columns are registered by OID and number, so that renaming them changes nothing. A dump has their names instead, and
 * what is restored from it finds other OIDs and numbers: a registration also notes the place where its numbers are right, and
 * anywhere else its names count. A relation that was not there yet when its registration was restored is known by its name, and cannot be used
 * until that is settled. An event trigger keeps the names right, and removes what has been dropped (registry_sync.c).
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "reference.h"
#include "registry.h"

/* The part of a place that all relations of this database share. */
Datum
dperm_registry_place(void)
{
	return CStringGetTextDatum(psprintf(UINT64_FORMAT "/%u/", GetSystemIdentifier(), MyDatabaseId));
}

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
enter_newest(DpermBudgetScope *scope)
{
	dperm_budget_enter(scope);

	/* a query with parallel workers keeps to its snapshot; only aggregates look here in one */
	PushActiveSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
}

/* Leave it. */
static void
leave_newest(DpermBudgetScope *scope)
{
	PopActiveSnapshot();
	dperm_budget_leave(scope);
}

/* Fill in the columns of a registration. */
static void
find_columns(DpermBudgetScope *scope, DpermRegistration *registration)
{
	Oid			types[] = {TEXTOID, OIDOID};
	Datum		values[] = {dperm_registry_place(), ObjectIdGetDatum(registration->relation)};
	JsonbParseState *state = NULL;
	JsonbValue *domains;
	bool		any = false;

	(void) dperm_budget_execute(psprintf("SELECT a.attnum, a.attname, c.listed, c.is_unit, c.domain FROM %s.dp_protected_relations AS r, "
						  "%s.dp_protected_columns AS c, pg_catalog.pg_attribute AS a "
						  "WHERE r.relation OPERATOR(pg_catalog.=) $2 AND c.relation OPERATOR(pg_catalog.=) $2 "
						  "AND a.attrelid OPERATOR(pg_catalog.=) $2 AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped AND c.kept_by IS NULL "
						  "AND CASE WHEN r.place OPERATOR(pg_catalog.=) ($1 OPERATOR(pg_catalog.||) $2::pg_catalog.text) "
						  "THEN a.attnum OPERATOR(pg_catalog.=) c.number ELSE a.attname OPERATOR(pg_catalog.=) c.name END",
						  scope->schema, scope->schema),
				 lengthof(types), types, values, NULL, true);
	(void) pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		AttrNumber	number = DatumGetInt16(answer(i, 1));
		Datum		domain = answer(i, 5);
		MemoryContext spi = MemoryContextSwitchTo(scope->caller);

		if (DatumGetBool(answer(i, 3)))
			registration->columns = lappend_int(registration->columns, number);
		if (DatumGetBool(answer(i, 4)))
			registration->unit = number;
		MemoryContextSwitchTo(spi);
		if (domain)
		{
			JsonbValue	key = {.type = jbvString};
			JsonbValue	value;

			key.val.string.val = pstrdup(NameStr(*DatumGetName(answer(i, 2))));
			key.val.string.len = strlen(key.val.string.val);
			(void) pushJsonbValue(&state, WJB_KEY, &key);
			JsonbToJsonbValue(DatumGetJsonbP(domain), &value);
			(void) pushJsonbValue(&state, WJB_VALUE, &value);
			any = true;
		}
	}
	domains = pushJsonbValue(&state, WJB_END_OBJECT, NULL);
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
	DpermBudgetScope scope;
	DpermRegistration *registration = NULL;
	Oid			types[] = {OIDOID, TEXTOID};
	Datum		values[] = {ObjectIdGetDatum(relation), CStringGetTextDatum(dperm_reference_relation(relation))};

	enter_newest(&scope);

	/* there may be two, after a restore; which one does not matter then (debit.c) as long as it has a budget */
	(void) dperm_budget_execute(psprintf("SELECT budget, xmin, persons, all_columns, budget_id FROM %s.dp_protected_relations "
						  "WHERE relation = $1 OR pending = $2 ORDER BY budget IS NULL", scope.schema),
				 lengthof(types), types, values, NULL, true);
	if (SPI_processed > 0)
	{
		Datum		budget = answer(0, 1);

		registration = MemoryContextAllocZero(scope.caller, sizeof(*registration));
		registration->relation = relation;
		if (budget)
			registration->budget = MemoryContextStrdup(scope.caller, TextDatumGetCString(budget));
		if (answer(0, 5))
			registration->budget_id = MemoryContextStrdup(scope.caller, dperm_budget_value(0, 5));
		registration->version = DatumGetTransactionId(answer(0, 2));
		registration->persons = DatumGetBool(answer(0, 3));
		registration->all_columns = DatumGetBool(answer(0, 4));
		find_columns(&scope, registration);
	}
	leave_newest(&scope);
	return registration;
}

/* Is anything registered? Most databases protect nothing. */
bool
dperm_registry_any(void)
{
	DpermBudgetScope scope;
	bool		any;

	enter_newest(&scope);
	any = dperm_budget_execute(psprintf("SELECT FROM %s.dp_protected_relations LIMIT 1", scope.schema), 0, NULL, NULL, NULL, true) > 0;
	leave_newest(&scope);
	return any;
}

/* Those of some relations that are protected, or were when this transaction began. */
List *
dperm_registry_among(List *relations)
{
	DpermBudgetScope scope;
	List	   *found = NIL;
	List	   *ordered = NIL;
	ListCell   *cell;
	Oid			types[] = {OIDARRAYOID, TEXTARRAYOID};
	int			count = list_length(relations);
	Datum	   *oids = palloc(sizeof(Datum) * Max(count, 1));
	Datum	   *names = palloc(sizeof(Datum) * Max(count, 1));
	Datum		values[2];

	for (int i = 0; i < count; i++)
	{
		oids[i] = ObjectIdGetDatum(list_nth_oid(relations, i));
		names[i] = CStringGetTextDatum(dperm_reference_relation(list_nth_oid(relations, i)));
	}
	values[0] = PointerGetDatum(construct_array(oids, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
	values[1] = PointerGetDatum(construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT));
	enter_newest(&scope);
	(void) dperm_budget_execute(psprintf("SELECT relation::oid, budget, xmin FROM %s.dp_protected_relations WHERE relation = ANY ($1) "
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

/* The units that are kept for a budget. */
List *
dperm_registry_kept(const char *budget, List *relations)
{
	DpermBudgetScope scope;
	List	   *found = NIL;
	Oid			types[] = {TEXTOID, TEXTOID, OIDARRAYOID};
	Datum	   *oids = palloc(sizeof(Datum) * Max(list_length(relations), 1));
	Datum		values[] = {dperm_registry_place(), CStringGetTextDatum(budget), (Datum) 0};

	for (int i = 0; i < list_length(relations); i++)
		oids[i] = ObjectIdGetDatum(list_nth_oid(relations, i));
	values[2] = PointerGetDatum(construct_array(oids, list_length(relations), OIDOID, sizeof(Oid), true, TYPALIGN_INT));
	enter_newest(&scope);
	(void) dperm_budget_execute(psprintf("SELECT c.relation::pg_catalog.oid, a.attnum, NOT c.is_unit, c.xmin FROM %s.dp_protected_columns AS c "
								"JOIN %s.dp_protected_relations AS r ON r.relation OPERATOR(pg_catalog.=) c.relation "
								"LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.relation "
								"AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped "
								"AND CASE WHEN r.place OPERATOR(pg_catalog.=) ($1 OPERATOR(pg_catalog.||) c.relation::pg_catalog.oid::pg_catalog.text) "
								"THEN a.attnum OPERATOR(pg_catalog.=) c.number ELSE a.attname OPERATOR(pg_catalog.=) c.name END "
								"WHERE c.kept_by OPERATOR(pg_catalog.=) $2%s ORDER BY 1", scope.schema, scope.schema,
								relations ? " AND c.relation OPERATOR(pg_catalog.=) ANY ($3) AND r.relation OPERATOR(pg_catalog.=) ANY ($3)" : ""),
					   lengthof(types), types, values, NULL, true);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext spi = MemoryContextSwitchTo(scope.caller);
		DpermKeptUnit *unit = palloc(sizeof(*unit));

		*unit = (DpermKeptUnit) {.relation = DatumGetObjectId(answer(i, 1)), .unit = DatumGetInt16(answer(i, 2)), .mixed = DatumGetBool(answer(i, 3)),
		.changed = TransactionIdIsCurrentTransactionId(DatumGetTransactionId(answer(i, 4)))};
		found = lappend(found, unit);
		MemoryContextSwitchTo(spi);
	}
	leave_newest(&scope);
	return found;
}

/* Forget a unit, or all of a budget. */
void
dperm_registry_forget(DpermBudgetScope *scope, const char *budget, Oid relation)
{
	Oid			types[] = {TEXTOID, OIDOID};
	Datum		values[] = {CStringGetTextDatum(budget), ObjectIdGetDatum(relation)};

	(void) dperm_budget_query(scope, OidIsValid(relation) ? "DELETE FROM %s.dp_protected_columns WHERE kept_by = $1 AND relation = $2" :
							  "DELETE FROM %s.dp_protected_columns WHERE kept_by = $1", lengthof(types), types, values, NULL);
}

/* Keep units. */
void
dperm_registry_keep(DpermBudgetScope *scope, const char *budget, List *units)
{
	Oid			reference = dperm_reference_type(scope, "dp_protected_columns", "relation_name");
	ListCell   *cell;

	foreach(cell, units)
	{
		const DpermKeptUnit *unit = lfirst(cell);
		const char *name = unit->unit ? get_attname(unit->relation, unit->unit, false) : "";
		Oid			types[] = {TEXTOID, OIDOID, INT2OID, NAMEOID, BOOLOID, TEXTOID, reference};
		Datum		values[] = {CStringGetTextDatum(budget), ObjectIdGetDatum(unit->relation), Int16GetDatum(unit->unit),
		DirectFunctionCall1(namein, CStringGetDatum(name)), BoolGetDatum(!unit->mixed), dperm_registry_place(), dperm_reference_make(unit->relation)};

		(void) dperm_budget_query(scope, "INSERT INTO %s.dp_protected_relations (relation_name, place, persons, all_columns) SELECT $7, $6 || $2::text, false, true"
								  " WHERE NOT EXISTS (SELECT FROM %s.dp_protected_relations WHERE relation = $2)", lengthof(types), types, values, NULL);
		(void) dperm_budget_query(scope, "INSERT INTO %s.dp_protected_columns (relation_name, name, number, listed, is_unit, kept_by) SELECT $7, $4, $3, false, $5, $1"
								  " WHERE NOT EXISTS (SELECT FROM %s.dp_protected_columns WHERE relation = $2 AND kept_by = $1)", lengthof(types), types, values, NULL);
	}
}

/* A relation that charges a budget. */
char *
dperm_registry_charging(DpermBudgetScope *scope, const DpermBudget *budget)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id)};
	char	   *found = NULL;

	PushActiveSnapshot(GetLatestSnapshot());
	(void) dperm_budget_execute(psprintf("SELECT coalesce(pending, relation::text) FROM %s.dp_protected_relations WHERE budget_id = $1::uuid ORDER BY 1 LIMIT 1",
								scope->schema),
					   lengthof(types), types, values, NULL, true);
	PopActiveSnapshot();
	if (SPI_processed > 0)
		found = TextDatumGetCString(answer(0, 1));
	return found;
}

/* All relations that charge a budget. */
List *
dperm_registry_charge(DpermBudgetScope *scope, const DpermBudget *budget)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id)};
	List	   *found = NIL;
	uint64		count;

	PushActiveSnapshot(GetLatestSnapshot());
	count = dperm_budget_execute(psprintf("SELECT relation::pg_catalog.oid FROM %s.dp_protected_relations WHERE budget_id OPERATOR(pg_catalog.=) $1::pg_catalog.uuid AND pending IS NULL ORDER BY 1",
										  scope->schema), lengthof(types), types, values, NULL, true);
	PopActiveSnapshot();
	for (uint64 i = 0; i < count; i++)
		found = lappend_oid(found, dperm_budget_oid(i, 1));
	return found;
}

/* The budget of a registration. */
DpermBudget *
dperm_registry_budget(DpermBudgetScope *scope, const DpermRegistration *registration, bool lock)
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

/* Settle a relation. */
void
dperm_registry_settle(DpermBudgetScope *scope, Oid relation)
{
	static const char *const statements[] = {
		"UPDATE %s.dp_protected_relations SET relation_name = $1 WHERE pending = $2",
		"UPDATE %s.dp_protected_columns SET relation_name = $1 WHERE pending = $2"
	};
	Oid			types[] = {dperm_reference_type(scope, "dp_protected_relations", "relation_name"), TEXTOID};
	Datum		values[] = {dperm_reference_make(relation), CStringGetTextDatum(dperm_reference_relation(relation))};

	for (int i = 0; i < lengthof(statements); i++)
		(void) dperm_budget_query(scope, statements[i], lengthof(types), types, values, NULL);
}

/* Write a registration in place of another. */
void
dperm_registry_write(DpermBudgetScope *scope, const DpermRegistration *registration, const DpermRegisteredColumn *columns,
					 int count)
{
	Oid			types[] = {TEXTOID, OIDOID, TEXTOID, BOOLOID, BOOLOID, TEXTOID, dperm_reference_type(scope, "dp_protected_relations", "relation_name")};
	Datum		values[] = {dperm_registry_place(), ObjectIdGetDatum(registration->relation),
		CStringGetTextDatum(registration->budget), BoolGetDatum(registration->persons),
	BoolGetDatum(registration->all_columns), CStringGetTextDatum(registration->budget_id), dperm_reference_make(registration->relation)};

	dperm_registry_settle(scope, registration->relation);

	/* units that are kept for other budgets had their numbers elsewhere, if this is a copy of the database */
	(void) dperm_budget_execute(psprintf("UPDATE %s.dp_protected_columns AS c SET number = a.attnum FROM %s.dp_protected_relations AS r, pg_catalog.pg_attribute AS a "
						  "WHERE c.relation OPERATOR(pg_catalog.=) $2 AND c.kept_by IS NOT NULL AND r.relation OPERATOR(pg_catalog.=) c.relation "
						  "AND r.place OPERATOR(pg_catalog.<>) ($1 OPERATOR(pg_catalog.||) $2::pg_catalog.text) "
						  "AND a.attrelid OPERATOR(pg_catalog.=) c.relation AND a.attname OPERATOR(pg_catalog.=) c.name", scope->schema, scope->schema),
				 2, types, values, NULL, false);

	/* the relation is locked, so that there is one */
	(void) dperm_budget_query(scope, "DELETE FROM %s.dp_protected_relations WHERE relation = $1", 1, &types[1], &values[1], NULL);
	if (dperm_budget_query(scope, "INSERT INTO %s.dp_protected_relations (relation_name, budget, budget_id, place, persons, all_columns)"
						   " VALUES ($7, $3, $6::uuid, $1 || $2::text, $4, $5)", lengthof(types), types, values, NULL) != 1)
		elog(ERROR, "could not write a registration");
	(void) dperm_budget_execute(psprintf("DELETE FROM %s.dp_protected_columns WHERE relation OPERATOR(pg_catalog.=) $1 AND kept_by IS NULL", scope->schema), 1,
				 &types[1], &values[1], NULL, false);
	for (int i = 0; i < count; i++)
	{
		Oid			column_types[] = {types[6], NAMEOID, INT2OID, BOOLOID, BOOLOID, JSONBOID};
		char	   *name = get_attname(registration->relation, columns[i].number, false);
		Datum		column_values[] = {values[6],
			DirectFunctionCall1(namein, CStringGetDatum(name)), Int16GetDatum(columns[i].number),
			BoolGetDatum(columns[i].listed), BoolGetDatum(columns[i].is_unit),
		columns[i].domain ? JsonbPGetDatum(columns[i].domain) : (Datum) 0};

		if (dperm_budget_query(scope, "INSERT INTO %s.dp_protected_columns (relation_name, name, number, listed, is_unit, domain)"
							   " VALUES ($1, $2, $3, $4, $5, $6)",
							   lengthof(column_types), column_types, column_values, columns[i].domain ? "      " : "     n") != 1)
			elog(ERROR, "could not write a registration");
	}
}

/* End the protection of a relation. Its row stays until the relation goes, so that this transaction cannot train unseen. */
void
dperm_registry_end(DpermBudgetScope *scope, Oid relation)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relation)};

	dperm_registry_settle(scope, relation);
	if (dperm_budget_query(scope, "UPDATE %s.dp_protected_relations SET budget = NULL, budget_id = NULL WHERE relation = $1", lengthof(types), types, values, NULL) == 0)
		elog(ERROR, "could not end a registration");
	(void) dperm_budget_execute(psprintf("DELETE FROM %s.dp_protected_columns WHERE relation OPERATOR(pg_catalog.=) $1 AND kept_by IS NULL", scope->schema),
				 lengthof(types), types, values, NULL, false);
}
