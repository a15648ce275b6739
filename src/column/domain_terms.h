/*
 * domain_terms.h: the terms of a CHECK constraint: a column, constants, arrays
 * of them.
 */
#ifndef DPERM_DOMAIN_TERMS_H
#define DPERM_DOMAIN_TERMS_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

#include "core/encode/block.h"

/* The column that a tree is read for. */
typedef struct DpermSubject
{
	DpermBlockKind kind;
	Oid			base;
	AttrNumber	number;			/* in constraints of a relation; 0 in those of a type */
	bool		discrete;		/* integers or days */
	bool		elements;		/* look for the elements of a vector column */
} DpermSubject;

/* Is this node the column, perhaps cast? */
extern bool dperm_domain_terms_is_column(const DpermSubject *subject, Node *node);

/*
 * Is this node what constraints compare: the column, or the number of elements
 * of a vector column?
 */
extern bool dperm_domain_terms_is_subject(const DpermSubject *subject, Node *node);

/*
 * The value of a constant that is a number or a time; false for any other, for
 * NULL and NaN.
 */
extern bool dperm_domain_terms_number(Node *node, double *out);

/*
 * The text of a constant that can be compared with a category column; NULL for
 * any other.
 */
extern char *dperm_domain_terms_text(const DpermSubject *subject, Node *node);

/*
 * The elements of an array of constants as nodes; NIL if it is something else.
 */
extern List *dperm_domain_terms_elements(Node *node);

#endif							/* DPERM_DOMAIN_TERMS_H */
