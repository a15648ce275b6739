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
#include "column/model_type.h"
#include "core/encode/knots.h"
#include "core/model/score.h"
#include "core/model/weight_noise.h"

PG_FUNCTION_INFO_V1(dp_curve);

/* A column of a model whose decision is a sum over columns. */
typedef struct Curve
{
	const DpermModel *model;
	int			number;			/* of the block */
	const DpermBlock *block;
	int			first;			/* its first coordinate */
	DpermValue *values;			/* of all blocks; none but that of the column is present */
	double	   *terms;
	double	   *room;
} Curve;

/* Find the column; raise an error unless it is a number or a time. */
static Curve
find_curve(const DpermModel *model, text *name)
{
	const DpermEncoder *encoder = &model->encoder;
	Curve		curve = {.model = model, .number = -1};
	int			first = 0;

	if (encoder->kernel.kind != DPERM_KERNEL_LINEAR)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the decision of a model with a kernel is not a sum over columns"),
				 errhint("Train without a kernel to see what each column adds.")));
	for (int i = 0; i < encoder->block_count; i++)
	{
		const DpermBlock *block = &encoder->blocks[i];

		if (block->column.len == (int) VARSIZE_ANY_EXHDR(name) &&
			memcmp(block->column.bytes, VARDATA_ANY(name), block->column.len) == 0)
		{
			curve.number = i;
			curve.block = block;
			curve.first = first;
		}
		first += block->count;
	}
	if (curve.number < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the model has no column \"%s\"", text_to_cstring(name)),
				 errhint("dp_coefficients lists its columns.")));
	if (!dperm_block_is_number(curve.block))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is a %s, which has no curve", text_to_cstring(name),
						dperm_encoder_kind_name(curve.block->kind)),
				 errhint("dp_coefficients lists its weights.")));
	curve.values = palloc0(sizeof(DpermValue) * encoder->block_count);
	curve.terms = palloc(sizeof(double) * (encoder->block_count + 1));
	curve.room = palloc(sizeof(double) * (dperm_encoder_dim(encoder) +
										  dperm_encoder_linear_dim(encoder)));
	return curve;
}

/* What the column adds to the decision at a position. */
static double
score_at(const Curve *curve, double position)
{
	curve->values[curve->number] = (DpermValue) {.present = true, .number = position};
	dperm_score_terms(&curve->model->encoder, curve->model->weights, curve->values, curve->room,
					  curve->terms);
	return curve->terms[curve->number];
}

/* dp_curve(model, column_name): the points of a curve, see sql/parts. */
Datum
dp_curve(PG_FUNCTION_ARGS)
{
	const DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));
	Curve		curve = find_curve(model, PG_GETARG_TEXT_PP(1));
	const DpermBlock *block = curve.block;
	TupleDesc	desc;
	Tuplestorestate *store = dperm_result_set_begin(fcinfo, &desc);
	double		target = dperm_encoder_target(&model->encoder);
	double		middle = score_at(&curve, block->low / 2 + block->high / 2);
	double	   *noise = palloc(sizeof(double) * dperm_encoder_dim(&model->encoder));
	/* the ends of a straight line, which has one weight */
	int			count = Max(block->count, 2);

	(void) dperm_weight_noise(model, noise);
	for (int i = 0; i < count; i++)
	{
		double		position = block->count > 1 ? dperm_knots_position(block, i) :
			i == 0 ? block->low : block->high;
		double		score = score_at(&curve, position);
		int			weight = curve.first + Min(i, block->count - 1);
		Datum		values[4] = {
			Float8GetDatum(position),
			Float8GetDatum(score),
			Float8GetDatum(target * noise[weight]),
			Float8GetDatum(exp(score - middle))
		};
		bool		nulls[4] = {[3] = model->loss.kind != DPERM_LOSS_LOGISTIC};

		tuplestore_putvalues(store, desc, values, nulls);
	}
	return (Datum) 0;
}
