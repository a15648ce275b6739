/*
 * model_lists.c: the lists in the JSON text of a model: classes and weights.
 */
#include "core/model/model_lists.h"

#include "core/base/limits.h"
#include "core/encode/encoder_json.h"

/* Set *why to what is wrong; returns false for the caller to pass on. */
static bool
not_list(const char **why, const char *what)
{
	*why = what;
	return false;
}

/* The values of the classes, one after the other. */
bool
dperm_model_lists_classes(DpermJson *json, DpermArena *arena, DpermModel *model, const char **why)
{
	DpermJson	ahead;
	size_t		room;
	size_t		len = 0;
	char	   *bytes;

	(void) dperm_json_peek(json);
	ahead = *json;
	if (!dperm_json_skip(&ahead))
		return dperm_json_skip(json);	/* says why */
	/* with its zero byte, a value is shorter than in its quotes */
	room = (size_t) (ahead.at - json->at);
	bytes = dperm_arena_take(arena, room);
	if (bytes == NULL || room > INT32_MAX)
		return not_list(why, "there is not enough memory for the texts");
	if (!dperm_json_array(json))
		return false;
	while (dperm_json_element(json))
	{
		if (!dperm_json_string(json, bytes + len, room - len))
			return false;
		len += strlen(bytes + len) + 1;
		model->loss.classes++;
	}
	model->classes = (DpermText) {bytes, (int) len};
	return json->why == NULL;
}

/* The elements of an array that was entered: count numbers. */
static bool
read_numbers(DpermJson *json, double *out, int64_t count, const char **why)
{
	int64_t		i = 0;

	while (dperm_json_element(json))
	{
		if (i < count ? !dperm_json_number(json, &out[i]) : !dperm_json_skip(json))
			return false;
		i++;
	}
	return json->why == NULL && (i == count || not_list(why, DPERM_MODEL_UNEVEN));
}

/*
 * All weights: numbers, or arrays of the same length. Whether their number is
 * right is checked later.
 */
bool
dperm_model_lists_weights(DpermJson *json, DpermArena *arena, DpermModelList *list,
						  const char **why)
{
	DpermJson	ahead;
	double	   *weights;
	int64_t		count;
	int64_t		i = 0;

	if (!dperm_json_array(json))
		return false;
	count = list->count = dperm_encoder_json_count(json);
	ahead = *json;
	if (dperm_json_element(&ahead) && dperm_json_peek(&ahead) == DPERM_JSON_ARRAY &&
		dperm_json_array(&ahead))
	{
		list->arrays = count;
		list->count = dperm_encoder_json_count(&ahead);
	}
	if (count > DPERM_DIM_MAX || list->count > DPERM_DIM_MAX ||
		(list->arrays > 0 && count * list->count > DPERM_DIM_MAX))
		return not_list(why, "there are too many weights");
	if (list->arrays > 0)
		count *= list->count;
	weights = dperm_arena_take(arena, sizeof(double) * (size_t) count);
	if (weights == NULL)
		return not_list(why, "there is not enough memory for the weights");
	list->numbers = weights;
	if (list->arrays == 0)
		return read_numbers(json, weights, count, why);
	while (dperm_json_element(json))
		if (i++ >= list->arrays ? !dperm_json_skip(json) :	/* not counted */
			!dperm_json_array(json) ||
				!read_numbers(json, weights + (i - 1) * list->count, list->count, why))
			return false;
	return json->why == NULL;
}
