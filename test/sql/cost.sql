--
-- Cost: what a training would spend and with what noise, before it reads a row
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET extra_float_digits = 0;
SET client_min_messages = warning;

-- The formulas of the guarantee document, at the lambda that is used and with what is left after the release: objective perturbation by the sharp analysis, and output perturbation
CREATE FUNCTION by_hand(n float8, d float8, e float8, l float8, method text, loss text, c float8)
RETURNS TABLE (slack float8, noise float8, noise_norm float8, of_gradient float8) LANGUAGE sql AS $$
  SELECT e - b, b, 2 * sqrt(d * (d + 1)) / (b * n * l), (l + CASE method WHEN 'output' THEN c / d / 2 ELSE 0 END) / (0.5 * CASE loss WHEN 'logistic' THEN 0.5 ELSE 1 END / sqrt(d))
    FROM (SELECT CASE method WHEN 'objective' THEN left_for_noise(e, n * l, c, loss) ELSE e END) t(b) $$;
-- rows of d coordinates: a vector without intercept
CREATE TABLE dots (y boolean, x float8[]);
CREATE TABLE setups AS
  SELECT n, d, e, lambda, method, loss, h, CASE loss WHEN 'logistic' THEN 0.25 WHEN 'huber' THEN 1 / (2 * h) ELSE 3 / (4 * h) END AS c
  FROM (VALUES (100), (10000), (1000000)) a(n), (VALUES (2), (100)) b(d), (VALUES (0.1), (1), (5)) c(e), (VALUES (0.0001), (0.01), (3)) f(lambda),
       (VALUES ('objective'), ('output')) g(method), (VALUES ('logistic', 0.5), ('huber', 0.5), ('huber', 0.1), ('smooth_hinge', 0.25)) i(loss, h);
-- the slope of a row's loss at zero weights, where training starts, is 1/2, and 1 for the hinges, and scores are expected to have a correlation of 0.5 with labels; in output perturbation the losses are half as curved as they can be; the noise of the release stage comes on top and is small
SELECT s.method, loss, count(*) AS setups, bool_and(c.lambda_used = lambda) AS lambda_used,
       bool_and(c.lambda_effective = lambda OR c.epsilon_slack > 0.0999 * e) AS lambda_effective,
       bool_and(abs(c.epsilon_slack - b.slack) < 1e-9) AS slack, bool_and(abs(c.epsilon_noise - b.noise) < 1e-9) AS noise, bool_and(c.epsilon_release > 0 AND c.epsilon_release <= 0.01 * e::float8 * (1 + 1e-9)) AS release,
       bool_and(c.epsilon_slack + c.epsilon_noise + c.epsilon_release <= e::float8 * (1 + 2.3e-16::float8)) AS within_epsilon,
       bool_and(c.noise_norm / b.noise_norm BETWEEN 1 - 1e-9 AND 1.05) AS noise_norm,
       bool_and(abs(c.noise_share / (c.noise_norm * b.of_gradient) - 1) < 1e-9) AS noise_share, bool_and(c.noise = 'ball') AS ball
FROM setups s, dp_cost('dots', 'y', 'x', e, units => n, domains => jsonb_build_object('x', jsonb_build_object('dimension', d)), options => jsonb_strip_nulls(jsonb_build_object('intercept', false, 'method', s.method, 'loss', CASE WHEN s.loss NOT IN ('logistic', 'log_cosh') THEN s.loss END, 'h', CASE WHEN s.loss <> 'logistic' THEN s.h END)), lambda => lambda, learner => CASE s.loss WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END) c,
     by_hand(n, d, e - c.epsilon_release, c.lambda_effective, s.method, loss, s.c) b
GROUP BY s.method, loss ORDER BY s.method, loss;

-- The criterion: the default is the lambda of least risk, in three digits, and there the slack takes what it needs. spread is the mean square of the noise at scale 1
CREATE FUNCTION risk(lambda float8, n float8, spread float8, e float8, c float8, loss text DEFAULT 'logistic') RETURNS float8 LANGUAGE sql AS
  'SELECT CASE WHEN l > 0 THEN 4 * spread / (2 * (l * n) ^ 2 * lambda) + lambda * 20 ^ 2 / 2 ELSE ''Infinity'' END FROM (SELECT left_for_noise(e, n * lambda, c, loss) OFFSET 0) s(l)';
