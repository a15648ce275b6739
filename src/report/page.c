/*
 * page.c: an HTML page that needs nothing but itself.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "report/page.h"

/* Nothing is loaded and nothing runs, whatever a text contains. */
#define POLICY "default-src 'none'; style-src 'unsafe-inline'"

/* How many characters a line has at least. */
#define WORD 20

/* Colours by the reader's preference; black on white on paper. */
static const char style[] =
":root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --back: #ffffff;\n"
" --tile: #f3f5f7; --rule: #d0d7de; --line: #0b5cad; --band: #0b5cad33; --alarm: #b42318; }\n"
"@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1;\n"
" --back: #0f1318; --tile: #1a2028; --rule: #3a434d; --line: #6cb0f5; --band: #6cb0f540;\n"
" --alarm: #ff8a80; } }\n"
"@media print { :root { color-scheme: light; --ink: #000; --soft: #444; --back: #fff;\n"
" --tile: #f3f5f7; --rule: #bbb; --line: #0b5cad; --band: #0b5cad33; --alarm: #b42318; } }\n"
"@page { size: A4; margin: 18mm 16mm; }\n"
"* { box-sizing: border-box; }\n"
"body { margin: 0; background: var(--back); color: var(--ink);\n"
" font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; }\n"
"main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }\n"
"h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; }\n"
"h2 { font-size: 1.25rem; margin: 2.25rem 0 .5rem; border-bottom: 1px solid var(--rule);\n"
" padding-bottom: .2rem; }\n"
"h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }\n"
"p, ul { margin: .5rem 0; } ul { padding-left: 1.25rem; }\n"
"h1, h2, p, li, dd, dt { overflow-wrap: anywhere; }\n"
"td, th { overflow-wrap: break-word; max-width: 24rem; }\n"
".soft, caption { color: var(--soft); font-size: .875rem; }\n"
".alarm { color: var(--alarm); font-weight: 600; }\n"
".tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr));\n"
" gap: .5rem; margin: 1rem 0; }\n"
".tiles div { background: var(--tile); border-radius: .4rem; padding: .6rem .8rem; }\n"
".tiles dt { color: var(--soft); font-size: .8rem; } .tiles dd { margin: 0;\n"
" font-size: 1.2rem; font-weight: 600; line-height: 1.3; }\n"
".scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%;\n"
" font-size: .9rem; margin: .5rem 0; }\n"
"caption { text-align: left; padding-bottom: .2rem; }\n"
"th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0;\n"
" border-bottom: 1px solid var(--rule); min-width: 4rem; }\n"
"thead th { border-bottom-width: 2px; } .time { white-space: nowrap; }\n"
".facts th { font-weight: 600; width: 28%; min-width: 7rem; } .facts td { max-width: none; }\n"
".facts .part { padding-top: .9rem; color: var(--soft); font-weight: 400; }\n"
".facts caption { position: absolute; width: 1px; height: 1px; overflow: hidden;\n"
" clip-path: inset(50%); }\n"
"pre { background: var(--tile); border-radius: .4rem; padding: .7rem; font-size: .85rem;\n"
" white-space: pre-wrap; overflow-wrap: anywhere; }\n"
".pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr));\n"
" gap: 1rem; } figure { margin: 0; } .wide { max-width: 27rem; }\n"
"svg { display: block; width: 100%; height: auto; }\n"
"svg text { font-size: 11px; fill: var(--soft); } svg .name { fill: var(--ink); }\n"
".axis { stroke: var(--soft); stroke-width: 1; fill: none; }\n"
".line { stroke: var(--line); stroke-width: 2; fill: none; stroke-linejoin: round; }\n"
".mark { fill: var(--line); } .band { fill: var(--band); stroke: var(--line); }\n"
".noise { stroke: var(--ink); stroke-width: 1; }\n"
".halo { stroke: var(--back); stroke-width: 2.5; }\n"
".limit { stroke: var(--alarm); stroke-width: 1.5; stroke-dasharray: 5 3; fill: none; }\n"
"figure, .tiles, tr, pre { break-inside: avoid; } h2, h3 { break-after: avoid; }\n"
"@media print { main { max-width: none; padding: 0; } body { font-size: 10.5pt; }\n"
" .scroll { overflow: visible; } .pictures { grid-template-columns: repeat(2, 1fr); }\n"
" table { font-size: 8.5pt; } td, th { min-width: 0; }\n"
" .tiles div { border: 1px solid var(--rule); } }\n";

