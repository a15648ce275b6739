--
-- Delta, neighbours and the method that is chosen: (epsilon, delta), removing
-- rows, and why a method won
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
SET extra_float_digits = 0;

CREATE TABLE people AS SELECT i AS id, i % 3 = 0 AS sick, (i * 37) % 100 AS age, sin(i) AS dose, (ARRAY['north', 'south', 'east', 'west', 'tower'])[1 + i % 5] AS ward,
  ARRAY(SELECT sin(i * k) FROM generate_series(1, 3) k) AS x FROM generate_series(1, 2000) i;
ALTER TABLE people ADD PRIMARY KEY (id), ADD CHECK (age BETWEEN 0 AND 120), ADD CHECK (dose BETWEEN -1 AND 1), ADD CHECK (ward IN ('north', 'south', 'east', 'west', 'tower')), ADD CHECK (cardinality(x) = 3);
CREATE TABLE wide AS SELECT i AS id, i % 2 = 0 AS y, ARRAY(SELECT sin(i * k) FROM generate_series(1, 300) k) AS x FROM generate_series(1, 400) i;
ALTER TABLE wide ADD PRIMARY KEY (id), ADD CHECK (cardinality(x) = 300);
ANALYZE people, wide;
CREATE FUNCTION a_row_was_read() RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'a row was read'; END $$;
CREATE VIEW mine AS SELECT id, a_row_was_read() AS sick, age, x FROM people;

-- Bad values, before any row is read
SELECT outcomes($$ dp_logreg_train('mine', 'sick', 'age', 1, delta => ?) $$,
  $$ -1e-6 | 1 | 1.5 | 'NaN' | 'Infinity' | 1e-20 | 9.9e-16 | 0 | 1e-15 | NULL $$);
SELECT outcomes($$ dp_logreg_train('mine', 'sick', 'age', ?, delta => 1e-6) $$, $$ 'Infinity' $$);
SELECT outcomes($$ dp_svm_train('mine', 'sick', 'age', 1, ?) $$, $$
  options => '{"analysis": "paper"}', delta => 1e-6 | options => '{"method": "output", "analysis": "paper"}', delta => 1e-6
  neighbours => 'removed' | neighbours => 'add-remove' | neighbours => 'Replace' | neighbours => ''
  neighbours => NULL $$);
-- candidates differ in neither: the table has one guarantee
SELECT outcomes($$ dp_logreg_tune('mine', 'sick', 'age', 1, ?) $$, $$
  delta => 1 | candidates => '[{"delta": 1e-6}, {}]'
  candidates => '[{"neighbours": "remove"}, {}]' $$);
SELECT outcomes($$ dp_svm_tune('mine', 'sick', 'age', 1, ?) $$,
  $$ neighbours => 'add' | delta => 1e-6, candidates => '[{}, {"analysis": "paper"}]' $$);
SELECT outcomes('dp_logreg(sick, ARRAY[age], ?) FROM people', $$
  1, '{"delta": -1}' | 1, '{"delta": 1}' | 1, '{"delta": 1e-20}'
  1, '{"delta": "small"}' | 1, '{"neighbours": "add"}' | 1, '{"neighbours": 1}'
  1, '{"delta": 1e-6, "analysis": "paper"}' | 'Infinity', '{"delta": 1e-6}' $$);
SELECT outcomes($$ dp_cost('wide', 'y', 'x', ?, units => 1000) $$,
  $$ 1, delta => 2 | 1, neighbours => 'both' | 'Infinity', delta => 1e-6 $$);
SELECT outcomes($$ ?(dp_logreg_train('people', 'sick', 'age', 1), 'mine', epsilon => 1, neighbours => 'REMOVE') $$, 'dp_evaluate | dp_roc');

