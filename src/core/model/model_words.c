/*
 * model_words.c: the guarantee of a model in words.
 */
#include "core/model/model_words.h"

#include <inttypes.h>
#include <math.h>

#include "core/loss/loss.h"
#include "core/mechanism/calibrate.h"
#include "core/model/prior.h"
#include "core/model/tuning.h"

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
put_subject(DpermOut *out, const DpermModel *model)
{
	dperm_out_put(out, "This %s (%s loss", kind_name(model), dperm_loss_name(model->loss.kind));
	if (has_h(model))
	{
		dperm_out_put(out, ", h = ");
		dperm_out_double(out, model->loss.h);
	}
	if (model->loss.classes > 0)
		dperm_out_put(out, ", %d classes", model->loss.classes);
	dperm_out_put(out, ") was trained "
			 "on %s%" PRId64 " %s%s ", is_for_persons(model) ? "the rows of " : "", model->rows,
		is_for_persons(model) ? "person" : "row", model->rows == 1 ? "" : "s");
}

/*
 * The name of the source of a prior, unless it contains a character that would
 * need an escape; the JSON has any name.
 */
static void
put_prior_source(DpermOut *out, const DpermText *source)
{
	for (int i = 0; i < source->len; i++)
		if (source->bytes[i] == '\\')
			return;
	if (source->len > 0)
		dperm_out_put(out, " on %.*s", source->len, source->bytes);
}

/* Where the regulariser is centred, and what that means for other rows. */
static void
put_prior(DpermOut *out, const DpermModel *model)
{
	DpermPrior	prior;

	if (model->prior.len == 0 || dperm_prior_read(&model->prior, &prior) != NULL)
		return;
	dperm_out_put(out,
		"The regulariser is centred at the weights of a prior, a model that was trained");
	put_prior_source(out, &prior.source);
	if (isinf(prior.claim.epsilon))
		dperm_out_put(out,
			" without noise (epsilon = Infinity): the prior is NOT PRIVATE, and this model "
				 "may reveal rows that the prior was trained on. ");
	else
	{
		dperm_out_put(out, " with epsilon = ");
		dperm_out_double(out, prior.claim.epsilon);
		dperm_out_put(out, " and delta = ");
		dperm_out_double(out, prior.claim.delta);
		dperm_out_put(out, ", and which has a guarantee of its own%s. ",
			prior.private ? "" : "; a prior behind it is NOT PRIVATE");
	}
	if (dperm_claim_private(&model->claim))
		dperm_out_put(out,
			"The guarantee holds for the rows of this training, whatever the prior is, and "
				 "does not replace that of the prior: for %s, %s. ",
			is_for_persons(model) ? "persons who are in both" : "rows that both were trained on",
			prior.claim.neighbours == model->claim.neighbours &&
			prior.claim.unit == model->claim.unit ? "the costs of both add up" :
			"both have a cost, but not for the same neighbours, so that they do not simply add up");
}

/* The paragraph for a model that was trained without noise. */
static void
put_no_guarantee(DpermOut *out, const DpermModel *model)
{
	dperm_out_put(out, "NOT PRIVATE. ");
	put_subject(out, model);
	dperm_out_put(out, "without noise (epsilon = Infinity). ");
	put_prior(out, model);
	dperm_out_put(out,
		"It carries no privacy guarantee and may reveal the contents of individual rows: treat"
		" it like the rows themselves.");
}

/* What the guarantee says about labels: what they may be is public. */
static void
put_label_public(DpermOut *out, const DpermModel *model)
{
	switch (dperm_model_label(model))
	{
		case DPERM_LABEL_TWO:
			break;
		case DPERM_LABEL_NUMBER:
			dperm_out_put(out, "The label is a number between ");
			dperm_out_double(out, model->label_low);
			dperm_out_put(out, " and ");
			dperm_out_double(out, model->label_high);
			dperm_out_put(out,
						  ": these bounds are public, and values outside of them were clamped. ");
			break;
		case DPERM_LABEL_SEVERAL:
			dperm_out_put(out,
						  "The label is one of %d classes: their list is public, not read from "
						  "rows, and a row with any other label is counted, but adds nothing. ",
						  model->loss.classes);
			break;
	}
}

/* What the guarantee says about the features: that they are public, and why. */
static void
put_features_public(DpermOut *out, const DpermModel *model)
{
	const DpermEncoder *enc = &model->encoder;

	if (enc->block_count == 1 && enc->blocks[0].kind == DPERM_BLOCK_VECTOR)
		dperm_out_put(out,
			"The dimension of the vectors, %d, was declared. ", enc->blocks[0].count);
	else
		dperm_out_put(out,
			"The domains of the columns (bounds, categories, dimensions) are public: they"
			" were declared, not read from rows. ");
	if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
	{
		dperm_out_put(out, "The rows were mapped to %d random features of the %s kernel (gamma = ",
			enc->kernel.features, dperm_encoder_kernel_name(enc->kernel.kind));
		dperm_out_double(out, enc->kernel.gamma);
		dperm_out_put(out, "), which come from the public seed %" PRId64 " and not from rows. ",
			enc->kernel.seed);
	}
}

