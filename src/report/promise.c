/*
 * promise.c: what a guarantee says and does not say, in words.
 *
 * The exact words are in docs/guarantee.md; sections are named as there.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"

#include "report/page.h"
#include "report/promise.h"

/* An epsilon above this says little. */
#define LARGE_EPSILON 10

/* What a promise has to be about for a statement to belong to it. */
enum
{
	ABOUT_PROTECTED = 1,
	ABOUT_BUDGET = 2,
	ABOUT_ROWS = 4,
	ABOUT_PERSONS = 8,
	ABOUT_TUNED = 16,
	ABOUT_KERNEL = 32,
	ABOUT_DELTA = 64
};

typedef struct Statement
{
	const char *text;
	int			about;			/* all of these; 0: always */
} Statement;

/* Section "Assumptions". */
static const Statement assumptions[] = {
	{"The random bits of the operating system are random, and independent of the rows."},
	{"Arithmetic is IEEE 754: doubles, rounded to nearest, without fast-math."},
	{"All passes of a call read the same rows. On one server that is one snapshot, and sources "
	 "that can change under it are refused; passes over rows of other servers are compared by a "
	 "digest, and rows do not move between servers meanwhile. Functions in views are as volatile "
	 "as they are marked."},
	{"Domains, parameters or their candidates, and priors were chosen without looking at the "
	 "private rows."},
	{"The BLAS rounds equal rows alike, wherever they stand in a block.", ABOUT_KERNEL},
	{"Portions for tuning were drawn at random, or by a keyed hash (SipHash-2-4) of what "
	 "identifies a row. Then either identities do not depend on what is private, or the hash "
	 "cannot be told from random draws, and the guarantee is against computers that cannot tell.",
	 ABOUT_TUNED},
	{"Each row of a table that a program fills, or of a materialized view, was made from rows of "
	 "one unit, and a partition that is detached keeps its unit.",
	 ABOUT_PROTECTED},
	{"The unit column identifies the same person everywhere.", ABOUT_PERSONS},
	{"The same people are behind one budget only.", ABOUT_PROTECTED},
	{"The limits of the budget are never raised above these.", ABOUT_BUDGET},
	{"What other tools released, and dp_budget_charge was told of, is as private as was charged.",
	 ABOUT_BUDGET}
};

/* Section "Not covered". */
static const Statement not_covered[] = {
	{"Access to the rows themselves: whoever can read the table, its backups or the files of the "
	 "server sees the rows."},
	{"Several rows of one person: for somebody with k rows, epsilon is k times as "
	 "large.",
	 ABOUT_ROWS},
	{"Nor does delta hold for them: it grows by a factor of more than k.",
	 ABOUT_ROWS | ABOUT_DELTA},
	{"Other releases about the same people: the costs of all of them add up. dperm counts those "
	 "that charge a budget, and no others."},
	{"Time and other side channels: how long a call takes depends on the rows."},
	{"What everybody may know: the number of rows, or of persons, the arguments of the call, and "
	 "the domains of the columns."},
	{"What is true of everybody: the model may say something about a person that would be just as "
	 "true had that person not been in the table."},
	{"Predictions for private rows: what the model says about a row is as private as that row."},
	{"The rows of a prior, which are covered by the guarantee of the prior."},
	{"Forgery: a model is not signed. Whoever can edit its text can edit its epsilon. The last "
	 "section says how to check it."}
};

/* What a promise is about. */
static int
subjects_of(const DpermPromise *promise)
{
	return (promise->is_protected ? ABOUT_PROTECTED : 0) |
		(promise->is_budget ? ABOUT_BUDGET : 0) |
		(promise->is_unit_open || promise->claim.unit == DPERM_UNIT_ROW ? ABOUT_ROWS : 0) |
		(promise->is_unit_open || promise->claim.unit == DPERM_UNIT_PERSON ? ABOUT_PERSONS : 0) |
		(promise->is_tuned ? ABOUT_TUNED : 0) | (promise->has_kernel ? ABOUT_KERNEL : 0) |
		(promise->claim.delta > 0 ? ABOUT_DELTA : 0);
}

/* The statements that belong to a promise, as a list. */
static void
put_statements(StringInfo page, const DpermPromise *promise, const Statement *statements, int count)
{
	int			subjects = subjects_of(promise);

	dperm_page_put(page, "<ul>\n");
	for (int i = 0; i < count; i++)
		if ((statements[i].about & ~subjects) == 0)
			dperm_page_item(page, statements[i].text);
	dperm_page_put(page, "</ul>\n");
}

/* Whose data, as the object of a sentence. */
static const char *
whose(const DpermPromise *promise)
{
	if (promise->is_unit_open)
		return "any one row, or all rows of any one person, which is not known yet,";
	return promise->claim.unit == DPERM_UNIT_PERSON ? "all rows of any one person" : "any one row";
}

/* What an attacker does not know: which of two neighbours there is. */
static const char *
doubt(const DpermPromise *promise)
{
	bool		person = promise->claim.unit == DPERM_UNIT_PERSON;

	if (promise->claim.neighbours == DPERM_NEIGHBOURS_REMOVE)
		return person ? "two ideas of one person: that they have certain rows, or none" :
			"two ideas of one row: that it holds certain values, or is empty";
	return person ? "two ideas of what the rows of one person hold" :
		"two ideas of what one row holds";
}

/*
 * The largest share of right alarms at a share of wrong ones: both bounds of
 * (epsilon, delta), in percent with one digit, rounded up.
 */
