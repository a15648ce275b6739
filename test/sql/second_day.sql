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
SELECT dp_grant('clinic', 'dperm_second_analyst', delta => 1e-7);
SELECT epsilon_granted, delta_granted, epsilon_spent, delta_spent FROM dp_grants WHERE budget = 'clinic';
SELECT dp_grant('clinic', 'dperm_second_analyst');
SELECT epsilon_granted, delta_granted, epsilon_spent, delta_spent FROM dp_grants WHERE budget = 'clinic';
-- a limit above that of the budget is none
SELECT dp_grant('clinic', 'dperm_second_analyst', epsilon => 500, delta => 1e-5);
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
SELECT dp_protect('grown', 'clinic');
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
SELECT columns, domains FROM dp_protected WHERE relation = 'visits'::regclass;
ALTER TABLE visits ALTER code TYPE int;
SELECT dp_protect('visits', 'clinic', columns => '{age,bmi,mood,code,ill}', domains => '{"bmi": [10, 60], "mood": ["good", "awful"], "code": {"categories": [0, 1, 2, 3]}}');

--
-- A view keeps the columns closed that are closed in its table
--
CREATE VIEW everything AS SELECT *, secret + 1 AS next FROM visits;
SELECT dp_protect('everything', 'clinic');
SELECT columns FROM dp_protected WHERE relation = 'everything'::regclass;
SELECT dp_protect('everything', 'clinic', columns => '{age,secret,ill}');
SELECT columns FROM dp_protected WHERE relation = 'everything'::regclass;

--
-- Knots without a range are for the one that is registered, also behind a view
--
SELECT dp_protect('grown', 'clinic', domains => '{"mass": {"knots": 4}}');
SELECT domains FROM dp_protected WHERE relation = 'grown'::regclass;
BEGIN;
SELECT dp_protect('visits', 'clinic', domains => '{"bmi": {"knots": 3}, "age": {"knots": 2}}');
ALTER TABLE visits DROP CONSTRAINT visits_age_check;
SELECT domains FROM dp_protected WHERE relation = 'visits'::regclass;
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
SELECT domains FROM dp_protected WHERE relation = 'stays'::regclass;
SET ROLE dperm_second_analyst;
SET datestyle = 'ISO, MDY';
SET timezone = 'America/New_York';
SELECT column_name, domain FROM dp_domains('stays');
SELECT dp_logreg_train('stays', 'y', '{came,seen,woke}', 1, knots => 1)::jsonb -> 'features';
SET ROLE dperm_second_owner;
SELECT dp_protect('stays', 'clinic', domains => '{"came": ["2020-01-01", "today"]}');
SELECT domains -> 'came' ->> 1 = current_date::text AS "today" FROM dp_protected WHERE relation = 'stays'::regclass;
-- times with a zone are categories, in the owner's zone
CREATE TABLE alarms (rings timetz, y boolean);
INSERT INTO alarms SELECT '08:00+00', i % 2 = 0 FROM generate_series(1, 100) i;
SET timezone = 'Asia/Tokyo';
SELECT dp_protect('alarms', 'clinic', domains => '{"rings": ["08:00", "09:00+00"]}');
SET ROLE dperm_second_analyst;
SET timezone = 'America/New_York';
SELECT domain FROM dp_domains('alarms') WHERE column_name = 'rings';
SELECT dp_logreg_train('alarms', 'y', '{rings}', 1)::jsonb -> 'features' -> 0 -> 'values';
-- a microsecond is not rounded away, in this century or the next
SET ROLE dperm_second_owner;
SET timezone = 'UTC';
DO $$BEGIN EXECUTE (SELECT format('CREATE TABLE centuries (y boolean, %s)', string_agg(format('t%s timestamptz', i), ', ')) FROM generate_series(1, 280) i); END$$;
SELECT jsonb_object_agg('t' || i, jsonb_build_array(low, low + interval '1 microsecond'))::text AS given
FROM generate_series(1, 280) i, LATERAL (SELECT '1860-01-01 10:00:00.000003'::timestamptz + i * interval '1 year 17 minutes 13.000011 seconds' AS low) l \gset
SELECT dp_protect('centuries', 'clinic', domains => :'given');
SELECT bool_and(g.value ->> 0 = d.domain ->> 0 AND g.value ->> 1 = d.domain ->> 1) AS as_given, count(*)
FROM jsonb_each(:'given') g JOIN dp_domains('centuries') d ON d.column_name = g.key;
RESET datestyle;
RESET timezone;

