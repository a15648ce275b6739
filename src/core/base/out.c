/*
 * out.c: text that is printed piece by piece.
 */
#include "core/base/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Append formatted text. */
void
dperm_out_put(DpermOut *out, const char *format,...)
{
	va_list		args;
	int			len;
	size_t		left = out->len < out->room ? out->room - out->len : 0;

	va_start(args, format);
	len = vsnprintf(left > 0 ? out->text + out->len : NULL, left, format, args);
	va_end(args);
	if (len > 0)
		out->len += (size_t) len;
}

/* Append the shortest decimal that reads back as the same double. */
void
dperm_out_double(DpermOut *out, double value)
{
	char		digits[32];

	if (value == 0.0)
		value = 0.0;			/* no negative zero */
	for (int precision = 15; precision <= 17; precision++)
	{
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	dperm_out_put(out, "%s", digits);
}

/* Append a string in quotes, with the escapes that JSON asks for. */
void
dperm_out_string(DpermOut *out, const char *bytes, int len)
{
	int			plain = 0;		/* start of the bytes not yet written */

	dperm_out_put(out, "\"");
	for (int i = 0; i < len; i++)
	{
		unsigned char c = (unsigned char) bytes[i];

		if (c != '"' && c != '\\' && c >= 0x20)
			continue;
		dperm_out_put(out, "%.*s", i - plain, bytes + plain);
		dperm_out_put(out, c < 0x20 ? "\\u%04x" : "\\%c", c);
		plain = i + 1;
	}
	if (plain < len)
		dperm_out_put(out, "%.*s", len - plain, bytes + plain);
	dperm_out_put(out, "\"");
}
