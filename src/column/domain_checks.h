/*
 * domain_checks.h: what CHECK constraints say about one column.
 */
#ifndef DPERM_DOMAIN_CHECKS_H
#define DPERM_DOMAIN_CHECKS_H

#include "nodes/pg_list.h"

#include "column/domain_column.h"

/*
 * What constraints say about a column: a list of texts for categories, else an
 * interval, and perhaps a list of numbers in it; for vectors, of the dimension.
 */
typedef struct DpermSaid
{
	double		low;			/* -infinity: no lower bound */
	double		high;
	bool		listed;
	int			count;
	char	  **texts;
	char	   *origin;			/* the constraints that were used; NULL if none */
} DpermSaid;

/*
 * The constraints of the column's table and of its type. relation is what the
 * caller specified; column->relation may be a table behind it. *cache holds
 * constraints that have been parsed already; initialise it with NIL.
 */
extern DpermSaid dperm_domain_checks_read(List **cache, Oid relation, const DpermColumn *column);

/* Is a text among those of the list? */
extern bool dperm_domain_checks_lists(const DpermSaid *said, const char *text);

/* The list as texts with their lengths. */
extern DpermText *dperm_domain_checks_texts(const DpermSaid *said);

/*
 * The same for the elements of a vector column: an interval that contains all
 * of them. The constraints that were used are added to the origin of the
 * column.
 */
extern DpermSaid dperm_domain_checks_elements(List **cache, Oid relation,
											  const DpermColumn *column);

/*
 * The number of elements that the constraints of a domain over arrays declare,
 * 0 if they do not.
 */
extern int	dperm_domain_checks_dimension(Oid type);

#endif							/* DPERM_DOMAIN_CHECKS_H */
