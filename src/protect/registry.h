/*
 * registry.h: the registrations of protected relations.
 *
 * They are looked up by the OID of the relation, in the newest committed state
 * plus the changes of this transaction, whatever the snapshot of the caller is.
 */
#ifndef DPERM_REGISTRY_H
#define DPERM_REGISTRY_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "utils/jsonb.h"

#include "budget/budget.h"

/* How a relation is protected. */
typedef struct DpermRegistration
{
	Oid			relation;
	char	   *budget;			/* NULL: no longer protected */
	/*
	 * of the budget, since another one may have the same name; NULL if it is
	 * not known yet
	 */
	char	   *budget_id;
	TransactionId version;		/* which transaction wrote it */
	/*
	 * does it only have the name of the relation, so that it may belong to
	 * another?
	 */
	bool		waiting;
	bool		persons;		/* does it have a unit? */
	AttrNumber	unit;			/* its column; 0 if it has been dropped */
	bool		all_columns;
	List	   *columns;		/* numbers of the listed columns, unless all are */
	Jsonb	   *domains;		/* by the current names of columns, or NULL */
} DpermRegistration;

/*
 * The registration of a relation, in the current memory context; NULL if it has
 * none.
 */
extern DpermRegistration *dperm_registry_find(Oid relation);

/* Is anything registered? */
extern bool dperm_registry_any(void);

/*
 * Those of the relations that are protected, or whose protection this
 * transaction has ended. Other registrations take no time: everybody can
 * register relations of their own.
 */
extern List *dperm_registry_among(List *relations);

/*
 * The name of a relation that charges a budget in the newest state; NULL if
 * none does.
 */
extern char *dperm_registry_charging(const DpermBudget *budget);

/*
 * The budget of a registration, locked on request; NULL if it is missing. And
 * do two registrations have the same budget?
 */
extern DpermBudget *dperm_registry_budget(const DpermRegistration *registration, bool lock);
extern bool dperm_registry_same_budget(const DpermRegistration *a, const DpermRegistration *b);

/*
 * All relations that charge a budget, by OID. Their registrations have to be
 * looked up, and may be gone by then.
 */
extern List *dperm_registry_charge(const DpermBudget *budget);

/* A column to be registered. */
typedef struct DpermRegisteredColumn
{
	AttrNumber	number;
	bool		listed;
	bool		is_unit;
	Jsonb	   *domain;			/* or NULL */
} DpermRegisteredColumn;

/*
 * Write a registration in place of the former one, within a scope; columns are
 * those of its relation.
 */
extern void dperm_registry_write(DpermTablesScope *scope, const DpermRegistration *registration,
								 const DpermRegisteredColumn *columns, int count);

/*
 * Make pending registrations with the name of a relation refer to it, if they
 * also have its owner; or all of them, if a superuser protects it or ends its
 * protection. Returns whether there are any. Within a scope.
 */
extern bool dperm_registry_settle(DpermTablesScope *scope, Oid relation, bool own);

/*
 * Make pending units with the name of a relation, kept for the budget with this
 * id, refer to it. Within a scope.
 */
extern void dperm_registry_settle_kept(DpermTablesScope *scope, Oid relation, const char *id);

/*
 * Those of the relations that have the name of a pending registration, within a
 * scope.
 */
extern List *dperm_registry_awaited(DpermTablesScope *scope, List *relations);

/*
 * End the protection of a relation, whose registration is settled, within a
 * scope.
 */
extern void dperm_registry_end(DpermTablesScope *scope, Oid relation);

#endif							/* DPERM_REGISTRY_H */
