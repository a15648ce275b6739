--
-- Prediction by row: the model finds its columns by name, whatever row they
-- come in; the vector behind it, and the names of its coordinates
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE TYPE ward AS ENUM ('surgery', 'cardiology', 'oncology');
CREATE TABLE patients (
  id int PRIMARY KEY,
  gone text,
  age int CHECK (age BETWEEN 0 AND 120),
  bmi numeric CHECK (bmi BETWEEN 10 AND 60),
  ward ward,
  smoker boolean,
  admitted timestamp CHECK (admitted BETWEEN '2020-01-01' AND '2021-01-01'),
  code char(3) CHECK (code IN ('A1', 'B22')),
  x float8[] CHECK (cardinality(x) = 2),
  sick boolean
);
ALTER TABLE patients DROP COLUMN gone;
INSERT INTO patients
  SELECT i, (7 * i) % 121, 10 + (i % 101) * 0.5, (ARRAY['surgery', 'cardiology', 'oncology'])[1 + i % 3]::ward, i % 5 < 2,
         timestamp '2020-01-01' + (i % 366) * interval '1 day', (ARRAY['A1', 'B22'])[1 + i / 3 % 2], ARRAY[sin(i), cos(i) / 2], sin(i * i) > 0
  FROM generate_series(1, 100) i;
CREATE TABLE models AS
  SELECT 'logreg' AS name, dp_logreg_train('patients', 'sick', '{age,bmi,ward,smoker,admitted,code,x}', 'Infinity', lambda => 0.001, knots => 1) AS model
  UNION ALL SELECT 'svm', dp_svm_train('patients', 'sick', '{ward,x,age}', 'Infinity', lambda => 0.01, knots => 1)
  UNION ALL SELECT 'kernel', dp_logreg_train('patients', 'sick', '{age,bmi,ward,x}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20}')
  UNION ALL SELECT 'array', dp_logreg(sick, x, 'Infinity', '{"lambda": 0.01, "dimension": 2}') FROM patients
  UNION ALL SELECT 'vector', dp_logreg_train('patients', 'sick', 'x', 'Infinity', lambda => 0.01);
CREATE FUNCTION model(text) RETURNS dp_model LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT model FROM models WHERE name = $1';

-- The three functions agree with each other, with the vector behind them, and
-- with the labels to some degree
SELECT name, count(*), bool_and(dp_predict(model, p) = (dp_decision(model, p) > 0)) AS predict,
       bool_and(abs(dp_decision(model, p) - (SELECT sum(v * w) FROM unnest(dp_encode(model, p), dp_weights(model)) u(v, w))) < 1e-12) AS encode,
       bool_and((SELECT sum(v * v) FROM unnest(dp_encode(model, p)) v) <= 1) AS in_the_ball,
       avg((dp_predict(model, p) = sick)::int) > 0.5 AS better_than_chance
  FROM models, patients p WHERE name <> 'array' GROUP BY name ORDER BY name COLLATE "C";
SELECT name, bool_and(abs(dp_predict_prob(model, p) - 1 / (1 + exp(-dp_decision(model, p)))) < 1e-15) AS prob
  FROM models, patients p WHERE name IN ('logreg', 'kernel', 'vector') GROUP BY name ORDER BY name COLLATE "C";

