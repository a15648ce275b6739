--
-- Persons: with a unit, privacy per person, not per row, and the relation is
-- read once
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
SET extra_float_digits = 0;
CREATE SCHEMA persons;
SET search_path = persons, public;

-- 300 persons with 1, 2, 3, 4, 6 or 12 labelled rows, and some without a label;
-- person 301 has no labelled row; rows of nobody
CREATE TABLE visits AS
  SELECT p, k, CASE WHEN k <= m THEN sin(p * 3 + k * 5) + sin(p) > 0 END AS y, 50 + 40 * sin(p * 7 + k) AS age, ARRAY[cos(p + k), sin(p * k)] AS x,
         (ARRAY['a', 'b', 'c', NULL])[1 + (p + k) % 4] AS ward, m
  FROM generate_series(1, 300) p, LATERAL (SELECT (ARRAY[1, 2, 3, 4, 6, 12])[1 + p % 6] AS m) s, generate_series(1, m + p % 3) k;
INSERT INTO visits SELECT 301, k, NULL, 10, ARRAY[1, 1], 'a', NULL FROM generate_series(1, 5) k;
INSERT INTO visits SELECT NULL, k, true, 90, ARRAY[1, -1], 'c', NULL FROM generate_series(1, 200) k;

-- The number of units, whatever it is called
CREATE FUNCTION units(model dp_model) RETURNS bigint LANGUAGE sql AS $$ SELECT coalesce(model::jsonb ->> 'persons', model::jsonb ->> 'rows')::bigint $$;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS $$ SELECT max(abs(v - w)) FROM unnest(dp_weights(a), dp_weights(b)) t(v, w) $$;

-- A row of weight 1/m is a row that occurs 12/m times in a table of 12 rows for
-- each person; person 301 has 12 empty ones
CREATE TABLE repeated AS SELECT v.* FROM visits v, generate_series(1, 12 / m) WHERE y IS NOT NULL AND p IS NOT NULL;
INSERT INTO repeated SELECT 301, k, NULL, 0, NULL, NULL, NULL FROM generate_series(1, 12) k;
CREATE TABLE ways (way text, options text);
INSERT INTO ways VALUES
  ('numbers', $$, 'y', '{age}', 'Infinity', lambda => 0.01, domains => '{"age": [0, 100]}'$$),
  ('a vector', $$, 'y', 'x', 'Infinity', lambda => 0.001, domains => '{"x": {"dimension": 2}}'$$),
  ('categories', $$, 'y', '{age,ward,x}', 'Infinity', lambda => 0.01, domains => '{"age": [0, 100], "ward": ["a", "b"], "x": {"dimension": 2, "norm": 2}}'$$),
  ('only categories', $$, 'y', '{ward}', 'Infinity', lambda => 0.01, options => '{"intercept": false}', domains => '{"ward": ["a", "b", "c"]}'$$),
  ('a kernel', $$, 'y', '{age,x}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 40}', domains => '{"age": [0, 100], "x": {"dimension": 2, "norm": 2}}'$$),
  ('small lambda', $$, 'y', '{age,x}', 'Infinity', lambda => 1e-6, domains => '{"age": [0, 100], "x": {"dimension": 2, "norm": 2}}'$$);
CREATE FUNCTION train(learner text, relation text, options text, unit text) RETURNS dp_model LANGUAGE plpgsql AS $$
DECLARE
  model dp_model;
BEGIN
  EXECUTE format('SELECT dp_%s_train(%L%s%s)', learner, relation, options, ', unit => ' || quote_literal(unit)) INTO model;
  RETURN model;
END $$;
CREATE FUNCTION train_plain(learner text, relation text, options text) RETURNS dp_model LANGUAGE plpgsql AS $$
DECLARE
  model dp_model;
BEGIN
  EXECUTE format('SELECT dp_%s_train(%L%s)', learner, relation, options) INTO model;
  RETURN model;
END $$;
CREATE TABLE trained AS
  SELECT way, learner, train(learner, 'visits', options, 'p') AS persons, train_plain(learner, 'repeated', options) AS rows
  FROM ways, (VALUES ('logreg'), ('svm')) l(learner);

