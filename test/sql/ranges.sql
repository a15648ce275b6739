--
-- Vectors whose elements have ranges: encoded like as many numbers, whatever
-- they hold
--
\set ECHO errors
\pset format unaligned
\pset footer off
CREATE SCHEMA ranges_test;
SET search_path = ranges_test, public;
SET client_min_messages = warning;

CREATE TABLE boxes AS
  SELECT i AS id, sin(i * i) > 0.2 AS y, (i % 11) / 10.0::float8 AS a, (i * 7 % 101) / 10.0 - 5::float8 AS b, 10 + (i * 13 % 51) / 5.0::float8 AS c, i % 3 = 0 AS flag
  FROM generate_series(1, 300) i;
ALTER TABLE boxes ADD x float8[], ADD x4 float4[], ADD one float8[];
UPDATE boxes SET x = ARRAY[a, b, c], x4 = ARRAY[a, b, c], one = ARRAY[c];
CREATE FUNCTION distance(a float8[], b float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN cardinality(a) = cardinality(b) THEN (SELECT max(abs(v - w)) FROM unnest(a, b) u(v, w)) END
$$;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$ SELECT distance(dp_weights(a), dp_weights(b)) $$;
CREATE TABLE domains AS SELECT '{"x": {"range": [[0, 1], [-5, 5], [10, 20]]}}'::jsonb AS x, '{"x4": {"range": [[0, 1], [-5, 5], [10, 20]]}}'::jsonb AS x4,
  '{"a": [0, 1], "b": [-5, 5], "c": [10, 20]}'::jsonb AS abc;

-- Without an intercept, three elements have the shares of three numbers: the
-- same encoding, and the same model; in memory, in passes, with a kernel
SELECT max(distance(dp_encode(domains.x, boxes), dp_encode(abc, boxes))) < 1e-15 AS encoding FROM boxes, domains;
CREATE FUNCTION as_numbers(OUT learner text, OUT same boolean, OUT single_precision boolean, OUT learnt boolean) RETURNS SETOF record LANGUAGE sql AS $$
  SELECT 'logreg', distance(m, numbers) < 1e-9, distance(m4, numbers) < 1e-6, dp_weights(m) <> '{0,0,0}' FROM (
    SELECT dp_logreg_train('boxes', 'y', 'x', 'Infinity', lambda => 0.001, options => '{"intercept": false}', domains => x) AS m, dp_logreg_train('boxes', 'y', 'x4', 'Infinity', lambda => 0.001, options => '{"intercept": false}', domains => x4) AS m4,
           dp_logreg_train('boxes', 'y', '{a,b,c}', 'Infinity', lambda => 0.001, options => '{"intercept": false}', knots => 1, domains => abc) AS numbers FROM domains) s
  UNION ALL SELECT 'svm', distance(m, numbers) < 1e-9, distance(m4, numbers) < 1e-6, dp_weights(m) <> '{0,0,0}' FROM (
    SELECT dp_svm_train('boxes', 'y', 'x', 'Infinity', lambda => 0.01, options => '{"intercept": false}', domains => x) AS m, dp_svm_train('boxes', 'y', 'x4', 'Infinity', lambda => 0.01, options => '{"intercept": false}', domains => x4) AS m4,
           dp_svm_train('boxes', 'y', '{a,b,c}', 'Infinity', lambda => 0.01, options => '{"intercept": false}', knots => 1, domains => abc) AS numbers FROM domains) s
  UNION ALL SELECT 'kernel', distance(m, numbers) < 1e-9, distance(m4, numbers) < 1e-6, (dp_weights(m))[1] <> 0 FROM (
    SELECT dp_logreg_train('boxes', 'y', 'x', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20}', domains => x) AS m, dp_logreg_train('boxes', 'y', 'x4', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20}', domains => x4) AS m4,
           dp_logreg_train('boxes', 'y', '{a,b,c}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20}', domains => abc) AS numbers FROM domains) s
