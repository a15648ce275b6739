/*
 * selection.h: a private choice among candidates by their number of errors.
 * Trusted.
 *
 * Replacing one row changes every count by at most one; replacing a person, by
 * at most the parts of a person (claim.h), in which errors are counted. Both
 * rules choose candidate i with an exponential preference in its excess z_i -
 * min z, and are epsilon-differentially private (docs/guarantee.md,
 * "Selection"). All arithmetic is on integers.
 */
#ifndef DPERM_SELECTION_H
#define DPERM_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/privacy/claim.h"
#include "core/privacy/draw.h"

typedef enum DpermSelection
{
	DPERM_SELECT_PERMUTE_AND_FLIP = 0,	/* McKenna and Sheldon 2020: never worse */
	DPERM_SELECT_EXPONENTIAL = 1	/* the paper's */
} DpermSelection;

/*
 * epsilon as a fraction num/2^20, rounded down so that no more is spent. At
 * least 2^-20; an infinite epsilon (num = 0) selects the best candidate, the
 * first one in case of a tie.
 */
extern uint64_t dperm_selection_budget(double epsilon);

/*
 * The same for either kind of neighbours: twice as much if a row is removed,
 * since counts then change by half as much as when another row takes its place,
 * or all in the same direction.
 */
extern uint64_t dperm_selection_budget_for(double epsilon, DpermNeighbours neighbours);

/*
 * The position of the chosen candidate. Errors are counted in parts of a unit:
 * dperm_unit_parts(), 1 for rows, at most 2^20. order is room for count ints.
 */
extern int dperm_selection_choose(DpermEntropy *e, DpermSelection rule, uint64_t budget,
								  uint64_t parts, const int64_t *mistakes, int count, int *order);

extern const char *dperm_selection_name(DpermSelection rule);
extern bool dperm_selection_parse(const char *name, DpermSelection *rule);

#endif							/* DPERM_SELECTION_H */