-- Which way has the least risk: pure noise in the shape of a few columns;
-- Gaussian noise of many, once there is a delta
CREATE TABLE models AS
  SELECT 'few, pure' AS name, dp_logreg_train('people', 'sick', '{age,dose}', 1, knots => 1) AS model
  UNION ALL SELECT 'few, delta', dp_logreg_train('people', 'sick', '{age,dose}', 1, knots => 1, delta => 1e-6)
  UNION ALL SELECT 'few, remove', dp_svm_train('people', 'sick', '{age,ward}', 0.5, knots => 1, delta => 1e-6, neighbours => 'remove')
  UNION ALL SELECT 'many, pure', dp_logreg_train('wide', 'y', 'x', 1)
  UNION ALL SELECT 'many, delta', dp_logreg_train('wide', 'y', 'x', 1, delta => 1e-6)
  UNION ALL SELECT 'many, remove', dp_logreg_train('wide', 'y', 'x', 1, delta => 1e-6, neighbours => 'remove')
  UNION ALL SELECT 'all columns', dp_logreg_train('people', 'sick', NULL, 1, knots => 1, delta => 1e-5, options => '{"method": "objective"}')
  UNION ALL SELECT 'objective', dp_logreg_train('people', 'sick', '{age,dose}', 1, knots => 1, options => '{"method": "objective"}', delta => 1e-6)
  UNION ALL SELECT 'output', dp_logreg_train('people', 'sick', '{age,dose}', 1, knots => 1, options => '{"method": "output"}', delta => 1e-6)
  UNION ALL SELECT 'shaped', dp_logreg_train('people', 'sick', '{age,dose}', 1, knots => 1, options => '{"noise": "shaped"}', delta => 1e-6)
  UNION ALL SELECT 'paper', dp_logreg_train('people', 'sick', '{age,dose}', 1, options => '{"analysis": "paper"}')
  UNION ALL SELECT 'without noise', dp_logreg_train('people', 'sick', '{age,dose}', 'Infinity')
  UNION ALL SELECT 'aggregate', (SELECT dp_logreg(sick, x::float8[], 1, '{"dimension": 3, "delta": 1e-6, "neighbours": "remove", "method": "output"}') FROM people)
  UNION ALL SELECT 'aggregate, chosen', (SELECT dp_svm(y, x, 1, '{"dimension": 300, "delta": 1e-7}') FROM wide);
SELECT name, j ->> 'method' AS method, j ->> 'noise' AS noise, j ->> 'delta' AS delta, j ->> 'neighbours' AS neighbours FROM models, LATERAL (SELECT model::jsonb) s(j) ORDER BY name COLLATE "C";
-- in every form
CREATE TABLE again AS SELECT name, model::text::dp_model AS by_text, model::jsonb::dp_model AS by_jsonb FROM models;
SELECT count(*) AS models, bool_and(by_text::text = model::text AND by_jsonb::text = model::text AND dperm.dperm_model_send(by_text) = dperm.dperm_model_send(model) AND dperm.dperm_model_send(by_jsonb) = dperm.dperm_model_send(model)) AS same FROM again JOIN models USING (name);
SELECT current_setting('data_directory') || '/dperm_delta_test.bin' AS file \gset
COPY models TO :'file' WITH (FORMAT binary);
CREATE TABLE received (LIKE models);
COPY received FROM :'file' WITH (FORMAT binary);
SELECT count(*) AS models, bool_and(r.model::text = m.model::text) AS same FROM received r JOIN models m USING (name);

