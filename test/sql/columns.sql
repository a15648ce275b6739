--
-- Training by naming columns: every type, in any order and number, encoded as
-- documented; whatever a column holds, nothing is raised and the meaning is the
-- documented one
--
\set ECHO errors
\pset format unaligned
\pset footer off
CREATE TYPE ward AS ENUM ('surgery', 'cardiology', 'oncology');
CREATE DOMAIN percent AS numeric CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN stage AS text CHECK (VALUE IN ('I', 'II', 'III'));
CREATE DOMAIN some_ward AS ward CHECK (VALUE IN ('surgery', 'oncology'));
CREATE DOMAIN embedding AS float8[] CHECK (cardinality(VALUE) = 2);
CREATE TABLE clinic (
  id int,
  y boolean,
  i2 smallint CHECK (i2 BETWEEN -10 AND 30),
  i4 integer CHECK (i4 >= 0 AND i4 <= 120),
  i8 bigint CHECK (i8 BETWEEN 0 AND 1000000000000),
  f4 real CHECK (f4 BETWEEN -1.5 AND 2.5),
  f8 double precision CHECK (f8 BETWEEN 0 AND 1),
  n numeric CHECK (n BETWEEN 10 AND 60),
  b boolean,
  t text CHECK (t IN ('a', 'b', 'c')),
  vc varchar(8) CHECK (vc IN ('x', 'y')),
  bp char(5) CHECK (bp IN ('p', 'qq')),
  e ward,
  u uuid CHECK (u IN ('00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002')),
  d date CHECK (d BETWEEN '2020-01-01' AND '2020-12-31'),
  ts timestamp CHECK (ts BETWEEN '2020-01-01 00:00' AND '2020-12-31 12:00'),
  tz timestamptz CHECK (tz BETWEEN '2020-01-01 00:00+00' AND '2020-12-31 12:00+00'),
  v8 float8[] CHECK (cardinality(v8) = 3),
  v4 float4[] CHECK (array_length(v4, 1) = 2),
  pc percent,
  st stage,
  sw some_ward,
  em embedding
);
INSERT INTO clinic
  SELECT i, sin(i * i) > 0.2, i % 41 - 10, (7 * i) % 121, (i::int8 * 10007000) % 1000000000000, (i % 17) * 0.25 - 1.5, (i % 11) / 10.0, 10 + (i % 51),
         i % 3 = 0, (ARRAY['a', 'b', 'c'])[1 + i % 3], (ARRAY['x', 'y'])[1 + i % 2], (ARRAY['p', 'qq'])[1 + i / 2 % 2],
         (ARRAY['surgery', 'cardiology', 'oncology'])[1 + i / 3 % 3]::ward, ('00000000-0000-0000-0000-00000000000' || 1 + i / 4 % 2)::uuid,
         date '2020-01-01' + (11 * i) % 366, timestamp '2020-01-01' + ((13 * i) % 365) * interval '1 day 1 minute',
         timestamptz '2020-01-01 00:00+00' + ((17 * i) % 8765) * interval '1 hour', ARRAY[sin(i), cos(i), 0.3], ARRAY[sin(i), 0.5]::float4[],
         (i % 101)::percent, (ARRAY['I', 'II', 'III'])[1 + i / 5 % 3], (ARRAY['surgery', 'oncology'])[1 + i / 6 % 2]::ward, ARRAY[0.5 * sin(i), 0.1 * (i % 7)]
  FROM generate_series(1, 60) i;

-- The same columns without constraints
CREATE TABLE loose AS SELECT * FROM clinic;
ALTER TABLE loose ALTER pc TYPE numeric, ALTER st TYPE text, ALTER sw TYPE ward, ALTER em TYPE float8[];

