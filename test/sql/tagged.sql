--
-- Rows as bytes: dperm_row writes what the columns hold, and
-- dperm_moments_row_agg reads it as dperm_moments_agg reads the columns, bit
-- for bit; whatever the bytes are, they only raise what they would raise in
-- every row
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

-- As documented: number, time, boolean, text with its encoding, arrays; a null
-- has its type, too
SELECT dperm.dperm_row(1.5::float8, 2::int2, 3, 4::int8, 0.5::float4, 1e400, 'NaN'::numeric) AS numbers;
SELECT dperm.dperm_row(date '2000-01-03', timestamp '1999-12-31 12:00', timestamptz '2000-01-01 00:00+00', date 'infinity') AS times;
SELECT dperm.dperm_row(true, false, NULL::boolean) AS flags;
CREATE TYPE tagged_mood AS ENUM ('sad', 'glad');
CREATE DOMAIN tagged_state AS tagged_mood;
CREATE DOMAIN tagged_number AS int;
SELECT dperm.dperm_row('ab'::text, 'ab '::varchar, 'ab'::char(4), 'ab'::name, 'glad'::tagged_mood, 'sad'::tagged_state, NULL::tagged_mood, 'literal', '10.0.0.1'::inet) AS texts;
SELECT dperm.dperm_row('{1,-1}'::float8[], '{1,-1}'::float4[], '{1,-1}'::int[], '{1.5}'::numeric[], '{}'::float8[], '{{1}}'::float8[], '{1,NULL}'::float8[], NULL::float4[]) AS vectors;
SELECT dperm.dperm_row(NULL::int, NULL::date, NULL::text, NULL::float8[]) AS nulls, dperm.dperm_row(7::tagged_number) = dperm.dperm_row(7) AS domain,
       dperm.dperm_row(1, 'a'::text) || dperm.dperm_row(true) = dperm.dperm_row(1, 'a'::text, true) AS side_by_side;
-- what is too large is null
SELECT dperm.dperm_row(repeat('x', 131073), 'x'::text) = dperm.dperm_row(NULL::text, 'x'::text) AS text,
       dperm.dperm_row(array_fill(0::float8, ARRAY[20000])) = dperm.dperm_row(NULL::float8[]) AS vector, dperm.dperm_row(repeat('1', 131073)::json) = dperm.dperm_row(NULL::text) AS output,
       length(dperm.dperm_row(repeat('x', 131068))) AS largest;
SELECT dperm.dperm_row(VARIADIC ARRAY[1, 2]);
\echo :LAST_ERROR_SQLSTATE

-- Requests by hand, as in the test of passes
CREATE FUNCTION request_of(pass_order int, weights float8[], readers bigint[], encoder bytea) RETURNS dperm.dperm_moments
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT translate(encode(decode('6470706173730003', 'hex') || int8send(pass_order) || int8send(0) || float8send(0)
    || int8send(cardinality(weights)) || int8send(cardinality(readers)) || int8send(length(encoder))
    || int8send(0) || float8send(0) || float8send(0) || int8send(0) || int8send(0) || int8send(0) || int8send(0)
    || (SELECT string_agg(float8send(w), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k))
    || CASE pass_order WHEN 4 THEN (SELECT string_agg(float8send(w * 1e-18), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k)) ELSE '' END
    || (SELECT string_agg(int8send(r), '' ORDER BY k) FROM unnest(readers) WITH ORDINALITY u(r, k))
    || encoder || decode(repeat('00', -length(encoder) & 7), 'hex'), 'base64'), E'\n', '')::dperm.dperm_moments
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
CREATE FUNCTION request(pass_order int) RETURNS dperm.dperm_moments LANGUAGE sql IMMUTABLE AS $$
  SELECT request_of(pass_order, (SELECT array_agg(sin(k)) FROM generate_series(1, 31) k), ARRAY[2, 6, 9, 8, 7, 10, 11, 12, 12, 13, 14, 13],
    int4send(12) || block(0, 'i', float8send(0) || float8send(600)) || block(0, 'n', float8send(-1) || float8send(1))
    || block(1, 't', float8send(0) || float8send(30)) || block(1, 'd', float8send(0) || float8send(30)) || block(2, 'b', '')
    || block(3, 'c', texts('red', 'green', 'blue')) || block(3, 'p', texts('ab', 'cd')) || block(3, 'e', texts('glad', 'none', 'sad')) || block(3, 'g', texts('sad'))
    || block(4, 'x', int4send(3) || float8send(2)) || block(4, 'f', int4send(3) || float8send(1)) || block(5, 'u', int4send(5) || int4send(1) || float8send(-1) || float8send(1)) || '\x0100')
