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
SELECT outcomes('dp_unprotect(?)', 'NULL');
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

-- What the ledger says about a registration is cut if it has more than 8 kB, between characters
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
  'ill', '{ward}', 1, domains => '{"ward": ["C", "A"]}' | 'ill', 'x', 1, domains => '{"x": {"dimension": 3}}'
  'ill', 'x', 1, domains => '{"x": {"dimension": 2, "norm": 3}}' | 'ill', 'x', 1, domains => '{"x": {"dimension": 2, "range": [0, 1]}}'
  'ill', 'x', 1, domains => '{"x": {"dimension": 2, "norm": 1}}' | 'ill', '{age}', 'Infinity'
  'ill', '{age}', 1, neighbours => 'remove' | 'ill', '{age}', 1, unit => 'id'
  'ill', '{age}', 1, delta => 1e-6 $$);
SELECT outcomes('?', $$
  count(*) FROM model, dp_evaluate(model, 'clinic.patients', 1, 'salary', positive => '1')
  count(*) FROM model, dp_evaluate(model, 'clinic.patients', epsilon => 'Infinity') $$);
CREATE TEMP TABLE open_rows AS SELECT 1 AS age, true AS ill;
-- none of that has been charged but the three that trained
SELECT count(*) AS charges, sum(epsilon) AS epsilon FROM dp_ledger WHERE budget = 'clinic' AND act = 'charge';

-- What it would cost
SELECT budget, epsilon_charged, delta_charged, epsilon_left, epsilon_left_after, calls_left FROM dp_cost('clinic.patients', 'ill', '{age,bmi}', 1, units => 300);
SELECT budget, epsilon_charged, epsilon_left, epsilon_left_after, calls_left FROM dp_cost('clinic.patients', 'ill', '{age,bmi}', 200, units => 300);
SELECT budget, epsilon_charged, epsilon_left, epsilon_left_after, calls_left FROM dp_cost('open_rows', 'ill', '{age}', 1, units => 300, domains => '{"age": [0, 2]}');

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

-- Views: a filter leaves no row out of n. The table is protected first, and a
-- view has its budget and its unit
SET ROLE dperm_owner;
SELECT dp_unprotect('clinic.patients');
SELECT count(*) AS protected FROM dp_protected;
CREATE VIEW clinic.old AS SELECT id AS who, age / 10 AS decade, bmi, ill FROM clinic.patients WHERE age > 50;
SELECT dp_logreg_train('clinic.old', 'ill', 'decade', 1, domains => '{"decade": [0, 12]}')::jsonb ->> 'rows' AS unprotected;
SELECT dp_protect('clinic.old');
SELECT dp_protect('clinic.patients', 'clinic', domains => '{"bmi": [10, 60]}');
SELECT dp_logreg_train('clinic.old', 'ill', 'bmi', 1);
SELECT dp_protect('clinic.old', domains => '{"decade": [0, 12]}');
SELECT * FROM dp_protected ORDER BY relation::text;
SELECT dp_logreg_train('clinic.old', 'ill', 'decade', 1)::jsonb ->> 'rows' AS protected;
CREATE TABLE clinic.models AS SELECT dp_logreg_train('clinic.old', 'ill', '{decade,bmi}', 1) AS model;
SELECT count(*) AS metrics FROM clinic.models, dp_evaluate(model, 'clinic.old', epsilon => 1);
SELECT dp_svm_tune('clinic.old', 'ill', 'bmi', 1, candidates => '[{"lambda": 0.1}]')::jsonb -> 'tuning' ->> 'rows' AS tuned;
-- rows that WHERE leaves out, or that fail, are empty rows: they are counted,
-- and no model depends on them
CREATE TABLE clinic.few (x int CHECK (x BETWEEN 0 AND 9), y boolean);
INSERT INTO clinic.few SELECT 5, true FROM generate_series(1, 500);
SELECT dp_budget_create('few', 500), dp_protect('clinic.few', 'few');
CREATE VIEW clinic.left_out AS SELECT x, y FROM clinic.few WHERE x > 7;
CREATE VIEW clinic.failing AS SELECT x, y AND 1 / (x - 5) > 0 AS y FROM clinic.few;
CREATE VIEW clinic.failing_where AS SELECT x, y FROM clinic.few WHERE 1 / (x - 5) > 0 OR y;
CREATE VIEW clinic.some AS SELECT x, y FROM clinic.few WHERE x < 7;
SELECT dp_protect('clinic.' || v) FROM unnest('{left_out,failing,failing_where,some}'::text[]) v;
SELECT v, m::jsonb ->> 'rows' AS rows, dp_predict_prob(m, r) > 0.8 AS learned
  FROM (SELECT 5 AS x) r, unnest('{few,left_out,failing,failing_where,some}'::text[]) v, dp_logreg_train('clinic.' || v, 'y', 'x', 50, lambda => 0.01) m;
