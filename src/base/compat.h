/*
 * compat.h: what newer versions of PostgreSQL have, under their names, for the
 * older ones. Trusted.
 */
#ifndef DPERM_COMPAT_H
#define DPERM_COMPAT_H

#include "tcop/tcopprot.h"
#include "utils/jsonb.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#else
#include "catalog/pg_database.h"

#define object_ownercheck(class, object, role) pg_class_ownercheck(object, role)
#define object_aclcheck(class, object, role, mode)          \
	((class) == DatabaseRelationId ?                        \
		 pg_database_aclcheck(object, role, mode) :         \
		 pg_namespace_aclcheck(object, role, mode))
/* soft errors, which a caller may ask for */
#define ereturn(context, value, rest) ereport(ERROR, rest)
#define DirectInputFunctionCallSafe(function, text, parameter, modifier, context, result) \
	((void) (context), \
	 *(result) = DirectFunctionCall3(function, CStringGetDatum(text), \
									 ObjectIdGetDatum(parameter), Int32GetDatum(modifier)), \
	 true)
#define T_ErrorSaveContext T_Invalid
typedef struct ErrorSaveContext
{
	NodeTag		type;
} ErrorSaveContext;
#endif

#if PG_VERSION_NUM < 190000
typedef struct JsonbInState
{
	JsonbValue *result;			/* of the last push: the value, if that was its end */
	JsonbParseState *parse;
} JsonbInState;

#define pushJsonbValue(state, token, value) \
	((void) ((state)->result = (pushJsonbValue) (&(state)->parse, token, value)))
/* the last argument is the EXPLAIN that a plan is for */
#define pg_plan_query(query, text, options, params, explain) \
	(pg_plan_query) (query, text, options, params)
#endif

#endif							/* DPERM_COMPAT_H */