$$;
SELECT * FROM as_numbers();
SET dperm.cache_memory = 0;
SELECT * FROM as_numbers();
RESET dperm.cache_memory;
-- not vacuous: with other bounds it is another model
SELECT distance(dp_logreg_train('boxes', 'y', 'x', 'Infinity', lambda => 0.001, domains => '{"x": {"range": [[0, 1], [-5, 5], [10, 21]]}}'), dp_logreg_train('boxes', 'y', 'x', 'Infinity', lambda => 0.001, domains => x)) > 1e-4 AS other FROM domains;
-- one element is a number, also with an intercept and beside other columns
SELECT distance(dp_logreg_train('boxes', 'y', 'one', 'Infinity', domains => '{"one": {"dimension": 1, "range": [10, 20]}}'), dp_logreg_train('boxes', 'y', 'c', 'Infinity', knots => 1, domains => '{"c": [10, 20]}')) = 0 AS alone,
       distance(dp_logreg_train('boxes', 'y', '{flag,one}', 'Infinity', domains => '{"one": {"range": [[10, 20]]}}'), dp_logreg_train('boxes', 'y', '{flag,c}', 'Infinity', knots => 1, domains => '{"c": [10, 20]}')) = 0 AS beside;
-- with an intercept and other columns: the shares are those of the columns,
-- divided among the elements
CREATE TABLE models AS
  SELECT 'alone' AS name, dp_logreg_train('boxes', 'y', 'x', 'Infinity', lambda => 0.01, domains => x) AS model FROM domains
  UNION ALL SELECT 'beside', dp_logreg_train('boxes', 'y', '{flag,x,a}', 'Infinity', lambda => 0.01, knots => 1, domains => x || '{"a": [0, 1]}') FROM domains
  UNION ALL SELECT 'cube', dp_svm_train('boxes', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 3, "range": [-5, 20]}}')
  UNION ALL SELECT 'kernel', dp_svm_train('boxes', 'y', '{x,flag}', 'Infinity', lambda => 0.01, kernel => 'cauchy', options => '{"kernel_features": 10}', domains => x) FROM domains;
CREATE FUNCTION model(text) RETURNS dp_model LANGUAGE sql STABLE AS 'SELECT model FROM models WHERE name = $1';
SELECT max(distance(dp_encode(model('alone'), boxes), ARRAY[(2 * a - 1) / sqrt(6), b / 5 / sqrt(6), ((c - 15) / 5) / sqrt(6), 1 / sqrt(2)])) < 1e-15 AS alone,
       max(distance(dp_encode(model('beside'), boxes), ARRAY[CASE WHEN flag THEN 0.5 ELSE -0.5 END, (2 * a - 1) / sqrt(12), b / 5 / sqrt(12), ((c - 15) / 5) / sqrt(12), a - 0.5, 0.5])) < 1e-15 AS beside,
       max(distance(dp_encode(model('cube'), boxes), ARRAY[(a - 7.5) / 12.5 / sqrt(6), (b - 7.5) / 12.5 / sqrt(6), (c - 7.5) / 12.5 / sqrt(6), 1 / sqrt(2)])) < 1e-15 AS cube
  FROM boxes;
SELECT bool_and(distance(model, m) < 1e-9) AS trained_on_that FROM models, LATERAL (SELECT CASE WHEN name = 'cube' THEN dp_svm(y, dp_encode(model, boxes), 'Infinity', '{"lambda": 0.01, "intercept": false, "dimension": 4}')
  ELSE dp_logreg(y, dp_encode(model, boxes), 'Infinity', jsonb_build_object('lambda', 0.01, 'intercept', false, 'dimension', cardinality(dp_weights(model)))) END AS m FROM boxes) s WHERE name <> 'kernel';

