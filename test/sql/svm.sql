--
-- dp_svm_train: both losses, every argument; without noise the result is the
-- minimum of the objective, checked in SQL
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE DOMAIN vec4 AS float8[] CHECK (cardinality(VALUE) = 4);
CREATE TABLE letters AS
  SELECT i AS id, i % 5 IN (0, 3) AS vowel, ARRAY[sin(i), cos(2 * i), sin(i * i), 0.5 * (i % 5)]::vec4 AS x
  FROM generate_series(1, 150) i;

CREATE FUNCTION weights(model dp_model) RETURNS numeric[] LANGUAGE sql AS $$
  SELECT array_agg(round(w::numeric, 6) ORDER BY k) FROM unnest(dp_weights(model)) WITH ORDINALITY u(w, k)
$$;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN cardinality(dp_weights(a)) = cardinality(dp_weights(b)) THEN
    (SELECT sqrt(sum((v - w) ^ 2)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)) END
$$;

-- The derivatives of the two losses, as the paper has them
CREATE FUNCTION loss_slope(loss text, z float8, h float8) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN z > 1 + h THEN 0 WHEN z < 1 - h THEN -1
    WHEN loss = 'huber' THEN -(1 + h - z) / (2 * h)
    ELSE -0.5 - 3 * (1 - z) / (4 * h) + ((1 - z) / h) ^ 3 / 4 END
$$;

-- The calls of a first day
SELECT outcomes($$ weights(dp_svm_train('letters', ?)) $$, $$
  'vowel', 'x', 'Infinity'
  label => 'vowel', features => '{x}', epsilon => 'Infinity', options => '{"loss": "huber", "h": 0.5}'
  'vowel', ARRAY['x'], 'Infinity', options => '{"loss": "smooth_hinge"}' | 'vowel', 'x', 'Infinity', options => '{"h": 0.1}'
  'vowel', 'x', 'Infinity', lambda => 0.1, options => '{"intercept": false}'
  'vowel', 'x', 'Infinity', domains => '{"x": {"dimension": 4, "norm": 3}}'
  'vowel', 'x', 'Infinity', '{"x": {"dimension": 4, "norm": 2}}', NULL, 'replace', 'true', 0, 0.1, options => '{"method": "output", "analysis": "paper", "intercept": false, "loss": "smooth_hinge", "h": 0.3}' $$);

-- Twice the same, and the same from the aggregate
SELECT dp_svm_train('letters', 'vowel', 'x', 'Infinity')::text = dp_svm_train('letters', 'vowel', 'x', 'Infinity')::text AS deterministic,
       distance(dp_svm_train('letters', 'vowel', 'x', 'Infinity'), (SELECT dp_svm(vowel, x, 'Infinity') FROM letters)) < 1e-9 AS aggregate,
       distance(dp_svm_train('letters', 'vowel', 'x', 'Infinity', lambda => 0.01, options => '{"loss": "smooth_hinge", "h": 0.2}'),
                (SELECT dp_svm(vowel, x, 'Infinity', '{"lambda": 0.01, "loss": "smooth_hinge", "h": 0.2}') FROM letters)) < 1e-9 AS with_options;

-- By hand: one row, one coordinate. At the minimum lambda f = -slope(f); for
-- the Huber loss between the bends that is f = (1 + h) / (1 + 2 h lambda),
-- below them f = 1 / lambda
CREATE TABLE one AS SELECT true AS vowel, ARRAY[1.0::float8] AS x;
ALTER TABLE one ADD CHECK (cardinality(x) = 1);
SELECT loss, h, lambda, round(f::numeric, 6) AS f, abs(lambda * f + loss_slope(loss, f, h)) < 1e-9 AS stationary
  FROM (VALUES ('huber'), ('smooth_hinge')) a(loss), (VALUES (0.01), (0.5), (1)) b(h), (VALUES (0.001), (1), (1.7), (4)) c(lambda),
  LATERAL (SELECT (dp_weights(dp_svm_train('one', 'vowel', 'x', 'Infinity', lambda => lambda, options => jsonb_strip_nulls(jsonb_build_object('intercept', false, 'loss', loss, 'h', h)))))[1]) s(f)
  ORDER BY loss, h, lambda;
SELECT lambda, f = round(((1 + 0.5) / (1 + 2 * 0.5 * lambda))::numeric, 9) AS parabola, f = round((1 / lambda)::numeric, 9) AS line
  FROM (VALUES (0.001), (1), (1.7), (4)) c(lambda),
  LATERAL (SELECT round((dp_weights(dp_svm_train('one', 'vowel', 'x', 'Infinity', lambda => lambda, options => '{"intercept": false}')))[1]::numeric, 9)) s(f);

-- The gradient over a whole table, in SQL
CREATE FUNCTION gradient(model dp_model) RETURNS float8 LANGUAGE sql AS $$
  WITH rows AS (
    SELECT CASE WHEN vowel THEN 1 ELSE -1 END AS s,
           ARRAY(SELECT e / greatest(length, 1) * sqrt(0.5::float8) FROM unnest(x) e) || sqrt(0.5::float8) AS e
    FROM letters, LATERAL (SELECT sqrt(sum(v * v)) AS length FROM unnest(x) v) l),
  sums AS (
    SELECT k, avg(s * a * loss_slope(model::jsonb ->> 'loss', s * f, (model::jsonb ->> 'h')::float8)) AS g
    FROM rows, LATERAL (SELECT sum(a * b) AS f FROM unnest(e, dp_weights(model)) u(a, b)) m,
         LATERAL unnest(e) WITH ORDINALITY u(a, k) GROUP BY k)
  SELECT sqrt(sum((g + (model::jsonb ->> 'lambda')::float8 * w) ^ 2))
  FROM sums JOIN unnest(dp_weights(model)) WITH ORDINALITY v(w, k) USING (k)
