/*
 * settings.h: the settings of dperm.
 */
#ifndef DPERM_SETTINGS_H
#define DPERM_SETTINGS_H

/* dperm.cache_memory and dperm.pull_memory, in kilobytes. */
extern int	dperm_cache_memory;
extern int	dperm_pull_memory;

/* dperm.call_timeout, in milliseconds; 0 for no limit. */
extern int	dperm_call_timeout;

extern void dperm_settings_init(void);

#endif							/* DPERM_SETTINGS_H */
