/*
 * facts.h: facts that a report is given as JSON: rows of views, and those of an
 * evaluation, in whatever form a caller makes them.
 */
#ifndef DPERM_FACTS_H
#define DPERM_FACTS_H

#include "utils/jsonb.h"

/* A member of an object as text; NULL if there is none, or it is null. */
extern char *dperm_facts_text(JsonbContainer *object, const char *key);

/* Is a member this text? */
extern bool dperm_facts_is(JsonbContainer *object, const char *key, const char *text);

/* A member as a number; false if it is none, or not finite. */
extern bool dperm_facts_number(JsonbContainer *object, const char *key, double *out);

/* A member that is an array or an object; NULL for anything else. */
extern JsonbContainer *dperm_facts_member(JsonbContainer *object, const char *key);

/* How many elements an array has; 0 for NULL and for anything else. */
extern int	dperm_facts_count(JsonbContainer *array);

/* Element i of an array, if it is an object, else NULL; and if a number. */
extern JsonbContainer *dperm_facts_object(JsonbContainer *array, int i);
extern bool dperm_facts_element(JsonbContainer *array, int i, double *out);

/* The first object of an array whose member is this text, or NULL. */
extern JsonbContainer *
dperm_facts_find(JsonbContainer *array, const char *key, const char *text);

#endif							/* DPERM_FACTS_H */
