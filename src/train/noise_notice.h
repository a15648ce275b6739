/*
 * noise_notice.h: tell the caller of a training whose epsilon is too small for
 * its number of rows.
 */
#ifndef DPERM_NOISE_NOTICE_H
#define DPERM_NOISE_NOTICE_H

#include "base/options.h"
#include "query/source.h"

/*
 * Before a call is charged, by the number of rows that the caller expects, or
 * that the catalog estimates where a protected relation is a plain table
 * without a unit: else nothing is said. candidates, which are one if nothing is
 * tuned, have a source and a portion of the rows each. All of them are too
 * noisy if the best of them is. Raises if the caller has said so.
 */
extern void dperm_noise_notice_before(DpermOptions *candidates, const DpermSource *sources,
									  int count, int portions);

/*
 * With the result, by the number of rows, which is public, unless it has been
 * said before.
 */
extern void dperm_noise_notice_after(const DpermOptions *candidates, const DpermSource *sources,
									 int count, int portions, int64 rows);

#endif							/* DPERM_NOISE_NOTICE_H */
