/*
 * columns.h: the columns of a model: their domains, and what they add to its
 * decision.
 */
#ifndef DPERM_COLUMNS_H
#define DPERM_COLUMNS_H

#include "lib/stringinfo.h"

#include "core/model/model.h"

/* How many columns are drawn, and how many are listed. */
#define DPERM_COLUMNS_DRAWN 40

/* The name of a column, and its domain in words. */
extern char *dperm_columns_name(const DpermBlock *block);
extern char *dperm_columns_domain(const DpermBlock *block);

/* All domains as a table. */
extern void dperm_columns_domains(StringInfo page, const DpermModel *model);

/* A picture for each column. */
extern void dperm_columns_pictures(StringInfo page, const DpermModel *model);

#endif							/* DPERM_COLUMNS_H */
