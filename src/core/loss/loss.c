/*
 * loss.c: the table of losses.
 */
#include "core/loss/loss.h"

#include <stddef.h>

#include "core/base/names.h"

static const DpermLossEntry *const losses[DPERM_LOSS_COUNT] = {
	[DPERM_LOSS_LOGISTIC] = &dperm_logistic,
	[DPERM_LOSS_HUBER] = &dperm_huber,
	[DPERM_LOSS_SMOOTH_HINGE] = &dperm_smooth_hinge
};

/* The learners: their names and default losses. */
static const struct
{
	const char *name;
	DpermLoss	loss;
}			learners[DPERM_LEARNER_COUNT] = {
	[DPERM_LEARNER_LOGREG] = {"logistic regression", {DPERM_LOSS_LOGISTIC, 0}},
	[DPERM_LEARNER_SVM] = {"support vector machine", {DPERM_LOSS_HUBER, DPERM_H_DEFAULT}}
};

/* The entry of a kind. */
const DpermLossEntry *
dperm_loss_entry(int kind)
{
	return kind >= 0 && kind < DPERM_LOSS_COUNT ? losses[kind] : NULL;
}

/* The loss and its first two derivatives at margin z. */
DpermLossAt
dperm_loss_at(DpermLoss loss, double z)
{
	return losses[loss.kind]->at(loss.h, z);
}

/* Losses, slopes and curvatures of a block. */
double
dperm_loss_block(DpermLoss loss, int count, double *margins, double *curves, const double *weights)
{
	return losses[loss.kind]->block(loss.h, count, margins, curves, weights);
}

/* The bounds of a loss. */
DpermLossBounds
dperm_loss_bounds(DpermLoss loss)
{
	return losses[loss.kind]->bounds(loss.h);
}

/* The SQL name of a loss. */
const char *
dperm_loss_name(DpermLossKind kind)
{
	return losses[kind]->name;
}

/* What is wrong with h, or NULL. */
const char *
dperm_loss_fault(DpermLoss loss)
{
	const DpermLossEntry *entry = dperm_loss_entry((int) loss.kind);

	if (entry == NULL)
		return "the loss is unknown";
	if (!entry->has_h)
		return loss.h == 0 ? NULL : "this loss has no h";
	return loss.h >= DPERM_H_MIN && loss.h <= DPERM_H_MAX ? NULL : "h must be between 0.01 and 1";
}

/* Look up a loss by its SQL name; false if there is none. */
bool
dperm_loss_parse(const char *name, DpermLossKind *kind)
{
	const char *names[DPERM_LOSS_COUNT];
	int			found;

	for (int i = 0; i < DPERM_LOSS_COUNT; i++)
		names[i] = losses[i]->name;
	found = dperm_find_name(names, DPERM_LOSS_COUNT, name);
	if (found >= 0)
		*kind = (DpermLossKind) found;
	return found >= 0;
}

/* The default loss of a learner. */
DpermLoss
dperm_loss_default(DpermLearner learner)
{
	return learners[learner].loss;
}

/* The name of a learner in prose. */
const char *
dperm_loss_learner_name(DpermLearner learner)
{
	return learners[learner].name;
}