-- The same rows in other forms: a subquery, other orders and more columns, a
-- composite type, a domain over it, a view, a CTE, a function, a join
CREATE TYPE patient AS (smoker boolean, x float8[], code char(3), unused text, ward ward, age int, admitted timestamp, bmi numeric);
CREATE DOMAIN valid_patient AS patient CHECK ((VALUE).age >= 0);
CREATE VIEW few_patients AS SELECT id, x, code, admitted, smoker, ward, bmi, age FROM patients WHERE id < 50;
CREATE TABLE more_patients (junk text, LIKE patients, more int);
ALTER TABLE more_patients DROP COLUMN junk;
INSERT INTO more_patients SELECT *, 7 FROM patients;
ALTER TABLE more_patients ADD late text DEFAULT 'late', DROP COLUMN sick;
CREATE FUNCTION patient(int) RETURNS patients LANGUAGE sql STABLE AS 'SELECT * FROM patients WHERE id = $1';
CREATE TABLE score AS SELECT id, dp_decision(model('logreg'), p) AS d FROM patients p;
SELECT count(*), bool_and(abs(score.d - other.d) < 1e-12) AS same, how FROM score JOIN (
  SELECT 'subquery' AS how, id, dp_decision(model('logreg'), s) AS d FROM (SELECT * FROM patients) s
  UNION ALL SELECT 'other order', id, dp_decision(model('logreg'), s) FROM (SELECT x, code, 1 AS one, admitted, smoker, ward, bmi, age, id FROM patients) s
  UNION ALL SELECT 'offset 0', id, dp_decision(model('logreg'), s) FROM (SELECT code, x, admitted, smoker, ward, bmi, age, id FROM patients OFFSET 0) s
  UNION ALL SELECT 'type', id, dp_decision(model('logreg'), ROW(smoker, x, code, 'unused', ward, age, admitted, bmi)::patient) FROM patients
  UNION ALL SELECT 'domain', id, dp_decision(model('logreg'), ROW(smoker, x, code, 'unused', ward, age, admitted, bmi)::valid_patient) FROM patients
  UNION ALL SELECT 'table type', id, dp_decision(model('logreg'), ROW(patients.*)::patients) FROM patients
  UNION ALL SELECT 'view', id, dp_decision(model('logreg'), few_patients) FROM few_patients
  UNION ALL SELECT 'table with dropped columns', id, dp_decision(model('logreg'), m) FROM more_patients m
  UNION ALL SELECT 'function', f.id, dp_decision(model('logreg'), f) FROM generate_series(1, 10) i, patient(i) f
  UNION ALL SELECT 'function in place', i, dp_decision(model('logreg'), patient(i)) FROM generate_series(1, 10) i
  UNION ALL SELECT 'values', 7, dp_decision(model('logreg'), v) FROM (VALUES (ARRAY[sin(7), cos(7) / 2], 49, 13.5, 'cardiology', false, 'A1', date '2020-01-08')) v(x, age, bmi, ward, smoker, code, admitted)
  UNION ALL SELECT 'whole join', id, dp_decision(model('logreg'), j) FROM (SELECT a.id, a.age, a.bmi, a.ward, b.smoker, b.admitted, b.code, b.x FROM patients a JOIN more_patients b USING (id)) j) other
  USING (id) GROUP BY how ORDER BY how COLLATE "C";
WITH w AS MATERIALIZED (SELECT id, ward, x, smoker, code, admitted, bmi, age FROM patients)
SELECT count(*), bool_and(dp_decision(model('logreg'), w) = d) AS cte FROM w JOIN score USING (id);
-- columns of other types with the same values
SELECT bool_and(abs(dp_decision(model('logreg'), o) - d) < 1e-6) AS wider, bool_and(abs(dp_decision(model('logreg'), n) - d) < 1e-6) AS narrower,
       bool_and(abs(dp_decision(model('logreg'), t) - d) < 1e-6) AS texts
  FROM (SELECT id, age::float8 AS age, bmi::float8 AS bmi, ward::text AS ward, smoker, admitted AT TIME ZONE 'UTC' AS admitted, code::text AS code, x::numeric[] AS x FROM patients) o
  JOIN (SELECT id, age::int2 AS age, bmi::float4 AS bmi, ward::text::varchar(20) AS ward, smoker, admitted::date AS admitted, code::varchar AS code, x::float4[] AS x FROM patients) n USING (id)
  JOIN (SELECT id, age::int8 AS age, bmi, ward::text::name AS ward, smoker, admitted, rpad(code, 9)::char(9) AS code, x FROM patients) t USING (id)
  JOIN score USING (id);
-- another enum with some of the labels, and others
CREATE TYPE other_ward AS ENUM ('oncology', 'maternity', 'surgery');
SELECT r.ward, dp_encode(model('svm'), r) = dp_encode(model('svm'), q) AS same, (SELECT count(*) FROM unnest(dp_encode(model('svm'), r)) v WHERE v <> 0) AS coordinates
  FROM unnest('{oncology,maternity,surgery}'::other_ward[]) o, LATERAL (SELECT o AS ward, 50 AS age, '{0.1,0.1}'::float8[] AS x) r, LATERAL (SELECT o::text AS ward, 50 AS age, '{0.1,0.1}'::float8[] AS x) q;

