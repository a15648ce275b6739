/*
 * names.h: the SQL names of an enum's values.
 */
#ifndef DPERM_NAMES_H
#define DPERM_NAMES_H

#include <string.h>

/* The position of a name, or -1. */
static inline int
dperm_find_name(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

#endif							/* DPERM_NAMES_H */
