/*
 * model_words.c: the guarantee of a model in words. Plain.
 */
#include "core/model/model.h"

#include <inttypes.h>
#include <math.h>

#include "core/privacy/counts.h"

/* Is the unit of privacy a person? */
static bool
is_for_persons(const DpermModel *model)
{
	return model->claim.unit == DPERM_UNIT_PERSON;
}

static const char *
units_name(const DpermModel *model)
{
	return is_for_persons(model) ? "persons" : "rows";
}

/* The first sentences: what was trained, and on what. */
static void
put_subject(DpermOut *out, const DpermModel *model)
{
	const DpermLossEntry *loss = dperm_loss_entry((int) model->loss.kind);

	dperm_codec_put(out, "This %s (%s loss", dperm_loss_learner_name((int) loss->learner),
					dperm_loss_name((int) model->loss.kind));
	if (loss->h_min > 0)
	{
		dperm_codec_put(out, ", h = ");
		dperm_codec_put_double(out, model->loss.h);
	}
	if (model->loss.classes > 0)
		dperm_codec_put(out, ", %d classes", model->loss.classes);
	dperm_codec_put(out, ") was trained on %s%" PRId64 " %s%s ",
					is_for_persons(model) ? "the rows of " : "", model->rows,
					is_for_persons(model) ? "person" : "row", model->rows == 1 ? "" : "s");
}

/* Begin to read an object of a model; false if it has none. */
static bool
read_object(DpermText text, DpermCodec *c)
{
	*c = (DpermCodec) {.form = DPERM_CODEC_READ_JSON};
	if (text.len == 0 || !dperm_tree_parse(text, &c->root))
		return false;
	dperm_codec_object(c, NULL);
	return c->why == NULL;
}

/*
 * The name of the source of a prior, unless it contains a character that would
 * need an escape; the JSON has any name.
 */
static void
put_prior_source(DpermOut *out, const DpermTree *prior)
{
	DpermTree	source;

	if (!dperm_tree_member(prior, "source", &source) || source.kind != DPERM_TREE_TEXT)
		return;
	for (int i = 0; i < source.text.len; i++)
		if ((unsigned char) source.text.bytes[i] < 0x20 || source.text.bytes[i] == '"' ||
			source.text.bytes[i] == '\\')
			return;
	dperm_codec_put(out, " on %.*s", source.text.len, source.text.bytes);
}

/* Is a model without prior, or are its prior and all behind it private? */
bool
dperm_model_prior_is_private(const DpermModel *model)
{
	DpermCodec	prior;

	return model->prior.len == 0 ||
		(read_object(model->prior, &prior) && dperm_codec_flag(&prior, "private", false));
}

/* Where the regulariser is centred, and what that means for other rows. */
static void
put_prior(DpermOut *out, const DpermModel *model)
{
	DpermCodec	prior;
	DpermClaim	claim = {0};

	if (!read_object(model->prior, &prior))
		return;
	dperm_model_claim(&prior, &claim);
	dperm_codec_put(out, "The regulariser is centred at the weights of a prior, a model that was "
					"trained");
	put_prior_source(out, &prior.root);
	if (prior.why || isinf(claim.epsilon))
		dperm_codec_put(out, " without noise (epsilon = Infinity): the prior is NOT PRIVATE, and "
						"this model may reveal rows that the prior was trained on. ");
	else
	{
		dperm_codec_put(out, " with epsilon = ");
		dperm_codec_put_double(out, claim.epsilon);
		dperm_codec_put(out, " and delta = ");
		dperm_codec_put_double(out, claim.delta);
		dperm_codec_put(out, ", and which has a guarantee of its own%s. ",
			dperm_model_prior_is_private(model) ? "" : "; a prior behind it is NOT PRIVATE");
	}
	if (dperm_claim_private(&model->claim))
		dperm_codec_put(out, "The guarantee holds for the rows of this training, whatever the "
						"prior is, and does not replace that of the prior: for %s, %s. ",
						is_for_persons(model) ? "persons who are in both" :
						"rows that both were trained on",
						claim.neighbours == model->claim.neighbours &&
						claim.unit == model->claim.unit ? "the costs of both add up" :
						"both have a cost, but not for the same neighbours, so that they do not "
						"simply add up");
}

