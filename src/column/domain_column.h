/*
 * domain_column.h: a column of a relation and what is publicly known about its
 * values.
 */
#ifndef DPERM_DOMAIN_COLUMN_H
#define DPERM_DOMAIN_COLUMN_H

#include "access/attnum.h"

#include "core/encode/block.h"

/*
 * The values that the rows of a column can have, by its type and by constraints
 * that hold: a list, else the numbers of a range; else all of the type. For
 * vectors, low and high bound the elements.
 */
typedef struct DpermPossible
{
	bool		nothing;		/* NULL, or NaN, too? */
	bool		constrained;	/* by more than the type? */
	bool		numbers;		/* numbers or times, as they are read? */
	bool		listed;
	int			count;
	const DpermText *texts;
	const double *values;		/* of texts that are numbers */
	double		low;
	bool		above;			/* is it excluded? */
	double		high;
	bool		below;			/* is it excluded? */
} DpermPossible;

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
	bool		stated;			/* is it that of an argument or a registration? */
	int			value_count;	/* values of a number, if the catalog lists them */
	const DpermText *values;
	DpermPossible possible;
	bool		usable;			/* can the type be a feature at all? */
	char	   *origin;			/* where the domain comes from, for people; NULL if unknown */
	bool		misfit;			/* is one registered that does not fit the type? */
	char	   *lack;			/* why there is no domain; NULL if the catalog says nothing */
	Oid			relation;		/* the relation with its constraints, found through views */
	AttrNumber	home;			/* its number there */
	bool		stale;			/* may a view on the way have rows that are older than those? */
	Oid			closed_in;		/* a protected relation behind that closes it, or InvalidOid */
	int			made_dimension;	/* of vectors that a view computes, as ARRAY[a, b]; else 0 */
} DpermColumn;

#endif							/* DPERM_DOMAIN_COLUMN_H */
