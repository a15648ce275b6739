--
-- Values that are too large are not fetched, by a rule that does not depend on
-- the call
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

-- How many buffers a query reads, at the least: when the catalog is in memory
CREATE FUNCTION buffers(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  plan json;
  result int;
BEGIN
  FOR i IN 1..3 LOOP
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT json) ' || query INTO plan;
    result := least(result, (plan #>> '{0,Plan,Shared Hit Blocks}')::int + (plan #>> '{0,Plan,Shared Read Blocks}')::int);
  END LOOP;
  RETURN result;
END $$;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN cardinality(dp_weights(a)) = cardinality(dp_weights(b)) THEN
    (SELECT sqrt(sum((v - w) ^ 2)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)) END
$$;

-- Categories: a value of 100 kB is fetched and one of 200 kB is not, whatever
-- the caller's list
CREATE TABLE texts (id int, y boolean, c text, d text);
ALTER TABLE texts ALTER c SET STORAGE external;
INSERT INTO texts SELECT i, i % 3 = 0, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, 'a' FROM generate_series(1, 100) i;
CREATE TABLE middle AS TABLE texts;
CREATE TABLE large AS TABLE texts;
ALTER TABLE middle ALTER c SET STORAGE external;
ALTER TABLE large ALTER c SET STORAGE external;
UPDATE middle SET c = repeat('m', 100000) WHERE id = 7;
UPDATE large SET c = repeat('l', 200000) WHERE id = 7;
VACUUM FULL texts, middle, large;
CREATE FUNCTION by_list(source text, list text[]) RETURNS int LANGUAGE sql AS $$
  SELECT buffers(format('SELECT dp_logreg_train(%L, ''y'', ''c'', ''Infinity'', lambda => 0.1, domains => %L)', source, jsonb_build_object('c', list)))
$$;
SELECT source, many - few BETWEEN -5 AND 5 AS same, few - (SELECT by_list('texts', '{a,b}')) > 8 AS fetched
  FROM (SELECT source, by_list(source, '{a,b}') AS few, by_list(source, ARRAY['a', repeat('x', 120000)]) AS many
        FROM unnest('{texts,middle,large}'::text[]) source) s;
-- in passes, whose number depends on the rows
SET dperm.cache_memory = 0;
SELECT source, by_list(source, '{a,b}') - by_list('texts', '{a,b}') > 12 AS few_fetched,
       by_list(source, ARRAY['a', repeat('x', 120000)]) - by_list('texts', ARRAY['a', repeat('x', 120000)]) > 12 AS many_fetched
  FROM unnest('{texts,middle,large}'::text[]) source;
RESET dperm.cache_memory;
-- in evaluation
CREATE TABLE models AS
  SELECT 'few' AS list, dp_logreg_train('texts', 'y', 'c', 1, lambda => 0.1, domains => '{"c": ["a", "b"]}') AS m
  UNION ALL SELECT 'many', dp_logreg_train('texts', 'y', 'c', 1, lambda => 0.1, domains => jsonb_build_object('c', ARRAY['a', repeat('x', 120000)]));
SELECT source, many - few BETWEEN -5 AND 5 AS same
  FROM unnest('{texts,middle,large}'::text[]) source,
       LATERAL (SELECT buffers(format('SELECT count(*) FROM dp_evaluate((SELECT m FROM models WHERE list = ''few''), %L, 1, ''y'')', source)) AS few,
                       buffers(format('SELECT count(*) FROM dp_evaluate((SELECT m FROM models WHERE list = ''many''), %L, 1, ''y'')', source)) -
                       (SELECT buffers('SELECT dp_weights(m) FROM models WHERE list = ''many''')
                             - buffers('SELECT dp_weights(m) FROM models WHERE list = ''few''')) AS many) b;
-- what is too large is in no list
SELECT distance(dp_logreg_train('large', 'y', 'c', 'Infinity', lambda => 0.1, domains => '{"c": ["a", "b"]}'),
                dp_logreg_train('middle', 'y', 'c', 'Infinity', lambda => 0.1, domains => '{"c": ["a", "b"]}')) < 1e-9 AS unlisted,
       distance(dp_logreg_train('middle', 'y', 'c', 'Infinity', lambda => 0.1, domains => jsonb_build_object('c', ARRAY['a', repeat('m', 100000)])),
                dp_logreg_train('middle', 'y', 'c', 'Infinity', lambda => 0.1, domains => jsonb_build_object('c', ARRAY['a', 'm']))) > 1e-3 AS listed;
-- and cannot be listed
SELECT dp_logreg_train('large', 'y', 'c', 1, domains => jsonb_build_object('c', ARRAY['a', repeat('l', 131068)])) IS NOT NULL AS just_fits;
SELECT dp_logreg_train('large', 'y', 'c', 1, domains => jsonb_build_object('c', ARRAY['a', repeat('l', 131069)]));
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE checked (y boolean, c text);
DO $$ BEGIN EXECUTE format('ALTER TABLE checked ADD CHECK (c IN (''a'', %L))', repeat('l', 131069)); END $$;
\set VERBOSITY terse
SELECT dp_logreg_train('checked', 'y', 'c', 1);
\set VERBOSITY default

-- Labels: the same
CREATE FUNCTION by_positive(source text, positive text) RETURNS int LANGUAGE sql AS $$
  SELECT buffers(format('SELECT dp_logreg_train(%L, ''c'', ''y'', ''Infinity'', lambda => 0.1, positive => %L)', source, positive))
$$;
SELECT source, by_positive(source, repeat('x', 120000)) - by_positive(source, 'a') BETWEEN -5 AND 5 AS same,
       by_positive(source, 'a') - by_positive('texts', 'a') > 8 AS fetched FROM unnest('{texts,middle,large}'::text[]) source;
SELECT dp_logreg_train('large', 'c', 'y', 1, positive => repeat('l', 131069));
\echo :LAST_ERROR_SQLSTATE

-- Arrays in the aggregates: a million elements are not fetched, to see that
-- they are too many
CREATE TABLE vectors (id int, y boolean, x float8[], n numeric[], i int[]);
ALTER TABLE vectors ALTER x SET STORAGE external, ALTER n SET STORAGE external, ALTER i SET STORAGE external;
INSERT INTO vectors SELECT i, i % 3 = 0, ARRAY[sin(i), cos(i)], ARRAY[sin(i), cos(i)], ARRAY[i % 2, i % 5] FROM generate_series(1, 100) i;
CREATE TABLE million AS TABLE vectors;
ALTER TABLE million ALTER x SET STORAGE external, ALTER n SET STORAGE external, ALTER i SET STORAGE external;
UPDATE million SET x = array_fill(0.5::float8, '{1000000}'), n = array_fill(0.5, '{1000000}'), i = array_fill(1, '{1000000}') WHERE id = 7;
CREATE TABLE zero AS SELECT id, y, CASE WHEN id <> 7 THEN x END AS x, CASE WHEN id <> 7 THEN n END AS n, CASE WHEN id <> 7 THEN i END AS i FROM vectors;
VACUUM FULL million, zero, vectors;
SELECT c, buffers(format('SELECT dp_logreg(y, %I, 1, ''{"lambda": 0.1, "dimension": 2}'') FROM million', c)) < 50 AS not_fetched
  FROM unnest('{x,n,i}'::text[]) c;
SELECT distance(a.x, b.x) < 1e-9 AS x, distance(a.n, b.n) < 1e-9 AS n, distance(a.i, b.i) < 1e-9 AS i FROM
  (SELECT dp_logreg(y, x, 'Infinity', '{"lambda": 0.1, "dimension": 2}') AS x, dp_logreg(y, n, 'Infinity', '{"lambda": 0.1, "dimension": 2}') AS n,
          dp_logreg(y, i, 'Infinity', '{"lambda": 0.1, "dimension": 2}') AS i FROM million) a,
  (SELECT dp_logreg(y, x, 'Infinity', '{"lambda": 0.1, "dimension": 2}') AS x, dp_logreg(y, n, 'Infinity', '{"lambda": 0.1, "dimension": 2}') AS n,
          dp_logreg(y, i, 'Infinity', '{"lambda": 0.1, "dimension": 2}') AS i FROM zero) b;
-- nor in training, with any dimension, or in rows that a model is applied to
SELECT buffers('SELECT dp_logreg_train(''million'', ''y'', ''x'', 1, lambda => 0.1, domains => ''{"x": {"dimension": 2}}'')') -
       buffers('SELECT dp_logreg_train(''zero'', ''y'', ''x'', 1, lambda => 0.1, domains => ''{"x": {"dimension": 2}}'')') BETWEEN -5 AND 5 AS training;
CREATE TABLE hundreds (y boolean, x float8[]);
ALTER TABLE hundreds ALTER x SET STORAGE external;
INSERT INTO hundreds SELECT i % 3 = 0, array_fill(i / 1000.0::float8, '{400}') FROM generate_series(1, 100) i;
SELECT buffers('SELECT dp_logreg_train(''hundreds'', ''y'', ''x'', ''Infinity'', lambda => 0.1, domains => ''{"x": {"dimension": 2}}'')') > 200 AS fetched,
       buffers('SELECT dp_logreg_train(''hundreds'', ''y'', ''x'', ''Infinity'', lambda => 0.1, domains => ''{"x": {"dimension": 500}}'')') > 200 AS fetched;

-- Prediction raises an error: an array that it cannot read is a mistake in the
-- query. In a row it is a value like any other
CREATE FUNCTION scored(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE query;
  RETURN 'scored';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
INSERT INTO models SELECT 'lone', dp_logreg(y, x, 'Infinity', '{"lambda": 0.1, "dimension": 2}') FROM vectors
  UNION ALL SELECT 'column', dp_logreg_train('vectors', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 2}}');
SELECT c, scored(format('SELECT %s(m, million.%I) FROM models, million WHERE list = ''lone'' AND id = 7', f, c))
  FROM unnest('{x,n,i}'::text[]) c, unnest('{dp_predict,dp_encode}'::text[]) f ORDER BY f, c;
SELECT (SELECT dp_encode(m, million) FROM million WHERE id = 7) = (SELECT dp_encode(m, zero) FROM zero WHERE id = 7) AS zeros FROM models WHERE list = 'column';

-- Expanded, compressed and packed arrays are read as any other
CREATE TABLE packed AS SELECT id, y, x FROM vectors;
ALTER TABLE packed ALTER x SET STORAGE main;
UPDATE packed SET x = x;
SELECT distance((SELECT dp_logreg(y, array_append(x, 0.25::float8), 'Infinity', '{"lambda": 0.1, "dimension": 3}') FROM packed),
                (SELECT dp_logreg(y, ARRAY[x[1], x[2], 0.25], 'Infinity', '{"lambda": 0.1, "dimension": 3}') FROM packed)) = 0 AS expanded,
       distance((SELECT dp_logreg(y, array_append(CASE WHEN id = 7 THEN array_fill(0::float8, '{9000}') ELSE x END, 0.25::float8), 'Infinity', '{"lambda": 0.1, "dimension": 3}') FROM packed),
                (SELECT dp_logreg(y, CASE WHEN id <> 7 THEN ARRAY[x[1], x[2], 0.25] END, 'Infinity', '{"lambda": 0.1, "dimension": 3}') FROM packed)) = 0 AS expanded_and_large;
CREATE TABLE compressed AS SELECT i % 2 = 0 AS y, array_fill(i::float8, '{4000}') AS x FROM generate_series(1, 20) i;
SELECT bool_and(pg_column_size(x) < 2000) AS inline FROM compressed;
SELECT distance((SELECT dp_logreg(y, x, 'Infinity', '{"lambda": 0.1, "dimension": 4000}') FROM compressed),
                (SELECT dp_logreg(y, x || '{}'::float8[], 'Infinity', '{"lambda": 0.1, "dimension": 4000}') FROM compressed)) = 0 AS compressed,
       dp_weights((SELECT dp_logreg(y, array_fill(1::numeric, '{3}') || NULL::numeric, 'Infinity', '{"lambda": 0.1, "dimension": 4, "intercept": false}') FROM compressed)) = '{0,0,0,0}' AS a_null;
-- a vector of numeric that fits, and one that does not
SELECT 15 AS k, dp_weights(dp_logreg(true, array_fill(('0.' || repeat('5', 16000))::numeric, '{15}'), 'Infinity', '{"lambda": 0.1, "dimension": 15}'))
       <> dp_weights(dp_logreg(true, NULL::numeric[], 'Infinity', '{"lambda": 0.1, "dimension": 15}')) AS read
UNION ALL SELECT 17, dp_weights(dp_logreg(true, array_fill(('0.' || repeat('5', 16000))::numeric, '{17}'), 'Infinity', '{"lambda": 0.1, "dimension": 17}'))
       <> dp_weights(dp_logreg(true, NULL::numeric[], 'Infinity', '{"lambda": 0.1, "dimension": 17}'));

DROP TABLE texts, middle, large, models, checked, vectors, million, zero, hundreds, packed, compressed;
DROP FUNCTION buffers, scored, by_list, by_positive, distance;
