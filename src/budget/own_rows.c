/*
 * own_rows.c: read and write rows of the extension's tables without SQL.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "budget/own_rows.h"

PG_FUNCTION_INFO_V1(dperm_released);

/*
 * Find one of our tables, or raise an error. Nobody but a superuser creates
 * anything in our schema; but without the extension, it may be anybody's. That
 * this one belongs to the extension is looked up once.
 */
Oid
dperm_own_rows_table(const char *name)
{
	static Oid	ours;
	Oid			schema = get_namespace_oid("dperm", true);
	Oid			table = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;

	if (OidIsValid(table) && schema != ours)
	{
		Oid			extension = getExtensionOfObject(NamespaceRelationId, schema);

		if (OidIsValid(extension) && extension == get_extension_oid("dperm", true))
			ours = schema;
	}
	if (!OidIsValid(table) || schema != ours)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension dperm is not installed in this database"),
				 errhint("Run CREATE EXTENSION dperm and commit.")));
	return table;
}

/* The number of a column, which may be a system column. */
static AttrNumber
column_number(TupleDesc desc, const char *column)
{
	int			number = SPI_fnumber(desc, column);

	if (number == SPI_ERROR_NOATTRIBUTE)
		elog(ERROR, "a table of dperm has no column \"%s\"", column);
	return number;
}

/*
 * The index named after the table and the column; InvalidOid if it is not valid,
 * since it need not contain all rows then.
 */
static Oid
find_index(Relation table, const char *column)
{
	char	   *name = psprintf("%s_%s", RelationGetRelationName(table),
								strcmp(column, "id") == 0 ? "pkey" : column);
	Oid			index = get_relname_relid(name, RelationGetNamespace(table));

	return OidIsValid(index) && get_index_isvalid(index) ? index : InvalidOid;
}

/*
 * The condition that a column has a value. To look up the operator would take a
 * new process as long as the rest of a charge.
 */
static ScanKeyData
equals(TupleDesc desc, const char *column, Datum value)
{
	AttrNumber	number = column_number(desc, column);
	Oid			type = TupleDescAttr(desc, number - 1)->atttypid;
	ScanKeyData key;

	ScanKeyInit(&key, number, BTEqualStrategyNumber,
				type == UUIDOID ? F_UUID_EQ : type == TEXTOID ? F_TEXTEQ :
				type == NAMEOID ? F_NAMEEQ : type == INT8OID ? F_INT8EQ : F_OIDEQ,
				value);
	return key;
}

/* A snapshot of the latest state. */
Snapshot
dperm_own_rows_newest(void)
{
	return RegisterSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
}

/* Add a copy of a row, with its values detoasted. */
static void
append_row(DpermOwnRows *rows, HeapTuple tuple)
{
	rows->rows = rows->count == 0 ? palloc(sizeof(HeapTuple)) :
		repalloc(rows->rows, sizeof(HeapTuple) * (rows->count + 1));
	rows->rows[rows->count++] = HeapTupleHasExternal(tuple) ?
		toast_flatten_tuple(tuple, rows->desc) : heap_copytuple(tuple);
}

/*
 * Visit the rows in which a column has a value: add them to those found, or only
 * count those in which another column is NULL.
 */
static DpermOwnRows
visit_rows(const char *name, const char *column, Datum value, Snapshot snapshot, const char *null)
{
	Relation	table = table_open(dperm_own_rows_table(name), AccessShareLock);
	Oid			index = find_index(table, column);
	DpermOwnRows found = {
		.table = RelationGetRelid(table),
		.desc = CreateTupleDescCopy(RelationGetDescr(table))
	};
	ScanKeyData key = equals(found.desc, column, value);
	Snapshot	used = snapshot ? snapshot : dperm_own_rows_newest();
	SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), used, 1, &key);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		if (null == NULL)
			append_row(&found, tuple);
		else
			found.count += heap_attisnull(tuple, column_number(found.desc, null), found.desc);
	systable_endscan(scan);
	if (snapshot == NULL)
		UnregisterSnapshot(used);
	table_close(table, NoLock);
	return found;
}

