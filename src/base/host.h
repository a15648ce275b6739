/*
 * host.h: services of the server: what the core asks of its host (core/base/host.h),
 * results of several rows, and settings.
 */
#ifndef DPERM_HOST_H
#define DPERM_HOST_H

#include "fmgr.h"
#include "access/tupdesc.h"
#include "utils/jsonb.h"
#include "utils/tuplestore.h"

#include "core/base/core.h"
#include "core/encode/encoder.h"
#include "core/mechanism/calibrate.h"

/* dperm.cache_memory and dperm.pull_memory, in kilobytes. */
extern int	dperm_cache_memory;
extern int	dperm_pull_memory;

/* dperm.call_timeout, in milliseconds; 0 for no limit. */
extern int	dperm_call_timeout;

extern void dperm_host_settings(void);

extern char *dperm_host_output(Datum value, Oid type);

/* JSON for the core: tree.c. */
extern DpermTree dperm_tree_of(Jsonb *json);
extern bool dperm_tree_read(Node *context, char *text, DpermTree *out);

/* Raise an error unless a status, the parameters or an encoder are valid. */
extern void dperm_host_check_status(DpermStatus status);
extern DpermCalibration dperm_host_calibrate(const DpermSetup *setup);
extern DpermEncoder dperm_host_check_encoder(DpermEncoder encoder);


/*
 * An empty result set of the function's row type, and a row of it, with a value
 * for each column: {datum} is one, and these are a text, or NULL for NULL, and a
 * number, or NULL for NaN.
 */
extern Tuplestorestate *dperm_host_result_set(FunctionCallInfo fcinfo, TupleDesc *desc);
extern void dperm_host_put_row(Tuplestorestate *store, TupleDesc desc, const NullableDatum *row);
extern NullableDatum dperm_host_text(const char *text);
extern NullableDatum dperm_host_number(double number);

#endif							/* DPERM_HOST_H */
