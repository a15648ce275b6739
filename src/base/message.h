/*
 * message.h: what a process that reads protected rows may say.
 *
 * It is mute while it plans, and from its charge on, since any message may hold
 * what a row holds; only what depends on arguments, the catalog and the number
 * of units alone is said, between dperm_message_public() and
 * dperm_message_private(). In other processes these do nothing.
 */
#ifndef DPERM_MESSAGE_H
#define DPERM_MESSAGE_H

/*
 * Nothing goes to the client from now on; or, if nothing of a row can be in it,
 * all does again.
 */
extern void dperm_message_mute(void);
extern void dperm_message_unmute(void);

/*
 * Messages go to the client again; and no longer. Where an error is raised in
 * between, the second one is not reached.
 */
extern void dperm_message_public(void);
extern void dperm_message_private(void);

/* May messages go to the client? */
extern bool dperm_message_is_public(void);

/* Tell the client of progress, which is the same whatever rows hold. */
extern void dperm_message_progress(const char *format,...) pg_attribute_printf(1, 2);

#endif							/* DPERM_MESSAGE_H */
