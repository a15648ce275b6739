--
-- Ways to the same model: rows in memory, or read again in each pass, or too
-- many for their memory; by workers; as codes or as vectors. Without noise the
-- weights agree. Tuning reads its table no more often for more candidates
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE TYPE ward AS ENUM ('surgery', 'cardiology', 'oncology');
CREATE TABLE people (
  id int,
  y boolean,
  answer text,
  age int CHECK (age BETWEEN 0 AND 100),
  dose float8 CHECK (dose BETWEEN -1 AND 1),
  smoker boolean,
  ward ward,
  city text,
  seen date CHECK (seen BETWEEN '2020-01-01' AND '2020-12-31'),
  v8 float8[] CHECK (cardinality(v8) = 3),
  v4 float4[] CHECK (cardinality(v4) = 3)
);
-- rows of every kind: without a label, with NULL in a column, with a value that
-- is not listed
INSERT INTO people
  SELECT i, CASE WHEN i % 97 > 0 THEN s > 0.3 END, CASE WHEN i % 97 > 0 THEN CASE WHEN s > 0.2 THEN 'yes' ELSE 'no' END END,
         NULLIF((i * 7) % 101, 13), sin(i * i), CASE WHEN i % 11 > 0 THEN i % 5 < 2 END,
         (ARRAY['surgery', 'cardiology', 'oncology', NULL])[1 + i % 4]::ward, CASE WHEN i % 53 > 0 THEN 'c' || i % 41 END,
         date '2020-01-01' + (i * 13) % 366, v, v
  FROM (SELECT i, sin(i * i) + (i % 3 - 1) * 0.8 + (i % 41) / 80.0 AS s,
               CASE WHEN i % 89 = 0 THEN '{1,NaN,0}' WHEN i % 83 > 0 THEN ARRAY[round(8 * sin(i * i)) / 16, round(8 * cos(i * 3)) / 16, (i % 3) / 4.0] END::float8[] AS v
        FROM generate_series(1, 1200) i) s;
ALTER TABLE people SET (parallel_workers = 2);
-- more columns than a function has arguments
DO $$
BEGIN
  EXECUTE (SELECT format('CREATE TABLE broad (y boolean, %s)', string_agg(format(CASE WHEN k % 4 = 0 THEN 'c%s text CHECK (c%1$s IN (''a'', ''b'', ''c''))'
                                                                                 ELSE 'c%s int CHECK (c%1$s BETWEEN 0 AND 9)' END, k), ', ' ORDER BY k)) FROM generate_series(1, 100) k);
  EXECUTE (SELECT format('INSERT INTO broad SELECT sin(i * i) + (i %% 7) / 7.0 > 0.5, %s FROM generate_series(1, 400) i',
                         string_agg(format(CASE WHEN k % 4 = 0 THEN '(ARRAY[''a'', ''b'', ''c'', NULL])[1 + i * %s / 4 %% 4]'
                                           ELSE 'NULLIF(i * %s %% 11, 10)' END, k), ', ' ORDER BY k)) FROM generate_series(1, 100) k);
END $$;
ALTER TABLE broad SET (parallel_workers = 2);
ANALYZE people, broad;

-- The model that a call makes in a mode, and its weights
CREATE FUNCTION model(call text, mode text) RETURNS dp_model LANGUAGE plpgsql AS $$
DECLARE
  result dp_model;
BEGIN
  PERFORM set_config('dperm.cache_memory', CASE mode WHEN 'memory' THEN '256MB' WHEN 'little memory' THEN '4kB' ELSE '0' END, true),
          set_config('max_parallel_workers_per_gather', CASE mode WHEN 'workers' THEN '2' ELSE '0' END, true),
          set_config('parallel_leader_participation', CASE mode WHEN 'workers' THEN 'off' ELSE 'on' END, true),
          set_config('parallel_setup_cost', '0', true), set_config('parallel_tuple_cost', '0', true), set_config('min_parallel_table_scan_size', '0', true);
  EXECUTE 'SELECT ' || call INTO result;
  RETURN result;
END $$;
CREATE FUNCTION weights(call text, mode text) RETURNS float8[] LANGUAGE sql AS $$
  SELECT dp_weights(model(call, mode))
