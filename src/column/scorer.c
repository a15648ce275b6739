/*
 * scorer.c: a model and the rows it is applied to; dp_encode, a row as the
 * vector that a learner sees; and the public dimension of the vectors that an
 * expression produces. Trusted.
 *
 * The features are an array (for a model of one vector) or a row whose columns
 * are matched by name. The type of the argument decides, once per query; the
 * columns are looked up once per model and row type. A join with a table of
 * models may change the model from row to row.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/base.h"
#include "column/column.h"

PG_FUNCTION_INFO_V1(dperm_encode_model);
PG_FUNCTION_INFO_V1(dperm_encode_domains);

/* What is kept between the rows of one query. */
struct DpermScorer
{
	Oid			type;			/* of the features; float8[] for an untyped literal */
	bool		is_row;
	bool		is_literal;
	DpermScorerOpener open;

	/*
	 * The current model, and the bytes of the value that it was decoded from,
	 * which may be a toast pointer; all of it lives in model_cxt.
	 */
	MemoryContext model_cxt;
	char	   *bytes;			/* NULL: there is no model */
	Size		size;
	DpermScored scored;
	double	   *frequencies;
	DpermValue *values;
	double	   *encoded;
	double	   *room;
	double		silent;			/* its decision on a row that says nothing */
	double	   *outputs;		/* of several classes */

	/* How its columns are read; lives in row_cxt, a child of model_cxt. */
	MemoryContext row_cxt;
	DpermReader *readers;		/* NULL: not looked up yet */
	DpermRecord record;			/* the row type, for rows */
	int		   *columns;		/* the position of each block's column in a row */
	Datum		array;			/* the last one, for arrays */
};

/* Determine the form of the features. */
static void
resolve_argument(DpermScorer *scorer, Oid type)
{
	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of the features");
	scorer->is_literal = type == UNKNOWNOID;
	scorer->type = scorer->is_literal ? FLOAT8ARRAYOID : getBaseType(type);
	scorer->is_row = type_is_rowtype(scorer->type);
	if (!scorer->is_row && dperm_reader_kind(scorer->type, DPERM_BLOCK_VECTOR) == DPERM_READ_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot read features from type %s", format_type_be(type)),
				 errhint("Pass a row, or an array of numbers for a model of one vector.")));
}

/* w.x of the values. */
static double
decide(const DpermScorer *scorer)
{
	return dperm_score_decision(&scorer->scored.encoder, scorer->frequencies,
								scorer->scored.model->weights, scorer->values, scorer->room);
}

/* Replace the current model by another one. */
static void
replace_model(DpermScorer *scorer, const struct varlena *value, Size size)
{
	const DpermEncoder *encoder = &scorer->scored.encoder;
	MemoryContext caller;

	scorer->bytes = NULL;		/* in case decoding raises an error */
	scorer->readers = NULL;
	MemoryContextReset(scorer->model_cxt);
	caller = MemoryContextSwitchTo(scorer->model_cxt);
	scorer->row_cxt = AllocSetContextCreate(scorer->model_cxt, "dperm row type",
											ALLOCSET_SMALL_SIZES);
	scorer->open(PointerGetDatum(value), scorer->type, &scorer->scored);
	scorer->frequencies = dperm_fourier_make(&encoder->kernel, dperm_encoder_linear_dim(encoder));
	scorer->values = palloc0(sizeof(DpermValue) * encoder->block_count);
	scorer->encoded = palloc(sizeof(double) * dperm_encoder_dim(encoder));
	scorer->room = palloc(sizeof(double) * (dperm_encoder_dim(encoder) +
											dperm_encoder_linear_dim(encoder)));
	if (scorer->scored.model)
	{
		scorer->silent = decide(scorer);	/* no value has been read yet */
		scorer->outputs = palloc(sizeof(double) * dperm_loss_blocks(scorer->scored.model->loss));
	}
	scorer->size = size;
	scorer->bytes = memcpy(palloc(size), value, size);
	MemoryContextSwitchTo(caller);
}

/*
 * Make sure that the current model is this one. The address proves nothing: the
 * executor reuses memory from row to row. Equal bytes do, and so does an equal
 * toast pointer, without reading the value.
 */
static void
use_model(DpermScorer *scorer, Datum value)
{
	struct varlena *flat = (struct varlena *) DatumGetPointer(value);
	Size		size;

	/* any other pointer refers to memory that may change */
	if (VARATT_IS_EXTERNAL(flat) && !VARATT_IS_EXTERNAL_ONDISK(flat))
		flat = PG_DETOAST_DATUM_PACKED(value);
	size = VARSIZE_ANY(flat);
	if (scorer->bytes == NULL || size != scorer->size || memcmp(flat, scorer->bytes, size) != 0)
		replace_model(scorer, flat, size);
	if ((Pointer) flat != DatumGetPointer(value))
		pfree(flat);
}

