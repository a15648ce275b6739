-- The values that rows can have, by types and constraints: a model of one value alone is refused, and costs nothing
\pset format unaligned
\pset footer off
CREATE SCHEMA possible;
SET search_path = possible, public;
SELECT dp_budget_create('possible', 100);
CREATE TABLE cases (name text PRIMARY KEY, declaration text, domain jsonb, label text);
INSERT INTO cases VALUES
	('one integer', 'int NOT NULL CHECK (x > 2 AND x < 4)', '[0, 9]', '3'),
	('one integer or NULL', 'int CHECK (x > 2 AND x < 4)', '[0, 9]', '3'),
	('one integer in an inner range', 'int NOT NULL CHECK (x <= 3)', '[3, 9]', '3'),
	('two integers', 'int NOT NULL CHECK (x > 2 AND x < 5)', '[0, 9]', '3'),
	('no integer', 'int CHECK (x > 5) CHECK (x < 3)', '[0, 9]', '4'),
	('no integer of a list', 'int CHECK (x IN (1.5, 2.5))', '[0, 9]', '2'),
	('one integer of a list', 'int NOT NULL CHECK (x IN (1.5, 2, 2.5))', '[0, 9]', '2'),
	('one category of two numbers', 'int NOT NULL CHECK (x BETWEEN 1 AND 2)', '{"categories": [1]}', '1'),
	('one category of one number', 'int NOT NULL CHECK (x BETWEEN 1 AND 1)', '{"categories": [1, 2]}', '1'),
	('no category of two numbers', 'int CHECK (x BETWEEN 1 AND 2)', '{"categories": [3, 4]}', '3'),
	('one decimal', 'numeric(3,1) NOT NULL CHECK (x > 0.1 AND x < 0.3)', '[0, 9]', '0.2'),
	('two decimals', 'numeric(3,1) NOT NULL CHECK (x >= 0.1 AND x < 0.3)', '[0, 9]', '0.2'),
	('decimals of any scale', 'numeric NOT NULL CHECK (x > 0.1 AND x < 0.3)', '[0, 9]', '0.2'),
	('one real, as 0.1 is no real', 'real NOT NULL CHECK (x = 0.1 OR x = 0.5)', '[0, 1]', '0.5'),
	('two reals', 'real NOT NULL CHECK (x IN (0.1, 0.5))', '[0, 1]', '0.5'),
	('no real of a range', 'real CHECK (x > 0.1 AND x < 0.100000001)', '[0, 1]', '0.1'),
	('a day of times', 'timestamp NOT NULL CHECK (x::date = ''2020-01-01'')', '["2020-01-01", "2020-01-02"]', NULL),
	('numbers that a cast rounds', 'numeric NOT NULL CHECK (x::int = 1)', '[0, 9]', '1.2'),
	('numbers that a cast rounds, or one', 'numeric NOT NULL CHECK ((x::int >= 3 AND x <= 2.8) OR x = 9)', '[0, 9]', '9'),
	('one number, which a cast does not change', 'numeric NOT NULL CHECK (x::int = x AND x = 1)', '[0, 9]', '1'),
	('sums of decimals', 'numeric(3,1) NOT NULL CHECK (x BETWEEN 0.1 + 0.2 AND 0.4)', '[0, 9]', '0.3'),
	('casts of an array', 'int NOT NULL CHECK (x = ANY (''{1.4,2.6}''::numeric[]::int[]))', '[0, 9]', '3'),
	('two texts of any length', 'varchar NOT NULL CHECK (x IN (''a'', ''b''))', '["a", "b"]', 'b'),
	('one text of any length', 'varchar NOT NULL CHECK (x IN (''a''))', '["a", "b"]', 'a'),
	('times of a time zone', 'timestamptz NOT NULL CHECK (x <= ''2020-01-02''::date::timestamptz)', '["2020-01-02 00:00+00", "2020-01-03 00:00+00"]', NULL),
	('decimals of many digits', 'numeric NOT NULL CHECK (x IN (0.123456789012345678, 0.5))', '[0, 9]', '0.123456789012345678'),
	('one day', 'date NOT NULL CHECK (x > ''2020-01-01'' AND x < ''2020-01-03'')', '["2020-01-01", "2020-12-31"]', NULL),
	('one microsecond', 'timestamp NOT NULL CHECK (x > ''2020-01-01'' AND x < ''2020-01-01 00:00:00.000002'')', '["2020-01-01", "2020-12-31"]', NULL),
	('two microseconds', 'timestamp NOT NULL CHECK (x >= ''2020-01-01'' AND x < ''2020-01-01 00:00:00.000002'')', '["2020-01-01", "2020-12-31"]', NULL),
	('true', 'boolean NOT NULL CHECK (x)', '[false, true]', 'true'),
	('false', 'boolean NOT NULL CHECK (NOT x)', '[false, true]', 'false'),
	('false by comparison', 'boolean NOT NULL CHECK (x = false)', '[false, true]', 'false'),
	('false or NULL', 'boolean CHECK (NOT x)', '[false, true]', 'false'),
	('true or false', 'boolean NOT NULL CHECK (x OR NOT x)', '[false, true]', 'true'),
	('one text that is short enough', 'varchar(2) NOT NULL CHECK (x IN (''ab'', ''abc''))', '["ab", "cd"]', 'ab'),
	('one text, another category', 'text NOT NULL CHECK (x = ''a'')', '["b"]', 'b'),
	('two texts, one category', 'text NOT NULL CHECK (x IN (''a'', ''b''))', '["b"]', 'b');
