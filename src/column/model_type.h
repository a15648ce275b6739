/*
 * model_type.h: the SQL type dp_model, for code that creates or reads one.
 *
 * The body of the varlena is the binary form of core/model.h, and nothing else.
 */
#ifndef DPERM_MODEL_TYPE_H
#define DPERM_MODEL_TYPE_H

#include "fmgr.h"

#include "core/model/model.h"

/* A dp_model datum, in the current memory context. */
extern Datum dperm_model_type_make(const DpermModel *model);

/*
 * The struct of a dp_model datum, toasted or not, with all that it points to: a
 * single chunk in the current memory context, which can be freed with pfree.
 * Raises ERRCODE_DATA_CORRUPTED for a value that does not decode.
 */
extern DpermModel *dperm_model_type_open(Datum value);

/* The argument model of a call, which must not be NULL. */
extern DpermModel *dperm_model_type_required(FunctionCallInfo fcinfo);

/* What a printer of core/model/model.h prints; its text form, and its guarantee. */
typedef size_t (*DpermModelPrinter) (const DpermModel *model, char *out, size_t room);
extern char *dperm_model_type_print(const DpermModel *model, DpermModelPrinter printer);
extern char *dperm_model_type_text(const DpermModel *model);
extern char *dperm_model_type_guarantee(const DpermModel *model);

#endif							/* DPERM_MODEL_TYPE_H */
