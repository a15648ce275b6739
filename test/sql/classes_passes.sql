--
-- Passes over rows of several classes: the same models as from memory, the same
-- confusion matrix as by predicting each row; requests that are not the same are
-- not combined, and damaged ones are refused
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE TABLE wards AS
  SELECT i % 700 AS person, 50 + 20 * sin(i) AS age, (ARRAY['a', 'b', 'c'])[1 + i * 7 % 3] AS unit,
         (ARRAY['home', 'ward', 'icu', 'hospice', NULL, 'elsewhere'])[1 + (abs(3 * sin(i)) + i % 7 * 0.3)::int % 6] AS place,
         ARRAY[sin(i), cos(1.7 * i), sin(0.3 * i)] AS x
  FROM generate_series(1, 3000) i;
ALTER TABLE wards SET (parallel_workers = 2);
ANALYZE wards;
CREATE FUNCTION train(arguments text) RETURNS dp_model LANGUAGE plpgsql AS $$
DECLARE
  result dp_model;
BEGIN
  EXECUTE 'SELECT dp_logreg_train(''wards'', ''place'', ' || arguments || ', epsilon => ''Infinity'', lambda => 0.001)'
    INTO result;
  RETURN result;
END $$;
CREATE TABLE ways (name text, arguments text);
INSERT INTO ways VALUES
  ('columns', $$features => '{age,unit}', domains => '{"place": ["home", "ward", "icu", "hospice"], "age": [0, 100], "unit": ["a", "b", "c"]}'$$),
  ('curves', $$features => '{age,unit}', domains => '{"place": ["home", "ward", "icu", "hospice"], "age": [0, 100], "unit": ["a", "b", "c"]}', knots => 5$$),
  ('array', $$features => 'x', domains => '{"place": ["home", "ward", "icu", "hospice"], "x": {"dimension": 3}}'$$),
  ('persons', $$features => '{age,unit}', domains => '{"place": ["home", "ward", "icu", "hospice"], "age": [0, 100], "unit": ["a", "b", "c"]}', unit => 'person'$$),
  ('kernel', $$features => 'x', domains => '{"place": ["home", "ward", "icu", "hospice"], "x": {"dimension": 3}}', kernel => 'gaussian', gamma => 1, options => '{"kernel_features": 16, "kernel_seed": 7}'$$);
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN array_dims(dp_weights(a)) = array_dims(dp_weights(b)) THEN
    (SELECT sqrt(sum((v - w) ^ 2)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)) END
$$;

-- In memory, by one process, and by workers
CREATE TABLE trained AS SELECT name, train(arguments) AS model FROM ways;
SET dperm.cache_memory = 0;
SET max_parallel_workers_per_gather = 0;
SELECT name, distance(model, train(arguments)) < 1e-8 AS agree, array_dims(dp_weights(model)) AS weights
  FROM trained JOIN ways USING (name) ORDER BY name COLLATE "C";
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
SELECT name, distance(model, train(arguments)) < 1e-8 AS agree FROM trained JOIN ways USING (name) ORDER BY name COLLATE "C";
RESET parallel_leader_participation;
-- with noise
SELECT m::jsonb -> 'classes' AS classes, m::jsonb -> 'rows' AS rows, array_dims(dp_weights(m)) AS weights
  FROM dp_logreg_train('wards', 'place', '{x}', 1, domains => '{"place": ["home", "ward", "icu", "hospice"], "x": {"dimension": 3}}') m;

-- so little curvature that steps are hard to find
CREATE TABLE hard AS
  SELECT (ARRAY['a', 'b', 'c', 'd', 'e'])[1 + (2.5 + 2.5 * sin(i))::int % 5] AS y,
         (SELECT array_agg(sin(i * (1 + 0.001 * k)) + 0.001 * cos(1.3 * i * k) ORDER BY k) FROM generate_series(1, 12) k) AS x
  FROM generate_series(1, 600) i;
SELECT m::jsonb -> 'rows' AS rows, array_dims(dp_weights(m)) AS weights
  FROM dp_logreg_train('hard', 'y', 'x', 400, lambda => 1e-9, domains => '{"y": ["a", "b", "c", "d", "e"], "x": {"dimension": 12, "norm": 4}}') m;

-- A confusion matrix is counted by pairs; with this epsilon the noise is 0
SELECT count(*) AS cells, count(*) FILTER (WHERE e.value IS DISTINCT FROM coalesce(c.rows, 0)) AS wrong
  FROM trained, dp_evaluate(model, 'wards', epsilon => 500) e
    LEFT JOIN (SELECT place, dp_predict_class(model, wards) AS predicted, count(*) AS rows FROM trained, wards
               WHERE name = 'columns' GROUP BY 1, 2) c ON c.place = e.class AND c.predicted = e.predicted
  WHERE name = 'columns' AND e.predicted IS NOT NULL;
