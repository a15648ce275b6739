--
-- Protected relations: who protects, who trains, what is allowed and what is
-- charged
--
\pset format unaligned
\pset footer off
\set ECHO none
SET client_min_messages = warning;
CREATE ROLE dperm_owner;
CREATE ROLE dperm_analyst;
CREATE ROLE dperm_stranger;
CREATE SCHEMA clinic AUTHORIZATION dperm_owner;
GRANT USAGE ON SCHEMA clinic TO PUBLIC;
SET ROLE dperm_owner;
CREATE TABLE clinic.patients (
	id int,
	age int CHECK (age BETWEEN 0 AND 120),
	bmi float8,
	ward text,
	salary int CHECK (salary BETWEEN 0 AND 9),
	x float8[],
	ill boolean
);
INSERT INTO clinic.patients SELECT i, i % 100, 20 + i % 20, (ARRAY['A', 'B', 'C'])[1 + i % 3], i % 10, ARRAY[sin(i), cos(i)], i % 3 = 0
  FROM generate_series(1, 300) i;
\set ECHO all
SELECT dp_budget_create('clinic', 100);

-- Only the owner of the relation protects it, with a budget of their own
RESET ROLE;
SET ROLE dperm_stranger;
SELECT dp_protect('clinic.patients', 'clinic');
SELECT dp_budget_create('stranger', 1);
RESET ROLE;
SET ROLE dperm_owner;
SELECT outcomes('dp_protect(?)', $$
  'clinic.patients', 'stranger' | 'clinic.patients', 'none' | 'clinic.nothing', 'clinic'
  NULL, 'clinic' | 'clinic.patients', NULL $$);
-- What is registered is in every dump: no column twice, no more columns than a
-- table can have, no domains beyond 1 MB as text: a number that is short to
-- store may be long to read
SELECT outcomes($$ dp_protect('clinic.patients', 'clinic', ?) $$, $$
  columns => '{age,nothing}' | domains => '{"nothing": [0, 1]}' | domains => '{"bmi": [1, 0]}'
  columns => '{age}', domains => '{"bmi": [10, 60]}' | columns => '{age,bmi,age}'
  columns => array_fill('age'::text, ARRAY[100000])
  domains => jsonb_build_object('ward', (SELECT jsonb_agg(repeat('w', 1000) || i) FROM generate_series(1, 1100) i))
  domains => jsonb_build_object('x', jsonb_build_object('range', (SELECT jsonb_agg('[1e-16000, 1]'::jsonb) FROM generate_series(1, 70))))
  unit => 'nothing' | unit => 'x' $$);
SELECT dp_unprotect('clinic.patients');
CREATE TEMP TABLE passing (y boolean);
SELECT dp_protect('passing', 'clinic');
DROP TABLE passing;
SELECT count(*) AS protected FROM dp_protected;

SELECT dp_protect('clinic.patients', 'clinic', columns => '{age,bmi,ward,x,ill}',
  domains => '{"bmi": [10, 60], "ward": ["A", "B", "C"], "x": {"dimension": 2, "norm": 2}}');
SELECT * FROM dp_protected;

-- What the ledger says about a registration is cut at 8 kB, between characters
CREATE TABLE clinic.many (age int CHECK (age BETWEEN 0 AND 120), wards text, ill boolean);
SELECT dp_budget_create('many', 1), dp_protect('clinic.many', 'many', domains => jsonb_build_object('wards', (SELECT jsonb_agg(repeat('ä', 100) || i) FROM generate_series(1000, 1999) i)));
SELECT octet_length(details) AS bytes, left(details, 46) AS begins, right(details, 4) AS ends FROM dp_ledger WHERE budget = 'many' AND act = 'protect';
SELECT jsonb_array_length(domains -> 'wards') AS kept FROM dp_protected WHERE budget = 'many';
SELECT dp_unprotect('clinic.many');
DROP TABLE clinic.many;

-- Without a grant: the usual error, and one of its own for those who may read
-- the rows
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('clinic.patients', 'ill', '{age,bmi}', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) AS seen FROM dp_protected;
SELECT dperm_may_spend('clinic', 'clinic.patients');
RESET ROLE;
GRANT SELECT ON clinic.patients TO dperm_stranger;
SET ROLE dperm_stranger;
SELECT dp_logreg_train('clinic.patients', 'ill', '{age,bmi}', 1);
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;

