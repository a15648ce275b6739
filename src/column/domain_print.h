/*
 * domain_print.h: write domains as JSON.
 */
#ifndef DPERM_DOMAIN_PRINT_H
#define DPERM_DOMAIN_PRINT_H

#include "lib/stringinfo.h"

#include "column/domain_column.h"

/* Append a known domain, in a form that dperm_domain_json_parse reads. */
extern void dperm_domain_print(StringInfo out, const DpermColumn *column);

/*
 * Append the form of a domain of this column, with words to be replaced: it is
 * no domain as it is.
 */
extern void dperm_domain_print_template(StringInfo out, const DpermColumn *column);

#endif							/* DPERM_DOMAIN_PRINT_H */