-- small lambdas magnify what the solvers leave
SELECT way, learner, units(persons) AS persons, units(rows) AS rows, distance(persons, rows) < CASE way WHEN 'small lambda' THEN 1e-3 ELSE 1e-6 END AS same,
       distance(persons, train_plain(learner, 'visits', options)) > 1e-3 AS not_of_rows
FROM trained JOIN ways USING (way) ORDER BY way, learner;
-- by hand: the gradient of the weighted mean over persons, plus the
-- regulariser, vanishes
CREATE FUNCTION gradient(model dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT max(abs(g)) FROM (
    SELECT sum(-z * c / (1 + exp(z * coalesce(dp_decision(model, v), 0))) / m) / 301 + (model::jsonb ->> 'lambda')::float8 * min(w) AS g
    FROM visits v, LATERAL (SELECT CASE WHEN y THEN 1 ELSE -1 END) t(z), unnest(dp_encode(model, v), dp_weights(model)) WITH ORDINALITY u(c, w, j)
    WHERE p IS NOT NULL AND y IS NOT NULL GROUP BY j) q
$$;
SELECT way, gradient(persons) < 1e-9 AS vanishes, gradient(rows) < 1e-6 AS that_of_rows_too FROM trained WHERE learner = 'logreg' ORDER BY way;

-- Rows that do not fit into memory go to a file: the same weights
SET dperm.cache_memory = 0;
CREATE TABLE spooled AS SELECT way, learner, train(learner, 'visits', options, 'p') AS persons FROM ways, (VALUES ('logreg'), ('svm')) l(learner);
RESET dperm.cache_memory;
SELECT way, learner, units(s.persons) AS persons, distance(s.persons, t.persons) < CASE way WHEN 'small lambda' THEN 1e-3 ELSE 1e-6 END AS same
FROM spooled s JOIN trained t USING (way, learner) ORDER BY way, learner;
SELECT way, gradient(persons) < 1e-9 AS vanishes FROM spooled WHERE learner = 'logreg' ORDER BY way;
-- enough of them for a sample of a sample, and for several chunks
CREATE TABLE many AS SELECT i % 4001 AS p, cos(i) + 0.3 * sin(i % 4001) > 0.1 AS y, ARRAY[cos(i), sin(i * 3), cos(i * 5), sin(i / 7.0), i % 10 / 10.0, (i % 4001) / 4001.0]::float8[] AS x FROM generate_series(1, 300000) i;
CREATE TABLE of_many AS SELECT 'memory' AS way, dp_logreg_train('many', 'y', 'x', 'Infinity', lambda => 1e-4, domains => '{"x": {"dimension": 6}}', unit => 'p') AS model;
SET dperm.cache_memory = '10MB';
INSERT INTO of_many SELECT 'some memory', dp_logreg_train('many', 'y', 'x', 'Infinity', lambda => 1e-4, domains => '{"x": {"dimension": 6}}', unit => 'p');
SET dperm.cache_memory = 0;
INSERT INTO of_many SELECT 'no memory', dp_logreg_train('many', 'y', 'x', 'Infinity', lambda => 1e-4, domains => '{"x": {"dimension": 6}}', unit => 'p');
RESET dperm.cache_memory;
SELECT b.way, units(b.model) AS persons, distance(a.model, b.model) < 1e-5 AS same FROM of_many a, of_many b WHERE a.way = 'memory' ORDER BY 1;

-- the file counts against temp_file_limit; its blocks do not show in EXPLAIN,
-- since how often they are read depends on what rows hold
SET dperm.cache_memory = 0;
SET temp_file_limit = '1MB';
-- versions word it differently
\set VERBOSITY sqlstate
SELECT dp_logreg_train('many', 'y', 'x', 1, domains => '{"x": {"dimension": 6}}', unit => 'p');
\set VERBOSITY default
RESET temp_file_limit;
CREATE FUNCTION temporary_blocks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  line text;
  found bigint := 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS) ' || query LOOP
    IF line ~ 'temp' THEN
      found := found + 1;
    END IF;
  END LOOP;
  RETURN found;
