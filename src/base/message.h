/*
 * message.h: which messages a process that reads protected rows may send.
 *
 * It is mute while it plans, and from its charge on, since any message may
 * contain data of a row. Only messages that depend on nothing but arguments,
 * the catalog and the number of units are sent, between dperm_message_public()
 * and dperm_message_private(). In other processes these functions do nothing.
 */
#ifndef DPERM_MESSAGE_H
#define DPERM_MESSAGE_H

/*
 * Send nothing to the client from now on; or everything again, when no message
 * can contain data of a row.
 */
extern void dperm_message_mute(void);
extern void dperm_message_unmute(void);

/*
 * Begin and end a section whose messages go to the client. If an error is
 * raised in it, the end is not reached.
 */
extern void dperm_message_public(void);
extern void dperm_message_private(void);

/*
 * While a row is evaluated no such section begins: its functions may call ours,
 * with values of the row as arguments.
 */
extern void dperm_message_seal(bool now);

/* May messages go to the client? */
extern bool dperm_message_is_public(void);

/* A text in at most so many bytes, of which the last ones are "..." if it is cut. */
extern char *dperm_message_clip(const char *text, int bytes);

/*
 * In PG_CATCH, given the memory context of before: the message of an error that
 * a value has caused, which ends here. Any other error is thrown on.
 */
extern char *dperm_message_data_error(MemoryContext context);

#endif							/* DPERM_MESSAGE_H */
