/*
 * model_type.c: dp_model in SQL: input, output, jsonb, accessors.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "base/arguments.h"
#include "base/compat.h"
#include "column/model_type.h"

PG_FUNCTION_INFO_V1(dperm_model_in);
PG_FUNCTION_INFO_V1(dperm_model_out);
PG_FUNCTION_INFO_V1(dperm_model_recv);
PG_FUNCTION_INFO_V1(dperm_model_send);
PG_FUNCTION_INFO_V1(dperm_model_to_jsonb);
PG_FUNCTION_INFO_V1(dperm_model_from_jsonb);
PG_FUNCTION_INFO_V1(dp_weights);
PG_FUNCTION_INFO_V1(dp_guarantee);

#define RAISE_SOFTLY(fcinfo, rest) ereturn((fcinfo)->context, (Datum) 0, rest)

/*
 * A first guess at the length of a text, so that it rarely has to be printed
 * twice.
 */
#define TEXT_ROOM(dim) (4096 + 26 * (size_t) (dim))

/* Run a printer into memory that is large enough. */
char *
dperm_model_type_print(const DpermModel *model, DpermModelPrinter printer)
{
	size_t		room = TEXT_ROOM(dperm_model_weights(model));
	char	   *text = palloc(room);
	size_t		len = printer(model, text, room);

	if (len >= room)
	{
		text = repalloc(text, len + 1);
		printer(model, text, len + 1);
	}
	return text;
}

/* The text form. */
char *
dperm_model_type_text(const DpermModel *model)
{
	return dperm_model_type_print(model, dperm_model_print);
}

/* The guarantee. */
char *
dperm_model_type_guarantee(const DpermModel *model)
{
	return dperm_model_type_print(model, dperm_model_print_guarantee);
}

/* Make a datum from a struct. */
Datum
dperm_model_type_make(const DpermModel *model)
{
	size_t		size;
	struct varlena *result;
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

/* A struct followed by an arena for a form of len bytes, in one chunk. */
static DpermModel *
new_model(size_t len, DpermArena *arena)
{
	size_t		offset = MAXALIGN(sizeof(DpermModel));
	char	   *chunk;

	arena->left = dperm_model_arena_size(len);
	chunk = palloc(offset + arena->left);
	arena->at = chunk + offset;
	return (DpermModel *) chunk;
}

/* Decode a binary form into one chunk. NULL and *why if it is not valid. */
static DpermModel *
decode(const char *bytes, size_t len, const char **why)
{
	DpermArena	arena;
	DpermModel *model = new_model(len, &arena);

	if (dperm_model_binary_read((const unsigned char *) bytes, len, &arena, model,
								why) != DPERM_OK)
	{
		pfree(model);
		return NULL;
	}
	return model;
}

/*
 * Are all names valid in the encoding of this database? Binary input and escapes
 * in JSON may not be. The text of a model has them all.
 */
static bool
names_are_text(const DpermModel *model, const char **why)
{
	char	   *text = dperm_model_type_text(model);
	bool		valid = pg_verifymbstr(text, (int) strlen(text), true);

	*why = "a name is not valid in the encoding of this database";
	pfree(text);
	return valid;
}

/* Make a struct from a datum. */
DpermModel *
dperm_model_type_open(Datum value)
{
	struct varlena *flat = PG_DETOAST_DATUM_PACKED(value);
	const char *why;
	DpermModel *model = decode(VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat), &why);

	if (model == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored dp_model is corrupted"),
				 errdetail("The value is not a valid model: %s.", why)));
	if ((Pointer) flat != DatumGetPointer(value))
		pfree(flat);
	return model;
}

/* Parse a text into a datum; 0 and *why if it is not a model. */
static Datum
parse_text(const char *text, const char **why)
{
	size_t		len = strlen(text);
	DpermArena	arena;
	DpermModel *model = new_model(len, &arena);
	Datum		result = (Datum) 0;

	if (dperm_model_parse(text, len, &arena, model, why) == DPERM_OK &&
		names_are_text(model, why))
		result = dperm_model_type_make(model);
	pfree(model);
	return result;
}

/* Text input: JSON. */
Datum
dperm_model_in(PG_FUNCTION_ARGS)
{
	const char *why;
	Datum		result = parse_text(PG_GETARG_CSTRING(0), &why);

	if (result == (Datum) 0)
		RAISE_SOFTLY(fcinfo,
					 (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					  errmsg("invalid input syntax for type %s", "dp_model"),
					  errdetail("The text is not a valid model: %s.", why)));
	PG_RETURN_DATUM(result);
}

/* Text output: JSON. */
Datum
dperm_model_out(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(dperm_model_type_text(model));
}

/* Binary input: the stored form, after checking that it decodes. */
Datum
dperm_model_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			len = buf->len - buf->cursor;
	const char *bytes = pq_getmsgbytes(buf, len);
	const char *why;
	DpermModel *model = decode(bytes, (size_t) len, &why);

	if (model == NULL || !names_are_text(model, &why))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary form of type %s", "dp_model"),
				 errdetail("The value is not a valid model: %s.", why)));
	PG_RETURN_DATUM(dperm_model_type_make(model));
}

/* Binary output: the stored form. */
Datum
dperm_model_send(PG_FUNCTION_ARGS)
{
	struct varlena *flat = PG_GETARG_VARLENA_PP(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendbytes(&buf, VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* Cast to jsonb. */
Datum
dperm_model_to_jsonb(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));
	char	   *text = dperm_model_type_text(model);

	PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
}

/* Cast from jsonb, which preserves numbers but not the order of keys. */
Datum
dperm_model_from_jsonb(PG_FUNCTION_ARGS)
{
	Jsonb	   *json = PG_GETARG_JSONB_P(0);
	char	   *text = JsonbToCString(NULL, &json->root, VARSIZE(json));
	const char *why;
	Datum		result = parse_text(text, &why);

	if (result == (Datum) 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("cannot cast this jsonb to type %s", "dp_model"),
				 errdetail("The value is not a valid model: %s.", why)));
	PG_RETURN_DATUM(result);
}

/* The argument model, which must not be NULL. */
DpermModel *
dperm_model_type_required(FunctionCallInfo fcinfo)
{
	return dperm_model_type_open(
		dperm_arguments_required(fcinfo, "model", InvalidOid, DPERM_MODEL_REQUIRED));
}

/*
 * The weights as an array; with an intercept, its weight comes last. With
 * several classes, there is a row for each.
 */
Datum
dp_weights(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));
	int			count = dperm_model_weights(model);
	bool		several = dperm_model_label(model) == DPERM_LABEL_SEVERAL;
	int			dims[2] = {model->loss.classes, dperm_encoder_dim(&model->encoder)};
	int			lower[2] = {1, 1};
	Datum	   *elements = palloc(count * sizeof(Datum));

	for (int i = 0; i < count; i++)
		elements[i] = Float8GetDatum(model->weights[i]);
	PG_RETURN_ARRAYTYPE_P(construct_md_array(elements, NULL, several ? 2 : 1,
											 several ? dims : dims + 1, lower, FLOAT8OID,
											 sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* What the model promises, in words. */
Datum
dp_guarantee(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));

	PG_RETURN_TEXT_P(cstring_to_text(dperm_model_type_guarantee(model)));
}