/* How the parameters were chosen. */
static void
put_tuning(DpermOut *out, const DpermModel *model)
{
	DpermTuning tuning;
	bool		number = dperm_model_label(model) == DPERM_LABEL_NUMBER;

	if (model->tuning.len == 0 || dperm_tuning_read(&model->tuning, &tuning) != NULL)
		return;
	dperm_out_put(out,
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

/*
 * Which tables are neighbours when persons are the unit, and what that means.
 */
static void
put_person_neighbours(DpermOut *out, bool remove)
{
	dperm_out_put(out,
		"A person is all rows that share a value of the unit column: together they weigh as "
			 "much as one row. ");
	if (remove)
		dperm_out_put(out,
			"Neighbours are two tables with the same number of persons that differ in all rows "
				 "of one person, who has no labelled row in one of them (remove); the number of "
				 "persons is public, the number of rows is not. Whatever the rows of one person "
				 "hold, and however many there are, no set of models is more than exp(epsilon) "
				 "times as likely to be released as it would have been had that person no "
				 "labelled row, and the other way round");
	else
		dperm_out_put(out,
			"Neighbours are two tables with the same number of persons that differ in all "
				 "rows of one person"
			" (replace); the number of persons is public, the number of rows is not. Whatever the "
			"rows of one person"
			" hold, and however many there are, no set of models is more than exp(epsilon) times "
			"as likely to be"
			" released as it would have been with any other rows of that person");
}

/* The promise, and for which tables it holds. */
static void
put_promise(DpermOut *out, const DpermModel *model)
{
	bool		remove = model->claim.neighbours == DPERM_NEIGHBOURS_REMOVE;
	bool		gaussian = model->claim.delta > 0;

	dperm_out_put(out,
		"with %s-differential privacy: epsilon = ", gaussian ? "(epsilon, delta)" : "epsilon");
	dperm_out_double(out, model->claim.epsilon);
	dperm_out_put(out, " and delta = ");
	dperm_out_double(out, model->claim.delta);
	dperm_out_put(out, ", %s that the noise is larger than the rounding analysis allows for. ",
		gaussian ? "which includes a probability below 2^-64" : "up to a probability below 2^-65");
	if (is_for_persons(model))
		put_person_neighbours(out, remove);
	else if (remove)
		dperm_out_put(out,
			"Neighbours are two tables of which one is the other with one row removed: an "
				 "empty row, without a"
			" label and without features, is in its place (remove); the number of rows is the "
			"same, and public."
			" Whatever one row holds, no set of models is more than exp(epsilon) times as likely "
			"to be released with"
			" it as without it, or without it as with it");
	else
		dperm_out_put(out,
			"Neighbours are two tables with the same number of rows that differ in one row "
				 "(replace); the number"
			" of rows is public. Whatever one row holds, no set of models is more than "
			"exp(epsilon) times as likely to"
			" be released as it would have been with any other content of that row");
	dperm_out_put(out,
		"%s. ", gaussian ? ", apart from a further probability of at most delta" : "");
}

/*
 * The paragraph for a private model. It is copied into JSON verbatim, so it
 * contains no character that would need an escape.
 */
static void
put_guarantee(DpermOut *out, const DpermModel *model)
{
	put_subject(out, model);
	put_promise(out, model);
	dperm_out_put(out, "Only %s computed from what the rows hold; everything else in the model %s. "
			 "Method: %s, with the %s analysis%s%s. ",
		model->tuning.len > 0 ?
		"the weights, and which of the candidates was chosen, were" : "the weights were",
		model->prior.len > 0 ?
		"is a public parameter, is known of the prior, or follows from these" :
		"is a public parameter or follows from public parameters",
		dperm_mechanism_entry((int) model->method)->description,
		dperm_calibrate_analysis_name(model->analysis),
		model->claim.delta > 0 ? " and Gaussian noise" : model->noise ? " and noise" : "",
		model->noise ? " in the shape of the encoded columns" : "");
	/* Rounded for readability; the JSON has them exactly. */
	dperm_out_put(out, "Epsilon is split into ");
	if (model->claim.shares[DPERM_SHARE_SLACK] > 0.0)
		dperm_out_put(out, "%.4g for how the minimum moves with the data "
				 "(slack), ", model->claim.shares[DPERM_SHARE_SLACK]);
	dperm_out_put(out, "%.4g for the noise and %.4g for the release of rounded numbers. ",
		model->claim.shares[DPERM_SHARE_NOISE], model->claim.shares[DPERM_SHARE_RELEASE]);
	put_features_public(out, model);
	put_label_public(out, model);
	put_tuning(out, model);
	put_prior(out, model);
	dperm_out_put(out, "Each further release %s adds its own %s to %s.",
		is_for_persons(model) ? "about the same "
								"persons" :
								"from the same rows",
		model->claim.delta > 0 ? "epsilon and delta" : "epsilon",
		model->claim.delta > 0 ? "these" : "this one");
}

/* Append the paragraph that fits the model. */
void
dperm_model_words(DpermOut *out, const DpermModel *model)
{
	if (!dperm_claim_private(&model->claim))
		put_no_guarantee(out, model);
	else
		put_guarantee(out, model);
}
