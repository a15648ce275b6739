/*
 * as_owner.c: queries that send nothing to the client, and that may run with
 * the rights of a relation's owner.
 */
#include "postgres.h"

#include "utils/guc.h"

#include "protect/as_owner.h"

/* Set a setting until the nest level ends. */
static void
set_until_end(const char *name, const char *value)
{
	if (GetConfigOption(name, true, false) != NULL)
		(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
}

/* Keep messages from the client, and take the rights of an owner. */
void
dperm_as_owner_begin(DpermRunAs *before, Oid owner)
{
	/*
	 * a plan contains the weights of a pass as a constant, and settings that
	 * anybody may change send plans and sort statistics to the client
	 */
	static const char *const printing[] = {"debug_print_parse", "debug_print_rewritten",
										   "debug_print_plan", "trace_sort"};

	before->settings = NewGUCNestLevel();
	GetUserIdAndSecContext(&before->user, &before->security);
	for (int i = 0; i < lengthof(printing); i++)
		set_until_end(printing[i], "off");
	set_until_end("client_min_messages", "error");
	before->restricted = OidIsValid(owner);
	if (before->restricted)
	{
		set_until_end("search_path", "pg_catalog, pg_temp");

		/*
		 * a policy that would hide rows raises an error, before the call is
		 * charged
		 */
		set_until_end("row_security", "off");
		SetUserIdAndSecContext(owner, before->security | SECURITY_LOCAL_USERID_CHANGE |
										  SECURITY_RESTRICTED_OPERATION);
	}
}

/* Restore user and settings. */
void
dperm_as_owner_end(DpermRunAs *before)
{
	AtEOXact_GUC(!before->restricted, before->settings);
	SetUserIdAndSecContext(before->user, before->security);
}