\set ECHO none
SELECT format('CREATE TABLE %I (x %s, y boolean, z int CHECK (z BETWEEN 0 AND 9))', name, declaration) FROM cases \gexec
\set ECHO all
SET client_min_messages = error;
SELECT count(dp_protect(quote_ident(name), 'possible', domains => jsonb_build_object('x', domain))) FROM cases;
CREATE FUNCTION tried(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before float8 := (SELECT epsilon_spent FROM dp_budgets WHERE budget = 'possible');
BEGIN
	EXECUTE 'SELECT ' || call;
	RETURN 'charged ' || (SELECT round((epsilon_spent - before)::numeric, 6) FROM dp_budgets WHERE budget = 'possible');
EXCEPTION WHEN invalid_parameter_value THEN
	RETURN 'refused' || (SELECT CASE WHEN epsilon_spent > before THEN ', and charged' ELSE '' END FROM dp_budgets WHERE budget = 'possible');
END $$;
SELECT name, tried(format('dp_logreg_train(%L, ''y'', ''x'', 0.01)', quote_ident(name))) AS feature,
	CASE WHEN label IS NOT NULL THEN tried(format('dp_logreg_train(%L, ''x'', ''z'', 0.01, positive => %L)', quote_ident(name), label)) END AS label,
	CASE WHEN jsonb_typeof(domain) = 'array' AND jsonb_typeof(domain -> 0) = 'number'
		THEN tried(format('dp_linreg_train(%L, ''x'', ''z'', 0.01)', quote_ident(name))) END AS number
FROM cases ORDER BY ctid;
-- Rows of a materialized view that are older than a constraint, and a child that may allow NULL
CREATE TABLE visits (x int NOT NULL, y boolean, z int CHECK (z BETWEEN 0 AND 9));
INSERT INTO visits SELECT 1 + i % 2, i % 3 = 0, i % 10 FROM generate_series(1, 100) i;
CREATE MATERIALIZED VIEW kept AS TABLE visits;
UPDATE visits SET x = 1;
ALTER TABLE visits ADD CHECK (x = 1);
CREATE VIEW fresh AS SELECT x, y, z FROM visits WHERE z > 1;
CREATE TABLE parents (x int NOT NULL CHECK (x = 1), y boolean, z int CHECK (z BETWEEN 0 AND 9));
CREATE TABLE children () INHERITS (parents);
SELECT count(dp_protect(r, 'possible', domains => '{"x": [0, 2]}')) FROM unnest('{visits,fresh,kept,parents}'::text[]) r;
SELECT r, tried(format('dp_logreg_train(%L, ''y'', ''x'', 0.01)', r)) AS feature, tried(format('dp_logreg_train(%L, ''x'', ''z'', 0.01, positive => ''1'')', r)) AS label
FROM unnest('{visits,fresh,kept,parents}'::text[]) r;
-- Numbers beyond a domain are clamped to it, also those of a label
CREATE TABLE apart (x int CHECK (x IN (0, 3, 10)), g text CHECK (g IN ('a', 'b', 'c')), few text CHECK (few IN ('a', 'b', 'd', 'e')), z int CHECK (z BETWEEN 0 AND 9));
SELECT dp_protect('apart', 'possible', domains => '{"few": ["a", "b", "c", "d", "e"]}');
SELECT call, tried(format('dp_%s_train(''apart'', %s)', learner, call)) FROM (VALUES
	('linreg', $$'x', 'z', 0.01, domains => '{"x": [1, 5]}'$$), ('logreg', $$'x', 'z', 0.01, domains => '{"x": [1, 5]}'$$), ('logreg', $$'g', 'z', 0.01, positive => 'c'$$),
	('logreg', $$'g', 'z', 0.01, positive => 'c', domains => '{"g": ["a", "b"]}'$$), ('logreg', $$'g', 'z', 0.01, positive => 'a', domains => '{"g": ["a"]}'$$),
	('logreg', $$'few', 'z', 0.01$$), ('logreg', $$'x', 'z', 0.01, domains => '{"x": [0, 9]}'$$)) v (learner, call);
-- Classes are chosen from a list that need not hold, but only those that the label can have
CREATE MATERIALIZED VIEW kept_apart AS TABLE apart;
SELECT dp_protect('kept_apart', 'possible');
SELECT tried($$dp_logreg_train('kept_apart', 'x', 'z', 0.01, domains => '{"x": [0, 9]}')$$) AS two_values, tried($$dp_logreg_train('kept_apart', 'x', 'z', 0.01)$$) AS three_values;
-- A label of an enum that is not committed yet
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE moods (x mood, y boolean);
BEGIN;
ALTER TYPE mood ADD VALUE 'fine';
SELECT column_name, domain FROM dp_domains('moods');
SELECT dp_logreg_train('moods', 'x', 'y', 1, positive => 'sad') IS NULL AS no_rows;
ROLLBACK;
-- a model of values that a table cannot have
CREATE TABLE other_boxes AS SELECT ARRAY[i % 2, i % 3]::float8[] AS v, i % 20 < 12 AS y FROM generate_series(1, 400) i;
CREATE TABLE others AS SELECT i % 10 AS x, i % 20 < 12 AS y FROM generate_series(1, 400) i;
SELECT name, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, %L, epsilon => 0.01))', dp_logreg_train('others', 'y', 'x', 10, domains => jsonb_build_object('x', d::jsonb)), quote_ident(name)))
FROM (VALUES ('one integer', '[4, 9]'), ('one integer', '[0, 9]'), ('one integer', '{"categories": [4]}'), ('one integer', '{"categories": [3]}'),
	('no category of two numbers', '[0, 9]'), ('one category of two numbers', '[2, 9]'), ('one category of two numbers', '[0, 9]')) v (name, d);
