--
-- Hostile rows: whatever a row holds, training raises no error and sends no
-- message, and its result is that of the documented rule, computed by hand
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
-- The rule for vectors: a zero block for anything but a plain vector of the
-- right number of finite elements; otherwise divided by the norm, and clipped
-- to norm 1. The intercept shares the unit ball with it.
CREATE FUNCTION encoded(x float8[], dimension int, norm numeric, intercept boolean) RETURNS float8[]
LANGUAGE plpgsql AS $$
DECLARE
  v numeric[] := array_fill(0::numeric, ARRAY[dimension]);
  len numeric;
BEGIN
  IF array_ndims(x) = 1 AND cardinality(x) = dimension AND array_position(x, NULL) IS NULL
     AND NOT x && '{NaN,Infinity,-Infinity}' THEN
    v := x;
  END IF;
  len := greatest(norm, sqrt((SELECT sum(e * e) FROM unnest(v) e)));
  IF intercept THEN
    RETURN ARRAY(SELECT round(e / len, 30)::float8 * sqrt(0.5::float8) FROM unnest(v) e) || sqrt(0.5::float8);
  END IF;
  RETURN ARRAY(SELECT round(e / len, 30)::float8 FROM unnest(v) e);
END $$;

-- How far a model without noise is from the minimum over the rows of a
-- relation: the norm of the gradient, to which a row without a label adds
-- nothing, though it counts
CREATE FUNCTION gradient(model dp_model, source regclass) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  j jsonb := model;
  result float8;
BEGIN
  EXECUTE format($q$
    WITH margins AS (
      SELECT e, CASE WHEN y THEN 1 ELSE -1 END AS s,
             (SELECT sum(a * b) FROM unnest(e, dp_weights($1)) u(a, b)) AS f
      FROM %s, LATERAL encoded(x, $2, $3, $4) e WHERE y IS NOT NULL),
    sums AS (
      SELECT k, sum(-s * a / (1 + exp(s * f))) AS g
      FROM margins, LATERAL unnest(e) WITH ORDINALITY u(a, k) GROUP BY k)
    SELECT sqrt(sum((coalesce(g, 0) / (SELECT count(*) FROM %s) + $5 * w) ^ 2))
    FROM unnest(dp_weights($1)) WITH ORDINALITY v(w, k) LEFT JOIN sums USING (k) $q$, source, source)
    INTO result
    USING model, (j #>> '{features,0,dimension}')::int, (j #>> '{features,0,norm}')::numeric, (j->>'intercept')::boolean,
          (j->>'lambda')::float8;
  RETURN result;
END $$;

CREATE TABLE good AS
  SELECT i % 3 = 0 AS y, ARRAY[sin(i), cos(2 * i), 0.1] AS x FROM generate_series(1, 30) i;

-- One bad row at a time, and what it means; the same row with another label is
-- bad as well
CREATE TABLE bad (id serial, what text, x float8[], meaning float8[]);
INSERT INTO bad (what, x, meaning) VALUES
  ('no vector', NULL, '{0,0,0}'),
  ('a NULL inside', '{1,NULL,1}', '{0,0,0}'),
  ('all NULL', '{NULL,NULL,NULL}', '{0,0,0}'),
  ('NaN', '{NaN,0.5,0.5}', '{0,0,0}'),
  ('NaN last', '{0.5,0.5,NaN}', '{0,0,0}'),
  ('Infinity', '{0.5,Infinity,0.5}', '{0,0,0}'),
  ('-Infinity', '{-Infinity,0.5,0.5}', '{0,0,0}'),
  ('both infinities', '{-Infinity,Infinity,0}', '{0,0,0}'),
  ('too short', '{1,1}', '{0,0,0}'),
  ('too long', '{1,1,1,1}', '{0,0,0}'),
  ('empty', '{}', '{0,0,0}'),
  ('two dimensions', '{{1,1,1}}', '{0,0,0}'),
  ('two dimensions, upright', '{{1},{1},{1}}', '{0,0,0}'),
  ('other bounds', '[-5:-3]={0.1,0.2,0.3}', '{0.1,0.2,0.3}'),
  ('far too long', '{30,-40,0}', '{0.6,-0.8,0}'),
  ('the longest there is', '{1.7e308,-1.7e308,1.7e308}', '{0.5773502691896258,-0.5773502691896258,0.5773502691896258}'),
  ('one huge', '{1e308,1,-1e-308}', '{1,0,0}'),
  ('squares overflow', '{3e160,-4e160,0}', '{0.6,-0.8,0}'),
  ('squares underflow', '{3e-170,-4e-170,0}', '{0,0,0}'),
  ('denormal', '{5e-324,-5e-324,1e-310}', '{0,0,0}'),
  ('minus zero', '{-0,-0,-0}', '{0,0,0}'),
  ('of length one', '{0,1,0}', '{0,1,0}'),
  ('just above', '{0,1.0000000000000002,0}', '{0,1,0}');
CREATE VIEW with_bad AS
  SELECT y, x FROM good
  UNION ALL SELECT y, x FROM bad, (VALUES (true), (false)) v(y) WHERE id = current_setting('test.id')::int;
CREATE VIEW with_meaning AS
  SELECT y, x FROM good
  UNION ALL SELECT y, meaning FROM bad, (VALUES (true), (false)) v(y) WHERE id = current_setting('test.id')::int;

CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN cardinality(dp_weights(a)) = cardinality(dp_weights(b)) THEN
    (SELECT sqrt(sum((v - w) ^ 2)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)) END
$$;
-- Four ways to train on one bad row among good ones: are all of them as
-- documented?
CREATE FUNCTION as_documented(id int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  got dp_model[];
  want dp_model[];
BEGIN
  PERFORM set_config('test.id', id::text, false);
  SELECT ARRAY[dp_logreg_train('with_bad', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 3}}'),
               dp_logreg_train('with_bad', 'y', 'x', 'Infinity', lambda => 0.01, options => '{"intercept": false}', domains => '{"x": {"dimension": 3}}'),
               (SELECT dp_logreg(y, x, 'Infinity', '{"lambda": 0.01, "dimension": 3}') FROM with_bad)],
         ARRAY[dp_logreg_train('with_meaning', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 3}}'),
               dp_logreg_train('with_meaning', 'y', 'x', 'Infinity', lambda => 0.01, options => '{"intercept": false}', domains => '{"x": {"dimension": 3}}'),
               (SELECT dp_logreg(y, x, 'Infinity', '{"lambda": 0.01, "dimension": 3}') FROM with_meaning)] INTO got, want;
  PERFORM set_config('dperm.cache_memory', '0', true);
  got := got || dp_logreg_train('with_bad', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 3}}');
  want := want || dp_logreg_train('with_meaning', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 3}}');
  PERFORM set_config('dperm.cache_memory', '256MB', true);
  RETURN (SELECT bool_and(distance(a, b) < 1e-9 AND gradient(a, 'with_bad') < 1e-9) FROM unnest(got, want) u(a, b));
