--
-- Closed columns: what the owner closed in a relation is closed in every other
-- relation that shows the same column
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
	SELECT d.domain, d.origin INTO open.domain, open.origin FROM public.dp_domains(relation) d WHERE column_name = s;
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
-- A view of a view, whether the one in between is protected or not
--
CREATE VIEW free AS SELECT s, y, a FROM t;
CREATE VIEW first AS SELECT a, s, y, s + 1 AS sum FROM free;
SELECT dp_protect('first', 'closed');
SELECT columns FROM dp_protected WHERE relation = 'first'::regclass;
CREATE VIEW second AS SELECT y, s, a, sum, a AS b FROM first WHERE a < 8;
SELECT dp_protect('second', 'closed');
-- who names a closed column is told
SELECT dp_protect('second', 'closed', columns => '{a,s,y}');
SELECT columns FROM dp_protected WHERE relation = 'second'::regclass;
-- a column that only the view in between closes is closed behind it
SELECT dp_protect('first', 'closed', columns => '{a,y}');
SELECT dp_protect('second', 'closed', columns => '{a,y,sum}');
SET ROLE dperm_closed_analyst;
SELECT * FROM open('t');
SELECT tried($$dp_logreg_train('second', 'y', '{sum}', 1)$$);
SELECT tried($$dp_logreg_train('second', 's', '{a}', 1)$$);
SELECT count(*) FROM dp_cost('second', 'y', '{s}', 1, rows => 100);
SELECT relation, o.* FROM unnest('{first,second}'::regclass[]) relation, open(relation) o;
SELECT relation, o.* FROM unnest('{first,second}'::regclass[]) relation, open(relation, 'sum') o;
SELECT relation, o.* FROM unnest('{first,second}'::regclass[]) relation, open(relation, 'a') o;

--
-- The table closes a column later, or opens it; an expression is the owner's word
--
SET ROLE dperm_closed_owner;
SELECT dp_protect('t', 'closed', columns => '{a,s,y}');
SELECT dp_protect('first', 'closed', columns => '{a,s,sum,y}', domains => '{"sum": [1, 10]}');
SELECT dp_protect('second', 'closed', columns => '{a,b,s,sum,y}');
SET ROLE dperm_closed_analyst;
SELECT relation, o.* FROM unnest('{t,first,second}'::regclass[]) relation, open(relation) o;
SELECT * FROM open('second', 'sum');
SET ROLE dperm_closed_owner;
SELECT dp_protect('t', 'closed', columns => '{a,y}');
SET ROLE dperm_closed_analyst;
SELECT relation, o.* FROM unnest('{t,first,second}'::regclass[]) relation, open(relation) o;
SELECT * FROM open('second', 'sum');
SELECT tried($$dp_logreg_train('second', 'y', NULL, 1)$$);
SELECT features FROM dp_ledger WHERE budget = 'closed' AND act = 'charge' ORDER BY entry DESC LIMIT 1;
-- the owner corrects something else, and is told
SET ROLE dperm_closed_owner;
SELECT dp_protect('second', 'closed', domains => '{"sum": [1, 5]}');

--
-- A view that is replaced shows another column
--
CREATE VIEW replaced AS SELECT y, a FROM t;
SELECT dp_protect('replaced', 'closed', columns => '{y,a}');
CREATE OR REPLACE VIEW replaced AS SELECT y, s AS a FROM t;
SET ROLE dperm_closed_analyst;
SELECT * FROM open('replaced', 'a');
SET ROLE dperm_closed_owner;
CREATE OR REPLACE VIEW replaced AS SELECT y, s + 0 AS a FROM t;
SELECT dp_protect('replaced', 'closed', domains => '{"a": [0, 9]}');
SET ROLE dperm_closed_analyst;
SELECT * FROM open('replaced', 'a');

