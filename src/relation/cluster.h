/*
 * cluster.h: what roles can do on the servers of a Citus cluster.
 */
#ifndef DPERM_CLUSTER_H
#define DPERM_CLUSTER_H

/*
 * The owner of a schema, or that of the database where a predefined role stands
 * for them.
 */
extern Oid	dperm_cluster_schema_owner(Oid schema);

/*
 * Raise if somebody without the rights of an owner can put something else in
 * the place of shards of a table: whoever owns it, or its schema, can drop them
 * on a worker and make views of their names, which would be read with the
 * owner's rights.
 */
extern void dperm_cluster_check_holders(Oid table, Oid owner);

/*
 * Warn of what a relation, distributed or not, is exposed to when it is
 * protected in a database with Citus: roles that create objects, which Citus
 * creates on the workers as a superuser; and what the sessions of its owner
 * count there.
 */
extern void dperm_cluster_warn(Oid relation, bool distributed);

/*
 * Warn of a role that can create objects there, if it is to use what is
 * protected.
 */
extern void dperm_cluster_warn_of(Oid role);

/*
 * Raise unless an owner, whose login reads protected tables, can connect to
 * every server of the cluster. In a worker, before the charge: a server that is
 * down costs nothing then.
 */
extern void dperm_cluster_connect(Oid owner);

#endif							/* DPERM_CLUSTER_H */