-- With a grant, and without SELECT
SET ROLE dperm_owner;
SELECT dp_grant('clinic', 'dperm_analyst');
RESET ROLE;
SET ROLE dperm_analyst;
SELECT relation, budget, unit, columns, domains FROM dp_protected;
SELECT count(*) FROM clinic.patients;
SELECT dp_logreg_train('clinic.patients', 'ill', '{age,bmi,ward}', 1)::jsonb ->> 'rows' AS rows;
SELECT jsonb_path_query_array(dp_svm_train('clinic.patients', 'ill', NULL, 1)::jsonb, '$.features[*].column') AS columns;
CREATE TEMP TABLE model AS SELECT dp_logreg_train('clinic.patients', 'ill', '{age,bmi,ward}', 2) AS model;
SELECT metric, private FROM model, dp_evaluate(model, 'clinic.patients', epsilon => 0.5);
SELECT count(*) AS points FROM model, dp_roc(model, 'clinic.patients', epsilon => 0.25, bins => 10);
SELECT dp_logreg_tune('clinic.patients', 'ill', '{age,bmi}', 4, candidates => '[{"lambda": 0.1}, {"lambda": 0.01}]')::jsonb -> 'tuning' ->> 'way' AS way;
SELECT act, role, function, relation, neighbours, unit, epsilon, delta FROM dp_ledger WHERE budget = 'clinic' AND act = 'charge' ORDER BY entry;
SELECT budget, epsilon_left FROM dp_budgets;

-- What is asked for has to be within what is registered
SELECT outcomes($$ dp_logreg_train('clinic.patients', ?) IS NOT NULL $$, $$
  'ill', '{age,salary}', 1 | 'salary', '{age}', 1, positive => '1'
  'ill', '{age,id}', 1, domains => '{"id": [0, 1]}'
  'ill', '{bmi}', 1, domains => '{"bmi": [0, 60]}'
  'ill', '{bmi}', 1, domains => '{"bmi": [20, 40]}'
  'ill', '{age}', 1, domains => '{"age": [0, 150]}'
  'ill', '{age}', 1, domains => '{"age": {"categories": [1, 2]}}'
  'ill', '{ward}', 1, domains => '{"ward": ["A", "D"]}'
  'ill', '{ward}', 1, domains => '{"ward": ["C", "A"]}' | 'ill', 'x', 1, dimension => 3
  'ill', 'x', 1, norm => 3 | 'ill', 'x', 1, domains => '{"x": {"dimension": 2, "range": [0, 1]}}'
  'ill', 'x', 1, norm => 1, dimension => 2 | 'ill', '{age}', 'Infinity'
  'ill', '{age}', 1, neighbours => 'remove' | 'ill', '{age}', 1, unit => 'id'
  'ill', '{age}', 1, delta => 1e-6 $$);
SELECT outcomes('?', $$
  dp_logreg_tune('clinic.patients', 'ill', '{age}', 1, identity => 'id')
  count(*) FROM model, dp_evaluate(model, 'clinic.patients', 'salary', 1, positive => '1')
  count(*) FROM model, dp_evaluate(model, 'clinic.patients', epsilon => 'Infinity') $$);
CREATE TEMP TABLE open_rows AS SELECT 1 AS age, true AS ill;
-- none of that has been charged but the three that trained
SELECT count(*) AS charges, sum(epsilon) AS epsilon FROM dp_ledger WHERE budget = 'clinic' AND act = 'charge';

-- What it would cost
SELECT budget, epsilon_charged, delta_charged, epsilon_left, epsilon_left_after, calls_left FROM dp_cost('clinic.patients', 'ill', '{age,bmi}', 1, 300);
SELECT budget, epsilon_charged, epsilon_left, epsilon_left_after, calls_left FROM dp_cost('clinic.patients', 'ill', '{age,bmi}', 200, 300);
SELECT budget, epsilon_charged, epsilon_left, epsilon_left_after, calls_left FROM dp_cost('open_rows', 'ill', '{age}', 1, 300, domains => '{"age": [0, 2]}');

-- The owner spends without a grant, and is charged as well
RESET ROLE;
SET ROLE dperm_owner;
SELECT dp_logreg_train('clinic.patients', 'ill', '{age}', 1) IS NOT NULL AS trained;
SELECT role, epsilon FROM dp_ledger WHERE budget = 'clinic' AND act = 'charge' ORDER BY entry DESC LIMIT 1;
-- and so does a superuser
RESET ROLE;
SELECT dp_logreg_train('clinic.patients', 'ill', '{age}', 1) IS NOT NULL AS trained;
SELECT epsilon FROM dp_ledger WHERE budget = 'clinic' AND act = 'charge' ORDER BY entry DESC LIMIT 1;