--
-- Mistakes that the catalog shows cost nothing
--
SET ROLE dperm_second_owner;
CREATE TABLE labels (a int CHECK (a BETWEEN 0 AND 9), price numeric CHECK (price > 0 AND price < 1000), either float8 CHECK ((either > 0 OR either >= 0) AND either < 9),
	tenth real CHECK (tenth > 0.1 AND tenth < 1), code int CHECK (code IN (1, 5, 9)), small int CHECK (small IN (1, 5, 9) AND small < 6),
	cost numeric CHECK (cost > 0), balance float8 CHECK (balance <= 0), year int CHECK (year > 1899), version int CHECK (version = 5), change int CHECK (change >= -5), y boolean);
INSERT INTO labels SELECT i % 10, 5, 5, 0.1, 1, 1, 5, -5, 2000, 5, i % 10 - 5, i % 10 > 5 FROM generate_series(1, 400) i;
SELECT dp_protect('labels', 'clinic');
CREATE TABLE nobody (a int CHECK (a BETWEEN 0 AND 9), y boolean);
SELECT dp_protect('nobody', 'clinic');
SET ROLE dperm_second_analyst;
SELECT tried($$dp_logreg_train('labels', 'price', '{a}', 1)$$);
SELECT tried($$dp_logreg_train('labels', 'either', '{a}', 1)$$);
-- a bound that is excluded is no value
SELECT tried($$dp_logreg_train('labels', 'price', '{a}', 1, positive => '0')$$);
SELECT tried($$dp_logreg_train('labels', 'price', '{a}', 1, positive => '1000.0')$$);
SELECT tried($$dp_logreg_train('labels', 'price', '{a}', 1, positive => '5')$$);
SELECT tried($$dp_logreg_train('labels', 'either', '{a}', 1, positive => '0')$$);
SELECT tried($$dp_logreg_train('labels', 'either', '{a}', 1, positive => '9')$$);
SELECT tried($$dp_logreg_train('labels', 'tenth', '{a}', 1, positive => '0.1')$$);
SELECT tried($$dp_logreg_train('labels', 'tenth', '{a}', 1, positive => '1')$$);
SELECT tried($$dp_logreg_train('labels', 'code', '{a}', 1, positive => '2')$$);
SELECT tried($$dp_logreg_train('labels', 'code', '{a}', 1, positive => '9')$$);
SELECT tried($$dp_logreg_train('labels', 'small', '{a}', 1, positive => '9')$$);
SELECT tried($$dp_logreg_train('labels', 'code', '{a}', 1, positive => '2', domains => '{"code": [1, 4]}')$$);
-- one bound, or a single value, is not the domain of a feature, but tells classes
SELECT tried($$dp_logreg_train('labels', 'cost', '{a}', 1)$$);
SELECT tried($$dp_logreg_train('labels', 'cost', '{a}', 1, positive => '-1')$$);
SELECT tried($$dp_logreg_train('labels', 'cost', '{a}', 1, positive => '0.0')$$);
SELECT tried($$dp_logreg_train('labels', 'cost', '{a}', 1, positive => '5')$$);
SELECT tried($$dp_logreg_train('labels', 'balance', '{a}', 1)$$);
SELECT tried($$dp_logreg_train('labels', 'balance', '{a}', 1, positive => '0')$$);
SELECT tried($$dp_logreg_train('labels', 'year', '{a}', 1)$$);
SELECT tried($$dp_logreg_train('labels', 'year', '{a}', 1, positive => '1899')$$);
SELECT tried($$dp_logreg_train('labels', 'version', '{a}', 1)$$);
SELECT tried($$dp_logreg_train('labels', 'version', '{a}', 1, positive => '5')$$);
SELECT tried($$dp_logreg_train('labels', 'version', '{a}', 1, positive => '4')$$);
SELECT tried($$dp_logreg_train('labels', 'change', '{a}', 1)$$);
SELECT tried($$dp_logreg_train('labels', 'y', '{cost}', 1)$$);
-- the same candidate twice
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, candidates => '[{}, {}]')$$);
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, candidates => '[{"lambda": 1}, {"lambda": 2}, {"lambda": 1.0}]')$$);
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, lambdas => '{1,1}')$$);
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, lambdas => '{{1,2},{3,4}}')$$);
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, lambdas => '{1,2}')$$);
-- holdouts that cannot tell candidates apart
CREATE TABLE holdout AS SELECT i % 10 AS a, NULL::boolean AS y FROM generate_series(1, 100) i;
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, lambdas => '{0.1,1}', holdout => 'holdout')$$);
UPDATE holdout SET y = true;
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, lambdas => '{0.1,1}', holdout => 'holdout')$$);
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, positive => 'false', lambdas => '{0.1,1}', holdout => 'holdout')$$);
UPDATE holdout SET y = a > 5;
SELECT tried($$dp_logreg_tune('labels', 'y', '{a}', 1, lambdas => '{0.1,1}', holdout => 'holdout')$$);
-- models of other columns that have the same names
SET ROLE dperm_second_owner;
CREATE TABLE measured (v float8[] CHECK (cardinality(v) = 4), box float8[] CHECK (cardinality(box) = 2 AND 0 <= ALL (box) AND 1 >= ALL (box)),
	code int, age int CHECK (age BETWEEN 0 AND 100), y boolean);