-- What training reads as nothing is nothing here: NULL, NaN, unlisted, of
-- another length; out of range is the bound
SELECT what, round(d::numeric, 6) = round(e::numeric, 6) AS as_in_training, d IS NULL AS says_nothing FROM (VALUES
  ('nulls', ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::patient, '{0,0,0,0,0,0,0,0,0,0,0}'::float8[]),
  ('NaN', ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'NaN')::patient, '{0,0,0,0,0,0,0,0,0,0,0}'),
  ('infinite', ROW(true, '{1,NaN}', 'C', NULL, NULL, NULL, 'infinity', '-Infinity')::patient, '{0,-1,0,0,0,1,1,0,0,0,0}'),
  ('too much', ROW(false, '{3,4}', 'A1 ', NULL, 'oncology', 1000, '-infinity', 1e500)::patient, '{1,1,0,0,1,-1,-1,1,0,0.6,0.8}'),
  ('too long', ROW(false, '{3,4,5}', 'A1 ', NULL, 'surgery', -5, '1999-01-01', 35)::patient, '{-1,0,1,0,0,-1,-1,1,0,0,0}')) v(what, r, blocks),
  LATERAL (SELECT dp_decision(model('logreg'), r) AS d, (SELECT sum(v * w) / sqrt(8::float8) FROM unnest(blocks || 1::float8, dp_weights(model('logreg'))) u(v, w)) AS e) s;
SELECT dp_decision(model('logreg'), NULL::patients) IS NULL AS no_row, dp_decision(NULL, p) IS NULL AS no_model, dp_encode(model('logreg'), NULL::patient) IS NULL AS no_vector
  FROM patients p WHERE id = 1;
-- rows of a left join that found nothing: no row at all
SELECT i, dp_decision(model('logreg'), p) IS NULL AS nothing, dp_decision(model('logreg'), s) IS NULL AS nor_here
  FROM generate_series(100, 101) i LEFT JOIN patients p ON p.id = i LEFT JOIN (SELECT * FROM patients OFFSET 0) s ON s.id = i ORDER BY i;

-- Mistakes of the query name the column, and come before any prediction
SELECT outcomes($$ dp_decision(model('logreg'), s) FROM (SELECT ? FROM patients) s $$, $$
  age, bmi, ward, smoker, admitted, x | age, bmi, ward, smoker, admitted::text AS admitted, code, x
  age, bmi, ward, smoker, admitted, code, x::text AS x
  age AS "Age", bmi, ward, smoker, admitted, code, x $$);
SELECT outcomes($$ dp_predict(model('logreg'), s) FROM (SELECT ? FROM patients) s $$,
  $$ 'forty' AS age, bmi, ward, smoker, admitted, code, x $$);
SELECT outcomes($$ dp_predict_prob(model('logreg'), s) FROM (SELECT ? FROM patients) s $$,
  'age, bmi, ward, smoker::int AS smoker, admitted, code, x');
SELECT outcomes('?', $$
  dp_decision(model('logreg'), ROW(1, 2)) FROM patients
  dp_decision(model('logreg'), ROW()) FROM patients | dp_decision(model('logreg'), id) FROM patients
  dp_encode(model('logreg'), s) FROM (SELECT age FROM patients) s $$);
-- a column that has been dropped from the table
ALTER TABLE more_patients DROP COLUMN bmi;
SELECT outcomes('dp_decision(model(''logreg''), ?) FROM more_patients m', 'm');
-- columns for columns, arrays for arrays; a model of one vector column takes
-- both
SELECT outcomes('?', $$
  dp_decision(model('logreg'), x) FROM patients | dp_decision(model('svm'), '{1,2}') FROM patients
  dp_decision(model('array'), p) FROM patients p | dp_encode(model('array'), p) FROM patients p
  dp_predict_prob(model('svm'), p) FROM patients p $$);