/* The opener for a dp_model. */
void
dperm_scorer_open_model(Datum value, Oid features_type, DpermScored *out)
{
	out->model = dperm_model_type_open(value);
	out->encoder = out->model->encoder;
}

/*
 * The scorer of a call site whose arguments are (model, features "any"), with
 * the model of this row. open is called again only if the value changes.
 */
DpermScorer *
dperm_scorer_get(FunctionCallInfo fcinfo, DpermScorerOpener open)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	DpermScorer *scorer = flinfo->fn_extra;

	if (scorer == NULL)
	{
		scorer = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(*scorer));
		resolve_argument(scorer, get_fn_expr_argtype(flinfo, 1));
		scorer->open = open;
		scorer->model_cxt = AllocSetContextCreate(flinfo->fn_mcxt, "dperm model",
												  ALLOCSET_DEFAULT_SIZES);
		flinfo->fn_extra = scorer;
	}
	use_model(scorer, PG_GETARG_DATUM(0));
	return scorer;
}

/* What was opened. */
const DpermScored *
dperm_scorer_scored(const DpermScorer *scorer)
{
	return &scorer->scored;
}

/*
 * Make the reader of a block for a column type; raise an error if it does not
 * fit.
 */
static void
make_reader(DpermReader *reader, const DpermBlock *block, Oid type)
{
	DpermReaderKind kind = dperm_reader_kind(type, block->kind);

	if (kind == DPERM_READ_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%.*s\" is of type %s, but the model was trained on a %s",
						block->column.len, block->column.bytes, format_type_be(type),
						dperm_encoder_kind_name(block->kind))));
	dperm_reader_init(reader, kind, block, type);
}

/* Look up the columns of a row type by name. */
static void
resolve_row(DpermScorer *scorer, HeapTupleHeader row)
{
	const DpermEncoder *encoder = &scorer->scored.encoder;
	DpermReader *readers;
	MemoryContext caller;

	scorer->readers = NULL;
	MemoryContextReset(scorer->row_cxt);
	caller = MemoryContextSwitchTo(scorer->row_cxt);
	dperm_reader_take_record(&scorer->record, row);
	readers = palloc(sizeof(DpermReader) * encoder->block_count);
	scorer->columns = palloc(sizeof(int) * encoder->block_count);
	for (int i = 0; i < encoder->block_count; i++)
	{
		const DpermText *text = &encoder->blocks[i].column;
		char	   *name = pnstrdup(text->bytes, text->len);
		int			number = SPI_fnumber(scorer->record.desc, name);

		if (text->len == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("the model was trained on arrays, not on columns"),
					 errhint("Pass an array of numbers.")));
		if (number <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("the row has no column \"%s\", which the model requires", name),
					 errhint("Columns are matched by name. Rename a column in a subquery, or cast "
							 "a row without names, as in ROW(...)::my_table. On a Citus cluster, "
							 "where subqueries and views can lose names, add OFFSET 0.")));
		scorer->columns[i] = number - 1;
		make_reader(&readers[i], &encoder->blocks[i],
					TupleDescAttr(scorer->record.desc, number - 1)->atttypid);
	}
	MemoryContextSwitchTo(caller);
	scorer->readers = readers;
}

/* Read the values of a row. */
static void
read_row(DpermScorer *scorer, Datum features)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(features);

	if (scorer->readers == NULL || !dperm_reader_read_record(&scorer->record, row))
	{
		resolve_row(scorer, row);
		dperm_reader_read_record(&scorer->record, row);
	}
	for (int i = 0; i < scorer->scored.encoder.block_count; i++)
	{
		int			column = scorer->columns[i];

		dperm_reader_read(&scorer->readers[i], scorer->record.datums[column],
						  scorer->record.nulls[column], &scorer->values[i]);
	}
}

/* Prepare to read arrays. */
static void
resolve_array(DpermScorer *scorer)
{
	const DpermEncoder *encoder = &scorer->scored.encoder;
	DpermReader *reader = MemoryContextAlloc(scorer->row_cxt, sizeof(DpermReader));
	MemoryContext caller;

	if (encoder->block_count != 1 || (encoder->blocks[0].kind != DPERM_BLOCK_VECTOR &&
									  encoder->blocks[0].kind != DPERM_BLOCK_BOX))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the model was trained on columns, not on arrays"),
				 errhint("Pass a row with these columns, such as the alias of a table.")));
	caller = MemoryContextSwitchTo(scorer->row_cxt);
	make_reader(reader, &encoder->blocks[0], scorer->type);
	MemoryContextSwitchTo(caller);
	scorer->readers = reader;
}

/*
 * Raise an error for a vector that does not fit the model: the query is wrong,
 * not the data. A vector with a NULL fits.
 */
