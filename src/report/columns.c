/*
 * columns.c: the columns of a model: their domains, and what they add to its
 * decision.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/datetime.h"

#include "column/label.h"
#include "core/encode/knots.h"
#include "core/model/weight_noise.h"
#include "report/columns.h"
#include "report/page.h"
#include "report/picture.h"

/* How many categories a domain lists. */
#define LISTED 30

/* Noise counts for the scale of pictures up to this many times the weights. */
#define NOISE_IN_SCALE 1.5

/* A model with its weights, or those of a class, and their noise. */
typedef struct Drawing
{
	const DpermModel *model;
	const double *weights;
	const double *noise;
	bool		exact;			/* or a bound? */
	double		limit;			/* the scale of all pictures */
} Drawing;

/* The name of a column. */
char *
dperm_columns_name(const DpermBlock *block)
{
	return block->column.len > 0 ? pnstrdup(block->column.bytes, block->column.len) :
		pstrdup("vector");
}

/* Are all times of a block within one day: is it a time of day? */
static bool
is_clock(const DpermBlock *block)
{
	return block->low >= 0 && block->high <= 1;
}

/* A number, or a time as a date or as a clock shows it. */
static char *
position_text(const DpermBlock *block, double position)
{
	int			year;
	int			month;
	int			day;

	if (block->kind != DPERM_BLOCK_TIME || fabs(position) > 1e6)
		return position == trunc(position) || block->count == 1 ?
			double_to_shortest_decimal(position) : psprintf("%.4g", position);
	if (is_clock(block))
		return psprintf("%02d:%02d", (int) (position * 24), (int) fmod(position * 1440, 60));
	j2date((int) floor(position) + POSTGRES_EPOCH_JDATE, &year, &month, &day);
	return psprintf("%04d-%02d-%02d", year, month, day);
}

/* The categories of a column. */
static char *
list_categories(const DpermBlock *block)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < Min(block->count, LISTED); i++)
		appendStringInfo(&list, "%s%.*s", i > 0 ? ", " : "", block->categories[i].len,
						 block->categories[i].bytes);
	if (block->count > LISTED)
		appendStringInfo(&list, ", and %d more", block->count - LISTED);
	return list.data;
}

/* A domain in words. */
char *
dperm_columns_domain(const DpermBlock *block)
{
	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			return psprintf("%s from %s to %s%s%s",
							block->kind == DPERM_BLOCK_NUMBER ? "number" : "time",
							position_text(block, block->low), position_text(block, block->high),
							block->count > 1 ? psprintf(", a curve with %d knots", block->count) :
							"", block->log ? ", on a logarithmic scale" : "");
		case DPERM_BLOCK_FLAG:
			return pstrdup("true or false");
		case DPERM_BLOCK_CATEGORY:
			return psprintf("one of %d: %s", block->count, list_categories(block));
		case DPERM_BLOCK_VECTOR:
			return psprintf("vector of %d elements, norm up to %g", block->count, block->norm);
		case DPERM_BLOCK_BOX:
			return psprintf("vector of %d elements, each from %g to %g%s%s",
							dperm_block_elements(block), dperm_block_low(block, 0),
							dperm_block_high(block, 0),
							dperm_encoder_box_is_cube(block) ? "" : " (the first)",
							block->each > 0 ? psprintf(", curves with %d knots", block->each) : "");
	}
	return pstrdup("");
}

/* The table of domains. */
void
dperm_columns_domains(StringInfo page, const DpermModel *model)
{
	int			shown = Min(model->encoder.block_count, DPERM_PAGE_ROWS);

	dperm_page_table(page, "Domains of the columns", NULL);
	if (dperm_model_label(model) == DPERM_LABEL_NUMBER)
		dperm_page_fact(page, "the label", psprintf("number from %s to %s",
													double_to_shortest_decimal(model->label_low),
													double_to_shortest_decimal(model->label_high)));
	if (dperm_model_names(model) > 0)
		dperm_page_fact(page, "the label", psprintf("one of %d classes: %s",
													dperm_model_names(model),
													dperm_label_class_names(model)));
	for (int i = 0; i < shown; i++)
		dperm_page_fact(page, dperm_columns_name(&model->encoder.blocks[i]),
						dperm_columns_domain(&model->encoder.blocks[i]));
	dperm_page_table_end(page);
	dperm_page_cut(page, model->encoder.block_count, shown, "columns");
}