$$;
SELECT loss, h, count(*), bool_and(gradient(dp_svm_train('letters', 'vowel', 'x', 'Infinity', lambda => lambda, options => jsonb_strip_nulls(jsonb_build_object('loss', loss, 'h', h)))) < 1e-7) AS stationary
  FROM (VALUES ('huber'), ('smooth_hinge')) a(loss), (VALUES (0.01), (0.5), (1)) b(h),
  (VALUES (1e-10), (1e-6), (1e-3), (1), (10)) v(lambda) GROUP BY loss, h ORDER BY loss, h;

-- Public fields
SELECT m ->> 'kind' AS kind, m ->> 'loss' AS loss, m -> 'h' AS h, m -> 'private' AS private, m -> 'rows' AS rows, m -> 'epsilon' AS epsilon,
       m -> 'lambda' AS lambda, m ->> 'method' AS method, m ->> 'analysis' AS analysis, m -> 'dimension' AS dimension, m #> '{features,0,dimension}' AS length
  FROM (SELECT dp_svm_train('letters', 'vowel', 'x', 0.5)::jsonb
        UNION ALL SELECT dp_svm_train('letters', 'vowel', 'x', 1, lambda => 0.25, options => '{"loss": "smooth_hinge", "h": 0.25}')::jsonb
        UNION ALL SELECT dp_svm_train('letters', 'vowel', 'x', 2, lambda => 0.25, options => '{"method": "output"}')::jsonb
        UNION ALL SELECT dp_svm_train('letters', 'vowel', 'x', 4, lambda => 0.25, options => '{"analysis": "paper"}')::jsonb
        UNION ALL SELECT dp_svm_train('letters', 'vowel', 'x', 'Infinity', lambda => 0.25)::jsonb) s(m);
SELECT dp_guarantee(dp_svm_train('letters', 'vowel', 'x', 'Infinity')) ~ '^NOT PRIVATE' AS says_so,
       dp_guarantee(dp_svm_train('letters', 'vowel', 'x', 1)) !~ 'NOT PRIVATE' AS private;

-- With noise: finite, different each time, and on the grid
SELECT method, analysis, loss, count(DISTINCT m::text) AS different, bool_and(finite) AS finite, bool_and(on_grid) AS on_grid
  FROM (VALUES ('objective', 'sharp'), ('objective', 'paper'), ('output', 'sharp')) v(method, analysis), (VALUES ('huber'), ('smooth_hinge')) a(loss),
  generate_series(1, 5) i,
  LATERAL (SELECT dp_svm_train('letters', 'vowel', 'x', 0.5 + 0 * i, options => jsonb_strip_nulls(jsonb_build_object('method', method, 'analysis', analysis, 'loss', loss)))) s(m),
  LATERAL (SELECT bool_and(w BETWEEN -1e300 AND 1e300) AS finite, bool_and(w / grid = floor(w / grid)) AS on_grid
           FROM unnest(dp_weights(m)) w, LATERAL (SELECT (m::jsonb ->> 'grid')::float8 AS grid) g) c
  GROUP BY method, analysis, loss ORDER BY 1, 2, 3;
SELECT distance(dp_svm_train('letters', 'vowel', 'x', 500, lambda => 0.1), dp_svm_train('letters', 'vowel', 'x', 'Infinity', lambda => 0.1)) < 0.05 AS objective,
       distance(dp_svm_train('letters', 'vowel', 'x', 500, lambda => 0.1, options => '{"method": "output"}'), dp_svm_train('letters', 'vowel', 'x', 'Infinity', lambda => 0.1)) < 0.05 AS output;

-- It predicts, but gives no probability
SELECT sum((dp_predict(m, x) = vowel)::int) AS right FROM letters,
  (SELECT dp_svm_train('letters', 'vowel', 'x', 'Infinity', lambda => 1e-6) AS m OFFSET 0) s;
\set VERBOSITY terse
SELECT dp_predict_prob(dp_svm_train('letters', 'vowel', 'x', 1), '{1,2,3,4}');

-- Real vectors, and a view
CREATE TABLE real_letters AS SELECT vowel, x::float4[] AS x FROM letters;
ALTER TABLE real_letters ADD CHECK (cardinality(x) = 4);
CREATE VIEW some_letters AS SELECT vowel, x::float8[] AS x FROM real_letters;
SELECT distance(dp_svm_train('real_letters', 'vowel', 'x', 'Infinity'), dp_svm_train('some_letters', 'vowel', 'x', 'Infinity', domains => '{"x": {"dimension": 4}}')) < 1e-9 AS same;

DROP VIEW some_letters;
DROP TABLE letters, one, real_letters;
DROP FUNCTION weights, distance, loss_slope, gradient;
DROP DOMAIN vec4;
