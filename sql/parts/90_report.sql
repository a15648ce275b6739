--
-- Reports
--
-- Pages and records, made of a model, of what views show the caller, and of what the caller adds; no row of a user's
-- table is read. Text of users enters a page through dperm.report_html() alone; all other markup is here. Bodies are parsed when the
-- extension is created, so that names cannot come to mean anything else, and what users call sets all that a text depends on.

-- Raises an error
CREATE FUNCTION dperm.report_refuse(state text, problem text, advice text) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION '%', problem USING ERRCODE = state, HINT = advice;
END $$;

-- The number of a character in Unicode
CREATE FUNCTION dperm.report_code(letter text) RETURNS integer
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- in SQL_ASCII nobody knows what a byte above 127 stands for
	RETURN CASE getdatabaseencoding()
		WHEN 'UTF8' THEN ascii(letter)
		WHEN 'SQL_ASCII' THEN CASE WHEN ascii(letter) < 128 THEN ascii(letter) ELSE x'FFFD'::int END
		ELSE (SELECT CASE octet_length(u.b)
				WHEN 1 THEN get_byte(u.b, 0)
				WHEN 2 THEN (get_byte(u.b, 0) & 31) * 64 + (get_byte(u.b, 1) & 63)
				WHEN 3 THEN (get_byte(u.b, 0) & 15) * 4096 + (get_byte(u.b, 1) & 63) * 64 + (get_byte(u.b, 2) & 63)
				ELSE (get_byte(u.b, 0) & 7) * 262144 + (get_byte(u.b, 1) & 63) * 4096 + (get_byte(u.b, 2) & 63) * 64 + (get_byte(u.b, 3) & 63)
			END FROM (SELECT convert_to(letter, 'UTF8') AS b) u)
		END;
END $$;

