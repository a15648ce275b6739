/*
 * model_words.h: the guarantee of a model in words.
 */
#ifndef DPERM_MODEL_WORDS_H
#define DPERM_MODEL_WORDS_H

#include "core/base/out.h"
#include "core/model/model.h"

/* Append the guarantee in one paragraph, without characters that need an escape. */
extern void dperm_model_words(DpermOut *out, const DpermModel *model);

#endif							/* DPERM_MODEL_WORDS_H */
