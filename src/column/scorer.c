/*
 * scorer.c: a model and the rows it is applied to.
 *
 * The features are an array (for a model of one vector) or a row whose columns
 * are matched by name. The type of the argument decides, once per query; the
 * columns are looked up once per model and row type. A join with a table of
 * models may change the model from row to row.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/host.h"
#include "column/datum_values.h"
#include "column/model_type.h"
#include "column/reader.h"
#include "column/record.h"
#include "column/scorer.h"
#include "core/model/score.h"

/* What is kept between the rows of one query. */
struct DpermScorer
{
	/* The form of the features: a row, an untyped literal, or an array. */
	bool		is_row;
	bool		is_literal;
	Oid			type;			/* of the features */
	DpermScorerOpener open;
	FmgrInfo	literal_in;		/* the input function of float8[] */
	Oid			literal_param;

	/* The current model; everything below lives in model_cxt. */
	MemoryContext model_cxt;
	bool		valid;			/* is there one? */
	DpermScored scored;
	double	   *frequencies;
	DpermValue *values;
	double	   *encoded;
	double	   *room;
	double		silent;			/* its decision on a row that says nothing */
	double	   *outputs;		/* of several classes */

	/*
	 * The value it was decoded from: a toast pointer, or a copy of its bytes.
	 */
	bool		on_disk;
	struct varatt_external pointer;
	char	   *bytes;
	Size		size;

	/* How its columns are read; lives in row_cxt, a child of model_cxt. */
	MemoryContext row_cxt;
	bool		readers_valid;
	DpermReader *readers;
	DpermRecord record;			/* the row type, for rows */
	int		   *columns;		/* the position of each block's column in a row */
	Datum		array;			/* the last one, for arrays */
};

/* Determine the form of the features. */
static void
resolve_argument(DpermScorer *scorer, FmgrInfo *flinfo)
{
	Oid			type = get_fn_expr_argtype(flinfo, 1);

	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of the features");
	scorer->type = getBaseType(type);
	if (type == UNKNOWNOID)
	{
		Oid			input;

		getTypeInputInfo(FLOAT8ARRAYOID, &input, &scorer->literal_param);
		fmgr_info_cxt(input, &scorer->literal_in, flinfo->fn_mcxt);
		scorer->is_literal = true;
		scorer->type = FLOAT8ARRAYOID;
	}
	else if (type_is_rowtype(scorer->type))
		scorer->is_row = true;
	else if (dperm_reader_kind(type, DPERM_BLOCK_VECTOR) == DPERM_READ_NONE)
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
replace_model(DpermScorer *scorer, Datum value)
{
	MemoryContext caller;
	const DpermEncoder *encoder = &scorer->scored.encoder;

	scorer->valid = false;		/* in case decoding raises an error */
	scorer->readers_valid = false;
	MemoryContextReset(scorer->model_cxt);
	caller = MemoryContextSwitchTo(scorer->model_cxt);
	scorer->row_cxt = AllocSetContextCreate(scorer->model_cxt, "dperm row type",
											ALLOCSET_SMALL_SIZES);
	scorer->open(value, scorer->type, &scorer->scored);
	scorer->frequencies = dperm_host_frequencies(encoder);
	scorer->values = palloc0(sizeof(DpermValue) * encoder->block_count);
	scorer->encoded = palloc(sizeof(double) * dperm_encoder_dim(encoder));
	scorer->room = palloc(sizeof(double) * (dperm_encoder_dim(encoder) +
											dperm_encoder_linear_dim(encoder)));
	if (scorer->scored.model)
	{
		scorer->silent = decide(scorer);	/* no value has been read yet */
		scorer->outputs = palloc(sizeof(double) * dperm_loss_blocks(scorer->scored.model->loss));
	}
	if (!scorer->on_disk)
	{
		scorer->bytes = palloc(scorer->size);
		memcpy(scorer->bytes, DatumGetPointer(value), scorer->size);
	}
	MemoryContextSwitchTo(caller);
	scorer->valid = true;
}

/*
 * Make sure that the current model is this one. The address proves nothing: the
 * executor reuses memory from row to row. An equal toast pointer does, without
 * reading the value, and so do equal bytes.
 */
static void
use_model(DpermScorer *scorer, Datum value)
{
	struct varlena *flat = (struct varlena *) DatumGetPointer(value);

	if (VARATT_IS_EXTERNAL_ONDISK(flat))
	{
		struct varatt_external pointer;

		VARATT_EXTERNAL_GET_POINTER(pointer, flat);
		/* Four 32-bit fields, no padding between them. */
		if (scorer->valid && scorer->on_disk &&
			memcmp(&pointer, &scorer->pointer, sizeof(pointer)) == 0)
			return;
		scorer->on_disk = true;
		scorer->pointer = pointer;
		replace_model(scorer, value);
		return;
	}

	/*
	 * Any other pointer refers to memory that may change: compare its contents.
	 */
	if (VARATT_IS_EXTERNAL(flat))
		flat = PG_DETOAST_DATUM_PACKED(value);
	if (!(scorer->valid && !scorer->on_disk && VARSIZE_ANY(flat) == scorer->size &&
		  memcmp(flat, scorer->bytes, scorer->size) == 0))
	{
		scorer->on_disk = false;
		scorer->size = VARSIZE_ANY(flat);
		replace_model(scorer, PointerGetDatum(flat));
	}
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

/* The scorer of a call site, with the model of this row. */
DpermScorer *
dperm_scorer_get(FunctionCallInfo fcinfo, DpermScorerOpener open)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	DpermScorer *scorer = flinfo->fn_extra;

	if (scorer == NULL)
	{
		scorer = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(*scorer));
		resolve_argument(scorer, flinfo);
		scorer->open = open;
		scorer->model_cxt = AllocSetContextCreate(flinfo->fn_mcxt, "dperm model",
												  ALLOCSET_DEFAULT_SIZES);
		flinfo->fn_extra = scorer;
	}
	use_model(scorer, PG_GETARG_DATUM(0));
	return scorer;
}

