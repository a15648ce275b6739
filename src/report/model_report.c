/*
 * model_report.c: what a report on a model says in words: its record for the
 * OpenDP Deployments Registry.
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "column/model_type.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"
#include "report/columns.h"
#include "report/facts.h"
#include "report/model_report.h"
#include "report/page.h"
#include "report/promise.h"

/* How many columns the domain of the data lists. */
#define DOMAIN_COLUMNS 20

/* The kind of a model, for people. */
static const char *
learner_name(const DpermModel *model)
{
	return dperm_loss_learner_name(dperm_loss_entry((int) model->loss.kind)->learner);
}

/* What is counted. */
const char *
dperm_model_report_units(const DpermModel *model)
{
	return model->claim.unit == DPERM_UNIT_PERSON ? "persons" : "rows";
}

/* What it predicts. */
char *
dperm_model_report_label(const DpermModel *model)
{
	char	   *label = model->label.len > 0 ?
		pnstrdup(model->label.bytes, model->label.len) : pstrdup("an expression");

	return model->has_positive ?
		psprintf("%s = %.*s", label, model->positive.len, model->positive.bytes) : label;
}

/* What it was trained on. */
char *
dperm_model_report_source(const DpermModel *model)
{
	return model->source.len > 0 ? pnstrdup(model->source.bytes, model->source.len) :
		pstrdup("the rows of a query");
}

/* The entry of the ledger; the query has already chosen the budget. */
JsonbContainer *
dperm_model_report_entry(const DpermModelReport *report)
{
	return report->model->entry == 0 ? NULL :
		dperm_facts_find(report->ledger, "own", "true");
}

/* Title and purpose. */
DpermSubject
dperm_model_report_subject(const DpermModelReport *report)
{
	DpermSubject subject = report->subject;

	if (subject.title == NULL)
		subject.title = psprintf("Model of %s in %s", dperm_model_report_label(report->model),
								 dperm_model_report_source(report->model));
	if (subject.purpose == NULL)
		subject.purpose = dperm_facts_text(dperm_model_report_entry(report), "purpose");
	return subject;
}

/* The digest that sha256(convert_to(model::text, 'UTF8')) has. */
char *
dperm_model_report_digest(const DpermModel *model)
{
	char	   *form = dperm_model_type_text(model);
	Datum		digest;

	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		form = pg_server_to_any(form, strlen(form), PG_UTF8);
	digest = DirectFunctionCall1(sha256_bytea, PointerGetDatum(cstring_to_text(form)));
	return TextDatumGetCString(DirectFunctionCall2(binary_encode, digest,
												   CStringGetTextDatum("hex")));
}

/* The description of a model. */
static char *
describe_model(const DpermModel *model)
{
	return psprintf("A %s that predicts %s from %d column%s of %s, with %d weights, trained on "
					INT64_FORMAT " %s.", learner_name(model), dperm_model_report_label(model),
					model->encoder.block_count, model->encoder.block_count == 1 ? "" : "s",
					dperm_model_report_source(model), dperm_model_weights(model),
					model->rows, dperm_model_report_units(model));
}

/* Which tables there could have been. */
static char *
describe_domain(const DpermModel *model)
{
	const DpermEncoder *encoder = &model->encoder;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "Tables of " INT64_FORMAT " %s with the columns ", model->rows,
					 dperm_model_report_units(model));
	for (int i = 0; i < Min(encoder->block_count, DOMAIN_COLUMNS); i++)
		appendStringInfo(&text, "%s%s (%s)", i > 0 ? "; " : "",
						 dperm_columns_name(&encoder->blocks[i]),
						 dperm_columns_domain(&encoder->blocks[i]));
	if (encoder->block_count > DOMAIN_COLUMNS)
		appendStringInfo(&text, "; and %d more", encoder->block_count - DOMAIN_COLUMNS);
	appendStringInfoString(&text, ". Values outside of these domains count as the nearest value, "
						   "or as none.");
	return text.data;
}

/* How epsilon was split. */
static char *
describe_shares(const DpermModel *model)
{
	const double *shares = model->claim.shares;

	if (!dperm_claim_private(&model->claim))
		return pstrdup("NOT PRIVATE: trained without noise, epsilon is infinite.");
	return psprintf("Epsilon is split into %.4g for how the minimum moves with the data, %.4g for "
					"the noise and %.4g for the release of rounded numbers. %s",
					shares[DPERM_SHARE_SLACK], shares[DPERM_SHARE_NOISE],
					shares[DPERM_SHARE_RELEASE], model->claim.delta > 0 ?
					"Delta includes a probability below 2^-64 that the noise is larger than the "
					"rounding analysis allows for." :
					"Delta is 0 up to a probability below 2^-65 that the noise is larger than the "
					"rounding analysis allows for.");
}