INSERT INTO measured SELECT '{1,2,3,4}', '{0,1}', i % 3, i % 100, i % 2 = 0 FROM generate_series(1, 100) i;
SELECT dp_protect('measured', 'clinic', domains => '{"code": {"categories": [0, 10]}}');
SET ROLE dperm_second_analyst;
CREATE TABLE elsewhere AS SELECT '{1,2,3}'::float8[] AS v, '{7,8}'::float8[] AS box, 50 + i % 3 AS code, 500 + i % 100 AS age, i % 2 = 0 AS y FROM generate_series(1, 100) i;
CREATE TABLE models AS
SELECT features, domains, dp_logreg_train('elsewhere', 'y', features, 1, domains => domains) AS model
FROM (VALUES ('{v}'::text[], '{"v": {"dimension": 3}}'::jsonb), ('{v,age}', '{"v": {"dimension": 3}, "age": [0, 100]}'), ('{v}', '{"v": {"dimension": 4}}'),
	('{box}', '{"box": {"dimension": 2, "range": [5, 9]}}'), ('{box}', '{"box": {"range": [[5, 9], [0.5, 9]]}}'),
	('{box}', '{"box": {"dimension": 2, "range": [5, 9], "knots": 3}}'), ('{box}', '{"box": {"dimension": 3, "range": [0, 9]}}'),
	('{code}', '{"code": [10, 20]}'), ('{code}', '{"code": [9, 20]}'), ('{code}', '{"code": [1, 9]}'),
	('{age}', '{"age": {"categories": [101, -1]}}'), ('{age}', '{"age": {"categories": [101, 100]}}')) v (features, domains);
SELECT domains, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, epsilon => 1))', model, 'measured')) FROM models;
SELECT tried(format('(SELECT count(*) FROM dp_roc(%L::dp_model, %L, epsilon => 1))', model, 'measured')) FROM models LIMIT 1;
SELECT tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, features => %L, epsilon => 1))', model, 'measured', 'box')) FROM models LIMIT 1;
-- numbers that a model has as texts, as no number is written
CREATE TABLE spelled AS SELECT '0' || i % 10 AS age, i % 2 = 0 AS y FROM generate_series(1, 100) i;
SELECT list, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, epsilon => 1))', dp_logreg_train('spelled', 'y', 'age', 10, domains => jsonb_build_object('age', list)), 'measured'))
FROM unnest('{"[\"01\", \"02\", \"one\", \"-\", \"\", \"+1\", \"1e1\", \" 1\"]","[\"01\", \"1\"]","[\"0\", \"101\"]","[\"101\", \"-1.5\"]"}'::jsonb[]) list;
-- texts that the type of a column cannot have, with and without a domain
SET ROLE dperm_second_owner;
CREATE TABLE typed (flag boolean, price numeric(6,2) CHECK (price BETWEEN 0 AND 9), hour time CHECK (hour BETWEEN '08:00' AND '18:00'), code int, short varchar(3), id uuid, y boolean,
	days int CHECK (days BETWEEN 0 AND 30), cost numeric CHECK (cost >= 30), small smallint CHECK (small IN (31, 40)), free float8, level smallint, fee numeric(4, 2));
