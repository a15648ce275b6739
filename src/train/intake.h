/*
 * intake.h: rows as they arrive, into sets of a store.
 */
#ifndef DPERM_INTAKE_H
#define DPERM_INTAKE_H

#include "column/column.h"
#include "train/rows.h"
#include "core/privacy/draw.h"

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

#endif							/* DPERM_INTAKE_H */
