/*
 * domain_json.h: read domains from JSON.
 */
#ifndef DPERM_DOMAIN_JSON_H
#define DPERM_DOMAIN_JSON_H

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

#endif							/* DPERM_DOMAIN_JSON_H */