static void
check_elements(const DpermReader *reader, Datum features)
{
	int			expected = dperm_block_elements(reader->block);
	int			count = -1;

	(void) dperm_reader_elements(&reader->stored, features, &count, NULL);
	if (count != expected)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("features must be a one-dimensional array of length %d and at most %d "
						"bytes", expected, DPERM_VALUE_MAX),
				 count < 0 ? 0 : errdetail("Its length is %d.", count)));
}

/* Read the value of an array or a literal. */
static void
read_array(DpermScorer *scorer, Datum features)
{
	if (scorer->readers == NULL)
		resolve_array(scorer);
	if (scorer->is_literal)
		features = OidInputFunctionCall(F_ARRAY_IN, DatumGetCString(features), FLOAT8OID, -1);
	scorer->array = features;
	dperm_reader_read(scorer->readers, features, false, scorer->values);
	if (!scorer->values->present)
		check_elements(scorer->readers, features);
}

/* Read the features of this row. */
static void
read_features(DpermScorer *scorer, Datum features)
{
	if (scorer->is_row)
		read_row(scorer, features);
	else
		read_array(scorer, features);
}

/*
 * w.x of the features of this row; false if it says nothing. Whether it does is
 * looked at only where the decision is that of a row that says nothing.
 */
bool
dperm_scorer_decision(DpermScorer *scorer, Datum features, double *decision)
{
	read_features(scorer, features);
	*decision = decide(scorer);
	return *decision != scorer->silent ||
		dperm_score_says_something(&scorer->scored.encoder, scorer->values);
}

/*
 * The same for each of several classes, valid until the next call; NULL if the
 * row says nothing.
 */
double *
dperm_scorer_outputs(DpermScorer *scorer, Datum features)
{
	const DpermModel *model = scorer->scored.model;

	read_features(scorer, features);
	if (!dperm_score_says_something(&scorer->scored.encoder, scorer->values))
		return NULL;
	dperm_score_outputs(&scorer->scored.encoder, scorer->frequencies,
						dperm_loss_blocks(model->loss), model->weights, scorer->values,
						scorer->room, scorer->outputs);
	return scorer->outputs;
}

/*
 * What each block adds to the decision of a class, 1 if there are not several,
 * and then the intercept, if there is one: valid until the next call. Raises an
 * error for a kernel.
 */
const double *
dperm_scorer_terms(DpermScorer *scorer, Datum features, int class)
{
	const DpermEncoder *encoder = &scorer->scored.encoder;

	if (encoder->kernel.kind != DPERM_KERNEL_LINEAR)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the decision of a model with a kernel is not a sum over columns"),
				 errhint("Train without a kernel to see what each column adds.")));
	read_features(scorer, features);
	dperm_score_terms(encoder, dperm_model_class(scorer->scored.model, class), scorer->values,
					  scorer->room, scorer->encoded);
	return scorer->encoded;
}

/* The value of a block in the row that was read last, as text; NULL if it is. */
char *
dperm_scorer_value(const DpermScorer *scorer, int block)
{
	Datum		value = scorer->array;
	Oid			type = scorer->type;

	if (scorer->is_row)
	{
		int			column = scorer->columns[block];

		if (scorer->record.nulls[column])
			return NULL;
		value = scorer->record.datums[column];
		type = TupleDescAttr(scorer->record.desc, column)->atttypid;
	}
	return dperm_host_output(value, type);
}

/* The encoded features of a row as an array. */
static Datum
encode(FunctionCallInfo fcinfo, DpermScorerOpener open)
{
	DpermScorer *scorer = dperm_scorer_get(fcinfo, open);
	const DpermEncoder *encoder = &scorer->scored.encoder;

	read_features(scorer, PG_GETARG_DATUM(1));
	dperm_encoder_encode(encoder, scorer->frequencies, scorer->values, 1, scorer->encoded,
						 scorer->room);
	return dperm_model_type_array(scorer->encoded, 0, dperm_encoder_dim(encoder));
}

/*
 * dp_encode(model, row): the vector that the weights of the model are
 * multiplied by.
 */
Datum
dperm_encode_model(PG_FUNCTION_ARGS)
{
	return encode(fcinfo, dperm_scorer_open_model);
}

/*
 * The encoder whose features are the listed columns of the rows' table. Those
 * whose value is null take their domain from the catalog.
 */
