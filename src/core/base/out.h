/*
 * out.h: text that is printed piece by piece, as snprintf does: everything is
 * counted, and what fits is written.
 */
#ifndef DPERM_OUT_H
#define DPERM_OUT_H

#include <stddef.h>

typedef struct DpermOut
{
	char	   *text;
	size_t		room;
	size_t		len;
} DpermOut;

/* Append formatted text. */
extern void dperm_out_put(DpermOut *out, const char *format,...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
	;

/* Append the shortest decimal that reads back as the same double. */
extern void dperm_out_double(DpermOut *out, double value);

/* Append a string in quotes, with the escapes that JSON asks for. */
extern void dperm_out_string(DpermOut *out, const char *bytes, int len);

#endif							/* DPERM_OUT_H */
