--
-- Ways around the protection of a relation, and ways to run code with the
-- rights of its owner
--
\pset format unaligned
\pset footer off
CREATE ROLE dperm_owner;
CREATE ROLE dperm_heir;
CREATE ROLE dperm_analyst;
CREATE ROLE dperm_reader;
CREATE ROLE dperm_officer IN ROLE pg_read_all_stats;
CREATE SCHEMA vault AUTHORIZATION dperm_owner;
CREATE SCHEMA lab AUTHORIZATION dperm_analyst;
GRANT USAGE ON SCHEMA vault, lab TO PUBLIC;
SET ROLE dperm_owner;
CREATE TABLE vault.people (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 120), bmi float8, note text, ill boolean);
INSERT INTO vault.people SELECT i, i % 100, i % 50, 'n' || i % 5, i % 3 = 0 FROM generate_series(1, 200) i;
SELECT dp_budget_create('vault', 500);
SELECT dp_protect('vault.people', 'vault', domains => '{"bmi": [0, 60], "note": ["n0", "n1"]}');
SELECT dp_grant('vault', 'dperm_analyst');
GRANT SELECT ON vault.people TO dperm_reader;
-- what is charged so far, for everything below
CREATE FUNCTION vault.charged() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$ SELECT count(*) FROM dp_ledger WHERE budget = 'vault' AND act = 'charge' $$;
RESET ROLE;

-- The tables behind it are closed, for everybody but the extension
SET ROLE dperm_analyst;
\set VERBOSITY terse
SELECT * FROM dperm.dp_protected_relations;
SELECT * FROM dperm.dp_protected_columns;
DELETE FROM dperm.dp_protected_relations;
DELETE FROM dp_protected;
SELECT dp_unprotect('vault.people');
SELECT dp_protect('vault.people', 'vault');
SELECT dp_budget_alter('vault', 400);
SELECT dp_grant('vault', 'dperm_reader');
SELECT dperm.dperm_registry_sync();
DROP EVENT TRIGGER dperm_registry_drop;
\set VERBOSITY default
RESET ROLE;

-- Views, materialized views and functions that read it
SET ROLE dperm_reader;
CREATE TEMP VIEW mine AS SELECT age, bmi, ill FROM vault.people;
SELECT dp_logreg_train('mine', 'ill', '{age}', 1);
\echo :LAST_ERROR_SQLSTATE
CREATE TEMP VIEW mine_again AS SELECT age, ill FROM mine WHERE age > 1;
SELECT dp_svm_train('mine_again', 'ill', '{age}', 1);
CREATE TEMP VIEW joined AS SELECT a.age, b.ill FROM vault.people a, vault.people b;
SELECT dp_logreg_tune('joined', 'ill', '{age}', 1, candidates => '[{"lambda": 0.1}]');
CREATE TEMP VIEW behind_subquery AS SELECT (SELECT max(age) FROM vault.people) AS age, true AS ill;
SELECT dp_logreg_train('behind_subquery', 'ill', '{age}', 1, domains => '{"age": [0, 1]}');
RESET ROLE;
GRANT CREATE ON SCHEMA lab TO dperm_reader;
SET ROLE dperm_reader;
CREATE MATERIALIZED VIEW lab.copy AS SELECT age, ill FROM vault.people;
SELECT dp_logreg_train('lab.copy', 'ill', '{age}', 1);
CREATE FUNCTION lab.rows() RETURNS SETOF vault.people LANGUAGE sql STABLE BEGIN ATOMIC SELECT * FROM vault.people; END;
CREATE VIEW lab.by_function AS SELECT * FROM lab.rows();
SELECT dp_logreg_train('lab.by_function', 'ill', '{age}', 1, domains => '{"age": [0, 1]}');
CREATE TABLE lab.open AS SELECT 1 AS age, true AS ill;
ALTER TABLE lab.open ENABLE ROW LEVEL SECURITY;
CREATE POLICY by_people ON lab.open USING (EXISTS (SELECT FROM vault.people));
SELECT dp_logreg_train('lab.open', 'ill', '{age}', 1, domains => '{"age": [0, 1]}');
DROP TABLE lab.open;
SELECT dp_evaluate(dp_logreg_train('lab.copy', 'ill', '{age}', 1), 'lab.copy', epsilon => 1);
-- somebody without SELECT still gets an error
GRANT SELECT ON lab.by_function TO dperm_analyst;
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('lab.copy', 'ill', '{age}', 1);
SELECT dp_logreg_train('lab.by_function', 'ill', '{age}', 1, domains => '{"age": [0, 1]}');
RESET ROLE;
-- the aggregates are charged to nobody
SET ROLE dperm_reader;
SELECT dp_logreg(ill, ARRAY[age / 120.0], 1) FROM vault.people;
\echo :LAST_ERROR_SQLSTATE
SELECT dp_svm(ill, ARRAY[age / 120.0], 1) FROM mine GROUP BY bmi > 10;
SELECT dp_svm(ill, ARRAY[age / 120.0], 1) FROM lab.copy;
SELECT dp_logreg(true, ARRAY[i / 10.0], 1) IS NOT NULL AS others FROM generate_series(1, 9) i;
DROP VIEW mine CASCADE;
DROP VIEW joined, behind_subquery;
DROP MATERIALIZED VIEW lab.copy;
DROP VIEW lab.by_function;
DROP FUNCTION lab.rows;
RESET ROLE;
SELECT vault.charged();