END $$;
SELECT temporary_blocks($$SELECT dp_logreg_train('many', 'y', 'x', 1, domains => '{"x": {"dimension": 6}}', unit => 'p')$$) AS training, temporary_blocks($$SELECT dp_evaluate(model, 'many', epsilon => 1, unit => 'p') FROM of_many LIMIT 1$$) AS evaluation,
       temporary_blocks('SELECT count(*) FROM (SELECT i FROM generate_series(1, 1000000) i) s') > 0 AS seen_elsewhere;
RESET dperm.cache_memory;

-- What is a unit: equality is that of the type
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN code AS text CHECK (length(VALUE) < 1000000);
CREATE TABLE kinds (y boolean, x float8[], a int2, b int4, c int8, d oid, e numeric, f uuid, g name, h text, i varchar(20), j char(10), k bytea, l date, m timestamp, n mood, o code);
INSERT INTO kinds SELECT r % 2 = 0, ARRAY[sin(r)], q, q, q, q, (q || '.' || repeat('0', 1 + r % 3))::numeric, md5(q::text)::uuid, 'n' || q, 't' || q, 'v' || q, 'c' || q || repeat(' ', r % 4), decode(lpad(q::text, 4, '0'), 'hex'),
  date '2000-01-01' + q, timestamp '2000-01-01' + q * interval '1 second', (enum_range(NULL::mood))[1 + q % 3], 'd' || q
  FROM generate_series(1, 500) r, LATERAL (SELECT r % 37 AS q) s;
SELECT u, units(dp_logreg_train('kinds', 'y', 'x', 1, domains => '{"x": {"dimension": 1}}', unit => u)) AS persons FROM unnest('{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o}'::text[]) u ORDER BY u;
-- 1.0 is 1.00, and blanks at the end of a char(n) do not count; infinities and
-- NaN of numeric are values like others
CREATE TABLE numbers AS SELECT i % 2 = 0 AS y, ARRAY[sin(i)] AS x, (ARRAY['1', '1.0', '1.000', '-0', '0.00', '10e-1', 'NaN', '100', '1e2'])[1 + i % 9]::numeric AS u FROM generate_series(1, 90) i;
SELECT units(dp_logreg_train('numbers', 'y', 'x', 1, domains => '{"x": {"dimension": 1}}', unit => 'u')) AS persons, (SELECT count(DISTINCT u) FROM numbers);
-- a collation that does not tell capitals from small letters, or, without ICU,
-- small letters alone. PostgreSQL 16 lists some collations of ICU whether it
-- has ICU or not
SELECT count(*) > 0 AS icu FROM pg_collation WHERE collprovider = 'i' AND collname = 'und-x-icu' \gset
CREATE TABLE letters (y boolean, x float8[], u text);
INSERT INTO letters SELECT i % 2 = 0, ARRAY[sin(i)], CASE WHEN i % 2 = 0 THEN 'ana' ELSE 'ANA' END || i % 5 FROM generate_series(1, 100) i;
SELECT units(dp_logreg_train('letters', 'y', 'x', 1, domains => '{"x": {"dimension": 1}}', unit => 'u')) AS persons;
\if :icu
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER TABLE letters ALTER u TYPE text COLLATE no_case;
\else
UPDATE letters SET u = lower(u);
\endif
SELECT units(dp_logreg_train('letters', 'y', 'x', 1, domains => '{"x": {"dimension": 1}}', unit => 'u')) AS persons;
-- values that are stored out of line, compressed or not; those above 128 kB are
-- not fetched and belong to nobody
CREATE TABLE large (y boolean, x float8[], u text);
ALTER TABLE large ALTER u SET STORAGE EXTERNAL;
INSERT INTO large SELECT i % 2 = 0, ARRAY[sin(i)], repeat('u', 20000) || i % 7 FROM generate_series(1, 50) i;
ALTER TABLE large ALTER u SET STORAGE EXTENDED;
INSERT INTO large SELECT i % 2 = 0, ARRAY[sin(i)], repeat('u', 20000) || i % 9 FROM generate_series(1, 50) i;
SELECT units(dp_logreg_train('large', 'y', 'x', 1, domains => '{"x": {"dimension": 1}}', unit => 'u')) AS persons;
INSERT INTO large SELECT i % 2 = 0, ARRAY[sin(i)], repeat('u', 131068) FROM generate_series(1, 50) i;
INSERT INTO large SELECT i % 2 = 0, ARRAY[sin(i)], repeat('u', 131069) || i FROM generate_series(1, 50) i;
SELECT units(dp_logreg_train('large', 'y', 'x', 1, domains => '{"x": {"dimension": 1}}', unit => 'u')) AS persons;
-- many values with text as long as it gets
CREATE TABLE texts AS SELECT i % 2 = 0 AS y, ARRAY[sin(i)] AS x, repeat(md5((i % 20000)::text), 1 + i % 20000 % 5) AS u FROM generate_series(1, 60000) i;
SELECT units(dp_logreg_train('texts', 'y', 'x', 1, domains => '{"x": {"dimension": 1}}', unit => 'u')) AS persons;

