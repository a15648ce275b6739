/* kept_release.h: what was released and paid for, kept with the ledger. */
#ifndef DPERM_KEPT_RELEASE_H
#define DPERM_KEPT_RELEASE_H

#include "access/tupdesc.h"
#include "utils/tuplestore.h"

/* Why a call that was charged has released nothing. */
#define DPERM_FAILURE_READ "the relation could not be read"
#define DPERM_FAILURE_RESOURCES "too few resources"
#define DPERM_FAILURE_CANCELLED "cancelled"
#define DPERM_FAILURE_ARGUMENTS "the arguments do not fit the number of rows"
#define DPERM_FAILURE_CHANGED "the relation has been changed"

/* A release, or why there is none. */
typedef struct DpermKeptRelease
{
	const char *budget_id;		/* of the entry in the ledger */
	const char *budget;
	int64		entry;
	Oid			role;			/* who paid, */
	const char *grant_id;		/* and from which grant, or NULL */
	Datum		model;			/* dp_model, or 0 */
	Tuplestorestate *rows;		/* metrics, or NULL */
	TupleDesc	desc;
	const char *failure;		/* or NULL */
} DpermKeptRelease;

/* Keep a release. */
extern void dperm_kept_release_write(const DpermKeptRelease *release);

#endif							/* DPERM_KEPT_RELEASE_H */
