/*
 * load.h: load the rows of a source into a store, in one scan; in one process, or by a
 * parallel aggregate (load_step.c). Trusted.
 */
#ifndef DPERM_LOAD_H
#define DPERM_LOAD_H

#include "column/column.h"
#include "core/privacy/draw.h"
#include "query/source.h"
#include "train/rows.h"

/* The rows of a source, or of a portion of it. */
typedef struct DpermLoad
{
	const DpermSource *source;
	int			portion;		/* -1: all */
	int64		count;			/* units: rows, or persons; public */
	bool		remote;			/* do rows stay on other servers? Then there is a sample. */
	DpermRows	rows;
} DpermLoad;

/*
 * Read rows into count sets, in the current memory context; their sources
 * differ only in encoder and portion. If portions is not NULL, it receives the
 * number of units of each portion. Needs an SPI connection.
 */
extern void dperm_load(DpermLoad *sets, int count, int64 *portions);

/*
 * The encoders of the sources of sets that have been loaded have the knots of open
 * numbers now. In the current memory context.
 */
extern void dperm_load_settle(DpermLoad *sets, int count);

/*
 * Release the store of sets that are no longer used; other memory belongs to the
 * context.
 */
extern void dperm_load_close(DpermLoad *sets, int count);

/* -------------------------------------------- rows as they arrive */

/* A set of rows: those of a portion, in one encoding. */
typedef struct DpermIntakeSet
{
	int			portion;		/* -1: all rows */
	const DpermEncoder *encoder;
	const uint64 *words;		/* of its readers, as in a request */
	DpermReader *readers;
	DpermValue *values;
	DpermRows  *rows;
} DpermIntakeSet;

typedef struct DpermIntake
{
	DpermIntakeSet *sets;
	int			count;
	int			portions;		/* 0: rows are not divided */
	DpermEntropy entropy;		/* for portions */
	MemoryContext row_context;	/* for what is read of a row; reset after each one */
} DpermIntake;

/*
 * Initialise, in the current context; then describe each set, by its encoder and
 * the words of its readers; then start them in a store.
 */
extern void dperm_intake_init(DpermIntake *intake, int count, int portions);
extern void dperm_intake_describe(DpermIntake *intake, int set, int portion,
								  const DpermEncoder *encoder, const uint64 *words,
								  DpermRows *rows);
extern void dperm_intake_start(DpermIntake *intake, DpermStore *store, DpermLabelKind label,
							   bool weighted);

/*
 * Bind the readers to columns, of which the first is number first.
 */
extern void dperm_intake_bind(DpermIntake *intake, TupleDesc desc, int first);

/* The portion of a row or a person that arrives, drawn at random; -1 if there are none. */
extern int	dperm_intake_portion(DpermIntake *intake);

/*
 * Add a row to every set of its portion, with one value for each block. The
 * owner is for rows with weights.
 */
extern void dperm_intake_take(DpermIntake *intake, int portion, const Datum *values,
							  const bool *nulls, double label, int64 owner);

/* All random bits have been drawn: raises an error if there were none. */
extern void dperm_intake_end(DpermIntake *intake);

/* ------------------------------------------------ several processes */

/*
 * Prepare to load the sets of an intake with so many parallel workers: *key is
 * the argument of the aggregate. NULL if there is no shared memory.
 */
extern DpermStore *dperm_load_step_begin(const DpermIntake *intake, const DpermSource *source,
										 Size limit, int workers, DpermRowsKey *key);

/*
 * The load has ended, with a result, or NULL: take its rows over into the sets of
 * the intake. Returns the number of rows that were loaded, as the aggregate counted
 * them.
 */
extern int64 dperm_load_step_end(DpermStore *store, DpermIntake *intake, DpermLabelKind label,
								 const bytea *parts);

#endif							/* DPERM_LOAD_H */
