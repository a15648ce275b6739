/*
 * model_release.h: a model as a release, for its composition with others.
 */
#ifndef DPERM_MODEL_RELEASE_H
#define DPERM_MODEL_RELEASE_H

#include "core/model/model.h"
#include "core/privacy/composition.h"

/*
 * The claim of a valid model, and the Renyi curve that its parameters
 * determine.
 */
extern DpermRelease dperm_model_release(const DpermModel *model);

#endif							/* DPERM_MODEL_RELEASE_H */
