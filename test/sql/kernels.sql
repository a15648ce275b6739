--
-- Kernels: what no straight line can separate, privately; the map is made from
-- its public parameters alone, in training and in prediction
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

-- A chessboard of four fields and two rings, with a little space between them
CREATE TABLE chess (a float8 CHECK (a BETWEEN -1 AND 1), b float8 CHECK (b BETWEEN -1 AND 1), y boolean);
INSERT INTO chess SELECT a, b, (a > 0) <> (b > 0)
  FROM generate_series(1, 20000) i, LATERAL (SELECT (i * 7919 % 20000) / 10000.0 - 1 AS a, ((i * 104729 + 3331) % 19997) / 9998.5 - 1 AS b) s;
CREATE TABLE rings (LIKE chess INCLUDING CONSTRAINTS);
INSERT INTO rings SELECT r * cos(i * 2.399963), r * sin(i * 2.399963), i % 2 = 0
  FROM generate_series(1, 20000) i, LATERAL (SELECT CASE i % 2 WHEN 0 THEN 0.3 ELSE 0.8 END + 0.1 * sin(i * 1.7) AS r) s;
CREATE FUNCTION accuracy(model dp_model, source text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  result float8;
BEGIN
  EXECUTE format('SELECT avg((dp_predict($1, t) = y)::int) FROM (SELECT * FROM %I TABLESAMPLE bernoulli (20) REPEATABLE (1)) t', source) INTO result USING model;
  RETURN result;
END $$;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN cardinality(dp_weights(a)) = cardinality(dp_weights(b)) THEN
    (SELECT sqrt(sum((v - w) ^ 2)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)) END
$$;

-- Without a kernel no better than guessing, even without noise; with one, right
-- more than nine times in ten at epsilon 1
SELECT source, accuracy(dp_logreg_train(source, 'y', '{a,b}', 'Infinity', knots => 1), source) < 0.65 AS logreg, accuracy(dp_svm_train(source, 'y', '{a,b}', 'Infinity', knots => 1), source) < 0.65 AS svm
  FROM (VALUES ('chess'), ('rings')) t(source);
CREATE TABLE kernels (kernel text, gamma float8);
INSERT INTO kernels VALUES ('gaussian', 8), ('laplacian', 2), ('cauchy', 3), ('matern', 3);
SELECT kernel, accuracy(dp_logreg_train('chess', 'y', '{a,b}', 1, kernel => kernel, gamma => gamma, options => '{"kernel_features": 60}'), 'chess') > 0.9 AS chess,
       accuracy(dp_svm_train('rings', 'y', '{a,b}', 1, kernel => kernel, gamma => gamma, options => '{"kernel_features": 60}'), 'rings') > 0.9 AS rings,
       accuracy(dp_logreg_train('rings', 'y', '{a,b}', 1, lambda => 0.01, options => '{"method": "output", "kernel_features": 60}', kernel => kernel, gamma => gamma), 'rings') > 0.9 AS output
  FROM kernels;
-- and by the aggregate, over the encoded columns
WITH models AS MATERIALIZED (SELECT dp_logreg(y, dp_encode('{"a": null, "b": null}'::jsonb, t), 1, '{"kernel": "gaussian", "gamma": 8, "kernel_features": 60}') AS model FROM chess t)
SELECT avg((dp_predict(model, dp_encode('{"a": null, "b": null}'::jsonb, t)) = y)::int) > 0.9 AS aggregate FROM chess t, models;

-- A kernel is a map before a linear learner: that on the mapped rows is the
-- same model, by every path
CREATE TABLE few AS SELECT i, y, a, b, (ARRAY['u', 'v', 'w'])[1 + i % 3] AS t, ARRAY[a / 2, b / 2, 0.1] AS x
  FROM (SELECT row_number() OVER (ORDER BY a, b) AS i, * FROM chess) s WHERE i % 100 = 0;
ALTER TABLE few ADD CHECK (a BETWEEN -1 AND 1), ADD CHECK (b BETWEEN -1 AND 1), ADD CHECK (t IN ('u', 'v', 'w')), ADD CHECK (cardinality(x) = 3);
CREATE TABLE mapped (y boolean, x float8[]);
CREATE FUNCTION on_mapped_rows(model dp_model) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  lambda float8 := (model::jsonb ->> 'lambda')::float8;
  loss text := model::jsonb ->> 'loss';
BEGIN
  TRUNCATE mapped;
  INSERT INTO mapped SELECT y, dp_encode(model, few) FROM few;
  IF EXISTS (SELECT FROM mapped WHERE (SELECT abs(sum(v * v) - 1) FROM unnest(x) v) > 1e-12) THEN
    RAISE 'not of length one';
  END IF;
  RETURN distance(model, CASE loss WHEN 'logistic' THEN dp_logreg_train('mapped', 'y', 'x', 'Infinity', lambda => lambda, options => '{"intercept": false}', domains => jsonb_build_object('x', jsonb_build_object('dimension', cardinality(dp_weights(model)))))
                         ELSE dp_svm_train('mapped', 'y', 'x', 'Infinity', lambda => lambda, options => '{"intercept": false}', domains => jsonb_build_object('x', jsonb_build_object('dimension', cardinality(dp_weights(model))))) END) < 1e-9;
END $$;
SELECT kernel, on_mapped_rows(dp_logreg_train('few', 'y', '{a,b}', 'Infinity', lambda => 0.01, kernel => kernel, gamma => gamma, options => '{"kernel_features": 20}')) AS columns,
       on_mapped_rows(dp_svm_train('few', 'y', '{t,x,a}', 'Infinity', lambda => 0.01, kernel => kernel, gamma => gamma, options => '{"kernel_features": 30, "kernel_seed": 7}')) AS of_all_kinds,
       on_mapped_rows(dp_logreg_train('few', 'y', 'x', 'Infinity', lambda => 0.01, kernel => kernel, gamma => gamma, options => '{"kernel_features": 10}', domains => '{"x": {"norm": 2}}')) AS vector,
       on_mapped_rows(dp_logreg_train('few', 'y', '{a,b}', 'Infinity', lambda => 0.01, kernel => kernel, gamma => gamma, options => '{"kernel_features": 20, "intercept": true}')) AS intercept
  FROM kernels;
-- the intercept beside a kernel counts as in dp_encode, however many columns there are
SELECT abs(c.score - c.weight / sqrt(2)) < 1e-12 AS intercept_counts
  FROM (SELECT dp_logreg_train('few', 'y', '{t,x,a}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20, "intercept": true}') AS model) m, dp_coefficients(model) c WHERE c.value = 'intercept';
SELECT kernel, distance(dp_logreg_train('few', 'y', '{a,b}', 'Infinity', lambda => 0.01, kernel => kernel, gamma => gamma, options => '{"kernel_features": 20}'),
                        (SELECT dp_logreg(y, dp_encode('{"a": null, "b": null}'::jsonb, few), 'Infinity', jsonb_build_object('lambda', 0.01, 'kernel', kernel, 'gamma', gamma, 'kernel_features', 20)) FROM few)) < 1e-9 AS logreg,
       distance(dp_svm_train('few', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"norm": 2}}', kernel => kernel, gamma => gamma, options => '{"kernel_features": 20, "kernel_seed": -5, "intercept": true}'),
                (SELECT dp_svm(y, x, 'Infinity', jsonb_build_object('lambda', 0.01, 'dimension', 3, 'norm', 2, 'kernel', kernel, 'gamma', gamma, 'kernel_features', 20, 'kernel_seed', -5, 'intercept', true)) FROM few)) < 1e-9 AS svm
  FROM kernels;
