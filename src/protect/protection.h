/*
 * protection.h: the rules for a relation that is protected, or shares rows with
 * one that is.
 */
#ifndef DPERM_PROTECTION_H
#define DPERM_PROTECTION_H

#include "base/options.h"
#include "column/domains.h"
#include "protect/registry.h"

/*
 * The registration of a relation that is to be read, or whose reading is to be
 * priced, resolved; NULL if it is not protected. Raises an error if the caller
 * may not spend, if it is closed, if this transaction has ended its protection,
 * or if its table cannot be read for others. reached are the relations that it
 * shares rows with, if they are known.
 */
extern DpermRegistration *dperm_protection_open(Oid relation, List *reached);

/*
 * Raise an error for a registration by which nothing can be charged, as far as
 * that is known without the columns and without the table of a view.
 */
extern void dperm_protection_check_usable(const DpermRegistration *registration);

/* Raise the error for a relation that has become protected, or is no longer. */
extern void dperm_protection_raise_changed(Oid relation) __attribute__((noreturn));

/* Does a relation have the owner who protected it? */
extern bool dperm_protection_is_owners(const DpermRegistration *registration);

/*
 * Find out what a registered view shows, and read the registration of its
 * table. Raises an error if a view cannot be offered any more, or if a relation
 * is closed: it has changed so that its owner has to protect it again.
 */
extern void dperm_protection_resolve(DpermRegistration *registration);

/* Of a resolved registration: the table that it is about. */
extern Oid	dperm_protection_table(const DpermRegistration *registration);

/*
 * Raise an error for an unprotected relation that shares rows with a protected
 * one. The caller is known to have the right to read it.
 */
extern void dperm_protection_check_reach(Oid relation);

/*
 * Raise an error if one of the relations in a query with an aggregate of ours
 * is protected, or shares rows with one that is.
 */
extern void dperm_protection_check_query(List *relations);

/*
 * Raise an error for a table that must not be read for others: its policies
 * apply to its owner, or to read it would run code of others (view.h).
 */
extern void dperm_protection_check_table(Oid table);

/*
 * Raise an error if another table among the relations that a table shares rows
 * with is registered, or a shard of one that is.
 */
extern void dperm_protection_check_family(Oid table, List *reached);

/*
 * Raise an error if the caller may not spend from the budget of the relation; and
 * the error for who may not train on a relation, protected or not.
 */
extern void dperm_protection_check_permitted(const DpermRegistration *registration);
extern void dperm_protection_raise_denied(Oid relation) __attribute__((noreturn));

/*
 * Raise an error for options that a protected relation does not allow: no
 * noise, or other neighbours than its budget has.
 */
extern void
dperm_protection_check_options(const DpermRegistration *registration, const DpermOptions *options);

/*
 * Is a column open to training? The second function raises an error if not, and
 * the third, which it calls, if the registered domain no longer fits the
 * column.
 */
extern bool
dperm_protection_lists(const DpermRegistration *registration, const DpermColumn *column);
extern void
dperm_protection_check_column(const DpermRegistration *registration, const DpermColumn *column);
extern void dperm_protection_check_fit(Oid relation, const DpermColumn *column);

/*
 * The unit of a protected relation, by its name, NULL for rows. Raises an error
 * if the caller asks for another one.
 */
extern char *dperm_protection_unit(const DpermRegistration *registration, const char *asked);

/* Raise an error unless a block is within the domain of its column. */
extern void dperm_protection_check_block(const DpermRegistration *registration,
										 const DpermColumn *column, const DpermBlock *block);

/*
 * All columns of a protected relation that have not been dropped, as from
 * dperm_domains_read(): with the domains that are registered or declared in the
 * catalog, or narrower ones that the caller specifies. The registration is
 * resolved: what a view shows of its table unchanged is closed if it is closed
 * there, and has the domain of there unless it has its own. The classes of a
 * label are the caller's to say, if nothing is known about it.
 */
extern DpermColumn *dperm_registered_columns_read(const DpermRegistration *registration,
												  Jsonb *domains, const char *label, int *count);

/*
 * The same for dp_protect, with domains that are to be registered in place of
 * those of the same columns before; null removes one. Knots without a range are
 * for the range that the column had.
 */
extern DpermColumn *
dperm_registered_columns_replace(const DpermRegistration *before, Jsonb *domains, int *count);

#endif							/* DPERM_PROTECTION_H */
