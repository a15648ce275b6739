/*
 * budget_page.h: the report on a budget: a page, and a record.
 */
#ifndef DPERM_BUDGET_PAGE_H
#define DPERM_BUDGET_PAGE_H

#include "lib/stringinfo.h"

#include "report/record.h"

/* What a report on a budget is made from. */
typedef struct DpermBudgetReport
{
	const char *budget;
	DpermSubject subject;

	/*
	 * what the views show the caller: arrays "budgets", "grants", "protected",
	 * "spenders", "entries" (the latest), "times" and "amounts" (of charges);
	 * and "count", of entries
	 */
	JsonbContainer *facts;
} DpermBudgetReport;

extern Jsonb *dperm_budget_page_record(const DpermBudgetReport *report);
extern void dperm_budget_page_write(StringInfo page, const DpermBudgetReport *report);

#endif							/* DPERM_BUDGET_PAGE_H */
