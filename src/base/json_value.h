/*
 * json_value.h: values of SQL types as JSON.
 */
#ifndef DPERM_JSON_VALUE_H
#define DPERM_JSON_VALUE_H

#include "lib/stringinfo.h"

/*
 * Append a value, by its text form where JSON has no other for it. A text of
 * more bytes than limit is cut, and then ends in "..."; 0: none is.
 */
extern void
dperm_json_value_append(StringInfo json, Datum value, bool isnull, Oid type, int limit);

#endif							/* DPERM_JSON_VALUE_H */