$$;
CREATE TABLE tagged AS SELECT i, CASE WHEN i % 11 > 0 THEN i % 3 > 0 END AS y, CASE WHEN i % 17 > 0 THEN (sin(i) * 2)::numeric END AS n,
    CASE i % 13 WHEN 0 THEN '-infinity' WHEN 1 THEN NULL ELSE timestamp '2000-01-02' + i * interval '1 hour' END AS t, date '2000-01-01' + i % 40 AS d, i % 7 > 2 AS b,
    (ARRAY['red', 'green', 'blue', 'other', NULL])[1 + i % 5] AS c, (ARRAY['ab', 'cd', ''])[1 + i % 3]::char(4) AS p,
    (ARRAY['sad', 'glad', NULL])[1 + i % 3]::tagged_mood AS e, (ARRAY['glad', 'sad'])[1 + i % 2]::tagged_state AS g,
    CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN '{1}' WHEN 2 THEN '{1,NULL,2}' WHEN 3 THEN '{NaN,0,0}' ELSE ARRAY[sin(i), -cos(2 * i), -0.0::float8] END AS x,
    ARRAY[sin(i), cos(i), 1]::float4[] AS f, ARRAY[sin(i), cos(i), 1, -2, 'Infinity'] AS u
  FROM generate_series(1, 600) i;
UPDATE tagged SET c = repeat('x', 140000) WHERE i = 77;
-- the same answer, whichever way the columns come, and in whatever pieces
SELECT pass_order, dperm.dperm_moments_send(by_row) = dperm.dperm_moments_send(by_columns) AS same, dperm.dperm_moments_send(by_pieces) = dperm.dperm_moments_send(by_columns) AS pieces,
       dperm.dperm_moments_send(by_record) = dperm.dperm_moments_send(by_columns) AS record, dperm.dperm_moments_send(dperm.dperm_moments_combine(first, second)) = dperm.dperm_moments_send(dperm.dperm_moments_combine(first_columns, second)) AS combined
  FROM generate_series(1, 5) pass_order, LATERAL (SELECT request(pass_order) AS r OFFSET 0) r,
  LATERAL (SELECT dperm.dperm_moments_agg(r, y, i, n, t, d, b, c, p, e, g, x, f, u) AS by_columns, dperm.dperm_moments_row_agg(r, y, dperm.dperm_row(i, n, t, d, b, c, p, e, g, x, f, u)) AS by_row,
             dperm.dperm_moments_row_agg(r, y, dperm.dperm_row(i, n, t, d, b, c) || dperm.dperm_row(p, e, g) || dperm.dperm_row(x, f, u)) AS by_pieces, dperm.dperm_moments_agg(r, y, ROW(i, n, t, d, b, c, p, e, g, x, f, u)) AS by_record,
             dperm.dperm_moments_row_agg(r, y, dperm.dperm_row(i, n, t, d, b, c, p, e, g, x, f, u)) FILTER (WHERE i <= 300) AS first, dperm.dperm_moments_agg(r, y, i, n, t, d, b, c, p, e, g, x, f, u) FILTER (WHERE i <= 300) AS first_columns,
             dperm.dperm_moments_row_agg(r, y, dperm.dperm_row(i, n, t, d, b, c, p, e, g, x, f, u)) FILTER (WHERE i > 300) AS second FROM tagged) s;
