/*
 * explain.c: what a model consists of: dp_coefficients, its weights by column, and
 * how much of each may be noise; dp_curve, what a number adds to the decision, by
 * its value; dp_explain, what each column adds to the decision on a row.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"

#include "base/arguments.h"
#include "base/host.h"
#include "column/domains.h"
#include "column/label.h"
#include "column/model_type.h"
#include "core/encode/encoder.h"

PG_FUNCTION_INFO_V1(dp_coefficients);
PG_FUNCTION_INFO_V1(dp_curve);
PG_FUNCTION_INFO_V1(dp_explain);

/* A weight or a score, and its place in a list. */
typedef struct Ranked
{
	int			number;			/* of a coordinate or a block */
	bool		intercept;		/* comes last */
	double		value;
	double		strength;		/* the largest comes first */
} Ranked;

/* For qsort. */
static int
compare_ranked(const void *a, const void *b)
{
	const Ranked *first = a;
	const Ranked *second = b;

	if (first->intercept != second->intercept)
		return first->intercept - second->intercept;
	if (first->strength != second->strength)
		return first->strength > second->strength ? -1 : 1;
	return first->number - second->number;
}

/* The class that an argument names, as label.c says. */
static int
class_argument(FunctionCallInfo fcinfo, int i, const DpermModel *model)
{
	return dperm_label_choose_class(model, PG_ARGISNULL(i) ? NULL :
							  text_to_cstring(PG_GETARG_TEXT_PP(i)));
}

/* The noise of each weight of a class; is it exact? */
static const double *
class_noise(const DpermModel *model, int class, bool *exact)
{
	double	   *noise = palloc(sizeof(double) * dperm_model_weights(model));

	*exact = dperm_model_weight_noise(model, noise);
	return noise + (dperm_model_class(model, class) - model->weights);
}

/* What a coordinate stands for within its block; NULL if it is all of it. */
static char *
name_within(const DpermBlock *block, int within)
{
	if (block->each > 0)
	{
		int			element = within / block->each;
		DpermBlock	line = dperm_block_element(block, element);

		return psprintf("[%d] %s", element + 1, dperm_domain_types_shown(
							&line, dperm_encoder_knot(&line, within % block->each)));
	}
	if (dperm_block_is_curve(block))
		return dperm_domain_types_shown(block, dperm_encoder_knot(block, within));
	return block->kind == DPERM_BLOCK_VECTOR || block->kind == DPERM_BLOCK_BOX ?
		psprintf("[%d]", within + 1) : NULL;
}

/* The name of a column; NULL if it has none. */
static NullableDatum
column_name(const DpermBlock *block)
{
	return dperm_host_text(block->column.len == 0 ? NULL :
						   pnstrdup(block->column.bytes, block->column.len));
}

/* What a coordinate stands for; NULL if it is all of its column. */
static char *
coordinate_name(const DpermCoordinate *at)
{
	const DpermText *category;

	if (at->intercept)
		return "intercept";
	if (at->kernel)				/* which combines all columns */
		return psprintf("kernel feature %d", at->within + 1);
	if (at->block->kind != DPERM_BLOCK_CATEGORY)
		return name_within(at->block, at->within);
	category = &at->block->categories[at->within];
	return pnstrdup(category->bytes, category->len);
}

/* What a weight is multiplied by at most, in units of the label. */
static double
full_entry(const DpermModel *model, const DpermCoordinate *at)
{
	double		target = dperm_encoder_target(&model->encoder);

	return dperm_model_unit(model) *
		(!at->intercept && !at->kernel && at->block->kind == DPERM_BLOCK_BOX &&
		 at->block->each == 0 ? dperm_encoder_box_target(at->block, target) : target);
}

/*
 * dp_coefficients(model, class): a row for each coordinate, see sql/parts; those
 * that stand out most from their noise come first.
 */
