--
-- Reports. Plain.
--
-- Pages and records, made of a model, of what views show the caller, and of what the caller adds; no row of a user's table is read. Text of users
-- enters a page through dperm.report_html() alone; all other markup is here. What users call sets all that a text depends on. What is called for
-- each cell or point is PL/pgSQL, which keeps its plans; other functions are expressions, parsed when the extension is created.

-- Text as HTML in ASCII, cut after some characters
CREATE FUNCTION dperm.report_html(words text, most integer DEFAULT 120) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	-- control characters, and others from U+200B, U+2028, U+2060, U+FEFF, U+FFFE and U+E0000 on
	hidden int4multirange := '{[0,32),[127,160),[8203,8208),[8232,8239),[8288,8304),[65279,65280),[65534,65536),[917504,917632)}';
	shown text := left(words, most) || CASE WHEN length(words) > most THEN '...' ELSE '' END;
BEGIN
	IF shown COLLATE "C" ~ '^[ !#-%(-;=?-~]*$' THEN
		RETURN shown;
	END IF;
	-- ASCII alone, so that a page means the same in every client encoding. What hides or reverses what others read is shown as a number.
	-- In SQL_ASCII nobody knows what a byte above 127 stands for; in others than UTF8 the number is read from the bytes in UTF8.
	RETURN (SELECT string_agg(CASE
			WHEN c.code IN (9, 10, 13) THEN ' '
			WHEN c.code <@ hidden THEN '\u' || upper(lpad(to_hex(c.code), greatest(4, length(to_hex(c.code))), '0'))
			WHEN c.code > 126 OR c.letter IN ('&', '<', '>', '"', '''') THEN '&#' || c.code || ';'
			ELSE c.letter END, '' ORDER BY c.n)
		FROM (SELECT l.letter, l.n, CASE
				WHEN octet_length(l.letter) = 1 AND ascii(l.letter) < 128 OR getdatabaseencoding() = 'UTF8' THEN ascii(l.letter)
				WHEN getdatabaseencoding() = 'SQL_ASCII' THEN x'FFFD'::int
				ELSE (SELECT sum((get_byte(u.b, i) & CASE WHEN i > 0 THEN 63 ELSE ('{127,31,15,7}'::int[])[length(u.b)] END) << 6 * (length(u.b) - 1 - i))
					FROM (SELECT convert_to(l.letter, 'UTF8') AS b) u, generate_series(0, length(u.b) - 1) i)::int END AS code
			FROM regexp_split_to_table(shown, '') WITH ORDINALITY l (letter, n)) c);
END $$;

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

-- Where a number between two others is drawn, from a start; what does not fit is drawn at the edge
CREATE FUNCTION dperm.report_place(number float8, low float8, high float8, start integer, length integer) RETURNS numeric
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- halves do not overflow
	RETURN round((start + length * CASE WHEN number > low AND number < high THEN (number / 2 - low / 2) / (high / 2 - low / 2)
		WHEN number > low THEN 1 ELSE 0 END)::numeric, 1);
END $$;

-- A round number that is not below a number, and not much above
CREATE FUNCTION dperm.report_edge(number float8) RETURNS float8
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN CASE WHEN number > 1e300 THEN 1e308 WHEN number > 1e-300 THEN
		(SELECT min(s.step * p.power) FROM (SELECT power(10, floor(log(number))) AS power) p, unnest('{1,1.5,2,3,4,5,6,8,10,15}'::float8[]) s (step)
		WHERE s.step * p.power >= number) ELSE 1 END;

-- A moment, in UTC as dp_report sets it
CREATE FUNCTION dperm.report_moment(at text) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN to_char(at::timestamptz, 'YYYY-MM-DD HH24:MI');

-- The version of dperm
CREATE FUNCTION dperm.report_version() RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'dperm');

-- Parts of a page

-- A paragraph
CREATE FUNCTION dperm.report_paragraph(words text, class text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN format(E'<p%s>%s</p>\n', ' class="' || class || '"', dperm.report_html(words, 4000));

-- The figures that matter most, each with its name
CREATE FUNCTION dperm.report_tiles(tiles jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN (SELECT E'<dl class="tiles">\n' || string_agg(format(E'<div><dt>%s</dt><dd>%s</dd></div>\n', t.tile ->> 0, dperm.report_html(t.tile ->> 1)), ''
			ORDER BY t.n) || E'</dl>\n'
		FROM jsonb_array_elements(tiles) WITH ORDINALITY t (tile, n) WHERE t.tile ->> 1 IS NOT NULL);

-- Lines of cells as a table, the first 100 of them
CREATE FUNCTION dperm.report_table(caption text, headings text[], lines jsonb, things text DEFAULT 'rows', total bigint DEFAULT NULL) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- without headings it is a table of facts: a line of one cell is the heading of a part, and a fact without a value is left out
	RETURN (SELECT format(E'<div class="scroll" role="region" aria-label="%1$s" tabindex="0">\n<table%2$s>\n<caption>%1$s</caption>\n'
			'%3$s<tbody>\n%4$s</tbody>\n</table>\n</div>\n%5$s',
			dperm.report_html(caption), CASE WHEN headings IS NULL THEN ' class="facts"' END,
			'<thead><tr>' || (SELECT string_agg('<th scope="col">' || dperm.report_html(h.heading) || '</th>', '' ORDER BY h.n)
				FROM unnest(headings) WITH ORDINALITY h (heading, n)) || E'</tr></thead>\n',
			string_agg('<tr>' || r.cells || E'</tr>\n', '' ORDER BY r.n) FILTER (WHERE r.n <= 100),
			CASE WHEN coalesce(total, count(*)) > least(count(*), 100)
				THEN format(E'<p class="soft">Shown: %s of %s %s.</p>\n', least(count(*), 100), coalesce(total, count(*)), things) END)
		FROM (SELECT row_number() OVER (ORDER BY l.n) AS n, (SELECT string_agg(CASE
					WHEN jsonb_array_length(l.line) = 1 THEN '<th class="part" colspan="2" scope="rowgroup">' || dperm.report_html(c.cell) || '</th>'
					WHEN c.n = 1 THEN '<th scope="row">' || dperm.report_html(coalesce(c.cell, ''), 4000) || '</th>'
					WHEN c.cell ~ '^\d{4}-\d\d-\d\d \d\d:\d\d$' THEN '<td class="time">' || c.cell || '</td>'
					ELSE '<td>' || dperm.report_html(coalesce(c.cell, ''), 4000) || '</td>' END, '' ORDER BY c.n)
				FROM jsonb_array_elements_text(l.line) WITH ORDINALITY c (cell, n)) AS cells
			FROM jsonb_array_elements(lines) WITH ORDINALITY l (line, n)
			WHERE headings IS NOT NULL OR jsonb_array_length(l.line) = 1 OR l.line ->> 1 IS NOT NULL) r);
END $$;

-- Rows of a view as a table
CREATE FUNCTION dperm.report_objects(caption text, keys text[], objects jsonb, things text, total bigint DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN coalesce((SELECT dperm.report_table(caption, string_to_array(replace(array_to_string(keys, ','), '_', ' '), ','),
			jsonb_agg((SELECT jsonb_agg(CASE WHEN k.key IN ('at', 'first', 'last') THEN dperm.report_moment(o.object ->> k.key) ELSE o.object ->> k.key END
				ORDER BY k.n) FROM unnest(keys) WITH ORDINALITY k (key, n)) ORDER BY o.n), things, total)
		FROM jsonb_array_elements(objects) WITH ORDINALITY o (object, n) HAVING count(*) > 0), E'<p>None that this role may see.</p>\n');

-- Statements as they are typed
CREATE FUNCTION dperm.report_statements(lines text[]) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN (SELECT '<pre>' || string_agg(dperm.report_html(l.line, 4000), E'\n' ORDER BY l.n) || '</pre>' FROM unnest(lines) WITH ORDINALITY l (line, n));

-- A picture of what is drawn between two ends of a horizontal axis, with three labels below
CREATE FUNCTION dperm.report_picture(kind text, name text, words text, height bigint, low integer, high integer, labels text[], content text) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- 320 units wide, so that it need not shrink on a telephone; the description is for those who do not see it
	RETURN format(E'<figure><svg role="img" aria-label="%1$s%2$s" viewBox="0 0 320 %3$s" xmlns="http://www.w3.org/2000/svg">\n'
		'<title>%1$s%2$s</title>\n<desc>%4$s</desc>\n<text class="name" x="2" y="12">%5$s</text>\n%6$s%7$s</svg></figure>\n',
		kind, dperm.report_html(name), height + 46, dperm.report_html(words, 4000), dperm.report_html(name, 44), content,
		(SELECT string_agg(format(E'<text x="%s.0" y="%s.0" text-anchor="%s">%s</text>\n', l.x, height + 37, l.anchor, dperm.report_html(l.words, 16)), ''
			ORDER BY l.x) FROM unnest(ARRAY[low, (low + high) / 2, high], '{start,middle,end}'::text[], labels) l (x, anchor, words)));
END $$;

-- Points as a line, with their noise as a band.
-- frame: the ends of x and of y; levels: y that have a line; labels: of the least, the middle and the largest x; dashed: y at the ends of a line
CREATE FUNCTION dperm.report_lines(kind text, name text, words text, height integer, x float8[], y float8[], noise float8[], frame float8[],
	levels float8[], labels text[], dashed float8[] DEFAULT NULL) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (WITH points AS (
		SELECT u.n, dperm.report_place(u.x, frame[1], frame[2], 44, 264) AS x, dperm.report_place(u.y, frame[3], frame[4], 22 + height, - height) AS y,
			dperm.report_place(u.y + u.noise, frame[3], frame[4], 22 + height, - height) AS top,
			dperm.report_place(u.y - u.noise, frame[3], frame[4], 22 + height, - height) AS bottom
		FROM unnest(x, y, noise) WITH ORDINALITY u (x, y, noise, n))
	SELECT dperm.report_picture(kind, name, words, height, 44, 308, labels, concat(
		(SELECT string_agg(format(E'<line class="axis" x1="44.0" y1="%1$s" x2="308.0" y2="%1$s"/>\n<text x="40.0" y="%2$s" text-anchor="end">%3$s</text>\n',
				d.y, d.y + 4, dperm.report_html(dperm.report_digits(l.level, 3), 16)), '' ORDER BY l.n)
			FROM unnest(levels) WITH ORDINALITY l (level, n), LATERAL (SELECT dperm.report_place(l.level, frame[3], frame[4], 22 + height, - height) AS y) d),
		CASE WHEN dashed IS NOT NULL THEN format(E'<line class="limit" x1="44.0" y1="%s" x2="308.0" y2="%s"/>\n',
			dperm.report_place(dashed[1], frame[3], frame[4], 22 + height, - height),
			dperm.report_place(dashed[2], frame[3], frame[4], 22 + height, - height)) END,
		CASE WHEN noise IS NOT NULL THEN format(E'<polygon class="band" points="%s %s"/>\n', string_agg(p.x || ',' || p.top, ' ' ORDER BY p.n),
			string_agg(p.x || ',' || p.bottom, ' ' ORDER BY p.n DESC)) END,
		format(E'<polyline class="line" points="%s"/>\n', string_agg(p.x || ',' || p.y, ' ' ORDER BY p.n)),
		CASE WHEN noise IS NOT NULL THEN string_agg(format(E'<circle class="mark" cx="%s" cy="%s" r="2.5"/>\n', p.x, p.y), '' ORDER BY p.n) END))
	FROM points p);
END $$;

-- Bars to both sides of zero, with lines for their noise; the largest if there are many
CREATE FUNCTION dperm.report_bars(title text, names text[], scores float8[], noise float8[], edge float8) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT dperm.report_picture('Bars of ', title || CASE WHEN cardinality(scores) > 24 THEN format(' (the largest 24 of %s)', cardinality(scores))
			ELSE '' END, string_agg(format('%s: %s, noise %s', b.name, dperm.report_digits(b.score, 3), dperm.report_digits(b.noise, 3)), '; '
				ORDER BY b.place) FILTER (WHERE b.place <= 16) || '.',
			15 * count(*), 112, 312, ARRAY[dperm.report_digits(- edge, 3), '0', dperm.report_digits(edge, 3)],
			format(E'<line class="axis" x1="212.0" y1="22.0" x2="212.0" y2="%s.0"/>\n', 24 + 15 * count(*)) || string_agg(concat(
				format(E'<text x="106.0" y="%s.0" text-anchor="end">%s</text>\n', 15 * b.place + 17, dperm.report_html(b.name, 16)),
				format(E'<rect class="mark" x="%s" y="%s.0" width="%s" height="10"/>\n', least(212.0, d.at), 15 * b.place + 8, abs(d.at - 212)),
				CASE WHEN b.noise > 0 THEN format(E'<line class="halo" x1="%1$s" y1="%2$s.0" x2="%3$s" y2="%2$s.0"/>\n'
					'<line class="noise" x1="%1$s" y1="%2$s.0" x2="%3$s" y2="%2$s.0"/>\n', dperm.report_place(b.score - b.noise, - edge, edge, 112, 200),
					15 * b.place + 13, dperm.report_place(b.score + b.noise, - edge, edge, 112, 200)) END), '' ORDER BY b.place))
		FROM (SELECT u.name, u.score, u.noise, CASE WHEN cardinality(scores) > 24 THEN row_number() OVER (ORDER BY abs(u.score) DESC, u.n)
				ELSE u.n END AS place FROM unnest(names, scores, noise) WITH ORDINALITY u (name, score, noise, n)) b,
			LATERAL (SELECT dperm.report_place(b.score, - edge, edge, 112, 200) AS at) d
		WHERE b.place <= 24);
END $$;

-- A page that needs nothing but itself. sections: id, heading, content; one without content is left out
CREATE FUNCTION dperm.report_page(facts jsonb, notes text, sections jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	-- Nothing is loaded and nothing runs, whatever a text contains. Colours are by the reader's preference; black on white on paper.
	RETURN (SELECT format(E'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
		'<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"/>\n'
		'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n<meta name="color-scheme" content="light dark"/>\n'
		'<meta name="generator" content="dperm %1$s"/>\n<title>%2$s</title>\n<style>\n%3$s</style>\n</head>\n<body>\n<main>\n<header>\n<h1>%2$s</h1>\n'
		'%4$s%5$s%6$s<nav aria-label="Contents"><ul>\n%7$s</ul></nav>\n</header>\n%8$s</main>\n</body>\n</html>\n',
		dperm.report_version(), dperm.report_html(facts ->> 'title'), ':root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --back: #fff; --tile: #f3f5f7; --rule: #d0d7de; --line: #0b5cad;
 --band: #0b5cad33; --alarm: #b42318; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1; --back: #0f1318; --tile: #1a2028; --rule: #3a434d;
 --line: #6cb0f5; --band: #6cb0f540; --alarm: #ff8a80; } }
@page { size: A4; margin: 18mm 16mm; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; margin: 2.25rem 0 .5rem; border-bottom: 1px solid var(--rule); padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p, ul { margin: .5rem 0; } ul { padding-left: 1.25rem; } a { color: var(--line); }
nav ul { columns: 15rem; list-style: none; padding: 0; }
h1, h2, p, li, dd, dt { overflow-wrap: anywhere; }
.soft, caption { color: var(--soft); font-size: .875rem; }
.alarm { color: var(--alarm); font-weight: 600; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .5rem; margin: 1rem 0; }
.tiles div { background: var(--tile); border-radius: .4rem; padding: .6rem .8rem; }
.tiles dt { color: var(--soft); font-size: .8rem; } .tiles dd { margin: 0; font-size: 1.2rem; font-weight: 600; line-height: 1.3; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: .5rem 0; }
caption { text-align: left; padding-bottom: .2rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--rule); min-width: 4rem; max-width: 24rem;
 overflow-wrap: break-word; }
thead th { border-bottom-width: 2px; } .time { white-space: nowrap; }
.facts th { font-weight: 600; width: 28%; min-width: 7rem; } .facts td { max-width: none; overflow-wrap: anywhere; }
.facts .part { padding-top: .9rem; color: var(--soft); font-weight: 400; }
.facts caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
pre { background: var(--tile); border-radius: .4rem; padding: .7rem; font-size: .85rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem; } figure { margin: 0; } .wide { max-width: 27rem; }
svg { display: block; width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--soft); } svg .name { fill: var(--ink); }
.axis { stroke: var(--soft); fill: none; } .mark { fill: var(--line); } .band { fill: var(--band); stroke: var(--line); }
.line { stroke: var(--line); stroke-width: 2; fill: none; stroke-linejoin: round; }
.noise { stroke: var(--ink); } .halo { stroke: var(--back); stroke-width: 2.5; }
.limit { stroke: var(--alarm); stroke-width: 1.5; stroke-dasharray: 5 3; fill: none; }
figure, .tiles, tr, pre { break-inside: avoid; } h2, h3 { break-after: avoid; }
@media print { :root { color-scheme: light; --ink: #000; --soft: #444; } main { max-width: none; padding: 0; } body { font-size: 10.5pt; }
 nav { display: none; } .scroll { overflow: visible; } .pictures { grid-template-columns: repeat(2, 1fr); } table { font-size: 8.5pt; }
 td, th { min-width: 0; overflow-wrap: anywhere; } .tiles div { border: 1px solid var(--rule); } }
', CASE WHEN facts ->> 'purpose' IS NOT NULL THEN dperm.report_paragraph('Purpose: ' || (facts ->> 'purpose')) END,
		dperm.report_paragraph(format('Report of %s by dperm %s, for role %s%s. Times are in UTC.', CURRENT_DATE, dperm.report_version(), CURRENT_USER,
			'. Curator: ' || (facts ->> 'curator')), 'soft'), notes,
		string_agg(format(E'<li><a href="#%s">%s</a></li>\n', s.section ->> 0, s.section ->> 1), '' ORDER BY s.n),
		string_agg(format(E'<section aria-labelledby="%1$s">\n<h2 id="%1$s">%s</h2>\n%s</section>\n', s.section ->> 0, s.section ->> 1, s.section ->> 2), ''
			ORDER BY s.n))
	FROM jsonb_array_elements(sections) WITH ORDINALITY s (section, n) WHERE s.section ->> 2 IS NOT NULL);

-- What is promised. claim: epsilon, delta, unit (null: not known yet), neighbours, released, protected, budget, tuned, kernel

-- A claim with words for its neighbours: what would have been otherwise, what an attacker has, and which tables are neighbours
CREATE FUNCTION dperm.report_claim(claim jsonb) RETURNS jsonb
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN claim || (SELECT jsonb_build_object('otherwise', v.otherwise, 'ideas', v.ideas, 'tables', v.tables)
		FROM (VALUES (true, true, 'had had no label', 'two ideas of one person: that they have certain rows, or that they have no labelled row',
			'Neighbours are two tables with the same number of persons that differ in all rows of one person, who has no labelled row in one of them (remove). '
			'A person is all rows that share a value of the unit column. The number of persons is public, the number of rows is not.'),
		(true, false, 'had held anything else', 'two ideas of what the rows of one person hold',
			'Neighbours are two tables with the same number of persons that differ in all rows of one person (replace). '
			'A person is all rows that share a value of the unit column. The number of persons is public, the number of rows is not.'),
		(false, true, 'had been empty', 'two ideas of one row: that it holds certain values, or is empty',
			'Neighbours are two tables of which one is the other with an empty row in place of one of its rows (remove). '
			'The number of rows is the same, and public.'),
		(false, false, 'had held anything else', 'two ideas of what one row holds',
			'Neighbours are two tables with the same number of rows that differ in what one row holds (replace). The number of rows is public.'))
			v (person, remove, otherwise, ideas, tables)
		WHERE v.person = (claim ->> 'unit' IS NOT DISTINCT FROM 'person') AND v.remove = (claim ->> 'neighbours' IS NOT DISTINCT FROM 'remove'));

-- A guarantee in plain words
CREATE FUNCTION dperm.report_promise(claim jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN (SELECT CASE WHEN p.epsilon = 'Infinity' THEN format(E'<p class="alarm">NOT PRIVATE. %s was computed without noise, and there is no guarantee. '
			'It may reveal what single rows hold: treat it like the rows themselves.</p>\n',
			CASE WHEN claim ->> 'released' = 'the model' THEN 'The model' ELSE 'This' END)
		ELSE concat(
			format(E'<p>Whatever somebody concludes from %1$s, they would have concluded with almost the same probability if %2$s in the data %3$s. '
				'How nearly the same is measured by epsilon. Here it is %4$s: no conclusion becomes more than e<sup>%4$s</sup> = %5$s times as likely, '
				'or as unlikely%6$s. That holds whatever else they know, now or later.</p>\n', claim ->> 'released',
				CASE claim ->> 'unit' WHEN 'person' THEN 'all rows of any one person' WHEN 'row' THEN 'any one row'
					ELSE 'any one row, or all rows of any one person, which is not known yet,' END, claim ->> 'otherwise', p.epsilon,
				CASE WHEN p.epsilon < 600 THEN dperm.report_digits(ceil(exp(p.epsilon) / p.third) * p.third, 4) ELSE 'Infinity' END,
				CASE WHEN p.delta > 0 THEN ', apart from a probability of at most delta = ' || p.delta END),
			CASE WHEN p.epsilon > 10 THEN E'<p class="alarm">An epsilon above 10 is so large that this says next to nothing.</p>\n' END,
			format(E'<p>Suppose that an attacker knows all other rows, and has %s. They raise the alarm if the released numbers speak for one of the two. '
				'However they decide%s:</p>\n', claim ->> 'ideas', CASE WHEN NOT (claim -> 'tuned')::boolean THEN ', and with whatever computers' END),
			-- both bounds of (epsilon, delta), rounded up to a tenth of a percent
			(SELECT dperm.report_table('What an attacker can find out at most', '{false alarms,"true alarms, at most"}',
				jsonb_agg(jsonb_build_array(w.wrong * 100 || ' %',
					to_char(least(1000, ceil(1000 * least(CASE WHEN p.epsilon < 600 THEN exp(p.epsilon) * w.wrong + p.delta ELSE 1 END,
						1 - exp(- least(p.epsilon, 600)) * (1 - w.wrong - p.delta)) - 1e-9)) / 10, 'FM990.0') || ' %') ORDER BY w.wrong))
				FROM unnest('{0.01,0.05,0.1,0.5}'::float8[]) w (wrong))) END
	FROM (SELECT e.epsilon, (claim ->> 'delta')::float8 AS delta, CASE WHEN e.epsilon < 600 THEN power(10, floor(log(exp(e.epsilon))) - 2) END AS third
		FROM (SELECT (claim ->> 'epsilon')::float8 AS epsilon) e) p);

-- What a guarantee assumes, and what it does not cover
CREATE FUNCTION dperm.report_limits(claim jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN (SELECT format(E'<h3>It holds if</h3>\n<ul>\n%s</ul>\n<h3>It does not cover</h3>\n<ul>\n%s</ul>\n'
			'<p>Proofs, and the full lists: docs/guarantee.md of dperm %s, sections Assumptions and Not covered.</p>\n',
			string_agg(i.item, '' ORDER BY v.n) FILTER (WHERE v.n < 20), string_agg(i.item, '' ORDER BY v.n) FILTER (WHERE v.n > 20), dperm.report_version())
		FROM (VALUES
		(1, true, 'The random bits of the operating system are random, and independent of the rows.'),
		(2, true, 'Arithmetic is IEEE 754: doubles, rounded to nearest, without fast-math.'),
		(3, true, 'All that a call computes is computed of the same rows. Those of one server are read once; '
			'passes over rows of other servers are compared by a digest, and rows do not move between servers meanwhile. '
			'Functions in views over rows of other servers are as volatile as they are marked.'),
		(4, true, 'Domains, parameters or their candidates, and priors were chosen without looking at the private rows.'),
		(5, (claim -> 'kernel')::boolean, 'The BLAS rounds equal rows alike, wherever they stand in a block.'),
		(6, (claim -> 'tuned')::boolean, 'Portions for tuning were drawn at random, or by a keyed hash (SipHash-2-4) of what identifies a row. '
			'Then either identities do not depend on what is private, or the hash cannot be told from random draws, '
			'and the guarantee is against computers that cannot tell.'),
		(7, (claim -> 'protected')::boolean, 'Each row of a table that a program fills, or of a materialized view, was made from rows of one unit, '
			'and a partition that is detached keeps its unit.'),
		(8, claim ->> 'unit' IS DISTINCT FROM 'row', 'The unit column identifies the same person everywhere.'),
		(9, (claim -> 'protected')::boolean, 'The same people are behind one budget only.'),
		(10, (claim -> 'budget')::boolean, 'The limits of the budget are never raised above these.'),
		(11, (claim -> 'budget')::boolean, 'What other tools released, and dp_budget_charge was told of, is as private as was charged.'),
		(21, true, 'Access to the rows themselves: whoever can read the table, its backups or the files of the server sees the rows.'),
		(22, claim ->> 'unit' IS DISTINCT FROM 'person', 'Several rows of one person: for somebody with k rows, epsilon is k times as large.'),
		(23, claim ->> 'unit' IS DISTINCT FROM 'person' AND (claim ->> 'delta')::float8 > 0,
			'Nor does delta hold for them: it grows by a factor of more than k.'),
		(24, true, 'Other releases about the same people: the costs of all of them add up. dperm counts those that charge a budget, and no others.'),
		(25, true, 'Time and other side channels: how long a call takes depends on the rows.'),
		(26, true, 'What everybody may know: the number of rows, or of persons, the arguments of the call, and the domains of the columns.'),
		(27, true, 'What is true of everybody: the model may say something about a person that would be just as true had that person not been in the table.'),
		(28, true, 'Predictions for private rows: what the model says about a row is as private as that row.'),
		(29, true, 'The rows of a prior, which are covered by the guarantee of the prior.'),
		(30, true, 'Forgery: a model is not signed. Whoever can edit its text can edit its epsilon. The last section says how to check it.'))
			v (n, holds, words), LATERAL (SELECT E'<li>' || dperm.report_html(v.words, 4000) || E'</li>\n' AS item) i WHERE v.holds);

-- Models

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

-- Columns with their domains in words
CREATE FUNCTION dperm.report_domains(features jsonb) RETURNS TABLE (n bigint, name text, domain text)
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT f.n, coalesce(f.feature ->> 'column', 'vector'), CASE
		WHEN f.feature ->> 'type' IN ('number', 'time') THEN format('%s from %s to %s%s%s', f.feature ->> 'type',
			dperm.report_position(f.feature - 'scale', (f.feature -> 'low')::float8), dperm.report_position(f.feature - 'scale', (f.feature -> 'high')::float8),
			', a curve with ' || k.knots || ' knots', CASE WHEN f.feature ->> 'scale' = 'log' THEN ', on a logarithmic scale' END)
		WHEN f.feature ->> 'type' = 'boolean' THEN 'true or false'
		WHEN f.feature ->> 'type' = 'category' THEN (SELECT format('one of %s: %s%s', count(*), string_agg(v.value, ', ' ORDER BY v.n)
				FILTER (WHERE v.n <= 30), CASE WHEN count(*) > 30 THEN format(', and %s more', count(*) - 30) END)
			FROM jsonb_array_elements_text(f.feature -> 'values') WITH ORDINALITY v (value, n))
		WHEN f.feature ? 'range' THEN format('vector of %s elements, each from %s to %s%s%s', f.feature ->> 'dimension',
			dperm.report_digits((r.range -> 0)::float8, 6), dperm.report_digits((r.range -> 1)::float8, 6), CASE WHEN d.differs THEN ' (the first)' END,
			', curves with ' || k.knots || ' knots')
		ELSE format('vector of %s elements, norm up to %s', f.feature ->> 'dimension', dperm.report_digits((f.feature -> 'norm')::float8, 6)) END
	FROM jsonb_array_elements(features) WITH ORDINALITY f (feature, n),
		LATERAL (SELECT jsonb_typeof(f.feature -> 'range' -> 0) = 'array' AS differs) d,
		LATERAL (SELECT CASE WHEN d.differs THEN f.feature -> 'range' -> 0 ELSE f.feature -> 'range' END AS range) r,
		LATERAL (SELECT CASE jsonb_typeof(f.feature -> 'knots') WHEN 'array' THEN jsonb_array_length(f.feature -> 'knots')
			ELSE (f.feature -> 'knots')::int END AS knots) k;
END;

-- What is said of a model
CREATE FUNCTION dperm.report_facts(model @extschema@.dp_model, title text, purpose text, curator text, evaluation jsonb DEFAULT NULL) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	m jsonb := model::jsonb;
	private boolean := m ->> 'epsilon' <> 'Infinity';
	classes integer := CASE jsonb_typeof(m -> 'weights' -> 0) WHEN 'array' THEN jsonb_array_length(m -> 'weights') END;
	units text := CASE m ->> 'unit' WHEN 'person' THEN 'persons' ELSE 'rows' END;
	label text := coalesce(m ->> 'label', 'an expression') || coalesce(' = ' || (m ->> 'positive'), '');
	source text := coalesce(m ->> 'source', 'the rows of a query');
	-- none: no entry is named; same: the entry released this model; unseen: the caller does not see what it released; other: something else, or nothing
	payment text := CASE WHEN m ? 'ledger' THEN 'unseen' ELSE 'none' END;
	ledger jsonb;
	entry jsonb;
	kept jsonb;
BEGIN
	IF model IS NULL THEN
		RAISE EXCEPTION 'model must not be null' USING ERRCODE = 'null_value_not_allowed',
			HINT = 'A training without rows has no model, nor has a call that failed: use WHERE model IS NOT NULL.';
	ELSIF evaluation IS NOT NULL AND (jsonb_typeof(evaluation) <> 'array' OR (SELECT bool_and(coalesce(e.line ->> 'metric',
			e.line ->> 'true_positive_rate') IS NOT NULL) FROM jsonb_path_query(evaluation, 'lax $[*]') e (line)) IS NOT TRUE) THEN
		RAISE EXCEPTION 'evaluation must be an array of rows of dp_evaluate or dp_roc' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Use (SELECT jsonb_agg(e) FROM dp_evaluate(...) e). Rows of both can be concatenated with ||.';
	END IF;
	IF m ? 'ledger' THEN
		-- what dp_ledger shows the caller of the entry that the model names, and of evaluations of a model that names it
		ledger := (SELECT jsonb_agg(to_jsonb(r) ORDER BY r.at)
			FROM (SELECT l.entry, l.at, l.act, l.role, l.function, l.relation, l.label, l.features, l.parameters, l.purpose, l.neighbours, l.unit,
					l.epsilon, l.delta, l.release, k.model::text AS model, k.metrics, l.budget = p.budget AND l.entry = p.entry AS own
				FROM (SELECT m #>> '{ledger,budget}' AS budget, (m #>> '{ledger,entry}')::bigint AS entry) p,
					@extschema@.dp_ledger l LEFT JOIN @extschema@.dp_releases k ON k.budget = l.budget AND k.entry = l.entry
				WHERE l.budget = p.budget AND l.entry = p.entry OR l.details = format('model: entry %s of budget %I', p.entry, p.budget)) r);
		entry := (SELECT r.row FROM jsonb_array_elements(ledger) r (row) WHERE (r.row -> 'own')::boolean LIMIT 1);
		IF entry ->> 'model' = model::text THEN
			payment := 'same';
		ELSIF entry ->> 'model' IS NOT NULL OR entry ->> 'act' <> 'charge' OR entry ->> 'release' NOT IN ('kept', 'running', 'lost')
				OR entry ->> 'metrics' IS NOT NULL OR entry ->> 'function' IN ('dp_evaluate', 'dp_roc', 'dp_budget_charge') THEN
			payment := 'other';
			entry := NULL;
		END IF;
	END IF;
	IF entry IS NOT NULL THEN
		-- the latest evaluation and the latest curve that the ledger keeps
		kept := (SELECT jsonb_agg(e.line ORDER BY k.function, e.n)
			FROM (SELECT DISTINCT ON (r.row ->> 'function') r.row ->> 'function' AS function, r.row -> 'metrics' AS metrics
				FROM jsonb_array_elements(ledger) WITH ORDINALITY r (row, n)
				WHERE r.row ->> 'function' IN ('dp_evaluate', 'dp_roc') AND r.row ->> 'metrics' IS NOT NULL ORDER BY r.row ->> 'function', r.n DESC) k,
				jsonb_array_elements(k.metrics) WITH ORDINALITY e (line, n));
	END IF;
	RETURN jsonb_build_object('m', m, 'title', coalesce(title, format('Model of %s in %s', label, source)),
		'purpose', coalesce(purpose, entry ->> 'purpose', 'not stated'), 'curator', curator, 'private', private, 'number', m ? 'bounds',
		'units', units, 'count', coalesce(m -> 'persons', m -> 'rows'), 'weights', (m -> 'dimension')::int * coalesce(classes, 1),
		'several', classes IS NOT NULL, 'label', label, 'source', source, 'digest', encode(sha256(convert_to(model::text, 'UTF8')), 'hex'),
		'epsilon', CASE WHEN private THEN (m ->> 'epsilon')::float8::text ELSE 'NOT PRIVATE' END, 'delta', CASE WHEN private THEN (m ->> 'delta')::float8::text END,
		'payment', payment, 'entry', entry, 'rows', ledger, 'given', evaluation IS NOT NULL, 'evaluation', coalesce(evaluation, kept),
		'prior', CASE WHEN m ? 'prior' THEN concat('The weights were drawn towards those of an earlier model, the prior', ', of ' || (m #>> '{prior,source}'), '. ',
			CASE WHEN private THEN format('The guarantee is about the %s of this training. ', units) END,
			CASE WHEN m #>> '{prior,epsilon}' = 'Infinity' THEN 'The prior is NOT PRIVATE: nothing is promised to those that it was trained on.'
				WHEN NOT (m #> '{prior,private}')::boolean
					THEN 'A prior behind the prior is NOT PRIVATE: nothing is promised to those that it was trained on.'
				ELSE format('For those that the prior was trained on, its epsilon %s and delta %s count too; they add up if unit and neighbours are the same.',
					(m #>> '{prior,epsilon}')::float8, (m #>> '{prior,delta}')::float8) END) END,
		'claim', dperm.report_claim(jsonb_build_object('epsilon', m -> 'epsilon', 'delta', m -> 'delta', 'unit', m -> 'unit',
			'neighbours', m -> 'neighbours', 'released', 'the model', 'protected', m ? 'ledger' AND payment <> 'other', 'budget', false,
			'tuned', m ? 'tuning', 'kernel', m ? 'kernel')));
END $$;

-- The record of a model: fields of the registry that differ from those of a budget
CREATE FUNCTION dperm.report_model_record(facts jsonb) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN (SELECT jsonb_build_object('data_product_type', 'Machine learning model',
		'description', format('A %s that predicts %s from %s column%s of %s, with %s weights, trained on %s %s.', f.m ->> 'kind', facts ->> 'label',
			f.columns, CASE WHEN f.columns <> 1 THEN 's' END, facts ->> 'source', facts ->> 'weights', facts ->> 'count', facts ->> 'units'),
		'notes', 'SHA-256 of the text of the model: ' || (facts ->> 'digest'),
		'data_domain', format('Tables of %s %s with the columns %s%s. Values outside of these domains count as the nearest value, or as none.',
			coalesce(f.m #> '{tuning,rows}', f.m #> '{tuning,persons}', facts -> 'count'), facts ->> 'units',
			(SELECT string_agg(format('%s (%s)', d.name, d.domain), '; ' ORDER BY d.n) FROM dperm.report_domains(f.m -> 'features') d WHERE d.n <= 20),
			CASE WHEN f.columns > 20 THEN format('; and %s more', f.columns - 20) END),
		'unprotected_quantities', CASE WHEN f.private THEN format('The number of %s, the arguments of the call, the domains of the columns, and what '
			'follows from these.', facts ->> 'units') ELSE 'Everything: no noise was added.' END,
		'privacy_parameters_details', CASE WHEN f.private THEN format('Epsilon is split into %s for how the minimum moves with the data, %s for the noise '
			'and %s for the release of rounded numbers. %s', dperm.report_digits((f.m #> '{budget,slack}')::float8, 4),
			dperm.report_digits((f.m #> '{budget,noise}')::float8, 4), dperm.report_digits((f.m #> '{budget,release}')::float8, 4),
			CASE WHEN f.delta > 0 THEN 'Delta includes a probability below 2^-64 that the noise is larger than the rounding analysis allows for.'
				ELSE 'Delta is 0 up to a probability below 2^-65 that the noise is larger than the rounding analysis allows for.' END)
			ELSE 'NOT PRIVATE: trained without noise, epsilon is infinite.' END,
		'model_name_details', CASE WHEN f.private THEN 'The rows are in a database, which adds the noise.'
			ELSE 'The rows are in a database. No noise was added.' END,
		'release_type', 'One release', 'data_source_type', 'Static', 'data_source_type_details', 'One set of rows, which all passes have read.',
		'access_type', 'Non-interactive',
		'post_processing', 'None. Predictions follow from the weights. Evaluations are releases of their own.',
		'composition', CASE WHEN f.private THEN concat_ws(' ', format(CASE facts ->> 'payment'
			WHEN 'same' THEN 'Paid by entry %s of the privacy budget %s, before a row was read. The budget limits what all releases about the same people '
				'cost together.'
			WHEN 'unseen' THEN 'The model says that it was paid by entry %s of the privacy budget %s, which keeps no model here, or not for this role.'
			WHEN 'other' THEN 'The model says that it was paid by entry %s of the privacy budget %s, which is NOT so: that entry did not release it.'
			ELSE 'No budget was charged. Each further release about the same rows adds its own epsilon and delta; dp_compose computes what several cost '
				'together.' END, f.m #>> '{ledger,entry}', f.m #>> '{ledger,budget}'), facts ->> 'prior') END,
		'preprocessing_and_hyperparameter_tuning', 'Domains are public, not learnt from rows. ' || format(CASE
			WHEN NOT f.m ? 'tuning' THEN 'Parameters that were not specified follow from public facts: the number of rows or persons, epsilon, delta, '
				'neighbours, the domains and the prior.'
			WHEN NOT f.private THEN 'The parameters were chosen exactly among %s candidates.'
			ELSE 'The parameters were chosen privately among %s candidates, with the %s rule, at the same epsilon and delta.' END,
			jsonb_array_length(f.m #> '{tuning,candidates}'), replace(f.m #>> '{tuning,selection}', '_', '-')),
		'mechanisms', CASE WHEN f.private THEN format('Regularised empirical risk minimisation with %s perturbation (%s loss, lambda %s, effective %s, '
			'%s analysis; Chaudhuri, Monteleoni and Sarwate 2011). %s Then each weight is rounded to a multiple of %s, and gets discrete Laplace noise '
			'with a scale of %s such steps: exact arithmetic, which covers floating point and the solver. Random bits come from the operating system. '
			'Software: dperm; this report is by %s, in PostgreSQL %s.', f.m ->> 'method', f.m ->> 'loss', dperm.report_digits((f.m -> 'lambda')::float8, 6),
			dperm.report_digits((f.m -> 'lambda_effective')::float8, 6), f.m ->> 'analysis',
			format(CASE WHEN f.delta > 0 THEN 'Gaussian noise%2$s, with a scale of %1$s.' ELSE 'Noise with density exp(-N/%1$s), where N is %3$s.' END,
				dperm.report_digits((f.m -> 'noise_scale')::float8, 6),
				CASE WHEN f.m ->> 'noise' = 'shaped' THEN ' in the shape of the encoded columns' END,
				CASE WHEN f.m ->> 'noise' = 'shaped' THEN 'a norm in the shape of the encoded columns' ELSE 'the Euclidean norm' END),
			dperm.report_digits((f.m -> 'grid')::float8, 6), f.m ->> 'release_scale', dperm.report_version(), current_setting('server_version'))
			ELSE 'None: the weights are exact.' END,
		'justification', CASE WHEN f.private THEN 'Proofs for the numbers that are released, rounding and inexact solvers included (docs/guarantee.md), and '
			'an audit with planted faults (docs/audit.md).' END)
	FROM (SELECT facts -> 'm' AS m, (facts -> 'private')::boolean AS private, (facts #> '{m,delta}')::float8 AS delta,
		jsonb_array_length(facts #> '{m,features}') AS columns) f);

-- The record of a budget: fields of the registry that differ from those of a model
CREATE FUNCTION dperm.report_budget_record(facts jsonb) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN jsonb_build_object('data_product_type', 'Interactive API',
		'description', 'Summaries, models and evaluations that analysts make in the database, each charged to a privacy budget before a row is read.',
		'unprotected_quantities', 'The numbers of rows, or of persons, the arguments of calls, the domains of columns, and the time of charges.',
		'privacy_parameters_details', CASE WHEN facts ->> 'account' IS NOT NULL THEN format('Limits of all releases together, the largest that there were '
			'since the first charge; it holds if larger ones are never set, whatever is released. So far, the charges add up to epsilon %s and delta %s.',
			facts #>> '{account,epsilon_spent}', facts #>> '{account,delta_spent}') END,
		'release_type', 'Many releases',
		'release_type_details', 'The budget is never refilled by time. Its owner can raise the limits, which the ledger shows.',
		'data_source_type', 'Dynamic', 'access_type', 'Interactive',
		'access_type_details', 'Analysts spend from grants, and the budget limits what they spend in all. They may work together.',
		'composition', CASE WHEN facts ->> 'account' IS NOT NULL THEN concat_ws(' ', CASE WHEN (facts #> '{claim,delta}')::float8 > 0
			THEN 'A privacy filter: a charge is accepted as long as the sums of epsilon and delta, or the sum of the Renyi divergences at one order, are '
				'within the budget. It holds for any adaptive choice of releases.'
			ELSE 'Sequential composition: the epsilons of all charges are added up, whatever is chosen in the light of earlier results. Each charge adds '
				'a probability below 2^-64 that its noise is larger than the rounding analysis allows for.' END, facts ->> 'former') END,
		'mechanisms', format('Objective and output perturbation for models, discrete Laplace noise for summaries and evaluations: dperm %s, in PostgreSQL %s. '
			'Releases of other tools are charged by dp_budget_charge.', dperm.report_version(), current_setting('server_version')));

-- The fields of the OpenDP Deployments Registry; those with a label are shown as a table on a page, others are shown in other ways
CREATE VIEW dperm.report_fields (n, part, heading, fields, labels) AS VALUES
	(1, 'dp_variant', 'Differential privacy', '{variant_name,data_domain,unprotected_quantities}'::text[],
		'{variant,data domain,unprotected quantities}'::text[]),
	(2, 'privacy_loss', 'Privacy loss', '{privacy_unit,privacy_unit_details,privacy_parameters,privacy_parameters_details}',
		'{unit of privacy,neighbours (adjacency),parameters,parameters in detail}'),
	(3, 'deployment_model', 'Deployment', '{model_name,model_name_details,actors,release_type,release_type_details,data_source_type,'
		'data_source_type_details,access_type,access_type_details}',
		'{model,model in detail,actors and trust,releases,releases in detail,data source,data source in detail,access,access in detail}'),
	(4, 'accounting', 'Accounting', '{composition,post_processing}', '{composition,post-processing}'),
	(5, 'implementation', 'Implementation', '{mechanisms,preprocessing_and_hyperparameter_tuning,justification}',
		'{mechanism and noise,preparation and tuning,justification}'),
	(6, 'basic', NULL, '{name,data_curators,intended_use,data_product_type,data_product_region,description,publication_date}', NULL),
	(7, 'administrative', NULL, '{sources,notes,registry_authors}', NULL);
COMMENT ON VIEW dperm.report_fields IS 'internal to dp_report: the fields of the OpenDP Deployments Registry';

-- A record for the OpenDP Deployments Registry
CREATE FUNCTION dperm.report_record(facts jsonb) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN (WITH record AS MATERIALIZED (
		SELECT CASE WHEN facts ? 'm' THEN dperm.report_model_record(facts) ELSE dperm.report_budget_record(facts) END || jsonb_build_object(
			'name', facts ->> 'title', 'data_curators', jsonb_build_array(coalesce(facts ->> 'curator', 'not stated')),
			'intended_use', coalesce(facts ->> 'purpose', 'not stated'), 'data_product_region', 'not stated',
			'publication_date', left(coalesce(facts #>> '{entry,at}', facts ->> 'since', CURRENT_DATE::text), 10),
			'sources', format('dperm %s: docs/guarantee.md (the proof), docs/audit.md', dperm.report_version()),
			'registry_authors', jsonb_build_array(CURRENT_USER),
			'variant_name', CASE WHEN c.private THEN CASE WHEN (c.claim -> 'delta')::float8 > 0 THEN 'Approximate DP' ELSE 'Pure DP' END END,
			'privacy_unit', CASE WHEN c.private THEN c.claim ->> 'unit' END,
			'privacy_unit_details', CASE WHEN c.private AND c.claim ->> 'unit' IS NOT NULL THEN c.claim ->> 'tables' END,
			'privacy_parameters', CASE WHEN c.private THEN jsonb_build_object('epsilon', c.claim -> 'epsilon', 'delta', c.claim -> 'delta') END,
			'model_name', 'Central',
			-- who could read rows is not known of a model that only says that it was paid for
			'actors', CASE WHEN (c.private OR (c.claim -> 'budget')::boolean) AND facts ->> 'payment' IS DISTINCT FROM 'unseen' THEN CASE
				WHEN (c.claim -> 'protected')::boolean THEN 'The owner of the data and the administrators of the server can read the rows, and are trusted. '
					'Analysts with a grant are not: they choose the calls, run any SQL around them and see results and errors, but no row. '
					'Nobody else who gets a result is trusted either. They may know everything but the data of one unit, and work together.'
				ELSE 'Whoever called dperm can read the rows, and is trusted, and so are the administrators of the server. '
					'Nobody else who gets the result is: they may know everything but the data of one unit, and work together.' END END) AS fields
		FROM (SELECT facts -> 'claim' AS claim, facts #>> '{claim,epsilon}' <> 'Infinity' AS private) c)
	SELECT jsonb_strip_nulls(jsonb_build_object('status', 'Draft', 'tier', 3, 'url_slug', coalesce(nullif(rtrim(left(btrim(regexp_replace(
			lower(facts ->> 'title' COLLATE "C"), '[^a-z0-9]+', '-', 'g'), '-'), 60), '-'), ''), 'untitled'),
		'deployment', (SELECT jsonb_object_agg(p.part, (SELECT jsonb_object_agg(f.field, r.fields -> f.field) FROM unnest(p.fields) f (field)))
			FROM dperm.report_fields p)))
	FROM record r);

-- The guarantee exactly: a record as a table, and its limits
CREATE FUNCTION dperm.report_exactly(facts jsonb, record jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN concat(CASE WHEN facts ? 'm' THEN dperm.report_paragraph(facts #>> '{m,guarantee}') END,
		E'<p class="soft">The fields are those of the OpenDP Deployments Registry; dp_report_data returns them as JSON.</p>\n',
		(SELECT dperm.report_table('Fields of the OpenDP Deployments Registry', NULL, jsonb_agg(l.line ORDER BY p.n, l.n))
			FROM dperm.report_fields p, LATERAL (SELECT 0 AS n, jsonb_build_array(p.heading) AS line
				UNION ALL SELECT f.n, jsonb_build_array(f.label, CASE WHEN f.field = 'privacy_parameters'
					THEN 'epsilon ' || (v.value ->> 'epsilon') || ', delta ' || (v.value ->> 'delta') ELSE v.value #>> '{}' END)
				FROM unnest(p.fields, p.labels) WITH ORDINALITY f (field, label, n),
					LATERAL (SELECT record -> 'deployment' -> p.part -> f.field AS value) v) l WHERE p.labels IS NOT NULL),
		CASE WHEN facts #>> '{claim,epsilon}' <> 'Infinity' THEN dperm.report_limits(facts -> 'claim') END);

-- A picture of what a column adds to the score.
-- scores: what each knot, category or element adds, in order; a straight line and a boolean have a single one
CREATE FUNCTION dperm.report_column(feature jsonb, element integer, names text[], scores float8[], noise float8[], edge float8) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	title text := coalesce(feature ->> 'column', 'vector') || coalesce('[' || element || ']', '');
	knots jsonb := feature -> 'knots';
	range jsonb := CASE WHEN jsonb_typeof(feature #> '{range,0}') = 'array' THEN feature -> 'range' -> (element - 1) ELSE feature -> 'range' END;
	ends float8[];
	x float8[];
BEGIN
	IF feature ->> 'type' IN ('number', 'time') OR element IS NOT NULL THEN
		ends := ARRAY(SELECT CASE WHEN feature ->> 'scale' = 'log' THEN sign(e.at) * ln(1 + abs(e.at)) ELSE e.at END
			FROM unnest(ARRAY[coalesce(feature -> 'low', range -> 0)::float8, coalesce(feature -> 'high', range -> 1)::float8]) e (at) ORDER BY 1);
		x := CASE jsonb_typeof(knots) WHEN 'array' THEN ARRAY(SELECT k.knot::float8 FROM jsonb_array_elements(knots) WITH ORDINALITY k (knot, n) ORDER BY k.n)
			WHEN 'number' THEN ARRAY(SELECT ends[1] + k.n * (ends[2] / (knots::int - 1) - ends[1] / (knots::int - 1))
				FROM generate_series(0, knots::int - 1) k (n) ORDER BY k.n)
			ELSE ARRAY[ends[1], ends[1] / 2 + ends[2] / 2, ends[2]] END;
		IF knots IS NULL THEN
			scores := ARRAY[- scores[1], 0, scores[1]];
			noise := ARRAY[noise[1], 0, noise[1]];
		END IF;
		RETURN dperm.report_lines('Curve of ', title, format('%s. Standard deviation of the noise: up to %s.',
				(SELECT string_agg(format('at %s: %s', dperm.report_position(feature, u.x), dperm.report_digits(u.y, 3)), '; ' ORDER BY u.n)
					FROM unnest(x, scores) WITH ORDINALITY u (x, y, n) WHERE u.n <= 16), dperm.report_digits(noise[1], 3)),
			130, x, scores, noise, ARRAY[ends[1], ends[2], - edge, edge], ARRAY[edge, 0, - edge], ARRAY[dperm.report_position(feature, ends[1]),
				dperm.report_position(feature, ends[1] / 2 + ends[2] / 2), dperm.report_position(feature, ends[2])]);
	ELSIF feature ->> 'type' = 'boolean' THEN
		names := '{true,false}';
		scores := ARRAY[scores[1], - scores[1]];
		noise := ARRAY[noise[1], noise[1]];
	END IF;
	RETURN dperm.report_bars(title, names, scores, noise, edge);
END $$;

-- What each column adds to the score
CREATE FUNCTION dperm.report_columns(model @extschema@.dp_model, facts jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	-- all pictures have one scale, so that columns can be compared; at most 40 are drawn
	RETURN (WITH coefficients AS MATERIALIZED (
		SELECT k.class, k.n AS class_n, c.rank, c.column_name, c.value, c.noise_kind, greatest(-1e300, least(c.score, 1e300)) AS score,
			least(c.score_noise, 1e300) AS noise
		FROM jsonb_array_elements_text(CASE WHEN (facts -> 'several')::boolean THEN facts #> '{m,classes}' ELSE '[null]' END) WITH ORDINALITY k (class, n),
			@extschema@.dp_coefficients(model, k.class) c
		WHERE NOT facts -> 'm' ? 'kernel'),
	weights AS (
		SELECT c.*, f.n AS feature_n, f.feature,
			CASE WHEN f.feature ? 'range' AND f.feature ? 'knots' THEN substring(c.value FROM '^\[(\d+)\]')::int END AS element
		FROM coefficients c
			JOIN jsonb_array_elements(facts #> '{m,features}') WITH ORDINALITY f (feature, n) ON c.column_name IS NOT DISTINCT FROM f.feature ->> 'column'
		WHERE c.column_name IS NOT NULL OR c.value <> 'intercept'),
	scale AS (
		SELECT dperm.report_edge(max(abs(w.score)) + least(max(w.noise), 1.5 * max(abs(w.score)))) AS edge, bool_and(w.noise_kind = 'exact') AS exact
		FROM weights w),
	columns AS (
		SELECT w.class, w.class_n, w.feature, w.element, row_number() OVER (ORDER BY w.class_n, w.feature_n, w.element) AS n, count(*) OVER () AS count,
			array_agg(w.value ORDER BY w.rank) AS names, array_agg(w.score ORDER BY w.rank) AS scores, array_agg(w.noise ORDER BY w.rank) AS noise
		FROM weights w GROUP BY w.class, w.class_n, w.feature_n, w.feature, w.element)
	SELECT CASE WHEN facts -> 'm' ? 'kernel' THEN format(E'<p>The model has a kernel: its %s weights are of random features, which combine all columns, '
			'so there is no picture of a single one.</p>\n', facts ->> 'weights')
		ELSE concat(E'<p>', CASE
			WHEN (facts -> 'number')::boolean THEN 'Each picture shows what a column adds to the prediction, in units of the label. '
			WHEN (facts -> 'several')::boolean THEN 'Each picture shows what a column adds to the score of a class. What the score of one class exceeds '
				'that of another by is the logarithm of the ratio of their probabilities. '
			ELSE 'Each picture shows what a column adds to the score. Above zero it speaks for the positive class, below zero against it. '
				|| CASE WHEN facts #>> '{m,loss}' = 'logistic' THEN 'The score is the logarithm of the odds. ' ELSE '' END END,
			'All pictures have the same scale. ',
			CASE WHEN (facts -> 'private')::boolean THEN format('Bands and thin lines show the noise: %sone standard deviation to both sides, cut at the '
				'edge. ', CASE WHEN s.exact IS NOT TRUE THEN 'about at most ' END) END,
			(SELECT CASE WHEN (facts -> 'number')::boolean THEN format('Without any column the prediction is %s; it is never outside of %s to %s. ',
					dperm.report_digits(c.score, 4), dperm.report_digits((facts #> '{m,bounds,0}')::float8, 6),
					dperm.report_digits((facts #> '{m,bounds,1}')::float8, 6))
				WHEN NOT (facts -> 'several')::boolean THEN format('The intercept adds %s. ', dperm.report_digits(c.score, 3)) END
				FROM coefficients c WHERE c.column_name IS NULL AND c.value = 'intercept' AND c.class_n = 1),
			E'Do not read what is within its noise as a finding.</p>\n',
			(SELECT string_agg(p.pictures, '' ORDER BY p.class_n) FROM (SELECT c.class_n,
				concat('<h3>Class ' || dperm.report_html(c.class) || E'</h3>\n', E'<div class="pictures">\n',
					string_agg(dperm.report_column(c.feature, c.element, c.names, c.scores, c.noise, s.edge), '' ORDER BY c.n), E'</div>\n') AS pictures
				FROM columns c WHERE c.n <= 40 GROUP BY c.class, c.class_n) p),
			(SELECT format(E'<p class="soft">Shown: 40 of %s pictures.</p>\n', c.count) FROM columns c WHERE c.n = 41)) END
	FROM scale s);

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
		FROM (SELECT dperm.report_number(line -> 'value') AS value, dperm.report_number(line -> 'low') AS low, dperm.report_number(line -> 'high') AS high,
				line ->> 'metric' ~ '^(count|(true|false) (positives|negatives))$' AS count) v,
			LATERAL (SELECT power(10::numeric, floor(log(greatest(abs(v.low), abs(v.high), 1e-300)))::int - 3) AS unit) u);
END $$;

-- How good a model is: figures, confusion matrix, metrics and ROC curve
CREATE FUNCTION dperm.report_quality(facts jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN CASE WHEN facts ->> 'evaluation' IS NULL THEN format(E'<p>No evaluation was given. dp_evaluate%s one, at a cost of its own.</p>\n',
		CASE WHEN (facts -> 'number')::boolean THEN ' makes' ELSE ' and dp_roc make' END)
	ELSE (WITH lines AS (
		SELECT e.line, e.n, e.line ->> 'metric' AS metric, e.line ->> 'class' AS class, dperm.report_metric(e.line) AS cell,
			dperm.report_number(e.line -> 'value') AS value, e.line ->> 'metric' ~ '^(count|(true|false) (positives|negatives))$' AS count
		FROM jsonb_array_elements(facts -> 'evaluation') WITH ORDINALITY e (line, n)),
	classes AS (SELECT l.class, row_number() OVER (ORDER BY min(l.n)) AS n FROM lines l WHERE l.metric = 'precision' AND l.class IS NOT NULL GROUP BY 1),
	points AS (SELECT p.x, p.y, row_number() OVER (ORDER BY p.n) AS i, count(*) OVER () AS count, p.line
		FROM (SELECT l.n, l.line, dperm.report_number(l.line -> 'false_positive_rate') AS x, dperm.report_number(l.line -> 'true_positive_rate') AS y
			FROM lines l) p
		WHERE p.x IS NOT NULL AND p.y IS NOT NULL ORDER BY p.n LIMIT 1001),
	sizes AS (SELECT greatest(sum(l.value), 0) AS size FROM lines l WHERE l.count
		GROUP BY CASE WHEN l.metric = 'count' THEN l.class ELSE (l.metric IN ('true positives', 'false negatives'))::text END),
	-- what always the largest class, or always the mean, would get by the same figures, if these tell
	without AS (SELECT v.metric, v.words, dperm.report_digits(v.value, 4) AS value FROM (SELECT max(s.size) / nullif(sum(s.size), 0) AS share FROM sizes s) c,
			(SELECT min(l.value) FILTER (WHERE l.metric = 'r2') AS r2, min(l.value) FILTER (WHERE l.metric = 'root mean square error') AS error FROM lines l) r,
			LATERAL (VALUES ('accuracy', 'always the largest class', c.share), ('root mean square error', 'always the mean',
				CASE WHEN c.share IS NULL AND r.r2 < 1 AND r.error >= 0 THEN r.error / sqrt(1 - r.r2) END)) v (metric, words, value)
		WHERE v.value IS NOT NULL)
	SELECT concat(
		CASE WHEN (facts -> 'given')::boolean
			THEN E'<p>As handed to the report by its caller. An evaluation is a release of its own, with a cost of its own.</p>\n'
			ELSE E'<p>From the ledger: the latest evaluation of a model that names this entry. It has noise, and a cost, of its own.</p>\n' END,
		CASE WHEN bool_or(l.line ->> 'private' = 'false') THEN E'<p class="alarm">These figures are exact, NOT PRIVATE.</p>\n' END,
		-- what matters most, and what is reached without a model
		(SELECT dperm.report_tiles(jsonb_agg(jsonb_build_array(t.name, t.value) ORDER BY t.n, t.name)) FROM (
			SELECT m.n, m.metric AS name, m.cell AS value FROM lines m WHERE m.metric IN ('accuracy', 'error', 'root mean square error')
			UNION ALL SELECT m.n, concat_ws(', ', w.metric, w.words), 'about ' || w.value FROM lines m JOIN without w USING (metric)) t HAVING count(*) > 0),
		CASE WHEN bool_or(l.metric = 'true positives') THEN (SELECT dperm.report_table('Confusion matrix, with 95 % intervals',
				'{label,predicted positive,predicted negative}', jsonb_agg(jsonb_build_array(r.name,
					(SELECT min(m.cell) FROM lines m WHERE m.metric = r.positive), (SELECT min(m.cell) FROM lines m WHERE m.metric = r.negative)) ORDER BY r.n))
			FROM (VALUES (1, 'positive', 'true positives', 'false negatives'), (2, 'negative', 'false positives', 'true negatives'))
				r (n, name, positive, negative)) END,
		CASE WHEN bool_or(l.metric = 'count') THEN (SELECT dperm.report_table('Confusion matrix: labels in rows, predictions in columns',
				ARRAY['label'] || array_agg(c.class ORDER BY c.n), jsonb_agg(jsonb_build_array(c.class) || (SELECT jsonb_agg((SELECT min(m.cell) FROM lines m
					WHERE m.metric = 'count' AND m.class = c.class AND m.line ->> 'predicted' = p.class) ORDER BY p.n)
					FROM classes p WHERE p.n <= 12) ORDER BY c.n))
				|| CASE WHEN max(k.count) > 12 THEN format(E'<p class="soft">Shown: 12 of %s classes.</p>\n', max(k.count)) ELSE '' END
			FROM classes c, (SELECT count(*) AS count FROM classes) k WHERE c.n <= 12) END,
		(SELECT dperm.report_table('Metrics, with 95 % intervals that allow for the noise', '{metric,value (95 % interval)}',
			jsonb_agg(jsonb_build_array(m.metric || coalesce(' of ' || m.class, ''), m.cell) ORDER BY m.n)) FROM lines m WHERE NOT m.count HAVING count(*) > 0),
		(SELECT concat(E'<h3>ROC curve</h3>\n',
				(SELECT format(E'<p>Area under the curve (95 %% interval): %s. 0.5 is guessing, 1 is perfect.</p>\n',
					dperm.report_metric(jsonb_build_object('value', z.line -> 'auc', 'low', z.line -> 'auc_low', 'high', z.line -> 'auc_high')))
					FROM points z WHERE dperm.report_number(z.line -> 'auc') IS NOT NULL ORDER BY z.i DESC LIMIT 1),
				E'<div class="pictures">\n', dperm.report_lines('', 'True positive rate by false positive rate', format('%s; the dashed line is guessing.',
					string_agg(format('%s at %s', round(p.y::numeric, 2), round(p.x::numeric, 2)), '; ' ORDER BY p.i)
						FILTER (WHERE p.i % (least(p.count, 1001) / 16 + 1) = 0)),
					264, array_agg(p.x ORDER BY p.i), array_agg(p.y ORDER BY p.i), NULL, '{0,1,0,1}', '{0,0.5,1}', '{0,0.5,1}', '{0,1}'), E'</div>\n')
			FROM points p HAVING count(*) > 1))
	FROM lines l) END;

-- The entry of the ledger that a model names
CREATE FUNCTION dperm.report_ledger(facts jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN CASE WHEN facts ->> 'payment' = 'none' THEN E'<p>The model names no entry of a ledger: no budget was charged for it.</p>\n'
		ELSE concat(dperm.report_paragraph(format('The model names entry %s of budget %s.', facts #>> '{m,ledger,entry}', facts #>> '{m,ledger,budget}')),
			CASE facts ->> 'payment' WHEN 'same' THEN E'<p>The model that the ledger keeps is exactly this one.</p>\n'
				WHEN 'other' THEN E'<p class="alarm">What was released for it is NOT this model.</p>\n'
				ELSE E'<p>It does not exist here, or what was released for it is not kept, or not visible to this role.</p>\n' END,
			CASE WHEN facts ->> 'entry' IS NOT NULL THEN dperm.report_table('The entry', NULL,
				jsonb_build_array(jsonb_build_array('time', dperm.report_moment(facts #>> '{entry,at}')))
				|| (SELECT jsonb_agg(jsonb_build_array(k.key, facts -> 'entry' ->> k.key) ORDER BY k.n) FROM unnest(
					'{role,function,relation,label,features,parameters,purpose,neighbours,unit,epsilon,delta,release}'::text[]) WITH ORDINALITY k (key, n)))
				|| coalesce((SELECT dperm.report_table('Evaluations whose model names this entry', '{entry,time,role,function,epsilon,delta}',
					jsonb_agg(jsonb_build_array(r.row ->> 'entry', dperm.report_moment(r.row ->> 'at'), r.row ->> 'role', r.row ->> 'function',
						r.row ->> 'epsilon', r.row ->> 'delta') ORDER BY r.n), 'evaluations')
					FROM jsonb_array_elements(facts -> 'rows') WITH ORDINALITY r (row, n) WHERE NOT (r.row -> 'own')::boolean HAVING count(*) > 0), '') END) END;

-- The page of a model
CREATE FUNCTION dperm.report_model(model @extschema@.dp_model, facts jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN (SELECT dperm.report_page(facts, E'<p class="soft">Made from the model, the ledger and what the caller added: no row was read.</p>\n'
			|| dperm.report_tiles(jsonb_build_array(jsonb_build_array('epsilon', facts ->> 'epsilon'),
				jsonb_build_array('delta', coalesce(facts ->> 'delta', 'none')),
				jsonb_build_array('protects', CASE WHEN (facts -> 'private')::boolean THEN facts ->> 'units' ELSE 'nothing' END),
				jsonb_build_array('number of ' || (facts ->> 'units'), facts ->> 'count'), jsonb_build_array('weights', facts ->> 'weights'))),
		jsonb_build_array(
			jsonb_build_array('quality', 'How good it is', dperm.report_quality(facts)),
			jsonb_build_array('columns', 'What the model says', dperm.report_columns(model, facts)),
			jsonb_build_array('released', 'What was released, and about whom', dperm.report_paragraph(r.basic ->> 'description')
				|| dperm.report_table('The release', NULL, jsonb_build_array(jsonb_build_array('predicts', facts ->> 'label'),
					jsonb_build_array('about', facts ->> 'source'), jsonb_build_array('number of ' || (facts ->> 'units'), facts ->> 'count'),
					jsonb_build_array('date', CASE WHEN facts ->> 'entry' IS NOT NULL THEN r.basic ->> 'publication_date' END),
					jsonb_build_array('region', r.basic ->> 'data_product_region'), jsonb_build_array('SHA-256', facts ->> 'digest')))),
			jsonb_build_array('plainly', 'The guarantee in plain words', concat(CASE WHEN facts ->> 'prior' IS NOT NULL THEN
				dperm.report_paragraph(facts ->> 'prior', CASE WHEN NOT (facts #> '{m,prior,private}')::boolean THEN 'alarm' END) END,
				dperm.report_promise(facts -> 'claim'))),
			jsonb_build_array('exactly', 'The guarantee exactly', dperm.report_exactly(facts, r.record)),
			jsonb_build_array('domains', 'Domains', E'<p>The possible values of the columns are public. They were declared, not read from rows.</p>\n'
				|| dperm.report_table('Domains of the columns', NULL, CASE
					WHEN (facts -> 'number')::boolean THEN jsonb_build_array(jsonb_build_array('the label', format('number from %s to %s',
						dperm.report_digits((facts #> '{m,bounds,0}')::float8, 15), dperm.report_digits((facts #> '{m,bounds,1}')::float8, 15))))
					WHEN facts -> 'm' ? 'classes' THEN jsonb_build_array(jsonb_build_array('the label',
						(SELECT format('one of %s classes: %s', count(*), string_agg('"' || c.class || '"', ', ' ORDER BY c.n))
							FROM jsonb_array_elements_text(facts #> '{m,classes}') WITH ORDINALITY c (class, n))))
					ELSE '[]' END || (SELECT jsonb_agg(jsonb_build_array(d.name, d.domain) ORDER BY d.n) FROM dperm.report_domains(facts #> '{m,features}') d),
					'lines')),
			jsonb_build_array('prior', 'The prior', (SELECT E'<p>The plain words say what it means for the guarantee.</p>\n' || dperm.report_table('The prior',
					NULL, jsonb_build_array(jsonb_build_array('trained on', coalesce(p.prior ->> 'source', 'not stated')),
					jsonb_build_array('epsilon', p.prior ->> 'epsilon'), jsonb_build_array('delta', (p.prior ->> 'delta')::float8::text),
					jsonb_build_array('unit', p.prior ->> 'unit'), jsonb_build_array('neighbours', p.prior ->> 'neighbours'),
					jsonb_build_array('norm of its weights', dperm.report_digits((p.prior -> 'norm')::float8, 4)),
					jsonb_build_array('entry of its ledger', p.prior #>> '{ledger,entry}')))
				FROM (SELECT facts #> '{m,prior}' AS prior) p WHERE p.prior IS NOT NULL)),
			jsonb_build_array('ledger', 'The ledger', dperm.report_ledger(facts)),
			jsonb_build_array('check', 'How to check it', E'<p>In the database, with the model in <code>models.model</code>:</p>\n'
				|| dperm.report_statements(ARRAY['-- is this the model of this page? the SHA-256 is above',
					'SELECT encode(sha256(convert_to(model::text, ''UTF8'')), ''hex'') FROM models;',
					'-- the guarantee, written anew from what it states', 'SELECT dp_guarantee(model) FROM models;',
					'-- weights and their noise', 'SELECT c.* FROM models, dp_coefficients(model) c;',
					'-- what several releases cost together', 'SELECT dp_compose(model, 1e-6) FROM models;'] || CASE WHEN facts -> 'm' ? 'ledger' THEN
					ARRAY['-- what was paid for it, and the model that was released then', format('SELECT * FROM dp_ledger WHERE budget = %L AND entry = %s;',
						facts #>> '{m,ledger,budget}', facts #>> '{m,ledger,entry}')] END)
				|| E'\n<p>The proof is in docs/guarantee.md of dperm. <code>make audit</code> looks for faults in the program, and '
				'<code>script/test</code> runs its tests.</p>\n')))
	FROM (SELECT r.record, r.record #> '{deployment,basic}' AS basic FROM dperm.report_record(facts) r (record)) r);

-- Several models side by side
CREATE FUNCTION dperm.report_models(models @extschema@.dp_model[], evaluations jsonb, title text, purpose text, curator text) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF (cardinality(models) BETWEEN 2 AND 4 AND NOT EXISTS (SELECT FROM unnest(models) m (model) WHERE m.model IS NULL)
			AND coalesce(jsonb_typeof(evaluations), 'array') = 'array'
			AND coalesce(jsonb_array_length(evaluations), cardinality(models)) = cardinality(models)) IS NOT TRUE THEN
		RAISE EXCEPTION 'models must be two to four models, and evaluation an array with an evaluation, or null, for each'
			USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Use dp_report(ARRAY[a, b]), and for evaluation jsonb_build_array((SELECT jsonb_agg(e) FROM dp_evaluate(a, ...) e), NULL).';
	END IF;
	RETURN (WITH each AS MATERIALIZED (
		SELECT m.n, f.facts, f.facts -> 'm' AS m, nullif(f.facts -> 'evaluation', 'null') AS evaluation FROM unnest(models) WITH ORDINALITY m (model, n),
			LATERAL (SELECT dperm.report_facts(m.model, NULL, NULL, NULL, nullif(evaluations -> (m.n - 1)::int, 'null')) AS facts) f),
	cells AS (
		SELECT 'quality' AS part, l.i, concat_ws(' of ', l.line ->> 'metric', l.line ->> 'class') AS name, e.n, dperm.report_metric(l.line) AS value
		FROM each e, jsonb_array_elements(e.evaluation) WITH ORDINALITY l (line, i) WHERE l.line ->> 'metric' <> 'count'
		UNION ALL SELECT v.part, v.i, v.name, e.n, v.value FROM each e, LATERAL (VALUES
			('guarantee', 1, 'epsilon', e.facts ->> 'epsilon'), ('guarantee', 2, 'delta', e.facts ->> 'delta'), ('guarantee', 3, 'unit', e.m ->> 'unit'),
			('guarantee', 4, 'neighbours', e.m ->> 'neighbours'), ('guarantee', 5, 'number of units', e.facts ->> 'count'),
			('guarantee', 6, 'in words', e.m ->> 'guarantee'),
			('models', 1, 'kind', e.m ->> 'kind'), ('models', 2, 'loss', e.m ->> 'loss'), ('models', 3, 'predicts', e.facts ->> 'label'),
			('models', 4, 'about', e.facts ->> 'source'), ('models', 5, 'weights', e.facts ->> 'weights'), ('models', 6, 'lambda', e.m ->> 'lambda'),
			('models', 7, 'columns', (SELECT string_agg(d.name, ', ' ORDER BY d.n) FROM dperm.report_domains(e.m -> 'features') d)),
			('models', 8, 'ledger', CASE e.facts ->> 'payment' WHEN 'none' THEN 'no budget was charged' WHEN 'other' THEN 'NOT the model that was released'
				ELSE format('entry %s of budget %s', e.m #>> '{ledger,entry}', e.m #>> '{ledger,budget}') END),
			('models', 9, 'SHA-256', e.facts ->> 'digest')) v (part, i, name, value)),
	-- one line for each fact or metric, one column for each model
	lines AS (
		SELECT c.part, min(c.i) AS i, c.name, jsonb_build_array(c.name) || (SELECT jsonb_agg((SELECT min(v.value) FROM cells v
			WHERE v.part = c.part AND v.name = c.name AND v.n = e.n) ORDER BY e.n) FROM each e) AS line
		FROM cells c GROUP BY c.part, c.name),
	tables AS (
		SELECT l.part, dperm.report_table(CASE l.part WHEN 'quality' THEN 'Metrics, with 95 % intervals that allow for the noise' ELSE 'The ' || rtrim(l.part, 's') || 's' END,
			(SELECT ARRAY['what'] || array_agg('model ' || e.n ORDER BY e.n) FROM each e), jsonb_agg(l.line ORDER BY l.i, l.name)) AS markup
		FROM lines l GROUP BY l.part)
	SELECT dperm.report_page(jsonb_build_object('title', coalesce(title, format('%s models side by side', cardinality(models))), 'purpose', purpose,
			'curator', curator), E'<p class="soft">Made from the models, the ledger and what the caller added: no row was read. '
			'dp_report of one of them says all about it.</p>\n', jsonb_build_array(
		jsonb_build_array('quality', 'How good they are', coalesce(concat(E'<p>Evaluations are releases of their own, with noise and a cost of their own.</p>\n',
			(SELECT string_agg(format(E'<p class="alarm">The figures of model %s are exact, NOT PRIVATE.</p>\n', e.n), '' ORDER BY e.n) FROM each e
				WHERE EXISTS (SELECT FROM jsonb_array_elements(e.evaluation) l (line) WHERE l.line ->> 'private' = 'false'))) || max(t.markup)
				FILTER (WHERE t.part = 'quality'), E'<p>No evaluation was given. dp_evaluate makes one, at a cost of its own.</p>\n')),
		jsonb_build_array('guarantee', 'The guarantees', max(t.markup) FILTER (WHERE t.part = 'guarantee') || E'<p>Epsilons can be compared only if unit '
			'and neighbours are the same. Both models together cost more than each: dp_compose says how much.</p>\n'),
		jsonb_build_array('models', 'The models', max(t.markup) FILTER (WHERE t.part = 'models'))))
	FROM tables t);
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

-- What is said of a budget: what dp_budgets, dp_grants, dp_protected and dp_ledger show the caller, and its largest limits
CREATE FUNCTION dperm.report_account(budget text, title text, purpose text, curator text) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	largest record;
	seen jsonb;
	account jsonb;
BEGIN
	IF budget IS NULL THEN
		RAISE EXCEPTION 'budget must not be null' USING ERRCODE = 'null_value_not_allowed', HINT = 'It is the name of a budget, as in dp_budgets.';
	END IF;
	SELECT s.since, s.last, s.epsilon, s.delta INTO largest FROM dperm.report_largest s WHERE s.budget = $1 ORDER BY s.since DESC LIMIT 1;
	seen := (WITH entries AS MATERIALIZED (
		SELECT l.entry, l.at, l.act, l.role, l.function, l.relation, l.purpose, l.epsilon, l.delta, l.release FROM @extschema@.dp_ledger l
		WHERE l.budget = $1 AND l.entry BETWEEN coalesce(largest.since, 0) AND coalesce(largest.last, l.entry)),
	charges AS (SELECT e.* FROM entries e WHERE e.act = 'charge')
	SELECT jsonb_build_object('budget', $1, 'title', coalesce(title, 'Privacy budget ' || $1), 'purpose', purpose, 'curator', curator,
		'account', (SELECT to_jsonb(b) FROM dperm.dperm_seen_accounts b WHERE b.budget = $1 AND b.since = largest.since ORDER BY b.epsilon_left DESC LIMIT 1),
		'grants', (SELECT jsonb_agg(to_jsonb(g) ORDER BY g.role::text COLLATE "C") FROM @extschema@.dp_grants g WHERE g.budget = $1),
		'protected', (SELECT jsonb_agg(to_jsonb(p) ORDER BY p.relation::text COLLATE "C") FROM @extschema@.dp_protected p WHERE p.budget = $1),
		'spenders', (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.epsilon DESC, s.role)
			FROM (SELECT c.role, count(*) AS charges, sum(c.epsilon) AS epsilon, sum(c.delta) AS delta, min(c.at) AS first, max(c.at) AS last
				FROM charges c GROUP BY c.role) s),
		'entries', (SELECT jsonb_agg(to_jsonb(n) ORDER BY n.entry DESC) FROM (SELECT e.* FROM entries e ORDER BY e.entry DESC LIMIT 100) n),
		'summary', (SELECT jsonb_build_object('relation', r.relation, 'entry', r.entry, 'lines', r.metrics) FROM @extschema@.dp_releases r
			JOIN charges c USING (entry) WHERE r.budget = $1 AND r.function = 'dp_summary' AND r.metrics IS NOT NULL ORDER BY r.entry DESC LIMIT 1),
		'count', (SELECT count(*) FROM entries e), 'since', (SELECT min(e.at) FROM entries e),
		'first', (SELECT min(c.at) FROM charges c), 'last', (SELECT max(c.at) FROM charges c),
		'charged', (SELECT jsonb_agg(jsonb_build_array(date_part('epoch', c.at), c.epsilon) ORDER BY c.at, c.entry) FROM charges c)));
	IF seen ->> 'account' IS NULL AND seen ->> 'entries' IS NULL THEN
		RAISE EXCEPTION 'there is no privacy budget "%" that you may see', $1
			USING ERRCODE = 'undefined_object', HINT = 'dp_budgets lists those that you own or may spend from.';
	END IF;
	account := nullif(seen -> 'account', 'null');
	-- all releases together guarantee the largest limits that there were: docs/guarantee.md, "Limits that change"
	RETURN jsonb_strip_nulls(seen || jsonb_build_object('largest', largest.since,
		'former', CASE WHEN largest.since > 1 THEN format('Entries 1 to %s of the ledger are of budgets of this name that were dropped: what these released '
			'adds up with it.', largest.since - 1) END,
		'claim', dperm.report_claim(jsonb_build_object(
			'epsilon', CASE WHEN account IS NULL THEN '"Infinity"' ELSE to_jsonb(greatest((account ->> 'epsilon')::numeric, largest.epsilon)) END,
			'delta', coalesce(greatest((account ->> 'delta')::numeric, largest.delta), 0), 'unit', account -> 'unit',
			'neighbours', account -> 'neighbours', 'released', 'all releases of this budget together', 'protected', true, 'budget', true,
			'tuned', false, 'kernel', true))));
END $$;

-- Charges over time
CREATE FUNCTION dperm.report_history(facts jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	-- steps: at each charge the sum before it, and the sum after it; at most 400
	RETURN (WITH charges AS (
		SELECT c.n, c.at, c.total, lag(c.total, 1, 0::float8) OVER (ORDER BY c.n) AS before
		FROM (SELECT k.n, (k.charge -> 0)::float8 AS at, sum((k.charge -> 1)::float8) OVER (ORDER BY k.n) AS total, count(*) OVER () AS count
			FROM jsonb_array_elements(facts -> 'charged') WITH ORDINALITY k (charge, n)) c
		WHERE c.n % (c.count / 400 + 1) = 0 OR c.n = c.count),
	steps AS (SELECT c.at, v.total, 2 * c.n + v.i AS n FROM charges c, LATERAL (VALUES (0, c.before), (1, c.total)) v (i, total)),
	ends AS (SELECT min(s.at) AS first, max(s.at) AS last, max(s.total) AS spent, (facts #>> '{account,epsilon}')::float8 AS edge,
		jsonb_array_length(facts -> 'charged') AS count FROM steps s)
	SELECT CASE WHEN e.spent IS NULL THEN E'<p>Nothing was charged that this role may see.</p>\n' ELSE concat(E'<div class="wide">\n',
		dperm.report_lines('', 'Epsilon spent over time', format('%s of %s after %s charges, the dashed line is the limit.',
				dperm.report_digits(e.spent, 4), dperm.report_digits(t.limit, 4), e.count), 130,
			(SELECT array_agg(s.at ORDER BY s.n) || e.last FROM steps s), (SELECT array_agg(s.total ORDER BY s.n) || e.spent FROM steps s), NULL,
			ARRAY[e.first, e.last, 0, t.top], ARRAY[0, t.top],
			ARRAY[dperm.report_moment(facts ->> 'first'), NULL, dperm.report_moment(facts ->> 'last')], ARRAY[t.limit, t.limit]),
		format(E'</div>\n<p class="soft">The sum of the epsilons of %s charges%s.</p>\n', e.count,
			CASE WHEN e.edge IS NOT NULL THEN '; the dashed line is the limit' END)) END
	FROM ends e, LATERAL (SELECT coalesce(e.edge, e.spent) AS limit, dperm.report_edge(greatest(e.edge, e.spent)) AS top) t);

-- Rows of dp_summary as bars, and the quantiles of numbers
CREATE FUNCTION dperm.report_summary(summary jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN (WITH lines AS (SELECT l.n, r.* FROM jsonb_array_elements(summary) WITH ORDINALITY l (line, n),
			jsonb_to_record(l.line) r (column_name text, item text, value text, low text, high text, count float8, count_high float8, share float8)),
	pictures AS (SELECT l.column_name, min(l.n) AS n, dperm.report_bars(l.column_name,
			array_agg(CASE WHEN l.item = 'missing' THEN '(missing)' ELSE coalesce(l.value, concat_ws(' to ', l.low, nullif(l.high, l.low))) END ORDER BY l.n),
			array_agg(l.count ORDER BY l.n), array_agg(l.count_high - l.count ORDER BY l.n), dperm.report_edge(max(l.count_high))) AS picture
		FROM lines l WHERE l.item <> 'quantile' GROUP BY 1),
	quantiles AS (SELECT l.column_name, string_agg(format('%s %%: %s', l.share * 100, coalesce(l.value, 'unknown')), ', ' ORDER BY l.n) AS words
		FROM lines l WHERE l.item = 'quantile' GROUP BY 1)
	SELECT E'<p class="soft">Counts have noise: 95 of 100 are within the lines.</p>\n<div class="pictures">\n' || string_agg(
		'<div>' || p.picture || coalesce(dperm.report_paragraph('Quantiles: ' || q.words || '.', 'soft'), '') || E'</div>\n', '' ORDER BY p.n) || E'</div>\n'
	FROM pictures p LEFT JOIN quantiles q USING (column_name));

-- The page of a budget
CREATE FUNCTION dperm.report_budget(facts jsonb) RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	RETURN dperm.report_page(facts, concat(E'<p class="soft">It shows what this role may see in dp_budgets, dp_grants, dp_protected, dp_ledger '
			'and dp_releases, and the largest limits that there were.</p>\n', CASE WHEN facts ? 'former' THEN dperm.report_paragraph(facts ->> 'former') END,
			CASE WHEN facts ? 'account' THEN concat(
				CASE WHEN facts -> 'account' ? 'dropped' THEN E'<p>The budget was dropped: nothing is charged to it any more.</p>\n' END,
				dperm.report_tiles((SELECT jsonb_agg(jsonb_build_array(v.name, coalesce(facts -> 'account' ->> v.key, 'not known yet')) ORDER BY v.n)
					FROM (VALUES (1, 'epsilon', 'epsilon, limit'), (2, 'epsilon_spent', 'epsilon, charged'), (3, 'epsilon_left', 'epsilon, left'),
					(4, 'delta', 'delta, limit'), (5, 'delta_spent', 'delta, charged'), (6, 'unit', 'protects'), (7, 'neighbours', 'neighbours'),
					(8, 'owner', 'owner')) v (n, key, name))),
				E'<p class="soft">Left is the largest epsilon that a single release without delta can still have, for this role. '
				'With a delta, charges can add up to more than the limit, because many small releases cost less than their sum.</p>\n')
			ELSE E'<p>The balance is not visible to this role.</p>\n' END),
		jsonb_build_array(
			jsonb_build_array('history', 'What was spent over time', dperm.report_history(facts)),
			jsonb_build_array('spenders', 'Who spent what',
				dperm.report_objects('Charges by role', '{role,charges,epsilon,delta,first,last}', facts -> 'spenders', 'spenders')),
			jsonb_build_array('grants', 'Who may spend', E'<p>The owner of the budget, the owners of the protected relations, and roles with a grant. '
				'A limit that is not shown is that of the budget.</p>\n' || dperm.report_objects('Grants',
				'{role,epsilon_granted,epsilon_spent,epsilon_left,delta_granted,delta_spent,delta_left}', facts -> 'grants', 'grants')),
			jsonb_build_array('relations', 'About whom', dperm.report_objects('Protected relations that charge the budget',
				'{relation,unit,columns,domains}', facts -> 'protected', 'protected')),
			jsonb_build_array('look', 'What the rows are like', format(E'<p>The latest summary that this role may see: entry %s, of %s.</p>\n',
				facts -> 'summary' ->> 'entry', dperm.report_html(facts -> 'summary' ->> 'relation')) || dperm.report_summary(facts -> 'summary' -> 'lines')),
			jsonb_build_array('plainly', 'The guarantee in plain words', CASE WHEN facts ? 'account' THEN dperm.report_promise(facts -> 'claim') END),
			jsonb_build_array('exactly', 'The guarantee exactly', dperm.report_exactly(facts, dperm.report_record(facts))),
			jsonb_build_array('ledger', 'The ledger', E'<p>The latest entries come first. Of the charges of others, a role that does not own the budget '
				'sees only who, when and how much.</p>\n' || dperm.report_objects('Entries of the ledger',
				'{entry,at,act,role,function,relation,purpose,epsilon,delta,release}', facts -> 'entries', 'entries', (facts -> 'count')::bigint)),
			jsonb_build_array('check', 'How to check it', E'<p>The charges of a budget add up exactly to what it has spent, and entries are numbered '
				'without gaps. Its owner sees all of them:</p>\n' || dperm.report_statements((SELECT ARRAY[
					format('SELECT * FROM dp_budgets WHERE budget = %L;', b.name), format('SELECT * FROM dp_grants WHERE budget = %L;', b.name),
					format('SELECT sum(epsilon), sum(delta) FROM dp_ledger WHERE act = ''charge'' AND budget = %L%s;', b.name, b.since),
					format('SELECT * FROM dp_ledger WHERE budget = %L%s ORDER BY entry;', b.name, b.since)]
				FROM (SELECT facts ->> 'budget' AS name, CASE WHEN facts ? 'former' THEN ' AND entry >= ' || (facts ->> 'largest') END AS since) b))
				|| E'\n')));

-- What users call. Settings of the session change nothing.

CREATE FUNCTION @extschema@.dp_report(model @extschema@.dp_model, evaluation jsonb DEFAULT NULL, title text DEFAULT NULL, purpose text DEFAULT NULL,
	curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, MDY'
	SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex' SET jit = off
	RETURN dperm.report_model($1, dperm.report_facts($1, $3, $4, $5, $2));
COMMENT ON FUNCTION @extschema@.dp_report(@extschema@.dp_model, jsonb, text, text, text) IS
	'a report on a model as one HTML page: how good it is, pictures of its columns, what was released, the guarantee, and its ledger entry';

CREATE FUNCTION @extschema@.dp_report(models @extschema@.dp_model[], evaluation jsonb DEFAULT NULL, title text DEFAULT NULL,
	purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, MDY'
	SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex' SET jit = off
	RETURN dperm.report_models($1, $2, $3, $4, $5);
COMMENT ON FUNCTION @extschema@.dp_report(@extschema@.dp_model[], jsonb, text, text, text) IS
	'a report on two models side by side, up to four, as one HTML page: their evaluations, guarantees and parameters';

CREATE FUNCTION @extschema@.dp_report(budget text, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, MDY'
	SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex' SET jit = off
	RETURN dperm.report_budget(dperm.report_account($1, $2, $3, $4));
COMMENT ON FUNCTION @extschema@.dp_report(text, text, text, text) IS
	'a report on a privacy budget as one HTML page: its balance, who spent what and when, and grants, as far as you may see them';

CREATE FUNCTION @extschema@.dp_report_data(model @extschema@.dp_model, title text DEFAULT NULL, purpose text DEFAULT NULL,
	curator text DEFAULT NULL) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, MDY'
	SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex' SET jit = off
	RETURN dperm.report_record(dperm.report_facts($1, $2, $3, $4));
COMMENT ON FUNCTION @extschema@.dp_report_data(@extschema@.dp_model, text, text, text) IS
	'a record of a model with the fields of the OpenDP Deployments Registry';

CREATE FUNCTION @extschema@.dp_report_data(budget text, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, MDY'
	SET extra_float_digits = 1 SET quote_all_identifiers = off SET bytea_output = 'hex' SET jit = off
	RETURN dperm.report_record(dperm.report_account($1, $2, $3, $4));
COMMENT ON FUNCTION @extschema@.dp_report_data(text, text, text, text) IS
	'a record of a privacy budget with the fields of the OpenDP Deployments Registry';
