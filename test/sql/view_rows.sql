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
CREATE TYPE view_rows.person AS (word text, n int, many int[], j jsonb, y boolean);

-- A function, how a view calls it, and what the first row of two tables has:
-- that of others is ('02/03/1990', 0, '{0}', '1', true)
CREATE TABLE view_rows.cases (id int GENERATED ALWAYS AS IDENTITY, name text, x text, y text, one view_rows.person, other view_rows.person, function text);
INSERT INTO view_rows.cases (name, x, y, one, other, function) VALUES
	-- an expression that has failed once is planned in another way
	('simple', 'f(r)', 'y', ('02/03/1990', 0, '{0}', '1', true), ('unknown', 0, '{0}', '1', true), $$LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN CASE WHEN r.word::date >= ''2000-01-01''::date THEN 1 / r.n ELSE 0 END; END'$$),
	-- costs of the first plans decide how others are planned
	('costs', 'f(r)', 'y', ('', 1, '{0}', '1', true), ('', 1, array_fill(0, '{16}'), '1', true), $$LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN (SELECT max(CASE WHEN u > 0 THEN 1 / r.n ELSE 0 END) FROM unnest(r.many) u, unnest(r.many) v, unnest(r.many) w, unnest(r.many) x); END'$$),
	('costs_parsed', 'f(r)', 'y', ('', 1, '{0}', '1', true), ('', 1, array_fill(0, '{16}'), '1', true), $$IMMUTABLE RETURN (SELECT max(CASE WHEN u > 0 THEN 1 / r.n ELSE 0 END) FROM unnest(r.many) u, unnest(r.many) v, unnest(r.many) w, unnest(r.many) x)$$),
	-- the type of a record's field
	('field', 'f(r)', 'y', ('', 0, '{}', '1', true), ('', 0, '{}', '"1"', true), $$LANGUAGE plpgsql IMMUTABLE STRICT AS 'DECLARE q record; BEGIN IF jsonb_typeof(r.j) = ''number'' THEN SELECT r.j::int AS v INTO q; ELSE SELECT r.j #>> ''{}'' AS v INTO q; END IF; RETURN CASE WHEN q.v::text = ''1'' THEN 1 ELSE 0 END; END'$$),
	-- a cursor that stays open
	('cursor', 'f(r)', 'y', ('', 0, '{}', '1', NULL), ('', 7, '{}', '1', NULL), $$LANGUAGE plpgsql IMMUTABLE AS 'DECLARE c refcursor := ''mine''; v float8; BEGIN OPEN c FOR SELECT 1; FETCH c INTO v; IF r.n = 7 THEN CLOSE c; END IF; RETURN v; END'$$),
	-- a setting
	('setting', 'coalesce(f(r), 1)', $$CASE WHEN extract(month FROM word::date) = 2 THEN y END$$, ('02/03/1990', 0, '{}', '1', true), ('02/03/1990', 7, '{}', '1', true),
		$$LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN IF r.n = 7 THEN PERFORM set_config(''datestyle'', ''ISO, DMY'', true); END IF; RETURN 1; END'$$),
	-- rows that fail, in one way or another
	('division', '1 / (n - 7)', 'y', ('', 0, '{}', '1', true), ('', 7, '{}', '1', true), NULL),
	('whole_row', '(to_jsonb(r) ->> ''n'')::float8', 'y', ('', 0, '{}', '1', true), ('', 7, '{}', '1', true), NULL);
\set ECHO all
SELECT format('CREATE TABLE view_rows.%1$I OF view_rows.person; INSERT INTO view_rows.%1$I SELECT ((%2$L)::view_rows.person).*; INSERT INTO view_rows.%1$I SELECT ''02/03/1990'', 0, ''{0}'', ''1'', true FROM generate_series(1, 200)', name || suffix, first)
FROM view_rows.cases, LATERAL (VALUES ('_a', one), ('_b', other)) v (suffix, first) ORDER BY id, suffix
\set ECHO none
\gexec
SELECT format('CREATE FUNCTION view_rows.%I(r view_rows.person) RETURNS float8 %s', name, function) FROM view_rows.cases WHERE function IS NOT NULL \gexec
SELECT format('CREATE VIEW view_rows.%I AS SELECT %s AS x, %s AS y FROM view_rows.%I r', name || suffix || '_view', replace(x, 'f(r)', format('view_rows.%I(r::view_rows.person)', name)), y, name || suffix)
FROM view_rows.cases, unnest('{_a,_b}'::text[]) suffix ORDER BY id, suffix \gexec
SELECT count(dp_protect('view_rows.' || name || suffix || '_view', 'view rows', domains => '{"x": [0, 1]}')) FROM view_rows.cases, unnest('{_a,_b}'::text[]) suffix;
\set ECHO all
-- counts, in fifties: of all rows with a label, and of those that are decided
-- upon in the same way
CREATE FUNCTION view_rows.count(view text) RETURNS text LANGUAGE sql AS $$
	SELECT round(sum(value) / 50) * 50 || ' rows, ' || round(max(value) / 50) * 50 || ' alike' FROM view_rows.model, dp_evaluate(model, 'view_rows.' || view, epsilon => 2) WHERE metric LIKE '%tives' $$;
SELECT name, view_rows.count(name || '_a_view') AS one, view_rows.count(name || '_b_view') AS other FROM view_rows.cases ORDER BY id;
-- a whole row has no NULL where a column was dropped
CREATE TABLE view_rows.dropped (gone int, x float8, y boolean);
ALTER TABLE view_rows.dropped DROP gone;
INSERT INTO view_rows.dropped SELECT 1, true FROM generate_series(1, 200);
CREATE FUNCTION view_rows.is_full(r view_rows.dropped) RETURNS boolean IMMUTABLE RETURN r IS NOT NULL;
CREATE VIEW view_rows.whole AS SELECT x, y FROM view_rows.dropped r WHERE r IS NOT NULL AND view_rows.is_full(r) AND coalesce(r, NULL) IS NOT NULL AND (r).y;
SELECT count(dp_protect('view_rows.whole', 'view rows', domains => '{"x": [0, 1]}'));
SELECT view_rows.count('whole');
-- A function of ours that a view calls with values of rows does not tell them
CREATE FUNCTION view_rows.loud(x float8) RETURNS float8 IMMUTABLE SET client_min_messages = warning
	RETURN CASE WHEN (SELECT dp_logreg(true, ARRAY[1::float8], 1, '{"method": "output", "delta": 0.9}') FROM generate_series(1, 2 + x::int)) IS NULL THEN 1 ELSE x END;
CREATE VIEW view_rows.loud AS SELECT view_rows.loud(x) AS x, y FROM view_rows.plain;
SELECT count(dp_protect('view_rows.loud', 'view rows', domains => '{"x": [0, 1]}'));
SELECT dp_logreg_train('view_rows.loud', 'y', 'x', 1)::jsonb ->> 'rows' AS rows;
-- The number of rows is that of the table, whatever fails
SELECT name, dp_logreg_train('view_rows.' || name || '_b_view', 'y', 'x', 1)::jsonb ->> 'rows' AS rows FROM view_rows.cases ORDER BY id;
-- also of one with a column that is computed when it is read, which PostgreSQL
-- 18 has
SELECT v AS kind, CASE v WHEN 'VIRTUAL' THEN 7 ELSE 1000 END AS wrong FROM (SELECT CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 'VIRTUAL' ELSE 'STORED' END) v (v) \gset
CREATE TABLE view_rows.computed (id int, y boolean, x float8 GENERATED ALWAYS AS (1 / (id - :wrong)) :kind);
INSERT INTO view_rows.computed (id, y) SELECT i, i % 2 = 0 FROM generate_series(1, 200) i;
SELECT count(dp_protect('view_rows.computed', 'view rows', domains => '{"x": [-1, 1]}'));
SELECT dp_logreg_train('view_rows.computed', 'y', 'x', 1)::jsonb ->> 'rows' AS rows;
-- The owner of a view needs the rights on every view behind it, also if the
-- table can be read; nothing is charged
RESET ROLE;
CREATE ROLE view_rows_other;
GRANT USAGE, CREATE ON SCHEMA view_rows TO view_rows_other;
GRANT SELECT ON view_rows.plain TO view_rows_other;
SET ROLE view_rows_other;
CREATE VIEW view_rows.lowest AS SELECT x / 2 AS x, y FROM view_rows.plain;
CREATE VIEW view_rows.between AS SELECT x * 2 AS x, y FROM view_rows.lowest;
GRANT SELECT ON view_rows.between TO view_rows_owner;
SET ROLE view_rows_owner;
CREATE VIEW view_rows.upper AS SELECT 1 - x AS x, y FROM view_rows.between;
CREATE VIEW view_rows.uppermost AS SELECT x, NOT y AS y FROM view_rows.upper;
SELECT count(dp_protect('view_rows.uppermost', 'view rows', domains => '{"x": [0, 1]}'));
SELECT dp_logreg_train('view_rows.uppermost', 'y', 'x', 1)::jsonb ->> 'rows' AS rows;
SET ROLE view_rows_other;
REVOKE SELECT ON view_rows.between FROM view_rows_owner;
SET ROLE view_rows_owner;
SELECT count(*) AS before FROM dp_ledger WHERE act = 'charge' \gset
SELECT dp_logreg_train('view_rows.uppermost', 'y', 'x', 1);
SELECT count(*) - :before AS charges FROM dp_ledger WHERE act = 'charge';
RESET client_min_messages;
RESET ROLE;
SET client_min_messages = error;
DROP OWNED BY view_rows_owner, view_rows_other CASCADE;
RESET client_min_messages;
SELECT dp_budget_drop('view rows');
DROP ROLE view_rows_owner, view_rows_other;
