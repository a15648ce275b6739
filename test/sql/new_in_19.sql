-- What PostgreSQL 19 adds, tried on protected tables: property graphs, which
-- are refused, and commands that rewrite rows, partitions and files.
\set ECHO none
\set QUIET on
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SELECT current_setting('server_version_num')::int < 190000 AS older \gset
\if :older
\quit
\endif
\set ECHO errors
CREATE FUNCTION spent(budget text) RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM dp_ledger l WHERE l.budget = $1 AND l.act = 'charge' $$;

-- ---- property graphs: nothing behind one is seen, so nothing over one is read
CREATE TABLE people (id int PRIMARY KEY, friend int, secret int CHECK (secret BETWEEN 0 AND 10), age int CHECK (age BETWEEN 0 AND 100), ill boolean);
INSERT INTO people SELECT i, 1 + i % 200, i % 11, i % 100, i % 3 = 0 FROM generate_series(1, 200) i;
CREATE PROPERTY GRAPH circle
  VERTEX TABLES (people KEY (id) LABEL person PROPERTIES (id, age, ill, secret))
  EDGE TABLES (people AS knows KEY (id) SOURCE KEY (id) REFERENCES people (id) DESTINATION KEY (friend) REFERENCES people (id) LABEL knows NO PROPERTIES);
CREATE VIEW shown AS SELECT * FROM GRAPH_TABLE (circle MATCH (p IS person) COLUMNS (p.id, p.age, p.ill, p.secret));
CREATE VIEW wrapped AS SELECT age + 0 AS age, ill FROM (SELECT age, ill FROM shown) s;
CREATE MATERIALIZED VIEW paired AS SELECT * FROM GRAPH_TABLE (circle MATCH (p IS person)-[IS knows]->(q IS person) COLUMNS (p.id, p.age, q.ill, q.secret));
CREATE TABLE visits (id int, ill boolean);
INSERT INTO visits SELECT i, i % 3 = 0 FROM generate_series(1, 200) i;
CREATE POLICY seen ON visits USING (id IN (SELECT id FROM GRAPH_TABLE (circle MATCH (p IS person) COLUMNS (p.id))));
CREATE VIEW visited AS SELECT ill, id FROM visits;
SELECT outcomes('dp_logreg_train(?, ''ill'', ''{age}'', 1, domains => ''{"age": [0, 100]}'') IS NOT NULL', $$ 'shown' | 'paired' $$, 'nothing is protected');

CREATE TABLE model AS SELECT dp_logreg_train('people', 'ill', '{age}', 1) AS model;
SELECT dp_budget_create('rows_19', 10), dp_budget_create('persons_19', 10), dp_protect('people', 'rows_19', columns => '{age,ill}');
SELECT outcomes('dp_logreg_train(?, ''ill'', ''{age}'', 1, domains => ''{"age": [0, 100]}'') IS NOT NULL', $$ 'shown' | 'wrapped' | 'paired' | 'circle' $$, 'training');
SELECT outcomes('dp_logreg_train(''visits'', ''ill'', ''{id}'', 1, domains => ''{"id": [0, 200]}'') IS NOT NULL', '', 'a policy');
ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
SELECT outcomes('dp_logreg_train(?, ''ill'', ''{id}'', 1, domains => ''{"id": [0, 200]}'') IS NOT NULL', $$ 'visits' | 'visited' $$, 'a policy that is enabled');
SELECT outcomes('dp_protect(?, ''persons_19'', unit => ''id'')', $$ 'shown' | 'paired' | 'circle' $$, 'protecting');
SELECT outcomes('(SELECT count(*) FROM dp_domains(?))', $$ 'shown' | 'paired' | 'circle' $$, 'dp_domains');
SELECT outcomes('(SELECT count(*) FROM dp_cost(?, ''ill'', ''{age}'', 1, domains => ''{"age": [0, 100]}''))', $$ 'shown' | 'paired' $$, 'dp_cost');
SELECT outcomes('(SELECT count(*) FROM model, dp_evaluate(model, ?, epsilon => 1))', $$ 'shown' | 'paired' $$, 'dp_evaluate');
SELECT outcomes('(SELECT dp_logreg(ill, ARRAY[age / 100.0], 1) FROM ?) IS NOT NULL', $$ shown | paired | GRAPH_TABLE (circle MATCH (p IS person) COLUMNS (p.age, p.ill)) $$, 'an aggregate');
-- a function behind an expression
CREATE FUNCTION ill_of(of int) RETURNS boolean IMMUTABLE BEGIN ATOMIC SELECT ill FROM GRAPH_TABLE (circle MATCH (p IS person WHERE p.id = of) COLUMNS (p.ill)); END;
CREATE VIEW looked_up AS SELECT id, id % 100 AS age, ill_of(id) AS ill FROM visits;
SELECT outcomes('dp_protect(?, ''persons_19'', unit => ''id'', domains => ''{"age": [0, 100]}'')', $$ 'looked_up' $$, 'an expression'),
  outcomes('dp_logreg_train(''looked_up'', ''ill'', ''{age}'', 1) IS NOT NULL', '', 'training on it');
