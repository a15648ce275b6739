/*
 * allowed_builtins.h: which of PostgreSQL's own functions may be called for
 * rows.
 */
#ifndef DPERM_ALLOWED_BUILTINS_H
#define DPERM_ALLOWED_BUILTINS_H

/*
 * What keeps a function of PostgreSQL from being called for rows; NULL if
 * nothing does.
 */
extern const char *dperm_allowed_builtins_fault(Oid function);

/*
 * Is a type one that stands for an object of the catalog, or has the name of
 * one: regclass, regconfig, regdictionary and such, or aclitem?
 */
extern bool dperm_allowed_builtins_names_object(Oid type);

#endif							/* DPERM_ALLOWED_BUILTINS_H */
