/*
 * own_rows.c: read and write rows of the extension's tables without SQL. Trusted.
 *
 * A statement would have to be parsed and planned by every process that reads a
 * protected relation. Here privileges and search path do not matter, and no
 * trigger runs, so that no foreign key is checked: CHECK constraints and unique
 * indexes are.
 *
 * And dperm_role_name, roles in these tables, which are dumped by name. It is like
 * regrole: stored as an OID, so that it survives renaming, and dumped as a name.
 * But it accepts any name. A dump is restored table by table, and each of our
 * tables has rows of many roles: a name that does not exist must not prevent the
 * other rows from being restored. Such a name is kept as a name, and refers to
 * nobody. No OID is ever dumped: in another cluster it would be that of another
 * role. For the same reason a role that was dropped, or was missing, is not
 * dumped under its name alone, which may belong to another role by then: no role
 * can have a name that begins with "pg_" but those that PostgreSQL comes with.
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
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "budget/budget.h"

PG_FUNCTION_INFO_V1(dperm_released);
PG_FUNCTION_INFO_V1(dperm_role_name_in);
PG_FUNCTION_INFO_V1(dperm_role_name_out);
PG_FUNCTION_INFO_V1(dperm_role_of);

/* A scan of one of our tables. */
typedef struct RowScan
{
	Relation	table;
	Snapshot	latest;			/* to be unregistered; NULL: there is another one */
	SysScanDesc scan;
} RowScan;

/* A value of dperm_role_name. */
typedef struct RoleName
{
	int32		vl_len_;
	Oid			role;			/* InvalidOid: there was none of this name */
	char		name[FLEXIBLE_ARRAY_MEMBER];	/* when it was written; zero-terminated */
} RoleName;

/* What precedes the name of a role that was dropped, or was missing. */
#define DROPPED "pg_dropped:"

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
 * The condition that a column has a value: an oid, a uuid, a number, a name, or a
 * text of collation "C". To look up the operator would take a new process as
 * long as the rest of a charge.
 */
static ScanKeyData
equals(TupleDesc desc, const DpermOwnField *field)
{
	AttrNumber	number = column_number(desc, field->column);
	Oid			type = TupleDescAttr(desc, number - 1)->atttypid;
	ScanKeyData key;

	ScanKeyInit(&key, number, BTEqualStrategyNumber,
				type == UUIDOID ? F_UUID_EQ : type == TEXTOID ? F_TEXTEQ :
				type == NAMEOID ? F_NAMEEQ : type == INT8OID ? F_INT8EQ : F_OIDEQ,
				field->value);
	return key;
}

/*
 * A snapshot of the latest state, including the changes of this transaction,
 * whatever its own snapshot is. A query with parallel workers uses that. What is
 * found with one snapshot fits together. It is to be unregistered.
 */
Snapshot
dperm_own_rows_newest(void)
{
	return RegisterSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
}

/*
 * Begin to read the rows in which columns have values, by the index of a column,
 * in the state of a snapshot or the latest.
 */
static RowScan
begin_scan(const char *name, const char *indexed, const DpermOwnField *fields, int count,
		   Snapshot snapshot)
{
	Relation	table = table_open(dperm_own_rows_table(name), AccessShareLock);
	Oid			index = find_index(table, indexed);
	Snapshot	latest = snapshot ? NULL : dperm_own_rows_newest();
	ScanKeyData keys[2];

	for (int i = 0; i < count; i++)
		keys[i] = equals(RelationGetDescr(table), &fields[i]);
	return (RowScan) {
		.table = table,
		.latest = latest,
		.scan = systable_beginscan(table, index, OidIsValid(index), latest ? latest : snapshot,
								   count, keys)
	};
}

/* End a scan. */
static void
end_scan(RowScan *scan)
{
	systable_endscan(scan->scan);
	if (scan->latest)
		UnregisterSnapshot(scan->latest);
	table_close(scan->table, NoLock);
}

/*
 * The rows in which a column has a value, detoasted, in the latest state, or in
 * that of a snapshot.
 */
DpermOwnRows
dperm_own_rows_find(const char *table, const char *column, Datum value, Snapshot snapshot)
{
	RowScan		scan = begin_scan(table, column, &(DpermOwnField) {column, value}, 1, snapshot);
	DpermOwnRows found = {
		.table = RelationGetRelid(scan.table),
		.desc = CreateTupleDescCopy(RelationGetDescr(scan.table)),
		.rows = palloc(sizeof(HeapTuple))
	};
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan.scan)))
	{
		found.rows = repalloc(found.rows, sizeof(HeapTuple) * (found.count + 1));
		found.rows[found.count++] = HeapTupleHasExternal(tuple) ?
			toast_flatten_tuple(tuple, found.desc) : heap_copytuple(tuple);
	}
	end_scan(&scan);
	return found;
}

