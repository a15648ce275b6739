/*
 * location.h: where the rows of a relation are.
 *
 * Rows on other servers are not brought here if they are many: passes go to
 * them. What a location means for queries is in pass_query.h.
 */
#ifndef DPERM_LOCATION_H
#define DPERM_LOCATION_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

typedef enum DpermLocation
{
	DPERM_LOCATION_HERE,		/* on this server; or elsewhere, but nothing of ours runs there */
	/* in a table that Citus has spread over servers, or a view over one */
	DPERM_LOCATION_CITUS,
	DPERM_LOCATION_SERVER,		/* in a foreign table, on a server that has dperm */
	DPERM_LOCATION_PARTS		/* in partitions, some of which are such foreign tables */
} DpermLocation;

/*
 * Where the rows of a relation are, as the catalog has it; *parts gets the
 * partitions of DPERM_LOCATION_PARTS, each of which the caller may read as they
 * may read the relation.
 */
extern DpermLocation dperm_location_find(Oid relation, List **parts);

/* Does this database have Citus? */
extern bool dperm_location_has_citus(void);

/*
 * The tables of this server that have rows of relations since they are their
 * shards in Citus; and, if there are shards among the relations, what they are
 * shards of.
 */
extern List *dperm_location_shards(List *relations);

/*
 * For a protected relation: is it on a Citus cluster? Raises if it cannot be
 * read there unseen: if it is a view, whose expressions and conditions the
 * workers would evaluate, by names and where everybody sees statistics; or if
 * somebody else can replace its shards.
 */
extern bool dperm_location_protected_on_citus(Oid relation);

/*
 * Is a relation a table that Citus has spread over servers, of which each has
 * all rows that share a value of a column? That is so by the column that it is
 * distributed by, and where all rows are on one server.
 */
extern bool dperm_location_keeps_together(Oid relation, AttrNumber column);

/*
 * Raise on a worker of a Citus cluster. What is protected is known to the
 * coordinator alone: on a worker the rows of a protected relation would be like
 * any others.
 */
extern void dperm_location_check_coordinator(void);

#endif							/* DPERM_LOCATION_H */
