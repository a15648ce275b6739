/*
 * page.h: an HTML page that needs nothing but itself.
 *
 * No script, no font, no picture from elsewhere; ASCII only, so that it means
 * the same in every client encoding; and well-formed XML, so that it can be
 * checked. Text that users can write enters a page through dperm_page_text()
 * alone, and markup through dperm_page_put(), whose arguments are ours.
 */
#ifndef DPERM_PAGE_H
#define DPERM_PAGE_H

#include "lib/stringinfo.h"

/* How many characters of a name and of a longer text are shown. */
#define DPERM_PAGE_NAME 120
#define DPERM_PAGE_LONG 4000

/* How many rows of a table are shown. */
#define DPERM_PAGE_ROWS 100

/* Markup of ours: format, numbers, and strings that nobody else can write. */
extern void dperm_page_put(StringInfo page, const char *format,...) pg_attribute_printf(2, 3);

/*
 * Text: escaped, with controls as numbers, and cut after
 * most characters; nothing for NULL.
 */
extern void dperm_page_text(StringInfo page, const char *text, int most);
extern void dperm_page_bytes(StringInfo page, const char *bytes, int len, int most);

/* The page up to its title, and its end. */
extern void dperm_page_begin(StringInfo page, const char *title);
extern void dperm_page_end(StringInfo page);

/* A section, from its heading on; ends the one before. */
extern void dperm_page_section(StringInfo page, const char *id, const char *heading);

/* The tile of a figure that matters. */
extern void dperm_page_tile(StringInfo page, const char *name, const char *value);

/*
 * A table: its caption, and its columns, up to a NULL. Without columns, a table
 * of facts.
 */
extern void
dperm_page_table(StringInfo page, const char *caption, const char *const *columns);
extern void dperm_page_table_end(StringInfo page);

/* One cell of text, whose lines can be broken; the first of a row is its heading. */
extern void dperm_page_cell(StringInfo page, bool heading, const char *text);

/* A cell with a timestamp of JSON. */
extern void dperm_page_time(StringInfo page, const char *timestamp);

/* A row of two cells: what, and its value as text. */
extern void dperm_page_fact(StringInfo page, const char *name, const char *value);

/* An item of a list. */
extern void dperm_page_item(StringInfo page, const char *text);

/* How many things of a list are not shown, if any. */
extern void dperm_page_cut(StringInfo page, int64 count, int64 shown, const char *things);

/*
 * Today, as 2026-01-31; the day of a timestamp of JSON, or today if it is none; a
 * timestamp as 2026-01-31 12:34, and anything else as it is.
 */
extern char *dperm_page_today(void);
extern char *dperm_page_day(const char *timestamp);
extern char *dperm_page_moment(const char *timestamp);

#endif							/* DPERM_PAGE_H */