END $$;
SELECT what, as_documented(id) FROM bad ORDER BY id;

-- Not vacuous: a bad row that was left out, or a NULL label read as false,
-- would be detected
SELECT set_config('test.id', id::text, false) IS NOT NULL AS one FROM bad WHERE what = 'too short';
SELECT gradient(dp_logreg_train('good', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 3}}'), 'with_bad') > 1e-4 AS seen;

-- All of them at once, with labels of every kind
CREATE TABLE hostile AS
  SELECT y, x, i FROM good, generate_series(1, 3) i
  UNION ALL SELECT y, x, id FROM bad, (VALUES (true), (false), (NULL)) v(y)
  UNION ALL SELECT NULL, ARRAY[1, 1, 1], 1;
ALTER TABLE hostile ADD y2 smallint, ADD y4 integer, ADD y8 bigint, ADD f4 float4, ADD f8 float8, ADD n numeric, ADD t text;
UPDATE hostile SET
  y2 = CASE WHEN y THEN 32767 WHEN NOT y THEN -32768 END,
  y4 = CASE WHEN y THEN 1 WHEN NOT y THEN 0 END,
  y8 = CASE WHEN y THEN 9223372036854775807 WHEN NOT y THEN (-9223372036854775807) END,
  f4 = CASE WHEN y THEN 1e-45 WHEN NOT y THEN '-Infinity' ELSE 'NaN' END::float4,
  f8 = CASE WHEN y THEN CASE WHEN i % 2 = 0 THEN 5e-324 ELSE 'Infinity' END
            WHEN NOT y THEN CASE WHEN i % 2 = 0 THEN -1e308 ELSE '-0' END
            ELSE 'NaN' END::float8,
  n = CASE WHEN y THEN CASE WHEN i % 2 = 0 THEN 1e400 WHEN i % 3 = 0 THEN 'Infinity' ELSE 1e-400 END
           WHEN NOT y THEN CASE WHEN i % 2 = 0 THEN -1e400 ELSE 0 END
           WHEN i % 2 = 0 THEN 'NaN' END::numeric,
  t = CASE WHEN y THEN 'yes' WHEN NOT y THEN (ARRAY['no', '', 'YES', 'yes ', repeat('x', 100000)])[1 + i % 5] END;
