/*
 * codec.h: one description of a struct for all of its forms. Trusted.
 *
 * A visitor calls the functions below for each field in turn. What they do
 * depends on the codec: they write bytes or JSON, or read either of them. So the
 * visitor is the description of both forms. It has locals in place of fields that
 * are const, and stores what it has read only if dperm_codec_reads().
 *
 * Bytes: the fields in the order of the visitor, big-endian, without keys;
 * doubles are IEEE 754, a name is its number, 8 bits, a flag 0 or 1, a count 32
 * bits, an integer 64, a text its count and its bytes, a list its count and its
 * elements. JSON: keys in any order; what is not visited is an unknown key.
 *
 * Nothing that is read is trusted. The first thing that is wrong is in why, and
 * everything that is read after it is zero. A count is compared with what is left
 * of the input before anything is allocated for it. Texts stay where they are in
 * the input, which must live as long.
 */
#ifndef DPERM_CODEC_H
#define DPERM_CODEC_H

#include "core/base/bytes.h"
#include "core/base/host.h"

/* Bytes, or text, that grow. */
typedef struct DpermOut
{
	char	   *bytes;
	size_t		len;
	size_t		room;
} DpermOut;

typedef enum DpermCodecForm
{
	DPERM_CODEC_WRITE_BYTES,
	DPERM_CODEC_READ_BYTES,
	DPERM_CODEC_WRITE_JSON,
	DPERM_CODEC_READ_JSON
} DpermCodecForm;

#define DPERM_CODEC_DEPTH 8

/* A list or an object of JSON that was entered. */
typedef struct DpermCodecLevel
{
	const char *key;
	int			done;			/* elements or members that were visited */
	DpermTreeKind kind;			/* LIST or OBJECT */
	DpermTree	tree;			/* if it is read */
} DpermCodecLevel;

typedef struct DpermCodec
{
	DpermCodecForm form;
	const char *why;			/* the first thing that is wrong with the input, or NULL */
	DpermOut	out;
	DpermBytes	in;
	DpermTree	root;
	int			depth;
	DpermCodecLevel levels[DPERM_CODEC_DEPTH];
} DpermCodec;

/* Are fields read? */
static inline bool
dperm_codec_reads(const DpermCodec *c)
{
	return c->form == DPERM_CODEC_READ_BYTES || c->form == DPERM_CODEC_READ_JSON;
}

/* What was written; it ends with a zero byte that does not count, if it is text. */
static inline DpermText
dperm_codec_written(const DpermCodec *c)
{
	return (DpermText) {c->out.bytes, (int) c->out.len};
}

/* A codec that reads bytes. The others begin as {.form = ...}, with a root to read from. */
static inline DpermCodec
dperm_codec_read(const void *bytes, size_t len)
{
	return (DpermCodec) {.form = DPERM_CODEC_READ_BYTES, .in = {bytes, len, false}};
}

extern void dperm_codec_fail(DpermCodec *c, const char *why);
extern void dperm_codec_complain(DpermCodec *c, const char *key, const char *what);
extern const char *dperm_codec_end_of_bytes(DpermCodec *c);

/* Fields, with their keys in JSON: NULL for an element, or the whole. */
extern void dperm_codec_number(DpermCodec *c, const char *key, double *value);
extern void dperm_codec_integer(DpermCodec *c, const char *key, int64_t *value);
extern int	dperm_codec_count(DpermCodec *c, const char *key, int count);
extern bool dperm_codec_flag(DpermCodec *c, const char *key, bool flag);
extern int	dperm_codec_name(DpermCodec *c, const char *key, int number, const char *(*name) (int),
							 int count);
extern void dperm_codec_text(DpermCodec *c, const char *key, DpermText *text);
extern void dperm_codec_object_text(DpermCodec *c, const char *key, DpermText *text);
extern const double *dperm_codec_numbers(DpermCodec *c, const char *key, const double *numbers,
										 int lists, int count);
extern void dperm_codec_pair(DpermCodec *c, const char *key, double *first, double *second);

/* What is there, and in which shape. */
extern bool dperm_codec_some(DpermCodec *c, const char *key, bool there);
extern bool dperm_codec_has(DpermCodec *c, const char *key, bool there);
extern bool dperm_codec_says(DpermCodec *c, const char *key);
extern int	dperm_codec_nesting(DpermCodec *c, const char *key, int nesting);
extern int	dperm_codec_length(DpermCodec *c, const char *key, int count);

/* Lists and objects. */
extern void dperm_codec_object(DpermCodec *c, const char *key);
extern int	dperm_codec_list(DpermCodec *c, const char *key, int count);
extern void dperm_codec_end(DpermCodec *c);

/* Text piece by piece, and bytes. */
extern void dperm_codec_put(DpermOut *out, const char *format,...)
	__attribute__((format(printf, 2, 3)));
extern void dperm_codec_put_double(DpermOut *out, double value);
extern void dperm_codec_put_bytes(DpermOut *out, const void *bytes, size_t len);

#endif							/* DPERM_CODEC_H */
