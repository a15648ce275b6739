/*
 * domain_checks.h: what CHECK constraints say about one column.
 */
#ifndef DPERM_DOMAIN_CHECKS_H
#define DPERM_DOMAIN_CHECKS_H

#include "column/domain_column.h"

/* What constraints say about a column. */
typedef struct DpermSaid
{
	/* of a number or a time, or of each element of a vector; infinite where there is no bound */
	double		low;
	double		high;			/* < low: no value passes */
	int			dimension;		/* of a vector; 0: nothing is said; -1: none that a model can have */
	int			count;			/* of a list of categories, or of numbers; -1: there is none */
	DpermText  *texts;			/* those of numbers are zero-terminated */
	char	   *origin;			/* the constraints that were used; NULL if none */
} DpermSaid;

/*
 * The constraints of the column's table and of its type. relation is what the
 * caller specified; column->relation may be a table behind it.
 */
extern DpermSaid dperm_domain_checks_read(Oid relation, const DpermColumn *column);

/* Is a text among those of the list? */
extern bool dperm_domain_checks_lists(const DpermSaid *said, const DpermText *text);

/*
 * The number of elements that the constraints of a domain over arrays declare,
 * 0 if they do not.
 */
extern int	dperm_domain_checks_dimension(Oid type);

#endif							/* DPERM_DOMAIN_CHECKS_H */