/* The paragraph for a model that was trained without noise. */
static void
put_no_guarantee(DpermOut *out, const DpermModel *model)
{
	dperm_codec_put(out, "NOT PRIVATE. ");
	put_subject(out, model);
	dperm_codec_put(out, "without noise (epsilon = Infinity). ");
	put_prior(out, model);
	dperm_codec_put(out, "It carries no privacy guarantee and may reveal the contents of "
					"individual rows: treat it like the rows themselves.");
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
			dperm_codec_put(out, "The label is a number between ");
			dperm_codec_put_double(out, model->label_low);
			dperm_codec_put(out, " and ");
			dperm_codec_put_double(out, model->label_high);
			dperm_codec_put(out, ": these bounds are public, and values outside of them were "
							"clamped. ");
			break;
		case DPERM_LABEL_SEVERAL:
			dperm_codec_put(out, "The label is one of %d classes: their list is public, not read "
							"from rows, and a row with any other label is counted, but adds "
							"nothing. ", model->loss.classes);
			break;
	}
}

/* What the guarantee says about the features: that they are public, and why. */
static void
put_features_public(DpermOut *out, const DpermModel *model)
{
	const DpermEncoder *enc = &model->encoder;

	if (enc->block_count == 1 && enc->blocks[0].kind == DPERM_BLOCK_VECTOR)
		dperm_codec_put(out, "The dimension of the vectors, %d, was declared. ",
						enc->blocks[0].count);
	else
		dperm_codec_put(out, "The domains of the columns (bounds, categories, dimensions) are "
						"public: they were declared, not read from rows. ");
	if (enc->kernel.kind != DPERM_KERNEL_LINEAR)
	{
		dperm_codec_put(out,
			"The rows were mapped to %d random features of the %s kernel (gamma = ",
			enc->kernel.features, dperm_encoder_kernel_name(enc->kernel.kind));
		dperm_codec_put_double(out, enc->kernel.gamma);
		dperm_codec_put(out, "), which come from the public seed %" PRId64 " and not from rows. ",
			enc->kernel.seed);
	}
}

/* The units of a model: if it was tuned, those of all portions. */
int64_t
dperm_model_units(const DpermModel *model)
{
	DpermCodec	tuning;
	int64_t		units = 0;

	if (read_object(model->tuning, &tuning))
		dperm_codec_integer(&tuning, units_name(model), &units);
	return units > 0 ? units : model->rows;
}

/* How the parameters were chosen. */
static void
put_tuning(DpermOut *out, const DpermModel *model)
{
	DpermCodec	tuning;
	DpermSelection rule;
	int64_t		portions = 0;
	int			candidates;
	bool		number = dperm_model_label(model) == DPERM_LABEL_NUMBER;

	if (!read_object(model->tuning, &tuning))
		return;
	rule = (DpermSelection) dperm_codec_name(&tuning, "selection", 0, dperm_selection_name, 2);
	dperm_codec_integer(&tuning, "portions", &portions);
	candidates = dperm_codec_length(&tuning, "candidates", 0);
	if (tuning.why)
		return;
	dperm_codec_put(out,
		"The parameters were chosen privately among %d candidates: a table of %" PRId64
		" %s was divided at random into %" PRId64 " portions, one for each candidate to be trained"
		" on and one to %s, by which one was chosen with the %s rule. The"
		" guarantee, with the same epsilon%s, covers all %s of that table and the choice;"
		" the %s are not released. ",
		candidates, dperm_model_units(model), units_name(model),
		portions, number ? "add up their errors" : "count their mistakes",
		rule == DPERM_SELECT_EXPONENTIAL ? "exponential" : "permute-and-flip",
		model->claim.delta > 0 ? " and delta" : "", units_name(model), number ? "sums" : "counts");
}

