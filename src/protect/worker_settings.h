/*
 * worker_settings.h: the settings of a process that reads a protected relation.
 */
#ifndef DPERM_WORKER_SETTINGS_H
#define DPERM_WORKER_SETTINGS_H

/* Settings of the whole process, whatever a database or a role has set. */
extern void dperm_worker_settings_always(void);

/*
 * Until the end of the transaction: dates and times in arguments mean what they
 * mean to the caller. Those in rows do not depend on settings.
 */
extern void dperm_worker_settings_style(const char *date_style, const char *time_zone);

/* Plan with the settings of the server instead. */
extern void dperm_worker_settings_planning(void);

/* Until the end of the transaction: rows are read, or a release is kept. */
extern void dperm_worker_settings_reading(void);
extern void dperm_worker_settings_keeping(void);

#endif							/* DPERM_WORKER_SETTINGS_H */