-- In a transaction that ends or changes the protection nobody trains
SET ROLE dperm_owner;
BEGIN;
SELECT dp_unprotect('clinic.patients');
SELECT dp_logreg_train('clinic.patients', 'ill', '{age}', 1);
ROLLBACK;
-- nor on a view of it
BEGIN;
CREATE VIEW clinic.of_patients AS SELECT age, ill FROM clinic.patients;
SELECT dp_unprotect('clinic.patients');
SELECT dp_logreg_train('clinic.of_patients', 'ill', '{age}', 1);
ROLLBACK;
BEGIN;
SELECT dp_protect('clinic.patients', 'clinic');
\set VERBOSITY terse
SELECT dp_logreg_train('clinic.patients', 'ill', '{age}', 1);
\set VERBOSITY default
ROLLBACK;

-- Protected again, with fewer columns
SELECT dp_protect('clinic.patients', 'clinic', columns => '{age,ill}');
SELECT relation, columns, domains FROM dp_protected;
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('clinic.patients', 'ill', '{bmi}', 1);
SELECT dp_logreg_train('clinic.patients', 'ill', '{age}', 1) IS NOT NULL AS trained;

-- Revoked
RESET ROLE;
SET ROLE dperm_owner;
SELECT dp_revoke('clinic', 'dperm_analyst');
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('clinic.patients', 'ill', '{age}', 1);
RESET ROLE;

-- Views: a filter leaves no row out of n
SET ROLE dperm_owner;
SELECT dp_unprotect('clinic.patients');
SELECT count(*) AS protected FROM dp_protected;
CREATE VIEW clinic.old AS SELECT id AS who, age / 10 AS decade, bmi, ill FROM clinic.patients WHERE age > 50;
SELECT dp_logreg_train('clinic.old', 'ill', 'decade', 1, domains => '{"decade": [0, 12]}')::jsonb ->> 'rows' AS unprotected;
SELECT dp_protect('clinic.old', 'clinic', domains => '{"decade": [0, 12], "bmi": [10, 60]}');
SELECT dp_logreg_train('clinic.old', 'ill', 'decade', 1)::jsonb ->> 'rows' AS protected;
CREATE VIEW clinic.older AS SELECT * FROM clinic.old WHERE decade > 7;
SELECT dp_logreg_train('clinic.older', 'ill', 'bmi', 1, domains => '{"bmi": [10, 60]}');
SELECT dp_protect('clinic.older', 'clinic', domains => '{"decade": [0, 12], "bmi": [10, 60]}');
SELECT dp_logreg_train('clinic.older', 'ill', '{decade,bmi}', 1)::jsonb ->> 'rows' AS view_of_a_view;
CREATE TABLE clinic.models AS SELECT dp_logreg_train('clinic.old', 'ill', 'decade', 1) AS model;
SELECT count(*) AS metrics FROM clinic.models, dp_evaluate(model, 'clinic.older', epsilon => 1);
SELECT dp_svm_tune('clinic.older', 'ill', 'bmi', 1, candidates => '[{"lambda": 0.1}]')::jsonb -> 'tuning' ->> 'rows' AS tuned;
-- an expression may name a table that it does not read
CREATE VIEW clinic.naming AS SELECT age, ill, tableoid = 'pg_catalog.pg_class'::regclass AS named FROM clinic.patients;
SELECT dp_protect('clinic.naming', 'clinic');
SELECT dp_logreg_train('clinic.naming', 'ill', 'age', 1)::jsonb ->> 'rows' AS rows;
SELECT dp_logreg_train('clinic.naming', 'ill', 'named', 1)::jsonb ->> 'rows' AS rows;
-- what is more than a filter is refused
CREATE VIEW clinic.counted AS SELECT age, count(*) > 1 AS ill FROM clinic.patients GROUP BY age;
CREATE VIEW clinic.joined AS SELECT a.age, b.ill FROM clinic.patients a JOIN clinic.patients b USING (id);
CREATE VIEW clinic.ranked AS SELECT rank() OVER (ORDER BY age) AS age, ill FROM clinic.patients;
CREATE VIEW clinic.different AS SELECT DISTINCT age, ill FROM clinic.patients;
CREATE VIEW clinic.first AS SELECT age, ill FROM clinic.patients ORDER BY id LIMIT 10;
CREATE VIEW clinic.sorted AS SELECT age, ill FROM clinic.patients ORDER BY id;
CREATE VIEW clinic.twice AS SELECT age, ill FROM clinic.patients UNION ALL SELECT age, ill FROM clinic.patients;
CREATE VIEW clinic.many AS SELECT generate_series(1, age) AS age, ill FROM clinic.patients;
CREATE VIEW clinic.looked AS SELECT age, ill FROM clinic.patients WHERE EXISTS (SELECT);
CREATE VIEW clinic.made AS SELECT i AS age, i > 3 AS ill FROM generate_series(1, 9) i;
CREATE VIEW clinic.sampled AS SELECT age, ill FROM clinic.patients TABLESAMPLE SYSTEM (50) REPEATABLE (1);
CREATE VIEW clinic.named AS WITH w AS (SELECT age, ill FROM clinic.patients) SELECT * FROM w;
SELECT outcomes($$ dp_protect(?, 'clinic') $$, $$
  'clinic.counted' | 'clinic.joined' | 'clinic.ranked' | 'clinic.different' | 'clinic.first'
  'clinic.sorted' | 'clinic.twice' | 'clinic.many' | 'clinic.looked' | 'clinic.made'
  'clinic.sampled' | 'clinic.named' $$);
