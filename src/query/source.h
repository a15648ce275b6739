/*
 * source.h: the relation that a learner reads, the queries over it, and its persons.
 * Trusted.
 */
#ifndef DPERM_SOURCE_H
#define DPERM_SOURCE_H

#include "tcop/dest.h"
#include "utils/jsonb.h"

#include "base/options.h"
#include "column/column.h"
#include "core/encode/encoder.h"
#include "core/privacy/draw.h"
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

extern Oid	dperm_source_find(const char *name);
extern void dperm_source_open(DpermSource *source, const DpermSourceNames *names,
							  const DpermOptions *options);
extern void dperm_source_encode(DpermSource *source, const DpermOptions *options);
extern void dperm_source_tell(const DpermSource *source);
extern void dperm_source_tell_training(const DpermSource *source, const DpermText *trained_on);

/*
 * The queries over a source, in queries.c. All of them see the snapshot of the calling
 * query, and are checked before they run.
 */
extern void dperm_queries_open(DpermSource *source, const DpermSourceNames *names,
							   const DpermOptions *options);
extern int64 dperm_queries_count(const DpermSource *source, int64 *rows);
extern void
dperm_queries_sample(const DpermSource *source, int64 every, int64 limit, DestReceiver *receiver);
extern void dperm_queries_read(const DpermSource *source, DestReceiver *receiver);
extern bool
dperm_queries_load(const DpermSource *source, bytea *key, bool (*prepare) (void *arg, int workers),
				   void *arg, bytea **result);
extern void dperm_queries_pass(const DpermSource *source, DpermPass *pass);

/*
 * persons.c: the persons of a relation, by the values of the column that identifies them.
 *
 * Equality is that of the type, with the collation of the column. A value that
 * is NULL, or too large to be read (column.h), identifies nobody. No value raises an
 * error.
 */
typedef struct DpermPersons DpermPersons;

/* What is known of a person. */
typedef struct DpermPerson
{
	uint64		hash;			/* of the value */
	Datum		value;
	int64		next;			/* next person in the same slot, or -1 */
	int64		labelled;		/* rows with a label */
	int			portion;
} DpermPerson;

/* Nobody. */
#define DPERM_NOBODY (-1)

extern void
dperm_persons_column(Oid relation, AttrNumber column, Oid *type, Oid *collation);
extern DpermPersons *
dperm_persons_make(Oid type, Oid collation, int portions, DpermEntropy *entropy);
extern int64 dperm_persons_enter(DpermPersons *persons, Datum value, bool isnull);
extern int64 dperm_persons_count(const DpermPersons *persons);
extern DpermPerson *dperm_persons_person(const DpermPersons *persons, int64 number);
extern double *dperm_persons_weights(const DpermPersons *persons);
extern void dperm_persons_free(DpermPersons *persons);

#endif							/* DPERM_SOURCE_H */