-- the risk is convex, so it falls up to the least and rises from there; three digits are within half a percent
CREATE FUNCTION is_best(lambda float8, n float8, spread float8, e float8, c float8, loss text DEFAULT 'logistic') RETURNS boolean LANGUAGE sql AS
  'SELECT risk(lambda / 1.007, n, spread, e, c, loss) > risk(lambda / 1.006, n, spread, e, c, loss) AND risk(lambda * 1.007, n, spread, e, c, loss) > risk(lambda * 1.006, n, spread, e, c, loss)
     AND (SELECT min(risk(lambda * 10 ^ (k / 25.0), n, spread, e, c, loss)) FROM generate_series(-100, 100, 8) k WHERE k <> 0) > risk(lambda, n, spread, e, c, loss)
     AND abs(digits - round(digits)) < 1e-9 FROM (SELECT lambda * 10 ^ (2 - floor(log(lambda)))) t(digits)';
-- that of output perturbation: the noise is the same in all directions, and
-- meets the mean of the curvatures
CREATE FUNCTION output_risk(lambda float8, n float8, d float8, e float8, c float8) RETURNS float8 LANGUAGE sql AS
  'SELECT (2 / (n * lambda * e)) ^ 2 * d * (d + 1) * (lambda + c / d) / 2 + lambda * 20 ^ 2 / 2';
SELECT loss, count(*) AS setups, bool_and((SELECT min(output_risk(lambda_used * 10 ^ (k / 25.0), n, d, e, s.c)) FROM generate_series(-100, 100) k WHERE k <> 0) > output_risk(lambda_used, n, d, e, s.c)) AS least_risk,
       bool_and(output_risk(lambda_used / 1.007, n, d, e, s.c) > output_risk(lambda_used / 1.006, n, d, e, s.c) AND output_risk(lambda_used * 1.007, n, d, e, s.c) > output_risk(lambda_used * 1.006, n, d, e, s.c)) AS falls_and_rises
FROM (SELECT DISTINCT n, d, e, loss, h, c FROM setups) s, dp_cost('dots', 'y', 'x', e, units => n, domains => jsonb_build_object('x', jsonb_build_object('dimension', d)), options => jsonb_strip_nulls(jsonb_build_object('intercept', false, 'method', 'output', 'loss', CASE WHEN s.loss NOT IN ('logistic', 'log_cosh') THEN s.loss END, 'h', CASE WHEN s.loss <> 'logistic' THEN s.h END)), learner => CASE s.loss WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END) GROUP BY loss ORDER BY loss;
-- by itself the one of less risk is taken
SELECT loss, count(*) AS setups, bool_and(a.method = CASE WHEN output_risk(o.lambda_used, n, d, e, s.c) < risk(b.lambda_used, n, d * (d + 1), e, s.c, s.loss) THEN 'output' ELSE 'objective' END) AS least_risk,
       bool_and(a.lambda_used = CASE a.method WHEN 'output' THEN o.lambda_used ELSE b.lambda_used END AND a.noise_norm = CASE a.method WHEN 'output' THEN o.noise_norm ELSE b.noise_norm END) AS as_if_asked_for, count(*) FILTER (WHERE a.method = 'output') AS output
FROM (SELECT DISTINCT n, d, e, loss, h, c FROM setups) s, dp_cost('dots', 'y', 'x', e, units => n, domains => jsonb_build_object('x', jsonb_build_object('dimension', d)), options => jsonb_strip_nulls(jsonb_build_object('intercept', false, 'loss', CASE WHEN s.loss NOT IN ('logistic', 'log_cosh') THEN s.loss END, 'h', CASE WHEN s.loss <> 'logistic' THEN s.h END)), learner => CASE s.loss WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END) a, dp_cost('dots', 'y', 'x', e, units => n, domains => jsonb_build_object('x', jsonb_build_object('dimension', d)), options => jsonb_strip_nulls(jsonb_build_object('intercept', false, 'method', 'output', 'loss', CASE WHEN s.loss NOT IN ('logistic', 'log_cosh') THEN s.loss END, 'h', CASE WHEN s.loss <> 'logistic' THEN s.h END)), learner => CASE s.loss WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END) o,
     dp_cost('dots', 'y', 'x', e, units => n, domains => jsonb_build_object('x', jsonb_build_object('dimension', d)), options => jsonb_strip_nulls(jsonb_build_object('intercept', false, 'method', 'objective', 'loss', CASE WHEN s.loss NOT IN ('logistic', 'log_cosh') THEN s.loss END, 'h', CASE WHEN s.loss <> 'logistic' THEN s.h END)), learner => CASE s.loss WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END) b GROUP BY loss ORDER BY loss;
SELECT noise, lambda_used, lambda_effective, epsilon_slack, epsilon_noise, epsilon_release, noise_norm, noise_share, verdict, units_needed FROM dp_cost('dots', 'y', 'x', 'Infinity', units => 500, domains => '{"x": {"dimension": 10}}', options => '{"intercept": false}');

