/*
 * budget_page.c: the report on a budget: a page, and a record.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "report/budget_page.h"
#include "report/facts.h"
#include "report/page.h"
#include "report/picture.h"
#include "report/promise.h"

/* How many steps a picture of charges has at most. */
#define STEPS 400

/* The largest limits since the first charge, and what else is known of it. */
static JsonbContainer *
largest_of(const DpermBudgetReport *report)
{
	return dperm_facts_member(report->facts, "largest");
}

/* The row of dp_budgets, or of a budget that was dropped; NULL if there is none. */
static JsonbContainer *
account_of(const DpermBudgetReport *report)
{
	return dperm_facts_object(dperm_facts_member(report->facts, "budgets"), 0);
}

/* A column of that row; NULL if there is none. */
static char *
account_text(const DpermBudgetReport *report, const char *column)
{
	return dperm_facts_text(account_of(report), column);
}

/* The entry of the ledger that created it. */
static double
first_entry(const DpermBudgetReport *report)
{
	double		since = 1;

	(void) dperm_facts_number(largest_of(report), "since", &since);
	return since;
}

/* What there was before it under its name, or an empty text. */
static char *
former_budgets(const DpermBudgetReport *report)
{
	double		since = first_entry(report);

	return since > 1 ?
		psprintf("Entries 1 to %.0f of the ledger are of budgets of this name that were dropped: "
				 "what these released adds up with it.", since - 1) : pstrdup("");
}

/*
 * Which object has a limit that all releases together guarantee: the largest one
 * that there was (docs/guarantee.md, "Limits that change").
 */
static JsonbContainer *
claimed_in(const DpermBudgetReport *report, const char *limit)
{
	double		now = 0;
	double		most = 0;

	(void) dperm_facts_number(account_of(report), limit, &now);
	return dperm_facts_number(largest_of(report), limit, &most) && most > now ?
		largest_of(report) : account_of(report);
}

/* What all releases together guarantee. */
static DpermPromise
promise_of(const DpermBudgetReport *report)
{
	DpermPromise promise = {
		.claim = {.epsilon = INFINITY},
		.released = "all releases of this budget together",
		.is_protected = true,
		.is_budget = true,
		.has_kernel = true,
		.is_unit_open = account_text(report, "unit") == NULL
	};

	if (dperm_facts_is(account_of(report), "unit", "person"))
		promise.claim.unit = DPERM_UNIT_PERSON;
	if (dperm_facts_is(account_of(report), "neighbours", "remove"))
		promise.claim.neighbours = DPERM_NEIGHBOURS_REMOVE;
	(void) dperm_facts_number(claimed_in(report, "epsilon"), "epsilon", &promise.claim.epsilon);
	(void) dperm_facts_number(claimed_in(report, "delta"), "delta", &promise.claim.delta);
	return promise;
}

/* Title and purpose, with defaults. */
static DpermSubject
budget_subject(const DpermBudgetReport *report)
{
	DpermSubject subject = report->subject;

	if (subject.title == NULL)
		subject.title = psprintf("Privacy budget %s", report->budget);
	return subject;
}

/* How charges are added up. */
static const char *
budget_composition(const DpermPromise *promise)
{
	return promise->claim.delta > 0 ?
		"A privacy filter: a charge is accepted as long as the sums of epsilon and delta, or the "
		"sum of the Renyi divergences at one order, are within the budget. It holds for any "
		"adaptive choice of releases." :
		"Sequential composition: the epsilons of all charges are added up, whatever is chosen in "
		"the light of earlier results. Each charge adds a probability below 2^-64 that its noise "
		"is larger than the rounding analysis allows for.";
}