/* What the weight of a coordinate of a block is multiplied by at most, in units of the label. */
static double
full_entry(const Drawing *drawing, const DpermBlock *block)
{
	double		target = dperm_encoder_target(&drawing->model->encoder);

	return dperm_model_unit(drawing->model) *
		(block->kind == DPERM_BLOCK_BOX && block->each == 0 ?
		 dperm_encoder_box_target(block, target) : target);
}

/* A number as a curve: its knots, or a straight line through the middle. */
static void
draw_number(StringInfo page, const Drawing *drawing, const char *name, const DpermBlock *block,
			int first)
{
	bool		straight = block->count == 1;
	int			count = straight ? 3 : block->count;
	double		full = full_entry(drawing, block);
	double		middle = dperm_block_middle(block);
	DpermPoint *points = palloc(sizeof(DpermPoint) * count);
	const char *const labels[3] = {
		position_text(block, block->low), position_text(block, middle),
		position_text(block, block->high)
	};

	for (int i = 0; i < count; i++)
	{
		int			at = straight ? first : first + i;
		double		times = straight ? full * (i - 1) : full;
		double		x = !straight ? dperm_knots_position(block, i) :
			i == 0 ? block->low : i == 1 ? middle : block->high;

		points[i] = (DpermPoint) {
			.x = dperm_block_scaled(block, x),
			.y = times * drawing->weights[at],
			.noise = fabs(times) * drawing->noise[at]
		};
	}
	dperm_picture_curve(page, name, points, count, drawing->limit, labels);
}

/* The name of a bar. */
static char *
bar_name(const DpermBlock *block, int i)
{
	if (block->kind == DPERM_BLOCK_CATEGORY)
		return pnstrdup(block->categories[i].bytes, block->categories[i].len);
	if (block->kind == DPERM_BLOCK_FLAG)
		return pstrdup(i == 0 ? "true" : "false");
	return psprintf("[%d]", i + 1);
}

/* For qsort: the longest bars first. */
static int
compare_bars(const void *a, const void *b)
{
	double		first = fabs(((const DpermBar *) a)->value);
	double		second = fabs(((const DpermBar *) b)->value);

	return first > second ? -1 : first < second;
}

/* Categories, elements of a vector, or both values of a boolean as bars. */
static void
draw_bars(StringInfo page, const Drawing *drawing, const DpermBlock *block, int first)
{
	bool		flag = block->kind == DPERM_BLOCK_FLAG;
	int			count = flag ? 2 : block->count;
	double		full = full_entry(drawing, block);
	DpermBar   *bars = palloc(sizeof(DpermBar) * count);
	char	   *name = dperm_columns_name(block);

	for (int i = 0; i < count; i++)
	{
		int			at = flag ? first : first + i;

		bars[i] = (DpermBar) {
			.name = bar_name(block, i),
			.value = (flag && i == 1 ? -full : full) * drawing->weights[at],
			.noise = full * drawing->noise[at]
		};
	}
	if (count > DPERM_PICTURE_BARS)
	{
		qsort(bars, count, sizeof(DpermBar), compare_bars);
		name = psprintf("%s (the largest %d of %d)", name, DPERM_PICTURE_BARS, count);
	}
	dperm_picture_bars(page, name, bars, Min(count, DPERM_PICTURE_BARS), drawing->limit);
}

/* A column, or up to most elements of a vector that are curves each. */
static void
draw_column(StringInfo page, const Drawing *drawing, const DpermBlock *block, int first, int most)
{
	char	   *name = dperm_columns_name(block);

	if (dperm_block_is_number(block))
		draw_number(page, drawing, name, block, first);
	else if (block->each == 0)
		draw_bars(page, drawing, block, first);
	else
		for (int i = 0; i < Min(most, dperm_block_elements(block)); i++)
		{
			DpermBlock	element = dperm_block_element(block, i);

			draw_number(page, drawing, psprintf("%s[%d]", name, i + 1), &element,
						first + i * block->each);
		}
}

/* Up to how much the weights of a class add, and their noise. */
static void
most_added(const Drawing *drawing, double *weight, double *noise)
{
	const DpermEncoder *encoder = &drawing->model->encoder;

	for (int i = 0, first = 0; i < encoder->block_count; i++)
	{
		const DpermBlock *block = &encoder->blocks[i];
		double		full = full_entry(drawing, block);

		for (int k = first; k < first + block->count; k++)
		{
			*weight = fmax(*weight, full * fabs(drawing->weights[k]));
			*noise = fmax(*noise, full * drawing->noise[k]);
		}
		first += block->count;
	}
}

