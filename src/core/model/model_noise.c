/*
 * model_noise.c: the shape of the noise in the forms of a model.
 *
 * Binary: the number of groups, 16 bits; for each group its share and the
 * number of its shapes, 16 bits; for each shape its kind, 8 bits, its first
 * coordinate and the number of coordinates, 16 bits each, and its radius. JSON:
 * a list of groups.
 */
#include "core/model/model_noise.h"

#include <string.h>

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/encode/encoder_json.h"

#define GROUP_BYTES 10
#define SHAPE_BYTES 13

/* Longer than any key or name that is compared. */
#define NAME_ROOM 32

/* Bytes of the binary form. */
size_t
dperm_model_noise_size(const DpermNoise *noise)
{
	return noise == NULL ? 0 :
						   2 + GROUP_BYTES * (size_t) noise->group_count +
							   SHAPE_BYTES * (size_t) noise->shape_count;
}

/* Write the binary form. */
unsigned char *
dperm_model_noise_write(const DpermNoise *noise, unsigned char *out)
{
	if (noise == NULL)
		return out;
	out = dperm_bytes_put_int(out, (uint64_t) noise->group_count, 2);
	for (int i = 0; i < noise->group_count; i++)
	{
		const DpermNoiseGroup *group = &noise->groups[i];

		out = dperm_bytes_put_double(out, group->share);
		out = dperm_bytes_put_int(out, (uint64_t) group->count, 2);
		for (int j = group->first; j < group->first + group->count; j++)
		{
			const DpermShape *shape = &noise->shapes[j];

			out = dperm_bytes_put_int(out, (uint64_t) shape->kind, 1);
			out = dperm_bytes_put_int(out, (uint64_t) shape->first, 2);
			out = dperm_bytes_put_int(out, (uint64_t) shape->count, 2);
			out = dperm_bytes_put_double(out, shape->radius);
		}
	}
	return out;
}

/* Allocate noise of this many groups and shapes, or NULL. */
static DpermNoise *
take_noise(DpermArena *arena, size_t groups, size_t shapes)
{
	DpermNoise *noise = dperm_arena_take(arena, sizeof(DpermNoise));
	DpermNoiseGroup *group_room = dperm_arena_take(arena, sizeof(DpermNoiseGroup) * groups);
	DpermShape *shape_room = dperm_arena_take(arena, sizeof(DpermShape) * shapes);

	if (noise == NULL || group_room == NULL || shape_room == NULL)
		return NULL;
	*noise = (DpermNoise) {.groups = group_room, .shapes = shape_room};
	return noise;
}

/* Read the binary form. */
const char *
dperm_model_noise_read(const unsigned char *in, size_t len, int dim, DpermNoiseLaw law,
					   DpermArena *arena, const DpermNoise **out)
{
	DpermBytes	r = {in, len, false};
	DpermNoise *noise;
	size_t		groups;
	size_t		shapes;

	*out = NULL;
	if (len == 0)
		return NULL;
	groups = (size_t) dperm_bytes_get_int(&r, 2);
	if (groups < 1 || groups > (size_t) dim || len < 2 + GROUP_BYTES * groups ||
		(len - 2 - GROUP_BYTES * groups) % SHAPE_BYTES != 0)
		return "the groups of the noise are out of range";
	shapes = (len - 2 - GROUP_BYTES * groups) / SHAPE_BYTES;
	if (shapes > (size_t) dim)
		return "there are too many shapes in the noise";
	noise = take_noise(arena, groups, shapes);
	if (noise == NULL)
		return "there is not enough memory for the noise";
	for (size_t i = 0; i < groups; i++)
	{
		DpermNoiseGroup *group = &noise->groups[noise->group_count++];

		*group = (DpermNoiseGroup) {
			.first = noise->shape_count,
			.share = dperm_bytes_get_double(&r)
		};
		group->count = (int) dperm_bytes_get_int(&r, 2);
		for (int j = 0; j < group->count; j++)
		{
			DpermShape *shape = &noise->shapes[noise->shape_count];

			if ((size_t) noise->shape_count++ >= shapes)
				return "the groups of the noise have too many shapes";
			shape->kind = (DpermShapeKind) dperm_bytes_get_int(&r, 1);
			shape->first = (int) dperm_bytes_get_int(&r, 2);
			shape->count = (int) dperm_bytes_get_int(&r, 2);
			shape->radius = dperm_bytes_get_double(&r);
		}
	}
	if (r.bad || r.left > 0 || (size_t) noise->shape_count != shapes)
		return "the noise is not in canonical form";
	dperm_noise_measure(law, noise);
	*out = noise;
	return NULL;
}

/* Set *why to what is wrong; returns false for the caller to pass on. */
static bool
not_noise(const char **why, const char *what)
{
	*why = what;
	return false;
}

