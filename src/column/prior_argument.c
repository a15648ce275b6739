/*
 * prior_argument.c: the prior of a training, and whether the training fits it.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "utils/json.h"

#include "base/arguments.h"
#include "column/domains.h"
#include "column/model_type.h"
#include "column/prior_argument.h"
#include "core/base/limits.h"
#include "core/model/prior.h"

/* Append a member that is a text. */
static void
append_member(StringInfo out, const char *key, DpermText text)
{
	appendStringInfo(out, "\"%s\": ", key);
	escape_json(out, pnstrdup(text.bytes, text.len));
}

/* Is a model private, and are all priors behind it? */
static bool
private_throughout(const DpermModel *model)
{
	DpermPrior	behind = {.private = true};

	if (model->prior.len > 0 && dperm_prior_read(&model->prior, &behind) != NULL)
		return false;
	return dperm_claim_private(&model->claim) && behind.private;
}

/* What a model says about its prior. */
static char *
describe_prior(const DpermModel *prior, double norm)
{
	const DpermClaim *claim = &prior->claim;
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "{\"norm\": %s, \"private\": %s, \"epsilon\": %s, ",
					 double_to_shortest_decimal(norm),
					 private_throughout(prior) ? "true" : "false",
					 isinf(claim->epsilon) ? "\"Infinity\"" :
											 double_to_shortest_decimal(claim->epsilon));
	appendStringInfo(&out, "\"delta\": %s, \"neighbours\": \"%s\", \"unit\": \"%s\"",
					 double_to_shortest_decimal(claim->delta),
					 dperm_claim_neighbours_name(claim->neighbours),
					 dperm_claim_unit_name(claim->unit));
	if (prior->source.len > 0)
	{
		appendStringInfoString(&out, ", ");
		append_member(&out, "source", prior->source);
	}
	if (prior->entry > 0)
	{
		appendStringInfoString(&out, ", \"ledger\": {");
		append_member(&out, "budget", prior->budget);
		appendStringInfo(&out, ", \"entry\": " INT64_FORMAT "}", prior->entry);
	}
	appendStringInfoChar(&out, '}');
	return out.data;
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

/* The weights of a prior may be anything: it may have come as text. */
static double
check_weights(const DpermModel *prior)
{
	double		norm = dperm_prior_norm(prior->weights, dperm_model_weights(prior));

	if (!(norm <= DPERM_PRIOR_NORM_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the weights of prior are too large"),
				 errdetail("Their norm is above %g.", DPERM_PRIOR_NORM_MAX),
				 errhint("Train the prior with a larger lambda.")));
	return norm;
}

/* Set the prior of a training. */
void
dperm_prior_argument_read(FunctionCallInfo fcinfo, DpermOptions *options)
{
	DpermModel *prior;
	DpermLearner learner;
	DpermPrior	checked;
	Datum		value;
	char	   *text;

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
	options->prior_norm = check_weights(prior);
	text = describe_prior(prior, options->prior_norm);
	if (strlen(text) > DPERM_PRIOR_MAX ||
		dperm_prior_read(&(DpermText) {text, (int) strlen(text)}, &checked) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prior cannot be named in a model"),
				 errdetail("The names of its source and budget are too long.")));
	options->prior_text = text;
	options->prior = prior;
}

/* Does a prior have a feature of this name? */
static bool
has_feature(const DpermModel *prior, const char *name)
{
	for (int i = 0; i < prior->encoder.block_count; i++)
		if (strcmp(prior->encoder.blocks[i].column.bytes, name) == 0)
			return true;
	return false;
}

/* Is a name in a list? */
static bool
is_named(const char *name, char **list, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

/* Raise an error if label or features are not those of the prior. */
void
dperm_prior_argument_check_names(const DpermModel *prior, const char *label, char **features,
								 int count)
{
	char	   *own = pnstrdup(prior->label.bytes, prior->label.len);

	if (strcmp(own, label) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" differs from that of the prior", label),
				 prior->label.len > 0 ? errdetail("The label of the prior is \"%s\".", own) :
										errdetail("The label of the prior is an expression.")));
	for (int i = 0; i < count; i++)
		if (!has_feature(prior, features[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("features differ from those of the prior"),
					 errdetail("Column \"%s\" is not a feature of the prior.", features[i]),
					 errhint("Use NULL for the features of the prior.")));
	for (int i = 0; count > 0 && i < prior->encoder.block_count; i++)
		if (!is_named(prior->encoder.blocks[i].column.bytes, features, count))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("features differ from those of the prior"),
					 errdetail("Column \"%s\" is a feature of the prior.",
							   prior->encoder.blocks[i].column.bytes),
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

/* What the caller specified differently for a column, or NULL. */
static const char *
difference(const DpermOptions *options, const DpermColumn *column, const DpermBlock *block)
{
	bool		linear = options->kernel.kind == DPERM_KERNEL_LINEAR;
	const char *fault = NULL;

	if (dperm_column_given(column))
	{
		fault = dperm_domains_fault(block, &column->block);
		if (fault == NULL)
			fault = dperm_domains_fault(&column->block, block);
		if (fault == NULL && linear && column->knotted && !same_knots(&column->block, block))
			fault = "list of knots";
		if (fault == NULL && column->block.log != block->log)
			fault = "scale";
	}
	if (fault == NULL && linear && dperm_block_is_number(block) && options->knots > 0 &&
		!(dperm_column_given(column) && column->knotted) &&
		(options->knots != block->count || block->knots))
		fault = "number of knots";
	return fault;
}

/* Raise an error if the caller specified another domain. */
void
dperm_prior_argument_check_block(const DpermOptions *options, const DpermColumn *column,
								 const DpermBlock *block)
{
	const char *fault = difference(options, column, block);

	if (fault)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the %s of column \"%s\" differs from that of the prior", fault,
						column->name),
				 errhint("Omit it to use that of the prior.")));
}