/* The number of such rows in which another column is NULL. */
int
dperm_own_rows_count(const char *table, const char *column, Datum value, const char *null)
{
	RowScan		scan = begin_scan(table, column, &(DpermOwnField) {column, value}, 1, NULL);
	TupleDesc	desc = RelationGetDescr(scan.table);
	int			count = 0;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan.scan)))
		count += heap_attisnull(tuple, column_number(desc, null), desc);
	end_scan(&scan);
	return count;
}

/*
 * dperm_released(budget_id, entry): does the latest state have a release of an
 * entry, whatever the snapshot of the query has?
 */
Datum
dperm_released(PG_FUNCTION_ARGS)
{
	const DpermOwnField key[] = {
		{"budget_id", PG_GETARG_DATUM(0)}, {"entry", PG_GETARG_DATUM(1)}
	};
	RowScan		scan = begin_scan("releases", "id", key, lengthof(key), NULL);	/* primary key */
	bool		found = HeapTupleIsValid(systable_getnext(scan.scan));

	end_scan(&scan);
	PG_RETURN_BOOL(found);
}

/*
 * The number of units that the newest kept release of a protected table is about,
 * by the id of the registration; 0 if there is none. The index has only releases
 * that are kept and have some, and the newest comes last.
 */
int64
dperm_own_rows_units(const char *registration)
{
	RowScan		scan = begin_scan("releases", "units", &(DpermOwnField) {
		"protected", dperm_own_rows_uuid(registration)}, 1, NULL);
	TupleDesc	desc = RelationGetDescr(scan.table);
	int64		units = 0;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan.scan)))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, column_number(desc, "units"), desc, &isnull);

		units = isnull ? units : DatumGetInt64(value);
	}
	end_scan(&scan);
	return units;
}

/* A column; 0 for NULL. */
Datum
dperm_own_rows_value(const DpermOwnRows *rows, int row, const char *column)
{
	bool		isnull;
	Datum		value = heap_getattr(rows->rows[row], column_number(rows->desc, column), rows->desc,
									 &isnull);

	return isnull ? (Datum) 0 : value;
}

/* A column as text, which the output function of its type writes; NULL for NULL. */
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

/* Lock a row as FOR UPDATE does, and read it again; false if it has been deleted. */
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

/* Insert a row, whose other columns are NULL or generated. */
void
dperm_own_rows_insert(const char *table, const DpermOwnField *fields, int count)
{
	write_row(dperm_own_rows_table(table), NULL, fields, count);
}

/* Update some columns of the row that has this id. */
void
dperm_own_rows_update(const char *table, const char *id, const DpermOwnField *fields, int count)
{
	DpermOwnRows rows = dperm_own_rows_find(table, "id", dperm_own_rows_uuid(id), NULL);

	if (rows.count != 1 || !dperm_own_rows_lock(&rows, 0))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("a row of table \"%s\" has just been deleted", table),
				 errhint("Try again.")));
	write_row(rows.table, rows.rows[0], fields, count);
}

/* Make a value of dperm_role_name. */
static Datum
make_value(Oid role, const char *name)
{
	Size		size = offsetof(RoleName, name) + strlen(name) + 1;
	RoleName   *value = palloc0(size);

	SET_VARSIZE(value, size);
	value->role = role;
	strcpy(value->name, name);
	return PointerGetDatum(value);
}

/* A role as a value, which somebody else may just have dropped. */
Datum
dperm_own_rows_role(Oid role)
{
	const char *name = GetUserNameFromId(role, true);

	return make_value(role, name ? name : psprintf("%u", role));
}

/* The role of a value, InvalidOid for a name that nobody had. */
Oid
dperm_own_rows_role_of(Datum value)
{
	return ((RoleName *) PG_DETOAST_DATUM(value))->role;
}

/* Input: the name itself, without quotes. */
Datum
dperm_role_name_in(PG_FUNCTION_ARGS)
{
	char	   *name = PG_GETARG_CSTRING(0);

	if (strncmp(name, DROPPED, strlen(DROPPED)) == 0)
		PG_RETURN_DATUM(make_value(InvalidOid, name + strlen(DROPPED)));
	PG_RETURN_DATUM(
		make_value(strlen(name) < NAMEDATALEN ? get_role_oid(name, true) : InvalidOid, name));
}

/* Output: the name that the role has now. */
Datum
dperm_role_name_out(PG_FUNCTION_ARGS)
{
	RoleName   *value = (RoleName *) PG_DETOAST_DATUM(PG_GETARG_DATUM(0));
	char	   *name = OidIsValid(value->role) ? GetUserNameFromId(value->role, true) : NULL;

	PG_RETURN_CSTRING(name ? pstrdup(name) : psprintf(DROPPED "%s", value->name));
}

/* dperm_role_of(dperm_role_name): the role */
Datum
dperm_role_of(PG_FUNCTION_ARGS)
{
	PG_RETURN_OID(dperm_own_rows_role_of(PG_GETARG_DATUM(0)));
}
