/*
 * relation.h: facts of the catalog about relations: their names and owners
 * (relation.c), what they share rows with (row_sources.c), and where their rows
 * are (location.c).
 */
#ifndef DPERM_RELATION_H
#define DPERM_RELATION_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"

/*
 * Look up and lock a relation by a name as in FROM; InvalidOid if there is none
 * and missing_ok.
 */
extern Oid	dperm_relation_look_up(const char *name, LOCKMODE lock, bool missing_ok);

/*
 * The name of a relation, qualified and quoted. Raises an error for one that the
 * caller has dropped meanwhile.
 */
extern char *dperm_relation_name(Oid relation);

/* The owner of a relation, InvalidOid if it has been dropped. */
extern Oid	dperm_relation_owner(Oid relation);

/*
 * How many rows the catalog estimates that a plain table has, which everybody
 * can read there; 0 if it does not know, or for any other relation.
 */
extern int64 dperm_relation_estimated_rows(Oid relation);

/*
 * The relation itself and everything it shares rows with, as far as the catalog
 * knows: what views, materialized views and policies read, partitions and
 * children, and the parents of tables. What a function reads is not followed.
 */
extern List *dperm_row_sources_relations(Oid relation);

/* A table with its partitions and children, and all parents of these. */
extern List *dperm_row_sources_family(Oid table);

/*
 * What a query over a protected relation may read: the family of a table; a view
 * and that of its table. The rows of a materialized view are its own.
 */
extern List *dperm_row_sources_read(Oid relation);

/*
 * Call a function for each object that an object depends on, according to the
 * catalog.
 */
extern void
dperm_row_sources_dependencies(Oid class, Oid object,
							   void (*each)(Oid class, Oid object, void *arg), void *arg);

/*
 * Where rows are. Many rows on other servers are not fetched: passes are
 * executed there. pass_query.h shows what a location means for queries.
 */
typedef enum DpermLocation
{
	DPERM_LOCATION_HERE,		/* on this server; or elsewhere, but dperm cannot run there */
	/* in a table that Citus has distributed, or a view of one */
	DPERM_LOCATION_CITUS,
	DPERM_LOCATION_SERVER,		/* in a foreign table, on a server that has dperm */
	DPERM_LOCATION_PARTS		/* in partitions, some of which are such foreign tables */
} DpermLocation;

/*
 * Where the rows of a relation are, according to the catalog; *parts is set to
 * the partitions for DPERM_LOCATION_PARTS, each of which the caller may read if
 * they may read the relation.
 */
extern DpermLocation dperm_location_find(Oid relation, List **parts);

/*
 * The tables on this server that are Citus shards of the relations; and, if
 * there are shards among the relations, the tables that they belong to.
 */
extern List *dperm_location_shards(List *relations);

/*
 * Is a relation a Citus table that keeps all rows with the same value of a
 * column on one server? That holds for the distribution column, and if all rows
 * are on one server.
 */
extern bool dperm_location_keeps_together(Oid relation, AttrNumber column);

/*
 * Raise an error on a worker of a Citus cluster. Only the coordinator knows
 * what is protected: on a worker, the rows of a protected relation would be
 * like any others.
 */
extern void dperm_location_check_coordinator(void);

/*
 * For a protected relation: is it on a Citus cluster? Raises an error if another
 * role can replace its shards: they would be read with the owner's rights.
 */
extern bool dperm_location_protected_on_citus(Oid relation);

/*
 * Raise an error unless the owner, whose login is used to read protected
 * tables, can connect to every server of the cluster. To be called in a worker
 * before the charge, so that nothing is charged if a server is down.
 */
extern void dperm_location_connect(Oid owner);

/*
 * Warn about what a relation is exposed to that is protected in a database with
 * Citus: roles that create objects, which Citus creates on the workers as a
 * superuser; and the statistics that sessions of its owner collect there.
 */
extern void dperm_location_warn(Oid relation);

#endif							/* DPERM_RELATION_H */
