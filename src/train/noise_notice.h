/*
 * noise_notice.h: tell the caller of a training whose epsilon is too small for
 * its number of rows.
 */
#ifndef DPERM_NOISE_NOTICE_H
#define DPERM_NOISE_NOTICE_H

#include "base/options.h"
#include "query/source.h"

/*
 * By the number of rows, which is public. candidates, which are one if nothing
 * is tuned, have a source and a portion of the rows each. All of them are too
 * noisy if the best of them is.
 */
extern void dperm_noise_notice(const DpermOptions *candidates, const DpermSource *sources,
							   int count, int portions, int64 rows);

#endif							/* DPERM_NOISE_NOTICE_H */
