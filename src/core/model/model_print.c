/*
 * model_print.c: a model as JSON.
 */
#include "core/model/model.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/classes.h"
#include "core/base/out.h"
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/model/model_words.h"

/* Append a text in quotes. */
static void
put_text(DpermOut *out, const DpermText *text)
{
	dperm_out_string(out, text->bytes, text->len);
}

/* Append one member of the object that holds a double. */
static void
put_member(DpermOut *out, const char *key, double value)
{
	dperm_out_put(out, ", \"%s\": ", key);
	dperm_out_double(out, value);
}

/* A member that is a text. */
static void
put_text_member(DpermOut *out, const char *key, const DpermText *text)
{
	dperm_out_put(out, ", \"%s\": ", key);
	put_text(out, text);
}

/* Append a pair of bounds. */
static void
put_pair(DpermOut *out, double low, double high)
{
	dperm_out_put(out, "[");
	dperm_out_double(out, low);
	dperm_out_put(out, ", ");
	dperm_out_double(out, high);
	dperm_out_put(out, "]");
}

/* Append the range of a box, or that of each element. */
static void
put_ranges(DpermOut *out, const DpermBlock *block)
{
	dperm_out_put(out, ", \"range\": ");
	if (dperm_encoder_box_is_cube(block))
	{
		put_pair(out, dperm_block_low(block, 0), dperm_block_high(block, 0));
		return;
	}
	for (int i = 0; i < dperm_block_elements(block); i++)
	{
		dperm_out_put(out, i == 0 ? "[" : ", ");
		put_pair(out, dperm_block_low(block, i), dperm_block_high(block, i));
	}
	dperm_out_put(out, "]");
}

/* Append the knots of a curve: their number, or a list if they are uneven. */
static void
put_knots(DpermOut *out, const DpermBlock *block)
{
	int			count = dperm_block_knots(block);

	if (!dperm_block_is_curve(block))
		return;
	dperm_out_put(out, ", \"knots\": ");
	if (block->knots == NULL)
		dperm_out_put(out, "%d", count);
	for (int i = 0; block->knots && i < count; i++)
	{
		dperm_out_put(out, i == 0 ? "[" : ", ");
		dperm_out_double(out, block->knots[i]);
	}
	if (block->knots)
		dperm_out_put(out, "]");
}

/* Append one feature. */
static void
put_feature(DpermOut *out, const DpermBlock *block)
{
	dperm_out_put(out, "{");
	if (block->column.len > 0)
	{
		dperm_out_put(out, "\"column\": ");
		put_text(out, &block->column);
		dperm_out_put(out, ", ");
	}
	dperm_out_put(out, "\"type\": \"%s\"", dperm_encoder_kind_name(block->kind));
	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			put_member(out, "low", block->low);
			put_member(out, "high", block->high);
			put_knots(out, block);
			if (block->log)
				dperm_out_put(out, ", \"scale\": \"log\"");
			break;
		case DPERM_BLOCK_FLAG:
			break;
		case DPERM_BLOCK_CATEGORY:
			for (int i = 0; i < block->count; i++)
			{
				dperm_out_put(out, "%s", i == 0 ? ", \"values\": [" : ", ");
				put_text(out, &block->categories[i]);
			}
			dperm_out_put(out, "]");
			break;
		case DPERM_BLOCK_VECTOR:
			dperm_out_put(out, ", \"dimension\": %d", block->count);
			put_member(out, "norm", block->norm);
			break;
		case DPERM_BLOCK_BOX:
			dperm_out_put(out, ", \"dimension\": %d", dperm_block_elements(block));
			put_ranges(out, block);
			put_knots(out, block);
			break;
	}
	dperm_out_put(out, "}");
}

/* Append the features, as an array. */
static void
put_features(DpermOut *out, const DpermEncoder *enc)
{
	for (int i = 0; i < enc->block_count; i++)
	{
		dperm_out_put(out, i == 0 ? "[" : ", ");
		put_feature(out, &enc->blocks[i]);
	}
	dperm_out_put(out, "]");
}