-- Partitions and children: a part is no way around the whole, nor the whole
-- around a part
SET ROLE dperm_owner;
CREATE TABLE vault.parted (age int CHECK (age BETWEEN 0 AND 120), ill boolean, year int) PARTITION BY LIST (year);
CREATE TABLE vault.y1 PARTITION OF vault.parted FOR VALUES IN (1);
INSERT INTO vault.parted SELECT i % 100, i % 3 = 0, 1 FROM generate_series(1, 100) i;
SELECT dp_protect('vault.parted', 'vault');
SELECT dp_logreg_train('vault.y1', 'ill', '{age}', 1);
SELECT dp_logreg_train('vault.parted', 'ill', '{age}', 1)::jsonb ->> 'rows' AS rows;
-- a new partition is covered
CREATE TABLE vault.y2 PARTITION OF vault.parted FOR VALUES IN (2);
INSERT INTO vault.parted SELECT i % 100, i % 3 = 0, 2 FROM generate_series(1, 50) i;
SELECT dp_logreg_train('vault.y2', 'ill', '{age}', 1);
SELECT dp_logreg_train('vault.parted', 'ill', '{age}', 1)::jsonb ->> 'rows' AS rows;
CREATE TABLE vault.y3 AS SELECT * FROM vault.y1;
ALTER TABLE vault.y3 ADD CONSTRAINT parted_age_check CHECK (age BETWEEN 0 AND 120);
UPDATE vault.y3 SET year = 3;
SELECT dp_logreg_train('vault.y3', 'ill', '{age}', 1) IS NOT NULL AS not_yet;
ALTER TABLE vault.parted ATTACH PARTITION vault.y3 FOR VALUES IN (3);
\set VERBOSITY terse
SELECT dp_logreg_train('vault.y3', 'ill', '{age}', 1);
SELECT dp_unprotect('vault.parted');
SELECT dp_protect('vault.y3', 'vault');
SELECT dp_logreg_train('vault.parted', 'ill', '{age}', 1);
SELECT dp_logreg_train('vault.y3', 'ill', '{age}', 1) IS NOT NULL AS itself;
SELECT dp_logreg_train('vault.y1', 'ill', '{age}', 1) IS NOT NULL AS its_sister;
CREATE TABLE vault.child (extra int) INHERITS (vault.people);
SELECT dp_logreg_train('vault.child', 'ill', '{age}', 1);
CREATE TABLE vault.parent (age int CONSTRAINT people_age_check CHECK (age BETWEEN 0 AND 120), ill boolean);
ALTER TABLE vault.people INHERIT vault.parent;
SELECT dp_logreg_train('vault.parent', 'ill', '{age}', 1);
\set VERBOSITY default
ALTER TABLE vault.people NO INHERIT vault.parent;
DROP TABLE vault.child, vault.parent, vault.parted;
RESET ROLE;

