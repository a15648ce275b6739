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
SELECT * FROM dperm.protected;
SELECT * FROM dperm.protected_columns;
DELETE FROM dperm.protected;
DELETE FROM dp_protected;
SELECT dp_unprotect('vault.people');
SELECT dp_protect('vault.people', 'vault');
SELECT dp_budget_alter('vault', 400);
SELECT dp_grant('vault', 'dperm_reader');
SELECT dperm.dperm_bind();
DROP EVENT TRIGGER dperm_after_drop;
\set VERBOSITY default
RESET ROLE;

-- Views and materialized views that read it, at any depth
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
CREATE VIEW lab.of_copy AS SELECT * FROM lab.copy UNION ALL SELECT 1, true;
CREATE MATERIALIZED VIEW lab.copy_again AS SELECT * FROM lab.of_copy;
SELECT dp_logreg_train('lab.copy_again', 'ill', '{age}', 1, domains => '{"age": [0, 1]}');
SELECT dp_protect('lab.copy', 'vault');
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
DROP MATERIALIZED VIEW lab.copy CASCADE;
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
-- one that belongs to somebody else is refused: its owner could create an index
-- of it while a call is planned, which would run their function
RESET ROLE;
ALTER TABLE vault.y2 OWNER TO dperm_reader;
SET ROLE dperm_owner;
SELECT dp_logreg_train('vault.parted', 'ill', '{age}', 1);
SELECT dp_protect('vault.parted', 'vault');
RESET ROLE;
ALTER TABLE vault.y2 OWNER TO dperm_owner;
SET ROLE dperm_owner;
-- nor is a view of a part
CREATE VIEW vault.of_y1 AS SELECT * FROM vault.y1;
CREATE VIEW vault.of_parted AS SELECT age, ill FROM vault.parted;
SELECT dp_protect('vault.of_parted');
SELECT outcomes('?', $$
  dp_protect('vault.y1', 'vault') | dp_protect('vault.of_y1', 'vault')
  dp_logreg_train('vault.of_y1', 'ill', '{age}', 1) IS NOT NULL $$);
-- a table that is attached, unregistered and registered: as a part it is closed,
-- and so is the whole, with its views, until its owner has decided
CREATE TABLE vault.y3 AS SELECT * FROM vault.y1;
ALTER TABLE vault.y3 ADD CONSTRAINT parted_age_check CHECK (age BETWEEN 0 AND 120);
UPDATE vault.y3 SET year = 3;
CREATE FUNCTION vault.trained(relations text) RETURNS text LANGUAGE sql SET search_path = vault, public
  AS $$ SELECT outcomes('dp_logreg_train(''?'', ''ill'', ''age'', 1) IS NOT NULL', relations) $$;
