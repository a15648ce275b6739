/* kept_release.c: what was released and paid for, kept with the ledger. */
#include "postgres.h"

#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/timestamp.h"

#include "base/json_value.h"
#include "budget/own_rows.h"
#include "budget/role_name.h"
#include "protect/kept_release.h"

/* Rows as JSON: an array of objects. */
static char *
rows_as_json(Tuplestorestate *rows, TupleDesc desc)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	StringInfoData json;

	initStringInfo(&json);
	tuplestore_rescan(rows);
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		slot_getallattrs(slot);
		appendStringInfoString(&json, json.len == 0 ? "[{" : ", {");
		for (int i = 0; i < desc->natts; i++)
		{
			if (i > 0)
				appendStringInfoString(&json, ", ");
			escape_json(&json, NameStr(TupleDescAttr(desc, i)->attname));
			appendStringInfoString(&json, ": ");
			dperm_json_value_append(&json, slot->tts_values[i], slot->tts_isnull[i],
									TupleDescAttr(desc, i)->atttypid, 0);
		}
		appendStringInfoChar(&json, '}');
	}
	ExecDropSingleTupleTableSlot(slot);
	appendStringInfoString(&json, json.len == 0 ? "[]" : "]");
	return json.data;
}

/* Keep a release. */
void
dperm_kept_release_write(const DpermKeptRelease *release)
{
	Datum		metrics = release->rows ?
						DirectFunctionCall1(
							jsonb_in, CStringGetDatum(rows_as_json(release->rows, release->desc))) :
						(Datum) 0;
	const DpermOwnField fields[] = {
		{"budget_id", dperm_own_rows_uuid(release->budget_id)},
		{"entry", Int64GetDatum(release->entry)},
		{"at", TimestampTzGetDatum(GetCurrentTimestamp())},
		{"payer_name", dperm_role_name_make(release->role)},
		{"grant_id", release->grant_id ? dperm_own_rows_uuid(release->grant_id) : (Datum) 0},
		{"model", release->model},
		{"metrics", metrics},
		{"failure", release->failure ? CStringGetTextDatum(release->failure) : (Datum) 0}
	};

	dperm_own_rows_insert("releases", fields, lengthof(fields));
}