-- Impossible: 200 rows, 500 dimensions, epsilon 0.01
SELECT noise_share > 100 AS all_noise, units_needed BETWEEN 1000000 AND 100000000 AS millions FROM dp_cost('dots', 'y', 'x', 0.01, units => 200, domains => '{"x": {"dimension": 500}}', options => '{"intercept": false}');
-- and easy
SELECT noise_share < 0.5 AS useful, units_needed BETWEEN 2 AND 100000 AS fewer FROM dp_cost('dots', 'y', 'x', 1, units => 100000, domains => '{"x": {"dimension": 10}}', options => '{"intercept": false}');
-- units_needed is where the share falls to a half
SELECT count(*) AS setups, bool_and(here.noise_share <= 0.5) AS enough, bool_and(before.noise_share > 0.5) AS one_less_is_not
FROM (VALUES (10, 1, NULL), (500, 0.01, NULL), (3, 10, NULL), (20, 0.5, 0.01), (20, 0.5, 1), (100, 2, 0.0001)) v(d, e, lambda), (VALUES ('objective'), ('output')) m(method),
     dp_cost('dots', 'y', 'x', e, units => 1000, domains => jsonb_build_object('x', jsonb_build_object('dimension', d)), options => jsonb_strip_nulls(jsonb_build_object('intercept', false, 'method', m.method)), lambda => lambda) c, dp_cost('dots', 'y', 'x', e, units => c.units_needed, domains => jsonb_build_object('x', jsonb_build_object('dimension', d)), options => jsonb_strip_nulls(jsonb_build_object('intercept', false, 'method', m.method)), lambda => lambda) here, dp_cost('dots', 'y', 'x', e, units => c.units_needed - 1, domains => jsonb_build_object('x', jsonb_build_object('dimension', d)), options => jsonb_strip_nulls(jsonb_build_object('intercept', false, 'method', m.method)), lambda => lambda) before;
-- more rows, fewer dimensions, more epsilon: less noise
SELECT count(*) AS setups, bool_and(c.noise_share <= a.noise_share) AS fewer_with_rows, bool_and(b.noise_share >= a.noise_share) AS more_with_dimensions, bool_and(e.noise_share <= a.noise_share) AS fewer_with_epsilon
FROM generate_series(1, 8) i, dp_cost('dots', 'y', 'x', 1, units => (10 ^ i)::bigint, domains => '{"x": {"dimension": 10}}', options => '{"intercept": false}') a, dp_cost('dots', 'y', 'x', 1, units => 2 * (10 ^ i)::bigint, domains => '{"x": {"dimension": 10}}', options => '{"intercept": false}') c, dp_cost('dots', 'y', 'x', 1, units => (10 ^ i)::bigint, domains => '{"x": {"dimension": 20}}', options => '{"intercept": false}') b, dp_cost('dots', 'y', 'x', 2, units => (10 ^ i)::bigint, domains => '{"x": {"dimension": 10}}', options => '{"intercept": false}') e;

-- With a source: the noise in the shape of its columns, and the ball to compare
-- with
CREATE TABLE patients (sick boolean, age int CHECK (age BETWEEN 0 AND 120), bmi float8 CHECK (bmi BETWEEN 10 AND 60), ward text CHECK (ward IN ('north', 'south', 'east', 'west', 'tower')),
  smoker boolean, x float8[] CHECK (cardinality(x) = 3), notes text);
-- shapes: dimension and mean square of each; groups: the group of each
CREATE FUNCTION spread(shapes float8[], VARIADIC groups int[]) RETURNS float8 LANGUAGE sql AS
  'SELECT sum(root) ^ 3 FROM (SELECT ((sum(shapes[i][1]) + 1) * (sum(shapes[i][1]) + 2) * sum(shapes[i][2])) ^ (1 / 3.0) FROM unnest(groups) WITH ORDINALITY g(g, i) GROUP BY g) s(root)';