--
-- Partitions and children: of the table, and a table of them
--
SET ROLE dperm_closed_owner;
SELECT dp_protect('t_low', 'closed');
SELECT dp_protect('t_high', 'closed', columns => '{s,y}');
SELECT dp_protect('t_high', 'closed');
-- both close it: it is opened in one after the other
BEGIN;
SELECT dp_protect('t', 'closed', columns => '{a,s,y}');
SELECT dp_protect('t_low', 'closed', columns => '{a,s,y}');
SELECT dp_protect('t_high', 'closed', columns => '{a,s,y}');
SELECT relation, array_agg(column_name) FROM unnest('{t,t_low,t_high}'::regclass[]) relation, dp_domains(relation) GROUP BY 1 ORDER BY 1;
ROLLBACK;
-- a partition that is detached keeps closed what was closed
BEGIN;
ALTER TABLE t DETACH PARTITION t_low;
SELECT column_name FROM dp_domains('t_low');
ROLLBACK;
CREATE VIEW of_part AS SELECT a, s, y FROM t_high;
SELECT dp_protect('of_part', 'closed');
SET ROLE dperm_closed_analyst;
SELECT relation, o.* FROM unnest('{t_low,t_high,of_part}'::regclass[]) relation, open(relation) o;
SELECT relation, o.* FROM unnest('{t_low,t_high,of_part}'::regclass[]) relation, open(relation, 'a') o;
SET ROLE dperm_closed_owner;
CREATE TABLE mother (s int CHECK (s BETWEEN 0 AND 99), y boolean);
CREATE TABLE father (s int CHECK (s BETWEEN 0 AND 99), y boolean, f int);
CREATE TABLE child (f int, c int) INHERITS (mother, father);
CREATE TABLE grandchild (s int) INHERITS (child);
INSERT INTO grandchild SELECT i, i % 10 > 5, i, i FROM generate_series(0, 99) i;
SELECT dp_protect(r, 'closed') FROM unnest('{mother,father,child,grandchild}'::text[]) r;
-- a part, or another parent of a part, closes what it has; its range is its own
SELECT dp_protect('grandchild', 'closed', domains => '{"s": [0, 5]}');
SELECT dp_protect('father', 'closed', domains => '{"s": [0, 50]}');
SET ROLE dperm_closed_analyst;
SELECT relation, o.* FROM unnest('{mother,father,child,grandchild}'::regclass[]) relation, open(relation) o;
SET ROLE dperm_closed_owner;
SELECT dp_protect('father', 'closed', columns => '{y,f}');
SET ROLE dperm_closed_analyst;
SELECT relation, o.* FROM unnest('{mother,father,child,grandchild}'::regclass[]) relation, open(relation) o;
SET ROLE dperm_closed_owner;
SELECT dp_protect('father', 'closed', columns => '{s,y,f}');
SELECT dp_protect('grandchild', 'closed', columns => '{y}');
SET ROLE dperm_closed_analyst;
SELECT relation, o.* FROM unnest('{mother,father,child,grandchild}'::regclass[]) relation, open(relation) o;

