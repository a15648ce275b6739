/*
 * selection.c: a private choice among candidates.
 * Trusted.
 */
#include "core/privacy/selection.h"

#include <math.h>

#include "core/base/core.h"
#include "core/privacy/draw.h"

#define BUDGET_BITS 20
#define DECIMAL_MAX 32

/* epsilon as a fraction, rounded down. */
uint64_t
dperm_selection_budget(double epsilon)
{
	double		units;

	if (isinf(epsilon))
		return 0;

	/*
	 * a budget is charged the decimal that reads back as epsilon: above this it
	 * can be smaller than a fraction that is not above epsilon
	 */
	if (epsilon > DECIMAL_MAX)
		epsilon = nextafter(epsilon, 0);

	/* beyond 2^20 a single error decides anyway */
	units = floor(ldexp(fmin(epsilon, 0x1p20), BUDGET_BITS));
	return units < 1 ? 1 : (uint64_t) units;
}

/* The same for either kind of neighbours. */
uint64_t
dperm_selection_budget_for(double epsilon, DpermNeighbours neighbours)
{
	return dperm_selection_budget(epsilon) * (neighbours == DPERM_NEIGHBOURS_REMOVE ? 2 : 1);
}

/* true with probability exp(-excess epsilon/(2 parts)), epsilon = budget/2^20. */
static bool
accept(DpermEntropy *e, int64_t excess, uint64_t budget, uint64_t parts)
{
	/*
	 * The exponent is excess * budget / den: too large for a word with up to
	 * 2^33 units, so whole units and parts of a unit are multiplied separately.
	 * budget is at most 2^41, parts at most 2^20.
	 */
	const uint64_t den = UINT64_C(2) << BUDGET_BITS;
	uint64_t	units = (uint64_t) excess / parts;
	uint64_t	whole = units / den * budget;
	uint64_t	rest = units % den * budget;

	whole += rest / den;
	rest = rest % den * parts + (uint64_t) excess % parts * budget;
	whole += rest / (den * parts);
	rest %= den * parts;
	while (whole > 0 && !e->failed)
	{
		if (!dperm_draw_exp_minus(e, 1, 1))
			return false;
		whole--;
	}
	return dperm_draw_exp_minus(e, rest, den * parts);
}

/* A uniformly random order, by Fisher and Yates. */
static void
shuffle(DpermEntropy *e, int *order, int count)
{
	for (int i = 0; i < count; i++)
		order[i] = i;
	for (int i = count - 1; i > 0; i--)
	{
		int			j = (int) dperm_draw_below(e, (uint64_t) i + 1);
		int			was = order[i];

		order[i] = order[j];
		order[j] = was;
	}
}

/* The position of the chosen candidate. */
int
dperm_selection_choose(DpermEntropy *e, DpermSelection rule, uint64_t budget, uint64_t parts,
					   const int64_t *mistakes, int count, int *order)
{
	int			best = 0;

	for (int i = 1; i < count; i++)
		if (mistakes[i] < mistakes[best])
			best = i;
	if (budget == 0)
		return best;
	if (rule == DPERM_SELECT_PERMUTE_AND_FLIP)
	{
		shuffle(e, order, count);
		for (int i = 0; i < count; i++)
			if (accept(e, mistakes[order[i]] - mistakes[best], budget, parts))
				return order[i];
		return best;			/* not reached: the best one always accepts */
	}
	while (!e->failed)
	{
		/*
		 * a uniform draw, accepted with probability equal to its weight: the
		 * exponential mechanism, exactly
		 */
		int			i = (int) dperm_draw_below(e, (uint64_t) count);

		if (accept(e, mistakes[i] - mistakes[best], budget, parts))
			return i;
	}
	return best;
}

static const char *const names[] = {"permute_and_flip", "exponential"};

const char *
dperm_selection_name(int rule)
{
	return names[rule];
}

bool
dperm_selection_parse(const char *name, DpermSelection *rule)
{
	int			found = dperm_find_name(names, 2, name);

	if (found >= 0)
		*rule = (DpermSelection) found;
	return found >= 0;
}
