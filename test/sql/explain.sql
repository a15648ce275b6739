--
-- What a model says: its weights and their noise, and what each column adds to
-- a score
--
\set ECHO errors
\pset format unaligned
\pset footer off
CREATE SCHEMA explained;
SET search_path = explained, public;
CREATE TABLE people (
    id int PRIMARY KEY,
    income float8 CHECK (income BETWEEN 0 AND 10),
    shoe float8 CHECK (shoe BETWEEN 0 AND 1),
    town text CHECK (town IN ('here', 'there', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8')),
    rich boolean
);
-- nobody lives in r1 to r8, and shoes carry no information
INSERT INTO people
SELECT i, i % 101 / 10.0, i % 7 / 6.0, (ARRAY['here', 'there'])[1 + i % 2], i % 101 / 10.0 > 5 FROM generate_series(1, 20000) i;

-- Output perturbation: exact, by the formulas of the reference. The release adds its variance
CREATE FUNCTION release(m jsonb) RETURNS float8 LANGUAGE sql AS $$ SELECT 2 * ((m ->> 'grid')::float8 * (m ->> 'release_scale')::float8) ^ 2 $$;
CREATE TABLE outputs AS
SELECT delta, dp_logreg_train('people', 'rich', '{income,shoe,town}', epsilon => 1, knots => 1, delta => delta, options => '{"method": "output"}') AS model
  FROM (VALUES (0), (1e-6)) v (delta);
SELECT delta, count(*), min(noise_kind) AS kind,
       max(abs(sqrt(noise ^ 2 - release(model::jsonb)) / ((model::jsonb ->> 'noise_scale')::float8 * CASE delta WHEN 0 THEN sqrt(14) ELSE 1 END) - 1)) < 1e-6 AS right
  FROM outputs, dp_coefficients(model) GROUP BY delta ORDER BY delta;

-- Objective perturbation: a bound. All weights have the same noise here, so it
-- is that of a weight without rows.
SELECT method, noise_kind, count(*),
       max(abs(sqrt(noise ^ 2 - release(model::jsonb)) / expected - 1)) < 1e-6 AS right
  FROM (SELECT m ->> 'method' AS method, m::text::dp_model AS model,
               (m ->> 'noise_scale')::float8 * sqrt(4 * 5 / 3.0) * (m -> 'noise_groups' -> 0 -> 'shapes' -> 0 ->> 'radius')::float8
               / ((m ->> 'rows')::float8 * (m ->> 'lambda_effective')::float8) AS expected
          FROM (SELECT dp_logreg_train('people', 'rich', '{income,shoe}', epsilon => 1, knots => 1, options => '{"method": "objective"}')::jsonb AS m OFFSET 0) t) s,
       dp_coefficients(model) GROUP BY method, noise_kind;
-- The same in the ball, and for persons
SELECT max(abs(sqrt(noise ^ 2 - release(m)) / ((m ->> 'noise_scale')::float8 * sqrt(4) / ((m ->> 'persons')::float8 * (m ->> 'lambda_effective')::float8)) - 1)) < 1e-6 AS right
  FROM (SELECT dp_svm_train('people', 'rich', '{income,shoe}', epsilon => 1, knots => 1, options => '{"noise": "ball"}', unit => 'id')::jsonb AS m OFFSET 0) s, dp_coefficients(m::text::dp_model);
-- No noise
SELECT count(*), max(noise) AS noise, bool_and(noise_kind = 'exact') AS exact, count(*) FILTER (WHERE stands_out) AS stand_out
  FROM dp_coefficients(dp_logreg_train('people', 'rich', '{income,town}', epsilon => 'Infinity', knots => 1));

-- The order: what stands out most comes first, the intercept last
CREATE TABLE trained AS
SELECT i, dp_logreg_train('people', 'rich', '{income,shoe,town}', epsilon => 4, lambda => 0.002, knots => 1) AS model FROM generate_series(1, 40) i;
CREATE TABLE weights AS
SELECT i, c.*, abs(weight) / noise AS strength FROM trained, ROWS FROM (dp_coefficients(model)) WITH ORDINALITY AS c (rank, column_name, value, weight, noise, noise_kind, stands_out, score, score_noise, place);
SELECT count(*), count(*) FILTER (WHERE after > strength) AS disordered, bool_and(stands_out = (strength > 2.5)) AS flags
  FROM (SELECT *, lead(strength) OVER (PARTITION BY i ORDER BY place) AS after FROM weights WHERE value IS DISTINCT FROM 'intercept') s;
SELECT DISTINCT place FROM weights WHERE value = 'intercept';

-- A finding stands out. Weights of towns where nobody lives, and of shoes, do
-- not, but by chance, however large they are.
SELECT bool_and(stands_out) AS finding FROM weights WHERE column_name = 'income';
SELECT count(*), avg(stands_out::int) < 0.08 AS rare FROM weights WHERE value ~ '^r' OR column_name = 'shoe';
-- Their noise is what repeated trainings show
SELECT stddev(weight) / min(noise) BETWEEN 0.6 AND 1.6 AS as_large FROM weights WHERE value ~ '^r';

--
-- A row without any usable value has no prediction
--
CREATE TYPE town AS ENUM ('here', 'there', 'elsewhere');
CREATE TABLE clients (
    id int PRIMARY KEY,
    age int CHECK (age BETWEEN 0 AND 100),
    joined date CHECK (joined BETWEEN '2020-01-01' AND '2020-12-31'),
    town town,
    member boolean,
    x float8[] CHECK (cardinality(x) = 2),
    buys boolean
);
INSERT INTO clients
SELECT i, i % 101, date '2020-01-01' + i % 366, (ARRAY['here', 'there', 'elsewhere'])[1 + i % 3]::town, i % 5 = 0, ARRAY[i % 11 / 11.0, -0.5], i % 101 > 40
  FROM generate_series(1, 2000) i;
CREATE TABLE models AS
SELECT 'linear' AS name, dp_logreg_train('clients', 'buys', '{age,joined,town,member,x}', epsilon => 1) AS model UNION ALL
SELECT 'bare', dp_svm_train('clients', 'buys', '{age,joined,town,member,x}', epsilon => 1, options => '{"intercept": false}') UNION ALL
SELECT 'kernel', dp_logreg_train('clients', 'buys', '{age,joined,town,member,x}', epsilon => 1, kernel => 'gaussian', options => '{"kernel_features": 20}') UNION ALL
SELECT 'array', dp_logreg_train('clients', 'buys', 'x', epsilon => 1) UNION ALL
SELECT 'aggregate', dp_logreg(buys, x, 1.0, '{"lambda": 0.1, "dimension": 2}') FROM clients;
CREATE FUNCTION model(name text) RETURNS dp_model LANGUAGE sql STABLE RETURN (SELECT model FROM models m WHERE m.name = model.name);
CREATE TABLE rare (LIKE clients);
ALTER TABLE rare ALTER town TYPE text;
INSERT INTO rare VALUES
  (1, NULL, NULL, NULL, NULL, NULL, NULL),
  (2, NULL, NULL, 'Here', NULL, '{1,NaN}', NULL),	-- no value in any domain
  (3, NULL, NULL, NULL, NULL, '{1,2,3}', NULL),
  (4, 50, NULL, NULL, NULL, NULL, NULL),	-- its code is zero
  (5, 1000, NULL, NULL, NULL, NULL, NULL),
  (6, NULL, NULL, 'here', NULL, NULL, NULL),
  (7, NULL, NULL, NULL, NULL, '{0,0}', NULL);
SELECT name, id, dp_decision(model, r) IS NULL AS decision, dp_predict(model, r) IS NULL AS class, CASE WHEN name <> 'bare' THEN dp_predict_prob(model, r) IS NULL END AS probability
  FROM models, rare r WHERE name IN ('linear', 'bare', 'kernel') ORDER BY name DESC, id;
SELECT name, dp_predict(model, x) IS NULL AS nothing
  FROM models, (VALUES (1, '{0,0}'::float8[]), (2, '{NULL,1}'), (3, '{1,NaN}')) v (i, x) WHERE name IN ('array', 'aggregate') ORDER BY name, i;
-- Evaluation counts such a row as training does: with zeros
CREATE VIEW nobody AS SELECT 1 AS id, NULL::int AS age, NULL::date AS joined, NULL::town AS town, NULL::boolean AS member, NULL::float8[] AS x, true AS buys;
SELECT sum(value) AS counted FROM dp_evaluate(model('linear'), 'nobody', epsilon => 'Infinity') WHERE metric ~ '(positives|negatives)$';

--
-- dp_explain: what each column adds
--
-- by hand: a model whose weights are known
SELECT e.column_name, e.value, round(e.score::numeric, 6) AS score
  FROM (SELECT jsonb_set(dp_logreg_train('clients', 'buys', '{age,town,member}', epsilon => 'Infinity', knots => 1)::jsonb, '{weights}', '[10, 2, -4, 6, -8, 1]')::dp_model AS model OFFSET 0) m,
       (VALUES (1, 75, 'there', false), (2, 500, 'nowhere', NULL)) v (i, age, town, member), LATERAL dp_explain(model, v) e;
-- The sum is the decision; every column is there once, the largest first and
-- the intercept last
SELECT name, count(*) AS rows, bool_and(abs(total - dp_decision(model, c)) < 1e-12) AS adds_up, min(columns) AS columns, bool_and(ordered) AS ordered, min(last) AS last
  FROM models, clients c, LATERAL (
    SELECT sum(score) AS total, count(column_name) AS columns, (array_agg(value ORDER BY place DESC))[1] AS last,
           array_agg(abs(score) ORDER BY place) FILTER (WHERE column_name IS NOT NULL) =
           array_agg(abs(score) ORDER BY abs(score) DESC) FILTER (WHERE column_name IS NOT NULL) AS ordered
      FROM dp_explain(model, c) WITH ORDINALITY AS e (column_name, value, score, place)) e
  WHERE name = 'linear' GROUP BY name;
SELECT bool_and(abs(total - dp_decision(model, c)) < 1e-12) AS adds_up FROM models, clients c, LATERAL (SELECT sum(score) AS total FROM dp_explain(model, c)) e WHERE name = 'bare';
-- Values are those of the row, as the session prints them
SET datestyle = 'German';
SELECT column_name, value FROM clients c, dp_explain(model('linear'), c) WHERE id = 7 ORDER BY 1 NULLS LAST;
RESET datestyle;
-- NULLs and values in no domain add nothing
SELECT id, column_name, value FROM rare r, dp_explain(model('bare'), r) WHERE id IN (2, 6) AND score = 0 ORDER BY 1, 2;
SELECT count(*) FROM dp_explain(model('linear'), NULL::clients);
SELECT count(*) FROM dp_explain(NULL, ROW(1));
-- A model of one vector: arrays, and literals
SELECT name, column_name, value FROM models, dp_explain(model, '{0.5,1}') WHERE name IN ('array', 'aggregate') ORDER BY name, value COLLATE "C";
SELECT abs(sum(score) - min(dp_decision(model, x))) < 1e-12 AS adds_up FROM models, (SELECT ARRAY[0.5, 1]::real[] AS x) s, dp_explain(model, x) WHERE name = 'array';
-- in the select list, and over several models
SELECT (dp_explain(model('array'), '{1,2}')).value;
SELECT name, count(*) FROM models, clients c, dp_explain(model, c) WHERE name <> 'kernel' AND name <> 'aggregate' AND id < 4 GROUP BY name ORDER BY name;
-- Mistakes
\set VERBOSITY terse
SELECT dp_explain(model('kernel'), c) FROM clients c;
SELECT dp_explain(model('linear'), s) FROM (SELECT 1 AS age) s;
SELECT dp_explain(model('linear'), '{1,2}');
SELECT dp_explain(model('linear'), 3);
\set VERBOSITY default

SET client_min_messages = warning;
DROP SCHEMA explained CASCADE;
