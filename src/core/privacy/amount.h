/*
 * amount.h: amounts of epsilon and delta that add up exactly: decimals with 24
 * digits after the point.
 */
#ifndef DPERM_AMOUNT_H
#define DPERM_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* units * 1e-12 + parts * 1e-24, with 0 <= parts < 1e12; never negative. */
typedef struct DpermAmount
{
	int64_t		units;
	int64_t		parts;
} DpermAmount;

/*
 * The shortest decimal that reads back as the same double, which is what the
 * user wrote, rounded up or down to this many digits after the point. x is at
 * least 0; amounts and sums from 1e6 on become 1e6.
 */
extern DpermAmount dperm_amount_up(double x, int digits);
extern DpermAmount dperm_amount_down(double x, int digits);

/*
 * Read a decimal without an exponent, as numeric prints it; false if it is not
 * valid, negative, too large, or has too many digits.
 */
extern bool dperm_amount_read(const char *text, DpermAmount *out);

/* Print without trailing zeros after the point. */
#define DPERM_AMOUNT_TEXT 40
extern void dperm_amount_print(DpermAmount a, char *text);

extern DpermAmount dperm_amount_add(DpermAmount a, DpermAmount b);

/* a - b, or 0 if b is larger. */
extern DpermAmount dperm_amount_less(DpermAmount a, DpermAmount b);

/* Compare: the result is negative, 0, or positive. */
extern int	dperm_amount_compare(DpermAmount a, DpermAmount b);

/* A fraction with a small denominator, rounded down. */
extern DpermAmount dperm_amount_share(DpermAmount a, int numerator, int denominator);

/* The nearest double. */
extern double dperm_amount_double(DpermAmount a);

#endif							/* DPERM_AMOUNT_H */
