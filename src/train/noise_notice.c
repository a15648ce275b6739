/*
 * noise_notice.c: tell the caller of a training whose epsilon is too small for
 * its number of rows.
 */
#include "postgres.h"

#include <math.h>

#include "base/settings.h"
#include "core/mechanism/noise_share.h"
#include "protect/worker.h"
#include "relation/relation.h"
#include "train/noise_notice.h"

/* Noise of this share of what weights can be leaves nothing of them. */
#define TOO_NOISY 1.0

/* The end of a message about a number of rows that the caller has not given. */
#define ESTIMATED ", as the catalog estimates"

/* The share of the noise in the weights of a candidate. */
static double
share_of(const DpermOptions *options, const DpermSource *source, int64 rows)
{
	DpermEncoder encoder = dperm_options_bend_for(options, source->spec.encoder, rows);
	DpermSetup	setup = dperm_options_setup(options, dperm_encoder_dim(&encoder),
											dperm_options_noise(options, &encoder, false), rows);

	return dperm_noise_share(&setup);
}

/*
 * If the best candidate is too noisy with its portion of so many rows, tell, or
 * raise; origin is where the number of rows comes from. Returns whether.
 */
static bool
tell_share(int level, const DpermOptions *candidates, const DpermSource *sources, int count,
		   int portions, int64 rows, const char *origin)
{
	const char *hint = "Use a larger epsilon, more rows or fewer features. dp_cost shows how many "
		"rows are needed.";
	double		least = INFINITY;
	char	   *message;

	for (int i = 0; i < count; i++)
		least = Min(least, share_of(&candidates[i], &sources[i], rows / portions));
	if (!(least > TOO_NOISY))
		return false;
	message = psprintf("the noise is larger than the weights can be: noise_share is %.3g "
					   "with " INT64_FORMAT " %s%s%s",
					   least, rows / portions,
					   candidates[0].unit == DPERM_UNIT_PERSON ? "persons" : "rows",
					   portions > 1 ? " for each candidate" : "", origin);
	if (level == ERROR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s", message),
				 errdetail("Nothing has been charged."),
				 errhint("%s", hint)));
	dperm_worker_notice(message, hint);
	return true;
}

/*
 * Raise for a number of rows that leaves candidates without any, or tell if it
 * is an estimate. Returns whether.
 */
static bool
tell_portions(int64 rows, int portions, bool given)
{
	const char *hint = "Try fewer candidates.";
	char	   *message =
		psprintf("rows are divided among %d portions, and there are only " INT64_FORMAT "%s",
				 portions, rows, given ? "" : ESTIMATED);

	if (rows >= portions)
		return false;
	if (given)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s", message),
				 errdetail("Nothing has been charged."),
				 errhint("%s", hint)));
	dperm_worker_notice(message, hint);
	return true;
}

void
dperm_noise_notice_before(DpermOptions *candidates, const DpermSource *sources, int count,
						  int portions)
{
	bool		given = candidates[0].rows > 0;
	int64		rows = candidates[0].rows;
	bool		told;

	if (!given && sources[0].registration && sources[0].unit == NULL)
		rows = dperm_relation_estimated_rows(sources[0].relation);
	if (rows == 0 || tell_portions(rows, portions, given))
		return;
	told = tell_share(given && dperm_refuse_noise_share ? ERROR : NOTICE, candidates, sources,
					  count, portions, rows, given ? "" : ESTIMATED);
	for (int i = 0; i < count; i++)
		candidates[i].noise_told = told;
}

void
dperm_noise_notice_after(const DpermOptions *candidates, const DpermSource *sources, int count,
						 int portions, int64 rows)
{
	if (candidates[0].noise_told)
		return;
	(void) tell_share(NOTICE, candidates, sources, count, portions, rows, "");
}