/* One shape. */
static bool
parse_shape(DpermJson *json, DpermShape *shape, const char **why)
{
	char		text[NAME_ROOM];
	unsigned	seen = 0;
	int64_t		integer;
	int			kind;

	if (!dperm_json_object(json))
		return false;
	while (dperm_json_key(json, text, sizeof(text)))
	{
		int			key = strcmp(text, "shape") == 0  ? 0 :
				  strcmp(text, "first") == 0  ? 1 :
				  strcmp(text, "count") == 0  ? 2 :
				  strcmp(text, "radius") == 0 ? 3 :
												4;

		if (key == 4 || (seen & 1U << key))
			return not_noise(why, "a shape of the noise contains an unknown key, or a key twice");
		seen |= 1U << key;
		if (key == 0)
		{
			if (!dperm_json_string(json, text, sizeof(text)))
				return false;
			kind = dperm_shape_parse(text);
			if (kind < 0)
				return not_noise(why, "a shape of the noise is unknown");
			shape->kind = (DpermShapeKind) kind;
		}
		else if (key == 3)
		{
			if (!dperm_json_number(json, &shape->radius))
				return false;
		}
		else
		{
			if (!dperm_json_integer(json, &integer))
				return false;
			if (integer < 1 || integer > DPERM_DIM_MAX)
				return not_noise(why, "a shape of the noise is out of range");
			if (key == 1)
				shape->first = (int) integer - 1;
			else
				shape->count = (int) integer;
		}
	}
	if (json->why == NULL && seen != 15)
		return not_noise(why, "a shape of the noise must have shape, first, count and radius");
	return json->why == NULL;
}

/* The shapes of a group; most is how many there is room for. */
static bool
parse_shapes(DpermJson *json, DpermNoise *noise, int64_t most, const char **why)
{
	if (!dperm_json_array(json))
		return false;
	while (dperm_json_element(json))
	{
		if (noise->shape_count >= most)
			return not_noise(why, "there are too many shapes in the noise");
		if (!parse_shape(json, &noise->shapes[noise->shape_count++], why))
			return false;
	}
	return json->why == NULL;
}

/* One group. */
static bool
parse_group(DpermJson *json, DpermNoise *noise, int64_t most, const char **why)
{
	char		key[NAME_ROOM];
	DpermNoiseGroup *group = &noise->groups[noise->group_count++];
	bool		has_share = false;
	bool		has_shapes = false;

	*group = (DpermNoiseGroup) {.first = noise->shape_count};
	if (!dperm_json_object(json))
		return false;
	while (dperm_json_key(json, key, sizeof(key)))
	{
		if (strcmp(key, "share") == 0 && !has_share)
		{
			has_share = true;
			if (!dperm_json_number(json, &group->share))
				return false;
		}
		else if (strcmp(key, "shapes") == 0 && !has_shapes)
		{
			has_shapes = true;
			if (!parse_shapes(json, noise, most, why))
				return false;
			group->count = noise->shape_count - group->first;
		}
		else
			return not_noise(why, "a group of the noise contains an unknown key, or a key twice");
	}
	if (json->why == NULL && (!has_share || group->count == 0))
		return not_noise(why, "a group of the noise must have a share and shapes");
	return json->why == NULL;
}

/*
 * Count the shapes of all groups of the array that was just entered, as far as
 * possible.
 */
static int64_t
count_shapes(const DpermJson *json)
{
	DpermJson	ahead = *json;
	char		key[NAME_ROOM];
	int64_t		count = 0;

	while (dperm_json_element(&ahead) && dperm_json_object(&ahead))
		while (dperm_json_key(&ahead, key, sizeof(key)))
			if (strcmp(key, "shapes") != 0)
				dperm_json_skip(&ahead);
			else if (dperm_json_array(&ahead))
				while (dperm_json_element(&ahead) && dperm_json_skip(&ahead))
					count++;
	return count;
}

/* The groups of the noise. */
bool
dperm_model_noise_parse(DpermJson *json, DpermArena *arena, DpermNoise **out, const char **why)
{
	int64_t		groups;
	int64_t		shapes;
	DpermNoise *noise;

	if (!dperm_json_array(json))
		return false;
	groups = dperm_encoder_json_count(json);
	shapes = count_shapes(json);
	if (groups > DPERM_DIM_MAX || shapes > DPERM_DIM_MAX)
		return not_noise(why, "there are too many shapes in the noise");
	noise = take_noise(arena, (size_t) groups, (size_t) shapes);
	if (noise == NULL)
		return not_noise(why, "there is not enough memory for the noise");
	while (dperm_json_element(json))
		if (noise->group_count >= groups || !parse_group(json, noise, shapes, why))
			return json->why == NULL && *why == NULL ? not_noise(why, "there are too many groups "
				"in the noise") : false;
	if (json->why)
		return false;
	*out = noise;
	return true;
}