Datum
dp_coefficients(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Tuplestorestate *store = dperm_host_result_set(fcinfo, &desc);
	DpermModel *model;
	int			dim;
	int			class;
	const double *weights;
	const double *noise;
	bool		exact;
	Ranked	   *ranked;

	model = dperm_model_type_required(fcinfo);
	dim = dperm_encoder_dim(&model->encoder);
	class = class_argument(fcinfo, 1, model);
	weights = dperm_model_class(model, class);
	noise = class_noise(model, class, &exact);
	ranked = palloc(sizeof(Ranked) * dim);
	for (int i = 0; i < dim; i++)
		ranked[i] = (Ranked) {
			.number = i,
			.intercept = model->encoder.intercept && i == dim - 1,
			.value = weights[i],
			.strength = fabs(weights[i]) / (noise[i] > 0 ? noise[i] : 1)
		};
	qsort(ranked, dim, sizeof(Ranked), compare_ranked);
	for (int i = 0; i < dim; i++)
	{
		int			number = ranked[i].number;
		DpermCoordinate at;
		double		full;
		bool		plain;

		if (!dperm_encoder_coordinate(&model->encoder, number, &at))
			elog(ERROR, "coordinate %d is out of range", number);
		full = full_entry(model, &at);
		plain = !at.intercept && !at.kernel;
		dperm_host_put_row(store, desc, (NullableDatum[]) {
			{Int32GetDatum(number + 1)},
			plain ? column_name(at.block) : dperm_host_text(NULL),
			dperm_host_text(coordinate_name(&at)),
			{Float8GetDatum(weights[number])},
			{Float8GetDatum(noise[number])},
			dperm_host_text(exact ? "exact" : "bound"),
			{BoolGetDatum(fabs(weights[number]) > DPERM_MODEL_STANDS_OUT * noise[number])},
			{Float8GetDatum(full * weights[number] +
							(at.intercept ? dperm_model_centre(model) : 0)), at.kernel},
			{Float8GetDatum(full * noise[number]), at.kernel}
		});
	}
	return (Datum) 0;
}

/* A column of numbers, or an element of a vector of numbers. */
typedef struct Curve
{
	DpermBlock	line;
	int			first;			/* its first weight */
	double		target;			/* what a weight is multiplied by at most */
} Curve;

/* Raise an error for a column that is neither a number nor a time. */
static void
check_number(const DpermBlock *block, const char *name)
{
	if (!dperm_block_is_number(block))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is a %s, which has no curve", name,
						dperm_encoder_kind_name(block->kind)),
				 block->kind == DPERM_BLOCK_BOX ?
				 errhint("Its elements have curves, such as \"%s[1]\".", name) :
				 errhint("dp_coefficients lists its weights.")));
}

/* Find a column, or an element with bounds: x[3]. */
static Curve
find_curve(const DpermEncoder *encoder, const char *name)
{
	double		target = dperm_encoder_target(encoder);
	Curve		found = {.first = -1};

	for (int i = 0, first = 0; i < encoder->block_count; first += encoder->blocks[i++].count)
	{
		const DpermBlock *block = &encoder->blocks[i];
		const char *rest;
		int			number;

		if (strncmp(name, block->column.bytes, block->column.len) != 0)
			continue;
		rest = name + block->column.len;
		if (*rest == '\0')
		{
			check_number(block, name);
			return (Curve) {*block, first, target};
		}
		number = *rest == '[' && block->kind == DPERM_BLOCK_BOX ? atoi(rest + 1) : 0;
		if (number >= 1 && number <= dperm_block_elements(block) &&
			strcmp(rest, psprintf("[%d]", number)) == 0)
		{
			found.line = dperm_block_element(block, number - 1);
			found.first = first + (number - 1) * found.line.count;
			found.target = block->each > 0 ? target : dperm_encoder_box_target(block, target);
		}
	}
	if (found.first < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the model has no column \"%s\"", name),
				 errhint("dp_coefficients lists its columns.")));
	return found;
}

/* What a number adds in the middle of its range, as a multiple of the target. */
static double
middle_of(const DpermBlock *line, const double *weights)
{
	DpermValue	middle = {.present = true, .number = dperm_block_middle(line)};
	double		entry;
	int			place;

	if (line->count == 1)
		return 0;
	place = dperm_encoder_place(line, &middle, 0, 1, &entry);
	return weights[place] * entry + weights[place + 1] * dperm_knots_rest(1, entry);
}

