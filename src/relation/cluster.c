/*
 * cluster.c: what roles can do on the servers of a Citus cluster.
 *
 * They can also log in to the workers, which do not know what is protected.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "relation/cluster.h"
#include "relation/relation.h"

/* Warn about what a protected relation is exposed to. */
void
dperm_cluster_warn(Oid relation, bool distributed)
{
	ereport(WARNING,
			(errmsg("roles that can create objects can have Citus run commands as a superuser on "
					"the workers"),
			 errdetail("Roles that can log in to the workers see which locks sessions of the "
					   "table's owner hold there."),
			 errhint("Analysts must not have CREATE on any schema or on the database, and must not "
					 "be able to log in to the workers.")));
	if (distributed)
		ereport(WARNING,
				(errmsg("statistics on the workers show how many long values a call on \"%s\" "
						"reads, unless track_counts is off for its owner",
						get_rel_name(relation)),
				 errdetail("Workers read shards in sessions of the table's owner."),
				 errhint("A superuser should run: ALTER ROLE %s SET track_counts = off",
						 quote_identifier(GetUserNameFromId(dperm_relation_owner(relation),
															false)))));
}

/*
 * The owner of a schema; pg_database_owner stands for the owner of the
 * database.
 */
static Oid
schema_owner(Oid schema)
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
		holder = schema_owner(schema);
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
