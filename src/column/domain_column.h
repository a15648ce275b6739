/*
 * domain_column.h: a column of a relation and what is publicly known about its
 * values.
 */
#ifndef DPERM_DOMAIN_COLUMN_H
#define DPERM_DOMAIN_COLUMN_H

#include "access/attnum.h"

#include "core/encode/block.h"

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

/* A column of a relation and what is publicly known about its values. */
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

/* Is there a domain? */
static inline bool
dperm_column_known(const DpermColumn *column)
{
	return column->from >= DPERM_DOMAIN_DECLARED;
}

/* Can the type be a feature? */
static inline bool
dperm_column_usable(const DpermColumn *column)
{
	return column->from != DPERM_DOMAIN_UNUSABLE;
}

/* Did the caller specify the domain? */
static inline bool
dperm_column_given(const DpermColumn *column)
{
	return column->from == DPERM_DOMAIN_GIVEN;
}

#endif							/* DPERM_DOMAIN_COLUMN_H */
