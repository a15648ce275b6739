/*
 * protection.h: how tables are protected and views of them offered (registry.c,
 * view.c), what that allows (protection.c), and what is known of their columns
 * (registered_columns.c).
 */
#ifndef DPERM_PROTECTION_H
#define DPERM_PROTECTION_H

#include "storage/lockdefs.h"
#include "utils/resowner.h"

#include "base/options.h"
#include "budget/budget.h"
#include "column/domains.h"

/* What a view shows of its table, as the one walker over its definition found it. */
typedef struct DpermView
{
	Oid			table;
	List	   *targets;		/* TargetEntry, one for each column of the view in order; Vars have
								 * varno 1 and are columns of the table */
	Node	   *condition;		/* the WHERE clause, or NULL; varno 1 */
} DpermView;

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

extern DpermRegistration *dperm_registry_find(Oid relation);
extern List *dperm_registry_among(List *relations);
extern void dperm_registry_lock(Oid relation, LOCKMODE mode, bool process);
extern void dperm_registry_unlock(Oid relation, LOCKMODE mode);

extern DpermView *dperm_view_read(Oid view);
extern AttrNumber dperm_view_column(const DpermView *view, AttrNumber number);
extern void dperm_view_check_table(Oid table);
extern void dperm_view_check_type(const char *column, Oid type);

/* A relation that is to be read, or whose reading is to be priced. */
extern DpermRegistration *dperm_protection_open(Oid relation, List *reached);
extern void dperm_protection_check_usable(const DpermRegistration *registration);
extern bool dperm_protection_holds(const DpermRegistration *registration);
extern void dperm_protection_resolve(DpermRegistration *registration);
extern Oid	dperm_protection_table(const DpermRegistration *registration);
extern void dperm_protection_check_reach(Oid relation);
extern void dperm_protection_check_query(List *relations);
extern void dperm_protection_check_family(Oid table, List *reached);
extern void dperm_protection_raise_changed(Oid relation) __attribute__((noreturn));
extern void dperm_protection_raise_denied(Oid relation) __attribute__((noreturn));

/* What a call asks for. */
extern void
dperm_protection_check_options(const DpermRegistration *registration, const DpermOptions *options);
extern bool
dperm_protection_lists(const DpermRegistration *registration, const DpermColumn *column);
extern void
dperm_protection_check_column(const DpermRegistration *registration, const DpermColumn *column);
extern void dperm_protection_check_fit(Oid relation, const DpermColumn *column);
extern void dperm_protection_check_block(const DpermRegistration *registration,
										 const DpermColumn *column, const DpermBlock *block);
extern char *dperm_protection_unit(const DpermRegistration *registration, const char *asked);

extern DpermColumn *dperm_registered_columns_read(const DpermRegistration *registration,
												  Jsonb *domains, const char *label, int *count);
extern DpermColumn *
dperm_registered_columns_replace(const DpermRegistration *before, Jsonb *domains, int *count);

/* A session looks at a relation, and keeps no lock (locks.c). */
extern ResourceOwner dperm_locks_look(void);
extern void dperm_locks_look_away(ResourceOwner before, bool keep);

#endif							/* DPERM_PROTECTION_H */
