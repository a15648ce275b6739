--
-- The second day of an owner and an analyst: registrations are corrected,
-- columns get other types, and mistakes cost nothing
--
\pset format unaligned
\pset footer off
\pset null '(null)'
\set ECHO none
SET client_min_messages = warning;
CREATE ROLE dperm_second_owner;
CREATE ROLE dperm_second_analyst;
CREATE SCHEMA clinic AUTHORIZATION dperm_second_owner;
GRANT USAGE, CREATE ON SCHEMA clinic TO dperm_second_analyst;
RESET client_min_messages;
SET search_path = clinic, public;
-- what an error, or else the charge, of the analyst is
CREATE FUNCTION tried(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before numeric := (SELECT epsilon_spent FROM public.dp_budgets WHERE budget = 'clinic');
	detail text;
	hint text;
BEGIN
	EXECUTE 'SELECT count(' || call || ')';
	RETURN 'costs ' || trim_scale((SELECT epsilon_spent FROM public.dp_budgets WHERE budget = 'clinic') - before);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n  ', SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
\set ECHO all
SET ROLE dperm_second_owner;
SELECT dp_budget_create('clinic', epsilon => 100, delta => 1e-6);

--
-- Grants: what is omitted stays, and so does what was used
--
SELECT dp_grant('clinic', 'dperm_second_analyst', epsilon => 1, delta => 1e-8);
SET ROLE dperm_second_analyst;
SELECT dp_budget_charge('clinic', 0.25, 1e-9);
SET ROLE dperm_second_owner;
SELECT dp_grant('clinic', 'dperm_second_analyst', epsilon => 2);
SELECT epsilon_granted, delta_granted, epsilon_spent, delta_spent FROM dp_grants WHERE budget = 'clinic';
-- its delta is that of the first charge
SELECT dp_grant('clinic', 'dperm_second_analyst', delta => 1e-7);
SELECT epsilon_granted, delta_granted, epsilon_spent, delta_spent FROM dp_grants WHERE budget = 'clinic';
SELECT dp_grant('clinic', 'dperm_second_analyst');
SELECT epsilon_granted, delta_granted, epsilon_spent, delta_spent FROM dp_grants WHERE budget = 'clinic';
-- a limit above that of the budget is none
SELECT dp_grant('clinic', 'dperm_second_analyst', epsilon => 500);
SELECT epsilon_granted, delta_granted, epsilon_spent, delta_spent, epsilon_left FROM dp_grants WHERE budget = 'clinic';
SELECT epsilon, delta, details FROM dp_ledger WHERE budget = 'clinic' AND act = 'grant' ORDER BY entry;

--
-- A column gets another type: only calls that use it fail, and they say why
--
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TABLE visits (age int CHECK (age BETWEEN 0 AND 120), bmi numeric, mood mood, code int, secret int CHECK (secret BETWEEN 0 AND 9), ill boolean);
INSERT INTO visits SELECT i % 100, 15 + i % 25, 'good', i % 4, i % 10, i % 100 > 60 FROM generate_series(1, 400) i;
SELECT dp_protect('visits', 'clinic', columns => '{age,bmi,mood,code,ill}', domains => '{"bmi": [10, 60], "mood": ["good", "bad"], "code": {"categories": [0, 1, 2, 3]}}');
CREATE VIEW grown AS SELECT bmi AS mass, age, mood, ill FROM visits WHERE age > 17;
SELECT dp_protect('grown');
ALTER TABLE visits ALTER code TYPE float8;
ALTER TYPE mood RENAME VALUE 'bad' TO 'awful';
SET ROLE dperm_second_analyst;
SELECT tried($$dp_logreg_train('visits', 'ill', '{age,bmi}', 1)$$);
SELECT tried($$dp_logreg_train('visits', 'ill', '{age,mood}', 1)$$);
SELECT tried($$dp_logreg_train('visits', 'code', '{age}', 1)$$);
SELECT tried($$dp_logreg_train('grown', 'ill', '{age,mass}', 1)$$);
SELECT tried($$dp_logreg_train('grown', 'ill', '{age,mood}', 1)$$);
SELECT tried($$dp_logreg_train('visits', 'ill', NULL, 1)$$);
SELECT column_name, domain, origin FROM dp_domains('visits');
SELECT column_name, domain, origin FROM dp_domains('grown');
SET ROLE dperm_second_owner;
-- the owner corrects it, or closes the column
SELECT dp_protect('visits', 'clinic', columns => '{age,bmi,code,ill}');
SELECT dp_protect('visits', 'clinic', columns => '{age,bmi,ill}');
SELECT columns, domains FROM dp_protected WHERE relation = 'clinic.visits';
ALTER TABLE visits ALTER code TYPE int;
SELECT dp_protect('visits', 'clinic', columns => '{age,bmi,mood,code,ill}', domains => '{"bmi": [10, 60], "mood": ["good", "awful"], "code": {"categories": [0, 1, 2, 3]}}');

--
-- Knots are registered with their range
--
SELECT tried($$dp_protect('grown', domains => '{"mass": {"knots": 4}}')$$);
SELECT tried($$dp_protect('visits', domains => '{"age": {"knots": 4}}')$$);
BEGIN;
SELECT dp_protect('visits', 'clinic', domains => '{"bmi": {"range": [10, 60], "knots": 3}, "age": {"range": [0, 120], "knots": 2}}');
ALTER TABLE visits DROP CONSTRAINT visits_age_check;
SELECT domains FROM dp_protected WHERE relation = 'clinic.visits';
SELECT column_name, domain FROM dp_domains('visits') WHERE column_name IN ('age', 'bmi');
ROLLBACK;
SET ROLE dperm_second_analyst;
SELECT tried($$dp_logreg_train('visits', 'ill', '{code}', 1, domains => '{"code": {"knots": 3}}')$$);
-- registered dates are those that the owner meant, whatever the settings of others
SET ROLE dperm_second_owner;
CREATE TABLE stays (came date, seen timestamptz, woke time, y boolean);
INSERT INTO stays SELECT '2020-12-01'::date + i % 5, '2020-12-01'::date + i % 5, '08:00', i % 2 = 0 FROM generate_series(1, 100) i;
SET datestyle = 'SQL, DMY';
SET timezone = 'Asia/Tokyo';
SELECT dp_protect('stays', 'clinic', domains => '{"came": ["01/12/2020", "05/12/2020"], "seen": ["31/12/2019", "05/12/2020 10:00:00.25"], "woke": ["8:00 AM", "6:00 PM"]}');
SELECT domains FROM dp_protected WHERE relation = 'clinic.stays';
SET ROLE dperm_second_analyst;
SET datestyle = 'ISO, MDY';
SET timezone = 'America/New_York';
SELECT column_name, domain FROM dp_domains('stays');
SELECT dp_logreg_train('stays', 'y', '{came,seen,woke}', 1, knots => 1)::jsonb -> 'features';
SET ROLE dperm_second_owner;
SELECT dp_protect('stays', 'clinic', domains => '{"came": ["2020-01-01", "today"]}');
SELECT domains -> 'came' ->> 1 = current_date::text AS "today" FROM dp_protected WHERE relation = 'clinic.stays';
-- times with a zone are categories, in the owner's zone
CREATE TABLE alarms (rings timetz, y boolean);
INSERT INTO alarms SELECT '08:00+00', i % 2 = 0 FROM generate_series(1, 100) i;
SET timezone = 'Asia/Tokyo';
SELECT dp_protect('alarms', 'clinic', domains => '{"rings": ["08:00", "09:00+00"]}');
SET ROLE dperm_second_analyst;
SET timezone = 'America/New_York';
SELECT domain FROM dp_domains('alarms') WHERE column_name = 'rings';
SELECT dp_logreg_train('alarms', 'y', '{rings}', 1)::jsonb -> 'features' -> 0 -> 'values';
RESET datestyle;
RESET timezone;

--
-- Mistakes that a list of values or a type shows cost nothing
--
SET ROLE dperm_second_owner;
CREATE TABLE labels (a int CHECK (a BETWEEN 0 AND 9), price numeric CHECK (price > 0 AND price < 1000), code int CHECK (code IN (1, 5, 9)), share numeric CHECK (share IN (0.1, 1.50)),
	cost numeric CHECK (cost > 0), version int CHECK (version = 5), won int CHECK (won BETWEEN 0 AND 1), side numeric CHECK (side IN (1, -1)), grade char(4) CHECK (grade IN ('Yes', 'No')), y boolean);
INSERT INTO labels SELECT i % 10, 5, 1, 0.1, 5, 5, i % 2, 1, 'No', i % 10 > 5 FROM generate_series(1, 400) i;
SELECT dp_protect('labels', 'clinic');
CREATE TABLE nobody (a int CHECK (a BETWEEN 0 AND 9), y boolean);
SELECT dp_protect('nobody', 'clinic');
SET ROLE dperm_second_analyst;
-- a number needs a positive value, unless its domain allows only 0 and 1, or -1 and 1
SELECT call, tried(call) FROM unnest(ARRAY[$$dp_logreg_train('labels', 'price', '{a}', 1)$$, $$dp_svm_train('labels', 'code', '{a}', 1)$$, $$dp_logreg_tune('labels', 'cost', '{a}', 1)$$,
	$$dp_logreg_train('labels', 'price', '{a}', 1, domains => '{"price": [0, 1]}')$$, $$dp_svm_train('labels', 'won', '{a}', 1)$$, $$dp_logreg_train('labels', 'side', '{a}', 1)$$,
	$$dp_logreg_train('labels', 'price', '{a}', 1, positive => '5')$$, $$dp_logreg_train('labels', 'cost', '{a}', 1, positive => '5')$$]) call;
-- a positive value and classes are in the list, which has two values or more
SELECT label, positive, tried(format('dp_logreg_train(%L, %L, %L, 1, positive => %L)', 'labels', label, 'a', positive))
FROM (VALUES ('code', '2'), ('code', '9'), ('share', '0.10'), ('share', '1'), ('grade', 'Yes '), ('grade', 'yes'), ('version', '5')) v (label, positive);
SELECT tried($$dp_logreg_train('labels', 'code', '{a}', 1, positive => '9', domains => '{"code": [1, 6]}')$$), tried($$dp_logreg_train('labels', 'code', '{a}', 1, domains => '{"code": {"categories": ["1", "5", "7"]}}')$$),
	tried($$dp_logreg_train('labels', 'y', '{cost}', 1)$$);
-- the same candidate twice
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, candidates => '[{}, {}]')$$);
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, candidates => '[{"lambda": 1}, {"lambda": 2}, {"lambda": 1.0}]')$$);
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, candidates => '[{"lambda": 1}, {"lambda": 2}]')$$);
-- models of other columns that have the same names
SET ROLE dperm_second_owner;
CREATE TABLE measured (v float8[] CHECK (cardinality(v) = 4), age int CHECK (age BETWEEN 0 AND 100), won int CHECK (won BETWEEN 0 AND 1), cost int CHECK (cost BETWEEN 0 AND 9), y boolean);
INSERT INTO measured SELECT '{1,2,3,4}', i % 100, i % 2, i % 10, i % 2 = 0 FROM generate_series(1, 100) i;
SELECT dp_protect('measured', 'clinic');
SET ROLE dperm_second_analyst;
CREATE TABLE elsewhere AS SELECT '{1,2,3}'::float8[] AS v, 500 + i % 100 AS age, i % 2 = 0 AS y FROM generate_series(1, 100) i;
CREATE TABLE models AS
SELECT domains, dp_logreg_train('elsewhere', 'y', ARRAY(SELECT jsonb_object_keys(domains)), 1, domains => domains) AS model
FROM unnest('{"{\"v\": {\"dimension\": 3}}","{\"v\": {\"dimension\": 4}}","{\"age\": [500, 600]}"}'::jsonb[]) domains;
SELECT domains, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, epsilon => 1))', model, 'measured')) FROM models;
SELECT tried(format('(SELECT count(*) FROM dp_roc(%L::dp_model, %L, epsilon => 1))', model, 'measured')) FROM models LIMIT 1;
-- a label that is a number follows the same rule
SELECT label, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, label => %L, epsilon => 0.1))', model, 'measured', label)), tried(format('(SELECT count(*) FROM dp_roc(%L::dp_model, %L, label => %L, epsilon => 0.1))', model, 'measured', label))
FROM models, unnest('{won,cost}'::text[]) label WHERE domains ? 'age';
-- an empty table costs as any other, but not in silence
SELECT tried($$dp_logreg_train('nobody', 'y', '{a}', 1)$$);
SELECT tried($$dp_logreg_tune('nobody', 'y', '{a}', 1)$$);
-- so does one whose rows belong to nobody
RESET ROLE;
CREATE TABLE lost (person int, a int CHECK (a BETWEEN 0 AND 9), y boolean);
INSERT INTO lost VALUES (NULL, 1, true);
SELECT dp_budget_create('lost', 1), dp_protect('lost', 'lost', unit => 'person');
SELECT dp_logreg_train('lost', 'y', '{a}', 1);
SET client_min_messages = warning;
DROP SCHEMA clinic CASCADE;
SELECT dp_budget_drop('clinic'), dp_budget_drop('lost');
DROP ROLE dperm_second_owner, dperm_second_analyst;