-- the mean square of an interval of radius t is t^2/3, of a category of k
-- values 2k t^2/((k + 1)(k + 2)), of a disc t^2/2, of a ball of dimension k it
-- is k t^2/(k + 2)
CREATE TABLE shapes AS SELECT * FROM (VALUES
  ('numbers', 4, $$'{age,bmi,smoker}'$$, '', spread(ARRAY[[4, 4 / 12.0]], 1)),
  ('number alone', 1, $$'age'$$, $$options => '{"intercept": false}'$$, 2),
  ('number, category', 7, $$'{age,ward}'$$, '', (SELECT min(spread(ARRAY[[2, 2 / 9.0], [5, 10 / 42.0 / 3]], 1, g)) FROM generate_series(1, 2) g)),
  ('number, two values', 4, $$'{age,ward}'$$, $$domains => '{"ward": ["north", "south"]}'$$, (SELECT min(spread(ARRAY[[2, 2 / 9.0], [2, 4 / 12.0 / 3]], 1, g)) FROM generate_series(1, 2) g)),
  ('all', 12, 'NULL', '', (SELECT min(spread(ARRAY[[4, 4 / 18.0], [5, 10 / 42.0 / 6], [3, 3 / 5.0 / 6]], 1, g, h)) FROM generate_series(1, 3) g, generate_series(1, 3) h)),
  ('vector', 4, $$'x'$$, '', (SELECT min(spread(ARRAY[[3, 3 / 5.0 / 2], [1, 1 / 6.0]], 1, g)) FROM generate_series(1, 2) g)),
  ('vector alone', 3, $$'x'$$, $$options => '{"intercept": false}'$$, 12),
  ('kernel', 50, $$'x'$$, $$kernel => 'gaussian', options => '{"kernel_features": 50}'$$, spread(ARRAY[[50, 1 / 2.0]], 1))) v(name, d, features, options, spread);