-- The risks by hand. The delta of two normal laws mu apart is an integral; the
-- sigma for delta by halving
CREATE FUNCTION normal_delta(mu float8, epsilon float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT sum(CASE WHEN i IN (0, 600) THEN 1 WHEN i % 2 = 1 THEN 4 ELSE 2 END * exp(-least(t * t / 2, 700)) * (1 - exp(-least(mu * (t - t0), 700)))) * max(w) / 600 / 3 / sqrt(2 * pi())
  FROM (SELECT epsilon / mu - mu / 2, least(9, 40 / greatest(epsilon / mu - mu / 2, 1))) s(t0, w), LATERAL (SELECT i, t0 + i * w / 600 FROM generate_series(0, 600) i) g(i, t) $$;
CREATE FUNCTION sigma(epsilon float8, delta float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  low float8 := 0.1;
  high float8 := 1000;
BEGIN
  WHILE high / low > 1 + 1e-6 LOOP
    IF normal_delta(1 / sqrt(low * high), epsilon) > delta THEN low := sqrt(low * high); ELSE high := sqrt(low * high); END IF;
  END LOOP;
  RETURN high;
END $$;
SELECT round(sigma(1, 1e-6)::numeric, 3) AS known, abs(sigma(0.5, 1e-5) / 7.03 - 1) < 0.01 AS known_too;
-- objective: apart is how many rows neighbours differ by, spread the mean
-- square of the noise at scale 1; output: the mean of the curvatures
CREATE FUNCTION risk(method text, gaussian boolean, lambda float8, n float8, d float8, spread float8, epsilon float8, delta float8, apart float8, c float8) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE method WHEN 'objective' THEN (apart * s) ^ 2 * spread / (2 * n ^ 2 * lambda) ELSE (apart * s / (n * lambda)) ^ 2 * CASE WHEN gaussian THEN d ELSE d * (d + 1) END * (lambda + c / d) / 2 END + lambda * 200
  FROM (SELECT CASE method WHEN 'objective' THEN left_for_noise(epsilon, n * lambda, c, CASE c WHEN 0.25 THEN 'logistic' ELSE 'huber' END, apart::int) ELSE epsilon END) l(l), LATERAL (SELECT CASE WHEN gaussian THEN sigma(l, delta) ELSE 1 / l END) m(s) $$;
-- two numbers and an intercept are intervals of radius 1/sqrt(3), and a category of five values a cross: pure noise in the better of one group and two; Gaussian noise of shares by norm and root of the dimension
CREATE TABLE chosen AS SELECT * FROM (VALUES
  ('few, delta', 'people', 'sick', '{age,dose}', 2000, 3, 1.0, 0.25, 4 * 5 / 3.0, 3.0, 2),
  ('few, remove', 'people', 'sick', '{age,ward}', 2000, 7, 0.5, 1.0, least(8 * 9 * (2 / 9.0 + 10 / 42.0 / 3), ((3 * 4 * 2 / 9.0) ^ (1 / 3.0) + (6 * 7 * 10 / 42.0 / 3) ^ (1 / 3.0)) ^ 3), ((2 + sqrt(5)) / sqrt(3)) ^ 2, 1),
  ('many, delta', 'wide', 'y', '{x}', 400, 301, 1.0, 0.25, NULL, ((sqrt(300) + 1) / sqrt(2)) ^ 2, 2),
  ('many, remove', 'wide', 'y', '{x}', 400, 301, 1.0, 0.25, NULL, ((sqrt(300) + 1) / sqrt(2)) ^ 2, 1)) v(name, source, label, features, n, d, e, c, pure_spread, gaussian_spread, apart);
-- a vector of 300 and an intercept: the same
UPDATE chosen SET pure_spread = least(302 * 303 * (300 / 302.0 / 2 + 1 / 6.0), ((301 * 302 * 300 / 302.0 / 2) ^ (1 / 3.0) + (2 * 3 / 6.0) ^ (1 / 3.0)) ^ 3) WHERE pure_spread IS NULL;
SELECT name, w.method, gaussian, w.risk = min(w.risk) OVER (PARTITION BY name) AS least, j ->> 'method' = w.method AND ((j ->> 'delta')::float8 > 0) = gaussian AS chosen
FROM chosen JOIN models USING (name), LATERAL (SELECT model::jsonb) s(j),
     LATERAL (SELECT a.method, gaussian, risk(a.method, gaussian, cost.lambda_effective, n, d, CASE WHEN gaussian THEN gaussian_spread ELSE pure_spread END, e, 1e-6, apart, c) AS risk
       FROM (VALUES ('objective'), ('output')) a(method), (VALUES (false), (true)) g(gaussian),
         LATERAL dp_cost(source, label, features::text[], e, units => n, knots => 1, options => jsonb_strip_nulls(jsonb_build_object('method', a.method, 'loss', CASE WHEN (j ->> 'loss') NOT IN ('logistic', 'log_cosh') THEN j ->> 'loss' END)), delta => CASE WHEN gaussian THEN 1e-6 ELSE 0 END, neighbours => j ->> 'neighbours', learner => CASE j ->> 'loss' WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END) cost) w
ORDER BY name COLLATE "C", w.risk;

-- dp_cost says what a model gets
SELECT name, (c.method, c.noise, c.delta) = (j ->> 'method', j ->> 'noise', (j ->> 'delta')::float8) AS same, c.lambda_used = (j ->> 'lambda')::float8 AND c.lambda_effective = (j ->> 'lambda_effective')::float8 AS lambda,
       c.epsilon_slack = (j -> 'budget' ->> 'slack')::float8 AND c.epsilon_noise = (j -> 'budget' ->> 'noise')::float8 AS budget
FROM chosen JOIN models USING (name), LATERAL (SELECT model::jsonb) s(j),
     LATERAL dp_cost(source, label, features::text[], e, units => n, knots => 1, delta => 1e-6, neighbours => CASE apart WHEN 1 THEN 'remove' ELSE 'replace' END, learner => CASE j ->> 'loss' WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END, options => jsonb_strip_nulls(jsonb_build_object('loss', CASE WHEN (j ->> 'loss') NOT IN ('logistic', 'log_cosh') THEN j ->> 'loss' END))) c
ORDER BY name COLLATE "C";
SELECT method, noise, delta FROM dp_cost('wide', 'y', 'x', 'Infinity', units => 1000);

-- The scale of the noise: half of it when rows are removed, without delta; with delta what the law asks for, of which the tail of the noise takes 2^-64
SELECT round((a.noise_norm / b.noise_norm)::numeric, 2) AS output, abs(a.epsilon_noise - b.epsilon_noise) < 0.01 AS same_epsilon
FROM dp_cost('wide', 'y', 'x', 1, units => 1000, lambda => 0.01, options => '{"method": "output", "noise": "ball"}') a, dp_cost('wide', 'y', 'x', 1, units => 1000, lambda => 0.01, options => '{"method": "output", "noise": "ball"}', neighbours => 'remove') b;
SELECT round((a.noise_norm / b.noise_norm)::numeric, 2) AS objective, abs(a.epsilon_noise - b.epsilon_noise) < 0.01 AS same_epsilon
FROM dp_cost('wide', 'y', 'x', 1, units => 1000, lambda => 0.01, options => '{"method": "objective", "noise": "ball"}') a, dp_cost('wide', 'y', 'x', 1, units => 1000, lambda => 0.01, options => '{"method": "objective", "noise": "ball"}', neighbours => 'remove') b;
SELECT v.neighbours, j ->> 'method' AS method, round(((j ->> 'noise_scale')::float8 / (wanted * CASE j ->> 'method' WHEN 'output' THEN 1 / (2000 * (j ->> 'lambda')::float8) ELSE 1 END))::numeric, 3) AS scale
FROM (VALUES ('replace', 2), ('remove', 1)) v(neighbours, apart), (VALUES ('output'), ('objective')) m(method),
     LATERAL (SELECT dp_logreg_train('people', 'sick', '{age,dose}', 1, lambda => 0.01, options => jsonb_build_object('method', m.method), delta => 1e-6, neighbours => v.neighbours)::jsonb) s(j), LATERAL (SELECT apart * sigma((j -> 'budget' ->> 'noise')::float8, 1e-6)) w(wanted) ORDER BY 2, 1;

-- The guarantee states all of it
SELECT name, dp_guarantee(model) AS guarantee FROM models WHERE name IN ('few, remove', 'many, delta', 'all columns') ORDER BY name COLLATE "C";

-- Advice: a delta of one in n rows protects nobody. Once per call, and only if
-- the delta is used
SELECT dp_logreg_train('people', 'sick', 'age', 1, options => '{"method": "objective"}', delta => 0.0005) IS NOT NULL AS trained;
SELECT dp_logreg_train('people', 'sick', 'age', 1, options => '{"method": "objective"}', delta => 0.0004) IS NOT NULL AS trained;
SELECT dp_logreg_train('people', 'sick', '{age,dose}', 1, delta => 0.0005)::jsonb ->> 'delta' AS pure_is_better;
SELECT dp_logreg_tune('people', 'sick', 'age', 1, delta => 0.001, candidates => '[{"method": "objective"}, {"method": "output"}]') IS NOT NULL AS tuned;
SELECT count(m) AS groups FROM (SELECT dp_logreg(sick, x::float8[], 1, '{"dimension": 3, "delta": 0.03, "method": "output"}') AS m FROM people GROUP BY id % 40) s;
-- dp_cost warns as the training does, of the number of rows that it is told
SELECT method, delta FROM dp_cost('people', 'sick', '{age,dose}', 1, units => 2000, delta => 0.0005);
SELECT noise, delta FROM dp_cost('people', 'sick', '{age,dose,ward}', 1, units => 2000, options => '{"method": "objective"}', delta => 0.0005);
SELECT noise, delta FROM dp_cost('people', 'sick', '{age,dose,ward}', 1, units => 1999, options => '{"method": "objective"}', delta => 0.0005);
-- nothing is revealed about rows: the same when the table has other rows
BEGIN;
UPDATE people SET sick = NULL, age = 0 WHERE id = 1;
SELECT dp_logreg_train('people', 'sick', 'age', 1, options => '{"method": "objective"}', delta => 0.0005) IS NOT NULL AS trained;
ROLLBACK;

-- Tuning: one delta for all candidates. One that has Gaussian noise spends it
-- whether or not it is chosen, so all have
SELECT count(*) AS tunings, string_agg(DISTINCT j ->> 'delta', ' ') AS delta, bool_and((j -> 'budget' ->> 'noise')::float8 > 0) AS noise
FROM (SELECT dp_logreg_tune('people', 'sick', '{age,dose}', 1, delta => 1e-6, candidates => '[{"method": "objective", "lambda": 1000}, {"method": "auto"}]')::jsonb AS j FROM generate_series(1, 12)) s;
-- if none has, none spends it
SELECT string_agg(DISTINCT j ->> 'delta', ' ') AS delta, string_agg(DISTINCT j ->> 'neighbours', ' ') AS neighbours, bool_and(j ->> 'guarantee' ~ 'The guarantee, with the same epsilon, covers') AS told
FROM (SELECT dp_logreg_tune('people', 'sick', '{age,dose}', 1, delta => 1e-9, neighbours => 'remove', candidates => '[{}, {"intercept": false}]')::jsonb AS j FROM generate_series(1, 4)) s;
SELECT j ->> 'delta' AS delta, j ->> 'neighbours' AS neighbours, j ->> 'guarantee' ~ 'The guarantee, with the same epsilon and delta, covers' AS told
FROM (SELECT dp_svm_tune('wide', 'y', 'x', 1, delta => 1e-6, neighbours => 'remove', candidates => '[{"lambda": 0.1}, {"lambda": 1}]')::jsonb) s(j);

-- Evaluation: a row that is removed leaves one cell, one that is replaced
-- changes two. So noise of epsilon is that of 2 epsilon
CREATE TABLE judged AS SELECT dp_logreg_train('people', 'sick', '{age,dose}', 1) AS model;
SELECT metric, round((a.high - a.low)::numeric, 6) = round((b.high - b.low)::numeric, 6) AS as_of_twice, a.high - a.low < c.high - c.low AS less
FROM judged, dp_evaluate(model, 'people', epsilon => 0.1, neighbours => 'remove') a JOIN dp_evaluate((TABLE judged), 'people', epsilon => 0.2) b USING (metric)
  JOIN dp_evaluate((TABLE judged), 'people', epsilon => 0.1, neighbours => 'replace') c USING (metric) WHERE metric ~ 'ves$' ORDER BY metric;
SELECT count(*) AS bins, bool_and(auc IS NOT NULL) AS auc FROM judged, dp_roc(model, 'people', epsilon => 1, bins => 10, neighbours => 'remove');
SELECT count(*) AS exact FROM judged, dp_evaluate(model, 'people', epsilon => 'Infinity', neighbours => 'remove') WHERE NOT private AND metric ~ 'ves$' AND high = low;

DROP TABLE people, wide, models, again, received, chosen, judged CASCADE;
DROP FUNCTION a_row_was_read(), normal_delta(float8, float8), sigma(float8, float8), risk(text, boolean, float8, float8, float8, float8, float8, float8, float8, float8);
