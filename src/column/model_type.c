/*
 * model_type.c: dp_model in SQL: input, output, accessors; and as the prior of a
 * training. Plain.
 *
 * Weights mean the same in both only if rows are encoded in the same way. So the
 * training has the columns, the domains and the kernel of the prior: nobody can specify
 * them beside it.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "base/base.h"
#include "column/column.h"

PG_FUNCTION_INFO_V1(dperm_model_in);
PG_FUNCTION_INFO_V1(dperm_model_out);
PG_FUNCTION_INFO_V1(dperm_model_recv);
PG_FUNCTION_INFO_V1(dperm_model_send);
PG_FUNCTION_INFO_V1(dp_weights);
PG_FUNCTION_INFO_V1(dp_guarantee);

/* A dp_model datum, in the current memory context. */
Datum
dperm_model_type_make(const DpermModel *model)
{
	const char *fault = dperm_model_fault(model);
	DpermText	bytes;
	bytea	   *result;

	/* What is stored must decode again, so detect a bug here. */
	if (fault)
		elog(ERROR, "invalid model: %s", fault);
	bytes = dperm_model_write(model);
	result = palloc(VARHDRSZ + bytes.len);
	SET_VARSIZE(result, VARHDRSZ + bytes.len);
	memcpy(VARDATA(result), bytes.bytes, bytes.len);
	return PointerGetDatum(result);
}

/* Raise an error for bytes of another version. */
static void
check_format(DpermText bytes)
{
	int			format = dperm_model_format(bytes);

	if (format != 0 && format != DPERM_MODEL_BINARY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_model of format %d cannot be read, only of format %d", format,
						DPERM_MODEL_BINARY),
				 errhint("Carry models from one version of dperm to another as text: cast them to "
						 "text with the version that wrote them, and the text to dp_model with "
						 "this one.")));
}

/*
 * A model that was read, as a datum; an error if why says that it is none, a soft
 * one for a context that asks for that.
 */
static Datum
accept_model(Node *context, const DpermModel *model, const char *why, bool binary)
{
	if (why == NULL)
		return dperm_model_type_make(model);
	ereturn(context, (Datum) 0,
			(errcode(binary ? ERRCODE_INVALID_BINARY_REPRESENTATION :
					 ERRCODE_INVALID_TEXT_REPRESENTATION),
			 binary ? errmsg("invalid binary form of type %s", "dp_model") :
			 errmsg("invalid input syntax for type %s", "dp_model"),
			 errdetail("The %s is not a valid model: %s.", binary ? "value" : "text", why)));
}

/* A model that JSON describes. */
Datum
dperm_model_type_accept(Node *context, DpermTree tree)
{
	DpermModel	model;

	return accept_model(context, &model, dperm_model_parse(&tree, &model), false);
}

/*
 * The struct of a dp_model datum, toasted or not, with all that it points to, in
 * the current memory context.
 */
DpermModel *
dperm_model_type_open(Datum value)
{
	struct varlena *flat = PG_DETOAST_DATUM_PACKED(value);
	DpermText	bytes = {VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat)};
	DpermModel *model = palloc(sizeof(DpermModel));
	const char *why;

	if ((Pointer) flat == DatumGetPointer(value))
		bytes.bytes = memcpy(palloc(bytes.len), bytes.bytes, bytes.len);
	check_format(bytes);
	why = dperm_model_open(bytes, model);
	if (why)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored dp_model is corrupted"),
				 errdetail("The value is not a valid model: %s.", why)));
	return model;
}

/* Text input: JSON. */
Datum
dperm_model_in(PG_FUNCTION_ARGS)
{
	DpermTree	tree;

	if (!dperm_host_read_tree(fcinfo->context, PG_GETARG_CSTRING(0), &tree))
		return (Datum) 0;
	return dperm_model_type_accept(fcinfo->context, tree);
}

/* Text output: JSON. */
Datum
dperm_model_out(PG_FUNCTION_ARGS)
{
	DpermText	text = dperm_model_print(dperm_model_type_open(PG_GETARG_DATUM(0)));

	PG_RETURN_CSTRING((char *) text.bytes);
}

