/*
 * model_report.h: the report on a model: a page, and a record.
 */
#ifndef DPERM_MODEL_REPORT_H
#define DPERM_MODEL_REPORT_H

#include "core/model/model.h"
#include "report/promise.h"
#include "report/record.h"

/* What a report on a model is made from. */
typedef struct DpermModelReport
{
	const DpermModel *model;
	DpermSubject subject;		/* as the caller says */
	JsonbContainer *evaluation; /* rows of an evaluation, or NULL */

	/*
	 * rows of dp_ledger that the caller may see: the entry that the model
	 * names, and evaluations of a model that names it; or NULL
	 */
	JsonbContainer *ledger;
} DpermModelReport;

extern Jsonb *dperm_model_report_record(const DpermModelReport *report);

/* Does the ledger show that the model was paid for? */
typedef enum DpermPayment
{
	DPERM_PAYMENT_NONE,			/* the model names no entry */
	DPERM_PAYMENT_SAME,
	DPERM_PAYMENT_UNSEEN,		/* the caller sees no entry, or not what it released */
	DPERM_PAYMENT_OTHER			/* the entry released another model, or none */
} DpermPayment;

extern DpermPayment dperm_model_report_payment(const DpermModelReport *report);

/* The row of the ledger that the model names, unless it released something else; or NULL. */
extern JsonbContainer *dperm_model_report_entry(const DpermModelReport *report);

/*
 * What is promised, and what a prior takes from it: a text, or NULL without one,
 * and whether it takes everything.
 */
extern DpermPromise dperm_model_report_promise(const DpermModelReport *report);
extern char *dperm_model_report_prior(const DpermModel *model, bool *alarm);

/* Title and purpose: of the caller, of the ledger, or made up. */
extern DpermSubject dperm_model_report_subject(const DpermModelReport *report);

/* Which column of which relation the model predicts; "rows" or "persons". */
extern char *dperm_model_report_label(const DpermModel *model);
extern char *dperm_model_report_source(const DpermModel *model);
extern const char *dperm_model_report_units(const DpermModel *model);

/* A number that identifies the text of a model: SHA-256, in hexadecimal. */
extern char *dperm_model_report_digest(const DpermModel *model);

#endif							/* DPERM_MODEL_REPORT_H */
