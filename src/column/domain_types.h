/*
 * domain_types.h: which types can be features, and of which kind.
 */
#ifndef DPERM_DOMAIN_TYPES_H
#define DPERM_DOMAIN_TYPES_H

#include <math.h>

#include "utils/date.h"
#include "utils/timestamp.h"

#include "core/encode/block.h"

/* The kind of block of a base type: false if it cannot be a feature. */
extern bool dperm_domain_types_kind(Oid base, DpermBlockKind *kind);

/*
 * Can categories be read from the output of a type, which must not depend on
 * settings?
 */
extern bool dperm_domain_types_has_text(Oid base);

/*
 * Is this pgvector's type? Its values are varlena: int16 dimension, int16
 * unused, float4 coordinates.
 */
extern bool dperm_domain_types_is_pgvector(Oid base);

/* Is this a type of integers? */
extern bool dperm_domain_types_is_integer(Oid base);

/* Is a type stored as text, or name, so that its values compare as texts? */
extern bool dperm_domain_types_is_text(Oid base);

/*
 * The value of a number or a time, as blocks have it; false for any other type.
 * *out may be NaN or infinite.
 */
extern bool dperm_domain_types_number(Oid type, Datum value, double *out);

/*
 * A value of a number or a time as text, to the second, whatever the DateStyle is. A
 * model does not say of which type a time was: a range within the first day of 2000 is
 * that of times of day.
 */
extern char *dperm_domain_types_shown(const DpermBlock *block, double value);

/* The text of a value, as categories are written. */
extern DpermText dperm_domain_types_text(Oid base, Datum value);

/* The labels of an enum, in order; *count may be larger than DPERM_DIM_MAX. */
extern DpermText *dperm_domain_types_labels(Oid type, int *count);

/*
 * Days since 2000-01-01, the numbers of TIME blocks; infinite dates are
 * infinite.
 */
static inline double
dperm_days_from_date(DateADT date)
{
	if (DATE_NOT_FINITE(date))
		return DATE_IS_NOBEGIN(date) ? -INFINITY : INFINITY;
	return (double) date;
}

static inline double
dperm_days_from_timestamp(Timestamp time)
{
	if (TIMESTAMP_NOT_FINITE(time))
		return TIMESTAMP_IS_NOBEGIN(time) ? -INFINITY : INFINITY;
	return (double) time / (double) USECS_PER_DAY;
}

/* The same of a time of day. */
static inline double
dperm_days_from_time(TimeADT time)
{
	return (double) time / (double) USECS_PER_DAY;
}

/* The length of a category's text: without the blanks that bpchar pads with. */
static inline int
dperm_category_length(bool padded, const char *bytes, int len)
{
	while (padded && len > 0 && bytes[len - 1] == ' ')
		len--;
	return len;
}

#endif							/* DPERM_DOMAIN_TYPES_H */
