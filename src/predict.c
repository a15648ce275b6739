/*
 * predict.c: dp_predict, dp_predict_prob, dp_decision.
 *
 * The features are declared "any", so that no choice between overloads can be
 * ambiguous: one look at the type of the argument, once per query, picks the
 * reader. The model is decoded once per query too, and again only when another
 * one comes along: a join with a table of models may change it from row to row.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/score.h"
#include "model_type.h"
#include "rows.h"

PG_FUNCTION_INFO_V1(dp_predict);
PG_FUNCTION_INFO_V1(dp_predict_prob);
PG_FUNCTION_INFO_V1(dp_decision);

typedef struct Scorer Scorer;

/*
 * Reads the features of one row: as many doubles as the model wants, or NULL for a
 * zero block. They live until the next call. A copy that the caller should free
 * goes to scorer->copy.
 */
typedef const double *(*FeatureReader) (Scorer *scorer, Datum value);

/* What is kept between the rows of one query. */
struct Scorer
{
	/* How the features are read. */
	FeatureReader read;
	Oid			elemtype;		/* base type of the elements */
	FmgrInfo	literal_in;		/* for a literal: the input function of float8[] */
	Oid			literal_param;
	void	   *copy;			/* of this row's features, or NULL */

	/* The model at hand; everything below lives in model_cxt. */
	MemoryContext model_cxt;
	DpermModel *model;			/* NULL: none */
	double	   *raw;			/* room for one vector */
	double	   *room;			/* and for its encoded form */

	/* Which value it was decoded from: a toast pointer, or a copy of its bytes. */
	bool		on_disk;
	struct varatt_external pointer;
	char	   *bytes;
	Size		size;
};

/* A mistake in the query, not in the data: a vector that cannot fit the model. */
static void
check_length(const DpermModel *model, ArrayType *array)
{
	int			length = dperm_rows_array_length(array);

	if (length == model->encoder.dimension)
		return;
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("features must be a one-dimensional array")));
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg_plural("model expects %d feature, got %d",
						   "model expects %d features, got %d",
						   model->encoder.dimension,
						   model->encoder.dimension, Max(length, 0))));
}

/* The reader for arrays. */
static const double *
read_array(Scorer *scorer, Datum value)
{
	/* Not the packed form: behind a short header the elements are not aligned. */
	ArrayType  *array = DatumGetArrayTypeP(value);
	int			dimension = scorer->model->encoder.dimension;
	const double *plain;

	if ((Pointer) array != DatumGetPointer(value))
		scorer->copy = array;
	check_length(scorer->model, array);

	plain = dperm_rows_peek_float8(array, dimension);
	if (plain)
		return plain;
	if (dperm_rows_read_array(array, scorer->elemtype, dimension, scorer->raw))
		return scorer->raw;
	return NULL;				/* a NULL inside: a zero block, as in training */
}

/* The reader for a literal without a type, such as '{0.1, 0.2}'. */
static const double *
read_literal(Scorer *scorer, Datum value)
{
	Datum		array = InputFunctionCall(&scorer->literal_in, DatumGetCString(value),
										  scorer->literal_param, -1);

	scorer->copy = DatumGetPointer(array);
	return read_array(scorer, array);
}

/* Pick the reader for the type of the features. */
static void
resolve_reader(Scorer *scorer, FmgrInfo *flinfo)
{
	Oid			type = get_fn_expr_argtype(flinfo, 1);

	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of the features");

	if (type == UNKNOWNOID)
	{
		Oid			input;

		getTypeInputInfo(FLOAT8ARRAYOID, &input, &scorer->literal_param);
		fmgr_info_cxt(input, &scorer->literal_in, flinfo->fn_mcxt);
		scorer->elemtype = FLOAT8OID;
		scorer->read = read_literal;
		return;
	}

	scorer->elemtype = dperm_rows_element_type(type);
	if (!OidIsValid(scorer->elemtype))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot read features from type %s", format_type_be(type)),
				 errhint("Pass an array of float8, float4, numeric or integers.")));
	scorer->read = read_array;
}