-- The model: features, coefficients, guarantee, and both of its forms
SELECT name, feature FROM models, jsonb_array_elements(model::jsonb -> 'features') feature ORDER BY name, feature ->> 'column';
SELECT rank, column_name, value FROM dp_coefficients(model('beside')) ORDER BY rank;
SELECT bool_and(model::text::dp_model::text = model::text) AS text, bool_and(model::jsonb::text::dp_model::text = model::text) AS jsonb, bool_and(distance(model::text::dp_model, model) = 0) AS weights FROM models;
CREATE TABLE copied (LIKE models);
SELECT current_setting('data_directory') || '/dperm_ranges.bin' AS file \gset
COPY models TO :'file' (FORMAT binary);
COPY copied FROM :'file' (FORMAT binary);
SELECT count(*) AS binary_form FROM copied JOIN models USING (name) WHERE copied.model::text = models.model::text;
SELECT dp_guarantee(dp_logreg_train('boxes', 'y', 'x', 1, domains => x)) ~ 'The domains of the columns \(bounds, categories, dimensions\) are public: they were declared' AS declared FROM domains;

-- Prediction: from rows and, for a single vector, from arrays of any numbers
SELECT name, count(*) AS rows, bool_and(abs(dp_decision(model, boxes) - (SELECT sum(w * v) FROM unnest(dp_weights(model), dp_encode(model, boxes)) u(w, v))) < 1e-12) AS decision,
       bool_and(dp_predict(model, boxes) = (dp_decision(model, boxes) > 0)) AS predict
  FROM models, boxes GROUP BY name ORDER BY name;
SELECT bool_and(dp_decision(model, boxes) = dp_decision(model, x)) AS float8, bool_and(abs(dp_decision(model, boxes) - dp_decision(model, x4)) < 1e-6) AS float4,
       bool_and(dp_decision(model, boxes) = dp_decision(model, x::numeric[])) AS "numeric" FROM models, boxes WHERE name IN ('alone', 'cube');
SELECT dp_encode(model('cube'), '{-5,20,7.5}') AS literal, dp_encode(model('cube'), ARRAY[-6, 21, 7]) AS integers;
SELECT dp_decision(model('alone'), '{1,2}');
SELECT dp_decision(model('beside'), '{1,2,3}');
SELECT dp_decision(model('alone'), s) FROM (SELECT 'a' AS x) s;

-- What a vector holds never raises: NULL and the wrong number of elements are
-- zeros, NaN is a zero, the rest is clamped
CREATE TABLE hostile (id serial, x float8[], read_as float8[]);
INSERT INTO hostile (x, read_as) VALUES
  (NULL, '{0.5,0,15}'), ('{}', '{0.5,0,15}'), ('{1,1}', '{0.5,0,15}'), ('{1,1,1,1}', '{0.5,0,15}'), ('{1,NULL,1}', '{0.5,0,15}'), ('{{1,1,11}}', '{0.5,0,15}'),
  ('{NaN,5,20}', '{0.5,5,20}'), ('{NaN,NaN,NaN}', '{0.5,0,15}'), ('{Infinity,-Infinity,Infinity}', '{1,-5,20}'), ('{1e308,-1e308,5e-324}', '{1,-5,10}'),
  ('{2,-6,9}', '{1,-5,10}'), ('{-0,0,20}', '{0,0,20}'), ('[5:7]={0.1,0.2,11}', '{0.1,0.2,11}');
SELECT id, distance(dp_encode(domains.x, h), dp_encode(domains.x, r)) < 1e-15 AS encoded, (SELECT sum(v * v) FROM unnest(dp_encode(domains.x, h)) v) <= 1 AS in_ball
  FROM domains, hostile h, LATERAL (SELECT (id, read_as, NULL)::hostile AS r) s ORDER BY id;
