/*
 * model_print.c: a model as text: JSON, and the guarantee in words.
 */
#include "model.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Append one member of the object that holds a double. */
static void
put_member(Out *out, const char *key, double value)
{
	put(out, ", \"%s\": ", key);
	put_double(out, value);
}

/* What the losses are called as learners. */
static const char *
kind_name(const DpermModel *model)
{
	return model->loss.kind == DPERM_LOSS_LOGISTIC ?
		"logistic regression" : "support vector machine";
}

/* The first sentences: what was trained, and on what. */
static void
put_subject(Out *out, const DpermModel *model)
{
	put(out, "This %s (%s loss", kind_name(model), dperm_loss_name(model->loss.kind));
	if (model->loss.kind != DPERM_LOSS_LOGISTIC)
	{
		put(out, ", h = ");
		put_double(out, model->loss.h);
	}
	put(out, ") was trained on %" PRId64 " %s ", model->rows,
		model->rows == 1 ? "row" : "rows");
}

/* The paragraph for a model that was trained without noise. */
static void
put_no_guarantee(Out *out, const DpermModel *model)
{
	put(out, "NOT PRIVATE. ");
	put_subject(out, model);
	put(out, "without noise (epsilon = Infinity). It carries no privacy guarantee and may"
		" reveal what single rows hold: treat it like the rows themselves.");
}

/*
 * The paragraph for a private model. It goes into JSON as it is, so it holds no
 * character that would need an escape.
 */
static void
put_guarantee(Out *out, const DpermModel *model)
{
	put_subject(out, model);
	put(out, "with epsilon-differential privacy: epsilon = ");
	put_double(out, model->epsilon);
	put(out, " and delta = 0, up to a probability below 2^-60 that comes from finite random"
		" bits. Neighbours are two tables with the same number of rows that differ in one"
		" row (replace-one); the number of rows is public. Whatever one row holds, no set"
		" of models is more than exp(epsilon) times as likely to be released as it would"
		" have been with any other content of that row. Only the weights were computed"
		" from what the rows hold; everything else in the model is a public parameter or"
		" follows from public parameters. Method: %s perturbation, with the %s analysis."
		" Epsilon is split into ",
		dperm_method_name(model->method), dperm_analysis_name(model->analysis));
	/* Rounded for reading; the JSON has them exactly. */
	if (model->eps_slack > 0.0)
		put(out, "%.4g for how the minimum moves with the data (slack), ", model->eps_slack);
	put(out, "%.4g for the noise and %.4g for the release of rounded numbers. ",
		model->eps_noise, model->eps_release);
	if (model->dimension_source == DPERM_DIMENSION_ROWS)
		put(out, "The length of the vectors, %d, was read from the rows and is treated as"
			" public; the guarantee does not cover it. ", model->encoder.dimension);
	else
		put(out, "The length of the vectors, %d, was declared. ", model->encoder.dimension);
	put(out, "Each further release from the same rows adds its own epsilon to this one.");
}

/* Append the paragraph that fits the model. */
static void
put_paragraph(Out *out, const DpermModel *model)
{
	if (isinf(model->epsilon))
		put_no_guarantee(out, model);
	else
		put_guarantee(out, model);
}

/* The guarantee in one paragraph. */
size_t
dperm_model_guarantee(const DpermModel *model, char *out, size_t room)
{
	Out			o = {out, room, 0};

	put_paragraph(&o, model);
	return o.len;
}

/* The model as JSON, in an order made for reading. */
size_t
dperm_model_to_json(const DpermModel *model, char *out, size_t room)
{
	Out			o = {out, room, 0};
	bool		private = !isinf(model->epsilon);

	put(&o, "{\"format\": %d, \"kind\": \"%s\", \"loss\": \"%s\"", DPERM_MODEL_FORMAT,
		kind_name(model), dperm_loss_name(model->loss.kind));
	if (model->loss.kind != DPERM_LOSS_LOGISTIC)
		put_member(&o, "h", model->loss.h);
	put(&o, ", \"private\": %s", private ? "true" : "false");
	if (private)
		put_member(&o, "epsilon", model->epsilon);
	else
		put(&o, ", \"epsilon\": \"Infinity\"");	/* JSON has no such number */
	put(&o, ", \"delta\": 0, \"neighbours\": \"replace-one\", \"rows\": %" PRId64, model->rows);
	put(&o, ", \"method\": \"%s\", \"analysis\": \"%s\"",
		dperm_method_name(model->method), dperm_analysis_name(model->analysis));
	put_member(&o, "lambda", model->lambda);
	put_member(&o, "lambda_effective", model->lambda_effective);
	put(&o, ", \"budget\": {\"slack\": ");
	put_double(&o, model->eps_slack);
	put_member(&o, "noise", model->eps_noise);
	put_member(&o, "release", model->eps_release);
	put(&o, "}");
	put_member(&o, "noise_scale", model->noise_scale);
	put_member(&o, "grid", model->grid);
	put(&o, ", \"release_scale\": %" PRId64 ", \"dimension\": %d, \"dimension_source\": \"%s\"",
		model->release_scale, model->encoder.dimension,
		model->dimension_source == DPERM_DIMENSION_ROWS ? "rows" : "declared");
	put_member(&o, "norm", model->encoder.norm);
	put(&o, ", \"intercept\": %s, \"weights\": [", model->encoder.intercept ? "true" : "false");
	for (int i = 0; i < dperm_encoder_dim(&model->encoder); i++)
	{
		if (i > 0)
			put(&o, ", ");
		put_double(&o, model->weights[i]);
	}
	put(&o, "], \"guarantee\": \"");
	put_paragraph(&o, model);
	put(&o, "\"}");
	return o.len;
}