CREATE TABLE fit (label text, model dp_model);
SET dperm.cache_memory = 0;
INSERT INTO fit
  SELECT l || ', in passes', dp_logreg_train('hostile', l, 'x', 'Infinity', lambda => 0.01, positive => CASE l WHEN 't' THEN 'yes' END, domains => '{"x": {"dimension": 3}}')
  FROM unnest('{y,y2,y4,y8,f4,f8,n,t}'::text[]) l;
RESET dperm.cache_memory;
INSERT INTO fit
  SELECT l, dp_logreg_train('hostile', l, 'x', 'Infinity', lambda => 0.01, positive => CASE l WHEN 't' THEN 'yes' END, domains => '{"x": {"dimension": 3}}')
  FROM unnest('{y,y2,y4,y8,f4,f8,n,t}'::text[]) l
  UNION ALL SELECT 'aggregate ' || 'f8', dp_logreg(f8, x, 'Infinity', '{"lambda": 0.01, "dimension": 3}') FROM hostile
  UNION ALL SELECT 'aggregate ' || 'n', dp_logreg(n, x, 'Infinity', '{"lambda": 0.01, "dimension": 3}') FROM hostile
  UNION ALL SELECT 'aggregate ' || 't', dp_logreg(t, x, 'Infinity', '{"lambda": 0.01, "positive": "yes", "dimension": 3}') FROM hostile;
SELECT label, (model::jsonb -> 'rows')::int = (SELECT count(*) FROM hostile) AS all_count,
       model::jsonb #> '{features,0,dimension}' AS dimension, gradient(model, 'hostile') < 1e-9 AS by_hand
FROM fit ORDER BY label COLLATE "C";

-- The other loss and real vectors, which have their own bad values
CREATE TABLE hostile4 AS SELECT y, x::text::float4[] AS x4 FROM hostile
  WHERE NOT EXISTS (SELECT FROM unnest(x) e WHERE abs(e) NOT IN ('NaN', 'Infinity', 0) AND abs(e) NOT BETWEEN 1e-37 AND 1e38);
INSERT INTO hostile4 SELECT y, x FROM (VALUES (true), (false), (NULL)) a(y),
  (VALUES ('{3e38,3e38,3e38}'::float4[]), ('{1e-45,0,0}'), ('{NaN,0,0}'), ('{Infinity,0,0}')) b(x);
ALTER TABLE hostile4 ADD CHECK (cardinality(x4) = 3) NOT VALID;
CREATE VIEW hostile4_as_8 AS SELECT y, x4::float8[] AS x FROM hostile4;
SELECT gradient(dp_logreg_train('hostile4', 'y', 'x4', 'Infinity', lambda => 0.01), 'hostile4_as_8') < 1e-9 AS float4,
       distance(dp_svm_train('hostile4', 'y', 'x4', 'Infinity', lambda => 0.01),
                dp_svm_train('hostile4_as_8', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 3}}')) < 1e-9 AS svm,
       distance(dp_svm_train('hostile4', 'y', 'x4', 'Infinity', lambda => 0.01),
                (SELECT dp_svm(y, x4, 'Infinity', '{"lambda": 0.01, "dimension": 3}') FROM hostile4)) < 1e-9 AS svm_aggregate;

-- The bound does the same to all: scaled data under a scaled bound
CREATE VIEW tiny AS SELECT y, ARRAY[x[1] * 1e-90, x[2] * 1e-90, x[3] * 1e-90] AS x FROM good;
CREATE VIEW huge AS SELECT y, ARRAY[x[1] * 1e90, x[2] * 1e90, x[3] * 1e90] AS x FROM good;
SELECT distance(dp_logreg_train('good', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 3, "norm": 1}}'),
                dp_logreg_train('tiny', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"norm": 1e-90}}')) < 1e-9 AS tiny,
       distance(dp_logreg_train('good', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 3, "norm": 1}}'),
                dp_logreg_train('huge', 'y', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"norm": 1e90}}')) < 1e-9 AS huge;