const DpermModel *
dperm_scorer_model(const DpermScorer *scorer)
{
	return scorer->scored.model;
}

const DpermEncoder *
dperm_scorer_encoder(const DpermScorer *scorer)
{
	return &scorer->scored.encoder;
}

/* The name of a block's column. */
static char *
column_name(const DpermBlock *block)
{
	return pnstrdup(block->column.bytes, block->column.len);
}

/*
 * Make the reader of a block for a column type; raise an error if it does not
 * fit.
 */
static void
make_reader(DpermScorer *scorer, int i, Oid type)
{
	const DpermBlock *block = &scorer->scored.encoder.blocks[i];
	DpermReaderKind kind = dperm_reader_kind(type, block->kind);

	if (kind == DPERM_READ_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s, but the model was trained on a %s",
						column_name(block), format_type_be(type),
						dperm_encoder_kind_name(block->kind))));
	dperm_reader_init(&scorer->readers[i], kind, block, type);
}

/* Do the columns of a row have the names that ROW() gives them? */
static bool
lacks_names(TupleDesc desc)
{
	return desc->natts > 0 && desc->tdtypeid == RECORDOID &&
		   strcmp(NameStr(TupleDescAttr(desc, 0)->attname), "f1") == 0;
}

/* Look up the columns of a row type by name. */
static void
resolve_row(DpermScorer *scorer, HeapTupleHeader row)
{
	const DpermEncoder *encoder = &scorer->scored.encoder;
	TupleDesc	desc;
	MemoryContext caller;

	scorer->readers_valid = false;
	MemoryContextReset(scorer->row_cxt);
	caller = MemoryContextSwitchTo(scorer->row_cxt);
	dperm_record_take(&scorer->record, row);
	desc = scorer->record.desc;
	scorer->readers = palloc(sizeof(DpermReader) * encoder->block_count);
	scorer->columns = palloc(sizeof(int) * encoder->block_count);
	for (int i = 0; i < encoder->block_count; i++)
	{
		const DpermText *name = &encoder->blocks[i].column;
		int			found = -1;

		if (name->len == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("the model was trained on arrays, not on columns"),
					 errhint("Pass an array of numbers.")));
		for (int j = 0; j < desc->natts && found < 0; j++)
		{
			Form_pg_attribute column = TupleDescAttr(desc, j);

			if (!column->attisdropped && strlen(NameStr(column->attname)) == name->len &&
				memcmp(NameStr(column->attname), name->bytes, name->len) == 0)
				found = j;
		}
		if (found < 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("the row has no column \"%s\", which the model requires",
							column_name(&encoder->blocks[i])),
					 lacks_names(desc) ?
					 errhint("Cast the row to a named row type, as in ROW(...)::my_table, or, on a "
							 "Citus cluster, where the columns of a subquery or view lose their "
							 "names, select from the table or add OFFSET 0 to the subquery.") :
					 errhint("Columns are matched by name; if the column has another name, rename "
							 "it in a subquery.")));
		make_reader(scorer, i, TupleDescAttr(desc, found)->atttypid);
		scorer->columns[i] = found;
	}
	MemoryContextSwitchTo(caller);
	scorer->readers_valid = true;
}