INSERT INTO typed SELECT i % 2 = 0, i % 9, '09:00', i % 3, 'a', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', i % 2 = 0, i % 30, 30 + i, 31, i FROM generate_series(1, 100) i;
SELECT dp_protect('typed', 'clinic');
SET ROLE dperm_second_analyst;
CREATE TABLE texts AS SELECT t AS flag, t AS price, t AS hour, t AS code, t AS short, t AS id, i % 2 = 0 AS y, i % 7 AS days FROM generate_series(1, 100) i, LATERAL (SELECT (i % 3)::text AS t) s;
SELECT feature, list, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, epsilon => 0.1))',
	dp_logreg_train('texts', 'y', feature, 10, domains => jsonb_build_object(feature, list)), 'typed'))
FROM (VALUES ('flag', '["true", "false"]'::jsonb), ('flag', '["t"]'), ('price', '["1", "2.5"]'), ('price', '["9.01"]'), ('price', '["9.00"]'),
	('hour', '["09:00"]'), ('hour', '["07:59:59"]'), ('hour', '["18:00:00"]'), ('code', '["a", "1.0"]'), ('code', '["99"]'),
	('short', '["abcd"]'), ('short', '["abc"]'), ('id', '["1"]'), ('id', '["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"]'), ('id', '["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]')) v (feature, list);
-- numbers that are all beyond the same bound
SELECT label, bounds, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, label => %L, epsilon => 0.1))',
	dp_linreg_train('texts', 'days', 'code', 10, bounds => bounds, domains => '{"code": ["0", "1", "2"]}'), 'typed', label))
FROM (VALUES ('days', '{0,20}'::float8[]), ('days', '{30,60}'), ('days', '{29,60}'), ('days', '{-9,0}'), ('cost', '{0,30}'), ('cost', '{0,31}'), ('small', '{0,31}'), ('small', '{0,32}'), ('free', '{0,1}'), ('level', '{32767,40000}'), ('level', '{32766,40000}'), ('fee', '{100,200}'), ('fee', '{-200,-99}'), ('fee', '{-100.5,-100}'), ('fee', '{99.99,200}'), ('fee', '{99.98,200}')) v (label, bounds);
-- features that are, by their domain or their type
CREATE TABLE beyond AS SELECT i * 1000.0 - 50000 AS level, i * 1000.0 - 50000 AS fee, i * 1000.0 - 50000 AS cost, i % 2 = 0 AS y FROM generate_series(1, 100) i;
SELECT domains, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, epsilon => 0.1))',
	dp_logreg_train('beyond', 'y', ARRAY(SELECT jsonb_object_keys(domains)), 10, domains => domains), 'typed'))
FROM unnest('{"{\"level\": [32767, 40000]}","{\"level\": [32766, 40000]}","{\"fee\": [-100.5, -100]}","{\"fee\": [-100, -99]}","{\"cost\": [0, 30]}","{\"cost\": [0, 31]}","{\"level\": [-40000, -32768], \"fee\": [100, 200]}","{\"level\": [-40000, -32767], \"fee\": [100, 200]}"}'::jsonb[]) domains;
SET ROLE dperm_second_owner;
CREATE TABLE registered (level smallint, fee numeric(4, 2), wide numeric(4, 2), y boolean);
INSERT INTO registered SELECT i, i % 100, i % 100, i % 2 = 0 FROM generate_series(1, 100) i;
SELECT dp_protect('registered', 'clinic', domains => '{"level": [40000, 50000], "fee": [-101, -100], "wide": [0, 200]}');
SET ROLE dperm_second_analyst;
SELECT call, tried(call) FROM (SELECT format('dp_%s_train(''registered'', %L, %L, epsilon => 0.1%s)', learner, label, features, more)
	FROM (VALUES ('logreg', 'y', '{level,fee}', ''), ('logreg', 'y', '{level,wide}', ''), ('svm', 'y', '{fee}', ', kernel => ''gaussian'''), ('linreg', 'fee', '{wide}', ''),
		('linreg', 'wide', '{level}', ''), ('logreg', 'y', '{wide}', ', domains => ''{"wide": [100, 200]}'''), ('logreg', 'y', '{wide}', ', domains => ''{"wide": [99, 200]}''')) v (learner, label, features, more)) c (call);