/* What the pictures show. */
static void
put_legend(StringInfo page, const Drawing *drawing)
{
	const DpermModel *model = drawing->model;
	const DpermEncoder *encoder = &model->encoder;
	double		start = dperm_model_centre(model);

	if (dperm_model_label(model) == DPERM_LABEL_NUMBER)
		dperm_page_put(page, "<p>Each picture shows what a column adds to the prediction, in units "
					   "of the label. ");
	else if (dperm_model_label(model) == DPERM_LABEL_SEVERAL)
		dperm_page_put(page, "<p>Each picture shows what a column adds to the score of a class. "
					   "What the score of one class exceeds that of another by is the logarithm of "
					   "the ratio of their probabilities. ");
	else
		dperm_page_put(page, "<p>Each picture shows what a column adds to the score. Above zero "
					   "it speaks for the positive class, below zero against it. %s",
					   model->loss.kind == DPERM_LOSS_LOGISTIC ?
					   "The score is the logarithm of the odds. " : "");
	dperm_page_put(page, "All pictures have the same scale. ");
	if (dperm_claim_private(&model->claim))
		dperm_page_put(page, "Bands and thin lines show the noise: %sone standard deviation to "
					   "both sides, cut at the edge. ",
					   drawing->exact ? "" : "about at most ");
	if (encoder->intercept)
		start += dperm_model_unit(model) * dperm_encoder_target(encoder) *
			model->weights[dperm_encoder_dim(encoder) - 1];
	if (dperm_model_label(model) == DPERM_LABEL_NUMBER)
		dperm_page_put(page, "Without any column the prediction is %.4g; it is never outside of %g "
					   "to %g. ", start, model->label_low, model->label_high);
	else if (encoder->intercept && model->loss.classes == 0)
		dperm_page_put(page, "The intercept adds %.3g. ", start);
	dperm_page_put(page, "Do not read what is within its noise as a finding.</p>\n");
}

/*
 * The pictures of a class, of which so many have been drawn. Returns how many
 * there are.
 */
static int
draw_columns(StringInfo page, const Drawing *drawing, int drawn)
{
	const DpermEncoder *encoder = &drawing->model->encoder;
	int			count = 0;

	dperm_page_put(page, "<div class=\"pictures\">\n");
	for (int i = 0, first = 0; i < encoder->block_count; i++)
	{
		const DpermBlock *block = &encoder->blocks[i];

		if (drawn + count < DPERM_COLUMNS_DRAWN)
			draw_column(page, drawing, block, first, DPERM_COLUMNS_DRAWN - drawn - count);
		count += dperm_block_parts(block);
		first += block->count;
	}
	dperm_page_put(page, "</div>\n");
	return count;
}

/* The heading of a class. */
static void
put_class(StringInfo page, const DpermModel *model, int number)
{
	dperm_page_put(page, "<h3>Class ");
	dperm_page_text(page, dperm_label_class_name(model, number), DPERM_PAGE_NAME);
	dperm_page_put(page, "</h3>\n");
}

/* A picture for each column, and each class. */
void
dperm_columns_pictures(StringInfo page, const DpermModel *model)
{
	int			dim = dperm_encoder_dim(&model->encoder);
	int			classes = dperm_loss_blocks(model->loss);
	double	   *noise = palloc(sizeof(double) * dperm_model_weights(model));
	Drawing		drawing = {.model = model, .weights = model->weights, .noise = noise};
	int			count = 0;
	double		weight = 0;
	double		deviation = 0;

	if (model->encoder.kernel.kind != DPERM_KERNEL_LINEAR)
	{
		dperm_page_put(page, "<p>The model has a kernel: its %d weights are of random features, "
					   "which combine all columns, so there is no picture of a single one.</p>\n",
					   dperm_model_weights(model));
		return;
	}
	drawing.exact = dperm_weight_noise(model, noise);
	for (int i = 1; i <= classes; i++, drawing.weights += dim, drawing.noise += dim)
		most_added(&drawing, &weight, &deviation);
	/* one scale for all pictures, so that columns can be compared */
	drawing.limit = dperm_picture_limit(weight + fmin(deviation, NOISE_IN_SCALE * weight));
	put_legend(page, &drawing);
	drawing.weights = model->weights;
	drawing.noise = noise;
	for (int i = 1; i <= classes; i++, drawing.weights += dim, drawing.noise += dim)
	{
		if (model->loss.classes > 0 && count < DPERM_COLUMNS_DRAWN)
			put_class(page, model, i);
		count += draw_columns(page, &drawing, count);
	}
	dperm_page_cut(page, count, Min(count, DPERM_COLUMNS_DRAWN), "pictures");
}
