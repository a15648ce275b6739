/* worker_rules.h: what a process that reads protected rows may do. */
#ifndef DPERM_WORKER_RULES_H
#define DPERM_WORKER_RULES_H

/*
 * From now on this process uses no parallel workers, and plans without
 * statistics, which are computed from rows.
 */
extern void dperm_worker_rules_begin(void);

#endif							/* DPERM_WORKER_RULES_H */