-- or can have one value alone, which others, NULL and a prior make useful
SET ROLE dperm_second_owner;
CREATE TYPE lone AS ENUM ('a');
CREATE TABLE constants (e lone NOT NULL, flag lone, t text NOT NULL CHECK (t = 'a'), n int NOT NULL CHECK (n IN (3)), w text NOT NULL, y boolean) WITH (autovacuum_enabled = off);
INSERT INTO constants SELECT 'a', CASE WHEN i % 3 = 0 THEN 'a'::lone END, 'a', 3, 'a', i % 2 = 0 FROM generate_series(1, 100) i;
CREATE VIEW constants_view AS SELECT * FROM constants;
SELECT dp_protect(r, 'clinic', domains => '{"n": [0, 5], "t": ["a", "b"], "w": ["a"]}') FROM unnest('{constants,constants_view}'::text[]) r;
CREATE TEMP TABLE others AS SELECT 'a' AS t, i % 3 = 0 AS y FROM generate_series(1, 99) i;
SELECT dp_logreg_train('others', 'y', 't', 500, lambda => 0.01, domains => '{"t": ["a", "b"]}')::text AS others \gset
DROP TABLE others;
SET ROLE dperm_second_analyst;
SELECT call, tried(call) FROM (SELECT format('dp_logreg_train(%L, ''y'', %L, epsilon => 0.1%s)', r, features, more)
	FROM (VALUES ('constants', '{e,t,n}', ''), ('constants_view', '{e,n}', ''), ('constants', '{t}', ', domains => ''{"t": ["a"]}'''), ('constants', '{n}', ', knots => 4'),
		('constants_view', '{t,flag}', ''), ('constants', '{e,w}', '')) v (r, features, more)) c (call);
SELECT tried(format('dp_logreg_train(''constants'', ''y'', NULL, 0.1, prior => %L::dp_model)', :'others')) AS prior,
	tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, ''constants'', epsilon => 0.1))', :'others')) AS evaluated;
-- labels that are one of a few numbers, which need not be whole
SET ROLE dperm_second_owner;
CREATE TABLE graded (a int CHECK (a BETWEEN 0 AND 9), n numeric CHECK (n IN (0.1, 1.50)), f float8 CHECK (f = 0.1 OR f = 2.5), r real CHECK (r IN (0.1, 2.5)),
	e numeric CHECK (e IN (-1.5, 2.5, 4) AND e > -1.5 AND e < 4), c numeric CHECK (c::int IN (1, 3)));
INSERT INTO graded SELECT i % 10, 0.1, 2.5, 2.5, 2.5, 1 FROM generate_series(1, 100) i;
SELECT dp_protect('graded', 'clinic');
SET ROLE dperm_second_analyst;
SELECT label, positive, tried(format('dp_logreg_train(%L, %L, %L, 0.1, positive => %L)', 'graded', label, 'a', positive))
FROM (VALUES ('n', '0.10'), ('n', '1.5'), ('n', '1'), ('f', '0.1'), ('f', '1'), ('r', '0.1'), ('r', '0.2'), ('e', '2.5'), ('c', '1.4'), ('c', '9')) v (label, positive);
SELECT tried($$dp_linreg_train('graded', 'n', 'a', 0.1)$$), tried($$dp_linreg_train('graded', 'n', 'a', 0.1, bounds => '{1.5,2}')$$);
-- constraints that accept other spellings of a text, and numbers that doubles cannot tell apart, refuse no positive value
SET ROLE dperm_second_owner;
CREATE TABLE spellings (a int CHECK (a BETWEEN 0 AND 9), w text CHECK (w::bpchar IN ('Yes', 'No')), v text CHECK (v::bpchar IN ('a', 'b', 'c')), c char(4) CHECK (c IN ('Yes', 'No')),
	i bigint CHECK (i BETWEEN 9007199254740992 AND 9007199254740993), n numeric CHECK (n IN (9007199254740992, 9007199254740993)));
