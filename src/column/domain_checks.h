/*
 * domain_checks.h: what CHECK constraints say about one column.
 */
#ifndef DPERM_DOMAIN_CHECKS_H
#define DPERM_DOMAIN_CHECKS_H

#include "nodes/pg_list.h"

#include "column/domain_column.h"

/* Infinite where there is no bound; low > high if it is empty. */
typedef struct DpermInterval
{
	double		low;
	double		high;
} DpermInterval;

/* What constraints say about a column. */
typedef struct DpermSaid
{
	DpermInterval values;		/* of a number or a time; of each element of a vector */
	DpermInterval dimension;	/* of a vector */
	bool		listed;			/* is there a list of categories, or of numbers? */
	int			count;
	DpermText  *texts;			/* those of numbers are zero-terminated */
	char	   *origin;			/* the constraints that were used; NULL if none */
} DpermSaid;

/*
 * The constraints of the column's table and of its type. relation is what the
 * caller specified; column->relation may be a table behind it. *cache holds
 * constraints that have been parsed already; initialise it with NIL.
 */
extern DpermSaid dperm_domain_checks_read(List **cache, Oid relation, const DpermColumn *column);

/* Is a text among those of the list? */
extern bool dperm_domain_checks_lists(const DpermSaid *said, const DpermText *text);

/*
 * The number of elements that the constraints of a domain over arrays declare,
 * 0 if they do not.
 */
extern int	dperm_domain_checks_dimension(Oid type);

#endif							/* DPERM_DOMAIN_CHECKS_H */
