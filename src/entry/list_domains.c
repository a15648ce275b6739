/*
 * list_domains.c: dp_domains, the domains of the columns of a relation.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/tuplestore.h"

#include "base/result_set.h"
#include "column/domain_json.h"
#include "column/domains.h"
#include "column/encode.h"

PG_FUNCTION_INFO_V1(dp_domains);

/*
 * dp_domains(relation regclass): what the catalog says about each column that
 * can be a feature.
 */
Datum
dp_domains(PG_FUNCTION_ARGS)
{
	TupleDesc	tuple;
	Tuplestorestate *store = dperm_result_set_begin(fcinfo, &tuple);
	int			count;
	DpermColumn *columns =
		dperm_domains_read(PG_GETARG_OID(0), NULL, dperm_encode_dimension, &count);

	for (int i = 0; i < count; i++)
	{
		DpermColumn *column = &columns[i];
		char	   *origin = column->known ? column->origin : column->lack;
		Datum		values[4];
		bool		nulls[4] = {false, false, !column->known, origin == NULL};

		if (!column->usable)
			continue;
		values[0] = DirectFunctionCall1(namein, CStringGetDatum(column->name));
		values[1] = ObjectIdGetDatum(column->type);
		values[2] = values[3] = (Datum) 0;
		if (column->known)
		{
			StringInfoData json;

			initStringInfo(&json);
			dperm_domain_json_print(&json, column);
			values[2] = DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
		}
		if (origin)
			values[3] = CStringGetTextDatum(origin);
		tuplestore_putvalues(store, tuple, values, nulls);
	}
	return (Datum) 0;
}