-- and one class against the others by bins
SELECT threshold, round(true_positive_rate::numeric, 3) AS true_positive, round(false_positive_rate::numeric, 3) AS false_positive
  FROM trained, dp_roc(model, 'wards', epsilon => 500, bins => 4, class => 'icu') WHERE name = 'columns';

-- Requests by hand: three classes of vectors of two elements
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION request(pass_order int, weights float8[], low float8[] DEFAULT '{}', kind int DEFAULT 4, number int DEFAULT 3, label int DEFAULT 2) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT decode('64707005', 'hex') || set_byte(set_byte('\x0000', 0, pass_order), 1, kind) || int2send(number::int2) || float8send(0) || set_byte('\x00', 0, label) || '\x000000' || int8send(0)
    || int4send(cardinality(weights)) || int4send(1) || int4send(length(encoder))
    || (SELECT string_agg(float8send(w), '' ORDER BY k) FROM unnest(weights || low) WITH ORDINALITY u(w, k)) || int4send(13) || encoder
  FROM (SELECT int4send(1) || int4send(0) || '\x04' || int4send(2) || '\x00' || float8send(1) || '\x0000') s(encoder)
$$;
CREATE FUNCTION word(r bytea, m bytea, n int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT ('x' || encode(substring(m FROM length(r) + 8 * n + 1 FOR 8), 'hex'))::bit(64)::bigint
$$;
CREATE FUNCTION number(r bytea, m bytea, n int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN w = 0 THEN 0 ELSE sign(w) * 2 ^ ((w >> 52 & 2047) - 1023) * (1 + (w & 4503599627370495) * 2 ^ (-52)) END FROM word(r, m, n) w
$$;
-- the number of a class, as dperm_label has it: kind 2, no encoding, any type
CREATE FUNCTION class_of(y text) RETURNS float8 LANGUAGE sql AS $$
  SELECT dperm.dperm_label(y, '\x020000000000'::bytea || float8send(0) || float8send(0) || int4send(3) || '\x610062006300')
$$;
CREATE TABLE few (y text, x float8[]);
INSERT INTO few VALUES ('a', '{0.5,0}'), ('b', '{0,0.5}'), ('c', '{0.5,0.5}'), ('d', '{0.5,0.5}'), (NULL, '{0.5,0.5}');
SELECT y, class_of(y) FROM few;
CREATE FUNCTION answer(r bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT dperm.dperm_moments_agg(r, class_of(y), dperm.dperm_row('\x0d', x)) FROM few $$;

-- The gradient at 0 is p - e_y for each class, and p is 1/3: coordinate by
-- coordinate, each with its classes. Rows without a class count, and add nothing
SELECT word(r, m, 0) AS rows, round(number(r, m, 1)::numeric, 6) AS loss, array_agg(round(number(r, m, 3 + i)::numeric, 6) ORDER BY i) AS gradient
  FROM (SELECT request(1, '{0,0,0,0,0,0}') AS r) r, answer(r) m, generate_series(0, 5) i GROUP BY m, 1, 2;
-- Counts by label and decision: weights are class by class, and the first of equal outputs wins
SELECT word(r, m, 0) AS rows, array_agg(word(r, m, 1 + i) ORDER BY i) AS counts
  FROM (SELECT request(5, '{1,0,0,1,0,0}', kind => 0) AS r) r, answer(r) m, generate_series(0, 8) i GROUP BY m, 1;

-- States are combined if they are of the same pass
SELECT o, length(a) - length(r) AS answer, word(r, dperm.dperm_moments_combine(a, a), 0) AS rows, dperm.dperm_moments_combine(r, a) = a AS with_none
  FROM generate_series(1, 5) o, LATERAL (SELECT request(o, '{0,0,0,0,0,1}', CASE WHEN o = 4 THEN '{1,0,0,0,0,0}'::float8[] ELSE '{}' END, CASE o WHEN 5 THEN 0 ELSE 4 END) AS r) r, answer(r) a ORDER BY 1;
\set VERBOSITY terse
SELECT dperm.dperm_moments_combine(request(4, '{0,0,0,0,0,0}', '{0,0,0,0,0,1}'), request(4, '{0,0,0,0,0,0}', '{0,0,0,0,1,0}'));
\set VERBOSITY default
-- Requests that are no requests: fewer and more classes, weights that are no multiple, labels of another kind
SELECT outcomes('answer(request(?))', $$ 1, '{0,0,0,0,0,0}', number => 2 | 1, '{0,0,0,0,0,0}', number => 129 | 5, '{0,0,0,0,0,0}', kind => 0, number => 101 | 1, '{0,0,0,0,0,0,0}' | 1, '{0,0,0,0,0,0}', kind => 0
  1, '{0,0,0,0,0,0}', label => 0 | 5, '{0,0,0,0,0,0}' | 6, '{0,0,0,0,0,0}' | 1, '{0,0,0,0,0,0,0,0,0}' $$);

DROP FUNCTION train, distance, answer, class_of, request, word, number;
DROP TABLE wards, ways, trained, few, hard;
