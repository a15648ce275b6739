/*
 * report.c: dp_report and dp_report_data, from releases and public facts. The
 * functions in SQL (sql/parts/90_report.sql) read the views, with the rights of
 * the caller, and pass on what these show.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "base/arguments.h"
#include "column/model_type.h"
#include "report/budget_page.h"
#include "report/evaluation.h"
#include "report/facts.h"
#include "report/model_page.h"

PG_FUNCTION_INFO_V1(dperm_report_model);
PG_FUNCTION_INFO_V1(dperm_report_model_data);
PG_FUNCTION_INFO_V1(dperm_report_budget);
PG_FUNCTION_INFO_V1(dperm_report_budget_data);

/* A text argument; NULL if it is NULL. */
static char *
text_argument(FunctionCallInfo fcinfo, int i)
{
	return PG_ARGISNULL(i) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(i));
}

/* A jsonb argument; NULL if it is NULL. */
static JsonbContainer *
json_argument(FunctionCallInfo fcinfo, int i)
{
	return PG_ARGISNULL(i) ? NULL : &PG_GETARG_JSONB_P(i)->root;
}

/* Title, purpose and curator, from argument first on. */
static DpermSubject
subject_arguments(FunctionCallInfo fcinfo, int first)
{
	return (DpermSubject) {
		.title = text_argument(fcinfo, first),
		.purpose = text_argument(fcinfo, first + 1),
		.curator = text_argument(fcinfo, first + 2)
	};
}

/* The arguments model, which must not be NULL, title, purpose, curator, ledger, and evaluation. */
static DpermModelReport
model_arguments(FunctionCallInfo fcinfo)
{
	return (DpermModelReport) {
		.model = dperm_model_type_required(fcinfo),
		.subject = subject_arguments(fcinfo, 1),
		.ledger = json_argument(fcinfo, 4),
		.evaluation = fcinfo->nargs > 5 ? json_argument(fcinfo, 5) : NULL
	};
}

/* The arguments budget, which must not be NULL, title, purpose, curator, and facts. */
static DpermBudgetReport
budget_arguments(FunctionCallInfo fcinfo)
{
	DpermBudgetReport report = {
		.budget = dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED),
		.subject = subject_arguments(fcinfo, 1),
		.facts = json_argument(fcinfo, 4)
	};

	if (dperm_facts_count(dperm_facts_member(report.facts, "budgets")) == 0 &&
		dperm_facts_count(dperm_facts_member(report.facts, "entries")) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no privacy budget \"%s\" that you may see", report.budget),
				 errhint("dp_budgets lists those that you own or may spend from.")));
	return report;
}

/* The page of a model. */
Datum
dperm_report_model(PG_FUNCTION_ARGS)
{
	DpermModelReport report = model_arguments(fcinfo);
	StringInfoData page;

	if (report.evaluation)
		dperm_evaluation_check(report.evaluation);
	initStringInfo(&page);
	dperm_model_page_write(&page, &report);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(page.data, page.len));
}

/* The record of a model. */
Datum
dperm_report_model_data(PG_FUNCTION_ARGS)
{
	DpermModelReport report = model_arguments(fcinfo);

	PG_RETURN_JSONB_P(dperm_model_report_record(&report));
}

/* The page of a budget. */
Datum
dperm_report_budget(PG_FUNCTION_ARGS)
{
	DpermBudgetReport report = budget_arguments(fcinfo);
	StringInfoData page;

	initStringInfo(&page);
	dperm_budget_page_write(&page, &report);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(page.data, page.len));
}

/* The record of a budget. */
Datum
dperm_report_budget_data(PG_FUNCTION_ARGS)
{
	DpermBudgetReport report = budget_arguments(fcinfo);

	PG_RETURN_JSONB_P(dperm_budget_page_record(&report));
}