-- Renamed, altered, dropped
SET ROLE dperm_owner;
SELECT dp_protect('vault.people', 'vault', columns => '{age,bmi,note,ill}', domains => '{"bmi": [0, 60], "note": ["n0", "n1"]}');
ALTER TABLE vault.people RENAME TO persons;
ALTER TABLE vault.persons RENAME bmi TO weight;
SELECT relation, columns, domains FROM dp_protected WHERE relation = 'vault.persons'::regclass;
ALTER TABLE vault.persons RENAME note TO bmi;
SELECT relation, columns, domains FROM dp_protected WHERE relation = 'vault.persons'::regclass;
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.persons', 'ill', '{weight,bmi}', 1)::jsonb #>> '{features,0,high}' AS weight;
-- the name is free again, for a table that is not registered
RESET ROLE;
SET ROLE dperm_owner;
CREATE TABLE vault.people (age int CHECK (age BETWEEN 0 AND 120), ill boolean);
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.people', 'ill', '{age}', 1);
RESET ROLE;
SET ROLE dperm_owner;
DROP TABLE vault.people;
ALTER TABLE vault.persons RENAME TO people;
ALTER TABLE vault.people RENAME bmi TO note;
ALTER TABLE vault.people RENAME weight TO bmi;
-- a column that is dropped is lost, also if another one gets its name
ALTER TABLE vault.people DROP bmi;
ALTER TABLE vault.people ADD bmi float8;
SELECT columns, domains FROM dp_protected WHERE relation = 'vault.people'::regclass;
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.people', 'ill', '{age,bmi}', 1);
RESET ROLE;
SET ROLE dperm_owner;
-- another type: the domain no longer fits
ALTER TABLE vault.people ALTER note TYPE int USING substr(note, 2)::int;
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.people', 'ill', '{age,note}', 1);
SELECT dp_logreg_train('vault.people', 'ill', '{age}', 1, domains => '{"age": [0, 100]}') IS NOT NULL AS trained;
RESET ROLE;
SET ROLE dperm_owner;
ALTER TABLE vault.people ALTER note TYPE text USING 'n' || note;
-- into another schema
RESET ROLE;
CREATE SCHEMA vault2 AUTHORIZATION dperm_owner;
GRANT USAGE ON SCHEMA vault2 TO PUBLIC;
SET ROLE dperm_owner;
ALTER TABLE vault.people SET SCHEMA vault2;
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault2.people', 'ill', '{age}', 1) IS NOT NULL AS moved;
RESET ROLE;
ALTER TABLE vault2.people SET SCHEMA vault;
-- rewritten by other commands
VACUUM FULL vault.people;
CLUSTER vault.people USING people_pkey;
ALTER TABLE vault.people SET UNLOGGED;
ALTER TABLE vault.people SET LOGGED;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.people', 'ill', '{age}', 1) IS NOT NULL AS rewritten;
RESET ROLE;
-- the unit is dropped
SET ROLE dperm_owner;
SELECT dp_budget_create('persons', 100);
CREATE TABLE vault.visits AS SELECT i % 20 AS person, i % 3 = 0 AS ill, i % 50 AS age FROM generate_series(1, 100) i;
SELECT dp_protect('vault.visits', 'persons', unit => 'person', domains => '{"age": [0, 120]}');
ALTER TABLE vault.visits DROP person;
SELECT relation, unit FROM dp_protected WHERE relation = 'vault.visits'::regclass;
SELECT dp_logreg_train('vault.visits', 'ill', 'age', 1);
ALTER TABLE vault.visits ADD person int;
SELECT dp_logreg_train('vault.visits', 'ill', 'age', 1, unit => 'person');
DROP TABLE vault.visits;
SELECT relation, budget FROM dp_protected;
SELECT act, relation FROM dp_ledger WHERE budget = 'persons' ORDER BY entry;
SELECT dp_budget_drop('persons');
RESET ROLE;

-- A new owner: nobody trains on it until they protect it
ALTER TABLE vault.people OWNER TO dperm_heir;
SET ROLE dperm_analyst;
\set VERBOSITY terse
SELECT dp_logreg_train('vault.people', 'ill', '{age}', 1) IS NOT NULL AS by_heir;
RESET ROLE;
SET ROLE dperm_heir;
SELECT dp_logreg_train('vault.people', 'ill', '{age}', 1) IS NOT NULL AS heir;
SELECT dp_protect('vault.people', 'vault');
RESET ROLE;
SET ROLE dperm_owner;
SELECT dp_unprotect('vault.people');
\set VERBOSITY default
RESET ROLE;
ALTER TABLE vault.people OWNER TO dperm_owner;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.people', 'ill', '{age}', 1) IS NOT NULL AS by_owner;
RESET ROLE;
SELECT role, function, relation FROM dp_ledger WHERE budget = 'vault' AND act = 'charge' ORDER BY entry DESC LIMIT 2;

