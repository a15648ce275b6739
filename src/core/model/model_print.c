/*
 * model_print.c: a model as text: JSON, and the guarantee in words.
 */
#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"
#include "core/model/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/model/prior.h"
#include "core/model/tuning.h"

/* Collects text as snprintf does: counts everything, writes what fits. */
typedef struct Out
{
	char	   *text;
	size_t		room;
	size_t		len;
} Out;

#if defined(__GNUC__)
static void put(Out *out, const char *format,...) __attribute__((format(printf, 2, 3)));
#endif

/* Append formatted text. */
static void
put(Out *out, const char *format,...)
{
	va_list		args;
	int			len;
	size_t		left = out->len < out->room ? out->room - out->len : 0;

	va_start(args, format);
	len = vsnprintf(left > 0 ? out->text + out->len : NULL, left, format, args);
	va_end(args);
	if (len > 0)
		out->len += (size_t) len;
}

/* Append the shortest decimal that reads back as the same double. */
static void
put_double(Out *out, double value)
{
	char		digits[32];

	if (value == 0.0)
		value = 0.0;			/* no negative zero */
	for (int precision = 15; precision <= 17; precision++)
	{
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	put(out, "%s", digits);
}

/* Append a string in quotes, with the escapes that JSON asks for. */
static void
put_text(Out *out, const DpermText *text)
{
	int			plain = 0;		/* start of the bytes not yet written */

	put(out, "\"");
	for (int i = 0; i < text->len; i++)
	{
		unsigned char c = (unsigned char) text->bytes[i];

		if (c != '"' && c != '\\' && c >= 0x20)
			continue;
		put(out, "%.*s", i - plain, text->bytes + plain);
		put(out, c < 0x20 ? "\\u%04x" : "\\%c", c);
		plain = i + 1;
	}
	if (plain < text->len)
		put(out, "%.*s", text->len - plain, text->bytes + plain);
	put(out, "\"");
}

/* Append one member of the object that holds a double. */
static void
put_member(Out *out, const char *key, double value)
{
	put(out, ", \"%s\": ", key);
	put_double(out, value);
}

/* A member that is a text. */
static void
put_text_member(Out *out, const char *key, const DpermText *text)
{
	put(out, ", \"%s\": ", key);
	put_text(out, text);
}

/* The kind of the model, for people. */
static const char *
kind_name(const DpermModel *model)
{
	return dperm_loss_learner_name(dperm_loss_entry((int) model->loss.kind)->learner);
}

/* Is the unit of privacy a person? */
static bool
is_for_persons(const DpermModel *model)
{
	return model->claim.unit == DPERM_UNIT_PERSON;
}

/* Does its loss have an h? */
static bool
has_h(const DpermModel *model)
{
	return dperm_loss_entry((int) model->loss.kind)->h_min > 0;
}

/* The first sentences: what was trained, and on what. */
static void
put_subject(Out *out, const DpermModel *model)
{
	put(out, "This %s (%s loss", kind_name(model), dperm_loss_name(model->loss.kind));
	if (has_h(model))
	{
		put(out, ", h = ");
		put_double(out, model->loss.h);
	}
	put(out, ") was trained "
			 "on %s%" PRId64 " %s%s ", is_for_persons(model) ? "the rows of " : "", model->rows,
		is_for_persons(model) ? "person" : "row", model->rows == 1 ? "" : "s");
}

/*
 * The name of the source of a prior, unless it contains a character that would
 * need an escape; the JSON has any name.
 */
static void
put_prior_source(Out *out, const DpermText *source)
{
	for (int i = 0; i < source->len; i++)
		if (source->bytes[i] == '\\')
			return;
	if (source->len > 0)
		put(out, " on %.*s", source->len, source->bytes);
}

/* Where the regulariser is centred, and what that means for other rows. */
static void
put_prior(Out *out, const DpermModel *model)
{
	DpermPrior	prior;

	if (model->prior.len == 0 || dperm_prior_read(&model->prior, &prior) != NULL)
		return;
	put(out, "The regulariser is centred at the weights of a prior, a model that was trained");
	put_prior_source(out, &prior.source);
	if (isinf(prior.claim.epsilon))
		put(out, " without noise (epsilon = Infinity): the prior is NOT PRIVATE, and this model "
				 "may reveal rows that the prior was trained on. ");
	else
	{
		put(out, " with epsilon = ");
		put_double(out, prior.claim.epsilon);
		put(out, " and delta = ");
		put_double(out, prior.claim.delta);
		put(out, ", and which has a guarantee of its own%s. ",
			prior.private ? "" : "; a prior behind it is NOT PRIVATE");
	}
	if (dperm_claim_private(&model->claim))
		put(out, "The guarantee holds for the rows of this training, whatever the prior is, and "
				 "does not replace that of the prior: for rows that both were trained on, the "
				 "costs of both add up. ");
}

/* The paragraph for a model that was trained without noise. */
static void
put_no_guarantee(Out *out, const DpermModel *model)
{
	put(out, "NOT PRIVATE. ");
	put_subject(out, model);
	put(out, "without noise (epsilon = Infinity). ");
	put_prior(out, model);
	put(out, "It carries no privacy guarantee and may reveal the contents of individual rows: treat"
		" it like the rows themselves.");
}

/* What the guarantee says about a label that is a number. */
static void
put_label_public(Out *out, const DpermModel *model)
{
	if (dperm_model_label(model) != DPERM_LABEL_NUMBER)
		return;
	put(out, "The label is a number between ");
	put_double(out, model->label_low);
	put(out, " and ");
	put_double(out, model->label_high);
	put(out, ": these bounds are public, and values outside of them were clamped. ");
}

/* What the guarantee says about the features: that they are public, and why. */
static void
put_features_public(Out *out, const DpermModel *model)
{
	const DpermEncoder *enc = &model->encoder;

	if (enc->block_count == 1 && enc->blocks[0].kind == DPERM_BLOCK_VECTOR)
		put(out, "The dimension of the vectors, %d, was declared. ", enc->blocks[0].count);
	else
		put(out, "The domains of the columns (bounds, categories, dimensions) are public: they"
			" were declared, not read from rows. ");
	if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
	{
		put(out, "The rows were mapped to %d random features of the %s kernel (gamma = ",
			enc->kernel.features, dperm_encoder_kernel_name(enc->kernel.kind));
		put_double(out, enc->kernel.gamma);
		put(out, "), which come from the public seed %" PRId64 " and not from rows. ",
			enc->kernel.seed);
	}
}

/* How the parameters were chosen. */
static void
put_tuning(Out *out, const DpermModel *model)
{
	DpermTuning tuning;
	bool		number = dperm_model_label(model) == DPERM_LABEL_NUMBER;

	if (model->tuning.len == 0 || dperm_tuning_read(&model->tuning, &tuning) != NULL)
		return;
	if (tuning.holdout)
		put(out, "The parameters were chosen among %d candidates on a table that was declared "
				 "public, which costs"
			" nothing. ", tuning.candidates);
	else
		put(out,
			"The parameters were chosen privately among %d candidates: a table of %" PRId64
			" %s was divided at random into %d portions, one for each candidate to be trained"
			" on and one to %s, by which one was chosen with the %s rule. The"
			" guarantee, with the same epsilon%s, covers all %s of that table and the choice;"
			" the %s are not released. ",
			tuning.candidates, tuning.rows, is_for_persons(model) ? "persons" : "rows",
			tuning.portions, number ? "add up their errors" : "count their mistakes",
			tuning.selection == DPERM_SELECT_EXPONENTIAL ? "exponential" : "permute-and-flip",
			model->claim.delta > 0 ? " and delta" : "", is_for_persons(model) ? "persons" : "rows",
			number ? "sums" : "counts");
}

/* Was the model chosen by looking at private rows? */
static bool
is_chosen_privately(const DpermModel *model)
{
	DpermTuning tuning;

	return model->tuning.len > 0 && dperm_tuning_read(&model->tuning, &tuning) == NULL &&
		!tuning.holdout;
}

/*
 * Which tables are neighbours when persons are the unit, and what that means.
 */
static void
put_person_neighbours(Out *out, bool remove)
{
	put(out, "A person is all rows that share a value of the unit column: together they weigh as "
			 "much as one row. ");
	if (remove)
		put(out, "Neighbours are two tables of which one is the other without any row of one "
				 "person, who is still counted (remove); the number of persons is the same, and "
				 "public, the number of rows is neither. Whatever the rows of one person hold, and "
				 "however many there are, no set of models is more than exp(epsilon) times as "
				 "likely to be released with them as without them, or without them as with them");
	else
		put(out, "Neighbours are two tables with the same number of persons that differ in all "
				 "rows of one person"
			" (replace); the number of persons is public, the number of rows is not. Whatever the "
			"rows of one person"
			" hold, and however many there are, no set of models is more than exp(epsilon) times "
			"as likely to be"
			" released as it would have been with any other rows of that person");
}

/* The promise, and for which tables it holds. */
static void
put_promise(Out *out, const DpermModel *model)
{
	bool		remove = model->claim.neighbours == DPERM_NEIGHBOURS_REMOVE;
	bool		gaussian = model->claim.delta > 0;

	put(out, "with %s-differential privacy: epsilon = ", gaussian ? "(epsilon, delta)" : "epsilon");
	put_double(out, model->claim.epsilon);
	put(out, " and delta = ");
	put_double(out, model->claim.delta);
	put(out, ", %s that the noise is larger than the rounding analysis allows for. ",
		gaussian ? "which includes a probability below 2^-64" : "up to a probability below 2^-65");
	if (is_for_persons(model))
		put_person_neighbours(out, remove);
	else if (remove)
		put(out, "Neighbours are two tables of which one is the other with one row removed: an "
				 "empty row, without a"
			" label and without features, is in its place (remove); the number of rows is the "
			"same, and public."
			" Whatever one row holds, no set of models is more than exp(epsilon) times as likely "
			"to be released with"
			" it as without it, or without it as with it");
	else
		put(out, "Neighbours are two tables with the same number of rows that differ in one row "
				 "(replace); the number"
			" of rows is public. Whatever one row holds, no set of models is more than "
			"exp(epsilon) times as likely to"
			" be released as it would have been with any other content of that row");
	put(out, "%s. ", gaussian ? ", apart from a further probability of at most delta" : "");
}

/*
 * Which way was chosen, and by what margin. Risks are rounded for readability;
 * the JSON has them exactly.
 */
static void
put_choice(Out *out, const DpermModel *model)
{
	const DpermAlternative *own = NULL;
	const DpermAlternative *next = NULL;

	for (int i = 0; i < model->alternative_count; i++)
	{
		const DpermAlternative *at = &model->alternatives[i];

		if (own == NULL && at->method == model->method && at->law == dperm_model_law(model))
			own = at;
		else if (next == NULL || at->risk < next->risk)
			next = at;
	}
	if (own == NULL || next == NULL)
		return;
	put(out,
		"It has the least excess risk, %.3g, of %d ways that were considered, by an estimate that "
		"does not look at rows; the next best, %s with %s noise, has %.3g. ",
		own->risk, model->alternative_count, dperm_mechanism_description(next->method),
		next->law == DPERM_LAW_GAUSSIAN ? "Gaussian" : "pure", next->risk);
}

/*
 * The paragraph for a private model. It is copied into JSON verbatim, so it
 * contains no character that would need an escape.
 */
static void
put_guarantee(Out *out, const DpermModel *model)
{
	put_subject(out, model);
	put_promise(out, model);
	put(out, "Only %s computed from what the rows hold; everything else in the model %s. "
			 "Method: %s, with the %s analysis%s%s. ",
		is_chosen_privately(model) ?
		"the weights, and which of the candidates was chosen, were" : "the weights were",
		model->prior.len > 0 ?
		"is a public parameter, is known of the prior, or follows from these" :
		"is a public parameter or follows from public parameters",
		dperm_mechanism_description(model->method), dperm_calibrate_analysis_name(model->analysis),
		model->claim.delta > 0 ? " and Gaussian noise" : model->noise ? " and noise" : "",
		model->noise ? " in the shape of the encoded columns" : "");
	put_choice(out, model);
	/* Rounded for readability; the JSON has them exactly. */
	put(out, "Epsilon is split into ");
	if (model->claim.shares[DPERM_SHARE_SLACK] > 0.0)
		put(out, "%.4g for how the minimum moves with the data "
				 "(slack), ", model->claim.shares[DPERM_SHARE_SLACK]);
	put(out, "%.4g for the noise and %.4g for the release of rounded numbers. ",
		model->claim.shares[DPERM_SHARE_NOISE], model->claim.shares[DPERM_SHARE_RELEASE]);
	put_features_public(out, model);
	put_label_public(out, model);
	put_tuning(out, model);
	put_prior(out, model);
	put(out, "Each further release %s adds its own %s to %s.",
		is_for_persons(model) ? "about the same "
								"persons" :
								"from the same rows",
		model->claim.delta > 0 ? "epsilon and delta" : "epsilon",
		model->claim.delta > 0 ? "these" : "this one");
}

/* Append the paragraph that fits the model. */
static void
put_paragraph(Out *out, const DpermModel *model)
{
	if (!dperm_claim_private(&model->claim))
		put_no_guarantee(out, model);
	else
		put_guarantee(out, model);
}

/* The guarantee in one paragraph. */
size_t
dperm_model_print_guarantee(const DpermModel *model, char *out, size_t room)
{
	Out			o = {out, room, 0};

	put_paragraph(&o, model);
	return o.len;
}

/* Append a pair of bounds. */
static void
put_pair(Out *out, double low, double high)
{
	put(out, "[");
	put_double(out, low);
	put(out, ", ");
	put_double(out, high);
	put(out, "]");
}

/* Append the range of a box, or that of each element. */
static void
put_ranges(Out *out, const DpermBlock *block)
{
	put(out, ", \"range\": ");
	if (dperm_encoder_box_is_cube(block))
	{
		put_pair(out, dperm_block_low(block, 0), dperm_block_high(block, 0));
		return;
	}
	for (int i = 0; i < dperm_block_elements(block); i++)
	{
		put(out, i == 0 ? "[" : ", ");
		put_pair(out, dperm_block_low(block, i), dperm_block_high(block, i));
	}
	put(out, "]");
}

/* Append the knots of a curve: their number, or a list if they are uneven. */
static void
put_knots(Out *out, const DpermBlock *block)
{
	int			count = dperm_block_knots(block);

	if (!dperm_block_is_curve(block))
		return;
	put(out, ", \"knots\": ");
	if (block->knots == NULL)
		put(out, "%d", count);
	for (int i = 0; block->knots && i < count; i++)
	{
		put(out, i == 0 ? "[" : ", ");
		put_double(out, block->knots[i]);
	}
	if (block->knots)
		put(out, "]");
}

/* Append one feature. */
static void
put_feature(Out *out, const DpermBlock *block)
{
	put(out, "{");
	if (block->column.len > 0)
	{
		put(out, "\"column\": ");
		put_text(out, &block->column);
		put(out, ", ");
	}
	put(out, "\"type\": \"%s\"", dperm_encoder_kind_name(block->kind));
	switch (block->kind)
	{
		case DPERM_BLOCK_NUMBER:
		case DPERM_BLOCK_TIME:
			put_member(out, "low", block->low);
			put_member(out, "high", block->high);
			put_knots(out, block);
			break;
		case DPERM_BLOCK_FLAG:
			break;
		case DPERM_BLOCK_CATEGORY:
			for (int i = 0; i < block->count; i++)
			{
				put(out, "%s", i == 0 ? ", \"values\": [" : ", ");
				put_text(out, &block->categories[i]);
			}
			put(out, "]");
			break;
		case DPERM_BLOCK_VECTOR:
			put(out, ", \"dimension\": %d", block->count);
			put_member(out, "norm", block->norm);
			break;
		case DPERM_BLOCK_BOX:
			put(out, ", \"dimension\": %d", dperm_block_elements(block));
			put_ranges(out, block);
			put_knots(out, block);
			break;
	}
	put(out, "}");
}

/* Append the members that say how a row becomes a vector. */
static void
put_encoder(Out *out, const DpermEncoder *enc)
{
	const DpermKernel *kernel = &enc->kernel;

	for (int i = 0; i < enc->block_count; i++)
	{
		put(out, "%s", i == 0 ? ", \"features\": [" : ", ");
		put_feature(out, &enc->blocks[i]);
	}
	put(out, "], \"intercept\": %s", enc->intercept ? "true" : "false");
	if (kernel->kind != DPERM_KERNEL_LINEAR)
	{
		put(out, ", \"kernel\": {\"name\": \"%s\"", dperm_encoder_kernel_name(kernel->kind));
		put_member(out, "gamma", kernel->gamma);
		put(out, ", \"features\": %d, \"seed\": %" PRId64 "}", kernel->features, kernel->seed);
	}
}

/* Append the shape of the noise; coordinates are numbered from 1, as in SQL. */
static void
put_noise(Out *out, const DpermNoise *noise)
{
	put(out, ", \"noise\": \"%s\"", noise ? "shaped" : "ball");
	for (int i = 0; noise && i < noise->group_count; i++)
	{
		const DpermNoiseGroup *group = &noise->groups[i];

		put(out, "%s{\"share\": ", i == 0 ? ", \"noise_groups\": [" : ", ");
		put_double(out, group->share);
		for (int j = group->first; j < group->first + group->count; j++)
		{
			const DpermShape *shape = &noise->shapes[j];

			put(out, "%s{\"shape\": \"%s\", \"first\": %d, "
					 "\"count\": %d", j == group->first ? ", \"shapes\": [" : ", ",
				dperm_shape_name(shape->kind), shape->first + 1, shape->count);
			put_member(out, "radius", shape->radius);
			put(out, "}");
		}
		put(out, "]}%s", i == noise->group_count - 1 ? "]" : "");
	}
}

/* Append the ways that the method was chosen from. */
static void
put_alternatives(Out *out, const DpermModel *model)
{
	for (int i = 0; i < model->alternative_count; i++)
	{
		const DpermAlternative *alternative = &model->alternatives[i];

		put(out,
			"%s{\"method\": \"%s\", \"noise\": "
			"\"%s\"",
			i == 0 ? ", \"alternatives\": [" : ", ", dperm_mechanism_name(alternative->method),
			alternative->law == DPERM_LAW_GAUSSIAN ? "gaussian" : "pure");
		put_member(out, "risk", alternative->risk);
		put(out, "}%s", i == model->alternative_count - 1 ? "]" : "");
	}
}

/* Append which entry of which ledger was written for it, if one was. */
static void
put_ledger(Out *out, const DpermModel *model)
{
	if (model->entry == 0)
		return;
	put(out, ", \"ledger\": {\"budget\": ");
	put_text(out, &model->budget);
	put(out, ", \"entry\": %" PRId64 "}", model->entry);
}

/* What each part of the training takes of epsilon. */
static void
put_shares(Out *out, const DpermClaim *claim)
{
	for (int i = 0; i < DPERM_SHARE_COUNT; i++)
	{
		put(out, "%s\"%s\": ", i == 0 ? ", \"budget\": {" : ", ", dperm_claim_share_name(i));
		put_double(out, claim->shares[i]);
	}
	put(out, "}");
}

/* The weights. */
static void
put_weights(Out *out, const DpermModel *model)
{
	put(out, ", \"weights\": [");
	for (int i = 0; i < dperm_encoder_dim(&model->encoder); i++)
	{
		if (i > 0)
			put(out, ", ");
		put_double(out, model->weights[i]);
	}
	put(out, "]");
}

/* Append the bounds of a label that is a number. */
static void
put_bounds(Out *out, const DpermModel *model)
{
	if (dperm_model_label(model) != DPERM_LABEL_NUMBER)
		return;
	put(out, ", \"bounds\": ");
	put_pair(out, model->label_low, model->label_high);
}

/* The model as JSON, in an order made for reading. */
size_t
dperm_model_print(const DpermModel *model, char *out, size_t room)
{
	Out			o = {out, room, 0};
	bool		private = dperm_claim_private(&model->claim);

	put(&o, "{\"format\": %d, \"kind\": \"%s\", \"loss\": \"%s\"", DPERM_MODEL_FORMAT,
		kind_name(model), dperm_loss_name(model->loss.kind));
	if (has_h(model))
		put_member(&o, "h", model->loss.h);
	put(&o, ", \"private\": %s", private ? "true" : "false");
	if (private)
		put_member(&o, "epsilon", model->claim.epsilon);
	else
		put(&o, ", \"epsilon\": \"Infinity\"");	/* JSON has no such number */
	put_member(&o, "delta", model->claim.delta);
	put(&o, ", \"neighbours\": \"%s\", \"unit\": \"%s\", \"%s\": %" PRId64,
		dperm_claim_neighbours_name(model->claim.neighbours),
		dperm_claim_unit_name(model->claim.unit), is_for_persons(model) ? "persons" : "rows",
		model->rows);
	if (model->source.len > 0)
		put_text_member(&o, "source", &model->source);
	if (model->label.len > 0)
		put_text_member(&o, "label", &model->label);
	if (model->has_positive)
		put_text_member(&o, "positive", &model->positive);
	put_bounds(&o, model);
	put(&o, ", \"method\": \"%s\", \"analysis\": \"%s\"",
		dperm_mechanism_name(model->method), dperm_calibrate_analysis_name(model->analysis));
	put_alternatives(&o, model);
	put_member(&o, "lambda", model->lambda);
	put_member(&o, "lambda_effective", model->lambda_effective);
	put_shares(&o, &model->claim);
	if (private)
		put_noise(&o, model->noise);
	put_member(&o, "noise_scale", model->noise_scale);
	put_member(&o, "grid", model->grid);
	put(&o, ", \"release_scale\": %" PRId64 ", \"dimension\": %d",
		model->release_scale, dperm_encoder_dim(&model->encoder));
	put_encoder(&o, &model->encoder);
	put_weights(&o, model);
	if (model->tuning.len > 0)
		put(&o, ", \"tuning\": %.*s", model->tuning.len, model->tuning.bytes);
	if (model->prior.len > 0)
		put(&o, ", \"prior\": %.*s", model->prior.len, model->prior.bytes);
	put_ledger(&o, model);
	put(&o, ", \"guarantee\": \"");
	put_paragraph(&o, model);
	put(&o, "\"}");
	return o.len;
}
