/*
 * cluster.c: what roles can do on the servers of a Citus cluster.
 *
 * They can also log in to the workers, which do not know what is protected.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_db_role_setting.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "relation/cluster.h"
#include "relation/relation.h"

#define may_create(class, object, role) \
	(object_aclcheck(class, object, role, ACL_CREATE) == ACLCHECK_OK)

/* A schema or database in which a role may create objects, or NULL. */
static char *
find_creatable(Oid role)
{
	Relation	schemas;
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *found = NULL;

	if (may_create(DatabaseRelationId, MyDatabaseId, role))
		return psprintf("database \"%s\"", get_database_name(MyDatabaseId));
	schemas = table_open(NamespaceRelationId, AccessShareLock);
	scan = systable_beginscan(schemas, InvalidOid, false, NULL, 0, NULL);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_namespace form = (Form_pg_namespace) GETSTRUCT(tuple);

		/* temporary objects are not created on workers */
		if (!isAnyTempNamespace(form->oid) && may_create(NamespaceRelationId, form->oid, role))
			found = psprintf("schema \"%s\"", NameStr(form->nspname));
	}
	systable_endscan(scan);
	table_close(schemas, AccessShareLock);
	return found;
}

/* Warn about a role that gets access to protected relations. */
void
dperm_cluster_warn_of(Oid role)
{
	char	   *found = superuser_arg(role) ? NULL : find_creatable(role);

	if (found)
		ereport(WARNING,
				(errmsg("role \"%s\" can create objects "
						"in %s", GetUserNameFromId(role, false), found),
				 errdetail("Roles that can create objects can have Citus run commands as a "
						   "superuser on the workers, and so read protected tables."),
				 errhint("Revoke CREATE on all schemas, and on the database, from analysts and "
						 "from PUBLIC.")));
}

/*
 * The boolean setting of a role, in one database or in all; false if it is not
 * set.
 */
static bool
find_role_setting(Oid database, Oid role, const char *name, bool *value)
{
	Relation	settings = table_open(DbRoleSettingRelationId, AccessShareLock);
	bool		found = false;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_db_role_setting_setdatabase, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(database));
	ScanKeyInit(&keys[1], Anum_pg_db_role_setting_setrole, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(role));
	scan = systable_beginscan(settings, DbRoleSettingDatidRolidIndexId, true, NULL, lengthof(keys),
							  keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		array = heap_getattr(tuple, Anum_pg_db_role_setting_setconfig,
								   RelationGetDescr(settings), &isnull);
		Datum	   *entries;
		int			count = 0;

		if (!isnull)
			deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &entries,
							  NULL, &count);
		for (int i = 0; i < count; i++)
		{
			char	   *entry = TextDatumGetCString(entries[i]);

			if (strncmp(entry, name, strlen(name)) == 0 && entry[strlen(name)] == '=')
				found = parse_bool(entry + strlen(name) + 1, value);
		}
	}
	systable_endscan(scan);
	table_close(settings, AccessShareLock);
	return found;
}

/* Do sessions of a role collect statistics about what they read? */
static bool
is_counted(Oid role)
{
	bool		counted = true;

	if (!find_role_setting(MyDatabaseId, role, "track_counts", &counted))
		(void) find_role_setting(InvalidOid, role, "track_counts", &counted);
	return counted;
}

/* Warn about what a protected relation is exposed to. */
void
dperm_cluster_warn(Oid relation, bool distributed)
{
	Oid			owner = dperm_relation_owner(relation);

	ereport(WARNING,
			(errmsg("roles that can create objects can have Citus run commands as a superuser on "
					"the workers"),
			 errdetail("Roles that can log in to the workers see which locks sessions of the "
					   "table's owner hold there."),
			 errhint("Analysts must not have CREATE on any schema or on the database, and must not "
					 "be able to log in to the workers.")));
	if (distributed && is_counted(owner))
		ereport(WARNING,
				(errmsg("statistics on the workers show how many long values a call on \"%s\" "
						"reads", get_rel_name(relation)),
				 errdetail("Workers read shards in sessions of the table's owner."),
				 errhint("A superuser should run: ALTER ROLE %s SET track_counts "
						 "= off", quote_identifier(GetUserNameFromId(owner, false)))));
}

/*
 * The owner of a schema; pg_database_owner stands for the owner of the
 * database.
 */
Oid
dperm_cluster_schema_owner(Oid schema)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for schema %u", schema);
	owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	if (owner != ROLE_PG_DATABASE_OWNER)
		return owner;
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
	owner = ((Form_pg_database) GETSTRUCT(tuple))->datdba;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * Raise an error if a role without the owner's rights can replace shards of a
 * table. CREATE on the schema is not enough for that: the names of shards are
 * taken.
 */
void
dperm_cluster_check_holders(Oid table, Oid owner)
{
	Oid			holder = dperm_relation_owner(table);
	Oid			schema = get_rel_namespace(table);
	bool		by_schema = has_privs_of_role(holder, owner);

	if (by_schema)
		holder = dperm_cluster_schema_owner(schema);
	if (has_privs_of_role(holder, owner))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 by_schema ? errmsg("schema \"%s\" of protected table \"%s\" belongs to role "
								"\"%s\"",
								get_namespace_name(schema), get_rel_name(table),
								GetUserNameFromId(holder, false)) :
						 errmsg("partition \"%s\" of a protected table belongs to role "
								"\"%s\"",
								get_rel_name(table), GetUserNameFromId(holder, false)),
			 errdetail("On the servers of a Citus cluster, that role can replace shards, and the "
					   "replacement would be read with the rights of the table's owner."),
			 errhint("It must belong to the table's owner, \"%s\", to a superuser or to a role "
					 "with the owner's rights.",
					 GetUserNameFromId(owner, false))));
}

/*
 * The connection timeout. It must be shorter than that of everything before a
 * charge, or a server that does not respond would look like a lock that is not
 * granted.
 */
#define CONNECT_TIMEOUT_MS "5000"

/*
 * Raise an error unless an owner can connect to every server that may have
 * shards. Citus keeps the connections for later use.
 */
void
dperm_cluster_connect(Oid owner)
{
	char	   *server = NULL;
	MemoryContext context = CurrentMemoryContext;
	int			settings = NewGUCNestLevel();
	Oid			user;
	int			security;

	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(owner,
						   security | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	(void) set_config_option("citus.node_connection_timeout", CONNECT_TIMEOUT_MS, PGC_SUSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();

	/* CASE makes sure that no other connection is tried */
	if (SPI_execute("SELECT pg_catalog.concat(n.nodename, ':', n.nodeport) FROM "
					"pg_catalog.pg_dist_node AS n"
					" WHERE CASE WHEN n.isactive AND n.groupid OPERATOR(pg_catalog.<>) 0 AND "
					"n.noderole::pg_catalog.text OPERATOR(pg_catalog.=) 'primary'"
					" THEN NOT pg_catalog.citus_check_connection_to_node(n.nodename, n.nodeport) "
					"ELSE false END LIMIT 1",
					false, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read the servers of the cluster");
	if (SPI_processed > 0)
		server = MemoryContextStrdup(context,
									 SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1));
	SPI_finish();
	AtEOXact_GUC(false, settings);
	SetUserIdAndSecContext(user, security);
	if (server)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("could not connect to server %s of the cluster as role "
						"\"%s\"", server, GetUserNameFromId(owner, false)),
				 errdetail("Protected tables are read with the login of their owner. Nothing has "
						   "been charged."),
				 errhint("The server must be running, and the role needs LOGIN and an entry in its "
						 "pg_hba.conf.")));
}