/* Append the members that say how a row becomes a vector. */
static void
put_encoder(DpermOut *out, const DpermEncoder *enc)
{
	const DpermKernel *kernel = &enc->kernel;

	dperm_out_put(out, ", \"features\": ");
	put_features(out, enc);
	dperm_out_put(out, ", \"intercept\": %s", enc->intercept ? "true" : "false");
	if (kernel->kind != DPERM_KERNEL_LINEAR)
	{
		dperm_out_put(out,
			", \"kernel\": {\"name\": \"%s\"", dperm_encoder_kernel_name(kernel->kind));
		put_member(out, "gamma", kernel->gamma);
		dperm_out_put(out,
			", \"features\": %d, \"seed\": %" PRId64 "}", kernel->features, kernel->seed);
	}
}

/* Append the shape of the noise; coordinates are numbered from 1, as in SQL. */
static void
put_noise(DpermOut *out, const DpermNoise *noise)
{
	dperm_out_put(out, ", \"noise\": \"%s\"", noise ? "shaped" : "ball");
	for (int i = 0; noise && i < noise->group_count; i++)
	{
		const DpermNoiseGroup *group = &noise->groups[i];

		dperm_out_put(out, "%s{\"share\": ", i == 0 ? ", \"noise_groups\": [" : ", ");
		dperm_out_double(out, group->share);
		for (int j = group->first; j < group->first + group->count; j++)
		{
			const DpermShape *shape = &noise->shapes[j];

			dperm_out_put(out, "%s{\"shape\": \"%s\", \"first\": %d, "
					 "\"count\": %d", j == group->first ? ", \"shapes\": [" : ", ",
				dperm_shape_name(shape->kind), shape->first + 1, shape->count);
			put_member(out, "radius", shape->radius);
			dperm_out_put(out, "}");
		}
		dperm_out_put(out, "]}%s", i == noise->group_count - 1 ? "]" : "");
	}
}

/* Append which entry of which ledger was written for it, if one was. */
static void
put_ledger(DpermOut *out, const DpermModel *model)
{
	if (model->entry == 0)
		return;
	dperm_out_put(out, ", \"ledger\": {\"budget\": ");
	put_text(out, &model->budget);
	dperm_out_put(out, ", \"entry\": %" PRId64 "}", model->entry);
}

/* What each part of the training takes of epsilon. */
static void
put_shares(DpermOut *out, const DpermClaim *claim)
{
	for (int i = 0; i < DPERM_SHARE_COUNT; i++)
	{
		dperm_out_put(out,
			"%s\"%s\": ", i == 0 ? ", \"budget\": {" : ", ", dperm_claim_share_name(i));
		dperm_out_double(out, claim->shares[i]);
	}
	dperm_out_put(out, "}");
}

/* Some weights, as an array. */
static void
put_list(DpermOut *out, const double *weights, int count)
{
	for (int i = 0; i < count; i++)
	{
		dperm_out_put(out, i == 0 ? "[" : ", ");
		dperm_out_double(out, weights[i]);
	}
	dperm_out_put(out, "]");
}

/* The weights; with several classes, an array for each. */
static void
put_weights(DpermOut *out, const DpermModel *model)
{
	int			dim = dperm_encoder_dim(&model->encoder);

	dperm_out_put(out, ", \"weights\": ");
	if (model->loss.classes == 0)
		put_list(out, model->weights, dim);
	for (int k = 0; k < model->loss.classes; k++)
	{
		dperm_out_put(out, k == 0 ? "[" : ", ");
		put_list(out, dperm_model_class(model, k + 1), dim);
	}
	if (model->loss.classes > 0)
		dperm_out_put(out, "]");
}