/* The scorer of this call site, made on the first row. */
static Scorer *
get_scorer(FmgrInfo *flinfo)
{
	Scorer	   *scorer = flinfo->fn_extra;

	if (scorer == NULL)
	{
		scorer = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(Scorer));
		resolve_reader(scorer, flinfo);
		scorer->model_cxt = AllocSetContextCreate(flinfo->fn_mcxt, "dperm model",
												  ALLOCSET_DEFAULT_SIZES);
		flinfo->fn_extra = scorer;
	}
	scorer->copy = NULL;		/* an error may have left the last one behind */
	return scorer;
}

/* Decode another model in place of the one at hand. */
static void
replace_model(Scorer *scorer, Datum value)
{
	MemoryContext caller;
	DpermModel *model;

	scorer->model = NULL;		/* should decoding raise */
	MemoryContextReset(scorer->model_cxt);
	caller = MemoryContextSwitchTo(scorer->model_cxt);
	model = dperm_model_open(value);
	scorer->raw = palloc(model->encoder.dimension * sizeof(double));
	scorer->room = palloc(dperm_encoder_dim(&model->encoder) * sizeof(double));
	if (!scorer->on_disk)
	{
		scorer->bytes = palloc(scorer->size);
		memcpy(scorer->bytes, DatumGetPointer(value), scorer->size);
	}
	MemoryContextSwitchTo(caller);
	scorer->model = model;
}

/*
 * Make sure that the model at hand is this one. An address proves nothing: the
 * executor reuses its memory from row to row. A toast pointer does, without a look
 * at the value, and so do equal bytes.
 */
static void
use_model(Scorer *scorer, Datum value)
{
	struct varlena *flat = (struct varlena *) DatumGetPointer(value);

	if (VARATT_IS_EXTERNAL_ONDISK(flat))
	{
		struct varatt_external pointer;

		VARATT_EXTERNAL_GET_POINTER(pointer, flat);
		/* Four 32-bit fields, no padding between them. */
		if (scorer->model && scorer->on_disk &&
			memcmp(&pointer, &scorer->pointer, sizeof(pointer)) == 0)
			return;
		scorer->on_disk = true;
		scorer->pointer = pointer;
		replace_model(scorer, value);
		return;
	}

	/* Any other pointer leads to memory that may change: look at what it holds. */
	if (VARATT_IS_EXTERNAL(flat))
		flat = PG_DETOAST_DATUM_PACKED(value);
	if (!(scorer->model && !scorer->on_disk && VARSIZE_ANY(flat) == scorer->size &&
		  memcmp(flat, scorer->bytes, scorer->size) == 0))
	{
		scorer->on_disk = false;
		scorer->size = VARSIZE_ANY(flat);
		replace_model(scorer, PointerGetDatum(flat));
	}
	if ((Pointer) flat != DatumGetPointer(value))
		pfree(flat);
}

/* The decision for one row. */
static double
decide(Scorer *scorer, Datum features)
{
	const DpermModel *model = scorer->model;
	const double *raw = scorer->read(scorer, features);
	double		decision = dperm_score_decision(&model->encoder, model->weights, raw,
												scorer->room);

	if (scorer->copy)
		pfree(scorer->copy);
	return decision;
}

/* The signed distance, up to scale: w.x. */
Datum
dp_decision(PG_FUNCTION_ARGS)
{
	Scorer	   *scorer = get_scorer(fcinfo->flinfo);

	use_model(scorer, PG_GETARG_DATUM(0));
	PG_RETURN_FLOAT8(decide(scorer, PG_GETARG_DATUM(1)));
}

/* The class: is the decision positive? */
Datum
dp_predict(PG_FUNCTION_ARGS)
{
	Scorer	   *scorer = get_scorer(fcinfo->flinfo);

	use_model(scorer, PG_GETARG_DATUM(0));
	PG_RETURN_BOOL(decide(scorer, PG_GETARG_DATUM(1)) > 0.0);
}

/* The probability of the positive class, where the model has one. */
Datum
dp_predict_prob(PG_FUNCTION_ARGS)
{
	Scorer	   *scorer = get_scorer(fcinfo->flinfo);

	use_model(scorer, PG_GETARG_DATUM(0));
	if (scorer->model->loss.kind != DPERM_LOSS_LOGISTIC)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a support vector machine does not give probabilities"),
				 errhint("Use dp_decision() or dp_predict().")));
	PG_RETURN_FLOAT8(dperm_score_probability(decide(scorer, PG_GETARG_DATUM(1))));
}