/* How releases are made from it. */
static void
put_interaction(StringInfo json, const DpermBudgetReport *report, const DpermPromise *promise)
{
	char	   *former = former_budgets(report);

	dperm_record_part(json, "deployment_model");
	dperm_record_field(json, "model_name", "Central");
	dperm_record_field(json, "actors", dperm_promise_actors(promise));
	dperm_record_field(json, "release_type", "Many releases");
	dperm_record_field(json, "release_type_details",
					   "The budget is never refilled by time. Its owner can raise the limits, "
					   "which the ledger shows.");
	dperm_record_field(json, "data_source_type", "Dynamic");
	dperm_record_field(json, "access_type", "Interactive");
	dperm_record_field(json, "access_type_details",
					   "Analysts spend from grants, and the budget limits what they spend in all. "
					   "They may work together.");
	dperm_record_part(json, "accounting");
	if (!isinf(promise->claim.epsilon))
		dperm_record_field(json, "composition",
						   psprintf("%s%s%s", budget_composition(promise), *former ? " " : "",
									former));
	dperm_record_part(json, "implementation");
	dperm_record_field(json, "mechanisms",
					   "Objective and output perturbation for models, discrete Laplace noise for "
					   "evaluations: dperm " DPERM_VERSION ", in PostgreSQL " PG_VERSION ". "
					   "Releases of other tools are charged by dp_budget_charge.");
}

/* The record of a budget: what can be released from it. */
Jsonb *
dperm_budget_page_record(const DpermBudgetReport *report)
{
	const DpermPromise promise = promise_of(report);
	DpermSubject subject = budget_subject(report);
	StringInfoData json;

	initStringInfo(&json);
	dperm_record_begin(&json, &subject, "Interactive API",
					   "Models and evaluations that analysts make in the database, each charged "
					   "to a privacy budget before a row is read.",
					   dperm_page_day(dperm_facts_text(report->facts, "since")));
	dperm_record_part(&json, "dp_variant");
	if (account_of(report))
		dperm_record_field(&json, "variant_name",
						   promise.claim.delta > 0 ? "Approximate DP" : "Pure DP");
	dperm_record_field(&json, "unprotected_quantities",
					   "The numbers of rows, or of persons, the arguments of calls, the domains "
					   "of columns, and the time of charges.");
	dperm_record_part(&json, "privacy_loss");
	dperm_record_field(&json, "privacy_unit", account_text(report, "unit"));
	if (account_of(report))
	{
		if (!promise.is_unit_open)
			dperm_record_field(&json, "privacy_unit_details",
							   dperm_promise_neighbours(&promise.claim));
		dperm_record_parameters(&json,
								dperm_facts_text(claimed_in(report, "epsilon"), "epsilon"),
								dperm_facts_text(claimed_in(report, "delta"), "delta"));
		dperm_record_field(&json, "privacy_parameters_details",
						   psprintf("Limits of all releases together, the largest that there "
									"were since the first charge; it holds if larger ones are "
									"never set, whatever is released. So far, the charges add "
									"up to epsilon %s and delta %s.",
									account_text(report, "epsilon_spent"),
									account_text(report, "delta_spent")));
	}
	put_interaction(&json, report, &promise);
	return dperm_record_end(&json, NULL);
}

/* Purpose, and the balance. */
static void
put_balance(StringInfo page, const DpermBudgetReport *report, const DpermSubject *subject)
{
	static const struct
	{
		const char *column;
		const char *name;
	}			tiles[] = {
		{"epsilon", "epsilon, limit"}, {"epsilon_spent", "epsilon, charged"},
		{"epsilon_left", "epsilon, left"}, {"delta", "delta, limit"},
		{"delta_spent", "delta, charged"}, {"unit", "protects"}, {"neighbours", "neighbours"},
		{"owner", "owner"}
	};
	char	   *former = former_budgets(report);

	if (subject->purpose)
	{
		dperm_page_put(page, "<p>Purpose: ");
		dperm_page_text(page, subject->purpose, DPERM_PAGE_LONG);
		dperm_page_put(page, "</p>\n");
	}
	dperm_page_put(page, "<p class=\"soft\">Report of %s by dperm %s. It shows what role ",
				   dperm_page_today(), DPERM_VERSION);
	dperm_page_text(page, GetUserNameFromId(GetUserId(), false), DPERM_PAGE_NAME);
	dperm_page_put(page, " may see in dp_budgets, dp_grants, dp_protected and dp_ledger, and the "
				   "largest limits that there were.</p>\n");
	if (*former)
		dperm_page_put(page, "<p>%s</p>\n", former);
	if (account_of(report) == NULL)
	{
		dperm_page_put(page, "<p>The balance is not visible to this role.</p>\n");
		return;
	}
	if (account_text(report, "dropped"))
		dperm_page_put(page, "<p>The budget was dropped: nothing is charged to it any more.</p>\n");
	dperm_page_put(page, "<dl class=\"tiles\">\n");
	for (int i = 0; i < (int) lengthof(tiles); i++)
	{
		char	   *value = account_text(report, tiles[i].column);

		dperm_page_tile(page, tiles[i].name, value ? value : "not known yet");
	}
	dperm_page_put(page, "</dl>\n<p class=\"soft\">Left is the largest epsilon that a single "
				   "release without delta can still have, for this role. With a delta, charges "
				   "can add up to more than the limit, because many small releases cost less than "
				   "their sum.</p>\n");
}

