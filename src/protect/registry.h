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
#include "protect/view.h"

/*
 * How a table is protected, or a view of it offered. Budget and unit of a view
 * are those of its table.
 */
typedef struct DpermRegistration
{
	Oid			relation;
	char	   *id;
	char	   *view_of;		/* id of the registration of its table; NULL: it is a table */
	const DpermView *view;		/* what it shows, */
	const struct DpermRegistration *table;	/* of what: dperm_protection_resolve() */
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
	/* its column of the table; 0 if it has been dropped, or not resolved */
	AttrNumber	unit;
	char	   *unit_name;		/* to be registered */
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

/* Does another table than this one charge a budget? */
extern bool dperm_registry_charges(const DpermBudget *budget, Oid except);

/* A column to be registered. */
typedef struct DpermRegisteredColumn
{
	AttrNumber	number;
	bool		listed;
	bool		is_unit;
	Jsonb	   *domain;			/* or NULL */
} DpermRegisteredColumn;

/*
 * Write a registration in place of the former one, and set its id, within a
 * scope; columns are those of its relation. Then its views, of the former id,
 * are moved to it.
 */
extern void dperm_registry_write(DpermTablesScope *scope, DpermRegistration *registration,
								 const DpermRegisteredColumn *columns, int count);
extern void dperm_registry_move_views(DpermTablesScope *scope, const char *from,
									  const DpermRegistration *to);

/* The views that are offered of a registered table. */
extern List *dperm_registry_views(const DpermRegistration *table);

/*
 * Does the budget with this id keep a unit for a table, which is or was
 * registered, or has the name of one that was dropped? Its name, NULL for rows,
 * empty for a column that has been dropped.
 */
extern bool dperm_registry_kept_unit(const char *budget_id, Oid table, char **unit);

/*
 * Forget the registrations that charged a budget and have ended, within a scope:
 * the budget keeps no units if nothing has been spent, or if it is dropped.
 */
extern void dperm_registry_forget(DpermTablesScope *scope, const DpermBudget *budget);

/*
 * Make pending registrations with the name of a relation refer to it, if they
 * also have its owner; or all of them, if a superuser protects it or ends its
 * protection. Returns whether there are any. Within a scope.
 */
extern bool dperm_registry_settle(DpermTablesScope *scope, Oid relation, bool own);

/*
 * End the protection of a relation, whose registration is settled, within a
 * scope.
 */
extern void dperm_registry_end(DpermTablesScope *scope, Oid relation);

#endif							/* DPERM_REGISTRY_H */
