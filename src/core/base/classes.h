/*
 * classes.h: the values of several classes, as bytes: one after the other, each
 * with its zero byte.
 *
 * The first is class 1. Options, requests, models and reports all have them in
 * this form, so that nobody counts or copies them one by one.
 */
#ifndef DPERM_CLASSES_H
#define DPERM_CLASSES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * More than any list needs; a request has its domain of labels in so many bytes.
 */
#define DPERM_CLASSES_BYTES 131000

/*
 * NULL if bytes are the values of count classes, else what is wrong: their
 * number, a value that is there twice, a list that is too long.
 */
extern const char *dperm_classes_fault(const char *bytes, size_t len, int count);

/* The value of a class, from 1 to the number of classes. */
extern const char *dperm_classes_value(const char *bytes, int number);

/* Bytes of so many classes; and are two lists of them the same? */
extern size_t dperm_classes_size(const char *bytes, int count);
extern bool dperm_classes_same(const char *a, const char *b, int count);

/* The number of a value; 0 if it is none of so many classes. */
extern int	dperm_classes_find(const char *bytes, int count, const char *value);

#endif							/* DPERM_CLASSES_H */
