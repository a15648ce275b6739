/*
 * message.h: which messages a process that reads protected rows may send.
 *
 * Any message may contain data of a row. So such a process sends nothing but
 * what is said here to depend on arguments, the catalog and the number of units
 * alone. In other processes everything is sent.
 */
#ifndef DPERM_MESSAGE_H
#define DPERM_MESSAGE_H

/* What goes to the client. */
typedef enum DpermMessages
{
	DPERM_MESSAGES_ALL,
	DPERM_MESSAGES_MARKED,		/* errors after dperm_message_public(), and notices from here */
	DPERM_MESSAGES_NONE
} DpermMessages;

extern void dperm_message_allow(DpermMessages messages);
extern void dperm_message_public(void);
extern void dperm_message_private(void);
extern bool dperm_message_is_public(void);
extern void
dperm_message_tell(int level, const char *message, const char *detail, const char *hint);
extern void dperm_message_tell_waiting(void);
extern char *dperm_message_clip(const char *text, int bytes);
extern char *dperm_message_data_error(MemoryContext context);

#endif							/* DPERM_MESSAGE_H */
