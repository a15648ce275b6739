--
-- Rows as bytes: dperm_row writes what the columns hold, dperm_label what the
-- label is, and the aggregates of passes read both; whatever the bytes are, they
-- only raise what they would raise in every row
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

-- As documented: number, time, boolean, text with its encoding, arrays; a null
-- has its type, too. The first argument says how each column is stored
SELECT dperm.dperm_row('\x05010203040606', 1.5::float8, 2::int2, 3, 4::int8, 0.5::float4, 1e400, 'NaN'::numeric) AS numbers;
SELECT dperm.dperm_row('\x08091208', date '2000-01-03', timestamp '1999-12-31 12:00', timestamptz '2000-01-01 00:00+00', date 'infinity') AS times;
SELECT dperm.dperm_row('\x070707', true, false, NULL::boolean) AS flags;
CREATE TYPE tagged_mood AS ENUM ('sad', 'glad');
CREATE DOMAIN tagged_state AS tagged_mood;
CREATE DOMAIN tagged_number AS int;
SELECT dperm.dperm_row('\x0a0a0b11000000000c0c0c1100000365', 'ab'::text, 'ab '::varchar, 'ab'::char(4), 'ab'::name, 'glad'::tagged_mood, 'sad'::tagged_state, NULL::tagged_mood, '10.0.0.1'::inet) AS texts;
SELECT dperm.dperm_row('\x0d0e0d0d0d0e', '{1,-1}'::float8[], '{1,-1}'::float4[], '{}'::float8[], '{{1}}'::float8[], '{1,NULL}'::float8[], NULL::float4[]) AS vectors;
SELECT dperm.dperm_row('\x02080a0d', NULL::int, NULL::date, NULL::text, NULL::float8[]) AS nulls, dperm.dperm_row('\x02', 7::tagged_number) = dperm.dperm_row('\x02', 7) AS domain,
       dperm.dperm_row('\x020a', 1, 'a'::text) || dperm.dperm_row('\x07', true) = dperm.dperm_row('\x020a07', 1, 'a'::text, true) AS side_by_side;
-- what is too large is null
SELECT dperm.dperm_row('\x0a0a', repeat('x', 131073), 'x'::text) = dperm.dperm_row('\x0a0a', NULL::text, 'x'::text) AS text,
       dperm.dperm_row('\x0d', array_fill(0::float8, ARRAY[20000])) = dperm.dperm_row('\x0d', NULL::float8[]) AS vector, dperm.dperm_row('\x1100000000', repeat('1', 131073)::json) = dperm.dperm_row('\x0a', NULL::text) AS output,
       length(dperm.dperm_row('\x0a', repeat('x', 131068))) AS largest;
-- any type that has a text can be written as that, as by its output function
SELECT bool_and(same) AS outputs FROM (VALUES (dperm.dperm_row('\x1100000000', 7::int2) = dperm.dperm_row('\x0a', '7'::text)), (dperm.dperm_row('\x1100000017', -2) = dperm.dperm_row('\x0a', '-2'::text)),
  (dperm.dperm_row('\x1100000000', 0.50) = dperm.dperm_row('\x0a', '0.50'::text)), (dperm.dperm_row('\x1100000010', true) = dperm.dperm_row('\x0a', 't'::text)), (dperm.dperm_row('\x1100000000', 'glad'::tagged_mood) = dperm.dperm_row('\x0a', 'glad'::text)),
  (dperm.dperm_row('\x1100000b86', '00000000-0000-0000-0000-000000000001'::uuid) = dperm.dperm_row('\x0a', '00000000-0000-0000-0000-000000000001'::text))) v(same);
-- columns that are not stored so, fewer or more of them
SELECT outcomes('dperm.dperm_row(?)', $$ '\x02', 1::int8 | '\x08', timestamp '2000-01-01' | '\x09', timestamptz '2000-01-01' | '\x0a', 1 | '\x02', 'a'::text | '\x0202', 1 | '\x02', 1, 2 | '', 1 | NULL, 1 | '\x00', 1 | '\x63', 1 | '\x1100000017', 1::int8
  '\x11', 1 | '\x0f', '{1}'::int[] | '\x02', VARIADIC ARRAY[1, 2] $$);

