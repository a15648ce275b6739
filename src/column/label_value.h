/*
 * label_value.h: values of a label column that arguments name, as text.
 */
#ifndef DPERM_LABEL_VALUE_H
#define DPERM_LABEL_VALUE_H

/* Bytes of such a value in a message. */
#define DPERM_LABEL_VALUE_SHOWN 100

/*
 * A value as a datum of a base type, with a type modifier, or -1; raises an
 * error for one that the type does not accept, with a hint about the argument:
 * "positive" or "classes".
 */
extern Datum dperm_label_value(Oid type, const char *text, int32 typmod, const char *argument);

/* Is a type stored and compared as text? */
extern bool dperm_label_value_is_textual(Oid type);

/* Raise an error for a type that cannot be a label of classes. */
extern void dperm_label_value_check_type(Oid type);

#endif							/* DPERM_LABEL_VALUE_H */