-- Only nobody; no row at all; one person
CREATE VIEW nobody AS SELECT * FROM visits WHERE p IS NULL;
CREATE VIEW one_person AS SELECT * FROM visits WHERE p = 5;
CREATE VIEW no_row AS SELECT * FROM visits WHERE false;
SELECT dp_logreg_train('nobody', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p') IS NULL AS nobody, dp_logreg_train('no_row', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p') IS NULL AS no_row,
       dp_logreg_tune('nobody', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p') IS NULL AS nobody_tuned, units(dp_logreg_train('one_person', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p')) AS one;

-- Views, partitioned tables, materialized views; the order of rows does not
-- matter
CREATE VIEW seen AS SELECT p AS who, y AS outcome, x FROM visits ORDER BY md5(p::text || k);
CREATE MATERIALIZED VIEW stored AS SELECT * FROM visits;
CREATE TABLE parts (LIKE visits) PARTITION BY HASH (k);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO parts SELECT * FROM visits;
SELECT relation, units(m), distance(m, t.persons) < 1e-6 AS same
FROM trained t, (VALUES ('seen', dp_logreg_train('seen', 'outcome', 'x', 'Infinity', lambda => 0.001, domains => '{"x": {"dimension": 2}}', unit => 'who')), ('stored', dp_logreg_train('stored', 'y', 'x', 'Infinity', lambda => 0.001, domains => '{"x": {"dimension": 2}}', unit => 'p')),
  ('parts', dp_logreg_train('parts', 'y', 'x', 'Infinity', lambda => 0.001, domains => '{"x": {"dimension": 2}}', unit => 'p'))) v(relation, m)
WHERE way = 'a vector' AND learner = 'logreg' ORDER BY 1;

-- One scan, whatever the settings; a choice on a public table needs the number
-- of persons before
CREATE FUNCTION scans(query text, memory text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  before bigint := (SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0) FROM pg_stat_xact_user_tables WHERE relname = 'visits');
BEGIN
  PERFORM set_config('dperm.cache_memory', memory, true);
  EXECUTE query;
  RETURN (SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0) FROM pg_stat_xact_user_tables WHERE relname = 'visits') - before;
END $$;
CREATE INDEX ON visits (p);
ANALYZE visits;
SELECT what, memory, scans(query, memory) FROM (VALUES ('0'), ('64kB'), ('256MB')) m(memory), (VALUES
  (1, 'train', $$SELECT dp_logreg_train('visits', 'y', 'x', 0.1, domains => '{"x": {"dimension": 2}}', unit => 'p')$$),
  (2, 'train svm', $$SELECT dp_svm_train('visits', 'y', 'x', 'Infinity', lambda => 1e-6, domains => '{"x": {"dimension": 2}}', unit => 'p')$$),
  (3, 'tune', $$SELECT dp_logreg_tune('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p')$$),
  (4, 'tune kernels', $$SELECT dp_svm_tune('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p', candidates => '[{"kernel": "gaussian", "kernel_features": 10}, {"kernel": "laplacian", "kernel_features": 10}, {"lambda": 0.1}]')$$),
  (6, 'evaluate', $$SELECT dp_evaluate(persons, 'visits', epsilon => 1, unit => 'p') FROM trained WHERE way = 'categories' AND learner = 'svm'$$),
  (7, 'roc', $$SELECT dp_roc(persons, 'visits', epsilon => 1, unit => 'p') FROM trained WHERE way = 'a kernel' AND learner = 'svm'$$),
  (8, 'cost', $$SELECT dp_cost('visits', 'y', 'x', 1, units => 300, domains => '{"x": {"dimension": 2}}', unit => 'p')$$)) q(place, what, query)
