/* table_triggers.c: the triggers that protect our own tables. */
#include "postgres.h"

#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "utils/acl.h"
#include "utils/rel.h"

#include "budget/own_tables.h"

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
 * The row trigger of our tables. It skips rows from logical replication: they
 * would reset what is spent here to what is spent elsewhere. Statement triggers
 * do not fire for these.
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

/*
 * The statement trigger of our tables. Privileges are not enough to write to
 * them: pg_write_all_data has them, and GRANT ALL gives them.
 */
Datum
dperm_table_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	Relation	table;

	/* as a row trigger, its result would skip the row */
	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_STATEMENT(trigger->tg_event))
		elog(ERROR, "dperm_table_guard: not called by trigger manager before a statement");
	table = trigger->tg_relation;
	if (!has_privs_of_role(GetUserId(), table->rd_rel->relowner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("table \"%s\" can only be changed by extension dperm",
						RelationGetRelationName(table)),
				 errhint("Use its functions.")));
	if (TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
		dperm_own_tables_follow_commands();
	return PointerGetDatum(NULL);
}
