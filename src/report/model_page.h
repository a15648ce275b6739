/*
 * model_page.h: the report on a model, as a page.
 */
#ifndef DPERM_MODEL_PAGE_H
#define DPERM_MODEL_PAGE_H

#include "lib/stringinfo.h"

#include "report/model_report.h"

extern void dperm_model_page_write(StringInfo page, const DpermModelReport *report);

#endif							/* DPERM_MODEL_PAGE_H */
