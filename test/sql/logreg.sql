--
-- dp_logreg_train: every argument and every kind of source; without noise the
-- result is the minimum of the objective, checked in SQL
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE DOMAIN vec3 AS float8[] CHECK (cardinality(VALUE) = 3);
CREATE TABLE patients AS
  SELECT i AS id, i % 5 IN (0, 3) AS sick, ARRAY[sin(i), cos(2 * i), sin(i * i)]::vec3 AS x,
         CASE i % 5 WHEN 0 THEN 'yes' WHEN 3 THEN 'yes' ELSE 'no' END AS answer
  FROM generate_series(1, 200) i;

CREATE FUNCTION weights(model dp_model) RETURNS numeric[] LANGUAGE sql AS $$
  SELECT array_agg(round(w::numeric, 6) ORDER BY k) FROM unnest(dp_weights(model)) WITH ORDINALITY u(w, k)
$$;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN cardinality(dp_weights(a)) = cardinality(dp_weights(b)) THEN
    (SELECT sqrt(sum((v - w) ^ 2)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)) END
$$;

-- The calls of a first day
SELECT outcomes('weights(dp_logreg_train(?))', $$
  'patients', 'sick', 'x', 'Infinity'
  'patients', label => 'sick', features => '{x}', epsilon => 'Infinity'
  relation => 'patients', label => 'sick', features => ARRAY['x'], epsilon => 'Infinity'
  'patients', 'answer', 'x', 'Infinity', positive => 'yes'
  'patients', 'sick', 'x', 'Infinity', lambda => 0.1 | 'patients', 'sick', 'x', 'Infinity', lambda => 10
  'patients', 'sick', 'x', 'Infinity', options => '{"intercept": false}'
  'patients', 'sick', 'x', 'Infinity', domains => '{"x": {"norm": 2}}'
  'patients', 'sick', 'x', 'Infinity', domains => '{"x": {"dimension": 3}}'
  'patients', 'sick', 'x', 'Infinity', domains => '{"x": {"dimension": 2}}'
  'patients', 'sick', 'x', 'Infinity', '{"x": {"dimension": 3, "norm": 2}}', NULL, 'replace', 'true', 0, 0.1, options => '{"method": "output", "analysis": "paper", "intercept": false}' $$);

-- Twice the same, from a table function and from the aggregate
SELECT dp_logreg_train('patients', 'sick', 'x', 'Infinity')::text = dp_logreg_train('patients', 'sick', 'x', 'Infinity')::text AS deterministic,
       distance(dp_logreg_train('patients', 'sick', 'x', 'Infinity'), (SELECT dp_logreg(sick, x, 'Infinity') FROM patients)) < 1e-9 AS aggregate,
       distance(dp_logreg_train('patients', 'sick', 'x', 'Infinity', options => '{"method": "output", "analysis": "paper"}'),
                dp_logreg_train('patients', 'sick', 'x', 'Infinity')) < 1e-9 AS no_method_without_noise;

-- By hand: one row, one coordinate. The derivative at the minimum f is lambda f
-- - 1/(1 + e^f)
CREATE TABLE one AS SELECT true AS sick, ARRAY[1.0::float8] AS x;
ALTER TABLE one ADD CHECK (cardinality(x) = 1);
SELECT lambda, round(f::numeric, 6) AS f, abs(lambda * f - 1 / (1 + exp(f))) < 1e-9 AS stationary
  FROM (VALUES (1e-6), (0.001), (0.5), (1), (10), (1e6)) v(lambda),
  LATERAL (SELECT (dp_weights(dp_logreg_train('one', 'sick', 'x', 'Infinity', lambda => lambda, options => '{"intercept": false}')))[1]) s(f);
-- with the intercept, x is (1, 1)/sqrt 2: both weights are equal
SELECT abs(w[1] - w[2]) < 1e-12 AS equal, abs(w[1] - sqrt(0.5::float8) / (1 + exp(sqrt(2::float8) * w[1]))) < 1e-9 AS stationary
  FROM (SELECT dp_weights(dp_logreg_train('one', 'sick', 'x', 'Infinity', lambda => 1))) s(w);
