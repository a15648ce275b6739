/*
 * classes.c: the values of several classes, as bytes. Trusted.
 */
#include "core/base/core.h"

#include <string.h>

/* The number of a value. */
int
dperm_classes_find(const char *bytes, int count, const char *value)
{
	for (int i = 1; i <= count; i++, bytes += strlen(bytes) + 1)
		if (strcmp(bytes, value) == 0)
			return i;
	return 0;
}

const char *
dperm_classes_value(const char *bytes, int number)
{
	while (--number > 0)
		bytes += strlen(bytes) + 1;
	return bytes;
}

/* Bytes of some classes. */
size_t
dperm_classes_size(const char *bytes, int count)
{
	return (size_t) (dperm_classes_value(bytes, count + 1) - bytes);
}

const char *
dperm_classes_fault(const char *bytes, size_t len, int count)
{
	const char *at = bytes;

	if (len > DPERM_CLASSES_BYTES)
		return "the list of classes is too long";
	if (len == 0 || bytes[len - 1] != '\0')
		return "the last class has no end";
	for (int i = 0; i < count; i++)
	{
		if (at == bytes + len)
			return "there are fewer classes";
		if (dperm_classes_find(bytes, i, at) > 0)
			return "a class is there twice";
		at += strlen(at) + 1;
	}
	return at == bytes + len ? NULL : "there are more classes";
}
