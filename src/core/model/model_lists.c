/*
 * model_lists.c: the lists in the JSON text of a model: classes, weights, and
 * the ways that the method was chosen from.
 */
#include "core/model/model_lists.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/encode/encoder_json.h"
#include "core/mechanism/mechanism.h"

/* Longer than any key or name that is compared. */
#define NAME_ROOM 32

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

/* One of the ways that the method was chosen from. */
static bool
read_alternative(DpermJson *json, DpermAlternative *alternative, const char **why)
{
	char		text[NAME_ROOM];
	unsigned	seen = 0;

	if (!dperm_json_object(json))
		return false;
	while (dperm_json_key(json, text, sizeof(text)))
	{
		int			key = strcmp(text, "method") == 0 ? 0 :
				  strcmp(text, "noise") == 0  ? 1 :
				  strcmp(text, "risk") == 0	  ? 2 :
												3;

		if (key == 3 || (seen & 1U << key))
			return not_list(why, "an alternative contains an unknown key, or a key twice");
		seen |= 1U << key;
		if (key == 2 ? !dperm_json_number(json, &alternative->risk) :
					   !dperm_json_string(json, text, sizeof(text)))
			return false;
		if (key == 0 && !dperm_mechanism_parse(text, &alternative->method))
			return not_list(why, "an alternative is unknown");
		if (key == 1)
		{
			alternative->law = strcmp(text, "gaussian") == 0 ? DPERM_LAW_GAUSSIAN : DPERM_LAW_NORM;
			if (alternative->law == DPERM_LAW_NORM && strcmp(text, "pure") != 0)
				return not_list(why, "an alternative is unknown");
		}
	}
	if (json->why == NULL && seen != 7)
		return not_list(why, "an alternative must have method, noise and risk");
	return json->why == NULL;
}

/* All ways that the method was chosen from. */
bool
dperm_model_lists_alternatives(DpermJson *json, DpermModel *model, const char **why)
{
	if (!dperm_json_array(json))
		return false;
	while (dperm_json_element(json))
	{
		if (model->alternative_count >= DPERM_ALTERNATIVES_MAX)
			return not_list(why, "there are too many alternatives");
		if (!read_alternative(json, &model->alternatives[model->alternative_count++], why))
			return false;
	}
	return json->why == NULL;
}