-- what the table has, the view has: it takes no other budget or unit, and no
-- columns
SELECT outcomes($$ dp_protect('clinic.old', ?) $$, $$
  'few' | 'none' | unit => 'id' | unit => 'who' | columns => '{decade,ill}'
  domains => '{"nothing": [0, 1]}' | domains => '{"bmi": ["a"]}' $$);
-- what is more than a filter is refused
CREATE VIEW clinic.counted AS SELECT age, count(*) > 1 AS ill FROM clinic.patients GROUP BY age;
CREATE VIEW clinic.joined AS SELECT a.age, b.ill FROM clinic.patients a JOIN clinic.patients b USING (id);
CREATE VIEW clinic.ranked AS SELECT rank() OVER (ORDER BY age) AS age, ill FROM clinic.patients;
CREATE VIEW clinic.different AS SELECT DISTINCT age, ill FROM clinic.patients;
CREATE VIEW clinic.first AS SELECT age, ill FROM clinic.patients LIMIT 10;
CREATE VIEW clinic.sorted AS SELECT age, ill FROM clinic.patients ORDER BY id;
CREATE VIEW clinic.twice AS SELECT age, ill FROM clinic.patients UNION ALL SELECT age, ill FROM clinic.patients;
CREATE VIEW clinic.many AS SELECT generate_series(1, age) AS age, ill FROM clinic.patients;
CREATE VIEW clinic.looked AS SELECT age, ill FROM clinic.patients WHERE EXISTS (SELECT);
CREATE VIEW clinic.made AS SELECT i AS age, i > 3 AS ill FROM generate_series(1, 9) i;
CREATE VIEW clinic.none AS SELECT 1 AS age, true AS ill;
CREATE VIEW clinic.sampled AS SELECT age, ill FROM clinic.patients TABLESAMPLE SYSTEM (50) REPEATABLE (1);
CREATE VIEW clinic.named AS WITH w AS (SELECT age, ill FROM clinic.patients) SELECT * FROM w;
CREATE VIEW clinic.older AS SELECT * FROM clinic.old WHERE decade > 7;
CREATE VIEW clinic.only AS SELECT age, ill FROM ONLY clinic.patients;
CREATE VIEW clinic.naming AS SELECT age, ill, tableoid = 'pg_catalog.pg_class'::regclass AS named FROM clinic.patients;
CREATE VIEW clinic.invoking WITH (security_invoker) AS SELECT age, ill FROM clinic.patients;
SELECT outcomes($$ dp_protect(?) $$, $$
  'clinic.counted' | 'clinic.joined' | 'clinic.ranked' | 'clinic.different' | 'clinic.first'
  'clinic.sorted' | 'clinic.twice' | 'clinic.many' | 'clinic.looked' | 'clinic.made' | 'clinic.none'
  'clinic.sampled' | 'clinic.named' | 'clinic.older' | 'clinic.only' | 'clinic.naming' | 'clinic.invoking' $$);
-- also if the view becomes such a one later
CREATE OR REPLACE VIEW clinic.some AS SELECT DISTINCT x, y FROM clinic.few;
SELECT dp_logreg_train('clinic.some', 'y', 'x', 1);
-- a table with policies for its owner
ALTER TABLE clinic.patients ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT dp_protect('clinic.patients', 'clinic');
\set VERBOSITY terse
SELECT dp_logreg_train('clinic.patients', 'ill', 'bmi', 1);
SELECT dp_logreg_train('clinic.old', 'ill', 'bmi', 1);
\set VERBOSITY default
ALTER TABLE clinic.patients NO FORCE ROW LEVEL SECURITY;
SELECT dp_logreg_train('clinic.old', 'ill', 'bmi', 1) IS NOT NULL AS trained;
ALTER TABLE clinic.patients DISABLE ROW LEVEL SECURITY;

