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
#include "core/encode/encoder.h"
#include "protect/protect.h"
#include "query/moments.h"
#include "relation/relation.h"

/* Relation and columns, as the caller names them. */
typedef struct DpermSourceNames
{
	const char *relation;		/* as in FROM */
	/* of a protected relation, whose name is not looked up again; or NULL */
	const DpermRegistration *registration;
	bool		reads;			/* are its rows to be read, and not only the catalog? */
	bool		divides;		/* into portions? Then all rows come here, wherever they are */
	const char *label;			/* NULL: there is none, and all rows come here, too */
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
	Oid			relation;
	char	   *from;			/* quoted name, for FROM */
	/*
	 * where its rows are summed up if they are many; here they are read once,
	 * and so are those that are elsewhere, but few
	 */
	DpermLocation location;
	List	   *parts;			/* DPERM_LOCATION_PARTS: the relations that it consists of */
	char	   *label_column;
	bool		label_any_number;	/* is it a number without a domain, and positive above 0? */
	DpermLabel	label;			/* how the label of a row that arrives here is read */
	/*
	 * if features are all columns with a domain, the names of the others, for
	 * messages; NULL: there are none
	 */
	char	   *left_out;
	char	  **columns;		/* SQL expressions of the features */
	Datum		label_domain;	/* for dperm_label */

	/*
	 * SQL expression of the column that identifies persons, or NULL: rows are
	 * the units
	 */
	char	   *unit;
	Oid			unit_type;
	Oid			unit_collation;
	const DpermRegistration *registration;	/* of a protected relation, or NULL */
	/* how its rows are read then, unless they are not to be read */
	struct DpermKeptQuery *kept;

	int			portions;		/* that rows are divided into when they arrive; 0: none */
	DpermBlock *blocks;			/* the features */
	int			block_count;
	bool	   *varlena;		/* is the column of variable length? */
	DpermPassSpec spec;
} DpermSource;

/* Up to this many columns are arguments of a function. */
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

/*
 * Tell in notices which columns features => NULL leaves out, and that the label
 * is a number which may have more than two values. All of this is public. Called
 * once for each call: the sources of several candidates have the same columns.
 */
extern void dperm_source_tell(const DpermSource *source);

/*
 * Tell that a model to be evaluated was trained on rows of the source: on the
 * source itself, on a relation that it reads, or on one that reads it.
 * trained_on is what the model says, which anybody can have written.
 */
extern void dperm_source_tell_training(const DpermSource *source, const DpermText *trained_on);

#endif							/* DPERM_SOURCE_H */
