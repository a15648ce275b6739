/*
 * record.c: a record for the OpenDP Deployments Registry, as JSON.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "report/facts.h"
#include "report/page.h"
#include "report/record.h"

/* The longest name of the URL. */
#define SLUG_MAX 60

/* The fields that a page shows, in this order; a part begins with its heading. */
static const struct
{
	const char *part;
	const char *heading;
	const char *field;
	const char *label;
}			fields[] = {
	{"dp_variant", "Differential privacy", "variant_name", "variant"},
	{"dp_variant", NULL, "data_domain", "data domain"},
	{"dp_variant", NULL, "unprotected_quantities", "unprotected quantities"},
	{"privacy_loss", "Privacy loss", "privacy_unit", "unit of privacy"},
	{"privacy_loss", NULL, "privacy_unit_details", "neighbours (adjacency)"},
	{"privacy_loss", NULL, "privacy_parameters", "parameters"},
	{"privacy_loss", NULL, "privacy_parameters_details", "parameters in detail"},
	{"deployment_model", "Deployment", "model_name", "model"},
	{"deployment_model", NULL, "model_name_details", "model in detail"},
	{"deployment_model", NULL, "actors", "actors and trust"},
	{"deployment_model", NULL, "release_type", "releases"},
	{"deployment_model", NULL, "release_type_details", "releases in detail"},
	{"deployment_model", NULL, "data_source_type", "data source"},
	{"deployment_model", NULL, "data_source_type_details", "data source in detail"},
	{"deployment_model", NULL, "access_type", "access"},
	{"deployment_model", NULL, "access_type_details", "access in detail"},
	{"accounting", "Accounting", "composition", "composition"},
	{"accounting", NULL, "post_processing", "post-processing"},
	{"implementation", "Implementation", "mechanisms", "mechanism and noise"},
	{"implementation", NULL, "preprocessing_and_hyperparameter_tuning", "preparation and tuning"},
	{"implementation", NULL, "justification", "justification"}
};

/* A key, after a comma if anything comes before it. */
static void
put_key(StringInfo json, const char *name)
{
	appendStringInfoString(json, json->data[json->len - 1] == '{' ? "" : ", ");
	escape_json(json, name);
	appendStringInfoString(json, ": ");
}

/* A title in lower case, with hyphens for all but letters and digits. */
static char *
slug_of(const char *title)
{
	StringInfoData slug;

	initStringInfo(&slug);
	for (; *title && slug.len < SLUG_MAX; title++)
	{
		char		c = (char) pg_ascii_tolower((unsigned char) *title);

		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			appendStringInfoChar(&slug, c);
		else if (slug.len > 0 && slug.data[slug.len - 1] != '-')
			appendStringInfoChar(&slug, '-');
	}
	while (slug.len > 0 && slug.data[slug.len - 1] == '-')
		slug.data[--slug.len] = '\0';
	return slug.len > 0 ? slug.data : pstrdup("untitled");
}

/* A field. */
void
dperm_record_field(StringInfo json, const char *name, const char *value)
{
	if (value == NULL)
		return;
	put_key(json, name);
	escape_json(json, value);
}

/* A field that is a list of one. */
static void
put_single(StringInfo json, const char *name, const char *value)
{
	put_key(json, name);
	appendStringInfoChar(json, '[');
	escape_json(json, value);
	appendStringInfoChar(json, ']');
}

/* Begin a part. */
void
dperm_record_part(StringInfo json, const char *name)
{
	appendStringInfoChar(json, '}');
	put_key(json, name);
	appendStringInfoChar(json, '{');
}

/* The beginning, with the part "basic". */
void
dperm_record_begin(StringInfo json, const DpermSubject *subject, const char *type,
				   const char *description, const char *date)
{
	appendStringInfoChar(json, '{');
	dperm_record_field(json, "url_slug", slug_of(subject->title));
	dperm_record_field(json, "status", "Draft");
	appendStringInfoString(json, ", \"tier\": 3, \"deployment\": {\"basic\": {");
	dperm_record_field(json, "name", subject->title);
	put_single(json, "data_curators", subject->curator ? subject->curator : DPERM_RECORD_UNKNOWN);
	dperm_record_field(json, "intended_use",
					   subject->purpose ? subject->purpose : DPERM_RECORD_UNKNOWN);
	dperm_record_field(json, "data_product_type", type);
	dperm_record_field(json, "data_product_region", DPERM_RECORD_UNKNOWN);
	dperm_record_field(json, "description", description);
	dperm_record_field(json, "publication_date", date);
}

/* Numbers, as they are written. */
void
dperm_record_parameters(StringInfo json, const char *epsilon, const char *delta)
{
	if (epsilon == NULL || delta == NULL)
		return;
	put_key(json, "privacy_parameters");
	appendStringInfo(json, "{\"epsilon\": %s, \"delta\": %s}", epsilon, delta);
}

/* The end. */
Jsonb *
dperm_record_end(StringInfo json, const char *notes)
{
	dperm_record_part(json, "administrative");
	dperm_record_field(json, "sources",
					   "dperm " DPERM_VERSION ": docs/guarantee.md (the proof), docs/audit.md");
	dperm_record_field(json, "notes", notes);
	put_single(json, "registry_authors", GetUserNameFromId(GetUserId(), false));
	appendStringInfoString(json, "}}}");
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json->data)));
}

/* A part of the parameters. */
static char *
parameters_text(JsonbContainer *part)
{
	JsonbContainer *parameters = dperm_facts_member(part, "privacy_parameters");

	return parameters == NULL ? NULL :
		psprintf("epsilon %s, delta %s", dperm_facts_text(parameters, "epsilon"),
				 dperm_facts_text(parameters, "delta"));
}

/* The fields as one table; a page shows those of "basic" in other ways. */
void
dperm_record_show(StringInfo page, Jsonb *record)
{
	JsonbContainer *deployment = dperm_facts_member(&record->root, "deployment");

	dperm_page_table(page, "Fields of the OpenDP Deployments Registry", NULL);
	for (int i = 0; i < (int) lengthof(fields); i++)
	{
		JsonbContainer *part = dperm_facts_member(deployment, fields[i].part);

		if (fields[i].heading)
			dperm_page_put(page, "%s<tr><th class=\"part\" colspan=\"2\" scope=\"rowgroup\">%s</th>"
						   "</tr>\n", i > 0 ? "</tbody>\n<tbody>\n" : "", fields[i].heading);
		dperm_page_fact(page, fields[i].label,
						strcmp(fields[i].field, "privacy_parameters") == 0 ?
						parameters_text(part) : dperm_facts_text(part, fields[i].field));
	}
	dperm_page_table_end(page);
}
