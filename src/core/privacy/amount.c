/*
 * amount.c: decimals with 24 digits after the point, in two integers.
 */
#include "core/privacy/amount.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE INT64_C(1000000000000) /* 1e12: of units, and of parts in a unit */
#define DIGITS 12				/* of each */

/*
 * The largest whole number of an amount, with room for sums: 9e18 units are
 * 9e6.
 */
#define WHOLE_MAX 1000000

/* Ten to a small power. */
static int64_t
power_of_ten(int power)
{
	int64_t		result = 1;

	while (power-- > 0)
		result *= 10;
	return result;
}

/* Add a digit with weight 10^place, which must not be below the last place. */
static void
add_digit(DpermAmount *a, int digit, int place)
{
	if (place >= -DIGITS)
		a->units += digit * power_of_ten(place + DIGITS);
	else
		a->parts += digit * power_of_ten(place + 2 * DIGITS);
}

/* The shortest decimal of a double, rounded to this many digits. */
static DpermAmount
of_double(double x, int digits, bool up)
{
	DpermAmount result = {0, 0};
	DpermAmount last = {0, 0};
	DpermAmount largest = {WHOLE_MAX * BASE, 0};
	char		text[32];
	bool		more = false;
	int			place;

	/*
	 * anything above all limits is replaced by the largest amount; more digits
	 * would overflow
	 */
	if (up ? !(x < WHOLE_MAX) : x >= WHOLE_MAX)
		return largest;
	if (!(x > 0))
		return result;

	/*
	 * a decimal of up to 15 digits is found with 15; trailing zeros do not
	 * matter
	 */
	for (int precision = 14; precision < 17; precision++)
	{
		snprintf(text, sizeof(text), "%.*e", precision, x);
		if (strtod(text, NULL) == x)
			break;
	}
	place = atoi(strchr(text, 'e') + 1);
	for (const char *at = text; *at != 'e'; at++)
	{
		if (*at < '0' || *at > '9')
			continue;
		if (place >= -digits)
			add_digit(&result, *at - '0', place);
		else if (*at != '0')
			more = true;
		place--;
	}
	if (more && up)
	{
		add_digit(&last, 1, -digits);
		result = dperm_amount_add(result, last);
	}
	return result;
}

DpermAmount
dperm_amount_up(double x, int digits)
{
	return of_double(x, digits, true);
}

DpermAmount
dperm_amount_down(double x, int digits)
{
	return of_double(x, digits, false);
}

/* Read digits, optionally followed by a point and more digits. */
bool
dperm_amount_read(const char *text, DpermAmount *out)
{
	const char *at = text;
	int64_t		whole = 0;
	int			place = 0;

	*out = (DpermAmount) {0, 0};
	for (; *at >= '0' && *at <= '9'; at++)
	{
		whole = whole * 10 + (*at - '0');
		if (whole > WHOLE_MAX)
			return false;
	}
	if (at == text)
		return false;
	out->units = whole * BASE;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++)
		{
			if (--place >= -2 * DIGITS)
				add_digit(out, *at - '0', place);
			else if (*at != '0')
				return false;
		}
	return *at == '\0';
}

/* Print all digits, without trailing zeros. */
void
dperm_amount_print(DpermAmount a, char *text)
{
	size_t		len;

	snprintf(text, DPERM_AMOUNT_TEXT, "%" PRId64 ".%012" PRId64 "%012" PRId64, a.units / BASE,
			 a.units % BASE, a.parts);
	len = strlen(text);
	while (text[len - 1] == '0')
		len--;
	if (text[len - 1] == '.')
		len--;
	text[len] = '\0';
}

DpermAmount
dperm_amount_add(DpermAmount a, DpermAmount b)
{
	DpermAmount sum = {a.units + b.units, a.parts + b.parts};

	if (sum.parts >= BASE)
	{
		sum.units++;
		sum.parts -= BASE;
	}
	if (sum.units >= WHOLE_MAX * BASE)
		sum = (DpermAmount) {WHOLE_MAX * BASE, 0};
	return sum;
}

DpermAmount
dperm_amount_less(DpermAmount a, DpermAmount b)
{
	DpermAmount rest = {a.units - b.units, a.parts - b.parts};

	if (dperm_amount_compare(a, b) <= 0)
		return (DpermAmount) {0, 0};
	if (rest.parts < 0)
	{
		rest.units--;
		rest.parts += BASE;
	}
	return rest;
}

int
dperm_amount_compare(DpermAmount a, DpermAmount b)
{
	if (a.units != b.units)
		return a.units < b.units ? -1 : 1;
	return a.parts < b.parts ? -1 : a.parts > b.parts;
}

/* Long division; the carry is less than the denominator. */
DpermAmount
dperm_amount_share(DpermAmount a, int numerator, int denominator)
{
	int64_t		whole = a.units / denominator;
	int64_t		rest = a.units % denominator;
	int64_t		low = rest * numerator;
	DpermAmount result;

	/*
	 * (whole * denominator + rest) * numerator / denominator, then the parts
	 * with the remainder
	 */
	result.units = whole * numerator + low / denominator;
	low = (low % denominator) * BASE + a.parts * numerator;
	result.parts = low / denominator;
	result.units += result.parts / BASE;
	result.parts %= BASE;
	return result;
}

double
dperm_amount_double(DpermAmount a)
{
	char		text[DPERM_AMOUNT_TEXT];

	dperm_amount_print(a, text);
	return strtod(text, NULL);
}
