/*
 * prior.c: read what a model says about its prior.
 */
#include "core/model/prior.h"

#include <math.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/linsys.h"

/* Keys that have been seen. */
enum
{
	SAW_NORM = 1,
	SAW_PRIVATE = 2,
	SAW_EPSILON = 4,
	SAW_DELTA = 8,
	SAW_NEIGHBOURS = 16,
	SAW_UNIT = 32,
	SAW_SOURCE = 64,
	SAW_LEDGER = 128
};

#define REQUIRED_KEYS (SAW_SOURCE - 1)

/*
 * A bound on the norm: up to 5000 squares are rounded far less than this, and
 * those that vanish add less than the constant.
 */
double
dperm_prior_norm(const double *weights, int dim)
{
	double		most = 0;

	for (int i = 0; i < dim; i++)
		most = fmax(most, fabs(weights[i]));
	if (!(most <= DPERM_PRIOR_NORM_MAX))
		return INFINITY;		/* also if the squares would overflow */
	return sqrt(dperm_dot(dim, weights, weights)) * (1 + 1e-9) + 1e-150;
}

/* A number, or the string "Infinity". */
static bool
prior_epsilon(DpermJson *json, double *epsilon)
{
	char		name[16];

	if (dperm_json_peek(json) != DPERM_JSON_STRING)
		return dperm_json_number(json, epsilon);
	*epsilon = INFINITY;
	return dperm_json_string(json, name, sizeof(name)) && strcmp(name, "Infinity") == 0;
}

/* The entry of the ledger, with the name of the budget. */
static bool
prior_ledger(DpermJson *json, int64_t *entry)
{
	char		key[16];
	int			seen = 0;

	if (!dperm_json_object(json))
		return false;
	while (dperm_json_key(json, key, sizeof(key)))
	{
		int			bit = strcmp(key, "budget") == 0 ? 1 : strcmp(key, "entry") == 0 ? 2 : 4;

		if (bit == 4 || (seen & bit) ||
			!(bit == 1 ? dperm_json_string(json, NULL, 0) : dperm_json_integer(json, entry)))
			return false;
		seen |= bit;
	}
	return json->why == NULL && seen == 3 && *entry > 0;
}

/* A string as it is in the text, between its quotes. */
static bool
prior_raw(DpermJson *json, DpermText *out)
{
	const char *start;

	if (dperm_json_peek(json) != DPERM_JSON_STRING)
		return false;
	start = json->at + 1;
	if (!dperm_json_string(json, NULL, 0))
		return false;
	*out = (DpermText) {start, (int) (json->at - 1 - start)};
	return true;
}

/* One of the names of something; -1 if it is not. */
static int
prior_name(DpermJson *json, int (*parse) (const char *name))
{
	char		name[16];

	return dperm_json_string(json, name, sizeof(name)) ? parse(name) : -1;
}

/* The value of one key; returns its bit, or 0 if it is not valid. */
static int
prior_member(DpermJson *json, const char *key, DpermPrior *out)
{
	int			number;

	if (strcmp(key, "norm") == 0)
		return dperm_json_number(json, &out->norm) ? SAW_NORM : 0;
	if (strcmp(key, "private") == 0)
		return dperm_json_bool(json, &out->private) ? SAW_PRIVATE : 0;
	if (strcmp(key, "epsilon") == 0)
		return prior_epsilon(json, &out->claim.epsilon) ? SAW_EPSILON : 0;
	if (strcmp(key, "delta") == 0)
		return dperm_json_number(json, &out->claim.delta) ? SAW_DELTA : 0;
	if (strcmp(key, "neighbours") == 0)
	{
		number = prior_name(json, dperm_claim_neighbours_parse);
		out->claim.neighbours = (DpermNeighbours) number;
		return number >= 0 ? SAW_NEIGHBOURS : 0;
	}
	if (strcmp(key, "unit") == 0)
	{
		number = prior_name(json, dperm_claim_unit_parse);
		out->claim.unit = (DpermUnit) number;
		return number >= 0 ? SAW_UNIT : 0;
	}
	if (strcmp(key, "source") == 0)
		return prior_raw(json, &out->source) ? SAW_SOURCE : 0;
	if (strcmp(key, "ledger") == 0)
		return prior_ledger(json, &out->entry) ? SAW_LEDGER : 0;
	return 0;
}

/* Are the values such as a prior can have? */
static bool
prior_in_range(const DpermPrior *prior)
{
	double		epsilon = prior->claim.epsilon;
	double		delta = prior->claim.delta;

	if (!(prior->norm >= 0 && prior->norm <= DPERM_PRIOR_NORM_MAX))
		return false;
	if (isinf(epsilon))
		return delta == 0 && !prior->private && prior->entry == 0;
	return epsilon > 0 && delta >= 0 && delta < 1;
}

/* Read and check the text. */
const char *
dperm_prior_read(const DpermText *text, DpermPrior *out)
{
	static const char fault[] = "prior is not in the form that this version of dperm writes";
	DpermJson	json;
	char		key[16];
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
		int			bit = prior_member(&json, key, out);

		if (bit == 0 || (seen & bit))
			return fault;
		seen |= bit;
	}
	if (!dperm_json_close(&json) || (seen & REQUIRED_KEYS) != REQUIRED_KEYS || !prior_in_range(out))
		return fault;
	return NULL;
}
