/*
 * charge.h: amounts of epsilon and delta that add up exactly, when a budget is
 * exhausted, for any adaptive choices, and what a call takes from it, as known
 * before its first row is read (docs/guarantee.md, "Budgets").
 * Trusted.
 *
 * A budget (E, D) allows a release as long as one of two rules holds for
 * everything so far and the release itself: (A) epsilons add up to at most E,
 * and deltas to at most D/4; (B) Renyi divergences of one order, fixed when the
 * budget is created, add up to at most what converts to (E, 11D/16), and the
 * deltas of releases without a divergence to at most D/16. With D = 0: epsilons
 * add up to at most E, and there are no deltas.
 */
#ifndef DPERM_CHARGE_H
#define DPERM_CHARGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/loss/loss.h"
#include "core/privacy/claim.h"

/*
 * A decimal with 24 digits after the point, as a multiple of 1e-24. Aligned as
 * what palloc() returns, not as the compiler would have it.
 */
__extension__ typedef unsigned __int128 DpermAmount __attribute__((aligned(8)));

#define DPERM_AMOUNT_ONE ((DpermAmount) UINT64_C(1000000000000) * UINT64_C(1000000000000))

/* Sums from here on become this, so that they cannot overflow. */
#define DPERM_AMOUNT_MAX (1000000 * DPERM_AMOUNT_ONE)

/*
 * The shortest decimal that reads back as the same double, which is what the
 * user wrote, rounded up or down to this many digits after the point. x is at
 * least 0.
 */
extern DpermAmount dperm_amount_of(double x, int digits, bool up);

/*
 * Read a decimal without an exponent, as numeric prints it; false if it is not
 * valid, negative, too large, or has too many digits.
 */
extern bool dperm_amount_read(const char *text, DpermAmount *out);

/* Print without trailing zeros after the point. */
#define DPERM_AMOUNT_TEXT 60
extern void dperm_amount_print(DpermAmount a, char *text);

/* The nearest double. */
extern double dperm_amount_double(DpermAmount a);

static inline DpermAmount
dperm_amount_add(DpermAmount a, DpermAmount b)
{
	return a + b < DPERM_AMOUNT_MAX ? a + b : DPERM_AMOUNT_MAX;
}

/* A budget. */
typedef struct DpermFilter
{
	DpermAmount epsilon;
	DpermAmount delta;
	double		order;			/* 0 without a delta */
} DpermFilter;

/* What has been spent, or what one release spends. */
typedef struct DpermFilterSums
{
	DpermAmount epsilon;
	DpermAmount delta;			/* as it was asked for */
	DpermAmount divergence;		/* Renyi, of the budget's order */
	DpermAmount direct;			/* what of delta and tail has no divergence */
	/*
	 * DPERM_TAIL of each pure release, unless the budget has no delta: beside
	 * the deltas, so that these are what the callers asked for
	 */
	DpermAmount tail;
} DpermFilterSums;

/*
 * The order for a budget: the one that allows most releases with a little
 * Gaussian noise each.
 */
extern double dperm_filter_order(double epsilon, double delta);

/* The divergence that converts to (E, 11D/16), rounded down; 0 if there is none. */
extern DpermAmount dperm_filter_limit(const DpermFilter *filter);

/* Do these sums satisfy one of the rules? */
extern bool dperm_filter_allows(const DpermFilter *filter, const DpermFilterSums *spent);

/* The sum of both. */
extern DpermFilterSums dperm_filter_add(const DpermFilterSums *a, const DpermFilterSums *b);

/* What a pure release spends from a budget with this order (0: one without delta). */
extern DpermFilterSums dperm_filter_pure(double epsilon, double order);

/* The largest epsilon of a pure release that would still be allowed, rounded down. */
extern DpermAmount dperm_filter_left(const DpermFilter *filter, const DpermFilterSums *spent);

/*
 * The largest delta of a release with this epsilon, of which nothing else is
 * known, that would still be allowed.
 */
extern DpermAmount dperm_filter_delta_left(const DpermFilter *filter, const DpermFilterSums *spent,
										   double epsilon);

/* ----------------------------------------------------- what a call takes */

/*
 * What a call may release. The flags say which laws it may have: both if the
 * method is chosen by a rule that depends on the number of rows; none if there is
 * more than one release, or one of another kind, of which only epsilon and delta
 * are known. With a delta the noise is Gaussian. Without one, only output alone
 * says more than epsilon does.
 */
typedef struct DpermSpend
{
	DpermNeighbours neighbours;
	DpermUnit	unit;
	double		epsilon;		/* finite; of everything that the call releases */
	double		delta;			/* 0, or at least DPERM_DELTA_MIN */
	bool		output;			/* may it be output perturbation? */
	bool		objective;		/* may it be objective perturbation? */
	int			dim;			/* the number of weights */
	DpermLoss	loss;
	/* the largest share of epsilon for its slack, which must be that of the setup */
	double		slack;
} DpermSpend;

/* The slack of Gaussian objective perturbation on a protected relation. */
#define DPERM_CHARGE_SLACK 0.05

/*
 * What it takes from a budget with this order (0: a budget without delta).
 * Rounded up, and the same for any number of rows.
 */
extern DpermFilterSums dperm_charge_of(const DpermSpend *spend, double order);

#endif							/* DPERM_CHARGE_H */
