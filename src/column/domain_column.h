/*
 * domain_column.h: a column of a relation and what is publicly known about its
 * values.
 */
#ifndef DPERM_DOMAIN_COLUMN_H
#define DPERM_DOMAIN_COLUMN_H

#include "access/attnum.h"

#include "core/encode/block.h"

/* A column of a relation and what is publicly known about its values. */
typedef struct DpermColumn
{
	AttrNumber	number;
	char	   *name;
	Oid			type;			/* as declared; may be a domain */
	Oid			base;			/* the base type below all domains */
	int32		typmod;			/* of base */
	bool		known;			/* is there a domain? */
	bool		given;			/* did the caller specify it? */
	bool		knotted;		/* does it say how many knots a number has, or each element? */
	DpermBlock	block;			/* kind is set if usable; the rest if known */
	int			value_count;	/* values of a number, if the catalog lists them */
	const DpermText *values;
	bool		usable;			/* can the type be a feature at all? */
	char	   *origin;			/* where the domain comes from, for people; NULL if unknown */
	bool		misfit;			/* is one registered that does not fit the type? */
	char	   *lack;			/* why there is no domain; NULL if the catalog says nothing */
	Oid			relation;		/* the relation with its constraints, found through views */
	AttrNumber	home;			/* its number there */
	Oid			closed_in;		/* a protected relation behind that closes it, or InvalidOid */
	int			made_dimension;	/* of vectors that a view computes, as ARRAY[a, b]; else 0 */
} DpermColumn;

#endif							/* DPERM_DOMAIN_COLUMN_H */