-- A label, as a row has it: the domain says kind (two classes, a number, several),
-- the encoding of its values, the type or any, bounds, and the values
CREATE FUNCTION domain_of(kind int, type text DEFAULT NULL, low float8 DEFAULT 0, high float8 DEFAULT 0, VARIADIC classes text[] DEFAULT '{}') RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT set_byte('\x0000', 0, kind) || int4send(coalesce(type::regtype::oid, 0)::int) || float8send(low) || float8send(high) || int4send(cardinality(classes))
    || coalesce((SELECT string_agg(convert_to(c, 'UTF8') || '\x00', '' ORDER BY k) FROM unnest(classes) WITH ORDINALITY u(c, k)), '')
$$;
CREATE TABLE labels AS SELECT i, CASE WHEN i > 1 THEN i % 3 - 1 END AS i4, (i % 3)::int2 AS i2, (i % 3)::int8 << 40 AS i8, CASE i % 5 WHEN 0 THEN 'NaN' ELSE (i % 5 - 2)::float4 END AS f4,
    CASE i % 5 WHEN 0 THEN 'NaN' ELSE (i % 5)::float8 / 10 END AS f8, CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL WHEN 2 THEN 1e400 ELSE 0.10 * (i % 5) END AS nu, (ARRAY['yes', 'no', '', NULL])[1 + i % 4] AS t,
    (ARRAY['yes', 'no', ''])[1 + i % 3]::char(5) AS p, (ARRAY['sad', 'glad', NULL])[1 + i % 3]::tagged_mood AS e, (ARRAY['glad', 'sad'])[1 + i % 2]::tagged_state AS g, CASE WHEN i % 4 > 0 THEN i % 3 > 0 END AS b
  FROM generate_series(1, 6) i;
UPDATE labels SET t = repeat('yes', 70000) WHERE i = 4;
CREATE FUNCTION reads(what text, domain bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT array_agg(dperm.dperm_label(%s, $1) ORDER BY i) FROM labels', what) INTO result USING domain;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT what, positive, type, reads(what, CASE WHEN positive IS NULL THEN domain_of(0, type) ELSE domain_of(0, type, 0, 0, positive) END) FROM (VALUES ('i4', NULL, 'integer'), ('i4', '1', 'integer'), ('i4', '0', NULL), ('i2', '2', 'smallint'), ('i8', '1099511627776', 'bigint'),
  ('f4', NULL, 'real'), ('f4', '1', 'real'), ('f8', '0.1', 'double precision'), ('nu', NULL, 'numeric'), ('nu', '0.3', 'numeric'), ('t', 'yes', 'text'), ('t', '', 'text'), ('t::varchar', 'yes', 'varchar'), ('p', 'yes ', 'character'),
  ('e', 'sad', NULL), ('g', 'glad', NULL), ('b', NULL, NULL), ('b', 'false', 'boolean'), ('i4', '1', 'bigint'), ('t', NULL, 'text'), ('e', NULL, NULL), ('e', 'none', NULL), ('i4', 'yes', NULL), ('ARRAY[i4]', NULL, NULL), ('i4::money', NULL, NULL)) v(what, positive, type);
SELECT reads('nu', domain_of(1, NULL, 0.3, 0.5)) AS numbers, reads('i8', domain_of(1, NULL, 0, 3e12)) AS integers, reads('t', domain_of(1, NULL, 0, 1)) AS text, reads('i4', domain_of(1, NULL, 1, 1)) AS no_bounds,
       reads('p', domain_of(2, NULL, 0, 0, 'no', 'yes', '')) AS classes, reads('e', domain_of(2, NULL, 0, 0, 'glad', 'sad', 'none')) AS none, reads('b', domain_of(2, NULL, 0, 0, 'true', 'false', 'x')) AS boolean;
