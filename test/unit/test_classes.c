/*
 * test_classes.c: the values of several classes, as bytes.
 */
#include "unit/test.h"

#include <stdlib.h>

#include "core/base/core.h"

static const char list[] = "a\0\0bb\0A";	/* four values, the second is empty */

/* What is wrong with a copy that ends where the bytes do, for the sanitizer; "" for nothing. */
static const char *
fault_of(const char *bytes, size_t len, int count)
{
	char	   *copy = malloc(len > 0 ? len : 1);
	const char *fault;

	memcpy(copy, bytes, len);
	fault = dperm_classes_fault(copy, len, count);
	free(copy);
	return fault ? fault : "";
}

TEST(numbers_values_from_one)
{
	static const char *const values[] = {"a", "", "bb", "A"};

	for (int i = 1; i <= 4; i++)
	{
		CHECK_TEXT(dperm_classes_value(list, i), values[i - 1]);
		CHECK(dperm_classes_find(list, 4, values[i - 1]) == i);
		CHECK(dperm_classes_find(list, i - 1, values[i - 1]) == 0);
	}
	CHECK(dperm_classes_find(list, 4, "b") == 0 && dperm_classes_find(list, 4, "bbb") == 0);
	CHECK(dperm_classes_size(list, 0) == 0 && dperm_classes_size(list, 2) == 3 && dperm_classes_size(list, 4) == sizeof(list));
}

/* Only the right number of values, to the last byte. */
TEST(checks_lists)
{
	static char longest[DPERM_CLASSES_BYTES + 1];

	for (int count = 0; count < 8; count++)
		for (size_t len = 0; len <= sizeof(list); len++)
			CHECK((fault_of(list, len, count)[0] == '\0') == (count > 0 && count <= 4 && dperm_classes_size(list, count) == len));
	CHECK_TEXT(fault_of("", 0, 3), "the last class has no end");
	CHECK_TEXT(fault_of(list, 2, 2), "there are fewer classes");
	CHECK_TEXT(fault_of(list, 8, 3), "there are more classes");
	CHECK_TEXT(fault_of("a\0b\0a", 6, 3), "a class is there twice");
	CHECK_TEXT(fault_of("\0", 2, 2), "a class is there twice");
	memset(longest, 'x', sizeof(longest));
	longest[DPERM_CLASSES_BYTES] = longest[DPERM_CLASSES_BYTES - 1] = '\0';
	CHECK_TEXT(fault_of(longest, DPERM_CLASSES_BYTES, 1), "");
	CHECK_TEXT(fault_of(longest, DPERM_CLASSES_BYTES + 1, 2), "the list of classes is too long");
}
