/*
 * mechanism.c: the table of mechanisms.
 */
#include "core/mechanism/mechanism.h"

#include <stddef.h>


#define COUNT DPERM_METHOD_COUNT

static const DpermMechanism *const mechanisms[COUNT] = {
	[DPERM_METHOD_OBJECTIVE] = &dperm_objective,
	[DPERM_METHOD_OUTPUT] = &dperm_output
};

/* The entry of a method. */
const DpermMechanism *
dperm_mechanism_entry(int method)
{
	return method >= 0 && method < COUNT ? mechanisms[method] : NULL;
}

/* Its name. */
const char *
dperm_mechanism_name(int method)
{
	return mechanisms[method]->name;
}

/* What the guarantee calls it. */
const char *
dperm_mechanism_description(DpermMethod method)
{
	return mechanisms[method]->description;
}