-- In a transaction that ends or changes the protection nobody trains on a view
-- either, nor on anything that reads the table
BEGIN;
SELECT dp_unprotect('clinic.old');
SAVEPOINT s;
SELECT outcomes($$ dp_logreg_train(?, 1) IS NOT NULL $$, $$ 'clinic.old', 'ill', 'bmi' | 'clinic.sorted', 'ill', 'age' $$);
ROLLBACK TO s;
SELECT result FROM outcome($$ SELECT dp_logreg_train('clinic.old', 'ill', 'bmi', 1) $$);
ROLLBACK;
BEGIN;
SELECT dp_unprotect('clinic.patients');
SELECT outcomes($$ dp_logreg_train(?, 1) IS NOT NULL $$, $$ 'clinic.patients', 'ill', 'age' | 'clinic.old', 'ill', 'bmi' | 'clinic.sorted', 'ill', 'age' $$);
ROLLBACK;
BEGIN;
SAVEPOINT s;
SELECT dp_protect('clinic.patients');
SELECT outcomes($$ dp_logreg_train(?, 1) IS NOT NULL $$, $$ 'clinic.patients', 'ill', 'age' | 'clinic.old', 'ill', 'bmi' | 'clinic.sorted', 'ill', 'age' $$);
-- what is undone counts no longer: the registration is the one that others see
ROLLBACK TO s;
SELECT dp_unprotect('clinic.patients');
ROLLBACK TO s;
SELECT count(*) AS charged FROM dp_ledger WHERE budget = 'clinic' AND act = 'charge' \gset before_
SELECT outcomes($$ dp_logreg_train(?, 1) IS NOT NULL $$, $$ 'clinic.patients', 'ill', 'age' | 'clinic.old', 'ill', 'bmi' | 'clinic.sorted', 'ill', 'age' $$);
ROLLBACK;
SELECT count(*) - :before_charged AS charged FROM dp_ledger WHERE budget = 'clinic' AND act = 'charge';

-- Persons: those of the table, whether a view shows its unit or not, and all of
-- them
SELECT dp_budget_create('persons', 100, neighbours => 'remove');
CREATE TABLE clinic.visits AS SELECT i % 40 AS person, 20 + i % 20 AS bmi, i % 3 = 0 AS ill FROM generate_series(1, 300) i;
INSERT INTO clinic.visits VALUES (NULL, 20, true), (40, NULL, NULL);
SELECT dp_protect('clinic.visits', 'persons', unit => 'person', domains => '{"bmi": [10, 60]}');
SELECT dp_protect('clinic.visits', 'persons', domains => '{"bmi": [10, 60]}');
CREATE VIEW clinic.thin AS SELECT person AS who, bmi, ill FROM clinic.visits WHERE bmi < 30;
CREATE VIEW clinic.unnamed AS SELECT bmi, ill FROM clinic.visits WHERE bmi < 21;
SELECT outcomes($$ dp_protect('clinic.thin', ?) $$, $$ unit => 'who' | unit => 'bmi' | 'clinic' $$);
SELECT dp_protect('clinic.thin', 'persons', unit => 'person', domains => '{"bmi": [10, 30]}');
SELECT dp_protect('clinic.unnamed');
SELECT relation, unit, domains FROM dp_protected WHERE budget = 'persons' ORDER BY relation::text;
-- rows and persons are not in one budget
SELECT dp_protect('clinic.few', 'persons');
SELECT dp_grant('persons', 'dperm_analyst');
RESET ROLE;
SET ROLE dperm_analyst;
SELECT r, m ->> 'unit' AS unit, m ->> 'persons' AS persons, m ->> 'rows' AS rows
  FROM unnest('{visits,thin,unnamed}'::text[]) r, CAST(dp_logreg_train('clinic.' || r, 'ill', 'bmi', 1, neighbours => 'remove') AS jsonb) m;
SELECT outcomes($$ dp_logreg_train(?, neighbours => 'remove') IS NOT NULL $$, $$
  'clinic.visits', 'ill', 'bmi', 1, unit => 'bmi' | 'clinic.thin', 'ill', 'bmi', 1, unit => 'who'
  'clinic.thin', 'ill', 'who', 1 | 'clinic.unnamed', 'ill', 'bmi', 1, unit => 'person' $$);