-- also if the view becomes such a one later
CREATE OR REPLACE VIEW clinic.older AS SELECT DISTINCT * FROM clinic.old WHERE decade > 7;
SELECT dp_logreg_train('clinic.older', 'ill', 'bmi', 1);
-- a table with policies for its owner
ALTER TABLE clinic.patients ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT dp_protect('clinic.patients', 'clinic');
SELECT dp_logreg_train('clinic.old', 'ill', 'bmi', 1);
ALTER TABLE clinic.patients NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY;

-- Persons
SELECT dp_budget_create('persons', 100, neighbours => 'remove');
SELECT dp_protect('clinic.patients', 'persons', unit => 'id');
-- a view with another budget is refused from now on
SELECT dp_logreg_train('clinic.old', 'ill', 'bmi', 1);
CREATE TABLE clinic.visits AS SELECT i % 40 AS person, 20 + i % 20 AS bmi, i % 3 = 0 AS ill FROM generate_series(1, 300) i;
INSERT INTO clinic.visits VALUES (NULL, 20, true), (40, NULL, NULL);
SELECT dp_protect('clinic.visits', 'persons', unit => 'person', domains => '{"bmi": [10, 60]}');
SELECT dp_protect('clinic.visits', 'persons', domains => '{"bmi": [10, 60]}');
SELECT dp_protect('clinic.old', 'persons');
SELECT relation, unit FROM dp_protected WHERE budget = 'persons';
CREATE VIEW clinic.thin AS SELECT person AS who, bmi, ill, person + 0 AS made FROM clinic.visits WHERE bmi < 30;
SELECT dp_protect('clinic.thin', 'persons', unit => 'made', domains => '{"bmi": [10, 30]}');
SELECT dp_protect('clinic.thin', 'clinic');
SELECT dp_protect('clinic.thin', 'persons', unit => 'bmi');
SELECT dp_protect('clinic.thin', 'persons', unit => 'who', domains => '{"bmi": [10, 30]}');
SELECT dp_grant('persons', 'dperm_analyst');
RESET ROLE;
SET ROLE dperm_analyst;
SELECT m ->> 'unit' AS unit, m ->> 'persons' AS persons, m ->> 'rows' AS rows
  FROM CAST(dp_logreg_train('clinic.visits', 'ill', 'bmi', 1, neighbours => 'remove') AS jsonb) m;
SELECT m ->> 'unit' AS unit, m ->> 'persons' AS persons, m ->> 'rows' AS rows
  FROM CAST(dp_logreg_train('clinic.thin', 'ill', 'bmi', 1, neighbours => 'remove', unit => 'who') AS jsonb) m;
