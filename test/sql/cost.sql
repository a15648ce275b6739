--
-- Cost: what a training would spend and with what noise, before it reads a row
--
SET extra_float_digits = 0;

-- The formulas of the guarantee document: objective perturbation by the sharp analysis, by the paper's, and output perturbation
CREATE FUNCTION by_hand(n numeric, d numeric, e numeric, lambda numeric, method text, analysis text, c numeric, start numeric)
RETURNS TABLE (lambda_used float8, lambda_effective float8, slack float8, noise float8, release float8, noise_norm float8, weight_bound float8) LANGUAGE plpgsql AS $$
DECLARE
  l numeric := lambda;
  r numeric := 0.01 * e;
  s numeric := 0;
  b numeric;
BEGIN
  IF method = 'objective' AND analysis = 'sharp' THEN
    l := greatest(lambda, c / (n * (exp(0.1 * e) - 1)));
    s := ln(1 + c / (n * l));
  END IF;
  b := e - s - r;
  RETURN QUERY SELECT lambda::float8, l::float8, s::float8, b::float8, r::float8, (2 * d / (b * n * l))::float8, least(sqrt(2 * start / l), 1 / l)::float8;
END $$;
CREATE TABLE setups AS
  SELECT n, d, e, lambda, method, loss, h, CASE loss WHEN 'logistic' THEN 0.25 WHEN 'huber' THEN 1 / (2 * h) ELSE 3 / (4 * h) END AS c
  FROM (VALUES (100), (10000), (1000000)) a(n), (VALUES (2), (100)) b(d), (VALUES (0.1), (1), (5)) c(e), (VALUES (0.0001), (0.01), (3)) f(lambda),
       (VALUES ('objective'), ('output')) g(method), (VALUES ('logistic', 0.5), ('huber', 0.5), ('huber', 0.1), ('smooth_hinge', 0.25)) i(loss, h);
-- the loss of a row at zero weights, where training starts, is log 2, and 1 for the hinges; the noise of the release stage comes on top and is small
SELECT method, loss, count(*) AS setups, bool_and(abs(c.lambda_used / b.lambda_used - 1) < 1e-9) AS lambda_used, bool_and(abs(c.lambda_effective / b.lambda_effective - 1) < 1e-9) AS lambda_effective,
       bool_and(abs(c.epsilon_slack - b.slack) < 1e-9) AS slack, bool_and(abs(c.epsilon_noise - b.noise) < 1e-9) AS noise, bool_and(abs(c.epsilon_release - b.release) < 1e-9) AS release,
       bool_and(c.epsilon_slack + c.epsilon_noise + c.epsilon_release <= e) AS within_epsilon,
       bool_and(c.noise_norm / b.noise_norm BETWEEN 1 - 1e-9 AND 1.05) AS noise_norm, bool_and(abs(c.weight_bound / b.weight_bound - 1) < 1e-9) AS weight_bound,
       bool_and(abs(c.noise_share * c.weight_bound / c.noise_norm - 1) < 1e-9) AS noise_share
FROM setups s, dp_cost(n, d, e, lambda, method => s.method, loss => s.loss, h => s.h) c,
     by_hand(n, d, e, lambda, s.method, 'sharp', s.c, CASE loss WHEN 'logistic' THEN ln(2::numeric) ELSE 1 END) b
GROUP BY method, loss ORDER BY method, loss;
-- the default lambda
SELECT n, d, e, abs(lambda_used * n * e / d - 0.1) < 1e-9 AS by_default FROM (VALUES (100, 3, 1), (50000, 100, 0.1), (1000000, 10, 8)) v(n, d, e), dp_cost(n, d, e);
SELECT lambda_used, lambda_effective, epsilon_slack, epsilon_noise, epsilon_release, noise_norm, noise_share, rows_needed FROM dp_cost(500, 10, 'Infinity');
-- the paper's analysis: lambda is raised only where slack takes all
SELECT e, round(lambda_effective::numeric, 9) AS lambda, round(epsilon_slack::numeric, 6) AS slack, round(epsilon_noise::numeric, 6) AS noise
FROM (VALUES (0.01), (0.1), (1)) v(e), dp_cost(10000, 10, e, 0.001, analysis => 'paper') ORDER BY e;

-- The impossible: 200 rows, 500 dimensions, epsilon 0.01
SELECT noise_share > 100 AS all_noise, rows_needed BETWEEN 1000000 AND 100000000 AS millions FROM dp_cost(200, 500, 0.01);
-- and what is easy
SELECT noise_share < 0.5 AS useful, rows_needed BETWEEN 2 AND 100000 AS fewer FROM dp_cost(100000, 10, 1);
-- rows_needed is the smallest number of rows with a share of at most a half
SELECT count(*) AS setups, bool_and(here.noise_share <= 0.5) AS enough, bool_and(before.noise_share > 0.5) AS one_less_is_not
FROM (VALUES (10, 1, NULL), (500, 0.01, NULL), (3, 10, NULL), (20, 0.5, 0.01), (20, 0.5, 1), (100, 2, 0.0001)) v(d, e, lambda), (VALUES ('objective'), ('output')) m(method),
     dp_cost(1000, d, e, lambda, method => method) c, dp_cost(c.rows_needed, d, e, lambda, method => method) here, dp_cost(c.rows_needed - 1, d, e, lambda, method => method) before;
