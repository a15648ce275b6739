/*
 * relation.h: facts of the catalog about relations: their names and owners, and
 * what they share rows with, and where their rows are. Trusted.
 */
#ifndef DPERM_RELATION_H
#define DPERM_RELATION_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"

extern Oid	dperm_relation_look_up(const char *name, LOCKMODE lock, bool missing_ok);
extern char *dperm_relation_name(Oid relation);
extern Oid	dperm_relation_oid_of(Oid class, Oid object, AttrNumber attribute);
extern Oid	dperm_relation_owner(Oid relation);
extern int64 dperm_relation_estimated_rows(Oid relation);

extern List *dperm_relation_sources(Oid relation);
extern List *dperm_relation_family(Oid table);
extern List *dperm_relation_reads(Oid relation);
extern List *
dperm_relation_oids(Oid catalog, Oid index, AttrNumber key, Oid value, AttrNumber column);
extern void
dperm_relation_dependencies(Oid class, Oid object,
							void (*each)(Oid class, Oid object, void *arg), void *arg);

/*
 * Where rows are. Many rows on other servers are not fetched: passes are
 * executed there. query/queries.c shows what a location means.
 */
typedef enum DpermLocation
{
	DPERM_LOCATION_HERE,		/* on this server; or elsewhere, but dperm cannot run there */
	/* in a table that Citus has distributed, or a view of one */
	DPERM_LOCATION_CITUS,
	DPERM_LOCATION_SERVER,		/* in a foreign table, on a server that has dperm */
	DPERM_LOCATION_PARTS		/* in partitions, some of which are such foreign tables */
} DpermLocation;

extern DpermLocation dperm_location_find(Oid relation, List **parts);
extern bool dperm_location_keeps_together(Oid relation, AttrNumber column);

/* Tables of Citus. */
extern List *dperm_location_shards(List *relations);
extern bool dperm_location_protected_on_citus(Oid relation);
extern void dperm_location_check_coordinator(void);
extern void dperm_location_connect(Oid owner);
extern void dperm_location_warn(Oid relation);

#endif							/* DPERM_RELATION_H */