SELECT dp_logreg_train('clinic.visits', 'ill', 'bmi', 1, neighbours => 'remove', unit => 'bmi');
SELECT count(*) AS metrics FROM model, dp_evaluate((SELECT dp_logreg_train('clinic.thin', 'ill', 'bmi', 1, neighbours => 'remove')), 'clinic.visits', epsilon => 1, neighbours => 'remove');
SELECT dp_logreg_tune('clinic.visits', 'ill', 'bmi', 1, neighbours => 'remove', candidates => '[{"lambda": 0.1}]')::jsonb -> 'tuning' ->> 'persons' AS persons;
SELECT function, relation, neighbours, unit, epsilon FROM dp_ledger WHERE budget = 'persons' AND act = 'charge' ORDER BY entry;
RESET ROLE;
-- what has been spent was about these persons
SET ROLE dperm_owner;
SELECT dp_protect('clinic.visits', 'persons', unit => 'bmi');
-- also if the relation has not been protected meanwhile, or with another budget
SELECT dp_unprotect('clinic.thin');
SELECT dp_unprotect('clinic.visits');
SELECT dp_protect('clinic.visits', 'persons', unit => 'bmi');
\echo :LAST_ERROR_SQLSTATE
SELECT dp_budget_create('others', 100);
SELECT dp_protect('clinic.visits', 'others', unit => 'bmi');
SELECT dp_protect('clinic.visits', 'persons', unit => 'bmi');
ALTER TABLE clinic.visits RENAME person TO patient;
SELECT dp_protect('clinic.visits', 'persons', unit => 'patient');
-- nothing had been spent from the other one
SELECT dp_protect('clinic.visits', 'others', unit => 'patient');
SELECT dp_protect('clinic.visits', 'persons', unit => 'patient');
-- the same for what shares rows with it
SELECT dp_unprotect('clinic.visits');
SELECT dp_protect('clinic.thin', 'persons', unit => 'bmi');
\echo :LAST_ERROR_SQLSTATE
CREATE VIEW clinic.twin AS SELECT patient AS a, bmi AS b, ill FROM clinic.visits;
CREATE MATERIALIZED VIEW clinic.stored AS SELECT t.a, t.b, p.age, t.ill FROM clinic.twin t JOIN clinic.patients p ON p.id = t.a;
SELECT dp_protect('clinic.twin', 'persons', unit => 'b');
SELECT dp_protect('clinic.twin', 'persons', unit => 'a');
\set VERBOSITY terse
SELECT dp_protect('clinic.stored', 'persons', unit => 'b');
SELECT dp_protect('clinic.stored', 'persons', unit => 'age');
-- nobody knows whether rows of two protected relations that are joined are the
-- same person's
SELECT dp_protect('clinic.stored', 'persons', unit => 'a');
\set VERBOSITY default
DROP MATERIALIZED VIEW clinic.stored;
-- a materialized view goes with its table if it shows each row of it, by
-- itself. That of XML has no data, so that a server without libxml can make it
CREATE FUNCTION clinic.more(int) RETURNS int IMMUTABLE RETURN $1 + 1;
CREATE MATERIALIZED VIEW clinic.stored AS SELECT patient AS a, bmi AS b, patient + 0 AS c, bmi > 30 AS d, ill FROM clinic.visits;
CREATE MATERIALIZED VIEW clinic.stored_view AS SELECT a, b, ill FROM clinic.twin;
CREATE MATERIALIZED VIEW clinic.stored_filter AS SELECT patient AS a, bmi AS b, ill FROM clinic.visits WHERE ill;
CREATE MATERIALIZED VIEW clinic.stored_function AS SELECT patient AS a, clinic.more(bmi) AS b, ill FROM clinic.visits;
CREATE MATERIALIZED VIEW clinic.stored_join AS SELECT x.patient AS a, y.bmi AS b, y.ill FROM clinic.visits x, clinic.visits y WHERE y.patient = 7;
CREATE MATERIALIZED VIEW clinic.stored_many AS SELECT patient AS a, bmi AS b, ill FROM clinic.visits, generate_series(1, 3);
CREATE MATERIALIZED VIEW clinic.stored_union AS SELECT patient AS a, bmi AS b, ill FROM clinic.visits UNION ALL SELECT 1, 2, true;
CREATE MATERIALIZED VIEW clinic.stored_query AS SELECT patient AS a, bmi AS b, table_to_xml('clinic.visits', true, true, '')::text <> '' AS ill FROM clinic.visits WITH NO DATA;
\set VERBOSITY terse
SELECT format('SELECT dp_protect(%L, ''persons'', unit => %L)', 'clinic.stored' || v, u) FROM (VALUES ('', 'b'), ('', 'c'), ('_view', 'a'), ('_filter', 'a'), ('_function', 'a'), ('_join', 'a'), ('_many', 'a'), ('_union', 'a'),
  ('_query', 'a'), ('', 'a')) AS t (v, u)