SELECT what, reads('t', d) FROM (VALUES ('nothing', NULL::bytea), ('empty', ''), ('another kind', set_byte(domain_of(0), 0, 3)), ('one class', domain_of(2, NULL, 0, 0, 'a')), ('twice', domain_of(2, NULL, 0, 0, 'a', 'b', 'a')), ('two positive', domain_of(0, NULL, 0, 0, 'a', 'b')),
  ('no end', substring(domain_of(0, NULL, 0, 0, 'yes') FROM 1 FOR 29)), ('longer', domain_of(0, NULL, 0, 0, 'yes') || '\x00'), ('fewer', set_byte(domain_of(2, NULL, 0, 0, 'a', 'b', 'c'), 25, 4)), ('negative', set_byte(domain_of(2, NULL, 0, 0, 'a', 'b', 'c'), 22, 255)),
  ('another encoding', set_byte(domain_of(0, NULL, 0, 0, 'yes'), 1, 9)), ('no encoding', domain_of(0, NULL, 0, 0, 'jä')), ('not in it', set_byte(set_byte(domain_of(0, NULL, 0, 0, 'ja'), 1, 7), 27, 255))) v(what, d);

-- Requests by hand, as in the test of passes
CREATE FUNCTION request_of(pass_order int, weights float8[], readers bigint[], encoder bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT decode('64707005', 'hex') || set_byte('\x0000', 0, pass_order) || '\x0000' || float8send(0) || '\x00000000' || int8send(0) || int4send(cardinality(weights)) || int4send(cardinality(readers)) || int4send(length(encoder))
    || (SELECT string_agg(float8send(w), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k))
    || CASE pass_order WHEN 4 THEN (SELECT string_agg(float8send(w * 1e-18), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k)) ELSE '' END
    || (SELECT string_agg(int4send(r::int), '' ORDER BY k) FROM unnest(readers) WITH ORDINALITY u(r, k)) || encoder
$$;
CREATE FUNCTION texts(VARIADIC t text[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT int4send(cardinality(t)) || string_agg(int4send(octet_length(w)) || convert_to(w, 'UTF8'), '' ORDER BY k) FROM unnest(t) WITH ORDINALITY u(w, k)
$$;
CREATE FUNCTION block(kind int, name text, rest bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT int4send(length(name)) || name::bytea || set_byte('\x00', 0, least(kind, 4)) || CASE kind WHEN 0 THEN rest || '\x0000' WHEN 1 THEN rest || '\x00'
    WHEN 4 THEN substring(rest FOR 4) || '\x00' || substring(rest FROM 5) WHEN 5 THEN substring(rest FOR 4) || '\x0101' || substring(rest FROM 9) || '\x0100' || int4send(2) ELSE rest END
$$;
-- integer, numeric, timestamp, date, boolean, text, char(n), enum (with a label
-- that there is not), its domain, double precision[], real[], and a box over knots
CREATE FUNCTION request(pass_order int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT request_of(pass_order, (SELECT array_agg(sin(k)) FROM generate_series(1, 31) k), ARRAY[2, 6, 9, 8, 7, 10, 11, 12, 12, 13, 14, 13],
    int4send(12) || block(0, 'i', float8send(0) || float8send(600)) || block(0, 'n', float8send(-1) || float8send(1))
    || block(1, 't', float8send(0) || float8send(30)) || block(1, 'd', float8send(0) || float8send(30)) || block(2, 'b', '')
    || block(3, 'c', texts('red', 'green', 'blue')) || block(3, 'p', texts('ab', 'cd')) || block(3, 'e', texts('glad', 'none', 'sad')) || block(3, 'g', texts('sad'))
    || block(4, 'x', int4send(3) || float8send(2)) || block(4, 'f', int4send(3) || float8send(1)) || block(5, 'u', int4send(5) || int4send(1) || float8send(-1) || float8send(1)) || '\x0100')
$$;
CREATE TABLE tagged AS SELECT i, CASE WHEN i % 11 > 0 THEN 2 * (i % 3 > 0)::int - 1 END::float8 AS y, CASE WHEN i % 17 > 0 THEN (sin(i) * 2)::numeric END AS n,
    CASE i % 13 WHEN 0 THEN '-infinity' WHEN 1 THEN NULL ELSE timestamp '2000-01-02' + i * interval '1 hour' END AS t, date '2000-01-01' + i % 40 AS d, i % 7 > 2 AS b,
    (ARRAY['red', 'green', 'blue', 'other', NULL])[1 + i % 5] AS c, (ARRAY['ab', 'cd', ''])[1 + i % 3]::char(4) AS p,
    (ARRAY['sad', 'glad', NULL])[1 + i % 3]::tagged_mood AS e, (ARRAY['glad', 'sad'])[1 + i % 2]::tagged_state AS g,
    CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN '{1}' WHEN 2 THEN '{1,NULL,2}' WHEN 3 THEN '{NaN,0,0}' ELSE ARRAY[sin(i), -cos(2 * i), -0.0::float8] END AS x,
    ARRAY[sin(i), cos(i), 1]::float4[] AS f, ARRAY[sin(i), cos(i), 1, -2, 'Infinity'] AS u
  FROM generate_series(1, 600) i;
UPDATE tagged SET c = repeat('x', 140000) WHERE i = 77;
CREATE VIEW rows AS SELECT i, y, dperm.dperm_row('\x02060908070a0b0c0c0d0e0d', i, n, t, d, b, c, p, e, g, x, f, u) AS r,
    dperm.dperm_row('\x020609', i, n, t) || dperm.dperm_row('\x08070a0b', d, b, c, p) || dperm.dperm_row('\x0c0c0d0e0d', e, g, x, f, u) AS pieces FROM tagged;
-- the same answer, in whatever pieces
SELECT o AS pass_order, by_pieces = whole AS pieces, dperm.dperm_moments_combine(first, second) = whole OR o < 5 AS combined FROM generate_series(1, 5) o, LATERAL (SELECT request(o) AS q OFFSET 0) q,
  LATERAL (SELECT dperm.dperm_moments_agg(q, y, r) AS whole, dperm.dperm_moments_agg(q, y, pieces) AS by_pieces, dperm.dperm_moments_agg(q, y, r) FILTER (WHERE i <= 300) AS first,
             dperm.dperm_moments_agg(q, y, r) FILTER (WHERE i > 300) AS second FROM rows) s;
-- the rows may be stored
CREATE TABLE stored AS SELECT y, r FROM rows;
SELECT dperm.dperm_moments_agg((SELECT request(2)), y, r) = (SELECT dperm.dperm_moments_agg((SELECT request(2)), y, r) FROM rows) AS stored FROM stored;

-- An enum is read by its labels, whatever its type: those of one query are of two
CREATE TYPE other_mood AS ENUM ('none', 'glad', 'sad');
SELECT dperm.dperm_moments_agg(r, y, a) = dperm.dperm_moments_agg(r, y, b) AS same FROM (SELECT request_of(1, '{0,0,0}', '{12}', int4send(1) || block(3, 'e', texts('glad', 'none', 'sad')) || '\x0000') AS r) r,
  LATERAL (SELECT y, dperm.dperm_row('\x0c', e) AS a, dperm.dperm_row('\x0c', e::text::other_mood) AS b FROM (VALUES (1, 'sad'::tagged_mood), (-1, 'glad'), (1, NULL), (1, 'sad')) v(y, e)) v GROUP BY r.r;

-- What does not fit is refused in the first row, even if it is null
CREATE FUNCTION refused(row_bytes bytea, r bytea DEFAULT request_of(1, '{0,0}', '{2,10}',
  int4send(2) || block(0, 'i', float8send(0) || float8send(1)) || block(3, 'c', texts('a')) || '\x0000')) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM dperm.dperm_moments_step(NULL, r, 1, row_bytes);
  RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION row_of(i int, c text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$ SELECT dperm.dperm_row('\x020a', i, c) $$;
SELECT what, refused(r) FROM (VALUES ('fits', row_of(1, 'a')), ('nulls', row_of(NULL, NULL)), ('another number', dperm.dperm_row('\x061100000000', 1::numeric, 'a'::name)),
  ('time', dperm.dperm_row('\x080a', date '2000-01-01', 'a'::text)), ('null time', dperm.dperm_row('\x080a', NULL::date, 'a'::text)), ('boolean', dperm.dperm_row('\x070a', true, 'a'::text)), ('order', dperm.dperm_row('\x0a02', 'a'::text, 1)),
  ('vector', dperm.dperm_row('\x020d', 1, '{1}'::float8[])), ('fewer', dperm.dperm_row('\x02', 1)), ('more', dperm.dperm_row('\x020a02', 1, 'a'::text, 1)), ('none', ''), ('null', NULL),
  ('another encoding', set_byte(row_of(1, 'a'), 10, 8)), ('in a null, too', set_byte(row_of(1, NULL), 10, 8)),
  ('unknown tag', '\x07'), ('no tag', '\x00'), ('cut off', substring(row_of(1, 'a') FROM 1 FOR 15)), ('longer', set_byte(row_of(1, 'a'), 14, 200)), ('huge', set_byte(row_of(1, 'a'), 11, 255))) v(what, r);
-- any bytes at all: one of these answers, and no other
SELECT DISTINCT refused(CASE WHEN k % 2 = 0 THEN substring(r FROM 1 FOR k % (length(r) + 1)) ELSE r END) COLLATE "C" AS answer
  FROM (SELECT k, set_byte(set_byte(row_of(k, CASE WHEN k % 3 > 0 THEN repeat('a', k % 4) END), k % 11, k * 7919 % 256), k * 31 % 11, k * 104729 / 64 % 256) AS r FROM generate_series(1, 5000) k) s ORDER BY 1;

-- In parallel, too
ALTER TABLE stored SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT dperm.dperm_moments_agg(NULL::bytea, y, r) FROM stored;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- dperm_sample: one row in so many, the same ones each time, by any kind of
-- column
SELECT count(*) FILTER (WHERE a) BETWEEN 800 AND 1200 AS some, count(*) FILTER (WHERE a <> b) AS changed, count(*) FILTER (WHERE a <> c) > 500 AS by_key, count(*) FILTER (WHERE d) AS all
  FROM (SELECT dperm.dperm_sample(1, 10, k, sin(k)) AS a, dperm.dperm_sample(1, 10, k, sin(k)) AS b, dperm.dperm_sample(2, 10, k, sin(k)) AS c,
    dperm.dperm_sample(1, 1, k) AS d FROM generate_series(1, 10000) k) s;
SELECT count(*) FILTER (WHERE dperm.dperm_sample(1, 4, CASE WHEN k % 2 = 0 THEN k END, k::numeric, k::text, ARRAY[k], to_jsonb(k), ('sad'::tagged_mood), ('x' || k)::name, k % 2 = 0, point(k, k), repeat(k::text, 100000)))
  BETWEEN 150 AND 350 AS some FROM generate_series(1, 1000) k;
SELECT dperm.dperm_sample(NULL, 2, 1);
SELECT dperm.dperm_sample(1, 0, 1);
SELECT dperm.dperm_sample(1, NULL, 1);

DROP VIEW rows;
DROP TABLE tagged, stored, labels;
DROP FUNCTION domain_of, reads, refused, row_of, request, request_of, texts, block;
DROP DOMAIN tagged_state, tagged_number;
DROP TYPE tagged_mood, other_mood;
