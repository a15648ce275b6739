/* candidates.c: the candidates of a tuning, from its arguments. */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "utils/builtins.h"

#include "base/arguments.h"
#include "base/option_table.h"
#include "core/model/tuning.h"
#include "entry/candidates.h"

/* The default grid: these multiples of the default lambda. */
static const double default_scales[] = {0.01, 0.1, 1, 10, 100};

/* Maximum size of a candidate: the list becomes part of the model. */
#define CANDIDATE_MAX 512

/* Check the number of candidates and make room for them. */
static void
make_candidates(DpermCandidates *candidates, int count, const DpermOptions *base)
{
	if (count < 1 || count > DPERM_CANDIDATES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there must be between 1 and %d candidates", DPERM_CANDIDATES_MAX),
				 errhint("Each candidate is trained on its own portion of the rows, so specify "
						 "only a few.")));
	candidates->count = count;
	candidates->each = palloc0(sizeof(DpermOptions) * count);
	for (int i = 0; i < count; i++)
		candidates->each[i] = *base;
}

/*
 * Candidates from candidates jsonb, an array of objects whose keys are argument
 * names.
 */
static void
read_objects(DpermCandidates *candidates, const DpermOptions *base)
{
	Jsonb	   *json = candidates->given;

	if (!JB_ROOT_IS_ARRAY(json) || JB_ROOT_IS_SCALAR(json))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("candidates must be a JSON array of objects"),
				 errhint("For example '[{\"lambda\": 0.01}, {\"lambda\": 0.001}]'.")));
	make_candidates(candidates, JB_ROOT_COUNT(json), base);
	for (int i = 0; i < candidates->count; i++)
	{
		JsonbValue *value = getIthJsonbValueFromContainer(&json->root, i);
		DpermOptions *options = &candidates->each[i];
		Jsonb	   *object = JsonbValueToJsonb(value);

		if (VARSIZE(object) > CANDIDATE_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("a candidate is too long"),
					 errhint("A candidate should contain only a few arguments and their values.")));
		dperm_option_table_jsonb(options, DPERM_PLACE_CANDIDATE, object);
	}
}

/* A candidate as JSON: as specified, or a multiple of the default lambda. */
static char *
candidate_json(const DpermCandidates *candidates, int i)
{
	Jsonb	   *given = candidates->given;

	if (given)
	{
		given = JsonbValueToJsonb(getIthJsonbValueFromContainer(&given->root, i));
		return JsonbToCString(NULL, &given->root, VARSIZE(given));
	}
	return psprintf("{\"scale\": %s}", double_to_shortest_decimal(candidates->each[i].scale));
}

/* The chosen candidate and all of them, as members of an object. */
char *
dperm_candidates_json(const DpermCandidates *candidates, int chosen)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "\"chosen\": %s, \"candidates\": [",
					 candidate_json(candidates, chosen));
	for (int i = 0; i < candidates->count; i++)
		appendStringInfo(&text, "%s%s", i == 0 ? "" : ", ", candidate_json(candidates, i));
	appendStringInfoChar(&text, ']');
	return text.data;
}

/* The list of candidates becomes part of the model: check now that it can. */
static void
check_storable(const DpermCandidates *candidates)
{
	char	   *text = psprintf("{\"way\": \"private\", \"selection\": \"exponential\", "
								"\"rows\": 1, \"portions\": %d, %s}",
								candidates->count + 1, dperm_candidates_json(candidates, 0));
	DpermText	checked = {text, strlen(text)};
	DpermTuning read;

	if (dperm_tuning_read(&checked, &read) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("candidates cannot be stored in a model"),
				 errhint("A candidate is an object with a few plain values.")));
}

/*
 * Raise an error for candidates that are the same: each takes rows from the
 * others.
 */
static void
check_different(const DpermCandidates *candidates)
{
	for (int i = 0; i < candidates->count; i++)
		for (int j = 0; j < i; j++)
			if (memcmp(&candidates->each[i], &candidates->each[j], sizeof(DpermOptions)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("candidate %s appears twice", candidate_json(candidates, i)),
						 errhint("Specify each candidate once: each is trained on its own portion "
								 "of the rows.")));
}

/* Read the candidates from the arguments. */
void
dperm_candidates_read(DpermCandidates *candidates, FunctionCallInfo fcinfo,
					  const DpermOptions *base)
{
	candidates->given = dperm_arguments_jsonb(fcinfo, "candidates");
	if (base->lambda >= 0 && !candidates->given)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify lambda when tuning it"),
				 errhint("Specify candidates, as in '[{\"lambda\": 0.01}, {\"lambda\": "
						 "0.001}]'.")));
	if (candidates->given)
		read_objects(candidates, base);
	else
	{
		make_candidates(candidates, lengthof(default_scales), base);
		for (int i = 0; i < candidates->count; i++)
			candidates->each[i].scale = default_scales[i];
	}
	for (int i = 0; i < candidates->count; i++)
		dperm_options_settle(&candidates->each[i]);
	check_different(candidates);
	check_storable(candidates);
}
