/*
 * utility.h: the commands of a session that Citus hands on to workers, or that it runs by itself.
 */
#ifndef DPERM_UTILITY_H
#define DPERM_UTILITY_H

#include "nodes/nodes.h"

/* Watch commands from now on; when the library is loaded. */
extern void dperm_utility_init(void);

/* What is known about settings of this transaction that Citus hands on to workers. */
typedef enum DpermHandedOn
{
	DPERM_HANDED_ON_NONE,
	DPERM_HANDED_ON_SOME,
	DPERM_HANDED_ON_UNKNOWN		/* the library was loaded in the middle of the transaction */
} DpermHandedOn;

extern DpermHandedOn dperm_utility_handed_on(void);

/*
 * Refuse SET and RESET until the top transaction ends: there may be transactions on workers, with the rights of somebody else, that Citus hands them on to.
 */
extern void dperm_utility_refuse_settings(void);

/* Does this session see all commands, from the first one on, because the library is preloaded? */
extern bool dperm_utility_sees_all(void);

/* Does Citus take this session for one of its own, by its application_name? Anybody can have such a name. */
extern bool dperm_utility_is_from_citus(void);

/* Is the command of an event trigger one that the client has sent, not a part of another one? */
extern bool dperm_utility_is_own(Node *command);

#endif							/* DPERM_UTILITY_H */
