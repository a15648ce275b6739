/*
 * model_report.c: what a report on a model says in words: its record for the
 * OpenDP Deployments Registry.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "column/model_type.h"
#include "core/mechanism/calibrate.h"
#include "core/mechanism/mechanism.h"
#include "core/model/prior.h"
#include "core/model/tuning.h"
#include "report/columns.h"
#include "report/facts.h"
#include "report/model_report.h"
#include "report/page.h"

/* How many columns the domain of the data lists. */
#define DOMAIN_COLUMNS 20

/* The kind of a model, for people. */
static const char *
learner_name(const DpermModel *model)
{
	return dperm_loss_learner_name(dperm_loss_entry((int) model->loss.kind)->learner);
}

/* Read how parameters were chosen, if they were chosen by tuning. */
static bool
read_tuning(const DpermModel *model, DpermTuning *tuning)
{
	return model->tuning.len > 0 && dperm_tuning_read(&model->tuning, tuning) == NULL;
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

/* Does a row of the ledger show that it released a model, given as text? */
static DpermPayment
payment_of(JsonbContainer *entry, const char *model)
{
	char	   *kept = dperm_facts_text(entry, "model");
	char	   *release = dperm_facts_text(entry, "release");

	if (kept)
		return strcmp(kept, model) == 0 ? DPERM_PAYMENT_SAME : DPERM_PAYMENT_OTHER;

	/* it is no charge, its call has failed, or it released something else */
	if (!dperm_facts_is(entry, "act", "charge") ||
		(release && strcmp(release, "kept") != 0 && strcmp(release, "running") != 0 &&
		 strcmp(release, "lost") != 0) ||
		dperm_facts_member(entry, "metrics") ||
		dperm_facts_is(entry, "function", "dp_evaluate") ||
		dperm_facts_is(entry, "function", "dp_roc") ||
		dperm_facts_is(entry, "function", "dp_budget_charge"))
		return DPERM_PAYMENT_OTHER;
	return DPERM_PAYMENT_UNSEEN;
}

/*
 * The entry of the ledger, and what it shows. Two budgets may have one name: the
 * entry is the one that speaks most for the model.
 */
static DpermPayment
find_entry(const DpermModelReport *report, JsonbContainer **entry)
{
	char	   *text = dperm_model_type_print(report->model, dperm_model_print);
	DpermPayment found = report->model->entry == 0 ? DPERM_PAYMENT_NONE : DPERM_PAYMENT_UNSEEN;

	*entry = NULL;
	for (int i = 0; found != DPERM_PAYMENT_NONE && i < dperm_facts_count(report->ledger); i++)
	{
		JsonbContainer *row = dperm_facts_object(report->ledger, i);
		DpermPayment payment = payment_of(row, text);

		if (dperm_facts_is(row, "own", "true") && (*entry == NULL || payment < found))
		{
			found = payment;
			*entry = row;
		}
	}
	return found;
}

DpermPayment
dperm_model_report_payment(const DpermModelReport *report)
{
	JsonbContainer *entry;

	return find_entry(report, &entry);
}

JsonbContainer *
dperm_model_report_entry(const DpermModelReport *report)
{
	JsonbContainer *entry;

	return find_entry(report, &entry) == DPERM_PAYMENT_OTHER ? NULL : entry;
}

/* What is promised. */
DpermPromise
dperm_model_report_promise(const DpermModelReport *report)
{
	const DpermModel *model = report->model;
	DpermTuning tuning;

	return (DpermPromise) {
		.claim = model->claim,
		.released = "the model",
		.is_protected = model->entry > 0 &&
			dperm_model_report_payment(report) != DPERM_PAYMENT_OTHER,
		.is_tuned = read_tuning(model, &tuning),
		.has_kernel = model->encoder.kernel.kind != DPERM_KERNEL_LINEAR
	};
}

/* What has to be known of a prior, or NULL if there is none. */
char *
dperm_model_report_prior(const DpermModel *model, bool *alarm)
{
	DpermPrior	prior;
	char	   *from;

	if (model->prior.len == 0 || dperm_prior_read(&model->prior, &prior) != NULL)
		return NULL;
	from = psprintf("The weights were drawn towards those of an earlier model, the prior%s%.*s. ",
					prior.source.len > 0 ? ", of " : "", prior.source.len, prior.source.bytes);
	if (dperm_claim_private(&model->claim))
		from = psprintf("%sThe guarantee is about the %s of this training. ", from,
						dperm_model_report_units(model));
	*alarm = !prior.private;
	if (isinf(prior.claim.epsilon))
		return psprintf("%sThe prior is NOT PRIVATE: nothing is promised to those that it was "
						"trained on.", from);
	if (!prior.private)
		return psprintf("%sA prior behind the prior is NOT PRIVATE: nothing is promised to those "
						"that it was trained on.", from);
	return psprintf("%sFor those that the prior was trained on, its epsilon %s and delta %s count "
					"too; they add up if unit and neighbours are the same.", from,
					double_to_shortest_decimal(prior.claim.epsilon),
					double_to_shortest_decimal(prior.claim.delta));
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
	char	   *form = dperm_model_type_print(model, dperm_model_print);
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
	DpermTuning tuning;
	StringInfoData text;

	/* a model that was chosen privately was trained on one portion of the table */
	initStringInfo(&text);
	appendStringInfo(&text, "Tables of " INT64_FORMAT " %s with the columns ",
					 read_tuning(model, &tuning) ? tuning.rows : model->rows,
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
		appendStringInfo(&text, "Gaussian noise%s, with a scale of %g. ",
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

/* Who paid for it. */
static char *
describe_payment(const DpermModelReport *report)
{
	const DpermModel *model = report->model;
	char	   *entry = psprintf("entry " INT64_FORMAT " of the privacy budget %.*s", model->entry,
								 model->budget.len, model->budget.bytes);

	switch (dperm_model_report_payment(report))
	{
		case DPERM_PAYMENT_NONE:
			break;
		case DPERM_PAYMENT_UNSEEN:
			return psprintf("The model says that it was paid by %s, which keeps no model here, or "
							"not for this role.", entry);
		case DPERM_PAYMENT_SAME:
			return psprintf("Paid by %s, before a row was read. The budget limits what all "
							"releases about the same people cost together.", entry);
		case DPERM_PAYMENT_OTHER:
			return psprintf("The model says that it was paid by %s, which is NOT so: that entry "
							"did not release it.", entry);
	}
	return pstrdup("No budget was charged. Each further release about the same rows adds its own "
				   "epsilon and delta; dp_compose computes what several cost together.");
}

/* How other releases count, and the prior. */
static char *
describe_composition(const DpermModelReport *report)
{
	bool		alarm;
	char	   *prior = dperm_model_report_prior(report->model, &alarm);

	return psprintf("%s%s%s", describe_payment(report), prior ? " " : "", prior ? prior : "");
}

/* How rows were prepared and parameters chosen. */
static char *
describe_choices(const DpermModel *model)
{
	DpermTuning tuning;
	const char *chosen = "Parameters that were not specified follow from public facts: the number "
		"of rows or persons, epsilon, delta, neighbours, the domains and the prior.";

	if (read_tuning(model, &tuning))
		chosen = !dperm_claim_private(&model->claim) ?
			psprintf("The parameters were chosen exactly among %d candidates.",
					 tuning.candidates) :
			psprintf("The parameters were chosen privately among %d candidates, with the %s rule, "
					 "at the same epsilon and delta.", tuning.candidates,
					 tuning.selection == DPERM_SELECT_EXPONENTIAL ?
					 "exponential" : "permute-and-flip");
	return psprintf("Domains are public, not learnt from rows. %s", chosen);
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
	dperm_record_field(json, "unprotected_quantities", !private ?
					   "Everything: no noise was added." :
					   psprintf("The number of %s, the arguments of the call, the domains of the "
								"columns, and what follows from these.",
								dperm_model_report_units(model)));
	dperm_record_part(json, "privacy_loss");
	if (private)
	{
		dperm_record_field(json, "privacy_unit", dperm_claim_unit_name(claim->unit));
		dperm_record_field(json, "privacy_unit_details", dperm_promise_neighbours(claim));
		dperm_record_parameters(json, double_to_shortest_decimal(claim->epsilon),
								double_to_shortest_decimal(claim->delta));
	}
	dperm_record_field(json, "privacy_parameters_details", describe_shares(model));
}

/* The parts on how it was deployed. */
static void
put_deployment(StringInfo json, const DpermModelReport *report)
{
	const DpermModel *model = report->model;
	const DpermPromise promise = dperm_model_report_promise(report);
	bool		private = dperm_claim_private(&model->claim);

	dperm_record_part(json, "deployment_model");
	dperm_record_field(json, "model_name", "Central");
	dperm_record_field(json, "model_name_details", private ?
					   "The rows are in a database, which adds the noise." :
					   "The rows are in a database. No noise was added.");
	/* who could read rows is not known of a model that only says that it was paid for */
	if (private && dperm_model_report_payment(report) != DPERM_PAYMENT_UNSEEN)
		dperm_record_field(json, "actors", dperm_promise_actors(&promise));
	dperm_record_field(json, "release_type", "One release");
	dperm_record_field(json, "data_source_type", "Static");
	dperm_record_field(json, "data_source_type_details",
					   "One set of rows, which all passes have read.");
	dperm_record_field(json, "access_type", "Non-interactive");
	dperm_record_part(json, "accounting");
	dperm_record_field(json, "post_processing",
					   "None. Predictions follow from the weights. Evaluations are releases of "
					   "their own.");
	if (private)
		dperm_record_field(json, "composition", describe_composition(report));
	dperm_record_part(json, "implementation");
	dperm_record_field(json, "preprocessing_and_hyperparameter_tuning", describe_choices(model));
	dperm_record_field(json, "mechanisms", describe_mechanism(model));
	if (private)
		dperm_record_field(json, "justification",
						   "Proofs for the numbers that are released, rounding and inexact "
						   "solvers included (docs/guarantee.md), and an audit with planted "
						   "faults (docs/audit.md).");
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
	put_deployment(&json, report);
	return dperm_record_end(&json, psprintf("SHA-256 of the text of the model: %s",
											dperm_model_report_digest(model)));
}