\gexec
SELECT dp_logreg_train('clinic.stored', 'ill', 'd', 1, neighbours => 'remove') IS NOT NULL AS trained;
\set VERBOSITY default
SELECT dp_protect('clinic.stored_many', 'persons', unit => 'a');
-- the same for rows: here one would count three times
SELECT dp_budget_create('single', 100);
CREATE TABLE clinic.singles (age int CHECK (age BETWEEN 0 AND 120), ill boolean);
CREATE MATERIALIZED VIEW clinic.triples AS SELECT s.* FROM clinic.singles s, generate_series(1, 3);
CREATE MATERIALIZED VIEW clinic.same AS SELECT * FROM clinic.singles;
INSERT INTO clinic.singles SELECT i % 100, i % 3 = 0 FROM generate_series(1, 100) i;
REFRESH MATERIALIZED VIEW clinic.triples;
REFRESH MATERIALIZED VIEW clinic.same;
SELECT dp_protect('clinic.triples', 'single', domains => '{"age": [0, 120]}');
SELECT dp_logreg_train('clinic.triples', 'ill', 'age', 1) IS NOT NULL AS trained;
\set VERBOSITY terse
-- it is charged as a table of its own, and those behind it cannot charge the
-- same budget
SELECT dp_protect('clinic.singles', 'single');
SELECT dp_protect('clinic.same', 'single', domains => '{"age": [0, 120]}');
\set VERBOSITY default
SELECT dp_budget_create('singles', 100);
DROP MATERIALIZED VIEW clinic.triples;
SELECT dp_protect('clinic.singles', 'singles');
SELECT dp_protect('clinic.same', 'singles', domains => '{"age": [0, 120]}');
SELECT dp_logreg_train('clinic.same', 'ill', 'age', 1) IS NOT NULL AS trained;
CREATE MATERIALIZED VIEW clinic.triples AS SELECT s.* FROM clinic.singles s, generate_series(1, 3);
\set VERBOSITY terse
SELECT dp_protect('clinic.triples', 'singles', domains => '{"age": [0, 120]}');
SELECT dp_unprotect(r) FROM unnest('{clinic.singles,clinic.same}'::text[]) r;
SELECT dp_protect('clinic.triples', 'singles', domains => '{"age": [0, 120]}');
\set VERBOSITY default
-- views of a table that is not protected itself: whichever comes first
SELECT dp_budget_create('fresh', 100);
CREATE TABLE clinic.plain (person int, nurse int, age int CHECK (age BETWEEN 0 AND 120), ill boolean);
CREATE VIEW clinic.one AS SELECT person AS u, age, ill FROM clinic.plain;
CREATE VIEW clinic.two AS SELECT nurse AS u, age, ill FROM clinic.plain;
SELECT dp_protect('clinic.one', 'fresh', unit => 'u');
\set VERBOSITY terse
SELECT dp_protect('clinic.two', 'fresh', unit => 'u');
SELECT dp_protect('clinic.plain', 'fresh', unit => 'nurse');
\set VERBOSITY default
SELECT dp_unprotect('clinic.one');
-- nothing has been spent, so nothing is kept
SELECT dp_protect('clinic.plain', 'fresh', unit => 'nurse');
SELECT dp_protect('clinic.two', 'fresh', unit => 'u');
CREATE OR REPLACE VIEW clinic.two AS SELECT person AS u, age, ill FROM clinic.plain;
\set VERBOSITY terse
SELECT dp_logreg_train('clinic.two', 'ill', 'age', 1);
\set VERBOSITY default
-- units are those of the table, whatever happens to views: replaced, dropped
-- and created again
SELECT dp_budget_create(b, 100) FROM unnest('{replaced,alone,dropped,joined}'::text[]) b;
CREATE TABLE clinic.base (person int, nurse int, age int CHECK (age BETWEEN 0 AND 120), ill boolean);
INSERT INTO clinic.base SELECT i % 10, i % 3, i % 40, i % 3 = 0 FROM generate_series(1, 100) i;
CREATE VIEW clinic.v1 AS SELECT person AS u, age, ill FROM clinic.base;
CREATE VIEW clinic.v2 AS SELECT person AS u, age, ill FROM clinic.base;
SELECT dp_protect('clinic.v1', 'replaced', unit => 'u');
SELECT dp_protect('clinic.v2', 'replaced', unit => 'u');
SELECT dp_logreg_train('clinic.v1', 'ill', 'age', 1) IS NOT NULL AS trained;
CREATE OR REPLACE VIEW clinic.v2 AS SELECT nurse AS u, age, ill FROM clinic.base;
SELECT dp_logreg_train('clinic.v2', 'ill', 'age', 1);
\set VERBOSITY terse
SELECT dp_protect('clinic.v2', 'replaced', unit => 'u');
SELECT dp_logreg_train('clinic.v1', 'ill', 'age', 1) IS NOT NULL AS trained;
-- nothing has been spent here: the unit may change, if the relation is
-- protected again
SELECT dp_protect('clinic.v2', 'alone', unit => 'u');
CREATE OR REPLACE VIEW clinic.v2 AS SELECT person AS u, age, ill FROM clinic.base;
SELECT dp_logreg_train('clinic.v2', 'ill', 'age', 1) IS NOT NULL AS trained;
SELECT dp_protect('clinic.v2', 'alone', unit => 'u');
SELECT dp_logreg_train('clinic.v2', 'ill', 'age', 1) IS NOT NULL AS trained;
-- and here something has
CREATE OR REPLACE VIEW clinic.v2 AS SELECT nurse AS u, age, ill FROM clinic.base;
SELECT dp_protect('clinic.v2', 'alone', unit => 'u');
SELECT dp_logreg_train('clinic.v2', 'ill', 'age', 1) IS NOT NULL AS trained;
SELECT dp_unprotect('clinic.v2');
CREATE VIEW clinic.v3 AS SELECT person, age, ill FROM clinic.base;
SELECT dp_protect('clinic.v3', 'dropped', unit => 'person');
SELECT dp_logreg_train('clinic.v3', 'ill', 'age', 1) IS NOT NULL AS trained;
DROP VIEW clinic.v3;
CREATE VIEW clinic.v3 AS SELECT nurse, age, ill FROM clinic.base;
SELECT dp_protect('clinic.v3', 'dropped', unit => 'nurse');
SELECT dp_protect('clinic.base', 'dropped', unit => 'nurse');
ALTER TABLE clinic.base RENAME person TO patient;
SELECT dp_protect('clinic.base', 'dropped', unit => 'patient');
SELECT dp_unprotect('clinic.base');
CREATE TABLE clinic.shifts (patient int, nurse int);
CREATE MATERIALIZED VIEW clinic.m AS SELECT a.patient, b.nurse, a.age, a.ill FROM clinic.base a JOIN clinic.shifts b USING (patient);
SELECT dp_protect('clinic.m', 'joined', unit => 'patient', domains => '{"age": [0, 120]}');
INSERT INTO clinic.shifts SELECT i % 10, i % 3 FROM generate_series(1, 100) i;
REFRESH MATERIALIZED VIEW clinic.m;
SELECT dp_logreg_train('clinic.m', 'ill', 'age', 1) IS NOT NULL AS trained;
DROP MATERIALIZED VIEW clinic.m;
CREATE MATERIALIZED VIEW clinic.m AS SELECT b.nurse, a.patient, a.age, a.ill FROM clinic.base a JOIN clinic.shifts b USING (patient);
SELECT dp_protect('clinic.m', 'joined', unit => 'nurse', domains => '{"age": [0, 120]}');
SELECT dp_protect('clinic.base', 'joined', unit => 'patient');
SELECT dp_protect('clinic.m', 'joined', unit => 'patient', domains => '{"age": [0, 120]}');
SELECT dp_logreg_train('clinic.m', 'ill', 'age', 1) IS NOT NULL AS trained;
\set VERBOSITY default
-- partitions, also those that are attached later
CREATE TABLE clinic.parts (person int, nurse int, age int CONSTRAINT ages CHECK (age BETWEEN 0 AND 120), ill boolean) PARTITION BY RANGE (age);
CREATE TABLE clinic.part PARTITION OF clinic.parts FOR VALUES FROM (0) TO (50);
CREATE TABLE clinic.loose (nurse int, person int, ill boolean, age int CONSTRAINT ages CHECK (age BETWEEN 0 AND 120));
INSERT INTO clinic.parts SELECT i % 10, i % 3, i % 40, i % 3 = 0 FROM generate_series(1, 100) i;
INSERT INTO clinic.loose SELECT i % 3, i % 10, i % 3 = 0, 60 + i % 40 FROM generate_series(1, 100) i;
SELECT dp_protect('clinic.parts', 'fresh', unit => 'person');
\set VERBOSITY terse
SELECT dp_protect('clinic.part', 'fresh', unit => 'nurse');
\set VERBOSITY default
SELECT dp_protect('clinic.part', 'fresh', unit => 'person');
SELECT dp_protect('clinic.loose', 'fresh', unit => 'nurse');
SELECT dp_logreg_train('clinic.part', 'ill', 'age', 1) IS NOT NULL AS trained;
SELECT dp_unprotect('clinic.part');
ALTER TABLE clinic.parts ATTACH PARTITION clinic.loose FOR VALUES FROM (50) TO (200);
\set VERBOSITY terse
SELECT dp_protect('clinic.part', 'fresh', unit => 'nurse');
SELECT dp_logreg_train('clinic.loose', 'ill', 'age', 1);
SELECT dp_logreg_train('clinic.parts', 'ill', 'age', 1);
\set VERBOSITY default
ALTER TABLE clinic.parts DETACH PARTITION clinic.loose;
SELECT dp_logreg_train('clinic.parts', 'ill', 'age', 1) IS NOT NULL AS trained;
-- and those that are detached: also if they came after the registration
SELECT dp_budget_create('parted', 100);
CREATE TABLE clinic.whole (person int, nurse int, age int CONSTRAINT ages CHECK (age BETWEEN 0 AND 120), ill boolean) PARTITION BY RANGE (age);
CREATE TABLE clinic.first_part PARTITION OF clinic.whole FOR VALUES FROM (0) TO (10);
SELECT dp_protect('clinic.whole', 'parted', unit => 'person');
CREATE TABLE clinic.second_part PARTITION OF clinic.whole FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (age);
CREATE TABLE clinic.inner_part PARTITION OF clinic.second_part DEFAULT;
CREATE TABLE clinic.third_part (ill boolean, nurse int, age int CONSTRAINT ages CHECK (age BETWEEN 0 AND 120), person int);
ALTER TABLE clinic.whole ATTACH PARTITION clinic.third_part FOR VALUES FROM (20) TO (30);
INSERT INTO clinic.whole SELECT i % 10, i % 3, i % 30, i % 3 = 0 FROM generate_series(1, 100) i;
SELECT dp_logreg_train('clinic.whole', 'ill', 'age', 1) IS NOT NULL AS trained;
ALTER TABLE clinic.whole DETACH PARTITION clinic.first_part;
ALTER TABLE clinic.whole DETACH PARTITION clinic.second_part;
ALTER TABLE clinic.second_part DETACH PARTITION clinic.inner_part;
ALTER TABLE clinic.whole DETACH PARTITION clinic.third_part;
\set VERBOSITY terse
SELECT format('SELECT dp_protect(''clinic.%s_part'', ''parted'', unit => ''nurse'')', p) FROM unnest('{first,second,inner,third}'::text[]) p
\gexec
SELECT dp_protect('clinic.third_part', 'parted', unit => 'person');
-- one that is attached in a transaction that is rolled back: a call sees what
-- is committed, here no rows
CREATE TABLE clinic.guest (person int, nurse int, age int CONSTRAINT ages CHECK (age BETWEEN 0 AND 120), ill boolean);
INSERT INTO clinic.guest SELECT i % 10, i % 3, 30 + i % 10, i % 3 = 0 FROM generate_series(1, 100) i;
BEGIN;
ALTER TABLE clinic.whole ATTACH PARTITION clinic.guest FOR VALUES FROM (30) TO (40);
SELECT dp_logreg_train('clinic.whole', 'ill', 'age', 1) IS NULL AS no_rows;
ROLLBACK;
-- one that no event trigger has seen
RESET ROLE;
SET session_replication_role = replica;
ALTER TABLE clinic.whole ATTACH PARTITION clinic.guest FOR VALUES FROM (30) TO (40);
RESET session_replication_role;
SET ROLE dperm_owner;
\set VERBOSITY default
SELECT dp_logreg_train('clinic.whole', 'ill', 'age', 1);
SELECT dp_protect('clinic.whole', 'parted', unit => 'person');
SELECT dp_logreg_train('clinic.whole', 'ill', 'age', 1) IS NOT NULL AS trained;
-- a unit that is dropped is not replaced by another one, nor by one of its name
ALTER TABLE clinic.third_part DROP COLUMN person, ADD COLUMN person int;
\set VERBOSITY terse
SELECT dp_protect('clinic.third_part', 'parted', unit => 'person');
\set VERBOSITY default
ALTER TABLE clinic.loose DROP COLUMN nurse;
\set VERBOSITY terse
SELECT dp_protect('clinic.loose', 'fresh', unit => 'person');
\set VERBOSITY default
SELECT dp_protect('clinic.loose', 'others', unit => 'person');
RESET ROLE;

