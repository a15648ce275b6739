/*
 * role_name.h: roles in our tables, which are dumped by name.
 */
#ifndef DPERM_ROLE_NAME_H
#define DPERM_ROLE_NAME_H

#include "postgres_ext.h"

/* A role as a value of dperm_role_name, and the role of such a value. */
extern Datum dperm_role_name_make(Oid role);
extern Oid	dperm_role_name_role(Datum value);

#endif							/* DPERM_ROLE_NAME_H */