/* Charges over time. */
static void
put_history(StringInfo page, const DpermBudgetReport *report)
{
	JsonbContainer *times = dperm_facts_member(report->facts, "times");
	JsonbContainer *amounts = dperm_facts_member(report->facts, "amounts");
	int			charges = dperm_facts_count(times);
	int			every = charges / STEPS + 1;
	DpermPoint *points = palloc0(sizeof(DpermPoint) * (STEPS + 3));
	int			count = 1;
	double		sum = 0;
	double		limit = 0;

	dperm_page_section(page, "history", "What was spent over time");
	if (charges == 0 || !dperm_facts_element(times, 0, &points[0].x))
	{
		dperm_page_put(page, "<p>Nothing was charged that this role may see.</p>\n");
		return;
	}
	for (int i = 0; i < charges; i++)
	{
		double		amount = 0;
		double		at = points[0].x;

		(void) dperm_facts_element(amounts, i, &amount);
		(void) dperm_facts_element(times, i, &at);
		sum += amount;
		if (i % every == 0 || i == charges - 1)
			points[count++] = (DpermPoint) {.x = at, .y = sum};
	}
	(void) dperm_facts_number(account_of(report), "epsilon", &limit);
	dperm_page_put(page, "<div class=\"wide\">\n");
	dperm_picture_sum(page, points, count, limit > 0 ? limit : sum,
					  dperm_page_moment(dperm_facts_text(report->facts, "first")),
					  dperm_page_moment(dperm_facts_text(report->facts, "last")));
	dperm_page_put(page, "</div>\n<p class=\"soft\">The sum of the epsilons of %d charges%s.</p>\n",
				   charges, limit > 0 ? "; the dashed line is the limit" : "");
}

