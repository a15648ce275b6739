/*
 * model_page.c: the report on a model, as a page.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "column/model_type.h"
#include "core/model/prior.h"
#include "report/columns.h"
#include "report/evaluation.h"
#include "report/facts.h"
#include "report/model_page.h"
#include "report/page.h"

/* Purpose, date, and the figures that matter most. */
static void
put_head(StringInfo page, const DpermModelReport *report, const DpermSubject *subject)
{
	const DpermModel *model = report->model;
	const DpermClaim *claim = &model->claim;
	bool		private = dperm_claim_private(claim);

	dperm_page_put(page, "<p>Purpose: ");
	dperm_page_text(page, subject->purpose ? subject->purpose : DPERM_RECORD_UNKNOWN,
					DPERM_PAGE_LONG);
	dperm_page_put(page, "</p>\n<p class=\"soft\">Report of %s by dperm %s, for role ",
				   dperm_page_today(), DPERM_VERSION);
	dperm_page_text(page, GetUserNameFromId(GetUserId(), false), DPERM_PAGE_NAME);
	if (subject->curator)
	{
		dperm_page_put(page, ". Curator: ");
		dperm_page_text(page, subject->curator, DPERM_PAGE_NAME);
	}
	dperm_page_put(page, ". Made from the model, the ledger and what the caller added: no row was "
				   "read.</p>\n<dl class=\"tiles\">\n");
	dperm_page_tile(page, "epsilon", private ? double_to_shortest_decimal(claim->epsilon) :
					"NOT PRIVATE");
	dperm_page_tile(page, "delta", private ? double_to_shortest_decimal(claim->delta) : "none");
	dperm_page_tile(page, "protects", private ? dperm_model_report_units(model) : "nothing");
	dperm_page_tile(page, psprintf("number of %s", dperm_model_report_units(model)),
					psprintf(INT64_FORMAT, model->rows));
	dperm_page_tile(page, "weights", psprintf("%d", dperm_model_weights(model)));
	dperm_page_put(page, "</dl>\n");
}

/* What was released, and about whom. */
static void
put_release(StringInfo page, const DpermModelReport *report, Jsonb *record)
{
	const DpermModel *model = report->model;
	JsonbContainer *deployment = dperm_facts_member(&record->root, "deployment");
	JsonbContainer *basic = dperm_facts_member(deployment, "basic");

	dperm_page_section(page, "released", "What was released, and about whom");
	dperm_page_put(page, "<p>");
	dperm_page_text(page, dperm_facts_text(basic, "description"), DPERM_PAGE_LONG);
	dperm_page_put(page, "</p>\n");
	dperm_page_table(page, "The release", NULL);
	dperm_page_fact(page, "predicts", dperm_model_report_label(model));
	dperm_page_fact(page, "about", dperm_model_report_source(model));
	dperm_page_fact(page, psprintf("number of %s", dperm_model_report_units(model)),
					psprintf(INT64_FORMAT, model->rows));
	if (dperm_model_report_entry(report))
		dperm_page_fact(page, "date", dperm_facts_text(basic, "publication_date"));
	dperm_page_fact(page, "region", dperm_facts_text(basic, "data_product_region"));
	dperm_page_fact(page, "SHA-256", dperm_model_report_digest(model));
	dperm_page_table_end(page);
}

/* What a prior takes from the guarantee. */
static void
put_prior_words(StringInfo page, const DpermModel *model)
{
	bool		alarm;
	char	   *prior = dperm_model_report_prior(model, &alarm);

	if (prior == NULL)
		return;
	dperm_page_put(page, alarm ? "<p class=\"alarm\">" : "<p>");
	dperm_page_text(page, prior, DPERM_PAGE_LONG);
	dperm_page_put(page, "</p>\n");
}

/* The guarantee, plainly and exactly. */
static void
put_guarantee_section(StringInfo page, const DpermModelReport *report, Jsonb *record)
{
	const DpermModel *model = report->model;
	const DpermPromise promise = dperm_model_report_promise(report);

	dperm_page_section(page, "plainly", "The guarantee in plain words");
	put_prior_words(page, model);
	dperm_promise_plain(page, &promise);
	dperm_page_section(page, "exactly", "The guarantee exactly");
	dperm_page_put(page, "<p>");
	dperm_page_text(page, dperm_model_type_print(model, dperm_model_print_guarantee),
					DPERM_PAGE_LONG);
	dperm_page_put(page, "</p>\n<p class=\"soft\">The fields are those of the OpenDP Deployments "
				   "Registry; dp_report_data returns them as JSON.</p>\n");
	dperm_record_show(page, record);
	if (dperm_claim_private(&model->claim))
		dperm_promise_limits(page, &promise);
}