CREATE TABLE bad AS SELECT i % 3 = 0 AS y, x, x::float4[] AS x4 FROM generate_series(1, 7) i, (SELECT x FROM hostile WHERE NOT coalesce(x && '{1e308,-1e308,5e-324}', false)) h UNION ALL SELECT y, x, x4 FROM boxes;
CREATE TABLE good AS SELECT i % 3 = 0 AS y, read_as AS x FROM generate_series(1, 7) i, (SELECT read_as FROM hostile WHERE NOT coalesce(x && '{1e308,-1e308,5e-324}', false)) h UNION ALL SELECT y, x FROM boxes;
SELECT distance(dp_logreg_train('bad', 'y', 'x', 'Infinity', lambda => 0.01, domains => x), dp_logreg_train('good', 'y', 'x', 'Infinity', lambda => 0.01, domains => x)) < 1e-9 AS trained,
       distance(dp_logreg_train('bad', 'y', 'x4', 'Infinity', lambda => 0.01, domains => x4), dp_logreg_train('good', 'y', 'x', 'Infinity', lambda => 0.01, domains => x)) < 1e-6 AS single_precision FROM domains;
SELECT count(m) AS trained, bool_and(m::text !~ 'NaN|Infinity') AS finite FROM domains, LATERAL (
  SELECT dp_logreg_train('bad', 'y', 'x', e, options => jsonb_build_object('method', o), domains => x) FROM (VALUES (1e-6), (1), (500)) v(e), (VALUES ('objective'), ('output')) w(o)
  UNION ALL SELECT dp_svm_train('bad', 'y', 'x', 1, kernel => 'matern', options => '{"kernel_features": 10}', domains => x)) s(m);

-- Domains that the catalog declares; arguments take precedence
CREATE TABLE declared (y boolean, x float8[] CHECK (cardinality(x) = 3 AND -5 <= ALL (x) AND 20 >= ALL (x)));
INSERT INTO declared SELECT y, x FROM boxes;
SELECT outcomes($$ dp_logreg_train('declared', 'y', 'x', ?)::jsonb -> 'features' $$, $$
  1 | 1, domains => '{"x": {"norm": 30}}' | 1, domains => '{"x": {"dimension": 2}}' | 1, domains => '{"x": {"norm": 30}}'
  1, domains => '{"x": {"range": [0, 1]}}' $$);
SELECT outcomes('dp_logreg_train(?)', $$
  'declared', 'y', 'x', 1, domains => '{"x": {"range": [0, 1], "norm": 1}}'
  'boxes', 'y', '{x,flag}', 1, domains => '{"x": {"dimension": 3, "range": [0, 1], "norm": 1}}' $$);

-- Aggregates, by way of dp_encode; tuning; evaluation
SELECT distance(dp_logreg(y, dp_encode('{"x": {"range": [[0, 1], [-5, 5], [10, 20]]}}'::jsonb, boxes), 'Infinity', '{"lambda": 0.001, "intercept": false}'),
                dp_logreg_train('boxes', 'y', '{a,b,c}', 'Infinity', lambda => 0.001, options => '{"intercept": false}', knots => 1, domains => '{"a": [0, 1], "b": [-5, 5], "c": [10, 20]}')) < 1e-9 AS aggregate FROM boxes;
ALTER TABLE boxes ADD PRIMARY KEY (id);
SELECT dp_logreg_tune('boxes', 'y', 'x', 1, candidates => '[{"lambda": 0.1}, {"lambda": 1}, {"kernel": "gaussian", "kernel_features": 10}]', domains => x)::jsonb #> '{features,0,range}' AS tuned FROM domains;
SELECT metric, abs(value - (SELECT avg((dp_predict(model('alone'), boxes) = y)::int) FROM boxes)) < 1e-9 AS as_counted FROM dp_evaluate(model('alone'), 'boxes', epsilon => 'Infinity') WHERE metric = 'accuracy'
  UNION ALL SELECT metric, abs(value - (SELECT avg((dp_predict(model('alone'), boxes) = y)::int) FROM boxes)) < 1e-9 FROM dp_evaluate(model('alone'), 'boxes', epsilon => 'Infinity', features => 'x') WHERE metric = 'accuracy';
SELECT dp_evaluate(model('beside'), 'boxes', epsilon => 1, features => 'x');
ALTER TABLE boxes ALTER x TYPE text;
SELECT dp_evaluate(model('alone'), 'boxes', epsilon => 1);

RESET search_path;
DROP SCHEMA ranges_test CASCADE;
