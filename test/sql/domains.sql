--
-- Domains: what CHECK constraints, types and the domains argument say about a
-- column
--
\set ECHO errors
\pset format unaligned
\pset footer off
CREATE SCHEMA domains_test;
SET search_path = domains_test, public;
SET client_min_messages = warning;

-- Queries that are used again and again
CREATE FUNCTION shown(relation regclass) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT concat_ws(' | ', column_name, coalesce(domain::text, 'unknown'), origin)
  FROM dp_domains(relation::text)
$$;
-- A table of one column x with one CHECK
CREATE FUNCTION checked(type text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('CREATE TABLE one (x %s CONSTRAINT c CHECK (%s))', type, condition);
  SELECT concat_ws(' | ', coalesce(domain::text, 'unknown'), origin) INTO result
  FROM dp_domains('one');
  DROP TABLE one;
  RETURN result;
END $$;

-- The usual table
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
ALTER TYPE mood ADD VALUE 'fine' BEFORE 'happy';
CREATE TABLE patients (
  id int,
  age int CHECK (age BETWEEN 0 AND 120),
  bmi float8 CHECK (bmi >= 10 AND bmi <= 80.5),
  diagnosis text CHECK (diagnosis IN ('A', 'B', 'C')),
  mood mood,
  smoker boolean,
  admitted date CHECK (admitted >= '2015-01-01' AND admitted < '2026-01-01'),
  embedding float8[] CHECK (array_length(embedding, 1) = 8),
  small float4[] CHECK (cardinality(small) = 4),
  dropped int CHECK (dropped > 0),
  note text,
  readmitted boolean);
ALTER TABLE patients DROP COLUMN dropped;
SELECT * FROM dp_domains('patients');

-- It is the form that domains takes
SELECT jsonb_object_agg(column_name, domain) FROM dp_domains('patients') WHERE domain IS NOT NULL;

-- Types: those that can be features, those that cannot
CREATE TYPE pair AS (a int, b int);
CREATE TABLE types (
  a int2, b int4, c int8, d float4, e float8, f numeric, g numeric(5,2), h date, i timestamp,
  j timestamptz, k boolean, l text, m varchar(5), n char(3), o name, p uuid, q mood, r inet,
  s "char", t oid, u float4[], v float8[], w time, x jsonb,
  no1 int[], no2 text[], no3 pair, no4 int4range, no5 interval, no6 bytea, no7 money, no8 regclass,
  no9 point, no10 numeric[], no11 mood[]);
SELECT column_name, column_type, domain, origin FROM dp_domains('types');

-- Numbers, every way to write it
SELECT t, c, checked(t, c) FROM (VALUES
  ('int', 'x > 0 AND x < 10'), ('int', '0 < x AND 10 >= x'), ('bigint', 'x BETWEEN 1 AND 100000000000'),
  ('smallint', 'x >= 1 AND x <= 5'), ('float8', 'x > 0 AND x < 10'), ('float4', 'x >= 0.1 AND x <= 10'),
  ('numeric', 'x >= 0.5 AND x <= 1e3'), ('numeric(5,2)', 'x BETWEEN -1 AND 1'),
  ('int', 'x > 0.5 AND x <= 9.5'), ('int', 'x >= 0.5 AND x < 9.5'), ('int', 'x BETWEEN -90 AND 90'), ('int', 'x >= (-90)::int AND x <= 1441'),
  ('int', 'x BETWEEN SYMMETRIC 10 AND 1'), ('int', 'x IN (3, 1, 2)'), ('numeric', 'x = ANY (''{1,5}'')'),
  ('int', 'x = 1 OR x = 7'), ('int', 'x IS NULL OR x BETWEEN 1 AND 2'), ('int', 'x BETWEEN 1 AND 2 AND x IS NOT NULL'),
  ('int', 'x::bigint BETWEEN 1 AND 2'), ('int', 'x >= 1::bigint AND x <= 2::smallint'),
  ('int', 'x::float8 BETWEEN 1 AND 2'), ('int', 'x >= 0.6::int AND x <= 5'), ('int', 'x >= 0.5::int AND x <= 12.5::numeric(2)'), ('int', 'x BETWEEN 0 AND 5 OR x BETWEEN 10 AND 20'),
  ('float8', 'x BETWEEN 0.1 AND 1e300'), ('int', 'x <= 10 AND x >= 1 AND x <= 5 AND x <> 3')) v(t, c);

-- No domain: a bound is missing, or nothing is known
SELECT t, c, checked(t, c) FROM (VALUES
  ('int', 'x > 0'), ('int', 'x < 10'), ('int', 'x = 5'), ('int', 'x > 10 AND x < 5'), ('int', 'x > 4 AND x < 5'),
  ('int', 'NOT (x < 0 OR x > 10)'), ('int', 'x <> 5'), ('int', 'x BETWEEN NULL AND 5'), ('int', 'x IN (1, 2, NULL)'),
  ('int', 'x = ANY (''{1,2,NULL}'')'), ('int', 'x = ANY (''{}'')'), ('int', 'x = ALL (''{1,2}'')'),
  ('int', 'x BETWEEN 1 AND 2 OR true'), ('int', 'abs(x) BETWEEN 1 AND 2'), ('int', 'x + 1 BETWEEN 1 AND 2'),
  ('int', 'x > 0 AND x < 1 / 0'), ('int', 'x % 2 = 0'), ('int', '(x BETWEEN 1 AND 2) IS TRUE'),
  ('int', 'CASE WHEN x > 0 THEN x < 5 ELSE false END'), ('int', '1 BETWEEN 0 AND 2'), ('int', 'false'),
  ('int', 'x = 1 OR random() < 0.5'), ('int', 'ROW(x, x) > ROW(1, 2)'),
  ('numeric', 'x BETWEEN 0 AND 1e400'), ('numeric', 'x BETWEEN -1e400 AND 1e400'), ('numeric', 'x >= 1e400'),
  ('numeric', 'x >= 0 AND x < ''NaN'''), ('float8', 'x >= 0 AND x < ''Infinity'''),
  ('float8', 'x >= ''NaN'' AND x <= 5'), ('float8', 'x BETWEEN ''-Infinity'' AND 1'),
  ('int', 'x::text IN (''1'', ''2'')'), ('int', 'x BETWEEN 0 AND 3000000000::int8::numeric::int'),
  ('int', 'x IN (1, 3000000000::int8::int)'), ('int', 'x >= -90::int AND x <= 60 * 24 + 1'), ('int', 'x BETWEEN 0 AND float8(9)'),
  ('numeric', 'x BETWEEN 0 AND ''9''::text::int')) v(t, c);

-- Time
SET timezone = 'UTC';
SELECT t, c, checked(t, c) FROM (VALUES
  ('date', 'x BETWEEN ''2015-01-01'' AND ''2020-12-31'''), ('date', 'x > ''2015-01-01'' AND x < ''2020-12-31'''),
  ('timestamp', 'x >= ''2015-01-01'' AND x < ''2020-12-31 12:30:00.25'''),
  ('timestamptz', 'x BETWEEN ''2015-01-01 00:00+02'' AND ''2016-01-01'''),
  ('timestamp', 'x::date BETWEEN ''2015-01-01'' AND ''2016-01-01'''),
  ('timestamp', 'x >= date ''2015-01-01'' AND x <= date ''2016-01-01'''),
  ('date', 'x >= ''2015-01-01'' AND x <= ''2015-06-30''::timestamp'), ('date', 'x BETWEEN ''0044-03-15 BC'' AND ''1000-01-01'''),
  ('date', 'x BETWEEN ''-infinity'' AND ''2016-01-01'''), ('date', 'x BETWEEN ''2015-01-01'' AND ''infinity'''),
  ('timestamp', 'x BETWEEN ''-infinity'' AND ''infinity'''), ('date', 'x BETWEEN ''2015-01-01'' AND current_date'),
  ('date', 'x BETWEEN ''2015-01-01'' AND ''2015-01-01''::date + 30'),
  ('timestamptz', 'x BETWEEN ''2015-01-01''::timestamp AND ''2016-01-01''::timestamp::timestamptz'),
  ('date', 'x BETWEEN ''2015-01-01 10:00''::timestamp::date AND ''2016-01-01'''),
  ('date', 'extract(year FROM x) BETWEEN 2000 AND 2010'),
  ('timestamp', 'x BETWEEN ''4713-01-01 BC'' AND ''294276-12-31 23:59:59.999999''')) v(t, c);
RESET timezone;

-- Categories
SELECT t, c, checked(t, c) FROM (VALUES
  ('text', 'x IN (''b'', ''a'', ''b'')'), ('text', 'x = ''a'''), ('text', 'x = ''a'' OR ''b'' = x OR x IS NULL'),
  ('varchar', 'x IN (''a'', ''b'')'), ('varchar(3)', 'x IN (''a'', ''b'')'), ('char(3)', 'x IN (''a'', ''b  '')'),
  ('char(3)', 'x::text IN (''a'', ''b'')'), ('name', 'x IN (''a'', ''b'')'), ('text', 'x = ANY (''{a,b}''::varchar[])'),
  ('text', 'x = ANY (ARRAY[''a'', ''b'']::varchar[])'), ('text', 'x COLLATE "C" = ''a'' OR x = ''b'''), ('text', 'x = ''a'' COLLATE "C" OR x IN (''b'', ''c'' COLLATE "C")'),
  ('text', 'x IN (''a'', ''b'', ''c'') AND x IN (''c'', ''b'', ''d'')'),
  ('mood', 'x IN (''happy'', ''sad'')'), ('mood', 'x::text IN (''happy'', ''nobody'')'), ('mood', 'x > ''sad'''), ('mood', 'x <> ''sad'''),
  ('uuid', 'x IN (''A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'', ''b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'')'),
  ('inet', 'x IN (''10.0.0.1'', ''10.0.0.0/8'')'), ('"char"', 'x IN (''m'', ''f'')'),
  ('text', 'x IN ('''', '' '', ''a"b'', ''c\d'', ''e''''f'', ''ä€😀'')')) v(t, c);
SELECT t, c, checked(t, c) FROM (VALUES
  ('text', 'x IN (''a'', NULL)'), ('text', 'x BETWEEN ''a'' AND ''c'''), ('text', 'x LIKE ''a%'''), ('text', 'x ~ ''^(a|b)$'''),
  ('text', 'lower(x) IN (''a'', ''b'')'), ('text', 'x = ''a'' OR length(x) = 1'), ('text', 'x IN (''a'') AND x IN (''b'')'),
  ('mood', 'x::text IN (''nobody'')'), ('text', 'x NOT IN (''a'', ''b'')'), ('text', 'x <> ''a'''), ('text', 'x::varchar(1) = ''abc''::varchar(2)'),
  ('text', 'length(x) BETWEEN 1 AND 2'), ('text', 'x = ''a'' || ''b''')) v(t, c);

-- Thousands of categories: up to 5000
SELECT n, length(checked('text', format('x IN (%s)', (SELECT string_agg(quote_literal(i), ',') FROM generate_series(1, n) i))))
FROM unnest('{4999,5000,5001,20000}'::int[]) n;
SELECT checked('int', (SELECT string_agg(format('x = %s', i), ' OR ') FROM generate_series(1, 3000) i));

-- Vectors
SELECT t, c, checked(t, c) FROM (VALUES
  ('float8[]', 'array_length(x, 1) = 3'), ('float4[]', '3 = cardinality(x)'), ('float8[]', 'cardinality(x) BETWEEN 3 AND 3'),
  ('float8[]', 'array_length(x, 2) = 3'), ('float8[]', 'cardinality(x) <= 3'), ('float8[]', 'cardinality(x) = 0'),
  ('float8[]', 'cardinality(x) = 5001'), ('float8[]', 'array_ndims(x) = 1'), ('float8[]', 'x <> ''{}'''),
  ('float8[]', 'x[1] BETWEEN 0 AND 1'), ('float8[3]', 'true'), ('float8[]', 'array_ndims(x) = 1 AND cardinality(x) = 3 AND x IS NOT NULL')) v(t, c);
-- The range of its elements: both bounds, and a dimension
SELECT t, c, checked(t, c) FROM (VALUES
  ('float8[]', 'cardinality(x) = 3 AND 0 <= ALL (x) AND 1 >= ALL (x)'), ('float8[]', 'cardinality(x) = 3 AND -2.5 < ALL (x) AND 9 > ALL (x) OR x IS NULL'),
  ('float4[]', 'array_length(x, 1) = 2 AND 0 <= ALL (x) AND 1 >= ALL (x)'), ('float4[]', 'cardinality(x) = 2 AND 0 <= ALL (x::numeric[]) AND 1 >= ALL (x)'),
  ('float8[]', 'cardinality(x) = 2 AND (0 <= ALL (x) AND 1 >= ALL (x) OR 2 <= ALL (x) AND 3 >= ALL (x))'),
  ('float8[]', 'cardinality(x) = 2 AND 0 <= ALL (x) AND 1 >= ALL (x) AND 0.5 >= ALL (x)'),
  ('float8[]', 'cardinality(x) = 2 AND 0 <= ALL (x) AND 10 - 1 >= ALL (x)'), ('float8[]', '0 <= ALL (x) AND 1 >= ALL (x)'), ('float8[]', 'cardinality(x) = 2 AND 0 <= ALL (x)'), ('float8[]', 'cardinality(x) = 2 AND 0 <= ANY (x) AND 1 >= ANY (x)'),
  ('float8[]', 'cardinality(x) = 2 AND 1 <= ALL (x) AND 0 >= ALL (x)'), ('float8[]', 'cardinality(x) = 2 AND 1 <= ALL (x) AND 1 >= ALL (x)'),
  ('float8[]', 'cardinality(x) = 2 AND NOT (0 > ANY (x) OR 1 < ANY (x))'), ('float8[]', 'cardinality(x) = 2 AND 0 <= ALL (x[1:1]) AND 1 >= ALL (x)'),
  ('float8[]', 'cardinality(x) = 2 AND 0 <= ALL (x::int[]) AND 1 >= ALL (x)'), ('float8[]', 'cardinality(x) = 2 AND ''-Infinity'' <= ALL (x) AND 1 >= ALL (x)'),
  ('float8[]', 'cardinality(x) = 2 AND 0 <= ALL (x) AND NULL >= ALL (x)'), ('float8[]', 'cardinality(x) = 2 AND 0 <> ALL (x) AND 1 >= ALL (x)')) v(t, c);
CREATE DOMAIN share AS float8[] CHECK (cardinality(VALUE) = 2) CONSTRAINT low CHECK (0 <= ALL (VALUE)) CONSTRAINT high CHECK (1 >= ALL (VALUE));
CREATE TABLE shares (a share, b share CONSTRAINT half CHECK (0.5 >= ALL (b)));
CREATE VIEW shown_shares AS SELECT b, a FROM shares;
SELECT shown('shares') UNION ALL SELECT shown('shown_shares');

-- Several columns and several constraints
CREATE TABLE several (a int CHECK (a >= 0), b int, "C" int, CHECK (a > 2 AND b < 5), CHECK (a < b),
  CONSTRAINT z CHECK (a <= 9 AND b >= 1 AND "C" + a > 0), CHECK (a = 1 OR b = 2),
  CONSTRAINT "quote""d, 'name'" CHECK ("C" BETWEEN 0 AND 1));
ALTER TABLE several ADD CONSTRAINT later CHECK (a < 8) NOT VALID;
SELECT shown('several');

-- Names
CREATE TABLE "Näme's ""table""" ("a b" int CHECK ("a b" BETWEEN 1 AND 2), "Größe" text CHECK ("Größe" IN ('weiß')),
  "quo""te" int, "it's" int, "back\slash" text);
SELECT shown('"Näme''s ""table"""');

-- Functions and operators that a user defines are neither evaluated nor trusted
CREATE FUNCTION loud(x int) RETURNS int IMMUTABLE STRICT LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'I was run with %', x; END $$;
CREATE FUNCTION loud_cmp(a int, b text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'I was run'; END $$;
CREATE OPERATOR >= (LEFTARG = int, RIGHTARG = text, FUNCTION = loud_cmp);
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = text, FUNCTION = loud_cmp);
CREATE TYPE degrees AS (d int);
CREATE FUNCTION degrees(x int) RETURNS degrees IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'I was run'; END $$;
CREATE CAST (int AS degrees) WITH FUNCTION degrees(int);
CREATE TABLE userland (
  a int CHECK (a BETWEEN loud(1) AND loud(2)), b int CHECK (loud(b) BETWEEN 1 AND 2),
  c int CHECK (c >= 'x'::text AND c <= 5), d int CHECK (d === 'x'::text),
  e int CHECK (e::degrees >= 1::degrees AND e <= 5), f int CHECK (f BETWEEN 0 AND 5 AND loud(3) > 0),
  g int CHECK (g IN (1, loud(2))), h int CHECK (h = ANY (ARRAY[1, 2] || loud(3))));
SELECT shown('userland');

-- Operators count by their identity, not by their name
CREATE FUNCTION int4_back(int, int) RETURNS boolean IMMUTABLE STRICT LANGUAGE internal AS 'int4lt';
CREATE OPERATOR domains_test.>= (LEFTARG = int, RIGHTARG = int, FUNCTION = int4_back);
CREATE TABLE renamed (x int CHECK (x OPERATOR(domains_test.>=) 0 AND x OPERATOR(pg_catalog.<=) 5));
SELECT shown('renamed');
DROP TABLE renamed;
DROP OPERATOR domains_test.>= (int, int);

-- Domain types
CREATE DOMAIN percent AS numeric CHECK (VALUE >= 0) CHECK (VALUE <= 100);
CREATE DOMAIN "Low percent" AS percent CHECK (VALUE <= 50);
CREATE DOMAIN lower_percent AS "Low percent" NOT NULL;
CREATE DOMAIN letter AS varchar(1) CHECK (VALUE IN ('x', 'y', 'z'));
CREATE DOMAIN good_mood AS mood CHECK (VALUE IN ('happy', 'fine'));
CREATE DOMAIN flag AS boolean;
CREATE DOMAIN vec AS float8[] CHECK (array_length(VALUE, 1) = 2);
CREATE DOMAIN countdown AS int CHECK (VALUE > 0);
CREATE TABLE typed (a percent, b "Low percent", c lower_percent CHECK (c >= 10), d letter CHECK (d <> 'z' AND d IN ('z', 'y', 'w')),
  e good_mood, f flag, g vec, h countdown CHECK (h < 10), i percent CHECK (i::int BETWEEN 5 AND 7), j percent[]);
SELECT column_name, column_type, domain, origin FROM dp_domains('typed');
ALTER DOMAIN countdown ADD CONSTRAINT soft CHECK (VALUE <= 5) NOT VALID;
SELECT shown('typed') LIMIT 1 OFFSET 7;

-- Inheritance and partitions
CREATE TABLE parent (x int CHECK (x BETWEEN 0 AND 100), y int CONSTRAINT own CHECK (y BETWEEN 0 AND 1) NO INHERIT);
CREATE TABLE child (CHECK (x >= 50)) INHERITS (parent);
SELECT shown('parent');
SELECT shown('child');
CREATE TABLE parted (gone int, x int CHECK (x BETWEEN 0 AND 100), k text) PARTITION BY LIST (k);
ALTER TABLE parted DROP COLUMN gone;
CREATE TABLE part (k text CONSTRAINT ks CHECK (k IN ('a', 'b')), x int CONSTRAINT parted_x_check CHECK (x BETWEEN 0 AND 100));
ALTER TABLE part ADD CONSTRAINT narrow CHECK (x <= 10);
ALTER TABLE parted ATTACH PARTITION part FOR VALUES IN ('a', 'b');
SELECT shown('parted');
SELECT shown('part');

-- Foreign tables
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE far_away (x int CHECK (x BETWEEN 0 AND 9)) SERVER nowhere;
SELECT shown('far_away');

-- Views show the columns of their tables
CREATE VIEW plain AS SELECT readmitted AS y, age AS years, diagnosis, age + 1 AS older, mood, id FROM patients;
CREATE VIEW view_of_view AS SELECT p.years, q.age, p.older, p.mood, count(*) OVER () FROM plain p LEFT JOIN patients q USING (id);
CREATE MATERIALIZED VIEW stored AS SELECT years AS y, older::percent FROM view_of_view;
CREATE VIEW united AS SELECT age FROM patients UNION ALL SELECT x FROM parent;
CREATE VIEW joined AS SELECT * FROM patients JOIN child ON x = id JOIN (SELECT 1 AS x2) s ON true;
CREATE VIEW grouped AS SELECT age, count(*) AS n FROM patients GROUP BY age;
CREATE VIEW merged AS SELECT age FROM patients FULL JOIN (SELECT 1000 AS age) s USING (age);
CREATE VIEW inner_query AS SELECT age FROM (SELECT age FROM patients) s;
CREATE VIEW cte AS WITH c AS (SELECT age FROM patients) SELECT age FROM c;
CREATE VIEW scalar AS SELECT (SELECT age FROM patients LIMIT 1) AS age, tableoid, patients FROM patients;
SELECT v, r FROM unnest('{plain,view_of_view,stored,united,joined,grouped,merged,inner_query,cte,scalar}'::regclass[]) v, shown(v) r;

-- No privilege on the rows is needed: constraints are public
CREATE ROLE dperm_domains_nobody;
GRANT USAGE ON SCHEMA domains_test TO dperm_domains_nobody;
SET ROLE dperm_domains_nobody;
SELECT count(*) FROM dp_domains('patients');
RESET ROLE;

-- Rows and statistics change nothing
INSERT INTO patients (age, note) SELECT i % 7, 'n' || i % 3 FROM generate_series(1, 1000) i;
ANALYZE patients;
SELECT shown('patients') LIMIT 2;

-- Relations of all sorts
CREATE INDEX patients_age ON patients (age);
CREATE SEQUENCE numbers;
CREATE TABLE no_columns ();
SELECT outcomes('* FROM dp_domains(?)',
  $$ 'patients_age' | 'numbers' | 'pair' | 'nowhere' | 'a.b.c.d.e' | '' | 'no_columns' | NULL $$);
SELECT dp_domains('far_away');
SELECT count(*) > 0 AS any FROM pg_class c, dp_domains(c.oid::regclass::text) WHERE relkind IN ('r', 'v') AND relnamespace = 'pg_catalog'::regnamespace;

-- Numbers come back exactly
CREATE TABLE exact (x float8 CHECK (x BETWEEN 0.1 AND 1.2345678901234567e299), y float8 CHECK (y BETWEEN -5e-324 AND 0.30000000000000004));
SET extra_float_digits = -15;
SELECT shown('exact');
RESET extra_float_digits;
-- and dates in any session
SET datestyle = 'German';
SELECT shown('patients') OFFSET 6 LIMIT 1;
RESET datestyle;

-- The domains argument: accepted, or the error
CREATE TABLE given (y boolean, i int, n numeric, n2 numeric(4,1), f float8, d date, ts timestamp, tz timestamptz, b boolean,
  t text, v varchar(3), c char(3), m mood, u uuid, x float8[], x3 float4[] CHECK (cardinality(x3) = 3), r int4range,
  "Größe ""x""" int, "it's" text);
INSERT INTO given (y) SELECT i % 2 = 0 FROM generate_series(1, 20) i;
CREATE FUNCTION given_all(feature text, domains jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT 'accepted' FROM dp_logreg_train('given', label => 'y', features => ARRAY[feature], epsilon => 1, domains => domains) m
  WHERE m IS NOT NULL
$$;
CREATE FUNCTION given(feature text, domain jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT given_all(feature, jsonb_build_object(feature, domain))
$$;
SELECT outcomes('given(?)', $$
  'i', '[0, 120]' | 'i', '{"range": [-1.5, 1e3]}' | 'i', '{"categories": [1, 2, -3]}'
  'i', '{"categories": ["1"]}' | 'n', '[0.1, 0.2]' | 'n2', '{"categories": [1, 2.5]}'
  'f', '[-1e300, 1e300]' | 'd', '["2015-01-01", "2016-01-01"]'
  'd', '{"range": ["yesterday", "tomorrow"]}' | 'ts', '["2015-01-01 10:00", "2015-01-01T10:01"]'
  'tz', '["2015-01-01 00:00+02", "2015-01-01 00:00+01"]' | 'b', '[false, true]'
  'b', '[true, false]' | 't', '["a", "A", "", " ", "null"]' | 't', '{"categories": ["a"]}'
  'v', '["abc"]' | 'c', '["a", "bc "]' | 'm', '["sad", "happy"]'
  'u', '["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"]' | 'x', '{"dimension": 3}'
  'x', '{"norm": 2.5, "dimension": 3}' | 'x3', '{"norm": 2}' | 'x3', '{}'
  'x', '{"dimension": 8, "range": [0, 1]}' | 'x', '{"range": [[0, 1], [-5, 5]]}'
  'x', '{"range": [[0, 1], [-5, 5]], "dimension": 2}' | 'x', '{"range": [[-1e300, 1e300]]}'
  'x3', '{"range": [0, 1]}' | 'x3', '{"range": [[0, 1], [0, 1], [0, 2]]}'
  'x3', '{"range": [0, 1], "dimension": 3}' | 'Größe "x"', '[0, 1]' | 'it''s', '["it''s"]' $$);
SELECT outcomes('given(?)', $$
  'i', '[5, 5]' | 'i', '[6, 5]' | 'i', '[1]' | 'i', '[1, 2, 3]' | 'i', '[]' | 'i', '[0, "9"]'
  'i', '["NaN", "Infinity"]' | 'i', '[null, 5]' | 'i', 'null' | 'i', '5' | 'i', '"0..5"' | 'i', '{}'
  'i', '{"min": 0, "max": 5}' | 'i', '{"range": 5}' | 'i', '{"range": [1, 2], "categories": [1]}'
  'i', '[[1, 2], [3, 4]]' | 'i', '{"categories": []}' | 'i', '{"categories": [1, 1.5]}'
  'i', '{"categories": [1, 2, 1]}' | 'i', '{"categories": [3000000000]}'
  'i', '{"categories": [true]}' | 'i', '{"categories": 1}' | 'n', '[0, 1.1e300]'
  'n', '{"categories": [1]}' | 'n2', '{"categories": [2.5, 2.50]}' | 'f', '[1e-400, 0]'
  'f', '{"categories": [1]}' | 'd', '[0, 1]' | 'd', '["2016-01-01", "2015-01-01"]'
  'd', '["2015-01-01", "infinity"]' | 'd', '["no day", "2016-01-01"]'
  'd', '{"categories": ["2015-01-01"]}' | 'b', '[0, 1]' | 'b', '[true]' | 'b', '[true, true]'
  'b', '{"categories": [true]}' | 't', '[]' | 't', '["a", "b", "a"]' | 't', '["a", null]'
  't', '[1000, 9999]' | 't', '["a", ["b"]]' | 't', '"a"' | 't', '{"a": 1}'
  't', '{"range": ["a", "b"]}' | 'v', '["abcd"]' | 'c', '["a", "a "]' | 'm', '["sad", "nobody"]'
  'u', '["no"]'
  'u', '["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]'
  'x', '[1, 2]' | 'x', '{}' | 'x', '{"norm": 1}' | 'x', '{"dimension": 0}'
  'x', '{"dimension": 2.5}' | 'x', '{"dimension": 5001}' | 'x', '{"dimension": "3"}'
  'x', '{"dimension": 3, "norm": 0}' | 'x', '{"dimension": 3, "norm": -1}'
  'x', '{"dimension": 3, "norm": 1e400}' | 'x', '{"dimension": 3, "size": 3}'
  'x3', '{"dimension": 4}' | 'x', '{"range": [0, 1]}' | 'x', '{"range": [[0, 1]], "norm": 1}'
  'x', '{"dimension": 3, "range": [0, 1], "norm": 1}' | 'x', '{"dimension": 3, "range": [1, 0]}'
  'x', '{"dimension": 3, "range": [0, 0]}' | 'x', '{"dimension": 3, "range": []}'
  'x', '{"dimension": 3, "range": [0]}' | 'x', '{"dimension": 3, "range": [0, 1, 2]}'
  'x', '{"dimension": 3, "range": 1}' | 'x', '{"dimension": 3, "range": null}'
  'x', '{"dimension": 3, "range": "[0, 1]"}' | 'x', '{"dimension": 3, "range": {"low": 0}}'
  'x', '{"dimension": 3, "range": [0, 1e400]}' | 'x', '{"dimension": 3, "range": ["0", 1]}'
  'x', '{"dimension": 3, "range": [0, null]}' | 'x', '{"dimension": 3, "range": [0, [1, 2]]}'
  'x', '{"range": [[0, 1], 2]}' | 'x', '{"range": [[0, 1], [1]]}'
  'x', '{"range": [[0, 1], [1, 1]]}' | 'x', '{"range": [[0, 1], [0, "1"]]}'
  'x', '{"range": [[0, 1], [[0, 1], 2]]}' | 'x', '{"dimension": 3, "range": [[0, 1], [0, 2]]}'
  'x', '{"dimension": 0, "range": [0, 1]}' | 'x', '{"dimension": 5001, "range": [0, 1]}'
  'x', '{"dimension": "3", "range": [0, 1]}' | 'x', '{"dimension": 3, "range": [0, 1], "size": 3}'
  'x', '{"dimension": 3, "range": [0, 0]}' | 'x3', '{"range": [[0, 1], [0, 1]]}'
  'x3', '{"dimension": 4, "range": [0, 1]}' | 'r', '[0, 1]' | 'Größe "x"', '[1, 0]'
  'it''s', '[]' $$);
SELECT outcomes('given(?) FROM generate_series(1, 5001) i', $$
  't', jsonb_agg(i::text)
  'x', jsonb_build_object('range', jsonb_agg(jsonb_build_array(0, i))) $$);
SELECT outcomes('given_all(''i'', ?)', $$
  '[]' | '[1, 2]' | '5' | NULL | '"i"' | '{"I": [0, 1]}' | '{"ctid": [0, 1]}' | '{"": [0, 1]}' $$);

-- A column without a domain: both ways to give one
SELECT outcomes('given_all(?, NULL)',
  $$ 'i' | 'f' | 'd' | 'ts' | 't' | 'u' | 'r' | 'Größe "x"' | 'it''s' $$);
SELECT outcomes($$ dp_logreg_train('given', label => 'y', features => ?, epsilon => 1) $$,
  $$ ARRAY['b', 'x'] $$);
ALTER TABLE given ADD CONSTRAINT half CHECK (i > 0);
SELECT outcomes('given_all(?, NULL)', $$ 'i' $$);
CREATE VIEW computed AS SELECT y, i AS j, n + 1 AS k FROM given;
SELECT outcomes($$ dp_logreg_train('computed', label => 'y', features => ?, epsilon => 1) $$,
  $$ 'j' | 'k' $$);

SET client_min_messages = error;
RESET search_path;
DROP SCHEMA domains_test CASCADE;
DROP FOREIGN DATA WRAPPER nothing CASCADE;
DROP ROLE dperm_domains_nobody;