-- more rows, less dimensions, more epsilon: less noise
SELECT count(*) AS setups, bool_and(c.noise_share <= a.noise_share) AS fewer_with_rows, bool_and(b.noise_share >= a.noise_share) AS more_with_dimensions, bool_and(e.noise_share <= a.noise_share) AS fewer_with_epsilon
FROM generate_series(1, 8) i, dp_cost((10 ^ i)::bigint, 10, 1) a, dp_cost(2 * (10 ^ i)::bigint, 10, 1) c, dp_cost((10 ^ i)::bigint, 20, 1) b, dp_cost((10 ^ i)::bigint, 10, 2) e;

-- What it says is what a model gets
CREATE DOMAIN vec3 AS float8[] CHECK (cardinality(VALUE) = 3);
CREATE TABLE trained_on AS SELECT i % 3 = 0 AS y, ARRAY[sin(i), cos(i), 0.5]::vec3 AS x FROM generate_series(1, 300) i;
CREATE TABLE models AS
  SELECT 'logistic' AS loss, 0.5 AS h, 'objective' AS method, 'sharp' AS analysis, NULL::float8 AS lambda, 1.0 AS e, dp_logreg_train('trained_on', 'y', 'x', 1) AS m
  UNION ALL SELECT 'logistic', 0.5, 'objective', 'paper', 0.001, 0.1, dp_logreg_train('trained_on', 'y', 'x', 0.1, 0.001, analysis => 'paper')
  UNION ALL SELECT 'logistic', 0.5, 'output', 'sharp', 0.02, 3, dp_logreg_train('trained_on', 'y', 'x', 3, 0.02, method => 'output')
  UNION ALL SELECT 'huber', 0.5, 'objective', 'sharp', 0, 2, dp_svm_train('trained_on', 'y', 'x', 2, 0)
  UNION ALL SELECT 'smooth_hinge', 0.1, 'objective', 'sharp', 1e-5, 0.5, dp_svm_train('trained_on', 'y', 'x', 0.5, 1e-5, loss => 'smooth_hinge', h => 0.1)
  UNION ALL SELECT 'logistic', 0.5, 'objective', 'sharp', NULL, 'Infinity', dp_logreg_train('trained_on', 'y', 'x', 'Infinity');
SELECT s.loss, s.method, s.analysis, c.lambda_used = (j ->> 'lambda')::float8 AS lambda, c.lambda_effective = (j ->> 'lambda_effective')::float8 AS effective,
       c.epsilon_slack = (j -> 'budget' ->> 'slack')::float8 AS slack, c.epsilon_noise = (j -> 'budget' ->> 'noise')::float8 AS noise, c.epsilon_release = (j -> 'budget' ->> 'release')::float8 AS release
FROM (SELECT *, m::jsonb AS j FROM models) s, dp_cost(300, 4, e::float8, lambda, method => s.method, analysis => s.analysis, loss => s.loss, h => s.h) c ORDER BY e;

-- Arguments
CREATE FUNCTION cost(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
  state text;
  hint text;
BEGIN
  EXECUTE 'SELECT ''told'' FROM dp_cost(' || arguments || ')' INTO result;
  RETURN coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, result = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN state || ': ' || result || CASE WHEN hint <> '' THEN E'\n  hint: ' || hint ELSE '' END;
END $$;
\pset format unaligned
\pset tuples_only on
SELECT cost($$ rows => 1000, dimension => 10, epsilon => 1 $$);
SELECT cost($$ 1000, 10, 1, NULL, NULL, NULL, NULL, NULL $$);
SELECT cost($$ NULL, 10, 1 $$);
SELECT cost($$ 1000, NULL, 1 $$);
SELECT cost($$ 1000, 10, NULL $$);
SELECT cost($$ 0, 10, 1 $$);
SELECT cost($$ -5, 10, 1 $$);
SELECT cost($$ 8589934592, 10, 1 $$);
SELECT cost($$ 8589934593, 10, 1 $$);
SELECT cost($$ 9223372036854775807, 10, 1 $$);
SELECT cost($$ 1000, 0, 1 $$);
SELECT cost($$ 1000, -1, 1 $$);
SELECT cost($$ 1000, 1000000, 1 $$);
SELECT cost($$ 1, 1, 1 $$);
SELECT cost($$ 1000, 10, 0 $$);
SELECT cost($$ 1000, 10, 'NaN' $$);
SELECT cost($$ 1000, 10, 1e-9 $$);
SELECT cost($$ 1000, 10, 1e7 $$);
SELECT cost($$ 1000, 10, 1, -1 $$);
SELECT cost($$ 1000, 10, 1, 'Infinity' $$);
SELECT cost($$ 1000, 10, 1, 0 $$);
SELECT cost($$ 1000, 10, 1, 0, method => 'output' $$);
SELECT cost($$ 1000, 10, 'Infinity', 0 $$);
SELECT cost($$ 1000, 10, 1, method => 'input' $$);
SELECT cost($$ 1000, 10, 1, analysis => 'blunt' $$);
SELECT split_part(cost($$ 1000, 10, 1, loss => 'hinge' $$), E'\n', 1);
SELECT cost($$ 1000, 10, 1, loss => 'huber', h => 0 $$);
SELECT cost($$ 1000, 10, 1, loss => 'huber', h => 1 $$);
\pset tuples_only off
\pset format aligned

DROP TABLE setups, trained_on, models;
DROP DOMAIN vec3;
DROP FUNCTION by_hand, cost;
RESET extra_float_digits;