-- the clipped vector counts, not the given one; and twice the norm is half the
-- vector
UPDATE one SET x = '{1000}';
SELECT abs(f - 1 / (1 + exp(f))) < 1e-9 AS clipped
  FROM (SELECT (dp_weights(dp_logreg_train('one', 'sick', 'x', 'Infinity', lambda => 1, options => '{"intercept": false}')))[1]) s(f);
SELECT abs(f - 0.5 / (1 + exp(f / 2))) < 1e-9 AS halved
  FROM (SELECT (dp_weights(dp_logreg_train('one', 'sick', 'x', 'Infinity', lambda => 1, options => '{"intercept": false}', domains => '{"x": {"norm": 2000}}')))[1]) s(f);

-- The gradient over a whole table, in SQL
CREATE FUNCTION gradient(model dp_model) RETURNS float8 LANGUAGE sql AS $$
  WITH rows AS (
    SELECT CASE WHEN sick THEN 1 ELSE -1 END AS s,
           ARRAY(SELECT e / greatest(length, 1) * sqrt(0.5::float8) FROM unnest(x) e) || sqrt(0.5::float8) AS e
    FROM patients, LATERAL (SELECT sqrt(sum(v * v)) AS length FROM unnest(x) v) l),
  sums AS (
    SELECT k, avg(-s * a / (1 + exp(s * f))) AS g
    FROM rows, LATERAL (SELECT sum(a * b) AS f FROM unnest(e, dp_weights(model)) u(a, b)) m,
         LATERAL unnest(e) WITH ORDINALITY u(a, k) GROUP BY k)
  SELECT sqrt(sum((g + (model::jsonb ->> 'lambda')::float8 * w) ^ 2))
  FROM sums JOIN unnest(dp_weights(model)) WITH ORDINALITY v(w, k) USING (k)
$$;
SELECT lambda, gradient(dp_logreg_train('patients', 'sick', 'x', 'Infinity', lambda => lambda)) < 1e-9 * greatest(1, lambda) AS stationary
  FROM (VALUES (1e-10), (1e-6), (1e-3), (1), (1e3)) v(lambda);

-- Public fields
SELECT jsonb_pretty(dp_logreg_train('patients', 'sick', 'x', 'Infinity', lambda => 0.125)::jsonb - 'weights' - 'guarantee') AS noiseless;
SELECT string_agg(key, ' ' ORDER BY key COLLATE "C") AS fields FROM jsonb_object_keys(dp_logreg_train('patients', 'sick', 'x', 1)::jsonb) key;
SELECT m -> 'private' AS private, m -> 'rows' AS rows, m -> 'epsilon' AS epsilon, m -> 'delta' AS delta, m -> 'lambda' AS lambda,
       m ->> 'method' AS method, m ->> 'analysis' AS analysis, m -> 'dimension' AS dimension,
       m #> '{features,0,dimension}' AS length, m #> '{features,0,norm}' AS norm, m -> 'intercept' AS intercept
  FROM (SELECT dp_logreg_train('patients', 'sick', 'x', 0.5)::jsonb
        UNION ALL SELECT dp_logreg_train('patients', 'sick', 'x', 1, lambda => 0.25, options => '{"intercept": false}')::jsonb
        UNION ALL SELECT dp_logreg_train('patients', 'sick', 'x', 1, options => '{"method": "output"}', domains => '{"x": {"norm": 3}}')::jsonb
        UNION ALL SELECT dp_logreg_train('patients', 'sick', 'x', 2, options => '{"analysis": "paper"}', domains => '{"x": {"dimension": 3}}')::jsonb) s(m);
