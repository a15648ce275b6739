/*
 * record.h: a record for the OpenDP Deployments Registry, as JSON.
 *
 * The keys are those of its schema (github.com/opendp/deployments-registry-data),
 * which allows no others. What only people know is "not stated".
 */
#ifndef DPERM_RECORD_H
#define DPERM_RECORD_H

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

/* What only the caller can say; NULL: not stated. */
typedef struct DpermSubject
{
	const char *title;
	const char *purpose;
	const char *curator;
} DpermSubject;

#define DPERM_RECORD_UNKNOWN "not stated"

/* Begin a record; type is one of the schema's, date as 2026-01-31. */
extern void
dperm_record_begin(StringInfo json, const DpermSubject *subject, const char *type,
				   const char *description, const char *date);

/* Begin a part, which ends the one before; add fields to it, unless NULL. */
extern void dperm_record_part(StringInfo json, const char *name);
extern void dperm_record_field(StringInfo json, const char *name, const char *value);

/* Epsilon and delta, as numbers; none if nothing is claimed. */
extern void dperm_record_parameters(StringInfo json, const char *epsilon, const char *delta);

/* Who has written it, and what they note; ends the record. */
extern Jsonb *dperm_record_end(StringInfo json, const char *notes);

/* Show the fields of a record, but for those of its first part. */
extern void dperm_record_show(StringInfo page, Jsonb *record);

#endif							/* DPERM_RECORD_H */