-- The same rows with noise: nothing is raised either
CREATE VIEW noisy AS SELECT count(model) AS trained FROM (
  SELECT dp_logreg_train('hostile', 'y', 'x', e, options => jsonb_build_object('method', m), domains => '{"x": {"dimension": 3}}') AS model
  FROM (VALUES (1e-6), (0.1), (1), (500)) a(e), (VALUES ('objective'), ('output')) b(m)
  UNION ALL SELECT dp_svm_train('hostile', 'f8', 'x', e, options => jsonb_strip_nulls(jsonb_build_object('loss', l, 'analysis', 'paper')), domains => '{"x": {"dimension": 3}}')
  FROM (VALUES (1e-6), (0.1), (1), (500)) a(e), (VALUES ('huber'), ('smooth_hinge')) b(l)
  UNION ALL SELECT dp_logreg(n, x, 0.1, '{"dimension": 3}') FROM hostile
  UNION ALL SELECT dp_svm(t, x, 0.1, '{"positive": "yes", "dimension": 3}') FROM hostile) s;
SELECT * FROM noisy;
SET dperm.cache_memory = 0;
SELECT trained AS trained_in_passes FROM noisy;
RESET dperm.cache_memory;

-- Vectors read as all zero: with numbers of other types, in the aggregates
SELECT distance(a, b) < 1e-9 AS numeric, distance(a, c) < 1e-9 AS integer FROM (
  SELECT dp_logreg(y, x, 'Infinity', '{"lambda": 0.01, "dimension": 2}') AS a, dp_logreg(y, x::numeric[], 'Infinity', '{"lambda": 0.01, "dimension": 2}') AS b,
         dp_logreg(y, z, 'Infinity', '{"lambda": 0.01, "dimension": 2}') AS c
  FROM (VALUES (true, '{1,0}'::float8[], '{1,0}'::int[]), (false, '{0,1}', '{0,1}'),
               (true, '{NaN,1}', '{NULL,1}'), (false, '{1,1,1}', '{1,1,1}'), (NULL, '{0,0}', '{0,0}')) v(y, x, z)) s;
SELECT dp_weights(dp_logreg(true, x, 'Infinity', '{"lambda": 1, "intercept": false, "dimension": 2}')) = '{0,0}' AS all_zero
  FROM (VALUES ('{1e400,1}'::numeric[]), ('{NaN,1}'), ('{Infinity,1}')) v(x);

-- Nothing but bad rows
CREATE TABLE only_bad AS SELECT NULL::boolean AS y, NULL::float8[] AS x FROM generate_series(1, 5);
SELECT dp_weights(dp_logreg_train('only_bad', 'y', 'x', 'Infinity', domains => '{"x": {"dimension": 1}}')) = '{0,0}' AS no_label_at_all,
       (SELECT dp_weights(dp_logreg(y, x, 'Infinity', '{"dimension": 1}')) = '{0,0}' FROM only_bad) AS aggregate;
UPDATE only_bad SET y = true;
SELECT dp_logreg_train('only_bad', 'y', 'x', 'Infinity', domains => '{"x": {"dimension": 1}}')::jsonb #> '{features,0,dimension}' AS dimension,
       gradient(dp_logreg_train('only_bad', 'y', 'x', 'Infinity', domains => '{"x": {"dimension": 1}}'), 'only_bad') < 1e-9 AS no_vector_at_all,
       gradient((SELECT dp_logreg(y, x, 'Infinity', '{"dimension": 1}') FROM only_bad), 'only_bad') < 1e-9 AS aggregate,
       dp_weights(dp_logreg_train('only_bad', 'y', 'x', 'Infinity', domains => '{"x": {"dimension": 1}}', options => '{"intercept": false}')) = '{0}' AS without_intercept;

-- Nothing at all
CREATE TABLE empty (y boolean, t text, x float8[], x4 float4[]);
SELECT dp_logreg_train('empty', 'y', 'x', 1, domains => '{"x": {"dimension": 3}}') IS NULL AS logreg,
       dp_logreg_train('empty', 't', 'x4', 1, positive => 'yes', domains => '{"x4": {"dimension": 3}}') IS NULL AS with_positive,
       dp_svm_train('empty', 'y', 'x', 'Infinity', options => '{"method": "output"}', domains => '{"x": {"dimension": 3}}') IS NULL AS svm,
       (SELECT dp_logreg(y, x, 1) FROM empty) IS NULL AS logreg_aggregate,
       (SELECT dp_svm(y, x, 1, '{"lambda": 1}') FROM empty) IS NULL AS svm_aggregate;

DROP VIEW with_bad, with_meaning, hostile4_as_8, tiny, huge, noisy;
DROP TABLE good, bad, hostile, hostile4, only_bad, empty, fit;
DROP FUNCTION encoded, gradient, distance, as_documented;
