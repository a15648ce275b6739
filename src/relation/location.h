/*
 * location.h: where the rows of a relation are.
 *
 * Many rows on other servers are not fetched: passes are executed there.
 * pass_query.h shows what a location means for queries.
 */
#ifndef DPERM_LOCATION_H
#define DPERM_LOCATION_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

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

/* Does this database have Citus? */
extern bool dperm_location_has_citus(void);

/*
 * The tables on this server that are Citus shards of the relations; and, if
 * there are shards among the relations, the tables that they belong to.
 */
extern List *dperm_location_shards(List *relations);

/*
 * For a protected relation: is it on a Citus cluster? Raises an error if
 * another role can replace its shards.
 */
extern bool dperm_location_protected_on_citus(Oid relation);

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

#endif							/* DPERM_LOCATION_H */