-- the rows may be stored
CREATE TABLE stored AS SELECT y, dperm.dperm_row(i, n, t, d, b, c, p, e, g, x, f, u) AS r FROM tagged;
SELECT dperm.dperm_moments_send(dperm.dperm_moments_row_agg((SELECT request(2)), y, r)) = (SELECT dperm.dperm_moments_send(dperm.dperm_moments_agg((SELECT request(2)), y, i, n, t, d, b, c, p, e, g, x, f, u)) FROM tagged) AS stored FROM stored;
-- other types with the same values
SELECT dperm.dperm_moments_send(dperm.dperm_moments_row_agg((SELECT request(2)), y, dperm.dperm_row(i::float8, n, t AT TIME ZONE 'UTC', d::timestamp, b, c::varchar, p::text, e::text, g::text, x, f, u))) =
       dperm.dperm_moments_send(dperm.dperm_moments_agg((SELECT request(2)), y, i, n, t, d, b, c, p, e, g, x, f, u)) AS same FROM tagged;

-- An enum is read by its labels, in one call after the other, whatever their
-- types
CREATE TYPE other_mood AS ENUM ('none', 'glad', 'sad');
CREATE FUNCTION two_enums() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  r dperm.dperm_moments := request_of(1, '{0,0,0}', '{12}', int4send(1) || block(3, 'e', texts('glad', 'none', 'sad')) || '\x0000');
  mixed dperm.dperm_moments;
  apart dperm.dperm_moments;
BEGIN
  FOR k IN 1..3 LOOP
    mixed := dperm.dperm_moments_step(mixed, r, true, 'sad'::tagged_mood);
    mixed := dperm.dperm_moments_step(mixed, r, false, 'glad'::other_mood);
    mixed := dperm.dperm_moments_step(mixed, r, true, ROW('none'::other_mood));
    mixed := dperm.dperm_moments_step(mixed, r, true, ROW('sad'::tagged_mood));
    mixed := dperm.dperm_moments_step(mixed, r, true, dperm.dperm_row('sad'::other_mood));
  END LOOP;
  SELECT dperm.dperm_moments_agg(r, y, e) INTO apart FROM generate_series(1, 3) k,
    LATERAL (VALUES (true, 'sad'::other_mood), (false, 'glad'), (true, 'none'), (true, 'sad'), (true, 'sad')) v(y, e);
  -- the gradients: at weights 0 their sums are exact in any order
  RETURN substring(dperm.dperm_moments_send(mixed) FROM 8 * 15 + 1 FOR 48) = substring(dperm.dperm_moments_send(apart) FROM 8 * 15 + 1 FOR 48);
END $$;
SELECT two_enums();
-- and in one aggregate, whose records change their type from row to row
SELECT substring(dperm.dperm_moments_send(dperm.dperm_moments_agg(r, true, CASE WHEN k % 2 = 0 THEN ROW('sad'::tagged_mood) ELSE ROW('glad'::other_mood) END)) FROM 8 * 15 + 1 FOR 48) =
       substring(dperm.dperm_moments_send(dperm.dperm_moments_agg(r, true, CASE WHEN k % 2 = 0 THEN 'sad'::other_mood ELSE 'glad' END)) FROM 8 * 15 + 1 FOR 48) AS same
  FROM generate_series(1, 60) k, (SELECT request_of(1, '{0,0,0}', '{12}', int4send(1) || block(3, 'e', texts('glad', 'none', 'sad')) || '\x0000') AS r) r;

-- What does not fit is refused in the first row, even if it is null
CREATE FUNCTION refused(row_bytes bytea, r dperm.dperm_moments DEFAULT request_of(1, '{0,0}', '{2,10}',
  int4send(2) || block(0, 'i', float8send(0) || float8send(1)) || block(3, 'c', texts('a')) || '\x0000')) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  m dperm.dperm_moments;
BEGIN
  m := dperm.dperm_moments_step(NULL, r, true, row_bytes);
  RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT what, refused(r) FROM (VALUES ('fits', dperm.dperm_row(1, 'a'::text)), ('nulls', dperm.dperm_row(NULL::int, NULL::text)), ('another number', dperm.dperm_row(1::numeric, 'a'::name)),
  ('time', dperm.dperm_row(date '2000-01-01', 'a'::text)), ('null time', dperm.dperm_row(NULL::date, 'a'::text)), ('boolean', dperm.dperm_row(true, 'a'::text)), ('order', dperm.dperm_row('a'::text, 1)),
  ('vector', dperm.dperm_row(1, '{1}'::float8[])), ('fewer', dperm.dperm_row(1)), ('more', dperm.dperm_row(1, 'a'::text, 1)), ('none', ''), ('null', NULL),
  ('another encoding', set_byte(dperm.dperm_row(1, 'a'::text), 10, 8)), ('in a null, too', set_byte(dperm.dperm_row(1, NULL::text), 10, 8)),
  ('unknown tag', '\x07'), ('no tag', '\x00'), ('cut off', substring(dperm.dperm_row(1, 'a'::text) FROM 1 FOR 15)), ('longer', set_byte(dperm.dperm_row(1, 'a'::text), 14, 200)), ('huge', set_byte(dperm.dperm_row(1, 'a'::text), 11, 255))) v(what, r);