/* Find rows. */
DpermOwnRows
dperm_own_rows_find(const char *table, const char *column, Datum value, Snapshot snapshot)
{
	return visit_rows(table, column, value, snapshot, NULL);
}

/* Count rows. */
int
dperm_own_rows_count(const char *table, const char *column, Datum value, const char *null)
{
	return visit_rows(table, column, value, NULL, null).count;
}

/* Does the table have a row? */
bool
dperm_own_rows_any(const char *name)
{
	Relation	table = table_open(dperm_own_rows_table(name), AccessShareLock);
	Snapshot	snapshot = dperm_own_rows_newest();
	SysScanDesc scan = systable_beginscan(table, InvalidOid, false, snapshot, 0, NULL);
	bool		any = HeapTupleIsValid(systable_getnext(scan));

	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(table, NoLock);
	return any;
}

/*
 * dperm_released(budget_id, entry): does the latest state have a release of an
 * entry, whatever the snapshot of the query has?
 */
Datum
dperm_released(PG_FUNCTION_ARGS)
{
	Relation	table = table_open(dperm_own_rows_table("releases"), AccessShareLock);
	Oid			index = find_index(table, "id");	/* the primary key */
	Snapshot	snapshot = dperm_own_rows_newest();
	ScanKeyData keys[2] = {
		equals(RelationGetDescr(table), "budget_id", PG_GETARG_DATUM(0)),
		equals(RelationGetDescr(table), "entry", PG_GETARG_DATUM(1))
	};
	SysScanDesc scan =
		systable_beginscan(table, index, OidIsValid(index), snapshot, lengthof(keys), keys);
	bool		found;

	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(table, NoLock);
	PG_RETURN_BOOL(found);
}

/* The units of a release: the index has only those that are kept and have some. */
int64
dperm_own_rows_units(const char *registration)
{
	Relation	table = table_open(dperm_own_rows_table("releases"), AccessShareLock);
	Oid			index = find_index(table, "units");
	int64		units = 0;

	if (OidIsValid(index))
	{
		TupleDesc	desc = RelationGetDescr(table);
		Relation	newest_last = index_open(index, AccessShareLock);
		Snapshot	snapshot = dperm_own_rows_newest();
		ScanKeyData key = equals(desc, "protected", dperm_own_rows_uuid(registration));
		SysScanDesc scan = systable_beginscan_ordered(table, newest_last, snapshot, 1, &key);
		HeapTuple	tuple = systable_getnext_ordered(scan, BackwardScanDirection);
		bool		isnull;

		if (HeapTupleIsValid(tuple))
			units = DatumGetInt64(heap_getattr(tuple, column_number(desc, "units"), desc,
											   &isnull));
		systable_endscan_ordered(scan);
		UnregisterSnapshot(snapshot);
		index_close(newest_last, NoLock);
	}
	table_close(table, NoLock);
	return units;
}

/* A column. */
Datum
dperm_own_rows_value(const DpermOwnRows *rows, int row, const char *column)
{
	bool		isnull;
	Datum		value = heap_getattr(rows->rows[row], column_number(rows->desc, column), rows->desc,
									 &isnull);

	return isnull ? (Datum) 0 : value;
}

/* A column as text. */
char *
dperm_own_rows_text(const DpermOwnRows *rows, int row, const char *column)
{
	return SPI_getvalue(rows->rows[row], rows->desc, column_number(rows->desc, column));
}

/* An amount. */
DpermAmount
dperm_own_rows_amount(const DpermOwnRows *rows, int row, const char *column)
{
	char	   *text = dperm_own_rows_text(rows, row, column);
	DpermAmount amount;

	if (text == NULL || !dperm_amount_read(text, &amount))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("invalid amount \"%s\" in the table of budgets", text ? text : "NULL")));
	return amount;
}

/* A uuid. */
Datum
dperm_own_rows_uuid(const char *text)
{
	return DirectFunctionCall1(uuid_in, CStringGetDatum(text));
}

