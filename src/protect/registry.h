/*
 * registry.h: the registrations of protected relations.
 *
 * They are looked up by the OID of the relation, in the newest committed state
 * and with the changes of this transaction, whatever the snapshot of the caller
 * is.
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
	 * of the budget: one of this name need not be it; NULL if it is not known
	 * yet
	 */
	char	   *budget_id;
	TransactionId version;		/* which transaction wrote it */
	/* has it the name of the relation alone, and may be about another one? */
	bool		waiting;
	bool		persons;		/* does it have a unit? */
	AttrNumber	unit;			/* its column, 0 if that has been dropped */
	bool		all_columns;
	List	   *columns;		/* numbers of those that are listed, unless all are */
	Jsonb	   *domains;		/* by the names that columns have now, or NULL */
} DpermRegistration;

/*
 * The registration of a relation, made in the current memory context; NULL if
 * it has none.
 */
extern DpermRegistration *dperm_registry_find(Oid relation);

/* Is anything registered? */
extern bool dperm_registry_any(void);

/*
 * Those of some relations, by OID, that are protected, or whose protection this
 * transaction has ended. What else is registered does not matter, and takes no
 * time: everybody can register relations of their own.
 */
extern List *dperm_registry_among(List *relations);

/*
 * The name of a relation that charges a budget in the newest state; NULL if
 * none does.
 */
extern char *dperm_registry_charging(const DpermBudget *budget);

/*
 * The budget of a registration, locked on demand; NULL if it is missing. Are
 * those of two registrations the same?
 */
extern DpermBudget *dperm_registry_budget(const DpermRegistration *registration, bool lock);
extern bool dperm_registry_same_budget(const DpermRegistration *a, const DpermRegistration *b);

/*
 * All of them, by OID. What one says has to be looked up then, and it may be
 * gone by that time.
 */
extern List *dperm_registry_charge(const DpermBudget *budget);

/* A column that is to be registered. */
typedef struct DpermRegisteredColumn
{
	AttrNumber	number;
	bool		listed;
	bool		is_unit;
	Jsonb	   *domain;			/* or NULL */
} DpermRegisteredColumn;

/*
 * Write a registration in place of another, within a scope; columns are of its
 * relation.
 */
extern void dperm_registry_write(DpermTablesScope *scope, const DpermRegistration *registration,
								 const DpermRegisteredColumn *columns, int count);

/*
 * Let registrations that were restored before a relation, and have its name, be
 * about it if they have its owner, too; or all, if a superuser protects it or
 * ends its protection. Are there any? Within a scope.
 */
extern bool dperm_registry_settle(DpermTablesScope *scope, Oid relation, bool own);

/*
 * Let units that are kept for the budget of an id, and were restored with the
 * name of a relation, be about it. Within a scope.
 */
extern void dperm_registry_settle_kept(DpermTablesScope *scope, Oid relation, const char *id);

/*
 * Those of some relations that have the name of such a registration, within a
 * scope.
 */
extern List *dperm_registry_awaited(DpermTablesScope *scope, List *relations);

/*
 * End the protection of a relation, whose registration is settled, within a
 * scope.
 */
extern void dperm_registry_end(DpermTablesScope *scope, Oid relation);

#endif							/* DPERM_REGISTRY_H */
