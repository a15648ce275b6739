/*
 * prior_argument.c: the prior of a training, and whether the training fits it.
 *
 * Weights mean the same in both only if rows are encoded in the same way. So
 * the training has the columns, the domains and the kernel of the prior, and
 * arguments that contradict it are errors, before a row is read.
 */
#include "postgres.h"

#include <math.h>

#include "base/arguments.h"
#include "column/domains.h"
#include "column/model_type.h"
#include "core/base/core.h"

/* What a model says about its prior. */
static DpermText
describe_prior(const DpermModel *prior, double norm)
{
	DpermCodec	c = {.form = DPERM_CODEC_WRITE_JSON};
	DpermModel	m = *prior;
	DpermTree	tree;

	dperm_codec_object(&c, NULL);
	dperm_codec_number(&c, "norm", &norm);
	(void) dperm_codec_flag(&c, "private", dperm_claim_private(&m.claim) &&
							dperm_model_prior_is_private(prior));
	dperm_model_claim(&c, &m.claim);
	if (m.source.len > 0)
		dperm_codec_text(&c, "source", &m.source);
	if (m.entry > 0)
		dperm_model_ledger(&c, &m);
	dperm_codec_end(&c);
	(void) dperm_tree_parse(dperm_codec_written(&c), &tree);
	return dperm_tree_print(&tree);
}

/* Give the columns of a prior names that end with a zero. */
static void
terminate_names(DpermModel *prior)
{
	int			count = prior->encoder.block_count;
	DpermBlock *blocks = palloc(sizeof(DpermBlock) * count);

	memcpy(blocks, prior->encoder.blocks, sizeof(DpermBlock) * count);
	for (int i = 0; i < count; i++)
		blocks[i].column.bytes = pnstrdup(blocks[i].column.bytes, blocks[i].column.len);
	prior->encoder.blocks = blocks;
	if (count == 1 && blocks[0].column.len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prior was trained on arrays and does not name a column"),
				 errhint("Train the prior with dp_logreg_train, dp_svm_train or "
						 "dp_linreg_train.")));
}

/*
 * Set the prior of a training if the call has one; raises an error for one that
 * no training of this learner can have. dperm_options_settle() must follow.
 */
void
dperm_prior_argument_read(FunctionCallInfo fcinfo, DpermOptions *options)
{
	DpermModel *prior;
	DpermLearner learner;
	Datum		value;

	if (!dperm_arguments_get(fcinfo, "prior", InvalidOid, &value))
		return;
	prior = dperm_model_type_open(value);
	learner = dperm_loss_entry((int) prior->loss.kind)->learner;
	if (learner != options->learner)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prior is a %s, not a %s", dperm_loss_learner_name(learner),
						dperm_loss_learner_name(options->learner)),
				 errhint("The weights of one say nothing about those of the other.")));
	terminate_names(prior);
	options->prior_norm = dperm_model_norm(prior->weights, dperm_model_weights(prior));
	/* the weights may be anything: the model may have come as text */
	if (!(options->prior_norm <= DPERM_PRIOR_NORM_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the weights of prior are too large"),
				 errdetail("Their norm is above %g.", DPERM_PRIOR_NORM_MAX),
				 errhint("Train the prior with a larger lambda.")));
	options->prior_text = describe_prior(prior, options->prior_norm);
	if (options->prior_text.len > DPERM_MODEL_PRIOR_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prior cannot be named in a model"),
				 errdetail("The names of its source and budget are too long.")));
	options->prior = prior;
}

/* The first of some names that is not among others, or NULL. */
static const char *
first_missing(char **names, int count, char **others, int other_count)
{
	for (int i = 0; i < count; i++)
		if (dperm_find_name((const char *const *) others, other_count, names[i]) < 0)
			return names[i];
	return NULL;
}

/*
 * Raise an error if label or features are not those of the prior; without
 * features, they are.
 */
void
dperm_prior_argument_check_names(const DpermModel *prior, const char *label, char **features,
								 int count)
{
	char	   *own_label = pnstrdup(prior->label.bytes, prior->label.len);
	int			own_count = prior->encoder.block_count;
	char	  **own = palloc(sizeof(char *) * own_count);
	const char *added;
	const char *left_out;

	if (strcmp(own_label, label) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" differs from that of the prior", label),
				 prior->label.len > 0 ? errdetail("The label of the prior is \"%s\".", own_label) :
										errdetail("The label of the prior is an expression.")));
	for (int i = 0; i < own_count; i++)
		own[i] = (char *) prior->encoder.blocks[i].column.bytes;
	added = first_missing(features, count, own, own_count);
	left_out = first_missing(own, own_count, features, count);
	if (count > 0 && (added || left_out))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("features differ from those of the prior"),
				 added ? errdetail("Column \"%s\" is not a feature of the prior.", added) :
						 errdetail("Column \"%s\" is a feature of the prior.", left_out),
				 errhint("Use NULL for the features of the prior.")));
}

/* Are the knots of two numbers, or of their elements, at the same positions? */
static bool
same_knots(const DpermBlock *a, const DpermBlock *b)
{
	int			count = dperm_block_knots(a);

	return count == dperm_block_knots(b) && (a->knots == NULL) == (b->knots == NULL) &&
		   (a->knots == NULL || memcmp(a->knots, b->knots, sizeof(double) * count) == 0);
}

/*
 * Raise an error if the caller specified another domain for a column than the
 * prior has, or another number of knots.
 */
void
dperm_prior_argument_check_block(const DpermOptions *options, const DpermColumn *column,
								 const DpermBlock *block)
{
	bool		given = column->from == DPERM_DOMAIN_GIVEN;
	bool		knotted = given && column->knotted;
	const char *fault = given ? dperm_domains_fault(block, &column->block) : NULL;

	if (given && fault == NULL)
		fault = dperm_domains_fault(&column->block, block);
	if (given && fault == NULL && column->block.log != block->log)
		fault = "scale";
	if (fault == NULL && options->kernel.kind == DPERM_KERNEL_LINEAR)
	{
		if (knotted && !same_knots(&column->block, block))
			fault = "list of knots";
		else if (!knotted && dperm_block_is_number(block) && options->knots > 0 &&
				 (options->knots != block->count || block->knots))
			fault = "number of knots";
	}
	if (fault)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the %s of column \"%s\" differs from that of the prior", fault,
						column->name),
				 errhint("Omit it to use that of the prior.")));
}