/* Append what a label may be: the positive value, the bounds of a number, the names of classes. */
static void
put_label_domain(DpermOut *out, const DpermModel *model)
{
	const char *value = model->classes.bytes;

	if (model->has_positive)
		put_text_member(out, "positive", &model->positive);
	if (dperm_model_label(model) == DPERM_LABEL_NUMBER)
	{
		dperm_out_put(out, ", \"bounds\": ");
		put_pair(out, model->label_low, model->label_high);
	}
	for (int k = 0; k < dperm_model_names(model); k++, value += strlen(value) + 1)
	{
		dperm_out_put(out, k == 0 ? ", \"classes\": [" : ", ");
		dperm_out_string(out, value, (int) strlen(value));
	}
	if (dperm_model_names(model) > 0)
		dperm_out_put(out, "]");
}

/* The model as JSON, in an order made for reading. */
size_t
dperm_model_print(const DpermModel *model, char *out, size_t room)
{
	DpermOut	o = {out, room, 0};
	bool		private = dperm_claim_private(&model->claim);

	dperm_out_put(&o, "{\"format\": %d, \"kind\": \"%s\", \"loss\": \"%s\"", DPERM_MODEL_FORMAT,
		dperm_loss_learner_name(dperm_loss_entry((int) model->loss.kind)->learner),
		dperm_loss_name(model->loss.kind));
	if (model->loss.h > 0)
		put_member(&o, "h", model->loss.h);
	dperm_out_put(&o, ", \"private\": %s", private ? "true" : "false");
	if (private)
		put_member(&o, "epsilon", model->claim.epsilon);
	else
		dperm_out_put(&o, ", \"epsilon\": \"Infinity\"");	/* JSON has no such number */
	put_member(&o, "delta", model->claim.delta);
	dperm_out_put(&o,
		", \"neighbours\": \"%s\", \"unit\": \"%s\", \"%s\": %" PRId64,
		dperm_claim_neighbours_name(model->claim.neighbours),
		dperm_claim_unit_name(model->claim.unit),
		model->claim.unit == DPERM_UNIT_PERSON ? "persons" : "rows", model->rows);
	if (model->source.len > 0)
		put_text_member(&o, "source", &model->source);
	if (model->label.len > 0)
		put_text_member(&o, "label", &model->label);
	put_label_domain(&o, model);
	dperm_out_put(&o, ", \"method\": \"%s\", \"analysis\": \"%s\"",
		dperm_mechanism_name(model->method), dperm_calibrate_analysis_name(model->analysis));
	put_member(&o, "lambda", model->lambda);
	put_member(&o, "lambda_effective", model->lambda_effective);
	put_shares(&o, &model->claim);
	if (private)
		put_noise(&o, model->noise);
	put_member(&o, "noise_scale", model->noise_scale);
	put_member(&o, "grid", model->grid);
	dperm_out_put(&o, ", \"release_scale\": %" PRId64 ", \"dimension\": %d",
		model->release_scale, dperm_encoder_dim(&model->encoder));
	put_encoder(&o, &model->encoder);
	put_weights(&o, model);
	if (model->tuning.len > 0)
		dperm_out_put(&o, ", \"tuning\": %.*s", model->tuning.len, model->tuning.bytes);
	if (model->prior.len > 0)
		dperm_out_put(&o, ", \"prior\": %.*s", model->prior.len, model->prior.bytes);
	put_ledger(&o, model);
	dperm_out_put(&o, ", \"guarantee\": \"");
	dperm_model_words(&o, model);
	dperm_out_put(&o, "\"}");
	return o.len;
}

/* The label alone. */
size_t
dperm_model_print_label(const DpermModel *model, char *out, size_t room)
{
	DpermOut	o = {out, room, 0};

	dperm_out_put(&o, "{\"column\": ");
	put_text(&o, &model->label);
	put_label_domain(&o, model);
	dperm_out_put(&o, "}");
	return o.len;
}

/* The features alone. */
size_t
dperm_model_print_features(const DpermModel *model, char *out, size_t room)
{
	DpermOut	o = {out, room, 0};

	put_features(&o, &model->encoder);
	return o.len;
}

/* The guarantee in one paragraph. */
size_t
dperm_model_print_guarantee(const DpermModel *model, char *out, size_t room)
{
	DpermOut	o = {out, room, 0};

	dperm_model_words(&o, model);
	return o.len;
}