$$;
CREATE FUNCTION distance(a float8[], b float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN cardinality(a) = cardinality(b) THEN (SELECT max(abs(v - w)) FROM unnest(a, b) u(v, w)) END
$$;

-- Every kind of columns, loss and kernel, in every mode
CREATE TABLE calls (id serial, what text, call text);
INSERT INTO calls (what, call) VALUES
  ('numbers', $$ dp_logreg_train('people', 'y', '{age,dose,seen}', 'Infinity', lambda => 0.01) $$),
  ('numbers, straight', $$ dp_logreg_train('people', 'y', '{age,dose,seen}', 'Infinity', lambda => 0.01, knots => 1) $$),
  ('flags', $$ dp_logreg_train('people', 'y', 'smoker', 'Infinity', lambda => 0.01) $$),
  ('categories', $$ dp_logreg_train('people', 'y', 'ward', 'Infinity', lambda => 0.01) $$),
  ('categories alone', $$ dp_logreg_train('people', 'y', 'ward', 'Infinity', lambda => 0.01, options => '{"intercept": false}') $$),
  ('columns', $$ dp_logreg_train('people', 'y', '{ward,age,city,smoker,v8,dose,seen}', 'Infinity', lambda => 0.001, domains => domain) $$),
  ('columns, straight', $$ dp_logreg_train('people', 'y', '{ward,age,city,smoker,v8,dose,seen}', 'Infinity', lambda => 0.001, knots => 1, domains => domain) $$),
  ('columns, no intercept', $$ dp_logreg_train('people', 'y', '{ward,age,city,smoker,v8,dose,seen}', 'Infinity', lambda => 0.001, options => '{"intercept": false}', domains => domain) $$),
  ('columns, small lambda', $$ dp_logreg_train('people', 'y', '{ward,age,city,smoker,v8,dose,seen}', 'Infinity', lambda => 1e-5, domains => domain) $$),
  ('columns, a text as label', $$ dp_logreg_train('people', 'answer', '{city,age}', 'Infinity', lambda => 0.001, positive => 'yes', domains => domain - 'v8') $$),
  ('columns, huber', $$ dp_svm_train('people', 'y', '{ward,age,city,smoker,v8,dose,seen}', 'Infinity', lambda => 0.01, domains => domain) $$),
  ('columns, huber, no intercept', $$ dp_svm_train('people', 'y', '{city,dose,ward}', 'Infinity', lambda => 0.01, options => '{"intercept": false}', domains => domain - 'v8') $$),
  ('columns, smooth hinge', $$ dp_svm_train('people', 'y', '{ward,age,city,smoker,v8,dose,seen}', 'Infinity', lambda => 0.01, options => '{"loss": "smooth_hinge", "h": 0.2}', domains => domain) $$),
  ('columns, output perturbation', $$ dp_svm_train('people', 'y', '{ward,age,city}', 'Infinity', lambda => 0.01, options => '{"method": "output"}', domains => domain - 'v8') $$),
  ('float8[]', $$ dp_logreg_train('people', 'y', 'v8', 'Infinity', lambda => 0.01, domains => '{"v8": {"dimension": 3}}') $$),
  ('float4[]', $$ dp_logreg_train('people', 'y', 'v4', 'Infinity', lambda => 0.01, domains => '{"v4": {"dimension": 3}}') $$),
  ('float8[], no intercept, huber', $$ dp_svm_train('people', 'y', 'v8', 'Infinity', lambda => 0.01, options => '{"intercept": false}', domains => '{"v8": {"norm": 2}}') $$),
  ('float4[], another norm', $$ dp_svm_train('people', 'y', 'v4', 'Infinity', lambda => 0.01, domains => '{"v4": {"norm": 0.5}}') $$),
  ('gaussian', $$ dp_logreg_train('people', 'y', '{ward,age,dose}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 50}', gamma => 2) $$),
  ('gaussian, huber, intercept', $$ dp_svm_train('people', 'y', 'v8', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 40, "intercept": true}') $$),
  ('laplacian', $$ dp_logreg_train('people', 'y', 'v4', 'Infinity', lambda => 0.01, kernel => 'laplacian', options => '{"kernel_features": 34}') $$),
  ('cauchy', $$ dp_logreg_train('people', 'y', '{city,v8}', 'Infinity', lambda => 0.01, kernel => 'cauchy', options => '{"kernel_features": 30}', domains => domain) $$),
  ('matern, smooth hinge', $$ dp_svm_train('people', 'y', '{age,dose}', 'Infinity', lambda => 0.01, options => '{"loss": "smooth_hinge", "kernel_features": 30}', kernel => 'matern') $$),
  ('records', $$ dp_logreg_train('broad', 'y', NULL, 'Infinity', lambda => 0.01) $$),
  ('records, no intercept', $$ dp_svm_train('broad', 'y', NULL, 'Infinity', lambda => 0.01, options => '{"intercept": false}', knots => 1) $$),
  ('records, kernel', $$ dp_logreg_train('broad', 'y', NULL, 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20}') $$);
CREATE TABLE cities AS SELECT jsonb_build_object('city', jsonb_agg('c' || i), 'v8', '{"dimension": 3}'::jsonb) AS domain FROM generate_series(0, 37) i;
UPDATE calls SET call = replace(call, 'domain)', format('%L)', domain)) FROM cities WHERE call ~ 'domain\)';
UPDATE calls SET call = replace(call, 'domain -', format('%L::jsonb -', domain)) FROM cities WHERE call ~ 'domain -';
CREATE TABLE results AS SELECT id, what, mode, weights(call, mode) AS w FROM calls, unnest('{memory,passes,little memory,workers}'::text[]) mode;
SELECT a.what, cardinality(a.w) AS weights, distance(b.w, a.w) < 1e-8 AS passes, distance(c.w, a.w) < 1e-8 AS little_memory, distance(d.w, a.w) < 1e-8 AS workers
  FROM results a JOIN results b USING (id) JOIN results c USING (id) JOIN results d USING (id)
  WHERE (a.mode, b.mode, c.mode, d.mode) = ('memory', 'passes', 'little memory', 'workers') ORDER BY id;
-- not vacuous: they have learnt something, and no two calls the same, except
-- those of equal vectors
SELECT count(*) FILTER (WHERE (SELECT max(abs(v)) FROM unnest(w) v) > 0.01) AS learnt, count(DISTINCT w) AS different FROM results WHERE mode = 'memory';
SELECT a.what, b.what FROM results a JOIN results b ON a.id < b.id AND distance(a.w, b.w) < 1e-8 WHERE a.mode = 'memory' AND b.mode = 'memory';

-- Rows that fit; that fit at 16 bits for each number; and of which even then no
-- more than a sample does
CREATE TABLE crowd AS SELECT sin(i * i) + (i % 7) / 7.0 > 0.5 AS y, ARRAY[sin(i * i), cos(i * 3) / 2]::float8[] AS x FROM generate_series(1, 36000) i;
CREATE TABLE kept AS SELECT memory, train.* FROM unnest('{256MB,64MB,0}'::text[]) memory, LATERAL (
  SELECT dp_weights(dp_logreg_train('crowd', 'y', 'x', 'Infinity', lambda => 0.05, domains => '{"x": {"dimension": 2}}', kernel => 'gaussian', options => '{"kernel_features": 700}')) AS w
    FROM set_config('dperm.cache_memory', memory, true)) train;
SELECT b.memory, cardinality(b.w) AS weights, distance(b.w, a.w) < 1e-8 AS the_same FROM kept a, kept b WHERE a.memory = '256MB' ORDER BY length(b.memory) DESC;

-- Codes against vectors: the same columns as what dp_encode makes of them, and
-- by hand
CREATE TABLE models AS SELECT dp_logreg_train('people', 'y', '{ward,age,city,smoker,v8}', 'Infinity', lambda => 0.001, knots => 1, domains => domain) AS model,
                              dp_svm_train('people', 'y', '{ward,age,city,smoker,v8}', 'Infinity', lambda => 0.01, knots => 1, options => '{"intercept": false}', domains => domain) AS machine FROM cities;
CREATE TABLE dense AS SELECT y, dp_encode(model, people) AS x, dp_encode(machine, people) AS without,
    ARRAY(SELECT v / sqrt(5) FROM unnest(ARRAY[coalesce((ward = 'surgery')::int, 0), coalesce((ward = 'cardiology')::int, 0), coalesce((ward = 'oncology')::int, 0), coalesce(age / 50.0 - 1, 0)]::float8[]
      || ARRAY(SELECT coalesce((city = 'c' || i)::int, 0)::float8 FROM generate_series(0, 37) i ORDER BY i) || ARRAY[CASE WHEN smoker THEN 1 WHEN NOT smoker THEN -1 ELSE 0 END]::float8[]
      || CASE WHEN v8 IS NULL OR v8 && '{NaN}' THEN '{0,0,0}' ELSE v8 END) WITH ORDINALITY u(v, k) ORDER BY k) AS by_hand
  FROM people, models;
ALTER TABLE dense SET (parallel_workers = 2);
ALTER TABLE dense ADD CHECK (cardinality(x) = 47), ADD CHECK (cardinality(without) = 46), ADD CHECK (cardinality(by_hand) = 46);
SELECT mode, distance(weights($$ dp_logreg_train('dense', 'y', 'x', 'Infinity', lambda => 0.001, options => '{"intercept": false}') $$, mode), dp_weights(model)) < 1e-8 AS encoded,
       distance(weights($$ dp_svm_train('dense', 'y', 'without', 'Infinity', lambda => 0.01, options => '{"intercept": false}') $$, mode), dp_weights(machine)) < 1e-8 AS machine,
       distance(weights($$ dp_svm_train('dense', 'y', 'by_hand', 'Infinity', lambda => 0.01, options => '{"intercept": false}') $$, mode), dp_weights(machine)) < 1e-8 AS by_hand
  FROM models, unnest('{memory,passes,workers}'::text[]) mode;
SELECT distance(dp_weights(model), dp_weights(dp_logreg(y, x, 'Infinity', '{"lambda": 0.001, "intercept": false, "dimension": 47}'))) < 1e-8 AS aggregate FROM dense, models GROUP BY model::text, dp_weights(model);

-- Any number of rows: before, at and after each step by which memory grows;
-- without rows there is no model
CREATE VIEW first_rows AS SELECT y, ward, age, v8 FROM people WHERE id <= current_setting('test.rows')::int;
CREATE FUNCTION with_rows(n int, mode text, features text, more text) RETURNS float8[] LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('test.rows', n::text, true);
  RETURN weights(format('dp_logreg_train(''first_rows'', ''y'', %L, ''Infinity'', lambda => 0.1%s)', features, more), mode);
END $$;
SELECT features, count(*) FILTER (WHERE distance(a, b) < 1e-8) AS same, count(*) FILTER (WHERE distance(a, c) < 1e-8) AS same_with_little_memory, count(*) FILTER (WHERE a IS NULL AND b IS NULL) AS none
  FROM unnest(ARRAY[0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300, 513, 1023, 1025]) n,
       (VALUES ('{ward,age}', ''), ('v8', ', domains => ''{"v8": {"dimension": 3}}'''), ('v8', ', domains => ''{"v8": {"dimension": 3}}'', kernel => ''gaussian'', options => ''{"kernel_features": 10}''')) f(features, more),
       LATERAL (SELECT with_rows(n, 'memory', features, more) AS a, with_rows(n, 'passes', features, more) AS b, with_rows(n, 'little memory', features, more) AS c) s
  GROUP BY features, more ORDER BY features COLLATE "C", more;

-- A view that claims to be stable and is not: its rows are read once, whether
-- they fit into memory or not
CREATE FUNCTION flickers(id int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN set_config('test.calls', (current_setting('test.calls')::int + 1)::text, true)::int <> 1300;
END $$;
CREATE VIEW flickering AS SELECT y, dose FROM people WHERE flickers(id);
CREATE FUNCTION says(call text, mode text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('test.calls', '0', true);
  RETURN model(call, mode)::jsonb ->> 'rows';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ': ' || SQLERRM;
END $$;
SELECT mode, says($$ dp_logreg_train('flickering', 'y', 'dose', 'Infinity', lambda => 0.1, domains => '{"dose": [-1, 1]}') $$, mode) FROM unnest('{memory,passes,little memory}'::text[]) mode;

-- Tuning privately: of so few rows that all sets of them can be tried, the
-- winner was trained on one set, with its own parameters and as many rows as it
-- says
CREATE TABLE six (id int PRIMARY KEY, y boolean, a float8, k text);
INSERT INTO six SELECT i, i IN (1, 4, 6), sin(i * i), (ARRAY['u', 'v', 'w'])[1 + i % 3] FROM generate_series(1, 6) i;
ALTER TABLE six SET (parallel_workers = 2);
CREATE VIEW some_of_six AS SELECT y, a, k FROM six WHERE current_setting('test.set')::int >> (id - 1) & 1 = 1;
CREATE FUNCTION call_on(source text, parameters jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT format($a$ dp_logreg_train(%L, 'y', '{k,a}', 'Infinity', domains => '{"a": [-1, 1], "k": ["u", "v", "w"]}', options => %L, %s) $a$, source, parameters - '{lambda,kernel}'::text[], string_agg(format('%s => %L', key, value), ', ') FILTER (WHERE key IN ('lambda', 'kernel')))
  FROM jsonb_each_text(parameters)
$$;
CREATE TABLE sets (candidate jsonb, rows int, w float8[]);
CREATE FUNCTION try_sets(candidate jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  FOR s IN 1 .. 63 LOOP
    PERFORM set_config('test.set', s::text, true);
    INSERT INTO sets SELECT candidate, (SELECT count(*) FROM some_of_six), weights(call_on('some_of_six', candidate), 'memory');
  END LOOP;
END $$;
SELECT count(try_sets(c::jsonb)) AS candidates FROM unnest(ARRAY['{"lambda": 0.1}', '{"lambda": 0.05}', '{"lambda": 0.02, "kernel": "gaussian", "kernel_features": 16}', '{"lambda": 0.03, "intercept": false}']) c;
CREATE FUNCTION winner(candidates text, mode text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found dp_model;
BEGIN
  FOR try IN 1 .. 200 LOOP
    BEGIN
      found := model(format($a$ dp_logreg_tune('six', 'y', '{k,a}', 'Infinity', domains => '{"a": [-1, 1], "k": ["u", "v", "w"]}', candidates => %L) $a$, candidates), mode);
      EXIT;
    EXCEPTION WHEN invalid_parameter_value THEN
      CONTINUE;				-- an empty portion
    END;
  END LOOP;
  RETURN CASE WHEN EXISTS (SELECT FROM sets s WHERE s.candidate -> 'lambda' = found::jsonb -> 'lambda' AND s.rows = (found::jsonb -> 'rows')::int AND distance(s.w, dp_weights(found)) < 1e-8)
              THEN 'as alone' ELSE 'another model' END;
END $$;
SELECT mode, candidates, string_agg(DISTINCT winner(candidates, mode), ', ') AS winner
  FROM unnest('{memory,passes,little memory,workers}'::text[]) WITH ORDINALITY m(mode, n),
       unnest(ARRAY['[{"lambda": 0.1}, {"lambda": 0.05}]', '[{"lambda": 0.1}, {"lambda": 0.02, "kernel": "gaussian", "kernel_features": 16}]', '[{"lambda": 0.03, "intercept": false}, {"lambda": 0.1}]']) candidates,
       generate_series(1, 4)
  GROUP BY mode, n, candidates ORDER BY candidates COLLATE "C", n;

-- Portions are uniform and independent of what rows hold: the set that a lone
-- candidate is trained on is any of the 62, equally likely (chi-square)
CREATE FUNCTION lone_set(mode text) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
  found dp_model;
BEGIN
  LOOP
    BEGIN
      found := model($a$ dp_logreg_tune('six', 'y', '{k,a}', 'Infinity', domains => '{"a": [-1, 1], "k": ["u", "v", "w"]}', candidates => '[{"lambda": 0.1}]') $a$, mode);
      RETURN (SELECT w FROM sets WHERE candidate = '{"lambda": 0.1}' ORDER BY distance(w, dp_weights(found)) LIMIT 1);
    EXCEPTION WHEN invalid_parameter_value THEN
      CONTINUE;				-- an empty portion
    END;
  END LOOP;
END $$;
SELECT mode, count(*) AS sets, sum((n - calls / 62.0) ^ 2 / (calls / 62.0)) < 125 AS uniform
  FROM (VALUES ('memory', 1240), ('passes', 620), ('workers', 310)) m(mode, calls),
       LATERAL (SELECT s.w, count(l.w) AS n FROM sets s LEFT JOIN (SELECT lone_set(mode) AS w FROM generate_series(1, calls)) l USING (w)
                WHERE candidate = '{"lambda": 0.1}' AND rows < 6 GROUP BY s.w) c
  GROUP BY mode ORDER BY mode;

-- How often a table is scanned: once, however many candidates there are, and
-- whether rows fit into memory or not
CREATE FUNCTION scans(call text, mode text, counted text DEFAULT 'people') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  before bigint := (SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = counted);
BEGIN
  PERFORM model(call, mode);
  RETURN (SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = counted) - before;
END $$;
CREATE FUNCTION tune_call(candidates int) RETURNS text LANGUAGE sql AS $$
  SELECT format('dp_logreg_tune(''people'', ''y'', ''{age,ward}'', ''Infinity'', candidates => %L)', (SELECT jsonb_agg(jsonb_build_object('lambda', 0.001 * 1.1 ^ i)) FROM generate_series(1, candidates) i))
$$;
SELECT mode, scans(call, mode) AS train FROM calls, unnest('{memory,passes,little memory}'::text[]) mode WHERE what = 'columns';
SELECT n AS candidates, scans(tune_call(n), 'memory') AS tune FROM unnest('{1,2,7,20}'::int[]) n;
SELECT n AS candidates, scans(tune_call(n), 'passes') AS tune FROM unnest('{1,2,7,20}'::int[]) n;

DROP VIEW first_rows, flickering, some_of_six;
DROP TABLE people, dense, broad, calls, cities, results, models, six, sets;
DROP FUNCTION model, weights, distance, with_rows, flickers, says, call_on, try_sets, winner, lone_set, scans, tune_call;
DROP TYPE ward;
