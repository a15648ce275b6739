/*
 * column_curve.c: dp_curve, what a number adds to the decision, by its value.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/result_set.h"
#include "column/class_choice.h"
#include "column/model_type.h"
#include "core/encode/knots.h"
#include "core/model/score.h"
#include "core/model/weight_noise.h"

PG_FUNCTION_INFO_V1(dp_curve);

/* A number of a model whose decision is a sum over columns. */
typedef struct Curve
{
	const DpermModel *model;
	const double *weights;		/* of a class */
	int			number;			/* of the block */
	int			element;		/* of a vector, else -1 */
	DpermBlock	line;			/* the column or element as a number */
	int			first;			/* its first coordinate */
	double		target;			/* what a weight of it is multiplied by at most */
	DpermValue *values;			/* of all blocks; none but that of the column is present */
	double	   *vector;			/* of the column; elements that are NaN add nothing */
	double	   *terms;
	double	   *room;
} Curve;

/*
 * The block of a column; *first becomes its first coordinate. -1 if there is
 * none.
 */
static int
find_block(const DpermEncoder *encoder, const char *name, int len, int *first)
{
	*first = 0;
	for (int i = 0; i < encoder->block_count; i++)
	{
		const DpermBlock *block = &encoder->blocks[i];

		if (block->column.len == len && memcmp(block->column.bytes, name, len) == 0)
			return i;
		*first += block->count;
	}
	return -1;
}

/*
 * Find a column, or an element of a vector: x[3]. *element is -1 if none is
 * named.
 */
static int
find_number(const DpermEncoder *encoder, const char *name, int *element, int *first)
{
	int			found = find_block(encoder, name, strlen(name), first);
	const char *bracket = strrchr(name, '[');
	int			number;

	*element = -1;
	if (found >= 0 || bracket == NULL)
		return found;
	number = atoi(bracket + 1);
	found = find_block(encoder, name, bracket - name, first);
	if (found < 0 || encoder->blocks[found].kind != DPERM_BLOCK_BOX || number < 1 ||
		number > dperm_block_elements(&encoder->blocks[found]) ||
		strcmp(bracket, psprintf("[%d]", number)) != 0)
		return -1;
	*element = number - 1;
	return found;
}

/* Raise the error for a column that is neither a number nor a time. */
static _Noreturn void
refuse_column(const DpermBlock *block, const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" is a %s, which has no curve", name,
					dperm_encoder_kind_name(block->kind)),
			 block->kind == DPERM_BLOCK_BOX ?
				 errhint("Its elements have curves, such as \"%s[1]\".", name) :
				 errhint("dp_coefficients lists its weights.")));
}

/*
 * Find the column; raise an error unless it is a number, a time or an element
 * with bounds.
 */
static Curve
find_curve(const DpermModel *model, int class, const char *name)
{
	const DpermEncoder *encoder = &model->encoder;
	Curve		curve = {
		.model = model,
		.weights = dperm_model_class(model, class),
		.target = dperm_encoder_target(encoder)
	};
	const DpermBlock *block;

	if (encoder->kernel.kind != DPERM_KERNEL_LINEAR)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the decision of a model with a kernel is not a sum over columns"),
				 errhint("Train without a kernel to see what each column adds.")));
	curve.number = find_number(encoder, name, &curve.element, &curve.first);
	if (curve.number < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the model has no column \"%s\"", name),
				 errhint("dp_coefficients lists its columns.")));
	block = &encoder->blocks[curve.number];
	if (curve.element < 0 && !dperm_block_is_number(block))
		refuse_column(block, name);
	curve.line = curve.element < 0 ? *block : dperm_block_element(block, curve.element);
	if (curve.element >= 0)
	{
		curve.first += curve.element * curve.line.count;
		if (block->each == 0)
			curve.target = dperm_encoder_box_target(block, curve.target);
		curve.vector = palloc(sizeof(double) * dperm_block_elements(block));
		for (int i = 0; i < dperm_block_elements(block); i++)
			curve.vector[i] = NAN;
	}
	curve.values = palloc0(sizeof(DpermValue) * encoder->block_count);
	curve.terms = palloc(sizeof(double) * (encoder->block_count + 1));
	curve.room = palloc(sizeof(double) * (dperm_encoder_dim(encoder) +
										  dperm_encoder_linear_dim(encoder)));
	return curve;
}

/* What the column adds to the decision at a position, in units of the label. */
static double
score_at(const Curve *curve, double position)
{
	if (curve->vector)
		curve->vector[curve->element] = position;
	curve->values[curve->number] = (DpermValue) {
		.present = true,
		.number = position,
		.vector = curve->vector
	};
	dperm_score_terms(&curve->model->encoder, curve->weights, curve->values, curve->room,
					  curve->terms);
	return dperm_model_unit(curve->model) * curve->terms[curve->number];
}

/* Add the points of a curve to the result. */
static void
put_points(Tuplestorestate *store, TupleDesc desc, Curve curve)
{
	const DpermModel *model = curve.model;
	const DpermBlock *block = &curve.line;
	double		middle = score_at(&curve, block->low / 2 + block->high / 2);
	double	   *noise = palloc(sizeof(double) * dperm_model_weights(model));
	/* the ends of a straight line, which has one weight */
	int			count = Max(block->count, 2);

	(void) dperm_weight_noise(model, noise);
	noise += curve.weights - model->weights;
	for (int i = 0; i < count; i++)
	{
		double		position = block->count > 1 ? dperm_knots_position(block, i) :
			i == 0 ? block->low : block->high;
		double		score = score_at(&curve, position);
		int			weight = curve.first + Min(i, block->count - 1);
		Datum		values[4] = {
			Float8GetDatum(position),
			Float8GetDatum(score),
			Float8GetDatum(dperm_model_unit(model) * curve.target * noise[weight]),
			Float8GetDatum(exp(score - middle))
		};
		bool		nulls[4] = {[3] = model->loss.kind != DPERM_LOSS_LOGISTIC};

		tuplestore_putvalues(store, desc, values, nulls);
	}
}

/*
 * dp_curve(model, column_name, class): the points of a curve, see sql/parts.
 * None if the model or the column is NULL.
 */
Datum
dp_curve(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Tuplestorestate *store = dperm_result_set_begin(fcinfo, &desc);
	const DpermModel *model;
	int			class;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	model = dperm_model_type_open(PG_GETARG_DATUM(0));
	class = dperm_class_choice(model, PG_ARGISNULL(2) ? NULL :
							   text_to_cstring(PG_GETARG_TEXT_PP(2)));
	put_points(store, desc, find_curve(model, class, text_to_cstring(PG_GETARG_TEXT_PP(1))));
	return (Datum) 0;
}
