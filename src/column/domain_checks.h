/*
 * domain_checks.h: what CHECK constraints say about one column.
 */
#ifndef DPERM_DOMAIN_CHECKS_H
#define DPERM_DOMAIN_CHECKS_H

#include "nodes/pg_list.h"

#include "column/domain_column.h"

/*
 * What is said of a column: a list of texts for categories, else an interval;
 * of a vector's dimension for vectors. It is a superset of the values that
 * pass.
 */
typedef struct DpermSaid
{
	double		low;			/* -infinity if nothing is said */
	double		high;
	bool		listed;
	int			count;
	char	  **texts;
	char	   *origin;			/* the constraints that said something; NULL if none did */
} DpermSaid;

/*
 * The constraints of the column's table and of its type. relation is what the
 * caller named, as column->relation may be a table behind it. *cache holds
 * constraints that were parsed already; start it with NIL.
 */
extern DpermSaid dperm_domain_checks_read(List **cache, Oid relation, const DpermColumn *column);

/*
 * The same about the elements of a vector column: an interval that holds all of
 * them. Constraints that say something are added to the origin of the column.
 */
extern DpermSaid
dperm_domain_checks_elements(List **cache, Oid relation, const DpermColumn *column);

/*
 * The number of elements that the constraints of a domain over arrays declare,
 * 0 if they do not.
 */
extern int	dperm_domain_checks_dimension(Oid type);

#endif							/* DPERM_DOMAIN_CHECKS_H */