/* A key as a heading, with spaces for underscores. */
static char *
heading_of(const char *key)
{
	char	   *heading = pstrdup(key);

	for (char *c = heading; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return heading;
}

/*
 * The objects of an array as a table, with these keys. Times are cut to
 * minutes.
 */
static void
put_objects(StringInfo page, const DpermBudgetReport *report, const char *array,
			const char *caption, const char *const *keys)
{
	JsonbContainer *rows = dperm_facts_member(report->facts, array);
	int			shown = Min(dperm_facts_count(rows), DPERM_PAGE_ROWS);
	const char **headings;
	int			columns = 0;

	if (shown == 0)
	{
		dperm_page_put(page, "<p>None that this role may see.</p>\n");
		return;
	}
	while (keys[columns])
		columns++;
	headings = palloc0(sizeof(char *) * (columns + 1));
	for (int k = 0; k < columns; k++)
		headings[k] = heading_of(keys[k]);
	dperm_page_table(page, caption, headings);
	for (int i = 0; i < shown; i++)
	{
		JsonbContainer *row = dperm_facts_object(rows, i);

		dperm_page_put(page, "<tr>");
		for (int k = 0; k < columns; k++)
		{
			char	   *text = dperm_facts_text(row, keys[k]);
			bool		time = strcmp(keys[k], "at") == 0 || strcmp(keys[k], "first") == 0 ||
				strcmp(keys[k], "last") == 0;

			if (time)
				dperm_page_time(page, text);
			else
				dperm_page_cell(page, k == 0, text);
		}
		dperm_page_put(page, "</tr>\n");
	}
	dperm_page_table_end(page);
	dperm_page_cut(page, dperm_facts_count(rows), shown, array);
}

/* Who spent what, and who may. */
static void
put_people(StringInfo page, const DpermBudgetReport *report)
{
	static const char *const spenders[] = {
		"role", "charges", "epsilon", "delta", "first", "last", NULL
	};
	static const char *const grants[] = {
		"role", "epsilon_granted", "epsilon_spent", "epsilon_left", "delta_granted", "delta_spent",
		"delta_left", NULL
	};
	static const char *const relations[] = {"relation", "unit", "columns", "domains", NULL};

	dperm_page_section(page, "spenders", "Who spent what");
	put_objects(page, report, "spenders", "Charges by role", spenders);
	dperm_page_section(page, "grants", "Who may spend");
	dperm_page_put(page, "<p>The owner of the budget, the owners of the protected relations, and "
				   "roles with a grant. A limit that is not shown is that of the budget.</p>\n");
	put_objects(page, report, "grants", "Grants", grants);
	dperm_page_section(page, "relations", "About whom");
	put_objects(page, report, "protected", "Protected relations that charge the budget", relations);
}

/* The latest entries of the ledger. */
static void
put_entries(StringInfo page, const DpermBudgetReport *report)
{
	static const char *const columns[] = {
		"entry", "at", "act", "role", "function", "relation", "purpose", "epsilon", "delta",
		"release", NULL
	};
	double		count = 0;

	dperm_page_section(page, "ledger", "The ledger");
	dperm_page_put(page, "<p>The latest entries come first. Of the charges of others, a role that "
				   "does not own the budget sees only who, when and how much.</p>\n");
	put_objects(page, report, "entries", "Entries of the ledger", columns);
	(void) dperm_facts_number(report->facts, "count", &count);
	dperm_page_cut(page, (int64) Min(Max(count, 0), 1e15),
				   dperm_facts_count(dperm_facts_member(report->facts, "entries")), "entries");
}

/* How to check it. */
static void
put_queries(StringInfo page, const DpermBudgetReport *report)
{
	static const char *const queries[] = {
		"SELECT * FROM dp_budgets WHERE budget = ", "SELECT * FROM dp_grants WHERE budget = ",
		"SELECT sum(epsilon), sum(delta) FROM dp_ledger WHERE act = 'charge' AND budget = ",
		"SELECT * FROM dp_ledger WHERE budget = "
	};
	double		since = first_entry(report);

	dperm_page_section(page, "check", "How to check it");
	dperm_page_put(page, "<p>The charges of a budget add up exactly to what it has spent, and "
				   "entries are numbered without gaps. Its owner sees all of them:</p>\n<pre>");
	for (int i = 0; i < (int) lengthof(queries); i++)
	{
		dperm_page_text(page, queries[i], DPERM_PAGE_LONG);
		dperm_page_text(page, quote_literal_cstr(report->budget), DPERM_PAGE_NAME);
		if (i >= 2 && since > 1)
			dperm_page_put(page, " AND entry &#62;= %.0f", since);
		dperm_page_put(page, "%s;\n", i == 3 ? " ORDER BY entry" : "");
	}
	dperm_page_put(page, "</pre>\n");
}

/* The page. */
void
dperm_budget_page_write(StringInfo page, const DpermBudgetReport *report)
{
	const DpermPromise promise = promise_of(report);
	DpermSubject subject = budget_subject(report);

	dperm_page_begin(page, subject.title);
	put_balance(page, report, &subject);
	put_history(page, report);
	put_people(page, report);
	if (account_of(report))
	{
		dperm_page_section(page, "plainly", "The guarantee in plain words");
		dperm_promise_plain(page, &promise);
	}
	dperm_page_section(page, "exactly", "The guarantee exactly");
	dperm_page_put(page, "<p class=\"soft\">The fields are those of the OpenDP Deployments "
				   "Registry; dp_report_data returns them as JSON.</p>\n");
	dperm_record_show(page, dperm_budget_page_record(report));
	if (account_of(report))
		dperm_promise_limits(page, &promise);
	put_entries(page, report);
	put_queries(page, report);
	dperm_page_end(page);
}
