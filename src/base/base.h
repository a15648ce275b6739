/*
 * base.h: services of the server. Trusted.
 */
#ifndef DPERM_BASE_H
#define DPERM_BASE_H

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/nodes.h"
#include "utils/jsonb.h"
#include "utils/tuplestore.h"

#include "core/base/core.h"
#include "core/encode/encoder.h"
#include "core/encode/layout.h"
#include "core/mechanism/calibrate.h"

/*
 * host.c: what the core asks of its host (core/base/host.h), results of several rows,
 * and settings.
 */

/* dperm.cache_memory and dperm.pull_memory, in kilobytes. */
extern int	dperm_cache_memory;
extern int	dperm_pull_memory;

/* dperm.call_timeout, in milliseconds; 0 for no limit. */
extern int	dperm_call_timeout;

extern void dperm_host_settings(void);

extern char *dperm_host_output(Datum value, Oid type);

/* JSON for the core. */
extern DpermTree dperm_host_tree(Jsonb *json);
extern bool dperm_host_read_tree(Node *context, char *text, DpermTree *out);

/* Raise an error unless a status or an encoder is valid. */
extern void dperm_host_check_status(DpermStatus status);
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

/*
 * arguments.c: the arguments of a call, by their names in the SQL declaration.
 *
 * No C code depends on the position of an argument: to add one, declare it. An
 * argument that is not declared reads as one that is NULL.
 */

/* Hints for required arguments. */
#define DPERM_RELATION_REQUIRED "relation is a table or view, and label is one of its columns."
#define DPERM_MODEL_REQUIRED \
	"A training without rows has no model, nor has a call that failed: use WHERE model IS NOT NULL."
#define DPERM_BUDGET_REQUIRED "It is the name of a budget, as in dp_budgets."

extern bool dperm_arguments_get(FunctionCallInfo fcinfo, const char *name, Oid type, Datum *value);
extern Datum dperm_arguments_required(FunctionCallInfo fcinfo, const char *name, Oid type,
									  const char *hint);
extern char *dperm_arguments_text(FunctionCallInfo fcinfo, const char *name);
extern char *
dperm_arguments_required_text(FunctionCallInfo fcinfo, const char *name, const char *hint);
extern Jsonb *dperm_arguments_jsonb(FunctionCallInfo fcinfo, const char *name);
extern char **dperm_arguments_names(FunctionCallInfo fcinfo, const char *name, int *count);
extern Jsonb *dperm_arguments_json(FunctionCallInfo fcinfo, const char *const *except, int count,
								   int limit);

/* known_tree.c: does a query consist of what this version of dperm knows? */
extern void dperm_known_tree_check(Node *tree, Oid class, Oid object);
extern bool dperm_known_tree_relation(char relkind);

/*
 * message.c: which messages a process that reads protected rows may send.
 *
 * Any message may contain data of a row. So such a process sends nothing but
 * what is said here to depend on arguments, the catalog and the number of units
 * alone. In other processes everything is sent.
 */

/* What goes to the client. */
typedef enum DpermMessages
{
	DPERM_MESSAGES_ALL,
	DPERM_MESSAGES_MARKED,		/* errors after dperm_message_public(), and notices from here */
	DPERM_MESSAGES_NONE
} DpermMessages;

extern void dperm_message_allow(DpermMessages messages);
extern void dperm_message_public(void);
extern void dperm_message_private(void);
extern bool dperm_message_is_public(void);
extern void
dperm_message_tell(int level, const char *message, const char *detail, const char *hint);
extern void dperm_message_tell_waiting(void);
extern char *dperm_message_clip(const char *text, int bytes);
extern char *dperm_message_data_error(MemoryContext context);

#endif							/* DPERM_BASE_H */