/* Append markup. */
void
dperm_page_put(StringInfo page, const char *format,...)
{
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, format);
		needed = appendStringInfoVA(page, format, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(page, needed);
	}
}

/*
 * Append one character; as a number those that XML does not allow, and those
 * that would hide or reverse what others read.
 */
static void
put_character(StringInfo page, pg_wchar c)
{
	if (c == '\t' || c == '\n' || c == '\r')
		appendStringInfoChar(page, ' ');
	else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
			 (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
			 c == 0xfffe || c == 0xffff)
		appendStringInfo(page, "\\u%04X", c);
	else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'' || c >= 0x7f)
		appendStringInfo(page, "&#%u;", c);
	else
		appendStringInfoChar(page, (char) c);
}

/* Is a byte a letter of ASCII? */
static bool
is_letter(unsigned char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/*
 * Append text, cut after most characters. Where it wraps, a line can be broken
 * after an underscore or a point within a name, and in long words.
 */
static void
put_characters(StringInfo page, const char *bytes, int len, int most, bool wraps)
{
	char	   *copy = pnstrdup(bytes, len);
	const unsigned char *at;
	int			run = 0;		/* characters since a line could be broken */

	/* bytes of SQL_ASCII are in any encoding: UTF-8 is the best guess */
	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		copy = pg_server_to_any(copy, strlen(copy), PG_UTF8);
	at = (const unsigned char *) copy;
	len = (int) strlen(copy);
	for (int shown = 0; len > 0; shown++)
	{
		int			size = pg_utf_mblen(at);
		bool		legal = size <= len && pg_utf8_islegal(at, size);

		if (shown >= most)
		{
			appendStringInfoString(page, "...");
			break;
		}
		put_character(page, legal ? utf8_to_unicode(at) : 0xfffd);
		run = *at == ' ' ? 0 : run + 1;
		if (wraps && (run >= WORD || ((*at == '_' || *at == '.') && run > 3 && is_letter(at[1]))))
		{
			appendStringInfoString(page, "<wbr/>");
			run = 0;
		}
		at += legal ? size : 1;
		len -= legal ? size : 1;
	}
}

/* Append text. */
void
dperm_page_text(StringInfo page, const char *text, int most)
{
	if (text)
		put_characters(page, text, (int) strlen(text), most, false);
}

/* The same, of a given number of bytes. */
void
dperm_page_bytes(StringInfo page, const char *bytes, int len, int most)
{
	put_characters(page, bytes, len, most, false);
}

/* Everything before the first section. */
void
dperm_page_begin(StringInfo page, const char *title)
{
	dperm_page_put(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
				   "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\"/>\n"
				   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
				   "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
				   "<meta name=\"generator\" content=\"dperm %s\"/>\n<title>",
				   POLICY, DPERM_VERSION);
	dperm_page_text(page, title, DPERM_PAGE_NAME);
	dperm_page_put(page, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<header>\n<h1>",
				   style);
	dperm_page_text(page, title, DPERM_PAGE_NAME);
	dperm_page_put(page, "</h1>\n");
}

/* What closes the last section and the page. */
void
dperm_page_end(StringInfo page)
{
	dperm_page_put(page, "</section>\n</main>\n</body>\n</html>\n");
}

/* Begin a section; the first one ends the header. */
void
dperm_page_section(StringInfo page, const char *id, const char *heading)
{
	bool		first = strstr(page->data, "</header>") == NULL;

	dperm_page_put(page, "</%s>\n<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n",
				   first ? "header" : "section", id, id, heading);
}

/* A tile. */
void
dperm_page_tile(StringInfo page, const char *name, const char *value)
{
	dperm_page_put(page, "<div><dt>%s</dt><dd>", name);
	dperm_page_text(page, value, DPERM_PAGE_NAME);
	dperm_page_put(page, "</dd></div>\n");
}

/*
 * Begin a table; a wide one scrolls by itself, also by keyboard. Facts have no
 * columns.
 */
void
dperm_page_table(StringInfo page, const char *caption, const char *const *columns)
{
	dperm_page_put(page, "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\">\n"
				   "<table%s>\n<caption>%s</caption>\n",
				   caption, columns ? "" : " class=\"facts\"", caption);
	for (int i = 0; columns && columns[i]; i++)
	{
		dperm_page_put(page, "%s<th scope=\"col\">", i == 0 ? "<thead><tr>" : "");
		dperm_page_text(page, columns[i], DPERM_PAGE_NAME);
		dperm_page_put(page, "</th>");
	}
	dperm_page_put(page, "%s<tbody>\n", columns ? "</tr></thead>\n" : "");
}

/* End a table. */
void
dperm_page_table_end(StringInfo page)
{
	dperm_page_put(page, "</tbody>\n</table>\n</div>\n");
}

/* A cell; nothing is shown for NULL. */
void
dperm_page_cell(StringInfo page, bool heading, const char *text)
{
	dperm_page_put(page, heading ? "<th scope=\"row\">" : "<td>");
	if (text)
		put_characters(page, text, (int) strlen(text), DPERM_PAGE_LONG, true);
	dperm_page_put(page, heading ? "</th>" : "</td>");
}

/* A cell with a moment. */
void
dperm_page_time(StringInfo page, const char *timestamp)
{
	dperm_page_put(page, "<td class=\"time\">");
	dperm_page_text(page, dperm_page_moment(timestamp), DPERM_PAGE_NAME);
	dperm_page_put(page, "</td>");
}

/* A row of two cells; none if there is no value. */
void
dperm_page_fact(StringInfo page, const char *name, const char *value)
{
	if (value == NULL)
		return;
	dperm_page_put(page, "<tr>");
	dperm_page_cell(page, true, name);
	dperm_page_cell(page, false, value);
	dperm_page_put(page, "</tr>\n");
}

/* An item of a list. */
void
dperm_page_item(StringInfo page, const char *text)
{
	dperm_page_put(page, "<li>");
	dperm_page_text(page, text, DPERM_PAGE_LONG);
	dperm_page_put(page, "</li>\n");
}

/* What was left out. */
void
dperm_page_cut(StringInfo page, int64 count, int64 shown, const char *things)
{
	if (count > shown)
		dperm_page_put(page, "<p class=\"soft\">Shown: " INT64_FORMAT " of " INT64_FORMAT
					   " %s.</p>\n", shown, count, things);
}

/* The date of the transaction, in the time zone of the session. */
char *
dperm_page_today(void)
{
	pg_time_t	now = timestamptz_to_time_t(GetCurrentTransactionStartTimestamp());
	char		date[32];

	pg_strftime(date, sizeof(date), "%Y-%m-%d", pg_localtime(&now, session_timezone));
	return pstrdup(date);
}

/* Does a text begin as 2026-01-31T12:34 does? */
static bool
is_timestamp(const char *text)
{
	static const char form[] = "dddd-dd-ddTdd:dd";

	for (int i = 0; form[i]; i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return false;
	return true;
}

/* The date of an ISO timestamp. */
char *
dperm_page_day(const char *timestamp)
{
	return timestamp && is_timestamp(timestamp) ? pnstrdup(timestamp, 10) : dperm_page_today();
}

/* The date and the minute of an ISO timestamp. */
char *
dperm_page_moment(const char *timestamp)
{
	char	   *moment;

	if (timestamp == NULL || !is_timestamp(timestamp))
		return timestamp ? pstrdup(timestamp) : NULL;
	moment = pnstrdup(timestamp, 16);
	moment[10] = ' ';
	return moment;
}