/*
 * dp_curve(model, column_name, class): what the column adds at each of its knots,
 * which is the weight of the knot, or at both ends of a straight line.
 */
Datum
dp_curve(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Tuplestorestate *store = dperm_host_result_set(fcinfo, &desc);
	const DpermModel *model;
	const char *column;
	Curve		curve;
	int			class;
	const double *weights;
	const double *noise;
	bool		exact;
	double		unit;			/* of the label, for a weight of 1 */

	model = dperm_model_type_required(fcinfo);
	column = dperm_arguments_required_text(fcinfo, "column_name",
										   "dp_coefficients lists the columns.");
	class = class_argument(fcinfo, 2, model);
	if (model->encoder.kernel.kind != DPERM_KERNEL_LINEAR)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the decision of a model with a kernel is not a sum over columns"),
				 errhint("Train without a kernel to see what each column adds.")));
	curve = find_curve(&model->encoder, column);
	weights = dperm_model_class(model, class) + curve.first;
	noise = class_noise(model, class, &exact) + curve.first;
	unit = dperm_model_unit(model) * curve.target;
	for (int i = 0; i < Max(curve.line.count, 2); i++)
	{
		bool		is_line = curve.line.count == 1;
		int			at = is_line ? 0 : i;
		double		weight = is_line && i == 0 ? -weights[at] : weights[at];
		double		value = !is_line ? dperm_encoder_knot(&curve.line, i) :
			i == 0 ? curve.line.low : curve.line.high;

		dperm_host_put_row(store, desc, (NullableDatum[]) {
			dperm_host_text(dperm_domain_types_shown(&curve.line, value)),
			{Float8GetDatum(unit * weight)},
			{Float8GetDatum(unit * noise[at])},
			{Float8GetDatum(exp(unit * (weight - middle_of(&curve.line, weights)))),
			model->loss.kind != DPERM_LOSS_LOGISTIC},
			{Float8GetDatum(dperm_block_scaled(&curve.line, value))}
		});
	}
	return (Datum) 0;
}

/*
 * dp_explain(model, features, class): (column_name, value, score), the
 * largest first. No rows if the model or the features are NULL.
 */
Datum
dp_explain(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Tuplestorestate *store = dperm_host_result_set(fcinfo, &desc);
	DpermScorer *scorer;
	const DpermModel *model;
	const DpermEncoder *encoder;
	const double *sums;
	Ranked	   *ranked;
	int			count;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	scorer = dperm_scorer_get(fcinfo, dperm_scorer_open_model);
	model = dperm_scorer_model(scorer);
	encoder = dperm_scorer_encoder(scorer);
	sums = dperm_scorer_terms(scorer, PG_GETARG_DATUM(1), class_argument(fcinfo, 2, model));
	/* a number is never without an intercept: the centre of its bounds */
	count = encoder->block_count +
		(encoder->intercept || dperm_model_label(model) == DPERM_LABEL_NUMBER);
	ranked = palloc(sizeof(Ranked) * count);
	for (int i = 0; i < count; i++)
	{
		bool		last = i == encoder->block_count;
		double		sum = !last || encoder->intercept ? sums[i] : 0;
		double		value = dperm_model_unit(model) * sum + (last ? dperm_model_centre(model) : 0);

		ranked[i] = (Ranked) {i, last, value, fabs(value)};
	}
	qsort(ranked, count, sizeof(Ranked), compare_ranked);
	for (int i = 0; i < count; i++)
	{
		int			number = ranked[i].number;
		bool		last = ranked[i].intercept;

		dperm_host_put_row(store, desc, (NullableDatum[]) {
			last ? dperm_host_text(NULL) : column_name(&encoder->blocks[number]),
			dperm_host_text(last ? "intercept" : dperm_scorer_value(scorer, number)),
			{Float8GetDatum(ranked[i].value)}
		});
	}
	return (Datum) 0;
}