SELECT vault.trained('y3');
ALTER TABLE vault.parted ATTACH PARTITION vault.y3 FOR VALUES IN (3);
SELECT vault.trained('y3 | parted | of_parted');
-- detached, it is a table of its own
ALTER TABLE vault.parted DETACH PARTITION vault.y3;
SELECT vault.trained('y3');
SELECT dp_protect('vault.y3', 'vault');
ALTER TABLE vault.parted ATTACH PARTITION vault.y3 FOR VALUES IN (3);
SELECT vault.trained('y3 | parted | of_parted | y1');
SELECT dp_protect('vault.y3');
SELECT dp_protect('vault.parted');
SELECT dp_unprotect('vault.parted');
SELECT vault.trained('y3 | parted | of_parted | y1');
SELECT dp_protect('vault.parted', 'vault');
SELECT dp_unprotect('vault.y3'), dp_protect('vault.parted', 'vault');
SELECT vault.trained('y3 | parted');
-- one that is attached in a transaction that is rolled back: a call sees what is
-- committed
CREATE TABLE vault.y4 (LIKE vault.y3 INCLUDING CONSTRAINTS);
INSERT INTO vault.y4 SELECT age, ill, 4 FROM vault.y3;
BEGIN;
ALTER TABLE vault.parted ATTACH PARTITION vault.y4 FOR VALUES IN (4);
SELECT dp_logreg_train('vault.parted', 'ill', '{age}', 1)::jsonb ->> 'rows' AS without;
ROLLBACK;
-- one that no event trigger has seen
SELECT dp_protect('vault.y4', 'vault');
RESET ROLE;
SET session_replication_role = replica;
ALTER TABLE vault.parted ATTACH PARTITION vault.y4 FOR VALUES IN (4);
RESET session_replication_role;
SET ROLE dperm_owner;
SELECT vault.trained('y4 | parted');
DROP TABLE vault.parted CASCADE;
-- children, parents, and other parents of children
SET client_min_messages = warning;
CREATE TABLE vault.child (extra int) INHERITS (vault.people);
CREATE TABLE vault.parent (age int CONSTRAINT people_age_check CHECK (age BETWEEN 0 AND 120), ill boolean);
CREATE TABLE vault.mother (age int CONSTRAINT people_age_check CHECK (age BETWEEN 0 AND 120), ill boolean);
INSERT INTO vault.child (id, age, ill) SELECT -i, i % 100, i % 3 = 0 FROM generate_series(1, 20) i;
INSERT INTO vault.parent SELECT i % 100, i % 3 = 0 FROM generate_series(1, 20) i;
CREATE VIEW vault.of_people AS SELECT age, ill FROM vault.people;
SELECT dp_protect('vault.of_people');
SELECT vault.trained('child | people | of_people | parent');
ALTER TABLE vault.people INHERIT vault.parent;
SELECT vault.trained('child | people | of_people | parent');
SELECT outcomes('dp_protect(?)', $$ 'vault.people' | 'vault.of_people' | 'vault.parent', 'vault' | 'vault.child', 'vault' $$);
ALTER TABLE vault.people NO INHERIT vault.parent;
SELECT vault.trained('people | of_people | parent');
ALTER TABLE vault.child INHERIT vault.mother;
SELECT vault.trained('child | people | of_people | mother');
SELECT dp_protect('vault.mother', 'vault');
ALTER TABLE vault.child NO INHERIT vault.mother;
SELECT dp_protect('vault.mother', 'vault');
ALTER TABLE vault.child INHERIT vault.mother;
SELECT vault.trained('child | people | of_people | mother');
SELECT dp_logreg(ill, ARRAY[age / 120.0], 1) FROM vault.child;
DROP TABLE vault.child, vault.parent, vault.mother;
SELECT vault.trained('people | of_people');
DROP VIEW vault.of_people;
RESET client_min_messages;
RESET ROLE;

