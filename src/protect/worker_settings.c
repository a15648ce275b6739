/*
 * worker_settings.c: the settings of a process that reads a protected relation.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/guc.h"

#include "protect/worker_settings.h"

/* A setting and its value. */
typedef struct Setting
{
	const char *name;
	const char *value;
} Setting;

/*
 * For the whole process, whatever a database or a role has set. There is only
 * one way to read a table. The session reports errors; only what ends the
 * process is logged here. The last setting keeps connections to the servers of
 * a cluster open across transactions.
 */
static const Setting always[] = {
	{"application_name", "dperm"},
	{"search_path", "pg_catalog, pg_temp"},
	{"synchronous_commit", "on"},
	{"lock_timeout", "3s"},
	{"transaction_timeout", "0"},
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_read_only", "off"},
	{"default_transaction_deferrable", "off"},
	{"session_replication_role", "origin"},
	{"exit_on_error", "off"},
	{"quote_all_identifiers", "off"},
	{"client_min_messages", "notice"},	/* the session has its own */
	{"log_min_messages", "fatal"},
	{"log_error_verbosity", "terse"},	/* a context can quote a row */
	{"extra_float_digits", "1"},
	{"jit", "off"},
	{"plan_cache_mode", "force_generic_plan"},	/* the others depend on values */
	{"enable_seqscan", "on"},
	{"enable_indexscan", "off"},
	{"enable_indexonlyscan", "off"},
	{"enable_bitmapscan", "off"},
	{"enable_partition_pruning", "on"},
	{"constraint_exclusion", "off"},
	{"synchronize_seqscans", "off"},
	{"track_functions", "none"},
	{"log_temp_files", "-1"},
	{"pg_stat_statements.track", "none"},
	{"auto_explain.log_min_duration", "-1"},
	{"citus.max_cached_conns_per_worker", "1"}
};

/*
 * While rows are read, nothing is counted, since everybody may read statistics.
 */
static const Setting reading[] = {
	{"track_counts", "off"}
};

/* Keeping what has been paid for may take as long as the session waits. */
static const Setting keeping[] = {
	{"lock_timeout", "0"}
};

/* Set those settings that this server knows. */
static void
set_all(const Setting *settings, int count, bool local)
{
	for (int i = 0; i < count; i++)
	{
		if (GetConfigOption(settings[i].name, true, false) == NULL)
			continue;
		if (local)
			(void) set_config_option(settings[i].name, settings[i].value, PGC_SUSET, PGC_S_SESSION,
									 GUC_ACTION_LOCAL, true, 0, false);
		else
			SetConfigOption(settings[i].name, settings[i].value, PGC_SUSET, PGC_S_OVERRIDE);
	}
}

void
dperm_worker_settings_always(void)
{
	/* the session takes messages as they are */
	const Setting encoding = {"client_encoding", GetDatabaseEncodingName()};

	set_all(&encoding, 1, false);
	set_all(always, lengthof(always), false);
}

void
dperm_worker_settings_reading(void)
{
	set_all(reading, lengthof(reading), true);
}

void
dperm_worker_settings_keeping(void)
{
	set_all(keeping, lengthof(keeping), true);
}

void
dperm_worker_settings_style(const char *date_style, const char *time_zone)
{
	const Setting style[] = {{"DateStyle", date_style}, {"TimeZone", time_zone}};

	set_all(style, lengthof(style), true);
}

void
dperm_worker_settings_planning(void)
{
	static const char *const style[] = {"DateStyle", "TimeZone"};

	for (int i = 0; i < lengthof(style); i++)
		(void) set_config_option(style[i], GetConfigOptionResetString(style[i]), PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}