-- Text as HTML in ASCII, cut after some characters
CREATE FUNCTION dperm.report_html(words text, most integer DEFAULT 120) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- ASCII alone, so that a page means the same in every client encoding. What hides or reverses what others read is shown as a number.
	RETURN CASE WHEN left(words, most) COLLATE "C" ~ '^[ !#-%(-;=?-~]*$' THEN left(words, most)
		ELSE (SELECT string_agg(CASE
				WHEN c.code IN (9, 10, 13) THEN ' '
				WHEN c.code < 32 OR c.code BETWEEN 127 AND 159 OR c.code BETWEEN x'200B'::int AND x'200F'::int OR c.code BETWEEN x'2028'::int
					AND x'202E'::int
					OR c.code BETWEEN x'2060'::int AND x'206F'::int OR c.code IN (x'FEFF'::int, x'FFFE'::int, x'FFFF'::int)
						OR c.code BETWEEN x'E0000'::int AND x'E007F'::int
					THEN '\u' || upper(lpad(to_hex(c.code), greatest(4, length(to_hex(c.code))), '0'))
				WHEN c.code > 126 OR c.letter IN ('&', '<', '>', '"', '''') THEN '&#' || c.code || ';'
				ELSE c.letter END, '' ORDER BY c.n)
			FROM (SELECT l.letter, l.n, CASE WHEN octet_length(l.letter) = 1 AND ascii(l.letter) < 128 OR getdatabaseencoding() = 'UTF8'
				THEN ascii(l.letter) ELSE dperm.report_code(l.letter) END AS code FROM regexp_split_to_table(left(words, most),
				'') WITH ORDINALITY l (letter, n)) c)
		END || CASE WHEN length(words) > most THEN '...' ELSE '' END;
END $$;

-- Numbers

-- A number with some significant digits
CREATE FUNCTION dperm.report_digits(number float8, digits integer) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN number = 0 THEN '0'
		WHEN abs(number) BETWEEN 1e-300 AND 1e300 THEN round(number::numeric, digits - 1 - floor(log(abs(number)))::int)::float8::text
		ELSE number::text END;
END $$;

-- A value of JSON as a number, NULL if it is none that can be drawn
CREATE FUNCTION dperm.report_number(value jsonb) RETURNS float8
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN jsonb_typeof(value) = 'number' THEN
		CASE WHEN abs(value::numeric) BETWEEN 1e-300 AND 1e300 OR value::numeric = 0 THEN value::float8 END END;
END $$;

-- A round number that is not below a number, and not much above
CREATE FUNCTION dperm.report_edge(number float8) RETURNS float8
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN number > 1e300 THEN 1e308 WHEN number > 1e-300 THEN
		(SELECT min(s.step * p.power) FROM (SELECT power(10, floor(log(number))) AS power) p, unnest('{1,1.5,2,3,4,5,6,8,10,15}'::float8[]) s (step)
		WHERE s.step * p.power >= number) ELSE 1 END;
END $$;

-- Where a number is between two others, from 0 to 1
CREATE FUNCTION dperm.report_share(number float8, low float8, high float8) RETURNS float8
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- what does not fit is drawn at the edge; halves do not overflow
	RETURN CASE WHEN number > low AND number < high THEN (number / 2 - low / 2) / (high / 2 - low / 2) WHEN number > low THEN 1 ELSE 0 END;
END $$;

-- A moment, in UTC as dp_report sets it
CREATE FUNCTION dperm.report_moment(at timestamptz) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN to_char(at, 'YYYY-MM-DD HH24:MI');
END $$;

-- The version of dperm
CREATE FUNCTION dperm.report_version() RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'dperm');
END $$;

-- Parts of a page

-- The figures that matter most, each with its name
CREATE FUNCTION dperm.report_tiles(tiles jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT E'<dl class="tiles">\n' || string_agg(format(E'<div><dt>%s</dt><dd>%s</dd></div>\n', t.tile ->> 0,
		dperm.report_html(t.tile ->> 1)), '' ORDER BY t.n) || E'</dl>\n'
	FROM jsonb_array_elements(tiles) WITH ORDINALITY t (tile, n) WHERE t.tile ->> 1 IS NOT NULL);
END $$;

-- Lines of cells as a table, the first 100 of them
CREATE FUNCTION dperm.report_table(caption text, headings text[], lines jsonb, things text DEFAULT 'rows', total bigint DEFAULT NULL) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- without headings it is a table of facts: a line of one cell is the heading of a part, and a fact without a value is left out
	RETURN (SELECT format(E'<div class="scroll" role="region" aria-label="%1$s" '
		'tabindex="0">\n<table%2$s>\n<caption>%1$s</caption>\n%3$s<tbody>\n%4$s</tbody>\n</table>\n</div>\n%5$s',
		dperm.report_html(caption), CASE WHEN headings IS NULL THEN ' class="facts"' END,
		'<thead><tr>' || (SELECT string_agg('<th scope="col">' || dperm.report_html(h.heading) || '</th>', '' ORDER BY h.n)
			FROM unnest(headings) WITH ORDINALITY h (heading, n)) || E'</tr></thead>\n',
		string_agg('<tr>' || r.cells || E'</tr>\n', '' ORDER BY r.n) FILTER (WHERE r.n <= 100),
		CASE WHEN coalesce(total, count(*)) > least(count(*), 100) THEN format(E'<p class="soft">Shown: %s of %s %s.</p>\n', least(count(*), 100),
			coalesce(total, count(*)), things) END)
	FROM (SELECT row_number() OVER (ORDER BY l.n) AS n, (SELECT string_agg(CASE
				WHEN jsonb_array_length(l.line) = 1 THEN '<th class="part" colspan="2" scope="rowgroup">' || dperm.report_html(c.cell) || '</th>'
				WHEN c.n = 1 THEN '<th scope="row">' || dperm.report_html(coalesce(c.cell, ''), 4000) || '</th>'
				WHEN c.cell ~ '^\d{4}-\d\d-\d\d \d\d:\d\d$' THEN '<td class="time">' || c.cell || '</td>'
				ELSE '<td>' || dperm.report_html(coalesce(c.cell, ''), 4000) || '</td>' END, '' ORDER BY c.n)
			FROM jsonb_array_elements_text(l.line) WITH ORDINALITY c (cell, n)) AS cells
		FROM jsonb_array_elements(lines) WITH ORDINALITY l (line, n)
		WHERE headings IS NOT NULL OR jsonb_array_length(l.line) = 1 OR l.line ->> 1 IS NOT NULL) r);
END $$;

-- A paragraph
CREATE FUNCTION dperm.report_paragraph(words text, class text DEFAULT NULL) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN format(E'<p%s>%s</p>\n', ' class="' || class || '"', dperm.report_html(words, 4000));
END $$;

-- A picture around what is drawn in it
CREATE FUNCTION dperm.report_picture(kind text, name text, words text, height integer, content text) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- 320 units wide, so that it need not shrink on a telephone; the description is for those who do not see it
	RETURN format(E'<figure><svg role="img" aria-label="%1$s%2$s" viewBox="0 0 320 %3$s" '
		'xmlns="http://www.w3.org/2000/svg">\n<title>%1$s%2$s</title>\n<desc>%4$s</desc>\n'
		'<text class="name" x="2" y="12">%5$s</text>\n%6$s</svg></figure>\n', kind, dperm.report_html(name), height + 46,
			dperm.report_html(words, 4000), dperm.report_html(name, 44), content);
END $$;

-- A text in a picture
CREATE FUNCTION dperm.report_label(x float8, y float8, anchor text, words text) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN format(E'<text x="%s" y="%s" text-anchor="%s">%s</text>\n', round(x::numeric, 1), round(y::numeric, 1), anchor,
		dperm.report_html(words, 16));
END $$;

-- frame: the ends of x and of y; levels: y that have a line; labels: of the least, the middle and the largest x; dashed: y at the ends of a line
-- Points as a line, with their noise as a band
CREATE FUNCTION dperm.report_lines(kind text, name text, words text, height integer, x float8[], y float8[], noise float8[], frame float8[],
	levels float8[], labels text[], dashed float8[]) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (WITH points AS (
		SELECT u.n, round((44 + 264 * dperm.report_share(u.x, frame[1], frame[2]))::numeric, 1) AS x, d.y, d.top, d.bottom
		FROM unnest(x, y, noise) WITH ORDINALITY u (x, y, noise, n), LATERAL (SELECT
			round((22 + height * (1 - dperm.report_share(u.y, frame[3], frame[4])))::numeric, 1) AS y,
			round((22 + height * (1 - dperm.report_share(u.y + u.noise, frame[3], frame[4])))::numeric, 1) AS top,
			round((22 + height * (1 - dperm.report_share(u.y - u.noise, frame[3], frame[4])))::numeric, 1) AS bottom) d)
	SELECT dperm.report_picture(kind, name, words, height, concat(
		(SELECT string_agg(format(E'<line class="axis" x1="44.0" y1="%1$s" x2="308.0" y2="%1$s"/>\n', round(d.y::numeric, 1))
			|| dperm.report_label(40, d.y + 4, 'end', dperm.report_digits(l.level, 3)), '' ORDER BY l.n)
			FROM unnest(levels) WITH ORDINALITY l (level, n),
				LATERAL (SELECT 22 + height * (1 - dperm.report_share(l.level, frame[3], frame[4])) AS y) d),
		CASE WHEN dashed IS NOT NULL THEN format(E'<line class="limit" x1="44.0" y1="%s" x2="308.0" y2="%s"/>\n',
			round((22 + height * (1 - dperm.report_share(dashed[1], frame[3], frame[4])))::numeric, 1),
			round((22 + height * (1 - dperm.report_share(dashed[2], frame[3], frame[4])))::numeric, 1)) END,
		(SELECT format(E'<polygon class="band" points="%s %s"/>\n', string_agg(p.x || ',' || p.top, ' ' ORDER BY p.n),
			string_agg(p.x || ',' || p.bottom, ' ' ORDER BY p.n DESC)) FROM points p WHERE noise IS NOT NULL HAVING count(*) > 0),
		(SELECT format(E'<polyline class="line" points="%s"/>\n', string_agg(p.x || ',' || p.y, ' ' ORDER BY p.n)) FROM points p),
		(SELECT string_agg(format(E'<circle class="mark" cx="%s" cy="%s" r="2.5"/>\n', p.x, p.y), '' ORDER BY p.n) FROM points p
			WHERE noise IS NOT NULL),
		dperm.report_label(44, height + 37, 'start', labels[1]), dperm.report_label(176, height + 37, 'middle', labels[2]),
			dperm.report_label(308, height + 37, 'end', labels[3]))));
END $$;

-- Sizes as bars to both sides of zero, with lines for their noise
CREATE FUNCTION dperm.report_bars(name text, words text, names text[], sizes float8[], noise float8[], edge float8) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN dperm.report_picture('Bars of ', name, words, 15 * cardinality(names), concat(
		format(E'<line class="axis" x1="212.0" y1="22.0" x2="212.0" y2="%s.0"/>\n', 24 + 15 * cardinality(names)),
		(SELECT string_agg(concat(dperm.report_label(106, 15 * b.n + 17, 'end', b.name),
				format(E'<rect class="mark" x="%s" y="%s.0" width="%s" height="10"/>\n', round(least(212, b.at)::numeric, 1), 15 * b.n + 8,
					round(abs(b.at - 212)::numeric, 1)),
				CASE WHEN b.noise > 0 THEN (SELECT string_agg(format(E'<line class="%s" x1="%s" y1="%s.0" x2="%s" y2="%3$s.0"/>\n', c.class,
					round(b.low::numeric, 1), 15 * b.n + 13, round(b.high::numeric, 1)), '' ORDER BY c.class)
					FROM unnest('{halo,noise}'::text[]) c (class)) END), '' ORDER BY b.n)
			FROM (SELECT u.n, u.name, u.noise, 112 + 200 * dperm.report_share(u.size, - edge, edge) AS at,
					112 + 200 * dperm.report_share(u.size - u.noise, - edge, edge) AS low,
						112 + 200 * dperm.report_share(u.size + u.noise, - edge, edge) AS high
				FROM unnest(names, sizes, noise) WITH ORDINALITY u (name, size, noise, n)) b),
		dperm.report_label(112, 15 * cardinality(names) + 37, 'start', dperm.report_digits(- edge, 3)),
			dperm.report_label(212, 15 * cardinality(names) + 37, 'middle', '0'),
		dperm.report_label(312, 15 * cardinality(names) + 37, 'end', dperm.report_digits(edge, 3))));
END $$;

-- A page that needs nothing but itself
CREATE FUNCTION dperm.report_page(title text, head text, sections jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- sections: id, heading, content; one without content is left out. Nothing is loaded and nothing runs, whatever a text contains.
	-- Colours are by the reader's preference; black on white on paper.
	RETURN (SELECT format(E'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
		'<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"/>\n'
		'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n<meta name="color-scheme" content="light dark"/>\n<meta '
			'name="generator" content="dperm %1$s"/>\n'
		'<title>%2$s</title>\n<style>\n%3$s</style>\n</head>\n<body>\n<main>\n<header>\n<h1>%2$s</h1>\n%4$s%5$s</header>\n%6$s</main>\n</body>\n</html>\n',
		dperm.report_version(), dperm.report_html(title), ':root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --back: #ffffff;
 --tile: #f3f5f7; --rule: #d0d7de; --line: #0b5cad; --band: #0b5cad33; --alarm: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1;
 --back: #0f1318; --tile: #1a2028; --rule: #3a434d; --line: #6cb0f5; --band: #6cb0f540;
 --alarm: #ff8a80; } }
@media print { :root { color-scheme: light; --ink: #000; --soft: #444; --back: #fff;
 --tile: #f3f5f7; --rule: #bbb; --line: #0b5cad; --band: #0b5cad33; --alarm: #b42318; } }
@page { size: A4; margin: 18mm 16mm; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
 font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; margin: 2.25rem 0 .5rem; border-bottom: 1px solid var(--rule);
 padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p, ul { margin: .5rem 0; } ul { padding-left: 1.25rem; } a { color: var(--line); }
nav ul { columns: 15rem; list-style: none; padding: 0; }
h1, h2, p, li, dd, dt { overflow-wrap: anywhere; }
td, th { overflow-wrap: break-word; max-width: 24rem; }
.soft, caption { color: var(--soft); font-size: .875rem; }
.alarm { color: var(--alarm); font-weight: 600; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr));
 gap: .5rem; margin: 1rem 0; }
.tiles div { background: var(--tile); border-radius: .4rem; padding: .6rem .8rem; }
.tiles dt { color: var(--soft); font-size: .8rem; } .tiles dd { margin: 0;
 font-size: 1.2rem; font-weight: 600; line-height: 1.3; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%;
 font-size: .9rem; margin: .5rem 0; }
caption { text-align: left; padding-bottom: .2rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0;
 border-bottom: 1px solid var(--rule); min-width: 4rem; }
thead th { border-bottom-width: 2px; } .time { white-space: nowrap; }
.facts th { font-weight: 600; width: 28%; min-width: 7rem; } .facts td { max-width: none; overflow-wrap: anywhere; }
.facts .part { padding-top: .9rem; color: var(--soft); font-weight: 400; }
.facts caption { position: absolute; width: 1px; height: 1px; overflow: hidden;
 clip-path: inset(50%); }
pre { background: var(--tile); border-radius: .4rem; padding: .7rem; font-size: .85rem;
 white-space: pre-wrap; overflow-wrap: anywhere; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr));
 gap: 1rem; } figure { margin: 0; } .wide { max-width: 27rem; }
svg { display: block; width: 100%; height: auto; }
svg text { font-size: 11px; fill: var(--soft); } svg .name { fill: var(--ink); }
.axis { stroke: var(--soft); stroke-width: 1; fill: none; }
.line { stroke: var(--line); stroke-width: 2; fill: none; stroke-linejoin: round; }
.mark { fill: var(--line); } .band { fill: var(--band); stroke: var(--line); }
.noise { stroke: var(--ink); stroke-width: 1; }
.halo { stroke: var(--back); stroke-width: 2.5; }
.limit { stroke: var(--alarm); stroke-width: 1.5; stroke-dasharray: 5 3; fill: none; }
figure, .tiles, tr, pre { break-inside: avoid; } h2, h3 { break-after: avoid; }
@media print { main { max-width: none; padding: 0; } body { font-size: 10.5pt; } nav { display: none; }
 .scroll { overflow: visible; } .pictures { grid-template-columns: repeat(2, 1fr); }
 table { font-size: 8.5pt; } td, th { min-width: 0; overflow-wrap: anywhere; }
 .tiles div { border: 1px solid var(--rule); } }
', head,
		E'<nav aria-label="Contents"><ul>\n' || string_agg(format(E'<li><a href="#%s">%s</a></li>\n', s.section ->> 0, s.section ->> 1), ''
			ORDER BY s.n) || E'</ul></nav>\n',
		string_agg(format(E'<section aria-labelledby="%1$s">\n<h2 id="%1$s">%s</h2>\n%s</section>\n', s.section ->> 0, s.section ->> 1,
			s.section ->> 2), '' ORDER BY s.n))
	FROM jsonb_array_elements(sections) WITH ORDINALITY s (section, n) WHERE s.section ->> 2 IS NOT NULL);
END $$;

-- What is promised. claim: epsilon, delta, unit (null: not known yet), neighbours, released, protected, budget, tuned, kernel

-- Which tables are neighbours
CREATE FUNCTION dperm.report_neighbours(unit text, neighbours text) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN unit = 'person' AND neighbours = 'remove' THEN 'Neighbours are two tables with the same number of persons that differ in all '
		'rows of one person, who has no labelled row in one of them (remove). '
			'A person is all rows that share a value of the unit column. The number of persons is public, the number of rows is not.'
		WHEN unit = 'person' THEN 'Neighbours are two tables with the same number of persons that differ in all rows of one person (replace). '
			'A person is all rows that share a value of the unit column. The number of persons is public, the number of rows is not.'
		WHEN neighbours = 'remove' THEN 'Neighbours are two tables of which one is the other with an empty row in place of one of its rows (remove). '
			'The number of rows is the same, and public.'
		ELSE 'Neighbours are two tables with the same number of rows that differ in what one row holds (replace). The number of rows is public.' END;
END $$;

-- Who is trusted with what
CREATE FUNCTION dperm.report_actors(protected boolean) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN protected THEN 'The owner of the data and the administrators of the server can read the rows, and are trusted. Analysts with a '
		'grant are not: they choose the calls, run any SQL around them '
			'and see results and errors, but no row. Nobody else who gets a result is trusted either. They may know everything but the data of one '
				'unit, and work together.'
		ELSE 'Whoever called dperm can read the rows, and is trusted, and so are the administrators of the server. Nobody else who gets the result '
			'is: they may know everything but the data of '
			'one unit, and work together.' END;
END $$;

-- A guarantee in plain words
CREATE FUNCTION dperm.report_promise(claim jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT CASE WHEN p.epsilon = 'Infinity' THEN format(E'<p class="alarm">NOT PRIVATE. %s was computed without noise, and there is no '
		'guarantee. It may reveal what single rows hold: treat it like the rows themselves.</p>\n',
			CASE WHEN claim ->> 'released' = 'the model' THEN 'The model' ELSE 'This' END)
		ELSE concat(
			format(E'<p>Whatever somebody concludes from %1$s, they would have concluded with almost the same probability if %2$s in the data %3$s. '
				'How nearly the same is measured by epsilon. '
				'Here it is %4$s: no conclusion becomes more than e<sup>%4$s</sup> = %5$s times as likely, or as unlikely%6$s. That holds whatever '
					'else they know, now or later.</p>\n',
				claim ->> 'released', CASE claim ->> 'unit' WHEN 'person' THEN 'all rows of any one person' WHEN 'row' THEN 'any one row'
					ELSE 'any one row, or all rows of any one person, which is not known yet,' END,
				CASE WHEN claim ->> 'neighbours' IS DISTINCT FROM 'remove' THEN 'had held anything else' WHEN claim ->> 'unit' = 'person'
					THEN 'had had no label' ELSE 'had been empty' END,
				p.epsilon, CASE WHEN p.epsilon < 600 THEN dperm.report_digits(ceil(exp(p.epsilon) / p.third) * p.third, 4) ELSE 'Infinity' END,
				CASE WHEN p.delta > 0 THEN ', apart from a probability of at most delta = ' || p.delta ELSE '' END),
			CASE WHEN p.epsilon > 10 THEN E'<p class="alarm">An epsilon above 10 is so large that this says next to nothing.</p>\n' END,
			format(E'<p>Suppose that an attacker knows all other rows, and has %s. They raise the alarm if the released numbers speak for one of the '
				'two. However they decide%s:</p>\n',
				CASE WHEN claim ->> 'unit' = 'person' THEN CASE claim ->> 'neighbours' WHEN 'remove'
					THEN 'two ideas of one person: that they have certain rows, or that they have no labelled row'
					ELSE 'two ideas of what the rows of one person hold' END
					ELSE CASE claim ->> 'neighbours' WHEN 'remove' THEN 'two ideas of one row: that it holds certain values, or is empty'
						ELSE 'two ideas of what one row holds' END END,
				CASE WHEN (claim -> 'tuned')::boolean THEN '' ELSE ', and with whatever computers' END),
			-- both bounds of (epsilon, delta), rounded up to a tenth of a percent
			(SELECT dperm.report_table('What an attacker can find out at most', '{false alarms,"true alarms, at most"}',
				jsonb_agg(jsonb_build_array(w.wrong * 100 || ' %',
					to_char(least(1000, ceil(1000 * least(CASE WHEN p.epsilon < 600 THEN exp(p.epsilon) * w.wrong + p.delta ELSE 1 END,
						1 - exp(- least(p.epsilon, 600)) * (1 - w.wrong - p.delta)) - 1e-9)) / 10, 'FM990.0') || ' %') ORDER BY w.wrong))
				FROM unnest('{0.01,0.05,0.1,0.5}'::float8[]) w (wrong)))
		END
	FROM (SELECT e.epsilon, (claim ->> 'delta')::float8 AS delta, CASE WHEN e.epsilon < 600 THEN power(10, floor(log(exp(e.epsilon))) - 2)
		END AS third FROM (SELECT (claim ->> 'epsilon')::float8 AS epsilon) e) p);
END $$;

-- What a guarantee assumes, and what it does not cover
CREATE FUNCTION dperm.report_limits(claim jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT format(E'<h3>It holds if</h3>\n<ul>\n%s</ul>\n<h3>It does not cover</h3>\n<ul>\n%s</ul>\n<p>Proofs, and the full lists: '
		'docs/guarantee.md of dperm %s, sections Assumptions and Not covered.</p>\n',
		string_agg(s.item, '' ORDER BY s.n) FILTER (WHERE s.part = 'if'), string_agg(s.item, '' ORDER BY s.n) FILTER (WHERE s.part = 'not'),
			dperm.report_version())
	FROM (SELECT v.part, v.n, E'<li>' || dperm.report_html(v.words, 4000) || E'</li>\n' AS item FROM (VALUES
		(1, 'if', 'The random bits of the operating system are random, and independent of the rows.', true),
		(2, 'if', 'Arithmetic is IEEE 754: doubles, rounded to nearest, without fast-math.', true),
		(3, 'if', 'All passes of a call read the same rows. On one server that is one snapshot, and sources that can change under it are refused; '
			'passes over rows of other servers are compared by a '
			'digest, and rows do not move between servers meanwhile. Functions in views are as volatile as they are marked.', true),
		(4, 'if', 'Domains, parameters or their candidates, and priors were chosen without looking at the private rows.', true),
		(5, 'if', 'The BLAS rounds equal rows alike, wherever they stand in a block.', (claim -> 'kernel')::boolean),
		(6, 'if', 'Portions for tuning were drawn at random, or by a keyed hash (SipHash-2-4) of what identifies a row. Then either identities do not '
			'depend on what is private, or the hash '
			'cannot be told from random draws, and the guarantee is against computers that cannot tell.', (claim -> 'tuned')::boolean),
		(7, 'if', 'Each row of a table that a program fills, or of a materialized view, was made from rows of one unit, and a partition that is '
			'detached keeps its unit.', (claim -> 'protected')::boolean),
		(8, 'if', 'The unit column identifies the same person everywhere.', claim ->> 'unit' IS DISTINCT FROM 'row'),
		(9, 'if', 'The same people are behind one budget only.', (claim -> 'protected')::boolean),
		(10, 'if', 'The limits of the budget are never raised above these.', (claim -> 'budget')::boolean),
		(11, 'if', 'What other tools released, and dp_budget_charge was told of, is as private as was charged.', (claim -> 'budget')::boolean),
		(12, 'not', 'Access to the rows themselves: whoever can read the table, its backups or the files of the server sees the rows.', true),
		(13, 'not', 'Several rows of one person: for somebody with k rows, epsilon is k times as large.', claim ->> 'unit' IS DISTINCT FROM 'person'),
		(14, 'not', 'Nor does delta hold for them: it grows by a factor of more than k.', claim ->> 'unit' IS DISTINCT FROM 'person'
			AND (claim ->> 'delta')::float8 > 0),
		(15, 'not', 'Other releases about the same people: the costs of all of them add up. dperm counts those that charge a budget, and no others.',
			true),
		(16, 'not', 'Time and other side channels: how long a call takes depends on the rows.', true),
		(17, 'not', 'What everybody may know: the number of rows, or of persons, the arguments of the call, and the domains of the columns.', true),
		(18, 'not', 'What is true of everybody: the model may say something about a person that would be just as true had that person not been in the '
			'table.', true),
		(19, 'not', 'Predictions for private rows: what the model says about a row is as private as that row.', true),
		(20, 'not', 'The rows of a prior, which are covered by the guarantee of the prior.', true),
		(21, 'not', 'Forgery: a model is not signed. Whoever can edit its text can edit its epsilon. The last section says how to check it.', true)
		) v (n, part, words, holds) WHERE v.holds) s);
END $$;

-- The record

-- A record for the OpenDP Deployments Registry
CREATE FUNCTION dperm.report_record(title text, purpose text, curator text, kind text, description text, date text, notes text,
	parts jsonb) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN jsonb_strip_nulls(jsonb_build_object('url_slug',
		coalesce(nullif(rtrim(left(btrim(regexp_replace(lower(title COLLATE "C"), '[^a-z0-9]+', '-', 'g'), '-'), 60), '-'), ''), 'untitled'),
		'status', 'Draft', 'tier', 3, 'deployment', parts || jsonb_build_object(
			'basic', jsonb_build_object('name', title, 'data_curators', jsonb_build_array(coalesce(curator, 'not stated')), 'intended_use',
				coalesce(purpose, 'not stated'), 'data_product_type', kind,
				'data_product_region', 'not stated', 'description', description, 'publication_date', date),
			'administrative', jsonb_build_object('sources', format('dperm %s: docs/guarantee.md (the proof), docs/audit.md', dperm.report_version()),
				'notes', notes, 'registry_authors', jsonb_build_array(CURRENT_USER)))));
END $$;

-- A record as a table; a page shows its part basic in other ways
CREATE FUNCTION dperm.report_fields(record jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT E'<p class="soft">The fields are those of the OpenDP Deployments Registry; dp_report_data returns them as JSON.</p>\n' ||
		dperm.report_table('Fields of the OpenDP Deployments Registry', NULL, jsonb_agg(CASE WHEN v.field IS NULL THEN jsonb_build_array(v.label)
			ELSE jsonb_build_array(v.label, CASE WHEN v.field = 'privacy_parameters' THEN format('epsilon %s, delta %s', p.value -> 'epsilon',
				p.value -> 'delta') ELSE p.value #>> '{}' END) END ORDER BY v.n))
	FROM (VALUES (1, NULL, NULL, 'Differential privacy'), (2, 'dp_variant', 'variant_name', 'variant'),
		(3, 'dp_variant', 'data_domain', 'data domain'), (4, 'dp_variant', 'unprotected_quantities', 'unprotected quantities'),
		(5, NULL, NULL, 'Privacy loss'), (6, 'privacy_loss', 'privacy_unit', 'unit of privacy'),
			(7, 'privacy_loss', 'privacy_unit_details', 'neighbours (adjacency)'), (8, 'privacy_loss', 'privacy_parameters', 'parameters'),
		(9, 'privacy_loss', 'privacy_parameters_details', 'parameters in detail'), (10, NULL, NULL, 'Deployment'),
			(11, 'deployment_model', 'model_name', 'model'), (12, 'deployment_model', 'model_name_details', 'model in detail'),
		(13, 'deployment_model', 'actors', 'actors and trust'), (14, 'deployment_model', 'release_type', 'releases'),
			(15, 'deployment_model', 'release_type_details', 'releases in detail'),
		(16, 'deployment_model', 'data_source_type', 'data source'), (17, 'deployment_model', 'data_source_type_details', 'data source in detail'),
			(18, 'deployment_model', 'access_type', 'access'),
		(19, 'deployment_model', 'access_type_details', 'access in detail'), (20, NULL, NULL, 'Accounting'),
			(21, 'accounting', 'composition', 'composition'), (22, 'accounting', 'post_processing', 'post-processing'),
		(23, NULL, NULL, 'Implementation'), (24, 'implementation', 'mechanisms', 'mechanism and noise'),
			(25, 'implementation', 'preprocessing_and_hyperparameter_tuning', 'preparation and tuning'),
		(26, 'implementation', 'justification', 'justification')) v (n, part, field, label),
		LATERAL (SELECT record -> 'deployment' -> v.part -> v.field AS value) p
	WHERE v.field IS NULL OR p.value IS NOT NULL);
END $$;

-- Models

-- What dp_ledger shows the caller of the entry that a model names, and of evaluations of a model that names it
CREATE FUNCTION dperm.report_ledger(model @extschema@.dp_model) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT jsonb_agg(to_jsonb(r) ORDER BY r.at)
	FROM (SELECT l.entry, l.at, l.act, l.role, l.function, l.relation, l.label, l.features, l.parameters, l.purpose, l.neighbours, l.unit, l.epsilon,
		l.delta, l.release,
			k.model::text AS model, k.metrics, l.budget = m.budget AND l.entry = m.entry AS own
		FROM (SELECT e.ledger ->> 'budget' AS budget, (e.ledger ->> 'entry')::bigint AS entry FROM (SELECT $1::jsonb -> 'ledger' AS ledger) e) m,
			@extschema@.dp_ledger l
			LEFT JOIN @extschema@.dp_releases k ON k.budget = l.budget AND k.entry = l.entry
		WHERE l.budget = m.budget AND l.entry = m.entry
			OR l.details = CASE WHEN m.budget IS NOT NULL THEN format('model: entry %s of budget %I', m.entry, m.budget) END) r);
END $$;

-- A number on the scale of its column, on which it is drawn
CREATE FUNCTION dperm.report_scaled(feature jsonb, number float8) RETURNS float8
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN feature ->> 'scale' = 'log' THEN sign(number) * ln(1 + abs(number)) ELSE number END;
END $$;

-- A place on the scale of a column as a number, or for a time as a date or as a clock shows it
CREATE FUNCTION dperm.report_position(feature jsonb, place float8) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN feature ->> 'scale' = 'log' THEN dperm.report_digits(sign(place) * (exp(abs(place)) - 1), 6)
		WHEN feature ->> 'type' IS DISTINCT FROM 'time' OR abs(place) > 1e6 THEN dperm.report_digits(place, CASE WHEN place = trunc(place) THEN 15 ELSE 6 END)
		WHEN (feature -> 'low')::float8 >= 0 AND (feature -> 'high')::float8 <= 1
			THEN to_char(make_interval(mins => floor(place * 1440 + 1e-6)::int), 'HH24:MI')
		ELSE (date '2000-01-01' + floor(place)::int)::text END;
END $$;

-- The domain of a column in words
CREATE FUNCTION dperm.report_domain(feature jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT CASE WHEN feature ->> 'type' IN ('number', 'time') THEN
			format('%s from %s to %s%s%s', feature ->> 'type', dperm.report_position(feature - 'scale', (feature -> 'low')::float8),
				dperm.report_position(feature - 'scale', (feature -> 'high')::float8), ', a curve with ' || k.knots || ' knots',
				CASE WHEN feature ->> 'scale' = 'log' THEN ', on a logarithmic scale' END)
		WHEN feature ->> 'type' = 'boolean' THEN 'true or false'
		WHEN feature ->> 'type' = 'category' THEN (SELECT format('one of %s: %s%s', count(*), string_agg(v.value, ', ' ORDER BY v.n)
			FILTER (WHERE v.n <= 30), CASE WHEN count(*) > 30 THEN format(', and %s more', count(*) - 30) END)
			FROM jsonb_array_elements_text(feature -> 'values') WITH ORDINALITY v (value, n))
		WHEN feature ? 'range' THEN format('vector of %s elements, each from %s to %s%s%s', feature ->> 'dimension', dperm.report_digits(r.low, 6),
			dperm.report_digits(r.high, 6),
			CASE WHEN r.differs THEN ' (the first)' END, ', curves with ' || k.knots || ' knots')
		ELSE format('vector of %s elements, norm up to %s', feature ->> 'dimension', dperm.report_digits((feature -> 'norm')::float8, 6)) END
	FROM (SELECT CASE jsonb_typeof(feature -> 'knots') WHEN 'array' THEN jsonb_array_length(feature -> 'knots') ELSE (feature -> 'knots')::int
		END AS knots) k,
		(SELECT (d.range -> 0)::float8 AS low, (d.range -> 1)::float8 AS high, d.differs FROM (SELECT CASE WHEN jsonb_typeof(feature -> 'range' -> 0) = 'array'
			THEN feature -> 'range' -> 0 ELSE feature -> 'range' END AS range, jsonb_typeof(feature -> 'range' -> 0) = 'array' AS differs) d) r);
END $$;

-- What is said of a model, and what its ledger shows the caller
CREATE FUNCTION dperm.report_facts(model @extschema@.dp_model, title text, purpose text, curator text) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- payment: none, no entry is named; same, the entry released this model; unseen, the caller does not see what it released; other, it released
	-- something else, or nothing
	RETURN (SELECT f.facts || jsonb_build_object('title', coalesce($2, format('Model of %s in %s', f.facts ->> 'label', f.facts ->> 'source')),
		'purpose', coalesce($3, CASE WHEN e.payment <> 'other' THEN e.entry ->> 'purpose' END), 'curator', $4,
		'payment', coalesce(e.payment, CASE WHEN f.m ? 'ledger' THEN 'unseen' ELSE 'none' END), 'entry', CASE WHEN e.payment <> 'other' THEN e.entry
			END, 'rows', f.ledger,
		'claim', jsonb_build_object('epsilon', f.m -> 'epsilon', 'delta', f.m -> 'delta', 'unit', f.m -> 'unit', 'neighbours', f.m -> 'neighbours',
			'released', 'the model', 'protected', f.m ? 'ledger' AND e.payment IS DISTINCT FROM 'other',
			'budget', false, 'tuned', f.m ? 'tuning', 'kernel', f.m ? 'kernel'))
	FROM (SELECT m.m, dperm.report_ledger($1) AS ledger, jsonb_build_object('m', m.m, 'digest', encode(sha256(convert_to($1::text, 'UTF8')), 'hex'),
			'units', CASE WHEN m.m ->> 'unit' = 'person' THEN 'persons' ELSE 'rows' END, 'count', coalesce(m.m -> 'persons', m.m -> 'rows'),
				'private', m.m ->> 'epsilon' <> 'Infinity',
			'several', jsonb_typeof(m.m -> 'weights' -> 0) = 'array', 'number', m.m ? 'bounds',
			'weights', (m.m -> 'dimension')::int * CASE WHEN jsonb_typeof(m.m -> 'weights' -> 0) = 'array' THEN jsonb_array_length(m.m -> 'weights')
				ELSE 1 END,
			'label', coalesce(m.m ->> 'label', 'an expression') || coalesce(' = ' || (m.m ->> 'positive'), ''), 'source',
				coalesce(m.m ->> 'source', 'the rows of a query')) AS facts
		FROM (SELECT $1::jsonb AS m) m) f
	LEFT JOIN LATERAL (SELECT r.row AS entry, CASE
			WHEN r.row ->> 'model' = $1::text THEN 'same'
			WHEN r.row ->> 'model' IS NOT NULL OR r.row ->> 'act' <> 'charge' OR r.row ->> 'release' NOT IN ('kept', 'running', 'lost')
				OR r.row ->> 'metrics' IS NOT NULL
				OR r.row ->> 'function' IN ('dp_evaluate', 'dp_roc', 'dp_budget_charge') THEN 'other'
			ELSE 'unseen' END AS payment
		FROM jsonb_array_elements(f.ledger) r (row) WHERE (r.row -> 'own')::boolean LIMIT 1) e ON true);
END $$;

-- What has to be known of a prior
CREATE FUNCTION dperm.report_prior(facts jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT concat('The weights were drawn towards those of an earlier model, the prior', ', of ' || (p.prior ->> 'source'), '. ',
		CASE WHEN (facts -> 'private')::boolean THEN format('The guarantee is about the %s of this training. ', facts ->> 'units') END,
		CASE WHEN p.prior ->> 'epsilon' = 'Infinity' THEN 'The prior is NOT PRIVATE: nothing is promised to those that it was trained on.'
			WHEN NOT (p.prior -> 'private')::boolean THEN 'A prior behind the prior is NOT PRIVATE: nothing is promised to those that it was trained '
				'on.'
			ELSE format('For those that the prior was trained on, its epsilon %s and delta %s count too; they add up if unit and neighbours are the '
				'same.', (p.prior ->> 'epsilon')::float8, (p.prior ->> 'delta')::float8) END)
	FROM (SELECT facts -> 'm' -> 'prior' AS prior) p WHERE p.prior IS NOT NULL);
END $$;

-- The record of a model
CREATE FUNCTION dperm.report_model_record(facts jsonb) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT dperm.report_record(facts ->> 'title', facts ->> 'purpose', facts ->> 'curator', 'Machine learning model',
		format('A %s that predicts %s from %s column%s of %s, with %s weights, trained on %s %s.', m.m ->> 'kind', facts ->> 'label',
			jsonb_array_length(m.m -> 'features'),
			CASE WHEN jsonb_array_length(m.m -> 'features') <> 1 THEN 's' END, facts ->> 'source', facts ->> 'weights', facts ->> 'count',
				facts ->> 'units'),
		left(coalesce(facts -> 'entry' ->> 'at', CURRENT_DATE::text), 10), 'SHA-256 of the text of the model: ' || (facts ->> 'digest'),
		jsonb_build_object(
			'dp_variant', jsonb_build_object('variant_name', CASE WHEN m.private THEN CASE WHEN m.delta > 0 THEN 'Approximate DP' ELSE 'Pure DP' END
				END,
				'data_domain', format('Tables of %s %s with the columns %s%s. Values outside of these domains count as the nearest value, or as '
					'none.', coalesce(m.m -> 'tuning' ->> 'rows', m.m -> 'tuning' ->> 'persons', facts ->> 'count'), facts ->> 'units',
					(SELECT string_agg(format('%s (%s)', coalesce(f.feature ->> 'column', 'vector'), dperm.report_domain(f.feature)), '; '
						ORDER BY f.n) FROM jsonb_array_elements(m.m -> 'features') WITH ORDINALITY f (feature, n) WHERE f.n <= 20),
					CASE WHEN jsonb_array_length(m.m -> 'features') > 20 THEN format('; and %s more', jsonb_array_length(m.m -> 'features') - 20)
						END),
				'unprotected_quantities', CASE WHEN m.private THEN format('The number of %s, the arguments of the call, the domains of the columns, '
					'and what follows from these.', facts ->> 'units') ELSE 'Everything: no noise was added.' END),
			'privacy_loss', jsonb_build_object('privacy_unit', CASE WHEN m.private THEN m.m ->> 'unit' END, 'privacy_unit_details', CASE
				WHEN m.private THEN dperm.report_neighbours(m.m ->> 'unit', m.m ->> 'neighbours') END,
				'privacy_parameters', CASE WHEN m.private THEN jsonb_build_object('epsilon', m.m -> 'epsilon', 'delta', m.m -> 'delta') END,
				'privacy_parameters_details', CASE WHEN m.private THEN format('Epsilon is split into %s for how the minimum moves with the data, %s '
					'for the noise and %s for the release of rounded numbers. %s', dperm.report_digits((m.m -> 'budget' -> 'slack')::float8, 4),
					dperm.report_digits((m.m -> 'budget' -> 'noise')::float8, 4), dperm.report_digits((m.m -> 'budget' -> 'release')::float8, 4),
						CASE WHEN m.delta > 0 THEN 'Delta includes a probability below 2^-64 that the noise is larger than the rounding analysis '
						'allows for.'
					ELSE 'Delta is 0 up to a probability below 2^-65 that the noise is larger than the rounding analysis allows for.' END)
						ELSE 'NOT PRIVATE: trained without noise, epsilon is infinite.' END),
			'deployment_model', jsonb_build_object('model_name', 'Central', 'model_name_details', CASE WHEN m.private
				THEN 'The rows are in a database, which adds the noise.' ELSE 'The rows are in a database. No noise was added.' END,
				-- who could read rows is not known of a model that only says that it was paid for
				'actors', CASE WHEN m.private AND facts ->> 'payment' <> 'unseen'
					THEN dperm.report_actors((facts -> 'claim' -> 'protected')::boolean) END,
				'release_type', 'One release', 'data_source_type', 'Static', 'data_source_type_details',
					'One set of rows, which all passes have read.', 'access_type', 'Non-interactive'),
			'accounting', jsonb_build_object('post_processing', 'None. Predictions follow from the weights. Evaluations are releases of their own.',
				'composition', CASE WHEN m.private THEN concat_ws(' ', format(CASE facts ->> 'payment'
						WHEN 'same' THEN 'Paid by entry %s of the privacy budget %s, before a row was read. The budget limits what all releases about '
							'the same people cost together.'
						WHEN 'unseen' THEN 'The model says that it was paid by entry %s of the privacy budget %s, which keeps no model here, or not '
							'for this role.'
						WHEN 'other' THEN 'The model says that it was paid by entry %s of the privacy budget %s, which is NOT so: that entry did not '
							'release it.'
						ELSE 'No budget was charged. Each further release about the same rows adds its own epsilon and delta; dp_compose computes '
							'what several cost together.' END,
					m.m -> 'ledger' ->> 'entry', m.m -> 'ledger' ->> 'budget'), dperm.report_prior(facts)) END),
			'implementation', jsonb_build_object('preprocessing_and_hyperparameter_tuning', 'Domains are public, not learnt from rows. ' || CASE
					WHEN NOT m.m ? 'tuning' THEN 'Parameters that were not specified follow from public facts: the number of rows or persons, '
						'epsilon, delta, neighbours, the domains and the prior.'
					WHEN NOT m.private THEN format('The parameters were chosen exactly among %s candidates.',
						jsonb_array_length(m.m -> 'tuning' -> 'candidates'))
					ELSE format('The parameters were chosen privately among %s candidates, with the %s rule, at the same epsilon and delta.',
						jsonb_array_length(m.m -> 'tuning' -> 'candidates'), replace(m.m -> 'tuning' ->> 'selection', '_', '-')) END,
				'mechanisms', CASE WHEN NOT m.private THEN 'None: the weights are exact.'
					ELSE format('Regularised empirical risk minimisation with %s perturbation (%s loss, lambda %s, effective %s, %s analysis; '
					'Chaudhuri, Monteleoni and Sarwate 2011). %s '
					'Then each weight is rounded to a multiple of %s, and gets discrete Laplace noise with a scale of %s such steps: exact '
						'arithmetic, which covers floating point and the solver. Random bits come from the operating system. '
					'Software: dperm; this report is by %s, in PostgreSQL %s.', m.m ->> 'method', m.m ->> 'loss',
						dperm.report_digits((m.m -> 'lambda')::float8, 6), dperm.report_digits((m.m -> 'lambda_effective')::float8, 6),
						m.m ->> 'analysis',
					CASE WHEN m.delta > 0 THEN format('Gaussian noise%s, with a scale of %s.', CASE WHEN m.m ->> 'noise' = 'shaped'
						THEN ' in the shape of the encoded columns' END, dperm.report_digits((m.m -> 'noise_scale')::float8, 6))
						ELSE format('Noise with density exp(-N/%s), where N is %s.', dperm.report_digits((m.m -> 'noise_scale')::float8, 6), CASE
							WHEN m.m ->> 'noise' = 'shaped' THEN 'a norm in the shape of the encoded columns' ELSE 'the Euclidean norm' END) END,
					dperm.report_digits((m.m -> 'grid')::float8, 6), m.m ->> 'release_scale', dperm.report_version(),
						current_setting('server_version')) END,
				'justification', CASE WHEN m.private THEN 'Proofs for the numbers that are released, rounding and inexact solvers included '
					'(docs/guarantee.md), and an audit with planted faults (docs/audit.md).' END)))
	FROM (SELECT facts -> 'm' AS m, (facts -> 'private')::boolean AS private, (facts -> 'm' -> 'delta')::float8 AS delta) m);
END $$;

-- scores: what each knot, category or element adds, in order; a straight line and a boolean have a single one
-- A picture of what a column adds to the score
CREATE FUNCTION dperm.report_column(feature jsonb, element integer, names text[], scores float8[], deviations float8[], edge float8) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT CASE WHEN f.type = 'curve' THEN
			(SELECT dperm.report_lines('Curve of ', f.name, format('%s. Standard deviation of the noise: up to %s.',
					(SELECT string_agg(format('at %s: %s', dperm.report_position(feature, u.x), dperm.report_digits(u.y, 3)), '; ' ORDER BY u.n)
					FROM unnest(l.x, l.y) WITH ORDINALITY u (x, y, n) WHERE u.n <= 16), dperm.report_digits(deviations[1], 3)),
				130, l.x, l.y, l.noise, ARRAY[f.low, f.high, - edge, edge], ARRAY[edge, 0, - edge],
				ARRAY[dperm.report_position(feature, f.low), dperm.report_position(feature, f.low / 2 + f.high / 2), dperm.report_position(feature, f.high)], NULL)
			FROM (SELECT CASE jsonb_typeof(f.knots) WHEN 'array'
				THEN ARRAY(SELECT k.knot::float8 FROM jsonb_array_elements(f.knots) WITH ORDINALITY k (knot, n) ORDER BY k.n)
						WHEN 'number' THEN ARRAY(SELECT f.low + k.n * (f.high / (f.knots::int - 1) - f.low / (f.knots::int - 1))
							FROM generate_series(0, f.knots::int - 1) k (n) ORDER BY k.n)
						ELSE ARRAY[f.low, f.low / 2 + f.high / 2, f.high] END AS x,
					CASE WHEN f.knots IS NULL THEN ARRAY[- scores[1], 0, scores[1]] ELSE scores END AS y, CASE WHEN f.knots IS NULL
						THEN ARRAY[deviations[1], 0, deviations[1]] ELSE deviations END AS noise) l)
		WHEN f.type = 'boolean' THEN dperm.report_bars(f.name, format('true: %s; false: %s; noise '
			'%s.', dperm.report_digits(scores[1], 3), dperm.report_digits(- scores[1], 3), dperm.report_digits(deviations[1], 3)), '{true,false}',
			ARRAY[scores[1], - scores[1]], ARRAY[deviations[1], deviations[1]], edge)
		ELSE (SELECT dperm.report_bars(f.name || CASE WHEN cardinality(scores) > 24 THEN format(' (the largest 24 of %s)', cardinality(scores))
			ELSE '' END,
				string_agg(format('%s: %s, noise %s', b.name, dperm.report_digits(b.score, 3), dperm.report_digits(b.noise, 3)), '; '
					ORDER BY b.place) FILTER (WHERE b.place <= 16) || '.',
				array_agg(b.name ORDER BY b.place), array_agg(b.score ORDER BY b.place), array_agg(b.noise ORDER BY b.place), edge)
			FROM (SELECT u.name, u.score, u.noise, CASE WHEN cardinality(scores) > 24 THEN row_number() OVER (ORDER BY abs(u.score) DESC, u.n)
				ELSE u.n END AS place FROM unnest(names, scores, deviations) WITH ORDINALITY u (name, score, noise, n)) b
			WHERE b.place <= 24) END
	FROM (SELECT coalesce(feature ->> 'column', 'vector') || coalesce('[' || element || ']', '') AS name, feature -> 'knots' AS knots,
			CASE WHEN feature ->> 'type' IN ('number', 'time') OR element IS NOT NULL THEN 'curve' ELSE feature ->> 'type' END AS type,
			dperm.report_scaled(feature, coalesce(feature -> 'low', r.range -> 0)::float8) AS low, dperm.report_scaled(feature, coalesce(feature -> 'high', r.range -> 1)::float8) AS high
		FROM (SELECT CASE WHEN jsonb_typeof(feature -> 'range' -> 0) = 'array' THEN feature -> 'range' -> (element - 1) ELSE feature -> 'range' END AS range) r) f);
END $$;

-- What each column adds to the score
CREATE FUNCTION dperm.report_columns(model @extschema@.dp_model, facts jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- all pictures have one scale, so that columns can be compared; at most 40 are drawn
	RETURN (WITH coefficients AS MATERIALIZED (
		SELECT k.class, k.n AS class_n, c.rank, c.column_name, c.value, c.noise_kind, greatest(-1e300, least(c.score, 1e300)) AS score,
			least(c.score_noise, 1e300) AS noise
		FROM jsonb_array_elements_text(CASE WHEN (facts -> 'several')::boolean THEN facts -> 'm' -> 'classes' ELSE '[null]'
			END) WITH ORDINALITY k (class, n), @extschema@.dp_coefficients(model, k.class) c
		WHERE NOT facts -> 'm' ? 'kernel'),
	weights AS (
		SELECT c.*, f.n AS feature_n, f.feature, CASE WHEN f.feature ? 'range' AND f.feature ? 'knots' THEN substring(c.value FROM '^\[(\d+)\]')::int
			END AS element
		FROM coefficients c JOIN jsonb_array_elements(facts -> 'm' -> 'features') WITH ORDINALITY f (feature, n) ON c.column_name IS NOT DISTINCT
			FROM f.feature ->> 'column'
		WHERE c.column_name IS NOT NULL OR c.value <> 'intercept'),
	scale AS (
		SELECT dperm.report_edge(max(abs(w.score)) + least(max(w.noise), 1.5 * max(abs(w.score)))) AS edge, bool_and(w.noise_kind = 'exact') AS exact
			FROM weights w),
	columns AS (
		SELECT w.class, w.class_n, w.feature, w.element, row_number() OVER (ORDER BY w.class_n, w.feature_n, w.element) AS n,
			count(*) OVER () AS count,
			array_agg(w.value ORDER BY w.rank) AS names, array_agg(w.score ORDER BY w.rank) AS scores, array_agg(w.noise ORDER BY w.rank) AS noise
		FROM weights w GROUP BY w.class, w.class_n, w.feature_n, w.feature, w.element)
	SELECT CASE WHEN facts -> 'm' ? 'kernel' THEN format(E'<p>The model has a kernel: its %s weights are of random features, which combine all '
		'columns, so there is no picture of a single one.</p>\n', facts ->> 'weights')
		ELSE concat(E'<p>', CASE WHEN (facts -> 'number')::boolean THEN 'Each picture shows what a column adds to the prediction, in units of the '
			'label. '
				WHEN (facts -> 'several')::boolean THEN 'Each picture shows what a column adds to the score of a class. What the score of one class '
					'exceeds that of another by is the logarithm of the ratio of their probabilities. '
				ELSE 'Each picture shows what a column adds to the score. Above zero it speaks for the positive class, below zero against it. ' ||
					CASE WHEN facts -> 'm' ->> 'loss' = 'logistic' THEN 'The score is the logarithm of the odds. ' ELSE '' END END,
			'All pictures have the same scale. ',
			CASE WHEN (facts -> 'private')::boolean THEN format('Bands and thin lines show the noise: %sone standard deviation to both sides, cut at '
				'the edge. ', CASE WHEN (SELECT s.exact FROM scale s) THEN '' ELSE 'about at most ' END) END,
			(SELECT CASE WHEN (facts -> 'number')::boolean THEN format('Without any column the prediction is %s; it is never outside of %s to %s. ',
				dperm.report_digits(c.score, 4), dperm.report_digits((facts -> 'm' -> 'bounds' -> 0)::float8, 6),
				dperm.report_digits((facts -> 'm' -> 'bounds' -> 1)::float8, 6))
				WHEN NOT (facts -> 'several')::boolean THEN format('The intercept adds %s. ', dperm.report_digits(c.score, 3)) END
				FROM coefficients c WHERE c.column_name IS NULL AND c.value = 'intercept' AND c.class_n = 1),
			E'Do not read what is within its noise as a finding.</p>\n',
			(SELECT string_agg(p.pictures, '' ORDER BY p.class_n) FROM (SELECT c.class_n,
				concat('<h3>Class ' || dperm.report_html(c.class) || E'</h3>\n', E'<div class="pictures">\n',
					string_agg(dperm.report_column(c.feature, c.element, c.names, c.scores, c.noise, s.edge), '' ORDER BY c.n),
						E'</div>\n') AS pictures FROM columns c, scale s WHERE c.n <= 40 GROUP BY c.class, c.class_n) p),
			(SELECT format(E'<p class="soft">Shown: 40 of %s pictures.</p>\n', c.count) FROM columns c WHERE c.n = 41))
		END);
END $$;

-- Evaluations: rows of dp_evaluate and dp_roc, as arrays of JSON that anybody may write

-- A metric with its interval
CREATE FUNCTION dperm.report_metric(line jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- an interval is rounded outwards
	RETURN (SELECT CASE WHEN v.value IS NULL THEN 'not known'
		WHEN v.low < v.high AND v.count THEN format('%s (%s to %s)', round(v.value::numeric), floor(v.low::numeric), ceil(v.high::numeric))
		WHEN v.low < v.high THEN format('%s (%s to %s)', dperm.report_digits(v.value, 4), (floor(v.low::numeric / u.unit) * u.unit)::float8,
			(ceil(v.high::numeric / u.unit) * u.unit)::float8)
		ELSE dperm.report_digits(v.value, CASE WHEN v.count THEN 15 ELSE 4 END) END
	FROM (SELECT dperm.report_number(line -> 'value') AS value, dperm.report_number(line -> 'low') AS low,
		dperm.report_number(line -> 'high') AS high, line ->> 'metric' = 'count'
		OR line ->> 'metric' ~ '^(true|false) (positives|negatives)$' AS count) v,
		LATERAL (SELECT power(10::numeric, floor(log(greatest(abs(v.low), abs(v.high), 1e-300)))::int - 3) AS unit) u);
END $$;

-- What always the majority class, or always the mean, would get by the same figures; null if these do not tell
-- What the majority class or the mean would get
CREATE FUNCTION dperm.report_baseline(evaluation jsonb) RETURNS jsonb
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT CASE WHEN c.all_rows > 0 THEN jsonb_build_object('accuracy', dperm.report_digits(c.largest / c.all_rows, 4), 'error',
		dperm.report_digits(1 - c.largest / c.all_rows, 4))
		WHEN r.r2 < 1 AND r.error >= 0 THEN jsonb_build_object('root mean square error', dperm.report_digits(r.error / sqrt(1 - r.r2), 4)) ELSE '{}'
			END
	FROM (SELECT max(k.size) AS largest, sum(k.size) AS all_rows
		FROM (SELECT greatest(sum(dperm.report_number(e.line -> 'value')), 0) AS size FROM jsonb_array_elements(evaluation) e (line)
				WHERE e.line ->> 'metric' = 'count' OR e.line ->> 'metric' ~ '^(true|false) (positives|negatives)$'
				GROUP BY CASE WHEN e.line ->> 'metric' = 'count' THEN e.line ->> 'class'
					ELSE (e.line ->> 'metric' IN ('true positives', 'false negatives'))::text END) k) c,
		(SELECT min(dperm.report_number(e.line -> 'value')) FILTER (WHERE e.line ->> 'metric' = 'r2') AS r2,
			min(dperm.report_number(e.line -> 'value')) FILTER (WHERE e.line ->> 'metric' = 'root mean square error') AS error
			FROM jsonb_array_elements(evaluation) e (line)) r);
END $$;

-- Figures, confusion matrix, metrics and ROC curve
CREATE FUNCTION dperm.report_evaluation(evaluation jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (WITH lines AS (SELECT e.line, e.n, e.line ->> 'metric' AS metric FROM jsonb_array_elements(evaluation) WITH ORDINALITY e (line, n)),
	counts AS (SELECT l.line ->> 'class' AS class, l.line ->> 'predicted' AS predicted, min(dperm.report_metric(l.line)) AS cell FROM lines l
		WHERE l.metric = 'count' GROUP BY 1, 2),
	classes AS (SELECT c.class, row_number() OVER (ORDER BY c.n) AS n FROM (SELECT l.line ->> 'class' AS class,
		min(l.n) AS n FROM lines l WHERE l.metric = 'precision' AND l.line ->> 'class' IS NOT NULL GROUP BY 1) c),
	points AS (SELECT p.x, p.y, row_number() OVER (ORDER BY p.n) AS i, p.line
		FROM (SELECT l.n, l.line, dperm.report_number(l.line -> 'false_positive_rate') AS x, dperm.report_number(l.line -> 'true_positive_rate') AS y
		FROM lines l) p
		WHERE p.x IS NOT NULL AND p.y IS NOT NULL LIMIT 1001)
	SELECT concat(
		CASE WHEN bool_or(l.line ->> 'private' = 'false') THEN E'<p class="alarm">These figures are exact, NOT PRIVATE.</p>\n' END,
		-- what matters most, and what is reached without a model
		(SELECT dperm.report_tiles(jsonb_agg(jsonb_build_array(t.name, t.value) ORDER BY t.n)) FROM (
			SELECT 2 * m.n AS n, m.metric AS name, dperm.report_metric(m.line) AS value FROM lines m WHERE m.metric IN ('accuracy', 'error',
				'root mean square error')
			UNION ALL SELECT 2 * m.n + 1, m.metric || CASE WHEN m.metric LIKE 'root%' THEN ', always the mean' ELSE ', always the largest class' END,
				'about ' || (b.baseline ->> m.metric) FROM lines m, dperm.report_baseline(evaluation) b (baseline)
				WHERE b.baseline ? m.metric AND m.metric <> 'error') t HAVING count(*) > 0),
		CASE WHEN bool_or(l.metric = 'true positives') THEN (SELECT dperm.report_table('Confusion matrix, with 95 % intervals',
			'{label,predicted positive,predicted negative}', jsonb_agg(jsonb_build_array(r.name,
				(SELECT min(dperm.report_metric(m.line)) FROM lines m WHERE m.metric = r.positive),
					(SELECT min(dperm.report_metric(m.line)) FROM lines m WHERE m.metric = r.negative)) ORDER BY r.n))
			FROM (VALUES (1, 'positive', 'true positives', 'false negatives'), (2, 'negative', 'false positives', 'true negatives')) r (n, name,
				positive, negative)) END,
		CASE WHEN bool_or(l.metric = 'count') THEN (SELECT dperm.report_table('Confusion matrix: labels in rows, predictions in columns',
			ARRAY['label'] || array_agg(c.class ORDER BY c.n),
				jsonb_agg(jsonb_build_array(c.class) || (SELECT jsonb_agg((SELECT k.cell FROM counts k WHERE k.class = c.class
					AND k.predicted = p.class) ORDER BY p.n) FROM classes p WHERE p.n <= 12) ORDER BY c.n))
			FROM classes c WHERE c.n <= 12) END,
		(SELECT format(E'<p class="soft">Shown: 12 of %s classes.</p>\n', count(*)) FROM classes c HAVING count(*) > 12
			AND bool_or(l.metric = 'count')),
		(SELECT dperm.report_table('Metrics, with 95 % intervals that allow for the noise', '{metric,value (95 % interval)}',
			jsonb_agg(jsonb_build_array(m.metric || coalesce(' of ' || (m.line ->> 'class'), ''), dperm.report_metric(m.line)) ORDER BY m.n))
			FROM lines m WHERE m.metric <> 'count' AND m.metric !~ '^(true|false) (positives|negatives)$' HAVING count(*) > 0),
		(SELECT concat(E'<h3>ROC curve</h3>\n',
				(SELECT format(E'<p>Area under the curve (95 %% interval): %s. 0.5 is guessing, 1 is perfect.</p>\n',
					dperm.report_metric(jsonb_build_object('value', z.line -> 'auc', 'low', z.line -> 'auc_low', 'high', z.line -> 'auc_high')))
					FROM points z WHERE dperm.report_number(z.line -> 'auc') IS NOT NULL ORDER BY z.i DESC LIMIT 1),
				E'<div class="pictures">\n', dperm.report_lines('', 'True positive rate by false positive rate',
					format('%s; the dashed line is guessing.',
					string_agg(format('%s at %s', round(p.y::numeric, 2), round(p.x::numeric, 2)), '; ' ORDER BY p.i)
						FILTER (WHERE p.i % (p.count / 16 + 1) = 0)),
					264, array_agg(p.x ORDER BY p.i), array_agg(p.y ORDER BY p.i), NULL, '{0,1,0,1}', '{0,0.5,1}', '{0,0.5,1}', '{0,1}'), E'</div>\n')
			FROM (SELECT q.*, count(*) OVER () AS count FROM points q) p HAVING count(*) > 1))
	FROM lines l);
END $$;

-- Raises an error for what is no evaluation
CREATE FUNCTION dperm.report_check(evaluation jsonb) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN evaluation IS NULL OR CASE WHEN jsonb_typeof(evaluation) = 'array' THEN
			(SELECT bool_and(coalesce(e.line ->> 'metric', e.line ->> 'true_positive_rate') IS NOT NULL)
				FROM jsonb_array_elements(evaluation) e (line)) END THEN evaluation
		ELSE dperm.report_refuse('22023', 'evaluation must be an array of rows of dp_evaluate or dp_roc',
			'Use (SELECT jsonb_agg(e) FROM dp_evaluate(...) e). Rows of both can be concatenated with ||.')::jsonb END;
END $$;

-- The page of a model

-- The evaluation that the ledger shows
CREATE FUNCTION dperm.report_kept_evaluation(facts jsonb) RETURNS jsonb
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- the latest of both functions that the ledger keeps of a model that names the entry
	RETURN (SELECT jsonb_agg(m.line ORDER BY k.function, m.n)
	FROM (SELECT DISTINCT ON (r.row ->> 'function') r.row ->> 'function' AS function, r.row -> 'metrics' AS metrics
		FROM jsonb_array_elements(facts -> 'rows') WITH ORDINALITY r (row, n)
		WHERE r.row ->> 'function' IN ('dp_evaluate', 'dp_roc') AND r.row ->> 'metrics' IS NOT NULL ORDER BY r.row ->> 'function', r.n DESC) k,
		jsonb_array_elements(k.metrics) WITH ORDINALITY m (line, n)
	WHERE facts ->> 'entry' IS NOT NULL);
END $$;

-- How good a model is
CREATE FUNCTION dperm.report_quality(facts jsonb, evaluation jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT CASE WHEN evaluation IS NOT NULL THEN E'<p>As handed to the report by its caller. An evaluation is a release of its own, with a '
		'cost of its own.</p>\n' || dperm.report_evaluation(evaluation)
		WHEN k.kept IS NOT NULL THEN E'<p>From the ledger: the latest evaluation of a model that names this entry. It has noise, and a cost, of its '
			'own.</p>\n' || dperm.report_evaluation(k.kept)
		ELSE format(E'<p>No evaluation was given. dp_evaluate%s one, at a cost of its own.</p>\n', CASE WHEN (facts -> 'number')::boolean
			THEN ' makes' ELSE ' and dp_roc make' END) END
	FROM (SELECT dperm.report_kept_evaluation(facts) AS kept) k);
END $$;

-- The entry of the ledger that a model names
CREATE FUNCTION dperm.report_ledger_section(facts jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE WHEN facts ->> 'payment' = 'none' THEN E'<p>The model names no entry of a ledger: no budget was charged for it.</p>\n'
		ELSE concat(dperm.report_paragraph(format('The model names entry %s of budget %s.', facts -> 'm' -> 'ledger' ->> 'entry',
			facts -> 'm' -> 'ledger' ->> 'budget')),
			CASE facts ->> 'payment' WHEN 'same' THEN E'<p>The model that the ledger keeps is exactly this one.</p>\n'
				WHEN 'other' THEN E'<p class="alarm">What was released for it is NOT this model.</p>\n'
				ELSE E'<p>It does not exist here, or what was released for it is not kept, or not visible to this role.</p>\n' END,
			CASE WHEN facts ->> 'entry' IS NOT NULL THEN concat(
				dperm.report_table('The entry', NULL, jsonb_build_array(jsonb_build_array('time',
					dperm.report_moment((facts -> 'entry' ->> 'at')::timestamptz))) ||
					(SELECT jsonb_agg(jsonb_build_array(k.key, facts -> 'entry' ->> k.key) ORDER BY k.n)
						FROM unnest('{role,function,relation,label,features,parameters,purpose,neighbours,unit,epsilon,delta,release}'::text[]) WITH ORDINALITY k (key, n))),
				(SELECT dperm.report_table('Evaluations whose model names this entry', '{entry,time,role,function,epsilon,delta}',
					jsonb_agg(jsonb_build_array(r.row ->> 'entry', dperm.report_moment((r.row ->> 'at')::timestamptz),
						r.row ->> 'role', r.row ->> 'function', r.row ->> 'epsilon', r.row ->> 'delta') ORDER BY r.n), 'evaluations')
					FROM jsonb_array_elements(facts -> 'rows') WITH ORDINALITY r (row, n) WHERE NOT (r.row -> 'own')::boolean HAVING count(*) > 0))
						END) END;
END $$;

-- What comes before the first section
CREATE FUNCTION dperm.report_heading(purpose text, curator text) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN concat(CASE WHEN purpose IS NOT NULL THEN dperm.report_paragraph('Purpose: ' || purpose) END,
		dperm.report_paragraph(format('Report of %s by dperm %s, for role %s%s. Times are in UTC.', CURRENT_DATE, dperm.report_version(),
			CURRENT_USER, '. Curator: ' || curator), 'soft'));
END $$;

-- The page of a model
CREATE FUNCTION dperm.report_model(model @extschema@.dp_model, facts jsonb, evaluation jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT dperm.report_page(facts ->> 'title', dperm.report_heading(coalesce(facts ->> 'purpose', 'not stated'), facts ->> 'curator') ||
		E'<p class="soft">Made from the model, the ledger and what the caller added: no row was read.</p>\n' ||
		dperm.report_tiles(jsonb_build_array(jsonb_build_array('epsilon', CASE WHEN f.private THEN (f.m ->> 'epsilon')::float8::text
			ELSE 'NOT PRIVATE' END), jsonb_build_array('delta', CASE WHEN f.private THEN (f.m ->> 'delta')::float8::text ELSE 'none' END),
			jsonb_build_array('protects', CASE WHEN f.private THEN facts ->> 'units' ELSE 'nothing' END),
				jsonb_build_array('number of ' || (facts ->> 'units'), facts ->> 'count'), jsonb_build_array('weights', facts ->> 'weights'))),
		jsonb_build_array(
			jsonb_build_array('quality', 'How good it is', dperm.report_quality(facts, evaluation)),
			jsonb_build_array('columns', 'What the model says', dperm.report_columns(model, facts)),
			jsonb_build_array('released', 'What was released, and about whom', dperm.report_paragraph(r.record #>> '{deployment,basic,description}')
				|| dperm.report_table('The release', NULL, jsonb_build_array(
				jsonb_build_array('predicts', facts ->> 'label'), jsonb_build_array('about', facts ->> 'source'),
					jsonb_build_array('number of ' || (facts ->> 'units'), facts ->> 'count'),
				jsonb_build_array('date', CASE WHEN facts ->> 'entry' IS NOT NULL THEN r.record #>> '{deployment,basic,publication_date}' END),
					jsonb_build_array('region', 'not stated'), jsonb_build_array('SHA-256', facts ->> 'digest')))),
			jsonb_build_array('plainly', 'The guarantee in plain words',
				concat(CASE WHEN f.m ? 'prior' THEN dperm.report_paragraph(dperm.report_prior(facts), CASE
				WHEN NOT (f.m -> 'prior' -> 'private')::boolean THEN 'alarm' END) END,
				dperm.report_promise(facts -> 'claim'))),
			jsonb_build_array('exactly', 'The guarantee exactly',
				concat(dperm.report_paragraph(f.m ->> 'guarantee'), dperm.report_fields(r.record), CASE WHEN f.private
				THEN dperm.report_limits(facts -> 'claim') END)),
			jsonb_build_array('domains', 'Domains', E'<p>The possible values of the columns are public. They were declared, not read from '
				'rows.</p>\n' || dperm.report_table('Domains of the columns', NULL,
				CASE WHEN (facts -> 'number')::boolean THEN jsonb_build_array(jsonb_build_array('the label',
					format('number from %s to %s', dperm.report_digits((f.m -> 'bounds' -> 0)::float8, 15),
					dperm.report_digits((f.m -> 'bounds' -> 1)::float8, 15))))
					WHEN f.m ? 'classes' THEN jsonb_build_array(jsonb_build_array('the label',
						(SELECT format('one of %s classes: %s', count(*), string_agg('"' || c.class || '"', ', ' ORDER BY c.n))
						FROM jsonb_array_elements_text(f.m -> 'classes') WITH ORDINALITY c (class, n))))
					ELSE '[]' END || (SELECT jsonb_agg(jsonb_build_array(coalesce(c.feature ->> 'column', 'vector'), dperm.report_domain(c.feature))
						ORDER BY c.n) FROM jsonb_array_elements(f.m -> 'features') WITH ORDINALITY c (feature, n)), 'lines')),
			jsonb_build_array('prior', 'The prior', (SELECT E'<p>The plain words say what it means for the guarantee.</p>\n'
				|| dperm.report_table('The prior', NULL, jsonb_build_array(
				jsonb_build_array('trained on', coalesce(p.prior ->> 'source', 'not stated')), jsonb_build_array('epsilon', p.prior ->> 'epsilon'),
					jsonb_build_array('delta', (p.prior ->> 'delta')::float8::text), jsonb_build_array('unit', p.prior ->> 'unit'),
				jsonb_build_array('neighbours', p.prior ->> 'neighbours'),
					jsonb_build_array('norm of its weights', dperm.report_digits((p.prior -> 'norm')::float8, 4)),
					jsonb_build_array('entry of its ledger', p.prior -> 'ledger' ->> 'entry')))
				FROM (SELECT f.m -> 'prior' AS prior) p WHERE p.prior IS NOT NULL)),
			jsonb_build_array('ledger', 'The ledger', dperm.report_ledger_section(facts)),
			jsonb_build_array('check', 'How to check it', E'<p>In the database, with the model in <code>models.model</code>:</p>\n<pre>'
				|| dperm.report_html(E'-- is this the model of this page? the SHA-256 is above\n', 4000) || E'\n'
				|| (SELECT string_agg(dperm.report_html(q.query, 4000), E'\n' ORDER BY q.n)
					FROM (VALUES (1, 'SELECT encode(sha256(convert_to(model::text, ''UTF8'')), ''hex'') FROM models;'),
					(2, '-- the guarantee, written anew from what it states'),
					(3, 'SELECT dp_guarantee(model) FROM models;'), (4, '-- weights and their noise'),
						(5, 'SELECT c.* FROM models, dp_coefficients(model) c;'), (6, '-- what several releases cost together'),
						(7, 'SELECT dp_compose(model, 1e-6) FROM models;'),
					(8, CASE WHEN f.m ? 'ledger' THEN '-- what was paid for it, and the model that was released then' END),
					(9, format('SELECT * FROM dp_ledger WHERE budget = %L AND entry = %s;', f.m -> 'ledger' ->> 'budget',
						f.m -> 'ledger' ->> 'entry'))) q (n, query) WHERE q.n < 8 OR f.m ? 'ledger')
				|| E'</pre>\n<p>The proof is in docs/guarantee.md of dperm. <code>make audit</code> looks for faults in the program, and '
					'<code>script/test</code> runs its tests.</p>\n')))
	FROM (SELECT facts -> 'm' AS m, (facts -> 'private')::boolean AS private) f, (SELECT dperm.report_model_record(facts) AS record) r);
END $$;

-- Several models side by side
CREATE FUNCTION dperm.report_models(models @extschema@.dp_model[], evaluations jsonb, title text, purpose text, curator text) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- one line for each fact or metric, one column for each model
	RETURN (WITH each AS MATERIALIZED (
		SELECT m.n, f.facts, f.facts -> 'm' AS m, e.given, coalesce(e.given, dperm.report_kept_evaluation(f.facts)) AS evaluation
		FROM unnest(models) WITH ORDINALITY m (model, n), LATERAL (SELECT dperm.report_facts(m.model, NULL, NULL, NULL) AS facts) f,
			LATERAL (SELECT dperm.report_check(nullif(evaluations -> (m.n - 1)::int, 'null')) AS given) e),
	facts AS (
		SELECT v.part, v.name, min(v.i) AS i, jsonb_agg(v.value ORDER BY e.n) AS cells FROM each e, LATERAL (VALUES
			('guarantee', 1, 'epsilon', CASE WHEN (e.facts -> 'private')::boolean THEN (e.m ->> 'epsilon')::float8::text ELSE 'NOT PRIVATE' END),
				('guarantee', 2, 'delta', CASE WHEN (e.facts -> 'private')::boolean THEN (e.m ->> 'delta')::float8::text END),
			('guarantee', 3, 'unit', e.m ->> 'unit'), ('guarantee', 4, 'neighbours', e.m ->> 'neighbours'),
				('guarantee', 5, 'number of units', e.facts ->> 'count'),
			('guarantee', 6, 'in words', e.m ->> 'guarantee'),
			('model', 1, 'kind', e.m ->> 'kind'), ('model', 2, 'loss', e.m ->> 'loss'), ('model', 3, 'predicts', e.facts ->> 'label'),
				('model', 4, 'about', e.facts ->> 'source'), ('model', 5, 'weights', e.facts ->> 'weights'), ('model', 6, 'lambda', e.m ->> 'lambda'),
			('model', 7, 'columns', (SELECT string_agg(coalesce(c.feature ->> 'column', 'vector'), ', ' ORDER BY c.n)
				FROM jsonb_array_elements(e.m -> 'features') WITH ORDINALITY c (feature, n))),
			('model', 8, 'ledger', CASE e.facts ->> 'payment' WHEN 'none' THEN 'no budget was charged' WHEN 'other'
				THEN 'NOT the model that was released' ELSE format('entry %s of budget %s', e.m -> 'ledger' ->> 'entry',
				e.m -> 'ledger' ->> 'budget') END),
			('model', 9, 'SHA-256', e.facts ->> 'digest')) v (part, i, name, value) GROUP BY v.part, v.name),
	metrics AS (
		SELECT k.name, k.i, (SELECT jsonb_agg((SELECT min(dperm.report_metric(l.line)) FROM jsonb_array_elements(e.evaluation) l (line)
			WHERE concat_ws(' of ', l.line ->> 'metric', l.line ->> 'class') = k.name) ORDER BY e.n) FROM each e) AS cells
		FROM (SELECT concat_ws(' of ', l.line ->> 'metric', l.line ->> 'class') AS name, min(l.i) AS i FROM each e,
			jsonb_array_elements(e.evaluation) WITH ORDINALITY l (line, i) WHERE l.line ->> 'metric' <> 'count' GROUP BY 1) k)
	SELECT dperm.report_page(coalesce(title, format('%s models side by side', cardinality(models))), dperm.report_heading(purpose, curator)
		|| E'<p class="soft">Made from the models, the ledger and what the caller added: no row was read. dp_report of one of them says all about '
		'it.</p>\n',
		jsonb_build_array(
			jsonb_build_array('quality', 'How good they are', CASE WHEN EXISTS (SELECT FROM metrics m)
				THEN E'<p>Evaluations are releases of their own, with noise and a cost of their own.</p>\n' ||
				(SELECT coalesce(string_agg(format(E'<p class="alarm">The figures of model %s are exact, NOT PRIVATE.</p>\n', e.n), '' ORDER BY e.n),
					'') FROM each e WHERE EXISTS (SELECT FROM jsonb_array_elements(e.evaluation) l (line) WHERE l.line ->> 'private' = 'false')) ||
				(SELECT dperm.report_table('Metrics, with 95 % intervals that allow for the noise', h.headings,
					jsonb_agg(jsonb_build_array(m.name) || m.cells ORDER BY m.i, m.name)) FROM metrics m)
				ELSE E'<p>No evaluation was given. dp_evaluate makes one, at a cost of its own.</p>\n' END),
			jsonb_build_array('guarantee', 'The guarantees', (SELECT dperm.report_table('The '
				'guarantees', h.headings, jsonb_agg(jsonb_build_array(f.name) || f.cells ORDER BY f.i)) FROM facts f WHERE f.part = 'guarantee')
				|| E'<p>Epsilons can be compared only if unit and neighbours are the same. Both models together cost more than each: dp_compose says '
					'how much.</p>\n'),
			jsonb_build_array('models', 'The models', (SELECT dperm.report_table('The models', h.headings,
				jsonb_agg(jsonb_build_array(f.name) || f.cells ORDER BY f.i)) FROM facts f WHERE f.part = 'model'))))
	FROM (SELECT ARRAY['what'] || array_agg('model ' || e.n ORDER BY e.n) AS headings FROM each e) h);
END $$;

-- Budgets

-- The largest limits under which anything was charged, or could be now: what all releases of a budget guarantee. Whoever sees the budget sees them.
-- Lines about a dropped owner have no limits.
CREATE VIEW dperm.report_largest WITH (security_barrier) AS
	SELECT a.budget, a.since, a.entry AS last, l.epsilon, l.delta
	FROM dperm.dperm_seen_budgets s
	JOIN dperm.budgets a ON a.id = s.id
	CROSS JOIN LATERAL (SELECT min(e.entry) AS entry FROM dperm.ledger e WHERE e.budget = a.budget AND e.budget_id = a.id AND e.act = 'charge') charge
	CROSS JOIN LATERAL (SELECT max(e.entry) AS entry FROM dperm.ledger e
		WHERE e.budget = a.budget AND e.budget_id = a.id AND e.act = ANY ('{create,alter}') AND e.epsilon IS NOT NULL
			AND (charge.entry IS NULL OR e.entry < charge.entry)) first
	CROSS JOIN LATERAL (SELECT max(e.epsilon) AS epsilon, max(e.delta) AS delta FROM dperm.ledger e
		WHERE e.budget = a.budget AND e.budget_id = a.id AND e.act = ANY ('{create,alter}') AND e.entry >= coalesce(first.entry, 0)) l
	OFFSET 0;
COMMENT ON VIEW dperm.report_largest IS
	'internal to dp_report: the largest limits of budgets that you own or may spend from, since their first charge, and the entry of the ledger that '
		'created them';

-- What dp_budgets, dp_grants, dp_protected and dp_ledger show the caller of a budget, and its largest limits
CREATE FUNCTION dperm.report_budget_facts(budget text) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (WITH limits AS MATERIALIZED (
		SELECT s.since, s.last, s.epsilon, s.delta FROM dperm.report_largest s WHERE s.budget = $1 ORDER BY s.since DESC LIMIT 1),
	entries AS MATERIALIZED (
		SELECT l.entry, l.at, l.act, l.role, l.function, l.relation, l.purpose, l.epsilon, l.delta, l.release
		FROM @extschema@.dp_ledger l
		WHERE l.budget = $1 AND l.entry >= coalesce((SELECT m.since FROM limits m), 0) AND l.entry <= coalesce((SELECT m.last FROM limits m),
			l.entry)),
	charges AS (SELECT e.* FROM entries e WHERE e.act = 'charge')
	SELECT jsonb_build_object(
		'budgets', (SELECT jsonb_agg(to_jsonb(b) ORDER BY b.epsilon_left DESC) FROM dperm.dperm_seen_accounts b, limits m WHERE b.budget = $1
			AND b.since = m.since),
		'grants', (SELECT jsonb_agg(to_jsonb(g) ORDER BY g.role::text COLLATE "C") FROM @extschema@.dp_grants g WHERE g.budget = $1),
		'protected', (SELECT jsonb_agg(to_jsonb(p) ORDER BY p.relation::text COLLATE "C") FROM @extschema@.dp_protected p WHERE p.budget = $1),
		'spenders', (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.epsilon DESC, s.role)
			FROM (SELECT c.role, count(*) AS charges, sum(c.epsilon) AS epsilon, sum(c.delta) AS delta, min(c.at) AS first, max(c.at) AS last
				FROM charges c GROUP BY c.role) s),
		'entries', (SELECT jsonb_agg(to_jsonb(n) ORDER BY n.entry DESC) FROM (SELECT e.* FROM entries e ORDER BY e.entry DESC LIMIT 100) n),
		'largest', (SELECT to_jsonb(m) FROM limits m),
		'summary', (SELECT jsonb_build_object('relation', r.relation, 'entry', r.entry, 'lines', r.metrics) FROM @extschema@.dp_releases r JOIN charges c USING (entry)
			WHERE r.budget = $1 AND r.function = 'dp_summary' AND r.metrics IS NOT NULL ORDER BY r.entry DESC LIMIT 1),
		'count', (SELECT count(*) FROM entries e),
		'since', (SELECT min(e.at) FROM entries e),
		'first', (SELECT min(c.at) FROM charges c),
		'last', (SELECT max(c.at) FROM charges c),
		'times', (SELECT jsonb_agg(date_part('epoch', c.at) ORDER BY c.at, c.entry) FROM charges c),
		'amounts', (SELECT jsonb_agg(c.epsilon ORDER BY c.at, c.entry) FROM charges c)));
END $$;

-- What is said of a budget; null if the caller may see nothing of it
CREATE FUNCTION dperm.report_account(budget text, title text, purpose text, curator text) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- all releases together guarantee the largest limits that there were: docs/guarantee.md, "Limits that change"
	RETURN (SELECT f.facts || jsonb_build_object('budget', $1, 'title', coalesce($2, 'Privacy budget ' || $1), 'purpose', $3, 'curator', $4,
		'account', a.account,
		'former', CASE WHEN l.since > 1 THEN format('Entries 1 to %s of the ledger are of budgets of this name that were dropped: what these released '
			'adds up with it.', l.since - 1) END,
		'claim', jsonb_build_object('epsilon', coalesce(to_jsonb(greatest((a.account ->> 'epsilon')::numeric, l.epsilon)),
			to_jsonb('Infinity'::text)), 'delta', coalesce(greatest((a.account ->> 'delta')::numeric, l.delta), 0), 'unit', a.account -> 'unit',
			'neighbours', a.account -> 'neighbours',
			'released', 'all releases of this budget together', 'protected', true, 'budget', true, 'tuned', false, 'kernel', true))
	FROM (SELECT jsonb_strip_nulls(dperm.report_budget_facts($1)) AS facts) f, LATERAL (SELECT f.facts -> 'budgets' -> 0 AS account) a,
		LATERAL (SELECT coalesce((f.facts -> 'largest' ->> 'since')::bigint, 1) AS since, (f.facts -> 'largest' ->> 'epsilon')::numeric AS epsilon,
			(f.facts -> 'largest' ->> 'delta')::numeric AS delta) l
	WHERE f.facts ? 'budgets' OR f.facts ? 'entries');
END $$;

-- The record of a budget
CREATE FUNCTION dperm.report_budget_record(facts jsonb) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT dperm.report_record(facts ->> 'title', facts ->> 'purpose', facts ->> 'curator', 'Interactive API',
		'Summaries, models and evaluations that analysts make in the database, each charged to a privacy budget before a row is read.',
		left(coalesce(facts ->> 'since', CURRENT_DATE::text), 10), NULL, jsonb_build_object(
			'dp_variant', jsonb_build_object('variant_name', CASE WHEN b.seen THEN CASE WHEN b.delta > 0 THEN 'Approximate DP' ELSE 'Pure DP' END END,
				'unprotected_quantities', 'The numbers of rows, or of persons, the arguments of calls, the domains of columns, and the time of '
					'charges.'),
			'privacy_loss', jsonb_build_object('privacy_unit', facts -> 'account' ->> 'unit', 'privacy_unit_details', CASE
				WHEN facts -> 'account' ->> 'unit' IS NOT NULL THEN dperm.report_neighbours(facts -> 'account' ->> 'unit',
				facts -> 'account' ->> 'neighbours') END,
				'privacy_parameters', CASE WHEN b.seen THEN jsonb_build_object('epsilon', facts -> 'claim' -> 'epsilon', 'delta',
					facts -> 'claim' -> 'delta') END,
				'privacy_parameters_details', CASE WHEN b.seen THEN format('Limits of all releases together, the largest that there were since the '
					'first charge; it holds if larger ones are never set, whatever is released. So far, the charges add up to epsilon %s and delta '
					'%s.',
					facts -> 'account' ->> 'epsilon_spent', facts -> 'account' ->> 'delta_spent') END),
			'deployment_model', jsonb_build_object('model_name', 'Central', 'actors', dperm.report_actors(true), 'release_type', 'Many releases',
				'release_type_details', 'The budget is never refilled by time. Its owner can raise the limits, which the ledger shows.',
				'data_source_type', 'Dynamic', 'access_type', 'Interactive', 'access_type_details',
					'Analysts spend from grants, and the budget limits what they spend in all. They may work together.'),
			'accounting', jsonb_build_object('composition', CASE WHEN b.seen
				THEN concat_ws(' ', CASE WHEN b.delta > 0 THEN 'A privacy filter: a charge is accepted as long as the sums of epsilon and delta, or '
				'the sum of the Renyi divergences at one order, are within the budget. It holds for any adaptive choice of releases.'
				ELSE 'Sequential composition: the epsilons of all charges are added up, whatever is chosen in the light of earlier results. Each '
					'charge adds a probability below 2^-64 that its noise is larger than the rounding analysis allows for.' END, facts ->> 'former')
					END),
			'implementation', jsonb_build_object('mechanisms', format('Objective and output perturbation for models, discrete Laplace noise for '
				'summaries and evaluations: dperm %s, in PostgreSQL %s. Releases of other tools are charged by dp_budget_charge.', dperm.report_version(),
				current_setting('server_version')))))
	FROM (SELECT facts ->> 'account' IS NOT NULL AS seen, (facts -> 'claim' -> 'delta')::float8 AS delta) b);
END $$;

-- Rows of a view as a table
CREATE FUNCTION dperm.report_objects(caption text, keys text[], objects jsonb, things text, total bigint DEFAULT NULL) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN coalesce((SELECT dperm.report_table(caption, string_to_array(replace(array_to_string(keys, ','), '_', ' '), ','),
		jsonb_agg((SELECT jsonb_agg(CASE WHEN k.key IN ('at', 'first', 'last') THEN dperm.report_moment((o.object ->> k.key)::timestamptz)
		ELSE o.object ->> k.key END ORDER BY k.n)
		FROM unnest(keys) WITH ORDINALITY k (key, n)) ORDER BY o.n), things, total) FROM jsonb_array_elements(objects) WITH ORDINALITY o (object, n)
			HAVING count(*) > 0), E'<p>None that this role may see.</p>\n');
END $$;

-- Charges over time
CREATE FUNCTION dperm.report_history(facts jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- steps: at each charge the sum before it, and the sum after it; at most 400
	RETURN (WITH charges AS (SELECT c.n, c.at, c.total, lag(c.total, 1, 0::float8) OVER (ORDER BY c.n) AS before FROM (
			SELECT t.n, t.at::float8 AS at, sum(a.amount::float8) OVER (ORDER BY t.n) AS total, count(*) OVER () AS count
				FROM jsonb_array_elements_text(facts -> 'times') WITH ORDINALITY t (at,
				n) JOIN jsonb_array_elements_text(facts -> 'amounts') WITH ORDINALITY a (amount, n) USING (n)) c
		WHERE c.n % (c.count / 400 + 1) = 0 OR c.n = c.count),
	steps AS (SELECT c.at, v.total, 2 * c.n + v.i AS n FROM charges c, LATERAL (VALUES (0, c.before), (1, c.total)) v (i, total)),
	ends AS (SELECT min(s.at) AS first, max(s.at) AS last, max(s.total) AS spent, jsonb_array_length(facts -> 'times') AS count FROM steps s),
	limits AS (SELECT e.*, (facts -> 'account' ->> 'epsilon')::float8 AS edge FROM ends e)
	SELECT CASE WHEN e.spent IS NULL THEN E'<p>Nothing was charged that this role may see.</p>\n'
		ELSE concat(E'<div class="wide">\n', dperm.report_lines('', 'Epsilon spent over time',
			format('%s of %s after %s charges, the dashed line is the limit.', dperm.report_digits(e.spent, 4),
			dperm.report_digits(coalesce(e.edge, e.spent), 4), e.count), 130,
				(SELECT array_agg(s.at ORDER BY s.n) || e.last FROM steps s), (SELECT array_agg(s.total ORDER BY s.n) || e.spent FROM steps s), NULL,
				ARRAY[e.first, e.last, 0, t.top], ARRAY[0, t.top],
					ARRAY[dperm.report_moment((facts ->> 'first')::timestamptz), NULL, dperm.report_moment((facts ->> 'last')::timestamptz)],
					ARRAY[coalesce(e.edge, e.spent), coalesce(e.edge, e.spent)]),
			format(E'</div>\n<p class="soft">The sum of the epsilons of %s charges%s.</p>\n', e.count, CASE WHEN e.edge IS NOT NULL
				THEN '; the dashed line is the limit' END)) END
	FROM limits e, LATERAL (SELECT dperm.report_edge(greatest(e.edge, e.spent)) AS top) t);
END $$;

-- Rows of dp_summary as bars: of each column the largest 24, in their order, and the quantiles of a number
CREATE FUNCTION dperm.report_summary(summary jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (WITH lines AS (SELECT l.n, r.* FROM jsonb_array_elements(summary) WITH ORDINALITY l (line, n),
			jsonb_to_record(l.line) r (column_name text, item text, value text, low text, high text, count float8, count_high float8, share float8)),
	bars AS (SELECT l.*, coalesce(l.value, concat_ws(' to ', l.low, nullif(l.high, l.low)), '') || CASE WHEN l.item = 'missing' THEN '(missing)' ELSE '' END AS name,
			row_number() OVER (PARTITION BY l.column_name ORDER BY l.count DESC, l.n) AS place FROM lines l WHERE l.item <> 'quantile'),
	columns AS (SELECT b.column_name, min(b.n) AS n, dperm.report_bars(b.column_name, string_agg(format('%s: %s', b.name, dperm.report_digits(b.count, 3)), '; '
				ORDER BY b.n) FILTER (WHERE b.place <= 16) || '.', array_agg(b.name ORDER BY b.n), array_agg(b.count ORDER BY b.n),
			array_agg(b.count_high - b.count ORDER BY b.n), dperm.report_edge(max(b.count_high))) AS picture
		FROM bars b WHERE b.place <= 24 GROUP BY 1),
	quantiles AS (SELECT l.column_name, string_agg(format('%s %%: %s', l.share * 100, coalesce(l.value, 'unknown')), ', ' ORDER BY l.n) AS words
		FROM lines l WHERE l.item = 'quantile' GROUP BY 1)
	SELECT E'<p class="soft">Counts have noise, whose 95 % are the lines; at most 24 of a column, the largest, are shown.</p>\n<div class="wide">\n' ||
		string_agg(c.picture || coalesce(dperm.report_paragraph('Quantiles: ' || q.words || '.', 'soft'), ''), '' ORDER BY c.n) || E'</div>\n'
	FROM columns c LEFT JOIN quantiles q USING (column_name));
END $$;

-- The page of a budget
CREATE FUNCTION dperm.report_budget(facts jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN dperm.report_page(facts ->> 'title', concat(dperm.report_heading(facts ->> 'purpose', facts ->> 'curator'),
			E'<p class="soft">It shows what this role may see in dp_budgets, dp_grants, dp_protected and dp_ledger, and the largest limits that there '
				'were.</p>\n', CASE WHEN facts ->> 'former' IS NOT NULL THEN dperm.report_paragraph(facts ->> 'former') END,
			CASE WHEN facts ->> 'account' IS NULL THEN E'<p>The balance is not visible to this role.</p>\n' ELSE concat(
				CASE WHEN facts -> 'account' ->> 'dropped' IS NOT NULL THEN E'<p>The budget was dropped: nothing is charged to it any more.</p>\n'
					END,
				dperm.report_tiles((SELECT jsonb_agg(jsonb_build_array(v.name, coalesce(facts -> 'account' ->> v.key, 'not known yet')) ORDER BY v.n)
					FROM (VALUES (1, 'epsilon', 'epsilon, limit'), (2, 'epsilon_spent', 'epsilon, charged'), (3, 'epsilon_left', 'epsilon, left'),
					(4, 'delta', 'delta, limit'), (5, 'delta_spent', 'delta, charged'), (6, 'unit', 'protects'), (7, 'neighbours', 'neighbours'),
						(8, 'owner', 'owner')) v (n, key, name))),
				E'<p class="soft">Left is the largest epsilon that a single release without delta can still have, for this role. With a delta, '
					'charges can add up to more than the limit, because many small releases cost less than their sum.</p>\n') END),
		jsonb_build_array(
			jsonb_build_array('history', 'What was spent over time', dperm.report_history(facts)),
			jsonb_build_array('spenders', 'Who spent what', dperm.report_objects('Charges by '
				'role', '{role,charges,epsilon,delta,first,last}', facts -> 'spenders', 'spenders')),
			jsonb_build_array('grants', 'Who may spend', E'<p>The owner of the budget, the owners of the protected relations, and roles with a grant. '
				'A limit that is not shown is that of the budget.</p>\n' ||
				dperm.report_objects('Grants', '{role,epsilon_granted,epsilon_spent,epsilon_left,delta_granted,delta_spent,delta_left}',
					facts -> 'grants', 'grants')),
			jsonb_build_array('relations', 'About whom', dperm.report_objects('Protected relations that charge the budget',
				'{relation,unit,columns,domains}', facts -> 'protected', 'protected')),
			jsonb_build_array('look', 'What the rows are like', format(E'<p>The latest summary that this role may see: entry %s, of %s.</p>\n',
				facts -> 'summary' ->> 'entry', dperm.report_html(facts -> 'summary' ->> 'relation')) || dperm.report_summary(facts -> 'summary' -> 'lines')),
			jsonb_build_array('plainly', 'The guarantee in plain words', CASE WHEN facts ->> 'account' IS NOT NULL
				THEN dperm.report_promise(facts -> 'claim') END),
			jsonb_build_array('exactly', 'The guarantee exactly',
				concat(dperm.report_fields(dperm.report_budget_record(facts)), CASE WHEN facts ->> 'account' IS NOT NULL
				THEN dperm.report_limits(facts -> 'claim') END)),
			jsonb_build_array('ledger', 'The ledger', E'<p>The latest entries come first. Of the charges of others, a role that does not own the '
				'budget sees only who, when and how much.</p>\n' ||
				dperm.report_objects('Entries of the ledger', '{entry,at,act,role,function,relation,purpose,epsilon,delta,release}',
					facts -> 'entries', 'entries', (facts -> 'count')::bigint)),
			jsonb_build_array('check', 'How to check it', E'<p>The charges of a budget add up exactly to what it has spent, and entries are numbered '
				'without gaps. Its owner sees all of them:</p>\n<pre>' ||
				(SELECT string_agg(dperm.report_html(concat(q.query, quote_literal(facts ->> 'budget'), CASE WHEN q.n >= 3
					AND facts ->> 'former' IS NOT NULL THEN ' AND entry >= ' || (facts -> 'largest' ->> 'since') END, CASE WHEN q.n = 4
					THEN ' ORDER BY entry' END, ';'), 4000), E'\n' ORDER BY q.n)
				FROM (VALUES (1, 'SELECT * FROM dp_budgets WHERE budget = '), (2, 'SELECT * FROM dp_grants WHERE budget = '),
					(3, 'SELECT sum(epsilon), sum(delta) FROM dp_ledger WHERE act = ''charge'' AND budget = '),
					(4, 'SELECT * FROM dp_ledger WHERE budget = ')) q (n, query)) || E'</pre>\n')));
END $$;

-- What users call. Settings of the session change nothing.

CREATE FUNCTION @extschema@.dp_report(model @extschema@.dp_model, evaluation jsonb DEFAULT NULL, title text DEFAULT NULL, purpose text DEFAULT NULL,
	curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, '
		'MDY' SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex'
	RETURN CASE WHEN $1 IS NULL THEN dperm.report_refuse('22004', 'model must not be null',
		'A training without rows has no model, nor has a call that failed: use WHERE model IS NOT NULL.')
		ELSE dperm.report_model($1, dperm.report_facts($1, $3, $4, $5), dperm.report_check($2)) END;
COMMENT ON FUNCTION @extschema@.dp_report(@extschema@.dp_model, jsonb, text, text, text) IS
	'a report on a model as one HTML page: how good it is, pictures of its columns, what was released, the guarantee, and its ledger entry';

CREATE FUNCTION @extschema@.dp_report(models @extschema@.dp_model[], evaluation jsonb DEFAULT NULL, title text DEFAULT NULL,
	purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, '
		'MDY' SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex'
	RETURN CASE WHEN cardinality($1) BETWEEN 2 AND 4 AND NOT EXISTS (SELECT FROM unnest($1) m (model) WHERE m.model IS NULL)
		AND coalesce(jsonb_typeof($2), 'array') = 'array' AND coalesce(jsonb_array_length($2), cardinality($1)) = cardinality($1)
		THEN dperm.report_models($1, $2, $3, $4, $5)
		ELSE dperm.report_refuse('22023', 'models must be two to four models, and evaluation an array with an evaluation, or null, for each',
			'Use dp_report(ARRAY[a, b]), and for evaluation jsonb_build_array((SELECT jsonb_agg(e) FROM dp_evaluate(a, ...) e), NULL).') END;
COMMENT ON FUNCTION @extschema@.dp_report(@extschema@.dp_model[], jsonb, text, text, text) IS
	'a report on two models side by side, up to four, as one HTML page: their evaluations, guarantees and parameters';

CREATE FUNCTION @extschema@.dp_report(budget text, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, '
		'MDY' SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex'
	RETURN (SELECT CASE WHEN $1 IS NULL THEN dperm.report_refuse('22004', 'budget must not be null', 'It is the name of a budget, as in dp_budgets.')
		WHEN a.facts IS NULL THEN dperm.report_refuse('42704', format('there is no privacy budget "%s" that you may see', $1),
			'dp_budgets lists those that you own or may spend from.')
		ELSE dperm.report_budget(a.facts) END FROM dperm.report_account($1, $2, $3, $4) a (facts));
COMMENT ON FUNCTION @extschema@.dp_report(text, text, text, text) IS
	'a report on a privacy budget as one HTML page: its balance, who spent what and when, and grants, as far as you may see them';

CREATE FUNCTION @extschema@.dp_report_data(model @extschema@.dp_model, title text DEFAULT NULL, purpose text DEFAULT NULL,
	curator text DEFAULT NULL) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, '
		'MDY' SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex'
	RETURN CASE WHEN $1 IS NULL THEN dperm.report_refuse('22004', 'model must not be null',
		'A training without rows has no model, nor has a call that failed: use WHERE model IS NOT NULL.')::jsonb
		ELSE dperm.report_model_record(dperm.report_facts($1, $2, $3, $4)) END;
COMMENT ON FUNCTION @extschema@.dp_report_data(@extschema@.dp_model, text, text, text) IS
	'a record of a model with the fields of the OpenDP Deployments Registry';

CREATE FUNCTION @extschema@.dp_report_data(budget text, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, '
		'MDY' SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex'
	RETURN (SELECT CASE WHEN $1 IS NULL THEN dperm.report_refuse('22004', 'budget must not be null',
		'It is the name of a budget, as in dp_budgets.')::jsonb
		WHEN a.facts IS NULL THEN dperm.report_refuse('42704', format('there is no privacy budget "%s" that you may see', $1),
			'dp_budgets lists those that you own or may spend from.')::jsonb
		ELSE dperm.report_budget_record(a.facts) END FROM dperm.report_account($1, $2, $3, $4) a (facts));
COMMENT ON FUNCTION @extschema@.dp_report_data(text, text, text, text) IS
	'a record of a privacy budget with the fields of the OpenDP Deployments Registry';