ALTER TABLE visits DISABLE ROW LEVEL SECURITY;
-- a view that is offered, and becomes one over a graph
CREATE VIEW changed AS SELECT id, age, ill, secret FROM people;
SELECT dp_protect('changed');
CREATE OR REPLACE VIEW changed AS SELECT * FROM GRAPH_TABLE (circle MATCH (p IS person) COLUMNS (p.id, p.age, p.ill, p.secret));
SELECT outcomes('dp_logreg_train(?, ''ill'', ''{age}'', 1) IS NOT NULL', $$ 'changed' $$, 'a view that was protected');
SELECT spent('rows_19') AS rows, spent('persons_19') AS persons;

-- ---- partitions that are split and merged stay parts of what is protected
CREATE TABLE parted (id int, age int CHECK (age BETWEEN 0 AND 100), ill boolean) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE part_2 PARTITION OF parted FOR VALUES FROM (100) TO (300);
INSERT INTO parted SELECT i, i % 100, i % 3 = 0 FROM generate_series(1, 200) i;
SELECT dp_budget_create('parts_19', 10), dp_protect('parted', 'parts_19', unit => 'id');
CREATE FUNCTION persons_of(relation text) RETURNS text LANGUAGE sql AS $$ SELECT dp_logreg_train(relation, 'ill', '{age}', 0.1)::jsonb ->> 'persons' $$;
SELECT persons_of('parted'), spent('parts_19');
ALTER TABLE parted SPLIT PARTITION part_2 INTO (PARTITION part_2 FOR VALUES FROM (100) TO (150), PARTITION part_3 FOR VALUES FROM (150) TO (300));
SELECT outcomes('persons_of(?)', $$ 'parted' | 'part_1' | 'part_2' | 'part_3' $$, 'split'), spent('parts_19');
ALTER TABLE parted MERGE PARTITIONS (part_1, part_3, part_2) INTO part_1;
SELECT outcomes('persons_of(?)', $$ 'parted' | 'part_1' $$, 'merged'), spent('parts_19');

-- ---- a table that is rewritten
REPACK parted;
REPACK (CONCURRENTLY) people;
REPACK people USING INDEX people_pkey;
SELECT outcomes('dp_logreg_train(''people'', ''ill'', ''{?}'', 0.1)::jsonb ->> ''rows''', $$ age | secret $$, 'repacked'), persons_of('parted'), spent('parts_19');

-- ---- a row that becomes three rows of the same person
CREATE TABLE stays (id int, during daterange, age int CHECK (age BETWEEN 0 AND 100), ill boolean);
INSERT INTO stays SELECT i, '[2026-01-01, 2026-12-31)', i % 100, i % 3 = 0 FROM generate_series(1, 200) i;
SELECT dp_budget_create('stays_19', 10), dp_protect('stays', 'stays_19', unit => 'id');
UPDATE stays FOR PORTION OF during FROM '2026-03-01' TO '2026-04-01' SET age = 50 WHERE id < 20;
DELETE FROM stays FOR PORTION OF during FROM '2026-06-01' TO '2026-07-01' WHERE id = 1;
SELECT count(*) FROM stays;
SELECT persons_of('stays'), spent('stays_19');

-- ---- our tables cannot be written, nor locked, by a statement that selects
CREATE ROLE reads_all;
GRANT pg_read_all_data, pg_write_all_data TO reads_all;
SET ROLE reads_all;
\set SHOW_CONTEXT never
INSERT INTO dperm.budgets (id, budget) SELECT id, budget FROM dperm.budgets ON CONFLICT (id) DO SELECT FOR UPDATE RETURNING budget;
INSERT INTO dperm.budgets (id, budget) SELECT id, budget FROM dperm.budgets ON CONFLICT (id) DO SELECT RETURNING budget;
RESET ROLE;
DROP ROLE reads_all;
