/*
 * encoder_json.c: read the features and the kernel of a model from its JSON
 * text.
 *
 * Keys may come in any order, because jsonb does not preserve it: the type of a
 * feature may come last. Each type has its own keys, all of them required and
 * no others.
 */
#include "core/encode/encoder_json.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/encode/knots.h"

/* Longer than any key or name that is compared. */
#define NAME_ROOM 32

/* One key of an object, with its static messages. */
typedef struct Key
{
	const char *name;
	const char *missing;
	const char *mistyped;
} Key;

#define KEY(name, of, type) \
	{name, "key \"" name "\" of " of " is missing", \
	"key \"" name "\" of " of " must be " type}

typedef enum FeatureKey
{
	K_COLUMN, K_TYPE, K_LOW, K_HIGH, K_VALUES, K_DIMENSION, K_NORM, K_RANGE, K_KNOTS, K_SCALE,
	FEATURE_KEYS
} FeatureKey;

static const Key feature_keys[FEATURE_KEYS] = {
	[K_COLUMN] = KEY("column", "a feature", "a string"),
	[K_TYPE] = KEY("type", "a feature", "a string"),
	[K_LOW] = KEY("low", "a feature", "a number"),
	[K_HIGH] = KEY("high", "a feature", "a number"),
	[K_VALUES] = KEY("values", "a feature", "an array of strings"),
	[K_DIMENSION] = KEY("dimension", "a feature", "an integer"),
	[K_NORM] = KEY("norm", "a feature", "a number"),
	[K_RANGE] = KEY("range", "a feature", "an array of two numbers, or of such arrays"),
	[K_KNOTS] = KEY("knots", "a feature", "an integer or an array of numbers"),
	[K_SCALE] = KEY("scale", "a feature", "a string")
};

typedef enum KernelKey
{
	K_NAME, K_GAMMA, K_FEATURES, K_SEED,
	KERNEL_KEYS
} KernelKey;

static const Key kernel_keys[KERNEL_KEYS] = {
	[K_NAME] = KEY("name", "the kernel", "a string"),
	[K_GAMMA] = KEY("gamma", "the kernel", "a number"),
	[K_FEATURES] = KEY("features", "the kernel", "an integer"),
	[K_SEED] = KEY("seed", "the kernel", "an integer")
};

#define BIT(key) (1U << (key))

/*
 * The keys that a feature has besides its column and its type. A number and a
 * vector with a range may have knots, too, and a number a scale.
 */
static const unsigned domain_keys[] = {
	[DPERM_BLOCK_NUMBER] = BIT(K_LOW) | BIT(K_HIGH),
	[DPERM_BLOCK_TIME] = BIT(K_LOW) | BIT(K_HIGH),
	[DPERM_BLOCK_FLAG] = 0,
	[DPERM_BLOCK_CATEGORY] = BIT(K_VALUES),
	[DPERM_BLOCK_VECTOR] = BIT(K_DIMENSION) | BIT(K_NORM),
	[DPERM_BLOCK_BOX] = BIT(K_DIMENSION) | BIT(K_RANGE)
};

/* Numbers that depend on keys that may come later. */
typedef struct Counts
{
	int			ranges;			/* in a list of ranges */
	int			knots;
} Counts;

/* Set *why to what is wrong; returns false for the caller to pass on. */
static bool
reject(const char **why, const char *what)
{
	*why = what;
	return false;
}

/*
 * Read the next key of an object into *key; false at its end, and for an
 * unknown or repeated key.
 */
static bool
next_key(DpermJson *json, const Key *keys, int count, unsigned *seen, int *key, const char **why)
{
	char		name[NAME_ROOM];

	if (!dperm_json_key(json, name, sizeof(name)))
		return false;
	for (*key = 0; *key < count; (*key)++)
		if (strcmp(keys[*key].name, name) == 0)
			break;
	if (*key == count)
		return reject(why, "a feature or the kernel contains an unknown key");
	if (*seen & BIT(*key))
		return reject(why, "a feature or the kernel contains a key twice");
	*seen |= BIT(*key);
	return true;
}

/* Count the elements of the array that was just entered. */
int64_t
dperm_encoder_json_count(const DpermJson *json)
{
	DpermJson	ahead = *json;
	int64_t		count = 0;

	while (dperm_json_element(&ahead) && dperm_json_skip(&ahead))
		count++;
	return count;
}

/* A string of any length, into the arena. */
bool
dperm_encoder_json_text(DpermJson *json, DpermArena *arena, DpermText *out, const char **why)
{
	DpermJson	ahead = *json;
	size_t		room;
	char	   *bytes;

	/* Unescaped and zero-terminated, it is shorter than in its quotes. */
	if (dperm_json_peek(json) == DPERM_JSON_STRING && dperm_json_string(&ahead, NULL, 0))
		room = (size_t) (ahead.at - json->at);
	else
		room = 1;
	bytes = dperm_arena_take(arena, room);
	if (bytes == NULL || room > INT32_MAX)
		return reject(why, "there is not enough memory for the texts");
	if (!dperm_json_string(json, bytes, room))
		return false;
	out->bytes = bytes;
	out->len = (int) strlen(bytes);
	return true;
}

