/*
 * trusted_schemas.h: where the names in bodies of functions may be looked for.
 *
 * What a body names is looked up when a row gets there. If an analyst could
 * choose what is found, or that it is refused, they would choose for which rows
 * a call fails.
 */
#ifndef DPERM_TRUSTED_SCHEMAS_H
#define DPERM_TRUSTED_SCHEMAS_H

/*
 * Does all that is in a schema belong to an owner or to administrators, and can
 * nobody else put something there?
 */
extern bool dperm_trusted_schemas_has(Oid schema, Oid owner);

/*
 * The name of an extension that somebody else has created, or NULL. Its objects
 * belong to a superuser, and it can be put into any schema.
 */
extern char *dperm_trusted_schemas_foreign_extension(Oid owner);

#endif							/* DPERM_TRUSTED_SCHEMAS_H */