/* The prior, if there is one. */
static void
put_prior_section(StringInfo page, const DpermModel *model)
{
	DpermPrior	prior;
	bool		noisy;

	if (model->prior.len == 0 || dperm_prior_read(&model->prior, &prior) != NULL)
		return;
	noisy = !isinf(prior.claim.epsilon);
	dperm_page_section(page, "prior", "The prior");
	dperm_page_put(page, "<p>The plain words say what it means for the guarantee.</p>\n");
	dperm_page_table(page, "The prior", NULL);
	dperm_page_fact(page, "trained on", prior.source.len == 0 ? DPERM_RECORD_UNKNOWN :
					pnstrdup(prior.source.bytes, prior.source.len));
	dperm_page_fact(page, "epsilon", noisy ? double_to_shortest_decimal(prior.claim.epsilon) :
					"Infinity");
	dperm_page_fact(page, "delta", double_to_shortest_decimal(prior.claim.delta));
	dperm_page_fact(page, "unit", dperm_claim_unit_name(prior.claim.unit));
	dperm_page_fact(page, "neighbours", dperm_claim_neighbours_name(prior.claim.neighbours));
	dperm_page_fact(page, "norm of its weights", psprintf("%.4g", prior.norm));
	if (prior.entry > 0)
		dperm_page_fact(page, "entry of its ledger", psprintf(INT64_FORMAT, prior.entry));
	dperm_page_table_end(page);
}

/* The latest rows of a function that the ledger keeps, or NULL. */
static JsonbContainer *
latest_metrics(const DpermModelReport *report, const char *function)
{
	for (int i = dperm_facts_count(report->ledger) - 1; i >= 0; i--)
	{
		JsonbContainer *row = dperm_facts_object(report->ledger, i);
		JsonbContainer *metrics = dperm_facts_member(row, "metrics");

		if (metrics && dperm_facts_is(row, "function", function))
			return metrics;
	}
	return NULL;
}

/* How good the model is, by the caller's rows or by those of the ledger. */
static void
put_evaluation(StringInfo page, const DpermModelReport *report)
{
	JsonbContainer *metrics = latest_metrics(report, "dp_evaluate");
	JsonbContainer *curve = latest_metrics(report, "dp_roc");

	dperm_page_section(page, "quality", "How good it is");
	if (report->evaluation)
	{
		dperm_page_put(page, "<p>As handed to the report by its caller. An evaluation is a "
					   "release of its own, with a cost of its own.</p>\n");
		dperm_evaluation_show(page, report->evaluation);
	}
	else if (dperm_model_report_entry(report) && (metrics || curve))
	{
		dperm_page_put(page, "<p>From the ledger: the latest evaluation of a model that names "
					   "this entry. It has noise, and a cost, of its own.</p>\n");
		dperm_evaluation_show(page, metrics);
		dperm_evaluation_show(page, curve);
	}
	else
		dperm_page_put(page, "<p>No evaluation was given. dp_evaluate%s one, at a cost of its "
					   "own.</p>\n", dperm_model_label(report->model) == DPERM_LABEL_NUMBER ?
					   " makes" : " and dp_roc make");
}

/* Is what the ledger keeps this model? */
static void
put_kept(StringInfo page, const DpermModelReport *report)
{
	switch (dperm_model_report_payment(report))
	{
		case DPERM_PAYMENT_NONE:
			break;
		case DPERM_PAYMENT_UNSEEN:
			dperm_page_put(page, "<p>It does not exist here, or what was released for it is not "
						   "kept, or not visible to this role.</p>\n");
			break;
		case DPERM_PAYMENT_SAME:
			dperm_page_put(page, "<p>The model that the ledger keeps is exactly this one.</p>\n");
			break;
		case DPERM_PAYMENT_OTHER:
			dperm_page_put(page, "<p class=\"alarm\">What was released for it is NOT this "
						   "model.</p>\n");
			break;
	}
}

