/*
 * noise_notice.c: tell the caller of a training whose epsilon is too small for
 * its number of rows.
 */
#include "postgres.h"

#include <math.h>

#include "base/base.h"
#include "train/noise_notice.h"
#include "core/mechanism/calibrate.h"

/* The share of the noise in the weights of a candidate. */
static double
share_of(const DpermOptions *options, const DpermSource *source, int64 rows)
{
	DpermEncoder encoder = dperm_options_bend_for(options, source->spec.encoder, rows);
	DpermNoisePlans noise = dperm_options_noise(options, NULL, &encoder, false);
	DpermSetup	setup =
		dperm_options_setup(options, dperm_encoder_dim(&encoder), noise, rows);

	return dperm_noise_share(&setup);
}

/* If the best candidate is too noisy with its portion of so many rows, tell. */
void
dperm_noise_notice(const DpermOptions *candidates, const DpermSource *sources, int count,
				   int portions, int64 rows)
{
	double		least = INFINITY;

	for (int i = 0; i < count; i++)
		least = Min(least, share_of(&candidates[i], &sources[i], rows / portions));
	if (least > DPERM_NOISE_TOO_MUCH)
		dperm_message_tell(NOTICE,
						   psprintf("the noise is larger than what a model is likely to find: "
									"noise_share is %.3g with " INT64_FORMAT " %s%s",
									least, rows / portions,
									candidates[0].unit == DPERM_UNIT_PERSON ? "persons" : "rows",
									portions > 1 ? " for each candidate" : ""),
						   NULL,
						   "Use a larger epsilon, more rows or fewer features. dp_cost shows how "
						   "many rows are needed.");
}
