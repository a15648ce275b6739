/* Amounts: exact sums of decimals, rounded on the right side. */
#include "core/mechanism/charge.h"

#include <math.h>
#include <stdlib.h>

#include "unit/test.h"

/* In the twelfth digit after the point. */
#define UNIT UINT64_C(1000000000000)

static const char *
text_of(DpermAmount a)
{
	static char text[4][DPERM_AMOUNT_TEXT];
	static int	turn;

	turn = (turn + 1) % 4;
	dperm_amount_print(a, text[turn]);
	return text[turn];
}

/* The decimal that was written, to that many digits. */
TEST(rounds_what_was_written)
{
	CHECK_TEXT(text_of(dperm_amount_of(0.1, 12, true)), "0.1");
	CHECK_TEXT(text_of(dperm_amount_of(0.3, 12, true)), "0.3");
	CHECK_TEXT(text_of(dperm_amount_of(1.0 / 3, 12, true)), "0.333333333334");
	CHECK_TEXT(text_of(dperm_amount_of(1.0 / 3, 12, false)), "0.333333333333");
	CHECK_TEXT(text_of(dperm_amount_of(1e-6, 24, true)), "0.000001");
	CHECK_TEXT(text_of(dperm_amount_of(0x1p-64, 24, true)), "0.000000000000000000054211");
	CHECK_TEXT(text_of(dperm_amount_of(0x1p-64, 24, false)), "0.00000000000000000005421");
	CHECK_TEXT(text_of(dperm_amount_of(1e-300, 24, true)), "0.000000000000000000000001");
	CHECK_TEXT(text_of(dperm_amount_of(1e-300, 24, false)), "0");
	CHECK_TEXT(text_of(dperm_amount_of(0.9999999999999999, 12, true)), "1");
	CHECK_TEXT(text_of(dperm_amount_of(500, 12, true)), "500");
	CHECK_TEXT(text_of(dperm_amount_of(123456.789012345, 12, true)), "123456.789012345");
	CHECK_TEXT(text_of(dperm_amount_of(0, 12, true)), "0");
	CHECK_TEXT(text_of(dperm_amount_of(0.999999999999999999999999, 24, false)), "1");
}

/*
 * Rounded up is the least amount that is not below, rounded down the largest
 * that is not above. Amounts are in units, and compared in long double.
 */
TEST(rounds_up_and_down_by_less_than_a_unit)
{
	srand(1);
	for (int i = 0; i < 200000; i++)
	{
		double		x = exp(-25 + 31.0 * rand() / RAND_MAX);
		DpermAmount up = dperm_amount_of(x, 12, true);
		DpermAmount down = dperm_amount_of(x, 12, false);
		long double exact = (long double) x * 1e12L;

		/*
		 * the shortest decimal is within half a unit of the last place of the
		 * double
		 */
		long double room = exact * 0x1p-53L + 1e-9L;

		CHECK(up % UNIT == 0 && down % UNIT == 0);
		CHECK(up - down == UNIT || up == down);
		CHECK((long double) (up / UNIT) >= exact - room && (long double) (up / UNIT) < exact + 1 + room);
		CHECK((long double) (down / UNIT) <= exact + room && (long double) (down / UNIT) > exact - 1 - room);
	}
}

/*
 * What is too large becomes the largest amount: it must not wrap around to a
 * small one.
 */
TEST(stops_at_the_largest)
{
	const double large[] = {1e6, 9.3e6, 5.5e7, 1e9, 18446744.073709552, 1e18, 1e300, INFINITY};
	DpermAmount most = dperm_amount_of(1e6, 15, true);

	CHECK_TEXT(text_of(most), "1000000");
	for (int i = 0; i < 8; i++)
	{
		CHECK(dperm_amount_of(large[i], 15, true) == most);
		CHECK(dperm_amount_of(large[i], 12, false) == most);
	}
	CHECK(dperm_amount_of(NAN, 15, true) == most);
	CHECK_TEXT(text_of(dperm_amount_of(NAN, 12, false)), "0");
	CHECK(dperm_amount_add(most, dperm_amount_of(0.1, 12, true)) == most);
	CHECK(dperm_amount_add(most, most) == most);
}

/* From text and back, and texts that are not amounts. */
TEST(reads_what_it_prints)
{
	DpermAmount a;

	srand(2);
	for (int i = 0; i < 100000; i++)
	{
		DpermAmount b = (uint64_t) rand() * (uint64_t) rand() % UINT64_C(100000000000000000) * UNIT + (uint64_t) rand() * (uint64_t) rand() % UNIT;

		CHECK(dperm_amount_read(text_of(b), &a));
		CHECK(a == b);
	}
	CHECK(dperm_amount_read("0.000", &a) && a == 0);
	CHECK(dperm_amount_read("000012.5", &a) && a == 125 * DPERM_AMOUNT_ONE / 10);
	CHECK(dperm_amount_read("0.0000000000000000000000010000", &a) && a == 1);
	CHECK(!dperm_amount_read("0.0000000000000000000000001", &a));
	CHECK(!dperm_amount_read("-1", &a));
	CHECK(!dperm_amount_read("NaN", &a));
	CHECK(!dperm_amount_read("Infinity", &a));
	CHECK(!dperm_amount_read("1e5", &a));
	CHECK(!dperm_amount_read("", &a));
	CHECK(!dperm_amount_read(".5", &a));
	CHECK(!dperm_amount_read("1 ", &a));
	CHECK(!dperm_amount_read("1000001", &a));
	CHECK(!dperm_amount_read("99999999999999999999999999999999", &a));
}

/* Ten tenths are one; carries and borrows. */
TEST(adds_exactly)
{
	DpermAmount sum = 0;
	DpermAmount big;
	DpermAmount small;

	for (int i = 0; i < 10; i++)
		sum = dperm_amount_add(sum, dperm_amount_of(0.1, 12, true));
	CHECK_TEXT(text_of(sum), "1");
	CHECK(dperm_amount_read("0.999999999999999999999999", &big) && dperm_amount_read("0.000000000000000000000001", &small));
	CHECK_TEXT(text_of(dperm_amount_add(big, small)), "1");
	CHECK_TEXT(text_of(dperm_amount_of(1, 0, true) - small), "0.999999999999999999999999");
	CHECK(small < big && big > small && big == big);
}

/* Shares are rounded down. */
TEST(takes_shares)
{
	DpermAmount a;

	CHECK(dperm_amount_read("0.000001", &a));
	CHECK_TEXT(text_of(a * 3 / 8), "0.000000375");
	CHECK(dperm_amount_read("0.000000000000000000000015", &a));
	CHECK_TEXT(text_of(a / 2), "0.000000000000000000000007");
	CHECK(dperm_amount_read("3.000000000001000000000007", &a));
	CHECK_TEXT(text_of(a * 3 / 8), "1.125000000000375000000002");
}

TEST(becomes_the_nearest_double)
{
	CHECK(dperm_amount_double(dperm_amount_of(0.1, 12, true)) == 0.1);
	CHECK(dperm_amount_double(dperm_amount_of(1e-6, 24, true)) == 1e-6);
	CHECK(dperm_amount_double(dperm_amount_of(0, 24, true)) == 0);
}
