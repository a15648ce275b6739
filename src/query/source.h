/*
 * source.h: the relation that a learner reads.
 *
 * Here is what the catalog knows; queries over the rows are in queries.h.
 */
#ifndef DPERM_SOURCE_H
#define DPERM_SOURCE_H

#include "storage/lockdefs.h"
#include "utils/jsonb.h"

#include "base/options.h"
#include "column/label.h"
#include "core/encode/block.h"
#include "protect/protect.h"
#include "query/moments_flat.h"
#include "relation/relation.h"

/* Relation and columns, as the caller names them. */
typedef struct DpermSourceNames
{
	const char *relation;		/* as in FROM */
	/* of a protected relation, whose name is not looked up again; or NULL */
	const DpermRegistration *registration;
	bool		reads;			/* are its rows to be read, and not only the catalog? */
	const char *label;			/* NULL: there is none, and rows are read once, here */
	const char *unit;			/* column that identifies persons; NULL: rows are the units */
	char	  **features;		/* NULL: every column that has a domain */
	int			feature_count;
	Jsonb	   *domains;		/* NULL: those of the catalog */

	/*
	 * unless NULL, the features with the domains that they have: in place of
	 * those above
	 */
	const DpermBlock *blocks;	/* their names end with a zero */
	int			block_count;
} DpermSourceNames;

typedef struct DpermSource
{
	Oid			moments_type;	/* dperm_moments */
	Oid			relation;
	char	   *from;			/* quoted name, for FROM */
	/*
	 * where its rows are, if they may be read more than once or are many, see
	 * dperm_source_weighs()
	 */
	DpermLocation location;
	List	   *parts;			/* DPERM_LOCATION_PARTS: the relations that it consists of */
	char	   *label_column;
	bool		label_plain;	/* is it a boolean, or read by the rules of label.h? */
	bool		label_negated;	/* is it a boolean with false as the positive class? */
	bool		label_any_number;	/* is it a number without a domain, and positive above 0? */
	DpermLabel	label;			/* how the label of a row that arrives here is read */
	/*
	 * if features are all columns with a domain, the names of the others, for
	 * messages; NULL: there are none
	 */
	char	   *left_out;
	char	  **columns;		/* SQL expressions of the features */
	bool	   *output;			/* is a feature read as text, by the output function of its type? */
	/*
	 * for the query that reads labels that are not booleans: the positive value,
	 * or the array of classes; 0 for NULL
	 */
	Datum		label_domain;

	/*
	 * SQL expression of the column that identifies persons, or NULL: rows are
	 * the units
	 */
	char	   *unit;
	Oid			unit_type;
	Oid			unit_collation;
	bool		once;			/* may its rows be read only once? Always with a unit */
	const DpermRegistration *registration;	/* of a protected relation, or NULL */
	/* how its rows are read then, unless they are not to be read */
	struct DpermKeptQuery *kept;

	/* rows that are divided into portions, see dperm_queries_divide() */
	int			portions;		/* 0: they are not */
	Datum		key;			/* bytea */
	char	   *identity;		/* SQL list that identifies a row */
	DpermBlock *blocks;			/* the features */
	int			block_count;
	bool	   *varlena;		/* is the column of variable length? */
	/* are columns read without the catalog: no enums, no output functions? */
	bool		plain;
	bool		lone_array;		/* is the only feature an array? */
	DpermPassSpec spec;
} DpermSource;

/*
 * Do passes over a source with a unit run where its rows are, if these are
 * many? Each server has all rows of a person, so it knows their weights. If
 * there are few rows, it is read once nevertheless.
 */
static inline bool
dperm_source_weighs(const DpermSource *source)
{
	return source->spec.weighted;
}

/* Are the rows of a source read once, however many there are? */
static inline bool
dperm_source_only_once(const DpermSource *source)
{
	return source->once && !source->spec.weighted;
}

/*
 * Up to this many columns are arguments of an aggregate; more are one record.
 */
#define DPERM_COLUMN_ARGS 90

/*
 * Find relation and columns and check types, domains and privileges; every
 * mistake is an error here, before any row is read. The relation is locked
 * against changes of its definition until the end of the transaction.
 */
extern void dperm_source_open(DpermSource *source, const DpermSourceNames *names,
							  const DpermOptions *options);

/*
 * The relation with a name as in FROM, locked in the same way; raises an error
 * if it cannot have rows.
 */
extern Oid	dperm_source_find(const char *name);

#endif							/* DPERM_SOURCE_H */