-- The encoding by hand: a block per column, of norm at most 1
CREATE FUNCTION ranged(x numeric, low numeric, high numeric) RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY[CASE WHEN x IS NULL OR x = 'NaN' THEN 0 ELSE 2 * (least(greatest(x, low), high) - low) / (high - low) - 1 END::float8]
$$;
CREATE FUNCTION timed(x timestamp, low timestamp, high timestamp) RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ranged(CASE WHEN x IS NOT NULL THEN extract(epoch FROM least(greatest(x, low), high) - low)::numeric END, 0, extract(epoch FROM high - low)::numeric)
$$;
CREATE FUNCTION one_hot(x text, VARIADIC categories text[]) RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg((c IS NOT DISTINCT FROM x)::int::float8 ORDER BY k) FROM unnest(categories) WITH ORDINALITY u(c, k)
$$;
CREATE FUNCTION clipped(x float8[], dimension int, norm numeric) RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN array_ndims(x) = 1 AND cardinality(x) = dimension AND array_position(x, NULL) IS NULL AND NOT x && '{NaN,Infinity,-Infinity}'
    THEN (SELECT array_agg((v / greatest(norm, length))::float8 ORDER BY k) FROM unnest(x::numeric[]) WITH ORDINALITY u(v, k), (SELECT sqrt(sum(w * w)) AS length FROM unnest(x::numeric[]) w) l)
    ELSE array_fill(0::float8, ARRAY[dimension]) END