-- in passes, parallel and serial, and in memory
SET dperm.cache_memory = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE chess SET (parallel_workers = 2);
CREATE TABLE fit AS SELECT dp_logreg_train('chess', 'y', '{a,b}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 120}') AS model;
SET max_parallel_workers_per_gather = 0;
SELECT distance(model, dp_logreg_train('chess', 'y', '{a,b}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 120}')) < 1e-9 AS serial FROM fit;
RESET dperm.cache_memory;
SELECT distance(model, dp_logreg_train('chess', 'y', '{a,b}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 120}')) < 1e-9 AS in_memory FROM fit;
RESET max_parallel_workers_per_gather;

-- The seed decides the map, and nothing else does
SELECT seed, distance(m, dp_logreg_train('few', 'y', '{a,b}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => jsonb_strip_nulls(jsonb_build_object('kernel_features', 20, 'kernel_seed', seed)))) = 0 AS same, m::jsonb -> 'kernel' AS kernel,
       distance(m, dp_logreg_train('few', 'y', '{a,b}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => jsonb_strip_nulls(jsonb_build_object('kernel_features', 20, 'kernel_seed', seed + 1)))) > 0.01 AS another
  FROM (VALUES (1), (0), (-1), (9223372036854775806), (-9223372036854775808)) v(seed),
  LATERAL (SELECT dp_logreg_train('few', 'y', '{a,b}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => jsonb_strip_nulls(jsonb_build_object('kernel_features', 20, 'kernel_seed', seed)))) s(m);
SELECT m -> 'kernel' AS defaults, m -> 'intercept' AS intercept, m -> 'dimension' AS dimension, m -> 'lambda' AS lambda
  FROM (SELECT dp_logreg_train('few', 'y', '{a,b}', 1, kernel => 'matern', gamma => NULL)::jsonb) s(m);
SELECT distance(dp_logreg_train('few', 'y', '{a,b}', 'Infinity', kernel => 'linear'), dp_logreg_train('few', 'y', '{a,b}', 'Infinity')) = 0 AS linear_is_none,
       dp_logreg_train('few', 'y', '{a,b}', 'Infinity', kernel => 'linear')::jsonb ? 'kernel' AS says_so;

-- The map on any machine: these numbers never change. A model by hand, its
-- weights 1, 0.5, 1/3, ...
CREATE FUNCTION by_hand(kernel text, gamma float8, features int, seed bigint, columns jsonb) RETURNS dp_model LANGUAGE sql AS $$
  SELECT jsonb_build_object('format', 1, 'loss', 'logistic', 'epsilon', 'Infinity', 'rows', 1, 'method', 'objective', 'analysis', 'sharp', 'lambda', 1, 'lambda_effective', 1,
    'budget', '{"slack": 0, "noise": 0, "release": 0}'::jsonb, 'noise_scale', 0, 'grid', 0, 'release_scale', 0, 'intercept', false,
    'features', columns, 'kernel', jsonb_build_object('name', kernel, 'gamma', gamma, 'features', features, 'seed', seed),
    'weights', (SELECT jsonb_agg(1::float8 / k) FROM generate_series(1, features) k))::dp_model
$$;
SELECT kernel, seed, round(dp_decision(by_hand(kernel, gamma, 50, seed, '[{"type": "number", "column": "a", "low": -1, "high": 1}, {"type": "category", "column": "t", "values": ["u", "v"]}]'), r)::numeric, 9) AS decision
  FROM kernels, (VALUES (1), (-42)) v(seed), (SELECT 0.25::float8 AS a, 'v' AS t) r ORDER BY 1, 2;
-- Inner products of mapped rows are the kernel, nearly
CREATE FUNCTION kernel_of(kernel text, gamma float8, x float8[], y float8[]) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE kernel WHEN 'gaussian' THEN exp(-gamma * sum((a - b) ^ 2)) WHEN 'laplacian' THEN exp(-gamma * sum(abs(a - b)))
    WHEN 'cauchy' THEN exp(-sum(ln(1 + (gamma * (a - b)) ^ 2))) ELSE (1 + sqrt(3) * gamma * sqrt(sum((a - b) ^ 2))) * exp(-sqrt(3) * gamma * sqrt(sum((a - b) ^ 2))) END
  FROM unnest(x, y) u(a, b)
$$;
SELECT kernel, max(abs(near - exact)) < 0.1 AS near, max(exact) - min(exact) > 0.3 AS varied
  FROM (SELECT kernel, kernel_of(kernel, gamma / 3, dp_encode('{"a": null, "b": null, "t": null}'::jsonb, p), dp_encode('{"a": null, "b": null, "t": null}'::jsonb, q)) AS exact,
               (SELECT sum(v * w) FROM unnest(dp_encode(m, p), dp_encode(m, q)) u(v, w)) AS near
        FROM kernels, few p, few q,
        LATERAL (SELECT by_hand(kernel, gamma / 3, 2000, 1, '[{"type": "number", "column": "a", "low": -1, "high": 1}, {"type": "number", "column": "b", "low": -1, "high": 1},
          {"type": "category", "column": "t", "values": ["u", "v", "w"]}]') AS m) s
        WHERE p.i % 1700 = 0 AND q.i % 2300 = 0) s GROUP BY kernel ORDER BY kernel;

-- A model of many features over many columns is a few kilobytes: the map is not
-- in it
DO $$
BEGIN
  EXECUTE (SELECT format('CREATE TABLE broad AS SELECT i %% 2 = 0 AS y, %s FROM generate_series(1, 10) i', string_agg(format('sin(i * %s) AS c%1$s', k), ', ' ORDER BY k)) FROM generate_series(1, 100) k);
END $$;
SELECT length(m::text) < 100000 AS text, length(dperm.dperm_model_send(m)) < 20000 AS binary, cardinality(dp_weights(m)) AS weights, jsonb_array_length(m::jsonb -> 'features') AS columns,
       (SELECT string_agg(key, ' ' ORDER BY key COLLATE "C") FROM jsonb_object_keys(m::jsonb) key) AS keys, m::text::dp_model::text = m::text AS round_trip,
       (SELECT count(dp_decision(m, broad)) FROM broad) AS scored
  FROM dp_logreg_train('broad', 'y', NULL, 1, lambda => 1e6, domains => (SELECT jsonb_object_agg('c' || k, '[-1, 1]'::jsonb) FROM generate_series(1, 100) k), kernel => 'gaussian', options => '{"kernel_features": 2000}') m;

-- Arguments
SELECT outcomes($$ dp_logreg_train('few', 'y', '{a,b}', 1, ?) $$, $$
  kernel => 'polynomial' | kernel => 'Gaussian' | kernel => '' | gamma => 2
  options => '{"kernel_features": 100}' $$);
SELECT outcomes($$ dp_svm_train('few', 'y', '{a,b}', 1, ?) $$,
  $$ options => '{"kernel_seed": 0}' | kernel => 'linear', gamma => 2 $$);
SELECT outcomes($$ dp_logreg_train('few', 'y', '{a,b}', 1, kernel => 'gaussian', ?) $$, $$
  gamma => 0 | gamma => -1 | gamma => 'NaN' | gamma => 'Infinity' | options => '{"kernel_features": 0}'
  options => '{"kernel_features": 7}' | options => '{"kernel_features": 5000}' | options => '{"kernel_features": -2}' $$);
SELECT outcomes('dp_logreg(y, x, 1, ?) FROM few', $$
  '{"kernel": "none"}' | '{"kernel": 1}' | '{"gamma": 1}' | '{"kernel": "cauchy", "gamma": "1"}'
  '{"kernel": "cauchy", "gamma": 1e400}' | '{"kernel": "cauchy", "kernel_features": 2.5}'
  '{"kernel": "cauchy", "kernel_seed": "1"}' $$);
SELECT outcomes('dp_svm(y, x, 1, ?) FROM few',
  $$ '{"kernel": "cauchy", "kernel_seed": 1e30}' $$);
-- Models with an impossible map
SELECT by_hand('gaussian', 1, 6, 1, '[{"type": "boolean", "column": "a"}]')::jsonb -> 'kernel' AS taken;
SELECT outcomes($$ by_hand(?, '[{"type": "boolean", "column": "a"}]') $$,
  $$ 'gauss', 1, 6, 1 | 'gaussian', 0, 6, 1 | 'gaussian', 1, 5, 1 $$);
SELECT outcomes('?', $$
  (by_hand('gaussian', 1, 6, 1, '[{"type": "boolean", "column": "a"}]')::jsonb #- '{kernel,seed}')::dp_model
  jsonb_set(by_hand('gaussian', 1, 6, 1, '[{"type": "boolean", "column": "a"}]')::jsonb, '{kernel,features}', '8')::dp_model $$);

DROP TABLE chess, rings, kernels, few, mapped, fit, broad;
DROP FUNCTION accuracy, distance, on_mapped_rows, by_hand, kernel_of;
