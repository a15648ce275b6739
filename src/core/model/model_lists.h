/*
 * model_lists.h: the lists in the JSON text of a model.
 *
 * Each function reads one, and returns false, with *why or json->why, if it is
 * not valid. What a list holds is checked later.
 */
#ifndef DPERM_MODEL_LISTS_H
#define DPERM_MODEL_LISTS_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/json.h"
#include "core/model/model.h"

/* Weights as they are written: some numbers, or arrays with so many numbers each. */
typedef struct DpermModelList
{
	const double *numbers;
	int64_t		count;
	int64_t		arrays;			/* 0: there are only numbers */
} DpermModelList;

#define DPERM_MODEL_UNEVEN "the number of weights does not match the dimension"

extern bool
dperm_model_lists_weights(DpermJson *json, DpermArena *arena, DpermModelList *list,
						  const char **why);

/* The values of classes, and their number in the loss. */
extern bool
dperm_model_lists_classes(DpermJson *json, DpermArena *arena, DpermModel *model, const char **why);

#endif							/* DPERM_MODEL_LISTS_H */
