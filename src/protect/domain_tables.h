/*
 * domain_tables.h: domains that are lists of values in public tables.
 */
#ifndef DPERM_DOMAIN_TABLES_H
#define DPERM_DOMAIN_TABLES_H

#include "fmgr.h"
#include "utils/jsonb.h"

/*
 * The domains with {"categories": [...]} in place of {"table": "countries",
 * "column": "code"}. They are read here and now, with the rights of the caller,
 * who declares them for a source. Raises for a table that is protected, or that
 * shares rows with a protected one or with the source.
 */
extern Jsonb *dperm_domain_tables_read(Jsonb *domains, Oid source);

/*
 * A call with such domains, or the call itself if it has none: for functions
 * with the arguments source and domains. In a session, before anything is
 * charged or handed to a worker, which reads no tables of the caller's.
 */
extern FunctionCallInfo dperm_domain_tables_call(FunctionCallInfo fcinfo);

#endif							/* DPERM_DOMAIN_TABLES_H */