CREATE FUNCTION costs(features text, options text) RETURNS TABLE (noise text, lambda float8, epsilon_noise float8, noise_norm float8) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT DISTINCT c.noise, c.lambda_used, c.epsilon_noise, c.noise_norm FROM (VALUES (NULL), (''ball'')) v(asked), dp_cost(%s) c', concat_ws(', ', '''patients'', ''sick''', features, '0.1, units => 30000, knots => 1', nullif(regexp_replace(options, '(, )?options => .*', ''), ''),
    format('options => jsonb_strip_nulls(jsonb_build_object(''method'', ''objective'', ''noise'', asked)) || %s', coalesce(substring(options FROM 'options => (.*)'), '''{}'''))));
END $$;
-- the ball has a mean square of d(d + 1)
SELECT name, noise, round((spread / d / (d + 1))::numeric, 3) AS of_ball, is_best(lambda, 30000, s, 0.1, 0.25) AS least_risk, noise_norm / (2 * sqrt(s) / (epsilon_noise * 30000 * lambda)) BETWEEN 1 - 1e-9 AND 1.01 AS noise_norm
FROM shapes, costs(features, options), LATERAL (SELECT CASE noise WHEN 'shaped' THEN spread ELSE d * (d + 1) END) t(s) ORDER BY name COLLATE "C", noise DESC;
-- the ball is that of the dimension
SELECT to_jsonb(c) - '{knots,label,features}'::text[] = to_jsonb(d) - '{knots,label,features}'::text[] AS of_dimension
FROM dp_cost('patients', 'sick', NULL, 0.5, units => 1000, knots => 1, options => '{"method": "objective", "noise": "ball"}') c, dp_cost('dots', 'y', 'x', 0.5, units => 1000, domains => '{"x": {"dimension": 12}}', options => '{"intercept": false, "method": "objective"}') d;
-- no other method has a shape, and without noise there is none
SELECT noise FROM dp_cost('patients', 'sick', NULL, 1, units => 1000, options => '{"method": "output"}');
SELECT noise FROM dp_cost('patients', 'sick', NULL, 1, units => 1000, options => '{"analysis": "paper"}');
SELECT noise FROM dp_cost('patients', 'sick', NULL, 'Infinity', units => 1000);
-- rows needed, with and without shape
SELECT count(*) AS setups, bool_and(here.noise_share <= 0.5) AS enough, bool_and(before.noise_share > 0.5) AS one_less_is_not
FROM (VALUES (0.01), (0.1), (1), (3)) v(e), (VALUES ('shaped'), ('ball')) m(noise), (VALUES ('logistic'), ('huber')) l(loss), dp_cost('patients', 'sick', NULL, e, units => 1000, options => jsonb_strip_nulls(jsonb_build_object('noise', m.noise, 'loss', CASE WHEN loss NOT IN ('logistic', 'log_cosh') THEN loss END)), learner => CASE loss WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END) c,
     dp_cost('patients', 'sick', NULL, e, units => c.units_needed, options => jsonb_strip_nulls(jsonb_build_object('noise', m.noise, 'loss', CASE WHEN loss NOT IN ('logistic', 'log_cosh') THEN loss END)), learner => CASE loss WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END) here, dp_cost('patients', 'sick', NULL, e, units => c.units_needed - 1, options => jsonb_strip_nulls(jsonb_build_object('noise', m.noise, 'loss', CASE WHEN loss NOT IN ('logistic', 'log_cosh') THEN loss END)), learner => CASE loss WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END) before;
SELECT e, s.noise_share < b.noise_share AS less_noise, s.units_needed < b.units_needed AS fewer_rows
FROM (VALUES (0.1), (1)) v(e), dp_cost('patients', 'sick', NULL, e, units => 10000, options => '{"noise": "shaped"}') s, dp_cost('patients', 'sick', NULL, e, units => 10000, options => '{"noise": "ball"}') b;

-- No row is read: not of a table, nor of a view that cannot be read at all
CREATE FUNCTION fails(float8) RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'a row was read'; END $$;
CREATE VIEW unreadable AS SELECT sick, age, fails(bmi) AS bmi FROM patients;
INSERT INTO patients SELECT i % 3 = 0, i % 100, 20 + i % 30, (ARRAY['north', 'south', 'east', NULL])[1 + i % 4], i % 7 = 0, ARRAY[sin(i), cos(i), 0.5] FROM generate_series(1, 300) i;
BEGIN;
SELECT count(*) FROM dp_cost('unreadable', 'sick', '{age,bmi}', 1, units => 1000, domains => '{"bmi": [10, 60]}');
SELECT count(*) FROM dp_cost('patients', 'sick', NULL, 1, units => 1000);
SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0) AS scans FROM pg_stat_xact_user_tables WHERE relname = 'patients';
SELECT dp_logreg_train('patients', 'sick', NULL, 1) IS NOT NULL AS trained;
SELECT seq_scan > 0 AS scanned FROM pg_stat_xact_user_tables WHERE relname = 'patients';
\set VERBOSITY terse
SELECT dp_logreg_train('unreadable', 'sick', '{age,bmi}', 1, domains => '{"bmi": [10, 60]}');
\set VERBOSITY default
ROLLBACK;
-- and rows are not counted
CREATE TABLE no_patients (LIKE patients INCLUDING ALL);
SELECT dp_cost('patients', 'sick', NULL, 1, units => 1000) = dp_cost('no_patients', 'sick', NULL, 1, units => 1000) AS same;

-- It returns what a model gets, with the same arguments
CREATE FUNCTION told(learner text, arguments text)
RETURNS TABLE (shape text, lambda boolean, effective boolean, slack boolean, noise boolean, release boolean, scale boolean) LANGUAGE plpgsql AS $$
DECLARE
  j jsonb;
  c record;
BEGIN
  EXECUTE format('SELECT dp_%s_train(''patients'', ''sick'', %s)', learner, arguments) INTO j;
  EXECUTE format('SELECT * FROM dp_cost(''patients'', ''sick'', %s, units => 300%s)', arguments, format(', learner => %L', learner)) INTO c;
  RETURN QUERY SELECT CASE WHEN c.noise IS NOT DISTINCT FROM j ->> 'noise' THEN coalesce(c.noise, 'none') ELSE 'differs' END, c.lambda_used = (j ->> 'lambda')::float8, c.lambda_effective = (j ->> 'lambda_effective')::float8,
    c.epsilon_slack = (j -> 'budget' ->> 'slack')::float8, c.epsilon_noise = (j -> 'budget' ->> 'noise')::float8, c.epsilon_release = (j -> 'budget' ->> 'release')::float8,
    CASE WHEN c.noise IS NULL THEN (j ->> 'noise_scale')::float8 = 0
         ELSE abs((j ->> 'noise_scale')::float8 / (2 / c.epsilon_noise / CASE j ->> 'method' WHEN 'output' THEN 300 * c.lambda_used ELSE 1 END) - 1) < 1e-9 END;
END $$;
SELECT learner, arguments, t.* FROM (VALUES
  (1, 'logreg', $$NULL, 1$$), (2, 'logreg', $$'{age,ward}', 0.1, options => '{"noise": "ball"}'$$), (3, 'logreg', $$ARRAY['age', 'ward'], 0.1, lambda => 1e-5$$), (4, 'logreg', $$'x', 1$$),
  (5, 'logreg', $$'x', 1, options => '{"intercept": false}', domains => '{"x": {"norm": 2}}'$$), (6, 'logreg', $$'x', 3, kernel => 'gaussian', gamma => 2, options => '{"kernel_features": 20, "kernel_seed": 3}'$$), (7, 'logreg', $$NULL, 3, lambda => 0.02, options => '{"method": "output"}'$$),
  (8, 'logreg', $$NULL, 0.1, lambda => 0.001, options => '{"analysis": "paper"}'$$), (9, 'logreg', $$NULL, 'Infinity'$$), (10, 'logreg', $$'age', 1, domains => '{"age": [0, 200]}'$$), (11, 'svm', $$NULL, 2, lambda => 0$$),
  (12, 'svm', $$NULL, 0.5, lambda => 1e-5, options => '{"loss": "smooth_hinge", "h": 0.1}'$$), (13, 'svm', $$'{smoker,bmi}', 0.1, options => '{"method": "output"}'$$)) v(i, learner, arguments), told(learner, arguments) t ORDER BY i;

-- Arguments
CREATE FUNCTION failure(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  state text;
  message text;
  hint text;
BEGIN
  EXECUTE command;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN state || ': ' || message || CASE WHEN hint <> '' THEN E'\n  hint: ' || hint ELSE '' END;
END $$;
CREATE FUNCTION cost(arguments text) RETURNS text LANGUAGE sql AS $$ SELECT failure(format('SELECT * FROM dp_cost(%s)', arguments)) $$;
\pset tuples_only on
SELECT outcomes($$ 'none' FROM dp_cost('dots', 'y', 'x', ?, domains => '{"x": {"dimension": 10}}') $$, $$
  1, units => 8589934592 | 1, units => 1 | 1, units => 9223372036854775807 | 1, units => -5 | NULL, units => 1000 | 1, units => 1000, lambda => 0
  1, units => 1000, options => '{"method": "output"}', lambda => 0 | 1, units => 1000, learner => 'svm', options => '{"h": 0}' | 1, units => 1000, learner => 'svm', options => '{"h": 1}' | 1, units => 1000, learner => 'softmax' $$);
-- parameters without a type
PREPARE untyped AS SELECT units_needed FROM dp_cost($1, $2, $3, $4, units => $5);
SELECT name, parameter_types FROM pg_prepared_statements;
DEALLOCATE ALL;
SELECT outcomes($$ 'none' FROM dp_cost(?) $$, $$
  units => 1000, epsilon => 1, relation => 'patients', label => 'sick', features => NULL
  'patients', 'sick', 'age', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1000, NULL
  'patients', 'sick', ARRAY['age', 'bmi']::name[], 1, units => 1000 $$);
-- without rows, the catalog's estimate of a plain table without unit
SELECT cost($$ 'no_patients', 'sick', NULL, 1, units => NULL $$);
ANALYZE patients;
SELECT a.units_from, b.units_from, to_jsonb(a) - 'units_from' = to_jsonb(b) - 'units_from' AS as_estimated FROM dp_cost('patients', 'sick', '{age}', 1) a, dp_cost('patients', 'sick', '{age}', 1, units => 300) b;
SELECT outcomes($$ 'none' FROM dp_cost('patients', 'sick', '{age}', ?) $$,
  $$ 1, unit => 'ward' | epsilon => 1, unit => 'ward', units => 5 $$);
CREATE VIEW some_patients AS SELECT * FROM patients WHERE age > 20;
SELECT cost($$ 'some_patients', 'sick', '{age}', 1 $$);
CREATE TABLE more_patients () INHERITS (patients);
SELECT cost($$ 'patients', 'sick', '{age}', 1 $$);
DROP TABLE more_patients;
SELECT outcomes($$ 'none' FROM dp_cost('patients', 'sick', NULL, 1, ?) $$,
  $$ units => 0 | units => 8589934593 | units => 1000, learner => 'hinge' | units => 1000, learner => 'svm', options => '{"loss": "hinge"}' $$);
-- mistakes are those of a training
CREATE TABLE refused (i serial, arguments text);
INSERT INTO refused (arguments) VALUES ($$'nobody', 'sick', NULL, 1$$), ($$NULL, 'sick', NULL, 1$$), ($$'patients', NULL, NULL, 1$$), ($$'patients', 'well', NULL, 1$$), ($$'patients', 'ward', NULL, 1, domains => '{"ward": ["A"]}'$$), ($$'patients', 'sick', '{}', 1$$),
  ($$'patients', 'sick', 3, 1$$), ($$'patients', 'sick', 'notes', 1$$), ($$'patients', 'sick', '{age,sick}', 1$$), ($$'patients', 'sick', 'age', 1, domains => '{"bmi": [2, 1]}'$$), ($$'patients', 'sick', NULL, NULL$$),
  ($$'patients', 'sick', NULL, 1, lambda => -1$$), ($$'patients', 'sick', NULL, 1, options => '{"noise": "loud"}'$$), ($$'patients', 'sick', NULL, 1, options => '{"noise": "shaped", "method": "output"}'$$), ($$'patients', 'sick', NULL, 1, options => '{"norm": 2}'$$),
  ($$'patients', 'sick', NULL, 1, gamma => 1$$), ($$'patients', 'sick', NULL, 'Infinity', lambda => 0$$), ($$'shuffled', 'sick', 'age', 1$$);
CREATE VIEW shuffled AS SELECT sick, age FROM patients WHERE random() < 0.5;
SELECT CASE WHEN cost = train THEN cost ELSE 'differs: ' || cost || ' / ' || train END
FROM (SELECT i, failure(format('SELECT dp_logreg_train(%s)', arguments)) AS train, cost(arguments || ', units => 1000') AS cost FROM refused) s ORDER BY i;
-- and so are missing privileges
CREATE ROLE dperm_curious;
GRANT SELECT (sick, age) ON patients TO dperm_curious;
SET ROLE dperm_curious;
SELECT outcomes('?', $$
  'none' FROM dp_cost('patients', 'sick', '{age}', 1, units => 1000)
  'none' FROM dp_cost('patients', 'sick', '{age,bmi}', 1, units => 1000)
  dp_logreg_train('patients', 'sick', '{age,bmi}', 1) $$);
RESET ROLE;
\pset tuples_only off

-- What the label and the features are, as in a model
SELECT label, features FROM (VALUES (1, 'sick', NULL, 'logreg'), (2, 'age', NULL, 'linreg'), (3, 'ward', NULL, 'logreg'), (4, 'ward', 'north', 'logreg')) v(i, l, positive, learner),
  dp_cost('patients', l, '{bmi,smoker,x}', 1, units => 3000, positive => positive, learner => learner) ORDER BY i;
SELECT (label ->> 'column', features) = (m ->> 'label', m -> 'features') AS as_trained FROM dp_cost('patients', 'sick', NULL, 1, units => 300), CAST(dp_logreg_train('patients', 'sick', NULL, 1) AS jsonb) m;
-- The verdict goes by the share
SELECT verdict, min(noise_share) > bound AS above, max(noise_share) <= next AS within, bool_and((units_needed <= units) = (verdict = 'useful')) AS needed
FROM generate_series(5, 25) i, dp_cost('patients', 'sick', NULL, 1, units => (10 ^ (i / 5.0))::bigint), (VALUES ('useful', 0, 0.5), ('poor', 0.5, 1.5), ('noise', 1.5, 'Infinity'::float8)) v(word, bound, next) WHERE word = verdict GROUP BY verdict, bound, next ORDER BY bound;

-- Protected tables: the number of units is that of the newest release that is kept, whoever paid, and nothing else of it shows
CREATE ROLE dperm_cost_owner;
CREATE ROLE dperm_cost_ana;
CREATE ROLE dperm_cost_bob;
CREATE SCHEMA costs AUTHORIZATION dperm_cost_owner;
GRANT USAGE ON SCHEMA costs TO PUBLIC;
SET ROLE dperm_cost_owner;
CREATE FUNCTION costs.n(source text, more text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  EXECUTE format('SELECT * FROM dp_cost(%L, ''ill'', ''{age}'', 1%s)', source, more) INTO c;
  RETURN concat_ws(' ', c.units, c.units_from);
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;
CREATE TABLE costs.stays AS SELECT i / 3 AS person, i % 80 AS age, i % 3 = 0 AS ill FROM generate_series(0, 299) i;
CREATE TABLE costs.rows AS SELECT age, ill FROM costs.stays;
SELECT dp_budget_create('cost', epsilon => 20, delta => 1e-6), dp_budget_create('cost_pure', epsilon => 5);
SELECT dp_protect('costs.stays', 'cost', unit => 'person', domains => '{"age": [0, 80]}'), dp_protect('costs.rows', 'cost_pure', domains => '{"age": [0, 80]}');
SELECT dp_grant('cost', 'dperm_cost_ana', epsilon => 5), dp_grant('cost', 'dperm_cost_bob', epsilon => 5), dp_grant('cost_pure', 'dperm_cost_ana');
CREATE VIEW costs.older AS SELECT * FROM costs.stays WHERE age > 20;
SELECT dp_protect('costs.older');
SET ROLE dperm_cost_ana;
SELECT costs.n('costs.stays') AS persons, costs.n('costs.older') AS view, costs.n('costs.rows') AS rows, costs.n('costs.stays', ', units => 7') AS given;
SET ROLE dperm_cost_owner;
ANALYZE costs.stays, costs.rows;
SET ROLE dperm_cost_ana;
SELECT costs.n('costs.stays') AS persons, costs.n('costs.rows') AS rows;
-- a release of somebody else
SET ROLE dperm_cost_bob;
SELECT dp_logreg_train('costs.stays', 'ill', '{age}', 0.5) IS NOT NULL AS trained;
SELECT costs.n('costs.rows') AS rows;
SET ROLE dperm_cost_ana;
SELECT costs.n('costs.stays') AS persons, costs.n('costs.older') AS view;
SELECT count(*) AS releases FROM dp_releases;
SELECT to_jsonb(a) - 'units_from' = to_jsonb(b) - 'units_from' AS as_given FROM dp_cost('costs.stays', 'ill', '{age}', 1) a, dp_cost('costs.stays', 'ill', '{age}', 1, units => 100) b;
-- an evaluation changes nothing; a tuning counts all portions
SET ROLE dperm_cost_owner;
INSERT INTO costs.stays SELECT 100 + i, i, true FROM generate_series(0, 19) i;
SET ROLE dperm_cost_bob;
SELECT count(*) > 0 AS evaluated FROM dp_releases r, dp_evaluate(r.model, 'costs.stays', 0.5);
SELECT costs.n('costs.stays') AS persons;
SELECT dp_logreg_tune('costs.older', 'ill', '{age}', 0.5, candidates => '[{"lambda": 0.1}, {"lambda": 1}]') IS NOT NULL AS tuned;
SELECT costs.n('costs.stays') AS persons, costs.n('costs.older') AS view;
-- one that is deleted is not kept
SELECT dp_release_drop('cost', max(entry)) FROM dp_releases;
SET ROLE dperm_cost_ana;
SELECT costs.n('costs.stays') AS persons;
-- another table of this name is another table, and so is this one in another budget; back in the first, it is the same
SET ROLE dperm_cost_owner;
SELECT dp_budget_create('cost_next', epsilon => 5);
SELECT dp_protect('costs.stays', 'cost_next', unit => 'person', domains => '{"age": [0, 80]}');
SELECT costs.n('costs.stays') AS persons;
SELECT dp_protect('costs.stays', 'cost', unit => 'person', domains => '{"age": [0, 80]}');
SELECT costs.n('costs.stays') AS persons;
ALTER TABLE costs.stays RENAME TO visits;
SELECT costs.n('costs.visits') AS persons;
CREATE TABLE costs.stays AS TABLE costs.visits;
DROP TABLE costs.visits CASCADE;
SELECT dp_protect('costs.stays', 'cost', unit => 'person', domains => '{"age": [0, 80]}');
SELECT costs.n('costs.stays') AS persons;
-- where the catalog knows the rows, a release comes first
SELECT dp_logreg_train('costs.rows', 'ill', '{age}', 0.5) IS NOT NULL AS trained;
INSERT INTO costs.rows TABLE costs.rows;
ANALYZE costs.rows;
SELECT costs.n('costs.rows') AS rows;
-- The same with a delta beside it: a thousandth of that of the budget or the grant, if they have one
SELECT a.delta, a.with_delta = (SELECT jsonb_object_agg(key, value) FROM jsonb_each(to_jsonb(b)) WHERE a.with_delta ? key) AS as_asked, b.delta, b.calls_left > a.calls_left AS more_calls, b.with_delta
FROM dp_cost('costs.stays', 'ill', '{age}', 0.1, units => 5000) a, dp_cost('costs.stays', 'ill', '{age}', 0.1, units => 5000, delta => 1e-9) b;
SELECT array_agg(key ORDER BY key) AS shown FROM dp_cost('costs.stays', 'ill', '{age}', 0.1, units => 5000), jsonb_object_keys(with_delta) key;
SELECT with_delta FROM dp_cost('costs.rows', 'ill', '{age}', 0.1); -- this budget has none
SELECT dp_grant('cost', 'dperm_cost_ana', delta => 3e-8);
SET ROLE dperm_cost_ana;
SELECT with_delta -> 'delta' AS delta FROM dp_cost('costs.stays', 'ill', '{age}', 0.1, units => 5000);
SELECT calls_left, with_delta FROM dp_cost('costs.stays', 'ill', '{age}', 6, units => 5000); -- more than the grant has
RESET ROLE;
DROP SCHEMA costs CASCADE;
SELECT dp_budget_drop(b) FROM unnest(ARRAY['cost', 'cost_pure', 'cost_next']) b;
DROP ROLE dperm_cost_owner, dperm_cost_ana, dperm_cost_bob;

DROP VIEW unreadable, shuffled, some_patients;
DROP TABLE dots, setups, shapes, patients, no_patients, refused;
DROP ROLE dperm_curious;
DROP FUNCTION by_hand, risk, is_best, spread, costs, fails, told, cost, failure;
RESET extra_float_digits;
