/*
 * claim.c: checks of a claim, names, and the weights of the rows of a unit.
 * Trusted: rows of a unit must not weigh more than it does.
 */
#include "core/privacy/claim.h"

#include <math.h>
#include <stddef.h>

#include "core/base/core.h"

DPERM_WORDS(dperm_claim_neighbours_name, "replace", "remove");
DPERM_WORDS(dperm_claim_unit_name, "row", "person");
DPERM_WORDS(dperm_claim_share_name, "slack", "noise", "release");

const char *
dperm_claim_fault(const DpermClaim *claim)
{
	double		spent = 0;

	if ((int) claim->neighbours < 0 || (int) claim->neighbours >= DPERM_NEIGHBOURS_COUNT)
		return "neighbours is unknown";
	if ((int) claim->unit < 0 || (int) claim->unit >= DPERM_UNIT_COUNT)
		return "unit is unknown";
	if (!(claim->epsilon > 0))
		return "epsilon is out of range";
	if (!(claim->delta == 0 || (claim->delta >= DPERM_DELTA_MIN && claim->delta < 1)))
		return "delta is out of range";
	for (int i = 0; i < DPERM_SHARE_COUNT; i++)
	{
		if (!(isfinite(claim->shares[i]) && claim->shares[i] >= 0))
			return "a share of the budget is out of range";
		spent += claim->shares[i];
	}
	if (!dperm_claim_private(claim))
		return spent == 0 && claim->delta == 0 ? NULL : "a model without privacy cannot have noise "
			"or a budget";
	if (!(claim->shares[DPERM_SHARE_NOISE] > 0 && claim->shares[DPERM_SHARE_RELEASE] > 0))
		return "a share of the budget is out of range";
	return spent <= claim->epsilon * (1 + 1e-9) ? NULL : "the budget adds up to more than epsilon";
}

uint64_t
dperm_unit_parts(DpermUnit unit)
{
	return unit == DPERM_UNIT_PERSON ? DPERM_PERSON_PARTS : 1;
}

/*
 * The nearest double to 1/rows, or the one below it: fma() rounds once, so its
 * sign is exact.
 */
double
dperm_unit_weight(int64_t rows)
{
	double		weight = 1.0 / (double) rows;

	return fma((double) rows, weight, -1) > 0 ? nextafter(weight, 0) : weight;
}

int64_t
dperm_unit_count(int64_t some, int64_t rows)
{
	return (int64_t) ((uint64_t) some * DPERM_PERSON_PARTS / (uint64_t) rows);
}
