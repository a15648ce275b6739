--
-- Tuning: parameters that are chosen privately, or on public rows
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

-- A quarter of the rows is positive, and x says which: a large lambda forgets
-- it and calls all of them negative
CREATE DOMAIN vec2 AS float8[] CHECK (cardinality(VALUE) = 2);
CREATE TABLE visits (id integer PRIMARY KEY, ill boolean, answer text, x vec2, age integer CHECK (age BETWEEN 0 AND 100));
INSERT INTO visits
  SELECT i, (i * 7919) % 1000 >= 750, CASE WHEN (i * 7919) % 1000 >= 750 THEN 'yes' ELSE 'no' END,
         ARRAY[(i * 7919) % 1000 / 500.0 - 1, sin(i)], (i * 7919) % 1000 / 10
  FROM generate_series(1, 1000) i;

-- The result of calls with these arguments: 'tuned', or the error
CREATE FUNCTION tunes(call text, cases text) RETURNS text LANGUAGE sql AS $$
  SELECT outcomes('''tuned'' FROM ' || call || ' m WHERE m IS NOT NULL', cases, call)
$$;
CREATE FUNCTION tune(arguments text) RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(E'\n  hint: ', result, nullif(hint, ''))
  FROM outcome('SELECT ''tuned'' FROM dp_logreg_tune(' || arguments || ') m WHERE m IS NOT NULL')
$$;

-- What a model says about its tuning; the size of a portion is random, its
-- range is not
SELECT m -> 'tuning' #- '{chosen}' AS tuning, m -> 'tuning' -> 'chosen' -> 'lambda' = m -> 'lambda' AS chosen, m -> 'private' AS private, m -> 'epsilon' AS epsilon,
       (m ->> 'lambda')::float8 IN (0.001, 0.1, 10) AS lambda, (m ->> 'rows')::int BETWEEN 150 AND 350 AS a_quarter
FROM (SELECT dp_logreg_tune('visits', 'ill', 'x', 1, candidates => '[{"lambda": 0.001}, {"lambda": 0.1}, {"lambda": 10}]', domains => '{"x": {"dimension": 2}}')::jsonb AS m OFFSET 0) s;
SELECT m -> 'tuning' #- '{chosen}' AS tuning, m ->> 'kind' AS kind, m ->> 'loss' AS loss
FROM (SELECT dp_svm_tune('visits', 'ill', '{x}', 1, candidates => '[{"lambda": 0.001}, {"lambda": 0.1}]', selection => 'exponential')::jsonb AS m OFFSET 0) s;
SELECT m -> 'tuning' #- '{chosen}' AS tuning,
       m -> 'tuning' -> 'chosen' = CASE m ->> 'loss' WHEN 'huber' THEN '{"method": "output"}'::jsonb ELSE '{"h": 0.25, "loss": "smooth_hinge", "lambda": 0.1}' END AS chosen
FROM (SELECT dp_svm_tune('visits', 'ill', ARRAY['x', 'age'], 1, domains => '{"x": {"dimension": 2, "norm": 2}}',
                         candidates => '[{"lambda": 0.1, "loss": "smooth_hinge", "h": 0.25}, {"method": "output"}]')::jsonb AS m OFFSET 0) s;
-- by default: multiples of the default lambda
SELECT jsonb_array_length(t -> 'candidates') AS candidates, t -> 'portions' AS portions, t -> 'rows' AS rows,
       (SELECT string_agg(c ->> 'scale', ' ' ORDER BY n)
          FROM jsonb_array_elements(t -> 'candidates') WITH ORDINALITY AS c(c, n)) AS multiples,
       t -> 'candidates' @> jsonb_build_array(t -> 'chosen') AS chosen
FROM (SELECT dp_logreg_tune('visits', 'ill', 'x', 1)::jsonb -> 'tuning' AS t OFFSET 0) s;
-- The counts of mistakes are in no member, nor is anything else that is not
-- listed here
SELECT string_agg(DISTINCT key, ' ' ORDER BY key) AS keys
FROM (SELECT dp_logreg_tune('visits', 'ill', 'x', 1)::jsonb AS m OFFSET 0) s, jsonb_object_keys(m) key;
SELECT string_agg(DISTINCT key, ' ' ORDER BY key) AS keys
FROM (SELECT dp_logreg_tune('visits', 'ill', 'x', 1)::jsonb -> 'tuning' AS t OFFSET 0) s, jsonb_object_keys(t) key;

-- The guarantee covers the choice
SELECT regexp_replace(substring(dp_guarantee(dp_logreg_tune('visits', 'ill', 'x', 0.5, candidates => '[{"lambda": 0.1}, {"lambda": 0.2}]')) FROM 'The parameters.*'), ' Each further.*', '') AS guarantee;
SELECT substring(dp_guarantee(dp_logreg_tune('visits', 'ill', 'x', 0.5, candidates => '[{"lambda": 0.1}, {"lambda": 0.2}]', selection => 'exponential')) FROM 'with the [a-z-]+ rule') AS rule,
       dp_guarantee(dp_logreg_tune('visits', 'ill', 'x', 0.5)) ~ 'epsilon = 0.5 and delta = 0' AS epsilon;

-- Without privacy the candidate with the fewest mistakes is chosen, every time,
-- in whatever place it is
CREATE FUNCTION chosen(arguments text, times integer) RETURNS TABLE (model text, chosen bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT concat_ws('' '', m ->> ''lambda'', m -> ''kernel'' ->> ''name''), count(*)
    FROM (SELECT dp_logreg_tune(' || arguments || ')::jsonb AS m FROM generate_series(1, ' || times || ') OFFSET 0) s GROUP BY 1 ORDER BY 1';
END $$;
SELECT * FROM chosen($$ 'visits', 'ill', 'x', 'Infinity', candidates => '[{"lambda": 1000}, {"lambda": 0.0001}, {"lambda": 100}]' $$, 10);
SELECT * FROM chosen($$ 'visits', 'ill', 'x', 'Infinity', candidates => '[{"lambda": 1000}, {"lambda": 100}, {"lambda": 0.0001}]', selection => 'exponential' $$, 10);
SELECT * FROM chosen($$ 'visits', 'ill', 'x', 500, candidates => '[{"lambda": 0.0001}, {"lambda": 1000}]' $$, 10);
-- (bounds of age so wide that it says nothing: of x and age together even the
-- largest lambda makes a model that now and then wins)
SELECT * FROM chosen($$ 'visits', 'answer', '{x,age}', 'Infinity', positive => 'yes', domains => '{"x": {"dimension": 2}, "age": [0, 10000]}',
  candidates => '[{"lambda": 1000}, {"lambda": 0.0001}]' $$, 5);
-- at the smallest epsilon any candidate can win
SELECT count(*) AS both FROM chosen($$ 'visits', 'ill', 'x', 1e-6, candidates => '[{"lambda": 0.0001}, {"lambda": 1000}]' $$, 60);
SELECT count(*) AS both FROM chosen($$ 'visits', 'ill', 'x', 1e-6, candidates => '[{"lambda": 0.0001}, {"lambda": 1000}]', selection => 'exponential' $$, 60);
-- a ring, which is for a kernel
CREATE TABLE ring AS
  SELECT i AS id, i % 2 = 0 AS inside, ARRAY[r * cos(i), r * sin(i)]::vec2 AS x
  FROM (SELECT i, CASE WHEN i % 2 = 0 THEN 0.2 ELSE 0.9 END AS r FROM generate_series(1, 400) i) s;
SELECT * FROM chosen($$ 'ring', 'inside', 'x', 'Infinity', lambda => 0.001,
  candidates => '[{}, {"kernel": "gaussian", "gamma": 4, "kernel_features": 40}]' $$, 5);
-- each candidate has the frequencies of its own kernel: those of a kernel that is almost constant do not find the ring
SELECT m::jsonb -> 'kernel' ->> 'gamma' AS gamma, count(*) FILTER (WHERE dp_predict(m, r.x) = inside) >= 390 AS right_nearly_always
FROM ring r, (SELECT dp_logreg_tune('ring', 'inside', 'x', 'Infinity', lambda => 0.001,
  candidates => '[{"kernel": "gaussian", "gamma": 1e-6, "kernel_features": 40}, {"kernel": "gaussian", "gamma": 4, "kernel_features": 40}]') AS m OFFSET 0) s GROUP BY 1;
-- and the model says that it is not private
SELECT left(dp_guarantee(m), 12) AS guarantee, m::jsonb -> 'private' AS private, m::jsonb -> 'epsilon' AS epsilon, m::jsonb -> 'tuning' -> 'way' AS way
FROM (SELECT dp_logreg_tune('visits', 'ill', 'x', 'Infinity', candidates => '[{"lambda": 0.1}]') AS m OFFSET 0) s;

-- A model that was tuned is a model like any other: text, jsonb, binary,
-- storage, prediction
CREATE TABLE tuned AS
  SELECT 'private' AS way, dp_logreg_tune('visits', 'ill', '{x,age}', 'Infinity', domains => '{"x": {"dimension": 2}}', candidates => '[{"lambda": 0.0001}, {"lambda": 100}]') AS m
  UNION ALL SELECT 'noisy', dp_svm_tune('visits', 'ill', 'x', 1, candidates => '[{"lambda": 1e-5, "kernel": "cauchy", "kernel_features": 8}, {"intercept": false}]');
SELECT way, m::text::dp_model::text = m::text AS text, m::jsonb::dp_model::jsonb = m::jsonb AS jsonb,
       dp_guarantee(m::jsonb::dp_model) = dp_guarantee(m) AS guarantee, dp_weights(m::jsonb::dp_model) = dp_weights(m) AS weights,
       dperm.dperm_model_send(m::text::dp_model) = dperm.dperm_model_send(m) AS binary
FROM tuned ORDER BY way;
SELECT count(*) FILTER (WHERE dp_predict(m, v) = ill) >= 900 AS right_nearly_always FROM visits v, tuned WHERE way = 'private';
-- who writes a model by hand writes this, too: it informs, and nothing else follows from it
SELECT outcomes($$ (?::dp_model)::jsonb #> '{tuning,portions}' FROM tuned WHERE way = 'private' $$, $$
  (m::jsonb || '{"tuning": {"way": "private"}}')::text | (m::jsonb || '{"tuning": 3}')::text
  jsonb_set(m::jsonb, '{tuning,rows}', '1')::text
  jsonb_set(m::jsonb, '{tuning,mistakes}', '[1, 2]')::text
  jsonb_set(m::jsonb, '{tuning,portions}', '4') $$);

--
-- Portions
--
-- Each call divides the rows another way (modes.sql shows that all ways are
-- equally likely)
SELECT count(DISTINCT m ->> 'rows') > 1 AS sizes_change FROM (SELECT dp_logreg_tune('visits', 'ill', 'x', 'Infinity', candidates => '[{"lambda": 0.01}]')::jsonb AS m FROM generate_series(1, 10) OFFSET 0) s;
SELECT min(r) BETWEEN 400 AND 500 AS low, max(r) BETWEEN 500 AND 600 AS high
FROM (SELECT (dp_logreg_tune('visits', 'ill', 'x', 'Infinity', candidates => '[{"lambda": 0.01}]')::jsonb ->> 'rows')::int AS r FROM generate_series(1, 20) OFFSET 0) s;
-- Candidates are trained on portions of their own and compared on another one.
-- Here one of three rows contradicts the others. A call either fails for an
-- empty portion or has a row in each: then nobody who learnt from that one
-- wins, as it would if it were judged by its own row, or if all learnt from the
-- same
CREATE TABLE three (id integer PRIMARY KEY, y boolean, x float8[] CHECK (cardinality(x) = 1));
INSERT INTO three VALUES (1, true, '{1}'), (2, true, '{0.8}'), (3, false, '{0.9}');
SELECT string_agg(DISTINCT result, ', ' ORDER BY result) AS signs
FROM (SELECT (outcome($$ SELECT dp_predict(dp_logreg_tune('three', 'y', 'x', 'Infinity', candidates => '[{"lambda": 0.1}, {"lambda": 0.2}]'), '{1}') $$)).result FROM generate_series(1, 250)) s;
DROP TABLE three;
-- Rows that do not fit into memory
SET dperm.cache_memory = 0;
CREATE TABLE many AS SELECT i AS id, sin(i * 7) > 0.3 AS y, ARRAY[sin(i * 7), cos(i)]::vec2 AS x FROM generate_series(1, 9000) i;
ALTER TABLE many ADD PRIMARY KEY (id);
SELECT (m ->> 'rows')::int BETWEEN 4200 AND 4800 AS half, m -> 'tuning' -> 'rows' AS rows
FROM (SELECT dp_logreg_tune('many', 'y', 'x', 1, candidates => '[{"lambda": 0.1}]', kernel => 'gaussian', options => '{"kernel_features": 600}')::jsonb AS m OFFSET 0) s;
DROP TABLE many;
RESET dperm.cache_memory;

--
-- Sources
--
CREATE TABLE parts (LIKE visits, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (300);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (300) TO (2000);
INSERT INTO parts SELECT * FROM visits;
CREATE VIEW seen AS SELECT id, id::text || ' ' AS name, ill, x FROM visits WHERE id <= 800;
CREATE MATERIALIZED VIEW stored AS SELECT ill, x FROM visits;
CREATE TEMP TABLE mine AS SELECT ill, x FROM visits;
CREATE TABLE ancestor (ill boolean, x vec2);
CREATE TABLE heir () INHERITS (ancestor);
INSERT INTO ancestor SELECT ill, x FROM visits;
INSERT INTO heir SELECT ill, x FROM visits;
\pset tuples_only on
SELECT outcomes($$ concat_ws(' ', m -> 'tuning' -> 'rows', m ->> 'lambda') FROM
  (SELECT dp_logreg_tune(?, 'ill', 'x', 'Infinity', candidates => '[{"lambda": 0.0001}, {"lambda": 100}]')::jsonb AS m OFFSET 0) s $$,
  $$ 'parts' | 'seen' | 'stored' | 'mine' | 'ancestor' $$);
-- Rows are read once, so they may come from anywhere, and need nothing that
-- identifies them
CREATE VIEW joined AS SELECT v.ill, v.x FROM visits v, generate_series(1, 2);
CREATE VIEW united AS SELECT ill, x FROM visits UNION ALL SELECT ill, x FROM parts WHERE id <= 100;
CREATE VIEW grouped AS SELECT ill, x FROM visits GROUP BY ill, x;
CREATE VIEW picked AS SELECT ill, x FROM visits LIMIT 500;
CREATE VIEW unsteady AS SELECT ill, x FROM visits WHERE random() < 0.5;
SELECT outcomes($$ m -> 'tuning' -> 'rows' FROM (SELECT dp_logreg_tune(?, 'ill', 'x', 'Infinity')::jsonb AS m OFFSET 0) s $$,
  $$ 'joined' | 'united' | 'grouped' | 'picked' $$);
SELECT (dp_logreg_tune('unsteady', 'ill', 'x', 1)::jsonb #>> '{tuning,rows}')::int BETWEEN 400 AND 600 AS some;
CREATE FUNCTION stays(id int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN set_config('test.calls', (current_setting('test.calls')::int + 1)::text, true)::int <= 1000;
END $$;
CREATE VIEW staying AS SELECT id, ill, x FROM visits WHERE stays(id);
SET test.calls = 0;
SELECT dp_logreg_tune('staying', 'ill', 'x', 1)::jsonb #> '{tuning,rows}';
DROP VIEW joined, united, grouped, picked, unsteady, staying;
DROP FUNCTION stays;
-- rows without a label are rows; a table of nothing else is tuned all the same
CREATE TABLE unlabelled AS SELECT CASE WHEN i % 2 = 0 THEN i % 3 = 0 END AS ill, ARRAY[sin(i), cos(i)]::vec2 AS x, NULL::boolean AS nothing FROM generate_series(1, 500) i;
SELECT dp_logreg_tune('unlabelled', l, 'x', 1, candidates => '[{"lambda": 0.1}, {"lambda": 1}]')::jsonb #> '{tuning,rows}' FROM unnest('{ill,nothing}'::text[]) l;
-- no rows, and too few
CREATE TABLE nobody (ill boolean, x float8[], id integer, nr serial UNIQUE);
SELECT outcomes('dp_?', $$
  logreg_tune('nobody', 'ill', 'x', 1, domains => '{"x": {"dimension": 2}}')
  svm_tune('nobody', 'ill', 'x', 1, domains => '{"x": {"dimension": 3}}') $$);
INSERT INTO nobody SELECT true, '{1,2}', i FROM generate_series(1, 3) i;
SELECT tune($$ 'nobody', 'ill', 'x', 1, domains => '{"x": {"dimension": 2}}' $$);
-- hostile rows raise nothing
INSERT INTO nobody SELECT i % 2 = 0, CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NaN,1}' WHEN 3 THEN '{Infinity,-Infinity}' WHEN 4 THEN '{NULL,1}'
  WHEN 5 THEN '{{1,2},{3,4}}' WHEN 6 THEN '{1,2,3}' WHEN 7 THEN '{1e308,-1e308}' ELSE '{0.5,0.1}' END::float8[], CASE WHEN i % 5 > 0 THEN i END FROM generate_series(1, 900) i;
SELECT tunes('dp_?)', $$
  logreg_tune('nobody', 'ill', 'x', 1, domains => '{"x": {"dimension": 2}}'
  logreg_tune('nobody', 'ill', 'x', 1, domains => '{"x": {"dimension": 2}}', candidates => '[{"lambda": 0.1}]'
  svm_tune('nobody', 'ill', 'x', 'Infinity', domains => '{"x": {"dimension": 2}}', candidates => '[{"lambda": 0.1}, {"lambda": 0.01}]', kernel => 'matern', options => '{"kernel_features": 10}' $$);
-- features of any name
CREATE TABLE "odd names" AS SELECT id AS ctid_, ill AS "lab""el", x[1] AS label, x[2] AS "T", age AS t, age AS s FROM visits;
SELECT tune($$ '"odd names"', 'lab"el', '{label,t,T,s}', 1, domains => '{"label": [-1, 1], "T": [-1, 1], "t": [0, 100], "s": [0, 100]}' $$);
ALTER TABLE "odd names" RENAME COLUMN label TO r;
SELECT tune($$ '"odd names"', 'lab"el', '{r,t}', 1, domains => '{"r": [-1, 1], "t": [0, 100]}' $$);
-- inside a transaction that writes nothing
BEGIN READ ONLY;
SELECT tune($$ 'visits', 'ill', 'x', 1 $$);
COMMIT;

--
-- Arguments
--
SELECT tunes($$ dp_logreg_tune('visits', ?) $$, $$
  'ill', 'x', 0 | 'ill', 'x', NULL | 'ill', 'x', 'Infinity', candidates => '[{"lambda": 0}, {"lambda": 0.1}]'
  'ill', '{x,age}', 1, domains => '{"x": {"dimension": 2}}', candidates => '[{"norm": 2}]'
  'ill', 'x', 1, lambda => 0.1
  'ill', 'x', 1, lambda => 0.1, candidates => '[{}, {"method": "output"}, {"lambda": 1}]' $$);
SELECT tunes($$ dp_logreg_tune('visits', 'ill', 'x', 1, candidates => ?) $$, $$
  '[{"lambda": 0}, {"lambda": 0.1}]' | '[{"lambda": 0}, {"lambda": 0.1}]', options => '{"method": "output"}'
  (SELECT jsonb_agg(jsonb_build_object('lambda', 0.1 * i)) FROM generate_series(1, 65) i)
  '[]' | '{"lambda": 1}' | '3' | 'null' | '[0.1, 0.2]' | '[[{"lambda": 0.1}]]' | '[{"lamda": 0.1}]'
  '[{"lambda": "0.1"}]' | '[{"lambda": null}]' | '[{"lambda": -1}]' | '[{"lambda": 1e400}]'
  '[{"lambda": {"a": 1}}]' | '[{"epsilon": 100}]' | '[{"positive": "true"}]' | '[{"loss": "huber"}]'
  '[{"gamma": 2}]' | '[{"kernel": "polynomial"}]' | '[{}, {"method": "neither"}]'
  '[{"dimension": 2}]' | '[{"norm": 3, "intercept": false}]' | '[{"knots": 1}, {"intercept": false}]' | '[{"intercept": true}, {"lambda": 0.1}]'
  ('[{"lambda": 0.1' || repeat('0', 2000) || '1}]')::jsonb | (SELECT jsonb_agg(jsonb_build_object('lambda', ('0.' || 100 + i || repeat('0', 16000) || '1')::numeric)) FROM generate_series(1, 64) i) $$);
SELECT tunes($$ dp_svm_tune('visits', 'ill', 'x', 1, ?) $$, $$
  candidates => '[{"h": 7}]' | candidates => '[{"loss": "logistic"}]'
  options => '{"loss": "smooth_hinge", "h": 0.1}', candidates => '[{"h": 0.2}, {"loss": "huber"}, {}]' $$);
-- a grid that would go beyond the largest lambda ends there
CREATE TABLE small AS SELECT ill, x FROM visits WHERE id <= 120;
SELECT dp_logreg_tune('small', 'ill', 'x', 1e-6, kernel => 'gaussian', options => '{"kernel_features": 2400}', candidates => NULL)::jsonb -> 'lambda' <= '1e9' AS within;
DROP TABLE small;
SELECT tunes($$ dp_logreg_tune('visits', 'ill', 'x', 1, selection => ?) $$,
  $$ 'best' | '' | NULL $$);
SELECT tunes($$ dp_logreg_tune('visits', ?) $$, $$
  NULL, 'x', 1
  'sick', 'x', 1 | 'ill', 'y', 1 | 'ill', 'ill', 1 | 'answer', 'x', 1 $$);
SELECT tunes('dp_logreg_tune(?)', $$ NULL, 'ill', 'x', 1 | 'nowhere', 'ill', 'x', 1 $$);
--
-- Privileges
--
DROP ROLE IF EXISTS dperm_tuner, dperm_meddler;
CREATE ROLE dperm_tuner;
CREATE ROLE dperm_meddler;
SET ROLE dperm_tuner;
SELECT tune($$ 'visits', 'ill', 'x', 1 $$);
RESET ROLE;
-- columns that are named suffice
GRANT SELECT (ill, x) ON visits TO dperm_tuner;
SET ROLE dperm_tuner;
SELECT tune($$ 'visits', 'ill', 'x', 1 $$);
SELECT split_part(tune($$ 'visits', 'ill', '{x,age}', 1, domains => '{"x": {"dimension": 2}}' $$), E'\n', 1);
RESET ROLE;
-- nobody's functions stand in for ours
CREATE SCHEMA traps;
GRANT CREATE, USAGE ON SCHEMA traps TO dperm_meddler, PUBLIC;
SET ROLE dperm_meddler;
CREATE FUNCTION traps.dperm_load_step(bytea, bytea, boolean, vec2) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'sprung by %', current_user; END $$;
CREATE AGGREGATE traps.dperm_load_agg(bytea, boolean, vec2) (SFUNC = traps.dperm_load_step, STYPE = bytea);
RESET ROLE;
SET search_path = traps, public, pg_catalog;
SELECT public.tune($$ 'public.visits', 'ill', 'x', 1 $$);
RESET search_path;
\pset tuples_only off

DROP SCHEMA traps CASCADE;
DROP OWNED BY dperm_tuner, dperm_meddler;
DROP ROLE dperm_tuner, dperm_meddler;
DROP VIEW seen;
DROP MATERIALIZED VIEW stored;
DROP TABLE visits, ring, tuned, parts, mine, heir, ancestor, unlabelled, nobody, "odd names";
DROP FUNCTION tune, tunes, chosen;
DROP DOMAIN vec2;
