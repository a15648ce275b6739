/* kept_unit_rows.c: the rows of our table that keep units for budgets. */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "budget/object_name.h"
#include "budget/own_rows.h"
#include "protect/kept_unit_rows.h"
#include "protect/registry.h"

/*
 * Which of the relations a kept unit belongs to, by OID or by the name that it
 * was restored with; InvalidOid for none.
 */
static Oid
kept_relation(List *relations, Oid relation, Datum pending)
{
	ListCell   *cell;

	if (!pending)
		return list_member_oid(relations, relation) ? relation : InvalidOid;
	foreach(cell, relations)
		if (strcmp(dperm_object_name_relation(lfirst_oid(cell)), TextDatumGetCString(pending)) == 0)
			return lfirst_oid(cell);
	return InvalidOid;
}

/* A column; 0 if it has been dropped. */
static AttrNumber
live_column(Oid relation, AttrNumber number)
{
	HeapTuple	tuple = number > 0 ? SearchSysCacheAttNum(relation, number) : NULL;

	if (!HeapTupleIsValid(tuple))
		return 0;
	ReleaseSysCache(tuple);
	return number;
}

/* By relation, so that errors are reproducible. */
static int
compare_units(const ListCell *a, const ListCell *b)
{
	Oid			one = ((const DpermKeptUnit *) lfirst(a))->relation;
	Oid			other = ((const DpermKeptUnit *) lfirst(b))->relation;

	return (one > other) - (one < other);
}

/* The units that are kept for a budget. */
List *
dperm_kept_unit_rows_find(const char *id, List *relations)
{
	DpermOwnRows rows = {.count = 0};
	List	   *found = NIL;

	if (id)
		rows = dperm_own_rows_find("dp_protected_columns", "kept_by", dperm_own_rows_uuid(id));
	for (int i = 0; i < rows.count; i++)
	{
		Datum		pending = dperm_own_rows_value(&rows, i, "pending");
		Oid			relation = kept_relation(
			relations, DatumGetObjectId(dperm_own_rows_value(&rows, i, "relation")), pending);
		DpermKeptUnit *unit;

		if (!OidIsValid(relation))
			continue;
		unit = palloc(sizeof(*unit));
		*unit =
			(DpermKeptUnit) {.relation = relation,
							 .mixed = !DatumGetBool(dperm_own_rows_value(&rows, i, "is_unit")),
							 .changed = TransactionIdIsCurrentTransactionId(
								 DatumGetTransactionId(dperm_own_rows_value(&rows, i, "xmin")))};
		unit->unit = pending ? dperm_object_name_number(dperm_object_name_settle(
								   dperm_own_rows_value(&rows, i, "column_name"), relation)) :
							   live_column(relation,
										   DatumGetInt16(dperm_own_rows_value(&rows, i, "number")));
		found = lappend(found, unit);
	}
	list_sort(found, compare_units);
	return found;
}

/* Forget all units of a budget. */
void
dperm_kept_unit_rows_forget(DpermTablesScope *scope, const DpermBudget *budget)
{
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id)};

	(void) dperm_own_tables_query(scope,
								  "DELETE FROM dperm.dp_protected_columns WHERE kept_by "
								  "OPERATOR(pg_catalog.=) "
								  "$1::pg_catalog.uuid",
								  lengthof(types), types, values, NULL);
}

/* Keep units. */
void
dperm_kept_unit_rows_add(DpermTablesScope *scope, const char *id, List *units)
{
	Oid			reference = dperm_object_name_type("dp_protected_columns", "column_name");
	ListCell   *cell;

	foreach(cell, units)
	{
		const DpermKeptUnit *unit = lfirst(cell);
		Oid			types[] = {TEXTOID, OIDOID, BOOLOID, reference};
		Datum		values[] = {CStringGetTextDatum(id), ObjectIdGetDatum(unit->relation),
						  BoolGetDatum(!unit->mixed),
						  dperm_object_name_column(unit->relation, unit->unit)};

		/*
		 * a unit restored for this budget with the name of this table belongs
		 * to it
		 */
		dperm_registry_settle_kept(scope, unit->relation, id);
		(void) dperm_own_tables_query(scope, "INSERT INTO dperm.dp_protected_columns (column_name, "
											 "listed, is_unit, kept_by) SELECT $4, false, $3, "
											 "$1::pg_catalog.uuid"
								  " WHERE NOT EXISTS (SELECT FROM dperm.dp_protected_columns AS c "
								  "WHERE c.relation OPERATOR(pg_catalog.=) $2 AND c.kept_by "
								  "OPERATOR(pg_catalog.=) "
								  "$1::pg_catalog.uuid)", lengthof(types), types, values, NULL);
	}
}