/* An amount as numeric. */
Datum
dperm_own_rows_numeric(DpermAmount amount)
{
	char		text[DPERM_AMOUNT_TEXT];

	dperm_amount_print(amount, text);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/* Was a row written by this transaction? */
bool
dperm_own_rows_is_fresh(const DpermOwnRows *rows, int row)
{
	return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(rows->rows[row]->t_data));
}

/* Lock the latest version of a row. */
bool
dperm_own_rows_lock(DpermOwnRows *rows, int row)
{
	Relation	table;
	TupleTableSlot *slot;
	Snapshot	snapshot;
	TM_FailureData failure;
	bool		locked;

	PreventCommandIfReadOnly("SELECT FOR UPDATE");
	table = table_open(rows->table, RowShareLock);
	slot = table_slot_create(table, NULL);
	snapshot = dperm_own_rows_newest();
	locked = table_tuple_lock(table, &rows->rows[row]->t_self, snapshot, slot,
							  GetCurrentCommandId(false), LockTupleExclusive, LockWaitBlock,
							  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure) == TM_Ok;
	if (locked)
		rows->rows[row] = ExecCopySlotHeapTuple(slot);
	UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	table_close(table, NoLock);
	return locked;
}

/*
 * Insert a row, or update one, as the owner of the table, and make the change
 * visible to what follows.
 */
static void
write_row(Oid relation, HeapTuple old, const DpermOwnField *fields, int count)
{
	Relation	table;
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *result = makeNode(ResultRelInfo);
	TupleTableSlot *slot;
	Oid			user;
	int			security;

	PreventCommandIfReadOnly("UPDATE");
	table = table_open(relation, RowExclusiveLock);
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(table->rd_rel->relowner, security | SECURITY_LOCAL_USERID_CHANGE);
	estate->es_output_cid = GetCurrentCommandId(true);
	estate->es_snapshot = GetActiveSnapshot();
	InitResultRelInfo(result, table, 0, NULL, 0);
	result->ri_TrigDesc = NULL;
	ExecOpenIndices(result, false);

	slot = table_slot_create(table, &estate->es_tupleTable);
	if (old)
		heap_deform_tuple(old, RelationGetDescr(table), slot->tts_values, slot->tts_isnull);
	else
		memset(slot->tts_isnull, true, RelationGetDescr(table)->natts);
	for (int i = 0; i < count; i++)
	{
		int			at = column_number(RelationGetDescr(table), fields[i].column) - 1;

		slot->tts_values[at] = fields[i].value;
		slot->tts_isnull[at] = fields[i].value == 0;
	}
	ExecStoreVirtualTuple(slot);
	ExecMaterializeSlot(slot);
	if (old)
	{
		TupleTableSlot *before = table_slot_create(table, &estate->es_tupleTable);

		ExecForceStoreHeapTuple(old, before, false);
		before->tts_tid = old->t_self;
		/* only a trigger would need to check conditions again */
		ExecSimpleRelationUpdate(result, estate, NULL, before, slot);
	}
	else
		ExecSimpleRelationInsert(result, estate, slot);

	ExecCloseIndices(result);
	ExecResetTupleTable(estate->es_tupleTable, false);
	FreeExecutorState(estate);
	table_close(table, NoLock);
	SetUserIdAndSecContext(user, security);
	CommandCounterIncrement();
}

/* Insert a row. */
void
dperm_own_rows_insert(const char *table, const DpermOwnField *fields, int count)
{
	write_row(dperm_own_rows_table(table), NULL, fields, count);
}

/* Update a row. */
void
dperm_own_rows_update(DpermOwnRows *rows, int row, const DpermOwnField *fields, int count)
{
	if (!dperm_own_rows_lock(rows, row))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("a row of table \"%s\" has just been deleted", get_rel_name(rows->table)),
				 errhint("Try again.")));
	write_row(rows->table, rows->rows[row], fields, count);
}
