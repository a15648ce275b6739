/*
 * cluster.h: what roles can do on the servers of a Citus cluster.
 */
#ifndef DPERM_CLUSTER_H
#define DPERM_CLUSTER_H

/*
 * Raise an error if a role without the owner's rights can replace shards of a
 * table: whoever owns the table or its schema can drop shards on a worker and
 * create views of the same names, which would be read with the owner's rights.
 */
extern void dperm_cluster_check_holders(Oid table, Oid owner);

/*
 * Warn about what a relation, distributed or not, is exposed to when it is
 * protected in a database with Citus: roles that create objects, which Citus
 * creates on the workers as a superuser; and the statistics that sessions of
 * its owner collect there.
 */
extern void dperm_cluster_warn(Oid relation, bool distributed);

/*
 * Raise an error unless the owner, whose login is used to read protected
 * tables, can connect to every server of the cluster. To be called in a worker
 * before the charge, so that nothing is charged if a server is down.
 */
extern void dperm_cluster_connect(Oid owner);

#endif							/* DPERM_CLUSTER_H */
