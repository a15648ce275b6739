/* allowed_builtins.h: which of built-in functions may be called for rows. */
#ifndef DPERM_ALLOWED_BUILTINS_H
#define DPERM_ALLOWED_BUILTINS_H

/* Why a built-in function must not be called for rows; NULL if it may be. */
extern const char *dperm_allowed_builtins_fault(Oid function);

/*
 * Do values of a type stand for an object of the catalog, or contain its name:
 * regclass, regconfig, regdictionary and the like, or aclitem?
 */
extern bool dperm_allowed_builtins_names_object(Oid type);

#endif							/* DPERM_ALLOWED_BUILTINS_H */
