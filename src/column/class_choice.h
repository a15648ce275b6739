/*
 * class_choice.h: the class of a model that a call asks about.
 */
#ifndef DPERM_CLASS_CHOICE_H
#define DPERM_CLASS_CHOICE_H

#include "core/model/model.h"

/*
 * The number of a class by its name, from 1 on. A model of several classes needs
 * a name; any other has one set of weights, number 1, and needs NULL.
 */
extern int	dperm_class_choice(const DpermModel *model, const char *name);

/* The name of a class. */
extern const char *dperm_class_choice_name(const DpermModel *model, int number);

/* The names of all classes, or the first of them if they are long. */
extern char *dperm_class_choice_list(const DpermModel *model);

#endif							/* DPERM_CLASS_CHOICE_H */
