/*
 * domain_tables.h: domains that are lists of values in public tables.
 */
#ifndef DPERM_DOMAIN_TABLES_H
#define DPERM_DOMAIN_TABLES_H

#include "fmgr.h"
#include "utils/jsonb.h"

/*
 * The domains with {"categories": [...]} instead of {"table": "countries",
 * "column": "code"}. The values are read here, with the rights of the caller,
 * who declares them for a source. Raises an error for a table that is
 * protected, or that shares rows with a protected one or with the source.
 */
extern Jsonb *dperm_domain_tables_read(Jsonb *domains, Oid source);

/*
 * A call with such domains, or the call itself if no domain names a table: for
 * functions with arguments source and domains. To be used in a session, before
 * anything is charged or handed to a worker, which reads no tables of the
 * caller.
 */
extern FunctionCallInfo dperm_domain_tables_call(FunctionCallInfo fcinfo);

#endif							/* DPERM_DOMAIN_TABLES_H */