-- Dates in arguments mean what they mean to the caller
SET ROLE dperm_owner;
CREATE TABLE clinic.days AS SELECT date '2020-01-01' + i AS day, i % 3 = 0 AS ill FROM generate_series(1, 50) i;
SELECT dp_budget_create('days', 1);
SELECT dp_protect('clinic.days', 'days', domains => '{"day": ["2020-01-01", "2020-12-31"]}');
SET DateStyle = 'SQL, DMY';
SELECT dp_logreg_train('clinic.days', 'ill', 'day', 0.5, domains => '{"day": ["02/03/2020", "04/05/2020"]}')::jsonb #> '{features,0}' AS march_to_may;
RESET DateStyle;
RESET ROLE;

DROP TABLE model, open_rows;
SET ROLE dperm_owner;
DROP SCHEMA clinic CASCADE;
SELECT count(*) AS protected FROM dp_protected;
SELECT dp_budget_drop(b) FROM unnest('{clinic,persons,others,fresh,single,singles,replaced,alone,dropped,joined,parted,days}'::text[]) b;
RESET ROLE;
SELECT count(*) AS kept FROM dp_protected_columns c WHERE kept_by IS NOT NULL AND NOT EXISTS (SELECT FROM dp_budget_accounts a WHERE a.id = c.kept_by);
SET ROLE dperm_stranger;
SELECT dp_budget_drop('stranger');
RESET ROLE;
DROP ROLE dperm_owner, dperm_analyst, dperm_stranger;