SELECT bool_and(dp_decision(model('vector'), p) = dp_decision(model('vector'), x)) AS both, bool_and(dp_encode(model('vector'), p) = dp_encode(model('array'), x)) AS encode FROM patients p;
-- a mistake is found once per query, with the first row: not where there is
-- none, and not behind a filter
SELECT dp_decision(model('logreg'), s) FROM (SELECT age FROM patients WHERE false) s;
SELECT count(dp_decision(model('logreg'), s)) FROM (SELECT age FROM patients) s WHERE age > 1000;

-- Columns are looked up once, models decoded once: a join in which both change
-- all the time
CREATE TABLE mixed AS SELECT name, id, dp_decision(model, p) AS d FROM models, patients p WHERE name NOT IN ('array');
SELECT count(*), bool_and(abs(dp_decision(model, p) - d) < 1e-15) AS by_model FROM (SELECT * FROM models JOIN mixed USING (name) ORDER BY name, id) m JOIN patients p USING (id);
SELECT count(*), bool_and(abs(dp_decision(model, p) - d) < 1e-15) AS changing FROM (SELECT * FROM models JOIN mixed USING (name) ORDER BY id, name LIMIT 1000) m JOIN patients p USING (id);
-- and a row type that changes from row to row: a record has none of its own
CREATE FUNCTION any_row(i int) RETURNS record LANGUAGE plpgsql STABLE AS $$
DECLARE
  r record;
BEGIN
  IF i % 3 = 0 THEN
    SELECT p.* INTO r FROM patients p WHERE id = i;
  ELSIF i % 3 = 1 THEN
    SELECT p.x, p.ward::text AS ward, p.id, p.age INTO r FROM patients p WHERE id = i;
  ELSE
    SELECT p.age::numeric AS age, 'x' AS y, p.x::float4[] AS x, p.ward INTO r FROM patients p WHERE id = i;
  END IF;
  RETURN r;
END $$;
SELECT bool_and(abs(dp_decision(model('svm'), any_row(i)) - dp_decision(model('svm'), p)) < 1e-6) AS any_row, count(*) FROM generate_series(1, 30) i JOIN patients p ON p.id = i;

-- and a type that is altered while it is in use
CREATE TYPE changing AS (ward text, age int, x float8[]);
CREATE FUNCTION scored(r changing) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  m dp_model := model('svm');
  d float8;
BEGIN
  d := dp_decision(m, r);
  RETURN d;
END $$;
BEGIN;
SELECT scored(ROW('oncology', 90, '{0.1,0.2}')) AS before \gset
ALTER TYPE changing ADD ATTRIBUTE age2 int;
ALTER TYPE changing DROP ATTRIBUTE age;
ALTER TYPE changing RENAME ATTRIBUTE age2 TO age;
SELECT scored(ROW('oncology', '{0.1,0.2}', 90)) = :before AS the_same;
ROLLBACK;

-- In parallel
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE patients SET (parallel_workers = 2);
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'Partial Aggregate|Scan on patients' THEN
      RETURN NEXT ltrim(line);
    END IF;
  END LOOP;
END $$;
SELECT plan($$ SELECT sum(dp_decision((SELECT model FROM models WHERE name = 'svm'), p)) FROM patients p $$);
SELECT plan($$ SELECT count(*) FROM (SELECT ward, age, x FROM patients) s WHERE dp_predict(model('svm'), s) $$);
SELECT abs(sum(dp_decision((SELECT model FROM models WHERE name = 'svm'), p)) - (SELECT sum(d) FROM mixed WHERE name = 'svm')) < 1e-9 AS parallel FROM patients p;
SELECT abs(sum(dp_decision((SELECT model FROM models WHERE name = 'logreg'), s)) - (SELECT sum(d) FROM mixed WHERE name = 'logreg')) < 1e-9 AS records
  FROM (SELECT smoker, x, code, ward, age, admitted, bmi FROM patients) s;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- dp_encode by domains: the listed columns, in the order of the table; null