$$;
CREATE FUNCTION block(feature text, r loose) RETURNS float8[] LANGUAGE sql STABLE AS $$
  SELECT CASE feature
    WHEN 'i2' THEN ranged(r.i2, -10, 30) WHEN 'i4' THEN ranged(r.i4, 0, 120) WHEN 'i8' THEN ranged(r.i8, 0, 1000000000000)
    WHEN 'f4' THEN ranged(r.f4::numeric, -1.5, 2.5) WHEN 'f8' THEN ranged(r.f8::numeric, 0, 1) WHEN 'n' THEN ranged(r.n, 10, 60) WHEN 'pc' THEN ranged(r.pc, 0, 100)
    WHEN 'b' THEN ARRAY[CASE WHEN r.b THEN 1 WHEN NOT r.b THEN -1 ELSE 0 END]
    WHEN 't' THEN one_hot(r.t, 'a', 'b', 'c') WHEN 'vc' THEN one_hot(r.vc, 'x', 'y') WHEN 'bp' THEN one_hot(rtrim(r.bp), 'p', 'qq') WHEN 'st' THEN one_hot(r.st, 'I', 'II', 'III')
    WHEN 'e' THEN one_hot(r.e::text, 'surgery', 'cardiology', 'oncology') WHEN 'sw' THEN one_hot(r.sw::text, 'surgery', 'oncology')
    WHEN 'u' THEN one_hot(r.u::text, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002')
    WHEN 'd' THEN timed(CASE WHEN r.d IS NOT NULL THEN least(greatest(r.d, '2020-01-01'), '2020-12-31') END, '2020-01-01', '2020-12-31') WHEN 'ts' THEN timed(r.ts, '2020-01-01 00:00', '2020-12-31 12:00')
    WHEN 'tz' THEN timed(r.tz AT TIME ZONE 'UTC', '2020-01-01 00:00', '2020-12-31 12:00')
    WHEN 'v8' THEN clipped(r.v8, 3, 1) WHEN 'v4' THEN clipped(r.v4, 2, 1) WHEN 'em' THEN clipped(r.em, 2, 1) END
$$;
-- the blocks of a row, and the intercept's if there is one, each an equal share
-- of the ball
CREATE FUNCTION encoded(features text[], intercept boolean, r loose) RETURNS float8[] LANGUAGE sql STABLE AS $$
  SELECT array_agg(v / sqrt(cardinality(features) + intercept::int) ORDER BY k, j) FROM (
    SELECT k, j, v FROM unnest(features) WITH ORDINALITY f(feature, k), unnest(block(feature, r)) WITH ORDINALITY b(v, j)
    UNION ALL SELECT 1000, 1, 1 WHERE intercept) s
$$;
CREATE FUNCTION distance(a float8[], b float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN cardinality(a) = cardinality(b) THEN (SELECT max(abs(v - w)) FROM unnest(a, b) u(v, w)) END
$$;
-- the domains of columns, as an argument
CREATE FUNCTION domains_of(relation regclass, features text[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_object_agg(column_name, domain) FROM dp_domains(relation::text) WHERE column_name = ANY (features) AND domain IS NOT NULL
$$;
-- Is the model of these columns that of their vectors, computed by hand? In
-- memory and in passes? And does dp_encode give what it was trained on?
CREATE TABLE by_hand (y boolean, x float8[]);
CREATE FUNCTION as_by_hand(features text[], source text DEFAULT 'clinic', intercept boolean DEFAULT false, domains jsonb DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  model dp_model := dp_logreg_train(source, 'y', features, 'Infinity', lambda => 0.001, options => jsonb_build_object('intercept', intercept), knots => 1, domains => domains);
  svm dp_model;
  encoding float8;
BEGIN
  PERFORM set_config('dperm.cache_memory', '0', true);
  svm := dp_svm_train(source, 'y', features, 'Infinity', lambda => 0.01, options => jsonb_build_object('intercept', intercept), knots => 1, domains => domains);
  PERFORM set_config('dperm.cache_memory', '256MB', true);
  TRUNCATE by_hand;
  EXECUTE format('INSERT INTO by_hand SELECT y, encoded($1, $2, ROW(one.*)::loose) FROM %s one', source) USING features, intercept;
  EXECUTE format('SELECT max(distance(dp_encode($3, one), encoded($1, $2, ROW(one.*)::loose))) FROM %s one', source) INTO encoding USING features, intercept, model;
  RETURN CASE
    WHEN distance(dp_weights(model), dp_weights(dp_logreg_train('by_hand', 'y', 'x', 'Infinity', lambda => 0.001, options => '{"intercept": false}', domains => jsonb_build_object('x', jsonb_build_object('dimension', cardinality(dp_weights(model))))))) > 1e-9 THEN 'other weights'
    WHEN distance(dp_weights(svm), dp_weights(dp_svm_train('by_hand', 'y', 'x', 'Infinity', lambda => 0.01, options => '{"intercept": false}', domains => jsonb_build_object('x', jsonb_build_object('dimension', cardinality(dp_weights(svm))))))) > 1e-9 THEN 'other weights of the machine'
    WHEN encoding > 1e-12 THEN 'other encoding: ' || encoding
    WHEN (SELECT max(abs(w)) FROM unnest(dp_weights(model)) w) < 1e-3 THEN 'nothing learnt'
    ELSE 'as by hand' END;
END $$;

-- Each column by itself, and with an intercept
SELECT feature, as_by_hand(ARRAY[feature]), as_by_hand(ARRAY[feature], intercept => true) AS with_intercept
  FROM unnest('{i2,i4,i8,f4,f8,n,b,t,vc,bp,e,u,d,ts,tz,v8,v4,pc,st,sw,em}'::text[]) feature;
-- All of them; some of them; in other orders
SELECT as_by_hand('{i2,i4,i8,f4,f8,n,b,t,vc,bp,e,u,d,ts,tz,v8,v4,pc,st,sw,em}'), as_by_hand('{i2,i4,i8,f4,f8,n,b,t,vc,bp,e,u,d,ts,tz,v8,v4,pc,st,sw,em}', intercept => true);
SELECT as_by_hand('{i4,n,e,b}'), as_by_hand('{b,e,i4,n}'), as_by_hand('{v8,i4}'), as_by_hand('{em,e,v4,v8}', intercept => true);
SELECT bool_and(abs(a.weight - b.weight) < 1e-9) AS same_in_any_order, count(*)
  FROM dp_coefficients(dp_logreg_train('clinic', 'y', '{i4,e,v8,t}', 'Infinity', knots => 1)) a
  JOIN dp_coefficients(dp_logreg_train('clinic', 'y', ARRAY['t', 'v8', 'e', 'i4'], 'Infinity', knots => 1)) b
    ON (a.column_name, a.value) IS NOT DISTINCT FROM (b.column_name, b.value);
-- What the model says about it
SELECT jsonb_array_elements(m -> 'features') AS features, m -> 'dimension' AS dimension, m -> 'intercept' AS intercept
  FROM (SELECT dp_logreg_train('clinic', 'y', '{i4,f4,b,bp,e,d,tz,v4,sw}', 1)::jsonb) s(m);

-- The same from a view, a partition, and other relations
CREATE VIEW clinic_view AS SELECT e, v8, n, y, i4, b FROM clinic WHERE id > 0;
CREATE MATERIALIZED VIEW clinic_stored AS SELECT * FROM clinic;
CREATE TABLE clinic_parts (LIKE clinic INCLUDING CONSTRAINTS) PARTITION BY LIST (b);
CREATE TABLE clinic_yes PARTITION OF clinic_parts FOR VALUES IN (true);
CREATE TABLE clinic_no (LIKE clinic INCLUDING CONSTRAINTS);
ALTER TABLE clinic_no DROP COLUMN n, DROP COLUMN e;
ALTER TABLE clinic_no ADD e ward, ADD n numeric CHECK (n BETWEEN 10 AND 60);
ALTER TABLE clinic_no ADD CONSTRAINT clinic_n_check CHECK (n >= 10::numeric AND n <= 60::numeric);
ALTER TABLE clinic_parts ATTACH PARTITION clinic_no DEFAULT;
INSERT INTO clinic_parts SELECT * FROM clinic;
SELECT source, distance(dp_weights(dp_logreg_train(source, 'y', '{e,v8,n,i4,b}', 'Infinity', domains => domains)),
                        dp_weights(dp_logreg_train('clinic', 'y', '{e,v8,n,i4,b}', 'Infinity'))) < 1e-9 AS same
  FROM (VALUES ('clinic_view', NULL), ('clinic_parts', NULL), ('clinic_stored', domains_of('clinic', '{v8,n,i4}'))) v(source, domains);

-- features => NULL: every column that has a domain but the label, as the table
-- has them
SELECT jsonb_path_query_array(m::jsonb, '$.features[*].column') AS columns,
       distance(dp_weights(m), dp_weights(dp_logreg_train('clinic', 'y', '{i2,i4,i8,f4,f8,n,b,t,vc,bp,e,u,d,ts,tz,v8,v4,pc,st,sw,em}', 'Infinity'))) < 1e-9 AS same
  FROM dp_logreg_train('clinic', 'y', NULL, 'Infinity') m;
SELECT jsonb_path_query_array(m::jsonb, '$.features[*].column') AS with_domains
  FROM dp_logreg_train('clinic', 'y', NULL::text[], 'Infinity', domains => '{"id": [1, 60]}') m;
SELECT jsonb_path_query_array(m::jsonb, '$.features[*].column') AS other_label
  FROM dp_svm_train('clinic', 'b', NULL, 1, domains => '{"id": [1, 60]}') m;

-- Domains given take precedence; numbers as categories
SELECT m::jsonb #> '{features,0}' AS given FROM dp_logreg_train('clinic', 'y', 'i4', 1, domains => '{"i4": [20, 30]}') m
UNION ALL SELECT m::jsonb #> '{features,0}' FROM dp_logreg_train('clinic', 'y', 'e', 1, domains => '{"e": ["oncology"]}') m
UNION ALL SELECT m::jsonb #> '{features,0}' FROM dp_logreg_train('clinic', 'y', 'v8', 1, domains => '{"v8": {"norm": 7}}') m
UNION ALL SELECT m::jsonb #> '{features,0}' FROM dp_logreg_train('clinic', 'y', 'i2', 1, domains => '{"i2": {"categories": [3, 1]}}') m;
SELECT i2, dp_encode(m, clinic) AS hot FROM clinic, dp_logreg_train('clinic', 'y', 'i2', 1, domains => '{"i2": {"categories": [3, 1]}}', options => '{"intercept": false}') m
  WHERE i2 BETWEEN 1 AND 3 AND id <= 41 ORDER BY i2;
-- any short type by its text form, which a cast would not always give; a view
-- computes one from the others
CREATE VIEW printed AS SELECT id, y, ('10.0.0.' || 1 + i4 % 4)::inet AS address, ('08:00:2b:01:02:0' || 1 + i4 % 3)::macaddr AS mac, t::name AS name, t::"char" AS "char",
  timetz '12:00+00' + i4 % 2 * interval '1 hour' AS "time", (100 + i4 % 3)::oid AS oid, (i4 % 3)::numeric(4, 2) AS rounded FROM clinic;
SELECT v.name AS feature, jsonb_array_length(domains -> v.name) AS given, count(DISTINCT dp_encode(m, printed)) AS found,
       distance(dp_weights(m::text::dp_model), dp_weights(dp_logreg(y, dp_encode(m, printed), 'Infinity', '{"lambda": 0.001, "intercept": false, "dimension": 2}'))) < 1e-9 AS trained_on_them
  FROM (VALUES ('address', '{"address": ["10.0.0.1", "10.0.0.2/32"]}'::jsonb), ('mac', '{"mac": ["08:00:2b:01:02:01", "08-00-2B-01-02-02"]}'), ('name', '{"name": ["a", "b"]}'),
    ('char', '{"char": ["a", "b"]}'), ('time', '{"time": ["12:00:00+00", "13:00+00"]}'), ('oid', '{"oid": ["100", "101"]}')) v(name, domains),
  LATERAL (SELECT dp_logreg_train('printed', 'y', v.name, 'Infinity', lambda => 0.001, domains => domains, options => '{"intercept": false}')) s(m),
  printed GROUP BY v.name, domains, m::text ORDER BY 1;
SELECT rounded, dp_encode(m, printed) AS hot FROM printed, dp_logreg_train('printed', 'y', 'rounded', 1, domains => '{"rounded": {"categories": [2, 1.0]}}', options => '{"intercept": false}') m
  GROUP BY 1, 2 ORDER BY 1;
SELECT dperm.dperm_row('\x1100000365', '10.0.0.1'::inet) = dperm.dperm_row('\x0a', '10.0.0.1'::text) AS printed, '10.0.0.1'::inet::text AS as_cast;
-- a single vector: by arguments, by its domain, by the catalog
SELECT distance(dp_weights(dp_logreg_train('clinic', 'y', 'v8', 'Infinity', domains => '{"v8": {"norm": 2}}')),
                dp_weights(dp_logreg_train('clinic', 'y', '{v8}', 'Infinity', domains => '{"v8": {"norm": 2}}'))) < 1e-9 AS norm,
       dp_logreg_train('clinic', 'y', 'v8', 1)::jsonb #>> '{features,0,dimension}' AS by_the_catalog;

-- Mistakes, each with the column that it is about
SELECT outcomes($$ dp_logreg_train('clinic', 'y', ?) $$, $$
  '{i4,y}', 1 | '{i4,e,i4}', 1 | '{i4,none}', 1 | '{i4,NULL}', 1
  '{i4,v8}', 1, options => '{"norm": 2}' | 'i4', 1, domains => '{"i4": {"dimension": 1}}'
  '{i4,t}', 1, domains => jsonb_build_object('t', (SELECT jsonb_agg(i::text) FROM generate_series(1, 4999) i)) $$);
SELECT outcomes($$ dp_logreg_train('clinic', 'y', '{i4,e}', 1, domains => ?) $$, $$
  '{"n": [1, 0]}' | '{"y": [false, false]}' | '{"none": [0, 1]}' | '{"i4": ["a", "b"]}'
  '{"i4": [5, 5]}' | '{"e": []}' | '{"e": ["surgery", "surgery"]}' | '[]' | 'null' $$);
SELECT dp_logreg_train('clinic', 'y', '{i4,e}', 1, domains => '{"e": ["maternity"]}');
SELECT outcomes($$ dp_svm_train('clinic', 'y', ?) $$,
  $$ '{i4,id}', 1 | '{e,v8}', 1, domains => '{"v8": [1, 2]}' $$);

-- Hostile values, one at a time, in the table that allows them; each with the
-- value that it is read as, NULL for none
CREATE TABLE hostile (id serial, feature text, value text, read_as text);
INSERT INTO hostile (feature, value, read_as) VALUES
  ('i2', '32767', '30'), ('i2', '-32768', '-10'), ('i4', '2147483647', '120'), ('i4', '-1', '0'), ('i8', '9223372036854775807', '1000000000000'), ('i8', '-9223372036854775808', '0'),
  ('f4', 'NaN', NULL), ('f4', 'Infinity', '2.5'), ('f4', '-Infinity', '-1.5'), ('f4', '3e38', '2.5'), ('f4', '1e-45', '0'),
  ('f8', 'NaN', NULL), ('f8', 'Infinity', '1'), ('f8', '-Infinity', '0'), ('f8', '1e308', '1'), ('f8', '5e-324', '0'), ('f8', '-0', '0'),
  ('n', 'NaN', NULL), ('n', 'Infinity', '60'), ('n', '-Infinity', '10'), ('n', '1e400', '60'), ('n', '-1e400', '10'), ('n', '1e-400', '10'), ('pc', '1e1000', '100'), ('pc', 'NaN', NULL),
  ('t', 'd', '?'), ('t', '', '?'), ('t', 'A', '?'), ('t', 'a ', '?'), ('t', 'aa', '?'), ('t', repeat('a', 100000), '?'), ('vc', 'x y', '?'), ('bp', 'p q', '?'), ('bp', 'p    ', 'p'), ('bp', '', '?'),
  ('u', '00000000-0000-0000-0000-000000000003', '00000000-0000-0000-0000-000000000004'), ('u', '{00000000-0000-0000-0000-000000000001}', '00000000-0000-0000-0000-000000000001'),
  ('sw', 'cardiology', NULL), ('st', 'IV', NULL),
  ('d', 'infinity', '2020-12-31'), ('d', '-infinity', '2020-01-01'), ('d', '4713-01-01 BC', '2020-01-01'), ('d', '5874897-12-31', '2020-12-31'), ('d', '2021-01-01', '2020-12-31'),
  ('ts', 'infinity', '2020-12-31 12:00'), ('ts', '-infinity', '2020-01-01'), ('ts', '294276-12-31 23:59:59', '2020-12-31 12:00'), ('ts', '2020-12-31 12:00:01', '2020-12-31 12:00'),
  ('tz', 'infinity', '2020-12-31 12:00+00'), ('tz', '-infinity', '2020-01-01 00:00+00'), ('tz', '4714-11-24 00:00:00+00 BC', '2020-01-01 00:00+00'),
  ('v8', '{1,2}', NULL), ('v8', '{}', NULL), ('v8', '{1,NULL,1}', NULL), ('v8', '{NaN,1,1}', NULL), ('v8', '{1,1,-Infinity}', NULL), ('v8', '{{1,1,1}}', NULL),
  ('v8', '{30,-40,0}', '{0.6,-0.8,0}'), ('v8', '{1e308,0,0}', '{1,0,0}'), ('v8', '[5:7]={0.1,0.2,0.3}', '{0.1,0.2,0.3}'), ('v4', '{3e38,0}', '{1,0}'), ('v4', '{NaN,0}', NULL), ('em', '{1,2,3}', NULL);
INSERT INTO hostile (feature, value, read_as) SELECT feature, NULL, NULL FROM unnest('{i2,i4,i8,f4,f8,n,b,t,vc,bp,e,u,d,ts,tz,v8,v4,pc,st,sw,em}'::text[]) feature;
-- Every tenth row gets the value; training says nothing, and is as by hand and
-- as with the value that it is read as
CREATE FUNCTION as_documented(feature text, value text, read_as text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  features text[] := ARRAY[feature, CASE feature WHEN 'i4' THEN 'i2' ELSE 'i4' END];
  domains jsonb := domains_of('clinic', features);
  got dp_model;
  want dp_model;
  hand text;
BEGIN
  TRUNCATE loose;
  INSERT INTO loose SELECT * FROM clinic;
  EXECUTE format('UPDATE loose SET %I = %L WHERE id %% 10 = 0', feature, value);
  got := dp_logreg_train('loose', 'y', features, 'Infinity', lambda => 0.001, knots => 1, domains => domains);
  hand := as_by_hand(features, 'loose', true, domains);
  EXECUTE format('UPDATE loose SET %I = %L WHERE id %% 10 = 0', feature, read_as);
  want := dp_logreg_train('loose', 'y', features, 'Infinity', lambda => 0.001, knots => 1, domains => domains);
  RETURN CASE WHEN hand <> 'as by hand' THEN hand
    WHEN distance(dp_weights(got), dp_weights(want)) > 1e-9 THEN 'by hand, but not as read' ELSE 'as documented' END;
END $$;
SELECT feature, left(value, 40) AS value, left(read_as, 40) AS read_as, as_documented(feature, value, read_as) FROM hostile ORDER BY id;
-- the test is not vacuous
SELECT as_documented('i4', '2147483647', '110') AS another_value, as_documented('t', 'd', 'a') AS a_category, as_documented('v8', NULL, '{0,0,0.3}') AS a_vector;
-- All of them in one table: by hand; with noise, by both methods, and with a
-- kernel
TRUNCATE loose;
DO $$
DECLARE
  h hostile;
BEGIN
  FOR h IN SELECT * FROM hostile LOOP
    EXECUTE format('INSERT INTO loose (y, %I) SELECT y, %L FROM (VALUES (true), (false), (NULL)) v(y)', h.feature, h.value);
  END LOOP;
END $$;
INSERT INTO loose SELECT * FROM clinic;
CREATE TABLE every AS SELECT '{i2,i4,i8,f4,f8,n,b,t,vc,bp,e,u,d,ts,tz,v8,v4,pc,st,sw,em}'::text[] AS feature, domains_of('clinic', '{i2,i4,i8,f4,f8,n,b,t,vc,bp,e,u,d,ts,tz,v8,v4,pc,st,sw,em}') AS domain;
SELECT as_by_hand(feature, 'loose', true, domain) FROM every;
SELECT count(m) AS trained, bool_and(m::text !~ 'NaN|Infinity') AS finite FROM (
  SELECT dp_logreg_train('loose', 'y', feature, e, options => jsonb_build_object('method', o), domains => domain) FROM every, (VALUES (1e-6), (1), (500)) b(e), (VALUES ('objective'), ('output')) c(o)
  UNION ALL SELECT dp_svm_train('loose', 'y', feature, 1, kernel => 'matern', options => '{"kernel_features": 10}', domains => domain) FROM every) s(m);

-- More columns than a function has arguments: they travel as one record
DO $$
BEGIN
  EXECUTE (SELECT format('CREATE TABLE broad (y boolean, %s)', string_agg(format(CASE WHEN k % 10 = 0 THEN 'c%s text CHECK (c%1$s IN (''a'', ''b''))'
                                                                                 ELSE 'c%s int CHECK (c%1$s BETWEEN 0 AND 9)' END, k), ', ' ORDER BY k)) FROM generate_series(1, 140) k);
  EXECUTE (SELECT format('INSERT INTO broad SELECT sin(i * i) > 0, %s FROM generate_series(1, 150) i',
                         string_agg(format(CASE WHEN k % 10 = 0 THEN '(ARRAY[''a'', ''b'', NULL])[1 + i * %s / 10 %% 3]'
                                           ELSE 'NULLIF(i * %s %% 11, 10)' END, k), ', ' ORDER BY k)) FROM generate_series(1, 140) k);
END $$;
CREATE FUNCTION broad_as_by_hand(columns int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  model dp_model := dp_logreg_train('broad', 'y', (SELECT array_agg('c' || k ORDER BY k) FROM generate_series(1, columns) k), 'Infinity', lambda => 0.01, options => '{"intercept": false}', knots => 1);
BEGIN
  TRUNCATE by_hand;
  EXECUTE (SELECT format('INSERT INTO by_hand SELECT y, ARRAY(SELECT v / sqrt(%s::float8) FROM unnest(ARRAY[%s]::float8[]) WITH ORDINALITY u(v, k) ORDER BY k) FROM broad', columns,
                         string_agg(format(CASE WHEN k % 10 = 0 THEN 'coalesce((c%s = ''a'')::int, 0), coalesce((c%1$s = ''b'')::int, 0)'
                                           ELSE 'coalesce(c%s * 2 / 9.0 - 1, 0)' END, k), ', ' ORDER BY k)) FROM generate_series(1, columns) k);
  RETURN distance(dp_weights(model), dp_weights(dp_logreg_train('by_hand', 'y', 'x', 'Infinity', lambda => 0.01, options => '{"intercept": false}', domains => jsonb_build_object('x', jsonb_build_object('dimension', cardinality(dp_weights(model))))))) < 1e-9;
END $$;
SELECT columns, broad_as_by_hand(columns) FROM unnest(ARRAY[1, 2, 89, 90, 91, 140]) columns;
-- a record is made in memory, so that what is too long to be a category stays
-- out of it
SELECT dperm.dperm_bounded('abc'::text) AS short, length(dperm.dperm_bounded(repeat('a', 131068))) AS long, dperm.dperm_bounded(repeat('a', 131069)) IS NULL AS longer, dperm.dperm_bounded(ARRAY[1, 2]) AS list, dperm.dperm_bounded(7) AS number;
ALTER TABLE broad DROP CONSTRAINT broad_c10_check;
CREATE TABLE long_text AS SELECT dp_logreg_train('broad', 'y', NULL, 'Infinity', domains => '{"c10": ["a", "b"]}') AS model;
UPDATE broad SET c10 = repeat('a', 1000000) WHERE c10 IS NULL;
SELECT distance(dp_weights(model), dp_weights(dp_logreg_train('broad', 'y', NULL, 'Infinity', domains => '{"c10": ["a", "b"]}'))) < 1e-9 AS as_unlisted FROM long_text;
UPDATE broad SET c10 = NULL WHERE c10 NOT IN ('a', 'b');
ALTER TABLE broad ADD CONSTRAINT broad_c10_check CHECK (c10 IN ('a', 'b'));

-- In parallel workers: arguments and records. Nothing is kept in memory, so
-- that there are passes; the first read is the caller's own and the passes are
-- the workers', who trip over these views
SET dperm.cache_memory = 0;
CREATE TABLE long AS SELECT i, i % 3 = 0 AS y, (i * 7) % 100 AS a, 'k' || i % 301 AS k, (ARRAY['surgery', 'oncology'])[1 + i / 7 % 2]::ward AS e FROM generate_series(1, 8000) i;
ALTER TABLE long SET (parallel_workers = 2);
CREATE TABLE long_domains AS SELECT jsonb_build_object('a', '[0, 50]'::jsonb, 'k', jsonb_agg('k' || i)) AS domain FROM generate_series(1, 300) i;
ANALYZE long;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE FUNCTION by_caller(i int) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  IF pg_backend_pid() <> current_setting('test.caller')::int THEN
    RAISE 'a worker reads a row';
  END IF;
  RETURN true;
END $$;
CREATE VIEW for_caller AS SELECT * FROM long WHERE by_caller(i);
CREATE VIEW broad_for_caller AS SELECT broad.* FROM broad WHERE by_caller(1 + (c1 * 0));
ALTER TABLE broad SET (parallel_workers = 2);
SELECT set_config('test.caller', pg_backend_pid()::text, false) IS NOT NULL AS caller;
SET parallel_leader_participation = off;
SET dperm.cache_memory = '64MB';
\set VERBOSITY terse
SELECT dp_logreg_train('for_caller', 'y', '{a,k,e}', 'Infinity', lambda => 0.01, domains => domain)::jsonb -> 'rows' AS rows FROM long_domains;
SELECT dp_logreg_train('broad_for_caller', 'y', NULL, 'Infinity', lambda => 0.01)::jsonb -> 'rows' AS as_records;
\set VERBOSITY default
SET dperm.cache_memory = 0;
-- workers alone, then serial, then in memory: the same
CREATE TABLE fit AS SELECT 'parallel' AS how, dp_logreg_train('long', 'y', '{a,k,e}', 'Infinity', lambda => 0.01, domains => domain) AS model FROM long_domains
  UNION ALL SELECT 'parallel, records', dp_logreg_train('broad', 'y', NULL, 'Infinity', lambda => 0.01);
RESET parallel_leader_participation;
SET max_parallel_workers_per_gather = 0;
SELECT how, distance(dp_weights(model), dp_weights(CASE how WHEN 'parallel' THEN dp_logreg_train('long', 'y', '{a,k,e}', 'Infinity', lambda => 0.01, domains => domain)
                                                   ELSE dp_logreg_train('broad', 'y', NULL, 'Infinity', lambda => 0.01) END)) < 1e-9 AS same FROM fit, long_domains;
RESET dperm.cache_memory;
SELECT how, distance(dp_weights(model), dp_weights(CASE how WHEN 'parallel' THEN dp_logreg_train('long', 'y', '{a,k,e}', 'Infinity', lambda => 0.01, domains => domain)
                                                   ELSE dp_logreg_train('broad', 'y', NULL, 'Infinity', lambda => 0.01) END)) < 1e-9 AS same_in_memory FROM fit, long_domains;
RESET max_parallel_workers_per_gather;

DROP VIEW clinic_view, printed, for_caller, broad_for_caller;
DROP MATERIALIZED VIEW clinic_stored;
DROP FUNCTION as_by_hand, as_documented, broad_as_by_hand, encoded, block, ranged, timed, one_hot, clipped, distance, domains_of, by_caller;
DROP TABLE clinic, loose, clinic_parts, by_hand, hostile, every, broad, long_text, long, long_domains, fit;
DROP DOMAIN percent, stage, some_ward, embedding;
DROP TYPE ward;