SELECT count(*) AS metrics FROM model, dp_evaluate((SELECT dp_logreg_train('clinic.thin', 'ill', 'bmi', 1, neighbours => 'remove')), 'clinic.visits', epsilon => 1, neighbours => 'remove');
SELECT dp_logreg_tune('clinic.unnamed', 'ill', 'bmi', 1, neighbours => 'remove', candidates => '[{"lambda": 0.1}]')::jsonb -> 'tuning' ->> 'persons' AS persons;
SELECT function, relation, neighbours, unit, epsilon FROM dp_ledger WHERE budget = 'persons' AND act = 'charge' ORDER BY entry;
RESET ROLE;

-- A materialized view is a table: it needs a unit, and its rows are the owner's
-- word. It belongs into the budget of the tables that it was made of
SET ROLE dperm_owner;
CREATE MATERIALIZED VIEW clinic.sums AS SELECT v.person, sum(v.bmi)::int AS bmi, bool_or(v.ill) AS ill FROM clinic.thin t JOIN clinic.visits v ON v.person = t.who GROUP BY 1;
SELECT outcomes($$ dp_logreg_train(?, 1, domains => '{"bmi": [0, 900]}', neighbours => 'remove') IS NOT NULL $$, $$ 'clinic.sums', 'ill', 'bmi' $$);
SELECT dp_protect('clinic.sums', 'persons');
SELECT dp_protect('clinic.sums', 'persons', unit => 'person', domains => '{"bmi": [0, 900]}');
SELECT dp_logreg_train('clinic.sums', 'ill', 'bmi', 1, neighbours => 'remove')::jsonb ->> 'persons' AS persons;
CREATE VIEW clinic.of_sums AS SELECT ill, bmi / 10 AS tens FROM clinic.sums WHERE bmi > 100;
SELECT dp_protect('clinic.of_sums', domains => '{"tens": [0, 90]}');
SELECT dp_logreg_train('clinic.of_sums', 'ill', 'tens', 1, neighbours => 'remove')::jsonb ->> 'persons' AS persons;
REFRESH MATERIALIZED VIEW clinic.sums;
SELECT dp_logreg_train('clinic.of_sums', 'ill', 'tens', 1, neighbours => 'remove')::jsonb ->> 'persons' AS refreshed;
-- another budget, of a table at any depth: behind a view or a materialized view
SELECT dp_budget_create('second', 100);
CREATE MATERIALIZED VIEW clinic.of_stored AS SELECT person, bmi, ill FROM clinic.sums WITH NO DATA;
CREATE VIEW clinic.of_patients AS SELECT age, ill FROM (SELECT * FROM clinic.patients) p;
CREATE MATERIALIZED VIEW clinic.free AS SELECT age AS person, ill FROM clinic.of_patients;
CREATE MATERIALIZED VIEW clinic.deep AS SELECT person, ill FROM clinic.free WHERE ill IN (SELECT y FROM clinic.few);
SELECT dp_protect('clinic.of_stored', 'second', unit => 'person');
\set VERBOSITY terse
SELECT dp_protect('clinic.deep', 'second', unit => 'person');
SELECT dp_unprotect('clinic.of_stored');
SELECT dp_protect('clinic.of_stored', 'persons', unit => 'person');
SELECT dp_logreg_train('clinic.free', 'ill', 'person', 1, domains => '{"person": [0, 120]}');
\set VERBOSITY default
-- nothing is refused that is not registered
CREATE MATERIALIZED VIEW clinic.open AS SELECT i AS age, i % 2 = 0 AS ill FROM generate_series(1, 100) i;
SELECT dp_logreg_train('clinic.open', 'ill', 'age', 1, domains => '{"age": [0, 100]}')::jsonb ->> 'rows' AS rows;
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
SELECT dp_budget_drop(b) FROM unnest('{clinic,few,persons,second,days}'::text[]) b;
RESET ROLE;
SELECT count(*) AS kept FROM dperm.protected WHERE schema = 'clinic' AND budget_id IN (SELECT id FROM dperm.budgets WHERE dropped IS NOT NULL);
SET ROLE dperm_stranger;
SELECT dp_budget_drop('stranger');
RESET ROLE;
DROP ROLE dperm_owner, dperm_analyst, dperm_stranger;