INSERT INTO spellings SELECT i % 10, 'Yes ', 'a ', 'No', 9007199254740993, 9007199254740993 FROM generate_series(1, 100) i;
SELECT dp_protect('spellings', 'clinic');
SET ROLE dperm_second_analyst;
SELECT label, positive, tried(format('dp_logreg_train(%L, %L, %L, 0.1, positive => %L)', 'spellings', label, 'a', positive))
FROM (VALUES ('w', 'Yes '), ('w', 'Yes'), ('c', 'Yes '), ('c', 'yes'), ('i', '9007199254740993'), ('i', '9007199254740999'), ('n', '9007199254740993'), ('n', '1')) v (label, positive);
SELECT tried($$dp_logreg_train('spellings', 'v', 'a', 0.1, classes => '{"a ",b,c}')$$), tried($$dp_logreg_train('spellings', 'c', 'a', 0.1, classes => '{Yes,No,yes}')$$);
-- nor do constraints that need not hold for all rows
RESET ROLE;
SET ROLE dperm_second_owner;
CREATE TABLE elder (a int CHECK (a BETWEEN 0 AND 9), w text, n int, d int, k text NOT NULL, y boolean, m int CONSTRAINT own CHECK (m < 5) NO INHERIT);
CREATE TABLE child () INHERITS (elder);
INSERT INTO child SELECT i % 10, 'c', i % 10, i % 10, chr(97 + i % 2), i % 2 = 0, i % 10 FROM generate_series(1, 100) i;
ALTER TABLE elder ADD CHECK (w IN ('a', 'b')) NOT VALID, ADD CHECK (n BETWEEN 0 AND 4) NOT VALID, ADD CHECK (d IN (1, 2)) NOT VALID, ADD CHECK (k = 'a') NOT VALID;
SELECT dp_protect('elder', 'clinic');
SELECT column_name, domain FROM dp_domains('elder');
SET ROLE dperm_second_analyst;
SELECT call, tried('dp_' || call) FROM unnest(ARRAY[$$logreg_train('elder', 'w', 'a', 0.1, positive => 'c')$$, $$logreg_train('elder', 'n', 'a', 0.1, positive => '7')$$,
	$$logreg_train('elder', 'd', 'a', 0.1, positive => '7')$$, $$logreg_train('elder', 'd', 'a', 0.1)$$, $$logreg_train('elder', 'n', 'a', 0.1, classes => '{7,8,9}')$$,
	$$logreg_train('elder', 'm', 'a', 0.1, positive => '7')$$, $$logreg_train('elder', 'y', 'k', 0.1)$$, $$linreg_train('elder', 'n', 'a', 0.1)$$, $$logreg_train('elder', 'a', 'y', 0.1, positive => '10')$$]) call;
CREATE TEMP TABLE words AS SELECT 'Yes ' AS w, i % 3 = 0 AS a FROM generate_series(1, 99) i;
SELECT list, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, epsilon => 0.1))', dp_logreg_train('words', 'a', 'w', 10, domains => jsonb_build_object('w', list)), 'spellings'))
FROM (VALUES ('["Yes "]'::jsonb)) v (list);
DROP TABLE words;
RESET ROLE;
DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') THEN
		CREATE EXTENSION citext;
		CREATE TABLE folded (a int CHECK (a BETWEEN 0 AND 9), l citext CHECK (l IN ('Yes', 'No')));
		INSERT INTO folded SELECT i % 10, 'YES' FROM generate_series(1, 100) i;
		PERFORM dp_logreg_train('folded', 'l', 'a', 10, positive => 'YES'), dp_logreg_train('folded', 'a', 'l', 10, positive => '3');
		DROP TABLE folded;
		DROP EXTENSION citext;
	END IF;
	IF EXISTS (SELECT FROM pg_collation WHERE collname = 'en-x-icu') THEN
		CREATE COLLATION fold (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		CREATE TABLE folded (a int CHECK (a BETWEEN 0 AND 9), l text COLLATE fold CHECK (l IN ('Yes', 'No')), k text COLLATE fold CHECK (k COLLATE "C" = 'Yes' OR k COLLATE "C" = 'No'));
		PERFORM dp_logreg_train('folded', 'l', 'a', 10, positive => 'YES');
		BEGIN
			PERFORM dp_logreg_train('folded', 'k', 'a', 10, positive => 'YES');
			RAISE EXCEPTION 'a value that no row can have was accepted';
		EXCEPTION WHEN invalid_parameter_value THEN NULL;
		END;
		DROP TABLE folded;
		DROP COLLATION fold;
	END IF;
END $$;
SET ROLE dperm_second_analyst;
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