CREATE TABLE boxes (v float8[] CHECK (cardinality(v) = 2), w float8[] CHECK (cardinality(w) = 2), y boolean);
ALTER TABLE boxes ADD CHECK (5 <= ALL (v) AND 9 >= ALL (v)) NOT VALID, ADD CHECK (5 <= ALL (w) AND 9 >= ALL (w));
SELECT dp_protect('boxes', 'possible');
SELECT c, tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, ''boxes'', epsilon => 0.01))', model)) FROM unnest('{v,w}'::text[]) c,
	LATERAL (SELECT replace(dp_logreg_train('other_boxes', 'y', 'v', 10, domains => '{"v": {"dimension": 2, "range": [0, 1]}}')::text, '"v"', format('"%s"', c)) AS model) m;
-- A holdout without such values cannot choose
CREATE TABLE far AS SELECT 100 + i % 9 AS z, i % 3 AS x, i % 2 = 0 AS y FROM generate_series(1, 99) i;
ALTER TABLE far ADD CHECK (z >= 100);
SELECT tried($$dp_logreg_tune('"two integers"', 'y', 'z', 0.01, holdout => 'far', candidates => '[{"lambda": 0.1}, {"lambda": 0.01}]')$$) AS far,
	tried($$dp_logreg_tune('"two integers"', 'y', 'x', 0.01, holdout => 'far', candidates => '[{"lambda": 0.1}, {"lambda": 0.01}]')$$) AS near;
-- nor can rows that are all the same to the candidates, though nothing declares it
CREATE FUNCTION held(features text, holdout text, more text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT possible.tried(format('dp_logreg_tune(''"two integers"'', ''y'', %L, 0.01, holdout => %L, candidates => ''[{"lambda": 0.1}, {"lambda": 0.01}]''%s)', features, holdout, more)) $$;
CREATE TABLE thousands AS SELECT 1000 + x AS x, y FROM far;
CREATE TABLE unknown AS SELECT NULL::int AS x, y FROM far;
SELECT held('x', 'thousands'), held('x', 'unknown'), held('x', 'far');
CREATE TABLE near AS SELECT x, z - 100 AS z, y FROM far;
CREATE TABLE near_thousands AS SELECT x, 1000 + z AS z, y FROM near;
SELECT h, tried(format('dp_linreg_tune(''"two integers"'', ''z'', ''x'', 0.01, holdout => %L, candidates => ''[{"lambda": 0.1}, {"lambda": 0.01}]'')', h)) FROM unnest('{near_thousands,near}'::text[]) h;
-- unless they differ for one of them
CREATE TABLE pairs AS SELECT ARRAY[i % 2, i % 3]::float8[] AS v, i % 2 = 0 AS y FROM generate_series(1, 400) i;
CREATE TABLE other_pairs AS TABLE pairs;
SELECT order_, tried(format('dp_logreg_tune(''pairs'', ''y'', ''v'', 1, holdout => ''other_pairs'', candidates => %L)', order_)) FROM unnest('{"[{\"dimension\": 3}, {\"dimension\": 2}]","[{\"dimension\": 2}, {\"dimension\": 3}]"}'::text[]) order_;
-- domains of the private table are no matter of the holdout
CREATE TABLE narrow AS SELECT x, y FROM far;
SELECT held('x', 'narrow', $$, domains => '{"z": [0, 1]}'$$);
-- one value that the model knows is known at a bound, too
CREATE TABLE lowest (x int CHECK (x = 4), y boolean);
SELECT tried(format('(SELECT count(*) FROM dp_evaluate(%L::dp_model, ''lowest'', epsilon => 0.01))', dp_logreg_train('others', 'y', 'x', 10, domains => '{"x": [4, 9]}')));
DROP SCHEMA possible CASCADE;
SELECT dp_budget_drop('possible');
