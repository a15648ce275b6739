/*
 * host.h: what the core needs of its host. The server has it in base/host.c, tests
 * in test/host.c and test/tree.c. Trusted.
 *
 * Between drawing noise and wiping it, only an interrupt may leave a function of
 * the core: nothing in between allocates or fails.
 */
#ifndef DPERM_CORE_HOST_H
#define DPERM_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes, not zero-terminated. */
typedef struct DpermText
{
	const char *bytes;
	int			len;
} DpermText;

/* Are two texts the same? */
static inline bool
dperm_host_same_text(const DpermText *a, const DpermText *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->bytes, b->bytes, (size_t) a->len) == 0);
}

/*
 * Memory, zeroed, and never NULL. Nobody frees it by itself: it goes with the
 * context of the server that it is from.
 */
extern void *dperm_host_alloc(size_t size);

/*
 * Give up, with a static text that says why: what cannot happen. Does not
 * return. Bad data and bad arguments are results instead.
 */
extern void dperm_host_fail(const char *why) __attribute__((noreturn));

/*
 * Called at least every few tens of milliseconds by what can run for long. May
 * not return: the core holds nothing that would have to be released.
 */
extern void dperm_host_poll(void);

/* Strong random bytes; false if there are none. Only draw.c asks for them. */
extern bool dperm_host_random(void *bytes, size_t count);

/* What a value of JSON is. */
typedef enum DpermTreeKind
{
	DPERM_TREE_NULL,
	DPERM_TREE_BOOL,
	DPERM_TREE_NUMBER,
	DPERM_TREE_TEXT,
	DPERM_TREE_LIST,
	DPERM_TREE_OBJECT
} DpermTreeKind;

/*
 * A value of JSON in a tree that the host has parsed: strings are in the
 * encoding of the database, without escapes and zero bytes, and no key of an
 * object is there twice.
 */
typedef struct DpermTree
{
	DpermTreeKind kind;
	bool		flag;			/* BOOL */
	int			count;			/* LIST, OBJECT: how many elements or members it has */
	DpermText	text;			/* TEXT; else the host's own, as at is */
	const void *at;
} DpermTree;

/* Parse a text; false if it is not JSON, or not in the encoding of the database. */
extern bool dperm_tree_parse(DpermText text, DpermTree *out);

/* A member of an object, if it has one of this name; an element of a list, from 0. */
extern bool dperm_tree_member(const DpermTree *object, const char *key, DpermTree *out);
extern DpermTree dperm_tree_element(const DpermTree *list, int i);

/*
 * A number, rounded correctly: not finite if it is too large, or so small that it
 * would be 0; and one without fraction and exponent, if it has 64 bits.
 */
extern double dperm_tree_number(const DpermTree *number);
extern bool dperm_tree_integer(const DpermTree *number, int64_t *out);

/* The text of an object, always the same one for the same text of any origin. */
extern DpermText dperm_tree_print(const DpermTree *object);

#endif							/* DPERM_CORE_HOST_H */