static double
most_right(const DpermClaim *claim, double wrong)
{
	double		direct = exp(claim->epsilon) * wrong + claim->delta;
	double		reverse = 1 - exp(-claim->epsilon) * (1 - wrong - claim->delta);

	return Min(100, ceil(1000 * Min(direct, reverse) - 1e-9) / 10);
}

/* A number from 1 on, with three digits, not below it. */
static double
rounded_up(double number)
{
	double		power = pow(10, floor(log10(number)) - 2);

	return isinf(number) ? number : ceil(number / power) * power;
}

/* What an attacker can find out. */
static void
put_attack(StringInfo page, const DpermPromise *promise)
{
	static const char *const columns[] = {"false alarms", "true alarms, at most", NULL};
	static const double wrong[] = {0.01, 0.05, 0.1, 0.5};

	dperm_page_put(page, "<p>Suppose that an attacker knows all other rows, and has %s. They raise "
				   "the alarm if the released numbers speak for one of the two. However they "
				   "decide%s:</p>\n", doubt(promise),
				   promise->is_tuned ? "" : ", and with whatever computers");
	dperm_page_table(page, "What an attacker can find out at most", columns);
	for (int i = 0; i < (int) lengthof(wrong); i++)
		dperm_page_fact(page, psprintf("%.0f %%", 100 * wrong[i]),
						psprintf("%.1f %%", most_right(&promise->claim, wrong[i])));
	dperm_page_table_end(page);
}

/* In plain words. */
void
dperm_promise_plain(StringInfo page, const DpermPromise *promise)
{
	const DpermClaim *claim = &promise->claim;
	const char *other = claim->neighbours != DPERM_NEIGHBOURS_REMOVE ? "had held anything else" :
		claim->unit == DPERM_UNIT_PERSON ? "had been left out" : "had been empty";

	if (!dperm_claim_private(claim))
	{
		dperm_page_put(page, "<p class=\"alarm\">NOT PRIVATE. %s was computed without noise, and "
					   "there is no guarantee. It may reveal what single rows hold: treat it like "
					   "the rows themselves.</p>\n",
					   strcmp(promise->released, "the model") == 0 ? "The model" : "This");
		return;
	}
	dperm_page_put(page, "<p>Whatever somebody concludes from %s, they would have concluded with "
				   "almost the same probability if %s in the data %s. How nearly the same is "
				   "measured by epsilon. Here it is %s: no conclusion becomes more than "
				   "e<sup>%s</sup> = %.3g times as likely, or as unlikely",
				   promise->released, whose(promise), other,
				   double_to_shortest_decimal(claim->epsilon),
				   double_to_shortest_decimal(claim->epsilon), rounded_up(exp(claim->epsilon)));
	if (claim->delta > 0)
		dperm_page_put(page, ", apart from a probability of at most delta = %s",
					   double_to_shortest_decimal(claim->delta));
	dperm_page_put(page, ". That holds whatever else they know, now or later.</p>\n");
	if (claim->epsilon > LARGE_EPSILON)
		dperm_page_put(page, "<p class=\"alarm\">An epsilon above %d is so large that this says "
					   "next to nothing.</p>\n", LARGE_EPSILON);
	put_attack(page, promise);
}

/* Assumptions, and what is not covered. */
void
dperm_promise_limits(StringInfo page, const DpermPromise *promise)
{
	dperm_page_put(page, "<h3>It holds if</h3>\n");
	put_statements(page, promise, assumptions, lengthof(assumptions));
	dperm_page_put(page, "<h3>It does not cover</h3>\n");
	put_statements(page, promise, not_covered, lengthof(not_covered));
	dperm_page_put(page, "<p>Proofs, and the full lists: docs/guarantee.md of dperm %s, sections "
				   "Assumptions and Not covered.</p>\n", DPERM_VERSION);
}

/* Which tables are neighbours. */
const char *
dperm_promise_neighbours(const DpermClaim *claim)
{
	if (claim->unit == DPERM_UNIT_PERSON)
		return claim->neighbours == DPERM_NEIGHBOURS_REMOVE ?
			"Neighbours are two tables of which one is the other without any row of one person, "
			"who is still counted (remove). A person is all rows that share a value of the unit "
			"column. The number of persons is public, the number of rows is not." :
			"Neighbours are two tables with the same number of persons that differ in all rows of "
			"one person (replace). A person is all rows that share a value of the unit column. "
			"The number of persons is public, the number of rows is not.";
	return claim->neighbours == DPERM_NEIGHBOURS_REMOVE ?
		"Neighbours are two tables of which one is the other with an empty row in place of one of "
		"its rows (remove). The number of rows is the same, and public." :
		"Neighbours are two tables with the same number of rows that differ in what one row holds "
		"(replace). The number of rows is public.";
}

/* Section "Threat model". */
const char *
dperm_promise_actors(const DpermPromise *promise)
{
	return promise->is_protected ?
		"The owner of the data and the administrators of the server can read the rows, and are "
		"trusted. Analysts with a grant are not: they choose the calls, run any SQL around them "
		"and see results and errors, but no row. Nobody else who gets a result is trusted "
		"either. They may know everything but the data of one unit, and work together." :
		"Whoever called dperm can read the rows, and is trusted, and so are the administrators of "
		"the server. Nobody else who gets the result is: they may know everything but the data of "
		"one unit, and work together.";
}