ORDER BY place, memory;

-- Tuning: persons are divided into portions
SELECT t ->> 'way' AS way, t ->> 'persons' AS persons, t ->> 'portions' AS portions, u BETWEEN 50 AND 150 AS size
FROM (SELECT m::jsonb -> 'tuning' AS t, units(m) AS u FROM dp_logreg_tune('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p', candidates => '[{"lambda": 0.1}, {"lambda": 0.01}]') m) s;
SET dperm.cache_memory = 0;
SELECT t ->> 'way' AS way, t ->> 'persons' AS persons, t ->> 'portions' AS portions, u BETWEEN 50 AND 150 AS size
FROM (SELECT m::jsonb -> 'tuning' AS t, units(m) AS u FROM dp_svm_tune('visits', 'y', '{age,ward}', 1, unit => 'p', domains => '{"age": [0, 100], "ward": ["a", "b"]}', candidates => '[{"lambda": 0.1}, {"kernel": "gaussian", "kernel_features": 20}]') m) s;
RESET dperm.cache_memory;
-- the better candidate wins: one that sees where the vectors are, against kernels
-- to which all of them are far from each other; in memory and from files
SELECT (m::jsonb ->> 'dimension')::int AS dimension FROM dp_logreg_tune('many', 'y', 'x', 20, domains => '{"x": {"dimension": 6}}', unit => 'p',
  candidates => '[{"kernel": "gaussian", "gamma": 1e6, "kernel_features": 10}, {"kernel": "laplacian", "gamma": 1e6, "kernel_features": 12}, {}]') m;
SET dperm.cache_memory = 0;
SELECT (m::jsonb ->> 'dimension')::int AS dimension FROM dp_logreg_tune('many', 'y', 'x', 20, domains => '{"x": {"dimension": 6}}', unit => 'p',
  candidates => '[{"kernel": "gaussian", "gamma": 1e6, "kernel_features": 10}, {"kernel": "laplacian", "gamma": 1e6, "kernel_features": 12}, {}]') m;
