/*
 * source.h: the relation that a learner reads, and the queries over it.
 */
#ifndef DPERM_SOURCE_H
#define DPERM_SOURCE_H

#include "tcop/dest.h"
#include "utils/jsonb.h"

#include "base/options.h"
#include "column/column.h"
#include "core/encode/encoder.h"
#include "core/solve/pass.h"
#include "protect/protect.h"
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

	/* unless NULL, the features as they are encoded, in place of those above */
	const DpermBlock *blocks;	/* their names end with a zero */
	int			block_count;
} DpermSourceNames;

/* What a pass is told about the rows, apart from its order and its weights. */
typedef struct DpermPassSpec
{
	DpermLoss	loss;
	DpermEncoder encoder;
	const uint64 *readers;		/* one word per block, see dperm_reader_word() */
	DpermLabels labels;
	bool		weighted;		/* are the units persons, whose rows have weights in a pass? */
	uint64		seed;			/* of a digest of the rows, 0: none; passes that count have none */
} DpermPassSpec;

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
	struct DpermProtectedRows *kept;

	int			portions;		/* that rows are divided into when they arrive; 0: none */
	DpermColumn **features;		/* as the catalog has them */
	DpermBlock *blocks;			/* and as they are encoded */
	int			block_count;
	bool		given;			/* are the blocks those of a model or a prior? */
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
 * Encode the features of an open source, or of a copy of one, as options want them,
 * which differ from those that it was opened with in knots, kernel or loss.
 */
extern void dperm_source_encode(DpermSource *source, const DpermOptions *options);

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

/*
 * The queries over a source, in queries.c. All of them see the snapshot of the calling
 * query, and are checked before they run.
 */

/*
 * Open a source, and check the queries over it, so that only rows can make one
 * of them fail later. Copies of the source have the same queries.
 */
extern void dperm_queries_open(DpermSource *source, const DpermSourceNames *names,
							   const DpermOptions *options);

/*
 * The number of units of a source whose rows are elsewhere, by a scan of its
 * own: rows, or persons; and the number of rows.
 */
extern int64 dperm_queries_count(const DpermSource *source, int64 *rows);

/*
 * Read about one in "every" rows, but no more than the limit: each arrives as
 * in dperm_queries_read(). Which ones is neither secret nor relevant.
 */
extern void
dperm_queries_sample(const DpermSource *source, int64 every, int64 limit, DestReceiver *receiver);

/*
 * Read all rows, once. The receiver gets the label, the features and, if there
 * is one, the unit. source->label says how the label is read. Rows are read
 * without parallel workers, in any order.
 */
extern void dperm_queries_read(const DpermSource *source, DestReceiver *receiver);

/*
 * Load all rows where they are read, by parallel workers, as far as the planner
 * wants to use any: prepare() is told how many, fills in the key of the shared
 * rows, and may refuse. Returns false if the query was not run; otherwise
 * *result is that of dperm_load_agg in the memory context of the caller, NULL if
 * there are no rows.
 */
extern bool
dperm_queries_load(const DpermSource *source, bytea *key, bool (*prepare) (void *arg, int workers),
				   void *arg, bytea **result);

/*
 * Run one pass over rows that are elsewhere: of the request, the caller has filled
 * in the order, and weights and second, or weights and bins. The answer is in the
 * current memory context.
 */
extern void dperm_queries_pass(const DpermSource *source, DpermPass *pass);

#endif							/* DPERM_SOURCE_H */
