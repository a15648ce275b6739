--
-- All cores: rows that several processes load and sum up give the same model as
-- rows in one process, whatever the columns, the loss, the kernel, the memory
-- and the number of workers
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE TYPE ward AS ENUM ('surgery', 'cardiology', 'oncology');
CREATE TABLE people (
  id int PRIMARY KEY,
  y boolean,
  answer text,
  age int CHECK (age BETWEEN 0 AND 100),
  dose float8 CHECK (dose BETWEEN -1 AND 1),
  smoker boolean,
  ward ward,
  city text CHECK (city IN ('c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6')),
  seen date CHECK (seen BETWEEN '2020-01-01' AND '2020-12-31'),
  v8 float8[] CHECK (cardinality(v8) = 12)
);
INSERT INTO people
  SELECT i, CASE WHEN i % 97 > 0 THEN s > 0.3 END, CASE WHEN i % 97 > 0 THEN CASE WHEN s > 0.2 THEN 'yes' ELSE 'no' END END,
         NULLIF((i * 7) % 101, 13), sin(i), CASE WHEN i % 11 > 0 THEN i % 5 < 2 END,
         (ARRAY['surgery', 'cardiology', 'oncology', NULL])[1 + i % 4]::ward, CASE WHEN i % 53 > 0 THEN 'c' || i % 7 END,
         date '2020-01-01' + (i * 13) % 366,
         CASE WHEN i % 89 = 0 THEN '{1,NaN,0,0,0,0,0,0,0,0,0,0}' WHEN i % 83 > 0 THEN ARRAY[sin(i * 5), cos(i * 3), (i % 3) / 4.0, sin(i * 7), sin(i * 11), cos(i), sin(i * 0.7), cos(i * 0.3), 0.1, s / 9, -s / 7, 0] END
  FROM (SELECT i, sin(i) + (i % 3 - 1) * 0.8 + (i % 7) / 14.0 AS s FROM generate_series(1, 30000) i) s;