RESET dperm.cache_memory;
-- all rows of a person are in one portion: without noise, the two weights that belong to the two rows of a person are both 0 or both are not
CREATE TABLE apart AS SELECT p, true AS y, ARRAY(SELECT (i = 2 * p - k)::int::float8 FROM generate_series(1, 200) i) AS x FROM generate_series(1, 100) p, generate_series(0, 1) k;
SELECT count(*) FILTER (WHERE (w[2 * p - 1] = 0) <> (w[2 * p] = 0)) AS divided, count(*) FILTER (WHERE w[2 * p] <> 0) BETWEEN 1 AND 99 AS some_trained
FROM dp_weights(dp_logreg_tune('apart', 'y', 'x', 'Infinity', unit => 'p', domains => '{"x": {"dimension": 200}}', options => '{"intercept": false}', candidates => '[{"lambda": 0.1}]')) w, generate_series(1, 100) p;
-- the choice has the noise of persons, not of parts of them. Half of the rows are mistakes of the candidate that is nothing but noise, and none of the other, which is its prior;
-- with this epsilon either is chosen with a probability of at least 0.47. That 40 choices are the same has a probability below 1e-10
CREATE TABLE opposite AS SELECT p, true AS y, ARRAY[s, 0.01] AS x FROM generate_series(1, 100) p, unnest('{1,-1}'::float8[]) s;
CREATE TABLE upright AS SELECT true AS y, '{0,1}'::float8[] AS x FROM generate_series(1, 100);
SELECT count(DISTINCT m::jsonb #>> '{tuning,chosen,lambda}') AS chosen
FROM dp_logreg_train('upright', 'y', 'x', 'Infinity', '{"x": {"dimension": 2}}', lambda => 0.01, options => '{"intercept": false}') up,
     LATERAL (SELECT dp_logreg_tune('opposite', 'y', NULL, 0.001, unit => 'p', prior => up, candidates => '[{"lambda": 0.1}, {"lambda": 1e9}]') AS m FROM generate_series(1, 40)) s;

-- Evaluation: parts of persons, 2^-20 each, against sums by hand; with a file
-- of notes or not
CREATE FUNCTION evaluated(model dp_model, relation text, unit text) RETURNS float8[] LANGUAGE sql AS
  $$ SELECT array_agg(value) FROM (SELECT * FROM dp_evaluate(model, relation, epsilon => 'Infinity', unit => unit) LIMIT 4) s $$;
CREATE FUNCTION by_hand(model dp_model) RETURNS float8[] LANGUAGE sql AS $$
  SELECT ARRAY[sum(1.0 / m) FILTER (WHERE y AND c), sum(1.0 / m) FILTER (WHERE NOT y AND c), sum(1.0 / m) FILTER (WHERE y AND NOT c), sum(1.0 / m) FILTER (WHERE NOT y AND NOT c)]::float8[]
  FROM (SELECT y, coalesce(dp_decision(model, v), 0) > 0 AS c, m FROM visits v WHERE p IS NOT NULL) s
$$;
SELECT way, learner, max(abs(coalesce(a, 0) - coalesce(b, 0))) < 0.01 AS same, sum(a) BETWEEN 299.99 AND 300 AS all_persons
FROM trained, LATERAL unnest(evaluated(persons, 'visits', 'p'), by_hand(persons)) u(a, b) GROUP BY way, learner ORDER BY way, learner;
SELECT metric, value BETWEEN low AND high AS within, private FROM trained, dp_evaluate(persons, 'visits', epsilon => 1, unit => 'p') WHERE way = 'a vector' AND learner = 'logreg';
-- the noise is that of one row: with 301 persons and a large epsilon, counts
-- are close
SELECT count(*) = 4 AS close FROM trained, LATERAL (SELECT unnest(by_hand(persons)) AS b, (dp_evaluate(persons, 'visits', epsilon => 20, unit => 'p')).value AS a LIMIT 4) s
WHERE way = 'a vector' AND learner = 'logreg' AND abs(a - coalesce(b, 0)) < 5;
CREATE FUNCTION roc_by_hand(model dp_model, bins int) RETURNS TABLE (tpr float8, fpr float8) LANGUAGE sql AS $$
  SELECT sum(w) FILTER (WHERE y AND b >= i) / sum(w) FILTER (WHERE y), sum(w) FILTER (WHERE NOT y AND b >= i) / sum(w) FILTER (WHERE NOT y)
  FROM (SELECT y, 1.0 / m AS w, floor((atan(coalesce(dp_decision(model, v), 0)) / pi() + 0.5) * bins) AS b FROM visits v WHERE p IS NOT NULL AND y IS NOT NULL) s, generate_series(0, bins) i GROUP BY i
$$;
SELECT way, learner, count(*) AS thresholds, max(abs(r.true_positive_rate - coalesce(h.tpr, 0))) < 1e-4 AS same_tpr, max(abs(r.false_positive_rate - coalesce(h.fpr, 0))) < 1e-4 AS same_fpr
FROM trained, LATERAL (SELECT row_number() OVER (ORDER BY threshold DESC) AS i, * FROM dp_roc(persons, 'visits', epsilon => 'Infinity', unit => 'p', bins => 20)) r
  JOIN LATERAL (SELECT row_number() OVER (ORDER BY coalesce(tpr, 0), coalesce(fpr, 0)) AS i, * FROM roc_by_hand(persons, 20)) h USING (i)
GROUP BY way, learner ORDER BY way, learner;
-- a person with a hundred thousand rows has the same weight as one with a
-- single row
CREATE TABLE crowd AS SELECT 1 AS p, i % 2 = 0 AS y, ARRAY[sin(i)] AS x FROM generate_series(1, 100000) i;
INSERT INTO crowd SELECT 1 + i, true, ARRAY[1] FROM generate_series(1, 9) i;
SELECT metric, round(value::numeric, 2) AS value FROM dp_evaluate((SELECT dp_logreg_train('crowd', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 1}}', unit => 'p')), 'crowd', epsilon => 'Infinity', unit => 'p') WHERE metric ~ 'positives|negatives';

-- Nothing shows how many rows there are
SELECT units(dp_logreg_train('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p')) AS persons;
SELECT dp_logreg_tune('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p', candidates => '[{"lambda": 0.1}, {"lambda": 0.01}]') IS NOT NULL AS tuned;
SELECT m.m::text ~ (SELECT '\y' || count(*) || '\y' FROM visits) OR m.m::text ~ (SELECT '\y' || count(*) || '\y' FROM visits WHERE p IS NOT NULL) AS told FROM (SELECT dp_logreg_train('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', delta => 1e-6, unit => 'p') AS m) m;
SELECT units(dp_logreg_train('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', delta => 0.1, options => '{"method": "output"}', unit => 'p')) AS persons;

-- Errors, before any row is read
CREATE FUNCTION complaint(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  message text;
  hint text;
BEGIN
  EXECUTE query;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN sqlstate || ' ' || message || ' / ' || hint;
END $$;
CREATE TABLE bad (y boolean, x float8[], f float8, g float4, t timestamptz, j jsonb, b boolean, z int[], p int, "Q" int);
SELECT u, complaint(format($$SELECT dp_logreg_train('bad', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => %L)$$, u)) FROM unnest('{f,g,t,j,b,z,y,x,q,Q,ctid,"",p}'::text[]) u;
SELECT f, complaint(format($$SELECT %s, unit => 'none')$$, f)) FROM (VALUES ($$dp_svm_train('bad', 'y', 'x', 1, '{"x": {"dimension": 2}}'$$), ($$dp_svm_tune('bad', 'y', 'x', 1, '{"x": {"dimension": 2}}'$$), ($$dp_cost('bad', 'y', 'x', 1, '{"x": {"dimension": 2}}', units => 10$$),
  ($$dp_evaluate((SELECT persons FROM trained WHERE way = 'a vector' AND learner = 'svm'), 'bad', 1, 'y'$$), ($$dp_roc((SELECT persons FROM trained WHERE way = 'a vector' AND learner = 'svm'), 'bad', 1, 'y'$$)) v(f);
SELECT complaint($$SELECT dp_logreg_train('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p', options => '{"analysis": "paper"}')$$);
SELECT complaint($$SELECT dp_svm_tune('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p', candidates => '[{"lambda": 1}, {"analysis": "paper"}]')$$);
SELECT complaint($$SELECT dp_logreg_tune('one_person', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p')$$);
SELECT complaint($$SELECT dp_logreg_tune('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', candidates => '[{"unit": "p"}]')$$);
-- the unit is no feature, also where all columns with a domain are
ALTER TABLE kinds ADD CHECK (b BETWEEN 0 AND 100), ADD CHECK (c BETWEEN 0 AND 100);
SELECT m::jsonb #>> '{features,0,column}' AS first, jsonb_path_exists(m::jsonb, '$.features[*] ? (@.column == "b")') AS has_unit FROM dp_logreg_train('kinds', 'y', NULL, 1, unit => 'b', domains => '{"a": [0, 40]}') m;
-- privileges
CREATE ROLE regress_dperm_persons;
GRANT USAGE ON SCHEMA persons TO regress_dperm_persons;
GRANT SELECT (y, x) ON visits TO regress_dperm_persons;
SET ROLE regress_dperm_persons;
SELECT complaint($$SELECT dp_logreg_train('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p')$$);
RESET ROLE;
GRANT SELECT (p) ON visits TO regress_dperm_persons;
SET ROLE regress_dperm_persons;
SELECT units(dp_logreg_train('visits', 'y', 'x', 1, domains => '{"x": {"dimension": 2}}', unit => 'p')) AS persons;
RESET ROLE;
DROP OWNED BY regress_dperm_persons;
DROP ROLE regress_dperm_persons;
DROP SCHEMA persons CASCADE;
