/*
 * domains.h: the public domain of each column, from the caller and from the catalog.
 *
 * Nothing here looks at rows or at statistics about rows: a domain learnt from data would leak.
 */
#ifndef DPERM_DOMAINS_H
#define DPERM_DOMAINS_H

#include <math.h>

#include "access/attnum.h"
#include "nodes/parsenodes.h"
#include "utils/date.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"

#include "core/encode/encoder.h"

/* A column of a relation and what is publicly known of its values. */
typedef struct DpermColumn
{
	AttrNumber	number;
	char	   *name;
	Oid			type;			/* as declared: may be a domain */
	Oid			base;			/* below all domains */
	int32		typmod;			/* of base */
	bool		known;			/* is there a domain? */
	bool		given;			/* did the caller give it? */
	DpermBlock	block;			/* kind always where the type fits one; the rest if known */
	bool		usable;			/* can the type be a feature at all? */
	char	   *origin;			/* where the domain is from, for people; NULL if unknown */
	char	   *lack;			/* what the catalog says, if that is no domain; else NULL */
	Oid			relation;		/* where its constraints are: through views, a table's column */
	AttrNumber	home;			/* its number there */
	int			made_length;	/* of the vectors that a view makes: ARRAY[a, b]; else 0 */
} DpermColumn;

/*
 * All live columns of a relation, in order. domains is the caller's jsonb object or NULL; it takes
 * precedence over the catalog. Raises for keys that are no columns and for domains that make no
 * sense for the column's type. Everything is palloc'd in the current context.
 *
 * An integer or numeric(p,s) column that the caller gave categories has a CATEGORY block.
 * Categories are the text output of base; those of bpchar have lost their trailing blanks, as
 * dperm_category_length() says.
 */
extern DpermColumn *dperm_domains_read(Oid relation, Jsonb *domains, int *count);

/*
 * Raise the error for a column without a domain: it names the column and both ways to give one.
 * For a column of an unusable type, the error that says so.
 */
extern _Noreturn void dperm_domains_missing(const DpermColumn *column);

/* Raise the error for a vector that is the only feature and has no declared length: as above, and the argument. */
extern _Noreturn void dperm_domains_unsized(const DpermColumn *column);

/* The length that the CHECK constraints of a domain over arrays declare, 0 if they do not. */
extern int	dperm_domains_type_length(Oid type);

/* The kind of block of a base type: false if it cannot be a feature. */
extern bool dperm_domains_kind(Oid base, DpermBlockKind *kind);

/* May categories be read from a type, by an output that no setting changes? */
extern bool dperm_domains_has_text(Oid base);

/* pgvector's type? Its values are varlena: int16 dimension, int16 unused, float4 coordinates. */
extern bool dperm_domains_is_pgvector(Oid base);

/* Stored as text, or name: types whose values compare with each other as texts. */
extern bool dperm_domains_is_text(Oid base);

/* Days since 2000-01-01, the numbers of TIME blocks; infinite dates are infinite. */
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

/* The length of a category's text: without the blanks that bpchar pads with. */
static inline int
dperm_category_length(bool padded, const char *bytes, int len)
{
	while (padded && len > 0 && bytes[len - 1] == ' ')
		len--;
	return len;
}

/* The query of a view or of a materialized view, NULL for any other relation. */
extern Query *dperm_domains_view_query(Relation view);

/* Can a relation of this kind be trained on? */
extern bool dperm_domains_has_rows(char relkind);

#endif							/* DPERM_DOMAINS_H */
