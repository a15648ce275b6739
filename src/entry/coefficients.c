/*
 * coefficients.c: dp_coefficients, the weights of a model by column, and
 * how much of each may be noise.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/result_set.h"
#include "column/class_choice.h"
#include "column/model_type.h"
#include "core/encode/knots.h"
#include "core/model/weight_noise.h"

PG_FUNCTION_INFO_V1(dp_coefficients);

/* A text as a datum. */
static Datum
text_datum(const DpermText *text)
{
	return PointerGetDatum(cstring_to_text_with_len(text->bytes, text->len));
}

/* A weight and its place in the list. */
typedef struct Ranked
{
	int			coordinate;
	bool		intercept;		/* comes last */
	double		weight;
	double		noise;
	double		strength;		/* absolute weight; in standard deviations, if there is noise */
} Ranked;

/* For qsort: the weights that stand out most come first. */
static int
compare_ranked(const void *a, const void *b)
{
	const Ranked *first = a;
	const Ranked *second = b;

	if (first->intercept != second->intercept)
		return first->intercept - second->intercept;
	if (first->strength != second->strength)
		return first->strength > second->strength ? -1 : 1;
	return first->coordinate - second->coordinate;
}

/* The weights of a class in the order of the list. */
static Ranked *
rank_weights(const DpermModel *model, int class, int dim, bool *exact)
{
	const double *weights = dperm_model_class(model, class);
	double	   *noise = palloc(sizeof(double) * dperm_model_weights(model));
	Ranked	   *ranked = palloc(sizeof(Ranked) * dim);

	*exact = dperm_weight_noise(model, noise);
	noise += weights - model->weights;
	for (int i = 0; i < dim; i++)
		ranked[i] = (Ranked) {
			.coordinate = i,
			.intercept = model->encoder.intercept && i == dim - 1,
			.weight = weights[i],
			.noise = noise[i],
			.strength = fabs(weights[i]) / (noise[i] > 0 ? noise[i] : 1)
		};
	qsort(ranked, dim, sizeof(Ranked), compare_ranked);
	return ranked;
}

/* A knot of an element of a vector: [3] 0.5 */
static char *
name_point(const DpermBlock *block, int within)
{
	DpermBlock	element = dperm_block_element(block, within / block->each);

	return psprintf("[%d] %s", within / block->each + 1,
					double_to_shortest_decimal(dperm_knots_position(&element,
																	within % block->each)));
}

/* Set column_name and value: what a coordinate stands for. */
static void
name_coordinate(const DpermCoordinate *at, Datum *values, bool *nulls)
{
	char	   *value = NULL;

	if (at->intercept)
		value = "intercept";
	else if (at->kernel)
		value = psprintf("kernel feature %d", at->within + 1);	/* it combines all columns */
	else
	{
		nulls[1] = at->block->column.len == 0;
		values[1] = text_datum(&at->block->column);
		if (at->block->kind == DPERM_BLOCK_CATEGORY)
		{
			values[2] = text_datum(&at->block->categories[at->within]);
			nulls[2] = false;
		}
		else if (at->block->each > 0)
			value = name_point(at->block, at->within);
		else if (dperm_block_is_curve(at->block))
			value = double_to_shortest_decimal(dperm_knots_position(at->block, at->within));
		else if (at->block->kind == DPERM_BLOCK_VECTOR || at->block->kind == DPERM_BLOCK_BOX)
			value = psprintf("[%d]", at->within + 1);
	}
	if (value)
	{
		values[2] = CStringGetTextDatum(value);
		nulls[2] = false;
	}
}

/*
 * dp_coefficients(model, class): a row for each coordinate, see sql/parts. None
 * if the model is NULL.
 */
Datum
dp_coefficients(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Tuplestorestate *store = dperm_result_set_begin(fcinfo, &desc);
	DpermModel *model;
	int			dim;
	int			class;
	bool		exact;
	Ranked	   *ranked;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	model = dperm_model_type_open(PG_GETARG_DATUM(0));
	dim = dperm_encoder_dim(&model->encoder);
	class = dperm_class_choice(model, PG_ARGISNULL(1) ? NULL :
							   text_to_cstring(PG_GETARG_TEXT_PP(1)));
	ranked = rank_weights(model, class, dim, &exact);
	for (int i = 0; i < dim; i++)
	{
		DpermCoordinate at;
		Datum		values[7] = {
			Int32GetDatum(ranked[i].coordinate + 1), 0, 0,
			Float8GetDatum(ranked[i].weight),
			Float8GetDatum(ranked[i].noise),
			CStringGetTextDatum(exact ? "exact" : "bound"),
			BoolGetDatum(fabs(ranked[i].weight) > DPERM_WEIGHT_STANDS_OUT * ranked[i].noise)
		};
		bool		nulls[7] = {[1] = true,[2] = true};

		if (!dperm_encoder_coordinate(&model->encoder, ranked[i].coordinate, &at))
			elog(ERROR, "coordinate %d is out of range", ranked[i].coordinate);
		name_coordinate(&at, values, nulls);
		tuplestore_putvalues(store, desc, values, nulls);
	}
	return (Datum) 0;
}
