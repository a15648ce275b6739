/*
 * administer.h: functions of schema dperm, which administer budgets and
 * registrations in SQL.
 */
#ifndef DPERM_ADMINISTER_H
#define DPERM_ADMINISTER_H

#include "postgres_ext.h"

/*
 * Call a function of schema dperm by its name, as the owner of the extension. Its
 * first argument is added here: the current user, who may be nobody else's
 * deputy. The others are given with their types; a missing one is NULL. An error
 * has no context, since whoever calls knows nothing of the function.
 */
extern Datum dperm_administer_call(const char *function, int count, const Oid *types,
								   const NullableDatum *arguments, bool *isnull);

#endif							/* DPERM_ADMINISTER_H */