/* Read the values of a row. */
static void
read_row(DpermScorer *scorer, Datum features)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(features);

	if (!scorer->readers_valid || !dperm_record_fits(&scorer->record, row))
		resolve_row(scorer, row);
	dperm_record_read(&scorer->record, row);
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
	MemoryContext caller;

	if (encoder->block_count != 1 || (encoder->blocks[0].kind != DPERM_BLOCK_VECTOR &&
									  encoder->blocks[0].kind != DPERM_BLOCK_BOX))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the model was trained on columns, not on arrays"),
				 errhint("Pass a row with these columns, such as the alias of a table.")));
	caller = MemoryContextSwitchTo(scorer->row_cxt);
	scorer->readers = palloc(sizeof(DpermReader));
	make_reader(scorer, 0, scorer->type);
	MemoryContextSwitchTo(caller);
	scorer->readers_valid = true;
}

/*
 * Raise an error for a vector that does not fit the model: the query is wrong,
 * not the data.
 */
static void
check_elements(const DpermScorer *scorer, Datum features)
{
	int			expected = dperm_block_elements(&scorer->scored.encoder.blocks[0]);
	ArrayType  *array;
	int			elements;

	if (scorer->readers[0].kind == DPERM_READ_VECTOR)
	{
		/* pgvector: int16 dimension after the header */
		elements = *(int16 *) VARDATA(PG_DETOAST_DATUM(features));
	}
	else
	{
		array = DatumGetArrayTypeP(features);
		elements = dperm_datum_values_array_elements(array);
		if (ARR_NDIM(array) > 1)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("features must be a one-dimensional array")));
	}
	if (elements != expected)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg_plural("model expects %d feature, got %d",
							   "model expects %d features, got %d",
							   expected, expected, Max(elements, 0))));
}

/* Read the value of an array or a literal. */
static void
read_array(DpermScorer *scorer, Datum features)
{
	if (!scorer->readers_valid)
		resolve_array(scorer);
	if (scorer->is_literal)
		features = InputFunctionCall(&scorer->literal_in, DatumGetCString(features),
									 scorer->literal_param, -1);
	else
	{
		if (dperm_datum_values_too_large(features, true))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("features are larger than %d bytes", DPERM_VALUE_MAX)));
		features = PointerGetDatum(PG_DETOAST_DATUM(features));
	}
	check_elements(scorer, features);
	scorer->array = features;
	dperm_reader_read(&scorer->readers[0], features, false, &scorer->values[0]);
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

/* The outputs of the classes. */
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

/* The terms of w.x. */
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

/* The value of a block in this row as text. */
char *
dperm_scorer_value(const DpermScorer *scorer, int block)
{
	Datum		value = scorer->array;
	Oid			type = scorer->type;
	Oid			output;
	bool		is_varlena;

	if (scorer->is_row)
	{
		int			column = scorer->columns[block];

		if (scorer->record.nulls[column])
			return NULL;
		value = scorer->record.datums[column];
		type = TupleDescAttr(scorer->record.desc, column)->atttypid;
	}
	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, value);
}

/* The encoded features of this row. */
const double *
dperm_scorer_encode(DpermScorer *scorer, Datum features)
{
	read_features(scorer, features);
	dperm_encoder_encode(&scorer->scored.encoder, scorer->frequencies, scorer->values, 1,
				 scorer->encoded, scorer->room);
	return scorer->encoded;
}
