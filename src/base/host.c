/*
 * host.c: services of the server for the core: memory, random bits, JSON as jsonb, and
 * BLAS, loaded when it is first needed; results of several rows; and the settings of
 * dperm. Trusted.
 */
#include "postgres.h"

#include <errno.h>
#include <limits.h>
#include <math.h>

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "base/base.h"
#include "base/compat.h"
#include "core/base/blas.h"
#include "core/encode/encoder.h"

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

/* A value in a document. */
static DpermTree
tree_of_value(const JsonbValue *value)
{
	DpermTree	tree = {.kind = DPERM_TREE_NULL};

	switch (value->type)
	{
		case jbvBool:
			tree.kind = DPERM_TREE_BOOL;
			tree.flag = value->val.boolean;
			break;
		case jbvNumeric:
			tree.kind = DPERM_TREE_NUMBER;
			tree.at = value->val.numeric;
			break;
		case jbvString:
			tree.kind = DPERM_TREE_TEXT;
			tree.text = (DpermText) {value->val.string.val, value->val.string.len};
			break;
		case jbvBinary:
			tree.at = value->val.binary.data;
			tree.text.len = value->val.binary.len;
			tree.kind = JsonContainerIsArray(value->val.binary.data) ? DPERM_TREE_LIST :
				DPERM_TREE_OBJECT;
			tree.count = JsonContainerSize(value->val.binary.data);
			break;
		default:
			break;
	}
	return tree;
}

/* A whole document, which the tree points into. A scalar is nothing that anybody expects. */
DpermTree
dperm_host_tree(Jsonb *json)
{
	JsonbValue	value = {
		.type = JB_ROOT_IS_SCALAR(json) ? jbvNull : jbvBinary,
		.val.binary = {.len = VARSIZE(json) - VARHDRSZ, .data = &json->root}
	};

	return tree_of_value(&value);
}

/*
 * Parse what somebody else says is JSON: an error if it is not, a soft one if
 * context asks for that.
 */
bool
dperm_host_read_tree(Node *context, char *text, DpermTree *out)
{
	Datum		json;

	if (!DirectInputFunctionCallSafe(jsonb_in, text, InvalidOid, -1, context, &json))
		return false;
	*out = dperm_host_tree(DatumGetJsonbP(json));
	return true;
}

bool
dperm_tree_parse(DpermText text, DpermTree *out)
{
	ErrorSaveContext soft = {T_ErrorSaveContext};

	return pg_verifymbstr(text.bytes, text.len, true) &&
		dperm_host_read_tree((Node *) &soft, pnstrdup(text.bytes, text.len), out);
}

bool
dperm_tree_member(const DpermTree *object, const char *key, DpermTree *out)
{
	JsonbValue	value;

	if (object->kind != DPERM_TREE_OBJECT ||
		getKeyJsonValueFromContainer((JsonbContainer *) object->at, key, strlen(key),
									 &value) == NULL)
		return false;
	*out = tree_of_value(&value);
	return true;
}

DpermTree
dperm_tree_element(const DpermTree *list, int i)
{
	JsonbValue *value = getIthJsonbValueFromContainer((JsonbContainer *) list->at, i);
	DpermTree	tree = tree_of_value(value);

	pfree(value);
	return tree;
}

double
dperm_tree_number(const DpermTree *number)
{
	Datum		exact = PointerGetDatum(number->at);
	double		rounded = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, exact));

	if (rounded != 0)
		return rounded;
	return DatumGetInt32(DirectFunctionCall2(numeric_cmp, exact,
											 NumericGetDatum(int64_to_numeric(0)))) == 0 ? 0 : NAN;
}

bool
dperm_tree_integer(const DpermTree *number, int64_t *out)
{
	char	   *digits =
		DatumGetCString(DirectFunctionCall1(numeric_out, PointerGetDatum(number->at)));
	char	   *end;

	errno = 0;
	*out = strtoi64(digits, &end, 10);
	return errno == 0 && *end == '\0';
}

DpermText
dperm_tree_print(const DpermTree *object)
{
	char	   *text = JsonbToCString(NULL, (JsonbContainer *) object->at, object->text.len);

	return (DpermText) {text, (int) strlen(text)};
}

/* The routines, from a separate library. */
const DpermBlas *
dperm_blas(void)
{
	static const DpermBlas *routines;

	if (routines == NULL)
	{
		const DpermBlas *(*get)(void) = (const DpermBlas *(*) (void) )(
			void *) load_external_function("$libdir/dperm_blas", "dperm_blas_routines", true, NULL);

		routines = get();
	}
	return routines;
}
