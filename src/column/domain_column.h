/*
 * domain_column.h: a column of a relation and what is publicly known of its
 * values.
 */
#ifndef DPERM_DOMAIN_COLUMN_H
#define DPERM_DOMAIN_COLUMN_H

#include "access/attnum.h"

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
	int			made_dimension;	/* of the vectors that a view makes: ARRAY[a, b]; else 0 */
} DpermColumn;

#endif							/* DPERM_DOMAIN_COLUMN_H */