ALTER TABLE people SET (parallel_workers = 3);
CREATE TABLE parted (LIKE people INCLUDING CONSTRAINTS) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (9000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (9000) TO (10000);
CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM (10000) TO (100000);
ALTER TABLE parted_1 SET (parallel_workers = 3);
ALTER TABLE parted_2 SET (parallel_workers = 3);
ALTER TABLE parted_3 SET (parallel_workers = 3);
INSERT INTO parted SELECT * FROM people;
CREATE VIEW joined AS SELECT p.id, p.y, p.age, o.city FROM people p JOIN people o ON o.id = p.id;
CREATE VIEW both_halves AS SELECT id, y, age, dose FROM people WHERE id % 2 = 0 UNION ALL SELECT id, y, age, dose FROM parted WHERE id % 2 = 1;
-- more columns than a function has arguments
DO $$
BEGIN
  EXECUTE (SELECT format('CREATE TABLE broad AS SELECT y, %s FROM people WHERE id <= 3000', string_agg(format('(id * %s %% 11)::int2 AS c%1$s', k), ', ' ORDER BY k)) FROM generate_series(1, 100) k);
END $$;
ALTER TABLE broad SET (parallel_workers = 3);
ANALYZE people, parted, broad;

-- The weights of a call with some memory, some workers, and with the leader or
-- not
CREATE FUNCTION weights(call text, memory text, workers int, leader boolean DEFAULT true) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
  result dp_model;
BEGIN
  PERFORM set_config('dperm.cache_memory', memory, true), set_config('max_parallel_workers_per_gather', workers::text, true),
          set_config('parallel_leader_participation', leader::text, true), set_config('parallel_setup_cost', '0', true),
          set_config('parallel_tuple_cost', '0', true), set_config('min_parallel_table_scan_size', '0', true);
  EXECUTE 'SELECT ' || call INTO result;
  RETURN dp_weights(result);
END $$;
CREATE FUNCTION distance(a float8[], b float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN cardinality(a) = cardinality(b) THEN (SELECT max(abs(v - w)) FROM unnest(a, b) u(v, w)) END
$$;
CREATE TABLE calls (id serial, what text, call text);
INSERT INTO calls (what, call) VALUES
  ('numbers', $$ dp_logreg_train('people', 'y', '{age,dose,seen}', 'Infinity', lambda => 0.01) $$),
  ('numbers, straight', $$ dp_logreg_train('people', 'y', '{age,dose,seen}', 'Infinity', lambda => 0.01, knots => 1) $$),
  ('columns', $$ dp_logreg_train('people', 'y', '{ward,age,city,smoker,v8,dose,seen}', 'Infinity', lambda => 0.01, domains => '{"v8": {"dimension": 12}}') $$),
  ('columns, a text as label', $$ dp_logreg_train('people', 'answer', '{city,age}', 'Infinity', lambda => 0.01, positive => 'yes') $$),
  ('columns, smooth hinge', $$ dp_svm_train('people', 'y', '{ward,age,city,smoker}', 'Infinity', lambda => 0.01, options => '{"loss": "smooth_hinge", "h": 0.2}', knots => 5) $$),
  ('vector', $$ dp_logreg_train('people', 'y', 'v8', 'Infinity', lambda => 0.01, domains => '{"v8": {"dimension": 12}}') $$),
  ('vector, huber', $$ dp_svm_train('people', 'y', 'v8', 'Infinity', lambda => 0.01, domains => '{"v8": {"dimension": 12}}', options => '{"intercept": false}') $$),
  ('output perturbation', $$ dp_logreg_train('people', 'y', 'v8', 'Infinity', lambda => 0.01, domains => '{"v8": {"dimension": 12}}', options => '{"method": "output"}') $$),
  ('numbers as labels', $$ dp_linreg_train('people', 'dose', '{ward,age,city,smoker}', 'Infinity', lambda => 0.01) $$),
  ('integers as labels', $$ dp_linreg_train('people', 'age', 'v8', 'Infinity', lambda => 0.01, domains => '{"age": [10, 90], "v8": {"dimension": 12}}') $$),
  ('kernel', $$ dp_logreg_train('people', 'y', '{ward,age,dose}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20}') $$),
  ('records', $$ dp_logreg_train('broad', 'y', NULL, 'Infinity', lambda => 0.01, domains => (SELECT jsonb_object_agg('c' || k, '[0, 10]'::jsonb) FROM generate_series(1, 100) k), knots => 1) $$),
  ('partitions', $$ dp_logreg_train('parted', 'y', '{age,dose,city}', 'Infinity', lambda => 0.01) $$),
  ('join', $$ dp_logreg_train('joined', 'y', '{age,city}', 'Infinity', lambda => 0.01, domains => '{"age": [0, 100], "city": ["c0", "c1", "c2", "c3"]}') $$),
  ('union', $$ dp_logreg_train('both_halves', 'y', '{age,dose}', 'Infinity', lambda => 0.01, domains => '{"age": [0, 100], "dose": [-1, 1]}') $$);
CREATE TABLE alone AS SELECT id, what, call, weights(call, '256MB', 0) AS w FROM calls;
CREATE TABLE together AS SELECT id, workers, leader, weights(call, '256MB', workers, leader) AS w
  FROM calls, (VALUES (1, true), (2, true), (3, true), (3, false)) s(workers, leader);
SELECT what, max(distance(a.w, t.w)) < 1e-10 AS same FROM alone a JOIN together t USING (id) GROUP BY id, what ORDER BY id;
-- not vacuous: rows were summed up in another order
SELECT count(DISTINCT id) FILTER (WHERE a.w <> t.w) > 10 AS other_bits FROM alone a JOIN together t USING (id);

-- Rows of many chunks, which several processes bend: as they are, and compact
CREATE TABLE bent_rows (y boolean, age int CHECK (age BETWEEN 0 AND 100), dose float8 CHECK (dose BETWEEN -1 AND 1), smoker boolean);
INSERT INTO bent_rows SELECT sin(i) + (i % 3) > 0.5, (i * 7) % 101, sin(i), i % 5 < 2 FROM generate_series(1, 400000) i;
ALTER TABLE bent_rows SET (parallel_workers = 3);
ANALYZE bent_rows;
SELECT memory, distance(weights(call, memory, 0), weights(call, memory, 3)) < 1e-10 AS same FROM unnest('{256MB,16MB}'::text[]) memory,
  (SELECT $$ dp_logreg_train('bent_rows', 'y', NULL, 'Infinity', lambda => 0.01) $$ AS call) c;

-- A problem so flat that gradients are summed up in extended precision
SELECT distance(weights(call, '256MB', 0), weights(call, '256MB', 3)) < 1e-4 AS same FROM (SELECT $$ dp_logreg_train('people', 'y', 'v8', 'Infinity', lambda => 1e-9, domains => '{"v8": {"dimension": 12}}') $$ AS call) c;

-- In less memory: compact rows, and a sample of them
CREATE TABLE less AS SELECT id, memory, weights(call, memory, 2) AS w FROM calls, unnest('{2MB,0}'::text[]) memory WHERE what IN ('columns', 'vector', 'numbers as labels', 'kernel', 'partitions');
SELECT what, memory, distance(a.w, l.w) < 1e-8 AS same FROM alone a JOIN less l USING (id) ORDER BY id, memory;
SELECT memory, distance(weights(call, memory, 0), weights(call, memory, 3)) < 1e-8 AS same FROM unnest('{256MB,48MB,1MB}'::text[]) memory,
  (SELECT $$ dp_logreg_train('people', 'y', 'v8', 'Infinity', lambda => 0.05, domains => '{"v8": {"dimension": 12}}', kernel => 'gaussian', options => '{"kernel_features": 1000}') $$ AS call) c;

-- Partial aggregates for each partition: a process fills the same chunks
SET enable_partitionwise_aggregate = on;
SELECT distance(a.w, weights(call, '256MB', 3)) < 1e-10 AS same FROM alone a WHERE what = 'partitions';
RESET enable_partitionwise_aggregate;

-- Private models, tuning and choices too
SELECT workers, dp_weights(m) IS NOT NULL AS trained, (m::jsonb ->> 'rows')::int < 30000 AS on_a_portion FROM unnest('{0,3}'::int[]) workers,
  LATERAL (SELECT set_config('max_parallel_workers_per_gather', workers::text, true), set_config('min_parallel_table_scan_size', '0', true), set_config('parallel_setup_cost', '0', true)) s,
  LATERAL (SELECT dp_logreg_tune('people', 'y', 'v8', workers + 1, domains => '{"v8": {"dimension": 12}}', identity => 'id', candidates => '[{"lambda": 0.1}, {"lambda": 0.01}, {"lambda": 0.001}]')) t(m);
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET client_min_messages = warning;
-- of many candidates, whose rows share segments
SET max_parallel_workers_per_gather = 3;
SELECT dp_logreg_tune('people', 'y', 'v8', 1, domains => '{"v8": {"dimension": 12}}', identity => 'id', candidates => (SELECT jsonb_agg(jsonb_build_object('lambda', 0.001 * i)) FROM generate_series(1, 12) i)) IS NOT NULL AS chosen;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;

-- The aggregate is of no use to anybody else. Whether the leader or a worker says
-- so first does not matter.
\set VERBOSITY terse
SELECT dperm.dperm_load_agg('\x00', NULL::int, y, age) FROM people;
SELECT dperm.dperm_load_agg(decode(repeat('00', 20), 'hex'), NULL::int, y, age) FROM people;
SELECT dperm.dperm_load_agg(NULL, NULL::int, y, age) FROM people;
SELECT dperm.dperm_load_deserialize('\x00', NULL);
\set VERBOSITY default

DROP VIEW joined, both_halves;
DROP TABLE people, parted, broad, calls, alone, together, less;
DROP FUNCTION weights, distance;
DROP TYPE ward;
