/*
 * table_triggers.c: who writes our own tables.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_event_trigger.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(dperm_ledger_guard);
PG_FUNCTION_INFO_V1(dperm_replica_guard);
PG_FUNCTION_INFO_V1(dperm_table_guard);

/* The trigger of the ledger. */
Datum
dperm_ledger_guard(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "dperm_ledger_guard: not called by trigger manager");
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("entries of the ledger cannot be changed or removed")));
	PG_RETURN_NULL();
}

/*
 * The trigger of each row of our tables. What logical replication brings is
 * skipped: it would set what is spent here back to what is spent elsewhere. It
 * fires no triggers of statements.
 */
Datum
dperm_replica_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
		elog(ERROR, "dperm_replica_guard: not called by trigger manager before a row");
	if (IsLogicalWorker())
		return PointerGetDatum(NULL);
	return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple :
																		trigger->tg_trigtuple);
}

/* The event triggers that our script has made, disabled. */
static const char *const our_event_triggers[] = {"dperm_owners_drop", "dperm_registry_drop",
											 "dperm_registry_before", "dperm_registry_alter"};

/* Is an event trigger disabled? */
static bool
is_disabled(const char *name)
{
	HeapTuple	tuple = SearchSysCache1(EVENTTRIGGERNAME, CStringGetDatum(name));
	bool		disabled = HeapTupleIsValid(tuple) &&
		((Form_pg_event_trigger) GETSTRUCT(tuple))->evtenabled == TRIGGER_DISABLED;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return disabled;
}

/*
 * From the first budget or protected relation on, commands are followed.
 * Before, nobody's command depends on dperm, not even on its library being
 * there.
 */
static void
follow_commands(void)
{
	for (int i = 0; i < lengthof(our_event_triggers); i++)
	{
		AlterEventTrigStmt *statement;

		if (!is_disabled(our_event_triggers[i]))
			continue;

		/* the first transaction enables them, and others wait for its end */
		LockRelationOid(EventTriggerRelationId, ShareUpdateExclusiveLock);
		if (!is_disabled(our_event_triggers[i]))
			continue;
		statement = makeNode(AlterEventTrigStmt);
		statement->trigname = pstrdup(our_event_triggers[i]);
		statement->tgenabled = TRIGGER_FIRES_ON_ORIGIN;
		(void) AlterEventTrigger(statement);
	}
}

/*
 * The trigger of all of our tables. A privilege is not enough to write them:
 * pg_write_all_data has it, and GRANT ALL gives it.
 */
Datum
dperm_table_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	Relation	table;

	/* for a row, what it returns would have the row skipped */
	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_STATEMENT(trigger->tg_event))
		elog(ERROR, "dperm_table_guard: not called by trigger manager before a statement");
	table = trigger->tg_relation;
	if (!has_privs_of_role(GetUserId(), table->rd_rel->relowner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("table \"%s\" is written by extension dperm "
						"alone", RelationGetRelationName(table)),
				 errhint("Use its functions.")));
	if (TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
		follow_commands();
	return PointerGetDatum(NULL);
}
