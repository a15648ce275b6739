/*
 * list_domains.c: dp_domains, the domains of the columns of a relation.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "base/result_set.h"
#include "budget/debit.h"
#include "column/domain_print.h"
#include "column/domains.h"
#include "column/encode.h"
#include "protect/protection.h"
#include "protect/registered_columns.h"

PG_FUNCTION_INFO_V1(dp_domains);

/*
 * The registration of a relation, if the caller may train on it: then
 * dp_protected shows it.
 */
static const DpermRegistration *
usable_registration(Oid relation)
{
	DpermRegistration *registration =
		SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)) ?
		dperm_registry_find(relation) : NULL;

	if (registration == NULL || registration->ended || registration->stale ||
		registration->mixed ||
		registration->budget == NULL ||
		!dperm_protection_is_owners(registration) ||
		!dperm_debit_permitted(registration->budget, relation, GetUserId()))
		return NULL;
	dperm_protection_resolve(registration);
	return registration;
}

/* A row of the result. */
static void
put_domain(Tuplestorestate *store, TupleDesc desc, const DpermColumn *column)
{
	char	   *origin = column->known ? column->origin :
		column->misfit ? psprintf("%s: %s", column->origin, column->lack) : column->lack;
	StringInfoData json;
	Datum		values[5] = {DirectFunctionCall1(namein, CStringGetDatum(column->name)),
	ObjectIdGetDatum(column->type)};
	bool		nulls[5] = {false, false, !column->known, origin == NULL, column->known};

	initStringInfo(&json);
	if (column->known)
		dperm_domain_print(&json, column);
	else
		dperm_domain_print_template(&json, column);
	values[2] = values[4] = DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
	if (origin)
		values[3] = CStringGetTextDatum(origin);
	tuplestore_putvalues(store, desc, values, nulls);
}

/*
 * dp_domains(relation regclass): what is known about each column that can be a
 * feature; for a protected relation, about those that are open to training.
 */
Datum
dp_domains(PG_FUNCTION_ARGS)
{
	Oid			relation = PG_GETARG_OID(0);
	const DpermRegistration *registration = usable_registration(relation);
	TupleDesc	desc;
	Tuplestorestate *store = dperm_result_set_begin(fcinfo, &desc);
	int			count;
	DpermColumn *columns = registration ?
		dperm_registered_columns_read(registration, NULL, &count) :
		dperm_domains_read(relation, NULL, dperm_encode_dimension, &count);

	for (int i = 0; i < count; i++)
		if (columns[i].usable &&
			(registration == NULL || dperm_protection_lists(registration, &columns[i])))
			put_domain(store, desc, &columns[i]);
	return (Datum) 0;
}
