/*
 * domains.h: columns of relations and what is publicly known about their values.
 *
 * Nothing here looks at rows or at statistics about rows: a domain derived from
 * data would leak.
 */
#ifndef DPERM_DOMAINS_H
#define DPERM_DOMAINS_H

#include <math.h>

#include "access/attnum.h"
#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "utils/date.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"

#include "core/encode/encoder.h"

/* Where the domain of a column comes from; from DPERM_DOMAIN_DECLARED on there is one. */
typedef enum DpermDomainFrom
{
	DPERM_DOMAIN_UNUSABLE,		/* the type cannot be a feature at all */
	DPERM_DOMAIN_UNKNOWN,		/* there is none */
	DPERM_DOMAIN_MISFIT,		/* one is registered that does not fit the type */
	DPERM_DOMAIN_DECLARED,		/* the catalog */
	DPERM_DOMAIN_REGISTERED,	/* dp_protect */
	DPERM_DOMAIN_GIVEN			/* the caller */
} DpermDomainFrom;

/*
 * A column of a relation and what is publicly known about its values. An integer
 * or numeric(p,s) column for which the caller specified categories has a CATEGORY
 * block. Categories are the text output of base; those of bpchar have no trailing
 * blanks (dperm_category_length()).
 */
typedef struct DpermColumn
{
	AttrNumber	number;
	char	   *name;
	Oid			type;			/* as declared; may be a domain */
	Oid			base;			/* the base type below all domains */
	int32		typmod;			/* of base */
	DpermDomainFrom from;
	DpermBlock	block;			/* kind is set if usable; the rest if known */
	bool		knotted;		/* does it say how many knots a number has, or each element? */
	int			value_count;	/* values of a number, if the catalog lists them */
	const DpermText *values;
	char	   *origin;			/* where the domain comes from, for people; NULL if unknown */
	char	   *lack;			/* why there is no domain; NULL if the catalog says nothing */
	Oid			relation;		/* the relation with its constraints, found through views */
	AttrNumber	home;			/* its number there */
	Oid			closed_in;		/* a protected relation behind that closes it, or InvalidOid */
} DpermColumn;

/* What CHECK constraints say about a column. */
typedef struct DpermSaid
{
	/* of a number or a time, or of each element of a vector; infinite where there is no bound */
	double		low;
	double		high;			/* < low: no value passes */
	int			dimension;		/* of a vector; 0: nothing is said; -1: that of no model */
	int			count;			/* of a list of categories, or of numbers; -1: there is none */
	DpermText  *texts;			/* those of numbers are zero-terminated */
	char	   *origin;			/* the constraints that were used; NULL if none */
} DpermSaid;

/* Is there a domain? */
static inline bool
dperm_column_known(const DpermColumn *column)
{
	return column->from >= DPERM_DOMAIN_DECLARED;
}

/* The length of a category's text: without the blanks that bpchar pads with. */
static inline int
dperm_category_length(bool padded, const char *bytes, int len)
{
	while (padded && len > 0 && bytes[len - 1] == ' ')
		len--;
	return len;
}

/* domain_types.c: which types can be features, and of which kind */
extern bool dperm_domain_types_kind(Oid base, DpermBlockKind *kind);
extern bool dperm_domain_types_has_text(Oid base);
extern bool dperm_domain_types_is_integer(Oid base);
extern bool dperm_domain_types_is_pgvector(Oid base);
extern bool dperm_domain_types_is_text(Oid base);
extern bool dperm_domain_types_number(Oid type, Datum value, double *out);
extern char *dperm_domain_types_time(Oid type, double usecs, const int *zone);
extern char *dperm_domain_types_shown(const DpermBlock *block, double value);
extern DpermText dperm_domain_types_text(Oid base, Datum value);
extern bool dperm_domain_types_lists(const DpermText *texts, int count, const DpermText *text);
extern bool dperm_domain_types_input(Oid base, int32 typmod, const char *text, Datum *value,
									 char **why);
extern DpermText *dperm_domain_types_labels(Oid type, int *count);

/* domain_checks.c: what CHECK constraints say */
extern DpermSaid dperm_domain_checks_read(Oid relation, const DpermColumn *column);

/* domain_json.c: domains as JSON: read, and written */
extern void dperm_domain_json_parse(DpermColumn *column, JsonbValue *value);
extern char *dperm_domain_json_example(const DpermColumn *column);
extern void dperm_domain_json_print(StringInfo out, const DpermColumn *column);
extern void dperm_domain_json_template(StringInfo out, const DpermColumn *column);

/* domains.c: the columns of a relation with their domains */
extern DpermColumn *dperm_domains_read(Oid relation, Jsonb *domains, int *count);
extern void dperm_domains_give(Oid relation, DpermColumn *columns, int count, Jsonb *domains,
							   bool may_be_null);
extern _Noreturn void dperm_domains_missing(const DpermColumn *column);
extern Query *dperm_domains_view_query(Relation view);
extern void dperm_domains_declared(Oid relation, DpermColumn *column, int made_dimension);
extern const char *dperm_domains_fault(const DpermBlock *outer, const DpermBlock *inner);
extern bool dperm_domains_has_rows(char relkind);

#endif							/* DPERM_DOMAINS_H */