--
-- Registered domains: that of the nearest relation counts, its own first
--
SET ROLE dperm_closed_owner;
CREATE TABLE d (a int, b int CHECK (b BETWEEN 0 AND 99), v float8[] CHECK (cardinality(v) = 2), y boolean);
INSERT INTO d SELECT i % 10, i % 10, ARRAY[i % 2, 0], i % 10 > 5 FROM generate_series(1, 400) i;
SELECT dp_protect('d', 'closed', domains => '{"a": [0, 9], "b": [0, 9], "v": {"range": [[0, 1], [-1, 1]]}}');
CREATE VIEW d1 AS SELECT b AS s, a, v, y FROM d;
SELECT dp_protect('d1', 'closed', domains => '{"s": [0, 5]}');
CREATE VIEW d2 AS SELECT y, s, a, v FROM d1;
SELECT dp_protect('d2', 'closed');
CREATE VIEW d3 AS SELECT y, s, a, v FROM d2;
SELECT dp_protect('d3', 'closed', domains => '{"s": {"knots": 3}}');
-- the ledger has what is registered
SELECT details FROM dp_ledger WHERE budget = 'closed' ORDER BY entry DESC LIMIT 1;
SET ROLE dperm_closed_analyst;
SELECT relation, o.* FROM unnest('{d1,d2,d3}'::regclass[]) relation, open(relation) o;
SELECT relation, o.* FROM unnest('{d1,d2,d3}'::regclass[]) relation, open(relation, 'a') o;
SELECT tried($$dp_logreg_train('d2', 'y', '{s}', 1, domains => '{"s": [0, 9]}')$$);
-- knots of a vector are for its registered range
SELECT (dp_logreg_train('d2', 'y', '{v}', 1, domains => '{"v": {"knots": 3}}')::jsonb #>> '{features,0}')::jsonb - 'weights';
SELECT tried($$dp_logreg_train('d2', 'y', '{v}', 1, domains => '{"v": {"dimension": 3, "knots": 3}}')$$);
SET ROLE dperm_closed_owner;
SELECT dp_protect('d2', 'closed', domains => '{"v": {"knots": 4}}');
SELECT domains FROM dp_protected WHERE relation = 'd2'::regclass;

--
-- A call is not told about columns that it may not use, nor fails because of
-- those that it does not use
--
ALTER TABLE d ADD kind int, ADD code int;
SELECT dp_protect('d', 'closed', columns => '{a,y,kind,code}', domains => '{"a": [0, 9], "kind": {"categories": [1, 2]}, "code": {"categories": [1, 2]}}');
ALTER TABLE d ALTER kind TYPE float8;
SET ROLE dperm_closed_analyst;
SELECT tried($$dp_logreg_train('d', 'y', '{a}', 1, domains => '{"kind": [1, 2]}')$$);
SELECT tried($$dp_logreg_train('d', 'y', '{a,kind}', 1, domains => '{"kind": [1, 2]}')$$);
SELECT tried($$dp_logreg_train('d', 'y', '{a}', 1, domains => '{"code": {"knots": 2}}')$$);
SET ROLE dperm_closed_owner;
CREATE VIEW of_d AS SELECT a, y, code FROM d;
SELECT dp_protect('of_d', 'closed', columns => '{a,y}');
SET ROLE dperm_closed_analyst;
SELECT tried($$dp_logreg_train('of_d', 'y', '{a}', 1, domains => '{"code": {"knots": 2, "range": [0, 1]}}')$$);

--
-- A table behind a view gets another owner, or is no longer protected
--
SET ROLE dperm_closed_owner;
CREATE TABLE u (a int CHECK (a BETWEEN 0 AND 9), s int CHECK (s BETWEEN 0 AND 9), y boolean);
INSERT INTO u SELECT i % 10, i % 10, i % 10 > 5 FROM generate_series(1, 400) i;
SELECT dp_protect('u', 'closed');
CREATE VIEW of_u AS SELECT * FROM u;
SELECT dp_protect('of_u', 'closed');
SELECT dp_protect('u', 'closed', columns => '{a,y}');
GRANT SELECT ON u TO dperm_closed_heir;
RESET ROLE;
ALTER TABLE u OWNER TO dperm_closed_heir;
GRANT SELECT ON u TO dperm_closed_owner;
SET ROLE dperm_closed_analyst;
SELECT * FROM open('of_u');
SELECT * FROM open('of_u', 'a');
RESET ROLE;
ALTER TABLE u OWNER TO dperm_closed_owner;
SET ROLE dperm_closed_owner;
SELECT dp_unprotect('u');
SET ROLE dperm_closed_analyst;
SELECT * FROM open('of_u');
-- nobody is told where nothing changes
SET ROLE dperm_closed_owner;
SELECT dp_protect('u', 'closed');
SELECT dp_unprotect('u');
SELECT dp_unprotect('of_part');

RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA closed CASCADE;
SELECT dp_budget_drop('closed');
DROP ROLE dperm_closed_owner, dperm_closed_heir, dperm_closed_analyst;
