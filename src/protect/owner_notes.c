/*
 * owner_notes.c: what an owner should know when they protect a relation, end
 * that, or grant a share of its budget.
 */
#include "postgres.h"

#include "access/transam.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

#include "base/message.h"
#include "budget/grants.h"
#include "protect/owner_notes.h"
#include "protect/protection.h"
#include "protect/registered_columns.h"
#include "relation/relation.h"
#include "relation/row_sources.h"

/* Bytes of a list of columns in a message. */
#define COLUMNS_SHOWN 1000

/* Tell which columns open to training have no domain. */
static void
tell_columns(const DpermRegistration *registration)
{
	int			count;
	DpermColumn *columns = dperm_registered_columns_read(registration, NULL, &count);
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < count; i++)
		if (columns[i].usable && !columns[i].known &&
			dperm_protection_lists(registration, &columns[i]))
			appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", columns[i].name);
	if (names.len > 0)
		ereport(NOTICE,
				(errmsg("columns without a domain: %s",
						dperm_message_clip(names.data, COLUMNS_SHOWN)),
				 errdetail("They cannot be features, and as labels they are not checked."),
				 errhint("Specify domains or omit these columns; dp_domains shows what to fill "
						 "in.")));
}

/* What a role, or everybody, can read of a relation, as text; NULL: nothing. */
static const char *
what_is_read(Oid role, Oid relation)
{
	if (pg_class_aclcheck(relation, role, ACL_SELECT) == ACLCHECK_OK)
		return "relation";
	return pg_attribute_aclcheck_all(relation, role, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK ?
		"columns of relation" : NULL;
}

/*
 * Warn if a role without the rights of the owner, or everybody, can read some
 * of the relations. Returns whether it can.
 */
static bool
warn_of_reader(Oid role, List *relations)
{
	bool		warned = false;
	ListCell   *cell;

	foreach(cell, relations)
	{
		Oid			relation = lfirst_oid(cell);
		const char *what = what_is_read(role, relation);

		if (what == NULL || relation < FirstNormalObjectId ||
			(role != ACL_ID_PUBLIC && has_privs_of_role(role, dperm_relation_owner(relation))))
			continue;
		warned = true;
		ereport(WARNING,
				(errmsg("%s can read %s \"%s\"",
						role == ACL_ID_PUBLIC ? "everybody" :
						psprintf("role \"%s\"", GetUserNameFromId(role, false)),
						what, get_rel_name(relation)),
				 errhint("Revoke SELECT: whoever reads the rows needs no model, and is not "
						 "charged.")));
	}
	return warned;
}

/* Tell what an owner should know about a relation. */
void
dperm_owner_notes_relation(Oid relation)
{
	DpermRegistration *registration = dperm_registry_find(relation);
	List	   *shared = dperm_row_sources_relations(relation);
	ListCell   *cell;

	dperm_protection_resolve(registration);
	tell_columns(registration);
	if (warn_of_reader(ACL_ID_PUBLIC, shared))
		return;
	foreach(cell, dperm_grants_roles(dperm_registry_budget(registration, false)))
		(void) warn_of_reader(lfirst_oid(cell), shared);
}

/* Warn if a role can read what it may spend on. */
void
dperm_owner_notes_grantee(Oid role, const char *budget)
{
	List	   *shared = NIL;
	ListCell   *cell;

	foreach(cell, dperm_registry_charge(dperm_budget_get(budget, false)))
		shared = list_concat_unique_oid(shared, dperm_row_sources_relations(lfirst_oid(cell)));
	(void) warn_of_reader(role, shared);
}