/* Charges for evaluations of a model that names the same entry. */
static void
put_later_charges(StringInfo page, const DpermModelReport *report)
{
	static const char *const columns[] = {
		"entry", "time", "role", "function", "epsilon", "delta", NULL
	};
	static const char *const keys[] = {"role", "function", "epsilon", "delta"};
	int			count = 0;
	int			shown = 0;

	for (int i = 0; i < dperm_facts_count(report->ledger); i++)
		if (!dperm_facts_is(dperm_facts_object(report->ledger, i), "own", "true"))
			count++;
	if (count == 0)
		return;
	dperm_page_table(page, "Evaluations whose model names this entry", columns);
	for (int i = 0; shown < Min(count, DPERM_PAGE_ROWS); i++)
	{
		JsonbContainer *row = dperm_facts_object(report->ledger, i);

		if (dperm_facts_is(row, "own", "true"))
			continue;
		dperm_page_put(page, "<tr>");
		dperm_page_cell(page, true, dperm_facts_text(row, "entry"));
		dperm_page_time(page, dperm_facts_text(row, "at"));
		for (int k = 0; k < (int) lengthof(keys); k++)
			dperm_page_cell(page, false, dperm_facts_text(row, keys[k]));
		dperm_page_put(page, "</tr>\n");
		shown++;
	}
	dperm_page_table_end(page);
	dperm_page_cut(page, count, shown, "evaluations");
}

/* The entry of the ledger. */
static void
put_ledger_section(StringInfo page, const DpermModelReport *report)
{
	static const char *const keys[] = {
		"role", "function", "relation", "label", "features", "parameters", "purpose", "neighbours",
		"unit", "epsilon", "delta", "release"
	};
	const DpermModel *model = report->model;
	JsonbContainer *entry = dperm_model_report_entry(report);

	dperm_page_section(page, "ledger", "The ledger");
	if (model->entry == 0)
	{
		dperm_page_put(page, "<p>The model names no entry of a ledger: no budget was charged for "
					   "it.</p>\n");
		return;
	}
	dperm_page_put(page, "<p>The model names entry " INT64_FORMAT " of budget ", model->entry);
	dperm_page_bytes(page, model->budget.bytes, model->budget.len, DPERM_PAGE_NAME);
	dperm_page_put(page, ".</p>\n");
	put_kept(page, report);
	if (entry == NULL)
		return;
	dperm_page_table(page, "The entry", NULL);
	dperm_page_fact(page, "time", dperm_page_moment(dperm_facts_text(entry, "at")));
	for (int i = 0; i < (int) lengthof(keys); i++)
		dperm_page_fact(page, keys[i], dperm_facts_text(entry, keys[i]));
	dperm_page_table_end(page);
	put_later_charges(page, report);
}

/* How to check it. */
static void
put_checks(StringInfo page, const DpermModel *model)
{
	char	   *budget = pnstrdup(model->budget.bytes, model->budget.len);

	dperm_page_section(page, "check", "How to check it");
	dperm_page_put(page, "<p>In the database, with the model in <code>models.model</code>:</p>\n"
				   "<pre>-- is this the model of this page? the SHA-256 is above\n"
				   "SELECT encode(sha256(convert_to(model::text, &#39;UTF8&#39;)), "
				   "&#39;hex&#39;) FROM models;\n-- the guarantee, written anew from what it "
				   "states\nSELECT dp_guarantee(model) FROM models;\n-- weights and their "
				   "noise\nSELECT c.* FROM models, dp_coefficients(model) c;\n-- what several "
				   "releases cost together\nSELECT dp_compose(model, 1e-6) FROM models;\n");
	if (model->entry > 0)
	{
		dperm_page_put(page, "-- what was paid for it, and the model that was released then\n"
					   "SELECT * FROM dp_ledger WHERE budget = ");
		dperm_page_text(page, quote_literal_cstr(budget), DPERM_PAGE_NAME);
		dperm_page_put(page, " AND entry = " INT64_FORMAT ";\n", model->entry);
	}
	dperm_page_put(page, "</pre>\n<p>The proof is in docs/guarantee.md of dperm. <code>make "
				   "audit</code> looks for faults in the program, and <code>script/test</code> "
				   "runs its tests.</p>\n");
}

/* The page. */
void
dperm_model_page_write(StringInfo page, const DpermModelReport *report)
{
	DpermSubject subject = dperm_model_report_subject(report);
	Jsonb	   *record = dperm_model_report_record(report);

	dperm_page_begin(page, subject.title);
	put_head(page, report, &subject);
	put_release(page, report, record);
	put_guarantee_section(page, report, record);
	dperm_page_section(page, "columns", "What the model says");
	dperm_columns_pictures(page, report->model);
	put_evaluation(page, report);
	dperm_page_section(page, "domains", "Domains");
	dperm_page_put(page, "<p>The possible values of the columns are public. They were declared, "
				   "not read from rows.</p>\n");
	dperm_columns_domains(page, report->model);
	put_prior_section(page, report->model);
	put_ledger_section(page, report);
	put_checks(page, report->model);
	dperm_page_end(page);
}
