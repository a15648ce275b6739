/*
 * loss.c: the table of losses.
 */
#include "core/loss/loss.h"

#include <stddef.h>

#include "core/base/limits.h"
#include "core/base/vector.h"

static const DpermLossEntry *const losses[DPERM_LOSS_COUNT] = {
	[DPERM_LOSS_LOGISTIC] = &dperm_logistic,
	[DPERM_LOSS_HUBER] = &dperm_huber,
	[DPERM_LOSS_SMOOTH_HINGE] = &dperm_smooth_hinge,
	[DPERM_LOSS_LOG_COSH] = &dperm_log_cosh,
	[DPERM_LOSS_SOFTMAX] = &dperm_softmax
};

/* The learners: their names and default losses. */
static const struct
{
	const char *name;
	DpermLoss	loss;
}			learners[DPERM_LEARNER_COUNT] = {
	[DPERM_LEARNER_LOGREG] = {"logistic regression", {DPERM_LOSS_LOGISTIC, 0, 0}},
	[DPERM_LEARNER_SVM] = {"support vector machine", {DPERM_LOSS_HUBER, DPERM_H_DEFAULT, 0}},
	[DPERM_LEARNER_LINREG] = {"linear regression",
	{DPERM_LOSS_LOG_COSH, DPERM_H_DEFAULT_LOG_COSH, 0}}
};

/* The entry of a kind. */
const DpermLossEntry *
dperm_loss_entry(int kind)
{
	return kind >= 0 && kind < DPERM_LOSS_COUNT ? losses[kind] : NULL;
}

/* The argument of a loss: the margin, or the residual; 0 without a label. */
static inline double
argument_of(DpermLabelKind kind, double output, double label)
{
	return kind == DPERM_LABEL_TWO ? output * label :
		dperm_label_kind_has(kind, label) ? output - label : 0;
}

/* The derivative of the argument by the output; 0 without a label. */
static inline double
argument_slope(DpermLabelKind kind, double label)
{
	return kind == DPERM_LABEL_TWO ? label : dperm_label_kind_has(kind, label);
}

/* The loss and its first two derivatives by the output. */
DpermLossAt
dperm_loss_at(DpermLoss loss, double output, double label)
{
	const DpermLossEntry *entry = losses[loss.kind];
	DpermLossAt at = entry->at(loss.h, argument_of(entry->label, output, label));
	double		by_output = argument_slope(entry->label, label);

	at.slope *= by_output;
	at.curve *= by_output * by_output;
	return at;
}

/* Multiply numbers by others, two at a time: this is done for every row of every pass. */
static void
multiply(int count, double *x, const double *by)
{
	int			i = 0;

	for (; i + 2 <= count; i += 2)
		dperm_put_pair(dperm_pair_at(x + i) * dperm_pair_at(by + i), x + i);
	if (i < count)
		x[i] *= by[i];
}

/*
 * Losses, slopes and curvatures of a block. Labels have loops of their own, so
 * that those of the losses know nothing of them.
 */
double
dperm_loss_block(DpermLoss loss, int count, double *outputs, const double *labels, double *curves,
				 const double *weights)
{
	const DpermLossEntry *entry = losses[loss.kind];
	double		slopes[DPERM_LOSS_BLOCK];
	const double *by_output = labels;
	double		value;

	if (entry->several)
		return entry->several->block(loss.classes, count, outputs, labels, weights);
	if (labels == NULL)
		return entry->block(loss.h, count, outputs, curves, weights);
	if (entry->label == DPERM_LABEL_TWO)
		multiply(count, outputs, labels);
	else
	{
		for (int i = 0; i < count; i++)
		{
			slopes[i] = argument_slope(entry->label, labels[i]);
			outputs[i] = argument_of(entry->label, outputs[i], labels[i]);
		}
		by_output = slopes;
	}
	value = entry->block(loss.h, count, outputs, curves, weights);
	multiply(count, outputs, by_output);
	for (int times = 0; curves && times < 2; times++)
		multiply(count, curves, by_output);
	return value;
}

/* The slope in twice the precision. */
DpermWide
dperm_loss_slope(DpermLoss loss, DpermWide output, double label)
{
	const DpermLossEntry *entry = losses[loss.kind];
	DpermWide	z = entry->label == DPERM_LABEL_TWO ? dperm_wide_scale(output, label) :
					dperm_wide_subtract(output, dperm_wide_of(label));

	if (!dperm_label_kind_has(entry->label, label))
		return dperm_wide_of(0);
	return dperm_wide_scale(entry->slope(loss.h, z), argument_slope(entry->label, label));
}

/* The kind of its labels. */
DpermLabelKind
dperm_loss_label(DpermLoss loss)
{
	return losses[loss.kind]->label;
}

/* The bounds of a loss. */
DpermLossBounds
dperm_loss_bounds(DpermLoss loss)
{
	return losses[loss.kind]->bounds(loss);
}

/* The SQL name of a loss. */
const char *
dperm_loss_name(int kind)
{
	return losses[kind]->name;
}

/* What is wrong with h or classes, or NULL. */
const char *
dperm_loss_fault(DpermLoss loss)
{
	const DpermLossEntry *entry = dperm_loss_entry((int) loss.kind);

	if (entry == NULL)
		return "the loss is unknown";
	if (entry->several == NULL && loss.classes != 0)
		return "this loss has no classes";
	if (entry->several && (loss.classes < DPERM_CLASSES_MIN || loss.classes > DPERM_CLASSES_MAX))
		return "the number of classes must be between 3 and 128";
	if (entry->h_min == 0)
		return loss.h == 0 ? NULL : "this loss has no h";
	return loss.h >= entry->h_min && loss.h <= DPERM_H_MAX ? NULL : entry->h_range;
}

/* The default loss of a learner. */
DpermLoss
dperm_loss_default(DpermLearner learner)
{
	return learners[learner].loss;
}

/* The name of a learner in prose. */
const char *
dperm_loss_learner_name(int learner)
{
	return learners[learner].name;
}
