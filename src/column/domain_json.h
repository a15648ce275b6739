/*
 * domain_json.h: domains as JSON: read, and written.
 */
#ifndef DPERM_DOMAIN_JSON_H
#define DPERM_DOMAIN_JSON_H

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

#include "column/domain_column.h"

/*
 * Set a column's domain from the caller's JSON, or raise an error that names
 * the column.
 */
extern void dperm_domain_json_parse(DpermColumn *column, JsonbValue *value);

/*
 * An example domain for this column, for hints: '{"age": [0, 120]}' as an SQL
 * literal.
 */
extern char *dperm_domain_json_example(const DpermColumn *column);

/* Append a known domain, in a form that dperm_domain_json_parse reads. */
extern void dperm_domain_json_print(StringInfo out, const DpermColumn *column);

/*
 * Append, for a column without a domain, the form of one, with words to be replaced: it
 * is no domain as it is. For a column with one, a domain that may suit it better; false
 * if there is none.
 */
extern bool dperm_domain_json_template(StringInfo out, const DpermColumn *column);

#endif							/* DPERM_DOMAIN_JSON_H */
