--
-- Rows as bytes: dp_row writes what the columns hold, and dp_moments_row_agg reads it as dp_moments_agg reads the columns, bit for bit;
-- whatever the bytes are, they only raise what they would raise in every row
--
SET client_min_messages = warning;

-- As documented: number, time, boolean, text with its encoding, arrays; a null has its type, too
SELECT dp_row(1.5::float8, 2::int2, 3, 4::int8, 0.5::float4, 1e400, 'NaN'::numeric) AS numbers;
SELECT dp_row(date '2000-01-03', timestamp '1999-12-31 12:00', timestamptz '2000-01-01 00:00+00', date 'infinity') AS times;
SELECT dp_row(true, false, NULL::boolean) AS flags;
CREATE TYPE tagged_mood AS ENUM ('sad', 'glad');
CREATE DOMAIN tagged_state AS tagged_mood;
CREATE DOMAIN tagged_number AS int;
SELECT dp_row('ab'::text, 'ab '::varchar, 'ab'::char(4), 'ab'::name, 'glad'::tagged_mood, 'sad'::tagged_state, NULL::tagged_mood, 'literal', '10.0.0.1'::inet) AS texts;
SELECT dp_row('{1,-1}'::float8[], '{1,-1}'::float4[], '{1,-1}'::int[], '{1.5}'::numeric[], '{}'::float8[], '{{1}}'::float8[], '{1,NULL}'::float8[], NULL::float4[]) AS vectors;
SELECT dp_row(NULL::int, NULL::date, NULL::text, NULL::float8[]) AS nulls, dp_row(7::tagged_number) = dp_row(7) AS domain,
       dp_row(1, 'a'::text) || dp_row(true) = dp_row(1, 'a'::text, true) AS side_by_side;
-- what is too large is null
SELECT dp_row(repeat('x', 131073), 'x'::text) = dp_row(NULL::text, 'x'::text) AS text,
       dp_row(array_fill(0::float8, ARRAY[20000])) = dp_row(NULL::float8[]) AS vector, dp_row(repeat('1', 131073)::json) = dp_row(NULL::text) AS output,
       length(dp_row(repeat('x', 131068))) AS largest;
SELECT dp_row(VARIADIC ARRAY[1, 2]);
\echo :LAST_ERROR_SQLSTATE

-- Requests by hand, as in the test of passes
CREATE FUNCTION request_of(pass_order int, weights float8[], readers bigint[], encoder bytea) RETURNS dp_moments
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT translate(encode(decode('6470706173730003', 'hex') || int8send(pass_order) || int8send(0) || float8send(0)
    || int8send(cardinality(weights)) || int8send(cardinality(readers)) || int8send(length(encoder))
    || int8send(0) || float8send(0) || float8send(0) || int8send(0) || int8send(0)
    || (SELECT string_agg(float8send(w), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k))
    || CASE pass_order WHEN 4 THEN (SELECT string_agg(float8send(w * 1e-18), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k)) ELSE '' END
    || (SELECT string_agg(int8send(r), '' ORDER BY k) FROM unnest(readers) WITH ORDINALITY u(r, k))
    || encoder || decode(repeat('00', -length(encoder) & 7), 'hex'), 'base64'), E'\n', '')::dp_moments