/* Enter an array: room for as many elements as can be counted, or NULL. */
static void *
begin_list(DpermJson *json, DpermArena *arena, size_t size, int64_t *count,
		   const char *too_many, const char **why)
{
	void	   *list;

	if (!dperm_json_array(json))
		return NULL;
	*count = dperm_encoder_json_count(json);
	if (*count > DPERM_DIM_MAX)
	{
		(void) reject(why, too_many);
		return NULL;
	}
	list = dperm_arena_take(arena, size * (size_t) *count);
	if (list == NULL)
		(void) reject(why, "there is not enough memory for the features");
	return list;
}

/* The list of categories. */
static bool
read_category_list(DpermJson *json, DpermArena *arena, DpermBlock *block, const char **why)
{
	int64_t		count;
	DpermText  *categories = begin_list(json, arena, sizeof(DpermText), &count,
										"the number of categories is out of range", why);
	int			i = 0;

	if (categories == NULL)
		return false;
	while (dperm_json_element(json))
		if (i >= count ? !dperm_json_skip(json) :	/* not counted */
			!dperm_encoder_json_text(json, arena, &categories[i++], why))
			return false;
	block->categories = categories;
	block->count = i;
	return json->why == NULL;
}

/* The elements of an array that was entered: exactly two numbers. */
static bool
read_pair(DpermJson *json, double *out, const char **why)
{
	int			i = 0;

	for (; dperm_json_element(json); i++)
		if (i == 2)
			return reject(why, "a range of a feature is not two numbers");
		else if (!dperm_json_number(json, &out[i]))
			return false;
	return json->why == NULL && (i == 2 || reject(why, "a range of a feature is not two numbers"));
}

/*
 * [low, high] of all coordinates, or a list of such pairs; *ranges is their
 * number, because the dimension may come later.
 */
static bool
read_ranges(DpermJson *json, DpermArena *arena, DpermBlock *block, int *ranges, const char **why)
{
	DpermJson	ahead = *json;
	double		pair[2];
	int64_t		count;
	double	   *bounds;
	int			i = 0;

	*ranges = 0;
	if (dperm_json_array(&ahead) && dperm_json_element(&ahead) &&
		dperm_json_peek(&ahead) != DPERM_JSON_ARRAY)
	{
		if (!dperm_json_array(json) || !read_pair(json, pair, why))
			return false;
		block->low = pair[0];
		block->high = pair[1];
		return true;
	}
	bounds = begin_list(json, arena, sizeof(pair), &count, "dimension is out of range", why);
	if (bounds == NULL)
		return false;
	while (dperm_json_element(json))
		if (i >= count ? !dperm_json_skip(json) :	/* not counted */
			!(dperm_json_array(json) && read_pair(json, bounds + 2 * i++, why)))
			return false;
	block->bounds = bounds;
	*ranges = i;
	return json->why == NULL;
}

/* A list of knots. */
static bool
read_knots(DpermJson *json, DpermArena *arena, DpermBlock *block, int *knot_count,
		   const char **why)
{
	int64_t		count;
	double	   *knots = begin_list(json, arena, sizeof(double), &count,
								   "the number of knots is out of range", why);
	int			i = 0;

	if (knots == NULL)
		return false;
	while (dperm_json_element(json))
		if (i >= count ? !dperm_json_skip(json) :	/* not counted */
			!dperm_json_number(json, &knots[i++]))
			return false;
	block->knots = knots;
	*knot_count = i;
	return json->why == NULL;
}

/* Read a number of coordinates. A value out of range stays out of range. */
static bool
read_count(DpermJson *json, int *out)
{
	int64_t		integer;

	if (!dperm_json_integer(json, &integer))
		return false;
	*out = integer < 1 || integer > DPERM_DIM_MAX ? 0 : (int) integer;
	return true;
}

static bool
read_type(DpermJson *json, DpermBlock *block, const char **why)
{
	char		name[NAME_ROOM];

	return dperm_json_string(json, name, sizeof(name)) &&
		(dperm_encoder_kind_parse(name, &block->kind) ||
		 reject(why, "a feature has an unknown type"));
}

static bool
read_scale(DpermJson *json, DpermBlock *block, const char **why)
{
	char		name[NAME_ROOM];

	if (!dperm_json_string(json, name, sizeof(name)))
		return false;
	block->log = strcmp(name, "log") == 0;
	return block->log || strcmp(name, "linear") == 0 ||
		reject(why, "a feature has an unknown scale");
}

