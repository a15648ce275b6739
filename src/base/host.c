/*
 * host.c: services of the server for the core, results of several rows, and the
 * settings of dperm.
 */
#include "postgres.h"

#include <limits.h>
#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/host.h"
#include "base/message.h"
#include "core/base/core.h"
#include "core/base/host.h"
#include "core/encode/encoder.h"
#include "core/mechanism/calibrate.h"

/* The memory for a result in kB: more than any function of ours returns. */
#define RESULT_MEMORY (64 * 1024)

int			dperm_cache_memory = 256 * 1024;
int			dperm_call_timeout;
int			dperm_pull_memory = 16 * 1024;

/* Define the settings when the library is loaded. */
void
dperm_host_settings(void)
{
	DefineCustomIntVariable("dperm.cache_memory",
							"Sets the maximum memory that training uses to keep the rows it has "
							"read.",
							"Rows that do not fit are in temporary files.",
							&dperm_cache_memory,
							256 * 1024, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.pull_memory",
							"Sets the maximum size of rows that training fetches from other "
							"servers.",
							"The size is that of the rows in memory. If there are more rows, "
							"passes run on the servers that have them, if possible.",
							&dperm_pull_memory,
							16 * 1024, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.call_timeout",
							"Sets the maximum duration of a call on a protected relation.",
							"A call that takes longer fails, but has been charged. 0 disables the "
							"timeout.",
							&dperm_call_timeout,
							0, 0, INT_MAX,
							PGC_SUSET, GUC_UNIT_MS,
							NULL, NULL, NULL);
	MarkGUCPrefixReserved("dperm");
}

/* Let the server interrupt the core. */
void
dperm_host_poll(void)
{
	CHECK_FOR_INTERRUPTS();
}

/* Memory for the core, in the current context. */
void *
dperm_host_alloc(size_t size)
{
	return palloc0(size);
}

/* What cannot happen in the core, happened. */
void
dperm_host_fail(const char *why)
{
	elog(ERROR, "dperm failed: %s", why);
}

/* Random bits that cannot be seeded. */
bool
dperm_host_random(void *bytes, size_t count)
{
	return pg_strong_random(bytes, count);
}

/* The text form of a value. */
char *
dperm_host_output(Datum value, Oid type)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, value);
}

/* Raise the error for a status of the core. Nothing in it depends on rows. */
void
dperm_host_check_status(DpermStatus status)
{
	if (status == DPERM_NO_ENTROPY)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	if (status != DPERM_OK)
		elog(ERROR, "unexpected status %d", (int) status);
}

/* Calibrate, or raise an error for arguments that this number of units does not allow. */
DpermCalibration
dperm_host_calibrate(const DpermSetup *setup)
{
	DpermCalibration calibration;
	const char *why = dperm_calibrate(setup, &calibration);

	if (why)
	{
		/* depends only on arguments and the number of units */
		dperm_message_public();
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot train with these parameters: %s", why),
				 strcmp(why, DPERM_LAMBDA_TOO_SMALL) != 0 ? 0 :
				 errhint("Omit lambda to use the default for this number of rows.")));
	}
	return calibration;
}

/* An encoder, if it is valid and has not too many coordinates. */
DpermEncoder
dperm_host_check_encoder(DpermEncoder encoder)
{
	const char *fault = dperm_encoder_fault(&encoder);

	if (fault)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot encode these features: %s", fault),
				 errhint("All columns together can have at most %d coordinates, one for each "
						 "number, category and vector element.",
						 DPERM_DIM_MAX - 1)));
	return encoder;
}

/*
 * An empty result of the function's row type, to be filled with
 * tuplestore_putvalues(). All rows are in memory, some 30 MB at most: a worker
 * reads them again in another transaction, and temp_file_limit must not cost
 * what was paid for.
 */
Tuplestorestate *
dperm_host_result_set(FunctionCallInfo fcinfo, TupleDesc *desc)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext caller;

	InitMaterializedSRF(fcinfo, 0);
	caller = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	tuplestore_end(result->setResult);	/* which has work_mem alone */
	result->setResult = tuplestore_begin_heap(
		(result->allowedModes & SFRM_Materialize_Random) != 0, false, RESULT_MEMORY);
	MemoryContextSwitchTo(caller);
	*desc = result->setDesc;
	return result->setResult;
}

/* Add a row. */
void
dperm_host_put_row(Tuplestorestate *store, TupleDesc desc, const NullableDatum *row)
{
	Datum	   *values = palloc(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * desc->natts);

	for (int i = 0; i < desc->natts; i++)
	{
		values[i] = row[i].value;
		nulls[i] = row[i].isnull;
	}
	tuplestore_putvalues(store, desc, values, nulls);
	pfree(values);
	pfree(nulls);
}

/* A text, or NULL. */
NullableDatum
dperm_host_text(const char *text)
{
	return (NullableDatum) {text ? CStringGetTextDatum(text) : 0, text == NULL};
}

/* A number, or NULL. */
NullableDatum
dperm_host_number(double number)
{
	return (NullableDatum) {Float8GetDatum(number), isnan(number)};
}