/* The mechanism and its noise. */
static char *
describe_mechanism(const DpermModel *model)
{
	StringInfoData text;

	if (!dperm_claim_private(&model->claim))
		return pstrdup("None: the weights are exact.");
	initStringInfo(&text);
	appendStringInfo(&text, "Regularised empirical risk minimisation with %s (%s loss, lambda "
					 "%g, effective %g, %s analysis; Chaudhuri, Monteleoni and Sarwate 2011). ",
					 dperm_mechanism_description(model->method),
					 dperm_loss_name(model->loss.kind), model->lambda, model->lambda_effective,
					 dperm_calibrate_analysis_name(model->analysis));
	if (model->claim.delta > 0)
		appendStringInfo(&text, "Gaussian noise%s, standard deviation %g. ",
						 model->noise ? " in the shape of the encoded columns" : "",
						 model->noise_scale);
	else
		appendStringInfo(&text, "Noise with density exp(-N/%g), where N is %s. ",
						 model->noise_scale, model->noise ?
						 "a norm in the shape of the encoded columns" : "the Euclidean norm");
	appendStringInfo(&text, "Then each weight is rounded to a multiple of %g, and gets discrete "
					 "Laplace noise with a scale of " INT64_FORMAT " such steps: exact "
					 "arithmetic, which covers floating point and the solver. Random bits come "
					 "from the operating system. Software: dperm; this report is by %s, in "
					 "PostgreSQL %s.",
					 model->grid, model->release_scale, DPERM_VERSION, PG_VERSION);
	return text.data;
}

/* How other releases count. */
static char *
describe_composition(const DpermModel *model)
{
	if (model->entry > 0)
		return psprintf("Paid from the privacy budget %.*s, entry " INT64_FORMAT ", before a row "
						"was read. The budget limits what all releases about the same people cost "
						"together.", model->budget.len, model->budget.bytes, model->entry);
	return pstrdup("No budget was charged. Each further release about the same rows adds its own "
				   "epsilon and delta; dp_compose computes what several cost together.");
}

/* How rows were prepared and parameters chosen. */
static const char *
describe_choices(const DpermModel *model)
{
	if (model->tuning.len > 0)
		return "Domains are public, not learnt from rows. The parameters were chosen by dperm's "
			"tuning: see the guarantee.";
	return "Domains are public, not learnt from rows. Parameters that were not specified follow "
		"from the number of rows, epsilon and the domains alone.";
}

/* The parts on privacy. */
static void
put_privacy(StringInfo json, const DpermModel *model)
{
	const DpermClaim *claim = &model->claim;
	bool		private = dperm_claim_private(claim);

	dperm_record_part(json, "dp_variant");
	if (private)
		dperm_record_field(json, "variant_name", claim->delta > 0 ? "Approximate DP" : "Pure DP");
	dperm_record_field(json, "data_domain", describe_domain(model));
	dperm_record_field(json, "unprotected_quantities",
					   psprintf("The number of %s, the arguments of the call, the domains of the "
								"columns, and what follows from these.",
								dperm_model_report_units(model)));
	dperm_record_part(json, "privacy_loss");
	dperm_record_field(json, "privacy_unit", dperm_claim_unit_name(claim->unit));
	if (private)
	{
		dperm_record_field(json, "privacy_unit_details", dperm_promise_neighbours(claim));
		dperm_record_parameters(json, double_to_shortest_decimal(claim->epsilon),
								double_to_shortest_decimal(claim->delta));
	}
	dperm_record_field(json, "privacy_parameters_details", describe_shares(model));
}

/* The parts on how it was deployed. */
static void
put_deployment(StringInfo json, const DpermModel *model)
{
	const DpermPromise promise = {.is_protected = model->entry > 0};

	dperm_record_part(json, "deployment_model");
	dperm_record_field(json, "model_name", "Central");
	dperm_record_field(json, "model_name_details",
					   "The rows are in a database, which adds the noise.");
	dperm_record_field(json, "actors", dperm_promise_actors(&promise));
	dperm_record_field(json, "release_type", "One release");
	dperm_record_field(json, "data_source_type", "Static");
	dperm_record_field(json, "data_source_type_details", "One snapshot of the rows.");
	dperm_record_field(json, "access_type", "Non-interactive");
	dperm_record_part(json, "accounting");
	dperm_record_field(json, "post_processing",
					   "None. Predictions and all figures of a report follow from the weights.");
	dperm_record_field(json, "composition", describe_composition(model));
	dperm_record_part(json, "implementation");
	dperm_record_field(json, "preprocessing_and_hyperparameter_tuning", describe_choices(model));
	dperm_record_field(json, "mechanisms", describe_mechanism(model));
	dperm_record_field(json, "justification",
					   "Proofs for the numbers that are released, rounding and inexact solvers "
					   "included (docs/guarantee.md), and an audit with planted faults "
					   "(docs/audit.md).");
}

/* The record. */
Jsonb *
dperm_model_report_record(const DpermModelReport *report)
{
	const DpermModel *model = report->model;
	DpermSubject subject = dperm_model_report_subject(report);
	JsonbContainer *entry = dperm_model_report_entry(report);
	StringInfoData json;

	initStringInfo(&json);
	dperm_record_begin(&json, &subject, "Machine learning model", describe_model(model),
					   dperm_page_day(dperm_facts_text(entry, "at")));
	put_privacy(&json, model);
	put_deployment(&json, model);
	return dperm_record_end(&json, psprintf("SHA-256 of the text of the model: %s",
											dperm_model_report_digest(model)));
}
