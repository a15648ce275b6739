-- The rows of a protected view: what is computed from a row depends on that row
-- alone, whatever row comes before it
\pset format unaligned
\pset footer off
CREATE ROLE view_rows_owner;
CREATE SCHEMA view_rows AUTHORIZATION view_rows_owner;
SET ROLE view_rows_owner;
SET client_min_messages = warning;
SELECT count(dp_budget_create('view rows', 500));
\set ECHO none
CREATE TABLE view_rows.plain (x float8 CHECK (x BETWEEN 0 AND 1), y boolean);
INSERT INTO view_rows.plain SELECT i % 2, i % 2 = 1 FROM generate_series(1, 200) i;
CREATE TABLE view_rows.model AS SELECT dp_logreg_train('view_rows.plain', 'y', 'x', 5) AS model;
CREATE TYPE view_rows.person AS (n int, many int[], j jsonb, y boolean);

-- Expressions over a row, and what the first row of two tables has: that of
-- others is (0, '{1}', '1', true)
CREATE TABLE view_rows.cases (id int GENERATED ALWAYS AS IDENTITY, name text, x text, y text, one view_rows.person, other view_rows.person);
INSERT INTO view_rows.cases (name, x, y, one, other) VALUES
	('division', '1 / (n - 7)', 'y', (0, '{1}', '1', true), (7, '{1}', '1', true)),
	('overflow', 'n + 2147483640', 'y', (0, '{1}', '1', true), (8, '{1}', '1', true)),
	('input', 'n', $$(j ->> 0)::boolean$$, (0, '{1}', '1', true), (0, '{1}', '"unknown"', true)),
	('shape', 'n', $$(array_append(many, 1))[1] = 1 AND y$$, (0, '{1}', '1', true), (0, '{{1},{2}}', '1', true)),
	('memory', $$length(repeat('a', n * 200000000))$$, 'y', (0, '{1}', '1', true), (7, '{1}', '1', true));
\set ECHO all
SELECT format('CREATE TABLE view_rows.%1$I OF view_rows.person; INSERT INTO view_rows.%1$I SELECT ((%2$L)::view_rows.person).*; INSERT INTO view_rows.%1$I SELECT 0, ''{1}'', ''1'', true FROM generate_series(1, 200)', name || suffix, first)
FROM view_rows.cases, LATERAL (VALUES ('_a', one), ('_b', other)) v (suffix, first) ORDER BY id, suffix
\set ECHO none
\gexec
SELECT format('CREATE VIEW view_rows.%I AS SELECT %s AS x, %s AS y FROM view_rows.%I r', name || suffix || '_view', x, y, name || suffix)
FROM view_rows.cases, unnest('{_a,_b}'::text[]) suffix ORDER BY id, suffix \gexec
SELECT count(dp_protect('view_rows.' || name || suffix, 'view rows')), count(dp_protect('view_rows.' || name || suffix || '_view', 'view rows', domains => '{"x": [0, 1]}')) FROM view_rows.cases, unnest('{_a,_b}'::text[]) suffix;
\set ECHO all
-- counts, in fifties: of all rows with a label, and of those that are decided
-- upon in the same way
CREATE FUNCTION view_rows.count(view text) RETURNS text LANGUAGE sql AS $$
	SELECT round(sum(value) / 50) * 50 || ' rows, ' || round(max(value) / 50) * 50 || ' alike' FROM view_rows.model, dp_evaluate(model, 'view_rows.' || view, epsilon => 2) WHERE metric LIKE '%tives' $$;
SELECT name, view_rows.count(name || '_a_view') AS one, view_rows.count(name || '_b_view') AS other FROM view_rows.cases ORDER BY id;
-- The number of rows is that of the table, whatever fails
SELECT name, dp_logreg_train('view_rows.' || name || '_b_view', 'y', 'x', 1)::jsonb ->> 'rows' AS rows FROM view_rows.cases ORDER BY id;
-- also of one with a column that is computed when it is read, which PostgreSQL
-- 18 has
SELECT v AS kind, CASE v WHEN 'VIRTUAL' THEN 7 ELSE 1000 END AS wrong FROM (SELECT CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 'VIRTUAL' ELSE 'STORED' END) v (v) \gset
CREATE TABLE view_rows.computed (id int, y boolean, x float8 GENERATED ALWAYS AS (1 / (id - :wrong)) :kind);
INSERT INTO view_rows.computed (id, y) SELECT i, i % 2 = 0 FROM generate_series(1, 200) i;
SELECT count(dp_protect('view_rows.computed', 'view rows', domains => '{"x": [-1, 1]}'));
SELECT dp_logreg_train('view_rows.computed', 'y', 'x', 1)::jsonb ->> 'rows' AS rows;
RESET client_min_messages;
RESET ROLE;
SET client_min_messages = error;
DROP OWNED BY view_rows_owner CASCADE;
RESET client_min_messages;
SELECT dp_budget_drop('view rows');
DROP ROLE view_rows_owner;