-- any bytes at all: one of these answers, and no other
SELECT DISTINCT refused(CASE WHEN k % 2 = 0 THEN substring(r FROM 1 FOR k % (length(r) + 1)) ELSE r END) COLLATE "C" AS answer
  FROM (SELECT k, set_byte(set_byte(dperm.dperm_row(k, CASE WHEN k % 3 > 0 THEN repeat('a', k % 4) END), k % 11, k * 7919 % 256), k * 31 % 11, k * 104729 / 64 % 256) AS r FROM generate_series(1, 5000) k) s ORDER BY 1;

-- What is in an answer, whatever it says about columns and labels
CREATE FUNCTION word(s bytea, n int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT ('x' || encode(substring(s FROM 8 * n + 1 FOR 8), 'hex'))::bit(64)::bigint $$;
CREATE FUNCTION sums(m dperm.dperm_moments) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT overlay(substring(s FROM 1 FOR length(s) - 8 * (word(s, 5) + (word(s, 6) + 7) / 8 + (greatest(word(s, 11) & 16777215, 1) + 6) / 8)::int) PLACING int8send(0) FROM 8 * 11 + 1) FROM dperm.dperm_moments_send(m) s
$$;
-- Texts by the output of any type, which the request may name if it is built
-- in: those that dperm_text has
CREATE TABLE outputs AS SELECT i, CASE WHEN i % 11 > 0 THEN i % 3 > 0 END AS y, (i % 4)::int2 AS s, i % 5 - 2 AS k, CASE WHEN i % 7 > 0 THEN i % 3 END::int8 AS l, (i % 4)::numeric / 2 AS n, i % 2 = 0 AS b,
    format('00000000-0000-0000-0000-00000000000%s', i % 3)::uuid AS u, (ARRAY['sad', 'glad', NULL])[1 + i % 3]::tagged_mood AS e, (ARRAY['ab', 'cd'])[1 + i % 2]::char(4) AS p, inet '10.0.0.1' + i % 3 AS h
  FROM generate_series(1, 300) i;
CREATE FUNCTION output_request(pass_order int, readers bigint[]) RETURNS dperm.dperm_moments LANGUAGE sql IMMUTABLE AS $$
  SELECT request_of(pass_order, (SELECT array_agg(sin(k)) FROM generate_series(1, 18) k), readers,
    int4send(9) || block(3, 's', texts('0', '3')) || block(3, 'k', texts('-2', '1')) || block(3, 'l', texts('2')) || block(3, 'n', texts('0.50000000000000000000', '1.0000000000000000', '0.00000000000000000000'))
    || block(3, 'b', texts('t')) || block(3, 'u', texts('00000000-0000-0000-0000-000000000001')) || block(3, 'e', texts('glad', 'sad')) || block(3, 'p', texts('ab', 'cd')) || block(3, 'h', texts('10.0.0.1', '10.0.0.2', '10.0.0.3')) || '\x0100')
$$;
SELECT pass_order, sums(raw) = sums(texts) AS raw, sums(typed) = sums(texts) AS typed, sums(record) = sums(texts) AS record, sums(as_text) = sums(texts) AS as_text, sums(as_row) = sums(texts) AS as_row,
       dperm.dperm_moments_send(raw) <> dperm.dperm_moments_send(typed) AS apart
  FROM generate_series(1, 5) pass_order, LATERAL (SELECT output_request(pass_order, '{17,17,17,17,17,17,17,17,17}') AS r,
    output_request(pass_order, (SELECT array_agg(17 + (t::bigint << 32) ORDER BY k) FROM unnest('{21,23,20,1700,16,2950,0,1042,869}'::oid[]) WITH ORDINALITY x(t, k))) AS t,
    output_request(pass_order, '{10,10,10,10,10,10,10,10,10}') AS o OFFSET 0) q,
  LATERAL (SELECT dperm.dperm_moments_agg(r, y, s, k, l, n, b, u, e, p, h) AS raw, dperm.dperm_moments_agg(t, y, s, k, l, n, b, u, e, p, h) AS typed, dperm.dperm_moments_agg(r, y, ROW(s, k, l, n, b, u, e, p, h)) AS record,
      dperm.dperm_moments_agg(o, y, dperm.dperm_text(s), dperm.dperm_text(k), dperm.dperm_text(l), dperm.dperm_text(n), dperm.dperm_text(b), dperm.dperm_text(u), dperm.dperm_text(e), rtrim(p), dperm.dperm_text(h)) AS texts,
      dperm.dperm_moments_agg(r, y, dperm.dperm_text(s), k, dperm.dperm_text(l), dperm.dperm_text(n), dperm.dperm_text(b), u, e::text, p, dperm.dperm_text(h)) AS as_text,
      dperm.dperm_moments_row_agg(r, y, dperm.dperm_row(dperm.dperm_text(s), dperm.dperm_text(k), dperm.dperm_text(l), dperm.dperm_text(n), dperm.dperm_text(b), u, e, p, h)) AS as_row FROM outputs) a;
-- a value that is too large is no category, and is not fetched
SELECT sums(dperm.dperm_moments_agg(r, true, t)) = sums(dperm.dperm_moments_agg(r, true, NULL::text)) AS too_large FROM (SELECT repeat('x', 140000) AS t) t, (SELECT request_of(1, '{1}', '{17}', int4send(1) || block(3, 'c', texts('a')) || '\x0000') AS r) r;
-- another type than the one that the request is about may write the same value
-- in another way; types of vectors and bytes have no text
\set VERBOSITY terse
SELECT dperm.dperm_moments_agg(r, true, 1::int8) FROM (SELECT request_of(1, '{1}', ARRAY[17 + (23::bigint << 32)], int4send(1) || block(3, 'c', texts('1')) || '\x0000') AS r) r;
SELECT dperm.dperm_moments_agg(r, true, '1'::text) FROM (SELECT request_of(1, '{1}', ARRAY[17 + (23::bigint << 32)], int4send(1) || block(3, 'c', texts('1')) || '\x0000') AS r) r;
SELECT dperm.dperm_moments_agg(r, true, '{1}'::float8[]) FROM (SELECT request_of(1, '{1}', '{17}', int4send(1) || block(3, 'c', texts('1')) || '\x0000') AS r) r;
SELECT dperm.dperm_moments_agg(r, true, '\x00'::bytea) FROM (SELECT request_of(1, '{1}', '{17}', int4send(1) || block(3, 'c', texts('1')) || '\x0000') AS r) r;
SELECT dperm.dperm_moments_agg(r, true, '1 day'::interval) FROM (SELECT request_of(1, '{1}', '{17}', int4send(1) || block(3, 'c', texts('1')) || '\x0000') AS r) r;
SELECT request_of(1, '{1}', ARRAY[17 + (10000::bigint << 32)], int4send(1) || block(3, 'c', texts('1')) || '\x0000');
SELECT request_of(1, '{1}', ARRAY[10 + (25::bigint << 32)], int4send(1) || block(3, 'c', texts('1')) || '\x0000');

-- Labels that are read as the request says, as dperm_label reads them
CREATE FUNCTION labelled(m dperm.dperm_moments, positive text, type oid DEFAULT 0, encoding int DEFAULT 0) RETURNS dperm.dperm_moments LANGUAGE sql IMMUTABLE AS $$
  SELECT translate(encode(overlay(dperm.dperm_moments_send(m) PLACING int8send(coalesce(octet_length(p) + 1, 0) + (encoding::bigint << 24) + (type::bigint << 32)) FROM 8 * 11 + 1)
    || coalesce(p || decode(repeat('00', -octet_length(p) & 7), 'hex'), ''), 'base64'), E'\n', '')::dperm.dperm_moments FROM (SELECT convert_to(positive, 'UTF8') AS p) p
$$;
CREATE TABLE labels AS SELECT i, i % 7 AS n, CASE WHEN i % 13 > 0 THEN i % 3 - 1 END AS i4, (i % 3)::int2 AS i2, (i % 3)::int8 << 40 AS i8, CASE i % 5 WHEN 0 THEN 'NaN' ELSE (i % 5 - 2)::float4 END AS f4,
    CASE i % 5 WHEN 0 THEN 'NaN' ELSE (i % 5)::float8 / 10 END AS f8, CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL WHEN 2 THEN 1e400 ELSE 0.10 * (i % 5) END AS nu, (ARRAY['yes', 'no', '', NULL])[1 + i % 4] AS t,
    (ARRAY['yes', 'no', ''])[1 + i % 3]::char(5) AS p, (ARRAY['sad', 'glad', NULL])[1 + i % 3]::tagged_mood AS e, (ARRAY['glad', 'sad'])[1 + i % 2]::tagged_state AS g, CASE WHEN i % 4 > 0 THEN i % 3 > 0 END AS b
  FROM generate_series(1, 300) i;
UPDATE labels SET t = repeat('yes', 70000) WHERE i = 100;
CREATE FUNCTION reads(what text, positive text, type text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  r dperm.dperm_moments := request_of(2, '{0.5,0.25}', '{2}', int4send(1) || block(0, 'n', float8send(0) || float8send(6)) || '\x0100');
  same boolean;
BEGIN
  EXECUTE format('SELECT sums(dperm.dperm_moments_agg($1, %1$s, n)) = sums(dperm.dperm_moments_agg($2, dperm.dperm_label(%1$s, $3), n)) AND sums(dperm.dperm_moments_agg($1, %1$s, ROW(n))) = sums(dperm.dperm_moments_agg($2, dperm.dperm_label(%1$s, $3), n))
    AND dperm.dperm_moments_send(dperm.dperm_moments_combine(dperm.dperm_moments_agg($1, %1$s, n) FILTER (WHERE i <= 96), dperm.dperm_moments_agg($1, %1$s, n) FILTER (WHERE i > 96)::text::dperm.dperm_moments)) IS NOT NULL FROM labels', what)
    INTO same USING labelled(r, positive, coalesce(type::regtype::oid, 0)), r, positive;
  RETURN same;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT what, positive, type, reads(what, positive, type) FROM (VALUES ('i4', NULL, 'integer'), ('i4', '1', 'integer'), ('i4', '0', NULL), ('i2', '2', 'smallint'), ('i8', '1099511627776', 'bigint'),
  ('f4', NULL, 'real'), ('f4', '1', 'real'), ('f8', '0.1', 'double precision'), ('nu', NULL, 'numeric'), ('nu', '0.3', 'numeric'), ('t', 'yes', 'text'), ('t', '', 'text'), ('t::varchar', 'yes', 'varchar'), ('p', 'yes ', 'character'),
  ('e', 'sad', NULL), ('g', 'glad', NULL), ('i4', '1', 'bigint'), ('t', NULL, 'text'), ('e', NULL, NULL), ('e', 'none', NULL), ('i4', 'yes', NULL), ('ARRAY[i4]', NULL, NULL), ('i4::money', NULL, NULL)) v(what, positive, type);
-- a boolean has been read, whatever the request says
SELECT sums(dperm.dperm_moments_agg(labelled(r, 'false'), b, n)) = sums(dperm.dperm_moments_agg(r, b, n)) AS boolean FROM labels, (SELECT request_of(2, '{0.5,0.25}', '{2}', int4send(1) || block(0, 'n', float8send(0) || float8send(6)) || '\x0100') AS r) r;
SELECT labelled(r, 'ja', encoding => 8 + 1) IS NOT NULL AS latin FROM (SELECT request_of(2, '{0.5}', '{2}', int4send(1) || block(0, 'n', float8send(0) || float8send(6)) || '\x0000') AS r) r;
SELECT dperm.dperm_moments_agg(labelled(r, 'ja', encoding => 8 + 1), 'ja'::text, 1) FROM (SELECT request_of(2, '{0.5}', '{2}', int4send(1) || block(0, 'n', float8send(0) || float8send(6)) || '\x0000') AS r) r;
SELECT labelled(r, 'ja', encoding => 200) FROM (SELECT request_of(2, '{0.5}', '{2}', int4send(1) || block(0, 'n', float8send(0) || float8send(6)) || '\x0000') AS r) r;
SELECT labelled(r, 'ja', type => 10000) FROM (SELECT request_of(2, '{0.5}', '{2}', int4send(1) || block(0, 'n', float8send(0) || float8send(6)) || '\x0000') AS r) r;
SELECT dperm.dperm_moments_combine(dperm.dperm_moments_agg(labelled(r, 'ja'), 'ja'::text, 1), dperm.dperm_moments_agg(labelled(r, 'no'), 'ja'::text, 1)) FROM (SELECT request_of(2, '{0.5}', '{2}', int4send(1) || block(0, 'n', float8send(0) || float8send(6)) || '\x0000') AS r) r;
\set VERBOSITY default

-- In parallel, too
ALTER TABLE stored SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT dperm.dperm_moments_row_agg(NULL::dperm.dperm_moments, y, r) FROM stored;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- dperm_row_plain writes the same, and refuses what only the catalog or a
-- setting can write
SELECT dperm.dperm_row_plain(1::int2, 1, 1::int8, 1::float4, 1::float8, 1::numeric, date '2000-01-02', timestamp '2000-01-02', true, 'a'::text, 'a'::varchar, 'a '::char(2), '{1,NULL}'::float8[], '{1}'::float4[], '{1}'::int[], NULL::text)
  = dperm.dperm_row(1::int2, 1, 1::int8, 1::float4, 1::float8, 1::numeric, date '2000-01-02', timestamp '2000-01-02', true, 'a'::text, 'a'::varchar, 'a '::char(2), '{1,NULL}'::float8[], '{1}'::float4[], '{1}'::int[], NULL::text) AS same;
SELECT dperm.dperm_row_plain(1, 'sad'::tagged_mood);
SELECT dperm.dperm_row_plain('sad'::tagged_state);
SELECT dperm.dperm_row_plain('{}'::jsonb);

-- dperm_sample: one row in so many, the same ones each time, by any kind of
-- column
SELECT count(*) FILTER (WHERE a) BETWEEN 800 AND 1200 AS some, count(*) FILTER (WHERE a <> b) AS changed, count(*) FILTER (WHERE a <> c) > 500 AS by_key, count(*) FILTER (WHERE d) AS all
  FROM (SELECT dperm.dperm_sample(decode(repeat('01', 16), 'hex'), 10, k, sin(k)) AS a, dperm.dperm_sample(decode(repeat('01', 16), 'hex'), 10, k, sin(k)) AS b, dperm.dperm_sample(decode(repeat('02', 16), 'hex'), 10, k, sin(k)) AS c,
    dperm.dperm_sample(decode(repeat('01', 16), 'hex'), 1, k) AS d FROM generate_series(1, 10000) k) s;
SELECT count(*) FILTER (WHERE dperm.dperm_sample(decode(repeat('01', 16), 'hex'), 4, CASE WHEN k % 2 = 0 THEN k END, k::numeric, k::text, ARRAY[k], to_jsonb(k), ('sad'::tagged_mood), ('x' || k)::name, k % 2 = 0, point(k, k), repeat(k::text, 100000)))
  BETWEEN 150 AND 350 AS some FROM generate_series(1, 1000) k;
SELECT dperm.dperm_sample(NULL, 2, 1);
SELECT dperm.dperm_sample('\x01', 2, 1);
SELECT dperm.dperm_sample(decode(repeat('01', 16), 'hex'), 0, 1);
SELECT dperm.dperm_sample(decode(repeat('01', 16), 'hex'), NULL, 1);

DROP TABLE tagged, stored, outputs, labels;
DROP FUNCTION output_request, labelled, reads, sums, word, two_enums, refused, request, request_of, texts, block;
DROP DOMAIN tagged_state, tagged_number;
DROP TYPE tagged_mood, other_mood;