/* The value of one key of a feature. */
static bool
read_feature_value(DpermJson *json, FeatureKey key, DpermArena *arena, DpermBlock *block,
				   Counts *counts, const char **why)
{
	switch (key)
	{
		case K_COLUMN:
			return dperm_encoder_json_text(json, arena, &block->column, why) &&
				(block->column.len > 0 || reject(why, "a feature has no column"));
		case K_TYPE:
			return read_type(json, block, why);
		case K_LOW:
			return dperm_json_number(json, &block->low);
		case K_HIGH:
			return dperm_json_number(json, &block->high);
		case K_VALUES:
			return read_category_list(json, arena, block, why);
		case K_DIMENSION:
			return read_count(json, &block->count);
		case K_NORM:
			return dperm_json_number(json, &block->norm);
		case K_KNOTS:
			return dperm_json_peek(json) == DPERM_JSON_ARRAY ?
					   read_knots(json, arena, block, &counts->knots, why) :
					   read_count(json, &counts->knots);
		case K_SCALE:
			return read_scale(json, block, why);
		default:				/* K_RANGE */
			return read_ranges(json, arena, block, &counts->ranges, why);
	}
}

/* Give a feature its knots. */
static bool
take_knots(DpermBlock *block, int knots, const char **why)
{
	if (knots < 1)
		return reject(why, "the number of knots is out of range");
	if (block->kind == DPERM_BLOCK_BOX)
	{
		block->each = knots > 1 || block->knots ? knots : 0;
		block->count *= knots;
	}
	else
		block->count = knots;
	dperm_knots_settle(block);
	return true;
}

/* One feature: an object. */
static bool
read_feature(DpermJson *json, DpermArena *arena, DpermBlock *block, const char **why)
{
	unsigned	seen = 0;
	unsigned	needed;
	Counts		counts = {.knots = 1};
	int			key;

	memset(block, 0, sizeof(*block));
	if (!dperm_json_object(json))
		return false;
	while (next_key(json, feature_keys, FEATURE_KEYS, &seen, &key, why))
		if (!read_feature_value(json, (FeatureKey) key, arena, block, &counts, why))
			return json->mistyped ? reject(why, feature_keys[key].mistyped) : false;
	if (json->why || *why)
		return false;
	if (!(seen & BIT(K_TYPE)))
		return reject(why, feature_keys[K_TYPE].missing);
	if (block->kind == DPERM_BLOCK_VECTOR && (seen & BIT(K_RANGE)))
		block->kind = DPERM_BLOCK_BOX;
	needed = domain_keys[block->kind];
	if (dperm_block_is_number(block) || block->kind == DPERM_BLOCK_BOX)
		needed |= seen & BIT(K_KNOTS);
	if (block->kind == DPERM_BLOCK_NUMBER)
		needed |= seen & BIT(K_SCALE);
	for (key = K_LOW; key < FEATURE_KEYS; key++)
		if (needed & ~seen & BIT(key))
			return reject(why, feature_keys[key].missing);
	if (seen & ~(needed | BIT(K_TYPE) | BIT(K_COLUMN)))
		return reject(why, "a feature contains a key that its type does not allow");
	if (block->bounds && counts.ranges != block->count)
		return reject(why, "a feature does not have a range for each element");
	dperm_encoder_box_settle(block);
	if (block->kind == DPERM_BLOCK_FLAG)
		block->count = 1;
	return !(needed & (BIT(K_LOW) | BIT(K_RANGE))) || take_knots(block, counts.knots, why);
}

/* The features of a model. */
bool
dperm_encoder_json_features(DpermJson *json, DpermArena *arena, DpermEncoder *out,
							const char **why)
{
	int64_t		count;
	DpermBlock *blocks = begin_list(json, arena, sizeof(DpermBlock), &count,
									"the number of features is out of range", why);
	int			i = 0;

	if (blocks == NULL)
		return false;
	while (dperm_json_element(json))
		if (i >= count ? !dperm_json_skip(json) :	/* not counted */
			!read_feature(json, arena, &blocks[i++], why))
			return false;
	out->blocks = blocks;
	out->block_count = i;
	return json->why == NULL;
}

/* The value of one key of the kernel. */
static bool
read_kernel_value(DpermJson *json, KernelKey key, DpermKernel *out, const char **why)
{
	char		name[NAME_ROOM];

	switch (key)
	{
		case K_NAME:
			return dperm_json_string(json, name, sizeof(name)) &&
				   ((dperm_encoder_kernel_parse(name, &out->kind) &&
					 out->kind != DPERM_KERNEL_LINEAR) ||
					reject(why, "the kernel is unknown"));
		case K_GAMMA:
			return dperm_json_number(json, &out->gamma);
		case K_FEATURES:
			return read_count(json, &out->features);
		default:				/* K_SEED */
			return dperm_json_integer(json, &out->seed);
	}
}

/* The kernel of a model that has one. */
bool
dperm_encoder_json_kernel(DpermJson *json, DpermKernel *out, const char **why)
{
	unsigned	seen = 0;
	int			key;

	if (!dperm_json_object(json))
		return false;
	while (next_key(json, kernel_keys, KERNEL_KEYS, &seen, &key, why))
		if (!read_kernel_value(json, (KernelKey) key, out, why))
			return json->mistyped ? reject(why, kernel_keys[key].mistyped) : false;
	if (json->why || *why)
		return false;
	for (key = 0; key < KERNEL_KEYS; key++)
		if (!(seen & BIT(key)))
			return reject(why, kernel_keys[key].missing);
	return true;
}
