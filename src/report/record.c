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

/* The parts of a record that a page shows, and their headings. */
static const struct
{
	const char *name;
	const char *heading;
}			parts[] = {
	{"dp_variant", "Variant of differential privacy"},
	{"privacy_loss", "Privacy loss"},
	{"deployment_model", "Deployment"},
	{"accounting", "Accounting"},
	{"implementation", "Implementation"},
	{"administrative", "About this record"}
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

/* A key for people: its first letter large, and spaces. */
static char *
label_of(const char *key)
{
	char	   *label = pstrdup(key);

	for (char *c = label; *c; c++)
		if (*c == '_')
			*c = ' ';
	label[0] = (char) pg_toupper((unsigned char) label[0]);
	return label;
}

/* A part as a table. */
static void
show_part(StringInfo page, JsonbContainer *part, const char *heading)
{
	static const char *const columns[] = {"field", "value", NULL};
	JsonbIterator *it = JsonbIteratorInit(part);
	JsonbValue	key;
	JsonbIteratorToken token = JsonbIteratorNext(&it, &key, true);

	dperm_page_table(page, heading, columns);
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
		if (token == WJB_KEY)
		{
			char	   *name = pnstrdup(key.val.string.val, key.val.string.len);

			dperm_page_fact(page, label_of(name), dperm_facts_text(part, name));
		}
	dperm_page_table_end(page);
}

/* All parts but "basic", which a page shows in other ways. */
void
dperm_record_show(StringInfo page, Jsonb *record)
{
	JsonbContainer *deployment = dperm_facts_member(&record->root, "deployment");

	for (int i = 0; i < (int) lengthof(parts); i++)
	{
		JsonbContainer *part = dperm_facts_member(deployment, parts[i].name);

		if (part && JsonContainerSize(part) > 0)
			show_part(page, part, parts[i].heading);
	}
}