static void
open_domains(Datum value, Oid features_type, DpermScored *out)
{
	Jsonb	   *json = DatumGetJsonbP(value);
	Oid			relation = get_typ_typrelid(features_type);
	DpermColumn *columns;
	DpermBlock *blocks;
	int			count;
	int			chosen = 0;

	if (!dperm_domains_has_rows(get_rel_relkind(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("domains can only be applied to the rows of a table or view"),
				 errhint("Pass the alias of a table, or encode with a model.")));
	columns = dperm_domains_read(relation, NULL, &count);
	dperm_domains_give(relation, columns, count, json, true);
	blocks = palloc(sizeof(DpermBlock) * Max(count, 1));
	for (int i = 0; i < count; i++)
	{
		DpermText	name = {columns[i].name, (int) strlen(columns[i].name)};

		if (!getKeyJsonValueFromContainer(&json->root, name.bytes, name.len, NULL))
			continue;
		if (!dperm_column_known(&columns[i]))
			dperm_domains_missing(&columns[i]);
		blocks[chosen] = columns[i].block;
		blocks[chosen++].column = name;
	}
	out->model = NULL;
	out->encoder =
		dperm_host_check_encoder((DpermEncoder) {.block_count = chosen, .blocks = blocks});
}

/* dp_encode(domains, row): the listed columns, without intercept. */
Datum
dperm_encode_domains(PG_FUNCTION_ARGS)
{
	return encode(fcinfo, open_domains);
}

/*
 * The value of a constant or a parameter; false for anything else, and for
 * NULL.
 */
static bool
read_value(Node *node, ParamListInfo params, Datum *value)
{
	if (IsA(node, Const))
	{
		*value = ((Const *) node)->constvalue;
		return !((Const *) node)->constisnull;
	}
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXTERN && params &&
		((Param *) node)->paramid <= params->numParams)
	{
		int			id = ((Param *) node)->paramid;
		ParamExternData room;
		ParamExternData *param = params->paramFetch ?
			params->paramFetch(params, id, false, &room) : &params->params[id - 1];

		*value = param->value;
		return param->ptype == ((Param *) node)->paramtype && !param->isnull;
	}
	return false;
}

/*
 * What an expression converts without changing the number of elements, or only
 * what it does not change at all: a cast to real[] would round. NULL for any
 * other expression.
 */
static Node *
converted(Node *node, bool unchanged)
{
	if (IsA(node, RelabelType))
		return (Node *) ((RelabelType *) node)->arg;
	if (IsA(node, CoerceToDomain))
		return (Node *) ((CoerceToDomain *) node)->arg;
	return IsA(node, ArrayCoerceExpr) && !unchanged ? (Node *) ((ArrayCoerceExpr *) node)->arg :
													  NULL;
}

/*
 * The encoder of an expression whose value is that of a call of dp_encode with a
 * constant or a parameter, unchanged; false for any other expression. Only the
 * expression and the catalog are used. params are those of the query, or NULL.
 * Blocks are allocated in the current memory context.
 */
bool
dperm_scorer_declared_encoder(Node *node, ParamListInfo params, DpermEncoder *encoder)
{
	FuncExpr   *call;
	DpermScored scored;
	FmgrInfo	function;
	Datum		value;

	while (node && !IsA(node, FuncExpr))
		node = converted(node, true);
	call = (FuncExpr *) node;
	if (call == NULL || list_length(call->args) != 2 ||
		!read_value(linitial(call->args), params, &value))
		return false;
	fmgr_info(call->funcid, &function);
	if (function.fn_addr == dperm_encode_domains)
		open_domains(value, getBaseType(exprType(lsecond(call->args))), &scored);
	else if (function.fn_addr == dperm_encode_model)
		dperm_scorer_open_model(value, InvalidOid, &scored);
	else
		return false;
	*encoder = scored.encoder;
	return true;
}

/*
 * The dimension that an expression has for any row, as it declares: a constant,
 * ARRAY[a, b, c], a call of dp_encode, a domain whose CHECK fixes the dimension.
 * 0 if that is not known.
 */
int
dperm_scorer_declared_dimension(Node *node, ParamListInfo params)
{
	for (; node; node = converted(node, false))
	{
		DpermColumn column = {.type = exprType(node),
							  .base = getBaseType(exprType(node)),
							  .typmod = -1,
							  .block = {.kind = DPERM_BLOCK_VECTOR}};
		DpermEncoder encoder;

		dperm_domains_declared(InvalidOid, &column, 0);
		if (dperm_column_known(&column))
			return dperm_block_elements(&column.block);
		if (IsA(node, ArrayExpr) && !((ArrayExpr *) node)->multidims)
			return list_length(((ArrayExpr *) node)->elements);
		if (IsA(node, FuncExpr) && dperm_scorer_declared_encoder(node, params, &encoder))
			return dperm_encoder_dim(&encoder);
		if (IsA(node, Const) && !((Const *) node)->constisnull &&
			OidIsValid(get_base_element_type(((Const *) node)->consttype)))
		{
			ArrayType  *array = DatumGetArrayTypeP(((Const *) node)->constvalue);

			return ARR_NDIM(array) == 1 ? ARR_DIMS(array)[0] : 0;
		}
	}
	return 0;
}
