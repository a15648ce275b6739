--
-- Closed columns: what the owner closed in a table is closed in the views of it;
-- and closed relations: what has changed since it was registered
--
\pset format unaligned
\pset footer off
\pset null '(null)'
\set ECHO none
SET client_min_messages = warning;
CREATE ROLE dperm_closed_owner;
CREATE ROLE dperm_closed_heir;
CREATE ROLE dperm_closed_analyst;
CREATE SCHEMA closed AUTHORIZATION dperm_closed_owner;
GRANT USAGE ON SCHEMA closed TO dperm_closed_analyst, dperm_closed_heir;
GRANT CREATE ON SCHEMA closed TO dperm_closed_heir;
RESET client_min_messages;
SET search_path = closed, public;
-- what an error, or else the charge, of the analyst is
CREATE FUNCTION tried(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before numeric := (SELECT epsilon_spent FROM public.dp_budgets WHERE budget = 'closed');
	detail text;
	hint text;
BEGIN
	EXECUTE 'SELECT count(' || call || ')';
	RETURN 'costs ' || trim_scale((SELECT epsilon_spent FROM public.dp_budgets WHERE budget = 'closed') - before);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n  ', SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
-- whether an analyst can train on column s of a relation: what dp_domains says,
-- and a call; and its domain
CREATE FUNCTION open(relation regclass, s text DEFAULT 's', OUT shown boolean, OUT called text, OUT domain jsonb, OUT origin text) LANGUAGE plpgsql AS $$
BEGIN
	SELECT d.domain, d.origin INTO open.domain, open.origin FROM public.dp_domains(relation::text) d WHERE column_name = s;
	shown := FOUND;
	called := split_part(closed.tried(format('public.dp_logreg_train(%L, %L, ARRAY[%L], 1)', relation, 'y', s)), E'\n', 1);
END $$;
\set ECHO all
SET ROLE dperm_closed_owner;
SELECT dp_budget_create('closed', epsilon => 100);
SELECT dp_grant('closed', 'dperm_closed_analyst');
CREATE TABLE t (a int, s int CONSTRAINT s CHECK (s BETWEEN 0 AND 99), y boolean) PARTITION BY RANGE (a);
CREATE TABLE t_low PARTITION OF t FOR VALUES FROM (0) TO (5);
CREATE TABLE t_high (y boolean, gone int, s int CONSTRAINT s CHECK (s BETWEEN 0 AND 99), a int);
ALTER TABLE t_high DROP gone;
ALTER TABLE t ATTACH PARTITION t_high FOR VALUES FROM (5) TO (10);
INSERT INTO t SELECT i % 10, i % 10, i % 10 > 5 FROM generate_series(1, 400) i;
SELECT dp_protect('t', 'closed', columns => '{a,y}', domains => '{"a": [0, 9]}');

--
-- A plain column is closed as in the table; an expression is the owner's word
--
CREATE VIEW v AS SELECT y, s, a, s + 1 AS sum, a AS b FROM t WHERE a < 8;
SELECT dp_protect('v', domains => '{"sum": [1, 10]}');
SELECT columns FROM dp_protected WHERE relation = 'closed.v';
SET ROLE dperm_closed_analyst;
SELECT tried($$dp_logreg_train('v', 'y', '{s}', 1)$$);
SELECT tried($$dp_logreg_train('v', 's', '{a}', 1)$$);
SELECT count(*) FROM dp_cost('v', 'y', '{s}', 1, units => 100);
SELECT relation, s, o.* FROM unnest('{t,v}'::regclass[]) relation, unnest('{s,a}'::text[]) s, open(relation, s) o;
SELECT s, o.* FROM unnest('{sum,b}'::text[]) s, open('v', s) o;
SELECT tried($$dp_logreg_train('v', 'y', NULL, 1)$$);
SELECT features FROM dp_ledger WHERE budget = 'closed' AND act = 'charge' ORDER BY entry DESC LIMIT 1;
-- the table opens the column, and closes it
SET ROLE dperm_closed_owner;
SELECT dp_protect('t', columns => '{a,s,y}');
SET ROLE dperm_closed_analyst;
SELECT relation, o.* FROM unnest('{t,v}'::regclass[]) relation, open(relation) o;
SET ROLE dperm_closed_owner;
SELECT dp_protect('t', columns => '{y}');
SET ROLE dperm_closed_analyst;
SELECT s, o.* FROM unnest('{s,a,b,sum}'::text[]) s, open('v', s) o;
-- a view that is replaced shows another column
SET ROLE dperm_closed_owner;
SELECT dp_protect('t', columns => '{a,y}', domains => '{"a": [0, 9]}');
CREATE VIEW replaced AS SELECT y, a FROM t;
SELECT dp_protect('replaced');
CREATE OR REPLACE VIEW replaced AS SELECT y, s AS a FROM t;
SET ROLE dperm_closed_analyst;
SELECT * FROM open('replaced', 'a');
SET ROLE dperm_closed_owner;
CREATE OR REPLACE VIEW replaced AS SELECT y, s + 0 AS a FROM t;
SELECT dp_protect('replaced', domains => '{"a": [0, 9]}');
SET ROLE dperm_closed_analyst;
SELECT * FROM open('replaced', 'a');

--
-- Registered domains: that of the view counts, then that of the table
--
SET ROLE dperm_closed_owner;
CREATE TABLE d (a int, b int CHECK (b BETWEEN 0 AND 99), v float8[] CHECK (cardinality(v) = 2), y boolean);
INSERT INTO d SELECT i % 10, i % 10, ARRAY[i % 2, 0], i % 10 > 5 FROM generate_series(1, 400) i;
SELECT dp_protect('d', 'closed', domains => '{"a": [0, 9], "b": [0, 9], "v": {"range": [[0, 1], [-1, 1]]}}');
CREATE VIEW d1 AS SELECT b AS s, a, v, y FROM d;
SELECT dp_protect('d1', domains => '{"s": [0, 5]}');
CREATE VIEW d2 AS SELECT y, b AS s, a, v FROM d;
SELECT dp_protect('d2');
CREATE VIEW d3 AS SELECT y, b AS s, a, v FROM d;
SELECT dp_protect('d3', domains => '{"s": {"range": [0, 9], "knots": 3}}');
-- the ledger has what is registered
SELECT details FROM dp_ledger WHERE budget = 'closed' ORDER BY entry DESC LIMIT 1;
SET ROLE dperm_closed_analyst;
SELECT relation, o.* FROM unnest('{d1,d2,d3}'::regclass[]) relation, open(relation) o;
SELECT relation, o.* FROM unnest('{d1,d2,d3}'::regclass[]) relation, open(relation, 'a') o;
SELECT tried($$dp_logreg_train('d1', 'y', '{s}', 1, domains => '{"s": [0, 9]}')$$);
SELECT tried($$dp_logreg_train('d2', 'y', '{s}', 1, domains => '{"s": [0, 10]}')$$);
-- knots of a vector have a range within the registered one
SELECT (dp_logreg_train('d2', 'y', '{v}', 1, domains => '{"v": {"range": [[0, 1], [-1, 1]], "knots": 3}}')::jsonb #>> '{features,0}')::jsonb - 'weights';
SELECT tried($$dp_logreg_train('d2', 'y', '{v}', 1, domains => '{"v": {"knots": 3}}')$$);
SET ROLE dperm_closed_owner;
SELECT dp_protect('d2', domains => '{"v": {"range": [[0, 1], [-1, 1]], "knots": 4}}');
SELECT domains FROM dp_protected WHERE relation = 'closed.d2';

--
-- A call is not told about columns that it may not use, nor fails because of
-- those that it does not use
--
ALTER TABLE d ADD kind int, ADD code int;
SELECT dp_protect('d', 'closed', columns => '{a,y,kind}', domains => '{"a": [0, 9], "kind": {"categories": [1, 2]}}');
ALTER TABLE d ALTER kind TYPE float8;
CREATE VIEW of_d AS SELECT a, y, code FROM d;
SELECT dp_protect('of_d');
SET ROLE dperm_closed_analyst;
SELECT tried($$dp_logreg_train('d', 'y', '{a}', 1, domains => '{"kind": [1, 2]}')$$);
SELECT tried($$dp_logreg_train('d', 'y', '{a,kind}', 1, domains => '{"kind": [1, 2]}')$$);
SELECT tried($$dp_logreg_train('d', 'y', '{a}', 1, domains => '{"code": {"knots": 2}}')$$);
SELECT tried($$dp_logreg_train('of_d', 'y', '{a}', 1, domains => '{"code": {"knots": 2, "range": [0, 1]}}')$$);

--
-- A view shows another table: it is closed, whatever that table is
--
SET ROLE dperm_closed_owner;
CREATE TABLE u (a int CHECK (a BETWEEN 0 AND 9), s int CHECK (s BETWEEN 0 AND 9), y boolean);
CREATE TABLE other (LIKE u INCLUDING CONSTRAINTS);
CREATE TABLE outside (LIKE u INCLUDING CONSTRAINTS);
INSERT INTO u SELECT i % 10, i % 10, i % 10 > 5 FROM generate_series(1, 400) i;
INSERT INTO other SELECT * FROM u;
SELECT dp_protect('u', 'closed'), dp_protect('other', 'closed');
CREATE VIEW of_u AS SELECT * FROM u;
SELECT dp_protect('of_u');
CREATE OR REPLACE VIEW of_u AS SELECT * FROM other;
SELECT tried($$dp_logreg_train('of_u', 'y', '{a}', 1)$$);
SET ROLE dperm_closed_analyst;
SELECT tried($$dp_logreg_train('of_u', 'y', '{a}', 1)$$);
SELECT tried($$dp_logreg_tune('of_u', 'y', '{a}', 1)$$);
SELECT count(*) FROM dp_cost('of_u', 'y', '{a}', 1, units => 100);
\set VERBOSITY terse
SELECT count(*) FROM dp_domains('of_u');
\set VERBOSITY default
SET ROLE dperm_closed_owner;
CREATE OR REPLACE VIEW of_u AS SELECT * FROM outside;
SELECT tried($$dp_logreg_train('of_u', 'y', '{a}', 1)$$);
CREATE OR REPLACE VIEW of_u AS SELECT * FROM u;
SELECT tried($$dp_logreg_train('of_u', 'y', '{a}', 1)$$);
-- dp_protect opens it for the other table, and dp_unprotect ends it
CREATE OR REPLACE VIEW of_u AS SELECT * FROM other;
SELECT dp_protect('of_u');
SELECT tried($$dp_logreg_train('of_u', 'y', '{a}', 1)$$);
SELECT dp_unprotect('u');
CREATE OR REPLACE VIEW of_u AS SELECT * FROM outside;
SELECT dp_unprotect('other');
SELECT tried($$dp_logreg_train('of_u', 'y', '{a}', 1)$$);
SELECT dp_protect('u', 'closed');
CREATE OR REPLACE VIEW of_u AS SELECT * FROM u;
SELECT dp_protect('of_u');

--
-- Another owner: of the view, of the table, of both
--
RESET ROLE;
ALTER VIEW of_u OWNER TO dperm_closed_heir;
SELECT tried($$dp_logreg_train('of_u', 'y', '{a}', 1)$$);
SET ROLE dperm_closed_heir;
SELECT tried($$dp_logreg_train('of_u', 'y', '{a}', 1)$$);
SELECT tried($$dp_protect('of_u')$$);
RESET ROLE;
ALTER VIEW of_u OWNER TO dperm_closed_owner;
SELECT tried($$dp_logreg_train('of_u', 'y', '{a}', 1)$$);
ALTER TABLE u OWNER TO dperm_closed_heir;
SELECT relation, tried(format('dp_logreg_train(%L, %L, %L, 1)', relation, 'y', '{a}')) FROM unnest('{u,of_u}'::text[]) relation;
SET ROLE dperm_closed_owner;
SELECT relation, tried(format('dp_logreg_train(%L, %L, %L, 1)', relation, 'y', '{a}')) FROM unnest('{u,of_u}'::text[]) relation;
SELECT tried($$dp_protect('of_u')$$);
RESET ROLE;
ALTER VIEW of_u OWNER TO dperm_closed_heir;
SELECT relation, tried(format('dp_logreg_train(%L, %L, %L, 1)', relation, 'y', '{a}')) FROM unnest('{u,of_u}'::text[]) relation;
-- the new owner needs a budget of their own, protects the table, and then offers
-- the view
SET ROLE dperm_closed_heir;
SELECT tried($$dp_protect('of_u')$$);
SELECT tried($$dp_protect('u')$$);
SELECT dp_budget_create('heir', epsilon => 100), dp_protect('u', 'heir', unit => 'a');
SELECT tried($$dp_logreg_train('of_u', 'y', '{s}', 1)$$);
SELECT dp_protect('of_u');
SELECT relation, budget, unit FROM dp_protected ORDER BY relation::text;
SELECT relation, dp_logreg_train(relation, 'y', '{s}', 10)::jsonb ->> 'persons' AS persons FROM unnest('{u,of_u}'::text[]) relation;
SELECT dp_unprotect('u');

-- PostgreSQL 15 makes a view of a table, which others do not; nothing else is read
-- then
CREATE TABLE turned (a int CHECK (a BETWEEN 0 AND 9), y boolean);
CREATE VIEW of_turned AS SELECT a, y FROM turned;
SELECT dp_protect('turned', 'heir', unit => 'a'), dp_protect('of_turned');
DO $$ BEGIN CREATE RULE "_RETURN" AS ON SELECT TO closed.turned DO INSTEAD SELECT i AS a, i % 2 = 0 AS y FROM generate_series(1, 9) i; EXCEPTION WHEN OTHERS THEN NULL; END $$;
SELECT relation, tried(format('dp_logreg_train(%L, %L, %L, 1)', relation, 'y', '{a}')) ~ 'has become a view|is not the one that it is offered of' OR current_setting('server_version_num')::int >= 160000 AS closed
FROM unnest('{turned,of_turned}'::text[]) relation;
SELECT tried($$dp_protect('turned')$$) ~ 'has become a view' OR current_setting('server_version_num')::int >= 160000 AS refused;
SELECT closed = 'the table has become a view' OR current_setting('server_version_num')::int >= 160000 AS shown FROM dp_protected WHERE relation = 'closed.turned';

-- Dates of a view are those of the server, whoever calls
CREATE TABLE dated AS SELECT i AS id, i % 10 AS a, true AS y FROM generate_series(1, 2000) i;
CREATE VIEW of_dated AS SELECT a, y FROM dated WHERE age('2020-03-30 00:00+00'::timestamptz, '2020-03-01 00:00+00'::timestamptz) = '29 days';
SELECT dp_protect('dated', 'heir', unit => 'id', domains => '{"a": [0, 9]}'), dp_protect('of_dated');
RESET ROLE;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET TimeZone = %L', current_database(), 'UTC'); END $$;
SET ROLE dperm_closed_heir;
SET TimeZone = 'Europe/Berlin';
SELECT sum(value) > 1000 AS with_rows FROM dp_logreg_train('dated', 'y', '{a}', 5) model, dp_evaluate(model, 'of_dated', epsilon => 5) WHERE metric ~ 'positives|negatives';
RESET TimeZone;
RESET ROLE;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET TimeZone', current_database()); END $$;
SET client_min_messages = warning;
DROP SCHEMA closed CASCADE;
SELECT dp_budget_drop('closed'), dp_budget_drop('heir');
DROP ROLE dperm_closed_owner, dperm_closed_heir, dperm_closed_analyst;
