/*
 * kept_release.c: what was released and paid for, beside the ledger.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "kept_release.h"
#include "reference.h"
#include "tables.h"

/* A value as JSON, which has no infinite numbers. */
static void
append_value(StringInfo json, Datum value, bool isnull, Oid type)
{
	Oid			output;
	bool		varlena;
	char	   *text;

	if (isnull)
	{
		appendStringInfoString(json, "null");
		return;
	}
	if (type == BOOLOID)
	{
		appendStringInfoString(json, DatumGetBool(value) ? "true" : "false");
		return;
	}
	getTypeOutputInfo(type, &output, &varlena);
	text = OidOutputFunctionCall(output, value);
	if (type == FLOAT8OID && isfinite(DatumGetFloat8(value)))
		appendStringInfoString(json, text);
	else
		escape_json(json, text);
	pfree(text);
}

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
			append_value(&json, slot->tts_values[i], slot->tts_isnull[i], TupleDescAttr(desc, i)->atttypid);
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
	Oid			types[] = {TEXTOID, TEXTOID, INT8OID, InvalidOid, InvalidOid, TEXTOID, TEXTOID};
	Datum		values[lengthof(types)];
	char		nulls[] = "       ";
	DpermTablesScope scope;

	dperm_tables_enter(&scope);
	types[3] = dperm_reference_type(&scope, "dp_ledger_releases", "payer_name");
	types[4] = dperm_reference_type(&scope, "dp_ledger_releases", "model");
	values[0] = CStringGetTextDatum(release->budget_id);
	values[1] = CStringGetTextDatum(release->budget);
	values[2] = Int64GetDatum(release->entry);
	values[3] = dperm_reference_make(release->role);
	values[4] = release->model;
	values[5] = release->rows ? CStringGetTextDatum(rows_as_json(release->rows, release->desc)) : (Datum) 0;
	values[6] = release->failure ? CStringGetTextDatum(release->failure) : (Datum) 0;
	for (int i = 0; i < lengthof(types); i++)
		if (values[i] == 0)
			nulls[i] = 'n';
	if (dperm_tables_query(&scope, "INSERT INTO %s.dp_ledger_releases (budget_id, budget, entry, payer_name, model, metrics, failure)"
						   " VALUES ($1::pg_catalog.uuid, $2, $3, $4, $5, $6::pg_catalog.jsonb, $7)", lengthof(types), types, values, nulls) != 1)
		elog(ERROR, "could not keep what was released");
	dperm_tables_leave(&scope);
}
