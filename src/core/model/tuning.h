/*
 * tuning.h: how the parameters of a model were chosen.
 *
 * A JSON object that the model carries as text:
 *
 *   {"way": "private", "selection": "permute_and_flip", "rows": 100000,
 *    "portions": 6, "chosen": {"lambda": 0.1}, "candidates": [{"lambda": 0.01},
 *    ...]}
 *
 * with "persons" in place of "rows" if persons are the units, and in any order
 * of keys. All of it is public or released; it does not contain
 * the candidates' scores.
 */
#ifndef DPERM_TUNING_H
#define DPERM_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/encode/block.h"
#include "core/privacy/selection.h"

typedef struct DpermTuning
{
	DpermSelection selection;
	int64_t		rows;			/* units of all portions together */
	bool		persons;		/* are persons the units? */
	int			portions;
	int			candidates;
} DpermTuning;

#define DPERM_CANDIDATES_MAX 64

/* Read and check the text: NULL, or what is wrong. */
extern const char *dperm_tuning_read(const DpermText *text, DpermTuning *out);

#endif							/* DPERM_TUNING_H */
