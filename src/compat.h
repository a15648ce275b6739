/*
 * compat.h: databases whose extension is older than this library.
 */
#ifndef DPERM_COMPAT_H
#define DPERM_COMPAT_H

/* Raise an error if the functions in our schema are those of an older version, which our queries cannot use. */
extern void dperm_compat_check(Oid schema);

#endif							/* DPERM_COMPAT_H */
