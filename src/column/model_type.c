/*
 * model_type.c: dp_model in SQL: input, output, accessors.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "base/arguments.h"
#include "base/compat.h"
#include "column/model_type.h"

PG_FUNCTION_INFO_V1(dperm_model_in);
PG_FUNCTION_INFO_V1(dperm_model_out);
PG_FUNCTION_INFO_V1(dperm_model_recv);
PG_FUNCTION_INFO_V1(dperm_model_send);
PG_FUNCTION_INFO_V1(dp_weights);
PG_FUNCTION_INFO_V1(dp_guarantee);

/* Run a printer into memory that is large enough, at the first attempt in most cases. */
char *
dperm_model_type_print(const DpermModel *model, DpermModelPrinter printer)
{
	size_t		room = 4096 + 26 * (size_t) dperm_model_weights(model);
	char	   *text = palloc(room);
	size_t		len = printer(model, text, room);

	if (len >= room)
	{
		text = repalloc(text, len + 1);
		printer(model, text, len + 1);
	}
	return text;
}

/* A dp_model datum, in the current memory context. */
Datum
dperm_model_type_make(const DpermModel *model)
{
	size_t		size;
	bytea	   *result;
	const char *why;

	/* What is stored must decode again, so detect a bug here. */
	if (dperm_model_check(model, &why) != DPERM_OK)
		elog(ERROR, "invalid model: %s", why);

	size = dperm_model_binary_size(model);
	result = palloc(VARHDRSZ + size);
	SET_VARSIZE(result, VARHDRSZ + size);
	dperm_model_binary_write(model, (unsigned char *) VARDATA(result));
	return PointerGetDatum(result);
}

/*
 * Decode a form into one chunk. NULL and *why if it is not valid.
 */
static DpermModel *
decode(const char *form, size_t len, bool binary, const char **why)
{
	size_t		offset = MAXALIGN(sizeof(DpermModel));
	DpermArena	arena = {.left = dperm_model_arena_size(len)};
	DpermModel *model = palloc(offset + arena.left);
	DpermStatus status;

	arena.at = (char *) model + offset;
	status = binary ?
		dperm_model_binary_read((const unsigned char *) form, len, &arena, model, why) :
		dperm_model_parse(form, len, &arena, model, why);
	if (status == DPERM_OK)
		return model;
	pfree(model);
	return NULL;
}

/*
 * A datum from a form of somebody else; an error if it is not valid, a soft one for a
 * context that asks for that. Names may not be in the encoding of this database, in
 * binary forms and as escapes in JSON; the text of a model has them all.
 */
static Datum
accept_form(Node *context, const char *form, size_t len, bool binary)
{
	const char *why;
	DpermModel *model = decode(form, len, binary, &why);
	char	   *text = model ? dperm_model_type_print(model, dperm_model_print) : "";
	Datum		result;

	if (!pg_verifymbstr(text, (int) strlen(text), true))
		why = "a name is not valid in the encoding of this database";
	else if (model)
	{
		result = dperm_model_type_make(model);
		pfree(text);
		pfree(model);
		return result;
	}
	ereturn(context, (Datum) 0,
			(errcode(binary ? ERRCODE_INVALID_BINARY_REPRESENTATION :
					 ERRCODE_INVALID_TEXT_REPRESENTATION),
			 binary ? errmsg("invalid binary form of type %s", "dp_model") :
			 errmsg("invalid input syntax for type %s", "dp_model"),
			 errdetail("The %s is not a valid model: %s.", binary ? "value" : "text", why)));
}

/*
 * The struct of a dp_model datum, toasted or not, with all that it points to: a
 * single chunk in the current memory context, which can be freed with pfree.
 */
DpermModel *
dperm_model_type_open(Datum value)
{
	struct varlena *flat = PG_DETOAST_DATUM_PACKED(value);
	const char *why;
	DpermModel *model = decode(VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat), true, &why);

	if (model == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored dp_model is corrupted"),
				 errdetail("The value is not a valid model: %s.", why)));
	if ((Pointer) flat != DatumGetPointer(value))
		pfree(flat);
	return model;
}

/* Text input: JSON. */
Datum
dperm_model_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);

	return accept_form(fcinfo->context, text, strlen(text), false);
}

/* Text output: JSON. */
Datum
dperm_model_out(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(dperm_model_type_print(model, dperm_model_print));
}

/* Binary input: the stored form, after checking that it decodes. */
Datum
dperm_model_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			len = buf->len - buf->cursor;

	return accept_form(NULL, pq_getmsgbytes(buf, len), (size_t) len, true);
}

/* Binary output: the stored form, as that of bytea is. */
Datum
dperm_model_send(PG_FUNCTION_ARGS)
{
	return byteasend(fcinfo);
}

/* The argument model of a call, which must not be NULL. */
DpermModel *
dperm_model_type_required(FunctionCallInfo fcinfo)
{
	return dperm_model_type_open(
		dperm_arguments_required(fcinfo, "model", InvalidOid, DPERM_MODEL_REQUIRED));
}

/* Numbers as an array, of two dimensions unless rows is 0. */
Datum
dperm_model_type_array(const double *numbers, int rows, int columns)
{
	int			dims[2] = {rows, columns};
	int			lower[2] = {1, 1};
	int			skipped = rows > 0 ? 0 : 1;
	int			count = Max(rows, 1) * columns;
	Datum	   *elements = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		elements[i] = Float8GetDatum(numbers[i]);
	return PointerGetDatum(construct_md_array(elements, NULL, 2 - skipped, dims + skipped, lower,
											  FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
											  TYPALIGN_DOUBLE));
}

/*
 * The weights as an array; with an intercept, its weight comes last. With
 * several classes, there is a row for each.
 */
Datum
dp_weights(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));
	bool		several = dperm_model_label(model) == DPERM_LABEL_SEVERAL;

	return dperm_model_type_array(model->weights, several ? model->loss.classes : 0,
								  dperm_encoder_dim(&model->encoder));
}

/* What the model promises, in words. */
Datum
dp_guarantee(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));

	PG_RETURN_TEXT_P(cstring_to_text(dperm_model_type_print(model, dperm_model_print_guarantee)));
}