-- Renamed, altered, dropped
SET ROLE dperm_owner;
SELECT dp_protect('vault.people', 'vault', columns => '{age,bmi,note,ill}', domains => '{"bmi": [0, 60], "note": ["n0", "n1"]}');
ALTER TABLE vault.people RENAME TO persons;
ALTER TABLE vault.persons RENAME bmi TO weight;
SELECT relation, columns, domains FROM dp_protected WHERE relation = 'vault.persons';
ALTER TABLE vault.persons RENAME note TO bmi;
SELECT relation, columns, domains FROM dp_protected WHERE relation = 'vault.persons';
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
SELECT columns, domains FROM dp_protected WHERE relation = 'vault.people';
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
SELECT relation, unit, closed FROM dp_protected WHERE relation = 'vault.visits';
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
CREATE FUNCTION lab.dperm_bounded(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lab.sprung()::text';
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
CREATE TEMP TABLE protected (relation oid, budget_id uuid);
SELECT public.dp_logreg_train('vault.people', 'note', '{age}', 1::pg_catalog.float8, positive => 'n1')::jsonb ->> 'rows' AS pg_temp;
RESET search_path;
DROP TABLE people, pg_temp.pg_class, pg_temp.protected;
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

-- Functions and operators, the owner's and those of somebody else, who may change
-- them at any time: no view that calls them is offered, and so it cannot be used.
-- callees.sql has the other ways to a function
SET ROLE dperm_analyst;
CREATE FUNCTION lab.harmless(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION lab.above(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 OPERATOR(pg_catalog.>) $2';
CREATE OPERATOR lab.>>> (LEFTARG = int, RIGHTARG = int, FUNCTION = lab.above);
CREATE DOMAIN lab.own AS text;
RESET ROLE;
SET ROLE dperm_owner;
\set ECHO none
CREATE FUNCTION vault.decade(int) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1 / 10;
CREATE FUNCTION vault.writing(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN DELETE FROM vault.people; RETURN $1; END $$;
CREATE FUNCTION vault.peek() RETURNS boolean STABLE BEGIN ATOMIC SELECT bool_or(ill) FROM vault.people WHERE id = 7; END;
CREATE FUNCTION vault.peek_at(int) RETURNS boolean STABLE RETURN vault.peek();
CREATE FUNCTION vault.peek_too(int, int) RETURNS boolean STABLE RETURN vault.peek();
CREATE OPERATOR vault.=? (LEFTARG = int, RIGHTARG = int, FUNCTION = vault.peek_too);
CREATE TYPE vault.seen AS (ill boolean);
CREATE FUNCTION vault.peek_cast(vault.seen) RETURNS boolean STABLE RETURN vault.peek();
CREATE CAST (vault.seen AS boolean) WITH FUNCTION vault.peek_cast(vault.seen);
CREATE DOMAIN vault.checked AS int CHECK (vault.peek_at(VALUE));
CREATE VIEW vault.by_function AS SELECT lab.harmless(age) AS age, ill FROM vault.people;
CREATE VIEW vault.by_filter AS SELECT age, ill FROM vault.people WHERE lab.harmless(age) > 1;
CREATE VIEW vault.by_operator AS SELECT age, ill FROM vault.people WHERE age OPERATOR(lab.>>>) 1;
CREATE VIEW vault.by_barrier WITH (security_barrier) AS SELECT age, ill FROM vault.people WHERE lab.harmless(age) > 1;
CREATE VIEW vault.by_view AS SELECT age, ill FROM vault.by_filter;
CREATE VIEW vault.by_type AS SELECT age, note::lab.own IS NOT NULL AS ill FROM vault.people;
CREATE VIEW vault.by_own AS SELECT vault.decade(age) AS age, ill FROM vault.people;
CREATE VIEW vault.by_writing AS SELECT vault.writing(age) AS age, ill FROM vault.people;
CREATE VIEW vault.by_setting AS SELECT age, set_config('role', 'dperm_owner', false) IS NOT NULL AS ill FROM vault.people;
CREATE VIEW vault.peek_1 AS SELECT age, vault.peek() AS ill FROM vault.people;
CREATE VIEW vault.peek_2 AS SELECT age, vault.peek_at(age) AS ill FROM vault.people;
CREATE VIEW vault.peek_3 AS SELECT age, age OPERATOR(vault.=?) 1 AS ill FROM vault.people;
CREATE VIEW vault.peek_4 AS SELECT age, ROW(ill)::vault.seen::boolean AS ill FROM vault.people;
CREATE VIEW vault.peek_5 AS SELECT age, age::vault.checked IS NOT NULL AS ill FROM vault.people;
CREATE VIEW vault.peek_6 AS SELECT age, table_to_xml('vault.people', true, true, '')::text LIKE '%7%' AS ill FROM vault.people;
CREATE VIEW vault.peek_7 AS SELECT age, ill FROM vault.people WHERE vault.peek();
CREATE VIEW vault.peek_8 AS SELECT age, (SELECT bool_or(ill) FROM vault.people WHERE id = 7) AS ill FROM vault.people;
\set ECHO all
SELECT outcomes('dp_protect(''vault.?'')', $$
  by_function | by_filter | by_operator | by_barrier | by_view | by_type | by_own | by_writing | by_setting
  peek_1 | peek_2 | peek_3 | peek_4 | peek_5 | peek_6 | peek_7 | peek_8 $$);
SELECT vault.trained('by_function | by_view | by_own | by_writing | peek_1 | peek_8');
-- a view that comes to call them after it has been offered
CREATE VIEW vault.late AS SELECT age, age > 3 AS ill FROM vault.people;
SELECT dp_protect('vault.late');
SELECT vault.trained('late');
CREATE OR REPLACE VIEW vault.late AS SELECT age, vault.peek_at(age) AS ill FROM vault.people;
SELECT vault.trained('late');
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.late', 'ill', 'age', 1);
SELECT dp_cost('vault.late', 'ill', 'age', 1, units => 100);
RESET ROLE;
-- what the planner runs: functions in indexes, statistics and the partition key;
-- also if they come later
SET ROLE dperm_owner;
CREATE INDEX by_harmless ON vault.people (lab.harmless(age));
SELECT vault.trained('people');
SELECT dp_protect('vault.people');
DROP INDEX vault.by_harmless;
CREATE STATISTICS vault.by_harmless ON (lab.harmless(age)), age FROM vault.people;
SELECT vault.trained('people');
DROP STATISTICS vault.by_harmless;
CREATE TABLE vault.keyed (age int CHECK (age BETWEEN 0 AND 120), ill boolean) PARTITION BY LIST (vault.decade(age));
SELECT dp_protect('vault.keyed', 'vault');
-- a column whose type belongs to somebody else: nothing of it runs
CREATE TABLE vault.typed (note lab.own, age int CHECK (age BETWEEN 0 AND 120), ill boolean);
INSERT INTO vault.typed SELECT 'n' || i % 2, i % 100, i % 3 = 0 FROM generate_series(1, 100) i;
SELECT dp_protect('vault.typed', 'vault', domains => '{"note": ["n0", "n1"]}');
SET ROLE dperm_analyst;
ALTER DOMAIN lab.own ADD CHECK (lab.sprung()) NOT VALID;
SELECT dp_logreg_train('vault.typed', 'ill', '{age,note}', 1)::jsonb ->> 'rows' AS rows;
SET ROLE dperm_owner;
-- errors of an expression do not show what rows hold, nor that there were any
CREATE VIEW vault.cast AS SELECT note::int AS age, ill FROM vault.people;
SELECT dp_protect('vault.cast', domains => '{"age": [0, 12]}');
SET ROLE dperm_analyst;
SELECT dp_logreg_train('vault.cast', 'ill', 'age', 1)::jsonb ->> 'rows' AS "cast";
RESET ROLE;

-- Settings of the caller do not change what the owner's expressions say. Those
-- that do are not IMMUTABLE, or the settings are those of the worker
SET ROLE dperm_owner;
CREATE TABLE vault.raw (birth text, tags text, bytes bytea, ratio float8);
INSERT INTO vault.raw SELECT '02/13/2000', '{1,NULL}', '\x41', 1.23456789 FROM generate_series(1, 500) i;
SELECT dp_protect('vault.raw', 'vault', domains => '{"ratio": [0, 10]}');
CREATE VIEW vault.dated AS SELECT extract(year FROM birth::date)::int AS birth FROM vault.raw;
CREATE VIEW vault.tagged AS SELECT (tags::int[])[1] AS tag FROM vault.raw;
CREATE VIEW vault.written AS SELECT ratio, ratio::text = '1.23456789' AND bytes::text = '\x41' AS y FROM vault.raw;
SELECT outcomes('dp_protect(''vault.?'')', 'dated | tagged | written');
SET ROLE dperm_analyst;
SET extra_float_digits = -15;
SET bytea_output = escape;
SELECT m::jsonb ->> 'rows' AS rows, dp_predict_prob(m, r) > 0.8 AS as_written FROM (SELECT 1.2 AS ratio) r, dp_logreg_train('vault.written', 'y', 'ratio', 50, lambda => 0.01) m;
RESET extra_float_digits;
RESET bytea_output;
RESET ROLE;

-- Names that change: in a schema of the analyst, who puts another table in
-- place of the protected one. A call does not see what their transaction has
-- not committed; then it is the table that counts, not its name
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
SELECT dp_protect('vault.over');
RESET ROLE;
SET ROLE dperm_analyst;
BEGIN;
ALTER SCHEMA shared RENAME TO away;
ALTER SCHEMA other RENAME TO shared;
SELECT outcomes('dp_logreg_train(?, ''y'', ''x'', 1) IS NOT NULL', $$ 'away.t' | 'vault.over' $$);
ROLLBACK;
ALTER SCHEMA shared RENAME TO away;
ALTER SCHEMA other RENAME TO shared;
SELECT vault.charged() AS before \gset
SELECT dp_logreg_train('away.t', 'y', 'x', 1) IS NOT NULL AS swapped;
SELECT dp_logreg_train('vault.over', 'y', 'x', 1) IS NOT NULL AS swapped_behind;
SELECT vault.charged() - :before AS charged;
ALTER SCHEMA shared RENAME TO other;
ALTER SCHEMA away RENAME TO shared;
DROP SCHEMA other CASCADE;
RESET ROLE;
DROP SCHEMA shared CASCADE;
SELECT format('REVOKE CREATE ON DATABASE %I FROM dperm_analyst', current_database()) \gexec
SET ROLE dperm_owner;
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
SELECT dp_logreg_train('vault.through', 'ill', 'age', 1);
DROP VIEW vault.through;
SELECT dp_budget_drop('heir');
RESET ROLE;
SET ROLE dperm_owner;
DROP POLICY few ON vault.people;
ALTER TABLE vault.people DISABLE ROW LEVEL SECURITY;
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

-- A label is not wider than its registered domain: neither by a prior, nor by classes or a positive value
SET ROLE dperm_owner;
CREATE TABLE vault.labels AS SELECT i % 100 AS age, i % 11 AS y, i % 4 AS z, 'a' AS s, ARRAY[1, 2]::float8[] AS v FROM generate_series(1, 300) i;
ALTER TABLE vault.labels ADD CHECK (y BETWEEN 0 AND 1000);
-- which is not evaluated, as its type is none that domains have
ALTER TABLE vault.labels ADD CHECK (s = 'a'::text::pg_node_tree::text) NOT VALID;
SELECT dp_protect('vault.labels', 'vault', domains => '{"age": [0, 100], "y": [0, 10], "z": {"categories": [0, 1, 2, 3]}, "v": {"dimension": 2, "norm": 1}}');
SELECT dp_protect('vault.labels', domains => '{"v": {"dimension": 2, "norm": 2}}');
SELECT domains -> 'v' AS of_vectors FROM dp_protected WHERE relation = 'vault.labels';
SELECT dp_grant('vault', 'dperm_analyst');
RESET ROLE;
SET ROLE dperm_analyst;
CREATE TEMP TABLE own AS SELECT i % 100 AS age, i AS y, i % 4 AS z FROM generate_series(0, 1000) i;
CREATE FUNCTION pg_temp.wide_number(label text, wide jsonb) RETURNS dp_model LANGUAGE sql
  AS $$ SELECT dp_linreg_train('own', label, 'age', 'Infinity', domains => wide || '{"age": [0, 100]}') $$;
CREATE FUNCTION pg_temp.wide_classes(label text, wide jsonb) RETURNS dp_model LANGUAGE sql
  AS $$ SELECT dp_logreg_train('own', label, 'age', 'Infinity', domains => wide || '{"age": [0, 100]}') $$;
SELECT outcomes('dp_linreg_train(''vault.labels'', ?) IS NOT NULL', $$
	'y', NULL, 1, prior => pg_temp.wide_number('y', '{"y": [0, 10]}')
	| 'y', NULL, 1, prior => pg_temp.wide_number('y', '{"y": [0, 1000]}')
	| 'y', NULL, 1, prior => pg_temp.wide_number('y', '{"y": [0, 1000]}'), domains => '{"y": {"categories": [1, 2]}}'
	| 'z', NULL, 1, prior => pg_temp.wide_number('z', '{"z": [-1000000, 1000000]}') $$);
SELECT outcomes('dp_logreg_train(''vault.labels'', ?) IS NOT NULL', $$
	'y', 'age', 1, positive => '5' | 'y', 'age', 1, positive => '50'
	| 'y', 'age', 1, domains => '{"y": {"categories": [1, 2, 5]}}' | 'y', 'age', 1, domains => '{"y": {"categories": [1, 2, 50]}}'
	| 'y', NULL, 1, prior => pg_temp.wide_classes('y', '{"y": {"categories": [1, 2, 5]}}') | 'y', NULL, 1, prior => pg_temp.wide_classes('y', '{"y": {"categories": [1, 2, 50]}}')
	| 'z', NULL, 1, prior => pg_temp.wide_classes('z', '{"z": {"categories": [1, 2, 50]}}') $$);
DROP FUNCTION pg_temp.wide_number, pg_temp.wide_classes;
DROP TABLE own;
RESET ROLE;
SET ROLE dperm_owner;
SELECT dp_unprotect('vault.labels');
DROP TABLE vault.labels;
RESET ROLE;

-- DROP OWNED takes the relations, and leaves the ledger
SET ROLE dperm_owner;
SELECT count(*) AS protected FROM dp_protected;
RESET ROLE;
DROP OWNED BY dperm_owner CASCADE;
SELECT count(*) AS protected FROM dperm.protected p JOIN dperm.budgets b ON b.id = p.budget_id WHERE b.budget = 'vault' AND p.ended IS NULL;
SELECT count(*) AS columns_left FROM dperm.protected_columns k JOIN dperm.protected p ON p.id = k.protected WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = p.relation);
SELECT count(*) > 10 AS ledger FROM dp_ledger WHERE budget = 'vault' AND act = 'charge';
SELECT dp_budget_drop('vault');

SET client_min_messages = warning;
DROP SCHEMA lab CASCADE;
DROP OWNED BY dperm_heir, dperm_analyst, dperm_reader;
DROP ROLE dperm_owner, dperm_heir, dperm_analyst, dperm_reader, dperm_officer;
