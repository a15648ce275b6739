/*
 * tuning.c: read how the parameters of a model were chosen.
 */
#include "core/model/tuning.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/base/json.h"

/* Keys that have been seen. */
enum
{
	SAW_WAY = 1,
	SAW_SELECTION = 2,
	SAW_ROWS = 4,
	SAW_PORTIONS = 8,
	SAW_CANDIDATES = 16,
	SAW_CHOSEN = 32,
	SAW_ALL = 63
};

/* One candidate: an object of scalar values, like arguments. */
static bool
read_candidate(DpermJson *json)
{
	char		key[64];

	if (!dperm_json_object(json))
		return false;
	while (dperm_json_key(json, key, sizeof(key)))
	{
		DpermJsonType type = dperm_json_peek(json);

		if (type == DPERM_JSON_OBJECT || type == DPERM_JSON_ARRAY || !dperm_json_skip(json))
			return false;
	}
	return json->why == NULL;
}

/* Count the candidates. */
static bool
read_candidate_list(DpermJson *json, DpermTuning *out)
{
	if (!dperm_json_array(json))
		return false;
	while (dperm_json_element(json))
	{
		if (!read_candidate(json))
			return false;
		out->candidates++;
	}
	return json->why == NULL;
}

/* The value of one key; returns its bit, or 0 if it is not valid. */
static int
read_member(DpermJson *json, const char *key, DpermTuning *out)
{
	char		name[32];
	int64_t		number;

	if (strcmp(key, "way") == 0)
		return dperm_json_string(json, name, sizeof(name)) && strcmp(name, "private") == 0 ?
			SAW_WAY : 0;
	if (strcmp(key, "selection") == 0)
		return dperm_json_string(json, name, sizeof(name)) &&
			dperm_selection_parse(name, &out->selection) ? SAW_SELECTION : 0;
	if (strcmp(key, "rows") == 0 || strcmp(key, "persons") == 0)
	{
		out->persons = key[0] == 'p';
		return dperm_json_integer(json, &out->rows) ? SAW_ROWS : 0;
	}
	if (strcmp(key, "portions") == 0)
	{
		if (!dperm_json_integer(json, &number) || number < 2 ||
			number > DPERM_CANDIDATES_MAX + 1)
			return 0;
		out->portions = (int) number;
		return SAW_PORTIONS;
	}
	if (strcmp(key, "candidates") == 0)
		return read_candidate_list(json, out) ? SAW_CANDIDATES : 0;
	if (strcmp(key, "chosen") == 0)
		return read_candidate(json) ? SAW_CHOSEN : 0;
	return 0;
}

/* Read and check the text. */
const char *
dperm_tuning_read(const DpermText *text, DpermTuning *out)
{
	static const char fault[] = "tuning is not in the form that this version of dperm writes";
	DpermJson	json;
	char		key[32];
	int			seen = 0;

	memset(out, 0, sizeof(*out));

	/*
	 * no surrounding white space: the text form of a model would not preserve
	 * it
	 */
	if (text->len < 2 || text->bytes[0] != '{' || text->bytes[text->len - 1] != '}')
		return fault;
	dperm_json_open(&json, text->bytes, (size_t) text->len);
	if (!dperm_json_object(&json))
		return fault;
	while (dperm_json_key(&json, key, sizeof(key)))
	{
		int			bit = read_member(&json, key, out);

		if (bit == 0 || (seen & bit))
			return fault;
		seen |= bit;
	}
	if (!dperm_json_close(&json) || seen != SAW_ALL || out->candidates < 1 ||
		out->candidates > DPERM_CANDIDATES_MAX || out->portions != out->candidates + 1 ||
		out->rows < 1 || out->rows > DPERM_ROWS_MAX)
		return fault;
	return NULL;
}