/* Binary input: the stored form, after checking that it decodes. */
Datum
dperm_model_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	DpermText	bytes = {.len = buf->len - buf->cursor};
	DpermModel	model;

	bytes.bytes = pq_getmsgbytes(buf, bytes.len);
	check_format(bytes);
	return accept_model(NULL, &model, dperm_model_receive(bytes, &model), true);
}

/* Binary output: the stored form, as that of bytea is. */
Datum
dperm_model_send(PG_FUNCTION_ARGS)
{
	return byteasend(fcinfo);
}

/* The argument model of a call, which must not be NULL. */
DpermModel *
dperm_model_type_required(FunctionCallInfo fcinfo)
{
	return dperm_model_type_open(
		dperm_arguments_required(fcinfo, "model", InvalidOid, DPERM_MODEL_REQUIRED));
}

/* Numbers as an array, of two dimensions unless rows is 0. */
Datum
dperm_model_type_array(const double *numbers, int rows, int columns)
{
	int			dims[2] = {rows, columns};
	int			lower[2] = {1, 1};
	int			skipped = rows > 0 ? 0 : 1;
	int			count = Max(rows, 1) * columns;
	Datum	   *elements = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		elements[i] = Float8GetDatum(numbers[i]);
	return PointerGetDatum(construct_md_array(elements, NULL, 2 - skipped, dims + skipped, lower,
											  FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
											  TYPALIGN_DOUBLE));
}

/*
 * The weights as an array; with an intercept, its weight comes last. With
 * several classes, there is a row for each.
 */
Datum
dp_weights(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));
	bool		several = dperm_model_label(model) == DPERM_LABEL_SEVERAL;

	return dperm_model_type_array(model->weights, several ? model->loss.classes : 0,
								  dperm_encoder_dim(&model->encoder));
}

/* What the model promises, in words. */
Datum
dp_guarantee(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));

	PG_RETURN_TEXT_P(cstring_to_text(dperm_model_guarantee(model).bytes));
}

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

/* Give the columns of a model names that end with a zero, or all of them this one. */
void
dperm_model_type_name_columns(DpermModel *model, char *name)
{
	int			count = model->encoder.block_count;
	Size		size = sizeof(DpermBlock) * count;
	DpermBlock *blocks = memcpy(palloc(size), model->encoder.blocks, size);

	for (int i = 0; i < count; i++)
	{
		DpermText  *column = &blocks[i].column;

		column->bytes = name ? name : pnstrdup(column->bytes, column->len);
		column->len = strlen(column->bytes);
	}
	model->encoder.blocks = blocks;
}

/*
 * Set the prior of a training if the call has one; raises an error for one that
 * no training of this learner can have. dperm_options_settle() must follow.
 */
void
dperm_model_type_prior(FunctionCallInfo fcinfo, DpermOptions *options)
{
	DpermModel *prior;
	DpermLearner learner;
	Datum		value;

	if (!dperm_arguments_get(fcinfo, "prior", InvalidOid, &value))
		return;
	prior = dperm_model_type_open(value);
	if (dperm_arguments_get(fcinfo, "features", InvalidOid, &value) ||
		dperm_arguments_jsonb(fcinfo, "domains"))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("features and domains cannot be specified with a prior"),
				 errhint("Use NULL for features, and omit domains: they are those of the "
						 "prior.")));
	learner = dperm_loss_entry((int) prior->loss.kind)->learner;
	if (learner != options->learner)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prior is a %s, not a %s", dperm_loss_learner_name(learner),
						dperm_loss_learner_name(options->learner)),
				 errhint("The weights of one say nothing about those of the other.")));
	dperm_model_type_name_columns(prior, NULL);
	if (prior->encoder.block_count == 1 && prior->encoder.blocks[0].column.len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prior was trained on arrays and does not name a column"),
				 errhint("Train the prior with dp_logreg_train, dp_svm_train or "
						 "dp_linreg_train.")));
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

/* Raise an error if the label is not that of the prior. */
void
dperm_model_type_check_prior_label(const DpermModel *prior, const char *label)
{
	char	   *own = pnstrdup(prior->label.bytes, prior->label.len);

	if (strcmp(own, label) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" differs from that of the prior", label),
				 prior->label.len > 0 ? errdetail("The label of the prior is \"%s\".", own) :
										errdetail("The label of the prior is an expression.")));
}