-- the shares of epsilon add up, and the sharp analysis raises lambda no further
-- than it needs
SELECT method, analysis, round((b ->> 'slack')::numeric + (b ->> 'noise')::numeric + (b ->> 'release')::numeric, 9) AS epsilon,
       round((b ->> 'slack')::numeric, 6) AS slack, round(le, 6) AS lambda_effective
  FROM (VALUES ('objective', 'sharp', 0.1), ('objective', 'paper', 0.1), ('output', 'sharp', 0.1),
               ('objective', 'sharp', 0.5), ('objective', 'paper', 0.5)) v(method, analysis, epsilon),
  LATERAL (SELECT dp_logreg_train('patients', 'sick', 'x', epsilon, lambda => 0.01, options => jsonb_strip_nulls(jsonb_build_object('method', method, 'analysis', analysis)))::jsonb) m(m),
  LATERAL (SELECT m -> 'budget', (m ->> 'lambda_effective')::numeric) s(b, le);
SELECT dp_guarantee(dp_logreg_train('patients', 'sick', 'x', 'Infinity')) ~ '^NOT PRIVATE' AS says_so,
       dp_guarantee(dp_logreg_train('patients', 'sick', 'x', 1)) !~ 'NOT PRIVATE' AS private;

-- With noise: finite, different each time, and on the grid
SELECT method, analysis, count(DISTINCT m::text) AS different, bool_and(finite) AS finite, bool_and(on_grid) AS on_grid
  FROM (VALUES ('objective', 'sharp'), ('objective', 'paper'), ('output', 'sharp')) v(method, analysis),
  generate_series(1, 5) i,
  LATERAL (SELECT dp_logreg_train('patients', 'sick', 'x', 0.5 + 0 * i, options => jsonb_strip_nulls(jsonb_build_object('method', method, 'analysis', analysis)))) s(m),
  LATERAL (SELECT bool_and(w BETWEEN -1e300 AND 1e300) AS finite, bool_and(w / grid = floor(w / grid)) AS on_grid
           FROM unnest(dp_weights(m)) w, LATERAL (SELECT (m::jsonb ->> 'grid')::float8 AS grid) g) c
  GROUP BY method, analysis ORDER BY 1, 2;
-- less noise with more epsilon: finally near the true minimum
SELECT distance(dp_logreg_train('patients', 'sick', 'x', 500, lambda => 0.1), dp_logreg_train('patients', 'sick', 'x', 'Infinity', lambda => 0.1)) < 0.05 AS objective,
       distance(dp_logreg_train('patients', 'sick', 'x', 500, lambda => 0.1, options => '{"method": "output"}'), dp_logreg_train('patients', 'sick', 'x', 'Infinity', lambda => 0.1)) < 0.05 AS output;

-- Every kind of source
CREATE TABLE parts (LIKE patients) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (50);
CREATE TABLE parts_2 (junk int, answer text, x vec3, sick boolean, id int);
ALTER TABLE parts_2 DROP COLUMN junk;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (50) TO (1000);
INSERT INTO parts SELECT * FROM patients;
CREATE TABLE parent (LIKE patients);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT * FROM patients WHERE id <= 60;
INSERT INTO child SELECT * FROM patients WHERE id > 60;
CREATE VIEW plain_view AS SELECT x, sick FROM patients;
CREATE VIEW join_view AS SELECT a.x, b.sick FROM patients a JOIN patients b USING (id) ORDER BY id;
CREATE VIEW union_view AS SELECT sick, x FROM patients WHERE id > 70 UNION ALL SELECT sick, x FROM patients WHERE id <= 70;
CREATE MATERIALIZED VIEW stored_view AS SELECT * FROM patients;
CREATE TEMP TABLE temporary AS SELECT * FROM patients;
CREATE UNLOGGED TABLE unlogged AS SELECT * FROM patients;
CREATE TABLE generated (sick boolean, a float8, b float8, c float8, x float8[] CHECK (array_length(x, 1) = 3) GENERATED ALWAYS AS (ARRAY[a, b, c]) STORED);
INSERT INTO generated SELECT sick, x[1], x[2], x[3] FROM patients;
CREATE DOMAIN features AS float8[] CHECK (cardinality(VALUE) = 3);
CREATE DOMAIN more_features AS features NOT NULL;
CREATE TABLE domains AS SELECT sick, x::more_features AS x FROM patients;
CREATE VIEW other_bounds AS SELECT sick, ('[7:9]=' || x::text)::vec3 AS x FROM patients;
CREATE TABLE wide AS SELECT sick, x, repeat('x', 5000) AS text, (NULL::float8[]) AS y FROM patients;
SELECT source, distance(dp_logreg_train(source, 'sick', 'x', 'Infinity'), dp_logreg_train('patients', 'sick', 'x', 'Infinity')) < 1e-9 AS same
  FROM unnest('{parts,parent,plain_view,join_view,union_view,stored_view,temporary,pg_temp.temporary,unlogged,generated,domains,other_bounds,wide}'::text[]) source;