-- Code of the caller: nothing of it runs with the rights of the owner
SET ROLE dperm_analyst;
CREATE FUNCTION lab.sprung() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'sprung by %', current_user; END $$;
CREATE FUNCTION lab.eq(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT lab.sprung()';
CREATE FUNCTION lab.gt(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT lab.sprung()';
CREATE OPERATOR lab.= (LEFTARG = int, RIGHTARG = int, FUNCTION = lab.eq);
CREATE OPERATOR lab.> (LEFTARG = int, RIGHTARG = int, FUNCTION = lab.gt);
CREATE FUNCTION lab.dperm_label(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT lab.sprung()';
CREATE FUNCTION lab.dperm_text(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lab.sprung()::text';
CREATE FUNCTION lab.count(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT lab.sprung()::int::bigint';
CREATE TABLE lab.people (age int, ill boolean);
CREATE TABLE lab.t (t int);
CREATE DOMAIN lab.int4 AS text;
SET search_path = lab, public, pg_catalog;
SELECT public.dp_logreg_train('vault.people', 'note', '{age}', 1::pg_catalog.float8, positive => 'n1') IS NOT NULL AS search_path;
-- objects in the schema of temporary ones
CREATE FUNCTION pg_temp.dperm_label(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT lab.sprung()';
CREATE TEMP TABLE people (age int, ill boolean);
CREATE TEMP TABLE pg_class AS SELECT 1 AS oid;
CREATE TEMP VIEW pg_attribute AS SELECT lab.sprung();
CREATE TEMP TABLE dp_protected_relations (relation oid, budget text);
SELECT public.dp_logreg_train('vault.people', 'note', '{age}', 1::pg_catalog.float8, positive => 'n1')::jsonb ->> 'rows' AS pg_temp;
RESET search_path;
DROP TABLE people, pg_temp.pg_class, pg_temp.dp_protected_relations;
DROP VIEW pg_temp.pg_attribute;
DROP FUNCTION pg_temp.dperm_label;
RESET ROLE;
-- functions in the schema of the extension that match better than ours
GRANT CREATE ON SCHEMA public TO dperm_analyst;
SET ROLE dperm_analyst;
CREATE FUNCTION public.dperm_label(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT lab.sprung()';
SELECT dp_logreg_train('vault.people', 'note', '{age}', 1, positive => 'n1') IS NOT NULL AS fits_better;
DROP FUNCTION public.dperm_label(text, text);
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM dperm_analyst;

-- The owner's view with functions and operators of somebody else, which they
-- may change at any time; callees.sql has the other ways to a function
SET ROLE dperm_analyst;
CREATE FUNCTION lab.harmless(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT $1';
CREATE FUNCTION lab.above(int, int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1 OPERATOR(pg_catalog.>) $2';
CREATE OPERATOR lab.>>> (LEFTARG = int, RIGHTARG = int, FUNCTION = lab.above);
RESET ROLE;
SET ROLE dperm_owner;
CREATE VIEW vault.by_function AS SELECT lab.harmless(age) AS age, ill FROM vault.people;
CREATE VIEW vault.by_filter AS SELECT age, ill FROM vault.people WHERE lab.harmless(age) > 1;
CREATE VIEW vault.by_operator AS SELECT age, ill FROM vault.people WHERE age OPERATOR(lab.>>>) 1;
CREATE VIEW vault.by_barrier WITH (security_barrier) AS SELECT age, ill FROM vault.people WHERE lab.harmless(age) > 1;
CREATE VIEW vault.by_view AS SELECT age, ill FROM vault.by_filter;
SELECT dp_protect(v, 'vault', domains => '{"age": [0, 120]}') FROM unnest(ARRAY['vault.by_function', 'vault.by_filter', 'vault.by_operator', 'vault.by_barrier', 'vault.by_view']) v;
RESET ROLE;
SET ROLE dperm_analyst;
CREATE OR REPLACE FUNCTION lab.harmless(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT lab.sprung()::int';
CREATE OR REPLACE FUNCTION lab.above(int, int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT lab.sprung()';
SELECT dp_logreg_train('vault.by_function', 'ill', 'age', 1);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY terse
SELECT dp_logreg_train('vault.by_filter', 'ill', 'age', 1);
SELECT dp_logreg_train('vault.by_operator', 'ill', 'age', 1);
SELECT dp_logreg_train('vault.by_barrier', 'ill', 'age', 1);
SELECT dp_logreg_train('vault.by_view', 'ill', 'age', 1);
SELECT dp_cost('vault.by_view', 'ill', 'age', 1, 100);
SELECT dp_logreg_tune('vault.by_view', 'ill', 'age', 1, candidates => '[{"lambda": 0.1}]');
\set VERBOSITY default
RESET ROLE;
-- the owner's own are fine
SET ROLE dperm_owner;
DROP VIEW vault.by_function, vault.by_filter, vault.by_operator, vault.by_barrier CASCADE;
CREATE FUNCTION vault.decade(int) RETURNS int LANGUAGE sql STABLE BEGIN ATOMIC SELECT $1 / 10; END;
CREATE VIEW vault.decades AS SELECT vault.decade(age) AS decade, ill FROM vault.people WHERE vault.decade(age) > 1;
SELECT dp_protect('vault.decades', 'vault', domains => '{"decade": [0, 12]}');
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.decades', 'ill', 'decade', 1)::jsonb ->> 'rows' AS rows;
RESET ROLE;
-- what lies cannot create anything, nor become somebody, in a
-- security-restricted operation
SET ROLE dperm_owner;
CREATE FUNCTION vault.lying(int) RETURNS int LANGUAGE sql STABLE RETURN 1;
CREATE VIEW vault.lies AS SELECT vault.lying(age) AS age, ill FROM vault.people;
SELECT dp_protect('vault.lies', 'vault', domains => '{"age": [0, 12]}');
CREATE OR REPLACE FUNCTION vault.lying(int) RETURNS int LANGUAGE sql STABLE BEGIN ATOMIC SELECT set_config('role', 'dperm_owner', false); SELECT 1; END;
RESET ROLE;
SET SESSION AUTHORIZATION dperm_analyst;
SELECT dp_logreg_train('vault.lies', 'ill', 'age', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT current_user, session_user;
-- also in a body that cannot be examined
RESET SESSION AUTHORIZATION;
SET ROLE dperm_owner;
CREATE FUNCTION vault.becoming(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN SET ROLE dperm_analyst; RETURN $1; END $$;
CREATE FUNCTION vault.writing(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN DELETE FROM vault.people; RETURN $1; END $$;
CREATE FUNCTION vault.creating(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN CREATE TEMP TABLE mine (x int); RETURN $1; END $$;
CREATE FUNCTION vault.raising(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'age %', $1; RAISE EXCEPTION 'age %', $1; END $$;
CREATE FUNCTION vault.noting(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'age %', $1; RETURN $1; END $$;
SELECT format('CREATE VIEW vault.%1$s_view AS SELECT vault.%1$s(age) AS age, ill FROM vault.people', f) FROM unnest('{becoming,writing,creating,raising,noting}'::text[]) f \gexec
SELECT dp_protect('vault.' || f || '_view', 'vault', domains => '{"age": [0, 120]}') FROM unnest('{becoming,writing,creating,raising,noting}'::text[]) f;
CREATE TABLE vault.model AS SELECT dp_logreg_train('vault.people', 'ill', 'age', 1) AS model;
GRANT SELECT ON vault.model TO dperm_analyst;
SET ROLE dperm_analyst;
\set VERBOSITY terse
SELECT format('SELECT sum(value) > 40 AS %1$s FROM vault.model, dp_evaluate(model, ''vault.%1$s_view'', epsilon => 1) WHERE metric LIKE ''%%tives''', f) FROM unnest('{becoming,writing,creating,raising,noting}'::text[]) f \gexec
\set VERBOSITY default
SET ROLE dperm_owner;
DROP FUNCTION vault.becoming, vault.writing, vault.creating, vault.raising, vault.noting CASCADE;
-- errors of the owner's functions do not show what rows hold, nor that there
-- were any
RESET SESSION AUTHORIZATION;
SET ROLE dperm_owner;
CREATE OR REPLACE FUNCTION vault.lying(int) RETURNS int LANGUAGE sql STABLE RETURN ('age ' || $1)::int;
CREATE VIEW vault.cast AS SELECT note::int AS age, ill FROM vault.people;
SELECT dp_protect('vault.cast', 'vault', domains => '{"age": [0, 12]}');
RESET ROLE;
SET SESSION AUTHORIZATION dperm_analyst;
SELECT dp_logreg_train('vault.cast', 'ill', 'age', 1) IS NOT NULL AS "cast", dp_logreg_train('vault.lies', 'ill', 'age', 1) IS NOT NULL AS lies;
RESET SESSION AUTHORIZATION;

-- A function that comes to read a view, or to write, after the view has been
-- protected
SET ROLE dperm_owner;
CREATE VIEW vault.inside AS SELECT 'x' AS tidy;
CREATE FUNCTION vault.by_view(w text) RETURNS text LANGUAGE sql STABLE RETURN w;
CREATE FUNCTION vault.by_change(w text) RETURNS text LANGUAGE sql STABLE RETURN w;
CREATE VIEW vault.tidy_1 AS SELECT vault.by_view(note) AS note, ill FROM vault.people;
CREATE VIEW vault.tidy_2 AS SELECT vault.by_change(note) AS note, ill FROM vault.people;
SELECT dp_protect('vault.tidy_' || i, 'vault', domains => '{"note": ["n0", "n1"]}') FROM generate_series(1, 2) i;
CREATE OR REPLACE FUNCTION vault.by_view(w text) RETURNS text LANGUAGE sql STABLE BEGIN ATOMIC SELECT tidy FROM vault.inside; END;
CREATE FUNCTION vault.changes() RETURNS void LANGUAGE sql VOLATILE BEGIN ATOMIC DELETE FROM vault.people WHERE false; END;
CREATE OR REPLACE FUNCTION vault.by_change(w text) RETURNS text LANGUAGE sql STABLE BEGIN ATOMIC SELECT vault.changes(); SELECT w; END;
SET ROLE dperm_analyst;
\set VERBOSITY terse
SELECT dp_logreg_train('vault.tidy_1', 'ill', 'note', 1) IS NOT NULL AS run;
SELECT dp_logreg_train('vault.tidy_2', 'ill', 'note', 1) IS NOT NULL AS run;
\set VERBOSITY default
-- a type of somebody else: dp_protect warns, but not of columns that are not
-- open
CREATE DOMAIN lab.own AS text CHECK (lab.sprung());
SET ROLE dperm_owner;
CREATE TABLE vault.typed (note text, own lab.own, ill boolean);
SELECT dp_protect('vault.typed', 'vault', columns => '{note,ill}', domains => '{"note": ["n0", "n1"]}');
SELECT dp_protect('vault.typed', 'vault', columns => '{own,ill}');
SELECT dp_unprotect('vault.typed');
DROP TABLE vault.typed;
DROP VIEW vault.tidy_1, vault.tidy_2;
RESET ROLE;

-- Expressions that read rows of others, in whatever function, whoever calls,
-- when the view is protected and when it is used
SET ROLE dperm_owner;
\set ECHO none
CREATE FUNCTION vault.peek() RETURNS boolean STABLE BEGIN ATOMIC SELECT bool_or(ill) FROM vault.people WHERE id = 7; END;
CREATE FUNCTION vault.peek_at(int) RETURNS boolean STABLE RETURN vault.peek();
CREATE FUNCTION vault.peek_too(int, int) RETURNS boolean STABLE RETURN vault.peek();
CREATE OPERATOR vault.=? (LEFTARG = int, RIGHTARG = int, FUNCTION = vault.peek_too);
CREATE TYPE vault.seen AS (ill boolean);
CREATE FUNCTION vault.peek_cast(vault.seen) RETURNS boolean STABLE RETURN vault.peek();
CREATE CAST (vault.seen AS boolean) WITH FUNCTION vault.peek_cast(vault.seen);
CREATE DOMAIN vault.checked AS int CHECK (vault.peek_at(VALUE));
CREATE FUNCTION vault.peek_state(boolean, boolean) RETURNS boolean STABLE RETURN vault.peek();
CREATE AGGREGATE vault.peek_all(boolean) (SFUNC = vault.peek_state, STYPE = boolean);
CREATE FUNCTION vault.peek_aggregate(boolean) RETURNS boolean STABLE BEGIN ATOMIC SELECT vault.peek_all(v) FROM (VALUES ($1)) AS t (v); END;
CREATE FUNCTION vault.peek_catalog() RETURNS boolean STABLE BEGIN ATOMIC SELECT bool_or(null_frac > 0) FROM pg_stats WHERE tablename = 'people'; END;
CREATE FUNCTION vault.peek_query() RETURNS boolean STABLE RETURN table_to_xml('vault.people', true, true, '')::text LIKE '%7%';
CREATE FUNCTION vault.peek_set() RETURNS SETOF boolean STABLE BEGIN ATOMIC SELECT ill FROM vault.people; END;
CREATE FUNCTION vault.peek_from() RETURNS boolean STABLE BEGIN ATOMIC SELECT bool_or(s) FROM vault.peek_set() AS s; END;
CREATE FUNCTION vault.peek_plpgsql() RETURNS boolean STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT bool_or(ill) FROM vault.people WHERE id = 7); END $$;
CREATE FUNCTION vault.peek_text() RETURNS boolean STABLE LANGUAGE sql AS 'SELECT bool_or(ill) FROM vault.people WHERE id = 7';
CREATE VIEW vault.peek_1 AS SELECT age, vault.peek() AS y FROM vault.people;
CREATE VIEW vault.peek_2 AS SELECT age, vault.peek_at(age) AS y FROM vault.people;
CREATE VIEW vault.peek_3 AS SELECT age, age OPERATOR(vault.=?) 1 AS y FROM vault.people;
CREATE VIEW vault.peek_4 AS SELECT age, ROW(ill)::vault.seen::boolean AS y FROM vault.people;
CREATE VIEW vault.peek_5 AS SELECT age, age::vault.checked IS NOT NULL AS y FROM vault.people;
CREATE VIEW vault.peek_6 AS SELECT age, vault.peek_aggregate(ill) AS y FROM vault.people;
CREATE VIEW vault.peek_7 AS SELECT age, vault.peek_catalog() AS y FROM vault.people;
CREATE VIEW vault.peek_8 AS SELECT age, vault.peek_query() AS y FROM vault.people;
CREATE VIEW vault.peek_9 AS SELECT age, table_to_xml('vault.people', true, true, '')::text LIKE '%7%' AS y FROM vault.people;
CREATE VIEW vault.peek_10 AS SELECT age, vault.peek_from() AS y FROM vault.people;
CREATE VIEW vault.peek_11 AS SELECT age, ill AS y FROM vault.people WHERE vault.peek();
CREATE VIEW vault.peek_12 AS SELECT age, y FROM vault.peek_1;
CREATE VIEW vault.peek_13 AS SELECT age, vault.peek_plpgsql() AS y FROM vault.people;
CREATE VIEW vault.peek_14 AS SELECT age, vault.peek_text() AS y FROM vault.people;
-- a function that is harmless when the view is protected
CREATE FUNCTION vault.late(int) RETURNS boolean STABLE RETURN $1 > 3;
CREATE VIEW vault.peek_15 AS SELECT age, vault.late(age) AS y FROM vault.people;
\set ECHO all
SELECT dp_protect('vault.peek_15', 'vault');
SELECT dp_logreg_train('vault.peek_15', 'y', 'age', 1) IS NOT NULL AS run;
CREATE OR REPLACE FUNCTION vault.late(int) RETURNS boolean STABLE BEGIN ATOMIC SELECT bool_or(ill) FROM vault.people WHERE id = 7; END;
SELECT dp_logreg_train('vault.peek_15', 'y', 'age', 1);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY terse
SELECT format('SELECT dp_protect(''vault.peek_%s'', ''vault'')', i) FROM generate_series(1, 14) i
\gexec
SELECT format('SELECT dp_logreg_train(''vault.peek_%s'', ''y'', ''age'', 1)', i) FROM generate_series(13, 15) i
\gexec
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.peek_15', 'y', 'age', 1);
\set VERBOSITY default
SET ROLE dperm_owner;
SELECT relation FROM dp_protected WHERE relation::text LIKE 'vault.peek%' ORDER BY 1;
RESET ROLE;

-- Settings of the caller: they change neither what the owner's expressions say
-- nor whether they fail
SET ROLE dperm_owner;
CREATE TABLE vault.raw (birth text, tags text, ill boolean);
INSERT INTO vault.raw SELECT '02/13/2000', '{1,NULL}', i % 3 = 0 FROM generate_series(1, 100) i;
CREATE VIEW vault.dated AS SELECT extract(year FROM birth::date)::int AS birth, (tags::int[])[1] AS tag, ill FROM vault.raw;
SELECT dp_protect('vault.dated', 'vault', domains => '{"birth": [1900, 2100], "tag": [0, 9]}');
SET ROLE dperm_analyst;
SET datestyle = 'ISO, DMY';
SELECT dp_logreg_train('vault.dated', 'ill', 'birth', 1)::jsonb ->> 'rows' AS datestyle;
RESET datestyle;
SET array_nulls = off;
SELECT dp_logreg_train('vault.dated', 'ill', 'tag', 1)::jsonb ->> 'rows' AS array_nulls;
RESET array_nulls;
RESET ROLE;

-- Names that change: in a schema of the analyst, who puts another table in
-- place of the protected one. What their transaction has not committed, the
-- call does not see
SELECT format('GRANT CREATE ON DATABASE %I TO dperm_analyst', current_database()) \gexec
SET ROLE dperm_analyst;
\set ECHO none
CREATE SCHEMA shared;
CREATE SCHEMA other;
GRANT USAGE, CREATE ON SCHEMA shared TO dperm_owner;
GRANT USAGE ON SCHEMA other TO dperm_owner;
CREATE TABLE other.t AS SELECT i AS id, true AS y, i % 10 AS x FROM generate_series(1, 100) i;
GRANT SELECT ON other.t TO dperm_owner;
RESET ROLE;
SET ROLE dperm_owner;
CREATE TABLE shared.t AS SELECT i AS id, i % 2 = 0 AS y, i % 10 AS x FROM generate_series(1, 100) i;
\set ECHO all
SELECT dp_protect('shared.t', 'vault', domains => '{"x": [0, 10]}');
CREATE VIEW vault.over AS SELECT y, x FROM shared.t;
SELECT dp_protect('vault.over', 'vault', domains => '{"x": [0, 10]}');
RESET ROLE;
SET ROLE dperm_analyst;
BEGIN;
ALTER SCHEMA shared RENAME TO away;
ALTER SCHEMA other RENAME TO shared;
SELECT dp_logreg_train('away.t', 'y', 'x', 1) IS NOT NULL AS swapped;
SELECT dp_logreg_train('vault.over', 'y', 'x', 1) IS NOT NULL AS swapped_behind;
ROLLBACK;
DROP SCHEMA other CASCADE;
RESET ROLE;
DROP SCHEMA shared CASCADE;
SELECT format('REVOKE CREATE ON DATABASE %I FROM dperm_analyst', current_database()) \gexec
SET ROLE dperm_owner;
DROP VIEW vault.inside CASCADE;
DROP TABLE vault.raw CASCADE;
RESET ROLE;

-- Row-level security: the owner's rows are all rows; where a policy would leave
-- out some, nothing is read
SET ROLE dperm_owner;
ALTER TABLE vault.people ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON vault.people USING (age < 10);
RESET ROLE;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.people', 'ill', 'age', 1)::jsonb ->> 'rows' AS all_rows;
SET row_security = on;
SELECT dp_logreg_train('vault.people', 'ill', 'age', 1)::jsonb ->> 'rows' AS all_rows;
RESET row_security;
RESET ROLE;
GRANT SELECT ON vault.people TO dperm_heir;
GRANT CREATE ON SCHEMA vault TO dperm_heir;
SET ROLE dperm_heir;
SELECT dp_budget_create('heir', 10);
CREATE VIEW vault.through AS SELECT age, ill FROM vault.people;
SELECT dp_protect('vault.through', 'heir');
RESET ROLE;
SET ROLE dperm_owner;
SELECT dp_unprotect(relation::text) FROM dp_protected ORDER BY relation::text COLLATE "C";
RESET ROLE;
SET ROLE dperm_heir;
SELECT dp_protect('vault.through', 'heir');
SELECT dp_logreg_train('vault.through', 'ill', 'age', 1);
RESET ROLE;
SET ROLE dperm_owner;
DROP POLICY few ON vault.people;
ALTER TABLE vault.people DISABLE ROW LEVEL SECURITY;
RESET ROLE;
SET ROLE dperm_heir;
SELECT dp_logreg_train('vault.through', 'ill', 'age', 1)::jsonb ->> 'rows' AS rows;
DROP VIEW vault.through;
SELECT dp_budget_drop('heir');
RESET ROLE;
SET ROLE dperm_owner;
DROP VIEW vault.lies, vault.cast, vault.decades;
DROP FUNCTION vault.lying, vault.decade;
SELECT dp_protect('vault.people', 'vault');
RESET ROLE;

-- Who is charged: whoever the caller is at that moment
SELECT vault.charged() AS before \gset
SET ROLE dperm_owner;
CREATE FUNCTION vault.train() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$ SELECT dp_logreg_train('vault.people', 'ill', 'age', 1)::jsonb ->> 'rows' $$;
RESET ROLE;
SET ROLE dperm_reader;
SELECT vault.train() AS definer;
PREPARE training AS SELECT dp_logreg_train('vault.people', 'ill', 'age', 1)::jsonb ->> 'rows' AS prepared;
EXECUTE training;
RESET ROLE;
SET ROLE dperm_analyst;
EXECUTE training;
EXECUTE training;
BEGIN;
DECLARE c CURSOR FOR SELECT dp_logreg_train('vault.people', 'ill', 'age', 1)::jsonb ->> 'rows' AS fetched FROM generate_series(1, 5);
FETCH 2 FROM c;
-- a ROLLBACK gives nothing back
ROLLBACK;
RESET ROLE;
SET ROLE dperm_owner;
SELECT dp_revoke('vault', 'dperm_analyst');
RESET ROLE;
SET ROLE dperm_analyst;
EXECUTE training;
RESET ROLE;
SET ROLE dperm_officer;
SELECT role, count(*) AS charges FROM (SELECT role FROM dp_ledger WHERE budget = 'vault' AND act = 'charge' ORDER BY entry OFFSET :before) l GROUP BY role ORDER BY role;
RESET ROLE;
DEALLOCATE training;

-- DROP OWNED takes the relations, and leaves the ledger
SET ROLE dperm_owner;
SELECT count(*) AS protected FROM dp_protected;
RESET ROLE;
DROP OWNED BY dperm_owner CASCADE;
SELECT count(*) AS protected FROM dperm.dp_protected_relations WHERE budget = 'vault';
SELECT count(*) AS columns_left FROM dperm.dp_protected_columns c WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = c.relation);
SELECT count(*) > 10 AS ledger FROM dp_ledger WHERE budget = 'vault' AND act = 'charge';
SELECT dp_budget_drop('vault');

DROP SCHEMA lab CASCADE;
DROP OWNED BY dperm_heir, dperm_analyst, dperm_reader;
DROP ROLE dperm_owner, dperm_heir, dperm_analyst, dperm_reader, dperm_officer;