-- stands for the catalog
SELECT max(distance) < 1e-12 AS by_hand FROM patients p, LATERAL (
  SELECT greatest(abs(v[1] - (least(age, 100) / 50.0 - 1) / sqrt(2)), abs(v[2] - CASE WHEN smoker THEN 1 ELSE -1 END / sqrt(2))) AS distance
  FROM dp_encode('{"smoker": null, "age": [0, 100]}'::jsonb, p) v) s;
SELECT bool_and(dp_encode('{"age": null, "bmi": null, "ward": null, "smoker": null, "admitted": null, "code": null, "x": null}'::jsonb, p) = dp_encode(m, p)) AS as_a_model
  FROM patients p, dp_logreg_train('patients', 'sick', '{age,bmi,ward,smoker,admitted,code,x}', 'Infinity', options => '{"intercept": false}', knots => 1) m;
SELECT dp_encode('{"x": {"norm": 2}}'::jsonb, p) = ARRAY[x[1] / 2, x[2] / 2] AS vector, dp_encode('{"ward": ["oncology"]}'::jsonb, p) AS ward, dp_encode('{"code": null}'::jsonb, p) AS code
  FROM patients p WHERE id = 5;
SELECT bool_and(ARRAY[f[4], f[1], f[2], f[3]] = p) AS of_a_view FROM (
  SELECT dp_encode('{"age": null, "ward": null}'::jsonb, few) AS f, dp_encode('{"age": null, "ward": null}'::jsonb, patients) AS p FROM few_patients few JOIN patients USING (id)) s;
-- in an aggregate: as trained by columns
CREATE VIEW one_ward AS SELECT * FROM patients WHERE ward = current_setting('test.ward')::ward;
CREATE FUNCTION trained(ward ward) RETURNS dp_model LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('test.ward', ward::text, false);
  RETURN dp_logreg_train('one_ward', 'sick', '{age,smoker}', 'Infinity', lambda => 0.01, options => '{"intercept": false}', knots => 1);
END $$;
SELECT ward, count(*), (SELECT max(abs(v - w)) < 1e-9 FROM unnest(dp_weights(trained(ward)),
         dp_weights(dp_logreg(sick, dp_encode('{"age": null, "smoker": null}'::jsonb, p), 'Infinity', '{"lambda": 0.01, "intercept": false}'))) u(v, w)) AS as_by_train
  FROM patients p GROUP BY ward ORDER BY ward;
-- mistakes
SELECT outcomes('dp_encode(?::jsonb, p) FROM patients p', $$
  '{"none": null}' | '{"none": [1, 2]}' | '{"id": null}' | '{"age": [2, 1]}' | '{}' | '[]'
  'null' $$);
SELECT outcomes('dp_encode(?', $$
  '{"age": null}'::jsonb, s) FROM (SELECT age FROM patients) s
  '{"age": null}'::jsonb, NULL::patients) IS NULL AS nothing $$);
SELECT outcomes($$ dp_encode('{"age": null}'::jsonb, ?) FROM patients $$, 'x');

-- The weights by name
SELECT rank, column_name, value, weight = (dp_weights(model))[rank] AS weight FROM models, dp_coefficients(model) WHERE name = 'logreg' ORDER BY rank;
SELECT name, rank, column_name, value FROM models, dp_coefficients(model) WHERE name IN ('array', 'vector') OR name = 'kernel' AND rank IN (1, 20) ORDER BY name, rank;
SELECT count(*), count(column_name) FROM models, dp_coefficients(model) WHERE name = 'kernel';
SELECT (c).column_name, (c).value FROM (SELECT dp_coefficients(model) AS c FROM models WHERE name = 'svm') s ORDER BY (c).rank;
SELECT outcomes('?', 'dp_coefficients(NULL) | dp_curve(NULL, ''age'') | dp_curve(model, NULL) FROM models WHERE name = ''logreg''');

DROP VIEW few_patients, one_ward;
DROP FUNCTION patient(int);
DROP TABLE patients, more_patients, models, score, mixed;
DROP FUNCTION model, any_row, plan, trained, scored;
DROP DOMAIN valid_patient;
DROP TYPE patient, changing, ward, other_ward;