SELECT dp_logreg_train('parts_1', 'sick', 'x', 'Infinity')::jsonb -> 'rows' AS partition,
       dp_logreg_train('child', 'sick', 'x', 'Infinity')::jsonb -> 'rows' AS child;
CREATE TABLE real_vectors AS SELECT sick, x::float4[] AS x FROM patients;
ALTER TABLE real_vectors ADD CHECK (3 = array_length(x, 1));
CREATE VIEW real_as_double AS SELECT sick, x::float8[] AS x FROM real_vectors;
CREATE DOMAIN real_features AS float4[] CHECK (cardinality(VALUE) = 3);
CREATE TABLE real_domains AS SELECT sick, x::real_features AS x FROM patients;
SELECT source, distance(dp_logreg_train(source, 'sick', 'x', 'Infinity'), dp_logreg_train('real_as_double', 'sick', 'x', 'Infinity', domains => '{"x": {"dimension": 3}}')) < 1e-9 AS same
  FROM unnest('{real_vectors,real_domains}'::text[]) source;
-- not yet filled
CREATE MATERIALIZED VIEW unfilled AS SELECT * FROM patients WITH NO DATA;
\set VERBOSITY terse
SELECT dp_logreg_train('unfilled', 'sick', 'x', 1);
\set VERBOSITY default

-- Anywhere in a query: in a prepared statement, a function, a transaction that
-- only reads, a cursor
PREPARE train(text, float8) AS SELECT weights(dp_logreg_train($1, 'sick', 'x', $2));
EXECUTE train('patients', 'Infinity');
EXECUTE train('stored_view', 'Infinity');
BEGIN READ ONLY;
SELECT weights(dp_logreg_train('patients', 'sick', 'x', 'Infinity'));
DECLARE c CURSOR FOR SELECT dp_logreg_train('patients', 'sick', 'x', 1) IS NOT NULL AS model FROM generate_series(1, 3);
FETCH 2 FROM c;
COMMIT;
-- rows of this very transaction are seen, and those of a rolled back one are
-- not
BEGIN;
INSERT INTO patients SELECT id, sick, x, answer FROM patients WHERE id <= 7;
SELECT dp_logreg_train('patients', 'sick', 'x', 1)::jsonb -> 'rows' AS rows;
ROLLBACK;
SELECT dp_logreg_train('patients', 'sick', 'x', 1)::jsonb -> 'rows' AS rows;
-- many trainings in one query: each has its own memory
SELECT count(dp_logreg_train('patients', 'sick', 'x', 0.1 + i)) AS trained FROM generate_series(1, 200) i;

DROP VIEW plain_view, join_view, union_view, other_bounds, real_as_double;
DROP MATERIALIZED VIEW stored_view, unfilled;
DROP TABLE patients, one, parts, parent, child, temporary, unlogged, generated, domains, wide, real_vectors, real_domains;
DROP DOMAIN vec3, more_features, features, real_features;
DROP FUNCTION weights, distance, gradient;
DEALLOCATE train;