$$;
CREATE FUNCTION texts(VARIADIC t text[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT int4send(cardinality(t)) || string_agg(int4send(octet_length(w)) || convert_to(w, 'UTF8'), '' ORDER BY k) FROM unnest(t) WITH ORDINALITY u(w, k)
$$;
CREATE FUNCTION block(kind int, name text, rest bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT set_byte('\x00', 0, kind) || int4send(length(name)) || name::bytea || rest
$$;
-- integer, numeric, timestamp, date, boolean, text, char(n), enum (with a label that there is not), its domain, double precision[], real[], and a box
CREATE FUNCTION request(pass_order int) RETURNS dp_moments LANGUAGE sql IMMUTABLE AS $$
  SELECT request_of(pass_order, (SELECT array_agg(sin(k)) FROM generate_series(1, 26) k), ARRAY[2, 6, 9, 8, 7, 10, 11, 12, 12, 13, 14, 13],
    int4send(12) || '\x0100' || block(0, 'i', float8send(0) || float8send(600)) || block(0, 'n', float8send(-1) || float8send(1))
    || block(1, 't', float8send(0) || float8send(30)) || block(1, 'd', float8send(0) || float8send(30)) || block(2, 'b', '')
    || block(3, 'c', texts('red', 'green', 'blue')) || block(3, 'p', texts('ab', 'cd')) || block(3, 'e', texts('glad', 'none', 'sad')) || block(3, 'g', texts('sad'))
    || block(4, 'x', int4send(3) || float8send(2)) || block(4, 'f', int4send(3) || float8send(1)) || block(5, 'u', int4send(5) || int4send(1) || float8send(-1) || float8send(1)))
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
SELECT pass_order, dp_moments_send(by_row) = dp_moments_send(by_columns) AS same, dp_moments_send(by_pieces) = dp_moments_send(by_columns) AS pieces,
       dp_moments_send(by_record) = dp_moments_send(by_columns) AS record, dp_moments_send(dp_moments_combine(first, second)) = dp_moments_send(dp_moments_combine(first_columns, second)) AS combined
  FROM generate_series(1, 5) pass_order, LATERAL (SELECT request(pass_order) AS r OFFSET 0) r,
  LATERAL (SELECT dp_moments_agg(r, y, i, n, t, d, b, c, p, e, g, x, f, u) AS by_columns, dp_moments_row_agg(r, y, dp_row(i, n, t, d, b, c, p, e, g, x, f, u)) AS by_row,
             dp_moments_row_agg(r, y, dp_row(i, n, t, d, b, c) || dp_row(p, e, g) || dp_row(x, f, u)) AS by_pieces, dp_moments_agg(r, y, ROW(i, n, t, d, b, c, p, e, g, x, f, u)) AS by_record,
             dp_moments_row_agg(r, y, dp_row(i, n, t, d, b, c, p, e, g, x, f, u)) FILTER (WHERE i <= 300) AS first, dp_moments_agg(r, y, i, n, t, d, b, c, p, e, g, x, f, u) FILTER (WHERE i <= 300) AS first_columns,
             dp_moments_row_agg(r, y, dp_row(i, n, t, d, b, c, p, e, g, x, f, u)) FILTER (WHERE i > 300) AS second FROM tagged) s;
-- the rows may be stored
CREATE TABLE stored AS SELECT y, dp_row(i, n, t, d, b, c, p, e, g, x, f, u) AS r FROM tagged;
SELECT dp_moments_send(dp_moments_row_agg((SELECT request(2)), y, r)) = (SELECT dp_moments_send(dp_moments_agg((SELECT request(2)), y, i, n, t, d, b, c, p, e, g, x, f, u)) FROM tagged) AS stored FROM stored;
-- other types with the same values
SELECT dp_moments_send(dp_moments_row_agg((SELECT request(2)), y, dp_row(i::float8, n, t AT TIME ZONE 'UTC', d::timestamp, b, c::varchar, p::text, e::text, g::text, x, f, u))) =
       dp_moments_send(dp_moments_agg((SELECT request(2)), y, i, n, t, d, b, c, p, e, g, x, f, u)) AS same FROM tagged;

-- An enum is read by its labels, in one call after the other, whatever their types
CREATE TYPE other_mood AS ENUM ('none', 'glad', 'sad');
CREATE FUNCTION two_enums() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  r dp_moments := request_of(1, '{0,0,0}', '{12}', int4send(1) || '\x0000' || block(3, 'e', texts('glad', 'none', 'sad')));
  mixed dp_moments;
  apart dp_moments;
BEGIN
  FOR k IN 1..3 LOOP
    mixed := dp_moments_step(mixed, r, true, 'sad'::tagged_mood);
    mixed := dp_moments_step(mixed, r, false, 'glad'::other_mood);
    mixed := dp_moments_step(mixed, r, true, ROW('none'::other_mood));
    mixed := dp_moments_step(mixed, r, true, ROW('sad'::tagged_mood));
    mixed := dp_moments_step(mixed, r, true, dp_row('sad'::other_mood));
  END LOOP;
  SELECT dp_moments_agg(r, y, e) INTO apart FROM generate_series(1, 3) k,
    LATERAL (VALUES (true, 'sad'::other_mood), (false, 'glad'), (true, 'none'), (true, 'sad'), (true, 'sad')) v(y, e);
  -- the gradients: at weights 0 their sums are exact in any order
  RETURN substring(dp_moments_send(mixed) FROM 8 * 13 + 1 FOR 48) = substring(dp_moments_send(apart) FROM 8 * 13 + 1 FOR 48);
END $$;
SELECT two_enums();
-- and in one aggregate, whose records change their type from row to row
SELECT substring(dp_moments_send(dp_moments_agg(r, true, CASE WHEN k % 2 = 0 THEN ROW('sad'::tagged_mood) ELSE ROW('glad'::other_mood) END)) FROM 8 * 13 + 1 FOR 48) =
       substring(dp_moments_send(dp_moments_agg(r, true, CASE WHEN k % 2 = 0 THEN 'sad'::other_mood ELSE 'glad' END)) FROM 8 * 13 + 1 FOR 48) AS same
  FROM generate_series(1, 60) k, (SELECT request_of(1, '{0,0,0}', '{12}', int4send(1) || '\x0000' || block(3, 'e', texts('glad', 'none', 'sad'))) AS r) r;

-- What does not fit is refused in the first row, even if it is null
CREATE FUNCTION refused(row_bytes bytea, r dp_moments DEFAULT request_of(1, '{0,0}', '{2,10}',
  int4send(2) || '\x0000' || block(0, 'i', float8send(0) || float8send(1)) || block(3, 'c', texts('a')))) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  m dp_moments;
BEGIN
  m := dp_moments_step(NULL, r, true, row_bytes);
  RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT what, refused(r) FROM (VALUES ('fits', dp_row(1, 'a'::text)), ('nulls', dp_row(NULL::int, NULL::text)), ('another number', dp_row(1::numeric, 'a'::name)),
  ('time', dp_row(date '2000-01-01', 'a'::text)), ('null time', dp_row(NULL::date, 'a'::text)), ('boolean', dp_row(true, 'a'::text)), ('order', dp_row('a'::text, 1)),
  ('vector', dp_row(1, '{1}'::float8[])), ('fewer', dp_row(1)), ('more', dp_row(1, 'a'::text, 1)), ('none', ''), ('null', NULL),
  ('another encoding', set_byte(dp_row(1, 'a'::text), 10, 8)), ('in a null, too', set_byte(dp_row(1, NULL::text), 10, 8)),
  ('unknown tag', '\x07'), ('no tag', '\x00'), ('cut off', substring(dp_row(1, 'a'::text) FROM 1 FOR 15)), ('longer', set_byte(dp_row(1, 'a'::text), 14, 200)), ('huge', set_byte(dp_row(1, 'a'::text), 11, 255))) v(what, r);
-- any bytes at all: one of these answers, and no other
SELECT DISTINCT refused(CASE WHEN k % 2 = 0 THEN substring(r FROM 1 FOR k % (length(r) + 1)) ELSE r END) COLLATE "C" AS answer
  FROM (SELECT k, set_byte(set_byte(dp_row(k, CASE WHEN k % 3 > 0 THEN repeat('a', k % 4) END), k % 11, k * 7919 % 256), k * 31 % 11, k * 104729 / 64 % 256) AS r FROM generate_series(1, 5000) k) s ORDER BY 1;

-- In parallel, too
ALTER TABLE stored SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT dp_moments_row_agg(NULL::dp_moments, y, r) FROM stored;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

DROP TABLE tagged, stored;
DROP FUNCTION two_enums, refused, request, request_of, texts, block;
DROP DOMAIN tagged_state, tagged_number;
DROP TYPE tagged_mood, other_mood;