/* The promise, and for which tables it holds. */
static void
put_promise(DpermOut *out, const DpermModel *model)
{
	bool		persons = is_for_persons(model);
	bool		gaussian = model->claim.delta > 0;
	const char *holds = persons ?
		"Whatever the rows of one person hold, and however many there are," :
		"Whatever one row holds,";

	dperm_codec_put(out, "with %s-differential privacy: epsilon = ",
					gaussian ? "(epsilon, delta)" : "epsilon");
	dperm_codec_put_double(out, model->claim.epsilon);
	dperm_codec_put(out, " and delta = ");
	dperm_codec_put_double(out, model->claim.delta);
	dperm_codec_put(out, ", %s that the noise is larger than the rounding analysis allows for. ",
					gaussian ? "which includes a probability below 2^-64" :
					"up to a probability below 2^-65");
	if (persons)
		dperm_codec_put(out, "A person is all rows that share a value of the unit column: together "
						"they weigh as much as one row. ");
	if (model->claim.neighbours == DPERM_NEIGHBOURS_REPLACE)
		dperm_codec_put(out, "Neighbours are two tables with the same number of %s that differ in "
						"%s (replace); %s. %s no set of models is more than exp(epsilon) times as "
						"likely to be released as it would have been with any other %s",
						units_name(model), persons ? "all rows of one person" : "one row",
						persons ? "the number of persons is public, the number of rows is not" :
						"the number of rows is public", holds,
						persons ? "rows of that person" : "content of that row");
	else if (persons)
		dperm_codec_put(out, "Neighbours are two tables with the same number of persons that "
						"differ in all rows of one person, who has no labelled row in one of them "
						"(remove); the number of persons is public, the number of rows is not. %s "
						"no set of models is more than exp(epsilon) times as likely to be released "
						"as it would have been had that person no labelled row, and the other way "
						"round", holds);
	else
		dperm_codec_put(out, "Neighbours are two tables of which one is the other with one row "
						"removed: an empty row, without a label and without features, is in its "
						"place (remove); the number of rows is the same, and public. %s no set of "
						"models is more than exp(epsilon) times as likely to be released with it "
						"as without it, or without it as with it", holds);
	dperm_codec_put(out, "%s. ",
					gaussian ? ", apart from a further probability of at most delta" : "");
}

/*
 * The paragraph for a private model. It contains no character that would need an
 * escape in JSON.
 */
static void
put_guarantee(DpermOut *out, const DpermModel *model)
{
	put_subject(out, model);
	put_promise(out, model);
	dperm_codec_put(out,
			 "Only %s computed from what the rows hold; everything else in the model %s. "
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
	dperm_codec_put(out, "Epsilon is split into ");
	if (model->claim.shares[DPERM_SHARE_SLACK] > 0.0)
		dperm_codec_put(out, "%.4g for how the minimum moves with the data "
				 "(slack), ", model->claim.shares[DPERM_SHARE_SLACK]);
	dperm_codec_put(out, "%.4g for the noise and %.4g for the release of rounded numbers. ",
		model->claim.shares[DPERM_SHARE_NOISE], model->claim.shares[DPERM_SHARE_RELEASE]);
	put_features_public(out, model);
	put_label_public(out, model);
	put_tuning(out, model);
	put_prior(out, model);
	dperm_codec_put(out, "Each further release %s adds its own %s to %s.",
		is_for_persons(model) ? "about the same "
								"persons" :
								"from the same rows",
		model->claim.delta > 0 ? "epsilon and delta" : "epsilon",
		model->claim.delta > 0 ? "these" : "this one");
}

/* The guarantee in one paragraph, which ends with a zero byte that does not count. */
DpermText
dperm_model_guarantee(const DpermModel *model)
{
	DpermOut	out = {NULL, 0, 0};

	if (!dperm_claim_private(&model->claim))
		put_no_guarantee(&out, model);
	else
		put_guarantee(&out, model);
	return (DpermText) {out.bytes, (int) out.len};
}
