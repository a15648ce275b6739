/*
 * registry.h: the registrations of protected relations.
 *
 * They are looked up by the OID of the relation, in the newest committed state
 * plus the changes of this transaction, whatever the snapshot of the caller is.
 * dp_protect and dp_unprotect write them (sql/parts/82_internal_protection.sql).
 */
#ifndef DPERM_REGISTRY_H
#define DPERM_REGISTRY_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/jsonb.h"

#include "budget/budget.h"
#include "protect/view.h"

/*
 * How a table is protected, or a view of it offered. Budget and unit of a view
 * are those of its table.
 */
typedef struct DpermRegistration
{
	Oid			relation;
	char	   *id;
	Oid			owner;			/* who owned the relation when it was protected */
	char	   *view_of;		/* id of the registration of its table; NULL: it is a table */
	const DpermView *view;		/* what it shows, */
	const struct DpermRegistration *table;	/* of what: dperm_protection_resolve() */
	const DpermBudget *budget;	/* NULL: it is missing */
	bool		ended;			/* it is no longer protected */
	bool		fresh;			/* this transaction has written it, or that of its table */
	/* it was restored for a relation of this name, whose owner was another role */
	bool		foreign;
	bool		stale;			/* it has another name than when that was last followed */
	bool		mixed;			/* so has one of its columns: it may be another one */
	bool		persons;		/* does it have a unit? */
	/* its column of the table; 0 if it has been dropped */
	AttrNumber	unit;
	bool		all_columns;
	List	   *columns;		/* numbers of the listed columns, unless all are */
	Jsonb	   *domains;		/* by the current names of columns, or NULL */

	/* what queries over it may read: dperm_protection_open() */
	List	   *reached;
	bool		has_parts;		/* does the table have partitions or children? */
	bool		on_cluster;		/* is it a table of Citus? */
} DpermRegistration;

/*
 * The registration of a relation, in the current memory context; NULL if it has
 * none. One that has ended is found if this transaction has ended it. The second
 * function leaves out the columns and their domains.
 */
extern DpermRegistration *dperm_registry_find(Oid relation);
extern DpermRegistration *dperm_registry_look(Oid relation);

/* Is anything registered? */
extern bool dperm_registry_any(void);

/*
 * Those of the relations that are protected, or whose protection this
 * transaction has ended.
 */
extern List *dperm_registry_among(List *relations);

/*
 * The lock on the registration of a relation. A call holds it shared, as a lock
 * of its process, from its check until it has the snapshot that it reads with:
 * the registration at the moment of the charge counts. Who changes a
 * registration holds it exclusively to the end of the transaction, and takes it
 * before that on a budget. No lock on the table could do this without making
 * those wait who write to it.
 */
extern void dperm_registry_lock(Oid relation, LOCKMODE mode, bool process);
extern void dperm_registry_unlock(Oid relation, LOCKMODE mode);

#endif							/* DPERM_REGISTRY_H */
